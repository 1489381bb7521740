#!/usr/bin/env python3
"""`assay heap` with other C libraries: an older glibc, and musl."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from attach import *
from harness import *
from heaps import *
from jobs import *
from pythons import *
from roots import *

REFUSED = 69
WRAPPER = 125     # of a command that runs another
MUSL = "/lib/ld-musl-x86_64.so.1"


def old():
    """A Debian whose glibc is 2.31: no function of libdl and libpthread is in libc."""
    return debian("bullseye", "python3")


def recorded(*command, options=()):
    return heap(*inside(old(), *command), options=options, env={"XDG_RUNTIME_DIR": str(tmp())})


@job_test("glibc 2.31: programs with and without threads start, and are recorded", 1800)
def _():
    for command in (("cat", "/etc/passwd"), ("sort", "/etc/passwd"), ("perl", "-e", "print 1")):
        h = recorded(*command)
        p = h.doc["processes"][-1]
        expect_in(command[0], p["command"])
        expect(h.doc["total_allocations"] > 10, f"{command}: {h.doc['total_allocations']}")
        expect_eq(p["lost_events"], 0, f"{command}: lost")
        expect_eq(p["problem"], "its native stacks could not be walked", f"{command}: problem")


@job_test("glibc 2.31: Python's lines have their bytes and counts, its objects too", 1800)
def _():
    cases = ["arrays", "temporary", "methods", "peak", "generators", "deep", "threads"]
    h = recorded("/usr/bin/python3.9", program("amounts"), *cases)
    expect_eq([p["problem"] for p in h.doc["processes"]], [None] * len(h.doc["processes"]),
              "problems")
    h.expect_marks()
    recorded("/usr/bin/python3.9", program("amounts"), "objects", *cases,
             options=["--python-allocators"]).expect_marks(objects=True)


@job_test("glibc 2.31: a running process is refused", 1800)
def _():
    t = Server(*inside(old(), "/usr/bin/python3.9"))
    r = assay("heap", "attach", "--no-store", "-o", "x.heap", t.pid,
              env={"XDG_RUNTIME_DIR": str(tmp())})
    expect_eq(r.rc, REFUSED, r.err)
    expect_in("has a glibc that is too old", r.err)
    t.tell("grow", 1)
    t.end()


@job_test("musl: a running process is refused, and goes on")
def _():
    source = tmp() / "other.c"
    source.write_text("""unsigned sleep(unsigned); void _exit(int);
void _start(void) { sleep(60); _exit(0); }
""")
    if not os.path.exists(MUSL) or run("cc", "-nostdlib", "-o", tmp() / "other", source, MUSL,
                                       f"-Wl,--dynamic-linker={MUSL}").rc:
        skip("needs musl and a compiler")
    p = start(tmp() / "other")
    wait_for(lambda: "musl" in open(f"/proc/{p.pid}/maps").read(), 20, "its start")
    r = assay("heap", "attach", "--no-store", "-o", "x.heap", p.pid)
    expect_eq(r.rc, REFUSED, r.err)
    expect_in("has musl as its libc", r.err)
    expect_eq(p.poll(), None, "how the program ended")
    stop(p, signal.SIGKILL)


@job_test("musl: a program is refused before it starts; a child of it is left alone, and runs")
def _():
    source = tmp() / "other.c"
    source.write_text("""void _exit(int);
void _start(void) { _exit(7); }
""")
    if not os.path.exists(MUSL) or run("cc", "-nostdlib", "-o", tmp() / "other", source, MUSL,
                                       f"-Wl,--dynamic-linker={MUSL}").rc:
        skip("needs musl and a compiler")
    (tmp() / "script").write_text(f"#!{tmp() / 'other'} -x\n")
    (tmp() / "script").chmod(0o755)
    for program in ("./other", "./script"):
        expect_eq(run(program).rc, 7, f"{program} alone")
        r = assay("heap", "run", "--no-store", "-o", "x.heap", "--", program)
        expect_eq(r.rc, WRAPPER, r.err)
        expect_in("has musl as its libc", r.err)
        for options in ((), ("--follow-fork",)):
            for how in (f"exec {program}", f"{program}", f"PATH=.:$PATH; {program[2:]}"):
                r = assay("heap", "run", "--no-store", "--quiet", "--force", *options, "-o",
                          "x.heap", "--", "sh", "-c", how)
                expect_eq(r.rc, 7, f"{how} {options}: {r.err}")


main()
