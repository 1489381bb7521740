"""harness -- what an end-to-end test needs, and nothing more.

    import os, sys
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
    from harness import *

    @test("the exit status of the command is the exit status of assay run")
    def _():
        r = assay("run", "--", "sh", "-c", "exit 7")
        expect_eq(r.rc, 7, "exit status")

    main()

Each test gets a fresh directory (`tmp()`, also the working directory of what
it runs) and an empty store in it. A test fails by an exception. Processes
from `start` and `terminal` are ended, by pid, when the test ends. The script
prints TAP; arguments pick the tests whose sentence contains one of them.
"""
import collections
import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback

__all__ = ["ROOT", "BUILD", "ASSAY", "test", "skip", "expect", "expect_eq", "expect_in", "tmp",
           "assay", "run", "start", "stop", "alive", "wait_for", "terminal", "main"]

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build")).resolve()
ASSAY = str(BUILD / "assay")


# --- saying what must hold ----------------------------------------------------

class Skipped(Exception):
    """This test cannot run here; the text says why."""


class Failed(Exception):
    """An expectation did not hold."""


def skip(why):
    raise Skipped(why)


def expect(condition, message):
    if not condition:
        raise Failed(message)


def expect_eq(got, want, what="value"):
    expect(got == want, f"{what} is {got!r}, want {want!r}")


def expect_in(part, whole, what="output"):
    expect(part in whole, f"{part!r} is not in the {what}:\n{whole}")


# --- running things -----------------------------------------------------------

current = {"tmp": None, "started": []}      # of the test under way


def tmp():
    """The directory of this test."""
    return current["tmp"]


def environment(env=None):
    clean = {k: v for k, v in os.environ.items()
             if not k.startswith("ASSAY_") or k.startswith("ASSAY_TEST_")}
    clean.update(ASSAY_STORE=str(tmp() / "store"), LC_ALL="C.UTF-8", TZ="UTC", COLUMNS="80")
    clean.update(env or {})
    return {k: v for k, v in clean.items() if v is not None}    # None removes a variable


class Result(collections.namedtuple("Result", "rc out err")):
    """How a command ended. rc is negative for a signal, as in subprocess."""

    def json(self):
        return json.loads(self.out)

    def ok(self):
        """This result, if the command succeeded; otherwise the test fails with what it said."""
        expect(self.rc == 0, f"exit status {self.rc}\nstdout: {self.out}\nstderr: {self.err}")
        return self


def run(*command, input=None, env=None, timeout=60, cwd=None):
    """Run a command to its end."""
    stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
    p = start(*command, env=env, cwd=cwd, text=True, stdin=stdin, stdout=subprocess.PIPE,
              stderr=subprocess.PIPE)
    try:
        out, err = p.communicate(input, timeout=timeout)
    except subprocess.TimeoutExpired:
        stop(p, signal.SIGKILL)
        raise Failed(f"no end after {timeout} s: {' '.join(map(str, command))}") from None
    return Result(p.returncode, out, err)


def assay(*args, **how):
    """Run the program under test; the options are those of run()."""
    return run(ASSAY, *args, **how)


def start(*command, env=None, cwd=None, **popen):
    """Start a process in a session of its own; it is ended with the test if it still runs."""
    p = subprocess.Popen([str(c) for c in command], env=environment(env), cwd=cwd or tmp(),
                         start_new_session=True, **popen)
    current["started"].append(p)
    return p


def stop(p, sig=signal.SIGTERM, timeout=10):
    """End a started process and whatever still runs in its session; returns its exit status."""
    if p.poll() is None:
        p.send_signal(sig)
    try:
        p.wait(timeout)
    except subprocess.TimeoutExpired:
        p.kill()
        p.wait()
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return p.returncode


def alive(pid):
    """Does the process exist, other than as a zombie?"""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(condition, timeout=10, what="condition"):
    """Call `condition` until it returns something true, and return that."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        expect(time.monotonic() < end, f"{what} did not come true in {timeout} s")
        time.sleep(0.02)


# --- a pseudo-terminal --------------------------------------------------------

class Terminal:
    """A command on a terminal of its own. `output` is all it has written so far."""

    def __init__(self, command, env, rows, cols):
        self.output, self.rc = "", None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(tmp())
                env = {"TERM": "xterm", "COLUMNS": None, **env}
                os.execvpe(command[0], command, environment(env))
            finally:
                os._exit(127)
        self.resize(rows, cols)

    def resize(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def send(self, keys):
        """Type something; "\\x03" is Ctrl-C."""
        os.write(self.fd, keys.encode())

    def signal(self, sig):
        os.kill(self.pid, sig)

    def pump(self, seconds):
        """Take what comes within `seconds`; False when the command has closed the terminal."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:     # EIO: nobody holds the other side any more
            data = b""
        self.output += data.decode(errors="replace")
        return bool(data)

    def wait_text(self, text, timeout=10):
        """Read until `text` has appeared since the last call that waited for one."""
        end, seen = time.monotonic() + timeout, getattr(self, "seen", 0)
        while text not in self.output[seen:]:
            open_still = self.pump(0.1)
            expect(open_still and time.monotonic() < end,
                   f"{text!r} did not appear; the terminal shows:\n{self.output[seen:]}")
        self.seen = self.output.index(text, seen) + len(text)

    def wait(self, timeout=10):
        """Read until the command ends; returns its exit status (negative: signal)."""
        end = time.monotonic() + timeout
        while self.poll() is None:
            if not self.pump(0.05):
                time.sleep(0.01)
            expect(time.monotonic() < end,
                   f"no end after {timeout} s; the terminal shows:\n{self.output}")
        while select.select([self.fd], [], [], 0)[0] and self.pump(0):
            pass
        return self.rc

    def poll(self):
        if self.rc is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.rc = os.waitstatus_to_exitcode(status)
        return self.rc

    def close(self):
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.rc = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)


def terminal(*command, env=None, rows=24, cols=80):
    """Start a command on a pseudo-terminal; see Terminal for what can be done with it."""
    t = Terminal([str(c) for c in command], env or {}, rows, cols)
    current["started"].append(t)
    return t


# --- tests and their order ----------------------------------------------------

tests = []


def test(sentence, seconds=120):
    """Make a function a test; it fails when it takes longer than `seconds`."""
    def add(function):
        tests.append((sentence, function, seconds))
        return function
    return add


def too_long(*_):
    raise Failed("the test takes too long")


def clean_up():
    for p in current["started"]:
        p.close() if isinstance(p, Terminal) else stop(p, signal.SIGKILL)
    current["started"] = []
    shutil.rmtree(tmp(), ignore_errors=True)


def run_test(function, seconds):
    """Returns ("ok" or "not ok", text for the TAP line, lines of explanation)."""
    current["tmp"] = pathlib.Path(tempfile.mkdtemp(prefix="e2e-"))
    signal.alarm(seconds)
    try:
        function()
        return "ok", "", []
    except Skipped as why:
        return "ok", f" # SKIP {why}", []
    except Failed as why:
        script = os.path.abspath(sys.argv[0])
        lines = [f.lineno for f in traceback.extract_tb(why.__traceback__)
                 if os.path.abspath(f.filename) == script]
        return "not ok", "", [f"{sys.argv[0]}:{lines[-1] if lines else '?'}: {why}"]
    except Exception:
        return "not ok", "", [traceback.format_exc()]
    finally:
        signal.alarm(0)
        clean_up()


def main():
    chosen = [t for t in tests if not sys.argv[1:] or any(a in t[0] for a in sys.argv[1:])]
    signal.signal(signal.SIGALRM, too_long)
    signal.signal(signal.SIGINT, signal.default_int_handler)    # or children might ignore it
    failed = 0
    print(f"1..{len(chosen)}", flush=True)
    for number, (sentence, function, seconds) in enumerate(chosen, 1):
        word, note, why = run_test(function, seconds)
        failed += word != "ok"
        for line in "\n".join(why).splitlines():
            print("#", line)
        print(f"{word} {number} - {sentence}{note}", flush=True)
    sys.exit(1 if failed else 0)
