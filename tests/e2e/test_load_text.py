#!/usr/bin/env python3
"""Bytes that are no text, in answers, streams, captures and rows: counted, and told as text."""
import json
import os
import random
import re
import socket
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import event_stream
from harness import *
from jobs import *
from schemas import *
from stubs import *
from told import pieces

BAD = b"a\xffb\xc3(\xed\xa0\x80\xf0\x9f"          # stray, cut short, a surrogate, cut off


class Raw:
    """A server that answers the n-th request with the bytes that answer(n, target, body) gives."""
    def __init__(self, answer):
        self.answer, self.asked = answer, []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            c, _ = self.listener.accept()
            c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def serve(self, c):
        data = b""
        with c:
            while more := self.some(c):
                data += more
                while b"\r\n\r\n" in data:
                    head, _, rest = data.partition(b"\r\n\r\n")
                    m = re.search(rb"(?i)content-length: (\d+)", head)
                    n = int(m[1]) if m else 0
                    if len(rest) < n:
                        break
                    data = rest[n:]
                    with self.lock:
                        number = len(self.asked)
                        self.asked.append((head, rest[:n]))
                    said = self.answer(number, head.split()[1].decode(), rest[:n])
                    for piece in said if isinstance(said, list) else [said]:
                        c.sendall(piece)

    @staticmethod
    def some(c):
        try:
            return c.recv(65536)
        except OSError:
            return b""


def ok(body=b"", *headers):
    lines = [b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def chunked(parts):
    return [b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n",
            *(b"%x\r\n%s\r\n" % (len(part), part) for part in parts if part), b"0\r\n\r\n"]


def flow(base, *steps, rows=None):
    if rows is not None:
        (tmp() / "rows.jsonl").write_bytes(rows)
    document = {"base": base, "steps": steps, **({"rows": "rows.jsonl"} if rows else {})}
    (tmp() / "flow.json").write_text(json.dumps(document))
    return "flow.json"


# --- answers -------------------------------------------------------------------

@test("an answer may be any bytes: it is an answer, and each format that tells of it is text")
def _():
    s = Raw(lambda *_: ok(BAD, b"X-Odd: " + BAD, b"Content-Type: text/" + BAD))
    d = load(s.url, "-n", 20, "-c", 2)
    expect_eq((d["requests"], d["errors"], d["statuses"]), (20, {}, {"2xx": 20}), "counts")
    s.answer = lambda *_: ok(BAD).replace(b"200 OK", b"404 " + BAD)
    d = load(s.url, "-n", 4, "-c", 2)
    expect_eq((d["errors"], d["statuses"]), ({"status_4xx": 4}, {"4xx": 4}), "a reason")
    for form in ("--csv", "--ndjson", "--junit", "--markdown", "--hdr"):
        r = assay("load", "-n", 4, form, s.url)         # Python refuses what is no UTF-8
        expect(r.rc in (3, 6) and r.out, f"{form}: {r.rc} {r.err}")
    s.answer = lambda *_: ok(b"", b"X\xff: 1")
    d = load(s.url, "-n", 4, "-c", 2, rc=(6,))
    expect_eq(d["errors"], {"protocol": 4}, "a name of a header is in ASCII")
    s.answer = lambda *_: BAD + b"\r\n\r\n"
    d = load(s.url, "-n", 4, "-c", 2, rc=(6,))
    expect_eq(d["errors"], {"protocol": 4}, "no answer at all")


@test("what is sent may be any bytes, but for the URL: what is told of it is text")
def _():
    s = Raw(lambda *_: ok())
    bad = os.fsdecode(BAD)
    r = assay("load", "--json", s.url + "/" + bad)
    expect_eq((r.rc, r.out), (2, ""), "a URL is in ASCII")
    expect_in("letters beyond ASCII as %XX", json.loads(r.err)["message"])
    d = load(s.url, "-n", 2, "-c", 1, "--name", bad, "-H", "X: " + bad, "--body", bad)
    expect_eq((d["requests"], d["errors"]), (2, {}), "counts")
    head, body = s.asked[0]
    expect(b"X: " + BAD in head and body == BAD, f"sent as they are: {head!r} {body!r}")
    expect_in("\ufffd", d["name"])
    valid(assay("show", "--json", d["id"]).ok().json())
    expect(assay("show", d["id"]).ok().out and assay("jobs").ok().out, "shown")


# --- streams -------------------------------------------------------------------

@test("streams of any bytes, cut anywhere: as many events as the standard says")
def _():
    r = random.Random(66)
    streams = [event_stream.stream(r) for _ in range(300)]
    s = Raw(lambda n, *_: chunked(pieces(r, streams[n])))
    d = load(s.url, "-n", len(streams), "-c", 1)
    want = sum(len(event_stream.events(data)) for data in streams)
    expect_eq((d["requests"], d["failed"], d["stream"]["streams"]), (300, 0, 300), "counts")
    expect_eq(d["stream"]["events"], want, "events")


@test("a model's words that are no text are pieces all the same, and its usage counts")
def _():
    said = [b'data: {"choices": [{"delta": {"content": "' + BAD + b'"}}]}\n\n'] * 3
    usage = b'data: {"choices": [], "usage": {"completion_tokens": 3}}\n\n'
    s = Raw(lambda *_: chunked([*said, b"event: " + BAD + b"\n", usage, b"data: [DONE]\n\n"]))
    d = load(s.url, "-n", 5, "-c", 1)
    st = d["stream"]
    expect_eq((d["failed"], st["events"], st["token_events"], st["tokens"]), (0, 25, 15, 15), "all")


# --- flows ---------------------------------------------------------------------

@test("a body that is no UTF-8 is no JSON: nothing is captured, no check of it passes")
def _():
    s = Raw(lambda *_: ok(b'{"x": "' + BAD + b'", "n": 1}'))
    take = {"x": {"json": "/n"}}
    d = load(flow(s.url, {"url": "/", "capture": take}), "-n", 3, "-c", 1)
    expect_eq((d["errors"], d["sessions"]["broken"]), ({"capture": 3}, 3), "capture")
    take = {"x": {"json": "/n", "default": 7}}
    d = load(flow(s.url, {"url": "/", "capture": take}, {"url": "/{{x}}"}), "-n", 3, "-c", 1)
    expect_eq((d["errors"], d["sessions"]["ended"]), ({}, 3), "with a default")
    expect_in(b"GET /7 ", s.asked[-1][0])
    check = {"json": {"/n": 1}, "contains": '"n": 1'}
    d = load(flow(s.url, {"url": "/", "check": check}), "-n", 3, "-c", 1)
    expect_eq(d["checks"], {"passed": 3, "failed": 3, "rate": 0.5}, "its bytes are there, though")
    until = {"json": {"/n": 1}, "every": "1ms", "most": 2}
    d = load(flow(s.url, {"url": "/", "until": until}), "-n", 3, "-c", 1)
    expect_eq((d["errors"], d["requests"]), ({"until": 3}, 6), "until")


@test("what is captured of headers, cookies and bodies is text: stray bytes become U+FFFD")
def _():
    bare = b"a\xffb"
    s = Raw(lambda *_: ok(b"<i>" + bare + b"</i>", b"X-Odd: " + bare, b"Set-Cookie: c=" + bare))
    take = {"h": {"header": "X-Odd"}, "b": {"between": ["<i>", "</i>"]}, "c": {"cookie": "c"}}
    path = flow(s.url, {"url": "/", "capture": take},
                {"url": "/{{h}}?b={{b|url}}", "json": {"h": "{{h}}", "b": "{{b}}", "c": "{{c}}"}})
    d = load(path, "-n", 3, "-c", 1)
    expect_eq((d["requests"], d["errors"], d["sessions"]["ended"]), (6, {}, 3), "counts")
    head, body = s.asked[1]
    expect_eq(json.loads(body), dict.fromkeys("hbc", "a\ufffdb"), "as JSON")
    expect_eq(urllib.parse.unquote(head.split()[1].decode(), errors="strict"),
              "/a\ufffdb?b=a\ufffdb", "as a URL")
    expect_in(b"Cookie: c=" + bare, head)       # what the server set, it has back as it was


@test("rows and lines that are no UTF-8 are named and left out; the others go on")
def _():
    s = Raw(lambda *_: ok())
    rows = b'{"u": 1}\n{"u": "' + BAD + b'"}\n' + BAD + b'\n{"u": 2}\n'
    r = assay("load", "--json", "-n", 4, "-c", 1, flow(s.url, {"url": "/{{row.u}}"}, rows=rows))
    d = valid(r.json(), "load-1")
    expect_eq((d["requests"], d["errors"]), (4, {}), "counts")
    expect_eq([head.split()[1] for head, _ in s.asked], [b"/1", b"/2", b"/1", b"/2"], "rows")
    for line in (2, 3):
        expect_in(f"rows.jsonl:{line}: not JSON", r.err)
    expect_in("not UTF-8", r.err)
    s.asked.clear()
    r = assay("load", "--json", "-n", 2, "-c", 1, "--body-lines", "rows.jsonl", s.url)
    expect_eq([body for _, body in s.asked], [b'{"u": 1}', b'{"u": 2}'], "bodies")
    expect_in("rows.jsonl:2: ", r.err)
    expect_in("rows.jsonl:3: ", r.err)
    (tmp() / "plain").write_bytes(BAD + b"\n")
    s.asked.clear()
    load(s.url, "-n", 1, "-c", 1, "--body-lines", "plain")
    expect_eq(s.asked[0][1], BAD, "what need be no JSON is sent as it is")


main()
