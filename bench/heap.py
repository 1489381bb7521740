"""What a profiler of memory costs the program and the machine (bench/heap_work.py)."""
import dataclasses
import pathlib
import re
import statistics
import subprocess

import peers
from harness import ROOT, Figure, Result, exactly, median, number, part_text, verdict

ABOUT = "Slowdown of programs whose every allocation is recorded: CPU time of all processes."
SAMPLE = "512KiB"

# How often each case is repeated: about a quarter of a second of CPU here.
REPEATS = {
    "trees": 220, "nqueens": 1800, "cells": 1300, "tiles": 500, "stones": 2300, "rays": 200,
    "json_dumps": 1300, "json_loads": 2600, "bill": 1000, "regex": 150, "spectral": 1000,
    "unpickle_python": 220, "pickle_dumps": 7000, "sqlite": 500, "fib": 1400, "mallocbytes": 900,
    "objchurn": 1400, "deep50": 2200,
}
BESIDE = {"deep500": 1100, "threads in C": 900_000}     # in no mean


# --- profilers ------------------------------------------------------------------

@dataclasses.dataclass
class Tool:
    name: str
    command: object             # of the work's words and a file
    most: tuple = None          # what assay may cost: (mean, worst)
    native: bool = True         # it can look at a program that is no Python


def assay(b, name, *options, most=None):
    def command(work, path):
        return [b.build / "assay", "heap", "run", "--quiet", *options, "-o", path, "--", *work]
    return Tool(name, command, most)


def memray(name, *options):
    def command(work, path):
        return [work[0], ROOT / "bench/heap_memray.py", path, ",".join(options) or "-", *work[1:]]
    return Tool(name, command, native=False)


def heaptrack(work, path):
    return ["heaptrack", "-o", path, *work]


def heaptrack_version():
    p = subprocess.run(["heaptrack", "--version"], capture_output=True, text=True)
    return p.stdout.split()[-1]


def tools(b):
    m = f"memray {peers.version('memray')}"
    return [
        Tool("alone", lambda work, path: work),
        assay(b, "assay", most=(1.15, 2.0)),
        assay(b, "assay --python-allocators", "--python-allocators", most=(1.6, 3.0)),
        assay(b, "assay --native", "--native", most=(1.35, 3.0)),
        assay(b, "assay --sample", "--sample", SAMPLE, most=(1.02, None)),
        assay(b, "assay --sample --python-allocators", "--sample", SAMPLE, "--python-allocators",
              most=(1.10, None)),
        memray(m),
        memray(f"{m}, objects", "trace_python_allocators"),
        memray(f"{m}, native", "native_traces"),
        Tool(f"heaptrack {heaptrack_version()}", heaptrack),
    ]


# --- measuring ------------------------------------------------------------------

@dataclasses.dataclass
class Seen:
    """One run: CPU time of all processes, of the work in its own process, bytes of the file."""
    tree: int
    work: int
    size: int


def words_of(b, case, repeats, told):
    if case == "threads in C":
        return [b.bin("heap_threads"), repeats, told]
    return [*b.python, ROOT / "bench/heap_work.py", case, repeats, told]


def file_size(folder):
    return sum(f.stat().st_size for f in folder.glob("out*"))


def one_round(b, all_tools, case, repeats, turn):
    """Every tool once, as {tool: Seen}; another one begins each time."""
    order = all_tools[turn % len(all_tools):] + all_tools[:turn % len(all_tools)]
    folders = [pathlib.Path(b.folder("heap")) for _ in order]
    commands = [t.command(words_of(b, case, repeats, f / "told"), f / "out")
                for t, f in zip(order, folders)]
    costs = b.meter(commands, 1, warm=0)
    seen = {}
    for tool, folder, (cost,) in zip(order, folders, costs):
        work = int((folder / "told").read_text())
        seen[tool.name] = Seen(cost.tree_ns, work, file_size(folder))
        for f in folder.iterdir():
            f.unlink()
    return seen


def least(rounds, tool, what):
    return min(getattr(r[tool], what) for r in rounds)


class Case:
    """
    The rounds of a case, with what is done once taken off: `starts` are rounds of a program that
    lives as long and does nothing, as assay loads its programs for the kernel some time later.
    """

    def __init__(self, rounds, starts):
        self.rounds, self.starts = rounds, starts

    def slower(self, tool, what="tree", rounds=None):
        """How many times as much CPU as alone; the least of the rounds of both."""
        rounds = rounds or self.rounds

        def used(name):
            start = least(self.starts, name, what) if what == "tree" else 0
            return max(1, least(rounds, name, what) - start)
        return used(tool) / used("alone")

    def size(self, tool):
        """Bytes of the file that the work itself made."""
        whole, start = (statistics.median(r[tool].size for r in rounds)
                        for rounds in (self.rounds, self.starts))
        return max(0, whole - start)


def measure(b, case, repeats, all_tools, starts):
    if case == "threads in C":
        all_tools = [t for t in all_tools if t.native]
        starts = [one_round(b, all_tools, case, 0, 0)]
    turns = 1 if b.quick else 3
    return Case([one_round(b, all_tools, case, repeats, i) for i in range(turns)], starts)


# --- the table ------------------------------------------------------------------

def mean_of(cases, tool, what, pick=None):
    """The geometric mean over cases; `pick` a round of each, or the least of all."""
    return statistics.geometric_mean(
        c.slower(tool, what, pick if pick is None else [c.rounds[pick]]) for c in cases)


def figure(cases, tool, what):
    """Its interval is from the least to the most of the rounds by themselves."""
    each = [mean_of(cases, tool, what, i) for i in range(len(cases[0].rounds))]
    value = mean_of(cases, tool, what)
    return Figure(value, min(value, *each), max(value, *each), len(each))


def case_row(name, case, all_tools):
    alone = least(case.rounds, "alone", "work") / 1e6
    known = case.rounds[0]
    cells = [f"{case.slower(t.name):.2f}" if t.name in known else "" for t in all_tools[1:]]
    return [name, number(alone), *cells]


def once(case, tool):
    """ms of CPU that whatever it does once adds to a program."""
    return (least(case.starts, tool, "tree") - least(case.starts, "alone", "tree")) / 1e6


def sum_rows(result, cases, all_tools):
    """Mean and worst, of all processes and of the program alone; the files; what is done once."""
    rows = {"**geometric mean**": [], "**worst**": [], "mean, the program's own process": [],
            "files, MB": [], "once, at start and end, ms": []}
    for t in all_tools[1:]:
        mean, worst = figure(cases, t.name, "tree"), max(c.slower(t.name) for c in cases)
        own, size = figure(cases, t.name, "work"), sum(c.size(t.name) for c in cases)
        for cells, text in zip(rows.values(), (f"**{mean.value:.2f}**", f"**{worst:.2f}**",
                                               f"{own.value:.2f}", number(size / 1e6),
                                               number(once(cases[0], t.name)))):
            cells.append(text)
        result.keep(**{f"{t.name}, mean": mean, f"{t.name}, worst": worst,
                       f"{t.name}, mean of its own process": own, f"{t.name}, bytes": size})
        if t.most:
            hold(result, t, mean, worst)
    result.rows += [[name, "", *cells] for name, cells in rows.items()]


def hold(result, tool, mean, worst):
    result.budget(f"`{tool.name}`: slowdown, mean of the cases", mean, tool.most[0], "×")
    if tool.most[1]:
        result.budget(f"`{tool.name}`: slowdown, worst", exactly(worst), tool.most[1], "×")


def hold_files(result, cases, all_tools):
    """A third of memray's, of the same work, with objects and without."""
    names = [t.name for t in all_tools]
    theirs = next(n for n in names if n.startswith("memray"))
    for ours, other in (("assay", theirs), ("assay --python-allocators", f"{theirs}, objects")):
        part = sum(c.size(ours) for c in cases) / sum(c.size(other) for c in cases)
        part = exactly(part)
        result.budgets.append([f"`{ours}`: bytes of its files", f"≤ 1/3 of {other}'s",
                               part_text(part), verdict(part, 1 / 3)])


def hold_deep(result, case, all_tools):
    """500 frames deep: no worse than memray."""
    theirs = next(t.name for t in all_tools if t.name.startswith("memray"))
    ours, most = case.slower("assay"), case.slower(theirs)
    result.budgets.append(["`assay`: slowdown 500 frames deep", f"≤ {theirs}'s, {number(most)}×",
                           f"{number(ours)}×", verdict(exactly(ours), most)])


# --- many -------------------------------------------------------------------------

MILLIONS = 100
VIEWS = ["stats", "stats --from 1ms", "flamegraph --temporal -o /dev/null -f html"]


def hold_many(b, result):
    """A hundred million allocations (tests/workloads/millions.c): what reports of them take."""
    millions, folder = 2 if b.quick else MILLIONS, pathlib.Path(b.folder("many"))
    capture = folder / "out.heap"
    record = [b.build / "assay", "heap", "run", "--quiet", "-o", capture, "--",
              b.build / "tests/workloads/millions", millions]
    subprocess.run(list(map(str, record)), check=True, stdout=subprocess.DEVNULL)
    costs = b.meter([[b.build / "assay", "heap", *view.split(), capture] for view in VIEWS],
                    1 if b.quick else 3, warm=0)
    for view, each in zip(VIEWS, costs):
        what = f"`heap {view.partition(' -o')[0]}` of {millions} million allocations"
        seconds = median([c.wall_ns / 1e9 for c in each])
        most = median([c.peak_kb * 1024 / 1e9 for c in each])
        result.budget(what, seconds, 60, " s")
        result.budget(f"{what}: its peak memory", most, 1, " GB")
        result.keep(**{f"{what}, s": seconds, f"{what}, peak GB": most})
    result.notes.append(
        f"{millions} million allocations by three functions (`tests/workloads/millions.c`), half "
        f"of them held for a while: {number(capture.stat().st_size / 1e6)} MB of capture. `stats` "
        "of all of it needs the sums alone, the other views every event.")


# --- instructions ----------------------------------------------------------------

COUNTED = ["json_dumps", "stones", "bill", "sqlite", "mallocbytes", "objchurn"]


def instructions(b, tool, case, repeats):
    """Of the program with what is in its process, by valgrind; of a fortieth of the work."""
    folder = pathlib.Path(b.folder("count"))
    work = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
            f"--log-file={folder}/log", *words_of(b, case, repeats // 40, folder / "told")]
    subprocess.run(list(map(str, tool.command(work, folder / "out"))), check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return int(re.search(r"I +refs: +([\d,]+)", (folder / "log").read_text())[1].replace(",", ""))


def count_instructions(b, result, all_tools):
    """What sampling adds is too little for a clock."""
    alone, sampled = all_tools[0], [t for t in all_tools if t.most and not t.most[1]]
    chosen = COUNTED[3:4] if b.quick else COUNTED
    told = []
    for t in sampled:
        more = statistics.geometric_mean(
            instructions(b, t, c, REPEATS[c]) / instructions(b, alone, c, REPEATS[c])
            for c in chosen)
        result.budget(f"`{t.name}`: instructions", exactly(more), t.most[0], "×")
        told.append(f"`{t.name}` {more:.3f} times")
    result.notes.append("Instructions of the program's process, start and all, against those of it "
                        f"alone, counted by valgrind over {', '.join(chosen)}: {'; '.join(told)}.")


def run(b):
    all_tools = tools(b)
    result = Result(["the program", "alone, ms", *(t.name for t in all_tools[1:])])
    starts = [one_round(b, all_tools, "fib", 0, i) for i in range(2 if b.quick else 5)]
    chosen = dict(list(REPEATS.items())[::4]) if b.quick else REPEATS
    cases = {n: measure(b, n, r, all_tools, starts) for n, r in chosen.items()}
    beside = {n: measure(b, n, r, all_tools, starts) for n, r in BESIDE.items()}
    result.rows += [case_row(n, c, all_tools) for n, c in cases.items()]
    sum_rows(result, list(cases.values()), all_tools)
    result.rows += [case_row(n, c, all_tools) for n, c in beside.items()]
    hold_files(result, list(cases.values()), all_tools)
    hold_deep(result, beside["deep500"], all_tools)
    hold_many(b, result)
    result.notes.append(
        "Times as much CPU as the program alone, of all processes that the profiler has (its "
        "collector, its compressor), less what is done once, in bytes too: that of a program that "
        "lives as long and does nothing, which has a row of its own. The least of the rounds, "
        "which were run in turns. memray by its Tracker; heaptrack knows no Python. The cases are "
        "programs of our own with the character of those that memray is measured with "
        "(`bench/heap_work.py`); the last two are in no mean.")
    count_instructions(b, result, all_tools)
    return result
