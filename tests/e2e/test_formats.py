#!/usr/bin/env python3
"""Profiles of Python's own profilers, in and out, with each Python that is here."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from pythons import *

PROFILES = ROOT / "tests/fixtures/profiles"
MADE = """
import cProfile
def leaf(n): return sum(i * i for i in range(n))
def branch(n): return leaf(n) + leaf(n // 2)
def recurse(n): return leaf(50) + (recurse(n - 1) if n else 0)
def main(): return branch(3000), recurse(5), leaf(100)
p = cProfile.Profile()
p.runcall(main)
p.dump_stats("made.prof")
"""
# What pstats knows of each function but primitive calls, and who called it.
SAID = """
import json, pstats, sys
print(json.dumps({str(k): [v[1], v[2], v[3], sorted(map(str, v[4]))]
                  for k, v in pstats.Stats(sys.argv[1]).stats.items()}))
"""


def said(python, file):
    return run(python.path, "-c", SAID, file).ok().json()


def about(a, b):
    return abs(a - b) < 2e-9 + 1e-6 * abs(b)


for python in pythons():
    @test(f"3.{python.minor}: what cProfile kept is read, and pstats reads what we write of it")
    def _(python=python):
        run(python.path, "-c", MADE).ok()
        assay("convert", "made.prof", "again.prof").ok()
        one, other = said(python, "made.prof"), said(python, "again.prof")
        expect_eq(sorted(other), sorted(one), "functions")
        for name in one:
            expect_eq(other[name][0], one[name][0], f"calls of {name}")
            expect(about(other[name][1], one[name][1]), f"own time of {name}: {one}, {other}")
            expect(about(other[name][2], one[name][2]), f"cumulative: {one[name]}, {other[name]}")
            expect_eq(other[name][3], one[name][3], f"callers of {name}")


@test("samples become statistics that pstats prints")
def _():
    python = pythons()[-1]
    (tmp() / "a.folded").write_text("main (a.py:9);work (w.py:3) 3\n"
                                    "main (a.py:9);work (w.py:4) 2\n"
                                    "main (a.py:9);work (w.py:3);work (w.py:3) 4\n"
                                    "main (a.py:9) 1\n")
    assay("convert", "a.folded", "a.prof").ok()
    found = said(python, "a.prof")
    expect_eq(found["('a.py', 0, 'main')"][:3], [10, 1.0, 10.0], "main")
    expect_eq(found["('w.py', 0, 'work')"][:3], [9, 9.0, 9.0], "work: recursion counts once")
    r = run(python.path, "-c", "import pstats; pstats.Stats('a.prof').print_callers()").ok()
    expect_in("(main)", r.out)


@test("one profile through every format keeps what each function had")
def _():
    want = {"main.spin": 17, "runtime.asyncPreempt": 6}
    for ending in "pb.gz", "folded", "speedscope.json", "callgrind":
        assay("convert", "--metric", "samples", PROFILES / "go-cpu.pb.gz", f"x.{ending}").ok()
        r = assay("convert", "--metric", "samples", "-F", f"x.{ending}", "-f", "folded", "-").ok()
        found = {}
        for line in r.out.splitlines():
            frames, _, count = line.rpartition(" ")
            leaf = frames.split(";")[-1]
            found[leaf] = found.get(leaf, 0) + int(count)
        expect_eq(found, want, ending)


@test("a small file that unpacks to a huge one is refused")
def _():
    (tmp() / "bomb.pb.gz").write_bytes(bomb())
    r = assay("convert", "bomb.pb.gz", "x.folded")
    expect_eq(r.rc, 65, "exit status")
    expect_in("unpacks to more than", r.err)


def bomb():
    """600 MiB of zeros, as gzip."""
    import zlib
    z = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(z.compress(bytes(1 << 20)) for _ in range(600)), z.flush()])


main()
