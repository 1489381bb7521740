"""Two functions that use the CPU in a known ratio: split.py SHARE SECONDS

Says at the end what each used, by its thread's own clock, and the lines of their loops.
"""
import json
import sys
import time


def burn_first(seconds):
    end = time.thread_time() + seconds
    n = 0
    while time.thread_time() < end:
        n += 1      # line 15
    return n


def burn_second(seconds):
    end = time.thread_time() + seconds
    n = 0
    while time.thread_time() < end:
        n += 1      # line 23
    return n


def main():
    share, seconds = float(sys.argv[1]), float(sys.argv[2])
    print("ready", flush=True)
    used = {"burn_first": 0.0, "burn_second": 0.0}
    step = 0.004
    while sum(used.values()) < seconds:
        for name, part in (("burn_first", share), ("burn_second", 1 - share)):
            before = time.thread_time()
            globals()[name](step * part)
            used[name] += time.thread_time() - before
    print(json.dumps(used), flush=True)


main()
