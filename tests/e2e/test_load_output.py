#!/usr/bin/env python3
"""What `assay load` writes for others: each format as its reader wants it, and files as a whole."""
import base64
import csv
import io
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from schemas import *
from stubs import *

FILES = ("l.json", "l.csv", "l.ndjson", "l.hdr", "l.xml", "l.md")


def written(*options, rc=(0, 6)):
    """A load of 50 requests, in every format at once; what it printed."""
    s = stub("--answer", "delay=5ms")
    r = assay("load", "-n", 50, "-c", 5, *options, *(w for f in FILES for w in ("-o", f)), s.url,
              env={"LC_ALL": "C.UTF-8"})
    s.end()
    expect(r.rc in rc, f"exit status {r.rc}: {r.err}")
    expect_eq(sorted(p.name for p in tmp().glob("l.*")), sorted(FILES), "files")
    return r


def read(name):
    return (tmp() / name).read_text()


@test("every format at once, each as its reader wants it, and the summary as well")
def _():
    r = written("--name", "<shop> & 'co' | x", "--threshold", "p99<10s, requests<50", rc=(3, 6))
    expect_in("requests    50", r.out)
    d = valid(json.loads(read("l.json")), "load-1")
    expect_eq((d["requests"], d["name"]), (50, "<shop> & 'co' | x"), "JSON")
    suite = xml.fromstring(read("l.xml")).find("testsuite")
    invalid = d["verdict"] == "INVALID"
    expect_eq((suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("errors")),
              (d["name"], "3", "1", str(int(invalid))), "suite")
    cases = suite.findall("testcase")
    expect_eq([c.get("name") for c in cases],
              ["the measurement is valid", "p99<10s", "requests<50"], "tests")
    expect_eq([len(c) for c in cases], [int(invalid), 0, 1], "what went wrong")
    expect_eq(cases[2].find("failure").get("message"), "requests<50: 50", "why")
    page = read("l.md")
    expect_in("### \\<shop\\> & 'co' \\| x: ", page)
    expect_in("| ✘ | requests\\<50 | 50 |", page)
    for line in page.splitlines():
        expect(not line.startswith("|") or line.endswith("|"), line)


def histogram(text):
    """The counts of an HdrHistogram V2, by the document that describes it."""
    packed = base64.b64decode(text)
    cookie, n = struct.unpack(">ii", packed[:8])
    expect_eq((cookie, n), (0x1c849314, len(packed) - 8), "head")
    plain = zlib.decompress(packed[8:])
    cookie, n, _, digits, least, most, _ = struct.unpack(">iiiiqqd", plain[:40])
    expect_eq((cookie, n, digits, least), (0x1c849313, len(plain) - 40, 3, 1), "inner head")
    counts, at = [], 40
    while at < len(plain):
        v = shift = 0
        for i in range(9):
            b = plain[at]
            at += 1
            v |= (b if i == 8 else b & 0x7f) << shift
            shift += 7
            if i < 8 and b < 0x80:
                break
        counts.append(v >> 1 ^ -(v & 1))
    return sum(c for c in counts if c > 0), most


@test("the log of histograms: one untagged, the others by name, every request in each")
def _():
    written()
    d = json.loads(read("l.json"))
    lines = read("l.hdr").splitlines()
    expect_eq(lines[1], "#[Histogram log format version 1.3]", "version")
    expect(abs(float(lines[2].split()[1]) - time.time()) < 600, lines[2])
    rows = [l for l in lines if not l.startswith(("#", '"'))]
    for row, tag in zip(rows, ("", "wire", "lateness")):
        cells = row.split(",")
        if tag:
            expect_eq(cells.pop(0), "Tag=" + tag, "tag")
        count, most = histogram(cells[3])
        expect_eq(count, 50, "requests")
        expect_eq(cells[3], d["hdr"][tag or "latency"], "the same as in JSON")
        expect(abs(float(cells[1]) - d["measured_seconds"]) < 0.001, cells[1])
        expect(abs(float(cells[2]) - most / 1e6) <= most / 1e9 + 0.001, (cells[2], most))
    expect_eq(len(rows), 3, "rows")


@test("the timeline as CSV and line by line says the same")
def _():
    written()
    rows = list(csv.DictReader(io.StringIO(read("l.csv"))))
    lines = [json.loads(l) for l in read("l.ndjson").splitlines()]
    expect_eq(len(rows), len(lines), "moments")
    for row, line in zip(rows, lines):
        expect_eq(list(row), list(line), "keys")
        for key, cell in row.items():
            expect((cell == "") == (line[key] is None), key)
            expect(not cell or abs(float(cell) - line[key]) <= 1e-6 * abs(line[key]), key)


@test("one format on standard output instead of the summary; -o - too")
def _():
    s = stub()
    for option, begins in (("--json", "{"), ("--csv", "t_seconds"), ("--hdr", "#[Logged"),
                           ("--junit", "<?xml"), ("--markdown", "### "), ("--ndjson", "")):
        r = assay("load", "-n", 3, option, s.url)
        expect(r.rc in (0, 6) and r.out.startswith(begins) and "requests    3" not in r.out, r)
    r = assay("load", "-n", 3, "--markdown", "-o", "-", s.url)
    expect(r.out.startswith("### "), r.out)
    r = assay("load", "-n", 3, "--json", "-o", "data", s.url)
    expect_in("requests    3", r.out)
    valid(json.loads(read("data")), "load-1")
    r = assay("load", "-n", 3, "-q", "-o", "data.md", s.url)
    expect_eq(r.out, "", "quiet")


@test("a file appears when it is whole, and the old one stays until then")
def _():
    (tmp() / "x.json").write_text("old")
    (tmp() / "x.md").symlink_to("linked")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        p = start(ASSAY, "load", "-o", "x.json", "-o", "x.md", "-z", "60s", "-c", 1, url,
                  stdout=subprocess.DEVNULL)
        silent.settimeout(60)
        c, _ = silent.accept()
        c.recv(100)
        expect_eq((len(list(tmp().glob("x.json.*"))), read("x.json")), (1, "old"), "meanwhile")
        p.send_signal(signal.SIGINT)
        expect_eq(p.wait(timeout=20), -signal.SIGINT, "how it ended")
    expect_eq(json.loads(read("x.json"))["status"], "interrupted", "after")
    expect((tmp() / "x.md").is_symlink() and read("linked").startswith("### "), "a link stays one")
    expect_eq(list(tmp().glob("*.part")), [], "nothing is left beside it")


@test("files that cannot be written or have no format are refused before anything is sent")
def _():
    s = stub()
    for options, rc in ((["-o", "none/x.json"], 66), (["-o", "x"], 2), (["-o", "x.html"], 2),
                        (["--json", "--csv"], 2), (["--json", "-o", "a", "-o", "b"], 2),
                        (["-o", "."], 2), (["-o", "x.json", "-o", "none/y.md"], 66)):
        r = assay("load", "-n", 1, *options, s.url)
        expect_eq((r.rc, r.out), (rc, ""), options)
    expect_eq([p.name for p in tmp().glob("x*")], [], "files")
    expect_eq(s.end()["requests"], 0, "requests")


main()
