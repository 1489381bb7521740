/*
 * units -- numbers as people read them, as the terminal shows them
 * (src/base/human.h), and the round numbers that stand at an axis.
 *
 * null and NaN are unknown: "–". The spaces are ones that do not break.
 */
import type {Num} from "./data";

export const UNKNOWN = "–";
const NBSP = "\u00a0";

const SECOND = 1e9, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

function bad(v: Num | undefined): v is null | undefined {
    return v === null || v === undefined || !Number.isFinite(v);
}

/* Decimals that show `digits` (2 or 3) digits of v once it is rounded to them. */
function decimals(v: number, digits: number): number {
    if (v < 10 - (digits === 3 ? 0.005 : 0.05))
        return digits - 1;
    return v < 100 - 0.05 ? 1 : 0;
}

function two(n: number): string {
    return String(n).padStart(2, "0");
}

function pair(v: number, per: number, large: string, small: string): string {
    return `${Math.floor(v / per)}${large}${NBSP}${two(v % per)}${small}`;
}

/* Half of the 95 % interval of an estimate. */
export function spread(variance: number): number {
    return 1.96 * Math.sqrt(Math.max(0, variance));
}

export function duration(ns: Num | undefined): string {
    if (bad(ns))
        return UNKNOWN;
    if (ns === 0)
        return `0${NBSP}s`;
    const sign = ns < 0 ? "−" : "";
    let v = Math.abs(ns);
    if (v >= 59.95 * SECOND)
        return sign + longDuration(v);
    let u = 0;
    for (; v >= 999.5 && u < 3; u++)
        v /= 1000;
    return `${sign}${v.toFixed(u ? decimals(v, 3) : 0)}${NBSP}${["ns", "µs", "ms", "s"][u]}`;
}

/* As the document has the times of a load. */
export function ms(v: Num | undefined): string {
    return bad(v) ? UNKNOWN : duration(v * 1e6);
}

function longDuration(v: number): string {
    if (Math.round(v / SECOND) < 3600)
        return pair(Math.round(v / SECOND), 60, "m", "s");
    if (Math.round(v / MINUTE) < 48 * 60)
        return pair(Math.round(v / MINUTE), 60, "h", "m");
    return pair(Math.round(v / HOUR), 24, "d", "h");
}

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function bytes(v: Num | undefined, per = ""): string {
    if (bad(v))
        return UNKNOWN;
    let x = Math.abs(v), u = 0;
    for (; x >= 999.5 && u < 6; u++)
        x /= 1024;
    const places = u === 0 && Number.isInteger(x) ? 0 : decimals(x, 2);
    return `${v < 0 ? "−" : ""}${x.toFixed(places)}${NBSP}${BYTES[u]}${per}`;
}

function grouped(n: number): string {
    return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, NBSP);
}

export function count(v: Num | undefined): string {
    if (bad(v))
        return UNKNOWN;
    const sign = v < 0 ? "−" : "";
    let x = Math.abs(v), u = 0;
    if (!Number.isInteger(x) && x < 99.95)
        return sign + (x < 0.005 ? "<0.01" : x.toFixed(x < 0.95 ? 2 : decimals(x, 2)));
    if (x < 999999.5)
        return sign + grouped(x);
    for (x /= 1e6; x >= 999.5 && u < 4; u++)
        x /= 1000;
    return `${sign}${x.toFixed(decimals(x, 2))}${NBSP}${"MGTPE"[u]}`;
}

/* "1 sample", "2 samples" */
export function some(n: number, one: string, many = `${one}s`): string {
    return `${count(n)} ${n === 1 ? one : many}`;
}

export function percent(ratio: Num | undefined): string {
    if (bad(ratio))
        return UNKNOWN;
    const v = Math.abs(ratio) * 100, sign = ratio < 0 ? "−" : "";
    if (v === 0)
        return `0${NBSP}%`;
    if (v < 0.05)
        return `${sign}<0.1${NBSP}%`;
    return `${sign}${v < 9.95 ? v.toFixed(1) : grouped(v)}${NBSP}%`;
}

/* 1.24, 12.4, 124 */
export function number(v: Num | undefined): string {
    if (bad(v))
        return UNKNOWN;
    if (v === 0 || Math.abs(v) >= 99.95)
        return count(Math.round(v));
    if (Math.abs(v) < 0.005)
        return "<0.01";
    return v.toFixed(decimals(Math.abs(v), 3)).replace("-", "−");
}

/* Of a unit as the document names it: "bytes/s", "ratio", … */
export function inUnit(unit: string, v: Num | undefined): string {
    switch (unit) {
    case "ns":
        return duration(v);
    case "bytes":
        return bytes(v);
    case "bytes/s":
        return bytes(v, "/s");
    case "share":
        return percent(v);
    case "ratio":
        return number(v);
    case "count/s":
        return bad(v) ? UNKNOWN : `${count(v)}/s`;
    default:
        return count(v);
    }
}

/* With two digits, however small. */
function fine(v: number): string {
    return v.toFixed(1 - Math.floor(Math.log10(v)));
}

/* Neighbours at an axis differ, also where all others are told as "less than a tenth". */
function smallTick(unit: string, v: number): string | null {
    if (unit === "share" && v < 0.0095)
        return `${fine(v * 100)}${NBSP}%`;
    if (!(unit === "ratio" || unit.startsWith("count")) || v >= 0.095)
        return null;
    return `${fine(v)}${unit === "count/s" ? "/s" : ""}`;
}

/* A round number at an axis: "96 MiB", not "96.0 MiB". */
export function tick(unit: string, v: number): string {
    return v === 0 ? "0" : (smallTick(unit, v) ?? inUnit(unit, v))
        .replace(/\.(\d*?)0+(?=\D|$)/, ".$1").replace(/\.(?=\D|$)/, "");
}

/* ── moments ───────────────────────────────────────────────────────────── */

/* Local time of a moment of the run, with as much of it as matters at this span. */
export function clock(startNs: Num, t: number, span: number): string {
    if (startNs === null)
        return "";
    const d = new Date((startNs + t) / 1e6);
    const time = `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
    if (span < 10 * SECOND)
        return `${time}.${String(d.getMilliseconds()).padStart(3, "0")}`;
    return span < DAY ? time : `${date(d)} ${time}`;
}

function date(d: Date): string {
    return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

export function moment(ns: Num): string {
    if (ns === null)
        return UNKNOWN;
    const d = new Date(ns / 1e6);
    return `${date(d)} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

/* A place on the time axis, so exact that neighbours a `step` apart differ. */
export function place(t: number, step: number): string {
    if (t === 0)
        return "0";
    const sign = t < 0 ? "−" : "", v = Math.abs(t);
    if (v < MINUTE - 1 || step < SECOND)
        return sign + shortPlace(v, step);
    const s = Math.round(v / SECOND);
    const d = Math.floor(s / 86400), hr = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
    if (d || step >= DAY)
        return `${sign}${d}d${hr || m ? `${NBSP}${two(hr)}:${two(m)}` : ""}`;
    return hr ? `${sign}${hr}:${two(m)}:${two(s % 60)}` : `${sign}${m}:${two(s % 60)}`;
}

function shortPlace(v: number, step: number): string {
    const [unit, name] = v < 1e3 ? [1, "ns"] : v < 1e6 ? [1e3, "µs"] : v < 1e9 ? [1e6, "ms"]
        : [SECOND, "s"];
    const places = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / Number(unit)) - 1e-9)));
    return `${Number((v / Number(unit)).toFixed(places))}${NBSP}${name}`;
}

/* ── round numbers ─────────────────────────────────────────────────────── */

function firstAbove(steps: number[], least: number): number {
    return steps.find((s) => s >= least) ?? steps[steps.length - 1];
}

function decimalStep(least: number): number {
    const ten = 10 ** Math.floor(Math.log10(least));
    return firstAbove([1, 2, 5, 10], least / ten * 0.999999) * ten;
}

export function timeStep(span: number, ticks: number): number {
    const least = span / Math.max(1, ticks);
    if (least < SECOND)
        return Math.max(1, decimalStep(least));
    const steps = [1, 2, 5, 10, 15, 30].map((s) => s * SECOND)
        .concat([1, 2, 5, 10, 15, 30].map((m) => m * MINUTE))
        .concat([1, 2, 3, 6, 12].map((x) => x * HOUR)).concat([1, 2, 7].map((x) => x * DAY));
    return least > 7 * DAY ? decimalStep(least / DAY) * DAY : firstAbove(steps, least);
}

/* The step of a value axis that ends at or above `top`. */
export function valueStep(unit: string, top: number, ticks: number): number {
    const least = top / Math.max(1, ticks);
    if (least <= 0)
        return 1;
    if (unit.startsWith("bytes"))
        return Math.max(1, 2 ** Math.ceil(Math.log2(least) - 1e-9));
    const step = decimalStep(least);
    return unit.startsWith("count") && !unit.endsWith("/s") ? Math.max(1, step) : step;
}
