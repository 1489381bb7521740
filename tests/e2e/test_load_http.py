#!/usr/bin/env python3
"""Answers of every shape, read by assay and by Python's own http.client: who is right is the other.

What is valid both take, with the same status. What was damaged assay may refuse where http.client
is lenient; never the other way round.
"""
import http.client
import io
import os
import random
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from stubs import *


def body_of(r):
    return bytes(r.randrange(256) for _ in range(r.choice((0, 1, 27, 300, 5000))))


def chunked(r, body):
    out = b""
    while body:
        n = min(len(body), r.choice((1, 10, 1000)))
        size = (b"%x", b"%X", b"000%x")[r.randrange(3)] % n
        out += size + r.choice((b"", b";name=value", b' ; q="x"')) + b"\r\n" + body[:n] + b"\r\n"
        body = body[n:]
    return out + b"0\r\n" + r.choice((b"", b"X-Trailer: 1\r\n")) + b"\r\n"


def answer(r):
    """A valid answer of a random shape, after which the connection ends."""
    status, body = r.choice((200, 201, 204, 301, 304, 404, 500, 599)), body_of(r)
    lines = [b"HTTP/1.1 %d%s" % (status, r.choice((b" Fine", b" ", b" Not so fine at all")))]
    lines += [b"X-%d: %s" % (i, b"y" * r.choice((0, 5, 700))) for i in range(r.randrange(12))]
    lines += [r.choice((b"Connection: close", b"connection:close", b"CONNECTION:  close "))]
    framing = r.choice(("length", "chunked", "end"))
    if framing == "length":
        length = r.choice((b"Content-Length: %d", b"content-length:%d", b"Content-Length:\t%d"))
        lines.append(length % len(body))
    elif framing == "chunked":
        lines.append(r.choice((b"Transfer-Encoding: chunked", b"transfer-encoding: Chunked")))
        body = chunked(r, body)
    r.shuffle(head := lines[1:])
    if status in (204, 304):
        head = [l for l in head if not l.lower().startswith((b"content", b"transfer"))]
        body = b""
    interim = r.choice((b"", b"", b"HTTP/1.1 100 Continue\r\n\r\n"))
    return interim + b"\r\n".join(lines[:1] + head) + b"\r\n\r\n" + body


class Bytes:
    def __init__(self, data):
        self.data = data

    def makefile(self, *_):
        return io.BytesIO(self.data)


def oracle(data):
    """The status, if http.client takes the answer to its end; else None."""
    response = http.client.HTTPResponse(Bytes(data))
    try:
        response.begin()
        response.read()
    except (http.client.HTTPException, ValueError, OSError):
        return None
    return response.status


class Server:
    """Gives one answer to each connection, in pieces, in their order."""
    def __init__(self, answers, seed):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.thread = threading.Thread(target=self.serve, args=(answers, random.Random(seed)),
                                       daemon=True)
        self.thread.start()

    def serve(self, answers, r):
        for data in answers:
            c, _ = self.listener.accept()
            with c:
                c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    while b"\r\n\r\n" not in c.recv(4096, socket.MSG_PEEK):
                        pass
                    c.recv(4096)
                    cuts = sorted(r.sample(range(len(data) + 1), min(3, len(data))))
                    for a, b in zip([0] + cuts, cuts + [len(data)]):
                        c.sendall(data[a:b])
                    c.shutdown(socket.SHUT_WR)
                    c.settimeout(10)
                    c.recv(1)
                except OSError:
                    pass


def classes(statuses):
    return {f"{c}xx": n for c in range(1, 6) if (n := sum(min(s // 100, 5) == c for s in statuses))}


@test("what is valid both take, wherever it is cut, with the same status")
def _():
    r = random.Random(6)
    answers = [answer(r) for _ in range(150)]
    statuses = [oracle(a) for a in answers]
    expect(None not in statuses, "an answer that http.client refuses")
    # Connections are opened before the first request is due: one more than there are requests.
    d = load(Server(answers + answers[:1], 6).url, "-n", len(answers), "-c", 1)
    expect_eq(d["statuses"], classes(statuses), "statuses")
    bad = sum(s >= 400 for s in statuses)
    expect_eq((d["requests"], d["failed"]), (len(answers), bad), "failed by their status alone")


def damaged(r, data):
    """The answer with one thing wrong, mostly in its head."""
    data = bytearray(data)
    head = data.index(b"\r\n\r\n") + 4
    at = r.randrange(head if r.randrange(3) else len(data))
    how = r.randrange(4)
    if how == 0:
        data[at] = r.randrange(256)
    elif how == 1:
        del data[at]
    elif how == 2:
        data.insert(at, r.choice(b"\0\r\n :\t0a;"))
    else:
        del data[at:]
    return bytes(data)


@test("a status that is none is the server's failure: told as 5xx is, and an answer")
def _():
    for status in (600, 999):
        data = b"HTTP/1.1 %d Odd\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi" % status
        d = load(Server([data], 0).url, "-n", 1, "-c", 1, rc=(3,))
        expect_eq((d["statuses"], d["errors"]), ({"5xx": 1}, {"status_5xx": 1}), status)
        expect_eq((d["connections_opened"], d["bytes_in"]), (1, len(data)), "other counts")


@test("what assay takes of damaged answers, http.client takes as the same", seconds=120)
def _():
    r = random.Random(7)
    refused = 0
    for i in range(40):
        data = damaged(r, answer(r))
        d = load(Server([data], i).url, "-n", 1, "-c", 1, "--timeout", "5s", rc=(0, 3, 6))
        refused += not d["statuses"]
        if d["statuses"]:
            status = oracle(data)
            expect(status and d["statuses"] == classes([status]),
                   f"assay: {d['statuses']}, http.client: {status}, of {data[:400]!r}")
        else:
            expect_eq(d["failed"], 1, "counted")
    expect(5 < refused < 40, f"{refused} of 40 were refused")


main()
