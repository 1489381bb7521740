#!/usr/bin/env python3
"""Stacks of programs that know their own: every cell of the tables of docs/truth.md."""
import collections
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from pythons import *
from stacks_table import *

PYTHONS = pythons()
TWICE = 2       # times the distance that chance alone makes


def most(part, n):
    """So many of n are still no proof of more than this part: five deviations."""
    return part * n + 5 * (part * n) ** 0.5


for python in PYTHONS:
    @job_test(f"3.{python.minor}: no stack is one that cannot be, of {ENOUGH:,} of each shape",
              seconds=600)
    def _(python=python):
        whole = bad = 0
        for shape in shapes.ALLOWED:
            s = shape_seen(python, shape)
            print(f"# 3.{python.minor} {shape}: {seen_cell(s)} {s.examples}", flush=True)
            expect(s.samples >= ENOUGH, f"{shape}: only {s.samples} stacks")
            expect(s.shape > s.samples * 0.5, f"{shape} is seen in {s.shape} of {s.samples}")
            whole, bad = whole + s.samples, bad + s.impossible
        expect(bad <= most(IMPOSSIBLE, whole), f"{bad} of {whole} cannot be")

    @job_test(f"3.{python.minor}: hardly a stack of an ordinary program is rejected", seconds=300)
    def _(python=python):
        s = ordinary_seen(python)
        print(f"# 3.{python.minor}: {seen_cell(s)}", flush=True)
        expect(s.rejected <= REJECTED, f"{s}")


for title, words in SPLITS.items():
    @job_test(f"time is split as the program splits it: {title}", seconds=600)
    def _(title=title, words=words):
        all_of_them = []
        for python in PYTHONS:
            s = split_seen(python, *words)
            all_of_them.append(s.distance / s.floor)
            print(f"# 3.{python.minor} {title}: {split_cell(s)}, {s.samples} samples", flush=True)
            expect(s.distance < 6 * s.floor, f"3.{python.minor}: {s}")
            expect(abs(s.time_error) < 0.05, f"3.{python.minor}: {s}")
        mean = sum(all_of_them) / len(all_of_them)
        expect(mean < TWICE, f"distance / floor is {all_of_them}")


@job_test("in a crowd before its CPU a thread has its time where it used it, not where it slept")
def _():
    cpu = max(os.sched_getaffinity(0))
    if os.sched_getaffinity(0) == {cpu}:
        skip("one CPU: whoever looks would stand in the crowd")
    crowd = [start("taskset", "-c", cpu, work("burn"), 12) for _ in range(4)]
    p = start("taskset", "-c", cpu, PYTHONS[-1].path, program("shares"), 9,
              stdout=subprocess.PIPE)
    r = assay("record", "-q", "-F", "-p", p.pid, "-d", 8, "-r", 200, "-f", "folded", "--weight",
              "time", "-o", "-", "--no-store", timeout=60).ok()
    truth = json.loads(p.communicate(timeout=60)[0])
    for other in crowd:
        stop(other)
    told = collections.Counter()
    for line in r.out.splitlines():
        stack, us = line.rsplit(" ", 1)
        told[next((f for f in truth if f in stack.split(";")), "elsewhere")] += int(us)
    shares = {f: us / sum(told.values()) for f, us in told.items()}
    print(f"# told {shares}, by its own clock {truth}", flush=True)
    for f, share in truth.items():
        expect_between(shares.get(f, 0), share - 0.15, share + 0.15, f"{f}, told {shares}")


main()
