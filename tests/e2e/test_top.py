#!/usr/bin/env python3
"""`assay top`: a table for a pipe, and the screen in a terminal of known size."""
import os
import re
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from pythons import *
from live import *
from screen import Screen

PYTHON = pythons()[-1]


def Top(pid, *options, **how):
    return Live("top", *options, pid, **how)


def target(seconds=100):
    return script(PYTHON, "threads", seconds)


# --- where there is no terminal --------------------------------------------------

@job_test("a pipe gets one table: who used the CPU first, by its own time")
def _():
    p = target()
    r = assay("top", "-d", "1.5", "-r", "200", p.pid).ok()
    stop(p)
    lines = r.out.splitlines()
    expect_eq(lines[0].split(), ["%own", "%total", "own", "total", "function", "where"])
    expect_eq(lines[1].split()[-2], "burner", f"the first row of\n{r.out}")
    expect("sleeper" not in r.out, f"one that sleeps used the CPU:\n{r.out}")
    expect(re.search(r"samples in .* rejected, .* late", lines[-1]), lines[-1])


@job_test("by the clock those that wait are there, with all of their time")
def _():
    p = target()
    r = assay("top", "-d", "1.5", "--idle", p.pid).ok()
    stop(p)
    own = {line.split()[-2]: float(line.split()[0]) for line in r.out.splitlines()[1:-1]}
    expect(85 < own["sleeper"] < 115, f"{own['sleeper']} % for one that does nothing else")


@job_test("the target ends in the middle: what was seen is printed")
def _():
    p = script(PYTHON, "split", 0.5, 0.6)
    r = assay("top", "-d", "50", p.pid).ok()
    expect_in("burn_first", r.out)


@job_test("who cannot be watched is told why")
def _():
    sleeper = start("sleep", "30")
    for words, code, why in [
            ([sleeper.pid], 69, "is not a Python program"),
            (["-s", "-d", "0.3", sleeper.pid], 69, "no Python was seen"),
            ([4194305], 66, "no process"),
            (["x"], 2, "x"),
            ([], 2, "PID"),
            (["-r", "0", sleeper.pid], 2, "greater than")]:
        r = assay("top", *words)
        expect_eq(r.rc, code, f"exit status of {words} ({r.err})")
        expect_in(why, r.err)
    stop(sleeper)


@job_test("a terminal without cursor gets the table")
def _():
    p = target()
    t = terminal(ASSAY, "top", "-d", "0.6", p.pid, env={"TERM": "dumb"})
    expect_eq(t.wait(WAIT), 0, "exit status")
    expect_in("%own", t.output)
    expect("\x1b" not in t.output, "escape sequences for a terminal that has none")
    stop(p)


@job_test("a module that is missing is told, with what to do")
def _():
    p = target()
    t = terminal(ASSAY, "top", p.pid, env={"ASSAY_LIBDIR": str(tmp())})
    expect_eq(t.wait(WAIT), 69, "exit status")
    expect_in("assay-tui.so", t.output)
    stop(p)


@job_test("filters: rows are of what they leave, and which they are is printed below")
def _():
    p = target()
    words = ["--hide-stacks", "burner", "--highlight", "sleep"]
    r = assay("top", "-d", "1", "--idle", *words, p.pid).ok()
    rows, last = "\n".join(r.out.splitlines()[:-1]), r.out.splitlines()[-1]
    expect("burner" not in rows, r.out)
    expect_in("*sleeper", rows)
    expect(re.fullmatch(r"filters leave \d\d\.\d % of the wall time: " + " ".join(words), last),
           r.out)
    for words, code, why in [
            (["--focus", "no such"], 66, "no stack is left after the filters"),
            (["--metric", "samples"], 2, "it is cpu, wall or gil"),
            (["--metric", "wall", "--gil"], 2, "--metric says"),
            (["--callers"], 2, "--focus FUNCTION")]:
        r = assay("top", "-d", "0.5", *words, p.pid)
        expect_eq(r.rc, code, f"exit status of {words} ({r.err})")
        expect_in(why, r.err)
    stop(p)


# --- the screen -------------------------------------------------------------------

@job_test("80 by 24: head, functions, lines, threads, search, help; q gives the terminal back")
def _():
    p = target()
    top = Top(p.pid)
    s = top.shows(r"Python 3\.\d+", r"cpu \d", r"gil \d", r"threads 3: [123] running", "samples",
                  r"%own +%total +own +total +function", r" burner +python/threads.py:10")
    expect_in("q quit", s.line(23), "last line")
    expect(s.line(0).startswith(os.path.basename(PYTHON.path) + " "), s.line(0))
    top.key("l")
    top.shows("by line", r"burner  python/threads.py:1[234]")
    top.key("lm")
    top.shows("wall time by function", r"sleeper")
    top.key("/SLEEP")
    top.until(lambda s: s.line(23) == "/SLEEP_" and "burner" not in s.text(), "only the sleeper")
    top.key("\r")
    top.shows("/SLEEP\\b")
    top.key("\x1b")
    top.shows("burner")
    top.key("g")
    top.shows("time with the GIL")
    top.key("gt")
    top.shows("all of them", rf"{p.pid} ")
    top.key("\x1bOB\r")
    top.shows(rf"thread \d+ ")
    top.key("\x1b")
    top.key("?")
    top.shows("any key goes back", "freeze the screen")
    top.key("x")
    top.key("s")
    top.shows("sorted by %total")
    top.key("p")
    top.shows("paused")
    top.key("p")
    top.until(lambda s: "paused" not in s.text(), "it goes on")
    top.key("r")
    top.shows("burner")
    top.key("q")
    top.ended(0)
    stop(p)


@job_test("filters are told on the screen, with what they leave")
def _():
    p = target()
    top = Top(p.pid, "--metric", "wall", "--focus", "sleeper", "--highlight", "sleep")
    s = top.shows("wall time by function", r" \*sleeper ",
                  r"filters leave \d\d\.\d % of the wall time: --focus sleeper --highlight sleep")
    expect("burner" not in s.text(), s.text())
    top.key("q")
    top.ended(0)
    top = Top(p.pid, "--show-stacks", "nobody")
    top.shows(r"filters leave 0\.0 % of the cpu time", "the filters leave nothing to show")
    top.key("q")
    top.ended(0)
    stop(p)


@job_test("40 by 12 shows what matters, and a window that changes its size is followed")
def _():
    p = target()
    top = Top(p.pid, rows=12, cols=40)
    s = top.shows(r"%own %total  function", "burner", "rejected")
    expect_in("q quit", s.line(11), "last line")
    top.resize(30, 100)
    s = top.shows(r"%own +%total +own +total", "burner")
    top.until(lambda s: "q quit" in s.line(29), "the last line has moved")
    top.resize(5, 20)
    top.until(lambda s: "help" in s.line(4), "a tiny window")
    top.key("q")
    top.ended(0)
    stop(p)


@job_test("the target ends meanwhile: that is told, and the last seconds stay")
def _():
    p = script(PYTHON, "split", 0.5, 100)
    top = Top(p.pid)
    top.shows("burn_first")
    stop(p, signal.SIGKILL)
    top.shows("it has ended", "burn_first")
    top.key("q")
    top.ended(0)


@job_test("whatever signal ends it, the terminal is given back first")
def _():
    p = target()
    for sig, status in (("INT", 0), ("TERM", 143), ("HUP", 129), ("QUIT", 131)):
        top = Top(p.pid)
        top.shows("burner")
        os.kill(top.pid(), getattr(signal, f"SIG{sig}"))
        top.ended(status)
    stop(p)


@job_test("Ctrl-Z gives the terminal to the shell, fg takes it again")
def _():
    if not shutil.which("bash") or not (BUILD / "assay-tui.so").exists():
        skip("needs bash and ncurses")
    p = target()
    t = terminal("bash", "--norc", "--noprofile", "-i", env={"PS1": "ready> ", "HISTFILE": None})
    t.wait_text("ready> ", WAIT)
    t.send(f"{ASSAY} top {p.pid}\n")
    t.wait_text("burner", WAIT)
    t.send("\x1a")
    t.wait_text("Stopped", WAIT)
    t.wait_text("ready> ", WAIT)
    expect(1049 not in Screen(24, 80).feed(t.output).modes, "the shell got the other screen")
    t.send("fg\n")
    t.wait_text("burner", WAIT)
    t.send("q")
    t.wait_text("ready> ", WAIT)
    t.send("exit\n")
    t.wait(WAIT)
    stop(p)


@job_test("NO_COLOR has none, and nothing but ASCII where the locale says so")
def _():
    p = target()
    colours, beyond_ascii = r"\x1b\[(?:\d+;)*[34]\d", r"[^\x00-\x7f]"
    for env, look in (({"NO_COLOR": "1"}, colours), ({"LC_ALL": "C"}, beyond_ascii)):
        top = Top(p.pid, "-d", "1.2", env={"TERM": "xterm-256color", **env})
        top.ended(0)
        expect(not re.search(look, top.t.output), f"{look} with {env}")
    stop(p)


main()
