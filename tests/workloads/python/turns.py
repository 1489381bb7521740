"""One function after the other: turns.py SECONDS

Each uses so much CPU time; when each began and ended (time.time()) is said at the end.
"""
import json
import sys
import time


def first_turn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def second_turn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


print("ready", flush=True)
times = {}
for turn in (first_turn, second_turn):
    begin = time.time()
    turn(float(sys.argv[1]))
    times[turn.__name__] = (begin, time.time())
print(json.dumps(times), flush=True)
