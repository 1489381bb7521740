#!/usr/bin/env python3
"""Views of a heap beside what it is made of: RSS, moments, threads, processes."""
import csv
import io
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *
from page import *
from schemas import *

MIB = 1 << 20


def stats(*options):
    return valid(heap_stats(FILE, *options), "heap-stats-1")


def python(text, options=()):
    """What stats say of a program of Python, and what it said itself."""
    (tmp() / "app.py").write_text(text)
    h = heap("/usr/bin/python3", "app.py", options=options)
    return h, valid(h.doc, "heap-stats-1")


def rows(*options):
    """Each stack of a view: process, thread, allocator, allocations, bytes, stack."""
    text = assay("heap", "transform", "csv", *options, FILE).ok().out
    return list(csv.DictReader(io.StringIO(text)))


def bytes_of(found, word):
    return sum(int(r["bytes"]) for r in found if word in r["stack"])


# --- heap and RSS ---------------------------------------------------------------

def resident(case, *more):
    h = heap(work("resident"), case, *more)
    return valid(h.doc, "heap-stats-1"), h.truth[0]["held"]


def moments(d):
    """Those at which the system knew the program."""
    return [m for m in d["over_time"] if m["rss_bytes"]]


def beside(moment):
    """Resident memory that is neither file nor heap."""
    return moment["rss_bytes"] - moment["file_bytes"] - \
        (moment["heap_bytes"] - moment["mapped_bytes"])


@job_test("memory that is touched is heap and RSS alike")
def _():
    d, held = resident("touched")
    peak = d["rss_peak"]
    expect_between(peak["heap_bytes"], held, held + 2 * MIB, "heap")
    expect_between(peak["bytes"], held, held + 16 * MIB, "RSS")
    expect_between(peak["beside_heap_bytes"], 0, 8 * MIB, "beside the heap")
    expect_in("neither", assay("heap", "stats", FILE).ok().out, "text")


@job_test("memory that nobody touched is heap, and not resident")
def _():
    d, held = resident("untouched")
    peak = d["rss_peak"]
    last = [m for m in moments(d) if m["heap_bytes"] >= held]
    expect(last, f"no moment with the block: {d['over_time'][-3:]}")
    for m in last:
        expect_between(beside(m), -held - 2 * MIB, -held + 8 * MIB, "beside the heap")
    expect(peak["bytes"] < 16 * MIB, f"RSS {peak}")


@job_test("what was given back and stays resident is told apart from the heap")
def _():
    d, held = resident("fragments")
    most = max(moments(d), key=beside)
    expect_between(most["heap_bytes"], held, held + 2 * MIB, "heap")
    # A quarter is held; pages of the rest stay, each has a block that is.
    expect_between(beside(most), 40 * MIB, 64 * MIB, "beside the heap")


@job_test("mapped files are no memory of the program's own")
def _():
    path = tmp() / "file"
    path.write_bytes(os.urandom(1 << 16) * 512)
    d, held = resident("file", str(path))
    most = max(moments(d), key=lambda m: m["file_bytes"])
    expect_eq(held, 32 * MIB, "the file")
    expect_eq(most["mapped_bytes"], held, "mapped bytes of the heap")
    expect_between(most["file_bytes"], held, held + 16 * MIB, "files in RSS")
    expect_between(beside(most), -MIB, 8 * MIB, "beside the heap")
    expect_in("mapped file", [a["allocator"] for a in d["allocators"]], "allocators")


@job_test("the temporal page has RSS beside the heap, on the same axis")
def _():
    d, held = resident("touched")
    assay("heap", "flamegraph", "--temporal", "-o", "t.html", FILE).ok()
    page = Page(tmp() / "t.html").data
    beside, told = page["beside"], d["over_time"]
    expect_eq(beside["at"], [m["at_ns"] for m in told], "moments")
    expect_eq(beside["rss"], [m["rss_bytes"] for m in told], "RSS")
    expect_eq(beside["file"], [m["file_bytes"] for m in told], "files")
    expect(max(beside["heap"]) >= held, "heap")
    assay("heap", "flamegraph", "-o", "p.html", FILE).ok()
    expect_eq(Page(tmp() / "p.html").data["beside"], None, "a page of one moment")


# --- the table as a page --------------------------------------------------------------

@job_test("the page of the table has each line of the view, and nothing that asks anybody")
def _():
    h = heap(work("allocs"), "peak", "leak")
    expect_eq(assay("heap", "table", "-o", "t.html", FILE).ok().out, "t.html\n", "what it prints")
    page = Page(tmp() / "t.html")
    d = page.data
    expect_eq((sum(d["bytes"]), sum(d["count"])), (h.doc["peak_bytes"], h.doc["peak_allocations"]),
              "bytes and count of all rows")
    found = {}
    for i, n in enumerate(d["bytes"]):
        at = d["texts"][d["function"][i]] or None, d["line"][i] or None
        found[at] = found.get(at, 0) + n
    want = {(r["function"], r["line"]): r["bytes"] for r in h.doc["peak_by_line"]}
    expect_eq(found, want, "lines")
    expect_eq(page.addresses, [], "addresses")
    expect_eq(page.policy["script-src"], Page.digest(page.elements[-1][2]), "the only script")
    expect_in("by_malloc", page.only("noscript")[2] + page.text, "text without a script")
    out = assay("heap", "table", "--leaks", "-o", "-", FILE).ok().out
    expect(out.startswith("<!doctype html>") and "left at the end" in out, "standard output")


main()
