"""cgroup -- one look at the job's control group."""
import subprocess
import sys

from harness import Result, median

ABOUT = "CPU time of one look at all that the kernel counts of a control group."
LIMIT_US = 20
CANNOT = 77


def run(b):
    result = Result(["", "µs", f"budget: {LIMIT_US} µs"])
    p = subprocess.run([b.bin("cgroup_sample"), "20000", "200"], text=True, capture_output=True)
    if p.returncode == CANNOT:
        why = p.stderr.split(":", 1)[1].strip()
        result.rows.append(["one sample", "-", "not measured: " + why])
        return result
    if p.returncode:
        sys.exit(p.stderr)
    us = median([int(line) / 1e3 for line in p.stdout.split()])
    word = result.budget("one cgroup sample", us, LIMIT_US, " µs")
    result.rows.append(["one sample", us.text(), word])
    result.keep(sample_us=us)
    result.notes.append("20,000 samples of all fields, 200 at a time; the median of those batches.")
    return result
