/*
 * data -- what the page is about: the run document (docs/schema/run-1.json;
 * lists as columns) and the tables of assay that explain its keys.
 */
import {inflate} from "./inflate";

export type Num = number | null;
export type Provenance = "measured" | "attributed" | "modelled" | "unavailable";
export type Unit = "ns" | "bytes" | "count" | "ratio";

export interface Known {
    provenance: Provenance;
    source: string | null;
}

export interface Field extends Known {
    key: string;
    scope: string;
    title: string;
    help: string;
    unit: Unit;
    kind: "counter" | "gauge";
}

export interface Spread {
    mean: Num;
    min: Num;
    max: Num;
    last: Num;
}

export interface Metric extends Spread, Known {
    unit: string;
    kind: "counter" | "gauge";
}

export interface Total extends Known {
    value: Num;
    unit: Unit;
}

/* Instances of one scope: every array has one element for each. */
export interface Columns {
    id: number[];
    key: number[];
    parent: Num[];
    name: (string | null)[];
    detail: (string | null)[];
    born_ns: Num[];
    died_ns: Num[];
    wait_status: Num[];
    metrics: Record<string, Num[]>;
}

export interface Timeline {
    t_ns: number[];
    joined: number;
    columns: Record<string, Num[]>;
    min?: Record<string, Num[]>;
    max?: Record<string, Num[]>;
}

export interface Verdict {
    kind: string;
    sentence: string;
    advice: string;
    confidence: number;
    evidence: {what: string; value: string}[];
}

export interface Identity {
    id: string;
    name: string | null;
    version: string | null;
    kind: string | null;
    parent: string | null;
    command: string[];
    labels: Record<string, string>;
    params: Record<string, string>;
    host: string | null;
    user: string | null;
    cwd: string | null;
    git: string | null;
    start_ns: Num;
    interval_seconds: number;
    target: Num;
    cpus: Num;
    memory_bytes: Num;
}

export interface Outcome {
    status: string;
    exit_code: Num;
    signal: Num;
    signal_name: string | null;
    duration_ns: Num;
    survivors: number;
    unmeasured: Num;
    error: string | null;
}

export interface Own {
    cpu_seconds: Num;
    memory_peak_bytes: Num;
    samples: number;
    late: Num;
    interval_seconds: Num;
}

/* Does the memory grow without end? */
export interface Growth {
    answer: string; /* "grows", "does not grow", "cannot tell" */
    why: string | null;
    bytes_per_hour: Num;
    low: Num;
    high: Num;
    span_seconds: Num;
    limit_bytes: Num;
    full_in_seconds: Num;
}

/* Of a flow: how it went through from its first step to its last. */
export interface Sessions {
    ended: number;
    broken: number;
    unfinished: number;
    duration_ms: Record<string, Num>;
}

export interface Step {
    name: string;
    requests: number;
    failed: number;
    errors: Record<string, number>;
    goodput?: Num;
    latency_ms: Record<string, Num>;
    checks: {name: string; passed: number; failed: number}[];
}

/* What a generator of requests counted. */
export interface Load {
    requests: number;
    failed: number;
    rate: Num;       /* answers a second */
    rate_asked: Num; /* null or 0: as fast as answers came */
    rate_unit?: string; /* not of an older assay */
    latency_ms: Record<string, Num>;
    wire_ms: Record<string, Num>;
    unasked?: Num; /* connections left for what nobody asked; not of an older assay */
    good?: object | null; /* null: no bounds were set */
    sessions?: Sessions | null; /* of a flow */
    steps?: Step[];
    thresholds: {expr: string; ok: boolean}[];
    climb?: Climb | null; /* of a capacity */
}

/* What it allocated, if that was recorded; null of _95: exact. */
export interface Heap {
    capture: string;
    complete: boolean;
    total_allocations: number;
    total_allocated_bytes: number;
    total_allocated_bytes_95: Num;
    peak_bytes: number;
    peak_bytes_95: Num;
    peak_at_ns: Num;
    leaked_bytes: number;
    leaked_bytes_95: Num;
    leaked_allocations: number;
    peak_by_line: HeapOwner[];
}

export interface HeapOwner {
    function: string | null;
    file: string | null;
    line: Num;
    bytes: number;
    bytes_95: Num;
    count: number;
}

export interface Run {
    version: string;
    identity: Identity;
    outcome: Outcome;
    verdict: Verdict | null;
    growth?: Growth;
    load?: Load | null;
    heap?: Heap | null;
    totals: Record<string, Total>;
    metrics: Record<string, Metric>;
    unlisted: number;
    timeline: Timeline;
    self: Own;
    [more: string]: unknown;
}

/* A kind of thing that has numbers of its own. */
export interface Scope {
    name: string;
    plural: string;        /* its list in the document              */
    title: string;         /* "Each core"                           */
    single: boolean;       /* a run has one of it, over time        */
    number: string | null; /* what the key of an instance is: "pid" */
    detail: string | null; /* what its detail is: "command"         */
    rank: string | null;   /* the metric that puts them in order    */
}

/* Which functions had the time of one kind ("cpu", "wall"), slice by slice. */
export interface Curves {
    kind: string;
    slice_ns: number;
    functions: {
        function: string | null; /* null: all others together */
        file: string | null;
        values: number[];        /* ns in each slice */
    }[];
}

interface Packed {
    run: {assay: Run};
    fields: Field[];
    scopes: Scope[];
    totals: Record<string, {title: string; help: string}>;
    points: Record<string, number[]>; /* by scope: indices of moments */
    curves: Curves[];
}

/* Of a capacity: how it was found (capacity-1.json). */
export interface Probe {
    amount: number;
    rate: Num;
    under_way: Num;
    p50_ms: Num;
    p99_ms: Num;
    errors: Num;
    verdict: "keeps" | "misses" | "invalid";
    sure: boolean;
    held: boolean;
    missed: string | null;
    invalid?: string | null; /* why it does not count; not of an older assay */
}

interface Estimate {
    value: number;
    low: Num;
    high: Num;
}

export interface Climb {
    by: "rate" | "concurrency";
    unit?: string; /* not of an older assay */
    end: string;
    capacity: Num;
    too_much: Num;
    reason: string;
    limited_by: {function: string; share: number} | null;
    limit_unknown?: string | null; /* why */
    law: {lambda: Estimate; sigma: Estimate; kappa: Estimate; peak_under_way: Estimate | null;
        peak_rate: Estimate | null} | null;
    probes: Probe[];
}

export interface Data {
    run: Run;
    fields: Map<string, Field>;
    scopes: Scope[];
    totals: Record<string, {title: string; help: string}>;
    points: Record<string, number[]>;
    curves: Curves[];
    span: number; /* ns: the end of the time axis */
}

function spanOf(run: Run): number {
    const t = run.timeline.t_ns;
    return Math.max(1, run.outcome.duration_ns ?? 0, t.length ? t[t.length - 1] : 0);
}

function arrange(p: Packed): Data {
    const run = p.run.assay;
    const fields = new Map(p.fields.map((f): [string, Field] => [f.key, f]));
    return {...p, run, fields, span: spanOf(run)};
}

export async function unpack(base64: string): Promise<Data> {
    return arrange(await inflate<Packed>(base64));
}

/* The instances of a scope; null when the run has none. */
export function instances(data: Data, scope: string): Columns | null {
    const plural = data.scopes.find((s) => s.name === scope)?.plural ?? "";
    const c = data.run[plural] as Columns | undefined;
    return c && Array.isArray(c.id) && c.id.length > 0 ? c : null;
}

/* Of a metric of a column, or null. */
export function cell(c: Columns, key: string, i: number): Num {
    return c.metrics[key]?.[i] ?? null;
}
