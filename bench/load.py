"""load -- CPU time of the generator for a request, beside its peers; how true it is to a rate."""
import json
import re
import resource
import shutil
import subprocess
import urllib.parse

import peers
from harness import Result, median, number, ratio

ABOUT = "CPU time of a generator of load for one answered request, 64 connections, a small answer."
CONNECTIONS = 64
CALLS = "its system calls alone"    # what is left of a generator that does nothing itself
RATE, LATE_US = 1000, 50

# What each tool says of how many were answered, and what assay may take of its CPU.
TOOLS = {
    "assay": (re.compile(r'"requests": (\d+)'), None),
    CALLS: (re.compile(r"(\d+) answers"), None),
    "wrk": (re.compile(r"(\d+) requests in"), 0.85),
    "h2load": (re.compile(r"(\d+) succeeded"), None),
    "oha": (re.compile(r'"200": (\d+)'), 1 / 2),
    "hey": (re.compile(r"\[200\]\s+(\d+) responses"), 1 / 4),
    "k6": (re.compile(r"http_reqs[. ]*: (\d+)"), 1 / 12),
}
K6_SCRIPT = """import http from 'k6/http';
export const options = { discardResponseBodies: true };
export default function () { http.get(__ENV.URL); }
"""


def built(name):
    """A peer that another language's tool builds, if it did."""
    return next((p for p in peers.of(name) if p.is_here), None)


def commands(b, url, seconds):
    yield "assay", [b.assay, "load", "--no-store", "--json", "-c", CONNECTIONS, "-z",
                    f"{seconds}s", url]
    yield CALLS, [b.bin("load_calls"), urllib.parse.urlsplit(url).port, CONNECTIONS, seconds]
    if shutil.which("wrk"):
        yield "wrk", ["wrk", "-t", 1, "-c", CONNECTIONS, "-d", f"{seconds}s", url]
    if shutil.which("h2load"):
        yield "h2load", ["h2load", "--h1", "-t", 1, "-c", CONNECTIONS, "-D", seconds, url]
    if oha := built("oha"):
        yield "oha", [oha.program("oha"), "--no-tui", "--output-format", "json", "-c", CONNECTIONS,
                      "-z", f"{seconds}s", url]
    if shutil.which("hey"):
        yield "hey", ["hey", "-c", CONNECTIONS, "-z", f"{seconds}s", "-cpus", 1, url]
    if k6 := built("k6"):
        script = b.dir / "load.js"
        script.write_text(K6_SCRIPT)
        yield "k6", [k6.program("k6"), "run", "--quiet", "--no-usage-report", "--no-color", "--vus",
                     CONNECTIONS, "--duration", f"{seconds}s", "-e", f"URL={url}", script]


def children_s():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def cost_us(name, command):
    """CPU time of one request, in us, all that starting the tool takes included."""
    before = children_s()
    p = subprocess.run([str(w) for w in command], capture_output=True, text=True)
    spent = children_s() - before
    count = TOOLS[name][0].search(p.stdout)
    return 1e6 * spent / int(count[1])


def late_us(b, url, seconds):
    """By how much the median request was sent after it was due."""
    p = subprocess.run([b.assay, "load", "--no-store", "--json", "-R", str(RATE), "-c", "50", "-z",
                        f"{seconds}s", url], capture_output=True, text=True)
    told = json.loads(p.stdout)
    return 1000 * (told["latency_ms"]["p50"] - told["wire_ms"]["p50"])


def run(b):
    rounds, seconds = (3, 1) if b.quick else (8, 5)
    with b.stub() as url:
        costs = {name: [] for name, _ in commands(b, url, seconds)}
        late = []
        for _ in range(rounds):
            for name, command in commands(b, url, seconds):
                costs[name].append(cost_us(name, command))
            late.append(late_us(b, url, seconds))
    return told(costs, median(late))


def named(name):
    peer = built(name)
    return f"{name} {peer.version}" if peer else name


def out_of_reach(costs):
    """The budgets that are below what the system calls cost alone, as a sentence; none: nothing."""
    parts = {n: ratio(costs[CALLS], v) for n, v in costs.items() if TOOLS[n][1]}
    missed = [f"{parts[n].text()} of {named(n)}'s" for n in parts if parts[n].low > TOOLS[n][1]]
    if not missed:
        return []
    return [f"The calls alone, one to send, one to receive and one to wait for all, are "
            f"{' and '.join(missed)}: whoever makes them is over that budget on this machine."]


def told(costs, late):
    result = Result(["", "CPU a request, µs", "assay takes of it", "budget"])
    for name, values in costs.items():
        result.keep(**{f"{name}_cpu_us": median(values)})
        row = [named(name), median(values).text(), "", ""]
        if name != "assay":
            share, limit = ratio(costs["assay"], values), TOOLS[name][1]
            row[2] = share.text()
            if limit:
                word = result.budget(f"a request's CPU, of {named(name)}'s", share, limit, "")
                row[3] = f"{number(limit)}: {word}"
            result.keep(**{f"to_{name}": share})
        result.rows.append(row)
    result.keep(late_us=late)
    word = result.budget(f"load: sent after it was due, at {RATE:,} a second", late, LATE_US, " µs")
    result.notes.append(f"At {RATE:,} a second over 50 connections the median request was sent "
                        f"{late.text(' µs')} after it was due (budget {LATE_US} µs: {word}).")
    result.notes.extend(out_of_reach(costs))
    missing = [n for n in TOOLS if n not in costs]
    if missing:
        result.notes.append("Not here, so not measured: " + ", ".join(missing) + ".")
    return result
