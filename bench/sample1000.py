"""sample1000 -- one look at a job of a thousand processes."""
import pathlib
import sys

import peers
from harness import ROOT, Result, median, ratio, totals, verdict

ABOUT = "CPU time of one sample of a job of 1,000 processes, by /proc."
PROCESSES = 1000
LIMIT = 1 / 15
CASES = [("all asleep", 0), ("each wakes 20 times a second", 20)]     # (name, wakes)
OFTEN, SELDOM = 0.1, 3600       # seconds between samples


class Tool:
    """A profiler that is run with many samples and with few; the difference is what they cost."""

    def __init__(self, name, command, told):
        self.name = name
        self.command = command      # of a pause and a job
        self.told = told            # of the last run: how many samples, how many processes
        self.samples = []           # nanoseconds of CPU of one sample, a round each


def assay_tool(b, name, wrap=list):
    folder = b.folder("assay")
    told = pathlib.Path(folder, "told.json")

    def command(pause, job):
        return wrap([b.assay, "run", "--quiet", "--store", folder, "--interval", str(pause),
                     "-o", told, "--", *job])

    def ticks():
        t = totals(told)
        told.unlink()
        return t["self_ticks"], t["processes"]
    return Tool(name, command, ticks)


def psutil_tool(b):
    told = pathlib.Path(b.folder("psutil"), "told")

    def command(pause, job):
        return [sys.executable, ROOT / "bench" / "psutil_sample.py", str(pause), told, *job]

    def ticks():
        return map(int, told.read_text().split())
    return Tool(f"psutil {peers.version('psutil')}", command, ticks)


def tools(b):
    if b.root:
        yield assay_tool(b, "assay, own control group (root)")
        yield assay_tool(b, "assay, /proc only (as nobody)", b.as_nobody)
    else:
        yield assay_tool(b, "assay, as this user")
    yield psutil_tool(b)


def once(b, tool, pause, job):
    """(CPU ns of the profiler, samples, processes seen)."""
    (costs,) = b.meter([tool.command(pause, job)], 1, warm=0)
    looks, seen = tool.told()
    return costs[0].own_ns, looks, seen


def measure(b, tool, job):
    """One round: many samples against hardly any, so that start and end cancel out."""
    few_cpu, few, _ = once(b, tool, SELDOM, job)
    cpu, many, seen = once(b, tool, OFTEN, job)
    if many <= few or seen < PROCESSES:
        sys.exit(f"bench: {tool.name}: {many} samples of {seen} processes")
    tool.samples.append((cpu - few_cpu) / (many - few))


def part_text(f):
    """A ratio as people say it: "1/18 (1/17 to 1/19)"."""
    text = f"1/{1 / f.value:.1f}"
    return text if f.low == f.high else f"{text} (1/{1 / f.high:.1f} to 1/{1 / f.low:.1f})"


def case(b, result, name, wakes):
    crowd = b.public(b.bin("crowd"))
    job = [crowd, str(PROCESSES), "3" if b.quick else "5", str(wakes)]
    all_tools = list(tools(b))
    for _ in range(1 if b.quick else 4):
        for tool in all_tools:
            measure(b, tool, job)
    theirs = all_tools[-1]
    for tool in all_tools:
        ours = tool is not theirs
        ms, part = median([ns / 1e6 for ns in tool.samples]), ratio(tool.samples, theirs.samples)
        word = verdict(part, LIMIT) if ours else ""
        if ours:
            result.budgets.append([f"one sample of {PROCESSES:,} processes, {name}: {tool.name}",
                                   "≤ 1/15 of psutil's", part_text(part), word])
        result.rows.append([name, tool.name, ms.text(), part_text(part) if ours else "1", word])
        result.keep(**{f"{name}, {tool.name}, ms": ms, f"{name}, {tool.name}, ratio": part})


def run(b):
    result = Result(["the processes", "", "CPU of one sample, ms", "part of psutil's",
                     "budget: 1/15"])
    for name, wakes in CASES:
        case(b, result, name, wakes)
    result.notes.append(
        "A sample of assay is all that it does by default: every metric of the job, of each of its "
        "processes, threads, the machine and the cores, kept in the live file. psutil reads who is "
        "there, CPU time, memory, I/O, threads and context switches, and keeps nothing. The CPU "
        f"time of a run with a sample every {OFTEN} s, less that of one with hardly any, is "
        "divided by the samples more.")
    return result
