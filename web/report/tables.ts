/*
 * tables -- rows of numbers that can be sorted by any column; long ones show
 * their head first.
 */
import {Child, h} from "./dom";

export interface Column {
    title: string;
    help?: string;
    numeric?: boolean;
    key?: string;                         /* of the metric      */
    long?: boolean;                       /* text that may wrap */
    className?: string;                   /* of its cells       */
    sort: (i: number) => number | string; /* NaN sorts last     */
    show: (i: number) => Child;
}

const FIRST = 15, MORE = 200;
const texts = new Intl.Collator(); /* localeCompare() would make one for each pair */

function compare(a: number | string, b: number | string): number {
    if (typeof a === "string" || typeof b === "string")
        return texts.compare(String(a), String(b));
    return (Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0) || a - b || 0;
}

function classOf(c: Column): string | undefined {
    return c.numeric ? "num" : c.long ? "long" : c.className;
}

export class Table {
    readonly root = h("div", {class: "table"});
    private readonly body = h("tbody");
    private readonly heads: HTMLElement[];
    private readonly order: number[];
    private shown: number;

    /* `by`: the column that sorts, -1 for the order they come in. */
    constructor(private readonly columns: Column[], n: number, public by = -1,
        public down = true, first = FIRST) {
        this.order = Array.from({length: n}, (_, i) => i);
        this.shown = n <= first + 5 ? n : first;
        this.heads = columns.map((c, k) => this.head(c, k));
        const table = h("table", {class: "sorted"}, h("thead", {}, h("tr", {}, ...this.heads)),
            this.body);
        this.root.append(h("div", {class: "wide"}, table));
        this.sort();
    }

    private head(c: Column, k: number): HTMLElement {
        const b = h("button", {type: "button", title: c.help}, c.title);
        b.addEventListener("click", () => {
            this.down = this.by === k ? !this.down : c.numeric ?? false;
            this.by = k;
            this.sort();
        });
        return h("th", {scope: "col", class: c.numeric ? "num" : c.className}, b);
    }

    private sort(): void {
        const c = this.columns[this.by];
        if (c) {
            const sign = this.down ? -1 : 1;
            const keys = this.order.map((_, i) => c.sort(i));
            const last = (v: number | string) => typeof v === "number" && Number.isNaN(v);
            this.order.sort((a, b) => last(keys[a]) || last(keys[b])
                ? compare(keys[a], keys[b]) : sign * compare(keys[a], keys[b]) || a - b);
        }
        this.heads.forEach((x, k) => x.setAttribute("aria-sort", k !== this.by ? "none"
            : this.down ? "descending" : "ascending"));
        this.fill();
    }

    private fill(): void {
        const rows = this.order.slice(0, this.shown).map((i) => h("tr", {},
            ...this.columns.map((c) => h("td", {class: classOf(c)}, c.show(i)))));
        this.body.replaceChildren(...rows);
        this.root.querySelector(".more")?.remove();
        const left = this.order.length - this.shown;
        if (left <= 0)
            return;
        const b = h("button", {type: "button", class: "more"},
            `Show ${Math.min(left, MORE)} more of ${this.order.length}`);
        b.addEventListener("click", () => {
            this.shown += MORE;
            this.fill();
        });
        this.root.append(b);
    }
}
