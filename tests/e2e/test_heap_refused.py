#!/usr/bin/env python3
"""`assay heap attach`: what cannot be safe is refused, with the reason, and not touched."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from attach import *
from harness import *
from heaps import *
from jobs import *

REFUSED, DENIED, NOT_FOUND, USAGE, WRAPPER = 69, 77, 66, 2, 125


def refused(pid, rc, *sentences, **how):
    r = assay("heap", "attach", "--no-store", "-f", "-d", "0.1", "-o", "no.heap", pid, **how)
    expect_eq(r.rc, rc, f"status, with {r.err}")
    for s in sentences:
        expect_in(s, r.err)
    expect(not (tmp() / "no.heap").exists(), "no capture is left")
    return r


@job_test("nobody is there, or no process at all: said")
def _():
    refused(2 ** 22 - 1, NOT_FOUND, "no process")
    refused("x", USAGE)
    p = start("true")
    wait_for(lambda: "Z" in pathlib.Path(f"/proc/{p.pid}/status").read_text(), 10, "its end")
    refused(p.pid, NOT_FOUND)
    p.wait()


@job_test("a static program is refused")
def _():
    source = tmp() / "static.c"
    source.write_text("#include <unistd.h>\nint main(void) { sleep(30); return 0; }\n")
    if run("cc", "-static", "-o", tmp() / "static", source).rc:
        skip("no static program can be made here")
    p = start(tmp() / "static")
    refused(p.pid, REFUSED, "is linked statically")
    expect_eq(p.poll(), None, "the process")
    stop(p, signal.SIGKILL)


@job_test("a 32-bit program is refused")
def _():
    source = tmp() / "small.c"
    source.write_text("""void _start(void)
{ for (;;) __asm__ volatile("int $0x80" : : "a"(29)); /* pause */ }
""")
    if run("cc", "-m32", "-nostdlib", "-static", "-fno-pie", "-o", tmp() / "small", source).rc:
        skip("no 32-bit program can be made here")
    try:
        p = start(tmp() / "small")
    except OSError:
        skip("no 32-bit program can be run here")
    refused(p.pid, REFUSED, "is a 32-bit program")
    expect_eq(p.poll(), None, "the process")
    stop(p, signal.SIGKILL)


@job_test("a program that has its own allocator built in is refused")
def _():
    source = tmp() / "own.c"
    source.write_text("""#include <stddef.h>
#include <unistd.h>
static char pool[1 << 20]; static size_t at;
void *malloc(size_t n)
{ n = (n + 15) & ~15ul; at += n; return at > sizeof pool ? 0 : pool + at - n; }
void free(void *p) { (void)p; }
int main(void) { sleep(30); return 0; }
""")
    if run("cc", "-fno-builtin", "-rdynamic", "-o", tmp() / "own", source).rc:
        skip("no compiler")
    p = start(tmp() / "own")
    refused(p.pid, REFUSED, "allocator of its own")
    stop(p, signal.SIGKILL)


@job_test("a program with AddressSanitizer's library is refused; a child is left alone, and runs")
def _():
    source = tmp() / "checked.c"
    source.write_text("""#include <stdlib.h>
int main(void) { char *volatile p = malloc(31); free(p); return 7; }
""")
    if run("gcc", "-fsanitize=address", "-o", tmp() / "checked", source).rc \
            or run("./checked").rc != 7:
        skip("no compiler with AddressSanitizer")
    r = assay("heap", "run", "--no-store", "-o", "x.heap", "--", "./checked")
    expect_eq(r.rc, WRAPPER, r.err)
    expect_in("has AddressSanitizer", r.err)
    for options in ((), ("--follow-fork",)):
        for how in ("exec ./checked", "./checked; exit $?", "PATH=.:$PATH; checked"):
            r = assay("heap", "run", "--no-store", "--quiet", "--force", *options, "-o", "x.heap",
                      "--", "sh", "-c", how)
            expect_eq((r.rc, r.err), (7, ""), f"{how} {options}")
    if sanitized():
        return          # a second runtime of the kind is refused by the first, which is our own
    library = run("gcc", "-print-file-name=libasan.so").out.strip()
    r = assay("heap", "run", "--no-store", "-f", "-o", "x.heap", "--", "true",
              env={"LD_PRELOAD": library})
    expect_in("has AddressSanitizer", r.err)


@job_test("a process that is stopped, or under strict seccomp, is refused")
def _():
    t = attachee()
    os.kill(t.pid, signal.SIGSTOP)
    wait_for(lambda: "T (" in pathlib.Path(f"/proc/{t.pid}/status").read_text(), 10, "its stop")
    refused(t.pid, REFUSED, "is stopped", "kill -CONT")
    os.kill(t.pid, signal.SIGCONT)
    t.tell("make", 1, 10)
    t.tell("strict")
    refused(t.pid, REFUSED, "strict seccomp")
    t.tell("calm")
    stop(t.p, signal.SIGKILL)


@job_test("a process with a filter of its own is refused")
def _():
    t = attachee()
    t.tell("filter")
    refused(t.pid, REFUSED, "has a filter of system calls (seccomp)", "assay heap run")
    t.tell("make", 1, 10)
    t.end()


@job_test("a thread is no process, and the kernel's own have nothing to record: said")
def _():
    t = attachee()
    t.tell("churn", 1)
    tid = next(tid for tid, _ in tasks(t.pid) if tid != t.pid)
    refused(tid, USAGE, f"{tid} is a thread: its process is {t.pid}")
    t.tell("calm")
    t.end()
    kernel = pathlib.Path("/proc/2/comm")
    if is_root() and kernel.exists() and kernel.read_text() == "kthreadd\n":
        refused(2, REFUSED, "has no memory of its own", "it is the kernel's")


@job_test("a process that a debugger has is refused, with the debugger's number")
def _():
    t = attachee()
    tracer = seized(t.pid)
    (tmp() / "kept.heap").write_text("of before")
    refused(t.pid, REFUSED, f"is traced by process {tracer.pid}")
    assay("heap", "attach", "--no-store", "-f", "-o", "kept.heap", t.pid)
    expect_eq((tmp() / "kept.heap").read_text(), "of before", "a capture that was there")
    stop(tracer, signal.SIGKILL)
    t.tell("make", 1, 10)
    t.end()


@job_test("a process that is recorded, from its start or attached, is refused")
def _():
    t = attachee()
    a = Attached(t.pid)
    refused(t.pid, REFUSED, "is being recorded already")
    t.tell("make", 3, 1013)
    expect_eq(a.left().by_function("top_by_size"), {"by_make": (3 * 1013, 3)}, "made")
    t.end()
    t = Target(ASSAY, "heap", "run", "--no-store", "-q", "-f", "-o", FILE, "--", work("attachee"))
    child, = pathlib.Path(f"/proc/{t.pid}/task/{t.pid}/children").read_text().split()
    refused(child, REFUSED, "recorded")
    t.end()


# --- what it may do ------------------------------------------------------------------


@job_test("another user's process is refused; one that hides, with what would help")
def _():
    there = public()
    shutil.copy(BUILD / "assay-heap.so", there)
    shutil.copy(work("attachee"), there)
    t = Target(*as_nobody(there / "attachee"))
    refused(t.pid, DENIED, "another user's", f"sudo -u '#{NOBODY}'")
    t.tell("hide")
    r = run(*as_nobody(there / "assay", "heap", "attach", "--no-store", "-d", "0.1", "-o",
                       there / "x.heap", t.pid), cwd=there)
    expect_eq(r.rc, DENIED, r.err)
    expect_in("SYS_PTRACE", r.err)
    t.end()
    t = Target(*as_nobody(there / "attachee"))
    r = run(*as_nobody(there / "assay", "heap", "attach", "--no-store", "-d", "0.1", "-o",
                       there / "x.heap", t.pid), cwd=there)
    expect(r.rc == 0 or "ptrace_scope" in r.err, f"as the same user: {r.rc} {r.err}")
    t.end()


@job_test("a program that has more rights than its user is refused, to root too")
def _():
    there = public()
    program = there / "attachee"
    shutil.copy(work("attachee"), program)
    os.chown(program, 0, 0)
    program.chmod(0o4755)
    t = Target(*as_nobody(program))
    if f"Uid:\t{NOBODY}\t0\t" not in pathlib.Path(f"/proc/{t.pid}/status").read_text():
        skip("no program gains rights here")
    refused(t.pid, REFUSED, "runs with more rights than its user has")
    t.end()


@job_test("no permission: what to do depends on what Yama is set to")
def _():
    there = public()
    shutil.copy(BUILD / "assay-heap.so", there)
    shutil.copy(work("attachee"), there)
    t = Target(*as_nobody(there / "attachee"))
    t.tell("hide")
    for scope, remedy in (("1", "sysctl kernel.yama.ptrace_scope=0"), ("2", "CAP_SYS_PTRACE"),
                          ("3", "until this machine is started anew"), ("0", "undumpable")):
        script = ("mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && "
                  f"echo {scope} >/proc/sys/kernel/yama/ptrace_scope && exec \"$@\"")
        r = run("unshare", "--mount", "sh", "-c", script, "sh",
                *as_nobody(there / "assay", "heap", "attach", "--no-store", "-d", "0.1", "-o",
                           there / "x.heap", t.pid), cwd=there)
        expect_eq(r.rc, DENIED, f"status, with {r.err}")
        expect_in(remedy, " ".join(r.err.split()))
    t.end()


# --- what it sees ----------------------------------------------------------------------

def apart(covered, *command):
    """A program that sees nothing in a folder that is full for others."""
    script = 'mount -t tmpfs none "$0" && exec "$@"'
    if not is_root():
        skip("needs root to mount")
    return Target("unshare", "--mount", "sh", "-c", script, covered, *command)


@job_test("a process in another mount namespace: recorded if it sees our files, else refused")
def _():
    (tmp() / "own").mkdir()
    t = apart(tmp() / "own", work("attachee"))
    a = Attached(t.pid)
    t.tell("make", 3, 1013)
    expect_eq(a.left().by_function("top_by_size"), {"by_make": (3 * 1013, 3)}, "made")
    refused(t.pid, REFUSED, "where assay would listen", "XDG_RUNTIME_DIR",
            env={"XDG_RUNTIME_DIR": str(tmp() / "own")})
    t.end()
    shutil.copy(work("attachee"), tmp())
    t = apart(BUILD, tmp() / "attachee")
    refused(t.pid, REFUSED, "does not see the files that assay sees", "container")
    t.end()


main()
