#!/usr/bin/env python3
"""`assay heap`: every allocation of programs that know their own."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *

# Cases of allocs whose every allocation is by the program itself.
WHOLE = ["malloc", "calloc", "realloc", "aligned", "fails", "peak", "leak", "temporary",
         "recursion", "exec", "vfork", "churn"]


# --- the programs themselves ---------------------------------------------------

@job_test("what the programs say of themselves is what a library that only counts sees")
def _():
    for case in WHOLE:
        r, counted = oracle(work("allocs"), case)
        told = lines_of_json(r.ok().out)
        for key in ("pid", "allocations", "frees", "bytes"):
            expect_eq([c[key] for c in counted], [t[key] for t in told], f"{case}: {key}")


main()
