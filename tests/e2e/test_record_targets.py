#!/usr/bin/env python3
"""`assay record`: every way to be a CPython, found and read."""
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from pythons import *

PYTHONS = pythons()
NEWEST = PYTHONS[-1]
ENDS = [PYTHONS[0], NEWEST][-len(PYTHONS):]      # the oldest and the newest, if they are two
CODE = ("def burn():\n  while True: sum(range(100))\n"
        "print('ready', flush=True)\nburn()\n")


def record(pid, *options, seconds=0.5):
    r = assay("record", "--quiet", "-p", pid, "-d", seconds, "-r", "200", "-f", "folded",
              *options).ok()
    return stacks(r.out)


def name_of(frame):
    return frame.split(" ")[0]


def leaves(found):
    count = collections.Counter()
    for frames, n in found:
        count[name_of(frames[-1])] += n
    return count


def expect_burn(pid, why):
    count = leaves(record(pid))
    expect(count["burn"] > 10 and count["burn"] >= 0.9 * sum(count.values()), f"{why}: {count}")


def without_sections(path, to):
    """A copy of a program with no names at all: no symbol, no section."""
    data = bytearray(pathlib.Path(path).read_bytes())
    data[40:48] = bytes(8)                          # e_shoff
    data[58:64] = struct.pack("<HHH", 64, 0, 0)     # e_shentsize, e_shnum, e_shstrndx
    pathlib.Path(to).write_bytes(data)
    os.chmod(to, 0o755)
    return to


def nameless(python, folder):
    """Start CODE in a copy of this Python that has no names."""
    library = library_of(python)
    env = {"PYTHONHOME": str(pathlib.Path(python.path).resolve().parents[1])}
    command = python.path
    if library:
        env["LD_PRELOAD"] = str(without_sections(library, folder / library.name))
    else:
        command = without_sections(pathlib.Path(python.path).resolve(), folder / "program")
    return ready(start(command, "-c", CODE, env=env, stdout=subprocess.PIPE, text=True))


def ready(p):
    expect_eq(p.stdout.readline(), "ready\n", "the program's first line")
    return p


# --- where the runtime is -----------------------------------------------------

for python in PYTHONS:
    @job_test(f"3.{python.minor}: found by a scan where there is neither symbol nor section")
    def _(python=python):
        p = nameless(python, tmp())
        expect_burn(p.pid, "without names")
        stop(p)


@job_test("a program file that was deleted, and one that was replaced, are still read")
def _():
    for python in ENDS:
        folder = tmp() / python.version
        folder.mkdir()
        p = nameless(python, folder)
        for f in folder.iterdir():
            f.unlink()
        expect_burn(p.pid, f"3.{python.minor}, deleted")
        for name in ("program", library_of(python) or "x"):
            (folder / pathlib.Path(name).name).write_text("something else\n")
        expect_burn(p.pid, f"3.{python.minor}, replaced")
        stop(p)


@job_test("a user who may not open the mapped file: found by a scan")
def _():
    yama = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    if yama.exists() and yama.read_text().strip() != "0":
        skip("a user may not read his own processes here (Yama)")
    folder = public()
    copy = shutil.copy("/usr/bin/python3", folder / "program")
    p = ready(start(*as_nobody(copy, "-c", CODE), cwd="/", stdout=subprocess.PIPE, text=True))
    os.unlink(copy)
    r = run(*as_nobody(folder / "assay", "record", "-q", "-p", p.pid, "-d", 0.5, "-f", "folded"),
            cwd="/")
    stop(p)
    expect(leaves(stacks(r.ok().out))["burn"] > 10, r.out)


@job_test("embedded in a program that is no Python, the library's version by its file")
def _():
    tried = 0
    for python in PYTHONS:
        library = library_of(python)
        if not library:
            continue
        home = {"PYTHONHOME": str(pathlib.Path(python.path).resolve().parents[1])}
        p = ready(start(work("embed"), library, CODE, env=home, stdout=subprocess.PIPE, text=True))
        expect_burn(p.pid, f"3.{python.minor} embedded")
        stop(p)
        tried += 1
    if not tried:
        skip("no Python here has a shared library")


@job_test("versions before 3.8 are refused by name")
def _():
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    old = [p for v in ("3.6", "3.7") for p in pathlib.Path(root).glob(f"versions/{v}.*/bin/python")]
    if not old:
        skip("no old Python here")
    for path in old:
        p = ready(start(path, "-c", CODE, stdout=subprocess.PIPE, text=True))
        r = assay("record", "-p", p.pid, "-d", 0.1)
        expect_eq(r.rc, 69, f"exit status ({r.err})")
        expect_in("which is too old", r.err)
        expect_in("known are 3.8 to 3.15", r.err)
        stop(p)


# --- threads, interpreters, processes -----------------------------------------

@job_test("in a pid namespace: Python's numbers of threads are not ours, and are mapped")
def _():
    if not is_root() or run("unshare", "--pid", "--fork", "--mount-proc", "true").rc:
        skip("no pid namespace can be made here")
    for python in ENDS:
        outer = start("unshare", "--pid", "--fork", "--mount-proc", python.path,
                      program("threads"), 30, stdout=subprocess.PIPE, text=True)
        ready(outer)
        children = pathlib.Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text()
        pid = int(children.split()[0])
        tids = set(os.listdir(f"/proc/{pid}/task"))
        cpu = record(pid, "-t")
        wall = record(pid, "-t", "--mode", "wall")
        os.kill(pid, 9)
        stop(outer)
        expect_eq(leaves(cpu).most_common(1)[0][0], "burner", f"3.{python.minor}: CPU ({cpu})")
        threads = {frames[0] for frames, _ in wall}
        expect_eq(len(threads), 3, f"3.{python.minor}: threads ({threads} of {tids})")
        expect(all(any(tid in name for tid in tids) for name in threads),
               f"{threads} are not our numbers, {tids}")


for python in PYTHONS:
    @job_test(f"3.{python.minor}: a function in a subinterpreter is seen, and counted once")
    def _(python=python):
        p = script(python, "interps", 30)
        found = record(p.pid, "--stats-json", "stats.json", seconds=1)
        used = [int(x) for x in pathlib.Path(f"/proc/{p.pid}/schedstat").read_text().split()]
        stop(p)
        count = leaves(found)
        expect(count["inside"] > 10 and count["inside"] >= 0.9 * sum(count.values()),
               f"{count} ({used})")


# Before 3.10 nothing in a state says on whose C stack it is.
for python in [p for p in PYTHONS if p.minor >= 10]:
    @job_test(f"3.{python.minor}: a subinterpreter's stack is of the thread that runs it")
    def _(python=python):
        p = script(python, "lodgers", 30)
        found = record(p.pid, "-t", "--mode", "wall", seconds=1)
        cpu = leaves(record(p.pid, "-r", "400", seconds=2))
        seen = assay("dump", "--json", p.pid).ok().json()["threads"]
        stop(p)
        count = collections.defaultdict(collections.Counter)
        for frames, n in found:
            count[frames[0]][name_of(frames[-1])] += n
        expect_eq(len(count), 3, f"threads: {dict(count)}")
        for thread, leaf in count.items():
            mine = "outside" if thread == f"thread {p.pid}" else "inside"
            expect(leaf[mine] > 20 and leaf[mine] >= 0.9 * sum(leaf.values()), f"{thread}: {leaf}")
        told = sorted((t["tid"] == p.pid, t["frames"][-1]["function"]) for t in seen)
        expect_eq(told, [(False, "inside")] * 2 + [(False, "lodge")] * 2 + [(True, "outside")],
                  "threads of dump")
        # A thread has one stack, also if it waits when the one is asked for and runs at the other.
        expect(cpu["lodge"] <= 2 and cpu["inside"] > 50, cpu)


BESIDE = """
import threading, time
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
kept = interpreters.create()
def outside():
    end = time.monotonic() + 0.25
    while time.monotonic() < end: sum(range(100))
print("ready", flush=True)
while True:
    t = threading.Thread(target=outside)
    t.start()
    t.join()
"""

for python in PYTHONS:
    @job_test(f"3.{python.minor}: beside a subinterpreter that nobody is in, threads are seen soon")
    def _(python=python):
        p = start(python.path, "-c", BESIDE, stdout=subprocess.PIPE, text=True)
        ready(p)
        found = record(p.pid, "-t", seconds=2)
        stop(p)
        seen = {frames[0] for frames, n in found if name_of(frames[-1]) == "outside" and n > 5}
        expect(len(seen) >= 5, f"of 8 threads one after another: {seen}")


for method in ("fork", "spawn", "forkserver"):
    @job_test(f"multiprocessing by {method}: both workers, each by its number")
    def _(method=method):
        r = assay("record", "-q", "-s", "-r", "200", "-f", "folded", "--", NEWEST.path,
                  program("pool"), method, 1.5).ok()
        workers = {f[0] for f, _ in stacks(r.out) if name_of(f[-1]) == "work"}
        expect_eq(len(workers), 2, f"processes that ran work ({workers})")


@job_test("a process that was begun by a thread which is not the main one")
def _():
    kid = "import time; end = time.time() + 1.5\ndef kid():\n  while time.time() < end: pass\nkid()"
    code = ("import subprocess as s, sys, threading as t\n"
            f"x = t.Thread(target=lambda: s.run([sys.executable, '-c', {kid!r}]))\n"
            "x.start(); x.join()")
    r = assay("record", "-q", "-s", "-r", "200", "-f", "folded", "--", NEWEST.path, "-c", code).ok()
    expect("kid" in leaves(stacks(r.out)), r.out)


for python in ENDS:
    @job_test(f"3.{python.minor}: 300 threads that wait, and the one that works")
    def _(python=python):
        p = script(python, "crowd", 300, 60)
        cpu = leaves(record(p.pid))
        r = assay("record", "-q", "-p", p.pid, "-d", 1, "-r", "20", "--mode", "wall", "-t", "-f",
                  "folded").ok()
        stop(p)
        expect(cpu["worker"] > 10 and cpu["worker"] >= 0.9 * sum(cpu.values()), cpu)
        threads = {frames[0] for frames, _ in stacks(r.out)}
        expect_eq(len(threads), 301, "threads that were seen")


# --- --stop: a moment's halt instead of a rejected stack -----------------------

def old_python():
    """One that keeps its frames all over the place, where fast ones are hard to read."""
    return next((p for p in reversed(PYTHONS) if p.minor <= 10), PYTHONS[0])


def expect_running(pid):
    """No thread is stopped or traced, and the process gets on."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        status = (task / "status").read_text()
        expect("TracerPid:\t0" in status, f"traced: {status}")
        expect("State:\tT" not in status and "State:\tt" not in status, f"stopped: {status}")
    before = cpu_ns(pid)
    wait_for(lambda: cpu_ns(pid) > before)


def cpu_ns(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])


@job_test("--stop: what cannot be read as it runs is read stopped, and told")
def _():
    if old_python().minor > 10:
        skip("no Python here keeps its frames one by one: later ones can be read as they run")
    p = script(old_python(), "restless", 60)
    for _ in range(20):
        r = assay("record", "-p", p.pid, "-d", 0.5, "-r", "4000", "--mode", "wall", "--stop",
                  "--stats-json", "s.json")
        stats = json.loads((tmp() / "s.json").read_text())
        expect_eq(stats["stops"] > 0, "stopped" in r.ok().err, f"told in words ({r.err})")
        expect_eq(stats["stops"] > 0, stats["stopped_ns"] > 0, f"time of {stats}")
        if stats["stops"]:
            break
    expect_running(p.pid)
    stop(p)
    expect(stats["stops"], f"nothing was stopped: {stats}")


@job_test("without --stop nothing is stopped")
def _():
    p = script(old_python(), "restless", 60)
    r = assay("record", "-p", p.pid, "-d", 0.5, "-r", "2000", "--stats-json", "s.json").ok()
    stop(p)
    expect_eq(json.loads((tmp() / "s.json").read_text())["stops"], 0, "stops")
    expect("stopped" not in r.err, r.err)


@job_test("--stop: assay killed at any moment leaves nobody stopped, 50 times")
def _():
    p = script(old_python(), "restless", 120)
    chance = random.Random(4)
    for _ in range(50):
        r = start(ASSAY, "record", "-q", "-p", p.pid, "-r", "5000", "--mode", "wall", "--stop",
                  stdout=subprocess.DEVNULL)
        time.sleep(0.02 + chance.random() / 20)
        r.kill()
        r.wait()
        expect_running(p.pid)
    stop(p)


@job_test("--stop: signals arrive, each of them")
def _():
    p = script(old_python(), "restless", 120)
    r = start(ASSAY, "record", "-q", "-p", p.pid, "-r", "5000", "--mode", "wall", "--stop",
              "-o", "x.folded")
    for _ in range(300):
        os.kill(p.pid, signal.SIGUSR1)
        expect_eq(p.stdout.readline(), "got it\n", "what the handler says")
    stop(r, signal.SIGINT)
    expect_running(p.pid)
    stop(p)


@job_test("--stop with a command of our own: its end and status are told as ever")
def _():
    for _ in range(8):
        r = assay("record", "-q", "-r", "5000", "--mode", "wall", "--stop", "--stats-json",
                  "s.json", "--", old_python().path, program("restless"), 0.4)
        expect_eq(r.rc, 0, f"exit status ({r.err})")
    expect(json.loads((tmp() / "s.json").read_text())["samples"] > 10, r.err)


main()
