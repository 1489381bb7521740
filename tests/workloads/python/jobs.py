"""Tasks that share a loop: jobs.py SECONDS

`busy-3` burns three times as much CPU as `busy-1`, in turns; `idle` awaits.
"""
import asyncio
import sys
import time


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(50))


async def one():
    while time.monotonic() < end:
        burn(0.002)
        await asyncio.sleep(0)


async def three():
    while time.monotonic() < end:
        burn(0.006)
        await asyncio.sleep(0)


async def deeper():
    await asyncio.sleep(60)


async def idle():
    await deeper()


async def main():
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(f(), name=name)
             for f, name in ((idle, "idle"), (one, "busy-1"), (three, "busy-3"))]
    await asyncio.sleep(0)
    print("ready", flush=True)
    await tasks[1]
    tasks[0].cancel()


end = time.monotonic() + float(sys.argv[1])
asyncio.run(main())
