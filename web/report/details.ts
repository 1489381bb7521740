/*
 * details -- everything about the process, or the gathered ones, that is chosen.
 */
import {cell, Columns, Data} from "./data";
import {Child, h} from "./dom";
import {ended, Processes, Row} from "./tree";
import * as units from "./units";

type Pair = [string, string];

function list(pairs: Pair[]): HTMLElement {
    return h("dl", {}, ...pairs.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v))));
}

function end(c: Columns, i: number): string {
    const s = c.wait_status[i];
    if (s !== null)
        return s === 0 ? "exit 0" : ended(s);
    return c.died_ns[i] === null ? "still there at the end" : units.UNKNOWN;
}

function numbers(data: Data, c: Columns, i: number): Pair[] {
    const pairs: Pair[] = [];
    for (const key of Object.keys(c.metrics)) {
        const f = data.fields.get(key), v = cell(c, key, i);
        if (!f || v === null)
            continue;
        const most = f.kind === "gauge" && !key.endsWith("peak") ? ", largest" : "";
        const name = key.split(".").slice(1).join(" ").replace(/_/g, " ");
        pairs.push([name + most, units.inUnit(f.unit, v)]);
    }
    return pairs;
}

function one(data: Data, p: Processes, i: number): Child[] {
    const {c} = p, up = c.parent[i] === null ? undefined : p.index.get(c.parent[i]!);
    return [
        h("h3", {}, p.nameOf(i), h("small", {}, `pid ${c.key[i]}`)),
        c.detail[i] ? h("pre", {class: "command"}, c.detail[i]) : null,
        list([["began", units.duration(c.born_ns[i])],
            ["lived", units.duration(p.died(i) - p.born(i))], ["ended", end(c, i)],
            ["parent", up === undefined ? units.UNKNOWN : `${p.nameOf(up)} (${c.key[up]})`],
            ["CPU of one core", units.percent(p.cpu[i] / Math.max(1, p.died(i) - p.born(i)))]]),
        list(numbers(data, c, i))];
}

function median(sorted: number[]): number {
    return sorted[sorted.length >> 1];
}

function many(p: Processes, row: Row): Child[] {
    const lives = row.members.map((i) => p.died(i) - p.born(i)).sort((a, b) => a - b);
    const top = [...row.members].sort((a, b) => (p.cpu[b] || 0) - (p.cpu[a] || 0)).slice(0, 10);
    return [
        h("h3", {}, row.name, h("small", {}, `${units.count(row.members.length)} processes`)),
        list([["CPU, all", units.duration(row.cpu)],
            ["CPU, each", units.duration(row.cpu / row.members.length)],
            ["lived, shortest", units.duration(lives[0])],
            ["lived, middle", units.duration(median(lives))],
            ["lived, longest", units.duration(lives[lives.length - 1])],
            ["largest peak", units.bytes(row.peak)]]),
        h("h4", {}, "The ten with most CPU time"),
        h("table", {class: "plain"}, h("tbody", {}, ...top.map((i) => h("tr", {},
            h("td", {class: "num"}, String(p.c.key[i])),
            h("td", {class: "num"}, units.duration(p.cpu[i])),
            h("td", {class: "num"}, units.bytes(p.peak[i])),
            h("td", {class: "long"}, p.c.detail[i] ?? p.nameOf(i))))))];
}

export function processDetails(data: Data, p: Processes, row: Row): HTMLElement {
    const parts = row.members.length > 1 ? many(p, row) : one(data, p, row.members[0]);
    return h("div", {}, ...parts);
}
