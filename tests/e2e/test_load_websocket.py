#!/usr/bin/env python3
"""`assay load ws://…`: messages and their answers, from the stub and from sockets that err."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from certificates import *
from harness import *
from jobs import *
from stubs import *
from talkers import *


def talk(s):
    return s.url.replace("http", "ws", 1)


@test("each message is answered, and counted as the stub counts it")
def _():
    s = stub()
    d = load(talk(s) + "/echo", "-n", 500, "-c", 5, "--body", "hello")
    n = s.end()
    expect_eq((d["requests"], d["failed"], d["statuses"]), (500, 0, {"1xx": 500}), "counts")
    expect_eq((n["requests"], n["answers"], n["connections"]), (500, 500, 5), "the stub's")
    expect_eq(d["bytes_out"], n["bytes_in"], "bytes")
    expect(0 <= n["bytes_out"] - d["bytes_in"] <= 5 * 4, "all but the last goodbye was read")
    s = stub("-a", "delay=30ms")
    d = load(talk(s), "-R", "100", "-z", "0.3s", "-c", 10, "--body", "x")
    expect_eq((d["requests"], d["failed"], s.end()["requests"]), (30, 0, 30), "an open loop")
    expect(d["wire_ms"]["p50"] >= 30, "the answer takes its time")


@test("several servers have their share of messages")
def _():
    a, b = stub(), stub()
    both = ",".join(s.url.removeprefix("http://") for s in (a, b))
    d = load("ws://any/", "--targets", both, "-n", 100, "-c", 4, "--body", "x")
    expect_eq((d["requests"], d["failed"]), (100, 0), "requests")
    expect_eq((a.end()["requests"], b.end()["requests"]), (50, 50), "each had half")
    r = assay("load", "--targets", "http://127.0.0.1:1,ws://127.0.0.1:1", "-n", 1, "--body", "x",
              "ws://any/")
    expect_eq(r.rc, 2, "exit status")
    expect_in("not one load", r.err)


@test("text and bytes of every length arrive as they were, lines take turns; wss too")
def _():
    got = []

    def script(read, send):
        while True:
            op, data = read()
            if op == 8:
                send(frame(8, data))
                return
            got.append((op, data))
            send(frame(op, data))
    server = Talker(script)
    for size in (1, 125, 126, 65535, 65536, 1 << 20):
        (tmp() / "body").write_bytes(b"\xff" * size)
        d = load(server.url, "-n", 2, "-c", 1, "--body-file", "body")
        expect_eq((d["failed"], got[-2:]), (0, [(2, b"\xff" * size)] * 2), size)
    (tmp() / "lines").write_text("eins\nzwei\nd\u00e9\n")
    load(server.url, "-n", 3, "-c", 1, "--body-lines", "lines", "-H", "Origin: here")
    expect_eq(got[-3:], [(1, b"eins"), (1, b"zwei"), (1, "d\u00e9".encode())], "lines")
    keys = [a["Sec-WebSocket-Key"] for a in server.asked]
    expect_eq(len(set(keys)), len(keys), "each connection has a key of its own")
    expect_eq(server.asked[-1]["Origin"], "here", "a header")
    if (BUILD / "assay-tls.so").exists():
        c = Certificates()
        cert, key = c.issue("127.0.0.1")
        s = stub("--tls-cert", cert, "--tls-key", key)
        d = load(talk(s), "-n", 50, "-c", 2, "--body", "x", "--cacert", c.ca)
        expect_eq((d["failed"], s.end()["answers"]), (0, 50), "wss")


@test("pieces, pings between them, messages that nobody asked for: one answer each")
def _():
    pongs = []

    def script(read, send):
        send(frame(1, b"welcome"))
        while True:
            op, data = read()
            if op == 10:
                pongs.append(data)
            if op == 1:
                send(frame(1, b"a", fin=False) + frame(9, b"there?") + frame(0, b"b", fin=False))
                send(frame(0, b"c"))
    d = load(Talker(script).url, "-n", 20, "-c", 1, "--body", "x")
    expect_eq((d["requests"], d["failed"]), (20, 0), "requests")
    # A welcome behind the first request is its answer; and the last pong may be left unread.
    expect(len(pongs) >= 18 and set(pongs) == {b"there?"}, pongs)


@test("what goes wrong is counted by its kind, and nothing hangs")
def _():
    def answers(data):
        def script(read, send):
            read()
            send(data)
            read()
        return script
    wrong = b"HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: upgrade\r\n" \
            b"Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n"
    plain = b"HTTP/1.1 %d No\r\nContent-Length: 2\r\n\r\nno"
    for kind, server in (
            ("upgrade", Talker(echo, head=wrong)),
            ("upgrade", Talker(echo, head=plain % 200)),
            ("status_4xx", Talker(echo, head=plain % 404)),
            ("status_5xx", Talker(echo, head=plain % 503)),
            ("protocol", Talker(echo, head=b"nonsense\r\n\r\n")),
            ("closed", Talker(lambda read, send: read())),
            ("closed", Talker(answers(frame(8, b"\x03\xe8bye")))),
            ("closed", Talker(answers(frame(8)))),
            ("ws_close", Talker(answers(frame(8, b"\x03\xf3")))),
            ("protocol", Talker(answers(frame(3)))),
            ("protocol", Talker(answers(frame(1, b"\xff\xfe")))),
            ("large", Talker(answers(b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff"))),
            ("timeout", Talker(lambda read, send: [read(), send(frame(9)), read(), read()]))):
        patience = "0.5s" if kind == "timeout" else "30s"
        d = load(server.url, "-n", 2, "-c", 1, "--body", "x", "--timeout", patience)
        expect_eq((d["requests"], d["errors"]), (2, {kind: 2}), kind)


@test("a frame that breaks the rules while nobody asks fails no request")
def _():
    def script(read, send):
        _, data = read()
        send(frame(1, data) + frame(3))
        read()
    d = load(Talker(script).url, "-n", 3, "-R", 10, "-c", 1, "--body", "x")
    expect_eq((d["requests"], d["failed"], d["unasked"]), (3, 0, 3), "beside the requests")
    expect_eq(d["connections_opened"], 3, "each was left")


@test("what makes no sense is refused with a sentence")
def _():
    for words in ([], ["--body", "x", "-m", "PUT"]):
        r = assay("load", "-n", 1, *words, "ws://127.0.0.1:1/")
        expect_eq(r.rc, 2, "exit status")
        expect_in("messages", r.err)


@test("what is missing of a message is said, and what is too much")
def _():
    expect_in("--body says which", assay("load", "-n", 1, "ws://127.0.0.1:1/").err)
    r = assay("load", "-n", 1, "-m", "PUT", "--body", "x", "ws://127.0.0.1:1/")
    expect_in("have no --method", r.err)


main()
