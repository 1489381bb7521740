#!/usr/bin/env python3
"""Profiles in the formats of others, read by those others, and theirs read by us."""
import collections
import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from harness import *
from pythons import *

PROFILES = ROOT / "tests/fixtures/profiles"
SPIN = """
static volatile unsigned long x;
__attribute__((noinline)) static void leaf(unsigned n) { for (unsigned i = 0; i < n; i++) x += i; }
__attribute__((noinline)) static void twice(unsigned n) { leaf(n); leaf(n); x++; }
int main(void) { for (int i = 0; i < 40; i++) { twice(500000); leaf(250000); x++; } return 0; }
"""
STACKS = """\
main (app/main.py:9);work (app/work.py:3) 30
main (app/main.py:9);work (app/work.py:4) 20
main (app/main.py:9);work (app/work.py:3);work (app/work.py:3) 4
main (app/main.py:9) 1
"""


def need(program):
    if not shutil.which(program):
        skip(f"{program} is not installed (make test-real installs it)")


def folded(file, *options):
    """{stack: count} of a profile, by function."""
    r = assay("convert", "-F", *options, file, "-f", "folded", "-").ok()
    rows = [line.rpartition(" ") for line in r.out.splitlines()]
    return {tuple(stack.split(";")): int(count) for stack, _, count in rows}


def by_leaf(stacks):
    found = collections.Counter()
    for stack, count in stacks.items():
        found[stack[-1]] += count
    return found


def spin():
    (tmp() / "spin.c").write_text(SPIN)
    run("cc", "-O1", "-g", "-fno-omit-frame-pointer", "-o", "spin", "spin.c").ok()
    return "./spin"


# --- Go -----------------------------------------------------------------------

def go_top(file, *options):
    """What `go tool pprof -top` says: {function: (flat, cum)}, without units."""
    r = run("go", "tool", "pprof", "-top", "-nodecount=99", "-nodefraction=0", *options, file).ok()
    rows = re.findall(r"^ *([\d.]+)\w* +\S+ +\S+ +([\d.]+)\w* +\S+ +(.+)$", r.out, re.M)
    return {name.removesuffix(" (inline)"): (float(flat), float(cum)) for flat, cum, name in rows}


@test("go tool pprof reads what we write, recursion counted once")
def _():
    need("go")
    (tmp() / "a.folded").write_text(STACKS)
    assay("convert", "a.folded", "a.pb.gz").ok()
    expect_eq(go_top("a.pb.gz"), {"work": (54, 54), "main": (1, 55)}, "functions")
    r = run("go", "tool", "pprof", "-lines", "-top", "a.pb.gz").ok()
    expect_in("work.py:3", r.out)


@test("how samples were taken is told by go tool pprof, and no hindrance to callgrind_annotate")
def _():
    code = "x = 0\nfor i in range(5_000_000): x += i"
    assay("record", "-q", "-r", 200, "-o", "x.pb.gz", "--no-store", "--", pythons()[-1].path, "-c",
          code).ok()
    need("go")
    told = run("go", "tool", "pprof", "-comments", "x.pb.gz").ok().out
    expect(re.search(r"assay: samples=\d+ rejected=\d+ late=\d+ \([\d.]+ % rejected\)", told), told)
    need("callgrind_annotate")
    assay("convert", "--metric", "cpu", "x.pb.gz", "x.callgrind").ok()
    expect_in("<module>", run("callgrind_annotate", "--auto=no", "x.callgrind").ok().out)


@test("a profile of Go's own says the same to Go after it was ours")
def _():
    need("go")
    for name, kinds in (("go-cpu", ("samples", "cpu")),
                        ("go-heap", ("inuse_space", "alloc_objects"))):
        assay("convert", PROFILES / f"{name}.pb.gz", f"{name}.pb.gz").ok()
        for kind in kinds:
            option = f"-sample_index={kind}"
            expect_eq(go_top(f"{name}.pb.gz", option), go_top(PROFILES / f"{name}.pb.gz", option),
                      f"{name}, {kind}")


@test("Go merges and compares what we merged and compared")
def _():
    need("go")
    (tmp() / "a.folded").write_text(STACKS)
    assay("merge", "-o", "all.pb.gz", "a.folded", "a.folded").ok()
    expect_eq(go_top("all.pb.gz")["work"], (108, 108), "work, twice")
    assay("diff", "-o", "diff.pb.gz", "a.folded", "all.pb.gz").ok()
    expect_eq(go_top("diff.pb.gz", "-sample_index=before")["main"], (1, 55), "main before")
    expect_eq(go_top("diff.pb.gz", "-sample_index=after")["main"], (2, 110), "main after")


# --- valgrind -----------------------------------------------------------------

def annotated(file, *options):
    """{function: Ir} as callgrind_annotate tells it."""
    r = run("callgrind_annotate", "--auto=no", "--threshold=100", *options, file).ok()
    rows = re.findall(r"^ *([\d,]+) \([ \d.]+%\)  (?:\S*:)?(\w+)(?: \[.*\])?$", r.out, re.M)
    return {name: int(cost.replace(",", "")) for cost, name in rows}


@test("callgrind's own file is read to the last instruction, and callgrind_annotate reads ours")
def _():
    need("callgrind_annotate")
    run("valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=cg.out", spin(),
        timeout=300).ok()
    assay("convert", "cg.out", "again.callgrind").ok()
    true, found = annotated("cg.out"), annotated("again.callgrind")
    ours = by_leaf(folded("cg.out", "--metric", "Ir"))
    for name in "leaf", "twice", "main":
        expect_eq(ours[name], true[name], f"instructions of {name}, as we read it")
        expect_eq(found[name], true[name], f"instructions of {name}, as it reads us")
    total = re.search(r"^summary: (\d+)", (tmp() / "cg.out").read_text(), re.M).group(1)
    expect_eq(sum(ours.values()), int(total), "all instructions")


@test("stacks become calls that callgrind_annotate adds up")
def _():
    need("callgrind_annotate")
    (tmp() / "a.folded").write_text(STACKS)
    assay("convert", "a.folded", "a.callgrind").ok()
    expect_eq(annotated("a.callgrind"), {"work": 54, "main": 1}, "own")
    # what is below its call of itself, 4, is there twice: so it is with callgrind's own files
    expect_eq(annotated("a.callgrind", "--inclusive=yes"), {"work": 58, "main": 55}, "inclusive")


# --- perf ---------------------------------------------------------------------

@test("perf script: every sample, each with its stack")
def _():
    need("perf")
    r = run("perf", "record", "-q", "-e", "cpu-clock:u", "-F", "199", "-g", "-o", "p.data", spin())
    if r.rc != 0:
        skip(f"perf may not record here: {r.err.strip()[:80]}")
    text = run("perf", "script", "-i", "p.data").ok().out
    (tmp() / "p.txt").write_text(text)
    stacks = folded("p.txt", "--metric", "samples")
    expect_eq(sum(stacks.values()), len(re.findall(r"cpu-clock:u: *$", text, re.M)), "samples")
    leaf = len(re.findall(r"cpu-clock:u: *\n\s+[0-9a-f]+ leaf\+", text))
    expect_eq(by_leaf(stacks)["leaf"], leaf, "samples in leaf")
    expect(any("main" in stack and stack[-1] == "leaf" for stack in stacks), f"{stacks}")


# --- yappi --------------------------------------------------------------------

YAPPI = """
import json, sys
sys.path.insert(0, "packages")
import yappi
def leaf(n): return sum(i * i for i in range(n))
def branch(n): return leaf(n) + leaf(n // 2)
def main(): return branch(200000), leaf(100000)
yappi.start(); main(); yappi.stop()
s = yappi.get_func_stats()
s.save("y.callgrind", type="callgrind"); s.save("y.pstat", type="pstat")
with open("y.txt", "w") as f: s.print_all(out=f)
print(json.dumps({f.name: [f.ncall, f.tsub] for f in s}))
"""


@test("yappi's callgrind, pstat and table say what yappi says")
def _():
    r = run(sys.executable, "-m", "pip", "install", "-q", "--target", "packages", "yappi",
            timeout=300)
    if r.rc != 0:
        skip(f"yappi cannot be had: {r.err.strip()[-80:]}")
    true = run(sys.executable, "-c", YAPPI).ok().json()
    for file in "y.callgrind", "y.pstat", "y.txt":
        time = by_leaf(folded(file, "--metric", "time"))
        for name in "leaf", "branch", "main", "<genexpr>":
            expect(abs(time[name] / 1e6 - true[name][1]) < 1e-5, f"{file}: {name} {time} {true}")
    calls = by_leaf(folded("y.pstat", "--metric", "calls"))
    expect_eq(calls["leaf"], true["leaf"][0], "calls of leaf")


# --- py-spy -------------------------------------------------------------------

def py_spy():
    """The one that bench/peers.lock names, installed for this test."""
    line = next(s for s in (ROOT / "bench/peers.lock").read_text().splitlines()
                if s.startswith("py-spy=="))
    (tmp() / "lock").write_text(line)
    r = run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", "packages",
            "--require-hashes", "-r", "lock", timeout=300)
    expect("HASHES" not in r.err.upper(), f"another py-spy than the lock's: {r.err}")
    if r.rc != 0:
        skip(f"py-spy cannot be had: {r.err.strip()[-80:]}")
    return tmp() / "packages/bin/py-spy"


@test("what py-spy writes, speedscope and raw, is read: its functions, each with its share")
def _():
    program = py_spy()
    p = script(python_for(11) or pythons()[0], "split", 0.75, 60)
    for kind, name in ("speedscope", "x.speedscope.json"), ("raw", "x.folded"):
        run(program, "record", "-p", p.pid, "-d", 2, "-r", 100, "-f", kind, "-o", name,
            timeout=60).ok()
        found = by_leaf(folded(name))
        all_of_it = sum(found.values())
        expect(found["burn_first"] > 0.5 * all_of_it, f"{kind}: {found}")
        expect({"burn_first", "burn_second"} <= set(found), f"{kind}: {found}")
        expect_in("burn_first", assay("report", "--stacks", name).ok().out)
    stop(p)


# --- speedscope and Firefox ---------------------------------------------------

@test("speedscope's own schema holds for what we write")
def _():
    need("npm")
    import jsonschema
    r = run("npm", "install", "--silent", "--no-save", "speedscope", timeout=300)
    if r.rc != 0:
        skip(f"speedscope cannot be had: {r.err.strip()[-80:]}")
    schema, = (tmp() / "node_modules/speedscope").rglob("file-format-schema.json")
    validator = jsonschema.Draft7Validator(json.loads(schema.read_text()))
    for source in sorted(PROFILES.iterdir()):
        for options in (), ("--threads",):
            r = assay("convert", *options, source, "-f", "speedscope", "-").ok()
            faults = [e.message[:200] for e in validator.iter_errors(r.json())]
            expect_eq(faults, [], f"faults of {source.name}")


def check_thread(thread):
    """Every column as long as its table, every number the number of something."""
    size = {}
    for name in ("samples", "stackTable", "frameTable", "funcTable", "markers", "resourceTable",
                 "nativeSymbols"):
        table = thread[name]
        size[name] = table["length"]
        for column, values in table.items():
            if isinstance(values, list):
                expect_eq(len(values), table["length"], f"{name}.{column}")
    size["stringArray"] = len(thread["stringArray"])
    for table, column, to in (
            ("samples", "stack", "stackTable"), ("stackTable", "frame", "frameTable"),
            ("stackTable", "prefix", "stackTable"), ("frameTable", "func", "funcTable"),
            ("funcTable", "name", "stringArray"), ("funcTable", "fileName", "stringArray")):
        for i, v in enumerate(thread[table][column]):
            expect(v is None or 0 <= v < size[to], f"{table}.{column}[{i}] is {v} of {size[to]}")
            expect(column != "prefix" or v is None or v < i, f"prefix {v} of stack {i}")
    times = thread["samples"]["time"]
    expect_eq(times, sorted(times), "moments of the samples")


@test("Firefox Profiler's tables are whole, and hold all that was spent")
def _():
    for source in sorted(PROFILES.iterdir()):
        d = assay("convert", source, "-f", "firefox", "-").ok().json()
        expect_eq(d["meta"]["preprocessedProfileVersion"], 48, "version")
        for thread in d["threads"]:
            check_thread(thread)
    d = assay("convert", PROFILES / "go-cpu.pb.gz", "-f", "firefox", "-").ok().json()
    expect_eq(sum(sum(t["samples"]["weight"]) for t in d["threads"]), 230, "ms in all")


main()
