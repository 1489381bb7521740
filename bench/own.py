"""own -- what a profiler itself uses beside a job of ten processes."""
import pathlib
import statistics
import sys

import peers
from harness import ROOT, Result, median, ratio, totals

ABOUT = "What the profiler itself uses while it looks at a job of ten processes twice a second."
PROCESSES, WAKES = 10, 20
LIMIT_CPU, LIMIT_MB = 0.2, 8        # % of one core, MB
SHORT = 2                           # seconds of a job that is mostly start and end


def variants(b, seconds, folder):
    """(what, command)."""
    crowd = [str(b.bin("crowd")), str(PROCESSES), str(seconds), str(WAKES)]
    told = pathlib.Path(folder, "told.json")
    yield "assay", [b.assay, "run", "--quiet", "--store", folder, "-o", told, "--", *crowd]
    yield (f"psrecord {peers.version('psrecord')} --include-children",
           [sys.executable, "-m", "psrecord", " ".join(crowd), "--include-children",
            "--interval", "0.5", "--log", pathlib.Path(folder, "log")])
    yield (f"Keystone's work with psutil {peers.version('psutil')}",
           [sys.executable, ROOT / "bench" / "keystone_work.py", *crowd])


def share(costs):
    """CPU time of the profiler as % of one core, run by run."""
    return [100 * k.own_ns / k.wall_ns for k in costs]


def steady(long, short):
    """The same without its start and its end, which a short job pays as well."""
    cpu = statistics.median(k.own_ns for k in long) - statistics.median(k.own_ns for k in short)
    wall = statistics.median(k.wall_ns for k in long) - statistics.median(k.wall_ns for k in short)
    return 100 * cpu / wall


def check_told(result, folder, costs):
    """Does assay tell of itself what was measured from outside?"""
    told = totals(pathlib.Path(folder, "told.json"))
    last = costs[-1]
    result.keep(told_cpu_ms=told["self_cpu"] / 1e6, told_peak_mb=told["self_memory_peak"] / 1e6,
                told_samples=told["self_ticks"])
    result.notes.append(
        f"assay said of itself {told['self_cpu'] / 1e6:.1f} ms of CPU and "
        f"{told['self_memory_peak'] / 1e6:.1f} MB in its last run; from outside they were "
        f"{last.own_ns / 1e6:.1f} ms and {last.peak_kb * 1.024e-3:.1f} MB. (It cannot tell what it "
        "does after it has written that down.)")


def run(b):
    seconds, rounds = (10, 1) if b.quick else (60, 2)
    folder = b.folder("own")
    names, commands = zip(*variants(b, seconds, folder))
    brief = b.meter([c for _, c in variants(b, SHORT, b.folder("brief"))], 1 if b.quick else 3)
    costs = b.meter(commands, rounds, warm=0)
    result = Result(["", "CPU, % of one core", "without start and end", "CPU against assay",
                     "peak memory, MB",
                     f"budget: {LIMIT_CPU} %, {LIMIT_MB} MB"])
    for i, name in enumerate(names):
        cpu, peak = median(share(costs[i])), median([k.peak_kb * 1.024e-3 for k in costs[i]])
        words = ""
        if i == 0 and not b.quick:      # in a short job the start weighs too much
            words = " / ".join([
                result.budget(f"own CPU beside {PROCESSES} processes, {seconds} s", cpu,
                              LIMIT_CPU, " %"),
                result.budget("own peak memory", peak, LIMIT_MB, " MB")])
        times = ratio(share(costs[i]), share(costs[0]))
        result.rows.append([name, cpu.text(), f"{steady(costs[i], brief[i]):.2g}",
                            "1" if i == 0 else times.text("×", 2), peak.text(), words])
        result.keep(**{f"{name}, cpu_percent": cpu, f"{name}, peak_mb": peak,
                       f"{name}, steady_percent": steady(costs[i], brief[i])})
    check_told(result, folder, costs[0])
    result.notes.insert(0, f"{rounds} × {seconds} s each, in turns. The job: {PROCESSES} "
                           f"processes that wake {WAKES} times a second. CPU is that of the "
                           "profiler's own process, read from its clock after it ended.")
    return result
