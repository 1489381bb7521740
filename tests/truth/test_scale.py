#!/usr/bin/env python3
"""Many processes, in the job and beside it: nothing is lost, and what it costs is bounded."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *

IN_JOB, BESIDE = 10_000, 100_000
MIB = 1 << 20


def room(wanted):
    """So many processes that this machine has numbers for, with some left for others."""
    most = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text()) * 3 // 4
    if most < wanted:
        print(f"# pid_max allows {most} of {wanted} processes", flush=True)
    return min(wanted, most)


def say(p, n):
    doc = p.doc["assay"]
    print(f"# {n} processes: {doc['self']['samples']} samples, own CPU "
          f"{doc['self']['cpu_seconds']:.2f} s in {p.doc['duration_seconds']:.1f} s, own memory "
          f"{doc['self']['memory_peak_bytes'] / MIB:.1f} MiB", flush=True)


def last_line(text):
    return json.loads(text.strip().splitlines()[-1])


@job_test(f"{IN_JOB} processes in the job are all counted, in bounded memory", seconds=600)
def _():
    n = room(IN_JOB)
    for how in ({}, {"ASSAY_RUNG": "netlink"}, {"ASSAY_RUNG": "proc"}):
        r = assay("run", "--quiet", "-o", "r.json", "--", work("crowd"), n, 5, timeout=300,
                  env=how).ok()
        p = Profile(json.loads((tmp() / "r.json").read_text()), last_line(r.out), r.rc, r.err)
        say(p, n)
        expect_eq(p.total("processes"), p.truth["processes"], f"processes {how}")
        expect_eq(p.metric("job.processes")["max"], p.truth["processes"], f"at once {how}")
        if not how:
            expect_eq(len(p.doc["assay"]["processes"]), p.truth["processes"], "listed")
        expect(p.doc["assay"]["self"]["memory_peak_bytes"] < 64 * MIB, f"own memory {how}")


@job_test(f"{BESIDE} processes beside the job cost little", seconds=900)
def _():
    n = room(BESIDE)
    alone = profile("sleeper", 5)
    crowd = start(work("crowd"), n, 60, stdout=subprocess.PIPE, text=True)
    read_line(crowd, "ready", timeout=120)
    for how in ({}, {"ASSAY_RUNG": "proc"}):
        p = profile("sleeper", 5, env=how)
        say(p, n)
        expect_eq(p.total("processes"), 1, f"processes {how}")
        cost = p.doc["assay"]["self"]["cpu_seconds"] - alone.doc["assay"]["self"]["cpu_seconds"]
        expect(cost / p.doc["duration_seconds"] < 0.05, f"own CPU {how}: {cost:.2f} s more")
    stop(crowd)


main()
