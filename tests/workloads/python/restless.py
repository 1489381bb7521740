"""A deep stack whose end never stands still: restless.py SECONDS

Prints a line for each SIGUSR1.
"""
import os
import signal
import sys
import time


def down_a(n):
    return down_b(n - 1) if n else n


def down_b(n):
    return down_a(n - 1) if n else n


def deep(n, end):
    if n:
        return deep(n - 1, end)
    while time.monotonic() < end:
        for n in range(20, 120):
            down_a(n)


signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"got it\n"))     # print() is not reentrant
print("ready", flush=True)
deep(150, time.monotonic() + float(sys.argv[1]))
