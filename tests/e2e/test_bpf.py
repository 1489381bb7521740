#!/usr/bin/env python3
"""The BPF rung: the same truth as by /proc, told by the kernel's task iterator; and below it."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import harness
from harness import *
from jobs import *
from rungs import need, on, expect_by, refuses_bpf

MIB = 1 << 20
RUNGS = ("bpf", "netlink", "proc")


def need_bpf():
    need("bpf")
    expect_by(profile("hold", 1, 100, env=on("bpf")), "bpf")


@test("doctor says of BPF what the kernel does")
def _():
    state = assay("doctor", "--json").ok().json()["probes"]["bpf"]["state"]
    why = refuses_bpf()
    expect_eq(state == "yes", why is None, f"doctor says {state}, the kernel {why!r}; that it may")


@job_test("every rung tells the same of a process that is known")
def _():
    need_bpf()
    for rung in RUNGS:
        p = profile("hold", 40, 1200, env=on(rung))
        one, = p.processes("hold")
        m = one["metrics"]
        expect_near(m["process.memory.anonymous"]["max"], 40 * MIB, 0.03, f"anonymous, {rung}")
        expect(m["process.memory.rss"]["max"] >= m["process.memory.anonymous"]["max"], rung)
        expect_eq(m["process.threads"]["max"], 1, f"threads, {rung}")
        expect_eq(m["process.files.open"]["last"], 3, f"open files, {rung}")
        expect_near(m["process.faults.minor"]["total"], 40 * MIB / 4096, 0.1, f"faults, {rung}")


@job_test("CPU time by process and thread, on every rung")
def _():
    need_bpf()
    for rung in RUNGS:
        p = profile("burn", 0.5, 2, env=on(rung), options=["--interval", "0.1"])
        one, = p.processes("burn")
        cpu = sum(one["metrics"][f"process.cpu.{k}"]["total"] for k in ("user", "system")) / 1e9
        expect_near(cpu, p.truth["cpu_seconds"], 0.05, f"CPU seconds of the process, {rung}")
        times = sorted(t["metrics"]["thread.cpu"]["total"] / 1e9 for t in p.threads())
        for told, true in zip(times[-2:], sorted(p.truth["threads"])):
            expect_near(told, true, 0.25, f"CPU seconds of a thread, {rung}")


@job_test("CPU time of a thread is told as measured where it is so to its end, on every rung")
def _():
    need_bpf()
    last_look = {"provenance": "attributed",
                 "source": "last look at each; its process may have more"}
    for rung in RUNGS:
        p = profile("burn", 0.33, 2, env=on(rung))
        expect_eq(p.doc["assay"]["origins"]["thread.cpu"], last_look, f"one of two, {rung}")
        p = profile("burn", 0.33, env=on(rung))
        if rung != "netlink":       # taskstats is a tick short, unless it was read when it ended
            expect_eq(p.doc["assay"]["origins"]["thread.cpu"]["provenance"], "measured", rung)
        one, = p.threads()
        expect_near(one["metrics"]["thread.cpu"]["total"] / 1e9, p.truth["cpu_seconds"], 0.02,
                    f"one alone, {rung}", slack=0.005)
        p = profile("forker", 1, 330, env=on(rung))
        told = p.doc["assay"]["origins"]["thread.cpu"]
        expect_eq(told["provenance"], "measured" if rung == "bpf" else "attributed",
                  f"of a child that others wait for, {rung}")


@job_test("5 ms children: CPU time of each, and their sum within 0.1 % of the group's")
def _():
    need_bpf()
    p = profile("forker", 150, 5, "ignore", env=on("bpf"))
    expect_eq(p.total("lost_events"), 0, "lost events")
    expect_eq(p.total("processes"), 151, "processes")
    rows = [sum(c["metrics"][f"process.cpu.{k}"]["total"] for k in ("user", "system")) / 1e9
            for c in p.processes("forker")]
    # By its own clock each used 5 ms at least, before the kernel took it apart.
    expect(min(rows) > 0.005, f"{min(rows)} s of CPU of a child of 5 ms")
    if own_cgroup(p):
        expect_near(sum(rows), p.seconds(), 0.001, "CPU of all processes by themselves")
    expect_between(sum(rows), p.truth["cpu_seconds"], 1.2 * p.truth["cpu_seconds"],
                   "the same beside their own clocks")


@job_test("with BPF no file of a process is opened for its numbers")
def _():
    need_bpf()
    if sanitized():
        skip("LeakSanitizer does not work under strace")
    out = tmp() / "trace"
    harness.run("strace", "-e", "trace=openat", "-o", out, ASSAY, "run", "--quiet", "--interval",
                "0.1", "--", work("hold"), 1, 1500, env=on("bpf"), timeout=60).ok()
    opened = [line for line in out.read_text().splitlines()
              for name in ("stat", "status", "io", "schedstat")
              if f'"{name}", O_RDONLY|O_CLOEXEC) =' in line]
    # The first look may be before the programs are loaded, the last is at the end of the command.
    expect(len(opened) <= 8, f"{len(opened)} files were opened: {opened[:12]}")


@job_test("where BPF is refused the next rung is taken, and said")
def _():
    p = profile("hold", 8, 600, nobody=True)
    expect(p.source("lost_events") != "BPF", p.source("lost_events"))
    one, = p.processes("hold")
    expect_near(one["metrics"]["process.memory.anonymous"]["max"], 8 * MIB, 0.1, "anonymous")


def direct_io_here():
    """Is tmp() on a block device that takes O_DIRECT?"""
    r = harness.run("dd", "if=/dev/zero", f"of={tmp()}/probe", "bs=4096", "count=1", "oflag=direct")
    if r.rc != 0 or os.stat(tmp()).st_dev >> 8 == 0:
        skip("no block device with O_DIRECT below the temporary folder")


@job_test("what block devices get from the job is exact, and theirs has it too")
def _():
    need_bpf()
    direct_io_here()
    script = ("dd if=/dev/zero of=f bs=256k count=12 oflag=direct 2>/dev/null && "
              "dd if=f of=/dev/null bs=64k iflag=direct 2>/dev/null; sleep 0.2")
    harness.run(ASSAY, "run", "--quiet", "--json", "-o", "d.json", "--", "sh", "-c",
                "sleep 0.3;" + script, env=on("bpf"), cwd=tmp()).ok()
    doc = json.loads((tmp() / "d.json").read_text())["assay"]
    last = {key: values[-1] for key, values in doc["timeline"]["columns"].items() if "disk" in key}
    # A block of the file system's own, or of a program that has to be fetched, may be among them.
    for key, want, more in (("read", 3 * MIB, 256 * 1024), ("write", 3 * MIB, 64 * 1024),
                            ("reads", 48, 16), ("writes", 12, 4)):
        expect_between(last[f"job.disk.{key}"], want, want + more, f"{key} of the job: {last}")
    for key in ("device.read", "device.write"):
        expect(max(d["metrics"][key]["total"] for d in doc["devices"]) >= 3 * MIB, key)


@job_test("what is left in the page cache is not the job's at the device, until it syncs")
def _():
    need_bpf()
    direct_io_here()
    for sync, want in (("true", 0), ("sync f", 2 * MIB)):
        harness.run(ASSAY, "run", "--quiet", "--json", "-o", "d.json", "--", "sh", "-c",
                    f"sleep 0.2; dd if=/dev/zero of=f bs=64k count=32 2>/dev/null; {sync}; rm f",
                    env=on("bpf"), cwd=tmp()).ok()
        doc = json.loads((tmp() / "d.json").read_text())["assay"]
        wrote = doc["timeline"]["columns"]["job.disk.write"][-1]
        expect(want <= wrote <= want + 256 * 1024, f"{wrote} bytes to the device with '{sync}'")


@job_test("the summary tells what the job wrote by itself from what the kernel writes for it")
def _():
    need_bpf()
    direct_io_here()
    for sync, left in (("", 6), ("conv=fsync", 0)):
        r = harness.run(ASSAY, "run", "--", "sh", "-c", "sleep 0.3; dd if=/dev/zero of=a bs=256k "
                        f"count=8 oflag=direct && dd if=/dev/zero of=b bs=256k count=24 {sync}",
                        env=on("bpf"), cwd=tmp()).ok()
        said = re.search(r"([\d.]+) MiB sent to a disk by itself[\s·]+([\d.]+) MiB "
                         r"left to the kernel to write\n", r.err)
        expect_eq(bool(said), left > 0, f"said at all, {sync}: {r.err}")
        if said:
            expect_near(float(said[1]), 2, 0.15, "MiB sent by itself")
            expect_near(float(said[2]), left, 0.15, "MiB left to the kernel")


@job_test("what was written before BPF came is not said to be left to the kernel")
def _():
    need_bpf()
    direct_io_here()
    each = "dd if=/dev/zero of=f bs=256k count=5 conv=fsync 2>/dev/null"
    r = harness.run(ASSAY, "run", "--", "sh", "-c", f"{each}; {each}; {each}; sleep 0.3",
                    cwd=tmp()).ok()
    expect("left to the kernel" not in r.err, r.err)


@job_test("numbers of the job that BPF tells are said to be told by it")
def _():
    need_bpf()
    harness.run(ASSAY, "run", "--quiet", "--json", "-o", "o.json", "--", "sleep", "0.6",
                env=on("bpf"), cwd=tmp()).ok()
    metrics = json.loads((tmp() / "o.json").read_text())["assay"]["metrics"]
    for key in ("job.cpu.user", "job.memory.vms", "job.io.write", "job.processes"):
        expect_eq(metrics[key]["source"], "BPF task iterator", key)
    expect("block layer" in metrics["job.disk.write"]["source"], metrics["job.disk.write"])


@job_test("who ended before BPF was there has CPU time and calls from elsewhere, and that is said")
def _():
    need_bpf()
    need("netlink")
    sources = []
    for job in ("sleep 1", "true | true; sleep 1"):
        harness.run(ASSAY, "run", "--quiet", "--json", "-o", "o.json", "--", "sh", "-c", job,
                    cwd=tmp()).ok()
        origins = json.loads((tmp() / "o.json").read_text())["assay"]["origins"]
        sources += [origins[k]["source"] for k in ("process.cpu.user", "process.io.write_calls")]
    expect_eq(sources[:2], ["BPF task iterator"] * 2, "nobody ended early")
    expect_eq(sources[2], "BPF; 2 early ends: taskstats, a tick short", "two ended early")
    expect_eq(sources[3], "BPF; 2 early ends: taskstats, up to 1023 short", "their calls")


BEFORE = """
import threading, time
def nap():
    for _ in range(400): time.sleep(0.0005)
    time.sleep(30)
for _ in range(3): threading.Thread(target=nap, daemon=True).start()
time.sleep(1.5)
print("ready", flush=True)
time.sleep(30)
"""


@job_test("attached: what threads did before does not count, on any rung")
def _():
    need_bpf()
    target = start(sys.executable, "-c", BEFORE, stdout=subprocess.PIPE, text=True)
    read_line(target, "ready")
    for rung in RUNGS:
        assay("attach", target.pid, "--include-children", "--quiet", "--duration", 1, "-o",
              "a.json", env=on(rung)).ok()
        one, = json.loads((tmp() / "a.json").read_text())["assay"]["processes"]
        switches = one["metrics"]["process.switches.voluntary"]["total"]
        expect(switches < 100, f"{switches} switches while asleep, {rung}")
        expect_eq(one["metrics"]["process.threads"]["max"], 4, f"threads, {rung}")
    target.kill()
    target.wait()


main()
