"""A deep stack whose end never stands still: restless.py SECONDS

Prints a line for each SIGUSR1.
"""
import os
import signal
import sys
import time


def leaf_a():
    return 1


def leaf_b():
    return 2


def call_a():
    return leaf_a()


def call_b():
    return leaf_b()


def deep(n, end):
    if n:
        return deep(n - 1, end)
    while time.monotonic() < end:
        for _ in range(1000):
            call_a()
            call_b()


signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"got it\n"))     # print() is not reentrant
print("ready", flush=True)
deep(150, time.monotonic() + float(sys.argv[1]))
