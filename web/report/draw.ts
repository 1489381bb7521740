/*
 * draw -- one plot on one canvas. Time runs from the gutter at the left, where
 * the values stand, to a margin at the right; every picture that shares the
 * time axis uses these two, so moments stand below each other.
 */
import type {Plot, Trace} from "./plots";
import {Line, lowerBound} from "./series";
import {colour} from "./theme";
import {thin} from "./thin";
import * as units from "./units";
import type {View} from "./view";

export const GUTTER = 64, MARGIN = 14;

export interface Picture {
    g: CanvasRenderingContext2D;
    width: number;
    height: number;
}

/* A canvas at the resolution of the screen; null while it is not shown. */
export function begin(canvas: HTMLCanvasElement): Picture | null {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    const g = canvas.getContext("2d");
    if (!g || !width || !height)
        return null;
    const ratio = Math.max(2, devicePixelRatio || 1); /* paper is finer than screens */
    const w = Math.round(width * ratio), h = Math.round(height * ratio);
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
    }
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = "11px system-ui, sans-serif";
    return {g, width, height};
}

export function xOf(view: View, width: number, t: number): number {
    return GUTTER + (t - view.from) / view.width * (width - GUTTER - MARGIN);
}

export function timeAt(view: View, width: number, x: number): number {
    const t = view.from + (x - GUTTER) / (width - GUTTER - MARGIN) * view.width;
    return Math.max(view.from, Math.min(view.to, t));
}

export function clip(p: Picture): void {
    p.g.beginPath();
    p.g.rect(GUTTER, 0, p.width - GUTTER - MARGIN, p.height);
    p.g.clip();
}

export function timeTicks(view: View, width: number): {at: number; text: string}[] {
    const step = units.timeStep(view.width, (width - GUTTER - MARGIN) / 96);
    const ticks = [];
    for (let k = Math.ceil(view.from / step); k * step <= view.to; k++)
        ticks.push({at: k * step, text: units.place(k * step, step)});
    return ticks;
}

export function timeGrid(p: Picture, view: View): void {
    p.g.fillStyle = colour("grid");
    for (const {at} of timeTicks(view, p.width))
        p.g.fillRect(Math.round(xOf(view, p.width, at)), 0, 1, p.height);
}

/* ── the value axis ────────────────────────────────────────────────────── */

const TOP = 8, BOTTOM = 6; /* px: half a label above and below */

interface Axis {
    top: number;
    step: number;
    y(v: number): number;
}

/* Which points can be seen: [first, past the last). */
function visible(line: Line, view: View): [number, number] {
    const a = Math.max(0, lowerBound(line.to, view.from) - 1);
    let b = lowerBound(line.to, view.to) + 1;
    b = Math.min(line.v.length, b);
    return [a, b];
}

function highest(plot: Plot, view: View): number {
    let top = 0;
    for (const {line} of plot.traces) {
        const [a, b] = visible(line, view);
        for (let i = a; i < b; i++) {
            const v = plot.stacked ? stackAt(plot.traces, plot.traces.length, i) : line.v[i];
            const most = line.hi && !plot.stacked ? Math.max(v, line.hi[i]) : v;
            if (most > top)
                top = most;
        }
    }
    return top;
}

function axisOf(plot: Plot, view: View, height: number): Axis {
    let most = highest(plot, view);
    if (plot.limit && most > plot.limit.value / 2)
        most = Math.max(most, plot.limit.value);
    if (most <= 0)
        return {top: 1, step: 2, y: (v) => height - BOTTOM - v * (height - TOP - BOTTOM)};
    const step = units.valueStep(plot.unit, most, Math.max(2, Math.floor(height / 38)));
    const top = Math.max(step, Math.ceil(most / step - 1e-9) * step);
    return {top, step, y: (v) => height - BOTTOM - v / top * (height - TOP - BOTTOM)};
}

function drawAxis(p: Picture, plot: Plot, axis: Axis): void {
    const {g} = p;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (let v = 0; v <= axis.top * 1.0001; v += axis.step) {
        const y = Math.round(axis.y(v));
        g.fillStyle = colour(v === 0 ? "axis" : "grid");
        g.fillRect(GUTTER, y, p.width - GUTTER - MARGIN, 1);
        g.fillStyle = colour("faint");
        g.fillText(units.tick(plot.unit, v), GUTTER - 8, y);
    }
}

function drawLimit(p: Picture, plot: Plot, axis: Axis): void {
    if (!plot.limit || plot.limit.value > axis.top)
        return;
    const {g} = p, y = Math.round(axis.y(plot.limit.value)) + 0.5;
    g.strokeStyle = g.fillStyle = colour("warn");
    g.setLineDash([4, 4]);
    g.beginPath();
    g.moveTo(GUTTER, y);
    g.lineTo(p.width - MARGIN, y);
    g.stroke();
    g.setLineDash([]);
    g.textAlign = "right";
    g.textBaseline = y < 16 ? "top" : "bottom";
    g.fillText(plot.limit.name, p.width - MARGIN - 4, y + (y < 16 ? 3 : -2));
}

/* ── lines ─────────────────────────────────────────────────────────────── */

function stackAt(traces: Trace[], n: number, i: number): number {
    let sum = 0;
    for (let k = 0; k < n; k++)
        sum += traces[k].line.v[i];
    return sum;
}

type Value = (i: number) => number;

/* Unbroken stretches of points: [first, past the last). */
function* stretches(line: Line, value: Value, view: View): Generator<[number, number]> {
    const [a, b] = visible(line, view);
    let from = a;
    for (let i = a; i <= b; i++) {
        const ends = i === b || Number.isNaN(value(i)) ||
            (line.steps && i > from && line.from[i] !== line.to[i - 1]);
        if (!ends)
            continue;
        if (i > from)
            yield [from, i];
        from = i === b || Number.isNaN(value(i)) ? i + 1 : i;
    }
}

function trail(p: Picture, view: View, line: Line, [a, b]: [number, number], y: Value): void {
    for (let i = a; i < b; i++) {
        const x1 = xOf(view, p.width, line.to[i]);
        if (line.steps)
            p.g.lineTo(xOf(view, p.width, line.from[i]), y(i));
        p.g.lineTo(x1, y(i));
    }
}

function trailBack(p: Picture, view: View, line: Line, [a, b]: [number, number], y: Value): void {
    for (let i = b - 1; i >= a; i--) {
        p.g.lineTo(xOf(view, p.width, line.to[i]), y(i));
        if (line.steps)
            p.g.lineTo(xOf(view, p.width, line.from[i]), y(i));
    }
}

function area(p: Picture, view: View, line: Line, low: Value, high: Value, axis: Axis): void {
    for (const s of stretches(line, high, view)) {
        p.g.beginPath();
        trail(p, view, line, s, (i) => axis.y(high(i)));
        trailBack(p, view, line, s, (i) => axis.y(low(i)));
        p.g.closePath();
        p.g.fill();
    }
}

function stroke(p: Picture, view: View, line: Line, value: Value, axis: Axis): void {
    p.g.lineWidth = 1.5;
    p.g.lineJoin = "round";
    for (const s of stretches(line, value, view)) {
        p.g.beginPath();
        trail(p, view, line, s, (i) => axis.y(value(i)));
        p.g.stroke();
        if (s[1] - s[0] === 1 && !line.steps) /* one moment alone */
            p.g.fillRect(xOf(view, p.width, line.to[s[0]]) - 1.5, axis.y(value(s[0])) - 1.5, 3, 3);
    }
}

function drawTrace(p: Picture, plot: Plot, k: number, view: View, axis: Axis): void {
    const {line, ink} = plot.traces[k], {g} = p;
    const low: Value = (i) => plot.stacked ? stackAt(plot.traces, k, i) : 0;
    const value: Value = (i) => low(i) + line.v[i];
    g.strokeStyle = g.fillStyle = colour(ink);
    g.globalAlpha = plot.stacked ? 0.5 : k === 0 ? 0.16 : 0;
    area(p, view, line, low, value, axis);
    if (line.lo && line.hi && !plot.stacked) {
        const {lo, hi} = line;
        g.globalAlpha = 0.28;
        area(p, view, line, (i) => lo[i], (i) => hi[i], axis);
    }
    g.globalAlpha = 1;
    stroke(p, view, line, value, axis);
}

/* The plot with lines that this many pixels can show. */
function thinned(plot: Plot, view: View, pixels: number): Plot {
    const cut = (t: Trace): Trace => ({...t, line: thin(t.line, view.from, view.to, pixels)});
    return {...plot, traces: plot.traces.map(cut)};
}

export function drawPlot(canvas: HTMLCanvasElement, whole: Plot, view: View): void {
    const p = begin(canvas);
    if (!p)
        return;
    const plot = thinned(whole, view, p.width - GUTTER - MARGIN);
    const axis = axisOf(plot, view, p.height);
    timeGrid(p, view);
    drawAxis(p, plot, axis);
    p.g.save();
    clip(p);
    for (let k = plot.traces.length - 1; k >= 0; k--)
        drawTrace(p, plot, k, view, axis);
    p.g.restore();
    drawLimit(p, plot, axis);
}
