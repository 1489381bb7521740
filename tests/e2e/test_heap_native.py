#!/usr/bin/env python3
"""Native stacks, and native frames between those of Python."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *
from pythons import *

TIMES, BYTES = 7, 100003        # what bytearray(BYTES) asks for is one more

MIXED = f"""
kept = []

def take(i):
    kept.append(bytearray({BYTES}))
    return i

def sort():
    return sorted(range({TIMES}), key=lambda i: take(i))

sort()
"""


FILE = "native.heap"


def record(*command, options=()):
    run(ASSAY, "heap", "run", "--quiet", *options, "--force", "-o", FILE, "--", *command).ok()


def stacks():
    """[(functions from outside in, bytes)] at the peak."""
    text = assay("heap", "transform", "folded", "-F", FILE).ok().out
    found = []
    for line in text.splitlines():
        frames, _, value = line.rpartition(" ")
        found.append(([re.sub(r" \([^()]*\)$", "", f) for f in frames.split(";")], int(value)))
    return found


def extension(python):
    """tests/workloads/python/known.c as a module of this Python; False: it has no Python.h."""
    ask = "import sysconfig as s; print(s.get_paths()['include'], s.get_config_var('EXT_SUFFIX'))"
    include, suffix = run(python.path, "-c", ask).ok().out.split()
    if not os.path.exists(os.path.join(include, "Python.h")):
        return False
    source = ROOT / "tests/workloads/python/known.c"
    run("cc", "-g", "-O1", "-shared", "-fPIC", "-I", include, source, "-o",
        f"known{suffix}").ok()
    return True


KNOWN = """
import sys
sys.path.insert(0, ".")
import known

def hold():
    known.take(11, 10007)

def pass_by():
    known.pass_by(13, 20011)

hold()
pass_by()
"""


@job_test("a compiled extension: what it allocates is its caller's, to the byte and the count")
def _():
    (tmp() / "use.py").write_text(KNOWN)
    tried = [p for p in pythons() if extension(p)]
    if not tried:
        skip("no Python here has its Python.h")
    for python in tried:
        for options in [], ["--native"]:
            record(python.path, "use.py", options=options)
            d = assay("heap", "stats", "--json", "-n", "9999", FILE).ok().json()
            made = {x["function"]: (x["bytes"], x["count"]) for x in d["top_by_size"]}
            left = {x["function"]: (x["bytes"], x["count"]) for x in d["leaked_by_line"]}
            expect_eq(made["hold"], (11 * 10007, 11), f"{python.version} {options}: hold")
            expect_eq(made["pass_by"], (13 * 20011, 13), f"{python.version} {options}: pass_by")
            expect_eq(left["hold"], (11 * 10007, 11), f"{python.version} {options}: left")
            expect("pass_by" not in left, f"{python.version} {options}: {left.get('pass_by')}")
        ours = [f for f, n in stacks() if "hold" in f]
        expect(ours and all(f[-1] == "take" for f in ours), f"{python.version}: {ours}")


@job_test("native frames stand between those of Python, for each Python here")
def _():
    (tmp() / "mixed.py").write_text(MIXED)
    tried = pythons()
    for python in tried:
        record(python.path, "mixed.py", options=["--native"])
        ours = [(f, n) for f, n in stacks() if "take" in f and n >= BYTES]
        expect_eq(sum(n for _, n in ours), TIMES * (BYTES + 1), f"{python.version}: bytes of take")
        for frames, _ in ours:
            at = [i for i, f in enumerate(frames) if f in ("<module>", "sort", "take")
                  or f.endswith("<lambda>")]
            names = [frames[i].split(".")[-1] for i in at]
            expect_eq(names, ["<module>", "sort", "<lambda>", "take"],
                      f"{python.version}: Python frames of {frames}")
            expect(at[0] > 0, f"{python.version}: nothing native calls <module>: {frames}")
            expect(at[2] > at[1] + 1, f"{python.version}: sorted() is not in {frames}")
            expect(frames[-1] != "take", f"{python.version}: nobody allocates in {frames}")
            expect(not any("EvalFrame" in f for f in frames),
                   f"{python.version}: an evaluator is left in {frames}")
    if not tried:
        skip("there is no Python that is known")


THREADS = """
#include <pthread.h>
#include <stdlib.h>

static void *keep[7];

static void take_natively(int i)
{
	keep[i] = malloc(150001);
}

static void *work(void *arg)
{
	for (int i = 0; i < 7; i++)
		take_natively(i);
	return arg;
}

void start(void)
{
	pthread_t t;

	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
}
"""


@job_test("what a native thread allocates in a Python has its native stack, without --native too")
def _():
    (tmp() / "threads.c").write_text(THREADS)
    run("cc", "-g", "-shared", "-fPIC", "-o", tmp() / "threads.so", tmp() / "threads.c",
        "-pthread").ok()
    library = str(tmp() / "threads.so")
    text = f"import ctypes; ctypes.CDLL({library!r}).start(); x = bytearray(160001)"
    for python in pythons():
        h = heap(python.path, "-c", text)
        left = h.by_function("leaked_by_line")
        expect_eq(left.get("take_natively"), (7 * 150001, 7), f"{python.version}: of the thread")
        expect_eq(h.by_function("top_by_size").get("<module>", (0, 0))[0] >= 160001, True,
                  f"{python.version}: Python's own")
        unknown = sum(row["bytes"] for row in h.doc["top_by_size"] if row["function"] is None
                      and row["file"] is None)
        expect(unknown < h.doc["total_allocated_bytes"] / 50, f"{python.version}: {unknown}")


@job_test("the stack of a native program reaches its start")
def _():
    record(work("allocs"), "recursion")
    every = stacks()
    if not os.path.exists("/usr/include/elfutils/libdw.h"):
        skip("there is no elfutils to build with")
    for frames, _ in every:
        expect_eq(frames[0], "_start", f"the outermost of {frames[:4]}")
        expect_in("main", frames, "the stack")
    deepest = max((frames.count("down") for frames, _ in every))
    expect(deepest >= 3, f"down() calls itself, but no stack has it {deepest} times")


@job_test("modules that come one after the other to the same place have their own functions")
def _():
    source, host = tmp() / "plugin.c", tmp() / "host.c"
    source.write_text("""#include <stdlib.h>
__attribute__((noinline)) void *NAME(size_t n) { void *volatile p = malloc(n); return p; }
void *work(size_t n) { void *volatile p = NAME(n); return p; }
""")
    host.write_text("""#include <dlfcn.h>
#include <stdio.h>
static void go(const char *file, size_t n)
{
	void *h = dlopen(file, RTLD_NOW);
	void *(*work)(size_t) = h ? (void *(*)(size_t))dlsym(h, "work") : 0;
	if (!work) return;
	printf("%p\\n", (void *)work);
	for (int i = 0; i < 7; i++) (void)work(n);
	dlclose(h);
}
int main(void)
{
	for (int i = 0; i < 5; i++) { go("./a.so", 1009); go("./b.so", 3001); go("./c.so", 7001); }
	return 0;
}
""")
    for name in "abc":
        if run("cc", "-g", "-O1", "-shared", "-fPIC", f"-DNAME=by_{name}", "-o",
               tmp() / f"{name}.so", source).rc:
            skip("no compiler")
    run("cc", "-o", tmp() / "loads", host, "-ldl").ok()
    for options in ((), ("--native", "--sample", "1")):
        r = run(ASSAY, "heap", "run", "--quiet", *options, "--force", "-o", FILE, "--", "./loads")
        # Tables of the guest may come to lie where the first module was.
        expect_eq(len(set(r.ok().out.split()[1:])), 1, "places of all but the first")
        doc = json.loads(assay("heap", "stats", "--json", FILE).ok().out)
        by = {l["function"]: (l["bytes"], l["count"]) for l in doc["top_by_size"]}
        expect_eq({name: by.get(name) for name in ("by_a", "by_b", "by_c")},
                  {"by_a": (35 * 1009, 35), "by_b": (35 * 3001, 35), "by_c": (35 * 7001, 35)},
                  "functions")


main()
