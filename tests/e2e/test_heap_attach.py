#!/usr/bin/env python3
"""`assay heap attach`: what a running program allocates from a known moment on, and that it
goes on afterwards as it was."""
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from attach import *
from harness import *
from heaps import *
from jobs import *
from pythons import pythons

# --- what is counted -----------------------------------------------------------------

@job_test("what is allocated while assay is there is counted, to the byte; before and after not")
def _():
    t = attachee()
    t.tell("make", 11, 2003)
    a = Attached(t.pid)
    expect("assay-heap" in threads(t.pid), f"threads {threads(t.pid)}")
    expect(hooks(t.pid) > 0, "hooks are in place")
    t.tell("make", 13, 1013)
    t.tell("drop", 3)
    h = a.left()
    t.tell("make", 17, 3001)
    expect_eq(h.by_function("top_by_size"), {"by_make": (13 * 1013, 13)}, "made")
    expect_eq((h.doc["total_frees"], h.doc["leaked_bytes"], h.doc["peak_bytes"]),
              (3, 10 * 1013, 13 * 1013), "freed, left, peak")
    p, = h.doc["processes"]
    expect_eq((p["attached"], p["frees_of_before"], p["lost_events"], p["killed"]),
              (True, 0, 0, False), "of the process")
    t.end()


@job_test("frees of blocks from before are counted apart, and nothing is negative")
def _():
    t = attachee()
    a = Attached(t.pid)
    t.tell("early", 23)
    t.tell("grow")
    t.tell("make", 2, 101)
    h = a.left()
    t.end()
    p, = h.doc["processes"]
    expect_eq(p["frees_of_before"], 24, "frees of before")
    expect_eq((h.doc["total_allocations"], h.doc["total_frees"]), (3, 0), "made, freed")
    expect_eq((h.doc["leaked_bytes"], h.doc["peak_bytes"]), (20011 + 202,) * 2, "left, peak")
    said = assay("heap", "stats", FILE).ok().out
    expect_in("allocated before is not known; it has freed 24 of these since",
              " ".join(said.split()))


@job_test("a mapping that comes and goes, and a library that is loaded meanwhile, are seen")
def _():
    t = attachee()
    a = Attached(t.pid)
    t.tell("map")
    t.tell("load", work("libstrange.so"))
    h = a.left()
    expect_eq(h.by_function("top_by_size")["strange_alloc"], (5 * 5003, 5), "of the library")
    expect_eq(h.allocated("mmap")[1], 65536, "mapped")
    t.tell("drop", 5)
    t.end()


@job_test("sampled and aggregated recordings can be attached too")
def _():
    t = attachee()
    a = Attached(t.pid, "--aggregate")
    t.tell("make", 7, 1013)
    expect_eq(a.left().by_function("top_by_size"), {"by_make": (7091, 7)}, "aggregated")
    a = Attached(t.pid, "--sample", 4096)
    t.tell("make", 100, 5003)                  # more than the rate: each is recorded
    t.tell("drop", 100)
    h = a.left()
    expect_eq(h.by_function("top_by_size"), {"by_make": (500300, 100)}, "sampled")
    expect_eq((h.doc["leaked_bytes"], h.doc["processes"][0]["frees_of_before"]), (0, None), "left")
    t.end()


# --- the process goes on as it was -----------------------------------------------------

@job_test("when assay has left, no hook and no thread is there; it can come again")
def _():
    t = attachee()
    for size in (1013, 2003, 3001):
        a = Attached(t.pid)
        t.tell("make", 5, size)
        h = a.left()
        expect_eq(h.by_function("top_by_size"), {"by_make": (5 * size, 5)}, "made")
        expect_eq((hooks(t.pid), threads(t.pid)), (0, ["attachee"]), "hooks and threads left")
    t.end()


# Its main thread sleeps while assay is there, and is asked for something only then.
SLEEPS = """
import ctypes, sys, threading, time

def work():
    while True:
        kept = [str(i) for i in range(1000)]
        time.sleep(0.001)

def ours():
    places = [tuple(int(x, 16) for x in line.split()[0].split("-"))
              for line in open("/proc/self/maps") if "assay-heap.so" in line]
    found = 0
    for domain in (1, 2):
        row = (ctypes.c_void_p * 5)()
        ctypes.pythonapi.PyMem_GetAllocator(domain, row)
        found += sum(a <= (word or 0) < b for word in row[1:] for a, b in places)
    return found

threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    for i in range(1000):
        kept = [str(i)]
    print("done", ours(), flush=True)
"""


@job_test("a Python whose main thread wakes when assay has left keeps its allocators")
def _():
    t = Target(sys.executable, "-c", SLEEPS)
    for options in ((), ("--sample", "4096")):
        a = Attached(t.pid, "--python-allocators", *options)
        time.sleep(0.3)
        h = a.left()
        expect(h.doc["total_allocations"] > 1000, f"{h.doc['total_allocations']} allocations")
        expect_eq(t.tell("look"), "done 0", "allocators that are the library's")
    t.end()


@job_test("a program that locks all its memory does not have ours, from its start or attached")
def _():
    source = tmp() / "locks.c"
    source.write_text("""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static void tell(void)
{
	char line[256]; long rss = 0, locked = 0; FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f)) {
		sscanf(line, "VmRSS: %ld", &rss); sscanf(line, "VmLck: %ld", &locked);
	}
	if (f) fclose(f);
	printf("done %ld %ld\\n", rss, locked); fflush(stdout);
}
int main(int n, char **arg)
{
	char line[64], *p;
	if (mlockall(atoi(arg[1]))) return 7;
	puts("ready"); fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		p = mmap(NULL, 5 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		tell(); munmap(p, 5 << 20);
	}
	return 0;
}
""")
    if run("cc", "-o", tmp() / "locks", source).rc:
        skip("no compiler")
    if run("./locks", 3).rc:
        skip("may not lock its memory")
    for flags, filled in ((1, 0), (3, 5 << 10), (5, 0), (7, 0)):    # current, future, on fault
        alone = Target("./locks", flags)
        there = Target(ASSAY, "heap", "run", "-q", "--no-store", "-f", "-o", "x.heap", "--",
                       "./locks", flags)
        said = [int(t.tell("look").split()[1]) for t in (alone, there)]
        expect(said[1] - said[0] < 20 << 10, f"mlockall({flags}): {said} KiB")
        expect(said[1] - filled > said[0] - filled >= 0, f"mlockall({flags}): {said} KiB")
        there.end()
        for i in range(2):
            a = Attached(alone.pid)
            had = int(alone.tell("look").split()[1])
            a.left()
            now = int(alone.tell("look").split()[1])
            expect(max(had, now) - said[0] < 60 << 10,
                   f"mlockall({flags}), attached: {said[0]}, {had}, {now} KiB")
        alone.end()


@job_test("how much memory may be locked is asked of the program's own alone")
def _():
    source = tmp() / "limited.c"
    source.write_text("""#include <linux/capability.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
static long locked(void)
{
	char line[256]; long kib = 0; FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f)) sscanf(line, "VmLck: %ld", &kib);
	if (f) fclose(f);
	return kib;
}
int main(int n, char **arg)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {{0}};
	struct rlimit limit = {atol(arg[1]) << 10, atol(arg[1]) << 10};
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || syscall(SYS_capset, &head, none)) return 9;
	errno = 0;
	int e = mlockall(atoi(arg[2]));
	printf("%d %d %d", e, errno, locked() > 1000);
	return 0;
}
""")
    if run("cc", "-o", tmp() / "limited", source).rc:
        skip("no compiler")
    for kib in (64, 100 << 10):
        for flags in (1, 3, 5, 7, 2, 8, 9):
            alone = run("./limited", kib, flags)
            there = assay("heap", "run", "-q", "--no-store", "-f", "-o", "x.heap", "--",
                          "./limited", kib, flags)
            expect_eq((there.rc, there.out), (alone.rc, alone.out), f"{kib} KiB, {flags}")


@job_test("it ends with --duration, and when the program does")
def _():
    t = attachee()
    a = Attached(t.pid, "-d", "0.2")
    a.ended()
    expect_eq(hooks(t.pid), 0, "hooks")
    a = Attached(t.pid)
    t.tell("make", 3, 1013)
    t.end()
    h = a.ended()
    expect_eq(h.by_function("top_by_size")["by_make"], (3 * 1013, 3), "made")


@job_test("a process that ends as soon as it is recorded leaves what it did")
def _():
    for _ in range(5):
        t = attachee()
        a = Attached(t.pid)
        a.p.send_signal(signal.SIGSTOP)
        t.tell("make", 3, 1013)
        t.end()
        a.p.send_signal(signal.SIGCONT)
        expect_eq(a.ended().by_function("top_by_size")["by_make"], (3 * 1013, 3), "made")


# Stops a thread before its next mmap(), says so, and lets it go when it is told to.
HOLD = """
import ctypes, os, sys
libc, tid = ctypes.CDLL(None, use_errno=True), int(sys.argv[1])
regs = (ctypes.c_uint64 * 64)()
SEIZE, INTERRUPT, SYSCALL, GETREGS, DETACH = 0x4206, 0x4207, 24, 12, 17
MMAP, ORIG_RAX = 9, 15
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
def ptrace(request, data=None):
    if libc.ptrace(request, tid, None, data) < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
ptrace(SEIZE)
ptrace(INTERRUPT)
print("follows", flush=True)
while os.waitpid(tid, 0x40000000):
    ptrace(GETREGS, ctypes.addressof(regs))
    if regs[ORIG_RAX] == MMAP:
        break
    ptrace(SYSCALL)
print("holds", flush=True)
sys.stdin.readline()
ptrace(DETACH)
"""


@job_test("who comes while the last visitor is on its way out waits for that, and is not harmed")
def _():
    t = attachee()
    first = Attached(t.pid)
    visitor, = visitors(t.pid)
    tracer = start(sys.executable, "-c", HOLD, visitor, stdin=subprocess.PIPE,
                   stdout=subprocess.PIPE, text=True)
    read_line(tracer, "follows")
    first.p.send_signal(signal.SIGINT)
    read_line(tracer, "holds")
    first.p.kill()
    first.p.wait()
    second = Attached.begun(t.pid)
    wait_for(lambda: len(visitors(t.pid)) == 2, 30, "the second visitor")
    select.select([second.p.stderr], [], [], 1)     # it would say that it is there, and be wrong
    tracer.stdin.write("go\n")
    tracer.stdin.close()
    wait_for(lambda: visitor not in visitors(t.pid), 30, "the first visitor to leave")
    second.expect_there()
    t.tell("make", 5, 1013)
    expect_eq(second.left().by_function("top_by_size"), {"by_make": (5 * 1013, 5)}, "made")
    expect_eq((hooks(t.pid), threads(t.pid)), (0, ["attachee"]), "hooks and threads left")
    t.end()


@job_test("threads that allocate all the time do not notice 10 times coming and going", seconds=240)
def _():
    t = attachee()
    t.tell("churn", 3)
    for _ in range(10):
        a = Attached(t.pid, "--sample", "1MiB", "--aggregate")
        a.left()
    for _ in range(5):      # samples are thinned all the time
        a = Attached(t.pid, "--sample", "64", env={"ASSAY_HEAP_SLOTS": "64"})
        a.left().expect_nothing_lost()
    t.tell("calm")
    expect_eq(hooks(t.pid), 0, "hooks")
    t.end()


@job_test("assay is killed: the program goes on, and is as it was soon after")
def _():
    t = attachee()
    a = Attached(t.pid)
    t.tell("make", 3, 1013)
    a.p.kill()
    a.p.wait()
    t.tell("make", 3, 1013)
    wait_for(lambda: threads(t.pid) == ["attachee"], 30, "its thread to leave")
    expect_eq(hooks(t.pid), 0, "hooks")
    a = Attached(t.pid)
    t.tell("make", 5, 1013)
    expect_eq(a.left().by_function("top_by_size"), {"by_make": (5 * 1013, 5)}, "made")
    t.end()


@job_test("assay is killed at each step of coming: the program goes on, with what it had")
def _():
    t = attachee()
    t.tell("churn", 1)
    died = 0
    for step in range(1, 30):
        r = run(ASSAY, "heap", "attach", "--no-store", "-f", "-d", "0.05", "-q", "-o", FILE, t.pid,
                env={"ASSAY_INJECT_DIE": str(step)})
        t.tell("make", 3, 1013)
        if r.rc == 0:
            break
        expect_eq(r.rc, -signal.SIGKILL, f"step {step}: {r.err}")
        died += 1
        wait_for(lambda: "assay-heap" not in threads(t.pid), 60, "its thread to leave")
    expect(died >= 7, f"only {died} steps")
    t.tell("calm")
    expect_eq(hooks(t.pid), 0, "hooks")
    t.end()


@job_test("a thread that computes all the time is borrowed too, and computes the same")
def _():
    t = attachee()
    t.p.stdin.write("spin 3000\n")
    t.p.stdin.flush()
    a = Attached(t.pid)
    read_line(t.p, "sane")
    read_line(t.p, "done spin")
    t.tell("make", 3, 1013)
    expect_eq(a.left().by_function("top_by_size"), {"by_make": (3 * 1013, 3)}, "made")
    t.end()


def call_of(pid):
    """The number of the system call that it sleeps in."""
    return pathlib.Path(f"/proc/{pid}/syscall").read_text().split()[0]


@job_test("a shell that waits with a time limit is attached to: sigaction() is no handler")
def _():
    p = start("bash", "-c", "echo ready; read -t 60 line < <(cat); echo got $line; wait",
              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    read_line(p, "ready")
    wait_for(lambda: call_of(p.pid) == "270", what="the shell to wait in pselect")
    a = Attached(p.pid)
    a.left()
    p.stdin.write("it\n")
    p.stdin.close()
    read_line(p, "got it")
    p.wait(30)


@job_test("a thread that sleeps in a handler of a signal is not borrowed")
def _():
    p = start("/usr/bin/python3", "-c", """
import ctypes, os, signal
c = ctypes.CDLL(None)
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda n: c.sleep(60))
c.signal(signal.SIGUSR1, handler)
print("ready", flush=True)
os.kill(os.getpid(), signal.SIGUSR1)
""", stdout=subprocess.PIPE, text=True)
    read_line(p, "ready")
    wait_for(lambda: call_of(p.pid) == "230", what="clock_nanosleep")
    r = assay("heap", "attach", "--no-store", "-f", "-o", FILE, p.pid)
    p.kill()
    p.wait()
    expect_eq(r.rc, 69, "exit status")
    expect_in("no moment in which a thread could be borrowed", r.err)


@job_test("a child that is forked meanwhile goes its way, and is not recorded")
def _():
    t = attachee()
    a = Attached(t.pid)
    t.p.stdin.write("fork\n")
    t.p.stdin.flush()
    read_line(t.p, "status 7")
    h = a.left()
    expect_eq([p["pid"] for p in h.doc["processes"]], [t.pid], "processes")
    t.end()


# --- Python ----------------------------------------------------------------------------

@job_test("a service in Python answers while it is attached to; its lines have their bytes")
def _():
    expect_served(pythons()[-1].path)


main()
