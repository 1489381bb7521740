/*
 * filter -- which stacks are shown, and what of them: the filters of Cloud
 * Profiler as src/profile/filter.h has them. The seventh is the metric.
 *
 * A frame matches when its function or its file contains one of the words,
 * which commas keep apart; the focus is one function, by its whole name. What
 * the reader searches for is less strict: a regular expression, upper and lower
 * case alike, or, if it is none, the letters as they are.
 */
import type {Profile} from "./data";
import {spelled} from "./frames";

export const FILTERS = {
    "focus": ["Focus", "stacks through this function, from it on"],
    "show-from-frame": ["Show from frame", "stacks with such a frame, from it on"],
    "show-stacks": ["Show stacks", "only stacks with such a frame, whole"],
    "hide-stacks": ["Hide stacks", "no stack with such a frame"],
    "hide-frames": ["Hide frames", "stacks without such frames"],
    "highlight": ["Highlight", "such frames are marked"],
} as const;

export type FilterName = keyof typeof FILTERS;

export interface Filters extends Partial<Record<FilterName, string>> {
    callers?: boolean; /* of the focus: what called it, instead of what it calls */
}

/* Of each place: 1 if it is meant. */
function each(p: Profile, meant: (place: number) => boolean): Uint8Array {
    const found = new Uint8Array(p.place.function.length);
    for (let i = 1; i < found.length; i++)
        found[i] = meant(i) ? 1 : 0;
    return found;
}

/* null: nothing is asked for. */
export function containing(p: Profile, words: string | undefined): Uint8Array | null {
    const all = (words ?? "").split(",").map((w) => w.trim()).filter((w) => w);
    const {function: f, file} = p.place;
    return all.length ? each(p, (i) => all.some((w) => p.texts[f[i]].includes(w) ||
        p.texts[file[i]].includes(w))) : null;
}

export function pattern(words: string): RegExp {
    try {
        return new RegExp(words, "i");
    } catch {
        return new RegExp(words.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
    }
}

export function searched(p: Profile, words: string): Uint8Array {
    const re = pattern(words);
    return each(p, (i) => re.test(spelled(p, i)));
}

const FOCUS = 1, FROM = 2, SHOW = 4, HIDE = 8;

/* What the filters make of each stack of the profile. */
export class Sieve {
    readonly callers: boolean;
    private readonly seen: Uint8Array;  /* by stack: which filters matched in it    */
    private readonly first: Int32Array; /* by stack: the outermost with the focus   */
    private readonly need: number;      /* filters that must have matched           */
    private readonly gone: Uint8Array | null;

    constructor(p: Profile, filters: Filters) {
        const focus = (filters.focus ?? "").trim();
        const found: [Uint8Array | null, number][] = [
            [focus ? each(p, (i) => p.texts[p.place.function[i]] === focus) : null, FOCUS],
            [containing(p, filters["show-from-frame"]), FROM],
            [containing(p, filters["show-stacks"]), SHOW],
            [containing(p, filters["hide-stacks"]), HIDE]];
        const {caller, place} = p.stack, bits = new Uint8Array(p.place.function.length);
        let need = 0;
        for (const [marks, bit] of found) {
            need |= marks && bit !== HIDE ? bit : 0;
            marks?.forEach((yes, i) => bits[i] |= yes ? bit : 0);
        }
        this.seen = new Uint8Array(place.length);
        this.first = new Int32Array(place.length);
        for (let i = 1; i < place.length; i++) {
            this.seen[i] = this.seen[caller[i]] | bits[place[i]];
            this.first[i] = this.first[caller[i]] || (bits[place[i]] & FOCUS ? i : 0);
        }
        this.need = need;
        this.callers = focus !== "" && filters.callers === true;
        this.gone = containing(p, filters["hide-frames"]);
    }

    keeps(stack: number): boolean {
        return (this.seen[stack] & this.need) === this.need && !(this.seen[stack] & HIDE);
    }

    /* Where the walk through a stack ends: with the focus, if callers are wanted. */
    end(stack: number): number {
        return this.callers ? this.first[stack] : stack;
    }

    /* Is the last frame of this stack drawn, in a stack that is kept? */
    draws(stack: number, place: number): boolean {
        const begun = this.need & (FOCUS | FROM);
        return !(this.gone && this.gone[place]) &&
            (this.callers || (this.seen[stack] & begun) === begun);
    }
}
