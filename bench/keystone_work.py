#!/usr/bin/env python3
"""keystone_work -- with psutil, what Keystone's resource profiler does while a job runs.

    bench/keystone_work.py COMMAND...

Every 0.5 s, on a thread: the machine's CPU over a blocking 0.1 s, its memory,
and CPU and resident size of *this* process (not of the job: that is how the
original does it). The disk counters at the start and at the end. Its look for
GPUs and containers, which starts other programs, is left out in its favour.
"""
import subprocess
import sys
import threading

import psutil

MIB = 1024 * 1024


def look():
    me = psutil.Process()
    sample = {"cpu_percent": psutil.cpu_percent(interval=0.1), "cpu_count": psutil.cpu_count()}
    memory = psutil.virtual_memory()
    sample["memory_percent"] = memory.percent
    sample["memory_used_mb"] = memory.used / MIB
    sample["memory_available_mb"] = memory.available / MIB
    sample["process_cpu_percent"] = me.cpu_percent()
    sample["process_memory_mb"] = me.memory_info().rss / MIB
    return sample


def main():
    over, samples = threading.Event(), []

    def watch():
        while not over.is_set():
            samples.append(look())
            over.wait(0.5)

    before = psutil.disk_io_counters()
    thread = threading.Thread(target=watch)
    thread.start()
    status = subprocess.run(sys.argv[1:]).returncode
    over.set()
    thread.join()
    after = psutil.disk_io_counters()
    print({key: max(s[key] for s in samples) for key in samples[0]},
          after and after.read_bytes - before.read_bytes)
    return status


if __name__ == "__main__":
    sys.exit(main())
