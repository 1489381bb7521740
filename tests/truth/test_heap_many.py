#!/usr/bin/env python3
"""A hundred million allocations: recorded to the byte, and reported within 60 s and 1 GB."""
import os
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *

MILLIONS, SECONDS, BYTES = 100, 60, 1 << 30
MAKERS = ["make_first", "make_second", "make_third"]


def cpu(who=resource.RUSAGE_CHILDREN):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def expect_cheap(name, *command):
    """A report within its budget: of CPU, for the machine may have others to serve."""
    before = cpu()
    r = assay(*command, timeout=1200).ok()
    spent, most = cpu() - before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    print(f"# {name}: {spent:.1f} s of CPU, no child had more than {most >> 20} MiB", flush=True)
    expect(spent < SECONDS, f"{name}: {spent:.1f} s")
    expect(most < BYTES, f"{name}: {most} bytes")
    return r


def expect_true(truth, doc):
    h = Heap(truth, doc)
    made, peak, left = (h.by_function(k) for k in ("top_by_size", "peak_by_line", "leaked_by_line"))
    for name, t in zip(MAKERS, h.truth):
        expect_eq(made[name], (t["bytes"], t["count"]), f"bytes and count of {name}")
        expect_eq(peak[name][0], t["peak"], f"bytes at the peak of {name}")
        expect_eq(left[name][0], t["left"], f"bytes left of {name}")
    h.expect_nothing_lost()


@job_test("a hundred million, half of them for a moment", seconds=1700)
def _():
    before = cpu()
    r = run(ASSAY, "heap", "run", "--quiet", "-o", FILE, "--", work("millions"), MILLIONS,
            timeout=1200).ok()
    size = os.path.getsize(tmp() / FILE)
    print(f"# recorded with {cpu() - before:.1f} s of CPU in all, {size >> 20} MiB", flush=True)
    doc = expect_cheap("stats", "heap", "stats", "--json", "-n", 100, FILE).json()
    expect_true(r, doc)
    expect_cheap("a graph over time", "heap", "flamegraph", "--temporal", "-o", "x.html", FILE)
    within = expect_cheap("stats of a part", "heap", "stats", "--json", "--from", "1s", FILE).json()
    expect(0 < within["total_allocations"] < doc["total_allocations"], within["total_allocations"])


@job_test("ten million that live, sampled: as many as there are, and none is lost", seconds=900)
def _():
    command = [work("millions"), 60, 10_000_000]
    h = heap(*command, options=["--sample", "1KiB", "--no-store"], timeout=800)
    lists = {"top_by_size": "bytes", "peak_by_line": "peak", "leaked_by_line": "left"}
    for key, own in lists.items():
        rows = {row["function"]: row for row in h.doc[key]}
        for name, t in zip(MAKERS, h.truth):
            told, half = rows[name]["bytes"], rows[name]["bytes_95"]
            print(f"# {key} {name}: {told / t[own] - 1:+.3%} of the truth, ± {half / t[own]:.3%}")
            expect(abs(told - t[own]) <= 2 * half, f"{key} {name}: {told}, not {t[own]} ± {half}")
    h.expect_nothing_lost()


main()
