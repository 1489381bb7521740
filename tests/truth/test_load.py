#!/usr/bin/env python3
"""`assay load` against truths that can be computed: a stall, a schedule, a distribution.

Prints the figures of docs/truth.md. The machine should be quiet: who competes for the CPUs delays
both sides.
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from stubs import *

RATE, SECONDS, STALL = 1000, 6, 1.0


@test("a stall of 1 s: p90 and p99 within 5 % of what the schedule says, with 50 connections")
def _():
    s = stub("--stall", f"2s:{STALL}s")
    d = load(s.url, "-R", RATE, "-z", f"{SECONDS}s", "-c", 50)
    n = s.end()
    expect_eq((d["requests"], n["requests"], d["failed"]),
              (RATE * SECONDS, RATE * SECONDS, 0), "requests")
    # Of all requests 1/6 was due in the stall; the longest waited all of it, evenly down to none.
    share = STALL / SECONDS
    for key, q in (("p90", 0.90), ("p99", 0.99)):
        truth = 1000 * STALL * (1 - (1 - q) / share)
        print(f"# {key}: {d['latency_ms'][key]:.1f} ms, the truth is {truth:.1f} ms")
        expect_near(d["latency_ms"][key], truth, 0.05, key)
    expect(d["latency_ms"]["p50"] < 100, d["latency_ms"])


@test("delays of 20 ms: no request is told to be faster, the median hardly slower")
def _():
    s = stub("--answer", "delay=20ms")
    d = load(s.url, "-R", 200, "-z", "3s", "-c", 20)
    s.end()
    print(f"# p50 {d['latency_ms']['p50']:.2f} ms, wire {d['wire_ms']['p50']:.2f} ms")
    expect(d["wire_ms"]["p50"] >= 20, d["wire_ms"])
    expect_near(d["latency_ms"]["p50"], 20, 0.05, "p50")


@test("exponential delays: the percentiles of the distribution")
def _():
    s = stub("--answer", "delay=exp:20ms")
    d = load(s.url, "-R", 500, "-z", "10s", "-c", 200)
    s.end()
    for key, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        truth = -20 * math.log(1 - q)
        print(f"# {key}: {d['latency_ms'][key]:.2f} ms, the truth is {truth:.2f} ms")
        expect_near(d["latency_ms"][key], truth, 0.12, key)


@test("1000 a second are 1000 a second, and each is sent within 50 us of its moment, mostly")
def _():
    s = stub()
    d = load(s.url, "-R", RATE, "-z", "5s", "-c", 20)
    s.end()
    off = d["latency_ms"]["p50"] - d["wire_ms"]["p50"]
    print(f"# rate {d['rate']:.2f}, late by {1000 * off:.0f} us, p99 {d['lateness_ms']['p99']} ms")
    expect_near(d["rate"], RATE, 0.001, "rate")
    expect(off <= 0.05, f"late by {1000 * off:.0f} us")


@test("Poisson arrivals at an idle server: the rate is kept, the gaps are random")
def _():
    s = stub()
    d = load(s.url, "-R", 1000, "-z", "4s", "-c", 50, "--arrival", "poisson")
    expect_eq(d["requests"], s.end()["requests"], "requests")
    expect(abs(d["requests"] - 4000) <= 4 * math.sqrt(4000), d["requests"])


@test("a generator that shares its CPU with a burner says INVALID")
def _():
    s = stub()
    burner = start("taskset", "-c", "0", sys.executable, "-c", "while True: pass")
    r = run("taskset", "-c", "0", ASSAY, "load", "--json", "-z", "3s", "-c", 64, s.url)
    stop(burner)
    expect_eq((r.rc, r.json()["verdict"]), (6, "INVALID"), "verdict")


main()
