#!/usr/bin/env python3
"""When it was used: every interval against a program that kept a diary."""
import bisect
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from harness import Failed
from jobs import *
from rungs import allowed, on

CORES = len(os.sched_getaffinity(0))
LOADED = 0.3                # seconds: by then BPF is, which takes a moment of one look
TICK = 0.01                 # seconds: /proc counts in these


def ticks(p):
    """How coarse the counters are: /proc cuts user and system time to whole ticks."""
    return 0 if own_cgroup(p) else 2 * TICK


def used_by(p):
    """The CPU seconds that the diary knows of at a moment of the run."""
    start = p.doc["assay"]["identity"]["boottime_ns"] / 1e9
    pages = [(0, 0)] + [(clock - start, cpu) for clock, cpu in p.truth["diary"]]
    clocks = [clock for clock, _ in pages]

    def used(t):
        i = bisect.bisect(clocks, t)
        if i == len(pages):
            return pages[-1][1]
        (t0, c0), (t1, c1) = pages[i - 1], pages[i]
        return c0 + (c1 - c0) * (t - t0) / (t1 - t0)
    return used


def on_a_free_machine(check, tries=4):
    """
    A sample is of a moment, and one who is kept from the CPU between looking at the clock and
    looking at the counters is late for it: that happens, but not in every try.
    """
    for left in range(tries - 1, -1, -1):
        try:
            return check()
        except Failed:
            if not left:
                raise


def follows_the_diary(p, what):
    """Every interval is within 2 % of what was used in it, the first and the last too."""
    used = used_by(p)
    for window, reading in ((0.45, 0.002), (0.045, 0.006)):     # a look takes a moment itself
        for a, b, rate in p.rates("job.cpu.total", window=window):
            loads = 0.02 if a < LOADED else 0
            expect_near(rate / 1e9 * (b - a), used(b) - used(a), 0,
                        f"CPU from {a:.2f} to {b:.2f} s {what}",
                        slack=0.02 * (b - a) + reading + loads + ticks(p))


@job_test("every interval is within 2 % of the CPU used in it, the first and the last too")
def _():
    def check(nobody):
        p = profile("diary", 3, nobody=nobody)
        follows_the_diary(p, f"by {p.source('cpu')}")
        expect(p.metric("job.cpu.total")["min"] > 0.05, "the smallest rate is 0")
    for nobody in (False, True):
        on_a_free_machine(lambda nobody=nobody: check(nobody))


@job_test("children that are reaped long after their end are in no interval twice")
def _():
    for nobody in (False, True):
        on_a_free_machine(lambda nobody=nobody: reaped_late(nobody))


def reaped_late(nobody):
    p = profile("late", 2, 1.5, 1.2, nobody=nobody)
    expect_near(p.seconds(), p.truth["cpu_seconds"], 0.005, "CPU seconds")
    start = p.doc["assay"]["identity"]["boottime_ns"] / 1e9
    idle = p.truth["idle"] - start
    for a, b, rate in p.rates("job.cpu.total", window=0.2):
        margin = 3 * ticks(p) + 0.02 * (b - a)
        expect(rate / 1e9 * (b - a) <= CORES * (b - a) + margin,
               f"{rate / 1e9:.2f} cores from {a:.2f} to {b:.2f} s, of {CORES}")
        if a > idle + 0.1:
            expect(rate / 1e9 * (b - a) <= margin,
                   f"{rate / 1e9:.2f} cores from {a:.2f} to {b:.2f} s, all ended at {idle:.2f}")
    after = [r for r in p.rates("job.cpu.total", window=0.2) if r[0] > idle + 0.1]
    expect(after, "no interval after the end of the children")


@job_test("an assay that is held up says so, and its next intervals are true again")
def _():
    on_a_free_machine(hold_up)


def hold_up():
    p = start(ASSAY, "run", "--quiet", "-o", "r.json", "--interval", "0.1", "--", work("diary"), 4,
              stdout=subprocess.PIPE)
    time.sleep(1.3)
    os.kill(p.pid, signal.SIGSTOP)
    time.sleep(0.73)
    os.kill(p.pid, signal.SIGCONT)
    out = p.communicate(timeout=60)[0]
    r = Profile(json.loads((tmp() / "r.json").read_text()), json.loads(out), p.returncode, "")
    expect(r.total("self_ticks_late") >= 1, "no sample is called late")
    gap = max(b - a for a, b in zip(r.times(), r.times()[1:]))
    expect(gap >= 0.6, f"the longest interval is {gap:.2f} s: samples were invented")
    grid = sorted(abs(t / 0.1 - round(t / 0.1)) * 0.1 for t in r.times() if t > 1)
    expect(grid[len(grid) // 2] < 0.01, f"not on the grid of 0.1 s any more: {r.times()}")
    follows_the_diary(r, "around a hold-up")


@job_test("a run ends when its command does, however late assay hears of it")
def _():
    for rung in allowed():
        p = start(ASSAY, "run", "--quiet", "-o", "late.json", "--no-store", "--", "sh", "-c",
                  "sleep 0.4; : >go; sleep 0.4; cat /proc/uptime >ended", env=on(rung))
        wait_for((tmp() / "go").exists)
        os.kill(p.pid, signal.SIGSTOP)
        wait_for(lambda: (tmp() / "ended").exists() and (tmp() / "ended").read_text())
        time.sleep(0.6)
        os.kill(p.pid, signal.SIGCONT)
        expect_eq(p.wait(60), 0, "exit status")
        told = json.loads((tmp() / "late.json").read_text())
        ended = float((tmp() / "ended").read_text().split()[0])
        boot = told["assay"]["identity"]["boottime_ns"] / 1e9
        expect_between(boot + told["duration_seconds"], ended - 0.3, ended + 0.3, f"{rung}: end")
        for name in ("go", "ended"):
            (tmp() / name).unlink()


@job_test("a clock on the wall that jumps back an hour changes no duration and no rate")
def _():
    on_a_free_machine(jump_back)


def jump_back():
    shim = pathlib.Path(work("libjump.so"))
    expect(shim.exists(), f"no {shim}")
    before = time.time()
    p = profile("diary", 1.5, env={"LD_PRELOAD": str(shim), "JUMP_AFTER": "0.7"})
    expect(p.truth["realtime"] < before - 3000, "the clock did not jump")
    expect_between(p.doc["duration_seconds"], 1.4, 60, "duration")
    expect(all(a < b for a, b in zip(p.times(), p.times()[1:])), "time goes back in the timeline")
    follows_the_diary(p, "around the jump")


@job_test("a suspend is said, is part of no duration, and moves nobody's birth")
def _():
    p = profile("burn", 1.8, env={"LD_PRELOAD": work("libjump.so"), "SLEEP_AFTER": "0.8"})
    expect_near(p.total("slept"), 100e9, 0, "slept", slack=1e6)
    expect_between(p.doc["duration_seconds"], 1.5, 60, "duration")
    expect_between(p.times()[-1], 1.5, 60, "the last sample")
    for process in p.doc["assay"]["processes"]:     # told again when it was a second old
        expect_between(process["born_ns"], -1e8, 1e9, f"birth of {process['name']}")
    expect_eq(profile("burn", 0.2).total("slept"), 0, "slept")


# --- clocks that are set off --------------------------------------------------

OTHER_CLOCKS = ("unshare", "--time", "--fork", "--boottime", "100000", "--monotonic", "100000")


def need_time_namespace():
    if not is_root() or run(*OTHER_CLOCKS, "true").rc != 0:
        skip("needs root and unshare --time")


def in_time(p, n):
    """Durations, CPU and processes are true."""
    expect_eq(p.total("processes"), n, "processes")
    expect_near(p.seconds(), p.truth["cpu_seconds"], 0.02, "CPU seconds")
    expect_between(p.doc["duration_seconds"], 0.3, 60, "duration")
    expect_between(p.times()[-1], 0.3, 60, "the last sample")
    expect_eq(p.total("slept"), 0, "slept")


def lives_in_time(p):
    end = p.doc["duration_seconds"] * 1e9
    for one in p.doc["assay"]["processes"]:
        expect_between(one["born_ns"], -1e8, end, f"birth of {one['name']}")
        expect_between(one["died_ns"], one["born_ns"], end + 1e8, f"end of {one['name']}")


@job_test("an assay whose clocks are set off measures as ever")
def _():
    need_time_namespace()
    for rung in ("bpf", "netlink", "proc"):
        p = profile("forker", 3, 150, env={"ASSAY_RUNG": rung}, prefix=OTHER_CLOCKS,
                    options=("--interval", "0.1"))
        in_time(p, 4)
        lives_in_time(p)


@job_test("a job with clocks of its own has lives on ours")
def _():
    need_time_namespace()
    for rung in ("bpf", "netlink", "proc"):
        assay("run", "--quiet", "-o", "r.json", "--interval", "0.1", "--", *OTHER_CLOCKS,
              work("forker"), 3, 150, env={"ASSAY_RUNG": rung}).ok()
        p = Profile(json.loads((tmp() / "r.json").read_text()), {}, 0, "")
        expect_eq(p.total("processes"), 5, f"processes, {rung}")
        lives_in_time(p)


main()
