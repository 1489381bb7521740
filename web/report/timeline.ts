/*
 * timeline -- the section over time: phases, the plots, their axis.
 */
import type {Data} from "./data";
import {button, Child, eachFrame, h} from "./dom";
import {drawPlot} from "./draw";
import {Lane, lane, Pointer, TimeAxis} from "./lanes";
import {phaseLane} from "./phases";
import {Plot, Trace} from "./plots";
import {pointAt, spread} from "./series";
import {onTheme} from "./theme";
import * as units from "./units";
import type {View} from "./view";

/* ── one plot ──────────────────────────────────────────────────────────── */

/* The numbers beside a line: at the cursor, else its mean; and its largest. */
class Legend {
    readonly row: HTMLElement;
    private readonly value = h("td", {class: "num now"});
    private readonly most = h("td", {class: "num most"});

    constructor(private readonly data: Data, private readonly trace: Trace,
        private readonly view: View) {
        const swatch = h("span", {class: `swatch ${trace.ink}`});
        this.row = h("tr", {title: `${trace.help}\n${trace.known}`, "data-key": trace.line.key},
            h("th", {scope: "row"}, swatch, trace.name), this.value, this.most);
    }

    /* As the run's own tallies have it; what is no metric is added up here. */
    private whole(): {mean: number | null; max: number | null} {
        const {line} = this.trace;
        return this.data.run.metrics[line.key] ?? spread(line, 0, this.data.span);
    }

    refresh(): void {
        const {line} = this.trace, {from, to, zoomed} = this.view;
        const s = zoomed ? spread(line, from, to) : this.whole();
        this.most.textContent = units.inUnit(line.unit, s.max);
        this.point(s.mean);
    }

    point(mean: number | null = null): void {
        const {line} = this.trace, {cursor} = this.view;
        if (cursor === null) {
            this.value.textContent = units.inUnit(line.unit, mean ?? this.mean());
            delete this.row.dataset.value;
            return;
        }
        const i = pointAt(line, cursor), v = i < 0 ? NaN : line.v[i];
        this.value.textContent = units.inUnit(line.unit, v);
        this.row.dataset.value = Number.isNaN(v) ? "null" : String(v);
    }

    private mean(): number | null {
        const {line} = this.trace, {from, to, zoomed} = this.view;
        return zoomed ? spread(line, from, to).mean : this.whole().mean;
    }

    get words(): string {
        return `${this.trace.name} ${this.value.textContent}`;
    }
}

class PlotLane {
    readonly lane: Lane = lane("plot");
    private readonly canvas: HTMLCanvasElement;
    private readonly legends: Legend[];

    constructor(data: Data, readonly plot: Plot, private readonly view: View) {
        this.canvas = h("canvas", {role: "img", "aria-label": `${plot.title} over time`});
        const told = plot.sum ? [...plot.traces, plot.sum] : plot.traces;
        this.legends = told.map((t) => new Legend(data, t, view));
        this.lane.side.append(
            h("h3", {}, plot.title, plot.note ? h("small", {}, plot.note) : null),
            h("table", {class: "legend"}, h("tbody", {}, ...this.legends.map((l) => l.row))));
        this.lane.picture.append(this.canvas);
        this.lane.root.dataset.plot = plot.title;
    }

    draw(): void {
        drawPlot(this.canvas, this.plot, this.view);
        this.legends.forEach((l) => l.refresh());
    }

    point(): void {
        this.legends.forEach((l) => l.point());
    }

    show(on: boolean): void {
        this.lane.root.hidden = !on;
    }

    get shown(): boolean {
        return !this.lane.root.hidden;
    }

    get words(): string {
        return `${this.plot.title}: ${this.legends.map((l) => l.words).join(", ")}`;
    }
}

/* ── the section ───────────────────────────────────────────────────────── */

export class TimelineSection {
    readonly root: HTMLElement;
    readonly field: HTMLElement;
    private readonly lanes: PlotLane[];
    private readonly axes: TimeAxis[];
    private readonly spoken = h("div", {class: "aside", "aria-live": "polite"});
    private readonly heads: HTMLElement[] = [];
    private readonly more: (() => void)[] = [];
    readonly redraw: () => void;

    constructor(private readonly data: Data, plots: Plot[], flat: string[],
        private readonly view: View) {
        this.lanes = plots.map((p) => new PlotLane(data, p, view));
        this.lanes.forEach((l) => l.show(l.plot.first));
        this.axes = [0, 1].map(() => new TimeAxis(view, data.run.identity.start_ns));
        this.axes[0].lane.side.append(this.head());
        this.field = h("div", {class: "lanes", tabindex: "0", role: "group",
            "aria-label": "Timeline. Left and right move the cursor, plus and minus zoom, " +
                "zero shows all."});
        const phases = phaseLane(data, view);
        if (phases)
            this.more.push(phases.draw);
        this.field.append(this.axes[0].lane.root, ...phases ? [phases.lane.root] : [],
            ...this.lanes.map((l) => l.lane.root), this.axes[1].lane.root);
        this.root = h("section", {id: "time"}, this.tools(), this.field,
            this.footnote(flat), this.spoken);
        const pointer = () => this.axes[0].lane.picture;
        new Pointer(this.field, pointer, view, data.run.timeline.t_ns);
        this.redraw = eachFrame(() => this.draw());
        this.listen();
    }

    private listen(): void {
        this.view.onZoom(this.redraw);
        this.view.onCursor(eachFrame(() => this.point()));
        onTheme(() => this.draw());
        new ResizeObserver(this.redraw).observe(this.field);
        this.field.addEventListener("keyup", () => {
            if (this.view.cursor !== null)
                this.spoken.textContent = this.words();
        });
    }

    onDraw(act: () => void): void {
        this.more.push(act);
    }

    private head(): HTMLElement {
        const now = h("span", {class: "num now"}, "mean");
        this.heads.push(now);
        return h("div", {class: "columns"}, now, h("span", {class: "num most"}, "max"));
    }

    private words(): string {
        return this.lanes.filter((l) => l.shown).map((l) => l.words).join("; ");
    }

    private tools(): HTMLElement {
        const reset = button("All", "Show the whole run (0)", () => this.view.reset());
        this.view.onZoom(() => reset.disabled = !this.view.zoomed);
        reset.disabled = true;
        return h("div", {class: "tools"}, h("h2", {}, "Over time"),
            h("span", {class: "zoom"},
                button("−", "Zoom out (-)", () => this.view.scale(2)),
                button("+", "Zoom in (+)", () => this.view.scale(0.5)), reset),
            h("span", {class: "hint"}, "drag to zoom, double-click for all"),
            h("span", {class: "chips"}, ...this.lanes.map((l) => this.chip(l))));
    }

    private chip(l: PlotLane): HTMLElement {
        const name = l.plot.note && this.lanes.some((o) => o !== l && o.plot.title === l.plot.title)
            ? `${l.plot.title}, ${l.plot.note}` : l.plot.title;
        const b = button(name, `Show or hide ${name}`, () => {
            l.show(!l.shown);
            b.setAttribute("aria-pressed", String(l.shown));
            l.draw();
        });
        b.className = "chip";
        b.setAttribute("aria-pressed", String(l.shown));
        return b;
    }

    private footnote(flat: string[]): Child {
        const {joined, t_ns} = this.data.run.timeline, notes: string[] = [];
        if (joined)
            notes.push(`Each point stands for up to ${units.count(2 ** joined)} samples.`);
        if (t_ns.length > 200)
            notes.push("Where points stand too close to be told apart a line is their mean, " +
                "its band their smallest and largest.");
        return h("div", {class: "note"}, notes.length ? h("p", {}, notes.join(" ")) : null,
            flat.length ? h("details", {}, h("summary", {}, "Always 0, so not drawn",
                h("small", {}, String(flat.length))), flat.join(", ")) : null);
    }

    private point(): void {
        this.heads.forEach((x) => x.textContent = this.view.cursor === null ? "mean" : "here");
        this.lanes.filter((l) => l.shown).forEach((l) => l.point());
    }

    draw(): void {
        this.axes.forEach((a) => a.draw());
        this.lanes.filter((l) => l.shown).forEach((l) => l.draw());
        this.more.forEach((act) => act());
    }
}
