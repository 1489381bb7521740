#!/usr/bin/env python3
"""psutil_sample -- look with psutil at every process of a job, until it ends.

    bench/psutil_sample.py PAUSE TOLD COMMAND...

Between two looks it sleeps PAUSE seconds; how many looks there were is written
to the file TOLD. A look is what assay's sample is: who is there, and CPU time,
memory, I/O, threads and context switches of each, read the cheapest way that
psutil has.
"""
import pathlib
import subprocess
import sys
import threading

import psutil


def look(root):
    rows = []
    try:
        for p in [root, *root.children(recursive=True)]:
            with p.oneshot():
                rows.append((p.pid, p.cpu_times(), p.memory_info(), p.io_counters(),
                             p.num_threads(), p.num_ctx_switches()))
    except psutil.Error:
        pass        # the job is ending: half a look is the last one
    return rows


def main():
    pause, told, command = float(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    job = subprocess.Popen(command)
    root, over, looks, seen = psutil.Process(job.pid), threading.Event(), 0, 0
    threading.Thread(target=lambda: (job.wait(), over.set()), daemon=True).start()
    while not over.wait(pause):
        seen = max(seen, len(look(root)))
        looks += 1
    told.write_text(f"{looks} {seen}\n")
    return job.returncode


if __name__ == "__main__":
    sys.exit(main())
