"""live -- a screen of assay's, as a person sees it, and its keys.

    top = Live("top", pid)          on a terminal of 80 by 24
    top.shows("burner")             waits until it does
    top.key("q")
    top.ended(0)                    so it ended, and the terminal is as it was before
"""
import pathlib
import re
import time

from harness import ASSAY, expect, expect_eq, expect_in, skip, terminal, wait_for
from screen import Screen

__all__ = ["Live", "WAIT"]

WAIT = 60           # a machine that is busy with other things is slow to draw


class Live:
    """assay on a terminal; the shell behind it says how it ended and is there afterwards."""

    def __init__(self, *words, rows=24, cols=80, env=None):
        if not pathlib.Path("/usr/include/curses.h").exists():
            skip("no ncurses to build with is here")
        self.rows, self.cols = rows, cols
        shell = 'trap : INT; stty -a; read go; "$@"; echo "<ended with $?>"; stty -a; read end'
        self.t = terminal("sh", "-c", shell, "sh", ASSAY, *words, rows=rows, cols=cols, env=env)
        self.t.send("\n")
        self.screen = Screen(rows, cols)
        self.fed = 0
        self.resized = False

    def look(self):
        """The screen as it stands."""
        self.t.pump(0.05)
        self.screen.feed(self.t.output[self.fed:])
        self.fed = len(self.t.output)
        return self.screen

    def until(self, condition, what):
        """The screen once it is so."""
        end = time.monotonic() + WAIT
        while not condition(self.look()):
            expect(time.monotonic() < end, f"never {what}; the screen shows\n{self.screen.text()}")
        return self.screen

    def shows(self, *patterns):
        return self.until(lambda s: all(re.search(p, s.text()) for p in patterns), patterns)

    def key(self, keys):
        self.t.send(keys)

    def resize(self, rows, cols):
        self.rows, self.cols, self.resized = rows, cols, True
        self.t.resize(rows, cols)
        self.screen = Screen(rows, cols)

    def pid(self):
        """Of assay itself, the child of the shell."""
        path = f"/proc/{self.t.pid}/task/{self.t.pid}/children"
        return int(wait_for(lambda: open(path).read().split(), WAIT, "assay runs")[0])

    def ended(self, status):
        """It ends so, and the terminal is as it was before."""
        self.t.wait_text("<ended with", WAIT)
        self.t.send("\n")
        self.t.wait(WAIT)
        expect_in(f"<ended with {status}>", self.t.output)
        modes = [re.sub(r"(rows|columns) \d+;|\s+", " ", m).split() for m in
                 re.findall(r"speed \d+ baud.*?-extproc", self.t.output, re.S)]
        expect_eq(len(modes), 2, "how often stty told of the terminal")
        expect_eq(modes[1], modes[0], "the terminal's settings afterwards")
        size = (100, 200) if self.resized else (self.rows, self.cols)
        s = Screen(*size).feed(self.t.output)
        expect(1049 not in s.modes, "the other screen is still shown")
        expect(25 in s.modes or "\x1b[?25" not in self.t.output, "there is no cursor")
        expect(self.resized or s.whole(), "not all rows scroll")
