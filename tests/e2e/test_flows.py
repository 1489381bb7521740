#!/usr/bin/env python3
"""Flows of `assay load` against servers that know what they were asked: counts are exact."""
import collections
import http.server
import json
import os
import pathlib
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from schemas import *
from stubs import *
from talkers import Talker

FLOWS = pathlib.Path(__file__).resolve().parents[2] / "examples/flows"


class Shop(http.server.BaseHTTPRequestHandler):
    """Whoever logged in may start a job, which is done when it was asked for the third time."""
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *_):
        pass

    def reply(self, status, document, **headers):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def count(self, what):
        with self.server.lock:
            self.server.seen[what] += 1
            return self.server.seen[what]

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/login":
            self.count("login")
            user = body["user"]
            return self.reply(200, {"token": f"t-{user}"}, Set_Cookie=f"sid={user}; Path=/jobs")
        user = self.headers["Cookie"].partition("sid=")[2]
        right = self.headers["Authorization"] == f"Bearer t-{user}" and body["of"] == user
        number = self.count("jobs" if right else "wrong")
        self.reply(202 if right else 401, {"id": number}, Location=f"/jobs/{number}")

    def do_GET(self):
        self.count("polls")
        times = self.count(self.path)
        self.reply(200, {"state": "done" if times >= 3 else "running"})


def shop():
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    s.daemon_threads = True
    s.lock, s.seen = threading.Lock(), collections.Counter()
    threading.Thread(target=s.serve_forever, daemon=True).start()
    s.url = f"http://127.0.0.1:{s.server_address[1]}"
    return s


STEPS = [
    {"name": "login", "url": "/login", "json": {"user": "{{row.user}}"}, "check": {"status": 200},
     "capture": {"token": {"json": "/token"}}},
    {"name": "start", "url": "/jobs", "json": {"of": "{{row.user}}"}, "check": {"status": 202},
     "headers": {"Authorization": "Bearer {{token}}"}, "capture": {"job": {"header": "Location"}}},
    {"name": "wait", "url": "{{job}}",
     "until": {"json": {"state": "done"}, "every": "1ms", "most": 5},
     "check": {"json": {"/state": "done"}}},
]


def flow(base, steps=STEPS, lines='{"user": "ann"}\n{"user": "bob"}\n', **more):
    folder = tmp()
    (folder / "users.jsonl").write_text(lines)
    document = {"base": base, "rows": "users.jsonl", "steps": steps, **more}
    (folder / "flow.json").write_text(json.dumps(document))
    return "flow.json"


def by_name(d):
    return {s["name"]: s for s in d["steps"]}


# --- what is counted -----------------------------------------------------------

@test("a session logs in, keeps its token and cookie, waits for its job: counted as the server did")
def _():
    s = shop()
    d = load(flow(s.url), "-n", 30, "-c", 4)
    steps = by_name(d)
    expect_eq({n: x["requests"] for n, x in steps.items()},
              {"login": 30, "start": 30, "wait": 90}, "steps")
    expect_eq((d["requests"], d["failed"], d["statuses"]), (150, 0, {"2xx": 150}), "all")
    expect_eq([s.seen[w] for w in ("login", "jobs", "wrong", "polls")], [30, 30, 0, 90], "its own")
    expect_eq([d["sessions"][w] for w in ("ended", "broken", "unfinished")], [30, 0, 0], "sessions")
    expect_eq(d["checks"], {"passed": 90, "failed": 0, "rate": 1}, "checks")
    expect_eq(steps["wait"]["checks"], [{"name": "json /state", "passed": 30, "failed": 0}], "wait")
    expect(d["sessions"]["duration_ms"]["p50"] >= steps["login"]["latency_ms"]["p50"], "all of it")
    expect_eq(d["connections_opened"], 4, "a connection is a visitor's")


@test("sessions arrive by a schedule; the first step counts from when its session was due")
def _():
    s = stub("--answer", "delay=20ms")
    path = flow(s.url, [{"name": "a", "url": "/"}, {"name": "b", "url": "/"}])
    d = load(path, "-R", "100", "-n", 20, "-c", 1)
    a, b = (by_name(d)[n] for n in "ab")
    expect_eq((a["requests"], b["requests"], d["sessions"]["ended"]), (20, 20, 20), "counts")
    expect_eq(s.end()["requests"], 40, "the stub's")
    # They take 40 ms each, and one is due every 10: the last waits for at least 19 * 30.
    expect(a["latency_ms"]["max"] >= 560 and a["wire_ms"]["max"] < a["latency_ms"]["max"], a)
    expect(d["sessions"]["duration_ms"]["max"] >= 600, "from when it was due")
    expect(b["latency_ms"]["p50"] < a["latency_ms"]["max"], "nobody waits between two steps")


@test("the warm-up of a flow is left out; rows that are to be used once end it")
def _():
    s = stub()
    path = flow(s.url, [{"url": "/"}])
    d = load(path, "-R", "100", "-z", "0.3s", "--warmup", "0.2s")
    expect_eq((d["warmup_requests"], d["requests"], d["sessions"]["ended"]),
              (20, 30, 30), "warm-up")
    rows = "".join(json.dumps({"n": i}) + "\n" for i in range(17))
    once = {"file": "users.jsonl", "once": True}
    path = flow(s.url, [{"url": "/{{row.n}}"}], rows, rows=once)
    expect_eq(load(path, "-c", 3)["requests"], 17, "each row once")
    s.end()


@test("pauses are waited for, by as many visitors as there are connections")
def _():
    s = stub()
    steps = [{"name": "a", "url": "/", "think": "60ms"}, {"name": "b", "url": "/"}]
    path = flow(s.url, steps, think="40ms")
    d = load(path, "-n", 9, "-c", 3)
    expect_eq((d["requests"], s.end()["connections"]), (18, 3), "requests")
    expect(d["sessions"]["duration_ms"]["p50"] >= 60, "a pause is part of the session")
    expect(d["measured_seconds"] >= 3 * 0.06 + 2 * 0.04, "and the one behind it delays the next")
    # A pause is no latency: what a machine adds is, so the best of them tells.
    expect(d["latency_ms"]["p50"] < d["sessions"]["duration_ms"]["p50"], "of a request")


# --- what goes wrong -----------------------------------------------------------

ROUTES = {"routes": [
    {"path": "/ok", "json": {"n": 1, "state": "running"}},
    {"path": "/none", "status": 404, "json": {}},
]}


def script():
    (tmp() / "routes.json").write_text(json.dumps(ROUTES))
    return stub("--script", "routes.json")


@test("what is not found, not done in time, or fails breaks the session off, and is told by kind")
def _():
    s = script()
    path = flow(s.url, [{"name": "a", "url": "/ok", "capture": {"x": {"json": "/x"}}},
                        {"name": "b", "url": "/{{x}}"}])
    d = load(path, "-n", 5, "-c", 2)
    expect_eq((d["errors"], d["sessions"]["broken"]), ({"capture": 5}, 5), "capture")
    expect_eq(d["statuses"], {"2xx": 5}, "they were answers")
    expect_eq(by_name(d)["a"]["errors"], {"capture": 5}, "by step")
    expect_eq(by_name(d)["b"]["requests"], 0, "none of it")
    until = {"json": {"/state": "done"}, "every": "1ms", "most": 3}
    path = flow(s.url, [{"url": "/ok", "until": until}])
    d = load(path, "-n", 4, "-c", 2)
    expect_eq((d["requests"], d["errors"]), (12, {"until": 4}), "until, three times each")
    path = flow(s.url, [{"name": "a", "url": "/none"}, {"name": "b", "url": "/ok"}])
    d = load(path, "-n", 3, "-c", 1)
    expect_eq((d["requests"], d["errors"]), (3, {"status_4xx": 3}), "a status")
    path = flow(s.url, [{"name": "a", "url": "/none", "check": {"status": 404}},
                        {"name": "b", "url": "/ok"}])
    d = load(path, "-n", 3, "-c", 1)
    expect_eq((d["requests"], d["errors"], d["checks"]["passed"]), (6, {}, 3), "one that is wanted")
    s.end()


@test("a check that fails is counted and no failed request; thresholds hold the share")
def _():
    s = script()
    check = {"json": {"/n": 1, "/state": "done"}}
    path = flow(s.url, [{"name": "a", "url": "/ok", "check": check}])
    d = load(path, "-n", 10, "-c", 2)
    expect_eq((d["failed"], d["checks"]), (0, {"passed": 10, "failed": 10, "rate": 0.5}), "checks")
    for expr, want in (("checks rate>0.99", 3), ("checks rate>=0.5", 0), ("iterations count==4", 0),
                       ("session.max<1h, iteration_duration p(95)<3600000", 0)):
        r = assay("load", "--json", "-n", 4, "-c", 1, "--threshold", expr, path)
        expect(r.rc in (want, 6), f"{expr}: {r.rc}")
        expect(all(t["ok"] == (want == 0) for t in r.json()["thresholds"]), expr)
    r = assay("load", "-n", 4, "-c", 1, path)
    expect_in("a, json /state: 4 of 4 failed", r.out)
    s.end()


@test("each step has its goodput, told, kept and shown within 80 columns")
def _():
    s = stub()
    steps = [{"name": "quick", "url": "/"}, {"name": "a step of a long name", "url": "/?delay=2s"}]
    d = load(flow(s.url, steps), "-n", 4, "-c", 4, "--goodput", "e2el<1900ms")
    expect_eq({n: x["goodput"] for n, x in by_name(d).items()},
              {"quick": 1, "a step of a long name": 0}, "of each")
    shown = assay("show", "last").ok().out
    expect_in("    a step of a…        4        0      0 %", shown)
    expect(all(len(line) <= 80 for line in shown.splitlines()), shown)
    d = load(flow(s.url, steps[:1]), "-n", 4)
    expect_eq(d["steps"][0]["goodput"], None, "without a bound")
    s.end()


@test("rows that are of no use are named, and the others go on")
def _():
    s = stub()
    rows = '{"u": 1}\n\n{"v": 1}\n{"u": \n[1]\n{"u": "a b"}\r\n'
    r = assay("load", "--json", "-n", 4, "-c", 1, flow(s.url, [{"url": "/{{row.u}}"}], rows))
    expect_eq(valid(r.json(), "load-1")["requests"], 4, "requests")
    for line, why in ((2, "empty"), (3, "it has no 'u'"), (4, "not JSON"), (5, "no object")):
        expect_in(f"users.jsonl:{line}: {why}", r.err)
    s.end()
    r = assay("load", flow("http://127.0.0.1:1", [{"url": "/{{row.u}}"}], "{}\n"))
    expect_eq((r.rc, "no row has all" in r.err), (65, True), r.err)


@test("what is wrong with the file is told with its line and column, and what to do")
def _():
    text = '{"base": "http://127.0.0.1:1",\n "steps": [\n  {"url": "/{{who}}"}]}'
    (tmp() / "bad.json").write_text(text)
    r = assay("load", "bad.json")
    expect_eq(r.rc, 65, "exit status")
    expect_in("bad.json:3:13: nothing is called 'who' here", r.err)
    expect_in('of "capture" in a step before', r.err)
    r = assay("load", "nowhere.json")
    expect_eq((r.rc, "flow: open 'nowhere.json'" in r.err), (66, True), r.err)
    r = assay("load", "-H", "A: b", "bad.json")
    expect_eq(r.rc, 2, "what is sent is in the flow")


@test("a server nobody accepts from ends a load by its timeout, not never")
def _():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        waiting = [socket.socket() for _ in range(3)] # they fill its queue
        for w in waiting:
            w.setblocking(False)
            w.connect_ex(server.getsockname())
        r = assay("load", "--json", "-R", "50", "-n", 3, "-c", 2, "--timeout", "0.2s",
                  f"http://127.0.0.1:{server.getsockname()[1]}/", timeout=60)
        for w in waiting:
            w.close()
    expect_eq(r.rc, 6, "nothing was answered")
    expect_eq(sum(r.json()["errors"].values()), 3, "errors")


# --- all of it -----------------------------------------------------------------

@test("the examples run; a stream in a step is measured as one")
def _():
    s = stub("--script", str(FLOWS / "shop-stub.json"))
    os.environ["TARGET"] = s.url
    d = load(str(FLOWS / "shop.json"), "-n", 12, "-c", 3)
    expect_eq((d["failed"], d["checks"]["failed"], d["sessions"]["ended"]), (0, 0, 12), "shop")
    expect_eq([x["name"] for x in d["steps"]], ["login", "search", "order", "delivery"], "steps")
    expect_eq(s.end()["requests"], 48, "the stub's")
    s = stub()
    os.environ["TARGET"] = s.url
    d = load(str(FLOWS / "chat.json"), "-n", 6, "-c", 2)
    expect_eq((d["failed"], d["checks"]["failed"], d["stream"]["streams"]), (0, 0, 6), "chat")
    expect(d["stream"]["tokens"] > 0, "tokens")
    s.end()
    del os.environ["TARGET"]


@test("an answer that is too large to be looked into is told as that, not as our lack of memory")
def _():
    more = bytes((64 << 20) + 1)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(more)
    s = Talker(None, plain=lambda *_: head + more)
    steps = [{"name": "all", "url": "/", "capture": {"x": {"json": "/x"}}}]
    (tmp() / "large.json").write_text(json.dumps({"base": s.url.replace("ws", "http", 1),
                                                  "steps": steps}))
    d = load("large.json", "-n", 1, "-c", 1)
    expect_eq((d["errors"], d["status"]), ({"large": 1}, "failed"), "errors")
    expect("memory" not in d["verdict_reason"], d["verdict_reason"])


@test("a session that is due begins with a visitor who is free in time, or not at all")
def _():
    s = stub("-a", "delay=exp:60ms")
    (tmp() / "late.json").write_text(json.dumps({"base": s.url, "steps": [{"url": "/"}] * 6}))
    for _ in range(4):
        d = load(tmp() / "late.json", "-R", 300, "-c", 8, "-z", "0.2s", "--timeout", "0.3s")
        ended, broken, left = (d["sessions"][w] for w in ("ended", "broken", "unfinished"))
        expect(left <= 8, f"{left} of 8 visitors are at work")
        expect_eq(ended + left + d["errors"]["unsent"], 60, "every session that was due")
    s.end()


@test("a flow is kept with its steps: show, JSON, Markdown")
def _():
    s = shop()
    path = flow(s.url)
    d = load(path, "-n", 3, "-c", 1)
    r = assay("show", "--json", d["id"])
    kept = valid(r.json(), "run-1")["assay"]["load"]
    for key in ("steps", "sessions", "checks"):
        expect_eq(kept[key], d[key], key)
    out = assay("show", d["id"]).out
    for text in ("sessions    3", "checks      9 passed, 0 failed", "login", "start", "wait"):
        expect_in(text, out)
    r = assay("load", "--markdown", "-n", 3, "-c", 1, path)
    expect_in("| wait | 9 | 0 |", r.out)


main()
