/*
 * side -- beside the picture: all functions as a table; of the chosen one its
 * lines, its callers and whom it called.
 */
import {button, h} from "../report/dom";
import {Column, Table} from "../report/tables";
import {percent} from "../report/units";
import {callees, callers, Peer} from "./around";
import type {Model} from "./model";
import {Pace} from "./pace";

const FIRST = 40, PEERS = 12;

export class Side {
    readonly root: HTMLElement;
    private readonly list = h("div", {class: "functions"});
    private readonly detail = h("div", {class: "detail"});
    private readonly pace = new Pace();
    private table: Table | null = null;
    private shown = -1;

    /* `focus`: to the chosen frame. */
    constructor(private readonly m: Model, private readonly focus: (frame: number) => void) {
        this.root = h("section", {id: "functions"}, this.detail, this.list);
        m.onTree(() => this.refresh());
        m.onLook(() => this.choose());
    }

    /* ── the table ── */

    private share(v: number): string {
        const all = this.m.tree!.total[0];
        return percent(all ? v / all : 0);
    }

    private cell(what: "self" | "total", frame: number): HTMLElement {
        const s = this.m.sums!, v = s[what][frame];
        return h("span", {title: this.m.amount(v, s.doubt[what][frame])}, this.share(v));
    }

    private name(frame: number): HTMLElement {
        const b = button(this.m.frames.name[frame] || "?", this.m.frames.where[frame],
            () => this.focus(frame));
        b.className = "function";
        b.dataset.frame = String(frame);
        return b;
    }

    /* The colour of its file, and its name. */
    private row(frame: number): DocumentFragment {
        const both = document.createDocumentFragment(), s = h("i", {class: "swatch"});
        s.style.background = this.m.p.inks[this.m.frames.ink[frame]];
        both.append(this.m.compares ? "" : s, this.name(frame));
        return both;
    }

    private columns(): Column[] {
        const s = this.m.sums!, of = (v: Float64Array) => (i: number) => v[s.frame[i]];
        const numbers = this.m.compares ? this.changes() : [
            {title: "self", help: "in itself", numeric: true, sort: of(s.self),
                show: (i: number) => this.cell("self", s.frame[i])},
            {title: "total", help: "with all that it called", numeric: true, sort: of(s.total),
                show: (i: number) => this.cell("total", s.frame[i])}];
        return [...numbers, {title: "function", sort: (i) => this.m.frames.name[s.frame[i]],
            show: (i) => this.row(s.frame[i])}];
    }

    /* Of a comparison: before, after, and by how much. */
    private changes(): Column[] {
        const s = this.m.sums!, t = this.m.tree!;
        const part = (v: Float64Array, all: number) => (i: number) => all ? v[s.frame[i]] / all : 0;
        const before = part(s.before, t.before[0]), after = part(s.after, t.after[0]);
        const by = (i: number) => after(i) - before(i);
        const text = (f: (i: number) => number, v: Float64Array) => (i: number) =>
            h("span", {title: this.m.amount(v[s.frame[i]])}, percent(f(i)));
        return [
            {title: "before", numeric: true, sort: before, show: text(before, s.before)},
            {title: "after", numeric: true, sort: after, show: text(after, s.after)},
            {title: "change", help: "of its share of the whole", numeric: true,
                sort: (i) => Math.abs(by(i)), show: (i) => h("span",
                    {class: by(i) > 0 ? "more-now" : "less-now"},
                    `${by(i) > 0 ? "+" : ""}${percent(by(i))}`)}];
    }

    private refresh(): void {
        const n = this.m.sums!.frame.length;
        const by = this.table?.by ?? (this.m.compares ? 2 : 0), down = this.table?.down ?? true;
        this.table = new Table(this.columns(), n, by, down, FIRST);
        this.list.replaceChildren(h("h2", {}, "Functions", h("small", {}, String(n))),
            this.table.root);
        this.shown = -2;
        this.choose();
    }

    /* ── the chosen function ── */

    private bar(p: Peer, whole: number): HTMLElement {
        const {m} = this, share = whole ? p.value / whole : 0;
        const fill = h("i");
        fill.style.width = `${Math.min(100, share * 100)}%`;
        return h("li", {}, h("span", {class: "bar"}, fill), h("span", {class: "num",
            title: m.amount(p.value)}, percent(share)), this.name(p.frame));
    }

    private peers(title: string, all: Peer[], whole: number): HTMLElement {
        const rest = all.length - PEERS;
        return h("div", {class: "peers"}, h("h4", {}, title),
            all.length ? h("ul", {}, ...all.slice(0, PEERS).map((p) => this.bar(p, whole)))
                : h("p", {class: "note"}, "none"),
            rest > 0 ? h("p", {class: "note"}, `and ${rest} more`) : null);
    }

    private lines(frame: number, whole: number): HTMLElement | null {
        const all = this.m.linesOf(frame);
        if (all.length < 1 || this.m.choice.grain !== "function")
            return null;
        const rows = all.slice(0, PEERS).map((l) => h("tr", {}, h("td", {class: "num"},
            percent(l.self / whole)), h("td", {class: "num"}, percent(l.total / whole)),
        h("td", {}, l.where)));
        return h("div", {class: "peers"}, h("h4", {}, "Lines"), h("table", {class: "plain"},
            h("thead", {}, h("tr", {}, h("th", {class: "num"}, "self"),
                h("th", {class: "num"}, "total"), h("th", {}, "line"))), h("tbody", {}, ...rows)));
    }

    private numbers(frame: number): string[] {
        const {m} = this, s = m.sums!;
        return m.compares ? m.comparison(s.before[frame], s.after[frame])
            : [m.partOf("self", s, frame), m.partOf("total", s, frame)];
    }

    /* Nothing but what it calls, or what called it. */
    private focusOn(label: string, frame: number, callers: boolean): HTMLElement | string {
        const {m} = this, place = m.frames.place[frame];
        const title = callers ? "Only what called it" : "Only what it calls";
        return place < 0 ? "" : button(label, title,
            () => m.filter({focus: m.p.texts[m.p.place.function[place]], callers}));
    }

    private head(frame: number): HTMLElement[] {
        const {m} = this;
        return [h("div", {class: "title"}, h("h2", {}, m.frames.name[frame]),
            button("✕", "Close", () => m.choose(-1))),
        h("p", {class: "where"}, m.frames.where[frame]),
        ...this.numbers(frame).map((words) => h("p", {}, words)),
        h("p", {class: "chips"}, this.focusOn("Focus", frame, false),
            this.focusOn("Callers only", frame, true))];
    }

    /* A piece in each step: a function may be in thousands of boxes. */
    private *around(frame: number): Generator<void, void> {
        const t = this.m.tree!, whole = this.m.sums!.total[frame];
        yield;
        const lines = this.lines(frame, t.total[0]);
        yield;
        const up = this.peers("Called by", callers(t, frame), whole);
        yield;
        const down = this.peers("Calls", callees(t, frame), whole);
        this.detail.replaceChildren(...this.head(frame), ...lines ? [lines] : [], up, down);
    }

    private choose(): void {
        const {m} = this, f = m.chosen;
        if (!m.tree || f === this.shown)
            return;
        this.shown = f;
        this.root.querySelectorAll(".function[aria-pressed]").forEach((e) =>
            e.removeAttribute("aria-pressed"));
        if (f < 0 || !m.sums!.total[f]) {
            this.pace.stop();
            this.detail.replaceChildren();
            return;
        }
        this.root.querySelector(`.functions [data-frame="${f}"]`)?.setAttribute("aria-pressed",
            "true");
        this.pace.run(this.around(f), () => this.root.scrollTo(0, 0));
    }
}
