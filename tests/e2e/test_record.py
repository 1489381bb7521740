#!/usr/bin/env python3
"""`assay record`: stacks of real Pythons whose stacks are known."""
import collections
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from objects import check_sampled
from pythons import *
from stacks_table import impossible, name_of, record, shapes

PYTHONS = pythons()
ALLOWED = 1e-3      # of so few samples, taken as fast as can be of programs that do nothing else
print(f"# Pythons: {', '.join(p.version for p in PYTHONS)}", flush=True)


def names_of_threads(pid):
    return {task.joinpath("comm").read_text().strip()
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir()}


for python in PYTHONS:
    for shape in shapes.ALLOWED:
        @job_test(f"3.{python.minor}: no stack of {shape} is one that cannot be")
        def _(python=python, shape=shape):
            p = script(python, "shapes", shape, 20)
            found, stats = record(p.pid, "-r", "5000", "--mode", "wall", seconds=0.7)
            stop(p)
            bad = impossible(found, shape)
            expect(sum(bad.values()) <= max(2, stats["samples"] * ALLOWED),
                   f"{bad} of {stats}")
            expect(sum(n for frames, n in found if shape in map(name_of, frames)) > 20,
                   f"{shape} is hardly seen: {found[:5]} of {stats}")

    @job_test(f"3.{python.minor}: time is split as the program splits it, and by line")
    def _(python=python):
        p = script(python, "split", 0.75, 0.8)
        found, _ = record(p.pid, "-r", "500", seconds=20)
        used = json.loads(p.stdout.readline())
        count = collections.Counter()
        lines = collections.Counter()
        for frames, n in found:
            if name_of(frames[-1]) in used:
                count[name_of(frames[-1])] += n
                lines[frames[-1]] += n
        total = sum(count.values())
        truth = used["burn_first"] / sum(used.values())
        share = count["burn_first"] / total
        sigma = math.sqrt(truth * (1 - truth) / total)
        expect(abs(share - truth) < 5 * sigma + 0.02,
               f"{share:.3f} of {total}, truly {truth:.3f}")
        for line in lines:
            number = int(line.rstrip(")").rsplit(":", 1)[1])
            expect(10 <= number <= 16 or 18 <= number <= 24, line)


@job_test("what each thread does is told apart; those that wait count in wall only")
def _():
    p = script(PYTHONS[-1], "threads", 20)
    cpu, _ = record(p.pid, "-t", "-r", "200")
    wall, _ = record(p.pid, "-t", "-r", "200", "--mode", "wall")
    gil, _ = record(p.pid, "--gil", "-r", "200")
    stop(p)
    threads = {frames[0] for frames, _ in wall}
    expect_eq(len(threads), 3, f"threads ({threads})")
    leaves = collections.Counter(name_of(f[-1]) for f, n in cpu for _ in range(n))
    expect_eq(leaves.most_common(1)[0][0], "burner", f"who used the CPU ({leaves})")
    expect("sleeper" in {name_of(f[-1]) for f, _ in wall}, "the one that sleeps is not in wall")
    expect("sleeper" not in leaves, f"the one that sleeps is in cpu: {leaves}")
    expect_eq({name_of(f[-1]) for f, _ in gil}, {"burner"}, "who had the GIL")


for python in PYTHONS:
    @job_test(f"3.{python.minor}: threads have the names that Python has for them")
    def _(python=python):
        p = script(python, "states", 20)
        found, _ = record(p.pid, "-t", "--mode", "wall")
        stop(p)
        names = {frames[1] for frames, _ in found}
        expect_eq(names, {"name MainThread"} | {f"name {n}-thread" for n in
                  ("sleeper", "reader", "locked", "poller")}, "names")

    @job_test(f"3.{python.minor}: a thread soon has its name, also if `threading` came late")
    def _(python=python):
        code = ("import time; time.sleep(0.3)\nimport threading\n"
                "def work():\n    end = time.thread_time() + 0.9\n"
                "    while time.thread_time() < end: pass\n"
                "threading.Thread(target=work, name='early bird').start()\n")
        assay("record", "-q", "-t", "-r", "500", "-o", "x.folded",
              "--", python.path, "-c", code).ok()
        names = collections.Counter()
        found = stacks((tmp() / "x.folded").read_text())
        for frames, n in found:
            names[frames[1]] += n if "work" in map(name_of, frames) else 0
        expect(names["name early bird"] > 0.6 * names.total(), names)

    @job_test(f"3.{python.minor}: a thread that has not begun yet has nothing of who begins it")
    def _(python=python):
        r = assay("record", "-q", "-t", "-r", "2000", "--weight", "time", "-o", "x.folded", "--",
                  python.path, program("starting"), 60).ok()
        truth = json.loads(r.out)
        used = collections.Counter()
        for frames, us in stacks((tmp() / "x.folded").read_text()):
            sleeps = "sleeper" in map(name_of, frames) or str(truth["thread"]) not in frames[0]
            used["sleepers" if sleeps else "burner"] += us / 1e6
        expect(0.5 < sum(used.values()) / truth["used"] < 1.05, f"{used} of {truth}")
        expect(used["sleepers"] < 0.1 * truth["used"], f"{used} of {truth}")


@job_test("CPU time is with the stacks that used it, not with those that wait afterwards")
def _():
    p = script(PYTHONS[-1], "duty", 30)
    found, _ = record(p.pid, "-r", "200", "--weight", "time", seconds=4)
    stop(p)
    time_of = collections.Counter()
    for frames, us in found:
        for name in {name_of(f) for f in frames} & {"busy", "idle"}:
            time_of[name] += us
    expect(time_of["busy"] > 2 * time_of["idle"], f"{time_of}")


@job_test("a thread that is given another name has it from then on")
def _():
    code = ("import threading, time\nprint('ready', flush=True)\ntime.sleep(3)\n"
            "threading.current_thread().name = 'other'\ntime.sleep(20)\n")
    p = start(PYTHONS[-1].path, "-c", code, stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    found, _ = record(p.pid, "-t", "--mode", "wall", seconds=6)
    stop(p)
    expect_in("name other", {frames[1] for frames, _ in found})


BURSTS = """
import sys, time
print("ready", flush=True)
sys.stdin.readline()
used = time.thread_time()
for _ in range(40):
    end = time.thread_time() + 0.001
    while time.thread_time() < end: pass
    time.sleep(0.01)
print(time.thread_time() - used, flush=True)
sys.stdin.readline()
"""


@job_test("at the end all CPU time was told, also what no look has met")
def _():
    p = start(PYTHONS[-1].path, "-c", BURSTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
              text=True)
    p.stdout.readline()
    r = start(ASSAY, "record", "-q", "-p", p.pid, "-r", 5, "--weight", "time", "-o", "x.folded")
    wait_for(lambda: "assay-stacks" in names_of_threads(r.pid), what="a sampler")
    time.sleep(1)
    p.stdin.write("\n")
    p.stdin.flush()
    used = float(p.stdout.readline())
    r.send_signal(signal.SIGINT)
    expect_eq(r.wait(30), 0, "exit status")
    stop(p)
    told = sum(us for _, us in stacks((tmp() / "x.folded").read_text())) / 1e6
    expect(0.95 * used <= told <= used + 0.02, f"{told:.4f} of {used:.4f} s")


@job_test("a command that cannot be run: 127, or 126, as env has it")
def _():
    (tmp() / "plain").write_text("")
    for command in ["record", "-q"], ["loop"], ["run", "-q"], ["heap", "run", "-q", "-o", "x.heap"]:
        for name, status in ("./nosuch", 127), ("nosuch", 127), ("./plain", 126):
            r = assay(*command, "--", name)
            expect_eq(r.rc, status, f"exit status of {command} {name} ({r.err})")
            expect_in(f"cannot run '{name}'", r.err)


@job_test("what a thread that Python does not know used is in no stack")
def _():
    p = script(PYTHONS[-1], "beside", work("libspin.so"), 0.9)
    found, _ = record(p.pid, "-r", "200", "--weight", "time", seconds=60)
    used = json.loads(p.stdout.readline())
    told = sum(us for _, us in found) / 1e6
    expect(abs(told - used["own"]) < 0.25 * used["own"], f"{told:.3f} s of {used}")


@job_test("a sampler that is held up tells how many moments it missed, and makes up for none")
def _():
    p = script(PYTHONS[-1], "split", 0.5, 20)
    r = start(ASSAY, "record", "-q", "-p", p.pid, "-d", 3, "-r", 100, "-o", "x.folded",
              "--stats-json", "stats.json", stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    r.send_signal(signal.SIGSTOP)
    time.sleep(1)
    r.send_signal(signal.SIGCONT)
    expect_eq(r.wait(30), 0, "exit status")
    stop(p)
    stats = json.loads((tmp() / "stats.json").read_text())
    seconds = stats["duration_ns"] / 1e9
    expect(stats["late"] >= 60, f"{stats}")
    expect(stats["looks"] + stats["late"] <= 100 * seconds + 100, f"{stats}")
    expect(stats["looks"] <= 100 * (seconds - 0.8) + 60, f"{stats}")
    told = r.stderr.read()
    expect_in(f"assay: {stats['samples']} samples in ", told)       # with --quiet, too
    expect_in(f"{stats['late']} late", told)


@job_test("nothing was missed while there was no Python yet")
def _():
    code = "import time; e = time.time() + 0.3\nwhile time.time() < e: pass"
    assay("record", "-q", "-r", 200, "-o", "x.folded", "--stats-json", "stats.json", "--", "sh",
          "-c", 'sleep 2; exec "$0" -c "$1"', PYTHONS[-1].path, code)
    stats = json.loads((tmp() / "stats.json").read_text())
    expect(stats["looks"] > 0 and stats["late"] < 200, f"{stats}")     # 400 in those 2 s


for python in PYTHONS:
    @job_test(f"3.{python.minor}: samples have the task that ran, and in wall those that await")
    def _(python=python):
        check_sampled(script(python, "jobs", 20))


AWAITING = """
import asyncio
async def wait(): await asyncio.sleep(1)
async def main(): await asyncio.gather(*(wait() for _ in range(4)))
asyncio.run(main())
"""

for python in PYTHONS:
    @job_test(f"3.{python.minor}: tasks count from when they are there, not from a second later")
    def _(python=python):
        r = assay("record", "--quiet", "--mode", "wall", "--async", "-F", "-o", "-", "--weight",
                  "time", "--", python.path, "-c", AWAITING).ok()
        found = stacks(r.out)
        awaited = sum(us for frames, us in found if "wait" in frames) / 1e6
        expect(2.5 <= awaited <= 5.5, f"{awaited} s of 4")    # all begin and end between two looks


for python in PYTHONS:
    @job_test(f"3.{python.minor}: a stack that is too deep has lost its callers, and says so")
    def _(python=python):
        r = assay("record", "-r", "50", "-F", "-o", "x.folded", "--stats-json", "x.json", "--",
                  python.path, "-S", "-c",
                  "import sys, time\nsys.setrecursionlimit(9000)\n"
                  "def spin():\n  e = time.process_time() + 1\n"
                  "  while time.process_time() < e: pass\n"
                  "def deep(n): return deep(n - 1) if n else spin()\n"
                  "deep(4096)")
        expect_eq(r.rc, 0, r.err)
        found = [frames for frames, _ in stacks((tmp() / "x.folded").read_text())
                 if frames[-1] == "spin"]
        expect(found, "never seen")
        expect_eq({tuple(frames[:2]) for frames in found}, {("(more callers)", "deep")}, "roots")
        expect_eq({len(frames) for frames in found}, {4097}, "as deep as is read")
        how = json.loads((tmp() / "x.json").read_text())
        expect(how["rejected"] <= how["samples"], how)


@job_test("a program from its start, its status, and what is told on standard error")
def _():
    r = assay("record", "-r", "500", "-o", "x.folded", "--", PYTHONS[-1].path, "-c",
              "import time\ndef f():\n  e = time.time() + .5\n  while time.time() < e: pass\n"
              "f(); raise SystemExit(7)")
    expect_eq(r.rc, 7, "exit status")
    found = stacks((tmp() / "x.folded").read_text())
    expect(any(name_of(frames[-1]) == "f" for frames, _ in found), found)
    expect_in("% rejected", r.err)
    expect_in("written to x.folded", r.err)


@job_test("the Pythons among the descendants, each by its number")
def _():
    code = ("import multiprocessing as m, time\n"
            "def f(x):\n"
            "  e = time.time() + 1\n"
            "  while time.time() < e: pass\n"
            "if __name__ == '__main__':\n"
            "  m.get_context('fork').Pool(2).map(f, [1, 2])\n")
    (tmp() / "pool.py").write_text(code)
    r = assay("record", "-q", "-s", "-r", "200", "-f", "folded", "--", PYTHONS[-1].path,
              "pool.py").ok()
    workers = {f[0] for f, _ in stacks(r.out) if name_of(f[-1]) == "f"}
    expect_eq(len(workers), 2, f"processes that ran f ({workers})")


@job_test("pprof has the kinds of value that were asked for")
def _():
    import gzip
    p = script(PYTHONS[-1], "split", 0.5, 20)
    assay("record", "-q", "-p", p.pid, "-d", 0.4, "--mode", "cpu,wall", "-o", "x.pb.gz").ok()
    stop(p)
    raw = gzip.decompress((tmp() / "x.pb.gz").read_bytes())
    for word in (b"samples", b"cpu", b"wall", b"nanoseconds", b"burn_first"):
        expect(word in raw, f"{word} is not in the profile")


@job_test("-d ends a command, too: gently, all of it, and nothing has failed")
def _():
    code = ("import signal, subprocess, sys, time\n"
            "other = subprocess.Popen(['sleep', '60'])\n"
            "def end(*_):\n"
            "    open('told', 'w').write(str(other.pid)); sys.exit(3)\n"
            "signal.signal(signal.SIGTERM, end)\n"
            "stop = time.time() + 60\n"
            "while time.time() < stop: pass\n")
    began = time.monotonic()
    r = assay("record", "-q", "-d", 1.5, "-o", "x.folded", "--", PYTHONS[-1].path, "-c", code,
              timeout=50).ok()
    expect(time.monotonic() - began < 40, "it ran on")
    other = (tmp() / "told").read_text()
    expect(not os.path.exists(f"/proc/{other}"), f"its child {other} was left")
    expect(stacks((tmp() / "x.folded").read_text()), "no stacks were written")
    expect_eq(runs()[0]["status"], "success", "status in the history")


@job_test("of several modes cpu is shown, wherever none is named")
def _():
    p = script(PYTHONS[-1], "split", 0.5, 20)
    assay("record", "-q", "-p", p.pid, "-d", 0.6, "--mode", "cpu,wall,gil", "-o", "x.pb.gz").ok()
    stop(p)
    for name in "x.speedscope.json", "x.callgrind":
        assay("convert", "x.pb.gz", name).ok()
    assay("convert", "--threads", "x.pb.gz", "threads.speedscope.json").ok()
    for profile in "x.pb.gz", "last", "x.speedscope.json", "x.callgrind", "threads.speedscope.json":
        d = assay("report", "--stacks", "--json", profile).ok().json()
        expect_eq(d["metric"], "cpu", f"what is shown of {profile}")
    r = assay("convert", "x.pb.gz", "x.folded").ok()
    expect_in("the values are of 'cpu'", r.err)
    expect_eq(assay("profiles", "--json").ok().json()["profiles"][0]["kind"], "cpu", "main kind")


@job_test("who cannot be recorded is told why")
def _():
    sleeper = start("sleep", "30")
    for words, code, why in [
            (["-p", sleeper.pid, "-d", 0.1], 69, "is not a Python program"),
            (["-p", sleeper.pid], 69, "is not a Python program"), # not when it ends
            (["-p", 4194305], 66, "no process"),
            (["-p", 0], 2, "greater than"),
            ([], 2, "what to record"),
            (["-p", sleeper.pid, "--", "true"], 2, "not both"),
            (["--mode", "cpu,cpy", "--", "true"], 2, "no mode 'cpy'"),
            (["--", "true"], 69, "Python"),
            (["--", "/no/such"], 127, "cannot run")]:
        r = assay("record", *words)
        expect_eq(r.rc, code, f"exit status of {words} ({r.err})")
        expect_in(why, r.err)
    expect_eq(sleeper.poll(), None, "they were told while it lives")
    stop(sleeper)


@job_test("who is no Python and starts others is told who they are")
def _():
    parent = start("sh", "-c", "sleep 30; true")
    born = pathlib.Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    wait_for(born.read_text, 20, "its child")
    child = int(born.read_text())
    for words, what in [(["record", "--no-store", "-p"], "--subprocesses looks at their Pythons"),
                        (["record", "--no-store", "-d", 0.2, "-p"],
                         "--subprocesses looks at their Pythons"),
                        (["top", "-d", 0.2], "--subprocesses looks at their Pythons"),
                        (["dump"], f"assay dump {child}")]:
        r = assay(*words, parent.pid)
        expect_eq(r.rc, 69, f"exit status of {words}")
        expect_in(f"it has started {child}, which may do the work: {what}", r.err)
    os.kill(child, signal.SIGKILL)
    stop(parent)
    r = assay("record", "--no-store", "--", "sh", "-c", "sleep 0.3; true")
    expect_eq(r.rc, 69, "exit status of the command")
    expect_in("it was 2 processes: --subprocesses looks at their Pythons", r.err)


@job_test("CPU time that is in no stack is told")
def _():
    burn = "import time\nwhile time.process_time() < 0.6: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    told = r"\d+ ms of \d+ ms CPU in no stack: other processes, threads without Python"
    for option, missing in ((), True), (("-s",), False):
        r = assay("record", *option, "--", sys.executable, "-c", code).ok()
        shown = assay("show", "last").ok().out
        for text in r.err, shown:
            expect_eq(bool(re.search(told, text)), missing, f"what {option} tells: {text}")
        used = assay("show", "last", "--json").ok().json()["assay"]
        kinds = {kind["name"]: kind["total"] for kind in used["stacks"]["kinds"]}
        expect_eq(used["totals"]["cpu"]["value"] - kinds["cpu"] > 0.4e9, missing, "what is missing")
    r = assay("record", "--mode", "wall", "--no-store", "--", sys.executable, "-c", code).ok()
    expect("in no stack" not in r.err, f"nobody asked for CPU time: {r.err}")


@job_test("a file that cannot be written is refused before the program is started")
def _():
    for option in ("-o", "--stats-json"):
        r = assay("record", option, "no/such/folder", "--", "touch", tmp() / "started")
        expect_eq(r.rc, 66, f"exit status ({r.err})")
        expect_in("no/such/folder", r.err)
        expect(not (tmp() / "started").exists(), "it was started")


@job_test("another user's process is refused with what to do about it")
def _():
    if not is_root():
        skip("only root can start a process that this user may not read")
    p = script(PYTHONS[-1], "split", 0.5, 20)
    r = run(*as_nobody(ASSAY, "record", "-p", p.pid, "-d", 0.1))
    expect_eq(r.rc, 77, f"exit status ({r.err})")
    expect_in("it belongs to uid 0: be that user, be root, or have CAP_SYS_PTRACE", r.err)
    if shutil.which("setpriv"):
        r = run("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace", ASSAY, "dump",
                p.pid)
        expect(r.rc == 0 or "--cap-add SYS_PTRACE" in r.err, r.err)
        expect("be root" not in r.err and "assay record" not in r.err, r.err)
    stop(p)


@job_test("Python 2 is told from what is no Python")
def _():
    shutil.copy(shutil.which("sleep"), tmp() / "python2.7")
    p = start(tmp() / "python2.7", "20")
    r = assay("record", "-p", p.pid, "-d", 0.1)
    expect_eq(r.rc, 69, f"exit status ({r.err})")
    expect_in("runs Python 2, which is too old", r.err)
    stop(p)


@job_test("the target ends in the middle: what was seen is kept")
def _():
    p = script(PYTHONS[-1], "split", 0.5, 0.5)
    found, stats = record(p.pid, "-r", "300", seconds=30)
    expect(sum(n for _, n in found) > 10, stats)


main()
