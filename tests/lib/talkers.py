"""talkers -- a WebSocket's other side that does what a test says, on a port of its own.

    s = Talker(lambda read, send: send(frame(1, b"hello")))
    s.url                               ws://127.0.0.1:PORT/chat
    s.asked                             heads of its upgrades; "" is the first line
"""
import base64
import hashlib
import socket
import struct
import threading

from harness import *

__all__ = ["Talker", "frame", "echo"]

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Talker:
    """Upgrades each connection, then does what `script(read_message, send)` does.

    Requests that want no upgrade are answered with what `plain(head, body)` says: bytes.
    """
    def __init__(self, script, head=None, plain=None):
        self.script, self.head, self.plain, self.asked = script, head, plain, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://127.0.0.1:{self.listener.getsockname()[1]}/chat"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            c, _ = self.listener.accept()
            threading.Thread(target=self.one, args=(c,), daemon=True).start()

    def one(self, c):
        with c:
            try:
                while not (asked := self.read_head(c)).get("Sec-WebSocket-Key"):
                    c.sendall(self.plain(asked, need(c, int(asked.get("Content-Length", 0)))))
                self.upgrade(c, asked)
                self.script(lambda: read_frame(c), c.sendall)
            except (OSError, EOFError):
                pass

    def read_head(self, c):
        data = b""
        while b"\r\n\r\n" not in data:
            data += need(c, 1)
        first, *lines = data.decode().split("\r\n")
        return {"": first, **dict(l.split(": ", 1) for l in lines if ": " in l)}

    def upgrade(self, c, asked):
        self.asked.append(asked)
        text = asked["Sec-WebSocket-Key"] + GUID
        accept = base64.b64encode(hashlib.sha1(text.encode()).digest())
        c.sendall(self.head or b"HTTP/1.1 101 Yes\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\n"
                  b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")


def need(c, n):
    data = b""
    while len(data) < n:
        part = c.recv(n - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def read_frame(c):
    """(opcode, payload) of a frame of a client, unmasked."""
    a, b = need(c, 2)
    n = b & 127
    n = struct.unpack(">H", need(c, 2))[0] if n == 126 else n
    n = struct.unpack(">Q", need(c, 8))[0] if n == 127 else n
    expect(b & 128 and a & 128, "a client masks, and sends a message whole")
    key, data = need(c, 4), need(c, n)
    return a & 15, bytes(x ^ key[i & 3] for i, x in enumerate(data))


def frame(op, data=b"", fin=True):
    n = len(data)
    length = bytes([n]) if n < 126 else struct.pack(">BH", 126, n) if n < 65536 else \
        struct.pack(">BQ", 127, n)
    return bytes([op | (128 if fin else 0)]) + length + data


def echo(read, send):
    while True:
        op, data = read()
        send(frame(op, data))
