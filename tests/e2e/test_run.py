#!/usr/bin/env python3
"""`assay run`: the command runs as if it were alone."""
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *


def quietly(*command, **how):
    return assay("run", "--quiet", "--", *command, **how)


# --- exit status --------------------------------------------------------------

@job_test("the exit status of the command is the exit status of assay run")
def _():
    for status in [0, 1, 2, 3, 7, 42, 64, 100, 123, 124, 125, 126, 127, 128, 129, 200, 254, 255]:
        expect_eq(quietly(work("exitcode"), status).rc, status, "exit status")


@job_test("when a signal ends the command, the same signal ends assay")
def _():
    for sig in (signal.SIGSEGV, signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP,
                signal.SIGABRT, signal.SIGPIPE, signal.SIGUSR1):
        r = quietly(work("killself"), int(sig))
        expect_eq(r.rc, -sig, f"status after {sig.name}")
        expect_eq(r.err, "", "stderr")


@job_test("assay leaves no core file when it ends by the signal of the command")
def _():
    with open("/proc/sys/kernel/core_pattern") as f:
        if f.read(1) in "|/":
            skip("core files do not go to the working directory here")
    p = start(ASSAY, "run", "--quiet", "--no-store", "--", work("killself"), signal.SIGSEGV,
              preexec_fn=lambda: resource.setrlimit(
                  resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2))
    expect_eq(p.wait(30), -signal.SIGSEGV, "status")
    expect_eq([f.name for f in tmp().iterdir()], [], "files left behind")


def one_message(r, *words):
    """stderr is one line of ours, perhaps with an indented line of advice."""
    lines = r.err.splitlines()
    expect(1 <= len(lines) <= 2 and lines[0].startswith("assay: "), f"stderr is {r.err!r}")
    expect(len(lines) < 2 or lines[1].startswith("    "), f"stderr is {r.err!r}")
    expect(len(lines[0]) < 300, "the line is too long")
    for word in words:
        expect_in(word, r.err, "message")
    expect_eq(r.out, "", "stdout")


@job_test("a command that does not exist is 127 and one line that names it")
def _():
    for name in ("no-such-command-anywhere", "./no-such-file", "/nonexistent/dir/tool"):
        r = assay("run", "--", name, "x")
        expect_eq(r.rc, 127, f"exit status of {name}")
        one_message(r, name)


@job_test("a folder of the path that may not be searched does not make it 126")
def _():
    folder = public()
    (folder / "closed").mkdir(mode=0)
    r = run(*as_nobody(folder / "assay"), "run", "--no-store", "--", "no-such-command-anywhere",
            env={"PATH": f"{folder}/closed:/usr/bin:/bin", "HOME": str(folder)}, cwd=folder)
    expect_eq(r.rc, 127, "exit status")
    one_message(r, "no-such-command-anywhere")
    (folder / "tool").write_text("no program\n")
    r = run(*as_nobody(folder / "assay"), "run", "--no-store", "--", "tool",
            env={"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder)}, cwd=folder)
    expect_eq(r.rc, 126, "exit status of a file that is no program")


@job_test("a command that may not be executed is 126 and one line that names it")
def _():
    (tmp() / "plain").write_text("no program\n")
    (tmp() / "folder").mkdir()
    for name in ("./plain", "./folder", "/etc/passwd/below"):
        r = assay("run", "--", name)
        expect_eq(r.rc, 126, f"exit status of {name}")
        one_message(r, name)


@job_test("a failure to start is told even when the summary is not wanted")
def _():
    r = quietly("no-such-command-anywhere")
    expect_eq(r.rc, 127, "exit status")
    one_message(r, "no-such-command-anywhere")


@job_test("a script without #! runs, as it does in a shell")
def _():
    (tmp() / "script").write_text("exit 5\n")
    (tmp() / "script").chmod(0o755)
    expect_eq(quietly("./script").rc, 5, "exit status")


# --- time limit ---------------------------------------------------------------

@job_test("--timeout ends the command with TERM, and the exit status is 124")
def _():
    r = assay("run", "--quiet", "--timeout", "0.3", "--", "sh", "-c",
              "trap 'echo got TERM; exit 3' TERM; sleep 20 & wait")
    expect_eq(r.rc, 124, "exit status")
    expect_eq(r.out, "got TERM\n", "what the command said")
    expect_eq(runs()[0]["status"], "timeout", "status in the history")


@job_test("--timeout ends a command that ignores TERM with KILL")
def _():
    r = assay("run", "--quiet", "--timeout", "0.2", "--", work("stubborn"), 60, timeout=40)
    expect_eq(r.rc, 124, "exit status")


@job_test("--timeout also ends the children of the command, wherever they went")
def _():
    r = assay("run", "--quiet", "--timeout", "0.5", "--", "sh", "-c",
              f"{work('sleeper')} 60 & setsid {work('sleeper')} 60 & {work('sleeper')} 60",
              timeout=40)
    expect_eq(r.rc, 124, "exit status")


@job_test("--timeout ends all of the job whatever is measured")
def _():
    for options in (["--basic"], ["--metrics", "system"], ["--no-store", "--metrics", "io"]):
        r = assay("run", "--quiet", "--timeout", "0.4", *options, "--", "sh", "-c",
                  f"{work('sleeper')} 60 & {work('sleeper')} 60", timeout=40)
        expect_eq(r.rc, 124, f"exit status with {options}")


@job_test("--timeout also ends a child that ignores TERM while its parent does not")
def _():
    r = assay("run", "--quiet", "--timeout", "0.3", "--", work("stubborn"), 60, "child",
              timeout=40)
    expect_eq(r.rc, 124, "exit status")


@job_test("--timeout ends a command that is stopped")
def _():
    r = assay("run", "--quiet", "--timeout", "0.3", "--", "sh", "-c", "kill -STOP $$; sleep 60",
              timeout=40)
    expect_eq(r.rc, 124, "exit status")


@job_test("a command that ends in time is not touched by --timeout")
def _():
    expect_eq(assay("run", "--quiet", "--timeout", "30", "--", work("exitcode"), 9).rc, 9)


# --- input and output ---------------------------------------------------------

@job_test("input, output and errors pass through byte for byte")
def _():
    data = random.Random(1).randbytes(300_007)
    for script in ("cat", "cat >&2"):
        p = start(ASSAY, "run", "--quiet", "--", "sh", "-c", script, stdin=subprocess.PIPE,
                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = p.communicate(data, timeout=60)
        expect_eq(p.returncode, 0, "exit status")
        expect((err if ">&2" in script else out) == data, f"{script}: other bytes")
        expect((out if ">&2" in script else err) == b"", f"{script}: bytes where none belong")


@job_test("assay reads nothing of the input of the command")
def _():
    r = run("sh", "-c", f"{ASSAY} run -q -- head -c 3 >/dev/null; cat", input="abcdef\n")
    # head reads what it likes from a pipe; from a file the offset is shared and shows it.
    (tmp() / "in").write_text("abcdef\n")
    with open(tmp() / "in") as f:
        p = start("sh", "-c", f"{ASSAY} run -q -- true; cat", stdin=f, stdout=subprocess.PIPE,
                  text=True)
        expect_eq(p.communicate(timeout=30)[0], "abcdef\n", "what is left of the input")
    expect_eq(r.rc, 0)


@job_test("the summary goes to stderr and never to stdout")
def _():
    r = assay("run", "--", "sh", "-c", "echo out").ok()
    expect_eq(r.out, "out\n", "stdout")
    expect(len(r.err.splitlines()) >= 3, f"no summary: {r.err!r}")
    expect("\x1b" not in r.err, "escape sequences although stderr is no terminal")


@job_test("--quiet prints nothing of its own")
def _():
    r = quietly("sh", "-c", "sleep 1.3; echo out; echo err >&2").ok()
    expect_eq((r.out, r.err), ("out\n", "err\n"), "output")


@job_test("a closed stdout or stderr of ours does not disturb the command")
def _():
    for closing in (">&-", "2>&-", "<&-", ">&- 2>&- <&-"):
        r = run("sh", "-c", f"{ASSAY} run -- {work('exitcode')} 4 {closing}; echo $?")
        expect_eq(r.out, "4\n", f"exit status with {closing}")


@job_test("output to a reader that is gone ends the command by PIPE, and assay with it")
def _():
    r = run("bash", "-c", f"{ASSAY} run -q -- yes | head -n 1; echo ${{PIPESTATUS[0]}}")
    expect_eq(r.out, "y\n141\n", "output")


# --- what the command inherits ------------------------------------------------

def inherited(*prefix, prepare=None, closed=(), fds=()):
    """What the workload `inherit` finds when started so, with stdout in a file."""
    def before():
        if prepare:
            prepare()
        for fd in closed:
            os.close(fd)
    with open(tmp() / "inherit.json", "w") as f:
        p = start(*prefix, work("inherit"), stdin=subprocess.DEVNULL, stdout=f,
                  preexec_fn=before, pass_fds=fds)
        expect_eq(p.wait(30), 0, "exit status")
    found = json.loads((tmp() / "inherit.json").read_text())
    found["process group"] = found["process group"] == p.pid and "that of the caller's child"
    found["session"] = found["session"] == p.pid and "that of the caller's child"
    return found


def expect_inherited(**how):
    """The same with assay in between, whatever options it has."""
    alone = inherited(**how)
    for options in ([], ["--metrics", "cpu"], ["--no-store", "--basic"]):
        below = inherited(ASSAY, "run", "--quiet", *options, "--", **how)
        for key in sorted(alone.keys() | below.keys()):
            expect_eq(below.get(key, "not there"), alone.get(key, "not there"),
                      f"{key} below 'assay run {' '.join(options)}'")
    return alone


@job_test("the command inherits descriptors, signals, limits and identity as if alone")
def _():
    found = expect_inherited()
    expect_eq(found["fd 0"], "/dev/null", "stdin of the workload")
    expect_eq(found["process group"], "that of the caller's child")


@job_test("the command gets exactly the descriptors that the caller gave, holes included")
def _():
    given = [os.open("/dev/null", os.O_RDWR) for _ in range(3)]
    far = os.dup2(given[0], 77)
    try:
        found = expect_inherited(fds=(*given, far))
        expect_in("fd 77", found.keys(), "descriptors")
        expect_inherited(closed=(0,))
        expect_inherited(closed=(2,))
    finally:
        for fd in (*given, far):
            os.close(fd)


@job_test("signals that the caller ignores or blocks stay ignored or blocked")
def _():
    def prepare():
        for sig in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR2, signal.SIGPIPE):
            signal.signal(sig, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM, signal.SIGWINCH})
    expect_inherited(prepare=prepare)


@job_test("a caller that ignores SIGCHLD still gets the exit status")
def _():
    def prepare():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    expect_inherited(prepare=prepare)
    p = start(ASSAY, "run", "--quiet", "--", work("exitcode"), 7, preexec_fn=prepare)
    expect_eq(p.wait(30), 7, "exit status")


@job_test("limits, niceness, CPU affinity, umask and working directory stay as they are")
def _():
    os.mkdir(tmp() / "here")

    def prepare():
        resource.setrlimit(resource.RLIMIT_NOFILE, (123, 321))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 4096))
        os.nice(3)
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        os.umask(0o027)
        os.chdir("here")
    found = expect_inherited(prepare=prepare)
    expect_eq((found["limit 7"], found["nice"], found["Umask"].strip()),
              ("123 321", os.nice(0) + 3, "0027"))


@job_test("the environment is the same to the byte")
def _():
    env = {"ODD": "a b\n\t'\"", "EMPTY": "", "UTF": "später", "_": "x"}
    expect_eq(quietly("env", "-0", env=env).ok().out, run("env", "-0", env=env).ok().out)


@job_test("a command started with few descriptors left still runs and is measured")
def _():
    def prepare():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    p = start(ASSAY, "run", "--", "sh", "-c",
              "for i in 1 2 3 4 5 6 7 8; do sleep 0.7 & done; wait; exit 6",
              preexec_fn=prepare, stderr=subprocess.PIPE, text=True)
    err = p.communicate(timeout=60)[1]
    expect_eq(p.returncode, 6, f"exit status (stderr: {err})")


# --- signals ------------------------------------------------------------------

def counted(p):
    """What the workload `signals` counted, without the zeros."""
    out = p.communicate(timeout=60)[0]
    return {k: n for k, n in json.loads(out.splitlines()[-1]).items() if n}


@job_test("a signal sent to assay is passed on to the command exactly once")
def _():
    for name in ("TERM", "INT", "HUP", "USR1", "USR2", "QUIT"):
        p = start(ASSAY, "run", "--quiet", "--", work("signals"), stdout=subprocess.PIPE, text=True)
        read_line(p, "ready")
        os.kill(p.pid, getattr(signal, f"SIG{name}"))
        expect_eq(counted(p), {name: 1}, "signals received")
        expect_eq(p.returncode, 0, f"exit status after {name}")


@job_test("a signal that the caller ignored is passed on as well, and the command decides")
def _():
    p = start(ASSAY, "run", "--quiet", "--", work("signals"), stdout=subprocess.PIPE, text=True,
              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    read_line(p, "ready")
    os.kill(p.pid, signal.SIGINT)
    time.sleep(0.1)
    os.kill(p.pid, signal.SIGUSR1)
    got = counted(p)
    expect_eq(got.get("USR1"), 1, "USR1 received")
    expect_eq(p.returncode, 0, "exit status")


@job_test("TERM to assay ends a command that does not handle it, and the run is kept")
def _():
    p = start(ASSAY, "run", "--quiet", "--", work("sleeper"), 40)
    wait_for(lambda: runs(), what="a running run")
    time.sleep(0.1)
    p.terminate()
    expect_eq(p.wait(30), -signal.SIGTERM, "status of assay")
    expect_eq([r["status"] for r in runs()], ["failed"], "status of the run")


@job_test("a command that stops itself goes on when it is told to")
def _():
    p = start(ASSAY, "run", "--quiet", "--", "sh", "-c", "echo $$; kill -STOP $$; exit 8",
              stdout=subprocess.PIPE, text=True)
    pid = int(p.stdout.readline())
    wait_for(lambda: open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] == "T",
             what="the command stopped")
    expect_eq(p.poll(), None, "status of assay while the command is stopped")
    os.kill(pid, signal.SIGCONT)
    expect_eq(p.wait(30), 8, "exit status")


# --- who belongs to the job ---------------------------------------------------

@job_test("the run ends with the command; what outlives it is left alone")
def _():
    r = quietly(work("orphan"), 30, 2).ok()
    pids = json.loads(r.out)["survivors"]
    expect_eq([alive(pid) for pid in pids], [True, True], "survivors alive")
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


@job_test("--wait-all waits for the last process of the job and still exits as the command did")
def _():
    r = assay("run", "--quiet", "--wait-all", "--", "sh", "-c",
              f"setsid {work('sleeper')} 1.5 >/dev/null & echo $!; exit 3")
    expect_eq(r.rc, 3, "exit status")
    expect(not alive(int(r.out)), "the child is still there")


@job_test("--wait-all ends when assay is told to end, and the survivors live on")
def _():
    p = start(ASSAY, "run", "--quiet", "--wait-all", "--", work("orphan"), 30,
              stdout=subprocess.PIPE, text=True)
    pid = json.loads(p.stdout.readline())["survivors"][0]
    time.sleep(0.5)
    expect_eq(p.poll(), None, "status of assay while it waits")
    p.send_signal(signal.SIGINT)
    p.wait(30)
    expect(alive(pid), "the survivor was ended")
    os.kill(pid, signal.SIGKILL)


# --- where it is kept -----------------------------------------------------------

@job_test("short runs are sealed together; every list has all of them, as they ended")
def _():
    waiting, names = [], [f"run{i}" for i in range(20)]
    for name in names:
        assay("run", "--quiet", "--name", name, "--", work("exitcode"), 3)
        waiting.append(len(list((tmp() / "store/live").iterdir())))
    expect(max(waiting) == 16 and waiting.index(0) == 16, waiting)
    r = assay("stats", "--json").ok().json()
    expect_eq(sum(n["count"] for n in r["names"]), 20, "runs in the statistics")
    expect_eq(list((tmp() / "store/live").iterdir()), [], "runs that wait")
    jobs = assay("jobs", "--json").ok().json()["runs"]
    expect_eq([j["name"] for j in jobs], names[::-1], "names, the newest first")
    expect_eq({(j["status"], j["exit_code"]) for j in jobs}, {("failed", 3)}, "how they ended")


@test("a command that never started is not judged by how short it was")
def _():
    r = assay("run", "-q", "--json", "--", "/no/such/command")
    verdict = r.json()["assay"]["verdict"]
    expect_eq((r.rc, verdict["sentence"], verdict["advice"]),
              (127, "not judged: it never started", ""), "exit status, verdict, advice")


main()
