"""store -- a catalogue of many runs (bench/store_million.c)."""
import json
import pathlib
import subprocess
import sys

from harness import Result, exactly, verdict

ABOUT = "Appending to a catalogue of a million short runs, and finding in it."

ROWS = [    # (key, what, divisor, unit, its budget or None)
    ("append_us", "append, many in a transaction", 1, "µs", 50),
    ("append_cpu_us", "the same, CPU time", 1, "µs", 50),
    ("open_put_close_us", "open the store, append one, close it", 1, "µs", None),
    ("bytes_per_run", "disk space of a run (3 processes, 30 samples)", 1e3, "KB", 5),
    ("find_by_prefix_us", "find a run by the beginning of its id", 1e3, "ms", 1),
    ("get_us", "read it whole", 1e3, "ms", 1),
    ("stats_all_us", "statistics of all runs, by name", 1e3, "ms", None),
    ("stats_name_us", "of one name of 200", 1e3, "ms", 200),
    ("stats_pattern_us", "of half of the names, by a pattern", 1e3, "ms", 200),
    ("stats_failed_us", "of those that failed", 1e3, "ms", 200),
    ("stats_month_us", "of the last month", 1e3, "ms", 200),
    ("stats_middle_us", "of nine months", 1e3, "ms", 200),
    ("stats_label_1pct_us", "by a label that 1 % bear", 1e3, "ms", 200),
    ("stats_label_10pct_us", "by a label that 10 % bear", 1e3, "ms", 200),
    ("stats_version_50pct_us", "by a version that 50 % are of", 1e3, "ms", 200),
    ("list_newest_us", "the 20 newest", 1e3, "ms", None),
    ("list_name_us", "the 20 newest of a name", 1e3, "ms", None),
    ("list_timeout_us", "the 20 newest that ran into their time limit", 1e3, "ms", None),
    ("list_label_1pct_us", "the 20 newest with a label that 1 % bear", 1e3, "ms", None),
    ("list_longest_us", "the 20 longest", 1e3, "ms", None),
]


def measure(b, runs):
    folder = pathlib.Path(b.folder("store"), "million")
    p = subprocess.run([b.bin("store_million"), folder, str(runs)], text=True, capture_output=True)
    if p.returncode:
        sys.exit(p.stderr)
    return json.loads(p.stdout)


def put_budgets(result, told, runs):
    result.budget(f"append to {runs:,} runs, wall", exactly(told["append_us"]), 50, " µs")
    result.budget(f"append to {runs:,} runs, CPU", exactly(told["append_cpu_us"]), 50, " µs")
    result.budget("disk space of a short run", exactly(told["bytes_per_run"] / 1e3), 5, " KB")
    result.budget(f"find by id among {runs:,} runs", exactly(told["find_by_prefix_us"] / 1e3), 1,
                  " ms")
    slowest = max((told[k], what) for k, what, *_, limit in ROWS if k[:5] == "stats" and limit)
    result.budget(f"statistics of {runs:,} runs, filtered, the slowest: {slowest[1]}",
                  exactly(slowest[0] / 1e3), 200, " ms")


def run(b):
    runs = 20_000 if b.quick else 1_000_000
    told = measure(b, runs)
    result = Result([f"{runs:,} runs", "wall time, or size", "budget", ""])
    for key, what, divisor, unit, limit in ROWS:
        v = exactly(told[key] / divisor)
        result.rows.append([what, v.text(f" {unit}"), f"{limit} {unit}" if limit else "",
                            verdict(v, limit) if limit else ""])
    put_budgets(result, told, runs)
    result.keep(**told)
    result.notes.append("Medians of 15 questions each (300 for those by id), with the file in "
                        "memory as the filling left it.")
    return result
