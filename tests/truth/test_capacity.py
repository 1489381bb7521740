#!/usr/bin/env python3
"""`assay capacity` against queues whose capacity theory knows: M/M/c, within 5 %.

A request's time in an M/M/c queue has a known distribution, so the rate at which its 95th
percentile is 200 ms is known. Prints the figures of docs/truth.md. The machine should be quiet:
who competes for the CPUs makes probes INVALID, and then nothing is told.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from queues import *
from schemas import *
from stubs import *


def capacity(url, *options):
    r = assay("capacity", "--json", *options, url, timeout=280)
    if r.rc == 6:
        skip("the machine is too busy: a probe was INVALID")
    expect_eq(r.rc, 0, r.err)
    return valid(r.json(), "capacity-1")


def compare(servers, mean_ms, bound_ms):
    truth = holds(servers, mean_ms / 1e3, bound_ms / 1e3, 0.95)
    s = stub("--servers", servers, "--service", f"exp:{mean_ms}ms")
    d = capacity(s.url, "--slo", f"p95<{bound_ms}ms,errors<1%", "--from", 40, "--probe", "4s",
                 "--hold", "20s")
    s.end()
    print(f"# {servers} servers of {mean_ms} ms: {d['capacity']:.1f}/s in {len(d['probes'])}"
          f" probes, the truth is {truth:.1f}/s: {100 * (d['capacity'] / truth - 1):+.1f} %")
    expect_near(d["capacity"], truth, 0.05, "capacity")


@test("eight servers of 40 ms, p95 below 200 ms: within 5 % of theory", seconds=300)
def _():
    compare(8, 40, 200)


@test("four servers of 20 ms, p95 below 120 ms: within 5 % of theory", seconds=300)
def _():
    compare(4, 20, 120)


@test("by concurrency: four servers of 100 ms each hold exactly four within 150 ms", seconds=120)
def _():
    s = stub("--servers", 4, "--service", "100ms")
    d = capacity(s.url, "--by", "concurrency", "--slo", "p90<150ms", "--probe", "2s", "--hold",
                 "4s", "--precision", "0.01")
    s.end()
    print(f"# {d['capacity']:.0f} at once, {d['probes'][-1]['rate']:.1f}/s; the truth is 4, 40/s")
    expect_eq((d["capacity"], d["too_much"]), (4, 5), "capacity")
    expect_near(d["probes"][-1]["rate"], 40, 0.05, "answers a second")


main()
