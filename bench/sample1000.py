"""sample1000 -- one look at a job of a thousand processes."""
import pathlib
import statistics
import subprocess
import sys

import peers
from harness import ROOT, Result, median, part_text, ratio, totals, verdict

ABOUT = "CPU time of one sample of a job of 1,000 processes, by BPF's task iterator and by /proc."
PROCESSES = 1000
BY_BPF, BY_PROC = 200, 15       # budgets: a sample costs no more than this part of psutil's
CASES = [("all asleep", 0), ("each wakes 20 times a second", 20)]     # (name, wakes)
CANNOT = 77                     # what task_sample says where BPF is refused
OFTEN, SELDOM = 0.1, 1          # seconds between samples; what each process costs once is in both
AS_PSUTIL = "cpu,memory,io,sched,threads"
TOO_LITTLE = "too little to tell"   # the difference of two runs is within their noise
# What a sample reads, and what becomes of it: no two lines are compared without these words.
ALL_KEPT, SOME_KEPT = "all metrics, kept", "as psutil, kept"
ALL_READ, SOME_READ = "all of processes, only read", "as psutil, only read"


class Tool:
    """A profiler that is run with many samples and with few; the difference is what they cost."""

    def __init__(self, name, reads, command, told, limit=None, seconds=5):
        self.name, self.reads = name, reads
        self.seconds = seconds      # of the job: the cheaper a sample, the more are needed
        self.limit = limit          # the budget, 1/limit of psutil's; None: it is psutil
        self.command = command      # of a pause and a job
        self.told = told            # of the last run: how many samples, how many processes
        self.samples = []           # nanoseconds of CPU of one sample, a round each


def assay_tool(b, name, limit, wrap=list, rung=None, metrics=None, seconds=5):
    folder = b.folder("assay")
    told = pathlib.Path(folder, "told.json")

    def command(pause, job):
        held = ["env", f"ASSAY_RUNG={rung}"] if rung else []
        only = ["--metrics", metrics] if metrics else []
        return wrap([*held, b.assay, "run", "--quiet", "--store", folder, *only,
                     "--interval", str(pause), "-o", told, "--", *job])

    def ticks():
        t = totals(told)
        told.unlink()
        return t["self_ticks"], t["processes"]
    return Tool(name, SOME_KEPT if metrics else ALL_KEPT, command, ticks, limit, seconds)


def psutil_tool(b):
    told = pathlib.Path(b.folder("psutil"), "told")

    def command(pause, job):
        return [sys.executable, ROOT / "bench" / "psutil_sample.py", str(pause), told, *job]

    def ticks():
        return map(int, told.read_text().split())
    return Tool(f"psutil {peers.version('psutil')}", SOME_READ, command, ticks)


def tools(b):
    if b.root:
        yield assay_tool(b, "assay, BPF task iterator", BY_BPF, rung="bpf", seconds=20)
        yield assay_tool(b, "the same, what psutil reads only", BY_BPF, rung="bpf",
                         metrics=AS_PSUTIL, seconds=20)
        yield assay_tool(b, "assay, /proc (root)", BY_PROC, rung="proc")
        yield assay_tool(b, "assay, /proc (as nobody)", BY_PROC, b.as_nobody)
    else:
        yield assay_tool(b, "assay, as this user", BY_PROC)
    yield psutil_tool(b)


PASSES = [Tool("the iterator's pass alone, all told of all", ALL_READ, None, None, BY_BPF),
          Tool("the same, one pass right after another", ALL_READ, None, None, BY_BPF),
          Tool("the iterator's pass alone, only who ran", "of who ran, only read", None, None,
               BY_BPF)]


def measure_passes(b, wakes):
    """One round of what the iterator itself takes; passes are as far apart as the samples."""
    p = subprocess.run([b.bin("task_sample"), str(PROCESSES), str(wakes), "10"], text=True,
                       capture_output=True)
    if p.returncode not in (0, CANNOT):
        sys.exit(p.stderr)
    rows = [[int(ns) for ns in line.split()] for line in p.stdout.splitlines()]
    for tool, costs in zip(PASSES, zip(*rows)):
        tool.samples.append(statistics.median(costs))


def once(b, tool, pause, job):
    """(CPU ns of the profiler, samples, processes seen)."""
    (costs,) = b.meter([tool.command(pause, job)], 1, warm=0)
    looks, seen = tool.told()
    return costs[0].own_ns, looks, seen


def measure(b, tool, job):
    """One round: many samples against few, so that start, end and births cancel out."""
    few_cpu, few, _ = once(b, tool, SELDOM, job)
    cpu, many, seen = once(b, tool, OFTEN, job)
    if many <= few or seen < PROCESSES:
        sys.exit(f"bench: {tool.name}: {many} samples of {seen} processes")
    tool.samples.append((cpu - few_cpu) / (many - few))


def hold(result, what, tool, part):
    """The part as words, and how it stands to the budget: nothing stands below its own noise."""
    if not tool.limit:
        return "1", ""
    told = part_text(part) if part.low > 0 else TOO_LITTLE
    word = verdict(part, 1 / tool.limit) if part.low > 0 else "not measured"
    result.budgets.append([what, f"≤ 1/{tool.limit} of psutil's", told, word])
    return told, f"1/{tool.limit}: {word}"


def case(b, result, name, wakes):
    crowd = b.public(b.bin("crowd"))
    def job(tool):
        return [crowd, str(PROCESSES), "3" if b.quick else str(tool.seconds), str(wakes)]

    all_tools = list(tools(b))
    for tool in PASSES:
        tool.samples = []
    for _ in range(1 if b.quick else 4):
        measure_passes(b, wakes)
        for tool in all_tools:
            measure(b, tool, job(tool))
    theirs = all_tools[-1]
    for tool in [t for t in PASSES if t.samples] + all_tools:
        ms, part = median([ns / 1e6 for ns in tool.samples]), ratio(tool.samples, theirs.samples)
        told, word = hold(result, f"one sample of {PROCESSES:,} processes, {name}: {tool.name}",
                          tool, part)
        result.rows.append([name, tool.name, tool.reads,
                            ms.text() if ms.low > 0 else TOO_LITTLE, told, word])
        result.keep(**{f"{name}, {tool.name}, ms": ms, f"{name}, {tool.name}, ratio": part})


def run(b):
    result = Result(["the processes", "", "what a sample is", "CPU of one sample, ms",
                     "part of psutil's", "budget"])
    for name, wakes in CASES:
        case(b, result, name, wakes)
    result.notes.append(
        "A sample of assay is all that it does by default: every metric of the job, of each of its "
        "processes, threads, the machine and the cores, kept in the live file. psutil reads who is "
        "there, CPU time, memory, I/O, threads and context switches, and keeps nothing. The CPU "
        f"time of a run with a sample every {OFTEN} s, less that of one every {SELDOM} s, is "
        "divided by the samples more; where that is not above 0 in every round it is told so, and "
        "holds no budget. A pass alone is what psutil does: everything is read and nothing kept.")
    return result
