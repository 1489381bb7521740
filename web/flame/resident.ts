/*
 * resident -- over the curve of the heap: RSS, what of it is not files, and in
 * words what both were where the pointer is.
 */
import {h} from "../report/dom";
import {colour} from "../report/theme";
import {bytes, place} from "../report/units";
import type {Beside} from "./data";

type Values = (number | null)[];

export class Resident {
    readonly root = h("p", {class: "legend"});
    readonly most: number;
    private readonly own: Values; /* RSS without files */
    private readonly words = h("span", {class: "told"});
    private shown = "";

    constructor(private readonly b: Beside, private readonly span: number,
        private readonly bars: string) {
        this.own = b.rss.map((v, i) => v === null || b.file[i] === null ? null : v - b.file[i]!);
        this.most = b.rss.reduce<number>((a, v) => Math.max(a, v ?? 0), 0);
    }

    /* A line through what is known; what is not is a gap. */
    private line(g: CanvasRenderingContext2D, v: Values, ink: string, width: number, bottom: number,
        scale: number): void {
        let open = false;
        g.beginPath();
        v.forEach((y, i) => {
            const x = this.b.at[i] / this.span * width;
            if (y !== null && open)
                g.lineTo(x, bottom - y * scale);
            else if (y !== null)
                g.moveTo(x, bottom - y * scale);
            open = y !== null;
        });
        g.strokeStyle = colour(ink);
        g.lineWidth = 1.5;
        g.lineJoin = "round";
        g.stroke();
    }

    draw(g: CanvasRenderingContext2D, width: number, bottom: number, scale: number): void {
        this.line(g, this.own, "ink3", width, bottom, scale);
        this.line(g, this.b.rss, "ink1", width, bottom, scale);
    }

    /* ── words ── */

    legend(on: boolean, top: string): void {
        const key = (name: string, text: string) => h("span", {}, h("i", {class: name}), text);
        this.root.hidden = !on;
        if (this.shown === top)
            return;
        this.shown = top;
        this.root.replaceChildren(key("heap", this.bars), key("rss", "RSS"),
            key("own", "RSS without files"), h("span", {class: "top"}, `the top is ${top}`),
            this.words);
    }

    /* The last moment that was looked at before `t`. */
    private at(t: number): number {
        let lo = 0, hi = this.b.at.length;
        while (lo < hi) {
            const mid = (lo + hi) >> 1;
            if (this.b.at[mid] <= t)
                lo = mid + 1;
            else
                hi = mid;
        }
        return Math.max(0, lo - 1);
    }

    tell(t: number): void {
        const i = this.at(t), own = this.own[i], heap = this.b.heap[i];
        this.words.textContent = [`${place(this.b.at[i], 1e6)}: heap ${bytes(heap)}`,
            `RSS ${bytes(this.b.rss[i])}`, `files ${bytes(this.b.file[i])}`,
            ...own === null ? [] : [own >= heap ? `neither ${bytes(own - heap)}`
                : `${bytes(heap - own)} of the heap not resident`]].join(" · ");
    }

    forget(): void {
        this.words.textContent = "";
    }
}
