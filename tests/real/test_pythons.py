#!/usr/bin/env python3
"""`assay record` on Pythons of other systems, without a GIL, in containers, with workers."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "lib"))
sys.path.append(str(TESTS / "workloads/python"))   # behind ours: both have a jobs.py
from harness import *
from heaps import *
from jobs import *
from loops import *
from objects import *
from pythons import *
from roots import *
import shapes

ALLOWED = 1e-3
NEWER = (14, 15)    # minor versions that Debian's forky has and this system has not
FREE = (13, 14)     # minor versions that are built without the GIL


def in_root(minor, name, *words):
    """Start a script in another root, and wait until it is ready."""
    root = forky()
    shutil.copytree(TESTS / "workloads/python", root / "tmp/assay", dirs_exist_ok=True)
    p = start("chroot", root, f"/usr/bin/python3.{minor}", f"/tmp/assay/{name}.py", *words,
              stdout=subprocess.PIPE, text=True)
    expect_eq(p.stdout.readline(), "ready\n", "the script's first line")
    return p


def without(minor, name, *words):
    """Start a script without the GIL, and wait until it is ready."""
    return script(without_gil(minor), name, *words)


STARTS = {f"3.{minor} in a chroot": functools.partial(in_root, minor) for minor in NEWER}
STARTS |= {f"3.{minor} without the GIL": functools.partial(without, minor) for minor in FREE}


def record(pid, *options, seconds=2):
    r = assay("record", "--quiet", "-p", pid, "-d", seconds, "-f", "folded", "--stats-json",
              "stats.json", *options).ok()
    return stacks(r.out), json.loads((tmp() / "stats.json").read_text())


def name_of(frame):
    return frame.split(" ")[0]


# --- newer versions in a chroot, and those without the GIL ------------------------

for where, begin in STARTS.items():
    for shape in shapes.ALLOWED:
        @job_test(f"{where}: no stack of {shape} is one that cannot be", 3600)
        def _(begin=begin, shape=shape):
            p = begin("shapes", shape, 60)
            found, stats = record(p.pid, "-r", "5000", "--mode", "wall")
            stop(p)
            own = {name for chain in shapes.ALLOWED[shape] for name in chain}
            chains = [([name_of(f) for f in frames if name_of(f) in own], n)
                      for frames, n in found]
            bad = [(c[:6], n) for c, n in chains if c and c not in shapes.ALLOWED[shape]]
            expect(sum(n for _, n in bad) <= max(1, stats["samples"] * ALLOWED), (bad, stats))
            expect(sum(n for c, n in chains if c) > 50, stats)
            expect(stats["rejected_ratio"] < 0.02, stats)

    @job_test(f"{where}: the lines are those of the loops", 1800)
    def _(begin=begin):
        p = begin("split", 0.75, 3)
        found, stats = record(p.pid, "-r", "500", seconds=20)
        lines = {frames[-1] for frames, n in found if name_of(frames[-1]).startswith("burn")
                 for _ in range(n)}
        stop(p)
        expect({name_of(f) for f in lines} == {"burn_first", "burn_second"}, (found, stats))
        for line in lines:
            number = int(line.rstrip(")").rsplit(":", 1)[1])
            expect(10 <= number <= 24, line)

    @job_test(f"{where}: threads, and a subinterpreter", 1800)
    def _(begin=begin):
        p = begin("threads", 60)
        found, _ = record(p.pid, "-t", "--mode", "wall", "-r", "200")
        stop(p)
        expect_eq(len({frames[0] for frames, _ in found}), 3, "threads")
        p = begin("interps", 60)
        found, _ = record(p.pid, "-r", "200")
        stop(p)
        expect(sum(n for f, n in found if name_of(f[-1]) == "inside") > 10, found)

    for name, check in {"states": check_states, "locals": check_locals, "tasks": check_tasks,
                        "jobs": check_sampled}.items():
        @job_test(f"{where}: {name} are as the program says", 1800)
        def _(begin=begin, name=name, check=check):
            check(begin(name, 60))


for minor in FREE:
    @job_test(f"3.{minor} without the GIL: threads run at once, each at lines of its own", 3600)
    def _(minor=minor):
        p = without(minor, "states", 60, "busy")
        told = json.loads(p.stdout.readline())
        burners = {told["burner_1"], told["burner_2"]}
        looks = [threads(p.pid) for _ in range(20)]
        found, stats = record(p.pid, "-t", "-r", "500", seconds=4)
        held, _ = record(p.pid, "--mode", "gil", seconds=1)
        stop(p)
        both = sum(all(t[tid]["state"] == "running" for tid in burners) for t in looks)
        expect(both >= len(looks) // 2, f"both ran in {both} of {len(looks)} looks")
        expect(not any(t["holds_gil"] for look in looks for t in look.values()), looks)
        expect_eq(held, [], "samples of who holds it")
        own = [(frames, n) for frames, n in found if any(name_of(f) == "burn" for f in frames)]
        whose = {frames[0] for frames, _ in own}
        expect_eq(len(whose), 2, f"threads that burn ({whose}, {stats})")
        source = pathlib.Path(program("states")).read_text().splitlines()
        for frames, n in own:
            for f in frames:
                if name_of(f) in ("burn", "burner_1", "burner_2"):
                    line = source[int(f.rstrip(")").rsplit(":", 1)[1]) - 1]
                    expect(any(w in line for w in ("while ", "sum(", "end =", "burn()")), f)


    @job_test(f"3.{minor} without the GIL: what holds a loop is told with its line", 3600)
    def _(minor=minor):
        log, found = blocks_of(without_gil(minor), 7, 60, "asyncio", 10, 100)
        hits = [p for p in match(log, found) if p.found]
        right = sum(p.line in lines_of(p.found, "blocks.py") for p in hits)
        expect(len(hits) >= 0.9 * len(log), f"{len(hits)} of {len(log)} found")
        expect(right >= 0.95 * len(hits), f"{right} of {len(hits)} lines are right")

    @job_test(f"3.{minor} without the GIL: that its objects are its own affair is said", 3600)
    def _(minor=minor):
        h = heap(*amounts(without_gil(minor).path, "objects"))
        expect_in("an allocator of its own inside", h.doc["processes"][0]["problem"])


ARGUMENTS = (0, 0), (48, 1)     # bytes, count: one tuple of them, which calls use again


@job_test("3.13 without the GIL: objects are seen when they are asked for, by their lines", 3600)
def _():
    for case in ("objects", "arrays", "generators", "coroutines", "callbacks", "deep", "threads"):
        h = heap(*amounts(without_gil(13).path, case), options=["--python-allocators"])
        made = h.lines("top_by_size")
        for mark in (m for t in h.truth for m in t["marks"].values() if m["objects"]):
            size, count = made[mark["function"], mark["line"]]
            more = size - mark["objects"]["bytes"], count - mark["objects"]["count"]
            expect_in(more, ARGUMENTS, f"what {mark['function']} made more")
        h.expect_nothing_lost()


@job_test("3.14 without the GIL: objects are seen when asked for, with native stacks", 3600)
def _():
    h = heap(*amounts(without_gil(14).path, "objects"), options=["--python-allocators"])
    expect_in("its stacks are native ones only", h.doc["processes"][0]["problem"])
    h.expect_nothing_lost()


# --- in a container -------------------------------------------------------------

def dockerd(folder):
    """A daemon of our own; words that speak to it."""
    if not is_root() or not shutil.which("dockerd", path="/usr/sbin:/usr/bin"):
        skip("docker is not installed (make test-real installs it)")
    socket = f"unix://{folder}/docker.sock"
    start("dockerd", "--data-root", folder / "data", "--exec-root", folder / "exec", "--pidfile",
          folder / "pid", "-H", socket, "--storage-driver", "vfs", "--exec-opt",
          "native.cgroupdriver=cgroupfs", "--bridge=none", "--iptables=false",
          "--ip6tables=false", "--ip-masq=false", "--ip-forward=false",
          stdout=open(folder / "log", "w"), stderr=subprocess.STDOUT,
          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    docker = ["/usr/bin/docker", "-H", socket]
    try:
        wait_for(lambda: run(*docker, "info").rc == 0, 60)
    except Exception:
        skip(f"dockerd does not start here: {(folder / 'log').read_text()[-300:]}")
    return docker


@job_test("in a container of dockerd, from outside: its threads by our numbers", 1800)
def _():
    root = forky()
    shutil.copytree(TESTS / "workloads/python", root / "tmp/assay", dirs_exist_ok=True)
    docker = dockerd(tmp())
    try:
        run("sh", "-c", f"tar -C {root} --exclude=./proc/* --exclude=./sys/* -c . | "
            f"{' '.join(docker)} import - python:test", timeout=300).ok()
        run(*docker, "run", "-d", "--name", "target", "--network", "none", "python:test",
            "/usr/bin/python3.14", "/tmp/assay/threads.py", "60", timeout=120).ok()
        wait_for(lambda: "ready" in run(*docker, "logs", "target").out, 60)
        pid = run(*docker, "inspect", "-f", "{{.State.Pid}}", "target").ok().out.strip()
        tids = set(os.listdir(f"/proc/{pid}/task"))
        found, _ = record(pid, "-t", "--mode", "wall", "-r", "200")
        threads = {frames[0] for frames, _ in found}
        expect_eq(len(threads), 3, f"threads ({threads})")
        expect(all(any(tid in name for tid in tids) for name in threads), (threads, tids))
        expect("burner" in {name_of(f[-1]) for f, _ in found}, found)
    finally:
        run(*docker, "rm", "-f", "target", timeout=120)
        stop_dockerd(tmp())


def stop_dockerd(folder):
    """It stops its containerd itself, and leaves a mount."""
    try:
        os.kill(int((folder / "pid").read_text()), 15)
        wait_for(lambda: not (folder / "pid").exists(), 60)
    except (OSError, ValueError):
        pass
    run("umount", folder / "exec/netns/default")


# --- servers with workers ---------------------------------------------------------

def servers():
    """A Python with gunicorn and uvicorn, kept in the cache."""
    python = next((p for p in reversed(pythons()) if p.minor <= 13), None)
    return venv("servers", python, "gunicorn", "uvicorn")


def answered(port):
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
    except OSError:
        return None


def ask(port, until):
    while time.monotonic() < until:
        if not answered(port):
            time.sleep(0.05)


def expect_workers(port, *command):
    server = start(*command, cwd=TESTS / "workloads/python", stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    until = time.monotonic() + 30
    wait_for(lambda: answered(port), 60)
    load = [threading.Thread(target=ask, args=(port, until), daemon=True) for _ in range(6)]
    for t in load:
        t.start()
    found, stats = record(server.pid, "-s", "-r", "200", seconds=6)
    stop(server)
    workers = {frames[0] for frames, _ in found if name_of(frames[-1]) == "answer"}
    expect_eq(len(workers), 2, f"workers that answered ({workers}, {stats})")


@job_test("gunicorn: both workers, found from their master", 900)
def _():
    expect_workers(18741, servers() / "gunicorn", "-w", 2, "-b", "127.0.0.1:18741", "web:wsgi")


@job_test("uvicorn: both workers, found from their supervisor", 900)
def _():
    expect_workers(18742, servers() / "uvicorn", "--workers", 2, "--host", "127.0.0.1", "--port",
                   18742, "web:asgi")


main()
