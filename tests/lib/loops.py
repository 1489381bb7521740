"""loops -- a service that knows when its loop was held, and what `assay loop` made of it.

    log, found = blocks_of(python, seed, count)     what it logged, and our document
    match(log, found)                               each with the block found for it, or None
    by("bpf")                                       hold it to one way of watching, WAYS
    lines_of(block, "app.py")                       the lines of that file on the block's stack
"""
import collections
import json
import subprocess

from harness import ASSAY, expect_eq, start, stop
from pythons import script
from rungs import need

__all__ = ["watch", "blocks_of", "match", "lines_of", "by", "WAYS"]

WAYS = ("proc", "bpf")
Pair = collections.namedtuple("Pair", "kind ms line found")


def by(way):
    """The environment that holds us to one way; the test is skipped where it cannot be."""
    if way == "bpf":
        need("bpf")
    return {"ASSAY_RUNG": way}


def watch(pid, *options, env=None):
    """`assay loop --json` at work."""
    return start(ASSAY, "loop", "--json", *options, pid, env=env, stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE, text=True)


def document(p, timeout=120):
    out, err = p.communicate(timeout=timeout)
    expect_eq((p.returncode, err), (0, ""), "how assay loop ended")
    return json.loads(out)


def blocks_of(python, *words, program="blocks", options=("--threshold", "3ms"), env=None):
    """Hold a loop as tests/workloads/python/blocks.py does: its own log, and our document."""
    p = script(python, program, *words)
    w = watch(p.pid, *options, env=env)
    log = json.loads(p.stdout.readline())
    stop(p)
    return log, document(w)


def overlap(truth, block):
    begin = block["start_monotonic_ns"]
    return (min(truth["end"], begin + block["duration_ms"] * 1e6) - max(truth["start"], begin))


def match(log, found):
    """Each true block with the one that covers most of it, if any covers half."""
    for truth in log:
        length = truth["end"] - truth["start"]
        best = max(found["blocks"], key=lambda b: overlap(truth, b), default=None)
        if best is not None and overlap(truth, best) < length / 2:
            best = None
        yield Pair(truth["kind"], length / 1e6, truth["line"], best)


def lines_of(block, file):
    return [f["line"] for f in block["frames"] if f["file"].endswith(file)]
