"""A service whose loop is held by two things, one after the other: holders.py COUNT

Each block computes for 30 ms and sleeps for 40, or the other way round, in tasks that nobody named.
Says at the end, as JSON, when each began and ended by CLOCK_MONOTONIC, and which lines held it
how long.
"""
import asyncio
import json
import sys
import time


def compute(seconds):
    start = end = time.monotonic()
    while end < start + seconds:
        end = time.monotonic()
    return end - start


def nap(seconds):
    start = time.monotonic()
    time.sleep(seconds)
    return time.monotonic() - start


async def block(burn, sleep, log):
    start = time.monotonic_ns()
    burnt = compute(burn)           # line 28
    slept = nap(sleep)              # line 29
    log.append({"kind": "cpu" if burnt > slept else "sleep", "start": start,
                "end": time.monotonic_ns(), "line": 28 if burnt > slept else 29,
                "held": {28: 1e3 * burnt, 29: 1e3 * slept}})


async def main(count):
    log = []
    await asyncio.sleep(0.7)            # somebody may need a moment to attach
    for i in range(count):
        await asyncio.create_task(block(*((0.03, 0.04), (0.04, 0.03))[i % 2], log))
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.2)
    return log


print("ready", flush=True)
print(json.dumps(asyncio.run(main(int(sys.argv[1])))), flush=True)
