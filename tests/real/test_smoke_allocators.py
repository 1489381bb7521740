#!/usr/bin/env python3
"""assay-heap.so in programs that bring an allocator of their own."""
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from guests import *
from harness import *
from heaps import *
from jobs import *

ALLOCATORS = ["libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2"]
MALLOCS = ("malloc", "calloc", "realloc", "aligned", "new")


def recorded(library, *command):
    """(what the program told of itself, its allocations and frees as told by the guest)"""
    both = {"LD_PRELOAD": f"{BUILD / 'assay-heap.so'}:{library}"}
    r, (host,) = hosts([work(command[0]), *command[1:]], 0, env=both)
    expect_eq((host.lost, host.nested), (0, 0), f"{library}: lost, nested")
    expect_eq(host.numbers, list(range(len(host.numbers))), f"{library}: numbers")
    return lines_of_json(r.ok().out)[0], host


def sums(host, ops):
    mine = [a.size for a in host.allocs if a.op in ops]
    return len(mine), len(host.frees), sum(mine)


@job_test("allocations are told once, and not what the allocator maps for them")
def _():
    for name in ALLOCATORS:
        found = glob.glob(f"/usr/lib/*/{name}")
        expect(found, f"{name} is not installed")
        _, nothing = recorded(found[0], "allocs")        # what its library does by itself
        for command, ops in ((("allocs", "malloc"), MALLOCS), (("allocs", "aligned"), MALLOCS),
                             (("allocs", "peak"), MALLOCS), (("allocs_new",), ("new",)),
                             (("host", "churn", "20011"), MALLOCS)):
            told, host = recorded(found[0], *command)
            more = tuple(a - b for a, b in zip(sums(host, ops), sums(nothing, ops)))
            expect_eq(more, (told["allocations"], told["frees"], told["bytes"]),
                      f"{name}: {command}")
            expect_eq(sum(a.op == "mmap" for a in host.allocs),
                      sum(a.op == "mmap" for a in nothing.allocs), f"{name}: mappings")


@job_test("a program that is linked with one: as if it were libc's, also in a recording")
def _():
    for name in ALLOCATORS:
        library, = glob.glob(f"/usr/lib/*/{name}")
        for source in ("allocs", "host"):
            run("cc", "-g", "-fno-builtin", "-o", source, ROOT / f"tests/workloads/{source}.c",
                "-Wl,--no-as-needed", library, "-pthread", "-ldl", timeout=120).ok()
        expect_in(name.split(".so")[0], run("ldd", "./allocs").ok().out)
        nothing = heap("./allocs")                       # what its library does by itself
        for command in (("allocs", "malloc", "calloc", "aligned", "peak", "leak"),
                        ("host", "churn", "20011")):
            h = heap(f"./{command[0]}", *command[1:])
            more = tuple(a - b for a, b in zip(h.allocated(*MALLOCS), nothing.allocated(*MALLOCS)))
            expect_eq(more, (h.truth[0]["allocations"], h.truth[0]["bytes"]), f"{name}: {command}")
            expect_eq(h.allocated("mmap"), nothing.allocated("mmap"), f"{name}: mappings")
            expect_eq(h.doc["processes"][0]["problem"], None, f"{name}: problem")
        h = heap("./allocs", "threads")                  # libc makes something for each of them too
        h.expect_sites(h.truth[0]["sites"])


main()
