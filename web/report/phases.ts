/*
 * phases -- the stretches in which the run behaved alike, as a band above the
 * plots; present when assay found some.
 */
import type {Data} from "./data";
import {h} from "./dom";
import {GUTTER, MARGIN} from "./draw";
import {Lane, lane} from "./lanes";
import * as units from "./units";
import type {View} from "./view";

export interface Phase {
    from_ns: number;
    to_ns: number;
    kind: string;
    name: string;
}

export function phasesOf(data: Data): Phase[] {
    const p = data.run.phases;
    return Array.isArray(p) ? p as Phase[] : [];
}

export function phaseLane(data: Data, view: View): {lane: Lane; draw: () => void} | null {
    const phases = phasesOf(data);
    if (phases.length < 2)
        return null;
    const l = lane("phases");
    const kinds = [...new Set(phases.map((p) => p.kind))];
    const bands = phases.map((p) => band(p, kinds.indexOf(p.kind), view));
    l.side.append(h("h3", {}, "Phases"));
    const strip = h("div", {class: "strip"}, ...bands);
    l.picture.append(strip);
    const draw = () => {
        const room = l.picture.clientWidth - GUTTER - MARGIN;
        phases.forEach((p, i) => place(bands[i], p, view, room));
    };
    return {lane: l, draw};
}

function band(p: Phase, kind: number, view: View): HTMLButtonElement {
    const title = `${p.name}\n${units.duration(p.to_ns - p.from_ns)}, from ` +
        `${units.duration(p.from_ns)} to ${units.duration(p.to_ns)}`;
    const b = h("button", {type: "button", class: `band ink${kind % 6 + 1}`, title}, p.name);
    b.addEventListener("click", () => view.zoom(p.from_ns, p.to_ns));
    return b;
}

function place(b: HTMLElement, p: Phase, view: View, room: number): void {
    const a = Math.max(0, (p.from_ns - view.from) / view.width) * room;
    const z = Math.min(1, (p.to_ns - view.from) / view.width) * room;
    b.hidden = z <= a;
    b.style.left = `${GUTTER + a}px`;
    b.style.width = `${Math.max(1, z - a - 1)}px`;
}
