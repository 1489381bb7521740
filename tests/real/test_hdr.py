#!/usr/bin/env python3
"""The histograms of a load, read by HdrHistogram's own Python implementation."""
import functools
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from stubs import *


@functools.lru_cache(None)
def hdr():
    """Its histogram and the reader of its log, from the package index into a folder of the test."""
    folder = str(tmp() / "packages")
    r = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", folder,
                        "hdrhistogram"], capture_output=True, text=True, timeout=300)
    if r.returncode:
        skip("hdrhistogram cannot be installed: " + r.stderr.strip().splitlines()[-1])
    sys.path.insert(0, folder)
    from hdrh.histogram import HdrHistogram
    from hdrh.log import HistogramLogReader
    return HdrHistogram, HistogramLogReader


@test("every count and percentile is read back as it was", seconds=400)
def _():
    HdrHistogram, _ = hdr()
    s = stub("--answer", "delay=exp:3ms")
    d = load(s.url, "-R", "1000", "-n", 3000, "-c", 50)
    s.end()
    for key, times in (("latency", "latency_ms"), ("wire", "wire_ms"),
                       ("lateness", "lateness_ms")):
        h = HdrHistogram.decode(d["hdr"][key])
        expect_eq(h.get_total_count(), d["requests"], key)
        for name, percent in (("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9)):
            got, want = d[times][name], h.get_value_at_percentile(percent) / 1e6
            expect(abs(got - want) <= want * 0.001, f"{key} {name}: {got}, HdrHistogram {want}")
        expect(abs(h.get_max_value() / 1e6 - d[times]["max"]) <= d[times]["max"] * 0.001, "max")


@test("the log is read by its own reader, every histogram of it", seconds=400)
def _():
    HdrHistogram, HistogramLogReader = hdr()
    s = stub("--answer", "delay=exp:3ms")
    r = assay("load", "-R", "1000", "-n", 2000, "-c", 50, "-o", "l.hdr", "-o", "l.json", s.url)
    expect(r.rc in (0, 6), r.err)
    d = json.loads((tmp() / "l.json").read_text())
    s.end()
    log = HistogramLogReader(str(tmp() / "l.hdr"), HdrHistogram(1, 3600 * 10**9, 3))
    for tag, times in ((None, "latency_ms"), ("wire", "wire_ms"), ("lateness", "lateness_ms")):
        h = log.get_next_interval_histogram()
        expect_eq((h.get_tag(), h.get_total_count()), (tag, d["requests"]), "a line")
        got, want = h.get_value_at_percentile(99) / 1e6, d[times]["p99"]
        expect(abs(got - want) <= want * 0.001, f"{tag} p99: {got}, assay {want}")
    expect(log.get_next_interval_histogram() is None, "no more lines")


main()
