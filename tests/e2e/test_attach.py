#!/usr/bin/env python3
"""`assay attach`: measuring what already runs, from outside."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *


def attached(pid, *options, command=(), env=None, prefix=(), program=ASSAY, cwd=None):
    """The document of `assay attach PID …`, and its exit status."""
    out = (cwd or tmp()) / "attach.json"
    r = run(*prefix, program, "attach", pid, "--quiet", "-o", out, *options,
            *(["--", *command] if command else []), env=env, cwd=cwd)
    expect(out.exists() and out.stat().st_size, f"no document; status {r.rc}, stderr {r.err!r}")
    return Profile(json.loads(out.read_text()), {}, r.rc, r.err)


def target(*command):
    """A process to attach to, already at work."""
    p = start(*command, stdout=subprocess.DEVNULL)
    time.sleep(0.3)
    return p


@job_test("attach measures for --duration, exits 0, and leaves the process alone")
def _():
    p = target(work("burn"), 30)
    a = attached(p.pid, "--duration", "1")
    expect_eq(a.rc, 0, "exit status")
    expect_near(a.doc["duration_seconds"], 1.0, 0.2, "duration")
    expect_between(a.seconds(), 0.1, 1.2, "CPU seconds")
    expect_eq(a.doc["assay"]["identity"]["target"], p.pid, "target")
    expect_eq(p.poll(), None, "the process")
    stop(p, signal.SIGKILL)


@job_test("the counters of an attached process start at zero when assay comes")
def _():
    p = target(work("phases"), 0, 1.2, 30)      # busy, then idle

    def idle():
        stat = pathlib.Path(f"/proc/{p.pid}/stat").read_text().rpartition(")")[2].split()
        return stat[0] == "S" and int(stat[11]) + int(stat[12]) >= 100
    wait_for(idle, 60, "the end of its work")
    a = attached(p.pid, "--duration", "0.6")
    expect_between(a.seconds(), 0, 0.05, "CPU seconds of an idle second")
    expect_eq(a.column("job.cpu.user")[0], 0, "first value of a counter")
    threads = [t["metrics"]["thread.cpu"]["total"] for t in a.threads()]
    expect(all(cpu < 5e7 for cpu in threads), f"CPU of its threads {threads}")
    stop(p, signal.SIGKILL)


def on_cpu(*pids):
    """CPU time of these processes so far, by the scheduler's clock, in ns."""
    return sum(int(f.read_text().split()[0]) for pid in pids
               for f in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"))


SLEEPERS = """
import os, time
for i in range(8):
    if os.fork() == 0:
        end = time.process_time() + 0.013 + 0.007 * i
        while time.process_time() < end:
            pass
        os.write(1, b"asleep\\n")
        time.sleep(60)
        os._exit(0)
time.sleep(60)
"""


def children(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@job_test("who sleeps uses no CPU time, however much it had used before")
def _():
    p = start(sys.executable, "-c", SLEEPERS, stdout=subprocess.PIPE, text=True)
    for _ in range(8):
        read_line(p, "asleep")
    pids = [p.pid, *children(p.pid)]
    for rung in ({}, {"ASSAY_RUNG": "proc"}):
        for options in (("--include-children",), ()):
            before = on_cpu(*pids)
            a = attached(p.pid, "--duration", "0.6", *options, env=rung)
            used = on_cpu(*pids) - before
            expect_between(a.total("cpu"), 0, used, f"CPU time of sleepers, {options} {rung}")
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
    p.wait(10)


@job_test("children that are left out are told of, where none are nothing is")
def _():
    p = start(sys.executable, "-c", SLEEPERS, stdout=subprocess.PIPE, text=True)
    for _ in range(8):
        read_line(p, "asleep")
    pids = [p.pid, *children(p.pid)]
    store = {"ASSAY_STORE": tmp() / "store"}
    told = "8 children not measured"

    def attach(pid, *options):
        r = run(ASSAY, "attach", pid, "--duration", "0.3", *options, env=store)
        return r.err, run(ASSAY, "show", "last", env=store).out, \
            json.loads(run(ASSAY, "show", "last", "--json", env=store).out)["assay"]
    summary, shown, doc = attach(p.pid)
    expect_in(f"{told} · --include-children does", summary, "the summary")
    expect_in(told, shown, "show")
    expect_eq(doc["outcome"]["unmeasured"], 8, "in the document")
    expect_in("what its 8 children did is not measured", doc["verdict"]["sentence"], "verdict")
    for options, pid in ((["--include-children"], p.pid), ([], pids[1])):
        summary, shown, doc = attach(pid, *options)
        expect("not measured" not in summary + shown, f"nothing is left out of {pid} {options}")
        expect_eq(doc["outcome"]["unmeasured"], 0, f"none left out {options}")
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
    p.wait(10)


@job_test("CPU time that is less than a tick of /proc is told")
def _():
    script = "import time\nwhile True:\n    time.sleep(0.02)\n    sum(range(3000))"
    p = target(sys.executable, "-c", script)
    for options in ((), ("--include-children",)):
        before = on_cpu(p.pid)
        a = attached(p.pid, "--duration", "0.5", *options)
        used = on_cpu(p.pid) - before
        expect_between(a.total("cpu"), 1, used, f"CPU time {options}, of {used} ns")
    stop(p, signal.SIGKILL)


@job_test("a peak of memory from before assay came is not the run's")
def _():
    script = ("import time\nbig = bytearray(150 << 20)\ndel big\nprint('small', flush=True)\n"
              "time.sleep(30)")
    p = start(sys.executable, "-c", script, stdout=subprocess.PIPE, text=True)
    read_line(p, "small")
    a = attached(p.pid, "--duration", "0.5")
    for key in ("memory_peak", "memory_peak_upper", "memory_peak_process"):
        expect_between(a.total(key), 1 << 20, 60 << 20, key)
    row = a.doc["assay"]["processes"][0]["metrics"]
    expect("process.memory.peak" not in row, f"the mark of its whole life is told: {row}")
    expect_between(row["process.memory.rss"]["max"], 1 << 20, 60 << 20, "RSS of the process")
    shown = assay("show").ok().out
    expect(re.search(rf" {p.pid} .* \d\d?\.\d MiB ", shown), f"peak RSS in {shown}")
    stop(p, signal.SIGKILL)


@job_test("attach ends when the process ends")
def _():
    p = target(work("phases"), 1.0, 0.3)
    a = attached(p.pid)
    expect_eq(a.rc, 0, "exit status")
    expect_between(a.seconds(), 0.2, 0.4, "CPU seconds")
    p.wait(10)


@job_test("Ctrl-C ends an attachment, not the process, and the run is kept")
def _():
    p = target(work("sleeper"), 30)
    a = start(ASSAY, "attach", p.pid, "--quiet", stderr=subprocess.PIPE, text=True)
    wait_for(lambda: runs(), what="a running run")
    for sig in (signal.SIGUSR1, signal.SIGINT):
        time.sleep(0.2)
        a.send_signal(sig)
    expect_eq((a.wait(20), a.stderr.read()), (0, ""), "how attach ended")
    expect_eq([r["status"] for r in runs()], ["success"], "status of the run")
    expect_eq(p.poll(), None, "the process")
    stop(p, signal.SIGKILL)


@job_test("an attachment that its caller made ignore Ctrl-C and hang-ups goes on after them")
def _():
    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    p = target(work("sleeper"), 30)
    a = start(ASSAY, "attach", p.pid, "--quiet", preexec_fn=ignore)
    wait_for(lambda: runs(), what="a running run")
    for sig in (signal.SIGINT, signal.SIGHUP):
        a.send_signal(sig)
        time.sleep(0.3)
        expect_eq(a.poll(), None, f"status after {sig.name}")
    a.send_signal(signal.SIGTERM)
    expect_eq(a.wait(20), 0, "status after TERM")
    stop(p, signal.SIGKILL)


@job_test("attach --basic has totals too, or says that it has none")
def _():
    p = target(work("burn"), 20)
    a = attached(p.pid, "--basic", "--duration", "0.8")
    expect_between(a.seconds(), 0.1, 1.1, "CPU seconds")
    stop(p, signal.SIGKILL)
    p = target(work("burn"), 0.8)
    a = attached(p.pid, "--basic")
    expect(a.total("cpu") is None or a.seconds() > 0.1, f"CPU {a.total('cpu')} of a busy process")
    p.wait(10)


@job_test("with -- COMMAND the target is measured while the command runs, not the command")
def _():
    p = target(work("sleeper"), 30)
    a = attached(p.pid, command=(work("burn"), "0.6"))
    expect_eq(a.rc, 0, "exit status")
    expect_between(a.seconds(), 0, 0.05, "CPU seconds of the target")
    expect_eq(len(a.processes("burn")), 0, "the command among the processes")
    a = attached(p.pid, command=(work("exitcode"), "7"))
    expect_eq(a.rc, 7, "exit status")
    a = attached(p.pid, command=(work("killself"), "15"))
    expect_eq(a.rc, -15, "status")
    stop(p, signal.SIGKILL)


@job_test("--include-children counts the descendants, also later ones; without it only the process")
def _():
    script = f"{work('burn')} 2 & sleep 0.8; {work('burn')} 1 & wait"
    p = target("sh", "-c", script)
    alone = start(ASSAY, "attach", p.pid, "--quiet", "-o", "alone.json", "--duration", "1.5")
    a = attached(p.pid, "--include-children", "--duration", "1.5")
    alone.wait(20)
    expect_between(a.seconds(), 0.3, 3.1, "CPU seconds with children")
    expect_eq(len(a.processes("burn")), 2, "children seen")
    doc = json.loads((tmp() / "alone.json").read_text())
    expect_between(doc["resource_usage"]["cpu_total_seconds"], 0, 0.1, "CPU seconds alone")
    stop(p, signal.SIGKILL)


@job_test("without --include-children, children that are reaped meanwhile are not counted either")
def _():
    p = target("sh", "-c", f"sleep 0.5; {work('burn')} 0.4; {work('burn')} 0.3; sleep 30")
    a = attached(p.pid, "--duration", "3")
    expect_between(a.seconds(), 0, 0.1, "CPU seconds of the shell alone")
    stop(p, signal.SIGKILL)


@job_test("the CPU of children that are reaped while attached is counted once")
def _():
    p = target(work("forker"), 400, 10, "fork")
    a = attached(p.pid, "--include-children", "--duration", "1.5")
    for t0, t1, cores in a.cpu_rates(window=0.3):
        if t1 - t0 > 0.2:       # the last step may be too short for counters in steps of 10 ms
            expect_between(cores, 0, 1.15, f"cores from {t0:.2f} to {t1:.2f} s of one process")
    expect_between(a.seconds(), 0.2, 1.6, "CPU seconds")
    most = max(n for n in a.column("job.processes") if n is not None)
    expect_between(most, 2, 3, "processes at once, where one child follows the other")
    stop(p, signal.SIGKILL)


# --- what cannot be attached to -----------------------------------------------

def refused(pid, status, *words):
    r = assay("attach", pid, "--duration", "0.2")
    expect_eq(r.rc, status, f"exit status of attach {pid} ({r.err!r})")
    expect(1 <= len(r.err.splitlines()) <= 2, f"stderr {r.err!r}")
    for word in words:
        expect_in(word, r.err, "message")
    expect_eq(runs(), [], "runs kept of it")


@job_test("a process that does not exist is 66")
def _():
    p = start("true")
    p.wait(10)
    refused(p.pid, 66, str(p.pid))


@job_test("what is no process id is 2")
def _():
    for text in ("abc", "-5", "0", "1x", "99999999999999999999", ""):
        refused(text, 2)


@job_test("the id of a thread is refused, or measures its process, but never lies")
def _():
    p = target(work("burn"), 20, 2)
    tid = [int(t) for t in os.listdir(f"/proc/{p.pid}/task") if int(t) != p.pid][0]
    r = assay("attach", tid, "--duration", "0.3", "--quiet", "-o", "t.json")
    expect(r.rc in (0, 2, 66), f"exit status {r.rc}: {r.err}")
    if r.rc == 0:
        doc = json.loads((tmp() / "t.json").read_text())
        expect(doc["assay"]["identity"]["target"] in (p.pid, tid), "target")
    stop(p, signal.SIGKILL)


@job_test("a zombie is refused, or ends at once, without an invented number")
def _():
    p = start(sys.executable, "-c", "import os, time\nif os.fork():\n print(flush=True); "
              "time.sleep(20)", stdout=subprocess.PIPE)
    p.stdout.readline()
    def zombie():
        kids = open(f"/proc/{p.pid}/task/{p.pid}/children").read().split()
        return kids and not alive(kids[0]) and int(kids[0])
    pid = wait_for(zombie, what="a zombie")
    r = assay("attach", pid, "--duration", "20", "--quiet", "-o", "z.json", timeout=15)
    expect(r.rc in (0, 66), f"exit status {r.rc}: {r.err}")
    stop(p, signal.SIGKILL)


@job_test("a kernel thread can be looked at; it has no memory, and that is not 0 MiB of peak")
def _():
    comm = pathlib.Path("/proc/2/comm")
    if not comm.exists() or comm.read_text() != "kthreadd\n":
        skip("no kernel threads to be seen here")
    a = attached(2, "--duration", "0.3")
    expect_eq(a.rc, 0, "exit status")
    expect_eq(a.total("memory_peak_process"), None, "VmHWM of a kernel thread")
    expect_eq(a.doc["resource_usage"]["memory_peak_mb"], None, "memory_peak_mb")


@job_test("what another user's process hides is unknown, not 0, and the reason is told")
def _():
    folder = public()
    p = target(work("io"), tmp() / "f", 1, 3_000_000)     # writes all the time
    a = attached(p.pid, "--duration", "0.8", prefix=as_nobody(), program=folder / "assay",
                 env={"ASSAY_STORE": f"{folder}/store", "HOME": str(folder)}, cwd=folder)
    expect_eq(a.rc, 0, f"exit status ({a.err})")
    for key in ("io_read_calls_bytes", "io_write_calls_bytes", "io_write_calls", "io_read"):
        expect_eq(a.total(key), None, key)
        expect_in("denied", a.source(key), f"reason for {key}")
    expect_eq(a.metric("job.io.write_calls_bytes")["mean"], None, "mean of a hidden metric")
    # Linux since 6.2 tells everybody the number of open files; before, it is hidden as well.
    expect(a.metric("job.files.open")["max"] in (None, 4), "open files of another user")
    expect_between(a.seconds(), 0.05, 1.2, "CPU seconds, which anybody may read")
    stop(p, signal.SIGKILL)


LEADER = """
import ctypes, os, platform, threading, time
def work():
    null = os.open("/dev/null", os.O_WRONLY)
    for _ in range(3000):
        os.write(null, b"x" * 1000)
        time.sleep(0.01)
threading.Thread(target=work).start()
time.sleep(LIVES)
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)    # exit
"""


def of_nobody(folder, lives, *options, limit=1024):
    """attached() to nobody's process whose first thread LIVES so long, by nobody."""
    p = start(*as_nobody("/usr/bin/python3", "-S", "-c", LEADER.replace("LIVES", str(lives))))
    time.sleep(0.5)
    a = attached(p.pid, *options, prefix=["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh",
                                          *as_nobody()],
                 program=folder / "assay", cwd=folder,
                 env={"ASSAY_STORE": f"{folder}/store", "HOME": str(folder)})
    stop(p, signal.SIGKILL)
    expect_eq(a.rc, 0, f"exit status ({a.err})")
    return a


@job_test("a process whose first thread has ended hides its I/O: not 0, nor what it was")
def _():
    folder = public()
    for lives, limit in ((0, 1024), (1.2, 64)):     # before; meanwhile, its files not kept open
        a = of_nobody(folder, lives, "--duration", "1.5", limit=limit)
        for key in ("io_write_calls_bytes", "io_write_calls", "io_read"):
            expect_eq(a.total(key), None, f"{key}, {limit}")
            expect_in("denied", a.source(key), f"reason for {key}")
        expect_eq(a.column("job.io.write_calls_bytes")[-1], None, f"at the end, {limit}")
        expect_between(a.total("memory_peak_process_used"), 1 << 20, 99 << 20, "its memory")
    a = of_nobody(folder, 1.2, "--duration", "1.5")         # kept open
    expect_between(a.total("io_write_calls_bytes"), 20_000, 200_000, "what it wrote")


@job_test("context switches of all threads are told as such only where they are counted")
def _():
    a = of_nobody(public(), 60, "--duration", "1")
    told = a.doc["assay"]["totals"]["switches_voluntary"]
    expect_eq(told["provenance"], "attributed", "switches of the first thread alone")
    expect_in("first threads", told["source"])
    p = target("sleep", 30)
    a = attached(p.pid, "--duration", "0.5")
    told = a.doc["assay"]["totals"]["switches_voluntary"]
    expect_eq((told["value"], told["provenance"]), (0, "measured"), "of a process of one thread")
    stop(p, signal.SIGKILL)


main()
