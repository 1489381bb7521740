#!/usr/bin/env python3
"""`assay heap` as a command: what it runs, writes, prints and refuses."""
import csv
import io
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *
from page import *
from schemas import *


def record(*command, name="a.heap", options=()):
    return assay("heap", "run", *options, "-o", name, "--", *command)


def stats(name="a.heap", *options):
    return valid(assay("heap", "stats", "--json", *options, name).ok().json(), "heap-stats-1")


def allocs(*cases, name="a.heap", options=()):
    """What the program said of itself."""
    r = record(work("allocs"), *cases, name=name, options=options).ok()
    return lines_of_json(r.out)[-1]


def view(*words, name="a.heap"):
    return assay("heap", *words, name).ok().out


# --- run ------------------------------------------------------------------------

@job_test("a command is what it would be alone: input, output, exit status, signal")
def _():
    r = assay("heap", "run", "-q", "-o", "a.heap", "--", "sh", "-c", "cat; echo oops >&2; exit 7",
              input="in\n")
    expect_eq((r.rc, r.out, r.err), (7, "in\n", "oops\n"), "status, output, errors")
    r = record("sh", "-c", "kill -USR1 $$", name="b.heap")
    expect_eq(r.rc, -signal.SIGUSR1, "status")


@job_test("a command that cannot be run leaves no capture")
def _():
    r = record("./nothing-there")
    expect_eq(r.rc, 127, "status")
    expect_in("cannot run './nothing-there'", r.err, "errors")
    expect(not (tmp() / "a.heap").exists(), "there is a capture")


@job_test("a capture is not overwritten unless it is forced to")
def _():
    record("true").ok()
    r = record("touch", "ran")
    expect_eq(r.rc, 125, "status")
    expect_in("a.heap", r.err, "errors")
    expect(not (tmp() / "ran").exists(), "the command was run all the same")
    record("true", options=("-f",)).ok()


@job_test("without a name it has one, and the summary says what to do next")
def _():
    r = assay("heap", "run", "--", work("allocs"), "peak").ok()
    found = [p.name for p in tmp().glob("assay-allocs.*.heap")]
    expect_eq(len(found), 1, "captures")
    for word in "peak", "temporary", "left", f"assay heap flamegraph {found[0]}", "by_malloc":
        expect_in(word, r.err, "summary")
    expect(all(len(line) <= 80 for line in r.err.splitlines()), f"wider than 80:\n{r.err}")


@job_test("it is a run like any other")
def _():
    record("sh", "-c", "exit 3", options=("--name", "leaky", "--label", "k=v"))
    d = assay("show", "--json", "last").ok().json()
    expect_eq((d["tool"] if "tool" in d else d["assay"]["name"], d["returncode"]), ("leaky", 3),
              "name and status")


@job_test("a Python file is run by python3")
def _():
    (tmp() / "app.py").write_text("import sys\nprint(sys.argv[1:])\n")
    r = assay("heap", "run", "-q", "-o", "a.heap", "app.py", "-x").ok()
    expect_eq(r.out, "['-x']\n", "output")


@job_test("--json has the numbers instead of a summary")
def _():
    r = assay("heap", "run", "--json", "-o", "a.heap", "--", "sh", "-c", "exit 3")
    expect_eq((r.rc, r.err), (3, ""), "status and errors")
    d = valid(r.json(), "heap-stats-1")
    expect(d["total_allocations"] > 0, "no allocations")


@job_test("a run can have a capture too")
def _():
    r = assay("run", "--heap", "a.heap", "--", work("allocs"), "peak").ok()
    expect_in("verdict", r.err, "summary")
    expect_in("by_malloc", r.err, "who held the peak")
    told = lines_of_json(r.out)[-1]
    expect_eq(stats()["total_allocations"], told["allocations"], "allocations")
    run = valid(assay("show", "--json").ok().json(), "run-1")["assay"]["heap"]
    d = stats()
    expect_eq(run["capture"], str((tmp() / "a.heap").resolve()), "where it is")
    for key in "total_allocations", "total_allocated_bytes", "peak_bytes", "leaked_bytes":
        expect_eq(run[key], d[key], key)
    expect_eq([(o["function"], o["bytes"]) for o in run["peak_by_line"]],
              [(o["function"], o["bytes"]) for o in d["peak_by_line"][:3]], "who held the peak")
    text = assay("show").ok().out
    expect_in("Memory that it allocated", text, "show")
    expect_in("by_malloc", text, "who held the peak, in show")
    r = assay("run", "--heap", "a.heap", "--", "true")
    expect_eq(r.rc, 125, "exit status: that file is there")
    expect("-o" not in r.err.split(), f"-o of `run` is another file: {r.err}")
    r = assay("run", "--heap", "b.heap", "--", "./nothing-there")
    expect_eq((r.rc, (tmp() / "b.heap").exists()), (127, False), "status, and a capture")


@job_test("the run of `heap run` knows its capture; a run says how its heap is recorded")
def _():
    allocs("peak", options=("--sample", "4KiB"))
    own = valid(assay("show", "--json").ok().json(), "run-1")["assay"]["heap"]
    expect_eq(own["sample_bytes"], stats()["sample_bytes"], "rate")
    expect(own["peak_bytes_95"] is not None, "no interval")
    r = assay("run", "--json", "--heap", "b.heap", "--heap-sample", "4KiB", "--",
              work("allocs"), "peak")
    expect_eq(stats("b.heap")["mode"], "sampled", "mode")
    expect_in('"heap":{"capture":', r.ok().out, "document")
    assay("report", "-o", "r.html").ok()
    page = Page(tmp() / "r.html").data
    expect_eq(page["run"]["assay"]["heap"]["capture"], str((tmp() / "b.heap").resolve()), "page")
    r = assay("run", "--heap-native", "--", "true")
    expect(r.rc == 125 or r.rc == 2, f"{r}")
    expect_in("--heap FILE", r.err, "what is missing")


@job_test("a threshold that sums do not know is refused, not answered by another")
def _():
    allocs("peak", options=("--aggregate",))
    view("summary", "--temporary-allocation-threshold", "1")
    r = assay("heap", "summary", "--temporary-allocation-threshold", "5", "a.heap")
    expect(r.rc not in (0, 1) and "--aggregate" in r.err and "threshold" in r.err, f"{r}")


@job_test("temporary: freed after at most N more of the thread, one unless it is said; N may be 0")
def _():
    allocs("brief")        # each of by_calloc has none after it, each of by_malloc one
    option = "--temporary-allocation-threshold"
    for more, both in (["--temporary-allocations"], True), ([option, "0"], False), \
            ([option, "1"], True), ([option, "2"], True):
        text = view("summary", *more)
        expect_eq(("by_calloc" in text, "by_malloc" in text), (True, both), f"{more}: {text}")
    r = assay("heap", "summary", option, "x", "a.heap")
    expect(r.rc == 2 and option in r.err, f"{r}")


@job_test("what cannot be recorded runs all the same, and that is said")
def _():
    with open("/sbin/ldconfig", "rb") as f:
        head = f.read(4096)
    if not head.startswith(b"\x7fELF") or b"/ld-linux" in head:
        skip("no program here is linked statically")
    r = record("/sbin/ldconfig", "-V")
    d = stats()
    expect_eq((r.rc, d["processes"]), (0, []), "status, and processes")
    expect_in("nothing was recorded", r.err, "summary")
    expect("next" not in r.err, f"views of nothing are offered: {r.err}")
    expect_eq((d["complete"], d["peak_bytes"], d["total_allocations"], d["temporary_bytes"]),
              (False, None, None, None), "what is not known")
    expect_in("nothing was recorded", d["problem"])
    expect_eq(assay("show", "--json").ok().json()["assay"]["heap"], None, "heap of the run")
    for name in ("summary", "tree", "table", "flamegraph"):
        r = assay("heap", name, "a.heap")
        expect(r.rc == 66 and "nothing was recorded" in r.err, f"{name}: {r}")


# --- views ------------------------------------------------------------------------

@job_test("stats --json is what the program knows of itself")
def _():
    told = allocs("peak", "leak", "temporary")
    d = stats()
    expect_eq((d["total_allocations"], d["total_frees"], d["total_allocated_bytes"]),
              (told["allocations"], told["frees"], told["bytes"]), "totals")
    expect_eq(sum(x["bytes"] for x in stats("a.heap", "-n", "999")["peak_by_line"]),
              d["peak_bytes"], "bytes of all lines at the peak")
    expect_eq(sum(s["count"] for s in d["size_histogram"]), d["total_allocations"], "sizes")
    expect(d["complete"] and d["mode"] == "exact" and d["peak_bytes_95"] is None, "exactness")


@job_test("time begins with the first process, not with the recorder")
def _():
    record("sh", "-c", "exit 0").ok()
    d = stats()
    expect_eq(d["processes"][0]["start_ns"], 0, "start of the first process")
    expect(d["peak_at_ns"] <= d["processes"][0]["end_ns"], "the peak is after the end")


@job_test("summary, tree and table as documents have what stats have, exact or sampled")
def _():
    for options in (), ("--sample", "4KiB"):
        allocs("peak", "leak", options=("--force", *options))
        d = stats("a.heap", "-n", "999")
        pid = str(d["processes"][0]["pid"])
        for what, whole in ("leaks", "leaked"), ("peak", "peak"):
            more = ["--leaks"] if what == "leaks" else []
            for name, rows in ("summary", "functions"), ("tree", "branches"), ("table", "lines"):
                v = valid(assay("heap", name, "--json", "-n", "999", *more, "a.heap").ok().json(),
                          f"heap-{name}-1")
                expect_eq((v["view"], v["complete"], v["sample_bytes"]),
                          (what, True, d["sample_bytes"]), f"{name}: of what")
                expect_eq((v["bytes"], v["bytes_95"] is None),
                          (d[f"{whole}_bytes"], not options), name)
                expect(options or v["count"] == d[f"{whole}_allocations"], f"{name}: count")
                if name == "table":
                    expect_eq(sum(r["bytes"] for r in v[rows]), v["bytes"], "bytes of all lines")
                    expect_eq({r["process"] for r in v[rows]}, {pid}, "whose rows these are")
                if what == "leaks":
                    found = [r for r in v[rows] if r["function"] == "by_leak"]
                    expect(found, f"{name}: by_leak is not in {v[rows]}")
    v = assay("heap", "summary", "--json", "-n", "1", "a.heap").ok().json()
    expect_eq((len(v["functions"]), v["unlisted"] > 0), (1, True), "rows that were asked for")
    expect_eq(assay("heap", "table", "--json", "-o", "x.html", "a.heap").rc, 2, "both")


ESTIMATES = {"total_allocations", "total_frees", "total_allocated_bytes", "peak_bytes",
             "peak_allocations", "leaked_bytes", "leaked_allocations", "bytes", "count",
             "allocations", "allocated_bytes", "bytes_at_peak", "heap_bytes"}


@job_test("a sampled capture has an interval beside each number")
def _():
    allocs("peak", options=("--sample", "4KiB"))
    d = stats()
    expect_eq((d["mode"], d["sample_bytes"] > 0), ("sampled", True), "mode")
    for where in d, *d["peak_by_line"], *d["size_histogram"], *d["processes"], *d["threads"], \
            *d["allocators"], *d["over_time"]:
        for key in ESTIMATES & set(where):
            expect(where[f"{key}_95"] is not None, f"no interval of {key} in {where}")
            expect(where[key] or where[f"{key}_95"] >= 3 * 4096, f"is it known to be 0? {where}")
    expect_eq(d["threads"][0]["allocations"], d["processes"][0]["allocations"], "one thread")
    rows = list(csv.DictReader(io.StringIO(view("transform", "csv"))))
    expect_eq(sum(int(r["allocations"]) for r in rows), d["peak_allocations"], "rounded once")
    expect(all(r["bytes_95"] and r["allocations_95"] for r in rows), "no interval in CSV")
    pid = d["processes"][0]["pid"]
    expect_eq({r["process"] for r in rows}, {str(pid)}, "whose rows these are")
    expect_in(" ± ", view("tree"), "tree")
    expect_eq((d["temporary_bytes"], d["temporary_by_line"]), (None, []), "what nobody knows")
    expect("temporary" not in view("stats"), "what nobody knows is told")
    r = assay("heap", "summary", "--temporary-allocations", "a.heap")
    expect(r.rc == 2 and "not known" in r.err, f"{r}")
    expect_in(" ± ", view("summary"), "summary")
    expect_in(" ± ", view("stats"), "stats")


BUSY = """
import time
end = time.thread_time() + 2.5
while time.thread_time() < end:
    for _ in range(1000):
        x = bytearray(3000)
"""


@job_test("a rate that is too fine for a program is made larger, and that is said")
def _():
    r = assay("heap", "run", "--sample", "256", "-o", "a.heap", "--", "python3", "-c", BUSY).ok()
    expect_in("256 B was asked for", r.err, "summary")
    d = stats()
    raised = d["sample_bytes_raised"]
    expect_eq((d["sample_bytes_asked"], d["sample_bytes"]), (256, raised[-1]["bytes"]), "rates")
    expect(0 < raised[0]["at_ns"] <= raised[-1]["at_ns"] <= d["ends_at_ns"], f"when: {raised}")
    expect_in("256 B was asked for", view("summary"), "a view")


@job_test("filters and parts of the time are the same as everywhere")
def _():
    allocs("peak", "leak")
    whole = list(csv.DictReader(io.StringIO(view("transform", "csv"))))
    some = list(csv.DictReader(io.StringIO(view("transform", "csv", "--show-stacks", "by_malloc"))))
    expect(0 < len(some) <= len(whole), f"{len(some)} of {len(whole)} stacks")
    expect(all("by_malloc" in r["stack"] for r in some), "stacks without it")
    record("/usr/bin/python3", "-c", "import time; time.sleep(.5); x = bytearray(10**7)",
           options=("--force",)).ok()
    part, d = stats("a.heap", "--until", "1ms"), stats()
    expect(part["peak_bytes"] < 10**7 <= d["peak_bytes"], "the beginning has the peak")
    expect(0 <= part["total_allocations"] < d["total_allocations"], "the beginning is all of it")


@job_test("every view of stacks adds up to the same")
def _():
    allocs("peak", "leak")
    d = stats()
    rows = list(csv.DictReader(io.StringIO(view("transform", "csv"))))
    expect_eq(sum(int(r["bytes"]) for r in rows), d["peak_bytes"], "bytes in CSV")
    expect_eq(sum(int(r["allocations"]) for r in rows), d["peak_allocations"], "count in CSV")
    folded = view("transform", "folded", "--leaks")
    expect_eq(sum(int(line.split()[-1]) for line in folded.splitlines()), d["leaked_bytes"],
              "bytes in folded stacks")
    for command in "summary", "table", "tree":
        text = view(command)
        expect_in("by_malloc", text, command)
        expect(all(len(line) <= 80 for line in text.splitlines()), f"wider than 80:\n{text}")


@job_test("flame graphs: a page, a picture, over time")
def _():
    allocs("peak")
    expect_eq(view("flamegraph"), "a.html\n", "the name of the page")
    expect_eq(view("flamegraph", "--leaks"), "a-leaks.html\n", "the name of another")
    expect_eq(view("flamegraph", "--temporal"), "a-temporal.html\n", "the name of a third")
    expect_in("by_malloc", view("flamegraph", "-f", "svg", "-o", "-"), "picture")
    r = assay("heap", "flamegraph", "--temporal", "-o", "a.svg", "a.heap")
    expect_eq(r.rc, 2, "status")


@job_test("for other tools: each format is what its reader finds")
def _():
    allocs("peak")
    for name in "pprof", "speedscope", "callgrind":
        view("transform", name, "-o", f"x.{name}")
        text = assay("report", "--stacks", f"x.{name}", "--json").ok().json()
        expect_in("by_malloc", [f["function"] for f in text["functions"]], name)
    r = assay("heap", "transform", "xls", "a.heap")
    expect_eq(r.rc, 2, "status")
    expect_in("csv|folded|pprof", r.err, "hint")


@job_test("diff: two captures, and two moments of one")
def _():
    allocs("leak", name="before.heap")
    allocs("leak", "peak", name="after.heap")
    d = valid(assay("heap", "diff", "--json", "before.heap", "after.heap").ok().json(), "diff-1")
    before, after = stats("before.heap"), stats("after.heap")
    expect_eq((d["all"]["before"], d["all"]["after"]), (before["peak_bytes"], after["peak_bytes"]),
              "peaks")
    d = valid(assay("heap", "diff", "--json", "--from", "1ns", "after.heap").ok().json(), "diff-1")
    expect_eq(d["all"]["after"], after["leaked_bytes"], "what is there at the end")
    r = assay("heap", "diff", "after.heap")
    expect_eq(r.rc, 2, "status")
    expect_in("--from", r.err, "hint")


def sampled(seed, *cases, name):
    return assay("heap", "run", "--sample", "16KiB", "--no-store", "-o", name, "--", work("allocs"),
                 *cases, env={"ASSAY_SEED": str(seed)}).ok()


@job_test("diff: differences of samples have intervals, and those that may be none are said")
def _():
    sampled(2, "tide", name="a.heap")
    sampled(4, "tide", name="b.heap")
    sampled(5, "tide", "leak", name="c.heap")
    same, other = (valid(assay("heap", "diff", "--json", *o, "a.heap", n).ok().json(), "diff-1")
                   for n, *o in (("b.heap",), ("c.heap", "--all")))
    a, b = stats("a.heap"), stats("b.heap")
    want = (a["peak_bytes_95"] ** 2 + b["peak_bytes_95"] ** 2) ** 0.5
    expect(abs(same["all"]["change_95"] - want) < 0.01 * want, f"{same['all']}: not ± {want}")
    expect_eq(same["all"]["differs"], False, "in all")
    rows = {f["function"]: f["self"] for f in other["functions"]}
    expect_eq({f: rows[f]["differs"] for f in ("by_calloc", "by_leak")},
              {"by_calloc": False, "by_leak": True}, "what is new, and what is not")
    text = assay("heap", "diff", "a.heap", "b.heap").ok().out
    expect(text.startswith("no difference that the samples can tell\nin all "), text)
    text = assay("heap", "diff", "--all", "a.heap", "c.heap").ok().out
    expect(" ± " in text and "unclear" in text, text)
    expect(max(map(len, text.splitlines())) <= 80, text)
    counts = assay("heap", "diff", "--json", "--metric", "allocations", "a.heap", "c.heap").ok()
    rows = {f["function"]: f["self"] for f in valid(counts.json(), "diff-1")["functions"]}
    expect(rows["by_calloc"]["change_95"] > 0, "an interval of the count")
    assay("heap", "diff", "--share", "a.heap", "c.heap").ok()


@job_test("by one kind of value: no empty columns, the share is of that kind")
def _():
    allocs("peak", "leak")
    for command in "summary", "table":
        text = view(command, "--metric", "allocations")
        head, row = text.splitlines()[1:3]
        expect("bytes" not in head and "own" not in head, head)
        expect(" - " not in row and " 0 %" not in row, row)
        expect("count" not in view(command, "--metric", "bytes").splitlines()[1], command)


@job_test("no difference is said, and a capture that is given to others too")
def _():
    allocs("peak")
    text = assay("heap", "diff", "a.heap", "a.heap").ok().out
    expect(text.startswith("no difference\nin all ") and text.count("\n") == 2, text)
    for words in ("flame", "a.heap"), ("diff", "a.heap", "a.heap"):
        r = assay(*words)
        expect(r.rc and "assay heap" in r.err, f"{words}: {r}")


@job_test("a line of a tree is spelled as a function is")
def _():
    allocs("peak")
    for options in (), ("--lines",):
        text = view("tree", *options)
        expect(re.search(r"by_malloc  \S", text), f"{options}: {text}")


@job_test("a process that becomes other programs is one process")
def _():
    record("sh", "-c", "exec sh -c 'exec true'", options=("--follow-fork",)).ok()
    expect_in("programs in 1 process\n", view("stats"), "stats")


@job_test("a capture of a Python program is called by its script")
def _():
    (tmp() / "job.py").write_text("x = 1\n")
    for command in ("job.py",), ("python3", "job.py"):
        r = assay("heap", "run", "--", *command).ok()
        expect_in("assay-job.py.", r.err, f"{command}")


# --- what is wrong -------------------------------------------------------------------

PAGE = "-o", "x.html"
VIEWS = [("summary",), ("tree",), ("table",), ("table", *PAGE), ("flamegraph", *PAGE),
         ("flamegraph", "--temporal", *PAGE), ("transform", "csv"), ("diff",)]


@job_test("a capture that ends before --from has nothing to show, and says how long it is")
def _():
    allocs("peak")
    for words in ("stats",), ("stats", "--json"), *VIEWS:
        r = assay("heap", *words, "--from", "100s", "a.heap")
        expect_eq((r.rc, r.out), (66, ""), f"{words}: status and output")
        expect(re.search(r"nothing is there from 1m 40s on: the capture lasts \d", r.err), r.err)
    expect(not (tmp() / "x.html").exists(), "an empty page")


@job_test("filters that leave no stack are told, and nothing is drawn")
def _():
    allocs("peak")
    for words in VIEWS:
        files = ("a.heap", "a.heap") if words == ("diff",) else ("a.heap",)
        r = assay("heap", *words, "--focus", "nosuch", *files)
        expect_eq((r.rc, r.out), (66, ""), f"{words}: status and output")
        expect_in("no stack is left after the filters", r.err, words)
        expect_in("assay heap summary", r.err, words)
    expect(not (tmp() / "x.html").exists(), "an empty page")
    # One of two may have no such stack; and what has nothing at all has lost nothing.
    allocs("leak", name="b.heap")
    r = assay("heap", "diff", "--all", "--show-stacks", "by_leak", "a.heap", "b.heap").ok()
    expect_in("by_leak", r.out)
    record("true", name="c.heap").ok()
    assay("heap", "summary", "--leaks", "--until", "1ns", "--focus", "by_leak", "c.heap").ok()


@job_test("what is no capture is refused with a sentence")
def _():
    (tmp() / "a.heap").write_text("no capture\n")
    for command in "stats", "summary", "table", "tree", "flamegraph":
        r = assay("heap", command, "a.heap")
        expect(r.rc in (65, 66) and "a.heap" in r.err, f"{command}: {r.rc} {r.err}")
    expect_eq(assay("heap", "stats", "nothing.heap").rc, 66, "status without a file")


main()
