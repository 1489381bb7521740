"""server -- a service with an event loop that does what each line of a connection says.

    grow N      N blocks of 5003 bytes, kept
    objects N   N small objects, kept
    end         ends
"""
import asyncio

kept = []


def grow(n):
    for _ in range(n):
        kept.append(bytearray(5003))


def objects(n):
    for _ in range(n):
        kept.append(object())


async def serve(reader, writer):
    while True:
        word, *n = (await reader.readline()).split()
        if word == b"grow":
            grow(int(n[0]))
        elif word == b"objects":
            objects(int(n[0]))
        writer.write(b"done\n")
        await writer.drain()
        if word == b"end":
            over.set()
            return


async def main():
    global over
    over = asyncio.Event()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print("ready", server.sockets[0].getsockname()[1], flush=True)
    await over.wait()
    server.close()


asyncio.run(main())
