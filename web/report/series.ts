/*
 * series -- columns of the timeline as lines that can be drawn and read off.
 *
 * A gauge is known at moments; joined ones also have their smallest and
 * largest. A counter is known between moments, as a rate; its neighbouring
 * samples are joined until they span a tenth of a second, as the tallies of
 * assay do it (src/stat/tally.h), and a short rest joins the last of these.
 *
 * A scope that has no point at a moment says nothing about it; one that has a
 * point but not this value has a gap there: NaN, which is never drawn as 0.
 */
import type {Data, Field, Num} from "./data";

export interface Line {
    key: string;
    unit: string;          /* as units.inUnit() takes it               */
    steps: boolean;        /* constant from `from` to `to`, a counter  */
    from: Float64Array;
    to: Float64Array;      /* of a gauge the same as `from`            */
    v: Float64Array;
    lo: Float64Array | null;
    hi: Float64Array | null;
}

const WINDOW = 1e8;

/* What the values of a field are shown in: counters as rates, CPU time as share of a core. */
export function shownUnit(f: Field): string {
    if (f.kind === "gauge")
        return f.unit;
    return f.unit === "ns" ? "share" : `${f.unit}/s`;
}

function perShown(f: Field): number {
    return f.unit === "ns" ? 1 : 1e9;
}

export class Timeline {
    constructor(private readonly data: Data) {}

    /* Is anything known of it over time? */
    has(key: string): boolean {
        return this.data.run.timeline.columns[key]?.some((v) => v !== null) ?? false;
    }

    line(key: string): Line {
        const f = this.data.fields.get(key)!;
        const {t_ns, columns} = this.data.run.timeline;
        const at = this.data.points[f.scope] ?? [];
        const t = at.map((i) => t_ns[i]), v = at.map((i) => columns[key][i]);
        return f.kind === "counter" ? this.rates(f, t, v) : this.levels(f, t, v, at);
    }

    private levels(f: Field, t: number[], v: Num[], at: number[]): Line {
        const {min, max} = this.data.run.timeline;
        const pick = (c: Num[] | undefined) =>
            c ? Float64Array.from(at, (i) => c[i] ?? NaN) : null;
        const moments = Float64Array.from(t);
        return {key: f.key, unit: shownUnit(f), steps: false, from: moments, to: moments,
            v: Float64Array.from(v, (x) => x ?? NaN), lo: pick(min?.[f.key]),
            hi: pick(max?.[f.key])};
    }

    private rates(f: Field, t: number[], v: Num[]): Line {
        const w = windows(t, v);
        const scale = perShown(f);
        return {key: f.key, unit: shownUnit(f), steps: true,
            from: Float64Array.from(w, (x) => x.t0), to: Float64Array.from(w, (x) => x.t1),
            v: Float64Array.from(w, (x) => (x.v1 - x.v0) / (x.t1 - x.t0) * scale),
            lo: null, hi: null};
    }
}

interface Window {
    t0: number;
    t1: number;
    v0: number;
    v1: number;
}

/* A stretch without gaps, cut into windows. */
function cut(t: number[], v: number[]): Window[] {
    const done: Window[] = [];
    let open: Window | null = null;
    for (let i = 0; i < t.length; i++) {
        open ??= {t0: t[i], t1: t[i], v0: v[i], v1: v[i]};
        open.t1 = t[i];
        open.v1 = v[i];
        if (open.t1 - open.t0 >= WINDOW) {
            done.push(open);
            open = {t0: t[i], t1: t[i], v0: v[i], v1: v[i]};
        }
    }
    if (open && open.t1 > open.t0 && done.length) {
        done[done.length - 1].t1 = open.t1;
        done[done.length - 1].v1 = open.v1;
    } else if (open && open.t1 > open.t0) {
        done.push(open);
    }
    return done;
}

export function windows(t: number[], v: Num[]): Window[] {
    const all: Window[] = [];
    let ts: number[] = [], vs: number[] = [];
    const flush = () => {
        all.push(...cut(ts, vs));
        ts = [];
        vs = [];
    };
    v.forEach((x, i) => {
        if (x === null) {
            flush();
        } else {
            ts.push(t[i]);
            vs.push(x);
        }
    });
    flush();
    return all;
}

/* ── reading off ───────────────────────────────────────────────────────── */

/* The first index with a[i] >= x; a.length when there is none. */
export function lowerBound(a: ArrayLike<number>, x: number): number {
    let lo = 0, hi = a.length;
    while (lo < hi) {
        const mid = lo + hi >> 1;
        if (a[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The point that tells of moment x: a window that holds it, or the nearest level; -1: none. */
export function pointAt(line: Line, x: number): number {
    const i = lowerBound(line.to, x);
    if (line.steps)
        return i < line.to.length && line.from[i] <= x ? i : -1;
    if (i === 0)
        return line.to.length ? 0 : -1;
    return i === line.to.length || x - line.to[i - 1] < line.to[i] - x ? i - 1 : i;
}

/* Time-weighted mean, and the largest, between two moments. */
export function spread(line: Line, t0: number, t1: number): {mean: number; max: number} {
    let area = 0, weight = 0, max = NaN;
    for (let i = 0; i < line.v.length; i++) {
        if (line.to[i] < t0 || line.from[i] > t1 || Number.isNaN(line.v[i]))
            continue;
        const top = line.hi && !Number.isNaN(line.hi[i]) ? line.hi[i] : line.v[i];
        max = max >= top ? max : top;
        const w = weightOf(line, i, t0, t1);
        area += line.v[i] * w;
        weight += w;
    }
    return {mean: weight > 0 ? area / weight : max, max};
}

/* How long point i counts between two moments, ns. */
export function weightOf(line: Line, i: number, t0: number, t1: number): number {
    if (line.steps)
        return Math.min(line.to[i], t1) - Math.max(line.from[i], t0);
    const before = i ? (line.to[i - 1] + line.to[i]) / 2 : line.to[i];
    const after = i + 1 < line.to.length ? (line.to[i] + line.to[i + 1]) / 2 : line.to[i];
    return Math.max(0, Math.min(after, t1) - Math.max(before, t0));
}
