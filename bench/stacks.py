"""stacks -- looking at the stacks of a Python program from outside (bench/stacks_work.py)."""
import contextlib
import dataclasses
import json
import pathlib
import re
import statistics
import subprocess
import sys

import peers
from harness import ROOT, Result, exactly, median, part_text, ratio, verdict

ABOUT = "CPU time of a sampler of Python stacks: as fast as it can, and at a rate."
THREADS = 100
LATE_PERCENT, REJECTED_PERCENT = 0.1, 1
FASTEST = 1_000_000_000     # looks a second that nobody reaches


# --- samplers -----------------------------------------------------------------

@dataclasses.dataclass
class Tool:
    name: str
    command: object     # of pid, seconds, looks a second (None: as fast as can be), a file
    count: object       # of that file: how many stacks are in it


def folded(path):
    """Stacks in a file of lines that end with their count."""
    with open(path, "rb") as f:
        return sum(int(line.rsplit(b" ", 1)[1]) for line in f)


def assay(b, *options, name="assay"):
    def command(pid, seconds, hz, path):
        return [b.assay, "record", "--quiet", "-p", pid, "-d", seconds, "-r", hz or FASTEST,
                "-f", "folded", "-o", path, "--stats-json", f"{path}.json",
                *(options if hz else ("--mode", "wall"))]
    return Tool(name, command, folded)


def py_spy(peer):
    """Its duration is a number of samples: as fast as it can it takes as long as they take."""
    def command(pid, seconds, hz, path):
        fast = [] if hz else ["--nonblocking"]
        return [peer.program("py-spy"), "record", "-p", pid, "-d", seconds, "-r", hz or 1000,
                "-f", "raw", "-o", path, *fast]
    return Tool(f"py-spy {peer.version}", command, folded)


def lines(path):
    """Stacks in austin's text: a line each, among comments."""
    with open(path, "rb") as f:
        return sum(line.startswith(b"P") for line in f)


INT, TEXT = rb"[\x80-\xff]*[\0-\x7f]", rb"[^\0]*\0"
STACK = re.compile(rb"\x02(?:%b){2}%b(?:\x05%b|\x03(?:%b){7}|\x0b%b%b|[\x04\x07\x08])*\x09%b"
                   % (INT, TEXT, INT, INT, INT, TEXT, INT))


def mojo(path):
    """Stacks in austin's binary format: each is a process, a thread, frames, and a time."""
    data = pathlib.Path(path).read_bytes()
    n, told = len(STACK.findall(data)), int(re.search(rb"\x01count\0(\d+)\0", data)[1])
    if abs(n - told) > 1 + told / 100:
        sys.exit(f"bench: {n} stacks in what austin wrote, {told} as it says")
    return n


def austin(peer):
    def command(pid, seconds, hz, path):
        return [peer.program("austin"), "-p", pid, "-x", seconds,
                "-i", 1_000_000 // hz if hz else 1, "-o", path]
    return Tool(f"austin {peer.version}", command, lines if peer.version < "4" else mojo)


def tools(b):
    return [assay(b), *map(austin, peers.of("austin-dist")), *map(py_spy, peers.of("py-spy"))]


# --- cases --------------------------------------------------------------------

@dataclasses.dataclass
class Case:
    title: str
    words: tuple            # for the program
    hz: int = None          # None: as fast as can be
    parts: dict = dataclasses.field(default_factory=dict)   # {peer: most of its CPU time}
    percent: float = None   # of a core, at the most


CASES = [
    Case("depth 5, as fast as can be", (5,), None, {"austin": 1 / 3}),
    Case("depth 50, as fast as can be", (50,), None, {"austin": 1 / 10}),
    Case("depth 200, as fast as can be", (200,)),
    Case("depth 50, 100 Hz", (50,), 100, {"austin": 1 / 2, "py-spy": 1 / 5}),
    Case("depth 50, 1 kHz", (50,), 1000),
    Case(f"{THREADS} threads that wake 20 times a second, 100 Hz", (5, THREADS), 100, percent=3),
]


@contextlib.contextmanager
def target(b, seconds, *words):
    """The program, ready; its process number."""
    p = subprocess.Popen([*b.python, ROOT / "bench/stacks_work.py", str(seconds),
                          *map(str, words)], stdout=subprocess.PIPE, text=True)
    try:
        if p.stdout.readline() != "ready\n":
            sys.exit("bench: the program to look at did not start")
        yield p.pid
    finally:
        p.kill()
        p.wait()


# --- measuring ----------------------------------------------------------------

class Told:
    """What the rounds of a tool told: CPU time and stacks of each, and how its sampling went."""

    def __init__(self):
        self.cpu, self.wall, self.stacks, self.stats = [], [], [], []

    def us(self):
        """CPU time of a stack, in µs."""
        return [cpu / 1e3 / max(n, 1) for cpu, n in zip(self.cpu, self.stacks)]

    def percent(self):
        """CPU time as % of a core."""
        return [100 * cpu / wall for cpu, wall in zip(self.cpu, self.wall)]

    def rate(self):
        return statistics.median(1e9 * n / w for n, w in zip(self.stacks, self.wall))

    def part(self, what, *whole):
        """Of all rounds, in per cent; the whole is a sum of several counts."""
        counts = [s for s in self.stats if s]
        return 100 * sum(s[what] for s in counts) / max(1, sum(s[w] for s in counts for w in whole))


def once(b, tool, case, pid, seconds):
    """(what the run cost, stacks in its output, its statistics)."""
    path = pathlib.Path(b.folder("stacks"), "out")
    command = tool.command(pid, seconds, case.hz, path)
    (costs,) = b.meter([command], 1, warm=0, may_fail="austin" in tool.name)
    stats = pathlib.Path(f"{path}.json")
    told = costs[0], tool.count(path), json.loads(stats.read_text()) if stats.exists() else None
    path.unlink()
    return told


def measure(b, tool, case, pid, told):
    """One round. At a rate a short run is taken off, so that start and end cancel out."""
    long, stacks, stats = once(b, tool, case, pid, (4 if b.quick else 9) if case.hz else 1)
    cpu, wall = long.own_ns, long.wall_ns
    if case.hz:
        short, few, _ = once(b, tool, case, pid, 1)
        cpu, wall, stacks = cpu - short.own_ns, wall - short.wall_ns, stacks - few
    for seen, value in zip((told.cpu, told.wall, told.stacks, told.stats),
                           (cpu, wall, stacks, stats)):
        seen.append(value)


def hold(result, case, told):
    """The budgets of a case."""
    ours = told["assay"]
    of = Told.percent if case.hz else Told.us
    for name, theirs in told.items():
        for peer, limit in case.parts.items():
            if name.startswith(peer):
                part = ratio(of(ours), of(theirs))
                result.budgets.append([f"stacks, {case.title}", f"≤ 1/{1 / limit:.0f} of {name}'s",
                                       part_text(part), verdict(part, limit)])
    if case.percent:
        late = ours.part("late", "late", "looks")
        result.budget(f"stacks, {case.title}", median(ours.percent()), case.percent, " %")
        result.budget(f"stacks, {case.title}: moments missed", exactly(late), LATE_PERCENT, " %")
    lost = ours.part("rejected", "samples", "rejected")
    result.budget(f"stacks, {case.title}: rejected", exactly(lost), REJECTED_PERCENT, " %")


def case_rows(b, result, case):
    all_tools = tools(b)
    told = {t.name: Told() for t in all_tools}
    with target(b, 900, *case.words) as pid:
        for i in range(1 if b.quick else 3 if case.hz else 5):
            for tool in all_tools[i % 4:] + all_tools[:i % 4]:
                measure(b, tool, case, pid, told[tool.name])
    hold(result, case, told)
    for name, t in told.items():
        us, percent = median(t.us()), median(t.percent())
        times = ratio(t.percent() if case.hz else t.us(),
                      told["assay"].percent() if case.hz else told["assay"].us())
        result.rows.append([case.title, name, f"{t.rate():,.0f}", us.text(),
                            percent.text() if case.hz else "",
                            "1" if name == "assay" else times.text("×", 2)])
        result.keep(**{f"{case.title}, {name}, us": us, f"{case.title}, {name}, percent": percent,
                       f"{case.title}, {name}, stacks_per_second": t.rate()})


def run(b):
    result = Result(["the program, and how often it is looked at", "by", "stacks a second",
                     "CPU of a stack, µs", "CPU, % of a core", "CPU against assay"])
    for case in CASES:
        case_rows(b, result, case)
    result.notes.append(
        "CPU is that of the sampler's own process. Stacks are counted in what it wrote. Every "
        "stack of assay is read twice and compared; the others take what they read. As fast as can "
        "be: the whole of a run of a second, austin with `-i 1`, py-spy with `--nonblocking`, "
        "assay with `--mode wall`. At a rate: what 9 s cost more than 1 s, everybody as by "
        "default; a stack is counted when its thread runs (assay, py-spy) or always (austin). Of "
        "threads that sleep only austin writes stacks.")
    return result
