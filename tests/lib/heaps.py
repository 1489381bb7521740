"""heaps -- what tests of `assay heap` share, on top of harness and jobs.

    h = heap(work("allocs"), "peak")        recorded, and what its stats say
    h.truth                                 what the program said of itself: a list, one a process
    oracle(*command)                        what a library that only counts saw, one a process
"""
import json

from harness import run, tmp
from jobs import work

__all__ = ["oracle", "lines_of_json"]


def lines_of_json(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def oracle(*command, **how):
    """(how the command ended, what count_allocs saw of each process that ended in order)."""
    path = tmp() / "counted.json"
    path.unlink(missing_ok=True)
    env = {"LD_PRELOAD": work("libcount_allocs.so"), "COUNT_ALLOCS": str(path)}
    r = run(*command, env={**env, **how.pop("env", {})}, **how)
    return r, lines_of_json(path.read_text()) if path.exists() else []
