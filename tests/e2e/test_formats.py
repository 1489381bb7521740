#!/usr/bin/env python3
"""Profiles of Python's own profilers, in and out, with each Python that is here."""
import gzip
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from pythons import *
from schemas import *

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


def taken():
    """A profile of ours, and what it must say of how its samples were taken."""
    code = "x = 0\nfor i in range(5_000_000): x += i"
    assay("record", "-r", 200, "-o", "x.pb.gz", "--stats-json", "stats.json", "--no-store", "--",
          pythons()[-1].path, "-c", code).ok()
    stats = json.loads((tmp() / "stats.json").read_text())
    return f"{100 * stats['rejected_ratio']:.2f} % rejected", stats


@test("every format says how many samples were rejected, or standard error does")
def _():
    words, stats = taken()
    raw = gzip.decompress((tmp() / "x.pb.gz").read_bytes())
    expect(f"assay: samples={stats['samples']} rejected={stats['rejected']} ".encode() in raw, raw)
    expect(words.encode() in raw, "not in pprof's comment")
    for ending in "speedscope.json", "firefox.json", "callgrind", "svg":
        r = assay("convert", "x.pb.gz", f"y.{ending}").ok()
        expect_in(words, (tmp() / f"y.{ending}").read_text(), ending)
        expect("rejected" not in r.err, f"standard error of {ending}: {r.err}")
    for ending in "folded", "prof":
        expect_in(words, assay("convert", "x.pb.gz", f"y.{ending}").ok().err, ending)
    assay("flame", "x.pb.gz", "-o", "y.html").ok()
    expect_in(words, (tmp() / "y.html").read_text(), "page")
    assay("merge", "-o", "two.pb.gz", "x.pb.gz", "x.pb.gz").ok()
    double = gzip.decompress((tmp() / "two.pb.gz").read_bytes())
    expect(f"samples={2 * stats['samples']} ".encode() in double, "a merge adds up")


@test("of many threads none is lost without a word, whatever the format")
def _():
    lines = (f"py 7/{1000 + i} 10.{i:06}: {1 + i} cycles:u:\n\t 7f00 work+0x1 (/x)\n\n"
             for i in range(300))
    (tmp() / "x.perf").write_text("".join(lines))
    r = assay("convert", "-t", "x.perf", "x.speedscope.json").ok()
    lists = json.loads((tmp() / "x.speedscope.json").read_text())["profiles"]
    expect_eq((len(lists), r.err), (600, ""), "lists of two kinds")
    r = assay("convert", "x.perf", "x.firefox.json").ok()
    expect_in("assay: the 45 threads with least are one in it: firefox bears no more", r.err)
    threads = json.loads((tmp() / "x.firefox.json").read_text())["threads"]
    expect_eq([t["name"] for t in threads], ["py"] * 255 + ["45 others"], "threads")
    expect_eq(sum(sum(t["samples"]["weight"]) for t in threads), 300 * 301 / 2, "cycles")
    for ending in "folded", "callgrind", "prof":
        assay("convert", "-t", "x.perf", f"x.{ending}").ok()
        found = set(re.findall(rb"thread 1\d{3}", (tmp() / f"x.{ending}").read_bytes()))
        expect_eq(len(found), 300, ending)


@test("every view of a profile says how many samples were rejected; of another tool's nothing")
def _():
    words, stats = taken()
    expect_in(words, assay("report", "--stacks", "x.pb.gz").ok().out)
    told = assay("report", "--stacks", "--json", "--metric", "cpu", "x.pb.gz").ok().json()
    expect_eq(valid(told, "stacks-1")["sampling"]["rejected"], stats["rejected"], "rejected")
    diff = assay("diff", "x.pb.gz", "x.pb.gz").ok().out
    expect_in(f"before: {stats['samples']} samples, {words}", diff.replace("\u202f", ""))
    told = valid(assay("diff", "--json", "x.pb.gz", "x.pb.gz").ok().json(), "diff-1")
    expect_eq(told["sampling"]["after"]["samples"], stats["samples"], "samples")
    (tmp() / "other.folded").write_text("a;b 3\n")
    expect("rejected" not in assay("report", "--stacks", "other.folded").ok().out, "made up")
    told = assay("report", "--stacks", "--json", "other.folded").ok().json()
    expect_eq(told["sampling"], None, "of another tool")


@test("what has nothing on either side is in no difference; the heavy come first")
def _():
    (tmp() / "p.folded").write_text("m (a.py);light (a.py) 1\nm (a.py);heavy (a.py) 5\n")
    (tmp() / "q.folded").write_text((tmp() / "p.folded").read_text() + "m (a.py);new (a.py) 2\n")
    r = assay("diff", "p.folded", "q.folded").ok().out.splitlines()
    expect_eq([line.split()[-2] for line in r[1:4]], ["new", "heavy", "light"], "the rows")
    expect_in("samples: in all 6 before", r[4])
    expect_eq(len(r), 5, "lines")


def folded_sum(*words):
    r = assay("convert", *words, "-f", "folded", "-").ok()
    return sum(int(line.rsplit(" ", 1)[1]) for line in r.out.splitlines()), r.err


@test("of several kinds of value the main one is taken, and told")
def _():
    total, said = folded_sum(PROFILES / "callgrind.out")
    expect_eq(total, 90191, "Ir, as callgrind itself sums it up")
    expect_in("the values are of 'Ir'", said)
    assay("convert", PROFILES / "callgrind.out", "x.pb.gz").ok()
    expect_eq(folded_sum("x.pb.gz")[0], total, "of a pprof that names it")
    for file in PROFILES / "callgrind.out", "x.pb.gz":
        expect_eq(assay("report", "--stacks", "--json", file).ok().json()["metric"], "Ir", "metric")
    expect_in("'inuse_space'", folded_sum(PROFILES / "go-heap.pb.gz")[1])


@test("two profiles are compared by what both have")
def _():
    for name, kinds in (("a", "cpu,gil"), ("b", "cpu")):
        assay("record", "-q", "--mode", kinds, "-o", f"{name}.pb.gz", "--", pythons()[-1].path,
              "-c", "import time; e = time.time() + .5\nwhile time.time() < e: pass").ok()
    for pair in ("a.pb.gz", "b.pb.gz"), ("b.pb.gz", "a.pb.gz"):
        expect_eq(assay("diff", "--json", *pair).ok().json()["metric"], "cpu", f"metric of {pair}")
    r = assay("diff", "--metric", "gil", "a.pb.gz", "b.pb.gz")
    expect_eq(r.rc, 2, "exit status where one has it not")
    r = assay("diff", PROFILES / "callgrind.out", "b.pb.gz")
    expect_eq(r.rc, 2, "exit status where they have none")
    expect_in("no metric in common", r.err)


for python in pythons():
    @test(f"3.{python.minor}: totals of a pstats file are its cumulative times")
    def _(python=python):
        run(python.path, "-c", MADE).ok()
        truth = {eval(name)[2]: v for name, v in said(python, "made.prof").items()}
        assay("convert", "made.prof", "made.pb.gz").ok()
        for file in "made.prof", "made.pb.gz":
            doc = assay("report", "--stacks", "--json", file).ok().json()
            for f in doc["functions"]:
                _, own, cumulative, _ = truth[f["function"]]
                expect(about(f["self"] / 1e9, own), f"own time of {f}: {own}")
                expect(about(f["total"] / 1e9, cumulative), f"total of {f}: {cumulative}")


@test("what a file does not tell is no total: '-' and null")
def _():
    for words in (PROFILES / "callgrind.out",), ("--hide-frames", "sum", PROFILES / "profile.prof"):
        doc = assay("report", "--stacks", "--json", *words).ok().json()
        expect_eq({f["total"] for f in doc["functions"]}, {None}, f"totals of {words}")
        text = assay("report", "--stacks", *words).ok().out.splitlines()
        expect_eq(text[1].split()[2], "-", f"total in {text[1]}")
    r = assay("diff", "--by", "total", PROFILES / "callgrind.out", PROFILES / "callgrind.out")
    expect_eq(r.rc, 2, "exit status")


@test("callers of one name are told apart by their files, and one function is one")
def _():
    (tmp() / "p.folded").write_text("<module> (a.py:1);f (f.py:1) 3\n"
                                    "<module> (b.py:1);f (f.py:1) 3\n")
    r = assay("report", "--stacks", "p.folded").ok().out
    for part in "called by  <module> (a.py) 50 %", " <module> (b.py) 50 %":
        expect_in(part, r)
    (tmp() / "one.folded").write_text("f (f.py:1) 3\n")
    expect_in("in 1 function\n", assay("report", "--stacks", "one.folded").ok().out)


@test("with --callers it is still told who calls whom")
def _():
    (tmp() / "p.folded").write_text("main;near;hot 3\nmain;far;hot 1\n")
    words = "report", "--stacks", "--focus", "hot", "--callers", "p.folded"
    r = " ".join(assay(*words).ok().out.split())
    expect_in("hot called by near 75 % · far 25 %", r)
    expect_in("near called by main 75 % calls hot 75 %", r)
    told = {f["function"]: f for f in assay(*words, "--json").ok().json()["functions"]}
    for name, callers, callees in (("hot", ["near", "far"], []), ("main", [], ["near", "far"])):
        for key, names in ("callers", callers), ("callees", callees):
            expect_eq([f["function"] for f in told[name][key]], names, f"{key} of {name}")


@test("filters that leave no stack are told, and nothing is drawn")
def _():
    (tmp() / "p.folded").write_text("a;b 3\n")
    for words in (("flame", "-o", "x.svg"), ("report", "--stacks")):
        r = assay(*words, "--show-stacks", "nothing", "p.folded")
        expect_eq(r.rc, 66, f"exit status of {words[0]}")
        expect_in("no stack is left", r.err)
    for words in (("convert", "p.folded", "x.svg"), ("merge", "-o", "x.svg", "p.folded"),
                  ("diff", "-o", "x.svg", "p.folded", "p.folded")):
        r = assay(words[0], "--show-stacks", "nothing", *words[1:])
        expect_eq(r.rc, 66, f"exit status of {words[0]}")
        expect_in("no stack is left", r.err)
    expect(not (tmp() / "x.svg").exists(), "an empty picture")


@test("a profile without stacks is converted; of two that are filtered one may have no such stack")
def _():
    (tmp() / "none.folded").write_text("")
    (tmp() / "p.folded").write_text("a;b 3\n")
    (tmp() / "q.folded").write_text("a;c 2\n")
    assay("convert", "--from", "folded", "none.folded", "x.folded").ok()
    assay("merge", "--show-stacks", "c", "-o", "x.folded", "p.folded", "q.folded").ok()
    expect_eq((tmp() / "x.folded").read_text(), "a;c 2\n", "merged")
    expect_in("c", assay("diff", "--show-stacks", "c", "p.folded", "q.folded").ok().out)


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
