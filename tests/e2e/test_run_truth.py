#!/usr/bin/env python3
"""`assay run` against known answers: the quick part of `make truth`, with wide margins."""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
import probe

MIB = 1 << 20
IO = {"io_read_calls_bytes": "read_bytes", "io_write_calls_bytes": "write_bytes",
      "io_read_calls": "reads", "io_write_calls": "writes"}
WAYS = [{}, {"nobody": True}] if is_root() else [{}]
# Between fork and exec the job's first process is a sanitized assay, whose memory is vast.
START = 0.1 if sanitized() else 0.0


@job_test("CPU time is what the program's own clock says")
def _():
    for how in WAYS:
        p = profile("burn", 0.6, 2, **how)
        expect_near(p.seconds(), p.truth["cpu_seconds"], 0.04, f"CPU seconds {how}", START)


for kind in ("fork", "double", "setsid", "vfork", "thread", "leader", "sibling"):
    @job_test(f"no child is lost, kind '{kind}'")
    def _(kind=kind):
        for how in WAYS:
            p = profile("forker", 8, 50, kind, **how)
            expect_near(p.seconds(), p.truth["cpu_seconds"], 0.05, f"CPU seconds {how}", START)


LEFT_TO_WAIT = '''
import os, resource
for i in range(3000):
    os.posix_spawn("/bin/true", ["true"], {})
    if i % 2:
        os.waitpid(-1, 0)
try:
    while True:
        os.waitpid(-1, 0)
except ChildProcessError:
    pass
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(u.ru_utime + u.ru_stime for u in used))
'''


@job_test("no part of CPU time is 0 as measured where no tick met it")
def _():
    for how in WAYS:
        p = profile("sleeper", 0.05, **how)
        told = [p.doc["assay"]["totals"][key] for key in ("cpu_user", "cpu_system")]
        expect(all(t["value"] or t["provenance"] == "attributed" for t in told), f"{how}: {told}")


@job_test("thousands of dead children that are waited for late count once, also without a group")
def _():
    folder = public()
    r = run(*as_nobody(folder / "assay", "run", "--no-store", "-q", "-o", folder / "r.json", "--",
                       "/usr/bin/python3", "-c", LEFT_TO_WAIT), cwd=folder).ok()
    cpu = json.loads((folder / "r.json").read_text())["assay"]["totals"]["cpu"]
    expect_near(cpu["value"] / 1e9, float(r.out), 0.05, f"CPU seconds, from {cpu['source']}", START)


@job_test("the timeline of a short job ends when the job does, and its mean is over the run")
def _():
    beyond = []
    for _ in range(8):
        p = profile("sleeper", 0.035)
        at, end = p.times()[-1], p.doc["assay"]["outcome"]["duration_ns"] / 1e9
        if at == end:
            return
        beyond.append(at - end)
    # On a busy machine a tick may come between an end and our hearing of it, not always.
    expect(False, f"the last samples are {beyond} s from the ends")


@job_test("children that nobody waits for are not lost with a control group")
def _():
    p = profile("forker", 8, 50, "ignore")
    probe.needs(probe.groups("cpuacct") or probe.groups("cpu"), own_cgroup(p),
                "a control group of its own")
    expect_near(p.seconds(), p.truth["cpu_seconds"], 0.05, "CPU seconds", START)


@job_test("the first and the last interval of a busy job are not 0")
def _():
    p = profile("burn", 1.4)
    rates = p.cpu_rates(window=0.25)
    expect(rates[0][2] > 0.02 and rates[-1][2] > 0.02, f"cores over time: {rates}")


@job_test("what a user's job has no group for is unknown, and the reason is whole")
def _():
    p = profile("exitcode", 0, nobody=True)
    expect(not own_cgroup(p), "a user who may not make control groups has one")
    expect_eq(p.total("oom_kills"), None, "processes killed for want of memory")
    reasons = [p.source("oom_kills")] + [p.metric(f"cgroup.{key}")["source"]
                                         for key in ("cpu.total", "memory.total", "io.read")]
    for why in reasons:
        whole = why.endswith(("denied", "nothing there")) or "control group" in why
        expect(whole, f"the reason {why!r}")


@job_test("a child's CPU is not counted twice when it is reaped")
def _():
    p = profile("forker", 1, 1300)
    for a, b, cores in p.cpu_rates(window=0.4):
        if b - a > 0.3:
            expect_between(cores, 0, 1.2, f"cores from {a:.2f} to {b:.2f} s")


@job_test("an assay that measures an assay: both know what the job used")
def _():
    if sanitized():
        skip("a sanitizer's own CPU time is in the outer job")
    r = assay("run", "--quiet", "-o", "outer.json", "--", ASSAY, "run", "--quiet", "-o",
              tmp() / "inner.json", "--", work("forker"), 6, 50, "double").ok()
    true = json.loads(r.out)["cpu_seconds"]
    inner, outer = (json.loads((tmp() / f).read_text()) for f in ("inner.json", "outer.json"))
    expect_near(inner["resource_usage"]["cpu_total_seconds"], true, 0.03, "CPU seconds inside")
    own = inner["assay"]["totals"]["self_cpu"]["value"] / 1e9
    expect_near(outer["resource_usage"]["cpu_total_seconds"], true + own, 0.15,
                "CPU seconds outside, the inner assay's own among them")


@job_test("a mean is weighted by time")
def _():
    p = profile("phases", 0, 0.4, 1.2)
    true = p.truth["cpu_seconds"] / p.doc["duration_seconds"]
    expect_near(p.metric("job.cpu.user")["mean"] + p.metric("job.cpu.system")["mean"], true, 0.15,
                "mean of the cores used")


@job_test("bytes and calls are exact, also of children")
def _():
    for how in WAYS:
        for children in (0, 3):
            a = profile("io", "f", 101, 53, children, **how)
            b = profile("io", "f", 0, 0, children, **how)
            for key, truth in IO.items():
                expect_eq(a.total(key) - b.total(key), a.truth[truth], f"{key} {how} {children}")


@job_test("the peak of memory is what was held; page cache is not in it")
def _():
    for how in WAYS:
        p = profile("hold", 53, 300, **how)
        expect_near(p.total("memory_peak"), p.truth["bytes"], 0.08, f"peak {how}")
        p = profile("cachefill", "f", 64, **how)
        expect_between(p.total("memory_peak"), 0, 12 * MIB, f"peak of a writer {how}")


@job_test("what assay had itself before it called exec is no process of the job")
def _():
    rung = {"ASSAY_RUNG": "bpf"} if is_root() else {}
    for _ in range(12):
        run("sh", "-c", f'"{ASSAY}" run -q --no-store -o r.json -- {work("sleeper")} 0.06',
            env=rung).ok()
        doc = json.loads((tmp() / "r.json").read_text())["assay"]
        one = max(i["metrics"]["process.memory.peak"]["max"] for i in doc["processes"])
        expect_eq(doc["totals"]["memory_peak_process"]["value"], one, "the largest of one process")


# Who uses vfork shares its memory with whom it starts, until that calls exec.
LARGE = """
import os, sys
held = bytearray(400 << 20)
os.waitpid(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)
"""


@job_test("a peak that only wait4 tells counts, however large whoever started assay is")
def _():
    folder = public()
    shutil.copy(work("hold"), folder / "hold")
    script = "sleep 1.2; exec ./hold 101 20"
    run(*as_nobody(sys.executable, "-c", LARGE, folder / "assay", "run", "-q", "--no-store", "-o",
                   folder / "r.json", "-i", "1", "--", "sh", "-c", script), cwd=folder).ok()
    totals = json.loads((folder / "r.json").read_text())["assay"]["totals"]
    expect_near(totals["memory_peak_process"]["value"], 102 * MIB, 0.03, "the largest process")


@job_test("files that a child of a shell maps are no memory of the job, also without a group")
def _():
    folder = public()
    shutil.copy(work("mapped"), folder)
    script = "./mapped file 100 >truth; true"
    r = run(*as_nobody(folder / "assay", "run", "--no-store", "--json", "-o", folder / "r.json",
                       "--", "sh", "-c", script), cwd=folder).ok()
    totals = json.loads((folder / "r.json").read_text())["assay"]["totals"]
    expect_between(totals["memory_peak"]["value"], 0, 12 * MIB, f"peak, {r.err}")


@job_test("a spike between two samples is in the peak")
def _():
    p = profile("spike", 97, 20, 1100, options=("--interval", "1"))
    expect_near(p.total("memory_peak"), p.truth["bytes"], 0.08, "peak")


@job_test("shared memory counts once")
def _():
    p = profile("shared", 53, 3)
    expect_near(p.total("memory_peak"), p.truth["bytes"], 0.1, "peak")


@job_test("open files, threads and processes are counted exactly")
def _():
    p = profile("fds", 53)
    expect_eq(p.metric("job.files.open")["max"], p.truth["open"], "open files")
    p = profile("burn", 0.6, 3)
    expect_eq(p.metric("job.threads")["max"], 3, "threads")


main()
