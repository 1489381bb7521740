#!/usr/bin/env python3
"""Targets that are not what they seem, or not any more: a clear line and the right status."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from pythons import *

PYTHON = pythons()[-1]
MINORS = (8, 9, 10, 11, 12, 13, 14, 15)


def fake(mode, minor, seconds=30):
    """A process that exports CPython's runtime, and what is in it is not."""
    p = start(work("fakepy"), mode, minor, seconds, stdout=subprocess.PIPE, text=True)
    expect_eq(p.stdout.readline(), "ready\n", "its first line")
    return p


def python(code):
    p = start(PYTHON.path, "-c", code, stdout=subprocess.PIPE, text=True)
    expect_eq(p.stdout.readline(), "ready\n", "its first line")
    return p


def calm(r, what):
    """It ended by itself, with a status that is documented; an error is one line and a hint."""
    expect(r.rc in (0, 65, 66, 69, 77), f"{what}: exit status {r.rc}\n{r.out}{r.err}")
    if r.rc:
        expect(r.err.startswith("assay: ") and len(r.err.splitlines()) <= 2, f"{what}: {r.err}")


for mode in ("garbage", "self", "mesh", "table", "vanish"):
    @job_test(f"a runtime of {mode} is refused or yields nothing, in every version")
    def _(mode=mode):
        for minor in MINORS:
            p = fake(mode, minor)
            r = assay("record", "-p", p.pid, "-d", 0.15, "-r", 300, "--mode", "wall,gil", "-F",
                      "-f", "folded", timeout=60)
            calm(r, f"record of {mode} 3.{minor}")
            if minor in (8, 11, 13):
                calm(assay("dump", "--locals", p.pid), f"dump of {mode} 3.{minor}")
                calm(assay("top", "-d", 0.2, p.pid), f"top of {mode} 3.{minor}")
            expect(p.poll() is None, "the target ended")
            stop(p)


@job_test("a Python that becomes another program: what was seen is kept")
def _():
    p = python("import os, time\nprint('ready', flush=True)\n"
               "def spin():\n  e = time.time() + 1.5\n  while time.time() < e: pass\n"
               "spin(); os.execvp('sleep', ['sleep', '2'])")
    r = assay("record", "-q", "-p", p.pid, "-d", 3, "-f", "folded", "-F").ok()
    expect_in("spin", r.out)


@job_test("a Python that becomes another Python is found again")
def _():
    again = ("import time\ndef second():\n  e = time.time() + 20\n  while time.time() < e: pass\n"
             "second()")
    p = python("import os, sys, time\nprint('ready', flush=True)\n"
               "def first():\n  e = time.time() + 1\n  while time.time() < e: pass\n"
               f"first(); os.execv(sys.executable, [sys.executable, '-c', {again!r}])")
    r = assay("record", "-q", "-p", p.pid, "-d", 4, "-f", "folded", "-F").ok()
    stop(p)
    expect_in("first", r.out)
    expect_in("second", r.out)


@job_test("a Python that is killed in the middle: what was seen is kept, and it is over at once")
def _():
    p = script(PYTHON, "split", 0.5, 60)
    killer = start("sh", "-c", f"sleep 1; kill -9 {p.pid}")
    began = time.monotonic()
    r = assay("record", "-q", "-p", p.pid, "-d", 90, "-f", "folded", "-F").ok()
    expect(time.monotonic() - began < 60, "it went on without its target")
    expect_in("burn_first", r.out)
    killer.wait()


@job_test("a stopped Python is seen as it stands, by the clock; it used no CPU and stays stopped")
def _():
    p = script(PYTHON, "split", 0.5, 60)
    os.kill(p.pid, signal.SIGSTOP)
    state = lambda: open(f"/proc/{p.pid}/stat").read().rpartition(")")[2].split()[0]
    wait_for(lambda: state() == "T", what="it is stopped")
    cpu = assay("record", "-q", "-p", p.pid, "-d", 0.5, "-f", "folded", "-F").ok().out
    wall = assay("record", "-q", "-p", p.pid, "-d", 0.5, "--mode", "wall", "-f", "folded",
                 "-F").ok().out
    expect_eq(cpu, "", "stacks that used the CPU")
    expect_in("main", wall)
    expect_eq(len(wall.splitlines()), 1, "stacks of one that does not move")
    expect_eq(state(), "T", "its state")
    stop(p, signal.SIGKILL)


@job_test("a process that has ended and was not waited for is told so")
def _():
    p = start("sh", "-c", "exec sleep 0.01")
    wait_for(lambda: not alive(p.pid), what="it has ended")
    for words in (["record", "-d", 0.2, "-p", p.pid], ["top", "-d", 0.2, p.pid],
                  ["dump", p.pid]):
        r = assay(*words)
        expect_eq(r.rc, 66, f"exit status of {words} ({r.err})")
        expect_in("has ended", r.err)


@job_test("without the right to read it the exact remedy is told, and nothing is run")
def _():
    folder = public()
    p = script(PYTHON, "split", 0.5, 60)
    for words in (["record", "-d", 0.2, "-p", p.pid], ["top", "-d", 0.2, p.pid],
                  ["dump", p.pid]):
        r = run(*as_nobody(folder / "assay", *words), cwd=folder)
        expect_eq(r.rc, 77, f"exit status of {words} ({r.err})")
        expect_in("be root", r.err)
        expect_in("SYS_PTRACE", r.err)
    stop(p)


@job_test("a file that is gone, with a pipe in its place, holds nobody up")
def _():
    folder = public()
    copy = folder / "app"
    copy.write_bytes(open(work("fakepy"), "rb").read())
    copy.chmod(0o755)
    p = start(*as_nobody(copy, "garbage", 11, 30), stdout=subprocess.PIPE, text=True, cwd=folder)
    expect_eq(p.stdout.readline(), "ready\n", "its first line")
    copy.unlink()
    os.mkfifo(folder / "app (deleted)", 0o666)
    r = run(*as_nobody(folder / "assay", "record", "--no-store", "-d", 0.2, "-p",
                       p.pid), cwd=folder, timeout=30)
    calm(r, "record of a program that was deleted")
    stop(p)


main()
