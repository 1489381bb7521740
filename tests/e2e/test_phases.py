#!/usr/bin/env python3
"""Phases: a program that does one thing after the other is cut there, and each part named."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *

KIND = {"cpu": "cpu-bound", "sleep": "waiting", "write": "writing", "grow": "growing",
        "drop": "waiting"}
STAGES = ["cpu", 1, "sleep", 1.5, "write", 1.5, "grow", 1.5, "cpu", 1, "drop", 1.5]
STEP = 0.1


@job_test("the phases of a job are what it did, from when it did it")
def _():
    p = profile("stages", *STAGES, options=["--interval", STEP])
    phases = p.doc["assay"]["phases"]
    told = [(s["from"], KIND[s["kind"]]) for s in p.truth["stages"]]
    what = "; ".join(f"{x['from_ns'] / 1e9:.2f} {x['name']}" for x in phases)
    expect_eq(phases[0]["from_ns"], 0, "the first phase begins with the run")
    for a, b in zip(phases, phases[1:]):
        expect_eq(a["to_ns"], b["from_ns"], "phases follow each other")
    for (start, kind), end in zip(told, [s for s, _ in told[1:]] + [p.truth["wall_seconds"]]):
        middle = (start + end) / 2 * 1e9
        at = next(x for x in phases if x["from_ns"] <= middle < x["to_ns"])
        expect_eq(at["kind"], kind, f"what it did around {middle / 1e9:.2f} s ({what})")
        expect(abs(at["from_ns"] / 1e9 - start) < 3 * STEP + 0.05 * start,
               f"{kind} began at {start:.2f} s, not {at['from_ns'] / 1e9:.2f} s")


@job_test("`show` has a table of phases and numbers them below the plots")
def _():
    assay("run", "--quiet", "--interval", STEP, "--", work("stages"), "sleep", 1.2, "cpu", 1).ok()
    text = assay("show", runs()[0]["id"]).ok().out
    expect("\nPhases\n" in text and "waiting" in text and "CPU-bound" in text, text)
    expect("phases  │1──" in text, text)
    expect_eq(text.count("\n  threads\n"), 0, "plots of threads where each process has one")


main()
