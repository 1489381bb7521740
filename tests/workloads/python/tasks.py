"""Tasks of asyncio that know what they await: tasks.py SECONDS [uvloop]

Its second line is JSON: for each task by name its state, the functions of its
coroutines from the outermost, and the names of the tasks that it awaits.
"""
import asyncio
import json
import sys
import time

seconds = float(sys.argv[1])
told = {}


def tell(name, functions, awaits=(), state="awaiting"):
    told[name] = {"state": state, "functions": functions, "awaits": sorted(awaits)}


async def sleeps():
    await asyncio.sleep(seconds)


async def outer():
    await inner()


async def inner():
    await sleeps()


async def numbers():
    yield 1
    await sleeps()
    yield 2


async def iterates():
    async for _ in numbers():
        pass


async def locked(lock):
    async with lock:
        pass


async def queued(queue):
    await queue.get()


async def awaits_task(task):
    await task


async def gathers(*tasks):
    await asyncio.gather(*tasks)


async def gathers_twice(a, b):
    await asyncio.gather(asyncio.gather(a), b)


async def waits(*tasks):
    await asyncio.wait(tasks)


async def shields(task):
    await asyncio.shield(task)


async def waits_for(task):
    await asyncio.wait_for(task, seconds)


async def groups(loop):
    async with asyncio.TaskGroup() as group:
        for name in ("member-1", "member-2"):
            group.create_task(sleeps(), name=name)


async def never():
    pass


class Gate:
    def __await__(self):
        return sleeps().__await__()


async def gated():
    await Gate()


async def main():
    loop = asyncio.get_running_loop()
    kept = []

    def start(name, coroutine):
        kept.append(loop.create_task(coroutine, name=name))
        return kept[-1]

    def sleeper(name):
        tell(name, ["sleeps", "sleep"])
        return start(name, sleeps())

    lock = asyncio.Lock()
    await lock.acquire()
    tell("deep", ["outer", "inner", "sleeps", "sleep"])
    start("deep", outer())
    tell("iterates", ["iterates", "numbers", "sleeps", "sleep"])
    start("iterates", iterates())
    tell("gated", ["gated", "sleeps", "sleep"])
    start("gated", gated())
    start("locked", locked(lock))
    tell("locked", ["locked", "__aenter__", "acquire"])
    start("queued", queued(asyncio.Queue()))
    tell("queued", ["queued", "get"])
    start("direct", awaits_task(sleeper("direct-child")))
    tell("direct", ["awaits_task"], ["direct-child"])
    start("gather", gathers(*(sleeper(f"gathered-{i}") for i in range(3))))
    tell("gather", ["gathers"], [f"gathered-{i}" for i in range(3)])
    start("twice", gathers_twice(sleeper("twice-a"), sleeper("twice-b")))
    tell("twice", ["gathers_twice"], ["twice-a", "twice-b"])
    start("wait", waits(sleeper("wait-a"), sleeper("wait-b")))
    tell("wait", ["waits", "wait", "_wait"], ["wait-a", "wait-b"])
    start("shield", shields(sleeper("shielded")))
    tell("shield", ["shields"], ["shielded"])
    start("wait-for", waits_for(sleeper("waited-for")))
    tell("wait-for", ["waits_for", "wait_for"], ["waited-for"])
    ring = []

    async def awaits_ring(i):
        await ring[i]
    ring += [start("ring-a", awaits_ring(1)), start("ring-b", awaits_ring(0))]
    tell("ring-a", ["awaits_ring"], ["ring-b"])
    tell("ring-b", ["awaits_ring"], ["ring-a"])
    if hasattr(asyncio, "TaskGroup"):
        start("group", groups(loop))
        tell("group", ["groups", "__aexit__"], ["member-1", "member-2"])
        tell("member-1", ["sleeps", "sleep"])
        tell("member-2", ["sleeps", "sleep"])
    for _ in range(5):
        await asyncio.sleep(0)
    start("fresh", never())
    tell("fresh", ["never"], state="created")
    tell("main", ["main", "blocks"], state="running")
    asyncio.current_task().set_name("main")
    print("ready", flush=True)
    print(json.dumps(told), flush=True)
    blocks()


def blocks():
    time.sleep(seconds)


if len(sys.argv) > 2:
    import uvloop
    uvloop.install()
asyncio.run(main())
