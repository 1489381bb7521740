#!/usr/bin/env python3
"""`assay dump`: what programs say of themselves, compared thread by thread."""
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from objects import *
from pythons import *

PYTHONS = pythons()
# Four that compute, and one that gives the GIL away and wants it back all the time.
CROWD = """
import threading, time
end = time.monotonic() + 60
def cruncher():
    while time.monotonic() < end: sum(range(100))
def reader():
    with open("/dev/urandom", "rb", buffering=0) as f:
        while time.monotonic() < end: f.read(100000)
for f in [cruncher] * 4 + [reader]:
    threading.Thread(target=f, daemon=True).start()
print("ready", flush=True)
time.sleep(60)
"""
# One task after the other, with and without a pause, each where the last one was.
ROWS = """
import asyncio
async def one(): await asyncio.sleep(.3)
async def row(pause, name):
    while True:
        await asyncio.create_task(one(), name=name)
        await asyncio.sleep(pause)
async def main(): await asyncio.gather(row(0, None), row(.1, "same"))
print("ready", flush=True)
asyncio.run(main())
"""
print(f"# Pythons: {', '.join(p.version for p in PYTHONS)}", flush=True)

for python in PYTHONS:
    @job_test(f"3.{python.minor}: every thread has the state and the stack that it says")
    def _(python=python):
        d = check_states(script(python, "states", 60))
        expect(python.version.startswith(d["python"]), f"version {d['python']}")

    @job_test(f"3.{python.minor}: one has the GIL and the other waits for it")
    def _(python=python):
        p = script(python, "states", 60, "burn")
        told = json.loads(p.stdout.readline())
        burners = {told["burner_1"], told["burner_2"]}
        seen = set()

        def both():
            found = threads(p.pid)
            holders = {tid for tid, t in found.items() if t["holds_gil"]}
            expect(len(holders) <= 1, f"{len(holders)} threads hold one GIL")
            for tid in burners:
                other = found[(burners - {tid}).pop()]
                if tid in holders and other["state"] == "waiting_for_gil":
                    expect_eq(other["system_call"], None, "the call of one that waits for it")
                    seen.add(tid)
            return seen
        wait_for(both, timeout=30, what="a thread that waits for the GIL which another has")
        stop(p)

    @job_test(f"3.{python.minor}: nobody waits for the GIL that he has")
    def _(python=python):
        (tmp() / "crowd.py").write_text(CROWD)
        p = start(python.path, "crowd.py", stdout=subprocess.PIPE, text=True)
        p.stdout.readline()
        for _ in range(20):
            for t in threads(p.pid).values():
                expect(not t["holds_gil"] or t["state"] != "waiting_for_gil", f"{t}")
        stop(p)

    @job_test(f"3.{python.minor}: variables are what the program says they are")
    def _(python=python):
        check_locals(script(python, "locals", 60))

    @job_test(f"3.{python.minor}: every task awaits what the program says")
    def _(python=python):
        check_tasks(script(python, "tasks", 60))


@job_test("watched for a while, tasks tell for how long they ran and awaited")
def _():
    p = script(PYTHONS[-1], "jobs", 60)
    d = dump(p.pid, "--async", "-d", "2s")
    text = assay("dump", "--async", "-d", "0.1", p.pid).ok().out
    r = assay("dump", "-d", 1, p.pid)
    stop(p)
    found = {t["name"]: t for t in d["tasks"]}
    whole, idle = d["watched_ns"], found["idle"]
    expect(whole >= 2e9, f"watched for {whole} ns")
    expect_eq((idle["ran_ns"], idle["awaited_ns"]), (0, whole), "the one that only awaits")
    one, three = found["busy-1"]["ran_ns"], found["busy-3"]["ran_ns"]
    expect(0.5 * whole < one + three <= whole, f"{one} and {three} of {whole}")
    expect(0.6 < three / (one + three) < 0.9, f"{one} and {three}, truly 3 to 1")
    expect_in(", watched for 1", text)
    expect_in("idle  awaits a Future  ran 0", text)
    expect_eq(r.rc, 2, "exit status of --duration without --async")


for python in PYTHONS:
    @job_test(f"3.{python.minor}: a task that follows another has its own time only")
    def _(python=python):
        (tmp() / "rows.py").write_text(ROWS)
        p = start(python.path, "rows.py", stdout=subprocess.PIPE, text=True)
        p.stdout.readline()
        d = dump(p.pid, "--async", "-d", "2s")
        stop(p)
        for t in d["tasks"]:
            if "one" in functions(t):
                expect((t["awaited_ns"] or 0) < 1.2e9, f"each lives 0.3 s: {t}")


@job_test("a program without asyncio has no tasks")
def _():
    p = script(PYTHONS[-1], "states", 60)
    expect_eq(tasks(p.pid), {}, "tasks")
    stop(p)


@job_test("what is large or deep is shortened, and says so")
def _():
    code = ("import time\n"
            "def f(many, text, raw, deep, loop, huge, wide):\n"
            "  print('ready', flush=True); time.sleep(60)\n"
            "loop = []; loop.append(loop)\n"
            "f(list(range(1000)), 'x' * 5000, bytes(5000), [[[[[]]]]], loop, 1 << 9999,\n"
            "  {i: [str(i) * 60] * 50 for i in range(500)})\n")
    (tmp() / "large.py").write_text(code)
    p = start(PYTHONS[-1].path, "large.py", stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    frames = dump(p.pid, "--locals")["threads"][0]["frames"]
    stop(p)
    v = frames[-1]["locals"]
    expect_eq(v["many"], "[0, 1, 2, 3, 4, 5, 6, 7, … 992 more]", "a long list")
    expect_eq(v["text"], f"'{'x' * 72}'…", "a long text")
    expect_eq(v["raw"], "b'" + "\\x00" * 72 + "'…", "many bytes")
    expect(v["deep"].startswith("[[[<list at 0x"), v["deep"])
    expect(v["loop"].startswith("[[[<list at 0x"), v["loop"])
    expect_in("bits>", v["huge"])
    expect(len(v["wide"]) < 2000 and v["wide"].endswith("more}"), v["wide"])


@job_test("a process that was stopped says so, and stays as it was")
def _():
    p = script(PYTHONS[-1], "states", 60)
    told = json.loads(p.stdout.readline())
    os.kill(p.pid, signal.SIGSTOP)
    wait_for(lambda: {t["state"] for t in threads(p.pid).values()} == {"stopped"},
             what="all threads stopped")
    found = threads(p.pid)
    expect_in("reader", functions(found[told["reader"]]))
    expect_eq(open(f"/proc/{p.pid}/stat").read().rsplit(")", 1)[1].split()[0], "T", "its state")
    os.kill(p.pid, signal.SIGCONT)
    stop(p)


@job_test("as text: a line a thread, a line a frame, none wider than 80 columns")
def _():
    p = script(PYTHONS[-1], "states", 60)
    told = json.loads(p.stdout.readline())
    settled(p.pid, told)
    out = assay("dump", p.pid).ok().out
    stop(p)
    lines = out.splitlines()
    expect(all(len(line) <= 80 for line in lines), "a line is too wide")
    expect_in(f"process {p.pid}  Python {PYTHONS[-1].version}", lines[0])
    heads = [line for line in lines if line.startswith("thread ")]
    expect_eq(len(heads), len(told), "threads")
    reader = next(i for i, line in enumerate(lines) if line.startswith(f"thread {told['reader']} "))
    expect(lines[reader].endswith("waiting in read"), lines[reader])
    expect(lines[reader + 1].startswith("    reader (python/states.py:"), lines[reader + 1])


@job_test("who cannot be dumped is told why")
def _():
    sleeper = start("sleep", "30")
    for words, code, why in [
            ([sleeper.pid], 69, "is not a Python program"),
            ([4194305], 66, "no process"),
            ([0], 2, "0"),
            (["x"], 2, "x"),
            ([], 2, "PID")]:
        r = assay("dump", *words)
        expect_eq(r.rc, code, f"exit status of {words} ({r.err})")
        expect_in(why, r.err)
    stop(sleeper)


@job_test("another user's process is refused with what to do about it")
def _():
    if not is_root():
        skip("only root can start a process that this user may not read")
    p = script(PYTHONS[-1], "states", 60)
    r = run(*as_nobody(ASSAY, "dump", p.pid))
    stop(p)
    expect_eq(r.rc, 77, f"exit status ({r.err})")
    expect_in("be root", r.err)


main()
