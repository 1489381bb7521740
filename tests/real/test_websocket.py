#!/usr/bin/env python3
"""Frames of every shape, read by assay and by python3-wsproto: what assay takes, it takes, too.

And the stub, spoken to by a client of wsproto's.
"""
import base64
import hashlib
import os
import random
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from stubs import *
from told import *

try:
    from wsproto.connection import Connection, ConnectionState, ConnectionType
    from wsproto.events import (AcceptConnection, BytesMessage, CloseConnection, Ping, Pong,
                                Request, TextMessage)
    from wsproto.utilities import RemoteProtocolError
    from wsproto import WSConnection
except ImportError:
    Connection = None

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def need_wsproto():
    if not Connection:
        skip("python3-wsproto is not installed")


def frame(op, data, fin, key=None):
    """Masked, as a client's is, if there is a key."""
    n = len(data)
    length = bytes([n]) if n < 126 else b"\x7e" + n.to_bytes(2, "big") if n < 65536 else \
        b"\x7f" + n.to_bytes(8, "big")
    if key:
        length = bytes([length[0] | 128]) + length[1:] + key
        data = bytes(b ^ key[i & 3] for i, b in enumerate(data))
    return bytes([op | (128 if fin else 0)]) + length + data


def message(r, sizes=(0, 1, 20, 125, 126, 300, 70000), masked=False):
    """The frames of one valid message, perhaps in pieces with pings between them."""
    key = r.randbytes(4) if masked else None
    text = r.randrange(2)
    size = r.choice(sizes)
    data = "".join(r.choice("aä€😀") for _ in range(size)).encode() if text else r.randbytes(size)
    cuts = sorted(r.randrange(len(data) + 1) for _ in range(r.randrange(4)))
    parts = [data[a:b] for a, b in zip([0] + cuts, cuts + [len(data)])]
    out = b""
    for i, part in enumerate(parts):
        out += frame((1 if text else 2) if i == 0 else 0, part, i + 1 == len(parts), key)
        if i + 1 < len(parts) and not r.randrange(3):
            out += frame(r.choice((9, 10)), r.randbytes(r.choice((0, 4, 125))), True, key)
    return out


def damaged(r, data):
    data = bytearray(data)
    at = r.randrange(min(len(data), 12))
    how = r.randrange(3)
    if how == 0:
        data[at] ^= 1 << r.randrange(8)
    elif how == 1:
        del data[at]
    else:
        data.insert(at, r.randrange(256))
    return bytes(data)


def oracle(data):
    """Messages that wsproto takes before anything is wrong; None: something is, at once."""
    c = Connection(ConnectionType.CLIENT)
    n = 0
    try:
        c.receive_data(data)
        for e in c.events():
            if isinstance(e, (TextMessage, BytesMessage)):
                n += e.message_finished
    except RemoteProtocolError:
        return n or None
    return n


def heard(data, server):
    """What wsproto hears in the bytes, as told() tells it, until something is wrong or closed."""
    c = Connection(ConnectionType.SERVER if server else ConnectionType.CLIENT)
    out, parts = [], []
    try:
        c.receive_data(data)
        for e in c.events():
            if isinstance(e, (TextMessage, BytesMessage)):
                parts.append(e.data.encode() if isinstance(e, TextMessage) else bytes(e.data))
                if e.message_finished:
                    out.append(("text" if isinstance(e, TextMessage) else "bytes", b"".join(parts)))
                    parts = []
            elif isinstance(e, (Ping, Pong)):
                out.append(("ping" if isinstance(e, Ping) else "pong", bytes(e.payload)))
            elif isinstance(e, CloseConnection) and c.state == ConnectionState.OPEN:
                raise RemoteProtocolError("it says so by a close of its own making")
            elif isinstance(e, CloseConnection):
                code = b"" if e.code == 1005 else int(e.code).to_bytes(2, "big")
                return [*out, ("close", code + (e.reason or "").encode())]
    except RemoteProtocolError:
        out.append(("bad", b""))
    return out


def talk(r, server):
    """Some messages, perhaps a close, perhaps damaged anywhere."""
    data = b"".join(message(r, (0, 1, 20, 125, 126, 300), server) for _ in range(r.randrange(4)))
    if not r.randrange(3):
        code = r.choice((999, 1000, 1003, 1004, 1005, 1006, 1007, 1014, 1015, 2999, 3000, 5000))
        reason = r.choice((b"", b"bye", "ä€".encode(), b"\xc3"))
        data += frame(8, r.choice((b"", b"\x03", code.to_bytes(2, "big") + reason)), True,
                      r.randbytes(4) if server else None)
    for _ in range(r.choice((0, 0, 1, 3))):
        if not data:    # nothing was said, or the last byte of it is gone
            break
        at = r.randrange(len(data))
        data = data[:at] + r.choice((b"", bytes([data[at] ^ 1 << r.randrange(8)]),
                                     r.randbytes(2))) + data[at + 1:]
    return data


class Server:
    """Answers the i-th message with the i-th of `answers`, cut at random."""
    def __init__(self, answers, seed):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://127.0.0.1:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self.serve, args=(answers, random.Random(seed)),
                         daemon=True).start()

    def serve(self, answers, r):
        c, _ = self.listener.accept()
        with c:
            c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            head = b""
            while b"\r\n\r\n" not in head:
                head += c.recv(1)
            key = head.split(b"Sec-WebSocket-Key: ")[1].split(b"\r\n")[0]
            c.sendall(b"HTTP/1.1 101 Yes\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                      b"Sec-WebSocket-Accept: %s\r\n\r\n"
                      % base64.b64encode(hashlib.sha1(key + GUID).digest()))
            try:
                for data in answers:
                    while b"?" != self.asked(c):
                        pass
                    cuts = sorted(r.randrange(len(data) + 1) for _ in range(3))
                    for a, b in zip([0] + cuts, cuts + [len(data)]):
                        c.sendall(data[a:b])
                c.settimeout(10)
                while c.recv(4096):
                    pass
            except (OSError, EOFError):
                pass

    @staticmethod
    def asked(c):
        """The payload of the next frame, which is short."""
        head = c.recv(2, socket.MSG_WAITALL)
        if len(head) < 2:
            raise EOFError
        key = c.recv(4, socket.MSG_WAITALL)
        data = c.recv(head[1] & 127, socket.MSG_WAITALL) if head[1] & 127 else b""
        return bytes(x ^ key[i & 3] for i, x in enumerate(data))


@test("what is valid both take, wherever it is cut")
def _():
    need_wsproto()
    r = random.Random(8)
    answers = [message(r) for _ in range(150)]
    expect_eq({oracle(a) for a in answers}, {1}, "wsproto's messages")
    d = load(Server(answers, 8).url, "-n", len(answers), "-c", 1, "--body", "?")
    expect_eq((d["requests"], d["failed"]), (len(answers), 0), "requests")


@test("what assay takes of damaged frames, wsproto takes as well", seconds=180)
def _():
    need_wsproto()
    r = random.Random(9)
    taken = 0
    for i in range(60):
        data = damaged(r, message(r))
        d = load(Server([data], i).url, "-n", 1, "-c", 1, "--body", "?", "--timeout", "0.5s")
        taken += d["failed"] == 0
        if not d["failed"]:
            expect(oracle(data), f"assay took a message of {data[:40]!r}")
        expect(set(d["errors"]) <= {"protocol", "timeout", "closed", "ws_close"}, d["errors"])
    expect(0 < taken < 60, f"{taken} were taken")


@test("what is in frames, sound and damaged, is for both the same, byte for byte", seconds=180)
def _():
    need_wsproto()
    r = random.Random(10)
    for server in (False, True):
        talks = [talk(r, server) for _ in range(3000)]
        many = told("ws-server" if server else "ws-client", [pieces(r, data) for data in talks])
        good = 0
        for data, words in zip(talks, many):
            got = list(zip(words[::2], words[1::2]))
            if got and got[-1][0] == "close" and got[-1][1][:2] == b"\x03\xf6":
                continue        # 1014 is in IANA's list since 2016, and wsproto does not know it
            ends = [i for i, (kind, _) in enumerate(got) if kind in ("close", "bad")]
            got, want = got[:ends[0] + 1] if ends else got, heard(data, server)
            if got and got[-1][0] == "bad" and got[:-1] == want:
                continue        # we say so at its first byte, wsproto when its head is there
            expect_eq(got, want, f"of {data[:300]!r}")
            good += not ends and bool(got)
        expect(600 < good < 2700, f"{good} of 3000 have messages and nothing wrong")


@test("a client of wsproto's has its messages back from the stub, and its ping, and its close")
def _():
    need_wsproto()
    s = stub()
    host, port = s.url.removeprefix("http://").split(":")
    c = socket.create_connection((host, int(port)))
    c.settimeout(10)
    w = WSConnection(ConnectionType.CLIENT)
    got = []

    def say(*events):
        for e in events:
            c.sendall(w.send(e))

    def hear(kind):
        while not any(isinstance(e, kind) for e in got):
            w.receive_data(c.recv(65536))
            got.extend(w.events())
        return next(e for e in got if isinstance(e, kind))
    say(Request(host=host, target="/"))
    hear(AcceptConnection)
    say(Ping(b"there?"))
    expect_eq(bytes(hear(Pong).payload), b"there?", "pong")
    say(TextMessage("h\u00e9", message_finished=False), TextMessage("llo"))
    expect_eq(hear(TextMessage).data, "h\u00e9llo", "text")
    say(BytesMessage(b"\0" * 1000))
    expect_eq(bytes(hear(BytesMessage).data), b"\0" * 1000, "bytes")
    say(CloseConnection(1000))
    expect_eq(hear(CloseConnection).code, 1000, "close")
    n = s.end()
    expect_eq((n["requests"], n["answers"]), (2, 2), "messages")


main()
