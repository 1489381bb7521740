#!/usr/bin/env python3
"""`assay run` on a terminal: the status line, Ctrl-C, Ctrl-Z, and who owns the screen."""
import json
import os
import re
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from screen import Screen

ROWS, COLS = 24, 80


def shown(t, rows=ROWS, cols=COLS):
    """The screen as it stands after all that came so far."""
    return Screen(rows, cols).feed(t.output)


def on_terminal(*command, rows=ROWS, **how):
    """assay run … on a terminal, started once the window has its size."""
    t = terminal("sh", "-c", 'read go; exec "$@"', "sh", *command, rows=rows, cols=COLS, **how)
    t.send("\n")
    t.wait_text("\n")
    t.output = ""
    t.seen = 0
    return t


# --- the model of a terminal itself -------------------------------------------

@test("the model of a terminal wraps, scrolls in its region, erases and restores")
def _():
    s = Screen(4, 5).feed("abcdefg\r\nx\r\ny\r\nz")
    expect_eq(s.lines(), ["fg", "x", "y", "z"], "after wrapping and scrolling")
    s.feed("\0337\033[1;3r\033[4;1H\033[2Klast\0338")
    expect_eq((s.line(3), s.row, s.col, s.whole()), ("last", 3, 1, False))
    s.feed("\033[3;1H1\r\n2\r\n3\r\n4")
    expect_eq(s.lines(), ["2", "3", "4", "last"], "after scrolling in a region")
    s.feed("\033[r")
    expect(s.whole(), "the region is still there")
    try:
        s.feed("\033[5Z")
    except ValueError:
        return
    raise AssertionError("an unknown sequence went unnoticed")


# --- the terminal belongs to the command --------------------------------------

@job_test("the command finds the terminal, its size and the foreground as if alone")
def _():
    t = on_terminal(ASSAY, "run", "--quiet", "--", work("tty"))
    expect_eq(t.wait(30), 0, "exit status")
    expect_eq(json.loads(t.output), {"isatty": [1, 1, 1], "foreground": True, "rows": ROWS,
                                     "columns": COLS})


@job_test("a redirected stdout is no terminal for the command either")
def _():
    t = on_terminal("sh", "-c", f"{ASSAY} run --quiet -- {work('tty')} >out")
    expect_eq(t.wait(30), 0, "exit status")
    expect_eq(json.loads((tmp() / "out").read_text())["isatty"], [1, 0, 1])


@job_test("a command that reads the terminal gets what is typed")
def _():
    t = on_terminal(ASSAY, "run", "--quiet", "--", "sh", "-c", "read a; echo \"<$a>\"")
    time.sleep(0.2)
    t.send("hello\n")
    expect_eq(t.wait(30), 0, "exit status")
    expect_in("<hello>", t.output)


# --- the status line ----------------------------------------------------------

@job_test("a status line appears after a second, in the last row, and goes away at the end")
def _():
    rows = 60                           # the summary fits below
    t = on_terminal(ASSAY, "run", "--", "sh", "-c", "echo begin; sleep 2.6; echo end", rows=rows)
    t.wait_text("begin", 20)
    t.wait_text("\x1b[1;59r", 20)       # the last row is taken out of scrolling
    before = Screen(rows, COLS).feed(t.output.partition("\x1b[1;59r")[0])
    expect_eq(before.line(rows - 1), "", "the last row before")
    wait_for(lambda: t.pump(0.1) and shown(t, rows).line(rows - 1), 10, "a status line")
    s = shown(t, rows)
    expect(not s.whole(), "the last row scrolls")
    expect_eq(s.line(0), "begin", "the output of the command")
    expect(re.search(r"\d", s.line(rows - 1)), f"status line {s.line(rows - 1)!r}")
    expect_eq(t.wait(30), 0, "exit status")
    s = shown(t, rows)
    expect(s.whole(), "the scrolling region was not given back")
    expect_eq(s.lines()[:2], ["begin", "end"], "the output of the command")
    expect_eq(s.line(rows - 1), "", "the last row at the end")
    expect_eq(s.regions, [(0, 58), (0, 59)], "regions that were set")


@job_test("the status line is never mixed with much output of the command")
def _():
    t = on_terminal(ASSAY, "run", "--", "sh", "-c",
                    "i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo line $i; sleep 0.04; done")
    t.wait_text("line 50\r\n", 30)
    s = shown(t)
    expect(not s.whole(), "no status line")
    expect(not s.line(ROWS - 1).startswith("line"), "output in the last row")
    printed = [x for x in s.lines()[:-1] if x]
    expect(all(re.fullmatch(r"line \d+", x) for x in printed), f"mixed: {printed}")
    numbers = [int(x.split()[1]) for x in printed]
    expect_eq(numbers, list(range(numbers[0], numbers[0] + len(numbers))), "lines on the screen")
    expect(len(numbers) >= ROWS - 3, f"only {len(numbers)} rows are used")
    expect_eq(t.wait(30), 0, "exit status")
    expect(shown(t).whole(), "the scrolling region was not given back")


@job_test("a status line that starts with the cursor in the last row loses no output")
def _():
    t = on_terminal(ASSAY, "run", "--", "sh", "-c",
                    "for i in $(seq 1 40); do echo line $i; done; sleep 2; echo after")
    t.wait_text("\x1b[1;23r", 20)
    t.wait_text("after", 20)
    text = [x for x in shown(t).lines()[:-1] if x]
    at = text.index("line 40")
    expect_eq(text[at - 3:at + 2], ["line 37", "line 38", "line 39", "line 40", "after"])
    expect_eq(t.wait(30), 0, "exit status")


@job_test("a short command sees no status line and no escape sequence that moves")
def _():
    for _ in range(5):
        began = time.monotonic()
        t = on_terminal(ASSAY, "run", "--", "sleep", "0.6")
        expect_eq(t.wait(30), 0, "exit status")
        if time.monotonic() - began < 0.98:     # else this machine is too busy to tell
            expect_eq(shown(t).regions, [], "regions that were set")
            return
    skip("no command was short")


@job_test("no status line with --quiet, TERM=dumb, a small window, or stderr in a file")
def _():
    cases = [(("--quiet",), {}, ""), ((), {"TERM": "dumb"}, ""), ((), {}, "2>err")]
    for options, env, redirect in cases:
        t = on_terminal("sh", "-c",
                        f"{ASSAY} run {' '.join(options)} -- sleep 1.8 {redirect}", env=env)
        expect_eq(t.wait(30), 0, "exit status")
        expect("\x1b[1;" not in t.output, f"{options} {env} {redirect}: {t.output!r}")
    expect("\x1b" not in (tmp() / "err").read_text(), "escape sequences in a file")


@job_test("the status line keeps away while the command has the screen in raw mode")
def _():
    t = on_terminal(ASSAY, "run", "--", "sh", "-c",
                    "stty raw -echo; sleep 2; printf done; stty sane")
    expect_eq(t.wait(30), 0, "exit status")
    head = t.output.partition("done")[0]
    expect_eq(head, "", "what was written while the terminal was raw")


@job_test("a command that takes the screen in the middle gets all rows, and they stay whole")
def _():
    t = on_terminal(ASSAY, "run", "--", "sh", "-c",
                    "sleep 1.6; stty raw -echo; sleep 1.3; printf '<took it>'; stty sane")
    expect_eq(t.wait(30), 0, "exit status")
    before, mark, after = t.output.partition("<took it>")
    expect_in("\x1b[1;23r", before, "output")
    expect(Screen(ROWS, COLS).feed(before).whole(), "a row was withheld from the command")
    expect("\x1b[2K" not in before[before.rindex("\x1b[r"):], "a row of the command was wiped")
    expect(shown(t).whole(), "the scrolling region was not given back")


@job_test("the status line follows a window that changes its size")
def _():
    t = on_terminal(ASSAY, "run", "--", "sleep", "4")
    t.wait_text("\x1b[1;23r", 20)
    t.resize(12, 60)
    t.wait_text("\x1b[1;11r", 20)
    t.wait_text("\x1b[12;1H", 20)
    expect_eq(t.wait(30), 0, "exit status")
    expect(t.output.rindex("\x1b[r") > t.output.rindex("\x1b[1;11r"), "the region is still set")


# --- keys that send signals ---------------------------------------------------

@job_test("Ctrl-C reaches the command once, and assay reports what it did until then")
def _():
    for _ in range(5):      # two signals that come together may count as one
        t = on_terminal(ASSAY, "run", "--", work("signals"))
        t.wait_text("ready", 20)
        t.send("\x03")
        expect_eq(t.wait(30), 0, "exit status")
        counts = json.loads(re.search(r"\{\"HUP.*?\}", t.output)[0])
        expect_eq({k: n for k, n in counts.items() if n}, {"INT": 1}, "signals received")
        expect(len(t.output.partition("}")[2].split("\n")) > 3, f"no summary: {t.output!r}")


@job_test("Ctrl-C ends a command that does not handle it, and assay dies of INT after its report")
def _():
    t = on_terminal(ASSAY, "run", "--", work("sleeper"), "40")
    wait_for(lambda: runs(), what="a running run")
    time.sleep(1.5)
    t.send("\x03")
    expect_eq(t.wait(30), -signal.SIGINT, "status")
    s = shown(t)
    expect(s.whole(), "the scrolling region was not given back")
    expect_in("sleeper", s.text(), "summary")
    expect_eq([r["status"] for r in runs()], ["failed"], "status of the run")


def job_shell():
    if not shutil.which("bash"):
        skip("needs bash")
    t = terminal("bash", "--norc", "--noprofile", "-i", rows=ROWS, cols=COLS,
                 env={"PS1": "ready> ", "HISTFILE": None})
    t.wait_text("ready> ", 20)
    return t


@job_test("Ctrl-Z stops the job, fg resumes it, and the shell has the whole screen in between")
def _():
    t = job_shell()
    t.send(f"{ASSAY} run -- sh -c 'echo be''gin; sleep 2.5; echo fini''shed'\n")
    t.wait_text("begin", 20)
    t.wait_text("\x1b[1;23r", 20)
    t.send("\x1a")
    t.wait_text("Stopped", 20)
    t.wait_text("ready> ", 20)
    expect(Screen(ROWS, COLS).feed(t.output).whole(),
           "the shell got a terminal whose last row does not scroll")
    t.send("fg\n")
    t.wait_text("finished", 20)
    t.wait_text("ready> ", 20)
    expect(Screen(ROWS, COLS).feed(t.output).whole(), "the scrolling region was not given back")
    t.send("echo status=$?; exit\n")
    t.wait_text("status=0", 20)
    t.wait(20)


@job_test("a job in the background of a shell draws nothing")
def _():
    t = job_shell()
    t.send(f"{ASSAY} run -- sleep 1.7 2>&1 & echo star''ted\n")
    t.wait_text("started", 20)
    t.send("wait; echo al''l done\n")
    t.wait_text("all done", 20)
    expect("\x1b[1;23r" not in t.output, f"drawn: {t.output!r}")
    t.send("exit\n")
    t.wait(20)


@job_test("an interactive shell below assay has job control and the screen to itself")
def _():
    if not shutil.which("bash"):
        skip("needs bash")
    t = on_terminal(ASSAY, "run", "--", "bash", "--norc", "--noprofile", "-i",
                    env={"PS1": "inner> ", "HISTFILE": None})
    t.wait_text("inner> ", 20)
    before = shown(t).regions       # a shell that is slow to come leaves the terminal to assay
    t.send("sleep 30\n")
    time.sleep(1.5)
    t.send("\x1a")
    t.wait_text("Stopped", 20)
    t.wait_text("inner> ", 20)
    t.send("kill -9 %1; sleep 0.3\n")
    t.wait_text("inner> ", 20)
    t.send("exit 5\n")
    expect_eq(t.wait(30), 5, "exit status")
    whole = [(0, ROWS - 1)]         # … which gives it back, at once or a moment later
    expect_in(shown(t).regions[len(before):], ([], whole), "regions that were set below the shell")
    expect(shown(t).whole(), "the scrolling region was not given back")


@job_test("a terminal that hangs up ends the command, and the run is in the history")
def _():
    t = on_terminal(ASSAY, "run", "--", work("sleeper"), "40")
    wait_for(lambda: runs(), what="a running run")
    time.sleep(1.3)
    os.close(t.fd)
    t.fd = os.open("/dev/null", os.O_RDWR)
    wait_for(lambda: t.poll() is not None, 20, "the end of assay")
    wait_for(lambda: runs()[0]["status"] != "running", 20, "the end of the run")
    expect_eq(runs()[0]["status"], "failed", "status of the run")


main()
