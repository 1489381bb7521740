/*
 * phases -- the stretches in which the run behaved alike: a band above the
 * plots, and a table; present when assay found more than one.
 */
import type {Data, Num} from "./data";
import {h} from "./dom";
import {GUTTER, MARGIN} from "./draw";
import {Lane, lane} from "./lanes";
import {Column, Table} from "./tables";
import * as units from "./units";
import type {View} from "./view";

interface Phase {
    kind: string;
    name: string;
    from_ns: number;
    to_ns: number;
    cores: Num;
    cpu_wait: Num;
    memory_bytes: Num;
    memory_peak_bytes: Num;
    read_bytes_per_second: Num;
    write_bytes_per_second: Num;
}

/* What a phase does has one colour wherever it stands; the rest is grey. */
const INKS: Record<string, string> = {"cpu-bound": "ink1", busy: "ink6", reading: "ink3",
    writing: "ink2", growing: "ink5"};

function phasesOf(data: Data): Phase[] {
    const p = data.run.phases;
    return Array.isArray(p) && p.length > 1 ? p as Phase[] : [];
}

export function phaseLane(data: Data, view: View): {lane: Lane; draw: () => void} | null {
    const phases = phasesOf(data);
    if (!phases.length)
        return null;
    const l = lane("phases");
    const bands = phases.map((p) => band(p, view));
    l.side.append(h("h3", {}, "Phases", h("small", {}, "click to zoom")));
    l.picture.append(h("div", {class: "strip"}, ...bands));
    const draw = () => {
        const room = l.picture.clientWidth - GUTTER - MARGIN;
        phases.forEach((p, i) => place(bands[i], p, view, room));
    };
    return {lane: l, draw};
}

function band(p: Phase, view: View): HTMLButtonElement {
    const title = `${p.name}\n${units.duration(p.to_ns - p.from_ns)}, from ` +
        `${units.duration(p.from_ns)} to ${units.duration(p.to_ns)}`;
    const b = h("button", {type: "button", class: `band ${INKS[p.kind] ?? ""}`, title}, p.name);
    b.addEventListener("click", () => view.zoom(p.from_ns, p.to_ns));
    return b;
}

function place(b: HTMLElement, p: Phase, view: View, room: number): void {
    const a = Math.max(0, (p.from_ns - view.from) / view.width) * room;
    const z = Math.min(1, (p.to_ns - view.from) / view.width) * room;
    b.hidden = z <= a;
    b.classList.toggle("narrow", z - a < 60);
    b.style.left = `${GUTTER + a}px`;
    b.style.width = `${Math.max(3, z - a - 1)}px`;
}

/* ── the table ─────────────────────────────────────────────────────────── */

export function phaseSection(data: Data): HTMLElement[] {
    const phases = phasesOf(data);
    if (!phases.length)
        return [];
    const number = (title: string, of: (p: Phase) => Num, show: (v: Num) => string): Column => ({
        title, numeric: true, sort: (i) => of(phases[i]) ?? NaN,
        show: (i) => show(of(phases[i]))});
    const rate = (v: Num) => units.bytes(v, "/s");
    const columns: Column[] = [
        {title: "phase", sort: (i) => phases[i].name, show: (i) => phases[i].name},
        number("from", (p) => p.from_ns, units.duration),
        number("took", (p) => p.to_ns - p.from_ns, units.duration),
        number("of the run", (p) => (p.to_ns - p.from_ns) / data.span, units.percent),
        number("cores", (p) => p.cores, units.number),
        number("CPU wait", (p) => p.cpu_wait, units.percent),
        number("memory", (p) => p.memory_bytes, units.bytes),
        number("largest", (p) => p.memory_peak_bytes, units.bytes),
        number("read", (p) => p.read_bytes_per_second, rate),
        number("written", (p) => p.write_bytes_per_second, rate)];
    return [h("section", {id: "phases"}, h("h2", {}, "Phases"),
        new Table(columns, phases.length, -1, false, 24).root)];
}
