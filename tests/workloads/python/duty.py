"""Works a little and waits much, again and again: duty.py SECONDS

`busy` uses all the CPU that is used, `idle` waits nine times as long.
"""
import sys
import time


def busy(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def idle(seconds):
    time.sleep(seconds)


print("ready", flush=True)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    busy(0.003)
    idle(0.027)
