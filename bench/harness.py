"""harness -- what the benchmarks share: a meter, a little statistics, tables.

A benchmark is a module with ABOUT, one sentence, and run(bench), which
returns a Result. It measures everything that it compares in one run and in
turns; CPU time where it can, because a shared machine makes wall time noise.
A figure is a median with the 95 % bootstrap interval of it, seeds fixed.
Nothing passes or fails here: a budget that is missed reads "over".
"""
import contextlib
import dataclasses
import json
import os
import pathlib
import platform
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import peers

ROOT = pathlib.Path(__file__).resolve().parent.parent
DRAWS = 2000        # of the bootstrap


# --- figures ------------------------------------------------------------------

@dataclasses.dataclass
class Figure:
    """A median and the 95 % interval of it."""
    value: float
    low: float
    high: float
    n: int

    def scaled(self, by):
        return Figure(self.value * by, self.low * by, self.high * by, self.n)

    def text(self, unit="", digits=3):
        if self.low == self.high:
            return f"{number(self.value, digits)}{unit}"
        return (f"{number(self.value, digits)}{unit} "
                f"({number(self.low, digits)} to {number(self.high, digits)})")


def number(v, digits=3):
    """Three figures that say something; no exponents."""
    if v != v:
        return "-"
    if abs(v) >= 10 ** (digits - 1):
        return f"{v:,.0f}"
    return f"{v:.{digits}g}" if v else "0"


def exactly(v):
    """A figure that was measured or computed once: it has no interval."""
    return Figure(v, v, v, 1)


def bootstrap(n, statistic):
    """The 95 % interval of statistic(indices) when the n rounds are drawn anew."""
    rng = random.Random(1)
    drawn = sorted(statistic(rng.choices(range(n), k=n)) for _ in range(DRAWS))
    return drawn[DRAWS // 40], drawn[-DRAWS // 40]


def median(values):
    low, high = bootstrap(len(values), lambda at: statistics.median(values[i] for i in at))
    return Figure(statistics.median(values), low, high, len(values))


def ratio(above, below):
    """The ratio of two medians. The rounds are drawn for both at once: they were run in turns."""
    def of(at):
        return statistics.median(above[i] for i in at) / statistics.median(below[i] for i in at)
    n = min(len(above), len(below))
    return Figure(of(range(n)), *bootstrap(n, of), n)


def part_text(f):
    """A ratio as people say it: "1/18 (1/17 to 1/19)"."""
    text = f"1/{1 / f.value:.1f}"
    return text if f.low == f.high else f"{text} (1/{1 / f.high:.1f} to 1/{1 / f.low:.1f})"


def verdict(figure, limit):
    """How a figure stands to its budget, which is an upper limit."""
    if figure.value > limit:
        return "over"
    return "within" if figure.high <= limit else "within, not surely"


# --- results ------------------------------------------------------------------

@dataclasses.dataclass
class Result:
    columns: list                                   # heads of the table
    rows: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)
    figures: dict = dataclasses.field(default_factory=dict)     # for machines
    budgets: list = dataclasses.field(default_factory=list)     # (what, limit, measured, verdict)

    def keep(self, **figures):
        for key, f in figures.items():
            self.figures[key] = dataclasses.asdict(f) if isinstance(f, Figure) else f

    def budget(self, what, figure, limit, unit):
        """Hold a figure to its limit; the word for the table."""
        word = verdict(figure, limit)
        self.budgets.append([what, f"≤ {number(limit)}{unit}", figure.text(unit), word])
        return word


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(str(c) for c in line) + " |\n" for line in lines)


# --- the machine --------------------------------------------------------------

def cpu_model():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def busy_ns():
    """(CPU time that anybody used, stolen time, all time) of the machine since its start."""
    tick = 1e9 / os.sysconf("SC_CLK_TCK")
    user, nice, system, idle, iowait, irq, soft, steal = map(
        int, open("/proc/stat").readline().split()[1:9])
    busy = user + nice + system + irq + soft
    return busy * tick, steal * tick, (busy + idle + iowait + steal) * tick


def own_ns():
    return 1e9 * sum(os.times()[:4])


def two_cpus():
    """One for who asks and one for who answers; the same where there is only one."""
    ours = sorted(os.sched_getaffinity(0))
    return ours[0], ours[-1]


def pinned(cpu, command):
    words = [str(w) for w in command]
    return words if cpu is None else ["taskset", "-c", str(cpu), *words]


class Noise:
    """How much of the machine others had while we measured: shares of all its CPUs."""

    def __init__(self):
        self.start, self.own = busy_ns(), own_ns()

    def shares(self):
        busy, steal, whole = (b - a for a, b in zip(self.start, busy_ns()))
        others = max(0, busy - (own_ns() - self.own))
        return {"others": others / max(whole, 1), "steal": steal / max(whole, 1)}


# --- running ------------------------------------------------------------------

@dataclasses.dataclass
class Cost:
    """What one run of a command took (see meter.c)."""
    round: int
    command: int
    status: int
    wall_ns: int
    own_ns: int
    tree_ns: int
    peak_kb: int


class Bench:
    """One call of bench/run.py: where things are, and how thorough to be."""

    def __init__(self, build, quick):
        self.build, self.quick = build, quick
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=self.bin("")))
        self.python = [sys.executable]
        self.root = os.geteuid() == 0
        self.dir.chmod(0o755)
        self.assay = self.public(build / "assay")

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def bin(self, name):
        return self.build / "bench" / name

    def public(self, path):
        """A copy that another user can run as well."""
        copy = self.dir / path.name
        shutil.copy2(path, copy)
        copy.chmod(0o755)
        return str(copy)

    def folder(self, name):
        """A new one, where anybody may write."""
        path = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.dir))
        path.chmod(0o777)
        return str(path)

    def meter(self, commands, rounds, warm=1, may_fail=False):
        """What each run of each command cost; they are run in turns. `warm` more go first."""
        text = "".join("\t".join(map(str, c)) + "\n" for c in commands)
        p = subprocess.run([self.bin("meter"), str(rounds + warm)], input=text, text=True,
                           env=peers.environment(), capture_output=True)
        if p.returncode:
            sys.exit(p.stderr)
        costs = [[] for _ in commands]
        for line in p.stdout.splitlines():
            k = Cost(*map(int, line.split()))
            if k.status and not may_fail:
                sys.exit(f"bench: status {k.status}: {' '.join(map(str, commands[k.command]))}")
            if k.round >= warm:
                costs[k.command].append(k)
        return costs

    @contextlib.contextmanager
    def stub(self, *options, on=None):
        """The URL of a server that assay is, until it is no longer needed; on a CPU of its own."""
        p = subprocess.Popen(pinned(on, [self.assay, "stub", *options]), stdout=subprocess.PIPE,
                             text=True)
        try:
            yield p.stdout.readline().split()[-1] + "/"
        finally:
            p.send_signal(signal.SIGINT)
            p.communicate()

    def as_nobody(self, command):
        return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]


def totals(path):
    """The totals that a run of assay told in its JSON, by key; None where it did not know."""
    told = json.loads(pathlib.Path(path).read_text())["assay"]["totals"]
    return {key: t["value"] if isinstance(t, dict) else t for key, t in told.items()}
