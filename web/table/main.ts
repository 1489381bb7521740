/* main -- unpack the table, and what chooses among its rows. */
import {button, h} from "../report/dom";
import {inflate} from "../report/inflate";
import {begin} from "../report/plain";
import {Column, Table} from "../report/tables";
import {startTheme, themeSwitch} from "../report/theme";
import {bytes, count, percent, some, spread} from "../report/units";
import {Data, Grain, Look, nameOf, severalOf, shortFile, Sum, sum, Tag, whereOf}
    from "./data";

const FIRST = 60, PAUSE = 120; /* ms without a key before it is searched */

class Page {
    readonly root: HTMLElement;
    private readonly look: Look;
    private readonly several: string[];
    private readonly facts = h("p", {class: "facts"});
    private readonly place = h("div");
    private readonly all: number;
    private table: Table | null = null;

    constructor(private readonly d: Data) {
        this.several = severalOf(d);
        this.look = {grain: "line", apart: new Set(), only: {}, words: ""};
        this.all = d.bytes.reduce((a, b) => a + b, 0);
        this.root = h("div", {}, h("header", {}, h("div", {class: "title"}, h("h1", {}, d.title),
            h("span", {class: "grow"}), themeSwitch()), this.facts),
        h("section", {}, this.tools(), this.place));
        this.refresh();
    }

    /* ── what is chosen ── */

    private search(): HTMLElement {
        const find = h("input", {type: "text", role: "searchbox", spellcheck: "false",
            placeholder: "Search ( / )", "aria-label": "Search lines, files, threads, allocators"});
        let pause = 0;
        find.addEventListener("input", () => {
            clearTimeout(pause);
            pause = setTimeout(() => this.change({words: find.value}), PAUSE);
        });
        document.addEventListener("keydown", (e) => {
            if (e.key === "/" && e.target !== find) {
                e.preventDefault();
                find.focus();
            } else if (e.key === "Escape") {
                find.value = "";
                this.change({words: ""});
            }
        });
        return h("span", {class: "search"}, find);
    }

    private grain(): HTMLElement {
        const s = h("select", {"aria-label": "A row for each"},
            ...["line", "function", "file"].map((g) => h("option", {value: g}, `By ${g}`)));
        s.addEventListener("change", () => this.change({grain: s.value as Grain}));
        return s;
    }

    /* Apart, or all in one row. */
    private chip(name: string): HTMLElement {
        const b = button(`By ${name}`, `A row for each ${name}`, () => {
            const {apart} = this.look, on = !apart.delete(name);
            if (on)
                apart.add(name);
            b.setAttribute("aria-pressed", String(on));
            this.change({});
        });
        b.className = "chip";
        b.setAttribute("aria-pressed", "false");
        return b;
    }

    /* One of them alone. */
    private only(name: string): HTMLElement {
        const tags = [...new Set(this.d.apart[name])];
        const s = h("select", {"aria-label": `Only this ${name}`},
            h("option", {value: "-1"}, `Any ${name}`),
            ...tags.map((t, i) => h("option", {value: i}, t === null ? `no ${name}` : String(t))));
        s.addEventListener("change", () => {
            const i = Number(s.value), {[name]: _, ...rest} = this.look.only;
            this.change({only: i < 0 ? rest : {...rest, [name]: tags[i]}});
        });
        return s;
    }

    private tools(): HTMLElement {
        return h("div", {class: "tools"}, this.grain(), ...this.several.map((n) => this.chip(n)),
            ...this.several.map((n) => this.only(n)), this.search());
    }

    private change(c: Partial<Look>): void {
        Object.assign(this.look, c);
        this.refresh();
    }

    /* ── what is shown ── */

    private doubt(s: Sum): string {
        return this.d.sampled ? ` ± ${bytes(spread(s.variance) * 1024)}` : "";
    }

    private bytes(s: Sum): string {
        return bytes(s.bytes) + this.doubt(s);
    }

    /* On a narrow page the interval stands below its amount. */
    private amount(s: Sum): HTMLElement {
        return h("span", {}, bytes(s.bytes), h("span", {class: "doubt"}, this.doubt(s)));
    }

    private share(s: Sum): HTMLElement {
        const part = this.all ? s.bytes / this.all : 0, fill = h("i");
        fill.style.width = `${Math.min(100, part * 100)}%`;
        return h("span", {class: "share"}, h("span", {class: "bar"}, fill),
            h("span", {class: "part"}, percent(part)));
    }

    /* Names of tags that are columns now. */
    private get tags(): string[] {
        return this.several.filter((n) => this.look.apart.has(n));
    }

    /* On a narrow page everything that is no number stands in one cell. */
    private name(row: number): HTMLElement {
        const {d, look} = this, where = whereOf(d, row, look.grain), files = look.grain === "file";
        const below = [...files ? [] : [shortFile(where)],
            ...this.tags.map((n) => String(d.apart[n][row] ?? ""))].filter((s) => s).join(" · ");
        return h("span", {class: "function", title: files ? where : undefined},
            files ? shortFile(where) || "?" : nameOf(d, row),
            h("small", {class: "narrow", title: where}, below));
    }

    private tag(name: string, v: Tag[]): (rows: Sum[]) => Column {
        return (rows) => ({title: name, className: "tag", sort: (i) => v[rows[i].first] ?? "",
            show: (i) => String(v[rows[i].first] ?? "")});
    }

    private columns(rows: Sum[]): Column[] {
        const {d, look} = this, tilde = d.sampled ? "~" : "";
        const where = (i: number) => whereOf(d, rows[i].first, look.grain);
        const tags = this.tags.map((n) => this.tag(n, d.apart[n])(rows));
        return [
            {title: "bytes", numeric: true, sort: (i) => rows[i].bytes,
                show: (i) => this.amount(rows[i])},
            {title: "share", numeric: true, sort: (i) => rows[i].bytes,
                show: (i) => this.share(rows[i])},
            {title: "count", help: "allocations", numeric: true, sort: (i) => rows[i].count,
                show: (i) => tilde + count(rows[i].count)},
            {title: look.grain === "file" ? "file" : "function",
                sort: (i) => look.grain === "file" ? where(i) : nameOf(d, rows[i].first),
                show: (i) => this.name(rows[i].first)},
            ...look.grain === "file" ? [] : [{title: "where", className: "where", sort: where,
                show: (i: number) => h("span", {title: where(i)}, shortFile(where(i)))}],
            ...tags];
    }

    private refresh(): void {
        const rows = sum(this.d, this.look), add = (of: (s: Sum) => number) =>
            rows.reduce((a, s) => a + of(s), 0);
        const held: Sum = {first: 0, bytes: add((s) => s.bytes), count: add((s) => s.count),
            variance: add((s) => s.variance)};
        const part = held.bytes < this.all ? `, ${percent(held.bytes / this.all)} of all` : "";
        this.facts.textContent = `${this.bytes(held)}${part} · ${this.d.sampled ? "~" : ""}${
            some(held.count, "allocation")} · ${some(rows.length, "row")}${
            this.d.note ? ` · ${this.d.note}` : ""}`;
        const by = this.table?.by ?? 0, down = this.table?.down ?? true;
        const columns = this.columns(rows);
        this.table = new Table(columns, rows.length, by < columns.length ? by : 0, down, FIRST);
        this.place.replaceChildren(this.table.root);
    }
}

void begin(async (packed, page) => {
    const d = await inflate<Data>(packed);
    startTheme();
    page.append(new Page(d).root);
});
