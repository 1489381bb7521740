/*
 * plots -- which lines stand together. The table names those that people look
 * at first; every other metric that was kept over time gets a plot from the
 * field table, with its neighbours of the same kind, and waits to be asked for.
 */
import type {Curves, Data, Field} from "./data";
import {fewTicks} from "./head";
import {Line, shownUnit, Timeline} from "./series";
import * as units from "./units";

export interface Trace {
    line: Line;
    name: string;
    help: string;
    known: string; /* how it is known */
    ink: string;   /* a colour of the style sheet */
}

export interface Plot {
    title: string;
    note: string;
    unit: string;
    stacked: boolean;
    traces: Trace[];
    sum: Trace | null; /* has numbers, but no line */
    limit: {value: number; name: string} | null;
    first: boolean; /* shown from the start */
}

/* One trace: the first of these keys that the run has; they mean the same. */
interface Wish {
    keys: string[];
    name: string;
    always?: boolean; /* also when it never left 0 */
}

interface Recipe {
    title: string;
    note: string;
    stacked?: boolean;
    limit?: "cpus" | "memory" | "cores";
    wishes: Wish[];
    total?: string;    /* told beside them: their sum, drawn where they are a guess */
    covers?: string[]; /* what these lines tell already          */
    later?: boolean;
}

const RECIPES: Recipe[] = [
    {title: "Requests", note: "a second", wishes: [
        {keys: ["load.requests"], name: "ended", always: true},
        {keys: ["load.errors"], name: "failed"}]},
    {title: "Latency", note: "from when a request was due", wishes: [
        {keys: ["load.latency.p50"], name: "p50", always: true},
        {keys: ["load.latency.p99"], name: "p99", always: true},
        {keys: ["load.latency.max"], name: "max"}]},
    {title: "On the wire", note: "from when it was sent", wishes: [
        {keys: ["load.wire.p50"], name: "p50"},
        {keys: ["load.wire.p99"], name: "p99"}], later: true},
    {title: "Under way", note: "sent, and not answered yet", wishes: [
        {keys: ["load.under_way"], name: "requests"}], later: true},
    {title: "Generator", note: "100 % is one core", wishes: [
        {keys: ["load.generator.cpu"], name: "CPU"}], later: true},
    {title: "CPU", note: "100 % is one core", stacked: true, limit: "cpus", wishes: [
        {keys: ["job.cpu.user", "cgroup.cpu.user"], name: "user", always: true},
        {keys: ["job.cpu.system", "cgroup.cpu.system"], name: "system", always: true}],
    total: "job.cpu.total", covers: ["cgroup.cpu.total"]},
    {title: "Memory", note: "in use", limit: "memory", wishes: [
        {keys: ["job.memory.used", "cgroup.memory.anonymous"], name: "used", always: true},
        {keys: ["job.memory.pss"], name: "proportional"},
        {keys: ["job.memory.rss_sum"], name: "resident, sum"},
        {keys: ["job.memory.swap", "cgroup.memory.swap"], name: "swap"}]},
    {title: "Disk", note: "from, and meant for, a disk", wishes: [
        {keys: ["job.io.read", "cgroup.io.read"], name: "read"},
        {keys: ["job.io.write", "cgroup.io.write"], name: "written"}]},
    {title: "Network", note: "of the job", wishes: [
        {keys: ["job.net.received", "job.network.received", "job.net.rx"], name: "received"},
        {keys: ["job.net.sent", "job.network.sent", "job.net.tx"], name: "sent"}]},
    {title: "Sockets", note: "open", wishes: [
        {keys: ["job.net.sockets"], name: "TCP and UDP"},
        {keys: ["job.net.unix"], name: "local"}], later: true},
    {title: "Connections", note: "a second", wishes: [
        {keys: ["job.net.connections"], name: "opened"},
        {keys: ["job.net.retransmits"], name: "sent again"}], later: true},
    {title: "Processes", note: "alive", wishes: [
        {keys: ["job.processes"], name: "processes", always: true},
        {keys: ["job.threads"], name: "threads"}]},
    {title: "Waiting", note: "100 % is one thread all the time", wishes: [
        {keys: ["job.cpu.wait"], name: "for a CPU"},
        {keys: ["cgroup.cpu.throttled"], name: "throttled"},
        {keys: ["cgroup.psi.io", "system.psi.io"], name: "for I/O"},
        {keys: ["cgroup.psi.memory", "system.psi.memory"], name: "for memory"}]},
    {title: "Through calls", note: "cache, pipes and sockets too", wishes: [
        {keys: ["job.io.read_calls_bytes"], name: "read"},
        {keys: ["job.io.write_calls_bytes"], name: "written"}], later: true},
    {title: "Calls", note: "a second", wishes: [
        {keys: ["job.io.read_calls"], name: "read"},
        {keys: ["job.io.write_calls"], name: "write"}], later: true},
    {title: "Address space", note: "asked for, used or not", wishes: [
        {keys: ["job.memory.vms"], name: "all processes"}], later: true},
    {title: "Machine CPU", note: "all cores", stacked: true, limit: "cores", wishes: [
        {keys: ["system.cpu.user"], name: "user", always: true},
        {keys: ["system.cpu.system"], name: "system", always: true},
        {keys: ["system.cpu.iowait"], name: "iowait"},
        {keys: ["system.cpu.steal"], name: "steal"}], covers: ["system.cpu.idle"], later: true},
];

const LEAST_SLICE = 2.5e8, MOST_SLICES = 120; /* of stacks: ns, and how many are drawn */
const INKS = ["ink1", "ink2", "ink3", "ink4", "ink5", "ink6"];

function moves(line: Line): boolean {
    return line.v.some((v) => v !== 0 && !Number.isNaN(v));
}

function known(f: Field): string {
    return f.source ? `${f.provenance}: ${f.source}` : f.provenance;
}

/* Lines can be stacked when they tell of the same stretches. */
function alike(traces: Trace[]): boolean {
    const a = traces[0].line;
    return traces.every(({line}) => line.v.length === a.v.length &&
        line.to.every((t, i) => t === a.to[i]));
}

export class Plots {
    private readonly used = new Set<string>();
    readonly flat: string[] = []; /* never left 0, so nobody draws them */

    constructor(private readonly data: Data, private readonly timeline: Timeline,
        private readonly cores: number) {}

    private trace(key: string, name: string, ink: string): Trace {
        const f = this.data.fields.get(key)!;
        return {line: this.timeline.line(key), name, help: f.help, known: known(f), ink};
    }

    private has(key: string): boolean {
        return this.data.fields.has(key) && this.timeline.has(key);
    }

    private wish(w: Wish, ink: string): Trace | null {
        const key = w.keys.find((k) => this.has(k));
        if (!key)
            return null;
        w.keys.forEach((k) => this.used.add(k));
        const t = this.trace(key, w.name, ink);
        if (w.always || moves(t.line))
            return t;
        this.flat.push(key);
        return null;
    }

    private limit(r: Recipe): Plot["limit"] {
        const {cpus, memory_bytes} = this.data.run.identity;
        if (r.limit === "cpus" && cpus)
            return {value: cpus, name: units.some(cpus, "CPU")};
        if (r.limit === "memory" && memory_bytes)
            return {value: memory_bytes, name: "all memory"};
        return r.limit === "cores" && this.cores
            ? {value: this.cores, name: `${this.cores} cores`} : null;
    }

    /* Nobody knows how the sum is split, or there is a sum only. */
    private isWhole({wishes, total}: Recipe): boolean {
        const {totals} = this.data.run;
        return total !== undefined && this.has(total) && (fewTicks(totals) ||
            totals.cpu_user.provenance === "attributed" ||
            !wishes.some((w) => w.keys.some((k) => this.has(k))));
    }

    private cook(r: Recipe): Plot | null {
        const whole = this.isWhole(r);
        const traces = whole ? [this.trace(r.total!, "user and system", INKS[0])]
            : r.wishes.map((w, i) => this.wish(w, INKS[i])).filter((t): t is Trace => t !== null);
        if (!traces.length)
            return null;
        [...r.covers ?? [], ...whole ? [r.total!, ...r.wishes.flatMap((w) => w.keys)] : []]
            .forEach((k) => this.used.add(k));
        return {title: r.title, note: r.note, unit: traces[0].line.unit, traces,
            stacked: (r.stacked ?? false) && alike(traces), limit: this.limit(r),
            sum: r.total && !whole
                ? this.wish({keys: [r.total], name: "together", always: true}, "no-ink")
                : null, first: !r.later};
    }

    /* What no recipe names: by scope, second word and unit. */
    private rest(): Plot[] {
        const groups = new Map<string, Field[]>();
        for (const f of this.data.fields.values()) {
            if (this.used.has(f.key) || !this.timeline.has(f.key))
                continue;
            const words = f.key.split(".");
            const title = `${words[0]} ${words[1]}`;
            const group = `${title} ${shownUnit(f)}`;
            groups.set(group, [...groups.get(group) ?? [], f]);
        }
        return [...groups.values()].flatMap((g) => this.group(g));
    }

    private group(fields: Field[]): Plot[] {
        const words = fields[0].key.split(".");
        const traces: Trace[] = [];
        for (const f of fields) {
            const name = f.key.split(".").slice(2).join(" ").replace(/_/g, " ") || f.title;
            const t = this.trace(f.key, name, INKS[traces.length % INKS.length]);
            if (moves(t.line))
                traces.push(t);
            else
                this.flat.push(f.key);
        }
        const title = titleOf(words[0], words[1]);
        return traces.length ? [{title, note: "", unit: traces[0].line.unit, stacked: false,
            traces, sum: null, limit: null, first: false}] : [];
    }

    all(): Plot[] {
        const first = RECIPES.map((r) => this.cook(r)).filter((p): p is Plot => p !== null);
        const at = first.findIndex((p) => p.title === "CPU") + 1;
        first.splice(at, 0, ...this.data.curves.map((c) => byFunction(c, this.data.span)));
        return distinct([...first, ...this.rest()]);
    }
}

/* What stacks say of the time: the functions that had most of it, on the same axis. */
function byFunction(c: Curves, span: number): Plot {
    const traces = c.functions.filter((f) => f.values.some((v) => v > 0)).map((f, i): Trace => ({
        line: sliced(f.values, c.slice_ns, span, `stacks.${c.kind}.${i}`),
        name: f.function ?? "all others", help: f.file ?? "", ink: INKS[i],
        known: "measured: sampled stacks, the function at the tip"}));
    const title = c.kind === "cpu" ? "CPU by function" : `${c.kind} time by function`;
    return {title: title.charAt(0).toUpperCase() + title.slice(1), note: "100 % is one thread",
        unit: "share", stacked: true, traces, sum: null, limit: null, first: true};
}

/*
 * Values of slices of time as shares of each; the last may be cut short. A slice
 * of few samples says little, so neighbours are joined until they are long enough.
 */
function sliced(values: number[], slice: number, span: number, key: string): Line {
    const each = Math.max(1, Math.ceil(Math.max(LEAST_SLICE, span / MOST_SLICES) / slice));
    const sums = new Float64Array(Math.ceil(values.length / each));
    values.forEach((v, i) => sums[Math.floor(i / each)] += v);
    const from = sums.map((_, i) => i * each * slice);
    const to = from.map((t) => Math.max(Math.min(t + each * slice, span), t + 1));
    return {key, unit: "share", steps: true, from, to,
        v: sums.map((v, i) => v / (to[i] - from[i])), lo: null, hi: null};
}

function titleOf(scope: string, word: string): string {
    const owner: Record<string, string> = {job: "", cgroup: "Group ", system: "Machine "};
    const names: Record<string, string> = {cpu: "CPU", psi: "pressure", io: "I/O"};
    const title = (owner[scope] ?? `${scope} `) + (names[word] ?? word);
    return title.charAt(0).toUpperCase() + title.slice(1);
}

/* Two plots of one name differ in their unit: say it. */
function distinct(plots: Plot[]): Plot[] {
    const seen = new Map<string, number>();
    plots.forEach((p) => seen.set(p.title, (seen.get(p.title) ?? 0) + 1));
    const words: Record<string, string> = {bytes: "bytes", "bytes/s": "bytes a second",
        "count/s": "a second", count: "number", share: "time", ratio: "", ns: "time"};
    for (const p of plots)
        if (seen.get(p.title)! > 1 && !p.note)
            p.note = words[p.unit] ?? p.unit;
    return plots;
}
