#!/usr/bin/env python3
"""`assay heap` of Python programs that know what their lines allocate."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *

PYTHON = "/usr/bin/python3"


@job_test("lines: bytearrays, C's malloc, methods, what is temporary, who held the peak")
def _():
    h = heap(*amounts(PYTHON, "arrays", "natives", "temporary", "methods", "peak"))
    h.expect_marks()
    first = h.doc["peak_by_line"][0]
    expect_eq((first["function"], first["bytes"]), ("peak", 13 * 5000012), "who held the peak")
    expect_eq(h.by_function("temporary_by_line")["temporary"], (307 * 2004, 307), "temporary")


@job_test("frames that come and go: generators, coroutines, callbacks of C, 300 calls deep")
def _():
    heap(*amounts(PYTHON, "generators", "coroutines", "callbacks", "deep")).expect_marks()


@job_test("objects are seen when they are asked for, and only then")
def _():
    command = amounts(PYTHON, "objects", "arrays")
    heap(*command, options=["--python-allocators"]).expect_marks(objects=True)
    heap(*command).expect_marks()


@job_test("threads have their names, and each what it made")
def _():
    h = heap(*amounts(PYTHON, "threads"))
    h.expect_marks()
    made = sorted(t["allocated_bytes"] for t in h.doc["threads"])
    expect(made.count(41 * 6008) == 5 or sum(m >= 41 * 6008 for m in made) >= 5, f"{made}")


@job_test("forked children and those of multiprocessing are followed when asked for")
def _():
    command = amounts(PYTHON, "forks", "workers")
    h = heap(*command, options=["--follow-fork"])
    expect_eq(len(h.truth), 6, "processes that told")
    for truth in h.truth:
        expect(h.process(truth["pid"])["allocations"] >= 43 * len(truth["marks"]), f"{truth}")
    expect_eq(h.by_function("top_by_size")["process_work"], (5 * 43 * 7002, 5 * 43), "of all")
    h = heap(*command)
    expect("process_work" not in h.by_function("top_by_size"), "children that nobody asked for")


@job_test("a program given by -c and by -m, and a script that exits with a status")
def _():
    code = "keep = [bytearray(10007) for _ in range(103)]"
    h = heap(PYTHON, "-c", code)
    rows = [x for x in h.doc["peak_by_line"] if x["file"] == "<string>" and x["bytes"] > 10_000]
    expect_eq([x["line"] for x in rows], [1], "lines of -c")
    expect(0 <= rows[0]["bytes"] - 103 * 10008 < 5000, f"{rows}: and the list as it grows")
    (tmp() / "mod.py").write_text(f"{code}\nimport sys\nsys.exit(5)\n")
    h = heap(PYTHON, "-m", "mod", rc=5)
    rows = [x for x in h.doc["peak_by_line"] if (x["file"] or "").endswith("mod.py")]
    expect_eq(rows[0]["line"], 1, "-m")


@job_test("with native stacks a line of Python still has what C allocated below it")
def _():
    h = heap(*amounts(PYTHON, "arrays", "natives"), options=["--native"])
    r = assay("heap", "transform", "folded", "--all", FILE, "-o", "-").ok()
    for name, mark in (("arrays", "ARRAYS"), ("natives", "NATIVES")):
        own = [line.rsplit(" ", 1) for line in r.out.splitlines() if f";{name} (" in line]
        got, want = sum(int(n) for _, n in own), h.truth[0]["marks"][mark]["bytes"]
        expect(want <= got < want + 20_000, f"{name}: {got} bytes, want {want} and little more")


main()
