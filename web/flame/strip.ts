/*
 * strip -- the profile over time: how much each slice had; a drag over it shows
 * the stacks of that span alone. Of memory, what the system counted stands there too.
 */
import {button, eachFrame, h} from "../report/dom";
import {colour, onTheme} from "../report/theme";
import {bytes, duration, place, timeStep} from "../report/units";
import {bySlice, highest, lasted} from "./data";
import type {Model} from "./model";
import {Resident} from "./resident";

const LOW = 56, HIGH = 120, AXIS = 16;

export class Strip {
    readonly root: HTMLElement;
    private readonly canvas = h("canvas", {tabindex: 0, role: "img",
        "aria-label": "Over time; drag to choose a span, arrows move it, Escape shows all"});
    private readonly words = h("span", {class: "hint"});
    private readonly all: HTMLButtonElement;
    private readonly resident: Resident | null;
    private readonly tall: number;
    private sums: Float64Array = new Float64Array(0);
    private readonly redraw = eachFrame(() => this.draw());

    constructor(private readonly m: Model) {
        this.resident = m.p.beside && new Resident(m.p.beside, m.p.span_ns,
            m.p.until ? "made, not yet freed" : "heap");
        this.tall = this.resident ? HIGH : LOW;
        this.all = button("All of it", "Show the whole time", () => this.pick(0, m.p.slices));
        const tools = h("div", {class: "tools"}, h("h2", {}, "Over time"), this.words,
            h("span", {class: "grow"}), this.all);
        this.root = h("section", {id: "strip", class: this.resident ? "tall" : undefined}, tools,
            this.canvas, this.resident?.root);
        m.onTree(() => this.refresh());
        onTheme(() => this.draw());
        this.listen();
        new ResizeObserver(this.redraw).observe(this.root);
        this.refresh();
    }

    private refresh(): void {
        const {p, choice, compares} = this.m;
        this.sums = bySlice(p, compares ? p.after : choice.kind);
        if (!p.levels && !p.until)
            this.sums[p.slices - 1] /= this.lastPart();
        const whole = choice.from === 0 && choice.to === p.slices, ns = p.slice_ns;
        this.all.disabled = whole;
        this.words.textContent = (whole ? `${p.slices} slices of ${duration(ns)}`
            : `${place(choice.from * ns, ns)} to ${place(Math.min(choice.to * ns, p.span_ns), ns)}`)
            + this.top();
        this.redraw();
    }

    /* How much of the last slice there was: it is drawn as high as one that had it all. */
    private lastPart(): number {
        const {slices, slice_ns, span_ns} = this.m.p;
        return Math.max(0.5, span_ns / slice_ns - (slices - 1));
    }

    /* Of levels: which slice is shown; of what lasted, how much. */
    private top(): string {
        const {p, choice} = this.m;
        if (p.until)
            return `; ${this.m.amount(lasted(p, choice.kind, choice.from, choice.to))} ` +
                "made in it and not freed by its end";
        if (!p.levels)
            return "";
        const at = highest(this.sums, choice.from, choice.to);
        return `; its peak, ${this.m.amount(this.sums[at])} at ${place(at * p.slice_ns,
            p.slice_ns)}, is shown`;
    }

    private pick(from: number, to: number): void {
        const {slices} = this.m.p;
        const width = Math.max(1, Math.min(slices, to - from));
        from = Math.max(0, Math.min(slices - width, from));
        this.m.change({from, to: from + width});
    }

    /* ── the picture ── */

    /* RSS is in bytes: it stands beside these alone. */
    private get beside(): Resident | null {
        return this.m.kind.shown === "bytes" ? this.resident : null;
    }

    private draw(): void {
        const dots = devicePixelRatio || 1, width = this.canvas.clientWidth;
        this.canvas.width = width * dots;
        this.canvas.height = (this.tall + AXIS) * dots;
        const g = this.canvas.getContext("2d")!;
        g.scale(dots, dots);
        const most = Math.max(this.sums.reduce((a, b) => Math.max(a, b), 0),
            this.beside?.most ?? 0) || 1;
        this.bars(g, width, most);
        this.beside?.draw(g, width, this.tall, (this.tall - 4) / most);
        this.axis(g, width);
        this.resident?.legend(this.beside !== null, bytes(most));
    }

    /* The largest of all slices in a pixel. */
    private bars(g: CanvasRenderingContext2D, width: number, most: number): void {
        const {slices, slice_ns, span_ns} = this.m.p, {from, to} = this.m.choice;
        const per = width * slice_ns / span_ns;
        for (let s = 0; s < slices;) {
            const x = Math.floor(s * per);
            let end = s + 1, top = this.sums[s];
            for (; end < slices && Math.floor(end * per) === x; end++)
                top = Math.max(top, this.sums[end]);
            g.fillStyle = colour(s >= from && s < to ? "ink2" : "axis");
            const tall = top / most * (this.tall - 4);
            const wide = Math.min(width, end * per) - s * per;
            g.fillRect(s * per, this.tall - tall, Math.max(1, wide - (per > 4 ? 1 : 0)), tall);
            s = end;
        }
    }

    private axis(g: CanvasRenderingContext2D, width: number): void {
        const span = this.m.p.span_ns, step = timeStep(span, width / 110);
        g.fillStyle = colour("axis");
        g.fillRect(0, this.tall, width, 1);
        g.fillStyle = colour("muted");
        g.font = "11px system-ui, sans-serif";
        for (let t = 0; t < span; t += step) {
            const text = place(t, step), last = width - g.measureText(text).width;
            g.fillText(text, Math.min(t / span * width + 2, last), this.tall + 12);
        }
    }

    /* ── the hand ── */

    private sliceAt(e: MouseEvent): number {
        const r = this.canvas.getBoundingClientRect(), {slices, slice_ns, span_ns} = this.m.p;
        return Math.max(0, Math.min(slices - 1,
            Math.floor((e.clientX - r.left) / r.width * span_ns / slice_ns)));
    }

    /* What there was at the place of the pointer. */
    private tell(e: MouseEvent): void {
        this.beside?.tell((this.sliceAt(e) + 0.5) * this.m.p.slice_ns);
    }

    private listen(): void {
        const c = this.canvas;
        let start = -1;
        c.addEventListener("pointerdown", (e) => {
            start = this.sliceAt(e);
            c.setPointerCapture(e.pointerId);
        });
        c.addEventListener("pointermove", (e) => this.tell(e));
        c.addEventListener("pointerleave", () => this.resident?.forget());
        c.addEventListener("pointerup", (e) => {
            const end = this.sliceAt(e);
            if (start >= 0)
                this.pick(Math.min(start, end), Math.max(start, end) + 1);
            start = -1;
        });
        c.addEventListener("dblclick", () => this.pick(0, this.m.p.slices));
        c.addEventListener("keydown", (e) => {
            const {from, to} = this.m.choice;
            const by = e.key === "ArrowLeft" ? -1 : e.key === "ArrowRight" ? 1 : 0;
            if (by)
                this.pick(from + by, to + by);
            else if (e.key === "Escape")
                this.pick(0, this.m.p.slices);
        });
    }
}
