#!/usr/bin/env python3
"""Steps of flows over a WebSocket: against servers that know what they were asked, and that err."""
import json
import os
import pathlib
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from certificates import *
from harness import *
from jobs import *
from stubs import *
from talkers import *

FLOWS = pathlib.Path(__file__).resolve().parents[2] / "examples/flows"


def flow(base, *steps, **more):
    (tmp() / "flow.json").write_text(json.dumps({"base": base, "steps": steps, **more}))
    return "flow.json"


def by_name(d):
    return {s["name"]: s for s in d["steps"]}


def say(send, document):
    send(frame(1, json.dumps(document).encode()))


class Workflows(Talker):
    """A POST creates one; a WebSocket with its cookie and number runs it, in three checkpoints."""
    def __init__(self, ending="FINISHED"):
        self.lock, self.made, self.wrong, self.started = threading.Lock(), 0, [], []
        self.left, self.ending = [], ending
        super().__init__(self.work, plain=self.create)
        self.base = self.url.replace("ws", "http", 1).removesuffix("/chat")

    def create(self, head, body):
        with self.lock:
            self.made += 1
            number = self.made
        answer = json.dumps({"data": {"create": {"id": number, "of": json.loads(body)["goal"]}}})
        return (f"HTTP/1.1 200 OK\r\nSet-Cookie: wf={number}; Path=/\r\n"
                f"Content-Length: {len(answer)}\r\n\r\n{answer}").encode()

    def upgrade(self, c, asked):
        number = asked[""].partition("id=")[2].partition(" ")[0]
        if asked.get("Cookie") != f"wf={number}" or asked.get("Authorization") != "Bearer t0":
            self.wrong.append(asked)
        super().upgrade(c, asked)

    def work(self, read, send):
        self.started.append(json.loads(read()[1]))
        for status in ("CREATED", "RUNNING", self.ending):
            say(send, {"newCheckpoint": {"status": status, "n": len(status)}})
        op, data = read()
        self.left.append((op, data))


WORKFLOW = [
    {"name": "create", "url": "/graphql", "json": {"goal": "goal {{session}}"},
     "capture": {"id": {"json": "/data/create/id"}}, "check": {"status": 200}},
    {"name": "run", "websocket": "/ws?id={{id}}",
     "json": {"startRequest": {"workflowID": "{{id}}", "goal": "goal {{session}}"}},
     "until": {"one_of": {"/newCheckpoint/status": ["FINISHED", "FAILED"]}, "within": "30s"},
     "check": {"json": {"/newCheckpoint/status": "FINISHED"}},
     "capture": {"n": {"json": "/newCheckpoint/n"}}},
]


# --- what is counted -----------------------------------------------------------

@test("a POST, then a WebSocket with its cookie until the status says it is over: all counted")
def _():
    s = Workflows()
    d = load(flow(s.base, *WORKFLOW, headers={"Authorization": "Bearer t0"}), "-n", 20, "-c", 4)
    run = by_name(d)["run"]
    expect_eq((d["requests"], d["failed"], d["statuses"]), (40, 0, {"1xx": 20, "2xx": 20}), "all")
    expect_eq((s.made, s.wrong), (20, []), "each upgrade has its own cookie, number and header")
    expect_eq(sorted(x["startRequest"]["workflowID"] for x in s.started), list(range(1, 21)), "ids")
    expect_eq((run["requests"], run["checks"][0]["passed"], run["checks"][0]["failed"]),
              (20, 20, 0), "run")
    w = d["websocket"]
    expect_eq([w[k] for k in ("asked", "opened", "messages_sent", "messages_received")],
              [20, 20, 20, 60], "messages")
    expect(0 < w["connecting_ms"]["p50"] <= w["session_ms"]["p50"], w)
    expect(run["latency_ms"]["max"] >= w["connecting_ms"]["p50"], "the upgrade is part of it")
    expect_eq(d["connections_opened"], 24, "HTTP keeps its connection, each WebSocket has one")
    wait_for(lambda: len(s.left) == 20, what="goodbyes")
    expect_eq(set(s.left), {(8, b"\x03\xe8")}, "closed with 1000")


@test("a check says what an until forgives; thresholds have k6's names; it is shown and kept")
def _():
    s = Workflows("FAILED")
    path = flow(s.base, *WORKFLOW, headers={"Authorization": "Bearer t0"})
    d = load(path, "-n", 4, "-c", 2)
    expect_eq((d["failed"], by_name(d)["run"]["checks"][0]["failed"]), (0, 4), "failed ones end it")
    for expr, want in (("ws_connecting p(90)<60000, ws_session_duration p(90)<60000", 0),
                       ("ws_msgs_sent: count==4; ws_msgs_received count==12, ws_sessions>=4", 0),
                       ("ws_msgs_received count>12", 3), ("ws_connecting.max<1ns", 3)):
        r = assay("load", "--json", "-n", 4, "-c", 1, "--threshold", expr, path)
        expect(r.rc in (want, 6), f"{expr}: {r.rc}")
        expect(all(t["ok"] == (want == 0) for t in r.json()["thresholds"]), expr)
    kept = assay("show", "--json", d["id"]).json()["assay"]["load"]
    expect_eq(kept["websocket"], d["websocket"], "kept")
    out = assay("show", d["id"]).out
    for text in ("WebSockets  4 opened", "4 messages sent", "12 received", "ws connect",
                 "ws session"):
        expect_in(text, out)


@test("messages on one WebSocket, HTTP between them, one that opens anew, and closing early")
def _():
    seen = []

    def script(read, send):
        say(send, {"hello": 1})
        while True:
            op, data = read()
            seen.append((op, data))
            if op == 8:
                return
            say(send, {"noise": 1})
            say(send, {"to": data.decode()})
            say(send, {"later": data.decode()})
    ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    s = Talker(script, plain=lambda head, body: ok)
    base = s.url.replace("ws", "http", 1).removesuffix("/chat")
    to = {"json": {"/to": "{{session}} a"}}
    path = flow(
        base,
        {"name": "open", "websocket": "/a"},
        {"name": "hello", "websocket": True, "check": {"json": {"/hello": 1}}, "think": "5ms"},
        {"name": "a", "websocket": True, "body": "{{session}} a", "until": to, "check": to,
         "think": "20ms"},
        {"name": "between", "url": "/"},
        {"name": "later", "websocket": True, "capture": {"x": {"json": "/later"}}},
        {"name": "b", "websocket": True, "json": ["{{x}}"], "close": True,
         "until": {"contains": "later", "most": 4}},
        {"name": "again", "websocket": "/b", "headers": {"X": "{{x}}"}, "body": "ä",
         "until": {"json": {"/to": "ä"}}})
    d = load(path, "-n", 3, "-c", 1)
    expect_eq([(x["name"], x["errors"]) for x in d["steps"] if x["errors"]], [], "errors")
    expect_eq(d["checks"]["failed"], 0, "checks")
    expect_eq([x["requests"] for x in d["steps"]], [3] * 7, "steps")
    # Two connections of a server are heard in any order: its thread of the first may sleep.
    expect_eq([x for x in seen if x[0] == 1][:3], [(1, b"1 a"), (1, b'["1 a"]'), (1, "ä".encode())],
              "what it heard")
    wait_for(lambda: seen.count((8, b"\x03\xe8")) == 6, what="all six are closed")
    expect_eq([(a[""].split()[1], a.get("X")) for a in s.asked[:2]], [("/a", None), ("/b", "1 a")],
              "upgrades")
    w = d["websocket"]
    expect_eq((w["opened"], w["messages_sent"]), (6, 9), "messages")


@test("messages are sent without waiting, and received without sending; each is counted")
def _():
    seen = []

    def script(read, send):
        say(send, {"news": 0})
        for i in range(3):
            op, data = read()
            seen.append((op, data))
            say(send, {"to": data.decode()})
        say(send, {"news": 1})
        say(send, {"news": 2})
        seen.append(read())
    s = Talker(script)
    path = flow(
        s.url.removesuffix("/chat"),
        {"name": "open", "websocket": "/", "receive": 0},
        {"name": "a", "websocket": True, "body": "a", "receive": 0},
        {"name": "b", "websocket": True, "json": {"b": "x" * 3000000}, "receive": 0},
        {"name": "c", "websocket": True, "body": "c", "receive": 0, "think": "20ms"},
        {"name": "three", "websocket": True, "receive": 3, "check": {"contains": "xxxx"}},
        {"name": "c's", "websocket": True, "check": {"json": {"/to": "c"}}},
        {"name": "news", "websocket": True, "receive": 2, "check": {"json": {"/news": 2}}})
    d = load(path, "-n", 3, "-c", 1)
    expect_eq([(x["name"], x["errors"]) for x in d["steps"] if x["errors"]], [], "errors")
    expect_eq([x["requests"] for x in d["steps"]], [3] * 7, "steps")
    expect_eq((d["checks"]["passed"], d["checks"]["failed"]), (9, 0), "checks")
    expect_eq(by_name(d)["a"]["statuses"], {}, "what is only sent has no answer")
    expect_eq(by_name(d)["three"]["statuses"], {"1xx": 3}, "an answer")
    w = d["websocket"]
    expect_eq((w["messages_sent"], w["messages_received"]), (9, 18), "messages")
    wait_for(lambda: len(seen) == 12, what="goodbyes")
    expect_eq([(op, len(data)) for op, data in seen[:4]], [(1, 1), (1, 3000008), (1, 1), (8, 2)],
              "what it heard")


@test("messages that are waited for and do not all come are an error, in time")
def _():
    s = Talker(lambda read, send: [say(send, 1), say(send, 2), read()])
    base = s.url.removesuffix("/chat")
    path = flow(base, {"websocket": "/", "receive": 3})
    expect_eq(load(path, "-n", 1, "-c", 1, "--timeout", "0.3s")["errors"], {"until": 1},
              "two of three")
    s = Talker(lambda read, send: read())
    path = flow(s.url.removesuffix("/chat"), {"websocket": "/", "receive": 1})
    expect_eq(load(path, "-n", 1, "-c", 1, "--timeout", "0.3s")["errors"],
              {"timeout": 1}, "none")


@test("sessions by a schedule; those in the warm-up are left out; a base of ws:// means it")
def _():
    s = Talker(echo)
    step = {"name": "e", "websocket": "/x", "json": {"n": "{{session}}"},
            "until": {"json": {"/n": "{{session}}"}}}
    path = flow(s.url.removesuffix("/chat"), step)
    d = load(path, "-R", "100", "-z", "0.3s", "--warmup", "0.2s", "-c", 20)
    expect_eq((d["warmup_requests"], d["requests"], d["failed"]), (20, 30, 0), "requests")
    w = d["websocket"]
    expect_eq([w[k] for k in ("asked", "opened", "messages_sent", "messages_received")], [30] * 4,
              "what was measured")
    expect_eq(len(s.asked), 50, "all of them")
    expect_eq(d["sessions"]["ended"], 30, "sessions")


def in_the_guide():
    """The flow that docs/flows.md shows with a WebSocket."""
    text = (FLOWS.parents[1] / "docs/flows.md").read_text().partition("## WebSockets")[2]
    (tmp() / "guide.json").write_text(text.partition("```json\n")[2].partition("```")[0])
    return "guide.json"


def work(s, path, *options):
    """Twelve workflows, against the stub that has the script of the example."""
    os.environ["TARGET"] = s.url
    d = load(path, "-n", 12, "-c", 3, *options)
    del os.environ["TARGET"]
    expect_eq((d["failed"], d["checks"]["failed"], d["sessions"]["ended"]), (0, 0, 12), path)
    expect_eq((d["websocket"]["messages_sent"], d["websocket"]["messages_received"]), (12, 36),
              "messages")
    expect(by_name(d)["run"]["latency_ms"]["p50"] >= 12, "the third comes 2 + 5 + 5 ms later")
    expect_eq(s.end()["requests"], 24, "the stub's")


@test("the example and the guide's run, against a stub that tells its messages; over TLS too")
def _():
    script = "--script", str(FLOWS / "workflow-stub.json")
    work(stub(*script), str(FLOWS / "workflow.json"))
    work(stub(*script), in_the_guide())
    if (BUILD / "assay-tls.so").exists():
        c = Certificates()
        cert, key = c.issue("127.0.0.1")
        s = stub("--tls-cert", cert, "--tls-key", key, *script)
        work(s, str(FLOWS / "workflow.json"), "--cacert", c.ca)


# --- what goes wrong -----------------------------------------------------------

def answers(data):
    def script(read, send):
        read()
        send(data)
        read()
    return script


@test("what goes wrong is counted by its kind and breaks the session off, and nothing hangs")
def _():
    plain = b"HTTP/1.1 %d No\r\nContent-Length: 2\r\n\r\nno"
    other = frame(1, b'{"state": "other"}')
    for kind, server in (
            ("upgrade", Talker(echo, head=plain % 200)),
            ("status_4xx", Talker(echo, head=plain % 403)),
            ("status_5xx", Talker(echo, head=plain % 503)),
            ("protocol", Talker(echo, head=b"nonsense\r\n\r\n")),
            ("closed", Talker(lambda read, send: read())),
            ("closed", Talker(answers(other + frame(8, b"\x03\xe8")))),
            ("ws_close", Talker(answers(other + frame(8, b"\x03\xf3")))),
            ("protocol", Talker(answers(frame(1, b"\xff\xfe")))),
            ("protocol", Talker(answers(frame(3)))),
            ("until", Talker(answers(other))),
            ("timeout", Talker(lambda read, send: [read(), send(frame(9)), read(), read()]))):
        within = "0.2s" if kind in ("until", "timeout") else "30s"
        path = flow(server.url.removesuffix("/chat"),
                    {"name": "a", "websocket": "/", "body": "x",
                     "until": {"json": {"/state": "done"}, "within": within}},
                    {"name": "b", "websocket": True})
        d = load(path, "-n", 2, "-c", 1)
        expect_eq((d["requests"], d["errors"]), (2, {kind: 2}), kind)
        expect_eq((d["sessions"]["broken"], by_name(d)["b"]["requests"]), (2, 0), "broken off")
        opened = kind not in ("upgrade", "status_4xx", "status_5xx")
        expect(d["websocket"]["opened"] in ((0, 2) if opened else (0,)), kind)
        expect_eq(d["websocket"]["asked"], 2, kind)
    path = flow("ws://127.0.0.1:1", {"websocket": "/"})
    expect_eq(load(path, "-n", 1, "-c", 1)["errors"], {"refused": 1}, "nobody there")


@test("one that breaks the rules while nobody waits fails the step that needs it, and only that")
def _():
    def script(read, send):
        read()
        send(frame(1, b"1") + frame(3))
        read()
    path = flow(Talker(script).url.removesuffix("/chat"),
                {"name": "a", "websocket": "/", "body": "x", "think": "20ms"},
                {"name": "b", "websocket": True})
    d = load(path, "-n", 2, "-c", 1)
    expect_eq((d["requests"], d["errors"], d["unasked"]), (4, {"protocol": 2}, 2), "of four")
    expect_eq([s["failed"] for s in d["steps"]], [0, 2], "of each step")


@test("a WebSocket that goes while nobody waits fails the step that needs it; enough is enough")
def _():
    def leave(read, send):
        read()
        send(frame(1, b"1") + frame(8, b"\x03\xf3"))
    s = Talker(leave)
    path = flow(s.url.removesuffix("/chat"),
                {"name": "a", "websocket": "/", "body": "x", "think": "50ms"},
                {"name": "b", "websocket": True, "body": "y"})
    d = load(path, "-n", 2, "-c", 1)
    expect_eq((by_name(d)["a"]["errors"], by_name(d)["b"]["errors"]), ({}, {"ws_close": 2}), "gone")
    s = Talker(answers(frame(1, b"1") * 10))
    path = flow(s.url.removesuffix("/chat"), {"websocket": "/", "body": "x",
                                              "until": {"contains": "2", "most": 3}})
    expect_eq(load(path, "-n", 2, "-c", 1)["errors"], {"until": 2}, "three were too many")
    path = flow(s.url.removesuffix("/chat"), {"websocket": "/", "body": "x",
                                              "capture": {"y": {"json": "/y"}}})
    expect_eq(load(path, "-n", 2, "-c", 1)["errors"], {"capture": 2}, "not there")


@test("one that is under way when the load is over is waited for, and told if it stays away")
def _():
    s = Talker(lambda read, send: [read(), read()])
    path = flow(s.url.removesuffix("/chat"), {"websocket": "/", "body": "x",
                                              "until": {"within": "60s"}})
    d = load(path, "-z", "0.1s", "-c", 2, "--timeout", "0.2s")
    expect_eq((d["requests"], d["unfinished"], d["sessions"]["unfinished"]), (0, 2, 2), "left")


@test("what makes no sense is refused, with its place")
def _():
    for base, step, why in (
            ("ws://127.0.0.1:1", {"url": "/x"}, ":1:48: the base is a WebSocket's"),
            ("http://127.0.0.1:1", {"websocket": True}, ":1:56: no WebSocket is open here"),
            ("http://127.0.0.1:1", {"url": "/", "close": True}, ":1:64: a step without a"),
            ("http://127.0.0.1:1", {"websocket": "/", "check": {"status": 101}},
             ":1:81: a message has no status")):
        r = assay("load", flow(base, step))
        expect_eq(r.rc, 65, "exit status")
        expect_in("flow.json" + why, r.err)


main()
