/* ink -- the colour of a box: of its file, of its change, or of what was found. */
import type {Model} from "./model";
import {changed, Tree} from "./tree";

function channels(ink: string): number[] {
    return [1, 3, 5].map((at) => parseInt(ink.slice(at, at + 2), 16));
}

function mix(a: string, b: string, share: number): string {
    const to = channels(b);
    const c = channels(a).map((v, i) => Math.round(v * (1 - share) + to[i] * share));
    return `#${c.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

const STEPS = 24; /* colours from "the same" to "all of it", either way */
export const FOUND = "#d77bff";

export class Inks {
    private readonly changes: string[];

    constructor(private readonly m: Model) {
        const [less, same, more] = m.p.change_inks;
        this.changes = Array.from({length: 2 * STEPS + 1}, (_, i) =>
            mix(same, i < STEPS ? less : more, Math.abs(i - STEPS) / STEPS));
    }

    change(c: number): string {
        return this.changes[Math.round(Math.max(-1, Math.min(1, c)) * STEPS) + STEPS];
    }

    of(t: Tree, i: number): string {
        const {p, frames, found, compares, choice} = this.m, f = t.frame[i];
        if (found && f >= 0 && found[f])
            return FOUND;
        if (compares && i)
            return this.change(changed(t, i, choice.share));
        return p.inks[f < 0 ? p.inks.length - 1 : frames.ink[f]];
    }
}
