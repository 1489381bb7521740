#!/usr/bin/env python3
"""`assay heap live`: lines and documents for programs, and the screen for people."""
import json
import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *
from live import *
from pythons import *
from schemas import *

ALLOCS = work("allocs")
PYTHON = pythons()[-1].path
ANSWERED = ("allocations", "frees", "bytes", "peak", "left")
TOLD = ("total_allocations", "total_frees", "total_allocated_bytes", "peak_bytes", "held_bytes")

# Holds blocks of two sizes, of two threads, and says so; goes on when there is a file.
HOLDER = """
import os, sys, threading, time

def keep(out):
    for i in range(len(out)):
        out[i] = bytearray(1009)

def side(out):
    for i in range(len(out)):
        out[i] = bytearray(2003)

def wait(name):
    while not os.path.exists(name):
        time.sleep(0.02)

print("it is ready", flush=True)
mine, other = [None] * 307, [None] * 211
keep(mine)
thread = threading.Thread(target=side, args=(other,))
thread.start()
thread.join()
print("held", file=sys.stderr, flush=True)
wait("free")
mine.clear()
print("freed", flush=True)
wait("end")
sys.exit(3)
"""


def holder():
    path = tmp() / "holder.py"
    path.write_text(HOLDER)
    return PYTHON, str(path)


def touch(name):
    (tmp() / name).touch()


def documents(r):
    return [valid(json.loads(line), "heap-live-1") for line in r.out.splitlines()]


def held(document):
    return {row["function"]: (row["bytes"], row["count"]) for row in document["held_by_line"]}


# A bytearray of n bytes asks for n + 1.
MINE, OTHERS = (307 * 1010, 307), (211 * 2004, 211)


# --- lines and documents ----------------------------------------------------------

@job_test("the last document is what the program says of itself, to the byte and the count")
def _():
    r = assay("heap", "live", "--json", "-i", "0.05", "--", ALLOCS, "malloc", "peak", "leak").ok()
    truth, last = lines_of_json(r.err)[0], documents(r)[-1]
    expect_eq([last[k] for k in TOLD], [truth[k] for k in ANSWERED], TOLD)
    expect_eq((last["running"], last["processes"], last["lost_events"]), (False, 0, 0), "its end")
    expect_eq(sum(row["bytes"] for row in last["held_by_line"]), last["held_bytes"], "all lines")


@job_test("while it runs: who holds what now, and no more when it was freed")
def _():
    p = start(ASSAY, "heap", "live", "--json", "-i", "0.05", "-n", "1000", "--", *holder(),
              stdout=open(tmp() / "out", "w"), stderr=open(tmp() / "err", "w"))

    def last():
        lines = (tmp() / "out").read_text().split("\n")[:-1]
        return valid(json.loads(lines[-1]), "heap-live-1") if lines else {"held_by_line": []}

    wait_for(lambda: "held" in (tmp() / "err").read_text(), WAIT, "it holds")
    wait_for(lambda: held(last()).get("keep") == MINE, WAIT, f"{MINE} by keep()")
    d = last()
    expect_eq(sum(row["bytes"] for row in d["held_by_line"]), d["held_bytes"], "all lines")
    expect_eq(sum(row["count"] for row in d["held_by_line"]), d["held_allocations"], "all counts")
    expect(d["running"] and d["processes"] == 1 and d["rss"]["bytes"] > d["held_bytes"], d)
    expect_eq(held(d)["side"], OTHERS, "blocks of the thread")
    touch("free")
    wait_for(lambda: "keep" not in held(last()), WAIT, "nothing is held by keep()")
    touch("end")
    expect_eq(p.wait(WAIT), 3, "exit status")
    expect(last()["peak_bytes"] >= MINE[0] + OTHERS[0], "peak")
    expect_eq((tmp() / "err").read_text().splitlines(), ["it is ready", "held", "freed"],
              "the command's own output")


@job_test("without a terminal there are lines on standard error; the command has its own output")
def _():
    touch("free")
    touch("end")
    r = run(ASSAY, "heap", "live", "-i", "0.05", "--", *holder())
    expect_eq(r.rc, 3, "exit status")
    expect_eq(r.out, "it is ready\nfreed\n", "the command's output")
    lines = [x for x in r.err.splitlines() if x != "held"]
    expect_eq(lines[0].split(), "time heap peak RSS allocs/s bytes/s held most by".split())
    for line in lines[1:]:
        expect(re.match(r" *\d\S* m?s +\d\S* [KM]?i?B ", line), f"line {line!r}")
    expect_in("left:", lines[-1])
    expect_eq(sorted(os.listdir(tmp())), ["end", "free", "holder.py"], "files")


@job_test("ends, signals and words that are wrong are passed on as by run")
def _():
    for command, rc in ((["sh", "-c", "exit 7"], 7), (["true"], 0), (["/no/such"], 127),
                        (["/etc/passwd"], 126), (["sh", "-c", "kill -9 $$"], -9)):
        expect_eq(run(ASSAY, "heap", "live", "-o", "x.heap", "-f", "--", *command).rc, rc, command)
    expect_eq(run(ASSAY, "heap", "live", "-o", "y.heap", "--", "/no/such").rc, 127, "exit status")
    expect(not (tmp() / "y.heap").exists(), "a capture of nothing")
    p = start(ASSAY, "heap", "live", "--", "sh", "-c",
              "trap 'exit 9' TERM; echo up; while :; do sleep 0.05; done", stdout=subprocess.PIPE,
              text=True)
    read_line(p, "up")
    p.send_signal(signal.SIGTERM)
    expect_eq(p.wait(WAIT), 9, "exit status of one that was told to end")
    for words in ([], ["-i", "0", "--", "true"], ["--interval", "x", "--", "true"],
                  ["1", "--", "true"], ["--follow-fork", "1"], ["--log", "x", "1"], ["x"]):
        expect_eq(assay("heap", "live", *words).rc, 125, words)


@job_test("after --duration it is looked at no longer, and runs on to its own end")
def _():
    r = run(ASSAY, "heap", "live", "--json", "-d", "0.3", "-i", "0.1", "--", "sh", "-c",
            "sleep 1.5; echo late; exit 4")
    expect_eq(r.rc, 4, "exit status")
    expect_in("late", r.err)
    expect(all(d["t_ns"] < 1.5e9 and d["running"] for d in documents(r)), r.out)


@job_test("a duration shorter than the interval has one look, and nothing is said to be missing")
def _():
    r = run(ASSAY, "heap", "live", "-d", "0.2", "-i", "60", "--", "sleep", "1").ok()
    expect("MiB" in r.err or "KiB" in r.err, r.err)
    expect("incomplete" not in r.err, r.err)
    r = run(ASSAY, "heap", "live", "--json", "-d", "0.2", "-i", "60", "--", "sleep", "1").ok()
    expect_eq(len(documents(r)), 1, "documents")


@job_test("a capture is there only when it was asked for, and is whole")
def _():
    r = run(ASSAY, "heap", "live", "-i", "0.05", "-o", FILE, "--", ALLOCS, "leak").ok()
    expect_in("assay heap flamegraph out.heap", r.err)
    truth, doc = lines_of_json(r.out)[0], heap_stats()
    expect_eq((doc["complete"], doc["leaked_bytes"]), (True, truth["left"]), "the capture")
    expect_eq(run(ASSAY, "heap", "live", "-o", FILE, "--", "true").rc, 125, "it is there already")


@job_test("processes that it starts: those that have ended hold nothing while others live")
def _():
    r = assay("heap", "live", "--json", "--follow-fork", "-i", "0.05", "--", "sh", "-c",
              f"{ALLOCS} leak >/dev/null; sleep 0.5; :").ok()
    r, last = documents(r), documents(r)[-1]
    expect(last["total_allocations"] > 0, last)
    expect(max(d["processes"] for d in r) >= 1, r)
    alone = [d for d in r if d["processes"] == 1 and d["running"]]
    expect(all(sum(x["bytes"] for x in d["held_by_line"]) <= d["held_bytes"] for d in alone), r)


@job_test("a program that cannot be recorded runs, and that is told")
def _():
    program = next((p for p in ("/sbin/ldconfig", "/bin/busybox") if os.path.exists(p)
                    and b"ld-linux" not in open(p, "rb").read(4096)), None)
    if not program:
        skip("no program here is linked statically")
    r = run(ASSAY, "heap", "live", "--", program, "--help")
    expect_in("nothing was recorded", r.err)


@job_test("a process that runs: what it holds since, and it is left as it was")
def _():
    p = start(*holder(), stdout=open(tmp() / "own", "w"), stderr=subprocess.DEVNULL)
    wait_for(lambda: "ready" in (tmp() / "own").read_text(), WAIT, "it runs")
    for words in (["-d", "0.5", "-i", "0.1"], ["--json", "-d", "0.5", "-i", "0.1"]):
        r = assay("heap", "live", *words, p.pid).ok()
        expect_eq(p.poll(), None, "its end")
    expect(all(d["running"] and d["processes"] == 1 for d in documents(r)), r.out)
    live = Live("heap", "live", "-i", "0.2", "-o", FILE, p.pid)
    live.shows(rf"\({p.pid}\)", "what came since", r"heap \d", r"RSS \d")
    live.key("o")
    live.key("q")
    live.ended(0)
    expect_eq((p.poll(), heap_stats()["processes"][0]["pid"]), (None, p.pid), "its end, its pid")
    touch("free")
    touch("end")
    expect_eq(p.wait(WAIT), 3, "its own exit status")
    r = run(ASSAY, "heap", "live", "-o", "y.heap", "4194305")
    expect_eq((r.rc, (tmp() / "y.heap").exists()), (125, False), "one that is not there")


# --- the screen ---------------------------------------------------------------------

@job_test("80 by 24: the heap, who holds it, the peak, threads, search, output; q asks, then ends")
def _():
    live = Live("heap", "live", "-i", "0.2", "--", *holder())
    s = live.shows(r"Python 3\.\d+", r"heap \d.* in \d", r"peak \d", r"allocating \S+/s", r"RSS \d",
                   r"mapped files \d", r"own +total +count +allocated +temp +line",
                   r" side .*holder\.py:10", r" keep .*holder\.py:6")
    expect_in("q quit", s.line(23), "last line")
    expect("it is ready" not in s.text() and "held" not in s.line(0), "the command on the screen")
    live.key("l")
    live.shows("by function", r" side .*holder\.py:8")
    live.key("/SIDE")
    live.until(lambda s: s.line(23) == "/SIDE_" and " keep" not in s.text(), "only what has it")
    live.key("\x1b")
    live.shows(r" keep")
    live.key("t")
    live.shows("all of them", r"\d+ python")
    live.key("\x1bOB\r")
    live.shows(r"thread \d+ ")
    live.key("\x1b")
    live.key("?")
    live.shows("any key goes back", "freeze the screen")
    live.key("q")
    live.key("o")
    live.shows("what it wrote last", "it is ready", "held")
    live.key("x")
    live.key("ss")
    live.shows("sorted by count")
    live.key("SS")
    touch("free")
    live.until(lambda s: not re.search(r"^ +\d\S* [KM]iB .* keep", s.text(), re.M), "it was freed")
    live.key("m")
    live.shows("at the peak", r"\d\S* [KM]iB .* keep")
    live.key("p")
    live.shows("paused")
    live.key("pq")
    live.shows("the command still runs")
    live.key("x")
    live.until(lambda s: "still runs" not in s.text(), "it goes on")
    live.key("qq")
    live.ended(143)
    after = live.t.output[live.t.output.rindex("\x1b[?1049l"):]
    expect_in("it is ready\r\nheld\r\nfreed\r\n", after, "what the command wrote")


@job_test("when the command has ended the screen stays; its exit status is passed on")
def _():
    live = Live("heap", "live", "-i", "0.2", "-o", FILE, "--log", "log", "--", *holder())
    live.shows(r" keep")
    touch("free")
    touch("end")
    live.shows("it has ended", "left at the end", r"left \d")
    live.key("q")
    live.ended(3)
    expect_eq((tmp() / "log").read_text(), "it is ready\nheld\nfreed\n", "the log")
    after = live.t.output[live.t.output.rindex("\x1b[?1049l"):]
    expect("it is ready" not in after, "what is in the log is on the terminal too")
    expect_in("assay heap flamegraph out.heap", after)
    expect_eq(heap_stats()["complete"], True, "the capture")


@job_test("Ctrl-C is the command's, and ends the screen only after it")
def _():
    live = Live("heap", "live", "-i", "0.2", "--", "sh", "-c",
                "trap 'echo got it' INT; echo up; while :; do sleep 0.1; done")
    live.key("o")
    live.shows("what it wrote last", "up")
    live.key("\x03")
    live.shows("got it")
    live.key("x")
    live.key("qq")
    live.ended(143)
    live = Live("heap", "live", "-i", "0.2", "--", *holder())
    live.shows(r" keep")
    live.key("\x03")
    live.shows("it has ended")
    live.key("\x03")
    live.ended(130)


main()
