"""stacks_work -- a Python program to look at: stacks_work.py SECONDS DEPTH [THREADS]

DEPTH calls below its first one it works in a loop, in calls of some microseconds; or it sleeps
there, and so many THREADS wake 20 times a second and work for a moment. Says `ready` when so.
"""
import sys
import threading
import time


def work():
    n = 0
    for i in range(300):
        n += i * i
    return n


def loop(end):
    print("ready", flush=True)
    while time.monotonic() < end:
        work()


def rest(end):
    print("ready", flush=True)
    time.sleep(end - time.monotonic())


def down(left, at_bottom, end):
    return down(left - 1, at_bottom, end) if left else at_bottom(end)


def wake(end, after):
    time.sleep(after)
    while time.monotonic() < end:
        work()
        time.sleep(0.05)


def main():
    seconds, depth, threads = float(sys.argv[1]), int(sys.argv[2]), int((sys.argv + [0])[3])
    sys.setrecursionlimit(depth + 1000)
    end = time.monotonic() + seconds
    for i in range(threads):
        threading.Thread(target=wake, args=(end, 0.05 * i / threads), daemon=True).start()
    down(depth, rest if threads else loop, end)


main()
