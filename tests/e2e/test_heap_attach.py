#!/usr/bin/env python3
"""`assay heap attach`: what a running program allocates from a known moment on, and that it
goes on afterwards as it was."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *

REFUSED, DENIED, NOT_FOUND, USAGE = 69, 77, 66, 2


class Target:
    """A program that is told what to do, line by line."""

    def __init__(self, *command, env=None):
        self.p = start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.pid = self.p.pid
        read_line(self.p, "ready")

    def tell(self, *words):
        self.p.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.p.stdin.flush()
        return read_line(self.p, "done")

    def end(self):
        """Nothing it does itself has gone wrong, and it ends by itself."""
        self.p.stdin.close()
        expect_eq(self.p.wait(30), 0, "how the program ended")


class Attached:
    """assay, attached: it records from now on, until left() or the program's end."""

    def __init__(self, pid, *options):
        self.p = start(ASSAY, "heap", "attach", "--no-store", "-f", "-o", FILE, *options, pid,
                       stderr=subprocess.PIPE, text=True)
        self.line = read_error(self.p)
        expect_in(f"attached to process {pid}", self.line)

    def left(self):
        self.p.send_signal(signal.SIGINT)
        return self.ended()

    def ended(self):
        self.err = self.p.communicate(timeout=60)[1]
        expect_eq(self.p.returncode in (0, 130), True, f"{self.p.returncode}: {self.err}")
        return Heap(run("true"), heap_stats(FILE))


def read_error(p):
    line = p.stderr.readline()
    expect(line, "assay ended and said nothing")
    return line


def attachee(**how):
    return Target(work("attachee"), **how)


def hooks(pid):
    """Words of the program's own table that lead into the library."""
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    ranges = [tuple(int(x, 16) for x in line.split()[0].split("-"))
              for line in maps if "assay-heap.so" in line]
    low, high = (min(r[0] for r in ranges), max(r[1] for r in ranges)) if ranges else (0, 0)
    found = 0
    with open(f"/proc/{pid}/mem", "rb") as mem:
        for line in maps:
            if "attachee" in line and not line.endswith("(deleted)") and " r" in line:
                a, b = (int(x, 16) for x in line.split()[0].split("-"))
                mem.seek(a)
                data = mem.read(b - a)
                found += sum(low <= int.from_bytes(data[i:i + 8], "little") < high
                             for i in range(0, len(data) - 7, 8))
    return found


def threads(pid):
    return sorted(p.joinpath("comm").read_text().strip()
                  for p in pathlib.Path(f"/proc/{pid}/task").iterdir())


# --- what is counted -----------------------------------------------------------------

@job_test("what is allocated while assay is there is counted, to the byte; before and after not")
def _():
    t = attachee()
    t.tell("make", 11, 2003)
    a = Attached(t.pid)
    expect("assay-heap" in threads(t.pid), f"threads {threads(t.pid)}")
    expect(hooks(t.pid) > 0, "hooks are in place")
    t.tell("make", 13, 1013)
    t.tell("drop", 3)
    h = a.left()
    t.tell("make", 17, 3001)
    expect_eq(h.by_function("top_by_size"), {"by_make": (13 * 1013, 13)}, "made")
    expect_eq((h.doc["total_frees"], h.doc["leaked_bytes"], h.doc["peak_bytes"]),
              (3, 10 * 1013, 13 * 1013), "freed, left, peak")
    p, = h.doc["processes"]
    expect_eq((p["attached"], p["frees_of_before"], p["lost_events"], p["killed"]),
              (True, 0, 0, False), "of the process")
    t.end()


@job_test("frees of blocks from before are counted apart, and nothing is negative")
def _():
    t = attachee()
    a = Attached(t.pid)
    t.tell("early", 23)
    t.tell("grow")
    t.tell("make", 2, 101)
    h = a.left()
    t.end()
    p, = h.doc["processes"]
    expect_eq(p["frees_of_before"], 24, "frees of before")
    expect_eq((h.doc["total_allocations"], h.doc["total_frees"]), (3, 0), "made, freed")
    expect_eq((h.doc["leaked_bytes"], h.doc["peak_bytes"]), (20011 + 202,) * 2, "left, peak")
    said = assay("heap", "stats", FILE).ok().out
    expect_in("allocated before is not known; it has freed 24 of these since",
              " ".join(said.split()))


@job_test("a mapping that comes and goes, and a library that is loaded meanwhile, are seen")
def _():
    t = attachee()
    a = Attached(t.pid)
    t.tell("map")
    t.tell("load", work("libstrange.so"))
    h = a.left()
    expect_eq(h.by_function("top_by_size")["strange_alloc"], (5 * 5003, 5), "of the library")
    expect_eq(h.allocated("mmap")[1], 65536, "mapped")
    t.tell("drop", 5)
    t.end()


@job_test("sampled and aggregated recordings can be attached too")
def _():
    t = attachee()
    a = Attached(t.pid, "--aggregate")
    t.tell("make", 7, 1013)
    expect_eq(a.left().by_function("top_by_size"), {"by_make": (7091, 7)}, "aggregated")
    a = Attached(t.pid, "--sample", 4096)
    t.tell("make", 100, 5003)                  # more than the rate: each is recorded
    t.tell("drop", 100)
    h = a.left()
    expect_eq(h.by_function("top_by_size"), {"by_make": (500300, 100)}, "sampled")
    expect_eq((h.doc["leaked_bytes"], h.doc["processes"][0]["frees_of_before"]), (0, None), "left")
    t.end()


# --- the process goes on as it was -----------------------------------------------------

@job_test("when assay has left, no hook and no thread is there; it can come again")
def _():
    t = attachee()
    for size in (1013, 2003, 3001):
        a = Attached(t.pid)
        t.tell("make", 5, size)
        h = a.left()
        expect_eq(h.by_function("top_by_size"), {"by_make": (5 * size, 5)}, "made")
        expect_eq((hooks(t.pid), threads(t.pid)), (0, ["attachee"]), "hooks and threads left")
    t.end()


@job_test("it ends with --duration, and when the program does")
def _():
    t = attachee()
    a = Attached(t.pid, "-d", "0.2")
    a.ended()
    expect_eq(hooks(t.pid), 0, "hooks")
    a = Attached(t.pid)
    t.tell("make", 3, 1013)
    t.end()
    h = a.ended()
    expect_eq(h.by_function("top_by_size")["by_make"], (3 * 1013, 3), "made")


@job_test("threads that allocate all the time do not notice 20 times coming and going", seconds=240)
def _():
    t = attachee()
    t.tell("churn", 3)
    for _ in range(20):
        a = Attached(t.pid, "--sample", "1MiB", "--aggregate")
        a.left()
    t.tell("calm")
    expect_eq(hooks(t.pid), 0, "hooks")
    t.end()


@job_test("assay is killed: the program goes on, and is as it was soon after")
def _():
    t = attachee()
    a = Attached(t.pid)
    t.tell("make", 3, 1013)
    a.p.kill()
    a.p.wait()
    t.tell("make", 3, 1013)
    wait_for(lambda: threads(t.pid) == ["attachee"], 30, "its thread to leave")
    expect_eq(hooks(t.pid), 0, "hooks")
    a = Attached(t.pid)
    t.tell("make", 5, 1013)
    expect_eq(a.left().by_function("top_by_size"), {"by_make": (5 * 1013, 5)}, "made")
    t.end()


@job_test("a child that is forked meanwhile goes its way, and is not recorded")
def _():
    t = attachee()
    a = Attached(t.pid)
    t.p.stdin.write("fork\n")
    t.p.stdin.flush()
    read_line(t.p, "status 7")
    h = a.left()
    expect_eq([p["pid"] for p in h.doc["processes"]], [t.pid], "processes")
    t.end()


main()
