"""Threads in states of their own: states.py SECONDS

Its second line is JSON: the kernel's number of each thread by the name of the
function that it is in.
"""
import json
import os
import select
import sys
import threading
import time

here = {}
came = threading.Semaphore(0)
held = threading.Lock()
held.acquire()
pipe = os.pipe()


def arrive(name):
    here[name] = threading.get_native_id()
    came.release()


def sleeper():
    arrive("sleeper")
    time.sleep(seconds)


def reader():
    arrive("reader")
    os.read(pipe[0], 1)


def locked():
    arrive("locked")
    held.acquire()


def poller():
    poll = select.epoll()
    arrive("poller")
    poll.poll(seconds)


def burn():
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100))


def burner_1():
    arrive("burner_1")
    burn()


def burner_2():
    arrive("burner_2")
    burn()


seconds = float(sys.argv[1])
functions = [sleeper, reader, locked, poller]
if len(sys.argv) > 2:
    functions += [burner_1, burner_2]
for f in functions:
    threading.Thread(target=f, name=f.__name__ + "-thread", daemon=True).start()
for _ in functions:
    came.acquire()
here["main"] = threading.get_native_id()
print("ready", flush=True)
print(json.dumps(here), flush=True)


def main():
    time.sleep(seconds)


main()
