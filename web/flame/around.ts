/*
 * around -- who called a function, whom it called, and on which lines it was.
 * Whatever is met twice in one stack counts once.
 */
import type {Profile} from "./data";
import type {Sieve} from "./filter";
import {Frames, lineOf} from "./frames";
import type {Tree} from "./tree";

export interface Peer {
    frame: number;
    value: number;
}

function ranked(of: Map<number, number>): Peer[] {
    return [...of].map(([frame, value]) => ({frame, value})).sort((a, b) => b.value - a.value);
}

/* Is there a pair of these two frames further out? */
function again(t: Tree, i: number): boolean {
    const inner = t.frame[i], outer = t.frame[t.parent[i]];
    for (let at = t.parent[i]; at; at = t.parent[at])
        if (t.frame[at] === inner && t.frame[t.parent[at]] === outer)
            return true;
    return false;
}

/* Frames of the boxes on those of this one, or of those below them; not the whole. */
function edges(t: Tree, frame: number, above: boolean): Peer[] {
    const sum = new Map<number, number>();
    for (let i = 1; i < t.n; i++) {
        const below = t.frame[t.parent[i]];
        if ((above ? below : t.frame[i]) !== frame || below < 0 || t.total[i] <= 0 || again(t, i))
            continue;
        const other = above ? t.frame[i] : below;
        sum.set(other, (sum.get(other) ?? 0) + t.total[i]);
    }
    return ranked(sum);
}

/* A tree from the innermost frame has callers where others have those they called. */
export function callers(t: Tree, frame: number): Peer[] {
    return edges(t, frame, t.reverse);
}

export function callees(t: Tree, frame: number): Peer[] {
    return edges(t, frame, !t.reverse);
}

export interface Line {
    where: string;
    self: number;
    total: number;
}

/* By line; `own` is what each stack of the profile had. */
export function linesOf(p: Profile, frames: Frames, sieve: Sieve, own: Float64Array,
    frame: number): Line[] {
    const {caller, place} = p.stack, all = own.slice(), found = new Map<number, Line>();
    for (let s = all.length - 1; s >= 0; s--)
        if (!sieve.keeps(s))
            all[s] = s ? 0 : all[s];
    const self = all.slice();
    for (let s = all.length - 1; s > 0; s--)
        all[caller[s]] += all[s];
    for (let s = 1; s < all.length; s++) {
        const at = place[s];
        if (frames.of[at] !== frame || all[s] <= 0)
            continue;
        const line = found.get(at) ?? {where: lineOf(p, at), self: 0, total: 0};
        line.self += self[s];
        line.total += repeats(p, s) ? 0 : all[s];
        found.set(at, line);
    }
    return [...found.values()].sort((a, b) => b.total - a.total);
}

function repeats(p: Profile, s: number): boolean {
    const {caller, place} = p.stack;
    for (let c = caller[s]; c; c = caller[c])
        if (place[c] === place[s])
            return true;
    return false;
}
