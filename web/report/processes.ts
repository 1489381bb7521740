/*
 * processes -- the tree of processes with their lives as bars, on the same time
 * axis as the plots. Only the rows that are in sight exist, so twenty thousand
 * cost no more than thirty.
 */
import type {Data} from "./data";
import {eachFrame, h, upright} from "./dom";
import {begin, clip, GUTTER, MARGIN, Picture, timeGrid, xOf} from "./draw";
import {Lane, lane, Pointer, TimeAxis} from "./lanes";
import {processDetails} from "./details";
import {close, countRows, ended, flatten, Order, Processes, Row} from "./tree";
import {colour, onTheme} from "./theme";
import * as units from "./units";
import type {View} from "./view";

const ORDERS: [Order, string][] = [["tree", "Tree"], ["program", "By program"],
    ["cpu", "Most CPU first"], ["memory", "Most memory first"], ["life", "Longest first"],
    ["birth", "In order of birth"]];

const OPEN_ALL = 400, ON_PAPER = 60;

export class ProcessSection {
    readonly root: HTMLElement;
    private readonly scroller = h("div", {class: "rows", tabindex: "0", role: "tree",
        "aria-label": "Processes. Up and down choose, left and right close and open."});
    private readonly space = h("div", {class: "space"});
    private readonly details = h("div", {class: "details", hidden: true});
    private readonly axis: TimeAxis;
    private readonly counts = h("span", {class: "hint"});
    private readonly redraw = eachFrame(() => this.render());
    private top: Row[] = [];
    private rows: Row[] = [];
    private seen: {canvas: HTMLCanvasElement; row: Row}[] = [];
    private chosen: Row | null = null;
    private words = "";

    constructor(private readonly data: Data, private readonly all: Processes,
        private readonly view: View) {
        this.axis = new TimeAxis(view, data.run.identity.start_ns);
        this.axis.lane.side.append(h("div", {class: "columns"},
            h("span", {class: "num now"}, "CPU"), h("span", {class: "num most"}, "peak")));
        const field = h("div", {class: "lanes"}, this.axis.lane.root, this.scroller);
        this.scroller.append(this.space);
        this.root = h("section", {id: "processes"}, this.tools(), field, this.missing(),
            this.details);
        new Pointer(field, () => this.axis.lane.picture, view, data.run.timeline.t_ns);
        this.listen(field);
        this.arrange("tree");
    }

    private listen(field: HTMLElement): void {
        this.scroller.addEventListener("scroll", this.redraw);
        this.scroller.addEventListener("click", (e) => this.click(e));
        this.scroller.addEventListener("keydown", (e) => this.key(e));
        this.view.onZoom(eachFrame(() => this.drawBars()));
        onTheme(() => this.render());
        new ResizeObserver(this.redraw).observe(field);
    }

    private tools(): HTMLElement {
        const order = h("select", {"aria-label": "Order of the processes"},
            ...ORDERS.map(([value, text]) => h("option", {value}, text)));
        order.addEventListener("change", () => this.arrange(order.value as Order));
        const find = h("input", {type: "search", placeholder: "find name, command or pid",
            "aria-label": "Find processes"});
        find.addEventListener("input", () => {
            this.words = find.value.trim().toLowerCase();
            this.refresh();
        });
        return h("div", {class: "tools"}, h("h2", {}, "Processes"), order, find, this.counts);
    }

    /* A process that came and went between two samples may have no CPU time of its own here. */
    private missing(): HTMLElement | null {
        const all = this.data.run.totals.cpu.value;
        const seen = this.all.cpu.reduce((n, v) => n + (v || 0), 0);
        if (all === null || !seen || seen >= 0.9 * all)
            return null;
        return h("p", {class: "note"}, `Their own CPU times add up to ${units.duration(seen)} of ` +
            `the job's ${units.duration(all)}; of the rest nobody knows whose it was.`);
    }

    private arrange(order: Order): void {
        this.top = this.all.rows(order);
        if (order === "tree" && countRows(this.top) > OPEN_ALL)
            close(this.top, 2);
        this.scroller.scrollTop = 0;
        this.refresh();
    }

    private refresh(): void {
        this.rows = flatten(this.all, this.top, this.words);
        const {n} = this.all, more = this.data.run.unlisted;
        const rows = units.some(this.rows.length, "row");
        this.counts.textContent = `${units.some(n, "process", "processes")} in ${rows}` +
            `${more ? `; ${units.count(more)} more are only counted` : ""}`;
        this.redraw();
    }

    /* ── rows in sight ───────────────────────────────────────────────── */

    private get height(): number {
        return matchMedia("screen and (max-width: 700px)").matches ? 40 : 26;
    }

    private render(): void {
        const paper = document.documentElement.classList.contains("paper");
        const {height} = this, n = paper ? Math.min(ON_PAPER, this.rows.length) : this.rows.length;
        this.space.style.height = `${n * height}px`;
        this.scroller.classList.toggle("all", paper || n <= 18);
        const first = paper ? 0 : Math.floor(this.scroller.scrollTop / height);
        const seen = paper ? n : Math.ceil(this.scroller.clientHeight / height) + 1;
        const last = Math.min(n, first + Math.max(seen, 18));
        const made = [];
        for (let k = first; k < last; k++)
            made.push(this.rowAt(k, height));
        this.space.replaceChildren(...made.map((m) => m.lane.root));
        this.seen = made;
        this.drawBars();
    }

    private rowAt(k: number, height: number): {lane: Lane; canvas: HTMLCanvasElement; row: Row} {
        const row = this.rows[k], l = lane("process"), many = row.members.length;
        const canvas = h("canvas", {"aria-hidden": "true"}), gone = this.failed(row);
        const fold = row.children.length ? (row.open || this.words ? "▾" : "▸") : "";
        l.side.append(h("span", {class: "name", title: this.title(row)},
            h("span", {class: "fold"}, fold), h("span", {class: "word"}, row.name),
            many > 1 ? h("b", {class: "times"}, `×\u2009${units.count(many)}`) : null,
            gone ? h("b", {class: "bad", title: gone}, many > 1 ? gone : "✘") : null),
            h("span", {class: "num now"}, units.duration(row.cpu)),
            h("span", {class: "num most"}, units.bytes(row.peak)));
        /* Deeper than that, it is the name that needs the room. */
        (l.side.firstChild as HTMLElement).style.paddingLeft = `min(${row.depth * 12}px, 20%)`;
        l.picture.append(h("span", {class: "pid"}, many > 1 ? "" :
            String(this.all.c.key[row.members[0]])), canvas);
        this.describe(l.root, row, k, height);
        return {lane: l, canvas, row};
    }

    private describe(e: HTMLElement, row: Row, k: number, height: number): void {
        e.id = `row${k}`;
        e.setAttribute("role", "treeitem");
        e.setAttribute("aria-level", String(row.depth + 1));
        e.setAttribute("aria-setsize", String(this.rows.length));
        e.setAttribute("aria-posinset", String(k + 1));
        if (row.children.length)
            e.setAttribute("aria-expanded", String(row.open));
        e.setAttribute("aria-selected", String(row === this.chosen));
        e.style.top = `${k * height}px`;
        e.style.height = `${height}px`;
        e.dataset.row = String(k);
    }

    private title(row: Row): string {
        return row.members.length > 1 ? `${row.members.length} processes named ${row.name}`
            : this.all.c.detail[row.members[0]] ?? row.name;
    }

    private failed(row: Row): string {
        const bad = row.members.filter((i) => this.all.c.wait_status[i]);
        if (!bad.length)
            return "";
        return row.members.length > 1 ? `${units.count(bad.length)} failed`
            : ended(this.all.c.wait_status[bad[0]]!);
    }

    /* ── bars ────────────────────────────────────────────────────────── */

    private drawBars(): void {
        this.axis.draw();
        this.seen.forEach((s) => this.drawBar(s.canvas, s.row));
    }

    private drawBar(canvas: HTMLCanvasElement, row: Row): void {
        const p = begin(canvas);
        if (!p)
            return;
        timeGrid(p, this.view);
        p.g.save();
        clip(p);
        if (row.members.length > 1)
            this.drawCrowd(p, row);
        else
            this.drawLife(p, row.members[0]);
        p.g.restore();
    }

    /* One life: pale as long as it lasted, full in proportion to its CPU time. */
    private drawLife(p: Picture, i: number): void {
        const {all, view} = this, {g} = p;
        const a = xOf(view, p.width, all.born(i)), z = xOf(view, p.width, all.died(i));
        if (z < GUTTER || a > p.width - MARGIN)
            return this.elsewhere(p, z < GUTTER);
        const x = Math.max(GUTTER, a), w = Math.max(2, Math.min(p.width - MARGIN, z) - x);
        const top = 4, tall = p.height - 8;
        const busy = Math.min(1, (all.cpu[i] || 0) / Math.max(1, all.died(i) - all.born(i)));
        g.fillStyle = colour(all.c.wait_status[i] ? "bad" : "ink1");
        g.globalAlpha = 0.22;
        g.fillRect(x, top, w, tall);
        g.globalAlpha = 0.85;
        g.fillRect(x, top + tall * (1 - busy), w, tall * busy);
        g.globalAlpha = 1;
        this.label(p, all.c.detail[i] ?? all.nameOf(i), x, x + w);
    }

    /* It lived before or after what is looked at. */
    private elsewhere(p: Picture, before: boolean): void {
        p.g.fillStyle = colour("faint");
        p.g.textBaseline = "middle";
        p.g.textAlign = before ? "left" : "right";
        p.g.fillText(before ? "‹" : "›", before ? GUTTER + 3 : p.width - MARGIN - 3, p.height / 2);
    }

    /* Beside the bar where there is more room; inside it when it fills the line. */
    private label(p: Picture, text: string, x: number, end: number): void {
        const {g} = p, left = x - GUTTER - 8, right = p.width - MARGIN - end - 8;
        const room = Math.max(left, right, end - x - 12);
        if (room < 40)
            return;
        const words = fit(g, text, room);
        g.textBaseline = "middle";
        g.fillStyle = colour("muted");
        if (room === right) {
            g.textAlign = "left";
            g.fillText(words, end + 6, p.height / 2);
        } else if (room === left) {
            g.textAlign = "right";
            g.fillText(words, x - 6, p.height / 2);
        } else {
            g.textAlign = "left";
            g.fillStyle = colour("text");
            g.fillText(words, x + 6, p.height / 2);
        }
    }

    /* Many lives: how many at a time, the most as high as the row. */
    private drawCrowd(p: Picture, row: Row): void {
        const wide = Math.max(1, Math.ceil(p.width - GUTTER - MARGIN));
        const change = new Float64Array(wide + 2);
        for (const i of row.members) {
            const a = xOf(this.view, p.width, this.all.born(i)) - GUTTER;
            const z = xOf(this.view, p.width, this.all.died(i)) - GUTTER;
            if (z < 0 || a > wide)
                continue;
            change[Math.max(0, Math.floor(a))]++;
            change[Math.min(wide, Math.floor(z)) + 1]--;
        }
        const alive = change.slice(0, wide + 1);
        for (let x = 1; x <= wide; x++)
            alive[x] += alive[x - 1];
        const most = alive.reduce((m, v) => Math.max(m, v), 1);
        p.g.fillStyle = colour("ink1");
        p.g.globalAlpha = 0.55;
        alive.forEach((v, x) => {
            const tall = v / most * (p.height - 8);
            p.g.fillRect(GUTTER + x, p.height - 4 - tall, 1, tall);
        });
        p.g.globalAlpha = 1;
        p.g.fillStyle = colour("faint");
        p.g.textAlign = "left";
    }

    /* ── choosing ────────────────────────────────────────────────────── */

    private click(e: MouseEvent): void {
        const at = (e.target as Element).closest<HTMLElement>("[data-row]");
        if (!at)
            return;
        const row = this.rows[Number(at.dataset.row)];
        if ((e.target as Element).closest(".name") && row.children.length && row === this.chosen)
            this.fold(row, !row.open);
        else if ((e.target as Element).closest(".fold") && row.children.length)
            this.fold(row, !row.open);
        this.choose(row);
    }

    private fold(row: Row, open: boolean): void {
        row.open = open;
        this.refresh();
    }

    private choose(row: Row): void {
        this.chosen = row;
        this.details.hidden = false;
        this.details.replaceChildren(processDetails(this.data, this.all, row));
        this.scroller.setAttribute("aria-activedescendant", `row${this.rows.indexOf(row)}`);
        this.redraw();
    }

    private key(e: KeyboardEvent): void {
        const at = this.chosen ? this.rows.indexOf(this.chosen) : -1;
        const last = this.rows.length - 1;
        const go = (k: number) => this.goTo(Math.max(0, Math.min(last, k)));
        const acts: Record<string, () => void> = {
            ArrowDown: () => go(at + 1), ArrowUp: () => go(at - 1), Home: () => go(0),
            End: () => go(last), PageDown: () => go(at + 15), PageUp: () => go(at - 15),
            ArrowRight: () => this.chosen && this.fold(this.chosen, true),
            ArrowLeft: () => this.chosen && this.fold(this.chosen, false),
        };
        if (acts[e.key] && this.rows.length) {
            e.preventDefault();
            acts[e.key]();
        }
    }

    private goTo(k: number): void {
        const {height, scroller} = this;
        if (k * height < scroller.scrollTop)
            scroller.scrollTop = k * height;
        else if ((k + 1) * height > scroller.scrollTop + scroller.clientHeight)
            scroller.scrollTop = (k + 1) * height - scroller.clientHeight;
        this.choose(this.rows[k]);
    }
}

/* The text, or as much of it as fits, with "…". */
function fit(g: CanvasRenderingContext2D, text: string, room: number): string {
    const clean = upright(text.slice(0, 400)).replace(/\s+/g, " ");
    if (g.measureText(clean).width <= room)
        return clean;
    let lo = 0, hi = clean.length;
    while (lo < hi) {
        const mid = lo + hi + 1 >> 1;
        if (g.measureText(`${clean.slice(0, mid)}…`).width <= room)
            lo = mid;
        else
            hi = mid - 1;
    }
    return `${clean.slice(0, lo)}…`;
}
