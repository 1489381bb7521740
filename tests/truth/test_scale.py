#!/usr/bin/env python3
"""Many processes, in the job and beside it: nothing is lost, and what it costs is bounded.

So many processes as a machine has numbers for are real. For more, /proc is written by hand: a
folder for each process, as the walk through all of them reads it, and a link to the real target.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *

IN_JOB, BESIDE, WRITTEN = 10_000, 25_000, 100_000
MIB = 1 << 20
RUNGS = ("bpf", "netlink", "proc")


def room(wanted):
    """So many processes that this machine has numbers and memory for, with some left for others."""
    numbers = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
    alive = sum(name.isdigit() for name in os.listdir("/proc"))
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    most = min((numbers - alive) * 4 // 5, free // 2 // 200)     # some 200 KiB each
    if most < wanted:
        print(f"# this machine has room for {most} of {wanted} processes", flush=True)
    return min(wanted, most)


def own(p, key="cpu_seconds"):
    return p.doc["assay"]["self"][key]


def tick_ms(p):
    """What a sample costs, in ms of CPU."""
    return sum(c["metrics"]["collector.cpu"]["total"] for c in p.doc["assay"]["collectors"]
               ) / 1e6 / own(p, "samples")


def say(p, what, store):
    size = sum(f.stat().st_size for f in store.rglob("*") if f.is_file())
    peak = own(p, "memory_peak_bytes")
    print(f"# {what}: {own(p, 'samples')} samples of {tick_ms(p):.2f} ms of CPU, own CPU "
          f"{own(p):.2f} s in {p.doc['duration_seconds']:.1f} s, own memory "
          f"{'-' if peak is None else f'{peak / MIB:.1f} MiB'}, store {size / MIB:.2f} MiB",
          flush=True)


def run_crowd(n, rung):
    """Profile a crowd; its store and what it tells."""
    store = tmp() / f"store-{rung}"
    out = tmp() / "r.json"
    r = assay("run", "--quiet", "--store", store, "-o", out, "--", work("crowd"), n, 5,
              timeout=400, env={"ASSAY_RUNG": rung}).ok()
    truth = json.loads(r.out.strip().splitlines()[-1])
    return Profile(json.loads(out.read_text()), truth, r.rc, r.err), store


def all_there(p, n, what):
    """None is missing and none is there twice, also where events were lost, which is said."""
    lost = p.total("lost_events") or 0
    expect(not lost or p.doc["assay"]["totals"]["processes"]["provenance"] == "attributed", what)
    expect_eq(n, p.truth["processes"], f"{what} ({lost} events lost)")


@job_test(f"{IN_JOB:,} processes in the job are all counted and listed, in bounded memory", 1200)
def _():
    for rung in RUNGS:
        n = room(IN_JOB)
        p, store = run_crowd(n, rung)
        say(p, f"{n:,} processes in the job, {rung}", store)
        all_there(p, p.total("processes"), f"processes, {rung}")
        if not p.total("lost_events"):      # else they are found in time, but not at once
            all_there(p, p.metric("job.processes")["max"], f"at once, {rung}")
        all_there(p, len(p.doc["assay"]["processes"]), f"listed, {rung}")
        expect_eq(p.doc["assay"]["unlisted"], 0, "in no list")
        expect(own(p, "memory_peak_bytes") < 80 * MIB, f"own memory, {rung}")
        expect(sum(f.stat().st_size for f in store.rglob("*")) < 16 * MIB, f"the store, {rung}")


@job_test(f"{BESIDE:,} processes beside the job cost at most 2 µs each at a sample", 600)
def _():
    n = room(BESIDE)
    crowd = start(work("crowd"), n, 300, stdout=subprocess.PIPE, text=True)
    read_line(crowd, "ready", timeout=300)
    for rung in RUNGS:
        store = tmp() / f"store-{rung}"
        p = profile("sleeper", 5, env={"ASSAY_RUNG": rung}, options=("--store", store))
        say(p, f"{n:,} processes beside the job, {rung}", store)
        expect_eq(p.total("processes"), 1, f"processes, {rung}")
        expect(tick_ms(p) < 2 + n * 2e-3, f"a sample costs {tick_ms(p):.2f} ms of CPU, {rung}")
        expect(own(p, "memory_peak_bytes") < 16 * MIB, f"own memory, {rung}")
    stop(crowd)
    wait_for(lambda: not leftovers(), timeout=120, what="the end of them all")


def written_machine(root, n, target):
    """A /proc of n strangers, listed in the order of their numbers as the real one is."""
    proc = root / "proc"
    proc.mkdir()
    for name in ("stat", "meminfo", "loadavg"):
        shutil.copy(f"/proc/{name}", proc / name)
    stat = root / "stat"
    stat.write_text("2 (stranger) S 1 " + "0 " * 48 + "\n")
    for pid in range(n, 1, -1):                 # a tmpfs lists the youngest first
        if pid == target:
            (proc / str(pid)).symlink_to(f"/proc/{pid}")
            continue
        (proc / str(pid)).mkdir()
        os.link(stat, proc / str(pid) / "stat")


@job_test(f"{WRITTEN:,} processes in /proc, written by hand: at most 2 µs each at a sample", 600)
def _():
    shm = pathlib.Path("/dev/shm") / tmp().name
    if not os.access("/dev/shm", os.W_OK):
        skip("no /dev/shm to write 100,000 folders to")
    target = start(work("sleeper"), 120)
    shm.mkdir()
    try:
        written_machine(shm, WRITTEN, target.pid)
        r = assay("attach", target.pid, "--include-children", "--quiet", "--duration", 5, "-o",
                  "a.json", env={"ASSAY_ROOT": str(shm)}, timeout=300).ok()
    finally:
        shutil.rmtree(shm, ignore_errors=True)
    p = Profile(json.loads((tmp() / "a.json").read_text()), {}, r.rc, r.err)
    say(p, f"{WRITTEN:,} processes in a written /proc", tmp() / "store")
    expect_eq(p.total("processes"), 1, "processes")
    expect(tick_ms(p) < 2 + WRITTEN * 2e-3, f"a sample costs {tick_ms(p):.2f} ms of CPU")
    stop(target)


main()
