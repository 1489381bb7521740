#!/usr/bin/env python3
"""`assay heap` of programs that are strange or in trouble: they do not notice, and it is said."""
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *
from pythons import *


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


# --- a Python that comes later ---------------------------------------------------------

EMBEDDED = """
def held():
    return [bytearray(10007) for _ in range(101)]
keep = held()
"""


@job_test("a Python that a program loads while it runs: its lines, and objects when asked for")
def _():
    shared = [p for p in pythons() if library_of(p)]
    if not shared:
        skip("no Python here has a shared library")
    for python in {shared[0], shared[-1]}:
        command = [work("embed"), library_of(python), EMBEDDED]
        home = {"PYTHONHOME": str(pathlib.Path(python.path).resolve().parents[1])}
        for how, options in (([], []), (["local"], ["--native"])):
            made = heap(*command, *how, options=options, env=home).by_function("top_by_size")
            at = {name: made[name] for name in ("held", "<listcomp>") if name in made}
            expect(max(n for n, _ in at.values()) > 101 * 10008, f"3.{python.minor} {how}: {at}")
        h = heap(*command, options=["--python-allocators"], env=home)
        made = {a["allocator"]: a["allocations"] for a in h.doc["allocators"]}
        expect(made.get("object malloc", 0) > 101, f"3.{python.minor}: {made}")


# --- thrown out ------------------------------------------------------------------

@job_test("threads that siglongjmp() throws out of malloc, over and over, are heard afterwards")
def _():
    for threads in (1, 3):
        h = heap(work("leap"), threads, timeout=300)
        expect_eq(h.by_function("top_by_size")["calm"], (h.truth[0]["bytes"], h.truth[0]["count"]),
                  f"{threads} threads: bytes and count")


@job_test("nobody waits for a lock of one that was thrown out")
def _():
    heap(work("leap"), 3, options=["--sample", "64KiB"], timeout=300)


# --- killed ------------------------------------------------------------------------

def doors():
    return sorted(tmp().glob("assay-heap-*"))


@job_test("the folder of a session that was killed is swept by a later one, one in use is not")
def _():
    env = {"TMPDIR": str(tmp()), "XDG_RUNTIME_DIR": ""}
    command = [ASSAY, "heap", "run", "-q", "-f", "-o"]
    killed = start(*command, "a.heap", "--", "sleep", "60", env=env)
    wait_for(lambda: len(doors()) == 1 and (doors()[0] / "door").exists(), 30)
    left = doors()[0]
    lives = start(*command, "b.heap", "--", work("allocs"), "slow", env=env)
    wait_for(lambda: len(doors()) == 2, 30)
    used, = set(doors()) - {left}
    wait_for((used / "door").exists, 30)
    stop(killed, signal.SIGKILL)
    expect_eq(left.exists(), True, "it is left")
    long_ago = time.time() - 600
    for folder in (left, used):
        os.utime(folder, (long_ago, long_ago))
    run(*command, "c.heap", "--", "true", env=env).ok()
    expect_eq((left.exists(), used.exists()), (False, True), "swept, in use")
    expect_eq(lives.wait(60), 0, "the one in use")
    expect_eq(doors(), [], "folders at the end")


main()
