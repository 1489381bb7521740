#!/usr/bin/env python3
"""CPython's arenas: memory of the program, and of no line of it."""
import csv
import io
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from attach import *
from harness import *
from heaps import *
from jobs import *
from pythons import *
from schemas import *

ARENAS, WHERE = "pymalloc arenas", "<Python's small objects>"
BLOCKS, SIZE, SMALL = 37, 100_003, 300_000
# What the interpreter notes of its arenas, by malloc: a list, and from 3.10 on nodes of a tree of
# addresses, 128 KiB each: one as a rule, more where chance spreads the arenas.
BOOKS = (64 + 2 * 128) << 10

# What is left at its end: blocks of malloc's, and small objects without a block of their own.
PROGRAM = f"""
import ctypes, os

malloc = ctypes.CDLL(None).malloc
malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]

def leak(size):
    return malloc(size)

def keep(n):
    chain = None
    for i in range(n):
        chain = (i, chain)
    return chain

for _ in range({BLOCKS}):
    leak({SIZE})
kept = keep({SMALL})
os._exit(0)
"""


def recorded(python, *options):
    (tmp() / "app.py").write_text(PROGRAM)
    h = heap(python.path, "-S", "app.py", options=options)
    return h, valid(h.doc, "heap-stats-1")


def bytes_of(rows):
    return sum(row["bytes"] for row in rows)


def arenas_in(rows):
    return [row for row in rows if row["function"] == ARENAS]


def expect_row(doc, key, want, version):
    """The arenas are one row, without a line, and all rows together are the whole."""
    row, = arenas_in(doc[key])
    expect_eq((row["bytes"], row["file"], row["line"]), (want, WHERE, None), f"{version}: {key}")


@job_test("what lines left is theirs to the byte; arenas stand apart, and all adds up")
def _():
    for python in pythons():
        h, d = recorded(python)
        v, arenas = python.version, d["arena_bytes_left"]
        expect(arenas >= SMALL * 64, f"{v}: {arenas} bytes of arenas")
        left = h.by_function("leaked_by_line")
        expect_eq(left["leak"], (BLOCKS * SIZE, BLOCKS), f"{v}: what the line left")
        expect(left.get("keep", (0, 0))[0] < BOOKS, f"{v}: small objects: {left.get('keep')}")
        expect_eq(arenas_in(d["leaked_by_line"]), [], f"{v}: arenas among leaks")
        expect_eq(bytes_of(d["leaked_by_line"]) + arenas, d["leaked_bytes"], f"{v}: left in all")
        expect_row(d, "peak_by_line", d["arena_bytes_at_peak"], v)
        expect_eq(bytes_of(d["peak_by_line"]), d["peak_bytes"], f"{v}: the peak")
        by = {a["allocator"]: a for a in d["allocators"]}["pymalloc"]
        expect_row(d, "top_by_size", by["allocated_bytes"], v)
        expect_eq(bytes_of(d["top_by_size"]), d["total_allocated_bytes"], f"{v}: made")
        expect_eq((by["bytes_at_peak"], by["leaked_bytes"]), (d["arena_bytes_at_peak"], arenas),
                  f"{v}: by allocator")


def rows(*options):
    text = assay("heap", "transform", "csv", *options, FILE).ok().out
    return list(csv.DictReader(io.StringIO(text)))


@job_test("views say what arenas are, and how much of them --leaks leaves out")
def _():
    python = pythons()[-1]
    recorded(python)
    told = [r["stack"] for r in rows() if r["allocator"] == "pymalloc"]
    expect_eq(told, [f"{ARENAS} ({WHERE})"], "stacks")
    expect_eq([r for r in rows("--leaks") if r["allocator"] == "pymalloc"], [], "leaks")
    for view in ("summary", "tree", "table"):
        peak = assay("heap", view, FILE).ok().out
        left = assay("heap", view, "--leaks", FILE).ok().out
        expect_in("pymalloc arenas", peak, view)
        expect_in("--python-allocators", peak, view)
        expect("pymalloc arenas" not in left, f"{view}: {left}")
        expect_in("left at the end, without ", left.splitlines()[0], view)
        expect_in("arenas  ", left, view)
        gone = assay("heap", view, "--temporary-allocations", FILE).ok().out
        expect("arenas  " not in gone, f"{view}: arenas, which stay, among what went:\n{gone}")
    said = assay("heap", "stats", FILE).ok().out
    expect_in("no leak", " ".join(said.split()))
    expect(all(len(line) <= 80 for line in said.splitlines()), f"too wide:\n{said}")


@job_test("with --python-allocators lines have their objects, and arenas are not told")
def _():
    for python in pythons():
        h, d = recorded(python, "--python-allocators")
        v = python.version
        expect_eq((d["arena_bytes_at_peak"], d["arena_bytes_left"]), (0, 0), f"{v}: arenas")
        made, count = h.by_function("leaked_by_line")["keep"]
        expect(count > 1.9 * SMALL and made > SMALL * 64, f"{v}: {made} bytes in {count}")
        expect("arenas" not in assay("heap", "stats", FILE).ok().out, f"{v}: text")


@job_test("of a Python that runs already, too; and when assay has left they are its own again")
def _():
    text = """
import sys
kept = []
print("ready", flush=True)
for line in sys.stdin:
    chain = None
    for i in range(int(line)):
        chain = (i, chain)
    kept.append(chain)
    print("done", flush=True)
"""
    for python in pythons():
        t = Target(python.path, "-S", "-c", text)
        for _ in range(2):
            a = Attached(t.pid)
            t.tell(SMALL)
            h = a.left()
            arenas = h.doc["arena_bytes_left"]
            expect(arenas >= SMALL * 56, f"{python.version}: {arenas} bytes of arenas")
            expect_eq(bytes_of(h.doc["leaked_by_line"]) + arenas, h.doc["leaked_bytes"],
                      f"{python.version}: left in all")
            expect_eq(hooks(t.pid), 0, f"{python.version}: hooks")
            t.tell(1000)
        t.end()


main()
