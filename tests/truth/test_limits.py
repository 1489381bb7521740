#!/usr/bin/env python3
"""Quotas, CPU sets, memory limits: what the job may use, and what they did to it."""
import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
import probe

MIB = 1 << 20
CORES = len(os.sched_getaffinity(0))


def verdict(p):
    return p.doc["assay"]["verdict"]["kind"]


def allowed(p):
    return p.doc["assay"]["identity"]["cpus"]


@job_test("100 % is one core, whatever the job may use, and the share of that is told too")
def _():
    p = profile("burn", 1.0, 2)
    cores = p.seconds() / p.doc["duration_seconds"]
    expect_near(p.metric("job.cpu.total")["mean"], cores, 0.03, "mean of job.cpu.total")
    expect_eq(allowed(p), CORES, "CPUs allowed")
    one = min(os.sched_getaffinity(0))
    p = profile("burn", 0.5, 2, prefix=("taskset", "-c", one))
    expect_eq(allowed(p), 1, "CPUs allowed by taskset")
    expect(p.metric("job.cpu.total")["max"] <= 1.03, "more than the one CPU it had")


@job_test("what an attached process may use is told of it, not of assay")
def _():
    p = start("taskset", "-c", min(os.sched_getaffinity(0)), work("sleeper"), 20)
    a = run(ASSAY, "attach", p.pid, "--quiet", "--duration", "0.3", "-o", "a.json").ok()
    doc = json.loads((tmp() / "a.json").read_text())
    expect_eq(doc["assay"]["identity"]["cpus"], 1, f"CPUs allowed by taskset {a.err}")
    stop(p)


@job_test("a quota is what the job may use: the smallest on the way up")
def _():
    cases = ((dict(cpu_cfs_quota_us=30000), {}, 0.3),
             (dict(cpu_cfs_quota_us=150000), {}, min(1.5, CORES)),
             (dict(cpu_cfs_quota_us=80000), dict(cpu_cfs_quota_us=-1), 0.8))
    for outer, inner, want in cases:
        prefix = group("cpu", **outer)
        if inner:
            prefix = group("cpu", inside=True, **inner)
        p = profile("burn", 0.1, prefix=prefix)
        expect_near(allowed(p), want, 1e-6, f"CPUs allowed by {outer}, {inner}")
        r = run(*prefix, ASSAY, "show", "last").ok()
        expect_in(f"{want:g}" if want < 2 else str(int(want)), r.out.split("memory\n")[0],
                  "what show says of it")


@job_test("a job that its quota stops is throttled, not idle")
def _():
    prefix = group("cpu", cpu_cfs_quota_us=30000)
    for nobody in (False, True):
        p = profile("burn", 0.5, 2, prefix=prefix, nobody=nobody)
        expect_near(p.seconds(), p.truth["cpu_seconds"], 0.005, "CPU seconds", slack=0.01)
        expect_eq(verdict(p), "throttled", "verdict")
        expect_between(p.seconds("throttled"), 0.1, p.doc["duration_seconds"] * CORES,
                       "time stopped")
        expect_near(p.metric("job.cpu.total")["mean"], 0.3, 0.25, "cores used of 0.3")


@job_test("a child that is killed for want of memory is one, and the job may still succeed")
def _():
    # The group remembers one from before: that one is not the job's.
    prefix = group("memory", memory_limit_in_bytes=80 * MIB)
    hungry = f"{work('hold')} 300 0 2>/dev/null"
    run(*prefix, "sh", "-c", f"{hungry}; true")
    for script, rc, status in ((f"{hungry}; exit 0", 0, "success"), (f"{hungry}", 137, "failed")):
        r = run(*prefix, ASSAY, "run", "--quiet", "-o", "r.json", "--", "sh", "-c", script)
        p = Profile(json.loads((tmp() / "r.json").read_text()), {}, r.rc, r.err)
        expect_eq(r.rc, rc, f"exit status ({r.err})")
        expect_eq(p.doc["status"], status, "status")
        expect_eq(p.total("oom_kills"), 1, "processes killed for want of memory")
        expect_eq(verdict(p), "oom-killed", "verdict")
        expect(p.total("memory_peak") <= 81 * MIB, f"peak {p.total('memory_peak')} of 80 MiB")
        expect(p.total("memory_peak") >= 60 * MIB, f"peak {p.total('memory_peak')} of 80 MiB")


@job_test("the accounts of a group are read before it is gone: daemons and all")
def _():
    script = f"{work('burn')} 0.4 >a; (setsid {work('burn')} 0.3 >b &) ; sleep 0.05"
    r = run(ASSAY, "run", "--quiet", "--wait-all", "-o", "r.json", "--", "sh", "-c", script).ok()
    p = Profile(json.loads((tmp() / "r.json").read_text()), {}, r.rc, r.err)
    probe.needs(probe.groups("cpuacct") or probe.groups("cpu"), own_cgroup(p),
                "a control group of its own")
    true = sum(json.loads((tmp() / name).read_text())["cpu_seconds"] for name in "ab")
    expect_near(p.seconds(), true, 0.002, "CPU seconds", slack=0.012)    # sh and sleep as well
    expect(not list(pathlib.Path("/sys/fs/cgroup").glob(f"**/assay-{p.doc['task_id']}")),
           "the job's group is still there")


main()
