/*
 * tree -- stacks merged into boxes, a level for each depth, siblings by width.
 *
 * It grows step by step: grow() is a generator that stops every few thousand
 * steps, so that whoever runs it (pace.ts) decides how long a frame may take.
 */
import {bySlice, highest, lasts, Profile} from "./data";
import type {Sieve} from "./filter";
import type {Frames} from "./frames";

/* What is as wide as what, in a comparison. */
export type Width = "both" | "before" | "after";

export interface How {
    kind: number;
    width: Width;
    share: boolean;   /* before and after are as wide as each other */
    apart: boolean;   /* tags are frames                            */
    reverse: boolean; /* from the innermost frame                   */
    from: number;     /* slices of time                             */
    to: number;
}

/* In itself, and with all that it called. */
export interface Parts {
    self: Float64Array;
    total: Float64Array;
}

export interface Tree {
    n: number;
    parent: Int32Array; /* less than its own number; 0 is the whole */
    depth: Int32Array;
    frame: Int32Array;  /* -1: the whole */
    self: Float64Array;
    total: Float64Array;
    before: Float64Array; /* of a comparison, else empty */
    after: Float64Array;
    doubt: Parts; /* variances of estimates; empty where nothing is one */
    x: Float64Array;
    level: Int32Array[];  /* boxes of each depth from left to right */
    outer: Uint8Array;    /* 1: not below another box of its frame  */
    first: Int32Array;    /* children of i: child[first[i]] to child[first[i + 1] - 1] */
    child: Int32Array;
    reverse: boolean;     /* callers stand on those whom they called */
}

const STEP = 1024;

/* ── values of each stack ──────────────────────────────────────────────── */

/* Both sides of a comparison count alike: how much one of `after` is. */
export function scaleOf(p: Profile, how: How): number {
    if (p.before < 0 || !how.share)
        return 1;
    const sum = (v: Float64Array) => v.reduce((a, b) => a + Math.max(0, b), 0);
    const a = sum(p.sample.values[p.before]), b = sum(p.sample.values[p.after]);
    return a > 0 && b > 0 ? a / b : 1;
}

/* The kind with the variance of what is shown; -1: none has. */
function doubtOf(p: Profile, how: How): number {
    return p.before >= 0 ? -1 : p.kinds[how.kind].doubt;
}

class Values {
    readonly width: Float64Array;
    readonly before: Float64Array;
    readonly after: Float64Array;
    readonly doubt: Float64Array;
    private readonly scale: number;
    private readonly compares: boolean;

    constructor(private readonly p: Profile, private readonly how: How) {
        const n = p.stack.place.length;
        this.compares = p.before >= 0;
        this.width = new Float64Array(n);
        this.before = new Float64Array(this.compares ? n : 0);
        this.after = new Float64Array(this.compares ? n : 0);
        this.doubt = new Float64Array(doubtOf(p, how) < 0 ? 0 : n);
        this.scale = scaleOf(p, how);
    }

    clear(): void {
        for (const a of [this.width, this.before, this.after, this.doubt])
            a.fill(0);
    }

    add(sample: number): void {
        const {p, how} = this, s = p.sample.stack[sample];
        if (!this.compares) {
            this.width[s] += Math.max(0, p.sample.values[how.kind][sample]);
            if (this.doubt.length)
                this.doubt[s] += p.sample.values[doubtOf(p, how)][sample];
            return;
        }
        const a = Math.max(0, p.sample.values[p.before][sample]);
        const b = Math.max(0, p.sample.values[p.after][sample]);
        this.before[s] += a;
        this.after[s] += b;
        this.width[s] += (how.width === "after" ? 0 : a) + (how.width === "before" ? 0
            : b * this.scale);
    }
}

/* Is a sample of a slice of time among those that count? */
function counted(p: Profile, how: How): (sample: number) => boolean {
    const {slice} = p.sample;
    if (p.until)
        return lasts(p, p.until, how.from, how.to);
    if (!p.levels)
        return (i) => slice[i] >= how.from && slice[i] < how.to;
    const top = highest(bySlice(p, how.kind), how.from, how.to);
    return (i) => slice[i] === top;
}

/* What each stack of the profile had. */
export function ownOf(p: Profile, how: How): Float64Array {
    const v = new Values(p, how), counts = counted(p, how);
    for (let i = 0; i < p.sample.slice.length; i++)
        if (counts(i))
            v.add(i);
    return v.width;
}

/* Samples by what keeps them apart: all in one, or by their tags. */
function groups(p: Profile, how: How): Map<number, number[]> {
    const found = new Map<number, number[]>();
    const {slice, tags} = p.sample, counts = counted(p, how);
    for (let i = 0; i < slice.length; i++) {
        if (!counts(i))
            continue;
        const key = how.apart ? tags[i] : 0, list = found.get(key);
        if (list)
            list.push(i);
        else
            found.set(key, [i]);
    }
    return found;
}

/* ── boxes ─────────────────────────────────────────────────────────────── */

class Grower {
    private readonly parent = [0];
    private readonly frame = [-1];
    private readonly self = [0];
    private readonly before = [0];
    private readonly after = [0];
    private readonly doubt = [0];
    private readonly children = new Map<number, number>();
    private node: Int32Array; /* by stack: its box in this group, or -1 */
    private chain: number[] = [];

    constructor(private readonly p: Profile, private readonly frames: Frames,
        private readonly sieve: Sieve, private readonly how: How) {
        this.node = new Int32Array(p.stack.place.length);
    }

    private get backwards(): boolean {
        return this.how.reverse !== this.sieve.callers;
    }

    private child(of: number, frame: number): number {
        const key = of * this.frames.name.length + frame;
        let at = this.children.get(key);
        if (at === undefined) {
            at = this.parent.length;
            this.children.set(key, at);
            this.parent.push(of);
            this.frame.push(frame);
            this.self.push(0);
            this.before.push(0);
            this.after.push(0);
            this.doubt.push(0);
        }
        return at;
    }

    private step(on: number, stack: number): number {
        const place = this.p.stack.place[stack];
        return this.sieve.draws(stack, place) ? this.child(on, this.frames.of[place]) : on;
    }

    /* From the root: each stack's box stands on that of its caller. */
    private outward(stack: number): number {
        const {caller} = this.p.stack, {chain, node} = this;
        chain.length = 0;
        for (; node[stack] < 0; stack = caller[stack])
            chain.push(stack);
        for (let at = node[stack]; chain.length; node[stack] = at) {
            stack = chain.pop()!;
            at = this.step(at, stack);
        }
        return node[stack];
    }

    private inward(root: number, stack: number): number {
        let at = root;
        for (; stack; stack = this.p.stack.caller[stack])
            at = this.step(at, stack);
        return at;
    }

    private add(root: number, stack: number, v: Values): void {
        const end = this.sieve.end(stack);
        const at = this.backwards ? this.inward(root, end) : this.outward(end);
        this.self[at] += v.width[stack];
        if (v.doubt.length)
            this.doubt[at] += v.doubt[stack];
        if (v.before.length) {
            this.before[at] += v.before[stack];
            this.after[at] += v.after[stack];
        }
    }

    *group(tags: number, samples: number[], v: Values): Generator<void> {
        const root = tags ? this.child(0, this.frames.firstTags + tags) : 0;
        v.clear();
        this.node.fill(-1);
        this.node[0] = root;
        for (let i = 0; i < samples.length; i++) {
            v.add(samples[i]);
            if (i % (STEP * 4) === 0)
                yield;
        }
        for (let s = 0; s < v.width.length; s++) {
            if (v.width[s] > 0 && this.sieve.keeps(s))
                this.add(root, s, v);
            if (s % STEP === 0)
                yield;
        }
    }

    private doubts(): Parts {
        const some = doubtOf(this.p, this.how) < 0 ? [] : this.doubt;
        return {self: new Float64Array(some), total: new Float64Array(some)};
    }

    *finish(): Generator<void, Tree> {
        const n = this.parent.length, compares = this.p.before >= 0;
        const numbers = (v: number[]) => new Float64Array(compares ? v : []);
        const t: Tree = {n, parent: new Int32Array(this.parent), depth: new Int32Array(n),
            frame: new Int32Array(this.frame), self: new Float64Array(this.self),
            total: new Float64Array(this.self), before: numbers(this.before),
            after: numbers(this.after), doubt: this.doubts(), x: new Float64Array(n), level: [],
            outer: new Uint8Array(n), first: new Int32Array(n + 1),
            child: new Int32Array(n - 1), reverse: this.backwards};
        yield;
        addUp(t);
        if (t.reverse)
            ofInnermost(t, this.frames);
        yield;
        yield* arrange(t, this.frames);
        return t;
    }
}

/* What a box called counts for it too. */
function addUp(t: Tree): void {
    for (let i = t.n - 1; i > 0; i--) {
        const p = t.parent[i];
        t.total[p] += t.total[i];
        if (t.doubt.total.length)
            t.doubt.total[p] += t.doubt.total[i];
        if (t.before.length) {
            t.before[p] += t.before[i];
            t.after[p] += t.after[i];
        }
    }
    for (let i = 1; i < t.n; i++)
        t.depth[i] = t.depth[t.parent[i]] + 1;
}

/* From the innermost frame: what that one has in itself is all that stands on it. */
function ofInnermost(t: Tree, frames: Frames): void {
    for (let i = 1; i < t.n; i++) {
        const on = t.parent[i], inner = !on || t.frame[on] >= frames.firstTags;
        if (t.frame[i] >= frames.firstTags)
            continue;
        t.self[i] = inner ? t.total[i] : 0;
        if (t.doubt.self.length)
            t.doubt.self[i] = inner ? t.doubt.total[i] : 0;
    }
}

function families(t: Tree): void {
    const {first, child} = t;
    for (let i = 1; i < t.n; i++)
        first[t.parent[i] + 1]++;
    for (let i = 0; i < t.n; i++)
        first[i + 1] += first[i];
    const next = first.slice();
    for (let i = 1; i < t.n; i++)
        child[next[t.parent[i]]++] = i;
}

/* Side by side, the widest first, then by name; level by level. */
function* arrange(t: Tree, frames: Frames): Generator<void> {
    const {first, child} = t;
    families(t);
    const name = (i: number) => frames.name[t.frame[i]];
    const wider = (a: number, b: number) => t.total[b] - t.total[a] ||
        (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a - b);
    yield;
    for (let row = [0], steps = 0; row.length;) {
        t.level.push(new Int32Array(row));
        const next: number[] = [];
        for (const i of row) {
            let x = t.x[i];
            if (first[i + 1] - first[i] > 1)
                child.subarray(first[i], first[i + 1]).sort(wider);
            for (let k = first[i]; k < first[i + 1] && t.total[child[k]] > 0; k++) {
                t.x[child[k]] = x;
                x += t.total[child[k]];
                next.push(child[k]);
            }
            if (++steps % STEP === 0)
                yield;
        }
        row = next;
    }
    yield* outermost(t, frames.name.length);
}

/* Depth first: is a box of the same frame open? */
function* outermost(t: Tree, frames: number): Generator<void> {
    const {first, child} = t, open = new Int32Array(frames), at = first.slice(0, t.n);
    t.outer[0] = 1;
    for (let i = 0, steps = 1;; steps++) {
        if (steps % (STEP * 4) === 0)
            yield;
        if (at[i] < first[i + 1]) {
            i = child[at[i]++];
            t.outer[i] = open[t.frame[i]]++ ? 0 : 1;
        } else if (i) {
            open[t.frame[i]]--;
            i = t.parent[i];
        } else {
            return;
        }
    }
}

export function* grow(p: Profile, frames: Frames, sieve: Sieve, how: How):
    Generator<void, Tree> {
    const g = new Grower(p, frames, sieve, how), v = new Values(p, how);
    for (const [tags, samples] of groups(p, how))
        yield* g.group(tags, samples, v);
    return yield* g.finish();
}

/* ── what is asked of a tree ───────────────────────────────────────────── */

/* -1: it is gone, 1: it is new; smaller where it matters little to the whole. */
export function changed(t: Tree, i: number, share: boolean): number {
    const MUCH = 0.005;
    const whole = Math.max(t.before[0], t.after[0]);
    const of = (v: Float64Array) => share ? (v[0] ? v[i] / v[0] : 0) : v[i] / whole;
    const before = of(t.before), after = of(t.after), larger = Math.max(before, after);
    return larger > 0
        ? (after - before) / larger * Math.min(1, Math.abs(after - before) / MUCH) : 0;
}

export interface Sums {
    frame: number[]; /* those that have anything */
    self: Float64Array; /* by frame */
    total: Float64Array;
    before: Float64Array;
    after: Float64Array;
    doubt: Parts; /* variances of estimates; empty where nothing is one */
}

/* What a box counts for its frame: in itself, and with all that it called. */
function count(s: Parts, of: Parts, t: Tree, i: number): void {
    const f = t.frame[i];
    s.self[f] += of.self[i];
    s.total[f] += t.outer[i] ? of.total[i] : 0;
}

/* By frame; whoever calls itself counts once. */
export function sums(t: Tree, frames: Frames): Sums {
    const n = frames.name.length, m = t.before.length ? n : 0;
    const array = (many: number) => new Float64Array(many), d = t.doubt.self.length ? n : 0;
    const s: Sums = {frame: [], self: array(n), total: array(n), before: array(m),
        after: array(m), doubt: {self: array(d), total: array(d)}};
    for (let i = 1; i < t.n; i++) {
        const f = t.frame[i];
        if (t.total[i] <= 0)
            continue;
        count(s, t, t, i);
        if (d)
            count(s.doubt, t.doubt, t, i);
        if (m && t.outer[i]) {
            s.before[f] += t.before[i];
            s.after[f] += t.after[i];
        }
    }
    for (let f = 0; f < n; f++)
        if (s.total[f] > 0)
            s.frame.push(f);
    return s;
}
