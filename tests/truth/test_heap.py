#!/usr/bin/env python3
"""Heap: equal to the byte and the count on every CPython and on programs of others; estimates
inside the interval that they are told with."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *
from pythons import *

ALLOCS = work("allocs")
LINES = ["arrays", "natives", "temporary", "methods", "peak", "generators", "coroutines", "deep",
         "callbacks", "threads"]


# --- every CPython ----------------------------------------------------------------

for python in pythons():
    @job_test(f"{python.version}: every marked line, to the byte and the count")
    def _(python=python):
        heap(*amounts(python.path, *LINES)).expect_marks()

    @job_test(f"{python.version}: objects too, and what C allocates beside them")
    def _(python=python):
        h = heap(*amounts(python.path, "objects", *LINES), options=["--python-allocators"])
        h.expect_marks(objects=True)

    @job_test(f"{python.version}: children that are forked and begun anew")
    def _(python=python):
        h = heap(*amounts(python.path, "forks", "workers"), options=["--follow-fork"])
        expect_eq(h.by_function("top_by_size")["process_work"], (5 * 43 * 7002, 5 * 43), "of all")

    @job_test(f"{python.version}: none of the recorded objects is our own doing")
    def _(python=python):
        code = "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(24)"
        h = heap(python.path, "-c", code, options=["--python-allocators"])
        count = h.by_function("top_by_size").get("fib", (0, 0))[1]
        expect(count < 5000, f"{count} allocations by 150,049 calls that need none")


# --- programs of others ---------------------------------------------------------------

MALLOCS = ("malloc", "calloc", "realloc", "aligned", "new")
OTHERS = {
    "a Python that does something": [
        "/usr/bin/python3", "-I", "-c",
        "import json, re, ast\nfor i in range(50): json.loads(json.dumps(list(range(i * 10))))\n"
        "ast.parse(open(ast.__file__).read())"],
    "sqlite": ["sqlite3", ":memory:",
               "CREATE TABLE t (i, s); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
               "FROM c WHERE x < 5000) INSERT INTO t SELECT x, hex(x) FROM c; "
               "CREATE INDEX n ON t (s); SELECT count(*) FROM t GROUP BY i % 7;"],
    "git": ["git", "-C", str(ROOT), "log", "--oneline", "-200", "--stat"],
    "sort": ["sort", "-R", "--random-source=/dev/zero", "/etc/services"],
    "awk": ["awk", "BEGIN { for (i = 0; i < 20000; i++) a[i % 997] = a[i % 997] i; print a[7] }"],
}


@job_test("programs of others: allocations, bytes and frees as a library that only counts sees")
def _():
    env = {"PYTHONHASHSEED": "0", "GIT_PAGER": "cat", "HOME": str(tmp())}
    for name, command in OTHERS.items():
        r, counted = oracle(*command, env=env)
        if r.rc:
            print(f"# {name} is not here: {r.err.strip()[:100]}")
            continue
        h = heap(*command, env=env)
        expect_eq(h.r.out, r.out, f"output of {name}")
        made = h.allocated(*MALLOCS)
        expect_eq(made, (counted[-1]["allocations"], counted[-1]["bytes"]), f"{name}: allocations")


# --- estimates ---------------------------------------------------------------------

RUNS, ENOUGH = 200, 180


@job_test(f"sampled: each figure is inside its 95 % interval in {ENOUGH} of {RUNS} runs", 900)
def _():
    expect_estimates(ALLOCS, "mixed", sample=65536, runs=RUNS, enough=ENOUGH, bias=0.05)


@job_test(f"thinned many times: each figure is inside its interval in {ENOUGH} of {RUNS} runs", 900)
def _():
    for h in expect_estimates(ALLOCS, "tide", sample=64, runs=RUNS, enough=ENOUGH, bias=0.02,
                              env={"ASSAY_HEAP_SLOTS": "4096"}):
        h.expect_nothing_lost()
        expect(h.doc["sample_bytes"] >= 64 << 5, f"thinned to one in {h.doc['sample_bytes']}")


@job_test(f"objects of Python that grow: each figure inside in {ENOUGH} of {RUNS} runs", 900)
def _():
    code = ("kept = [[None] * 50 for _ in range(999)]\n"
            "for i in range(300):\n    grown = []\n    for j in range(3000): grown.append(None)\n"
            "b = bytearray()\nfor i in range(20000): b += bytes(50)\nimport os; os._exit(0)")
    command = ["/usr/bin/python3", "-I", "-S", "-c", code]
    how = {"options": ["--python-allocators"], "env": {"PYTHONHASHSEED": "0"}}
    exact = heap(*command, **how).doc
    truth = {own: exact[f"{key}_bytes"] for own, key in
             (("bytes", "total_allocated"), ("left", "leaked"), ("peak", "peak"))}
    expect_estimates(*command, sample=65536, runs=RUNS, enough=ENOUGH, bias=0.01,
                     truth={**truth, "sites": []}, **how)


@job_test("sampled: a big block is always seen, and by itself exact")
def _():
    for _ in range(20):
        h = heap(ALLOCS, "peak", options=["--sample", "4096"])
        expect(abs(h.doc["peak_bytes"] - 97 * 500009) <= max(1, 0.001 * 97 * 500009),
               f"peak {h.doc['peak_bytes']}")


# --- many ---------------------------------------------------------------------------

@job_test("a thousand threads of Python at once: all have their names, and no other is listed")
def _():
    code = ("import threading, time\ngo = threading.Event()\n"
            "def work(): x = bytearray(3000); go.wait()\n"
            "ts = [threading.Thread(target=work, name=f'worker-{i}') for i in range(1000)]\n"
            "for t in ts: t.start()\ntime.sleep(1)\ngo.set()\nfor t in ts: t.join()")
    d = heap("/usr/bin/python3", "-c", code).doc
    named = {t["name"] for t in d["threads"]} & {f"worker-{i}" for i in range(1000)}
    expect_eq((len(d["threads"]), len(named)), (1001, 1000), "threads, and those with their names")
    expect(all(t["tid"] for t in d["threads"]), "a thread without a number")


for number in (300, 1000):
    @job_test(f"{number:,} children, one after the other: none is lost", 900)
    def _(number=number):
        h = heap(ALLOCS, f"forks{number}", options=["--follow-fork"], timeout=850)
        expect_eq(len(h.doc["processes"]), number + 1, "processes")
        for key, own in (("total_allocations", "allocations"), ("leaked_bytes", "left")):
            expect_eq(h.doc[key], sum(t[own] for t in h.truth), key)


main()
