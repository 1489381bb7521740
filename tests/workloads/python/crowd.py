"""Many threads that wait, and one that works: crowd.py THREADS SECONDS"""
import sys
import threading
import time


def waiter(seconds):
    time.sleep(seconds)


def worker(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100))


count, seconds = int(sys.argv[1]), float(sys.argv[2])
for i in range(count):
    threading.Thread(target=waiter, args=(seconds,), daemon=True).start()
print("ready", flush=True)
worker(seconds)
