"""attach -- what tests of `assay heap attach` share: programs that are told what to do, line by
line, and an assay that records them from a known moment on.

    t = attachee()
    a = Attached(t.pid)
    t.tell("make", 13, 1013)
    h = a.left()                heaps.Heap
    t.end()
"""
import collections
import pathlib
import signal
import socket
import subprocess
import sys

from harness import ASSAY, ROOT, expect, expect_eq, expect_in, run, start
from heaps import FILE, Heap, heap_stats
from jobs import read_line, work

__all__ = ["Target", "Attached", "attachee", "hooks", "tasks", "threads",
           "visitors", "Server", "expect_served", "seized"]


class Target:
    """A program that is told what to do, line by line."""

    def __init__(self, *command, env=None):
        self.p = start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.pid = self.p.pid
        read_line(self.p, "ready")

    def tell(self, *words):
        self.p.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.p.stdin.flush()
        return read_line(self.p, "done")

    def end(self):
        """Nothing it does itself has gone wrong, and it ends by itself."""
        self.p.stdin.close()
        expect_eq(self.p.wait(30), 0, "how the program ended")


class Attached:
    """assay, attached: it records from now on, until left() or the program's end."""

    def __init__(self, pid, *options, env=None):
        self.begin(pid, *options, env=env)
        self.expect_there()

    @classmethod
    def begun(cls, pid, *options):
        """The same, but it is not waited for."""
        self = cls.__new__(cls)
        self.begin(pid, *options)
        return self

    def begin(self, pid, *options, env=None):
        self.pid = pid
        self.p = start(ASSAY, "heap", "attach", "--no-store", "-f", "-o", FILE, *options, pid,
                       stderr=subprocess.PIPE, text=True, env=env)

    def expect_there(self):
        self.line = read_error(self.p)
        expect_in(f"attached to process {self.pid}", self.line)

    def left(self):
        self.p.send_signal(signal.SIGINT)
        return self.ended()

    def ended(self):
        self.err = self.p.communicate(timeout=60)[1]
        expect_eq(self.p.returncode in (0, 130), True, f"{self.p.returncode}: {self.err}")
        return Heap(run("true"), heap_stats(FILE))


def seized(pid):
    """A debugger that has the process, and does nothing."""
    p = start(sys.executable, "-c", f"""
import ctypes, time
assert ctypes.CDLL(None).ptrace(0x4206, {pid}, 0, 0) == 0    # PTRACE_SEIZE
print("has it", flush=True)
time.sleep(60)""", stdout=subprocess.PIPE, text=True)
    read_line(p, "has it")
    return p


def read_error(p):
    line = p.stderr.readline()
    expect(line, "assay ended and said nothing")
    return line


def attachee(**how):
    return Target(work("attachee"), **how)


def hooks(pid):
    """Words of the program's own table that lead into the library."""
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    ranges = [tuple(int(x, 16) for x in line.split()[0].split("-"))
              for line in maps if "assay-heap.so" in line]
    low, high = (min(r[0] for r in ranges), max(r[1] for r in ranges)) if ranges else (0, 0)
    found = 0
    with open(f"/proc/{pid}/mem", "rb") as mem:
        for line in maps:
            if "attachee" in line and not line.endswith("(deleted)") and " r" in line:
                a, b = (int(x, 16) for x in line.split()[0].split("-"))
                mem.seek(a)
                data = mem.read(b - a)
                found += sum(low <= int.from_bytes(data[i:i + 8], "little") < high
                             for i in range(0, len(data) - 7, 8))
    return found


def tasks(pid):
    """(tid, name) of every thread."""
    for folder in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            yield int(folder.name), (folder / "comm").read_text().strip()
        except OSError:
            pass        # it has just ended


def threads(pid):
    return sorted(name for _, name in tasks(pid))


def visitors(pid):
    """Threads that are assay's."""
    return [tid for tid, name in tasks(pid) if name == "assay-heap"]


BYTES = 33      # of an object that a bytearray has its bytes in, from 3.15 on
SERVER = ROOT / "tests/workloads/python/server.py"


class Server(Target):
    """A service with an event loop: what it is told comes by a connection."""

    def __init__(self, *python):
        self.p = start(*python, SERVER, stdout=subprocess.PIPE, text=True)
        self.pid = self.p.pid
        port = int(read_line(self.p, "ready").split()[1])
        self.s = socket.create_connection(("127.0.0.1", port))
        self.f = self.s.makefile("rw")

    def tell(self, *words):
        self.f.write(" ".join(str(w) for w in words) + "\n")
        self.f.flush()
        expect_eq(self.f.readline(), "done\n", "its answer")

    def end(self):
        self.tell("end")
        expect_eq(self.p.wait(30), 0, "how the program ended")


def of_server(h, key="top_by_size"):
    """{last part of a function's name: (bytes, count)} of the service's own lines."""
    found = collections.defaultdict(lambda: (0, 0))
    for x in h.doc[key]:
        if (x["file"] or "").endswith("server.py"):
            name = (x["function"] or "").rpartition(".")[2]
            found[name] = found[name][0] + x["bytes"], found[name][1] + x["count"]
    return found


def expect_served(*python, **how):
    """A service goes on to serve; its lines have what they made, objects when asked for."""
    t = Server(*python)
    t.tell("grow", 3)
    a = Attached(t.pid, **how)
    t.tell("grow", 11)
    h = a.left()
    t.tell("grow", 3)
    made = of_server(h)["grow"]
    expect(made[1] == 11 and 11 * 5003 <= made[0] <= 11 * (5008 + BYTES), f"{python[-1]}: {made}")
    expect_eq([p["problem"] for p in h.doc["processes"]], [None], "problem")
    a = Attached(t.pid, "--python-allocators", **how)
    t.tell("objects", 200)
    made = of_server(a.left())["objects"]
    expect(200 <= made[1] <= 240, f"{python[-1]}: {made} for 200 objects and a list")
    t.tell("objects", 200)
    expect_eq(len(threads(t.pid)), 1, "threads left")
    t.end()
