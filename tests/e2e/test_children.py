#!/usr/bin/env python3
"""Every child that ever lived: listed with its line, its end and what it used, by every rung."""
import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from rungs import allowed, expect_by, need, on

# A user who may listen to the kernel, but who cannot make control groups.
LISTENER = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            "--inh-caps=+net_admin", "--ambient-caps=+net_admin")

# For assay itself: its hard limit.
FEW_DESCRIPTORS = ("prlimit", "--nofile=200:200")


def on_each_rung(check, *workload, env=None, **how):
    """Call check(profile) for every rung that this machine allows."""
    for rung in allowed():
        p = profile(*workload, env={**(env or {}), **on(rung)}, **how)
        expect_by(p, rung)
        check(p)


def run_on(rung, *command):
    """The document of `assay run`, told by this rung."""
    out = tmp() / f"{rung}.json"
    assay("run", "--quiet", "-o", out, "--", *command, env=on(rung)).ok()
    p = Profile(json.loads(out.read_text()), {}, 0, "")
    expect_by(p, rung)
    return p.doc["assay"]


def cpu(process):
    """Seconds; 0 where that is unknown."""
    return sum(process["metrics"].get(f"process.cpu.{k}", {}).get("total") or 0
               for k in ("user", "system")) / 1e9


def expect_exact(p, n):
    total = p.doc["assay"]["totals"]["processes"]
    expect_eq((total["value"], total["provenance"]), (n, "measured"), "processes")
    expect_eq(p.total("lost_events"), 0, "lost events")
    expect_eq(len(p.doc["assay"]["processes"]), n, "processes listed")


def expect_line(got, want, rung):
    """By netlink a line is read from /proc when the exec was heard of: it may be over by then."""
    expect(got == want or (rung == "netlink" and got is None), f"command line {got!r} by {rung}")


def children_of(p, parent):
    return [c for c in p.doc["assay"]["processes"] if c["parent"] == parent["id"]]


def root_of(p):
    return next(c for c in p.doc["assay"]["processes"] if c["parent"] is None)


@job_test("no end is lost while BPF takes over from who told before")
def _():
    need("netlink")
    need("bpf")
    for _ in range(8):      # at each BPF comes when one of 40 has a good part of its end before it
        p = profile("forker", 40, 0, "heavy", options=("--interval", "0.02"))
        expect_exact(p, 41)
        expect_eq([c["wait_status"] for c in p.doc["assay"]["processes"]], [0] * 41, "ends")


@job_test("three hundred children of a millisecond are all listed, with line, end and CPU")
def _():
    def check(p):
        expect_exact(p, 301)
        children = children_of(p, root_of(p))
        expect_eq(len(children), 300, "children of the first process")
        for c in children:
            expect_eq(c["wait_status"], 0, "wait status")
            expect_eq(c["name"], "forker", "name")
            expect(c["command"].endswith("forker 300 1"), f"command line {c['command']!r}")
            expect(0 < c["died_ns"] - c["born_ns"], "it ended before it was born")
            expect_between(cpu(c), 0.0009, 0.2, "CPU of a child")
        expect_near(sum(map(cpu, children)), p.truth["children_cpu_seconds"], 0.15,
                    "CPU of the children")
    on_each_rung(check, "forker", 300, 1)


def names_of_children(*prefix, program=ASSAY, folder=None, env=None):
    """Of a shell that starts 200 programs that are over at once: the names that these have."""
    out = (folder or tmp()) / "names.json"
    run(*prefix, program, "run", "--quiet", "--no-store", "-o", out, "--", "sh", "-c",
        "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done", env=env).ok()
    p = Profile(json.loads(out.read_text()), {}, 0, "")
    expect_eq(root_of(p)["name"], "sh", "the shell")
    return {c["name"] for c in children_of(p, root_of(p))}


@job_test("a child has the name of its own program, or none: never that of its parent")
def _():
    for rung in allowed():
        names = names_of_children(env=on(rung))
        expect_eq(names - ({None} if rung == "netlink" else set()), {"true"}, f"names by {rung}")
    folder = public()
    names = names_of_children(*as_nobody(), program=folder / "assay", folder=folder)
    expect(names <= {"true", None}, f"names without rights: {names}")


@job_test("who began and ended within one tick did not end before it was born")
def _():
    out = tmp() / "lives.json"
    assay("run", "--quiet", "-o", out, "--", "bash", "-c",
          "for i in {1..600}; do (setsid /bin/true &); done; sleep 0.2", env=on("proc")).ok()
    lives = [c["died_ns"] - c["born_ns"] for c in json.loads(out.read_text())["assay"]["processes"]
             if c["died_ns"] is not None]
    expect(len(lives) > 300, f"{len(lives)} lives")
    expect_eq([ns for ns in lives if ns < 0], [], "lives below nothing")


@job_test("CPU time that taskstats tells a tick short is marked, and its source says so whole")
def _():
    need("netlink")
    cpu_of = run_on("netlink", "sh", "-c", "id; id; true")["origins"]["process.cpu.user"]
    expect_eq(cpu_of, {"provenance": "attributed",
                       "source": "/proc, wait4; else taskstats, a tick short"}, "origin")


@job_test("what was last seen of a process that ended is not told as measured to its end")
def _():
    for kind, how in (("fork", "attributed"), ("sibling", "measured")):   # ours are read when dead
        origins = profile("forker", 1, 330, kind, env=on("proc")).doc["assay"]["origins"]
        expect_eq(origins["process.cpu.user"]["provenance"], how, kind)


@job_test("more processes than descriptors are all seen")
def _():
    for nobody in (False, True):
        p = profile("crowd", 300, 2, nobody=nobody, env=on("proc"), prefix=FEW_DESCRIPTORS)
        expect_eq(p.total("processes"), 301, "processes")
        expect_eq(p.metric("job.processes")["max"], 301, "processes at once")
        for one in p.doc["assay"]["processes"]:
            expect("crowd 300 2" in (one["command"] or ""), f"command line {one['command']!r}")
            expect((one["metrics"].get("process.memory.rss") or {}).get("max"), "its memory")


def kind(name, ms=3, n=10):
    return lambda check: on_each_rung(check, "forker", n, ms, name)


@job_test("orphans keep the parent that made them")
def _():
    def check(p):
        expect_exact(p, 21)
        middles = children_of(p, root_of(p))
        expect_eq(len(middles), 10, "children of the first process")
        for middle in middles:
            expect_eq(len(children_of(p, middle)), 1, "children of one that ended before them")
    kind("double")(check)


@job_test("children in sessions of their own, vforked, or with a first thread that ends first")
def _():
    for name in ("setsid", "vfork", "leader"):
        def check(p):
            expect_exact(p, 11)
            children = children_of(p, root_of(p))
            expect_eq({c["wait_status"] for c in children}, {0}, f"wait statuses, {name}")
            # Not that of the thread that ended last; vforked ones are /proc/self/exe.
            expect_eq({c["name"] for c in children}, {"exe" if name == "vfork" else "forker"},
                      f"names, {name}")
            for c in children:
                expect(cpu(c) > 0.0025, f"{cpu(c)} s of CPU of a child of 3 ms, {name}")
        kind(name)(check)


@job_test("a thread that calls exec is its process from then on")
def _():
    def check(p):
        expect_exact(p, 11)
        for c in children_of(p, root_of(p)):
            expect_eq(c["wait_status"], 0, "wait status")
            expect(c["command"] is None or c["command"].startswith("forker child 3"),
                   f"command line {c['command']!r}")
            expect(cpu(c) > 0.0025, f"{cpu(c)} s of CPU of a child of 3 ms")
    kind("exec")(check)


@job_test("what a thread used before it called exec counts once, of its process and of all threads")
def _():
    def check(p):
        child, = children_of(p, root_of(p))
        true = p.truth["children_cpu_seconds"]      # 0.3 s before the exec, 0.3 s after it
        threads = sum(t["metrics"]["thread.cpu"]["total"] for t in p.threads()) / 1e9
        # what was used after a last look is not seen by all rungs
        expect_between(cpu(child), true - 0.15, true + 0.02, "CPU of the child")
        expect_between(threads, true - 0.25, true + 0.02, "CPU of all threads together")
    on_each_rung(check, "forker", 1, 300, "late", options=("--interval", "0.1"))
    check(profile("forker", 1, 300, "late", nobody=True, options=("--interval", "0.1")))


@job_test("threads are no processes")
def _():
    kind("thread")(lambda p: expect_exact(p, 1))


@job_test("children that are made to be siblings belong")
def _():
    kind("sibling")(lambda p: expect_exact(p, 11))


@job_test("how each of them ended is known, also of those that somebody else waited for")
def _():
    for rung in allowed():
        doc = run_on(rung, "sh", "-c", "sh -c 'exit 7'; sh -c 'kill -9 $$'; sleep 0.01; true")
        ends = [c["wait_status"] for c in doc["processes"]]
        expect_eq(sorted(ends), [0, 0, 9, 7 << 8], f"wait statuses by {rung}")
        by = {c["name"]: c["command"] for c in doc["processes"]}
        expect_line(by["sleep"], "sleep 0.01", rung)


@job_test("an exec keeps the process and changes its name")
def _():
    for rung in allowed():
        doc = run_on(rung, "sh", "-c", "sleep 0.02; exec sleep 0.04")
        expect_eq([c["name"] for c in doc["processes"]], ["sleep", "sleep"], f"names by {rung}")
        for c, line in zip(doc["processes"], ("sleep 0.04", "sleep 0.02")):
            expect_line(c["command"], line, rung)


@job_test("children that nobody waits for are measured without a control group")
def _():
    if run(*LISTENER, "true").rc != 0:
        skip("needs root and setpriv to be a user who may only listen")
    need("netlink")
    folder = public()
    shutil.copy(work("forker"), folder / "forker")
    out = folder / "run.json"
    r = run(*LISTENER, folder / "assay", "run", "--quiet", "-o", out, "--", folder / "forker", 40,
            20, "ignore", cwd=folder, env={"ASSAY_RUNG": "netlink", "HOME": str(folder),
                                           "ASSAY_STORE": f"{folder}/store"})
    p = Profile(json.loads(out.read_text()), json.loads(r.out.splitlines()[-1]), r.rc, r.err)
    expect_by(p, "netlink")
    expect(not own_cgroup(p), "a user who may not make control groups has one")
    total = p.doc["assay"]["totals"]["cpu"]
    expect_eq(total["provenance"], "measured", f"CPU, from {total['source']}")
    expect_near(p.seconds(), p.truth["cpu_seconds"], 0.05, "CPU seconds", slack=0.05)
    expect_exact(p, 41)


@job_test("a user without privileges sees them all where the kernel allows it")
def _():
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 6):
        skip("the proc connector needs privileges before Linux 6.6")
    need("netlink")     # where root is refused too, nobody is no bug
    p = profile("forker", 50, 1, nobody=True)
    expect_by(p, "netlink")
    expect_exact(p, 51)
    expect_eq({c["wait_status"] for c in p.doc["assay"]["processes"]}, {0}, "wait statuses")


def split_so_far(folder, *command):
    """How user and system time of a running job of nobody's are known, and what `show` says."""
    env = {"HOME": str(folder), "ASSAY_STORE": f"{folder}/store", "LC_ALL": "C.UTF-8"}

    def nobody(*words):
        return run(*as_nobody(folder / "assay"), *words, env=env, cwd=folder).ok()

    def grown():
        for r in nobody("jobs", "--json", "--status", "running").json()["runs"]:
            totals = nobody("show", "--json", r["id"]).json()["assay"]["totals"]
            if (totals["cpu"]["value"] or 0) > 3e8:
                return totals, nobody("show", r["id"]).out
        return None

    p = start(*as_nobody(folder / "assay"), "run", "--quiet", "--timeout", "50s", "--", *command,
              cwd=folder, env=env)
    totals, shown = wait_for(grown, timeout=30, what="CPU time of a running job")
    stop(p)
    expect_eq(totals["cpu"]["provenance"], "measured", "the sum")
    return [totals[f"cpu_{part}"]["provenance"] for part in ("user", "system")], shown


@job_test("a running job's CPU time is split by a guess no more than that of one that ended")
def _():
    if not is_root():
        skip("needs root to be nobody, who may not make control groups")
    folder = public()
    split, shown = split_so_far(folder, "sh", "-c", "while :; do /bin/true; done")
    expect_eq(split, ["attributed"] * 2, "by ticks that short processes do not meet")
    expect("▒ system" not in shown, f"drawn apart:\n{shown}")
    split, shown = split_so_far(folder, "sh", "-c", "while :; do :; done")
    expect_eq(split, ["measured"] * 2, "of one that lives")
    expect_in("▒ system", shown)


@job_test("events that the kernel had no room for are counted and said")
def _():
    need("netlink")
    out = tmp() / "run.json"
    r = assay("run", "-o", out, "--", work("forker"), 200, 1,
              env={"ASSAY_RUNG": "netlink", "ASSAY_NETLINK_ROOM": "1"}).ok()
    totals = json.loads(out.read_text())["assay"]["totals"]
    expect((totals["lost_events"]["value"] or 0) > 100, f"lost events: {totals['lost_events']}")
    expect_eq(totals["processes"]["provenance"], "attributed", "processes")
    expect_in("births or deaths were lost", r.err, "summary")


@job_test("a crowd whose births and ends did not fit is found, everyone once")
def _():
    need("bpf")
    p = profile("crowd", 1000, 3, env={**on("bpf"), "ASSAY_BPF_ROOM": "16384"})
    expect(p.total("lost_events") > 0, "no events were lost")
    expect_eq(p.total("processes"), 1001, "processes")
    expect_eq(p.metric("job.processes")["max"], 1001, "processes at once")
    expect_eq(len({c["pid"] for c in p.doc["assay"]["processes"]}), 1001, "processes listed")


ZOMBIES = ("import os, time; time.sleep(0.4); "
           "[os.fork() or os._exit(0) for _ in range(1500)]; time.sleep(2)")


@job_test("one whose end was told is not found again as a zombie when others were lost")
def _():
    if run(*LISTENER, "true").rc != 0:
        skip("needs root and setpriv to be a user who may only listen")
    need("netlink")
    folder = public()
    out = folder / "run.json"
    run(*LISTENER, folder / "assay", "run", "--quiet", "-o", out, "--", "/usr/bin/python3", "-c",
        ZOMBIES, cwd=folder, env={**on("netlink"), "ASSAY_NETLINK_ROOM": "4096",
                                  "HOME": str(folder), "ASSAY_STORE": f"{folder}/store"}).ok()
    doc = json.loads(out.read_text())["assay"]
    expect(doc["totals"]["lost_events"]["value"] > 0, "no events were lost")
    expect_between(doc["totals"]["processes"]["value"], 100, 1501, "processes")


@job_test("without anybody who tells, /proc is sampled and that is said")
def _():
    p = profile("forker", 20, 5, env={"ASSAY_RUNG": "proc"})
    totals = p.doc["assay"]["totals"]
    expect_eq(totals["processes"]["provenance"], "attributed", "processes")
    expect_eq(totals["lost_events"]["provenance"], "unavailable", "lost events")
    expect_eq(root_of(p)["wait_status"], 0, "wait status of the command")


COMES_AND_GOES = ("sleep 30 & read go; for i in 1 2 3 4 5; do (exit 3); done; "
                  "sh -c 'exec sleep 0.01'; kill $!; wait; read go")


def attach_while(target, pid, rung):
    """The document of a process attached to while its children come and go."""
    out = tmp() / f"{rung}.json"
    p = start(ASSAY, "attach", "--include-children", "--quiet", "-o", out, pid, env=on(rung),
              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(runs("--status", "running")) == 1)
    time.sleep(0.5)     # it is listed before it listens
    target.stdin.write(b"go\ngo\n")
    target.stdin.close()
    expect_eq(p.wait(20), 0, "exit status")
    target.wait()
    p = Profile(json.loads(out.read_text()), {}, 0, "")
    expect_by(p, rung)
    return p.doc["assay"]


def expect_comings_and_goings(doc, rung):
    found = [c for c in doc["processes"] if c["parent"] is not None]
    ends = sorted(str(c["wait_status"]) for c in found)
    expect_eq(ends, ["0", "15"] + ["768"] * 5, f"wait statuses of its children by {rung}")
    by = {c["wait_status"]: (c["name"], c["command"]) for c in found}
    for status, line in ((0, "sleep 0.01"), (15, "sleep 30")):
        expect_eq(by[status][0], "sleep", f"name by {rung}")
        expect_line(by[status][1], line, rung)
    expect_eq(by[768][0], "sh", f"name of a fork by {rung}")


@job_test("attach with children: those that were there, and those that come and go")
def _():
    for rung in allowed():
        target = start("sh", "-c", COMES_AND_GOES, stdin=subprocess.PIPE)
        wait_for(lambda: children(target.pid))
        expect_comings_and_goings(attach_while(target, target.pid, rung), rung)


CONTAINER = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def need_container():
    if run(*CONTAINER, "true").rc != 0:
        skip("no namespace of pids can be made here")


@job_test("attach to a process in a container: its children are seen, with their names")
def _():
    need_container()
    for rung in allowed():
        target = start(*CONTAINER, "sh", "-c", COMES_AND_GOES, stdin=subprocess.PIPE)
        inner = int(wait_for(lambda: children(target.pid))[0])
        wait_for(lambda: children(inner))
        expect_comings_and_goings(attach_while(target, inner, rung), rung)


@job_test("a job that is a container is seen to its last child")
def _():
    need_container()
    for rung in allowed():
        doc = run_on(rung, *CONTAINER, "sh", "-c", "for i in 1 2 3; do (exit 3); done; sleep 0.01")
        ends = sorted((c["wait_status"], c["name"]) for c in doc["processes"])
        expect_eq(ends, [(0, "sh"), (0, "sleep"), (0, "unshare")] + [(768, "sh")] * 3, rung)


# By itself each needs so much CPU that it is sampled where nobody tells.
KINDS = ("fork", "double", "setsid", "ignore", "vfork", "leader", "sibling", "exec")


@job_test("every kind of child, told or sampled, is listed with what it used")
def _():
    for rung, n, ms in [*((rung, 8, 3) for rung in allowed()), ("proc", 2, 150)]:
        for name in KINDS:
            p = profile("forker", n, ms, name, env=on(rung), options=("--wait-all",))
            # Siblings are children of assay's to all but BPF: there they have no parent.
            family = p.processes("forker") if name == "sibling" else p.doc["assay"]["processes"]
            worked = [c for c in family if c["id"] != 0 and cpu(c) >= ms / 2000]
            expect_eq(len(worked), n, f"children that used CPU, {name} by {rung}")
            expect_near(p.seconds(), p.truth["cpu_seconds"], 0.05, f"CPU, {name} by {rung}",
                        slack=0.03)


@job_test("--wait-all: what an orphan used is exact on every rung, whoever tells of its end")
def _():
    for rung in [*allowed(), "proc"]:
        p = profile("forker", 3, 73, "double", env=on(rung), options=("--wait-all",))
        orphans = sorted(map(cpu, p.doc["assay"]["processes"]))[-3:]
        expect_near(sum(orphans), p.truth["children_cpu_seconds"], 0.02, f"CPU of orphans, {rung}")
        for seconds in orphans:
            expect(round(seconds * 1e9) % 10_000_000 != 0, f"{seconds} s: ticks, by {rung}")


@job_test("children of a millisecond have names from the first on, and lines once BPF has joined")
def _():
    need("bpf")
    echoes = [f"/bin/echo {i}" for i in range(8)]
    for start in ("", "sleep 1; "):
        assay("run", "--quiet", "-o", "r.json", "--", "sh", "-c", start + "; ".join(echoes)).ok()
        doc = json.loads((tmp() / "r.json").read_text())["assay"]
        got = [p["command"] for p in doc["processes"] if p["name"] == "echo"]
        expect_eq(len(got), 8, f"processes called echo after {start!r}")
        for line, want in zip(got, echoes):
            expect(line == want or (line is None and not start), f"{line!r}, {want!r} is true")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return f.read().split()


main()
