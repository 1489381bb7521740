"""httpd -- a service with an event loop that does what the path of a request says.

    /            answers
    /burn/N      computes for N ms of CPU time first
    /hold/N      sleeps for N ms first, and nothing else is served meanwhile
    /grow/N      keeps N KiB
    /cpu         says how much CPU time it has used, in seconds
    /end         ends at once
"""
import asyncio
import os
import sys
import time

kept = []


def burn(ms):
    end = time.process_time() + ms / 1000
    while time.process_time() < end:
        sum(range(50))


def hold(ms):
    time.sleep(ms / 1000)


def grow(kib):
    kept.append(b"x" * kib * 1024)


def answer(path):
    word, _, n = path.strip("/").partition("/")
    if word == "end":
        os._exit(0)
    if word == "cpu":
        return repr(time.process_time())
    if n:
        {"burn": burn, "hold": hold, "grow": grow}[word](int(n))
    return "ok"


async def serve(reader, writer):
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            body = answer(line.split()[1].decode())
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
