/*
 * numbers -- every figure with how it is known: totals, the metrics of the
 * machine, the job and its group, what could not be had and why; who ran, and
 * what measuring cost.
 */
import type {Data, Num} from "./data";
import {Child, h} from "./dom";
import {shell} from "./head";
import {Column, Table} from "./tables";
import * as units from "./units";

function text(title: string, of: (i: number) => string, long = false): Column {
    return {title, long, sort: of, show: of};
}

function fold(title: string, count: number, ...body: Child[]): HTMLElement {
    return h("details", {}, h("summary", {}, title, h("small", {}, String(count))), ...body);
}

function totals(data: Data): HTMLElement {
    const rows = Object.entries(data.run.totals).map(([key, t]) => ({...data.totals[key], ...t}));
    return fold("Totals", rows.length, new Table([
        text("total", (i) => rows[i].title),
        {title: "value", numeric: true, sort: (i) => rows[i].value ?? NaN,
            show: (i) => units.inUnit(rows[i].unit, rows[i].value)},
        text("known", (i) => rows[i].provenance),
        text("from, or why not", (i) => rows[i].source ?? ""),
        text("meaning", (i) => rows[i].help, true)], rows.length, -1, false, 99).root);
}

function unitOf(unit: string, kind: string): string {
    return unit === "ratio" && kind === "counter" ? "share" : unit;
}

function metrics(data: Data, scope: string, title: string): HTMLElement | null {
    const rows = Object.entries(data.run.metrics).filter(([k]) => k.startsWith(`${scope}.`));
    if (!rows.length)
        return null;
    const number = (name: "mean" | "min" | "max" | "last"): Column => ({title: name, numeric: true,
        sort: (i) => rows[i][1][name] ?? NaN,
        show: (i) => units.inUnit(unitOf(rows[i][1].unit, rows[i][1].kind), rows[i][1][name])});
    return fold(title, rows.length, new Table([
        text("metric", (i) => rows[i][0].slice(scope.length + 1)), number("mean"), number("min"),
        number("max"), number("last"), text("known", (i) => rows[i][1].provenance),
        text("from, or why not", (i) => rows[i][1].source ?? ""),
        text("meaning", (i) => data.fields.get(rows[i][0])?.help ?? "", true)],
    rows.length, -1, false, 99).root);
}

export function numbers(data: Data): HTMLElement {
    return h("section", {id: "numbers", "data-short": "Numbers"},
        h("h2", {}, "Every number, and how it is known"),
        totals(data), metrics(data, "load", "The load over time"),
        metrics(data, "job", "The job over time"), metrics(data, "cgroup", "Its control group"),
        metrics(data, "system", "The machine"));
}

/* ── who, and at what cost ─────────────────────────────────────────────── */

function pairs(o: Record<string, string>): string {
    return Object.entries(o).map(([k, v]) => `${k}=${v}`).join(", ");
}

function rows(list: [string, string | null][]): HTMLElement {
    return h("dl", {class: "facts"}, ...list.filter(([, v]) => v).map(([k, v]) =>
        h("div", {}, h("dt", {}, k), h("dd", {}, v))));
}

export function about(data: Data): HTMLElement {
    return h("div", {class: "pair"}, identity(data), cost(data));
}

function identity(data: Data): HTMLElement {
    const {identity: who, outcome} = data.run;
    const ended = who.start_ns !== null && outcome.duration_ns !== null &&
        outcome.status !== "running" ? units.moment(who.start_ns + outcome.duration_ns) : null;
    return h("section", {id: "identity"}, h("h2", {}, "The run"), rows([
        ["id", who.id], ["name", who.name], ["version", who.version], ["kind", who.kind],
        ["command", shell(who.command)],
        ["attached to", who.target === null ? null : `process ${who.target}`],
        ["folder", who.cwd], ["git", who.git],
        ["labels", pairs(who.labels)], ["parameters", pairs(who.params)],
        ["host", who.host], ["user", who.user], ["started", units.moment(who.start_ns)],
        ["ended", ended], ["part of", who.parent]]));
}

function seconds(s: Num): Num {
    return s === null ? null : s * 1e9;
}

function cost(data: Data): HTMLElement {
    const {self, outcome: {duration_ns: life}, version} = data.run;
    const cpu = seconds(self.cpu_seconds);
    const share = cpu !== null && life ? `, ${units.percent(cpu / life)} of one core` : "";
    const late = self.late ? `, ${units.count(self.late)} late` : "";
    const title = h("h2", {}, "What measuring cost");
    return h("section", {id: "cost", "data-short": "Cost"}, title, rows([
        ["CPU time", cpu === null ? null : `${units.duration(cpu)}${share}`],
        ["memory", units.bytes(self.memory_peak_bytes)],
        ["samples", `${units.count(self.samples)}${late}`],
        ["every", units.duration(seconds(self.interval_seconds))],
        ["by", `assay ${version}`]]));
}
