#!/usr/bin/env python3
"""Streams under `assay load`: every event counts, and what a stream says of itself is told."""
import json
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from schemas import *
from stubs import *

ASK = {"stream": True, "messages": [{"role": "user", "content": "hello"}]}
USAGE = {"stream_options": {"include_usage": True}}


@test("events of streams, counted; firsts and gaps are as long as they were made")
def _():
    s = stub("-a", "sse=11&every=10ms&first=30ms&delay=20ms")
    d = load(s.url, "-n", 12, "-c", 4)["stream"]
    expect_eq((d["streams"], d["events"], d["cut"]), (12, 12 * 11, 0), "counts")
    expect_eq((d["tokens"], d["tokens_per_second"], d["token_events"]), (None, None, 0), "no model")
    expect(d["first_byte_ms"]["p50"] >= 20, d["first_byte_ms"])
    expect(d["first_event_ms"]["p50"] >= 50, d["first_event_ms"])
    expect_eq(d["first_token_ms"]["p50"], None, "no token")
    expect(d["between_events_ms"]["max"] >= 10, d["between_events_ms"])
    expect(d["event_lag_ms"]["p50"] is not None, "the stub says when it sent")
    s.end()


@test("tokens are those that usage counts, whichever API said them")
def _():
    s = stub("-a", "sse=20")
    for path, body in (("/v1/chat/completions", {**ASK, **USAGE}),
                       ("/v1/responses", {"stream": True, "input": "hello"})):
        d = load(s.url + path, "-n", 6, "-c", 2, "--body", json.dumps(body))
        st = d["stream"]
        expect_eq((st["streams"], st["streams_with_tokens"], st["tokens"], st["token_events"]),
                  (6, 6, 120, 120), path)
        rate = st["tokens"] / d["measured_seconds"]
        expect(abs(st["tokens_per_second"] / rate - 1) < 1e-6, "tokens a second")
        expect(st["first_token_ms"]["p50"] >= st["first_byte_ms"]["p50"], "first token")
        expect_eq(st["between_tokens_ms"]["p50"] is not None, True, "token gaps")
    st = load(s.url + "/v1/chat/completions", "-n", 2, "--body", json.dumps(ASK))["stream"]
    expect_eq((st["tokens"], st["token_events"]), (None, 40), "without usage nobody knows")
    d = load(s.url + "/v1/chat/completions", "-n", 2, "--body",
             json.dumps({**ASK, "stream": False}))
    expect_eq((d["stream"], d["failed"]), (None, 0), "no stream")
    for path, body in (("/v1/chat/completions", {**ASK, "stream": False}),
                       ("/v1/responses", {"input": "hello"})):
        d = load(s.url + path, "-n", 6, "-c", 2, "--tokens", "--body", json.dumps(body))
        st = d["stream"]
        expect_eq((st["streams"], st["streams_with_tokens"], st["tokens"]), (0, 6, 120), path)
    text = assay("show", d["id"], env={"LC_ALL": "C.UTF-8"}).ok().out
    expect_in("120 tokens", text)
    s.end()
    s = stub()
    expect_eq(load(s.url + "/?size=50", "-n", 6, "-c", 2, "--tokens")["stream"], None, "no JSON")
    s.end()


@test("usage is read of an answer in pieces, over one connection again and again")
def _():
    body = (b'{"pad": "' + b"x" * 300000 + b'", "choices": [{"message": {"content": "hi"}}], '
            b'"usage": {"prompt_tokens": 3, "completion_tokens": 7}}')
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            c, _ = server.accept()
            for head in (b"Content-Length: %d\r\n\r\n" % len(body),
                         b"Content-Length: 2\r\n\r\n",
                         b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(body)):
                c.recv(4096)
                c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + head
                          + (b"{}" if b" 2\r" in head else body))
                if b"chunked" in head:
                    c.sendall(b"\r\n0\r\n\r\n")
            c.recv(1)
        t = threading.Thread(target=serve, daemon=True)
        t.start()
        d = load(f"http://127.0.0.1:{server.getsockname()[1]}/", "-n", 3, "-c", 1, "--tokens")
        t.join(10)
    st = d["stream"]
    expect_eq((st["streams"], st["streams_with_tokens"], st["tokens"], d["failed"]), (1, 2, 14, 0),
              "told by two of three")


@test("chunks are events of what is no event stream")
def _():
    s = stub()
    d = load(s.url + "/?chunks=7&size=5&every=1ms", "-n", 10, "-c", 2)
    expect_eq((d["stream"]["streams"], d["stream"]["events"]), (10, 70), "chunks")
    expect_eq(load(s.url, "-n", 10)["stream"], None, "an ordinary answer")
    s.end()


@test("a stream that breaks off in the middle is cut, also by a reset")
def _():
    s = stub()
    for words in ("sse=10&end=short", "chunks=10&end=short"):
        d = load(f"{s.url}/?{words}", "-n", 8, "-c", 2, rc=(6,))
        expect_eq((d["errors"], d["stream"]["cut"], d["stream"]["events"]), ({"cut": 8}, 8, 40),
                  words)
    d = load(f"{s.url}/?sse=3&framing=close", "-n", 8, "-c", 2)
    expect_eq((d["failed"], d["stream"]["events"]), (0, 24), "one that ends with its connection")
    s.end()
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            c, _ = server.accept()
            c.recv(4096)
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                      b"Transfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\n")
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            c.close()
        t = threading.Thread(target=serve, daemon=True)
        t.start()
        d = load(f"http://127.0.0.1:{server.getsockname()[1]}/", "-n", 1, "-c", 1, rc=(6,))
        t.join(10)
    expect_eq((d["errors"], d["failed"]), ({"cut": 1}, 1), "reset")


@test("a stream that began in the warm-up is left out; one that takes too long is given up")
def _():
    s = stub("-a", "sse=5&every=1ms")
    d = load(s.url, "-R", "100", "-z", "0.2s", "--warmup", "0.1s", "-c", 20)
    expect_eq((d["warmup_requests"], d["stream"]["streams"], d["stream"]["events"]),
              (10, 20, 100), "counts")
    d = load(s.url + "/?sse=1000&every=20ms", "-n", 2, "-c", 2, "--timeout", "0.3s", rc=(6,))
    expect_eq((d["errors"], d["stream"]["streams"]), ({"timeout": 2}, 2), "given up")
    s.end()


@test("goodput is the share that was answered in time")
def _():
    s = stub()
    d = load(s.url + "/?delay=50ms", "-n", 6, "-c", 2, "--deadline", "40ms")
    expect_eq((d["goodput"], d["deadline_ms"]), (0, 40), "none can be in time")
    d = load(s.url, "-n", 20, "-c", 1, "--deadline", "60s")
    expect_eq(d["goodput"], 1, "all must be")
    d = load(s.url + "/?status=500", "-n", 20, "-c", 1, "--deadline", "60s")
    expect_eq(d["goodput"], 0, "an error is never good")
    expect_eq(load(s.url, "-n", 2)["goodput"], None, "no deadline")
    s.end()


@test("goodput is what kept to all bounds, and says which was missed how often")
def _():
    s = stub("-a", "sse=11&every=20ms&first=150ms")
    url, body = s.url + "/v1/chat/completions", json.dumps({**ASK, **USAGE})

    def good(bounds, *options, body=body):
        return load(url, "-n", 6, "-c", 3, "--goodput", bounds, "--body", body, *options)

    d = good("ttft<60s,tpot<60s,e2el<60s")
    expect_eq((d["goodput"], d["good"]["requests"], d["deadline_ms"]), (1, 6, 60000), "all")
    expect(abs(d["good"]["rate"] * d["measured_seconds"] / 6 - 1) < 1e-6, d["good"])
    kept_all = ("ttft", "tpot", "e2el")
    kept = {"kept": 6, "missed": 0, "unknown": 0, "within_ms": 60000}
    expect_eq(d["good"]["bounds"], {k: kept for k in kept_all}, "each")
    for bound, name in (("ttft<100ms", "ttft"), ("tpot<2ms", "tpot"), ("e2el<300ms", "e2el")):
        d = good(",".join([bound] + [f"{x}<60s" for x in kept_all if x != name]))
        expect_eq((d["goodput"], d["good"]["requests"], d["good"]["rate"]), (0, 0, 0), name)
        expect_eq({k: (v["kept"], v["missed"]) for k, v in d["good"]["bounds"].items()},
                  {k: (0, 6) if k == name else (6, 0) for k in kept_all}, name)
    r = assay("load", "-n", 6, "-c", 3, "--goodput", "ttft<100ms,e2el<60s", "--body", body,
              "--threshold", "goodput>0.9,good_requests>=1/s", "-o", "good.md", "-o", "good.csv",
              url, env={"COLUMNS": "80", "LC_ALL": "C.UTF-8"})
    expect(r.rc in (3, 6), r.err)
    expect_in("goodput     0 % within ttft 100 ms, e2el 1m 00s", r.out)
    expect_in("ttft missed by 6", r.out)
    expect(max(map(len, r.out.splitlines())) <= 80, r.out)
    expect_in("| 0 % | 0 | ttft within 100 ms | 0 | 6 | 0 |", (tmp() / "good.md").read_text())
    expect_in("| | | e2el within 1m 00s | 6 | 0 | 0 |", (tmp() / "good.md").read_text())
    head, *rows = [line.split(",") for line in (tmp() / "good.csv").read_text().splitlines()]
    expect_eq([r for r in rows if r[head.index("load.good")]][-1][head.index("load.good")], "0",
              "the timeline")
    s.end()


@test("what is not known of an answer is never good, and of none it is unknown")
def _():
    s = stub("-a", "sse=5")
    url = s.url + "/v1/chat/completions"
    (tmp() / "bodies.jsonl").write_text(json.dumps({**ASK, **USAGE}) + "\n" + json.dumps(ASK))
    d = load(url, "-n", 8, "-c", 2, "--body-lines", "bodies.jsonl", "--goodput",
             "ttft<60s,tpot<60s")
    expect_eq((d["goodput"], d["good"]["requests"]), (0.5, 4), "half of them told their tokens")
    expect_eq([d["good"]["bounds"][k][x] for k in ("ttft", "tpot") for x in ("kept", "unknown")],
              [8, 0, 4, 4], "each")
    d = load(url, "-n", 8, "-c", 2, "--body", json.dumps(ASK), "--goodput", "ttft<60s,tpot<60s")
    expect_eq((d["goodput"], d["good"]["requests"], d["good"]["rate"]), (None,) * 3, "no usage")
    r = assay("show", d["id"], env={"LC_ALL": "C.UTF-8"}).ok()
    expect_in("unknown: no `usage`: ask for it by stream_options.include_usage", r.out)
    expect_in("tpot unknown of 8", r.out)
    s.end()
    s = stub()
    r = assay("load", "-n", 4, "--goodput", "ttft<60s", "--threshold", "goodput>=0", s.url)
    expect(r.rc in (3, 6), r.err)
    expect_in("unknown: no answer was a stream with tokens", r.out)
    d = load(s.url + "/?status=500", "-n", 4, "--goodput", "ttft<60s,e2el<60s")
    expect_eq((d["goodput"], d["good"]["requests"]), (0, 0), "what failed is known not to be good")
    s.end()


@test("bounds that no answer can keep to are refused before anything is sent")
def _():
    s = stub()
    chat, plain = s.url + "/v1/chat/completions", json.dumps({"messages": []})
    for words, says in (
            (["--goodput", "ttft<1s", "--body", "x", s.url.replace("http", "ws")], "WebSocket"),
            (["--goodput", "tpot<1s", "-m", "HEAD", s.url], "HEAD"),
            (["--goodput", "ttft<1s", "--body", plain, chat], "does not ask for a stream"),
            (["--goodput", "ttft<1s", "--body", '{"stream": false}', s.url], "ask for a stream"),
            (["--goodput", "ttft:500", s.url], "ttft<500ms"),
            (["--goodput", "itl<1s", s.url], "what a good answer is"),
            (["--goodput", "e2el<1s", "--deadline", "2s", s.url], "--deadline"),
            (["--threshold", "good_requests>1/s", s.url], "--goodput")):
        r = assay("load", "-n", 1, *words)
        expect_eq((r.rc, r.out), (2, ""), words)
        expect_in(says, r.err)
    load(chat, "-n", 2, "--goodput", "e2el<60s", "--body", plain)
    expect_eq(s.end()["requests"], 2, "only those that were asked for")


@test("a capacity keeps to a share of good answers")
def _():
    s = stub("-a", "sse=4&every=2ms&first=5ms")
    for bounds, rc in (("ttft<30s,tpot<30s", (0, 6)), ("ttft<1ms,tpot<30s", (3, 6))):
        r = assay("capacity", "--json", "--slo", "goodput>0.5", "--goodput", bounds, "--from", 20,
                  "--most", 20, "--probe", "0.3s", "--hold", "0.3s", "--body",
                  json.dumps({**ASK, **USAGE}), s.url + "/v1/chat/completions")
        expect(r.rc in rc, f"{r.rc} {r.err}")
        d = valid(r.json(), "capacity-1")
        probes = [p for p in d["probes"] if p["verdict"] != "invalid"]
        expect_eq({p["missed"] for p in probes} - {None},
                  set() if rc[0] == 0 else {"goodput>0.5"}, bounds)
    r = assay("capacity", "--json", "--slo", "ttft.p90<1ms", "--from", 20, "--most", 20, "--probe",
              "3s", "--hold", "0.3s", "--body", json.dumps({**ASK, **USAGE}),
              s.url + "/v1/chat/completions")
    first = valid(r.json(), "capacity-1")["probes"][0]
    expect(first["verdict"] == "invalid" or (first["missed"] and first["seconds"] < 2.7),
           f"half of its time is enough: {first}")
    s.end()


@test("streams are kept in the run, shown again, and may have thresholds")
def _():
    s = stub("-a", "sse=20")
    d = load(s.url + "/v1/chat/completions", "-n", 6, "-c", 2, "--deadline", "50s", "--body",
             json.dumps({**ASK, **USAGE}))
    kept = valid(assay("show", "--json", d["id"]).ok().json())["assay"]["load"]
    expect_eq((kept["stream"], kept["goodput"]), (d["stream"], d["goodput"]), "kept")
    text = assay("show", d["id"], env={"COLUMNS": "80", "LC_ALL": "C.UTF-8"}).ok().out
    for words in ("streams     6", "first token", "between", "per token", "120 tokens", "goodput"):
        expect_in(words, text)
    expect(max(map(len, text.splitlines())) <= 80, text)
    d = load(s.url + "/v1/chat/completions", "-n", 3, "--body", json.dumps({**ASK, **USAGE}),
             "--deadline", "50s", "--threshold", "ttft.p50<60s, itl.p99<60s, tpot.mean<60s",
             "--threshold", "goodput>=1")
    expect_eq([x["ok"] for x in d["thresholds"]], [True] * 4, d["thresholds"])
    expect_eq(d["thresholds"][0]["value"], d["stream"]["first_token_ms"]["p50"], "its value")
    expect_eq(d["thresholds"][1]["value"], d["stream"]["between_tokens_ms"]["p99"], "itl's")
    s.end()


main()
