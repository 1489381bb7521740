"""start -- what `assay run true` adds to `true`."""
import pathlib
import shutil
import statistics
import sys

from harness import Result, median

ABOUT = "What a command that does nothing costs more when it is run under a profiler."
LIMIT_MS = 5
FULL_HOUSE = 1000       # runs in the store that counts as used


def variants(b):
    """(what, command); the first is the one that the others are compared with."""
    used = b.folder("used")
    b.meter([[b.assay, "run", "--quiet", "--store", used, "--", "true"]], FULL_HOUSE, warm=0)
    yield "`true`", ["true"]
    if shutil.which("time"):
        yield "`time true` (GNU)", ["/usr/bin/time", "true"]
    yield "`assay run true`", [b.assay, "run", "--store", b.folder("new"), "--", "true"]
    yield (f"`assay run true`, {FULL_HOUSE:,} runs in the store",
           [b.assay, "run", "--store", used, "--", "true"])
    yield ("`assay run --basic true`",
           [b.assay, "run", "--basic", "--store", b.folder("basic"), "--", "true"])
    yield "`assay run --no-store true`", [b.assay, "run", "--no-store", "--", "true"]
    yield ("`assay run --no-store --basic true`",
           [b.assay, "run", "--no-store", "--basic", "--", "true"])


def added(costs, bare, what):
    """The cost more than bare, round by round, in ms."""
    return median([(getattr(k, what) - getattr(o, what)) / 1e6 for k, o in zip(costs, bare)])


def on_average(costs, bare):
    """The same, all runs together: now and then one seals what the others have left."""
    return f"{statistics.fmean((k.wall_ns - o.wall_ns) / 1e6 for k, o in zip(costs, bare)):.3g}"


def psrecord(b, result):
    """It starts the command, then loads its modules, and finds the command gone."""
    log = pathlib.Path(b.folder("psrecord"), "log")
    bare, theirs = b.meter([["true"], [sys.executable, "-m", "psrecord", "true", "--log", log]],
                           5 if b.quick else 20)
    samples = sum(not line.startswith("#") for line in open(log))
    wall, cpu = added(theirs, bare, "wall_ns"), added(theirs, bare, "tree_ns")
    result.rows.append([f"`psrecord true`: {samples} samples", wall.text(),
                        on_average(theirs, bare), cpu.text(), ""])
    result.keep(psrecord_wall_ms=wall, psrecord_cpu_ms=cpu, psrecord_samples=samples)


def run(b):
    names, commands = zip(*variants(b))
    costs = b.meter(commands, 60 if b.quick else 300, warm=3)
    bare = costs[0]
    result = Result(["", "added wall, ms", "on average", "added CPU, ms",
                     f"budget: {LIMIT_MS} ms of wall"])
    result.rows.append([f"{names[0]} by itself",
                        median([k.wall_ns / 1e6 for k in bare]).text() + " in all", "",
                        median([k.tree_ns / 1e6 for k in bare]).text() + " in all", ""])
    for name, of in zip(names[1:], costs[1:]):
        wall, cpu = added(of, bare, "wall_ns"), added(of, bare, "tree_ns")
        ours = "assay" in name
        word = result.budget(f"{name} adds", wall, LIMIT_MS, " ms") if ours else ""
        result.rows.append([name, wall.text(), on_average(of, bare), cpu.text(), word])
        result.keep(**{f"{name}, wall_ms": wall, f"{name}, cpu_ms": cpu})
    psrecord(b, result)
    result.notes.append(f"{len(bare)} rounds, every command once a round, in an order shuffled "
                        "anew; differences are taken round by round. Wall and CPU are medians. One "
                        "run in 17 seals itself and those before it; the average has its part.")
    return result
