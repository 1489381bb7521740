"""Threads that do different things: threads.py SECONDS

`burner` uses the CPU, `sleeper` sleeps, the main thread waits for them.
"""
import sys
import threading
import time


def burner(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100))


def sleeper(seconds):
    time.sleep(seconds)


seconds = float(sys.argv[1])
threads = [threading.Thread(target=f, args=(seconds,)) for f in (burner, sleeper)]
for t in threads:
    t.start()
print("ready", flush=True)
for t in threads:
    t.join()
