#!/usr/bin/env python3
"""`assay heap` of programs that are strange or in trouble: they do not notice, and it is said."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *


def recorded(*command, options=(), **how):
    """(how it ended, what stats say), with the summary on stderr."""
    r = run(ASSAY, "heap", "run", *options, "--force", "-o", FILE, "--", *command, **how)
    return r, heap_stats()


# --- allocators of their own -------------------------------------------------------

@job_test("a program with an allocator inside: its mappings are seen, the rest is said not to be")
def _():
    alone = run(work("ownmalloc")).ok()
    r, doc = recorded(work("ownmalloc"))
    expect_eq((r.rc, r.out), (0, alone.out), "status and output")
    expect_in("allocator of its own", r.err)
    expect_in("allocator of its own", doc["processes"][0]["problem"])
    expect_eq([a["allocator"] for a in doc["allocators"]], ["mmap"], "allocators")
    _, doc = recorded(work("allocs"), "malloc")
    expect_eq(doc["processes"][0]["problem"], None, "of one without")


main()
