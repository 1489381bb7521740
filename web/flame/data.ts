/*
 * data -- a profile (src/profile/profile.h) as the page holds it: columns of
 * numbers. Number 0 of texts, places, stacks and tags is the empty one.
 */
import {inflate} from "../report/inflate";
import * as units from "../report/units";

export interface Kind {
    name: string;
    unit: string;
    shown: "ns" | "bytes" | "count";
    each: number; /* of what is shown, in one of the unit */
    doubt: number; /* the kind that has its variance; -1: it is no estimate */
    root: number; /* of itself, in one of that variance's root */
}

interface Common {
    version: string;
    title: string | null;
    kind: number;
    lines: boolean;
    apart: boolean;
    reverse: boolean;
    icicle: boolean;
    levels: boolean; /* of a span of time its highest slice counts, not the sum of all */
    start_ns: number;
    duration_ns: number;
    slice_ns: number;
    sampling: string | null; /* how samples were taken; null: nobody knows */
    kinds: Kind[];
    inks: string[]; /* the last: of what has no file */
    change_inks: [string, string, string];
    texts: string[];
    tags: [number, number | string][][];
    filters: Record<string, string>;
    beside: Beside | null;
    lasting: Lasting | null;
}

/*
 * Of memory that was not freed: the slice of a sample is the one in which it was made, and
 * here is the one in which it was freed; 0: never. Of a span counts what was made within
 * it and not freed by its end.
 */
interface Lasting {
    slices: number;
    until: number[];
}

/* Of memory over time: what the system counted as resident, and what of it is files. */
export interface Beside {
    at: number[]; /* ns after the first slice began */
    heap: number[]; /* without the files that it mapped */
    rss: (number | null)[];
    file: (number | null)[];
}

/* Of estimates: which kind has the variance, and what one of its root counts. */
const VARIANCES: Record<string, [string, number]> =
    {bytes: ["variance", 1024], allocations: ["count variance", 1]};

interface Packed extends Common {
    place: Record<"function" | "file" | "line" | "begin" | "ink", number[]>;
    stack: Record<"back" | "place", number[]>;
    sample: Record<"stack" | "tags" | "slice", number[]> & {values: number[][]};
}

export interface Profile extends Common {
    place: {function: Int32Array; file: Int32Array; line: Int32Array; begin: Int32Array;
        ink: Int32Array};
    stack: {caller: Int32Array; place: Int32Array};
    sample: {stack: Int32Array; tags: Int32Array; slice: Int32Array; values: Float64Array[]};
    before: number; /* kinds of a comparison, or -1 */
    after: number;
    until: Int32Array | null; /* of each sample; what was never freed is beyond all slices */
    slices: number;
    span_ns: number; /* all slices; the last ends with the profile */
    shown: number[]; /* kinds that are not the variance of others */
}

function callers(back: number[]): Int32Array {
    return Int32Array.from(back, (b, i) => i - b);
}

/* Only the last slice can be cut short; of several profiles in one, no end is known. */
function span(p: Packed, slices: number): number {
    const {slice_ns, duration_ns} = p;
    return duration_ns > (slices - 1) * slice_ns ? Math.min(duration_ns, slices * slice_ns)
        : slices * slice_ns;
}

function withDoubts(kinds: Kind[]): Kind[] {
    return kinds.map((k) => {
        const [name, root] = VARIANCES[k.name] ?? ["", 1];
        return {...k, doubt: kinds.findIndex((d) => d.name === name), root};
    });
}

export function arrange(p: Packed): Profile {
    const named = (name: string) => p.kinds.findIndex((k) => k.name === name);
    const kinds = withDoubts(p.kinds), doubts = kinds.map((k) => k.doubt);
    const both = named("before") >= 0 && named("after") >= 0;
    const ints = (a: number[]) => Int32Array.from(a);
    const slices = p.lasting?.slices
        ?? p.sample.slice.reduce((most, s) => Math.max(most, s), 0) + 1;
    return {...p, kinds,
        shown: kinds.map((_, i) => i).filter((i) => !doubts.includes(i)),
        place: {function: ints(p.place.function), file: ints(p.place.file),
            line: ints(p.place.line), begin: ints(p.place.begin), ink: ints(p.place.ink)},
        stack: {caller: callers(p.stack.back), place: ints(p.stack.place)},
        sample: {stack: ints(p.sample.stack), tags: ints(p.sample.tags),
            slice: ints(p.sample.slice), values: p.sample.values.map((v) => Float64Array.from(v))},
        before: both ? named("before") : -1,
        after: both ? named("after") : -1,
        until: p.lasting && Int32Array.from(p.lasting.until, (s) => s || slices),
        slices, span_ns: span(p, slices)};
}

/* What was not yet freed at the end of each slice. */
function heldBySlice(p: Profile, until: Int32Array, v: Float64Array): Float64Array {
    const by = new Float64Array(p.slices + 1);
    p.sample.slice.forEach((s, i) => {
        by[s] += v[i];
        by[until[i]] -= v[i];
    });
    for (let s = 1; s < p.slices; s++)
        by[s] += by[s - 1];
    return by.subarray(0, p.slices);
}

/* Made in that span, and not freed by its end? */
export function lasts(p: Profile, until: Int32Array, from: number, to: number):
    (sample: number) => boolean {
    const {slice} = p.sample;
    return (i) => slice[i] >= from && slice[i] < to && until[i] >= to;
}

/* All that lasted of a span. */
export function lasted(p: Profile, kind: number, from: number, to: number): number {
    const counts = p.until && lasts(p, p.until, from, to);
    return p.sample.values[kind].reduce((sum, v, i) => sum + (counts?.(i) ? v : 0), 0);
}

/* What each slice of time had of a kind. */
export function bySlice(p: Profile, kind: number): Float64Array {
    const sums = new Float64Array(p.slices), v = p.sample.values[kind];
    if (p.until)
        return heldBySlice(p, p.until, v);
    p.sample.slice.forEach((s, i) => sums[s] += Math.max(0, v[i]));
    return sums;
}

/* The slice from `from` until `to` that had most. */
export function highest(sums: Float64Array, from: number, to: number): number {
    let best = from;
    for (let s = from; s < to; s++)
        best = sums[s] > sums[best] ? s : best;
    return best;
}

/* All of a kind; of levels what there was when there was most of what the page is about. */
export function whole(p: Profile): (kind: number) => number {
    if (p.until)
        return (i) => lasted(p, i, 0, p.slices);
    if (!p.levels)
        return (i) => p.sample.values[i].reduce((a, b) => a + b, 0);
    const top = highest(bySlice(p, p.kind), 0, p.slices);
    return (i) => bySlice(p, i)[top];
}

export async function unpack(base64: string): Promise<Profile> {
    return arrange(await inflate<Packed>(base64));
}

/* Of an estimate with its interval, if its variance is given. */
export function amount(kind: Kind, v: number, variance?: number): string {
    const text = (n: number) => units.inUnit(kind.shown, n * kind.each);
    return variance === undefined ? text(v)
        : `${text(v)} ± ${text(units.spread(variance) * kind.root)}`;
}

/* The last two parts of a path say enough: "app/main.py". */
export function shortFile(path: string): string {
    return path.split("/").slice(-2).join("/");
}
