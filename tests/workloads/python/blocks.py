"""A service whose loop is held: blocks.py SEED COUNT [asyncio|uvloop|trio [LEAST MOST]]

Blocks of LEAST to MOST ms (2 to 200), spread evenly over their logarithm, by turns computing
and sleeping, with a heartbeat beside them. Says at the end, as JSON, when each began and
ended by CLOCK_MONOTONIC, and the line that held the loop.
"""
import json
import math
import random
import sys
import time


def compute(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def hold_cpu(seconds):
    compute(seconds)            # line 21


def hold_sleep(seconds):
    time.sleep(seconds)         # line 25


KINDS = {"cpu": (hold_cpu, 21), "sleep": (hold_sleep, 25)}


def plan(seed, count, least, most):
    chance = random.Random(seed)
    for i in range(count):
        length = math.exp(chance.uniform(math.log(least), math.log(most))) / 1000
        yield ("cpu", "sleep")[i % 2], length, chance.uniform(0.006, 0.025)


async def beat(sleep):
    while True:
        await sleep(0.004)


async def blocks(sleep, todo, log):
    await sleep(0.7)            # somebody may need a moment to attach
    for kind, length, pause in todo:
        hold, line = KINDS[kind]
        start = time.monotonic_ns()
        hold(length)
        log.append({"kind": kind, "start": start, "end": time.monotonic_ns(), "line": line})
        await sleep(pause)
    await sleep(0.2)


def run_asyncio(todo, log):
    import asyncio

    async def main():
        beats = asyncio.create_task(beat(asyncio.sleep), name="heartbeat")
        await asyncio.create_task(blocks(asyncio.sleep, todo, log), name="holder")
        beats.cancel()

    asyncio.run(main())


def run_uvloop(todo, log):
    import uvloop

    uvloop.install()
    run_asyncio(todo, log)


def run_trio(todo, log):
    import trio

    async def main():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(beat, trio.sleep)
            await blocks(trio.sleep, todo, log)
            nursery.cancel_scope.cancel()

    trio.run(main)


def main():
    seed, count, *rest = sys.argv[1:]
    flavour, least, most = (*rest, *("asyncio", 2, 200)[len(rest):])
    log = []
    print("ready", flush=True)
    todo = plan(int(seed), int(count), float(least), float(most))
    globals()[f"run_{flavour}"](todo, log)
    print(json.dumps(log), flush=True)


main()
