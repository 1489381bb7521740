"""Functions that share the CPU as 1, 1/2, 1/3, …: zipf.py FUNCTIONS SECONDS

Says at the end what each used, by its thread's own clock.
"""
import json
import random
import sys
import time

SOURCE = """
def part_{k}(seconds):
    end = time.thread_time() + seconds
    n = 0
    while time.thread_time() < end:
        n += 1
    return n
"""


def main():
    functions, seconds = int(sys.argv[1]), float(sys.argv[2])
    parts = [f"part_{k}" for k in range(1, functions + 1)]
    for k in range(1, functions + 1):
        exec(SOURCE.format(k=k), globals())
    print("ready", flush=True)
    used = dict.fromkeys(parts, 0.0)
    while sum(used.values()) < seconds:
        for k in random.sample(range(functions), functions):
            before = time.thread_time()
            globals()[parts[k]](0.003 / (k + 1))
            used[parts[k]] += time.thread_time() - before
    print(json.dumps(used), flush=True)


main()
