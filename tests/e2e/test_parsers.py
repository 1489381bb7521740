#!/usr/bin/env python3
"""Parsers of assay's beside others that were written from the same standards: they agree.

HTTP/1.1 is held against http_parser by `make fuzz` (tests/fuzz/oracle_http1.c), WebSocket against
wsproto by tests/real/test_websocket.py, JSON against jansson by tests/fuzz/fuzz_rollouts.c.
"""
import email.utils
import http.cookiejar
import os
import random
import sys
import time
import types
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import event_stream
from harness import *
from told import *


@test("event streams: the events that the standard dispatches, wherever the bytes are cut")
def _():
    r = random.Random(6)
    streams = [event_stream.stream(r) for _ in range(4000)]
    found = 0
    for data, got in zip(streams, told("sse", [pieces(r, data) for data in streams])):
        want = event_stream.events(data)
        text = [w.decode("utf-8", errors="replace") for w in got]
        expect_eq(list(zip(text[::2], text[1::2])), want, f"of {data!r}")
        found += len(want)
    expect(found > 4000, f"{found} events in all")


# --- cookies -------------------------------------------------------------------

HOST, NOW = "a.example.org", 1_600_000_000
PATHS = ["/", "/a", "/a/", "/a/b", "/a/b/c", "/ab", "/a/b?q=/x/y"]


class Moment(types.SimpleNamespace):
    """http.cookiejar asks the clock itself: this one tells it when."""
    def __init__(self):
        super().__init__(**vars(time))
        self.now = NOW
        self.time = lambda: self.now


class Answer:
    def __init__(self, header):
        self.message = email.message.Message()
        self.message["Set-Cookie"] = header

    def info(self):
        return self.message


def cased(r, word):
    return r.choice((word, word.lower(), word.upper()))


def attribute(r):
    """One that both read alike; what they do with bad ones is in t_cookies.c, by RFC 6265."""
    when = NOW + r.choice((-100, -1, 5, 50, 5000))
    date = r.choice((email.utils.formatdate(when, usegmt=True),
                     time.strftime("%a, %d-%b-%Y %H:%M:%S GMT", time.gmtime(when))))
    name, value = r.choice((("Path", r.choice(PATHS).partition("?")[0]), ("Expires", date),
                            ("Max-Age", str(r.choice((-5, 0, 1, 10, 1000)))),
                            ("Domain", r.choice((".example.org", "example.org", "other.org",
                                                 "b.example.org", ".ample.org"))),
                            ("Secure", None), ("HttpOnly", None), ("SameSite", "Lax")))
    blank = r.choice(("", " "))
    return cased(r, name) + (f"{blank}={value}" if value is not None else "")


def header(r):
    names = set()
    parts = [r.choice("abc") + "=" + r.choice(("1", "2", "", "x=y", "two words", '"q"'))]
    for part in (attribute(r) for _ in range(r.choice((0, 1, 2, 4)))):
        name = part.partition("=")[0].strip().lower()
        if name not in names:           # of two of a kind they keep another one
            parts.append(part)
        names.add(name)
    return r.choice((";", "; ", " ; ")).join(parts)


def place(target, secure, now):
    return f"{HOST}\n{target}\n{int(secure)}\n{now}\n".encode()


def sent(words):
    """What a Cookie header has. Which comes first of those with paths as long, each decides."""
    return sorted(words.split("; ")) if words else []


@test("cookies: a jar sends what http.cookiejar sends, at any place and time")
def _():
    r = random.Random(62)
    clock = http.cookiejar.time = Moment()
    cases, wants, headers = [], [], []
    for _ in range(1500):
        jar, case, want, said = http.cookiejar.CookieJar(), [], [], []
        clock.now = NOW
        for _ in range(r.randrange(1, 9)):
            clock.now += r.choice((0, 0, 1, 7))
            target, secure = r.choice(PATHS), bool(r.randrange(2))
            ask = urllib.request.Request(f"http{'s' * secure}://{HOST}{target}")
            if r.randrange(2):
                said.append(header(r))
                jar.extract_cookies(Answer(said[-1]), ask)
                case.append(b"S" + place(target, secure, clock.now) + said[-1].encode())
            jar.add_cookie_header(ask)
            want.append(sent(ask.get_header("Cookie", "")))
            case.append(b"G" + place(target, secure, clock.now))
            said.append(f"GET {target} {secure} at {clock.now - NOW}")
        cases.append(case)
        wants.append(want)
        headers.append(said)
    http.cookiejar.time = time
    for got, want, said in zip(told("cookies", cases), wants, headers):
        expect_eq([sent(w.decode()) for w in got], want, f"of {said}")
    expect(sum(bool(w) for want in wants for w in want) > 1500, "some have cookies")


main()
