"""An application for WSGI and ASGI servers that uses the CPU for each request."""
import time


def answer():
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        sum(range(100))
    return b"done\n"


def wsgi(environment, start):
    start("200 OK", [("Content-Type", "text/plain")])
    return [answer()]


async def asgi(scope, receive, send):
    if scope["type"] != "http":
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": answer()})
