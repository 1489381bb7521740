#!/usr/bin/env python3
"""CPU time: what assay says against what the programs know by their own clocks."""
import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
import probe

CORES = len(os.sched_getaffinity(0))
TICK = 0.01                 # seconds: /proc counts in these

# How far off the CPU of a whole tree may be: by a control group, as its subreaper, by perf's clock.
GROUP, REAPER, PERF = 0.001, 0.005, 0.05


def with_group(p):
    probe.needs(probe.groups("cpuacct") or probe.groups("cpu"), own_cgroup(p),
                "a control group of its own")
    return p


# --- totals -------------------------------------------------------------------

for threads in (1, 2):
    @job_test(f"CPU of {threads} busy thread(s) is within 0.1 % of their own clock")
    def _(threads=threads):
        p = with_group(profile("burn", 2.3, threads))
        expect_near(p.seconds(), p.truth["cpu_seconds"], GROUP, f"CPU of {threads} threads, cgroup")

    @job_test(f"the same of {threads} thread(s) without a control group, by wait4")
    def _(threads=threads):
        p = profile("burn", 2.3, threads, nobody=True)
        expect_in("wait4", p.source("cpu"), "source")
        expect_near(p.seconds(), p.truth["cpu_seconds"], GROUP, f"CPU of {threads} threads, wait4")


@job_test("time in user code and time in the kernel are told apart")
def _():
    for nobody in (False, True):
        p = profile("burn", 1.5, nobody=nobody)
        expect_between(p.seconds("cpu_user") / p.seconds(), 0.92, 1, "user share of computing")
        p = profile("sysburn", 1.5, nobody=nobody)
        expect_between(p.seconds("cpu_system") / p.seconds(), 0.92, 1, "system share of sysburn")
        expect_near(p.seconds(), p.truth["cpu_seconds"], 0.015, "CPU seconds of sysburn")
        expect_near(p.total("cpu_user") + p.total("cpu_system"), p.total("cpu"), 1e-9, "the sum")


@job_test("processes too short for ticks: how their time is split is not told as measured")
def _():
    p = profile("forker", 600, 1, "fork", nobody=True)      # a tick is 4 ms, or 10, or 1
    for key in "cpu_user", "cpu_system":
        told = p.doc["assay"]["totals"][key]
        expect_eq(told["provenance"], "attributed", f"{key}, {told['source']}")
    expect_eq(p.doc["assay"]["totals"]["cpu"]["provenance"], "measured", "their sum")
    p = profile("forker", 8, 100, "fork", nobody=True)
    expect_eq(p.doc["assay"]["totals"]["cpu_user"]["provenance"], "measured", "of longer ones")


@job_test("the CPU of every thread is within 2 % of its own clock, under its own name")
def _():
    p = profile("burn", 1.5, 2, options=("--interval", "0.05"))
    by_name = {t["name"]: t["metrics"]["thread.cpu"]["total"] / 1e9 for t in p.threads()}
    for i, name in enumerate(("burn", "burn-1")):
        # what it used after the last look at it is not seen
        expect_near(by_name.get(name), p.truth["threads"][i], 0.02, f"CPU of {name}", slack=0.08)


@job_test("the processes of the list add up to the whole, each within 0.2 % of its own clock")
def _():
    p = profile("diary", 1.5, options=("--interval", "0.1"))      # half of it in the kernel
    probe.needs(probe.events(), p.doc["assay"]["totals"]["processes"]["provenance"] == "measured",
                "somebody who tells of the ends of processes")
    [one] = p.processes("diary")
    cpu = sum(one["metrics"][f"process.cpu.{k}"]["total"] for k in ("user", "system")) / 1e9
    expect_near(cpu, p.truth["cpu_seconds"], 0.002, "CPU of a process, told at its end")
    p = profile("forker", 8, 150, options=("--interval", "0.05"))
    cpu = sum(one["metrics"][f"process.cpu.{k}"]["total"] for k in ("user", "system")
              for one in p.doc["assay"]["processes"]) / 1e9
    expect_near(cpu, p.seconds(), 0.002, "CPU of all processes of the list")


# --- children of every kind ---------------------------------------------------

KINDS = ("fork", "double", "setsid", "ignore", "vfork", "thread", "leader", "sibling")


def near_clocks(p, ratio, what):
    """Never less than their clocks say; starting and ending a process is on no clock of its own."""
    told, true = p.seconds(), p.truth["cpu_seconds"]
    starts = 0.0005 * p.total("processes")      # on a machine that is busy with others
    expect_near(told, true, ratio, what, slack=ratio * true + (starts if told > true else 0))


for kind in KINDS:
    @job_test(f"CPU of children, kind '{kind}', is within 0.1 % of the sum of their own clocks")
    def _(kind=kind):
        p = with_group(profile("forker", 5, 400, kind))
        near_clocks(p, GROUP, f"CPU of children, {kind}, cgroup")

    if kind != "ignore":    # nobody is told of the end of those
        @job_test(f"the same without a control group, kind '{kind}', within 0.5 %")
        def _(kind=kind):
            p = profile("forker", 5, 400, kind, nobody=True)
            near_clocks(p, REAPER, f"CPU of children, {kind}, subreaper")


for children, ms in ((5, 400), (100, 5)):
    @job_test(f"without any right, {children} children that nobody waits for: within 5 %, by perf")
    def _(children=children, ms=ms):
        p = profile("forker", children, ms, "ignore", nobody=True)
        probe.needs(probe.perf(), "perf task clock" in p.source("cpu"), "a clock of perf's")
        expect_eq(p.doc["assay"]["totals"]["cpu"]["provenance"], "measured", "provenance")
        near_clocks(p, PERF, f"CPU of children, ignore, {children} of {ms} ms, perf")
        expect_near(p.total("cpu_user") + p.total("cpu_system"), p.total("cpu"), 1e-9, "the sum")


@job_test("without perf, children that nobody waits for are not lost if a sample sees them")
def _():
    p = profile("forker", 2, 1300, "ignore", nobody=True, options=("--interval", "0.1"),
                env={"ASSAY_RUNG": "proc"})
    expect_between(p.seconds() / p.truth["cpu_seconds"], 0.75, 1.01, "share of the CPU seen")
    expect_eq(p.doc["assay"]["totals"]["cpu"]["provenance"], "attributed", "provenance")


@job_test("thousands of children of a millisecond are all in the total")
def _():
    p = with_group(profile("forker", 1500, 1, "fork"))
    own = p.truth["cpu_seconds"]        # by their clocks; starting and ending them comes on top
    expect_between(p.seconds(), own * 0.995, own * 1.6, "CPU seconds")
    # The parent knows better than each child: it was told by wait.
    expect_eq(p.truth["children"], 1500)


# --- over time ----------------------------------------------------------------

def busy_intervals(p, threads):
    """A thread that never sleeps is always on a CPU or waiting for one."""
    steps = p.rates("job.cpu.user", "job.cpu.system", "job.cpu.wait", window=0.45)
    expect(len(steps) >= 4, f"only {len(steps)} intervals")
    for a, b, rate in steps:
        if b - a < 0.2:
            continue            # too short for counters in steps of 10 ms
        margin = 0.06 + 4 * TICK / (b - a)
        expect_between(rate / 1e9, threads * (1 - margin), threads * (1 + margin),
                       f"cores used or waited for from {a:.2f} to {b:.2f} s")


@job_test("a busy thread is busy in every interval, the first and the last too")
def _():
    for nobody in (False, True):
        p = profile("burn", 3, nobody=nobody)
        busy_intervals(p, 1)
        first, last = p.cpu_rates(window=0.15)[0], p.cpu_rates(window=0.15)[-1]
        for a, b, cores in (first, last):
            expect(cores > 0.05, f"{cores:.3f} cores from {a:.2f} to {b:.2f} s")
        expect(p.metric("job.cpu.user")["min"] > 0.05, "the smallest rate is 0")


@job_test("no interval shows more CPU than one process can use, whenever its children are reaped")
def _():
    for nobody in (False, True):
        for args in ((2, 1400, "fork"), (200, 12, "fork"), (2, 1400, "ignore"), (60, 30, "double")):
            p = profile("forker", *args, nobody=nobody)
            for a, b, cores in p.cpu_rates(window=0.25):
                if b - a >= 0.1:
                    expect_between(cores, 0, 1.05 + 3 * TICK / (b - a),
                                   f"cores from {a:.2f} to {b:.2f} s of {args}")
            top = p.metric("job.cpu.user")["max"]
            expect(top <= CORES + 0.25, f"largest rate {top} of {args} on {CORES} cores")


@job_test("the timeline ends at the total")
def _():
    for nobody in (False, True):
        for name, args in (("burn", (1.2,)), ("forker", (60, 20)), ("forker", (40, 20, "double"))):
            p = profile(name, *args, nobody=nobody)
            end = (p.column("job.cpu.user")[-1] + p.column("job.cpu.system")[-1]) / 1e9
            expect_near(end, p.truth["cpu_seconds"], 0.03, f"end of the timeline of {name} {args}",
                        slack=3 * TICK)


@job_test("means are weighted by time, though the first second is sampled more often")
def _():
    for args in ((1, 1), (0, 0.5, 2.5), (2, 0.4)):
        p = profile("phases", *args)
        true = p.truth["cpu_seconds"] / p.doc["duration_seconds"]
        mean = p.metric("job.cpu.user")["mean"] + p.metric("job.cpu.system")["mean"]
        expect_near(mean, true, 0, f"mean of {args}", slack=0.03)
        percent = p.doc["detailed_profile"]["process_cpu"]["mean_percent"]
        expect_near(percent, 100 * true, 0, f"Keystone's mean of {args}", slack=3)


@job_test("user and system time are at no sample more than all of it, and neither shrinks")
def _():
    command = "for i in {1..60}; do (setsid awk 'BEGIN{for(;i<100000;i++)x+=i}' &); done; sleep 0.8"
    folder = public()
    out = folder / "parts.json"
    for _ in range(3):
        run(*as_nobody(), folder / "assay", "run", "--quiet", "--no-store", "-o", out, "--",
            "bash", "-c", command, env={"ASSAY_RUNG": "proc"}, cwd=folder).ok()
        p = Profile(json.loads(out.read_text()), {}, 0, "")
        user, system, both = (p.column(f"job.cpu.{k}") for k in ("user", "system", "total"))
        for u, s, all_ in zip(user, system, both):
            expect_eq(u + s, all_, "user and system time")
        for part in (user, system):
            expect_eq(sorted(part), part, "a part of the CPU time, over time")


@job_test("two processes that had the same number one after the other are two")
def _():
    last = pathlib.Path("/proc/sys/kernel/ns_last_pid")
    if not is_root() or not last.exists() or \
            run("unshare", "-p", "-f", "--mount-proc", "true").rc != 0:
        skip("needs root, unshare -p and ns_last_pid to choose the number of a process")
    script = (f"{work('burn')} 0.8 >a & first=$!; wait; "
              f"echo $((first - 1)) >{last}; {work('burn')} 0.9 >b & test $! = $first; same=$?; "
              "wait; exit $same")
    r = run("unshare", "-p", "-f", "--mount-proc", ASSAY, "run", "--quiet", "-o", "r.json",
            "--interval", "0.1", "--", "sh", "-c", script)
    expect_eq(r.rc, 0, "the number was not given twice")
    p = Profile(json.loads((tmp() / "r.json").read_text()), {}, 0, "")
    found = p.processes("burn")
    expect_eq(len(found), 2, "processes called burn")
    expect_eq(found[0]["pid"], found[1]["pid"], "their number")
    for one, name in zip(found, "ab"):
        cpu = sum(one["metrics"][f"process.cpu.{k}"]["total"] for k in ("user", "system")) / 1e9
        true = json.loads((tmp() / name).read_text())["cpu_seconds"]
        expect_near(cpu, true, 0.02, f"CPU of process {name}", slack=0.15)


@job_test("an idle job uses next to nothing, and that is not nothing")
def _():
    p = with_group(profile("sleeper", 2))
    expect_between(p.seconds(), 0.0001, 0.03, "CPU seconds")


main()
