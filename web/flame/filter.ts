/*
 * filter -- which stacks are shown, and what of them: the filters of Cloud
 * Profiler, in the words of `assay flame --help`. The seventh is the metric.
 *
 * A pattern is a regular expression, found anywhere in "function (file:line)",
 * upper and lower case alike; one that is none is taken letter by letter.
 */
import type {Profile} from "./data";
import {spelled} from "./frames";

export const FILTERS = {
    "focus": ["Focus", "only stacks that pass through such a function"],
    "show-from-frame": ["Show from frame", "stacks begin at such a frame; others are left out"],
    "show-stacks": ["Show stacks", "only stacks with such a frame"],
    "hide-stacks": ["Hide stacks", "no stacks with such a frame"],
    "hide-frames": ["Hide frames", "such frames are taken out of their stacks"],
    "highlight": ["Highlight", "such frames are marked"],
} as const;

export type FilterName = keyof typeof FILTERS;
export type Filters = Partial<Record<FilterName, string>>;

export function pattern(words: string): RegExp {
    try {
        return new RegExp(words, "i");
    } catch {
        return new RegExp(words.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
    }
}

/* Of each place: 1 if it matches. null: nothing is asked for. */
export function marks(p: Profile, words: string | undefined): Uint8Array | null {
    if (!words)
        return null;
    const re = pattern(words), n = p.place.function.length, found = new Uint8Array(n);
    for (let i = 1; i < n; i++)
        found[i] = re.test(spelled(p, i)) ? 1 : 0;
    return found;
}

const FOCUS = 1, FROM = 2, SHOW = 4, HIDE = 8;

/* What the filters make of each stack of the profile. */
export class Sieve {
    private readonly seen: Uint8Array; /* by stack: which filters matched in it */
    private readonly need: number;     /* those that must have                  */
    private readonly gone: Uint8Array | null;

    constructor(p: Profile, filters: Filters) {
        const asked: [FilterName, number][] = [["focus", FOCUS], ["show-from-frame", FROM],
            ["show-stacks", SHOW], ["hide-stacks", HIDE]];
        const n = p.stack.place.length, bits = new Uint8Array(p.place.function.length);
        let need = 0;
        for (const [name, bit] of asked) {
            const found = marks(p, filters[name]);
            need |= found && bit !== HIDE ? bit : 0;
            found?.forEach((yes, i) => bits[i] |= yes ? bit : 0);
        }
        this.seen = new Uint8Array(n);
        for (let i = 1; i < n; i++)
            this.seen[i] = this.seen[p.stack.caller[i]] | bits[p.stack.place[i]];
        this.need = need;
        this.gone = marks(p, filters["hide-frames"]);
    }

    keeps(stack: number): boolean {
        return (this.seen[stack] & this.need) === this.need && !(this.seen[stack] & HIDE);
    }

    /* Is the last frame of this stack drawn, in a stack that is kept? */
    draws(stack: number, place: number): boolean {
        return !(this.gone && this.gone[place]) &&
            (!(this.need & FROM) || (this.seen[stack] & FROM) !== 0);
    }
}
