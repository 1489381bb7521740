#!/usr/bin/env python3
"""`assay stub` does what it is told: routes of a script, streams, queues, a model to talk to."""
import http.client
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from stubs import *


def ask(s, path, body=None, headers=None):
    """Status, headers and body of one request."""
    c = http.client.HTTPConnection(s.url.split("//")[1], timeout=30)
    c.request("POST" if body is not None else "GET", path,
              json.dumps(body) if body is not None else None, headers or {})
    r = c.getresponse()
    got = r.status, dict(r.getheaders()), r.read().decode()
    c.close()
    return got


def script(text):
    (tmp() / "script.json").write_text(text)
    return tmp() / "script.json"


def events(body):
    """(name, data) of each event."""
    found = []
    for block in body.split("\n\n"):
        lines = [l.split(": ", 1) for l in block.split("\n") if ": " in l]
        data = "\n".join(v for k, v in lines if k == "data")
        if data:
            found.append((dict(lines).get("event", ""), data))
    return found


# --- scripts -----------------------------------------------------------------------

@test("a script says what each path answers, with files beside it")
def _():
    (tmp() / "page.html").write_text("<p>hello")
    s = stub("--script", script("""{"routes": [
        {"path": "/health", "json": {"ok": [1, 2.0, null]}},
        {"path": "/page", "file": "page.html", "type": "text/html"},
        {"path": "/items/*", "status": 404, "body": "none", "headers": {"X-Why": "no such"}},
        {"path": "/ticks", "sse": 3, "data": "a\\nb"},
        {"path": "/bits", "answer": "chunks=3&size=2"}]}"""))
    status, headers, body = ask(s, "/health")
    expect_eq((status, body, headers["Content-Type"]),
              (200, '{"ok":[1,2.0,null]}', "application/json"), "JSON")
    expect_eq(ask(s, "/page")[2], "<p>hello", "a file")
    status, headers, body = ask(s, "/items/7")
    expect_eq((status, headers["X-Why"], body), (404, "no such", "none"), "a prefix")
    expect_eq(events(ask(s, "/ticks")[2]), [("", "a\nb")] * 3, "events")
    expect_eq(ask(s, "/bits")[2], "xxxxxx", "chunks")
    expect_eq(len(ask(s, "/other")[2]), 27, "what no route says")
    expect_eq(ask(s, "/health?status=503")[0], 503, "the query wins")
    expect_eq(s.end()["answers"], 7, "answers")


@test("what is wrong with a script is told with its file and line")
def _():
    for text, where in (('{"routes": [\n {"path": "/"},\n {"path": "/", "end": "no"}]}', ":3: "),
                        ('{"routes": [\n {"path" "/"}]}', ":2: "),
                        ('{"routes": [\n {"path": "/", "file": "none"}]}', ":2: ")):
        r = assay("stub", "-d", "0.1", "--script", script(text))
        expect_eq((r.rc, r.out), (65, ""), "exit status")
        expect_in("script.json" + where, r.err)
    expect_eq(assay("stub", "-d", "0.1", "--script", "none.json").rc, 66, "no file")


@test("wrong words are refused")
def _():
    for words in (["--servers", "2"], ["--service", "exp:1ms"], ["--every", "x", "--sse", "3"],
                  ["--sse", "0"], ["-a", "delay=gamma:1s"], ["--stall", "1s"]):
        r = assay("stub", "-d", "0.1", *words)
        expect_eq((r.rc, r.out), (2, ""), f"{words}: {r}")
    expect_eq(assay("stub", "-d", "0.1", "--files", "none").rc, 66, "no folder")


# --- streams and queues ----------------------------------------------------------------

@test("a stream has its events, one after the other, and says when each was sent")
def _():
    s = stub("--sse", 5, "--every", "20ms")
    found = [json.loads(d) for _, d in events(ask(s, "/")[2])]
    expect_eq([e["event"] for e in found], [0, 1, 2, 3, 4], "events")
    gaps = [(b["assay_sent_ns"] - a["assay_sent_ns"]) / 1e6 for a, b in zip(found, found[1:])]
    expect(sum(gaps) >= 4 * 20 - 20, f"gaps of 20 ms: {gaps}")  # the first may have been late
    s.end()


@test("a client that does not read stops a stream, and gets it whole when it does")
def _():
    s = stub()
    c = http.client.HTTPConnection(s.url.split("//")[1], timeout=30)
    c.request("GET", "/?chunks=200&size=64KiB")
    r = c.getresponse()
    expect_eq(len(ask(s, "/")[2]), 27, "others are answered meanwhile")
    expect_eq(len(r.read()), 200 << 16, "all of it")
    c.close()
    s.end()


@test("a queue: what one server does one after the other takes as long as all of it")
def _():
    s = stub("--servers", 1, "--service", "5ms")
    d = load(s.url, "-n", 40, "-c", 20)
    expect_eq((d["requests"], d["failed"]), (40, 0), "requests")
    expect(d["measured_seconds"] >= 40 * 0.005 * 0.99, d["measured_seconds"])
    expect(d["latency_ms"]["p90"] >= 80, d["latency_ms"])
    s.end()


@test("who leaves the queue makes room, and nothing hangs")
def _():
    s = stub("--servers", 2, "--service", "50ms")
    d = load(s.url, "-n", 40, "-c", 20, "--timeout", "0.2s", rc=(0, 3, 6))
    expect_eq(d["requests"], 40, "requests")
    expect(d["errors"].get("timeout", 0) > 0, d["errors"])
    expect_eq(load(s.url, "-n", 4, "-c", 2)["failed"], 0, "failed, later")
    s.end()


# --- the model -------------------------------------------------------------------------

TOLD = ("<response latency_ms='10' stream='true' chunk_delay_ms='1'>I look. <tool_calls>"
        '[{"name": "grep", "args": {"pattern": "x"}}]</tool_calls></response>'
        "<response latency_ms='5' stream='true' chunk_delay_ms='1' file='long.txt'/>")


def chat(s, messages, **more):
    return ask(s, "/v1/chat/completions", {"model": "m", "messages": messages, **more})


@test("chat completions: told what to say and to call, turn by turn, whole or as a stream")
def _():
    (tmp() / "long.txt").write_text("one two three four")
    s = stub("--files", tmp())
    goal = [{"role": "user", "content": TOLD}]
    d = json.loads(chat(s, goal)[2])
    message = d["choices"][0]["message"]
    call = message["tool_calls"][0]["function"]
    expect_eq((message["content"], call["name"], json.loads(call["arguments"])),
              ("I look.", "grep", {"pattern": "x"}), "the first turn")
    expect_eq((d["choices"][0]["finish_reason"], d["usage"]["completion_tokens"]),
              ("tool_calls", 2), "how it ends")
    turn = goal + [message, {"role": "tool", "content": "found"}]
    found = events(chat(s, turn, stream=True, stream_options={"include_usage": True})[2])
    expect_eq(found[-1], ("", "[DONE]"), "the last event")
    chunks = [json.loads(data) for _, data in found[:-1]]
    words = [c["choices"][0]["delta"].get("content") for c in chunks if c["choices"]]
    expect_eq([w for w in words if w], ["one ", "two ", "three ", "four"], "a word at a time")
    expect_eq(chunks[-1]["usage"]["completion_tokens"], 4, "usage")
    expect_eq({c["object"] for c in chunks}, {"chat.completion.chunk"}, "kind")
    s.end()


@test("responses: the same, with events that have names")
def _():
    s = stub("-a", "sse=3")
    status, _, body = ask(s, "/v1/responses", {"input": "hello there", "stream": True})
    found = events(body)
    expect_eq([n for n, _ in found],
              ["response.created", "response.output_item.added"] +
              ["response.output_text.delta"] * 3 +
              ["response.output_item.done", "response.completed"], "events")
    done = json.loads(found[-1][1])["response"]
    expect_eq((done["status"], done["usage"]),
              ("completed", {"input_tokens": 2, "output_tokens": 3, "total_tokens": 5}), "usage")
    expect_eq(done["output"][0]["content"][0]["text"], "word1 word2 word3", "text")
    d = json.loads(ask(s, "/v1/responses", {"input": [
        {"role": "user", "content": "<response><tool_calls>[{\"name\":\"f\",\"args\":{}}]"
                                    "</tool_calls></response>"}]})[2])
    expect_eq([(o["type"], o["name"], o["arguments"]) for o in d["output"]],
              [("function_call", "f", "{}")], "a call")
    s.end()


@test("the model refuses what makes no sense, and files that it was not given")
def _():
    s = stub()
    for body in ({}, {"messages": []}, {"messages": [{"role": "user", "content": 5}]},
                 {"messages": [{"role": "user", "content": "<response><tool_calls>x</tool_calls>"
                                                           "</response>"}]}):
        status, _, text = ask(s, "/v1/chat/completions", body)
        expect_eq((status, list(json.loads(text))), (400, ["error"]), str(body))
    s.end()
    (tmp() / "secret").write_text("x")
    (tmp() / "files").mkdir()
    s = stub("--files", tmp() / "files")
    for name in ("../secret", ".hidden", "none", str(tmp() / "secret")):
        status = chat(s, [{"role": "user", "content": f"<response file='{name}'/>"}])[0]
        expect(status in (400, 404), f"{name}: {status}")
    s.end()


@test("of OpenAI's API there is the list of models; what else is below /v1 is not found")
def _():
    s = stub("-a", "size=7")
    status, headers, body = ask(s, "/v1/models")
    d = json.loads(body)
    expect_eq((status, headers["Content-Type"], d["object"]), (200, "application/json", "list"),
              "the list")
    expect_eq([(m["id"], m["object"]) for m in d["data"]], [("stub", "model")], "models")
    for path, body in (("/v1/messages", {"messages": []}), ("/v1/nothing", None)):
        status, _, text = ask(s, path, body)
        e = json.loads(text)["error"]
        expect_eq((status, e["type"], e["param"], e["code"]),
                  (404, "invalid_request_error", None, None), path)
        expect_in(path, e["message"], "message")
    expect_eq((ask(s, "/v1/nothing?size=3")[2], ask(s, "/v2/models")[2]), ("xxx", "x" * 7),
              "what a query says, and what is elsewhere, is as before")
    s.end()
    s = stub("--script", script('{"routes": [{"path": "/v1/messages", "body": "mine"}]}'))
    expect_eq(ask(s, "/v1/messages", {})[2], "mine", "a route comes first")
    s.end()


main()
