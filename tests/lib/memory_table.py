"""memory_table -- how true peaks of memory are, by workload and by what the user is allowed.

Each row of the table in docs/truth.md is a program that knows what it needs, each column a way to
measure it. tests/truth/test_peaks.py holds every cell to its promise, and

    python3 tests/lib/memory_table.py

measures them all and writes the table anew.
"""
import collections
import pathlib
import re
import shutil
import tempfile

import harness
from harness import expect, tmp
from jobs import profile, without_memory_group

MIB = 1 << 20
OWN = 4 * MIB      # what a program of many processes needs by itself
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/truth.md"
BLOCK = re.compile(r"(?<=<!-- peaks -->\n).*?(?=<!-- end of peaks -->)", re.S)

# What a cell promises without a group that counts memory; with one it is always EXACT.
EXACT = "exact"         # within 3 %, or 4 MiB: what a program needs by itself
BOUNDED = "bounded"     # between what is surely needed and the upper bound
UNSEEN = "unseen"       # nobody's memory by any account that this user can read

Case = collections.namedtuple("Case", "title workload args options need without_group")
FILE = "FILE"       # in args: a file on the disk; SHM: one in /dev/shm
SHM = "SHM"


def held(p):
    return p.truth["bytes"]


def own(p):
    return p.truth["own_bytes"]


def file_too(p):
    return p.truth["own_bytes"] + p.truth["file_bytes"]


CASES = (
    Case("211 MiB of one process", "hold", (211, 1500), (), held, EXACT),
    Case("a mapping of 100 MiB that 11 processes share", "shared", (100, 10), (), held, EXACT),
    Case("100 MiB of a parent that 10 children have not copied", "shared",
         (100, 10, "private", 3), (), held, EXACT),
    Case("30 MiB of a parent that 10 children have copied", "shared", (30, 10, "copied", 4), (),
         held, EXACT),
    Case("211 MiB for 20 ms, samples 1 s apart", "spike", (211, 20), ("--interval", "1"), held,
         EXACT),
    Case("the same in children of 20 ms", "spike", (211, 20, 1250, "children"),
         ("--interval", "1"), held, BOUNDED),
    Case("a file of 100 MiB in a tmpfs", "cachefill", (SHM, 100), (), file_too, UNSEEN),
    Case("a file of 100 MiB, written and read: page cache", "cachefill", (FILE, 100), (), own,
         EXACT),
    Case("a file of 100 MiB that is mapped", "mapped", (FILE, 100), (), own, EXACT),
)

Way = collections.namedtuple("Way", "title nobody group env options metric")
PSS = ("--metrics", "cpu,memory,io,pss")

WAYS = (
    Way("root: control group", False, True, {}, (), None),
    Way("root, no group: BPF", False, False, {"ASSAY_RUNG": "bpf"}, (), None),
    Way("netlink", False, False, {"ASSAY_RUNG": "netlink"}, (), None),
    Way("/proc", False, False, {"ASSAY_RUNG": "proc"}, (), None),
    Way("nobody", True, False, {}, (), None),
    Way("nobody: largest PSS", True, False, {}, PSS, "job.memory.pss"),
)


def measure(case, way):
    """(truth, headline, upper bound) in bytes; the upper bound of PSS is None."""
    shm = pathlib.Path(f"/dev/shm/{tmp().name}")
    args = [{FILE: "file", SHM: shm}.get(a, a) for a in case.args]
    prefix = [] if way.group or way.nobody else without_memory_group()
    try:
        p = profile(case.workload, *args, options=(*case.options, *way.options), env=way.env,
                    nobody=way.nobody, prefix=prefix)
    finally:
        shm.unlink(missing_ok=True)
    expect(p.rc == 0, f"exit status {p.rc}: {p.err}")
    if way.metric:
        return case.need(p), p.metric(way.metric)["max"], None
    return case.need(p), p.total("memory_peak"), p.total("memory_peak_upper")


def promise(case, way):
    return EXACT if way.group else case.without_group


# --- the table ----------------------------------------------------------------

def mib(n):
    return "-" if n is None else f"{n / MIB:.1f}"


def cell(truth, told, upper):
    """"211.3, +0.1 % ≤ 213.0"; what is as good as nothing has no error in per cent."""
    if told is None:
        return "-"
    error = f", {100 * (told - truth) / truth:+.1f} %" if truth > 4 * MIB else ""
    return mib(told) + error + ("" if upper is None else f" ≤ {mib(upper)}")


def row(case):
    cells = [measure(case, way) for way in WAYS]
    return [case.title, mib(cells[0][0]), *(cell(*c) for c in cells)]


def line(cells):
    return "| " + " | ".join(cells) + " |\n"


HEAD = ["what the job needs", "true", *(way.title for way in WAYS)]


def record():
    harness.current["tmp"] = pathlib.Path(tempfile.mkdtemp(prefix="peaks-"))
    rows = []
    for case in CASES:
        rows.append(row(case))
        print(line(rows[-1]), end="", flush=True)
    shutil.rmtree(tmp())
    text = line(HEAD) + line(["---"] * len(HEAD)) + "".join(map(line, rows))
    PAGE.write_text(BLOCK.sub(lambda _: text, PAGE.read_text()))


if __name__ == "__main__":
    record()
