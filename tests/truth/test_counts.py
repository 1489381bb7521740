#!/usr/bin/env python3
"""Counts: bytes, calls, context switches, open files, processes, faults. Those must be exact."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
import probe
import rungs

MIB = 1 << 20

IO = {"io_read_calls_bytes": "read_bytes", "io_write_calls_bytes": "write_bytes",
      "io_read_calls": "reads", "io_write_calls": "writes"}


def io_difference(reads, writes, children=0, **how):
    """Starting a program reads and writes as well: measure it twice, once without work."""
    work_done = profile("io", "f", reads, writes, children, **how)
    nothing = profile("io", "f", 0, 0, children, **how)
    for key, truth in IO.items():
        expect_eq(work_done.total(key) - nothing.total(key), work_done.truth[truth],
                  f"{key} of {reads} reads, {writes} writes, {children} children {how}")


@job_test("bytes and calls of read and write are exact")
def _():
    for how in ({}, {"nobody": True}, {"options": ("--basic",)},
                {"options": ("--interval", "0.01")}):
        io_difference(997, 499, **how)


@job_test("bytes and calls of short-lived children are exact")
def _():
    for how in ({}, {"nobody": True}, {"options": ("--basic",)}):
        io_difference(101, 103, 13, **how)


def calls_of_children(p):
    """(read calls, write calls) of each process that another of the job started; None: unknown."""
    return [tuple(one["metrics"].get(f"process.io.{calls}_calls", {}).get("total")
                  for calls in ("read", "write"))
            for one in p.processes("io") if one["parent"] is not None]


@job_test("calls of read and write are told of each process, exactly", seconds=200)
def _():
    long = {"options": ("--interval", "0.05")}      # without events a child must be looked at
    for how in ({"env": {"ASSAY_RUNG": "proc"}, **long}, {"nobody": True, **long}):
        p = profile("io", "f", 101, 103, 2, 0.8, **how)
        expect_eq(calls_of_children(p), 2 * [(101, 103)], f"calls by process {how}")


@job_test("calls of each child that is too short for samples are exact by BPF")
def _():
    rungs.need("bpf")
    p = profile("io", "f", 101, 103, 13, env={"ASSAY_RUNG": "bpf"})
    expect_eq(calls_of_children(p), 13 * [(101, 103)], "calls by process")


@job_test("what the command did before it was the command is not its own, by BPF too")
def _():
    rungs.need("bpf")
    p = profile("io", "f", 0, 0, 13, 0.1, env={"ASSAY_RUNG": "bpf"})
    expect_eq(p.total("io_write_calls"), 1, "write calls: it prints its truth")


@job_test("taskstats counts calls in steps of 1024: of fewer it is not said that there were none")
def _():
    rungs.need("netlink")
    p = profile("io", "f", 3001, 103, 13, env={"ASSAY_RUNG": "netlink"})
    calls = calls_of_children(p)
    expect_eq(len(calls), 13, "children")
    for reads, writes in calls:     # a sample may have seen more
        expect_between(reads, 2048, 3001, f"read calls in {calls}")
        expect(writes is None or 0 < writes <= 103, f"write calls in {calls}")


def written_by(p):
    """Bytes that each generation says it wrote, and that assay says it wrote; None: unknown."""
    kin = sorted(p.processes("kin"), key=lambda one: one["pid"])
    told = [one["metrics"].get("process.io.write_calls_bytes", {}).get("total") for one in kin]
    return list(p.truth.values()), told


KINDS = ("waited", "orphan", "ignored", "threads")


@job_test("a process has the bytes that it wrote itself, without its children's, by BPF", 200)
def _():
    rungs.need("bpf")
    for kind in (*KINDS, "both"):
        for seconds in (0, 0.12):           # told at their ends, and looked at while they live
            truth, told = written_by(profile("kin", kind, seconds, env=rungs.on("bpf"),
                                             options=("--interval", "0.05")))
            expect_eq(told, truth, f"bytes of each of {kind} in {seconds} s")


@job_test("and by the proc connector with taskstats, which tells of threads", 200)
def _():
    rungs.need("netlink")
    for kind in (*KINDS, "both"):
        truth, told = written_by(profile("kin", kind, 0.12, env=rungs.on("netlink"),
                                         options=("--interval", "0.05")))
        for got, want in zip(told, truth):      # in steps of 1024, and two calls were not its own
            expect_between(got, want - 1026, want, f"bytes of each of {kind}")


@job_test("and sampled, where it is unknown of one that had threads and children", 200)
def _():
    for how in ({"env": rungs.on("proc")}, {"nobody": True}):
        for kind in KINDS:
            truth, told = written_by(profile("kin", kind, 0.25, options=("--interval", "0.05"),
                                             **how))
            want = [None, *truth[1:]] if kind == "threads" else truth
            expect_eq(told, want, f"bytes of each of {kind} {how}")


@job_test("a long row of reads and writes is exact whatever is sampled meanwhile")
def _():
    io_difference(200_003, 100_003, options=("--interval", "0.02"))


@job_test("bytes written to a disk are those of the file")
def _():
    p = profile("cachefill", "f", 31)
    probe.needs(probe.on_disk(), p.total("io_write") > 0, "a disk below the files of the tests")
    expect_near(p.total("io_write"), p.truth["file_bytes"], 0.02, "bytes written")


@job_test("the mean rate of a device is its bytes over the run, whenever it first did something")
def _():
    script = "sleep 0.7; dd if=/dev/zero of=f bs=1M count=24 conv=fsync status=none; sleep 0.3"
    run(ASSAY, "run", "--quiet", "--json", "-o", "r.json", "--", "sh", "-c", script).ok()
    doc = json.loads((tmp() / "r.json").read_text())["assay"]
    wrote = [d["metrics"]["device.write"] for d in doc["devices"]]
    probe.needs(probe.on_disk(), any(w["total"] >= 24 * MIB for w in wrote), "a disk of its own")
    seconds = doc["timeline"]["t_ns"][-1] / 1e9
    for one in wrote:
        expect_near(one["mean"] * seconds, one["total"], 0.01, "bytes by the mean rate", slack=1)


@job_test("bytes through calls and bytes of the disk are two numbers, each exact")
def _():
    for how in ({}, {"nobody": True}):
        cold, none = profile("coldread", "f", 17, **how), profile("coldread", "f", 0, **how)
        probe.needs(probe.on_disk(), cold.total("io_write") > 0, "a disk below the tests")
        for key in ("io_read_calls_bytes", "io_write_calls_bytes"):
            expect_eq(cold.total(key) - none.total(key), cold.truth["file_bytes"], f"{key} {how}")
        for key in ("io_read", "io_write"):
            expect_near(cold.total(key) - none.total(key), cold.truth["file_bytes"], 0.02,
                        f"{key} {how}")
        warm = profile("cachefill", "f", 17, **how)     # the same, but read from the cache
        expect(warm.total("io_read") < 1 * MIB, f"{warm.total('io_read')} bytes read {how}")
        expect(warm.total("io_read_calls_bytes") > 17 * MIB, "bytes through calls")


@job_test("bytes of a file that is deleted at once are told as written and as cancelled")
def _():
    for how in ({}, {"nobody": True}, {"options": ("--basic",)}):
        for keep in ((), ("keep",)):
            p = profile("scratch", "f", 23, *keep, **how)
            probe.needs(probe.on_disk(), p.total("io_write") > 0, "a disk below the tests")
            expect_near(p.total("io_write"), p.truth["written"], 0.02, f"written {keep} {how}")
            expect_near(p.total("io_write_cancelled"), p.truth["cancelled"], 0.02,
                        f"cancelled {keep} {how}")


@job_test("every wait is one voluntary context switch")
def _():
    for how in ({}, {"nobody": True}, {"options": ("--basic",)}):
        p = profile("switcher", 3001, **how)
        expect(p.truth["voluntary"] > 3000, "the workload did not work")
        expect_near(p.total("switches_voluntary"), p.truth["voluntary"], 0.005,
                    f"voluntary switches {how}", slack=40)


@job_test("switches of children are in the interval in which they happened")
def _():
    p = profile("switcher", 3001, 1.5, options=("--interval", "0.2"))   # and then it sleeps
    probe.needs(probe.events(), p.doc["assay"]["totals"]["processes"]["provenance"] == "measured",
                "somebody who tells of the ends of processes")
    early = max(v for t, v in zip(p.times(), p.column("job.switches.voluntary"))
                if v is not None and t < p.times()[-1] - 0.5)
    expect_near(early, p.truth["voluntary"], 0.01, "switches seen half a second before the end",
                slack=40)


@job_test("open files are counted exactly")
def _():
    for how in ({}, {"nobody": True}):
        p = profile("fds", 101, **how)
        expect_eq(p.metric("job.files.open")["max"], p.truth["open"], f"open files {how}")


@job_test("a process may have any name: its numbers stay its own")
def _():
    script = ("import time\nname = b'x) R 1 2 (y\\n'\n"
              "open('/proc/self/comm', 'wb').write(name)\nt = time.process_time()\n"
              "while time.process_time() < t + 0.7: pass\nprint(time.process_time())")
    for interval in ("0.5", "0.05"):
        r = run(ASSAY, "run", "--quiet", "-o", "r.json", "--interval", interval, "--",
                sys.executable, "-c", script).ok()
        p = Profile(json.loads((tmp() / "r.json").read_text()), {}, r.rc, r.err)
        expect_near(p.seconds(), float(r.out), 0.02, "CPU seconds")
        named = [one for one in p.doc["assay"]["processes"] if one["name"].startswith("x) R 1 2")]
        names = [one["name"] for one in p.doc["assay"]["processes"]]
        expect_eq(len(named), 1, f"processes {names}")
        cpu = sum(named[0]["metrics"][f"process.cpu.{k}"]["total"] for k in ("user", "system"))
        expect_near(cpu / 1e9, float(r.out), 0.05, "CPU seconds of the process", slack=0.05)


@job_test("processes and threads alive are counted exactly")
def _():
    for how in ({}, {"nobody": True}):
        p = profile("shared", 3, 6, **how)
        expect_eq(p.metric("job.processes")["max"], p.truth["processes"], f"processes {how}")
        p = profile("burn", 0.8, 3, **how)
        expect_eq(p.metric("job.threads")["max"], 3, f"threads {how}")


@job_test("each page that is touched is a fault")
def _():
    for how in ({}, {"nobody": True}):
        more, less = profile("hold", 101, 0, **how), profile("hold", 1, 0, **how)
        expect_near(more.total("faults_minor") - less.total("faults_minor"), 100 * 256, 0.01,
                    f"faults {how}")


main()
