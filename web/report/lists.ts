/*
 * lists -- a table for each kind of thing that had numbers of its own besides
 * processes: threads, cores, and whatever the field table will name one day.
 */
import {Columns, Data, Field, instances, Num, Scope} from "./data";
import {h} from "./dom";
import {Column, Table} from "./tables";
import * as units from "./units";

function capital(s: string): string {
    return s.charAt(0).toUpperCase() + s.slice(1);
}

function uncapital(s: string): string {
    return s.charAt(0).toLowerCase() + s.slice(1);
}

/* As the kernel numbers them, and `ss` names them. */
const TCP_STATES = ["", "established", "syn-sent", "syn-recv", "fin-wait-1", "fin-wait-2",
    "time-wait", "closed", "close-wait", "last-ack", "listen", "closing", "syn-recv"];

/* Numbers that are names, and no amounts: what they say. */
const SAID: Record<string, (v: number) => string> = {
    "socket.protocol": (v) => v === 6 ? "tcp" : v === 17 ? "udp" : String(v),
    "socket.accepted": (v) => v ? "yes" : "no",
    "socket.local_port": String,
    "socket.peer_port": String,
    "socket.state": (v) => TCP_STATES[v] || units.UNKNOWN,
};

function shown(f: Field, v: Num): string {
    const say = SAID[f.key];
    return !say ? units.inUnit(f.unit, v) : v === null ? units.UNKNOWN : say(v);
}

function metricColumns(data: Data, c: Columns): Column[] {
    return Object.keys(c.metrics)
        .map((key) => data.fields.get(key))
        .filter((f): f is Field => f !== undefined && c.metrics[f.key].some((v) => v))
        .map((f) => ({
            title: f.kind === "gauge" && !SAID[f.key] ? `${f.title}, max` : f.title,
            help: `${f.help}\n${f.provenance}${f.source ? `: ${f.source}` : ""}`,
            numeric: true,
            key: f.key,
            sort: (i: number) => c.metrics[f.key][i] ?? NaN,
            show: (i: number) => shown(f, c.metrics[f.key][i]),
        }));
}

function text(title: string, of: (i: number) => string, long = false): Column {
    return {title, long, sort: of, show: of};
}

/* The process of each thread. A socket has a parent, too: its peer. */
function owners(data: Data, scope: Scope, c: Columns): Column[] {
    const p = instances(data, "process");
    if (!p || scope.name !== "thread")
        return [];
    const index = new Map(p.id.map((id, i): [number, number] => [id, i]));
    return [text("process", (i) => {
        const at = c.parent[i] === null ? undefined : index.get(c.parent[i]!);
        return at === undefined ? units.UNKNOWN : `${p.name[at] || "?"} (${p.key[at]})`;
    })];
}

function lives(c: Columns): Column[] {
    if (c.born_ns.every((b) => !b))
        return [];
    return [{title: "began", numeric: true, sort: (i) => c.born_ns[i] ?? NaN,
        show: (i) => units.duration(c.born_ns[i])}];
}

function columnsOf(data: Data, scope: Scope, c: Columns): Column[] {
    const key: Column = {title: scope.number ?? "", numeric: true, sort: (i) => c.key[i],
        show: (i) => String(c.key[i])};
    const names = c.name.some((n) => n) ? [text("name", (i) => c.name[i] || units.UNKNOWN)] : [];
    const details = c.detail.some((d) => d)
        ? [text(scope.detail ?? "", (i) => c.detail[i] ?? "", true)] : [];
    const said = !scope.number || scope.number === "order" ||
        c.name.every((n, i) => n?.endsWith(String(c.key[i])));
    return [...names, ...said ? [] : [key], ...owners(data, scope, c), ...metricColumns(data, c),
        ...lives(c), ...details];
}

export function lists(data: Data): HTMLElement[] {
    const made: HTMLElement[] = [];
    const order = [...data.scopes].sort((a, b) => +(a.name === "core") - +(b.name === "core"));
    for (const scope of order) {
        const c = scope.single || scope.name === "process" ? null : instances(data, scope.name);
        if (!c || !Object.keys(c.metrics).length) /* names without a number tell nothing */
            continue;
        const columns = columnsOf(data, scope, c);
        const by = columns.findIndex((x) => x.key === scope.rank);
        made.push(h("section", {id: scope.plural, "data-short": capital(scope.plural)},
            h("h2", {}, capital(scope.plural), h("small", {}, uncapital(scope.title))),
            new Table(columns, c.id.length, scope.name === "core" ? -1 : by).root));
    }
    return made;
}
