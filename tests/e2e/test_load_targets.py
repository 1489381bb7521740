#!/usr/bin/env python3
"""`assay load --targets`: one load over several servers, each of which counts what it had."""
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from schemas import *
from stubs import *


def place(s):
    return s.url.split("//")[1]


def several(*stubs):
    return ("--targets", ",".join(map(place, stubs)))


def counts(d):
    return [t["requests"] for t in d["targets"]]


@test("in turn: each has its third, to the request, in either loop")
def _():
    stubs = [stub() for _ in range(3)]
    d = load("http://nobody.invalid/some?size=10", "-n", 300, "-c", 5, *several(*stubs))
    expect_eq((counts(d), d["requests"], d["failed"]), ([100] * 3, 300, 0), "a closed loop")
    expect_eq([t["name"] for t in d["targets"]], [place(s) for s in stubs], "names")
    expect(sum(t["connections_opened"] for t in d["targets"]) == d["connections_opened"], d)
    d = load(stubs[0].url, "-n", 31, "-R", "400", "-c", 4, *several(*stubs))
    expect_eq(counts(d), [11, 10, 10], "an open loop")
    expect_eq([s.end()["requests"] for s in stubs], [111, 110, 110], "what they counted")
    d = assay("show", "--json", d["id"]).ok().json()["assay"]["load"]
    expect_eq(counts(d), [11, 10, 10], "as it was kept")


@test("each has its own status, latency and host")
def _():
    fast, slow, broken = stub(), stub("-a", "delay=40ms"), stub("-a", "status=503")
    d = load(fast.url, "-n", 60, "-c", 6, *several(fast, slow, broken))
    a, b, c = d["targets"]
    expect_eq((a["statuses"], b["statuses"], c["statuses"]),
              ({"2xx": 20}, {"2xx": 20}, {"5xx": 20}), "statuses")
    expect_eq((a["failed"], b["failed"], c["errors"]), (0, 0, {"status_5xx": 20}), "errors")
    expect(b["latency_ms"]["p50"] >= 40, b)
    expect_eq(max(t["latency_ms"]["max"] for t in d["targets"]), d["latency_ms"]["max"], "max")
    for s in (fast, slow, broken):
        s.end()


@test("a request waits for its own server only: the other's time is not told of it")
def _():
    fast, slow = stub("-a", "delay=exp:5ms"), stub("-a", "delay=exp:80ms")
    for options in (), ("--balance", "least-outstanding"), ("--warmup", "0.3s"):
        d = load(fast.url, "-z", "1s", "-c", 8, *options, *several(fast, slow))
        # At most eight at any moment, so their times add up to eight times the whole.
        busy = d["latency_ms"]["mean"] * d["requests"] / 8e3
        expect(busy <= d["measured_seconds"] * 1.01, f"{options}: {busy} s of {d}")
    for s in (fast, slow):
        s.end()


@test("who waits until one of -c is free was not late by the generator's fault")
def _():
    stubs = [stub("--servers", 1, "--service", "40ms") for _ in range(2)]     # 50 a second
    d = load(stubs[0].url, "-R", 200, "-n", 60, "-c", 4, *several(*stubs))
    expect(d["latency_ms"]["p50"] > 300, "it is too much")
    expect(d["lateness_ms"]["p50"] < 100, f"lateness: {d['lateness_ms']}")
    for s in stubs:
        s.end()


@test("to whom the fewest wait for: who answers in a fifth of the time has far more")
def _():
    fast, slow = stub("-a", "delay=20ms"), stub("-a", "delay=100ms")
    d = load(fast.url, "-n", 200, "-c", 4, "--balance", "least-outstanding",
             *several(fast, slow))
    had = [fast.end()["requests"], slow.end()["requests"]]
    expect_eq((counts(d), sum(had)), (had, 200), "counts")
    expect(had[0] > 2 * had[1] > 0, had)


for how in ("round-robin", "least-outstanding"):
    for loop in ((), ("-R", "500")):
        @test(f"one that is dead from the start fails little: {how} {' '.join(loop)}")
        def _(how=how, loop=loop):
            a, dead, b = stub(), stub(), stub()
            dead.p.kill()
            dead.p.wait()
            d = load(a.url, "-n", 400, "-c", 8, "--balance", how, *loop, *several(a, dead, b))
            t = d["targets"]
            expect_eq((d["requests"], sum(counts(d))), (400, 400), "all of them count")
            expect_eq(t[1]["failed"], t[1]["requests"], "the dead one answers nothing")
            expect_eq(d["errors"], t[1]["errors"], "and its errors are all there are")
            expect_eq((t[0]["failed"], t[2]["failed"]), (0, 0), "the others")
            expect(t[1]["requests"] < 100, t[1])
            expect_eq([a.end()["requests"], b.end()["requests"]],
                      [t[0]["requests"], t[2]["requests"]], "what they counted")


@test("one that is dead is seen to be, however short the load")
def _():
    a, b = stub(), stub()
    r = assay("load", "-n", 40, "-c", 2, "-o", "a.json", "--targets",
              f"{place(a)},{place(b)},127.0.0.1:1", "http://x/")
    t = valid(json.loads((tmp() / "a.json").read_text()), "load-1")["targets"]
    expect_eq((t[2]["requests"] > 0, t[2]["errors"]), (True, {"refused": t[2]["requests"]}), "dead")
    expect(r.rc == 6 or r.out.startswith("▲ success, "), r.out)


def connections(s):
    """Of a stub: its sockets, but the one that listens."""
    fds = f"/proc/{s.p.pid}/fd"
    return sum(os.readlink(f"{fds}/{n}").startswith("socket:") for n in os.listdir(fds)) - 1


@test("one that dies in the middle takes nobody along; when it is back it serves again")
def _():
    a, sock = stub("-a", "delay=5ms"), f"{tmp()}/b.sock"
    b = stub("-a", "delay=5ms", "--listen", "unix:" + sock)
    p = start(ASSAY, "load", "--json", "-c", "4", "-z", "60s", "--targets",
              f"{place(a)},unix:{sock}", "http://x/", stdout=subprocess.PIPE, text=True)
    wait_for(lambda: connections(b) > 0, what="it is loaded")
    b.p.kill()
    b.p.wait()
    os.unlink(sock)
    again = stub("-a", "delay=5ms", "--listen", "unix:" + sock)
    wait_for(lambda: connections(again) > 0, what="it is loaded again")
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=60)
    t = valid(json.loads(out), "load-1")["targets"]
    expect_eq((t[0]["failed"], t[1]["errors"].get("status_5xx")), (0, None), "errors")
    expect_between(a.end()["requests"] - t[0]["requests"], 0, 4, "what was under way at the end")
    expect(0 < t[1]["failed"] and again.end()["requests"] > 0, t[1])


@test("the table of servers stays within 80 columns")
def _():
    stubs = [stub() for _ in range(2)]
    r = assay("load", "-n", 20, "-c", 2, *several(*stubs), "http://nobody.invalid/")
    expect_in("  targets ", r.out)
    wide = [line for line in r.out.splitlines() if len(line) > 80]
    expect_eq(wide, [], "lines that are too long")


@test("what is no target is refused")
def _():
    for targets in ("", "127.0.0.1:1,,127.0.0.1:2", "http://", ",".join(["127.0.0.1:1"] * 17)):
        r = assay("load", "-n", 1, "--targets", targets, "http://127.0.0.1:1/")
        expect_eq(r.rc, 2, targets)
        expect_in("target", r.err)
    r = assay("load", "-n", 1, "--targets", "127.0.0.1:1,8.8.8.8:80", "http://127.0.0.1:1/")
    expect(r.rc != 0 and "--yes" in r.err, r.err)


main()
