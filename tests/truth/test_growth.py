#!/usr/bin/env python3
"""Growth: leaks of known rates are found, with their rates; a job that only holds memory is not."""
import concurrent.futures
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *

SECONDS = 62


def show(p):
    return assay("show", p.doc["assay"]["identity"]["id"]).ok().out


@job_test("a leak of a known rate raises the alarm with that rate; holding memory does not")
def _():
    with concurrent.futures.ThreadPoolExecutor() as pool:    # a minute each, at the same time
        leak = pool.submit(profile, "leak", 40, SECONDS, timeout=SECONDS + 30)
        hold = pool.submit(profile, "hold", 40, SECONDS * 1000, nobody=is_root(),
                           timeout=SECONDS + 30)
        leak, hold = leak.result(), hold.result()
    g = leak.doc["assay"]["growth"]
    expect_eq(g["answer"], "grows", f"the answer to a leak ({g})")
    expect_near(g["bytes_per_hour"], leak.truth["bytes_per_hour"], 0.03, f"the rate ({g})")
    expect(g["low"] <= g["bytes_per_hour"] <= g["high"], f"not in its interval: {g}")
    left = (g["limit_bytes"] - leak.metric("job.memory.used")["last"]) / g["bytes_per_hour"] * 3600
    expect_near(g["full_in_seconds"], left, 0.03, f"until memory is full ({g})")
    text = show(leak)
    expect_in("memory grows by 14", text, "the alarm in show")
    expect_in("are full in", text, "the projection in show")
    g = hold.doc["assay"]["growth"]
    expect_eq(g["answer"], "does not grow", f"the answer to holding ({g})")
    expect_eq(g["full_in_seconds"], None, "until memory is full")


@job_test("of a short run nothing is said")
def _():
    g = profile("hold", 10, 300).doc["assay"]["growth"]
    expect_eq(g["answer"], "cannot tell", "the answer")
    expect_eq(g["why"], "too short", "why")
    expect_eq(g["bytes_per_hour"], None, "the rate")


main()
