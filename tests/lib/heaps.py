"""heaps -- what tests of `assay heap` share, on top of harness and jobs.

    h = heap(work("allocs"), "peak")        recorded; h.doc is what its stats say
    h.truth                                 what its processes said of themselves
    h.expect_totals(h.truth[0])             equal to the byte and to the count
    oracle(*command)                        what a library that only counts saw, one a process
    expect_estimates(*command, ...)         many samples: how often the truth is in the interval
"""
import collections
import json
import pathlib

from harness import ASSAY, assay, expect, expect_eq, run, start, tmp
from jobs import work

__all__ = ["heap", "heap_start", "heap_stats", "Heap", "oracle", "lines_of_json", "amounts", "FILE",
           "expect_estimates"]

FILE = "out.heap"
ALL = 100_000           # rows: every line
AMOUNTS = pathlib.Path(__file__).resolve().parents[1] / "workloads/python/amounts.py"


def lines_of_json(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def amounts(python, *cases):
    """The command of a Python program that knows what its lines allocate."""
    return [python, str(AMOUNTS), *cases]


class Heap:
    """A recording: how the command ended (.r), what it says (.truth), what stats say (.doc)."""

    def __init__(self, r, doc):
        self.r, self.doc = r, doc
        self.truth = lines_of_json(r.out)

    def lines(self, key, names=("function", "line")):
        """{(function, line): (bytes, count)} of one list of lines."""
        found = collections.defaultdict(lambda: (0, 0))
        for row in self.doc[key]:
            name = (row["function"] or "").rpartition(".")[2]       # Holder.method is a method
            at = tuple({**row, "function": name}[n] for n in names)
            found[at] = (found[at][0] + row["bytes"], found[at][1] + row["count"])
        return found

    def by_function(self, key):
        return {at[0]: value for at, value in self.lines(key, ("function",)).items()}

    def process(self, pid):
        found = [p for p in self.doc["processes"] if p["pid"] == pid]
        expect_eq(len(found), 1, f"processes {pid} among {self.doc['processes']}: number")
        return found[0]

    def allocated(self, *names):
        """(allocations, bytes) by the allocators of these names."""
        rows = [a for a in self.doc["allocators"] if not names or a["allocator"] in names]
        return sum(a["allocations"] for a in rows), sum(a["allocated_bytes"] for a in rows)

    # --- what must hold ---

    def expect_totals(self, truth):
        told = {"total_allocations": "allocations", "total_frees": "frees",
                "total_allocated_bytes": "bytes", "peak_bytes": "peak", "leaked_bytes": "left"}
        for key, own in told.items():
            expect_eq(self.doc[key], truth[own], f"{key} ({own})")

    def expect_sites(self, sites):
        """Each site of the program, by function and line."""
        made, peak, left = (self.lines(k) for k in ("top_by_size", "peak_by_line",
                                                    "leaked_by_line"))
        for s in sites:
            at = s["function"], s["line"]
            expect_eq(made[at], (s["bytes"], s["count"]), f"bytes and count of {at}")
            expect_eq(left[at][0], s["left"], f"bytes left of {at}")
            if "peak" in s:
                expect_eq(peak[at][0], s["peak"], f"bytes at the peak of {at}")

    def expect_marks(self, objects=False):
        """Each marked line of amounts.py; with objects, what CPython has of its own too."""
        made, left = (self.lines(k) for k in ("top_by_size", "leaked_by_line"))
        for mark in (m for t in self.truth for m in t["marks"].values()):
            at, want = (mark["function"], mark["line"]), mark["objects"] if objects else mark
            if want:
                expect_eq(made[at], (want["bytes"], want["count"]), f"bytes and count of {at}")
                expect_eq(left[at][0], want["left"], f"bytes left of {at}")

    def expect_nothing_lost(self):
        for p in self.doc["processes"]:
            expect_eq(p["lost_events"], 0, f"events lost by {p['pid']}")


def heap_stats(path=FILE, *options):
    return assay("heap", "stats", "--json", "-n", ALL, *options, path).ok().json()


def heap(*command, options=(), rc=0, **how):
    """Record a command, which must end so, and read what came of it."""
    r = run(ASSAY, "heap", "run", "--quiet", *options, "--force", "-o", FILE, "--", *command, **how)
    expect(r.rc == rc, f"exit status {r.rc}, want {rc}\n{r.out[-500:]}\n{r.err[-1000:]}")
    return Heap(r, heap_stats())


def heap_start(*command, options=(), **popen):
    """Begin to record."""
    return start(ASSAY, "heap", "run", "--quiet", *options, "-o", FILE, "--", *command, **popen)


def oracle(*command, **how):
    """(how the command ended, what count_allocs saw of each process that ended in order)."""
    path = tmp() / "counted.json"
    path.unlink(missing_ok=True)
    env = {"LD_PRELOAD": work("libcount_allocs.so"), "COUNT_ALLOCS": str(path)}
    r = run(*command, env={**env, **how.pop("env", {})}, **how)
    return r, lines_of_json(path.read_text()) if path.exists() else []


FIGURES = {"total_allocated_bytes": "bytes", "leaked_bytes": "left", "peak_bytes": "peak"}
LISTS = {"top_by_size": "bytes", "leaked_by_line": "left"}


def estimates(h, truth):
    """(what it is of, estimate, half of its interval, truth) of each figure and of each site."""
    for key, own in FIGURES.items():
        yield key, h.doc[key], h.doc[f"{key}_95"], truth[own]
    for key, own in LISTS.items():
        rows = {row["function"]: row for row in h.doc[key]}
        for site in truth["sites"]:
            row = rows.get(site["function"], {"bytes": 0, "bytes_95": 0})
            if site[own]:
                yield f"{key} {site['function']}", row["bytes"], row["bytes_95"], site[own]


def expect_estimates(*command, sample, runs, enough, bias, options=(), truth=None, env=()):
    """Of so many samples of a program enough have the truth in their 95 % interval, each figure
    by itself, and on average they have the truth, to a share of it and chance. The truth is what
    the program says of itself, unless it is given. All recordings."""
    inside, ratio, variance, all = *(collections.Counter() for _ in range(3)), []
    for seed in range(1, runs + 1):
        h = heap(*command, options=["--sample", sample, "--no-store", *options],
                 env={"ASSAY_SEED": str(seed), **dict(env)})
        all.append(h)
        for key, told, half, true in estimates(h, truth or h.truth[0]):
            inside[key] += abs(told - true) <= half
            ratio[key] += told / true / runs
            variance[key] += (half / 1.96 / true / runs) ** 2
    print(f"# inside: {dict(inside)}; mean of what is told to what is true: {dict(ratio)}")
    for key, n in inside.items():
        expect(n >= enough, f"{key}: {n} of {runs} ({dict(inside)})")
        expect(abs(ratio[key] - 1) < bias + 4 * variance[key] ** 0.5,
               f"{key}: biased, {ratio[key]:.3f} of the truth")
    return all
