"""stacks_table -- how true stacks are, by what the program does and by its CPython.

The tables of docs/truth.md. tests/truth/test_stacks.py holds every cell to its promise, and

    python3 tests/lib/stacks_table.py

measures them all and writes the tables anew.
"""
import collections
import json
import math
import os
import pathlib
import platform
import re
import shutil
import sys
import tempfile
import time

import harness
from harness import ROOT, assay, expect, stop, tmp
from pythons import pythons, script, stacks

sys.path.insert(0, str(ROOT / "tests/workloads/python"))
import shapes

PAGE = ROOT / "docs/truth.md"
ENOUGH = 30_000         # stacks of each shape
IMPOSSIBLE = 1e-4       # of them, at the most
REJECTED = 1e-2         # of an ordinary program's
SPLITS = {"3 : 1, two functions": ("split", 0.75, 4), "1, 1/2, 1/3, …, twelve": ("zipf", 12, 4)}


def name_of(frame):
    return frame.split(" ")[0]


def record(pid, *options, seconds=1):
    """The stacks of a process, and how the sampling went."""
    r = assay("record", "--quiet", "-p", pid, "-d", seconds, "-f", "folded", "--stats-json",
              "stats.json", *options).ok()
    return stacks(r.out), json.loads((tmp() / "stats.json").read_text())


# --- stacks that cannot be --------------------------------------------------------

def impossible(found, shape):
    """Stacks of the shape's own functions that the program never has, with their counts."""
    allowed = {tuple(chain) for chain in shapes.ALLOWED[shape]}
    own = {name for chain in allowed for name in chain}
    bad = collections.Counter()
    for frames, count in found:
        chain = tuple(name_of(f) for f in frames if name_of(f) in own)
        if chain and chain not in allowed:
            bad[chain[:6]] += count
    return bad


Seen = collections.namedtuple("Seen", "samples impossible rejected shape examples")


def look(python, name, *words):
    """Look at a program, as often as can be of use, until there are enough stacks of it."""
    found, samples, rejected = collections.Counter(), 0, 0
    p = script(python, name, *words, 200)
    for _ in range(40):
        some, stats = record(p.pid, "-r", 20_000, "--mode", "wall")
        for frames, count in some:
            found[tuple(frames)] += count
        samples += stats["samples"]
        rejected += stats["rejected"]
        if samples >= ENOUGH:
            break
    stop(p)
    return found.items(), samples, rejected / max(1, samples + rejected)


def shape_seen(python, shape):
    found, samples, rejected = look(python, "shapes", shape)
    bad = impossible(found, shape)
    seen = sum(n for frames, n in found if shape in map(name_of, frames))
    return Seen(samples, sum(bad.values()), rejected, seen, bad.most_common(3))


def ordinary_seen(python):
    _, samples, rejected = look(python, "ordinary")
    return Seen(samples, None, rejected, None, None)


# --- whose time it was ------------------------------------------------------------

Split = collections.namedtuple("Split", "samples distance floor time_error")


def distance(counts, truth):
    """Total variation: the part that is with the wrong function."""
    n, whole = sum(counts[k] for k in truth), sum(truth.values())
    return sum(abs(counts[k] / n - truth[k] / whole) for k in truth) / 2


def floor(truth, n):
    """What chance alone makes of it, on average, with n samples."""
    whole = sum(truth.values())
    shares = [v / whole for v in truth.values()]
    return sum(math.sqrt(2 / math.pi * p * (1 - p) / n) for p in shares) / 2


def leaves(found, names):
    counts = collections.Counter()
    for frames, n in found:
        counts[next((name_of(f) for f in frames if name_of(f) in names), None)] += n
    return counts


def split_seen(python, name, *words):
    """By samples; and how far the sum of their times is from the CPU time that was used."""
    told = []
    for weight in ("samples", "time"):
        p = script(python, name, *words)
        found, _ = record(p.pid, "-r", 1000, "--weight", weight, seconds=120)
        truth = json.loads(p.stdout.readline())
        told.append((leaves(found, truth), truth))
    (counts, truth), (times, used) = told
    n = sum(counts[k] for k in truth)
    expect(n > 100, f"{n} samples")
    off = sum(times.values()) / 1e6 / sum(used.values()) - 1
    return Split(n, distance(counts, truth), floor(truth, n), off)


# --- the tables -------------------------------------------------------------------

def line(cells):
    return "| " + " | ".join(cells) + " |\n"


def table(head, rows):
    return line(head) + line(["---"] * len(head)) + "".join(map(line, rows))


def seen_cell(s):
    rejected = f"{100 * s.rejected:.2g} % rejected"
    return rejected if s.impossible is None else f"{s.impossible} of {s.samples:,}, {rejected}"


def split_cell(s):
    return (f"{100 * s.distance:.1f} % ({100 * s.floor:.1f} % by chance), "
            f"{100 * s.time_error:+.1f} % of the time")


def put(name, text):
    block = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)", re.S)
    PAGE.write_text(block.sub(lambda _: text, PAGE.read_text()))


def rows_of(titles, cell):
    rows = []
    for title in titles:
        rows.append([title, *(cell(title, p) for p in pythons())])
        print(line(rows[-1]), end="", flush=True)
    return rows


def where():
    """Under which load: a busy machine makes stacks stand still."""
    return (f"\n*{time.strftime('%Y-%m-%d', time.gmtime())}, Linux {platform.release()}, "
            f"{os.cpu_count()} CPUs, load {os.getloadavg()[1]:.0f}.*\n")


def record_tables():
    harness.current["tmp"] = pathlib.Path(tempfile.mkdtemp(prefix="stacks-"))
    head = ["", *(p.version for p in pythons())]
    seen = rows_of(shapes.ALLOWED, lambda shape, p: seen_cell(shape_seen(p, shape)))
    seen += rows_of(["an ordinary program"], lambda _, p: seen_cell(ordinary_seen(p)))
    put("stacks", table(head, seen) + where())
    splits = rows_of(SPLITS, lambda s, p: split_cell(split_seen(p, *SPLITS[s])))
    put("splits", table(head, splits) + where())
    shutil.rmtree(tmp())


if __name__ == "__main__":
    record_tables()
