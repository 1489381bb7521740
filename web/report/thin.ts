/*
 * thin -- a line with no more points than can be told apart: where many share
 * a few pixels, their mean over time and, as a band, the smallest and largest.
 */
import {Line, lowerBound, weightOf} from "./series";

const APART = 3; /* px */

/* All lines of one plot are cut alike, so that they can still be stacked. */
export function thin(line: Line, t0: number, t1: number, pixels: number): Line {
    const first = Math.max(0, lowerBound(line.to, t0) - 1);
    const past = Math.min(line.v.length, lowerBound(line.to, t1) + 1);
    const n = Math.max(1, Math.floor(pixels / APART));
    return past - first <= 2 * n ? line : cut(line, first, past, n);
}

function cut(line: Line, first: number, past: number, n: number): Line {
    const begin = line.from[first], step = (line.to[past - 1] - begin) / n;
    const edge = (k: number) => begin + step * k, middle = line.steps ? 0 : step / 2;
    const thinned: Line = {...line,
        from: Float64Array.from({length: n}, (_, k) => edge(k) + middle),
        to: Float64Array.from({length: n}, (_, k) => edge(k + 1) - middle),
        v: new Float64Array(n), lo: new Float64Array(n).fill(NaN),
        hi: new Float64Array(n).fill(NaN)};
    let i = first;
    for (let k = 0; k < n; k++) {
        while (i < past && line.to[i] < edge(k))
            i++;
        gather(thinned, k, line, Math.max(first, i - 1), past, edge(k), edge(k + 1));
    }
    return thinned;
}

/*
 * Part k becomes what the line was from t0 to t1: what counts there, also when
 * it is a level that was read before or after.
 */
function gather(to: Line, k: number, line: Line, i: number, past: number, t0: number,
    t1: number): void {
    let area = 0, weight = 0;
    for (let on = true; on && i < past; i++) {
        const v = line.v[i], w = weightOf(line, i, t0, t1);
        on = line.from[i] <= t1;
        if (Number.isNaN(v) || w <= 0)
            continue;
        area += v * w;
        weight += w;
        to.lo![k] = least(to.lo![k], line.lo?.[i] ?? v);
        to.hi![k] = -least(-to.hi![k], -(line.hi?.[i] ?? v));
    }
    to.v[k] = weight > 0 ? area / weight : NaN;
}

function least(a: number, b: number): number {
    return a <= b ? a : b; /* b when a is NaN */
}
