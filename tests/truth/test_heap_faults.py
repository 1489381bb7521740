#!/usr/bin/env python3
"""Heap: what is killed at any moment leaves a file that every view can read; and assay itself, all
of it, is the same with a guest inside."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *

MODES = {"exact": [], "native": ["--native"], "objects": ["--python-allocators"],
         "sampled": ["--sample", "4096"], "aggregate": ["--aggregate"],
         "children": ["--follow-fork"],
         "all": ["--aggregate", "--native", "--python-allocators", "--follow-fork"]}
VIEWS = (["summary"], ["tree"], ["table"], ["flamegraph", "-o", "x.html"], ["transform", "folded"])
PROGRAM = """
import json, os, threading
def work(n):
    keep = []
    for i in range(n):
        keep.append(bytearray(1000 + i % 97))
        json.dumps([i] * 10)
        if i % 7 == 0:
            del keep[:3]
print(os.getpid(), flush=True)
all = [threading.Thread(target=work, args=(20000,)) for _ in range(3)]
for t in all:
    t.start()
for _ in range(5):
    if not os.fork():
        work(2000)
        os._exit(0)
work(20000)
"""


def killed(mode, who, after):
    """What is left when one of them is killed so many seconds after the program began."""
    p = start(ASSAY, "heap", "run", "--quiet", "--no-store", *MODES[mode], "--force", "-o", FILE,
              "--", "/usr/bin/python3", "-c", PROGRAM, stdout=subprocess.PIPE, text=True)
    target = int(p.stdout.readline())
    time.sleep(after)
    try:
        os.kill(p.pid if who == "assay" else target, signal.SIGKILL)
    except ProcessLookupError:
        pass                        # it was faster
    p.wait(60)
    doc = heap_stats()
    for view in VIEWS:
        r = assay("heap", *view, FILE)
        if is_early(doc):
            expect(r.rc == 66 and "is not known" in r.err, f"{view}: {r}")
        else:
            r.ok()
    stop(p, signal.SIGKILL)
    return doc


def is_early(doc):
    """It ends before anything was written of what the program allocated."""
    return doc["total_allocations"] is None


for mode in MODES:
    @job_test(f"killed at random moments, {mode}: the file is good each time", 600)
    def _(mode=mode):
        moments = random.Random(len(mode))
        for who in ("program", "assay") * 4:
            after = moments.random() ** 2
            doc = killed(mode, who, after)
            what = f"{who} after {after:.3f} s"
            if is_early(doc):
                expect(who == "assay" and after < 0.5 and not doc["complete"], f"{what}: {doc}")
                continue
            expect(doc["peak_bytes"] <= doc["total_allocated_bytes"], f"{what}: {doc}")
            if mode != "sampled":
                expect(doc["total_frees"] <= doc["total_allocations"], f"{what}: {doc}")
            if who == "program":
                expect(doc["complete"] and doc["total_allocations"] > 1000, f"{what}: {doc}")


@job_test("a group's memory is used up: the kernel kills the program, and who had it is told")
def _():
    group = pathlib.Path("/sys/fs/cgroup/memory") / f"assay-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(64 << 20))
    except OSError as e:
        skip(f"no group with a limit of memory can be made: {e}")
    code = "def hold(keep):\n while True: keep.append(bytearray(1 << 20))\nhold([])"
    try:
        r = run(ASSAY, "heap", "run", "--quiet", "--no-store", "-o", FILE, "--", "sh", "-c",
                'echo $$ >"$0" && exec "$@"', group / "cgroup.procs",
                "/usr/bin/python3", "-c", code)
        expect_eq(r.rc, -signal.SIGKILL, "how it ended")
        most = heap_stats()["peak_by_line"][0]
        expect_eq((most["function"], most["line"]), ("hold", 2), "who had it")
        expect(32 << 20 < most["bytes"] < 64 << 20, f"{most}")
    finally:
        group.rmdir()


@job_test("every golden test passes with a guest in each process of it", 600)
def _():
    r = run(ASSAY, "heap", "run", "--quiet", "--no-store", "--follow-fork", "-o", FILE, "--",
            sys.executable, ROOT / "tests/golden/run.py", "--build", BUILD, timeout=580)
    expect_eq(([x for x in r.out.splitlines() if x.startswith("not ok")], r.rc), ([], 0), r.err)
    processes = heap_stats()["processes"]
    expect(len(processes) > 300, f"{len(processes)} processes")
    expect_eq([p for p in processes if p["problem"] or p["lost_events"]], [], "not as they should")


main()
