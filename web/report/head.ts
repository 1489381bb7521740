/*
 * head -- who ran and how it ended, what limited it, what it used: the part
 * that most readers came for.
 */
import type {Data, Growth, Known, Load, Num, Total} from "./data";
import {Child, h} from "./dom";
import {themeSwitch} from "./theme";
import * as units from "./units";

const MARKS: Record<string, string> = {success: "✔", failed: "✘", timeout: "⏱", running: "▶",
    error: "✘", interrupted: "◼"};

/* A load that went through to its end can have come to nothing all the same. */
function inVain(data: Data): string {
    const {load, verdict: v, outcome: {status}} = data.run;
    if (!load || !["success", "failed"].includes(status))
        return "";
    if (v && v.kind.startsWith("invalid"))
        return "INVALID";
    if (status === "failed" && !load.climb)
        return "";
    const missed = load.climb ? ["none", "unheld"].includes(load.climb.end)
        : load.thresholds.some((t) => !t.ok);
    return missed ? "threshold missed" : "";
}

function outcome(data: Data): string {
    const {status, exit_code, signal_name} = data.run.outcome;
    if (inVain(data))
        return inVain(data);
    if (signal_name)
        return `${status}, ${signal_name}`;
    return status === "failed" && exit_code !== null ? `${status}, exit ${exit_code}` : status;
}

export function shell(words: string[]): string {
    return words.map((w) => /^[\w@%+=:,./-]+$/.test(w) ? w : `'${w.replace(/'/g, "'\\''")}'`)
        .join(" ");
}

export function header(data: Data): HTMLElement {
    const {identity} = data.run;
    const status = inVain(data) ? "failed" : data.run.outcome.status;
    const good = status === "success" ? "good" : status === "running" ? "live" : "bad";
    return h("header", {},
        h("div", {class: "title"},
            h("h1", {}, identity.name ?? identity.id),
            h("span", {class: `status ${good}`}, `${MARKS[status] ?? ""} ${outcome(data)}`),
            h("span", {class: "grow"}), themeSwitch()),
        h("p", {class: "command"}, shell(identity.command) ||
            (identity.target !== null ? `process ${identity.target}` : "")),
        h("p", {class: "facts"}, facts(data).join(" · ")));
}

function facts(data: Data): string[] {
    const {identity: who} = data.run;
    const cpus = who.cpus ? units.some(who.cpus, "CPU") : "", memory = who.memory_bytes
        ? `${units.bytes(who.memory_bytes)} memory` : "";
    return [units.moment(who.start_ns), who.host ? `on ${who.host}` : "",
        who.user ? `as ${who.user}` : "", cpus, memory, who.id]
        .filter((x) => x !== "");
}

/* ── verdict ───────────────────────────────────────────────────────────── */

function sure(confidence: number): string {
    if (confidence >= 0.8)
        return "clear";
    return confidence >= 0.5 ? "likely" : confidence > 0 ? "a guess" : "";
}

function capital(s: string): string {
    return s.charAt(0).toUpperCase() + s.slice(1);
}

export function verdict(data: Data): HTMLElement {
    const v = data.run.verdict;
    if (!v)
        return h("section", {id: "verdict"}, h("p", {class: "sentence"}, "Not judged."));
    const how = sure(v.confidence);
    return h("section", {id: "verdict", "data-kind": v.kind},
        h("p", {class: "sentence"}, capital(v.sentence), how ? h("small", {}, how) : null),
        v.advice ? h("p", {class: "advice"}, `→ ${v.advice}`) : null,
        v.evidence.length ? h("dl", {class: "evidence"}, ...v.evidence.map((e) =>
            h("div", {}, h("dt", {}, e.what), h("dd", {}, e.value)))) : null,
        troubles(data));
}

function growing(g: Growth): string {
    const full = g.full_in_seconds === null ? ""
        : `; at this rate all it may use is full in ${units.duration(g.full_in_seconds * 1e9)}`;
    return `Memory grows by ${units.bytes(g.bytes_per_hour)} an hour (95 % sure: ` +
        `${units.bytes(g.low)} to ${units.bytes(g.high)})${full}`;
}

/* What nobody should have to look for. */
function troubles(data: Data): Child {
    const {totals, outcome: {survivors, unmeasured, error}} = data.run;
    const found: string[] = [];
    const say = (key: string, words: (v: number) => string) => {
        const v = totals[key]?.value;
        if (v)
            found.push(words(v));
    };
    say("oom_kills", (v) => `${units.count(v)} killed because memory ran out`);
    say("throttled", (v) => `${units.duration(v)} stopped by a CPU quota`);
    say("swap_peak", (v) => `${units.bytes(v)} in swap`);
    say("lost_events", (v) => `${units.count(v)} events lost: short processes may be missing`);
    if (data.run.load?.unasked)
        found.push(`${units.some(data.run.load.unasked, "connection")} left for what the server ` +
            "said there, with no request under way");
    if (data.run.growth?.answer === "grows")
        found.push(growing(data.run.growth));
    if (unmeasured)
        found.push(`${units.some(unmeasured, "child", "children")} of the process not measured`);
    if (survivors)
        found.push(`${units.some(survivors, "process", "processes")} outlived the command`);
    if (error)
        found.push(error);
    return found.length ? h("ul", {class: "troubles"}, ...found.map((f) => h("li", {}, f))) : null;
}

/* ── headline figures ──────────────────────────────────────────────────── */

export function provenance(k: Known): HTMLElement {
    const text = k.provenance === "unavailable" ? k.source || "unavailable"
        : k.provenance === "measured" ? k.source || "measured"
            : `${k.provenance}: ${k.source ?? ""}`;
    return h("p", {class: `how ${k.provenance}`, title: k.provenance}, text);
}

/* Words that stand together; a line breaks between them only. */
function phrases(...words: string[]): HTMLElement {
    const spans = words.filter((w) => w).map((w) => h("span", {}, w));
    return h("p", {class: "phrases"}, ...spans);
}

interface Tile {
    title: string;
    value: string;
    lines: Child[];
    known?: Known;
}

function tile(t: Tile): HTMLElement {
    const lines = t.value === units.UNKNOWN ? [] : t.lines;
    return h("div", {class: "tile"}, h("h3", {}, t.title), h("p", {class: "figure"}, t.value),
        ...lines.map((l) => typeof l === "string" ? l ? h("p", {}, l) : null : l),
        t.known ? provenance(t.known) : null);
}

function split(user: Num, system: Num): Child {
    if (user === null || system === null || user + system <= 0)
        return null;
    const bar = h("div", {class: "split", title: "user and system"}, h("i", {class: "ink1"}),
        h("i", {class: "ink2"}));
    (bar.firstChild as HTMLElement).style.flexGrow = String(user / (user + system));
    (bar.lastChild as HTMLElement).style.flexGrow = String(system / (user + system));
    return bar;
}

/* As src/run/run.h has it. */
const FEW_TICKS = "ticks, for which processes were too short";

/* Ticks split CPU time: as long as none met one part, that one seems to have had nothing. */
export function fewTicks({cpu_user, cpu_system}: Record<string, Total>): boolean {
    const user = cpu_user.value, system = cpu_system.value;
    return cpu_user.source === FEW_TICKS || user !== null && system !== null &&
        (user === 0) !== (system === 0) && user + system < 1e8;
}

function parts(totals: Data["run"]["totals"]): Child[] {
    const user = totals.cpu_user.value, system = totals.cpu_system.value;
    if (fewTicks(totals))
        return ["too short to tell user from system time"];
    return [split(user, system),
        phrases(`user ${units.duration(user)}`, `system ${units.duration(system)}`)];
}

function cpuTile(data: Data): Tile {
    const {totals, outcome: {duration_ns: life}, identity: {cpus}} = data.run;
    const cpu = totals.cpu.value;
    const share = cpu !== null && life ? cpu / life : null;
    return {title: "CPU time", value: units.duration(cpu), known: totals.cpu, lines: [
        ...parts(totals),
        share === null ? "" : phrases(`${units.percent(share)} of one core`,
            cpus && cpus > 1 ? `${units.percent(share / cpus)} of ${cpus}` : "")]};
}

function memoryTile(data: Data): Tile {
    const {totals, identity: {memory_bytes: all}} = data.run;
    const peak = totals.memory_peak.value, upper = totals.memory_peak_upper.value;
    const one = totals.memory_peak_process.value;
    const files = one !== null && upper !== null && one > upper ? " with mapped files" : "";
    return {title: "Memory peak", value: units.bytes(peak), known: totals.memory_peak, lines: [
        `upper bound ${units.bytes(upper)}`,
        `largest process ${units.bytes(one)}${files}`,
        peak !== null && all ? `${units.percent(peak / all)} of the ${units.bytes(all)} it may use`
            : ""]};
}

function add(a: Num, b: Num): Num {
    return a === null || b === null ? a ?? b : a + b;
}

function diskTile(data: Data): Tile {
    const {totals: t} = data.run;
    return {title: "Disk I/O", value: units.bytes(add(t.io_read.value, t.io_write.value)),
        known: t.io_read, lines: [
            phrases(`read ${units.bytes(t.io_read.value)}`,
                `written ${units.bytes(t.io_write.value)}`),
            phrases("through calls", `read ${units.bytes(t.io_read_calls_bytes.value)}`,
                `written ${units.bytes(t.io_write_calls_bytes.value)}`)]};
}

function processTile(data: Data): Tile {
    const {totals, metrics} = data.run;
    const most = metrics["job.processes"]?.max ?? null;
    const threads = metrics["job.threads"]?.max ?? null;
    return {title: "Processes", value: units.count(totals.processes.value), known: totals.processes,
        lines: [most === null ? "" : `at most ${units.count(most)} at a time`,
            threads === null ? "" : `at most ${units.some(threads, "thread")}`]};
}

function timeTile(data: Data): Tile {
    const {outcome: {duration_ns}, totals, self} = data.run;
    const wait = totals.cpu_wait?.value ?? null;
    return {title: "Time", value: units.duration(duration_ns), lines: [
        wait === null ? "" : `${units.duration(wait)} ready, waiting for a CPU`,
        self.samples ? units.some(self.samples, "sample") : "totals only, no samples"]};
}

/* Sent and received, when assay measured the network. */
function networkTile(data: Data): Tile[] {
    const mine = Object.entries(data.run.totals).filter(([k]) => /^net/.test(k));
    const bytes = mine.filter(([, t]) => t.unit === "bytes" && t.value !== null);
    const sum = bytes.reduce((n, [, t]) => n + (t.value ?? 0), 0);
    if (!sum)
        return [];
    const name = (k: string) => data.totals[k]?.title ?? k;
    const say = ([k, t]: [string, Total]) => `${name(k)} ${units.inUnit(t.unit, t.value)}`;
    return [{title: "Network", value: units.bytes(sum), known: bytes[0][1],
        lines: [phrases(...bytes.slice(0, 2).map(say))]}];
}

function requestsTile(l: Load): Tile {
    const missed = l.thresholds.filter((t) => !t.ok).map((t) => t.expr);
    const unit = l.rate_unit === "sessions/s" ? " sessions/s" : "/s";
    const asked = l.rate_asked ? `${units.number(l.rate_asked)}${unit} asked for` : "";
    return {title: "Requests", value: units.count(l.requests), lines: [
        phrases(`${units.number(l.rate)}/s`, asked),
        l.failed ? `${units.count(l.failed)} failed` : "none failed",
        missed.length ? `missed: ${missed.join(", ")}` : ""]};
}

function latencyTile(l: Load): Tile {
    const {ms} = units, {p50, p90, p99, p999, max} = l.latency_ms;
    return {title: "Latency, p99", value: ms(p99), lines: [
        phrases(`p50 ${ms(p50)}`, `p90 ${ms(p90)}`),
        phrases(`p99.9 ${ms(p999)}`, `max ${ms(max)}`),
        `on the wire, p99 ${ms(l.wire_ms.p99)}`]};
}

function loadTiles(l: Load | null | undefined): Tile[] {
    return l ? [requestsTile(l), latencyTile(l)] : [];
}

export function headline(data: Data): HTMLElement {
    const tiles = [timeTile(data), ...loadTiles(data.run.load), cpuTile(data), memoryTile(data),
        diskTile(data), ...networkTile(data), processTile(data)];
    return h("section", {id: "used", "aria-label": "What it used"}, ...tiles.map(tile));
}
