#!/usr/bin/env python3
"""Streams and queues against truths that can be computed: gaps of a clock, Erlang's C, memory.

Prints the figures of docs/truth.md. The machine should be quiet: who competes for the CPUs delays
both sides.
"""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from stubs import *


def memory(d):
    """Its peak, in MB, of a load that was kept."""
    return assay("show", "--json", d["id"]).ok().json()["assay"]["self"]["memory_peak_bytes"] / 1e6


@test("1000 streams of 50 events a second: gaps of 20 ms, read as they come",
      seconds=240)
def _():
    s = stub("--sse", 500, "--every", "20ms")
    d = load(s.url, "-c", 1000, "-n", 1000, "--timeout", "120s", timeout=180)
    s.end()
    st = d["stream"]
    expect_eq((d["failed"], st["streams"], st["events"]), (0, 1000, 500000), "counts")
    print(f"# between p50 {st['between_events_ms']['p50']:.2f} ms, lag p50 "
          f"{st['event_lag_ms']['p50']:.3f} p99 {st['event_lag_ms']['p99']:.2f} ms, "
          f"busy {d['generator']['busy']:.2f}, memory {memory(d):.1f} MB")
    expect_near(st["between_events_ms"]["mean"], 20, 0.01, "mean")
    expect_near(st["between_events_ms"]["p50"], 20, 0.01, "p50")


@test("firsts: each as long after the request as it was made")
def _():
    s = stub("-a", "delay=100ms&first=50ms&every=20ms&sse=10")
    st = load(s.url, "-c", 10, "-n", 200, "--timeout", "60s")["stream"]
    s.end()
    for key, truth in (("first_byte_ms", 100), ("first_event_ms", 150), ("between_events_ms", 20)):
        print(f"# {key}: {st[key]['p50']:.2f}, the truth is {truth}")
        expect_near(st[key]["p50"], truth, 0.05, key)


@test("a model: first token and time per token as the conversation told it")
def _():
    s = stub()
    said = ("<response latency_ms='200' stream='true' chunk_delay_ms='10'>"
            + " ".join("word" for _ in range(51)) + "</response>")
    body = {"stream": True, "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": said}]}
    st = load(s.url + "/v1/chat/completions", "-c", 10, "-n", 60, "--body",
              json.dumps(body), "--timeout", "60s")["stream"]
    s.end()
    expect_eq(st["tokens"], 60 * 51, "tokens")
    print(f"# first token {st['first_token_ms']['p50']:.1f} ms, "
          f"a token {st['per_token_ms']['p50']:.2f} ms")
    expect_near(st["first_token_ms"]["p50"], 200, 0.02, "first token")
    expect_near(st["per_token_ms"]["p50"], 10, 0.02, "per token")


@test("10,000 streams that rest cost less than 100 MB", seconds=240)
def _():
    s = stub("--sse", 2, "--every", "20s")
    d = load(s.url, "-c", 10000, "-n", 10000, "--timeout", "120s", timeout=180)
    s.end()
    expect_eq((d["failed"], d["stream"]["events"]), (0, 20000), "counts")
    print(f"# {memory(d):.1f} MB")
    expect(memory(d) <= 100, memory(d))


@test("what is held does not grow with the time: 4 s and 20 s, within 1 MB")
def _():
    s = stub("--sse", 100, "--every", "5ms")
    few, many = (memory(load(s.url, "-c", 100, "-z", f"{t}s")) for t in (4, 20))
    s.end()
    print(f"# {few:.2f} and {many:.2f} MB")
    expect(many - few <= 1, (few, many))


def erlang_c(servers, offered):
    """The share of those who wait, in M/M/c."""
    inverse = 1.0
    for n in range(1, servers + 1):
        inverse = 1 + inverse * n / offered      # of Erlang's B
    blocked = 1 / inverse
    return blocked / (1 - offered / servers * (1 - blocked))


@test("M/M/c: what Erlang computed, 4 servers of 10 ms at a load of 0.7", seconds=400)
def _():
    servers, service, rate = 4, 0.010, 280
    s = stub("--servers", servers, "--service", f"exp:{service}s", "--seed", 5)
    d = load(s.url, "-R", rate, "-z", "120s", "-c", 400, "--arrival", "poisson", "--seed", 3,
             timeout=200)
    s.end()
    rate = d["requests"] / 120      # as chance had it: it is off by 1 % as often as not
    wait = erlang_c(servers, rate * service) / (servers / service - rate)
    truth = 1000 * (service + wait)
    print(f"# mean {d['latency_ms']['mean']:.2f} ms, the truth is {truth:.2f} ms "
          f"(of which {1000 * wait:.2f} in the queue)")
    expect_eq(d["failed"], 0, "failed")
    expect_near(d["latency_ms"]["mean"], truth, 0.05, "mean")


main()
