#!/usr/bin/env python3
"""Views of a heap beside what it is made of: RSS, moments, threads, processes."""
import csv
import io
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *
from page import *
from pythons import *
from schemas import *

MIB = 1 << 20


def stats(*options):
    return valid(heap_stats(FILE, *options), "heap-stats-1")


def python(text, options=()):
    """What stats say of a program of Python, and what it said itself."""
    (tmp() / "app.py").write_text(text)
    h = heap("/usr/bin/python3", "app.py", options=options)
    return h, valid(h.doc, "heap-stats-1")


def rows(*options):
    """Each stack of a view: process, thread, allocator, allocations, bytes, stack."""
    text = assay("heap", "transform", "csv", *options, FILE).ok().out
    return list(csv.DictReader(io.StringIO(text)))


def bytes_of(found, word):
    return sum(int(r["bytes"]) for r in found if word in r["stack"])


# --- heap and RSS ---------------------------------------------------------------

def resident(case, *more):
    h = heap(work("resident"), case, *more)
    return valid(h.doc, "heap-stats-1"), h.truth[0]["held"]


def moments(d):
    """Those at which the system knew the program."""
    return [m for m in d["over_time"] if m["rss_bytes"]]


def beside(moment):
    """Resident memory that is neither file nor heap."""
    return moment["rss_bytes"] - moment["file_bytes"] - \
        (moment["heap_bytes"] - moment["mapped_bytes"])


@job_test("memory that is touched is heap and RSS alike")
def _():
    d, held = resident("touched")
    peak = d["rss_peak"]
    expect_between(peak["heap_bytes"], held, held + 2 * MIB, "heap")
    expect_between(peak["bytes"], held, held + 16 * MIB, "RSS")
    expect_between(peak["beside_heap_bytes"], 0, 8 * MIB, "beside the heap")
    expect_in("neither", assay("heap", "stats", FILE).ok().out, "text")


@job_test("memory that nobody touched is heap, and not resident")
def _():
    d, held = resident("untouched")
    peak = d["rss_peak"]
    last = [m for m in moments(d) if m["heap_bytes"] >= held]
    expect(last, f"no moment with the block: {d['over_time'][-3:]}")
    for m in last:
        expect_between(beside(m), -held - 2 * MIB, -held + 8 * MIB, "beside the heap")
    expect(peak["bytes"] < 16 * MIB, f"RSS {peak}")


@job_test("what was given back and stays resident is told apart from the heap")
def _():
    d, held = resident("fragments")
    most = max(moments(d), key=beside)
    expect_between(most["heap_bytes"], held, held + 2 * MIB, "heap")
    # A quarter is held; pages of the rest stay, each has a block that is.
    expect_between(beside(most), 40 * MIB, 64 * MIB, "beside the heap")


@job_test("mapped files are no memory of the program's own")
def _():
    path = tmp() / "file"
    path.write_bytes(os.urandom(1 << 16) * 512)
    d, held = resident("file", str(path))
    most = max(moments(d), key=lambda m: m["file_bytes"])
    expect_eq(held, 32 * MIB, "the file")
    expect_eq(most["mapped_bytes"], held, "mapped bytes of the heap")
    expect_between(most["file_bytes"], held, held + 16 * MIB, "files in RSS")
    expect_between(beside(most), -MIB, 8 * MIB, "beside the heap")
    expect_in("mapped file", [a["allocator"] for a in d["allocators"]], "allocators")


@job_test("the temporal page has RSS beside the heap, on the same axis")
def _():
    d, held = resident("touched")
    assay("heap", "flamegraph", "--temporal", "-o", "t.html", FILE).ok()
    page = Page(tmp() / "t.html").data
    beside, told = page["beside"], d["over_time"]
    expect_eq(beside["at"], [m["at_ns"] for m in told], "moments")
    expect_eq(beside["rss"], [m["rss_bytes"] for m in told], "RSS")
    expect_eq(beside["file"], [m["file_bytes"] for m in told], "files")
    expect(max(beside["heap"]) >= held, "heap")
    assay("heap", "flamegraph", "-o", "p.html", FILE).ok()
    expect_eq(Page(tmp() / "p.html").data["beside"], None, "a page of one moment")


@job_test("pages say that they are estimates, by how much, and what is missing")
def _():
    heap("/usr/bin/python3", "-c", "x = [bytes(20011) for _ in range(101)]",
         options=["--sample", "64KiB"])
    told = assay("heap", "stats", FILE).ok().out.split("\n  peak ")[1]
    for view in ([], ["--leaks"], ["--temporal"]):
        assay("heap", "flamegraph", *view, "-o", "p.html", FILE).ok()
        note = Page(tmp() / "p.html").data["sampling"]
        expect(note.startswith("sampled, one in 64.0 KiB: ± "), f"{view}: {note}")
        if view != ["--leaks"]:
            for part in note.split(": ")[1].removesuffix(" allocations").split(", "):
                expect_in(part, told, f"interval of {view}")
    assay("heap", "flamegraph", "--show-stacks", "<module>", "-o", "p.html", FILE).ok()
    expect_eq(Page(tmp() / "p.html").data["sampling"], "sampled, one in 64.0 KiB", "of a part")
    heap("/usr/bin/python3", "-c", "x = [bytes(20011) for _ in range(101)]")
    assay("heap", "flamegraph", "-o", "p.html", FILE).ok()
    expect_eq(Page(tmp() / "p.html").data["sampling"], None, "an exact one")
    whole = (tmp() / FILE).read_bytes()
    (tmp() / "cut.heap").write_bytes(whole[:-1])    # how much is in the last block is chance
    for command in ("flamegraph", "table"):
        assay("heap", command, "-o", "p.html", "cut.heap").ok()
        page = Page(tmp() / "p.html").data
        expect_in("incomplete: the capture was not closed: it ends",
                  page["sampling" if command == "flamegraph" else "note"], command)


# --- moments ---------------------------------------------------------------------------

@job_test("what grew between two moments, and what went, to the byte")
def _():
    h, d = python('''
import json, time

def first():
    return [bytearray(100_003) for _ in range(30)]

def second():
    return [bytearray(50_021) for _ in range(40)]

def passing():
    return bytearray(3_000_017)

told = {}
def tell(name):
    time.sleep(0.1)
    told[name] = time.time_ns()
    time.sleep(0.1)

a = first()
tell("before")
x = passing()
b = second()
del a[:10], x
tell("after")
c = first()
print(json.dumps(told))
''')
    at = {k: v - d["start_unix_ns"] for k, v in h.truth[0].items()}
    # A byte more than a bytearray says.
    first, second = 100_004, 50_022

    def held(*options):
        found = assay("heap", "diff", "--json", "-n", "9999", *options, FILE).ok().json()
        found = valid(found, "diff-1")
        sums = {}
        for f in found["functions"]:        # a list comprehension is its function's
            name = f["function"].partition(".")[0]
            if name in ("first", "second", "passing"):
                before, after = sums.get(name, (0, 0))
                sums[name] = before + f["self"]["before"], after + f["self"]["after"]
        return sums

    got = held("--from", f"{at['before']}ns", "--until", f"{at['after']}ns")
    expect_eq(got, {"first": (30 * first, 20 * first), "second": (0, 40 * second)},
              "what was there before and after")
    got = held("--from", f"{at['after']}ns")
    expect_eq(got["first"][0], 20 * first, "what was there then")
    # Of a part of the time: what was made in it and is still there; and its own peak.
    part = ["--from", f"{at['before']}ns", "--until", f"{at['after']}ns"]
    expect_eq(bytes_of(rows("--leaks", *part), "second"), 40 * second, "made in between")
    expect_eq(bytes_of(rows("--leaks", *part), "first"), 0, "made before")
    peak = rows(*part)
    expect_eq((bytes_of(peak, "first"), bytes_of(peak, "second"), bytes_of(peak, "passing")),
              (30 * first, 40 * second, 3_000_018), "the peak in between")


@job_test("a span of the temporal page of leaks: what was made in it and not freed by its end")
def _():
    h, d = python('''
import json, time

def first():
    return [bytearray(100_003) for _ in range(30)]

def second():
    return [bytearray(50_021) for _ in range(40)]

told = {}
def tell(name):
    time.sleep(0.1)
    told[name] = time.time_ns()
    time.sleep(0.1)

tell("begin")
a = first()
tell("between")
b = second()
del a[:10]
tell("after")
del b[:15]
print(json.dumps(told), flush=True)
__import__("os")._exit(0)
''')
    graph = ["heap", "flamegraph", "--temporal", "-o", "t.html", FILE]
    assay(*graph, "--leaks", "--slice", "10ms").ok()
    page = Page(tmp() / "t.html").data
    expect_eq(page["levels"], False, "levels")
    sample, lasting, bytes_at = page["sample"], page["lasting"], len(page["kinds"]) - 1

    def function_of(stack):
        return page["texts"][page["place"]["function"][page["stack"]["place"][stack]]]

    def span(start, end):
        """Bytes by function at the tip of the stack, as the page counts them."""
        sums = {}
        for i, made in enumerate(sample["slice"]):
            if start <= made < end and (lasting["until"][i] or lasting["slices"]) >= end:
                name = function_of(sample["stack"][i]).partition(".")[0]
                sums[name] = sums.get(name, 0) + sample["values"][bytes_at][i]
        return {name: sum_ for name, sum_ in sums.items() if sum_}

    def leaks(*options):
        sums = {}
        for r in rows("--leaks", *options):
            name = r["stack"].split(";")[-1].partition(".")[0].partition(" ")[0]
            sums[name] = sums.get(name, 0) + int(r["bytes"])
        return sums

    whole = span(0, lasting["slices"])
    expect_eq(sum(whole.values()), sum(leaks().values()), "the whole time is what --leaks says")
    at = {k: (v - d["start_unix_ns"]) // 10_000_000 for k, v in h.truth[0].items()}
    first, second = 100_004, 50_022         # a byte more than a bytearray says
    for start, end, want in (("begin", "between", (30, 0)), ("begin", "after", (20, 40)),
                             ("between", "after", (0, 40))):
        got = span(at[start], at[end])
        expect_eq((got.get("first", 0), got.get("second", 0)),
                  (want[0] * first, want[1] * second), f"from {start} to {end}")
    expect_eq((whole["first"], whole["second"]), (20 * first, 25 * second), "in all")
    expect_eq(len(page["beside"]["at"]), len(d["over_time"]), "the curve")
    expect_eq(assay(*graph, "--all").rc, 2, "how --all with --temporal ends")


# --- threads and processes -----------------------------------------------------------------

@job_test("each thread has what it made, also when all have one name")
def _():
    h, d = python('''
import json, threading

def make(n):
    kept.append([bytearray(10_007) for _ in range(n)])
    made[threading.get_native_id()] = n

kept, made = [], {}
threads = [threading.Thread(target=make, name="python3", args=(n,)) for n in (11, 23, 37)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(json.dumps(made))
''')
    found = {}
    for r in rows():
        if "make" in r["stack"] and int(r["bytes"]) % 10_008 == 0:
            found[r["thread"].split()[0]] = int(r["bytes"]) // 10_008
    expect_eq(found, h.truth[0], "allocations of each thread")
    for t in d["threads"]:
        if str(t["tid"]) in h.truth[0]:
            least = h.truth[0][str(t["tid"])] * 10_008
            expect_between(t["bytes_at_peak"], least, least + 100_000, "bytes at the peak")
    listed = assay("heap", "stats", FILE).ok().out.partition("threads")[2].splitlines()[2:]
    expect_eq(str(max(d["threads"], key=lambda t: t["bytes_at_peak"])["tid"]),
              listed[0].split()[-2], "who held most stands first")


# Three threads, which stay until they are told to go: given a name, renamed, without one.
NAMED = '''
import json, threading, time

def make(n, name=None):
    if name:
        threading.current_thread().name = name
    kept.append([bytearray(10_007) for _ in range(n)])
    tids[n] = threading.get_native_id()
    go.wait()

kept, tids, go = [], {}, threading.Event()
threads = [threading.Thread(target=make, name="feeder of images", args=(11,)),
           threading.Thread(target=make, args=(23, "Zähler")),
           threading.Thread(target=make, args=(37,))]
for t in threads:
    t.start()
time.sleep(2)
print(json.dumps({**tids, 37: [tids[37], threads[2].name]}))
go.set()
'''


@job_test("threads have Python's own names, of every version; the main thread the program's", 300)
def _():
    (tmp() / "app.py").write_text(NAMED)
    for python in pythons():
        h = heap(python.path, "app.py")
        tids, name = h.truth[0], {t["tid"]: t["name"] for t in h.doc["threads"]}
        last, own = tids["37"]
        expect_eq((name[tids["11"]], name[tids["23"]], name[last]),
                  ("feeder of images", "Zähler", own), f"{python.version}: names")
        expect_in("python", name[h.doc["processes"][0]["pid"]], f"{python.version}: main thread")
        expect_in(f"{tids['11']} feeder of images\n", assay("heap", "stats", FILE).ok().out, "text")
        made = [int(r["bytes"]) for r in rows() if r["thread"] == "feeder of images"]
        expect_in(11 * 10_008, made, f"{python.version}: bytes of one of them")
        assay("heap", "table", "-o", "t.html", FILE).ok()
        expect_in("Zähler", str(Page(tmp() / "t.html").data), "the page")


@job_test("the peak of a tree: what all of them held at once, and each its own")
def _():
    h, d = python('''
import json, os, time

def hold(n):
    return [bytearray(100_003) for _ in range(n)]

def child(n, ready, go):
    more = hold(n)
    os.write(ready, b".")
    os.read(go, 1)
    os._exit(0)

pids = {}
alone = hold(60)             # more than it has when all together hold most
del alone
own = hold(20)
ready, go = os.pipe(), os.pipe()
for n in 30, 50:
    pid = os.fork()
    if not pid:
        child(n, ready[1], go[0])
    pids[pid] = n
for _ in pids:
    os.read(ready[0], 1)
time.sleep(0.1)
os.write(go[1], b"..")
for pid in pids:
    os.waitpid(pid, 0)
print(json.dumps({**pids, os.getpid(): 20}))
''', options=["--follow-fork"])
    each = 100_004
    want = {int(pid): n * each for pid, n in h.truth[0].items()}
    at_peak = {}
    for r in rows():
        if "hold" in r["stack"] and int(r["bytes"]) % each == 0:
            at_peak[int(r["process"])] = int(r["bytes"])
    expect_eq(at_peak, want, "what each held at the peak of all")
    expect_eq(sum(p["bytes_at_peak"] for p in d["processes"]), d["peak_bytes"], "all together")
    parent = h.process(next(p for p, n in want.items() if n == 20 * each))
    expect(parent["peak_bytes"] >= 60 * each > parent["bytes_at_peak"], f"its own peak: {parent}")
    expect(all(p["rss_peak_bytes"] >= p["bytes_at_peak"] for p in d["processes"]), "RSS of each")


# --- tasks -----------------------------------------------------------------------------------

TASKS = '''
import asyncio, json

async def make(n):
    return bytearray(n)

async def small():
    kept = [await make(10_007) for _ in range(30)]
    await asyncio.sleep(0.05)
    kept += [await make(10_007) for _ in range(4)]

async def big():
    kept = [await make(300_007) for _ in range(20)]
    await asyncio.sleep(0.05)

def callback():
    global kept
    kept = bytearray(1_000_003)

def thread():
    return bytearray(500_009)

async def main():
    loop = asyncio.get_running_loop()
    loop.call_soon(callback)
    await asyncio.gather(small(), big(), small(), loop.run_in_executor(None, thread))

asyncio.run(main())
'''


@job_test("each task has what its coroutine and all it awaits made, in every version")
def _():
    (tmp() / "app.py").write_text(TASKS)
    for p in pythons():
        if p.minor > 13:
            continue
        h = heap(p.path, "app.py")
        every = rows("--all")
        tasks = {t["function"]: t for t in valid(h.doc, "heap-stats-1")["tasks"]}
        for name, count, size in (("small", 68, 10_008), ("big", 20, 300_008)):
            expect_between(tasks[name]["allocated_bytes"], count * size, count * size + 20_000,
                           f"{p.version}: bytes of {name}")
            made = [r for r in every if r["task"].startswith(f"{name} (app.py:")
                    and "make" in r["stack"]]
            expect_eq((sum(int(r["allocations"]) for r in made), bytes_of(made, "make")),
                      (count, count * size), f"{p.version}: what make() made for {name}")
        for word in "callback", "thread":
            expect_eq({r["task"] for r in every if f";{word} (" in r["stack"]}, {""},
                      f"{p.version}: the task of {word}")
    boxes = assay("heap", "flamegraph", "--split-tasks", "-f", "svg", "-o", "-", FILE).ok().out
    expect_in("big (app.py:", boxes, "boxes")
    expect_in("tasks, by coroutine", assay("heap", "stats", FILE).ok().out, "text")


# --- the table as a page --------------------------------------------------------------

@job_test("the page of the table has each line of the view, and nothing that asks anybody")
def _():
    h = heap(work("allocs"), "peak", "leak")
    expect_eq(assay("heap", "table", "-o", "t.html", FILE).ok().out, "t.html\n", "what it prints")
    page = Page(tmp() / "t.html")
    d = page.data
    expect_eq((sum(d["bytes"]), sum(d["count"])), (h.doc["peak_bytes"], h.doc["peak_allocations"]),
              "bytes and count of all rows")
    found = {}
    for i, n in enumerate(d["bytes"]):
        at = d["texts"][d["function"][i]] or None, d["line"][i] or None
        found[at] = found.get(at, 0) + n
    want = {(r["function"], r["line"]): r["bytes"] for r in h.doc["peak_by_line"]}
    expect_eq(found, want, "lines")
    expect_eq(page.addresses, [], "addresses")
    expect_eq(page.policy["script-src"], Page.digest(page.elements[-1][2]), "the only script")
    expect_in("by_malloc", page.only("noscript")[2] + page.text, "text without a script")
    out = assay("heap", "table", "--leaks", "-o", "-", FILE).ok().out
    expect(out.startswith("<!doctype html>") and "left at the end" in out, "standard output")


main()
