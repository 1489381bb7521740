/*
 * capacity -- how much the server held: answers a second over requests under
 * way, with the law that fits them, and what was tried; present when the run is
 * a capacity.
 */
import type {Climb, Data, Num, Probe} from "./data";
import {h} from "./dom";
import {Column, Table} from "./tables";
import * as units from "./units";

const HEIGHT = 260, LEFT = 70, TOP = 12, BOTTOM = 30;

/* As the parser knows it: a page that asks nobody for anything holds no address. */
const SVG = new DOMParser().parseFromString("<svg>", "text/html").body
    .firstElementChild?.namespaceURI ?? null;

function svg(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
    const e = document.createElementNS(SVG, tag) as SVGElement;
    for (const [name, value] of Object.entries(attributes))
        e.setAttribute(name, String(value));
    e.textContent = text;
    return e;
}

class Curve {
    readonly root: SVGElement;

    constructor(private readonly width: number, private readonly right: number,
        private readonly top: number) {
        this.root = svg("svg", {viewBox: `0 0 ${width} ${HEIGHT}`, role: "img",
            "aria-label": "answers a second over requests under way"});
        this.label(LEFT - 8, this.y(top) + 4, units.count(top), "end");
        this.label(LEFT - 8, this.y(0), "0", "end");
        this.label(this.width - 10, HEIGHT - 8, `${units.number(right)} under way`, "end");
        this.line(`M${LEFT} ${this.y(top)}V${this.y(0)}H${this.width - 10}`, {opacity: 0.5});
    }

    private x(n: number): number {
        return LEFT + n / this.right * (this.width - LEFT - 10);
    }

    private y(rate: number): number {
        return TOP + (1 - rate / this.top) * (HEIGHT - TOP - BOTTOM);
    }

    private label(x: number, y: number, text: string, anchor: string): void {
        this.root.append(svg("text", {x, y, "text-anchor": anchor, fill: "currentColor",
            "font-size": 12}, text));
    }

    private line(d: string, more: Record<string, string | number>): void {
        this.root.append(svg("path", {d, fill: "none", stroke: "currentColor", ...more}));
    }

    law(l: NonNullable<Climb["law"]>): void {
        const at = (n: number) => l.lambda.value * n /
            (1 + l.sigma.value * (n - 1) + l.kappa.value * n * (n - 1));
        const points = Array.from({length: 120}, (_, i) => (i + 1) / 120 * this.right)
            .filter((n) => at(n) >= 0 && at(n) <= this.top);
        const d = points.map((n, i) => `${i ? "L" : "M"}${this.x(n)} ${this.y(at(n))}`).join("");
        this.line(d, {"stroke-dasharray": "4 4", opacity: 0.7});
    }

    probe(p: Probe): void {
        const dot = svg("circle", {cx: this.x(p.under_way ?? 0), cy: this.y(p.rate ?? 0), r: 5,
            fill: p.verdict === "keeps" ? "currentColor" : "none", stroke: "currentColor"});
        dot.append(svg("title", {}, `${units.count(p.amount)}: ${word(p)}`));
        this.root.append(dot);
    }
}

function word(p: Probe): string {
    const held = p.held ? "held: " : "";
    return p.verdict === "invalid" ? `${held}${p.verdict}${p.invalid ? `: ${p.invalid}` : ""}`
        : `${held}${p.verdict}${p.sure ? "" : "?"} ${p.missed ?? ""}`;
}

function draw(c: Climb, seen: Probe[], width: number): SVGElement {
    const right = Math.max(0, ...seen.map((p) => p.under_way ?? 0));
    const top = Math.max(0, ...seen.map((p) => p.rate ?? 0)) * 1.1;
    const picture = new Curve(width, right, top);
    if (c.law)
        picture.law(c.law);
    seen.forEach((p) => picture.probe(p));
    return picture.root;
}

/* Drawn as wide as there is room, so that its words stay as large as all others. */
function curve(c: Climb): HTMLElement[] {
    const seen = c.probes.filter((p) => p.verdict !== "invalid" && p.rate && p.under_way);
    if (!seen.length)
        return [];
    const room = h("div", {class: "curve"});
    new ResizeObserver(() => {
        if (room.clientWidth)
            room.replaceChildren(draw(c, seen, room.clientWidth));
    }).observe(room);
    return [room];
}

function sentences(c: Climb): string {
    const unit = ` ${c.unit ?? (c.by === "rate" ? "requests/s" : "requests at once")}`;
    const least = c.end === "held" ? "" : "at least ";
    const amount = c.capacity === null ? "unknown" : `${least}${units.count(c.capacity)}${unit}`;
    const parts = [amount, c.reason];
    if (c.too_much !== null)
        parts.push(`${units.count(c.too_much)} is too much`);
    if (c.law && c.law.peak_under_way)
        parts.push("by the law the peak is at " +
            `${units.number(c.law.peak_under_way.value)} under way`);
    if (c.limited_by)
        parts.push(`limited by ${c.limited_by.function}, ` +
            `${units.percent(c.limited_by.share)} of its time`);
    else if (c.limit_unknown)
        parts.push(`what limits it is unknown: ${c.limit_unknown}`);
    return `${parts.join("; ")}.`;
}

function table(probes: Probe[]): HTMLElement {
    const number = (title: string, of: (p: Probe) => Num, show: (v: Num) => string): Column =>
        ({title, numeric: true, sort: (i) => of(probes[i]) ?? NaN,
            show: (i) => show(of(probes[i]))});
    const columns: Column[] = [
        number("tried", (p) => p.amount, units.count),
        number("answers/s", (p) => p.rate, units.count),
        number("under way", (p) => p.under_way, units.number),
        number("p50", (p) => p.p50_ms, units.ms), number("p99", (p) => p.p99_ms, units.ms),
        number("errors", (p) => p.errors, units.percent),
        {title: "verdict", sort: (i) => probes[i].verdict, show: (i) => word(probes[i])}];
    return new Table(columns, probes.length, 0, false, 48).root;
}

export function capacitySection(data: Data): HTMLElement[] {
    const c = data.run.load?.climb;
    if (!c)
        return [];
    return [h("section", {id: "capacity"}, h("h2", {}, "Capacity"), h("p", {}, sentences(c)),
        ...curve(c), table(c.probes))];
}
