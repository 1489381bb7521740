#!/usr/bin/env python3
"""The guest in a CPython: whose allocations they are, by the interpreter's own word."""
import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from guests import *
from harness import *
from pythons import *

TRUSTED = 0         # why: nothing is missing


def program_of(python, name, *words, **how):
    """What it printed, and its processes."""
    r, found = hosts([python.path, program(name), *words], **how)
    expect_eq(r.rc, 0, f"{python.version} {name} {words}: {r.err}")
    for h in found:
        expect_eq((h.python, h.why, h.lost), (python.minor, TRUSTED, 0), f"{python.version}: guest")
        expect_eq(h.numbers, sorted(set(h.numbers)), f"{python.version}: numbers are taken once")
    return r.out, found


def arena_of(python):
    """How large its arenas are."""
    return 1 << 20 if python.minor >= 10 else 1 << 18


def stack_of(frames):
    return [[name, line] for name, _, line in frames]


def compare_stacks(version, told, host):
    """Blocks of the sizes that were told, with their stacks: the same, so many times."""
    def key(size, stack):
        return json.dumps([size, stack])
    sizes = {t["size"] for t in told}
    want = collections.Counter(key(t["size"], t["stack"]) for t in told)
    got = collections.Counter(key(a.size, stack_of(a.stack)) for a in host.allocs
                              if a.size in sizes)
    wrong = [f"{n} instead of {want[k]}: {k}" for k, n in got.items() if want[k] != n]
    wrong += [f"none instead of {n}: {k}" for k, n in want.items() if k not in got]
    expect(not wrong, f"{version}: {len(wrong)} stacks differ\n" + "\n".join(wrong[:4]))


def made_at(host, told):
    """(How many blocks, bytes of them) by the line that was told."""
    where = (told["function"], told["line"])
    sizes = [a.size for a in host.allocs if a.stack
             and (a.stack[-1][0].split(".")[-1], a.stack[-1][2]) == where]
    return len(sizes), sum(sizes)


@test("every stack is as the interpreter sees it, in each CPython")
def _():
    for python in pythons():
        out, (host,) = program_of(python, "heapstacks")
        compare_stacks(python.version, json.loads(out), host)
        expect_eq(host.clipped, 0, f"{python.version}: stacks that are too deep")


@test("lines have made what they say, in each CPython")
def _():
    cases = ("arrays", "natives", "temporary", "methods", "generators", "coroutines", "deep",
             "callbacks", "threads")
    for python in pythons():
        out, (host,) = program_of(python, "amounts", *cases)
        for mark, t in json.loads(out)["marks"].items():
            expect_eq(made_at(host, t), (t["count"], t["bytes"]), f"{python.version}: {mark}")


@test("objects are told once, and arenas are not")
def _():
    for python in pythons():
        out, (host,) = program_of(python, "amounts", "objects", "arrays", flags=PYTHON | OBJECTS)
        for mark, t in json.loads(out)["marks"].items():
            want = t["objects"]["count"], t["objects"]["bytes"]
            expect_eq(made_at(host, t), want, f"{python.version}: {mark}")
        arenas = [a for a in host.allocs if a.op == "arena" or a.size == arena_of(python)]
        expect_eq(arenas, [], f"{python.version}: arenas")


@test("an arena is told as one, and what the program maps is not, whatever its size")
def _():
    text = """import mmap, sys
size = int(sys.argv[1])
own = [mmap.mmap(-1, size), mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)]
def keep(n):
    chain = None
    for i in range(n):
        chain = (i, chain)
    return chain
kept = keep(300_000)
del kept
"""
    for python in pythons():
        size = arena_of(python)
        r, (host,) = hosts([python.path, "-S", "-c", text, str(size)])
        r.ok()
        arenas = [a for a in host.allocs if a.op == "arena"]
        expect_eq({a.size for a in arenas}, {size}, f"{python.version}: sizes of arenas")
        expect(len(arenas) * size > 300_000 * 64, f"{python.version}: {len(arenas)} arenas")
        mapped = [a for a in host.allocs if a.op == "mmap" and a.size == size]
        expect_eq(len(mapped), 2, f"{python.version}: mappings of the program's own")
        gone = {f.address for f in host.frees}
        kept = [a for a in arenas if a.address not in gone]
        expect(len(kept) < len(arenas) / 2, f"{python.version}: {len(kept)} arenas are left")


@test("forked children have stacks of their own")
def _():
    for python in pythons():
        _, found = program_of(python, "amounts", "forks", flags=PYTHON | FORKS)
        expect_eq(len(found), 4, f"{python.version}: processes")
        for child in found[1:]:
            made = [a for a in child.allocs if a.size == 7002]
            expect_eq(len(made), 43, f"{python.version}: blocks of a child")
            expect_eq({a.stack[-1][0] for a in made}, {"process_work"}, f"{python.version}: by")
            expect_eq({a.stack[0][0] for a in made}, {"<module>"}, f"{python.version}: outermost")


@test("of stacks that are too deep the innermost frames are kept")
def _():
    text = ("import sys, threading\nsys.setrecursionlimit(10**4)\ndef down(n):\n"
            " return down(n - 1) if n else bytearray(10007)\ndown(3000)\ndown(2990)\n")
    for python in pythons():
        r, (host,) = hosts([python.path, "-c", text])
        r.ok()
        made = [a for a in host.allocs if a.size == 10008]
        expect_eq(len(made), 2, f"{python.version}: blocks")
        for a in made:
            expect(512 <= len(a.stack) <= 1024, f"{python.version}: {len(a.stack)} frames")
            expect_eq({name for name, _, _ in a.stack}, {"down"}, f"{python.version}: frames")
        expect(host.clipped >= 2, f"{python.version}: {host.clipped} were counted")


@test("other allocators are respected")
def _():
    ways = [{"PYTHONMALLOC": "malloc"}, {"PYTHONMALLOC": "debug"}, {"PYTHONMALLOC": "malloc_debug"},
            {"PYTHONDEVMODE": "1"}, {"PYTHONTRACEMALLOC": "5"}]
    text = "x = [bytearray(10007) for _ in range(31)]; y = [object() for _ in range(101)]"
    for python in pythons():
        for env in ways:
            r, (host,) = hosts([python.path, "-S", "-c", text], PYTHON | OBJECTS, env=env)
            expect_eq((r.rc, host.why), (0, TRUSTED), f"{python.version} {env}: {r.err}")
            made = [a for a in host.allocs if 10008 <= a.size < 10100]
            expect_eq(len(made), 31, f"{python.version} {env}: blocks")


@test("deep recursion: frames that came back and were called from elsewhere are told apart")
def _():
    text = """import sys
sys.setrecursionlimit(2000)
def leaf(k):
    return bytearray(140000 + k)
def down(n, k):
    if n % 64 == 0:
        leaf(k * 10 + n // 64)
    if n == 0:
        return
    if n * k % 5:
        return down(n - 1, k)
    return down(n - 1, k)
def lazily(n):
    yield from lazily(n - 1) if n else [down(64, 30)]
for k in range(20):
    down(576, k)
    if k % 4 == 0:
        list(lazily(100))
print(sys._getframe().f_trace_lines)
"""

    def lines(n, k):
        return [11 if m * k % 5 else 12 for m in range(576, n, -1)] + [7]

    for python in pythons():
        r, (host,) = hosts([python.path, "-S", "-c", text])
        expect_eq(r.ok().out, "True\n", f"{python.version}: f_trace_lines")
        made = {a.size - 140001: a.stack for a in host.allocs if 140001 <= a.size < 140201}
        expect_eq(sorted(made), list(range(200)), f"{python.version}: blocks")
        for what, stack in made.items():
            expect_eq([line for name, _, line in stack if name == "down"],
                      lines(what % 10 * 64, what // 10), f"{python.version}: lines of {what}")


@test("an interpreter inside of the interpreter")
def _():
    text = """try:
    import _interpreters as s
except ImportError:
    import _xxsubinterpreters as s
def called():
    s.run_string(s.create(), "def inner():\\n return bytearray(120011)\\ninner()")
called()
bytearray(120017)
"""
    for python in pythons():
        r, (host,) = hosts([python.path, "-c", text])
        r.ok()
        names = {a.size: [name for name, _, _ in a.stack] for a in host.allocs}
        expect_eq(names[120018], ["<module>"], f"{python.version}: the outer one")
        expect_eq(names[120012][-1], "inner" if python.minor > 11 else "called",
                  f"{python.version}: who allocates")


@test("threads that are cut off, and objects that outlive the end")
def _():
    text = """import threading
class Late:
    def __del__(self):
        bytearray(130003)
keep = [Late() for _ in range(11)]
threading.keep = keep
def loop():
    while True:
        bytearray(130021)
for _ in range(4):
    threading.Thread(target=loop, daemon=True).start()
bytearray(130027)
"""
    for python in pythons():
        r, (host,) = hosts([python.path, "-S", "-c", text], PYTHON | OBJECTS)
        expect_eq((r.rc, r.err, host.why), (0, "", TRUSTED), f"{python.version}: ended")
        expect_eq(sum(a.size == 130028 for a in host.allocs), 1, f"{python.version}: blocks")


@test("a program that is no Python has no Python stacks")
def _():
    r, (host,) = hosts(["/bin/sh", "-c", "exit 3"])
    expect_eq((r.rc, host.python, host.why), (3, 0, TRUSTED), "the shell")
    expect(host.allocs and not any(a.stack for a in host.allocs), "stacks of a shell")


main()
