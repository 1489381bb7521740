#!/usr/bin/env python3
"""Thousands of children: none is missed, none is counted twice, and they cost little to follow."""
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from rungs import allowed, expect_by, on

CHILDREN, FEW = 5000, 200     # few: long enough that whoever tells of them has joined


def seen(rung, children):
    p = profile("forker", children, 1, env=on(rung), timeout=110)
    expect_by(p, rung)
    return p


def bytes_a_child(many, few):
    return (many.total("self_memory_peak") - few.total("self_memory_peak")) / (CHILDREN - FEW)


@job_test("5,000 children of a millisecond are all seen, with end, command line and CPU", 400)
def _():
    for rung in allowed():
        p = seen(rung, CHILDREN)
        expect_eq(p.total("processes"), CHILDREN + 1, "processes")
        expect_eq(p.total("lost_events"), 0, "lost events")
        found = p.processes("forker")
        expect_eq(len(found), CHILDREN + 1, "processes listed")
        expect_eq({c["wait_status"] for c in found}, {0}, "wait statuses")
        expect(all(c["command"].endswith(f"forker {CHILDREN} 1") for c in found), "command lines")
        cpu = sum(c["metrics"][f"process.cpu.{k}"]["total"] / 1e9
                  for c in found for k in ("user", "system"))
        expect_near(cpu, p.truth["cpu_seconds"], 0.12, "CPU of all processes by themselves")
        expect_between(bytes_a_child(p, seen(rung, FEW)), 0, 1000, f"bytes a child, by {rung}")


@job_test("more children than numbers: one that has a number again is another process", 400)
def _():
    numbers = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
    if numbers > 1 << 16:
        skip(f"{numbers} children would take too long")
    for rung in allowed():
        p = profile("forker", numbers + 500, 0, env=on(rung), timeout=180)
        expect_by(p, rung)
        expect_eq(p.total("lost_events"), 0, f"lost events by {rung}")
        expect_eq(p.total("processes"), numbers + 501, f"processes by {rung}")


main()
