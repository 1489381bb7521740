/*
 * layout -- which boxes of a level are to be seen, and where.
 *
 * A level of a thousand boxes to the pixel costs no more than one of a box to
 * the pixel: what is narrower than half a pixel is skipped by halving, so a
 * level takes at most two looks a pixel. Neighbours that were skipped are one
 * grey stretch.
 */
import type {Tree} from "./tree";

export interface View {
    from: number; /* in units of the value */
    to: number;
}

export interface Seen {
    box(i: number, left: number, right: number): void; /* pixels */
    dust(left: number, right: number): void;
}

export const LEAST = 0.5;

/* The first of the level's boxes that ends behind x. */
export function firstBehind(t: Tree, level: Int32Array, x: number, low = 0): number {
    let high = level.length;
    while (low < high) {
        const middle = (low + high) >> 1, i = level[middle];
        if (t.x[i] + t.total[i] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

export function look(t: Tree, level: Int32Array, v: View, width: number, seen: Seen): void {
    const scale = width / (v.to - v.from);
    let dustFrom = 0, dustTo = -1;
    for (let k = firstBehind(t, level, v.from); k < level.length; k++) {
        const i = level[k];
        if (t.x[i] >= v.to)
            break;
        const left = (t.x[i] - v.from) * scale, right = left + t.total[i] * scale;
        if (right - left >= LEAST) {
            seen.box(i, left, right);
            continue;
        }
        if (left > dustTo + 1) {
            if (dustTo > dustFrom)
                seen.dust(dustFrom, dustTo);
            dustFrom = left;
        }
        /* The next that matters ends at least half a pixel further right. */
        const next = firstBehind(t, level, t.x[i] + LEAST / scale, k + 1);
        const last = level[next - 1];
        dustTo = Math.max(right, (t.x[last] + t.total[last] - v.from) * scale);
        k = next - 1;
    }
    if (dustTo > dustFrom)
        seen.dust(dustFrom, dustTo);
}

/* The box at a place, or -1. */
export function boxAt(t: Tree, depth: number, x: number): number {
    const level = t.level[depth];
    if (!level)
        return -1;
    const i = level[firstBehind(t, level, x)];
    return i !== undefined && t.x[i] <= x ? i : -1;
}
