#!/usr/bin/env python3
"""`assay load` against a server that counts and misbehaves as it is told: every request counts."""
import collections
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from heaps import oracle
from jobs import *
from schemas import *
from stubs import *


def closed_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


# --- counts --------------------------------------------------------------------

@test("what was sent and received is what the server counted, to the byte")
def _():
    s = stub()
    d = load(s.url + "/some?size=100", "-n", 2000, "-c", 7)
    n = s.end()
    expect_eq((d["requests"], d["failed"], d["statuses"]), (2000, 0, {"2xx": 2000}), "counts")
    expect_eq((n["requests"], n["answers"], n["connections"]), (2000, 2000, 7), "the stub's")
    expect_eq((d["bytes_out"], d["bytes_in"]), (n["bytes_in"], n["bytes_out"]), "bytes")
    expect_eq((d["connections"], d["connections_opened"]), (7, 7), "connections")


@test("an open loop sends what its schedule says, no more and no less")
def _():
    for how in ("constant", "poisson", "gamma:4"):
        s = stub()
        d = load(s.url, "-R", "1000", "-n", 500, "-c", 5, "--arrival", how)
        expect_eq((d["requests"], d["failed"], d["rate_asked"]), (500, 0, 1000), how)
        expect_eq(s.end()["requests"], 500, "the stub's")
        expect(d["latency_ms"]["mean"] >= d["wire_ms"]["mean"], "latency counts the lateness")
    s = stub()
    d = load(s.url, "-R", "200", "-z", "0.5s")
    expect_eq((d["requests"], s.end()["requests"]), (100, 100), "half a second of 200 a second")


@test("the rate is that of the schedule, which lasts until the next would have been due")
def _():
    s = stub()
    d = load(s.url, "-R", 50, "-n", 10, "-c", 5)
    s.end()
    expect(d["measured_seconds"] >= 0.2 and d["rate"] <= 50, (d["measured_seconds"], d["rate"]))


@test("a closed loop: all time of its connections is told, what they waited for us as lateness")
def _():
    s = stub()
    d = load(s.url, "-n", 20000, "-c", 64)
    s.end()
    latency, wire, late = (d[k]["mean"] for k in ("latency_ms", "wire_ms", "lateness_ms"))
    busy = d["rate"] * latency / 1000
    # The last answers may take their time, when nothing more is asked.
    expect(50 <= busy <= 64.1, f"at any moment 64 are under way, here {busy} (Little's law)")
    expect_near(wire + late, latency, 1e-3, "sent late, and on the wire")
    expect(late > 0, "of many answers that come at once those behind the first are sent late")


@test("ten requests are too few to call a load INVALID, and it says so")
def _():
    s = stub()
    d = load(s.url, "-R", 500, "-n", 10, "-c", 1)
    s.end()
    # Of a machine so busy that this takes a tenth of a second more can be said.
    expect_in(d["verdict_reason"], ("valid, as far as a load so short can tell",
                                    "INVALID: others had the generator's CPU",
                                    "INVALID: the generator itself was the bottleneck"), "verdict")


@test("a rate that changes: as many as its integral says, over a ramp and over stages")
def _():
    s = stub()
    d = load(s.url, "-R", "100:500", "-z", "0.5s", "-c", 5)
    expect_eq((d["requests"], d["failed"], d["rate_asked"]), (150, 0, 300), "a ramp")
    d = load(s.url, "-R", "400@250ms,400@0.25s,100:100@0.1s", "-c", 5, "--warmup", "0.1s")
    expect_eq((d["requests"], d["failed"], d["warmup_requests"]), (160, 0, 0), "stages")
    d = load(s.url, "-R", "100:300", "-z", "0.25s", "-c", 5, "--warmup", "0.2s")
    expect_eq((d["requests"], d["warmup_requests"]), (50, 20), "warm-up before a ramp")
    expect_eq(s.end()["requests"], 380, "the stub's")


@test("a closed loop has as many under way as its plan allows")
def _():
    s = stub("--answer", "delay=50ms")
    d = load(s.url, "-c", "1:1@0.5s,4:4@0.5s")
    s.end()
    # One at a time for half a second are at most 10, four at a time at most 40 more, and the last.
    expect(2 <= d["requests"] <= 54 and d["failed"] == 0, d["requests"])
    expect_eq(d["connections"], 4, "connections")
    expect(d["latency_ms"]["p50"] >= 50 and d["latency_ms"]["max"] == d["wire_ms"]["max"],
           "who waits for the plan waits for no answer")


@test("the warm-up is sent and left out")
def _():
    s = stub()
    d = load(s.url, "-R", "200", "-z", "0.5s", "--warmup", "0.25s")
    expect_eq((d["warmup_requests"], d["requests"]), (50, 100), "requests")
    d = load(s.url, "-R", "200", "-n", 30, "--warmup", "0.1s")
    expect_eq((d["warmup_requests"], d["requests"]), (20, 30), "so many are measured")
    expect_eq(s.end()["requests"], 200, "the stub's")
    s = stub("-a", "delay=20ms")
    d = load(s.url, "-c", 2, "-n", 5, "--warmup", "0.1s")
    expect(d["warmup_requests"] > 1 and d["requests"] == 5, f"in a closed loop: {d}")


@test("behind a warm-up a closed loop has the server's rate, whatever is under way at the ends")
def _():
    s = stub("--servers", "2", "--service", "40ms")         # 50 a second
    flow = tmp() / "flow.json"
    flow.write_text(json.dumps({"base": s.url, "steps": [{"url": "/a"}, {"url": "/b"}]}))
    for what in (s.url, flow):
        for how in (("-z", "1s"), ("-n", 20)):
            d = load(what, "-c", 16, "--warmup", "0.6s", *how)
            expect(47.5 <= d["rate"] <= 52, f"{what} {how}: {d['rate']} a second")
    s.end()


@test("behind a warm-up pauses of a flow are time like any other")
def _():
    s = stub("-a", "delay=100ms")
    flow = tmp() / "flow.json"
    flow.write_text(json.dumps({"base": s.url, "steps": [
        {"url": "/a", "think": "uniform:50ms:150ms"}]}))
    d = load(flow, "-c", 20, "-z", "1.5s", "--warmup", "0.45s")
    expect(92 <= d["rate"] <= 106, f"{d['rate']} a second")     # 20 visitors, 200 ms each
    s.end()


@test("who hangs on to a connection since the warm-up makes nobody else faster")
def _():
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            for n in range(4):                  # the first three are never answered
                c, _ = server.accept()
                held.append(c)
            while c.recv(4096):
                time.sleep(0.01)
                c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        held = []
        threading.Thread(target=serve, daemon=True).start()
        d = load("http://127.0.0.1:%d/" % server.getsockname()[1], "-c", 4, "-z", "1s",
                 "--warmup", "0.2s", "--timeout", "3s")
    expect(0 < d["rate"] <= 101 and d["measured_seconds"] >= 0.9, d)


@test("a load that ends in its warm-up measured nothing, and says that")
def _():
    s = stub("-a", "delay=20ms")
    p = start(ASSAY, "load", "-c", "1", "--warmup", "1h", s.url, stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=30)
    expect_in("INVALID: it ended before anything was measured", out, "verdict")


@test("method, headers and body arrive; a HEAD has no body to wait for")
def _():
    got = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            c, _ = server.accept()
            data = b""
            while not data.endswith(b"hello"):
                data += c.recv(4096)
            got.append(data)
            c.sendall(b"HTTP/1.1 204 No\r\n\r\n")
            c.recv(1)
        t = threading.Thread(target=serve, daemon=True)
        t.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x?y=1"
        load(url, "-n", 1, "-m", "PUT", "-H", "X-Token: 7", "-H", "Host: there", "--body", "hello")
        t.join(10)
    head, body = got[0].decode().split("\r\n\r\n")
    lines = head.split("\r\n")
    expect_eq((lines[0], body), ("PUT /x?y=1 HTTP/1.1", "hello"), "request")
    expect_eq(sorted(l for l in lines[1:] if not l.startswith("User-Agent")),
              ["Content-Length: 5", "Host: there", "X-Token: 7"], "headers")
    (tmp() / "body").write_bytes(b"\x00\xff" * 1000)
    s = stub()
    d = load(s.url, "-n", 3, "-c", 1, "--body-file", "body")
    expect_eq(d["statuses"], {"2xx": 3}, "statuses")
    expect(s.end()["bytes_in"] > 6000, "bodies were sent")


@test("lines of a file take turns as bodies; what is no row is named, and the others go on")
def _():
    got = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            c, _ = server.accept()
            data = b""
            while len(got) < 5:
                data += c.recv(4096)
                head, mark, body = data.partition(b"\r\n\r\n")
                n = int(head.split(b"Content-Length: ")[1].split()[0]) if mark else 0
                if mark and len(body) >= n:
                    got.append(body[:n].decode())
                    data = body[n:]
                    c.sendall(b"HTTP/1.1 204 No\r\n\r\n")
            c.recv(1)
        t = threading.Thread(target=serve, daemon=True)
        t.start()
        rows = '{"a": 1}\n\n{"b": \n{"c": 3}\r\n[4]'
        (tmp() / "rows.jsonl").write_text(rows)
        r = assay("load", "-n", 5, "-c", 1, "--body-lines", "rows.jsonl",
                  f"http://127.0.0.1:{server.getsockname()[1]}/")
        t.join(20)
    expect_eq(got, ['{"a": 1}', '{"c": 3}', "[4]", '{"a": 1}', '{"c": 3}'], "bodies")
    expect_in("rows.jsonl:2: empty, left out", r.err)
    expect_in("rows.jsonl:3: ", r.err)
    (tmp() / "none").write_text("\n\n")
    r = assay("load", "-n", 1, "--body-lines", "none", "http://127.0.0.1:1/")
    expect_eq(r.rc, 65, "no rows")
    expect_eq(assay("load", "--body-lines", "nowhere", "http://127.0.0.1:1/").rc, 66, "no file")


@test("an answer longer than what is read at once; one with the end of the connection right behind")
def _():
    s = stub()
    d = load(s.url + "/?size=1MiB", "-n", 40, "-c", 4, "--timeout", "20s")
    expect_eq((d["failed"], d["bytes_in"]), (0, s.end()["bytes_out"]), "long ones")
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            for _ in range(5):
                with server.accept()[0] as c:
                    c.recv(4096)
                    # Both in one segment: the end is there when the answer is read.
                    c.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", socket.MSG_MORE)
        t = threading.Thread(target=serve, daemon=True)
        t.start()
        d = load(f"http://127.0.0.1:{server.getsockname()[1]}/", "-n", 5, "-c", 1, "-R", 20)
        t.join(10)
    expect_eq((d["failed"], d["connections_opened"]), (0, 5), "each on a connection of its own")


@test("a unix socket")
def _():
    path = tmp() / "x.sock"
    s = stub("--listen", f"unix:{path}")
    d = load(f"unix:{path}:/?size=5", "-n", 100, "-c", 3)
    expect_eq((d["requests"], d["failed"], s.end()["requests"]), (100, 0, 100), "requests")


@test("large answers, in whatever way they end")
def _():
    s = stub()
    for framing in ("length", "chunked", "close"):
        d = load(f"{s.url}/?size=300KiB&framing={framing}", "-n", 20, "-c", 3)
        expect_eq((d["requests"], d["failed"]), (20, 0), framing)
        expect(d["bytes_in"] > 20 * 300 * 1000, "bytes")
    expect_eq(s.end()["answers"], 60, "answers")


# --- what goes wrong -------------------------------------------------------------

FAULTS = {              # end=: the kind of error
    "drop": "closed", "reset": "reset", "short": "closed", "long": "protocol",
    "garbage": "protocol", "headers": "headers", "half": "closed",
    "drip": "timeout", "endless": "timeout", "silent": "timeout",
}


@test("every way in which a server fails is counted by its kind, and nothing hangs")
def _():
    s = stub()
    for end, kind in FAULTS.items():
        d = load(f"{s.url}/?end={end}&size=1000", "-n", 4, "-c", 2, "--timeout", "0.3s", rc=(6,))
        expect_eq((d["requests"], d["errors"]), (4, {kind: 4}), end)
        if kind == "timeout":
            expect(d["latency_ms"]["p50"] >= 300, "a timeout counts as long as it took")
    s.end()


@test("refused, and a server that is not there: counted, said INVALID")
def _():
    d = load(f"http://127.0.0.1:{closed_port()}/", "-n", 6, "-c", 2, rc=(6,))
    expect_eq((d["requests"], d["errors"], d["status"]), (6, {"refused": 6}, "failed"), "refused")
    expect_eq(d["verdict_reason"], "INVALID: no request was answered", "reason")
    d = load(f"http://127.0.0.1:{closed_port()}/", "-R", "100", "-n", 6, rc=(6,))
    expect_eq(d["errors"], {"refused": 6}, "errors of an open loop")
    s = stub("-a", "end=silent")
    for url, words, advice in ((f"http://127.0.0.1:{closed_port()}/", (), "address right?"),
                               (s.url, ("--timeout", "0.1s"), "--timeout says"),
                               (s.url + "/?end=reset", (), "log may say")):
        expect_in(advice, assay("load", "-n", 2, *words, url).out, "advice")
    d = load(f"unix:{tmp()}/none", "-n", 2, rc=(6,))
    expect_eq(d["errors"], {"refused": 2}, "no socket")


@test("statuses of failure are errors; redirects are answers")
def _():
    s = stub()
    d = load(s.url + "/?status=404", "-n", 10, rc=(3, 6))
    expect_eq((d["errors"], d["statuses"]), ({"status_4xx": 10}, {"4xx": 10}), "404")
    d = load(s.url + "/?status=503", "-n", 10)
    expect_eq((d["errors"], d["failed"]), ({"status_5xx": 10}, 10), "503")
    d = load(s.url + "/?status=302", "-n", 10)
    expect_eq((d["errors"], d["statuses"]), ({}, {"3xx": 10}), "302")


@test("half of the requests failed: so did the load, in all that it says; fewer are told")
def _():
    bad, good, other = stub("--answer", "status=503"), stub(), stub()

    def told(servers, *options):
        targets = ",".join(s.url.split("//")[1] for s in servers)
        r = assay("load", "-n", 12, "-c", 1, "-o", "a.json", "-o", "a.xml", "--targets", targets,
                  *options, bad.url)
        return (r.rc, json.loads((tmp() / "a.json").read_text())["status"],
                (tmp() / "a.xml").read_text().count("<failure"), r.out.split("  ")[0])

    expect_eq(told((bad, good)), (3, "failed", 1, "✘ failed"), "half")
    expect_eq(told((bad, good, other)), (0, "success", 0, "▲ success, 33 % failed"), "a third")
    expect_eq(told((bad,)), (3, "failed", 1, "✘ failed"), "all")
    expect_eq(told((good, other)), (0, "success", 0, "✔ success"), "none")
    expect_eq(told((bad,), "--threshold", "errors<=1"),
              (0, "success", 0, "▲ success, 100 % failed"), "a threshold says how many may fail")
    expect_eq(told((bad, good), "--threshold", "errors<10%"),
              (3, "success", 1, "✘ threshold missed"), "… and is missed")


@test("a connection is made anew after each answer that closes it")
def _():
    s = stub()
    d = load(s.url + "/?end=close", "-n", 50, "-c", 5)
    n = s.end()
    expect_eq((d["requests"], d["failed"]), (50, 0), "requests")
    expect_eq(d["connections_opened"], n["connections"], "connections")
    expect(d["connections_opened"] >= 50, "opened anew")


@test("a server that leaves connections on which nobody asked, with a 408, failed no request")
def _():
    answer = b"HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as server:
        def talk(c):
            c.settimeout(0.2)
            try:
                while c.recv(4096):
                    c.sendall(answer % b"200 OK")
            except TimeoutError:
                c.sendall(answer % b"408 Request Timeout")
                left.append(c.close())

        def serve():
            with contextlib.suppress(OSError): # when the test is over
                while True:
                    threading.Thread(target=talk, args=(server.accept()[0],), daemon=True).start()
        left = []
        threading.Thread(target=serve, daemon=True).start()
        d = load("http://127.0.0.1:%d/" % server.getsockname()[1], "-R", 40, "-c", 6, "-z", "1s")
    expect(left, "no connection was left")
    expect_eq((d["requests"], d["statuses"], d["errors"]), (40, {"2xx": 40}, {}), "all was well")


@test("what a server says unasked fails no request: it is told beside them")
def _():
    ok = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as server:
        def talk(c):
            try:
                while c.recv(4096):
                    c.sendall(ok)
                    time.sleep(0.02)    # the next is due in a quarter of a second
                    c.sendall(more[0])
            except OSError:
                pass                    # it was left

        def serve():
            with contextlib.suppress(OSError):      # until it is closed
                while True:
                    threading.Thread(target=talk, args=(server.accept()[0],), daemon=True).start()
        threading.Thread(target=serve, daemon=True).start()
        url = "http://127.0.0.1:%d/" % server.getsockname()[1]
        for more in [ok], [b"nonsense"], [b"x" * 70000]:
            # What follows the last answer nobody is there to hear.
            d = load(url, "-R", 4, "-n", 4, "-c", 1, "--threshold", "errors<=0")
            expect_eq((d["requests"], d["statuses"], d["errors"]), (4, {"2xx": 4}, {}), "requests")
            expect_eq((d["unasked"], d["status"]), (3, "success"), "beside them")
        told = "3 connections left for what the server said there"
        r = assay("show", d["id"]).ok()
        expect_in(told, r.out)
        assay("load", "-R", 4, "-n", 4, "-c", 1, "-o", "l.md", "-o", "l.xml", url)
        expect_in(told, (tmp() / "l.md").read_text())
        suite = xml.parse(tmp() / "l.xml").getroot().find("testsuite")
        expect_in(told, suite.findtext("system-out") or "")
        d = load(url, "-R", 4, "-n", 4, "-c", 1, "--warmup", "0.7s")
        expect_eq((d["warmup_requests"], d["unasked"]), (3, 3), "without those of the warm-up")
        d = load(url, "-R", 50, "-n", 40, "-c", 20)     # it may meet a request that is under way
    expect(sum(d["errors"].values()) == d["failed"] <= d["requests"] == 40, d["errors"])


@test("a server that dies and returns: errors meanwhile, answers after")
def _():
    s = stub()
    port = s.url.rsplit(":", 1)[1]
    p = start(ASSAY, "load", "--json", "-R", "200", "-z", "60s", "--timeout", "2s", s.url,
              stdout=subprocess.PIPE, text=True)
    time.sleep(0.4)
    first = s.end()["answers"]
    time.sleep(0.2)
    again = stub("--listen", f"http://127.0.0.1:{port}")
    time.sleep(0.6)
    p.send_signal(signal.SIGINT)
    d = json.loads(p.communicate(timeout=30)[0])
    second = again.end()["answers"]
    expect(first and second, f"answers before ({first}) and after ({second})")
    expect(d["errors"].get("refused", 0) > 0, d["errors"])
    answers = sum(d["statuses"].values())
    expect(first + second - 50 <= answers <= first + second, (first, second, answers))


@test("no descriptor is left for a connection: said before, counted, and INVALID")
def _():
    s = stub()
    r = run("sh", "-c", f"ulimit -n 40; exec {ASSAY} load --json -n 200 -c 64 {s.url}/?delay=20ms")
    expect_eq(r.rc, 6, "exit status")
    expect_in("64 at once need about 88 file descriptors, and 40 are all there are", r.err, "told")
    d = valid(json.loads(r.out), "load-1")
    expect_eq(d["requests"], 200, "requests")
    expect(d["errors"].get("descriptors", 0) > 0 and d["statuses"]["2xx"] > 0, d["errors"])
    expect_in("INVALID: the generator had no descriptor", d["verdict_reason"], "verdict")


# --- time ------------------------------------------------------------------------

@test("who would have come during a stall is not forgotten")
def _():
    s = stub("--stall", "0.2s:0.4s")
    d = load(s.url, "-R", "500", "-z", "1s", "-c", 10)
    s.end()
    expect_eq((d["requests"], d["failed"]), (500, 0), "requests")
    # 200 of 500 were due in the stall, the first of them waited 0.4 s: half of them 0.2 s or more.
    expect(d["latency_ms"]["p90"] >= 160, d["latency_ms"])
    expect(d["wire_ms"]["p90"] < d["latency_ms"]["p90"], "on the wire only ten waited")


@test("what was due and found no connection is counted as unsent, and as late as it was")
def _():
    s = stub("--answer", "end=silent")
    d = load(s.url, "-R", "100", "-z", "0.5s", "-c", 2, "--timeout", "0.4s", rc=(6,))
    expect_eq(d["requests"], 50, "requests")
    expect(d["errors"]["unsent"] > 30 and set(d["errors"]) == {"unsent", "timeout"}, d["errors"])
    expect(d["latency_ms"]["max"] >= 400, d["latency_ms"])


@test("Ctrl-C gives a complete report of what was measured until then")
def _():
    s = stub("--answer", "delay=20ms")
    p = start(ASSAY, "load", "--json", "-z", "60s", "-c", 3, s.url, stdout=subprocess.PIPE,
              text=True)
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    d = valid(json.loads(p.communicate(timeout=20)[0]), "load-1")
    expect_eq(p.returncode, -signal.SIGINT, "how it ended")
    n = s.end()
    expect_eq(d["status"], "interrupted", "status")
    expect(0 < d["requests"] <= n["answers"] and d["unfinished"] <= 3, d)
    expect_eq(d["requests"] + d["unfinished"], n["requests"], "requests")


@test("Ctrl-C while the server hangs: what was due meanwhile is told, and is time")
def _():
    s = stub("--stall", "0.4s:60s")
    p = start(ASSAY, "load", "--json", "-z", "60s", "-c", 3, "-R", 100, s.url,
              stdout=subprocess.PIPE, text=True)
    time.sleep(2)
    p.send_signal(signal.SIGINT)
    d = valid(json.loads(p.communicate(timeout=20)[0]), "load-1")
    due = d["measured_seconds"] * 100
    expect(abs(d["requests"] + d["unfinished"] - due) <= 2 and due > 100, d)
    expect(d["requests"] <= 60, "the others were not answered")
    s.end()
    s = stub("--stall", "0.2s:60s")
    p = start(ASSAY, "load", "--json", "-z", "60s", "-c", 3, s.url, stdout=subprocess.PIPE,
              text=True)
    time.sleep(2)
    p.send_signal(signal.SIGINT)
    d = valid(json.loads(p.communicate(timeout=20)[0]), "load-1")
    expect(d["measured_seconds"] > 1 and d["unfinished"] == 3, f"a closed loop: {d}")
    s.end()


# --- what it costs ------------------------------------------------------------------

@test("an answered request costs two system calls")
def _():
    if sanitized():
        skip("LeakSanitizer does not work under strace")
    s = stub()
    calls, seconds = {}, {}
    for n in (1000, 5000):
        out = tmp() / f"calls-{n}"
        run("strace", "-f", "-ttt", "-o", out, ASSAY, "load", "--no-store", "--quiet", "-n", n,
            "-c", 1, s.url)
        lines = [l.split(None, 2) for l in out.read_text().splitlines()]
        ours = next(tid for tid, _, call in lines if call.startswith("sendto("))
        mine = [(float(at), call) for tid, at, call in lines if tid == ours]
        seconds[n] = mine[-1][0] - mine[0][0]
        calls[n] = collections.Counter(call.split("(")[0] for _, call in mine
                                       if not call.startswith("<..."))
    more = {k: calls[5000].get(k, 0) - calls[1000].get(k, 0) for k in calls[5000]}
    expect_eq((more["sendto"], more["recvfrom"]), (4000, 4000), "one of each for a request")
    waits = more.pop("epoll_pwait2")
    # what is told fifty times a second, however long strace makes that, has its own price
    told = 50 * seconds[5000]
    expect(waits <= 4100 + told, f"{waits} waits for 4000 answers, one at a time")
    beats = calls[5000].get("clock_gettime", 0)
    more.pop("clock_gettime", 0)
    expect(beats <= told + 5, f"{beats} beats in {seconds[5000]:.1f} s")
    rest = sum(v for k, v in more.items() if k not in ("sendto", "recvfrom"))
    expect(rest <= 40, more)


@test("an answered request costs no memory: ten times as many are as many allocations")
def _():
    if sanitized():
        skip("a sanitizer has an allocator of its own")
    s = stub()
    for how in ((), ("-R", "5000"), ("-R", "5000", "--arrival", "poisson")):
        made, seconds = {}, {}
        for n in (1000, 10000):
            r, counted = oracle(ASSAY, "load", "--no-store", "--json", "-c", 4, *how, "-n", n,
                                s.url)
            d = valid(r.json(), "load-1")
            expect_eq((d["requests"], d["failed"], len(counted)), (n, 0, 1), f"counts of {how}")
            made[n], seconds[n] = counted[0]["allocations"], d["duration_seconds"]
        # What lasts longer has more samples on its timeline, whose columns grow now and then.
        more = made[10000] - made[1000]
        expect(more <= 20 + 10 * seconds[10000], f"{more} more for 9,000 requests more: {how}")


def own_kb(pid):
    """Memory of its own that is resident: pages that it ever wrote to."""
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))


@test("a load that lasts has after its first seconds all the memory that it will have")
def _():
    if sanitized():
        skip("a sanitizer keeps what was freed")
    others = [stub() for _ in range(2)]
    watch = [w for o in others for w in ("--watch", o.p.pid)]
    for server, options in ((("--answer", "delay=exp:5ms"), ("-R", 500)),
                            (("--sse", 20, "--every", "2ms"), ("-c", 20)),
                            (("--answer", "size=10"), ("-R", 50, *watch))):
        s = stub(*server)
        p = start(ASSAY, "load", "--json", "--no-store", *options, "-i", "2ms", "-z", "6s", s.url,
                  stdout=subprocess.PIPE, text=True)
        time.sleep(2.5)
        early = own_kb(p.pid)
        time.sleep(3)           # so many samples that the timeline is full, and joined
        late = own_kb(p.pid)
        expect(late - early <= 32, f"{' '.join(map(str, server))}: {early} kB, then {late} kB")
        p.communicate(timeout=30)
        s.end()


# --- thresholds ------------------------------------------------------------------------

def judged(*options, rc):
    """A load of 40 requests that is told to keep to something."""
    s = stub("--answer", "delay=5ms")
    r = assay("load", "--json", "-n", 40, "-c", 4, *options, s.url)
    expect(r.rc in (rc, 6), f"exit status {r.rc}: {r.err}")
    return valid(r.json(), "load-1")["thresholds"]


@test("thresholds: kept or missed, told by JSON, summary, show and exit status")
def _():
    t = judged("--threshold", "p99<10s,min>=5ms", "--threshold", "http_req_failed: rate<0.01", rc=0)
    expect_eq([x["expr"] for x in t], ["p99<10s", "min>=5ms", "http_req_failed: rate<0.01"], "expr")
    expect(all(x["ok"] for x in t) and t[1]["value"] >= 5 and t[2]["value"] == 0, t)
    t = judged("--threshold", "requests<40", "--threshold", "http_req_failed rate<=1", rc=3)
    expect_eq([(x["value"], x["ok"]) for x in t], [(40, False), (0, True)], "one missed")
    judged("--threshold", "http_reqs count<40", "--exit-codes", "k6", rc=99)
    judged("--threshold", "http_reqs count>=40", "--exit-codes", "k6", rc=0)
    ids = [r["id"] for r in runs()]
    kept = valid(assay("show", "--json", ids[2]).ok().json())["assay"]["load"]
    expect_eq(kept["thresholds"], t, "as it is kept")
    text = assay("show", ids[1], env={"LC_ALL": "C.UTF-8"}).ok().out
    expect_in("thresholds  ✘ http_reqs count<40", text)
    expect(text.startswith(("✘ threshold missed  ", "✘ INVALID  ")), text.splitlines()[0])


@test("what nobody knows is missed; what is no threshold is refused before anything is sent")
def _():
    d = json.loads(assay("load", "--json", "-n", 1, "--threshold", "p99<1s,rate>=0,errors<=1",
                         f"http://127.0.0.1:{closed_port()}/").out)
    expect_eq([x["ok"] for x in d["thresholds"]], [True, True, True], "known, even of failures")
    s = stub("--answer", "end=silent")
    p = start(ASSAY, "load", "--json", "-n", 9, "-c", 1, "--threshold", "p99<1h,errors<1", s.url,
              stdout=subprocess.PIPE, text=True)
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    d = valid(json.loads(p.communicate(timeout=20)[0]), "load-1")
    expect_eq([(x["value"], x["ok"]) for x in d["thresholds"]], [(None, False)] * 2, "unknown")
    for wrong in ("p99", "p99<1x", "nothing<5", "p99<1,", "a{b:c} p(9)<1"):
        r = assay("load", "--threshold", wrong, s.url)
        expect_eq((r.rc, r.out), (2, ""), wrong)
    expect_eq(assay("load", "--exit-codes", "wrk", s.url).rc, 2, "whose codes")


@test("a threshold that can never be known is refused, and what is missing named")
def _():
    s = stub()
    for wrong, why in (("looplag.p99<10ms", "--watch"), ("target.memory<1GB", "--watch"),
                       ("checks rate>0.99", "flow"), ("handshake.p50<1s", "https://"),
                       ("goodput>0.9", "--deadline"), ("p99{login}<1s", "login"),
                       ("http_req_connecting p(95)<1", "connections")):
        r = assay("load", "-n", 1, "--threshold", wrong, s.url)
        expect_eq((r.rc, r.out), (2, ""), wrong)
        expect_in(why, r.err, wrong)
    expect_eq(s.end()["requests"], 0, "nothing was sent")


@test("waiting is the time to the first byte, and what CI writes for k6 is taken")
def _():
    s = stub()
    d = load(s.url + "/?chunks=2&delay=5ms&first=1ms&every=80ms", "-n", 8, "-c", 2, "--threshold",
             "http_req_waiting{scenario:load_test} p(90)<60000",
             "--threshold", "http_reqs{scenario:load_test} rate>0")
    s.end()
    expect(d["waiting_ms"]["p50"] >= 5 and d["wire_ms"]["p50"] >= d["waiting_ms"]["p50"] + 40,
           (d["waiting_ms"], d["wire_ms"]))
    expect_eq([x["ok"] for x in d["thresholds"]], [True, True], d["thresholds"])
    expect_eq(d["thresholds"][0]["value"], d["waiting_ms"]["p90"], "its value")
    s = stub("--answer", "delay=3ms")
    d = load(s.url, "-n", 8, "-c", 2)
    s.end()
    expect_eq(d["waiting_ms"], d["wire_ms"], "an answer that came at once")


@test("a threshold of one step of a flow, in our words and in k6's")
def _():
    s = stub()
    steps = [{"name": "quick", "url": "/", "check": {"status": 200}},
             {"name": "slow one", "url": "/?delay=30ms"}]
    (tmp() / "flow.json").write_text(json.dumps({"base": s.url, "steps": steps}))
    words = ("p50{slow one}>=30ms", "http_req_waiting{name:slow one} p(50)>=30",
             "requests{quick}==6", "errors{quick}<1%", "checks{quick}>=1", "checks>=1",
             "goodput{slow one}<=0", "goodput<=0.5")
    d = load("flow.json", "-n", 6, "-c", 2, "--deadline", "30ms",
             *(w for x in words for w in ("--threshold", x)))
    expect_eq([(x["expr"], x["ok"]) for x in d["thresholds"]], [(w, True) for w in words], "kept")
    expect_eq(d["thresholds"][0]["value"], d["steps"][1]["latency_ms"]["p50"], "its value")
    kept = valid(assay("show", "--json", d["id"]).ok().json())["assay"]["load"]
    expect_eq((kept["thresholds"], kept["steps"]), (d["thresholds"], d["steps"]), "as it is kept")
    expect_eq(d["thresholds"][-2]["value"], d["steps"][1]["goodput"], "a step's goodput")
    for wrong in ("p50{none}<1s", "checks{slow one}>=1", "goodput{quick}>0.9"):
        r = assay("load", "--threshold", wrong, "flow.json")
        expect_eq((r.rc, r.out), (2, ""), wrong)
    expect_eq(s.end()["requests"], 12, "nothing else was sent")


# --- the run ---------------------------------------------------------------------------

@test("a load is a run: listed, shown, exported as it was measured")
def _():
    s = stub()
    d = load(s.url, "-n", 300, "-c", 3, "-l", "team=x", "--name", "shop")
    (listed,) = runs()
    expect_eq((listed["id"], listed["name"], listed["kind"]), (d["id"], "shop", "load"), "listed")
    for how in ("waiting in its file", "sealed"):
        kept = valid(assay("show", "--json", d["id"]).ok().json())["assay"]["load"]
        expect_eq(kept, {k: d[k] for k in kept}, how)
        assay("gc", "--keep", "100").ok()
    text = assay("show", d["id"]).ok().out
    expect_in("requests    300", text)
    expect_in("latency", text)
    load(s.url, "-n", 3, "--no-store")
    expect_eq(len(runs()), 1, "runs")


@test("the summary fits 80 columns and says what matters")
def _():
    s = stub()
    r = assay("load", "-R", "300", "-n", 100, s.url, env={"COLUMNS": "80", "LC_ALL": "C.UTF-8"})
    expect(r.rc in (0, 6), r.err)
    expect(max(map(len, r.out.splitlines())) <= 80, r.out)
    first = r.out.splitlines()[0]
    expect(("INVALID" in first) == (r.rc == 6), "the first line says what it came to: " + first)
    for word in ("requests    100", "p99.9", "latency", "on the wire", "lateness", "verdict"):
        expect_in(word, r.out)


# --- what makes no sense -----------------------------------------------------------------

@test("wrong words are refused before anything is sent")
def _():
    for words in (["http://h:99999/"], ["nonsense"], ["http://127.0.0.1/ x"], ["ftp://127.0.0.1"],
                  ["-H", "no colon", "http://127.0.0.1/"], ["-m", "GE T", "http://127.0.0.1/"],
                  ["--arrival", "poisson", "http://127.0.0.1/"],
                  ["--arrival", "gamma:0", "-R", "5", "http://127.0.0.1/"],
                  ["-c", "70000", "http://127.0.0.1/"],
                  ["--body", "a", "--body-file", "b", "http://127.0.0.1/"],
                  ["-c", "0", "http://127.0.0.1/"], ["-c", "5/s", "http://127.0.0.1/"],
                  ["-R", "0", "http://127.0.0.1/"], ["-R", "5@", "http://127.0.0.1/"],
                  ["-R", "1:5", "-n", "3", "http://127.0.0.1/"],
                  ["-R", "5@1s", "-z", "2s", "http://127.0.0.1/"],
                  ["-R", "5", "-c", "1:5", "http://127.0.0.1/"],
                  ["--balance", "round-robin", "http://127.0.0.1/"],
                  ["--streams-per-connection", "5", "http://127.0.0.1/"]):
        r = assay("load", *words)
        expect(r.rc in (2, 69) and r.out == "", f"{words}: {r}")
    expect_eq(assay("load", "--body-file", "none", "http://127.0.0.1/").rc, 66, "no such file")
    r = assay("load", "http://no.such.host.invalid/")
    expect_eq(r.rc, 66, "exit status")
    expect_in("no.such.host.invalid", r.err)


@test("who is used to wrk, hey or oha is told what it is called here")
def _():
    for words, here in ((["-d", "5s"], "-z"), (["-t", "2"], "--timeout"), (["-q", "9"], "-R"),
                        (["-t4", "-c9"], "--timeout"), (["-D", "x"], "--body-file")):
        r = assay("load", *words, "http://127.0.0.1:1/")
        expect_eq((r.rc, r.out), (2, ""), words)
        expect_in(here, r.err, words)


@test("somebody else's server needs --yes")
def _():
    r = assay("load", "-n", "1", "http://192.0.2.1/")
    expect_eq(r.rc, 2, "exit status")
    expect_in("--yes", r.err)
    d = load("http://192.0.2.1:9/", "-n", 1, "--yes", "--timeout", "0.2s", rc=(6,))
    expect_eq(d["failed"], 1, "failed, in time")
    expect_eq(assay("stub", "--listen", "http://0.0.0.0:0", "-d", "0.1").rc, 2, "a stub for all")


main()
