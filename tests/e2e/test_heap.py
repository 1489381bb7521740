#!/usr/bin/env python3
"""`assay heap`: every allocation of programs that know their own."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import *
from jobs import *

ALLOCS = work("allocs")
BAD_FILE = 65
# Cases of allocs whose every allocation is by the program itself.
WHOLE = ["malloc", "calloc", "realloc", "aligned", "fails", "peak", "leak", "temporary",
         "recursion", "churn"]


# --- the programs themselves ---------------------------------------------------

@job_test("what the programs say of themselves is what a library that only counts sees")
def _():
    for case in [*WHOLE, "exec", "vfork"]:
        r, counted = oracle(ALLOCS, case)
        told = lines_of_json(r.ok().out)
        for key in ("pid", "allocations", "frees", "bytes"):
            expect_eq([c[key] for c in counted], [t[key] for t in told], f"{case}: {key}")


# --- equal to the byte and to the count ------------------------------------------

@job_test("totals, peak and what is left are those of the program, to the byte and the count")
def _():
    for case in [*WHOLE, "mmap", "reserve", "brk"]:
        h = heap(ALLOCS, case)
        h.expect_totals(h.truth[0])
        h.expect_nothing_lost()


@job_test("all cases at once: sums, and each function and line by itself")
def _():
    h = heap(ALLOCS, *WHOLE, "mmap", "reserve")
    h.expect_totals(h.truth[0])
    h.expect_sites(h.truth[0]["sites"])


@job_test("address space that is made accessible is never left out of a sample")
def _():
    h = heap(ALLOCS, "reserve", options=["--sample", "65536"])      # all else is larger than that
    h.expect_totals(h.truth[0])


@job_test("more samples live than there is room for: they are thinned, and none is lost")
def _():
    for h in expect_estimates(ALLOCS, "tide", sample=256, runs=10, enough=7, bias=0.02,
                              env={"ASSAY_HEAP_SLOTS": "1024"}):
        h.expect_nothing_lost()
        rates = [r["bytes"] for r in h.doc["sample_bytes_raised"]]
        expect(rates and max(rates) >= 256 << 4, f"thinned to {rates}")


@job_test("a sample has a seed: the same one is the same sample, another is another")
def _():
    def sampled(seed):
        doc = heap(ALLOCS, "mixed", options=["--sample", "65536"],
                   env={"ASSAY_SEED": str(seed)}).doc
        return doc["total_allocations"], doc["total_allocated_bytes"], doc["leaked_bytes"]
    first = sampled(1)
    expect_eq(sampled(1), first, "the same seed")
    expect(sampled(2) != first, f"another seed: {first} again")


@job_test("an aggregated recording says the same")
def _():
    h = heap(ALLOCS, *WHOLE, options=["--aggregate"])
    h.expect_totals(h.truth[0])
    h.expect_sites(h.truth[0]["sites"])
    expect_eq(h.doc["aggregated"], True, "aggregated")


@job_test("a peak of 5 ms has its owner, though more was there before and after it")
def _():
    h = heap(ALLOCS, "peak")
    first = h.doc["peak_by_line"][0]
    expect_eq((first["function"], first["bytes"], first["count"]),
              ("by_malloc", 97 * 500009, 97), "who held the peak")
    expect_eq(h.doc["peak_bytes"], 97 * 500009, "peak")


@job_test("a leak has its line; what was given back has none")
def _():
    h = heap(ALLOCS, "leak", "temporary", "peak")
    expect_eq([(x["function"], x["bytes"], x["count"]) for x in h.doc["leaked_by_line"]],
              [("by_leak", 211 * 1013, 211)], "what is left")


@job_test("temporary allocations are counted where they are made")
def _():
    h = heap(ALLOCS, "temporary", "leak")
    expect_eq(h.by_function("temporary_by_line"), {"by_malloc": (1511 * 61, 1511)}, "temporary")
    expect_eq(h.doc["temporary_allocations"], 1511, "how many")


@job_test("sizes are counted by their magnitude")
def _():
    h = heap(ALLOCS, "leak", "temporary")
    found = {(x["from"], x["to"]): x["count"] for x in h.doc["size_histogram"]}
    expect_eq(found, {(512, 1023): 211, (32, 63): 1511}, "histogram")


@job_test("C++'s operators, sized and of arrays too, are one allocation each")
def _():
    h = heap(work("allocs_new"))
    h.expect_sites(h.truth[0]["sites"])


SIZED = """
import ctypes, sys

sized = ctypes.CDLL(sys.argv[1])
sized.sized_new.restype = ctypes.c_void_p
for give_back in [getattr(sized, name) for name in sys.argv[2:]]:
    for _ in range(37):
        give_back(ctypes.c_void_p(sized.sized_new()))
sized.sized_new()
"""


@job_test("C++ that only a module brings: operators that jump to one another are found")
def _():
    library = work("libsized.so")
    for first, second in (("sized_delete", "sized_delete_array"),
                          ("sized_delete_array", "sized_delete")):
        assay("heap", "run", "-f", "-q", "-o", "sized.heap", "--", sys.executable, "-c", SIZED,
              library, first, second).ok()
        doc = json.loads(assay("heap", "stats", "--json", "-n", "9999", "sized.heap").ok().out)
        by_new = [a for a in doc["allocators"] if a["allocator"] == "new"]
        expect_eq([(a["allocated_bytes"], a["allocations"], a["leaked_bytes"]) for a in by_new],
                  [(75 * 613, 75, 613)], first)


@job_test("a library that is loaded late and unloaded has its names, both times")
def _():
    h = heap(ALLOCS, "library")
    expect_eq(h.by_function("top_by_size")["strange_alloc"], (62 * 5003, 62), "strange_alloc")


DEEP = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *all[2] = {NULL};

	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW * (i % 2) | RTLD_LAZY | RTLD_DEEPBIND);

		all[i % 2] = library;
		if (!library)
			return 3;
		((void (*)(void))dlsym(library, "deep"))();
	}
	return 0;
}
"""
DEEP_LIBRARY = """
#include <stdlib.h>
#include <string.h>

void *volatile kept;

void deep(void)
{
	for (int i = 0; i < 19; i++) {
		kept = malloc(6007);
		free(kept);
	}
	for (int i = 0; i < 3; i++)
		kept = calloc(1, 7001);
}
"""


@job_test("a library that sees libc before us (RTLD_DEEPBIND) is recorded, or that is said")
def _():
    (tmp() / "main.c").write_text(DEEP)
    (tmp() / "deep.c").write_text(DEEP_LIBRARY)
    folder = tmp() / "beside"
    folder.mkdir()
    for name, binding in (("a.so", "lazy"), ("b.so", "now")):
        run("cc", "-g", "-O0", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-z,{binding}", "-o",
            folder / name, tmp() / "deep.c").ok()
    run("cc", "-g", "-o", tmp() / "main", tmp() / "main.c", "-ldl",
        f"-Wl,--enable-new-dtags,-rpath,{folder}").ok()
    for names in ([folder / "a.so"], [folder / "b.so"], [folder / "a.so", folder / "b.so"]):
        h, n = heap(tmp() / "main", *names), len(names)
        expect_eq(h.by_function("top_by_size").get("deep"),
                  (n * (19 * 6007 + 3 * 7001), n * 22), f"{names}: bytes and count")
        expect_eq(h.by_function("leaked_by_line").get("deep"), (n * 3 * 7001, n * 3),
                  f"{names}: left")
        expect_eq(h.doc["processes"][0]["problem"], None, f"{names}: problem")
    h = heap(tmp() / "main", "a.so")        # found by the RUNPATH of who opens it
    expect_in("RTLD_DEEPBIND", h.doc["processes"][0]["problem"])


# --- threads and processes ---------------------------------------------------------

@job_test("threads: what each made, also when another gave it back after its end")
def _():
    h = heap(ALLOCS, "threads")
    h.expect_sites(h.truth[0]["sites"])
    made = sorted(t["allocations"] for t in h.doc["threads"])
    expect_eq(made.count(23), 5, f"threads with 23 allocations among {made}")


@job_test("2,000 threads, a thousand at a time: events are told, or it is said that they are lost")
def _():
    h = heap(ALLOCS, "crowd")
    lost = sum(p["lost_events"] for p in h.doc["processes"])
    if lost:    # a collector that is far too slow is left at last: the program goes on
        made, truth = h.by_function("top_by_size")["by_malloc"][1], h.truth[0]["allocations"]
        expect(0 < made <= truth, f"{made} of {truth} told, {lost} events lost")
        expect_in("lost", assay("heap", "stats", FILE).ok().out, "what is said")
    else:
        h.expect_sites([{k: s[k] for k in s if k != "peak"} for s in h.truth[0]["sites"]])


@job_test("a forked child is left alone, unless it shall be followed")
def _():
    h = heap(ALLOCS, "fork")
    child, parent = h.truth
    h.expect_totals(parent)
    expect_eq([p["pid"] for p in h.doc["processes"]], [parent["pid"]], "processes")


@job_test("processes one after the other have their memory one after the other")
def _():
    script = f"for i in 1 2 3 4 5 6 7 8 9 10 11 12; do '{ALLOCS}' leak; done"
    h = heap("sh", "-c", script, options=["--follow-fork"])
    left = {t["left"] for t in h.truth}
    expect_eq((len(h.truth), left), (12, {213743}), "what each has left")
    expect_eq(h.by_function("peak_by_line")["by_leak"], (213743, 211), "at the peak of all")
    expect(213743 <= h.doc["peak_bytes"] < 1.5 * 213743, f"peak of all {h.doc['peak_bytes']}")


@job_test("a forked child that is followed: its sums are its own, the peak is that of both")
def _():
    h = heap(ALLOCS, "fork", options=["--follow-fork"])
    child, parent = h.truth
    for t in (child, parent):
        p = h.process(t["pid"])
        for key, own in (("allocations", "allocations"), ("allocated_bytes", "bytes"),
                         ("leaked_bytes", "left")):
            expect_eq(p[key], t[own], f"{key} of {t['pid']}")
    expect_eq(h.process(child["pid"])["parent"], parent["pid"], "parent")
    expect_eq(h.doc["total_allocations"], child["allocations"] + parent["allocations"], "in all")


@job_test("20 children, one after the other: none is lost")
def _():
    h = heap(ALLOCS, "forks20", options=["--follow-fork"])
    expect_eq(len(h.truth), 21, "processes that told")
    expect_eq(sorted(p["pid"] for p in h.doc["processes"]), sorted(t["pid"] for t in h.truth),
              "processes")
    for key, own in (("total_allocations", "allocations"), ("total_allocated_bytes", "bytes"),
                     ("leaked_bytes", "left")):
        expect_eq(h.doc[key], sum(t[own] for t in h.truth), key)


@job_test("what a process becomes by exec is recorded")
def _():
    h = heap(ALLOCS, "exec")
    expect_eq(h.by_function("leaked_by_line")["by_leak"], (211 * 1013, 211), "after exec")


@job_test("vfork and exec: the child does its work, and the parent's sums are its own")
def _():
    h = heap(ALLOCS, "vfork")
    h.expect_totals(h.truth[1])
    h = heap(ALLOCS, "vfork", options=["--follow-fork"])
    expect_eq(h.by_function("leaked_by_line")["by_leak"], (211 * 1013, 211), "the child's")


# --- programs with an environment of their own ---------------------------------------

EXECS = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void become(const char *how, char *program)
{
	char *argv[] = {program, "leak", NULL}, *env[] = {"PATH=/usr/bin:/bin", "OWN=1", NULL};
	char *none[] = {NULL};

	if (!strcmp(how, "execve"))
		execve(program, argv, env);
	if (!strcmp(how, "execvpe"))
		execvpe(program, argv, env);
	if (!strcmp(how, "execle"))
		execle(program, program, "leak", (char *)NULL, env);
	if (!strcmp(how, "fexecve"))
		fexecve(open(program, O_RDONLY | O_CLOEXEC), argv, env);
	environ = env;
	if (!strcmp(how, "execv"))
		execv(program, argv);
	if (!strcmp(how, "execvp"))
		execvp(program, argv);
	if (!strcmp(how, "execl"))
		execl(program, program, "leak", (char *)NULL);
	if (!strcmp(how, "execlp"))
		execlp(program, program, "leak", (char *)NULL);
	if (!strcmp(how, "none"))
		execve(program, argv, none);
	if (!strcmp(how, "null"))
		execve(program, argv, NULL);
	unsetenv("LD_PRELOAD");
	_exit(3);
}

int main(int argc, char **argv)
{
	char *to[] = {argv[3], "leak", NULL}, *env[] = {"OWN=1", "LD_PRELOAD=", NULL};
	pid_t pid = 0;

	if (!strcmp(argv[1], "exec"))
		become(argv[2], argv[3]);
	if (!strcmp(argv[1], "fork") && !(pid = fork()))
		become(argv[2], argv[3]);
	if (!strcmp(argv[1], "vfork") && !(pid = vfork())) {
		execve("/not/there", to, env);
		become(argv[2], argv[3]);
	}
	if (!strcmp(argv[1], "spawn"))
		posix_spawn(&pid, argv[3], NULL, NULL, to, env);
	if (!strcmp(argv[1], "spawnp"))
		posix_spawnp(&pid, argv[3], NULL, NULL, to, env);
	if (!strcmp(argv[1], "system"))
		return system(argv[3]) != 0;
	if (!strcmp(argv[1], "popen"))
		return pclose(popen(argv[3], "w")) != 0;
	if (!strcmp(argv[1], "daemon"))
		return daemon(1, 1) != 0;
	waitpid(pid, NULL, 0);
	return pid <= 0;
}
"""
IN_PLACE = ["execve", "execvpe", "execle", "fexecve", "execv", "execvp", "execl", "execlp", "none",
            "null"]
BESIDE = ["fork", "vfork", "spawn", "spawnp"]
LEAK = (211 * 1013, 211)


def execs():
    (tmp() / "execs.c").write_text(EXECS)
    run("cc", "-w", "-o", tmp() / "execs", tmp() / "execs.c").ok()
    return tmp() / "execs"


@job_test("a program that is executed with an environment of its own is recorded")
def _():
    program = execs()
    for how in IN_PLACE:
        h = heap(program, "exec", how, ALLOCS)
        expect_eq(h.by_function("leaked_by_line").get("by_leak"), LEAK, how)
        expect_eq([p["problem"] for p in h.doc["processes"]], [None, None], f"{how}: problems")
    h = heap("env", "-i", ALLOCS, "leak")
    expect_eq(h.by_function("leaked_by_line").get("by_leak"), LEAK, "env -i")


@job_test("so is a child that is followed, however it is started")
def _():
    program = execs()
    for beside in BESIDE:
        h = heap(program, beside, "execve", ALLOCS, options=["--follow-fork"])
        expect_eq(h.by_function("leaked_by_line").get("by_leak"), LEAK, beside)
        expect_eq({p["unrecorded_children"] for p in h.doc["processes"]}, {0}, beside)


@job_test("processes that are not followed are counted, and that is said")
def _():
    program = execs()
    for how in [*BESIDE, "system", "popen", "daemon"]:
        r = run(ASSAY, "heap", "run", "--force", "-o", FILE, "--", program, how, "execve", ALLOCS)
        expect_eq(r.rc, 0, f"{how}: {r.err}")
        p, = heap_stats()["processes"]
        expect_eq(p["unrecorded_children"], 1, how)
        expect_in("started 1 process that was not recorded", " ".join(r.err.split()), how)
        expect_in("--follow-fork", r.err, how)
    r = run(ASSAY, "heap", "run", "--force", "-o", FILE, "--", "sh", "-c",
            f"'{ALLOCS}' leak; '{ALLOCS}' leak; true")
    expect_in("started 2 processes that were not recorded", " ".join(r.err.split()))


@job_test("what is started finds no trace of us when it is left alone, and its own environment")
def _():
    script = ("import os, subprocess, sys\n"
              "print(subprocess.run(['env'], env=eval(sys.argv[1]), capture_output=True).stdout)")
    for env in ({"A": "1"}, {"LD_PRELOAD": "", "B": "2"}, {}):
        alone, r = (run(*before, sys.executable, "-c", script, str(env)).ok() for before in
                    ((), (ASSAY, "heap", "run", "--quiet", "--force", "-o", FILE, "--")))
        expect_eq(r.out, alone.out, f"what {env} becomes")
    keep = "import os, subprocess; subprocess.run(['env'])"
    r = run(ASSAY, "heap", "run", "--quiet", "-f", "-o", FILE, "--", sys.executable, "-c", keep)
    expect("assay-heap" not in r.ok().out and "ASSAY_HEAP" not in r.out, r.out)


@job_test("a process that becomes a program that cannot be recorded: that is said")
def _():
    r = run(ASSAY, "heap", "run", "--force", "-o", FILE, "--", "sh", "-c",
            f"exec '{static_program()}'")
    expect_in("became another program, which could not be recorded", " ".join(r.err.split()))


# --- how a command ends --------------------------------------------------------------

@job_test("output, input and exit status are those of the command")
def _():
    script = "cat; echo err >&2; exit 9"
    r = run(ASSAY, "heap", "run", "--quiet", "-o", FILE, "--", "sh", "-c", script, input="abc\n")
    expect_eq((r.rc, r.out, r.err), (9, "abc\n", "err\n"), "how it ended")


@job_test("no descriptor of ours is among those of the command")
def _():
    alone = run("ls", "/proc/self/fd").out
    r = run(ASSAY, "heap", "run", "--quiet", "-o", FILE, "--", "ls", "/proc/self/fd").ok()
    expect_eq(r.out, alone, "descriptors")


@job_test("a program that leaves by _exit, aborts, or crashes in its handler: all is there")
def _():
    for case, rc, size in (("exit7", 7, 7027), ("abort", -signal.SIGABRT, 7001),
                           ("crash", -signal.SIGABRT, 7013)):
        h = heap(ALLOCS, case, rc=rc)
        expect_eq(h.by_function("leaked_by_line")["by_malloc"], (size, 1), f"left by {case}")
        expect_eq(h.doc["complete"], True, "complete")


@job_test("a program that is killed: all is there")
def _():
    p = heap_start(ALLOCS, "wait", stdout=subprocess.PIPE, text=True)
    os.kill(json.loads(p.stdout.readline())["pid"], signal.SIGKILL)
    expect_eq(p.wait(30), -signal.SIGKILL, "exit status")
    expect_eq(heap_stats()["leaked_bytes"], 7019, "what it had")


@job_test("assay is killed: the program goes on, and the file is good up to then")
def _():
    p = heap_start(ALLOCS, "slow", stdout=subprocess.PIPE, text=True)

    def some():
        r = assay("heap", "stats", "--json", FILE)
        return r.rc == 0 and (r.json()["total_allocations"] or 0) > 5
    wait_for(some, 30, "a first block of the file")
    p.send_signal(signal.SIGKILL)
    truth = json.loads(p.stdout.readline())
    expect_eq(truth["allocations"], 101, "what the program did")
    doc = heap_stats()
    expect_eq(doc["complete"], False, "complete")
    expect(5 < doc["total_allocations"] < 101, f"{doc['total_allocations']} allocations")
    expect_eq(doc["total_allocated_bytes"], 7039 * doc["total_allocations"], "bytes")


@job_test("a disk that is full: the program does not notice, and the file is good up to then")
def _():
    disk = tmp() / "disk"
    disk.mkdir()
    if run("mount", "-t", "tmpfs", "-o", "size=64k", "none", disk).rc:
        skip("no small disk can be mounted")
    try:
        out = disk / "out.heap"
        r = run(ASSAY, "heap", "run", "-o", out, "--", ALLOCS, "mixed", "churn")
        expect_eq(lines_of_json(r.out)[0]["allocations"], 360020, "what the program did")
        expect_eq(r.rc, 0, "exit status")
        expect("is static" not in r.err, r.err)
        expect_in("No space left on device", r.err, "what assay says")
        doc = heap_stats(out)
        expect_eq(doc["complete"], False, "complete")
        total = doc["total_allocations"]    # null when not even a first block found room
        expect(total is None or total <= 360020, f"{total} allocations")
    finally:
        run("umount", disk).ok()


@job_test("a file that is there is not overwritten, unless it shall be")
def _():
    (tmp() / FILE).write_text("mine")
    r = assay("heap", "run", "-o", FILE, "--", ALLOCS, "leak")
    expect(r.rc == 125 and "already there" in r.err, f"{r}")
    expect_eq((tmp() / FILE).read_text(), "mine", "the file")
    assay("heap", "run", "--force", "-o", FILE, "--", ALLOCS, "leak").ok()
    expect_eq(heap_stats()["leaked_bytes"], 213743, "what is left")


# --- programs that cannot be looked at ------------------------------------------------

def static_program():
    source = tmp() / "static.c"
    source.write_text("#include <stdio.h>\nint main(void) { puts(\"done\"); return 3; }\n")
    if run("cc", "-static", "-o", tmp() / "static", source).rc:
        skip("no static program can be made here")
    return tmp() / "static"


@job_test("a static program: said plainly, and it runs or is refused")
def _():
    r = run(ASSAY, "heap", "run", "-o", FILE, "--", static_program())
    expect_in("static", r.err, "what assay says")
    expect(r.rc in (1, 2, 3), f"exit status {r.rc}")


@job_test("a setuid program: said plainly, and it runs or is refused")
def _():
    if not is_root():
        skip("only root can make one")
    folder = public()
    program = shutil.copy("/usr/bin/id", folder / "id")
    os.chmod(program, 0o4755)
    r = run(*as_nobody(ASSAY, "heap", "run", "-o", folder / "out.heap", "--", program, "-u"),
            cwd=folder)
    expect_in("gains privileges", r.err, "what assay says")


@job_test("a program that is not there is said so, and leaves no file")
def _():
    r = assay("heap", "run", "-o", FILE, "--", "./not-there")
    expect(r.rc == 127 and "not-there" in r.err, f"{r}")


@job_test("a program that may have little address space runs all the same")
def _():
    script = f"ulimit -v 60000; exec {ALLOCS} leak"
    r = run(ASSAY, "heap", "run", "-o", FILE, "--", "sh", "-c", script)
    expect_eq(r.rc, 0, f"exit status ({r.err})")
    expect_eq(lines_of_json(r.out)[0]["allocations"], 211, "what it did")


@job_test("one that had too little address space to be recorded is told of")
def _():
    limits = "ulimit -v 300000; exec"
    r = assay("heap", "run", "-o", FILE, "--", "sh", "-c", f"{limits} {ALLOCS} leak").ok()
    expect_in("it had too little address space (ulimit -v)", " ".join(r.err.split()), "summary")
    told = [p["problem"] for p in heap_stats(FILE)["processes"]]
    expect_in("too little address space", told[-1] or "", "processes")


@job_test("a program that gets no more memory is the only one who notices")
def _():
    h = heap(ALLOCS, "limit")
    expect_eq(h.by_function("top_by_size")["by_malloc"], (61, 1), "what it knows")


# --- files that are not whole ------------------------------------------------------------

@job_test("what cannot be executed is refused at once, as without us: a pipe, a folder")
def _():
    os.mkfifo(tmp() / "pipe", 0o755)
    os.chmod(tmp() / "pipe", 0o755)
    code = """import os, sys
for name in sys.argv[1:]:
    try:
        os.execv(name, [name])
    except OSError as e:
        print(e.errno)
"""
    names = ["./pipe", "/", "./none"]
    alone = run(sys.executable, "-c", code, *names).ok()
    r = assay("heap", "run", "-q", "--no-store", "-f", "-o", "x.heap", "--",
              sys.executable, "-c", code, *names, timeout=30)
    expect_eq((r.rc, r.out), (0, alone.out), r.err)
    r = assay("heap", "run", "-q", "--no-store", "-f", "-o", "x.heap", "--", "./pipe", timeout=30)
    expect_eq(r.rc, 126, r.err)


@job_test("files that are cut, damaged or foreign: an error or a part of it, never a crash")
def _():
    heap(ALLOCS, *WHOLE, "mixed")
    whole = (tmp() / FILE).read_bytes()
    chance = random.Random(5)
    for i in range(24):
        data = bytearray(whole[:chance.randrange(len(whole))] if i % 2 else whole)
        for _ in range(i % 5):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        (tmp() / "bad.heap").write_bytes(data)
        r = assay("heap", "stats", "--json", "bad.heap")
        expect(r.rc in (0, BAD_FILE), f"exit status {r.rc} of damage {i}: {r.err}")
        expect(r.rc == 0 or "bad.heap" in r.err, f"no error is told: {r.err}")
        r = assay("heap", "stats", "--json", "--partial", "bad.heap")
        expect(r.rc in (0, BAD_FILE), f"a part of it, damage {i}: exit status {r.rc}: {r.err}")
    for foreign in (b"", b"{}", ALLOCS, whole[:7]):
        data = pathlib.Path(foreign).read_bytes() if isinstance(foreign, str) else foreign
        (tmp() / "bad.heap").write_bytes(data)
        r = assay("heap", "stats", "bad.heap")
        expect(r.rc == BAD_FILE and "bad.heap" in r.err, f"{foreign[:20]!r}: {r}")


@job_test("a child that is another user, or in another root, before it allocates is recorded")
def _():
    source = tmp() / "drops.c"
    source.write_text("""#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int n, char **arg)
{
	int status = 0, how = atoi(arg[1]);
	if (!fork()) {
		if (how == 0 ? setuid(65534) : how == 1 ? seteuid(65534) :
		    how == 2 ? setreuid(65534, 65534) : how == 3 ? setresuid(65534, 65534, 65534) :
		    chroot("/var")) _exit(8);
		char *volatile p = malloc(10007); memset(p, 1, 10007);
		_exit(7);
	}
	wait(&status);
	return WEXITSTATUS(status);
}
""")
    if not is_root() or run("cc", "-o", tmp() / "drops", source).rc:
        skip("needs root and a compiler")
    for how in range(5):
        r = assay("heap", "run", "-q", "--no-store", "--follow-fork", "-f", "-o", "d.heap", "--",
                  "./drops", how)
        expect_eq(r.rc, 7, r.err)
        doc = json.loads(assay("heap", "stats", "--json", "d.heap").ok().out)
        expect_eq((doc["total_allocations"], doc["total_allocated_bytes"]), (1, 10007), how)


@job_test("a child that has not begun is not recorded as its own child of vfork")
def _():
    source = tmp() / "borrows.c"
    source.write_text("""#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int n, char **arg)
{
	int how = atoi(arg[1]), ends[2];
	char text[16];
	if (pipe(ends)) return 1;
	if (!fork()) {
		pid_t other = how & 2 && daemon(1, 1) ? -1 : vfork();
		if (!other) {
			if (how & 1) free(malloc(20011));
			else if (setuid(getuid())) _exit(8);
			_exit(0);
		}
		waitpid(other, NULL, 0);
		char *volatile p = malloc(10007); memset(p, 1, 10007);
		write(ends[1], text, snprintf(text, sizeof text, "%d", getpid()));
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], text, sizeof text)) > 0) write(1, text, n);
	return 0;
}
""")
    if run("cc", "-w", "-o", tmp() / "borrows", source).rc:
        skip("needs a compiler")
    for how in range(4):
        r = assay("heap", "run", "-q", "--no-store", "--follow-fork", "-f", "-o", "b.heap", "--",
                  "./borrows", how).ok()
        doc = json.loads(assay("heap", "stats", "--json", "b.heap").ok().out)
        told = {p["pid"]: p["allocated_bytes"] for p in doc["processes"]}
        expect_eq(told.get(int(r.out)), 10007, f"of its child {r.out}, {how}: {told}")
        expect_eq(sum(told.values()), 10007, f"of all, {how}: {told}")

main()
