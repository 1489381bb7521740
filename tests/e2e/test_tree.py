#!/usr/bin/env python3
"""`show --tree`: all processes below their parents, those alike in one row."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *

SCRIPT = ('for i in 1 2 3 4 5; do sh -c "sleep 0.1; true"; done; sleep 0.6 & sleep 0.6 & '
          'wait; sh -c "exit 3"; true')


def tree():
    return assay("show", "last", "--tree", "--json").ok().json()


@job_test("children stand below their parents, and those alike in one row")
def _():
    assay("run", "--quiet", "--interval", "0.02", "--", "sh", "-c", SCRIPT).ok()
    doc = tree()
    expect_eq(len(doc["processes"]), 1, "first processes")
    rows = [(p["name"], p["count"]) for p in doc["processes"][0]["children"]]
    expect_in(("sh", 5), rows, "rows below the first")
    expect_in(("sleep", 2), rows, "rows below the first")
    group = next(p for p in doc["processes"][0]["children"] if p["count"] == 5)
    expect_eq([(p["name"], p["count"]) for p in group["children"]], [("sleep", 5)], "cousins")
    expect_eq(group["at_once"], 1, "one after the other")
    pair = next(p for p in doc["processes"][0]["children"] if p["count"] == 2)
    expect_eq(pair["at_once"], 2, "side by side")
    text = assay("show", "last", "--tree").ok().out
    expect("├─sh ×5" in text and "sleep ×2, 2 at once" in text, text)
    expect(max(len(line) for line in text.splitlines()) <= 80, text)


@job_test("without anybody to tell of ends, one after the other is not side by side")
def _():
    line = ("i=0; while [ $i -lt 8 ]; do i=$((i+1)); sleep 0.06; done; "
            "sleep 0.5 & sleep 0.5 & wait; true")
    assay("run", "--quiet", "--interval", "0.02", "--", "sh", "-c", line,
          env={"ASSAY_RUNG": "proc"}).ok()
    below = tree()["processes"][0]["children"]      # one seen before its exec is a shell
    expect_eq(max(p["at_once"] for p in below), 2, "the two that were side by side")
    assay("run", "--quiet", "--interval", "0.02", "--", "sh", "-c", line.split("; sleep 0.5")[0],
          env={"ASSAY_RUNG": "proc"}).ok()
    below = tree()["processes"][0]["children"]
    expect_eq({p["at_once"] for p in below}, {1}, "one after another")


@job_test("who failed is told")
def _():
    assay("run", "--quiet", "--interval", "0.02", "--", "sh", "-c",
          "sh -c 'sleep 0.2; exit 3'; true").ok()
    below = tree()["processes"][0]["children"]
    expect_eq([p["failed"] for p in below], [1], "processes that failed")
    expect_eq([p["wait_status"] for p in below], [3 << 8], "how it ended")


@job_test("thousands of children fit a screen")
def _():
    assay("run", "--quiet", "--", work("forker"), 2000, 0, "fork", timeout=60).ok()
    text = assay("show", "last", "--tree").ok().out
    expect(len(text.splitlines()) < 40, f"{len(text.splitlines())} lines")


main()
