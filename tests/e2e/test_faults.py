#!/usr/bin/env python3
"""When things go wrong around `assay run`: the job goes on, and nothing that was known is lost."""
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
import probe


def said(err, *words, lines=2):
    """stderr is one complaint of ours, perhaps with advice below it, and has these words."""
    text = err.splitlines()
    expect(text and text[0].startswith("assay: "), f"no complaint: {err!r}")
    expect(len(text) <= lines, f"more than one complaint: {err!r}")
    for word in words:
        expect_in(word, err, "complaint")


# --- kill -9 ------------------------------------------------------------------

def shown(run_id):
    return assay("show", "--json", run_id).ok().json()


@job_test("kill -9 at any moment leaves the target running and the run as interrupted", 180)
def _():
    dice, victims = random.Random(20260715), []
    for i in range(24):
        p = start(ASSAY, "run", "--quiet", "--name", f"v{i}", "--", "sh", "-c",
                  f"echo ready; exec {work('sleeper')} 9", stdout=subprocess.PIPE, text=True)
        # some in the first moments, where everything is being made, the others anywhere
        after = dice.uniform(0, 0.05) if i < 8 else dice.uniform(0.2, 5)
        victims.append([time.monotonic() + after, f"v{i}", p, None])
    for victim in sorted(victims, key=lambda v: v[0]):
        time.sleep(max(0, victim[0] - time.monotonic()))
        victim[2].kill()
        victim[3] = time.time()
    outputs = {name: p.communicate(timeout=60)[0] for _, name, p, _ in victims}
    history = {r["name"]: r for r in runs("--limit", "0")}
    begun = 0
    for _, name, p, killed in victims:
        expect_eq(p.returncode, -signal.SIGKILL, f"status of {name}")
        if not outputs[name]:
            continue                    # assay was killed before there was a target
        begun += 1
        expect(outputs[name].count("\n") == 2, f"the target of {name} did not go on to its end")
        expect_in(name, history.keys(), "history")
        expect_eq(history[name]["status"], "interrupted", f"status of {name}")
        doc = shown(history[name]["id"])
        last = max(doc["assay"]["timeline"]["t_ns"] or [0]) / 1e9
        lived = killed - doc["assay"]["identity"]["start_ns"] / 1e9
        expect(last >= lived - 2 - 0.75, f"{name} lived {lived:.2f} s, last sample {last:.2f} s")
    expect(begun >= 16, f"only {begun} of 24 had begun")
    expect_eq({r["name"]: r["status"] for r in runs("--limit", "0")},
              {n: r["status"] for n, r in history.items()}, "history, asked again")


@job_test("kill -9 while a run is being sealed loses no other run and makes no duplicate")
def _():
    dice = random.Random(7)
    assay("run", "--quiet", "--name", "before", "--", "true").ok()
    took = []
    for _ in range(3):
        begin = time.monotonic()
        assay("run", "--quiet", "--name", "timing", "--", "true").ok()
        took.append(time.monotonic() - begin)
    for i in range(25):
        p = start(ASSAY, "run", "--quiet", "--name", f"v{i}", "--", "true")
        time.sleep(dice.uniform(0, 1.3 * min(took)))
        p.kill()
        p.wait(10)
    found = runs("--limit", "0")
    names = [r["name"] for r in found]
    expect_eq(len(names), len(set((r["name"], r["id"]) for r in found)), "runs and different runs")
    expect_in("before", names, "history")
    expect_eq(names.count("timing"), 3, "earlier runs")
    for i in range(25):
        expect(names.count(f"v{i}") <= 1, f"v{i} is there more than once")
    assay("run", "--quiet", "--name", "after", "--", "true").ok()
    expect_in("after", [r["name"] for r in runs("--limit", "0")], "history")


@job_test("control groups of killed assays are swept once they are empty")
def _():
    p = start(ASSAY, "run", "--quiet", "--", "sh", "-c",
              f"cat /proc/self/cgroup; exec {work('sleeper')} 2", stdout=subprocess.PIPE, text=True)
    name = re.search(r"assay-\w+", "".join(p.stdout.readline() for _ in range(
        len(open("/proc/self/cgroup").readlines()))))
    probe.needs(probe.groups("cpuacct") or probe.groups("cpu"), name, "a control group of its own")

    def groups():
        return sorted(map(str, pathlib.Path("/sys/fs/cgroup").glob(f"**/{name[0]}")))
    expect(groups(), "the group of the job is nowhere")
    p.kill()
    wait_for(lambda: not leftovers(), 20, "the end of the target")
    assay("run", "--quiet", "--", "true").ok()      # or some other assay on this machine
    expect_eq(groups(), [], "groups left behind")


# --- a store that cannot be used ----------------------------------------------

def job_unharmed(r, status=5):
    expect_eq(r.rc, status, f"exit status ({r.err!r})")
    expect_eq(r.out, "ran\n", "stdout")


JOB = ("sh", "-c", "echo ran; exit 5")


@job_test("a store folder that is read-only: the job runs, one complaint; with --store it does not")
def _():
    folder = public()
    (folder / "store").mkdir(mode=0o555)
    os.chown(folder / "store", 0, 0)
    env = {"ASSAY_STORE": f"{folder}/store", "HOME": str(folder)}
    r = run(*as_nobody(folder / "assay"), "run", "--quiet", "--", *JOB, env=env, cwd=folder)
    job_unharmed(r)
    said(r.err, "store", "ermission")
    r = run(*as_nobody(folder / "assay"), "run", "--quiet", "--store", folder / "store", "--", *JOB,
            env=env, cwd=folder)
    expect_eq((r.rc, r.out), (125, ""), "with --store")
    said(r.err, "store", "ermission")


@job_test("a history that may be read but not written is still listed and shown")
def _():
    folder = public()
    assay("run", "--quiet", "--name", "old", "--store", folder / "store", "--", "true").ok()
    for path in [folder / "store", *(folder / "store").rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    env = {"ASSAY_STORE": f"{folder}/store", "HOME": str(folder)}
    r = run(*as_nobody(folder / "assay"), "jobs", "--json", env=env, cwd=folder).ok()
    expect_eq([x["name"] for x in r.json()["runs"]], ["old"], "history")
    run(*as_nobody(folder / "assay"), "show", r.json()["runs"][0]["id"], env=env, cwd=folder).ok()


@job_test("a store path that leads through a file: the job runs, one complaint that names it")
def _():
    (tmp() / "file").write_text("x")
    r = assay("run", "--quiet", "--", *JOB, env={"ASSAY_STORE": str(tmp() / "file/store")})
    job_unharmed(r)
    said(r.err, "file/store")


@job_test("a store that is a file: the job runs, one complaint that names it")
def _():
    (tmp() / "file").write_text("x")
    r = assay("run", "--quiet", "--", *JOB, env={"ASSAY_STORE": str(tmp() / "file")})
    job_unharmed(r)
    said(r.err, "file")
    expect_eq((tmp() / "file").read_text(), "x", "the file")


@job_test("a catalogue that is garbage: the job runs, its run is not lost, the garbage stays")
def _():
    assay("run", "--quiet", "--", "true").ok()
    runs()      # seals it
    catalogue = tmp() / "store/catalogue.db"
    for path in (tmp() / "store").glob("catalogue.db-*"):
        path.unlink()
    garbage = b"this is no database " * 500
    catalogue.write_bytes(garbage)
    r = assay("run", "--quiet", "--name", "precious", "--", *JOB)
    job_unharmed(r)
    said(r.err, "catalogue")
    r = assay("jobs")
    expect(r.rc in (65, 74), f"exit status of jobs {r.rc}")
    said(r.err, "catalogue")
    expect_eq(catalogue.read_bytes(), garbage, "the garbage")
    catalogue.unlink()
    found = runs()
    expect_eq([(x["name"], x["status"]) for x in found], [("precious", "failed")],
              "history once the garbage is gone")


@job_test("a catalogue of a newer assay is not touched; the job runs and its run is not lost")
def _():
    assay("run", "--quiet", "--name", "old", "--", "true").ok()
    runs()      # seals it
    catalogue = tmp() / "store/catalogue.db"
    with sqlite3.connect(catalogue) as db:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        expect(version > 0, "the catalogue has no version")
        db.execute(f"PRAGMA user_version = {version + 100}")
    db.close()
    r = assay("run", "--quiet", "--name", "precious", "--", *JOB)
    job_unharmed(r)
    said(r.err, "newer")
    r = assay("jobs")
    expect(r.rc in (65, 69), f"exit status of jobs {r.rc}")
    said(r.err, "newer")
    with sqlite3.connect(catalogue) as db:
        expect_eq(db.execute("PRAGMA user_version").fetchone()[0], version + 100, "version")
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    expect_eq(sorted(x["name"] for x in runs()), ["old", "precious"], "history afterwards")


@job_test("a live file that is garbage, empty or cut anywhere does not hide the other runs")
def _():
    assay("run", "--quiet", "--name", "good", "--", "true").ok()
    runs()      # seals it
    p = start(ASSAY, "run", "--quiet", "--name", "cut", "--", work("sleeper"), 3,
              stdout=subprocess.DEVNULL)
    time.sleep(2.5)
    live = list((tmp() / "store/live").iterdir())
    expect_eq(len(live), 1, "live files")
    p.kill()
    data = live[0].read_bytes()
    wait_for(lambda: not leftovers(), 20, "the end of the target")
    live[0].unlink()
    dice = random.Random(3)
    for i, cut in enumerate([0, 3, len(data) - 1] + [dice.randrange(len(data)) for _ in range(9)]):
        (live[0].parent / f"{'abcdefghijkl'[i] * 12}").write_bytes(data[:cut])
    (live[0].parent / "zzzzzzzzzzzz").write_bytes(dice.randbytes(5000))
    (live[0].parent / "not an id").write_bytes(data)
    found = runs("--limit", "0")
    expect_in("good", [r["name"] for r in found], "history")
    expect(all(r["status"] == "interrupted" for r in found if r["name"] == "cut"),
           f"a cut run goes on: {found}")
    expect_eq(runs("--limit", "0"), found, "history, asked again")


# --- a full disk --------------------------------------------------------------

def on_small_disk(size, fill, *command):
    """Run where ./small is a file system of `size` of which `fill` is full."""
    if not is_root() or run("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt").rc != 0:
        skip("needs root and unshare -m to mount a small file system")
    (tmp() / "small").mkdir(exist_ok=True)
    script = (f"mount -t tmpfs -o size={size} tmpfs small && "
              f"head -c {fill} /dev/zero >small/fill && \"$@\"; s=$?; "
              "ls small/store/live >live.txt 2>/dev/null; exit $s")
    return run("unshare", "-m", "sh", "-c", script, "sh", *command,
               env={"ASSAY_STORE": str(tmp() / "small/store")}, timeout=90)


@job_test("a full disk: the job runs to its end, one complaint says what becomes of the run")
def _():
    waiting = []
    for size, fill in (("64k", "61440"), ("64k", "40k"), ("128k", "64k"), ("1m", "1036288")):
        r = on_small_disk(size, fill, ASSAY, "run", "--quiet", "--", *JOB)
        job_unharmed(r)
        live = (tmp() / "live.txt").read_text()
        if live and not r.err:      # the run fits, and waits for room for the catalogue
            waiting.append(size)
            continue
        said(r.err)
        expect("kept" in r.err or (live and "not in the catalogue yet" in r.err),
               f"with {live!r} in live: {r.err!r}")
        expect("o space left" in r.err or "disk is full" in r.err, f"{size}, {fill}: {r.err!r}")
    expect(0 < len(waiting) < 4, f"the run fits in {waiting}")


@job_test("a full disk: a run that waits is listed though there is no room for the catalogue")
def _():
    r = on_small_disk("64k", "40k", "sh", "-c", f"{ASSAY} run --quiet -- true; {ASSAY} jobs")
    expect_in("true", r.out, "list of runs")


@job_test("a disk that fills up while the job runs: the job ends as it should, and it is said")
def _():
    r = on_small_disk("64k", "45056", ASSAY, "run", "--quiet", "--interval", "0.01", "--", "sh",
                      "-c", f"echo ran; {work('phases')} 0.2 1 0.2 1 >/dev/null; exit 5")
    job_unharmed(r)
    said(r.err, "this run is not kept, or only in part")


@job_test("output that cannot be written is an error, not a success")
def _():
    r = run("sh", "-c", f"{ASSAY} run --json --quiet -- true >/dev/full")
    expect_eq(r.rc, 125, "exit status")
    expect_in("o space left", json.loads(r.err)["message"], "complaint")
    r = assay("run", "--quiet", "-o", "/dev/full", "--", "true")
    expect_eq(r.rc, 125, "exit status with -o /dev/full")
    said(r.err, "write '/dev/full': No space left")
    r = assay("run", "--quiet", "--html", "/dev/full", "--", "true")
    said(r.err, "write '/dev/full': No space left")
    r = assay("report", "-o", "/dev/full")
    expect_eq(r.rc, 74, "exit status of report -o /dev/full")
    said(r.err, "write '/dev/full': No space left")


@job_test("a limit on the size of files ends neither assay nor the job")
def _():
    r = run("bash", "-c", 'ulimit -f 1; exec "$@"', "bash", ASSAY, "run", "--quiet", "--", "sh",
            "-c", "echo ran; sleep 2.5; exit 5")
    job_unharmed(r)
    said(r.err, lines=4)


# --- little memory, little to see ---------------------------------------------

@job_test("little address space: the job runs, or one line says why not, but nothing crashes")
def _():
    if sanitized():
        skip("a sanitizer needs address space")
    for kib in (8000, 9000, 10000, 11000, 12000, 16000, 24000, 40000):
        r = run("bash", "-c", f"ulimit -v {kib}; exec {ASSAY} run --quiet -- true")
        expect(r.rc in (0, 71, 125, 126, 127), f"status {r.rc} with {kib} KiB: {r.err!r}")


@job_test("without a memory control group: said, and peaks come from the processes")
def _():
    p = profile("shared", 30, 4, "copied", 3, prefix=without_memory_group())
    expect_in("cgroup", p.source("cpu"), "source of CPU time")
    anon = p.metric("cgroup.memory.anonymous")
    expect_eq(anon["provenance"], "unavailable", "provenance")
    expect_in("memory: not counted", anon["source"], "reason")
    expect_near(p.total("memory_peak"), p.truth["bytes"], 0.1, "peak")
    expect(p.total("memory_peak_upper") >= p.total("memory_peak"), "upper bound")


@job_test("hidepid: a user measures his own job, and another's process is refused clearly")
def _():
    folder = public()
    if run("unshare", "-m", "mount", "-t", "proc", "-o", "hidepid=2", "proc", "/proc").rc != 0:
        skip("may not mount /proc here")
    hide = ["unshare", "-m", "sh", "-c",
            'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh"]
    env = {"ASSAY_STORE": f"{folder}/store", "HOME": str(folder)}
    shutil.copy(work("burn"), folder / "burn")
    r = run(*hide, *as_nobody(folder / "assay"), "run", "--quiet", "-o", "r.json", "--",
            folder / "burn", "0.5", env=env, cwd=folder).ok()
    doc, truth = json.loads((folder / "r.json").read_text()), json.loads(r.out)
    expect_near(doc["resource_usage"]["cpu_total_seconds"], truth["cpu_seconds"], 0.05, "CPU")
    p = start(work("sleeper"), 30)
    r = run(*hide, *as_nobody(folder / "assay"), "attach", p.pid, "--duration", "0.3", env=env,
            cwd=folder)
    expect(r.rc in (66, 77), f"exit status {r.rc}: {r.err}")
    said(r.err, str(p.pid))
    stop(p, signal.SIGKILL)


@job_test("without /proc a job still runs and ends as it should")
def _():
    if sanitized():
        skip("a sanitizer needs /proc")
    if not is_root() or run("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/proc").rc != 0:
        skip("needs root and unshare -m to hide /proc")
    r = run("unshare", "-m", "sh", "-c", 'mount -t tmpfs tmpfs /proc && exec "$@"', "sh", ASSAY,
            "run", "--quiet", "--", *JOB)
    expect(r.rc in (5, 125), f"exit status {r.rc}: {r.err}")
    if r.rc == 125:
        said(r.err)


main()
