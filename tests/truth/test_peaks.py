#!/usr/bin/env python3
"""Peaks of memory by what the user is allowed: every cell of the table of docs/truth.md."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from memory_table import *
import rungs


def hold_to_promise(case, way):
    truth, told, upper = measure(case, way)
    what = f"{case.title}, {way.title}: {cell(truth, told, upper)}, true {mib(truth)}"
    if way.metric:      # shares of what is resident, files too; the spikes are between two looks
        expect(told is not None and told <= 1.12 * truth + 100 * MIB + OWN, what)
        return
    if promise(case, way) == EXACT:
        expect_near(told, truth, 0.03, what, slack=OWN)
    expect(told <= upper, what)
    if promise(case, way) != UNSEEN:
        expect(upper >= 0.97 * truth, what)


for case in CASES:
    @job_test(f"{case.title}: as true as docs/truth.md says, on every rung", seconds=300)
    def _(case=case):
        for way in WAYS:
            hold_to_promise(case, way)


@job_test("a file that a child of 20 ms maps is not in the headline where BPF tells of its end")
def _():
    rungs.need("bpf")
    p = profile("mapped", "file", 100, "child", options=("--interval", "1"),
                env=rungs.on("bpf"), prefix=without_memory_group())
    expect_between(p.total("memory_peak"), 1, p.truth["own_bytes"] + OWN, "peak of the job")
    expect(p.total("memory_peak_upper") > 100 * MIB, f"upper {p.total('memory_peak_upper')}")


@test("the table of docs/truth.md has the rows and columns that are measured")
def _():
    rows = [line_.split(" | ") for line_ in BLOCK.search(PAGE.read_text())[0].splitlines()]
    expect_eq(line(HEAD).strip(), " | ".join(rows[0]), "the head")
    expect_eq([row_[0].removeprefix("| ") for row_ in rows[2:]], [c.title for c in CASES], "rows")


main()
