#!/usr/bin/env python3
"""What measuring costs is told, collector by collector, and the count is true."""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *


def traced(seconds):
    """(system calls as strace counts them, as assay does, samples) of a run."""
    counts = tmp() / f"strace-{seconds}"
    out = tmp() / f"run-{seconds}.json"
    run("strace", "-f", "-c", "-o", counts, ASSAY, "run", "--quiet", "--no-store", "-o", out,
        "--interval", "0.05", "--", "sleep", seconds).ok()
    calls = 0
    for line in counts.read_text().splitlines():
        words = line.split()
        if len(words) >= 5 and words[3].isdigit() and words[-1] != "total":
            calls += int(words[3])
    doc = json.loads(out.read_text())["assay"]
    return calls, doc["totals"]["self_calls"]["value"], doc["self"]["samples"]


@job_test("system calls are as many as strace sees")
def _():
    if not shutil.which("strace") or sanitized():
        skip("strace is not installed" if not shutil.which("strace") else "a sanitizer calls too")
    for attempt in range(3):    # starting takes more calls while other tests come and go
        (calls, told, samples), (calls2, told2, samples2) = traced(1.5), traced(4.5)
        if abs((told2 - told) - (calls2 - calls)) < 0.03 * (calls2 - calls):
            break
    expect(samples2 > samples + 30, f"{samples} and {samples2} samples")
    expect_near(told2 - told, calls2 - calls, 0.03, "system calls of three seconds of sampling")


@job_test("each collector tells its CPU time and system calls, and they add up")
def _():
    p = profile("burn", 1.5)
    parts = {c["name"]: c["metrics"] for c in p.doc["assay"]["collectors"]}
    expect({"system", "cores", "tree", "cgroup", "engine"} <= set(parts), str(list(parts)))
    cpu = sum(m["collector.cpu"]["total"] for m in parts.values()) / 1e9
    expect_between(cpu, 0, p.doc["assay"]["self"]["cpu_seconds"], "CPU seconds of all parts")
    calls = sum(m["collector.calls"]["total"] for m in parts.values())
    expect_between(calls, 1, p.doc["assay"]["totals"]["self_calls"]["value"], "system calls")
    expect(parts["tree"]["collector.calls"]["total"] >= p.doc["assay"]["self"]["samples"],
           "the tree is read in each sample")


@job_test("what is not asked for is not paid for")
def _():
    p = profile("burn", 0.3, options=["--metrics", "memory"])
    names = [c["name"] for c in p.doc["assay"]["collectors"]]
    expect("cores" not in names and "psi" not in names and "tree" in names, str(names))
    assay("run", "--quiet", "--metrics", "memory", "--", work("burn"), 0.3).ok()
    text = assay("show", runs()[0]["id"]).ok().out
    expect("\nCost of measuring\n" in text and "paid for: memory\n" in text, text)


@test("`help prices` has a price for each group")
def _():
    text = assay("help", "prices").ok().out
    for group in ("cpu", "memory", "io", "threads", "cgroup", "system", "cores", "psi", "net"):
        expect(any(l.startswith(f"  {group} ") for l in text.splitlines()), f"{group}: {text}")


main()
