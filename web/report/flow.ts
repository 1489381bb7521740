/*
 * flow -- what each step of a flow did, and what was checked of its answers;
 * present when the run is the load of one.
 */
import type {Data, Load, Num, Sessions, Step} from "./data";
import {Child, h} from "./dom";
import {Column, Table} from "./tables";
import * as units from "./units";

function column<T>(rows: T[], title: string, of: (row: T) => Num | undefined,
    show: (v: Num | undefined) => string, help?: string): Column {
    return {title, help, numeric: true, sort: (i) => of(rows[i]) ?? NaN,
        show: (i) => show(of(rows[i]))};
}

function text<T>(rows: T[], title: string, of: (row: T) => string): Column {
    return {title, sort: (i) => of(rows[i]), show: (i) => of(rows[i])};
}

/* Which kinds they are, where somebody points. */
function errors(s: Step): Child {
    const kinds = Object.entries(s.errors).map(([kind, n]) => `${kind} ${units.count(n)}`);
    return h("span", {title: kinds.join(", ") || undefined}, units.count(s.failed));
}

/* How often a check of it failed; null: nothing was checked. */
function failures(s: Step): Num {
    return s.checks.length ? s.checks.reduce((sum, c) => sum + c.failed, 0) : null;
}

function checked(s: Step): string {
    const failed = failures(s), passed = s.checks.reduce((sum, c) => sum + c.passed, 0);
    if (failed === null || !(passed + failed))
        return units.UNKNOWN;
    return failed ? `${units.count(failed)} of ${units.count(passed + failed)} failed`
        : `${units.count(passed)} passed`;
}

function stepTable(l: Load, steps: Step[]): HTMLElement {
    const time = (title: string, key: string) => column(steps, title,
        (s) => s.latency_ms[key], units.ms, "from when it was due");
    const columns: Column[] = [
        text(steps, "step", (s) => s.name),
        column(steps, "requests", (s) => s.requests, units.count, "measured, however they ended"),
        {title: "errors", numeric: true, sort: (i) => steps[i].failed,
            show: (i) => errors(steps[i])},
        ...l.good ? [column(steps, "good", (s) => s.goodput, units.percent,
            "answers that kept to all bounds")] : [],
        time("p50", "p50"), time("p90", "p90"), time("p99", "p99"), time("max", "max"),
        ...steps.some((s) => s.checks.length) ? [{title: "checks", numeric: true,
            sort: (i: number) => failures(steps[i]) ?? NaN,
            show: (i: number) => checked(steps[i])}] : []];
    return new Table(columns, steps.length, -1, false, steps.length).root;
}

function checkTable(steps: Step[]): HTMLElement[] {
    const all = steps.flatMap((s) => s.checks.map((c) => ({step: s.name, ...c})));
    if (!all.length)
        return [];
    const columns = [text(all, "check", (c) => c.name), text(all, "step", (c) => c.step),
        column(all, "passed", (c) => c.passed, units.count),
        column(all, "failed", (c) => c.failed, units.count)];
    const failing = all.some((c) => c.failed);
    return [h("h3", {}, "Checks"), new Table(columns, all.length, failing ? 3 : -1).root];
}

function sentence(s: Sessions): string {
    const parts = [`${units.some(s.ended, "session")} ended`];
    if (s.ended)
        parts.push(`p50 ${units.ms(s.duration_ms.p50)}`, `p99 ${units.ms(s.duration_ms.p99)}`);
    if (s.broken)
        parts.push(`${units.count(s.broken)} broke off`);
    if (s.unfinished)
        parts.push(`${units.count(s.unfinished)} at work at the end`);
    return parts.join(" · ");
}

export function flowSection(data: Data): HTMLElement[] {
    const l = data.run.load, steps = l?.steps ?? [];
    if (!l || !steps.length)
        return [];
    return [h("section", {id: "steps"}, h("h2", {}, "Steps"),
        l.sessions ? h("p", {}, sentence(l.sessions)) : null, stepTable(l, steps),
        ...checkTable(steps))];
}
