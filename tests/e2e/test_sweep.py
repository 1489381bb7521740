#!/usr/bin/env python3
"""`assay sweep` over stubs whose shapes are known: set up, measured, and always taken down."""
import csv
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from schemas import *

QUICK = ("--low", "0.2s", "-z", "0.3s", "-c", 4)


def here(name):
    return str(tmp() / name)


def serve(options=""):
    """A setup: a stub on a socket, which says its number."""
    return (f"rm -f {here('s')}; echo $$ >>{here('pids')}; "
            f"exec {shlex.quote(str(ASSAY))} stub --listen unix:{here('s')} {options}")


def sweep(*options, rc=(0, 6), url=None):
    r = assay("sweep", "--json", *options, url or f"unix:{here('s')}", timeout=60)
    expect(r.rc in rc, f"exit status {r.rc}: {r.err}")
    return valid(r.json(), "sweep-1"), r


def nobody_left():
    for pid in open(here("pids")).read().split():
        wait_for(lambda: not alive(pid), what=f"the end of {pid}")


@test("a grid: every cell once, with its own server, its latency, its memory, its runs")
def _():
    d, r = sweep("--over", "delay=1,30", "--over", "servers=1,4", "--setup",
                 serve("--servers {servers} --service {delay}ms"), *QUICK)
    cells = {(c["values"]["delay"], c["values"]["servers"]): c for c in d["cells"]}
    expect_eq(sorted(cells), [("1", "1"), ("1", "4"), ("30", "1"), ("30", "4")], "cells")
    for (delay, servers), c in cells.items():
        expect(c["error"] is None and c["tried"], f"{c}\n{r.err}")
        expect(c["low_p50_ms"] >= int(delay), c)
        expect(c["rate"] <= 1000 * int(servers) / int(delay) * 1.01, c)
        expect(abs(c["rate_per_minute"] - 60 * c["rate"]) < 1e-6 * c["rate"] * 60 + 1e-9, c)
        expect(c["memory_bytes"] > 0 and c["nodes"][0]["name"] == "setup", c)
        params = {}
        for key in ("low_run", "run"):
            run = assay("show", "--json", c[key]).json()["assay"]["identity"]
            params = run["params"]
            expect_eq((params["delay"], params["servers"]), (delay, servers), "parameters")
        expect_eq(params["load"], "full", "of the second")
    # One server of 30 ms cannot keep up with four requests at once, four can.
    expect(cells["30", "1"]["p50_ms"] >= 85, cells["30", "1"])
    nobody_left()


@test("one request at a time is no load: what stands for the sweep is one under load")
def _():
    d, _ = sweep("--over", "x=1,2", "--setup", serve(), "--low", "0.2s", "-z", "0.3s", "-R", 20)
    of = assay("show", "--json", d["id"]).ok().json()["assay"]["identity"]
    expect_eq(of["params"]["load"], "full", "of its run")
    slow = ("--setup", serve(), "--ready", f"unix:{here('s')}", "--timeout", "0.1s")
    d, r = sweep("--over", "x=1", *slow, *QUICK, url=f"unix:{here('s')}:/?delay=9s", rc=(6,))
    expect_in("INVALID: ", r.err)
    of = assay("show", "--json", d["id"]).ok().json()["assay"]["identity"]
    expect_eq(of["params"]["load"], "full", "of its run, though it is INVALID")
    nobody_left()


NODE = '''
import http.server, os, sys, threading
held = bytearray(int(os.environ["HELD"]) << 20)
held[::4096] = b"x" * len(held[::4096])
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
open(sys.argv[1] + ".new", "w").write(str(s.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
s.serve_forever()
'''


def nodes_setup():
    """{nodes} servers that hold 20 MiB, 40 MiB … each; a stub answers when all are there."""
    (tmp() / "node.py").write_text(NODE)
    return (f"rm -f {here('s')} {here('port')}-*; echo $$ >>{here('pids')}; "
            f"for i in $(seq {{nodes}}); do HELD=$((i * 20)) NODE_NUMBER=$i /usr/bin/python3 "
            f"{here('node.py')} {here('port')}-$i & echo $! >>{here('pids')}; done; "
            f"for i in $(seq {{nodes}}); do until [ -s {here('port')}-$i ]; do sleep 0.05; done; "
            f"done; {shlex.quote(str(ASSAY))} stub --listen unix:{here('s')} & "
            f"echo $! >>{here('pids')}; wait")


@test("nodes that the setup starts are told apart, as many as each cell has")
def _():
    words = ("--over", "nodes=1,3", "--setup", nodes_setup(), "--watch", "node=env:NODE_NUMBER",
             "--watch", "all=cmd:node.py", *QUICK)
    r = assay("sweep", *words, f"unix:{here('s')}", timeout=60)
    expect_eq(r.rc, 2, "the same process by two words")
    expect_in("watched twice", r.err)
    words = ("--over", "nodes=1,3", "--setup", nodes_setup(), "--watch", "node=env:NODE_NUMBER",
             "--html", here("page.html"), *QUICK)
    d, r = sweep(*words)
    one, three = d["cells"]
    expect(one["error"] is None and three["error"] is None, f"{d}\n{r.err}")
    expect_eq([n["name"] for n in one["nodes"]], ["node-1"], "one")
    expect_eq([n["name"] for n in three["nodes"]], ["node-1", "node-2", "node-3"], "three")
    for c in (one, three):
        for i, n in enumerate(c["nodes"], 1):
            expect(i * 20 < n["memory_bytes"] / 2**20 < i * 20 + 20, n)
    expect_eq(three["memory_bytes"], three["nodes"][2]["memory_bytes"], "the largest")
    expect_in("peak memory of node-3", open(here("page.html")).read(), "the page")
    nobody_left()
    r = assay("sweep", "--csv", *words, f"unix:{here('s')}", timeout=60)
    rows = list(csv.DictReader(io.StringIO(r.out)))
    expect(int(rows[1]["memory_bytes_node-3"]) > 60 << 20, rows)
    expect_eq(rows[0]["memory_bytes_node-3"], "", "unknown is empty")
    r = assay("sweep", *words, f"unix:{here('s')}", timeout=60)
    expect_in("peak memory of each node\n  nodes    node-1    node-2    node-3\n", r.out, "table")
    expect(max(map(len, r.out.splitlines())) <= 80, r.out)
    nobody_left()


@test("nodes by command line, and by the ports where they listen")
def _():
    d, r = sweep("--over", "nodes=2", "--setup", nodes_setup(), "--watch", "node=cmd:node.py",
                 *QUICK)
    expect_eq([n["name"] for n in d["cells"][0]["nodes"]], ["node", "node-2"], r.err)
    nobody_left()
    (tmp() / "node.py").write_text(NODE)
    ports = []
    for i in (1, 2):
        start("/usr/bin/python3", tmp() / "node.py", here(f"p{i}"), env={"HELD": "20"})
        wait_for(lambda: os.path.exists(here(f"p{i}")))
        ports.append(int(open(here(f"p{i}")).read()))
    d, r = sweep("--over", "port=" + ",".join(map(str, ports)), "--watch", "node=port:{port}",
                 *QUICK, url="http://127.0.0.1:{port}/")
    for c in d["cells"]:
        expect_eq([n["name"] for n in c["nodes"]], ["node"], r.err)
        expect(20 < c["nodes"][0]["memory_bytes"] / 2**20 < 40, c)
    low, high = min(ports), max(ports)
    d, r = sweep("--watch", f"port:{low}", "--watch", f"node=port:{high}-{high}", *QUICK,
                 url=f"http://127.0.0.1:{low}/")
    expect_eq([n["name"] for n in d["cells"][0]["nodes"]], [f"port-{low}", "node"], r.err)
    for word, say in (("port:0", "no port"), ("port:9-8", "no port"), ("port:x", "no port"),
                      ("port:1", "nobody listens at port 1"),
                      ("env:NOBODY_HAS_THIS", "no process has 'NOBODY_HAS_THIS'"),
                      ("cmd:nobody has this", "no process has 'nobody has this'")):
        r = assay("sweep", "--watch", word, *QUICK, f"http://127.0.0.1:{low}/")
        expect(r.rc in (2, 6), f"{word}: {r.rc}")
        expect_in(say, r.err + r.out, word)


@test("the share of good answers in each cell, when it is asked for")
def _():
    words = ("--over", "delay=0,40", "--setup", serve("-a delay={delay}ms"), *QUICK)
    d, _ = sweep(*words, "--goodput", "e2el<30ms")
    good = {c["values"]["delay"]: c["goodput"] for c in d["cells"]}
    expect(good["0"] > 0.5 and good["40"] == 0, good)
    expect_eq({c["goodput"] for c in sweep(*words)[0]["cells"]}, {None}, "nothing is asked")
    r = assay("sweep", *words, "--goodput", "e2el<30ms", f"unix:{here('s')}",
              env={"COLUMNS": "80", "LC_ALL": "C.UTF-8"})
    expect_in(" good", r.out.splitlines()[0], "a column")
    expect(max(map(len, r.out.splitlines())) <= 80, r.out)
    r = assay("sweep", *words, "--goodput", "e2el<x", f"unix:{here('s')}")
    expect_in("does not say what a good answer is", r.out + r.err)
    nobody_left()


@test("in the list a sweep stands once, as the load of its best cell")
def _():
    setup = serve("--servers 1 --service {delay}ms")
    d, r = sweep("--over", "delay=1,30", "--setup", setup, *QUICK)
    runs = assay("jobs", "--json").json()["runs"]
    expect_eq([(r["id"], r["kind"]) for r in runs], [(d["id"], "sweep")], "list")
    if not any(c["invalid"] for c in d["cells"]):
        who = assay("show", "--json", d["id"]).json()["assay"]["identity"]
        expect_eq((who["params"]["delay"], who["params"]["load"]), ("1", "full"), "the best")
    parts = [r["id"] for r in assay("jobs", "--json", "--parts").json()["runs"]
             if r["parent"] == d["id"]]
    expect_eq(sorted(parts), sorted(c[k] for c in d["cells"] for k in ("low_run", "run")), "parts")


@test("a setup that fails, and one that is never ready, are told; the other cells go on")
def _():
    d, r = sweep("--over", "how=fail,never,fine", "--ready-timeout", "3s", "--setup",
                 f"case {{how}} in fail) exit 3;; never) sleep 60;; esac; {serve()}", *QUICK,
                 rc=(6,))
    fail, never, fine = d["cells"]
    shown = assay("sweep", "--no-store", "--over", "how=fail", "--setup", "exit 3", *QUICK,
                  f"unix:{here('s')}").out
    expect_in("how fail: the setup exited with 3", shown, "whole, below the table")
    expect_in("exited with 3", fail["error"], "a setup that fails")
    expect_in("not ready", never["error"], "one that is never ready")
    expect(fine["error"] is None and fine["rate"] > 0, fine)
    expect(fail["rate"] is None and fail["memory_bytes"] is None, "unknown is null")
    nobody_left()


@test("a setup that ends well and leaves a server: the teardown ends it, with the cell's values")
def _():
    d, r = sweep("--over", "size=10,20", "--setup",
                 f"rm -f {here('s')}; {shlex.quote(str(ASSAY))} stub --listen unix:{here('s')} "
                 f"-a size={{size}} & echo $! >{here('pid')}",
                 "--teardown", f"echo {{size}} >>{here('down')}; kill $(cat {here('pid')})", *QUICK)
    expect(all(c["error"] is None and c["rate"] > 0 for c in d["cells"]), f"{d}\n{r.err}")
    expect_eq(open(here("down")).read().split(), ["10", "20"], "teardowns")


@test("Ctrl-C: the cell is taken down, the others are not tried, what is known is told")
def _():
    p = start(ASSAY, "sweep", "--json", "--over", "n=1,2", "--setup", serve(), "--teardown",
              f"touch {here('down')}", "--low", "0.2s", "-z", "60s", f"unix:{here('s')}",
              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: os.path.exists(here("pids")))
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=40)
    d = valid(json.loads(out), "sweep-1")
    expect_eq((d["interrupted"], d["cells"][0]["tried"], d["cells"][1]["tried"]),
              (True, True, False), err)
    expect_eq(p.returncode, -signal.SIGINT, "how it ended")
    expect(os.path.exists(here("down")), "the teardown ran")
    nobody_left()


@test("Ctrl-C before anything was measured: no cell is called the best")
def _():
    p = start(ASSAY, "sweep", "--over", "n=1,2", "--setup", f"touch {here('up')}; sleep 30",
              "--ready-timeout", "30s", f"unix:{here('s')}", stdout=subprocess.PIPE,
              stderr=subprocess.PIPE, text=True)
    wait_for(lambda: os.path.exists(here("up")))
    p.send_signal(signal.SIGINT)
    out, _err = p.communicate(timeout=40)
    expect("most" not in out, out)


@test("one that does not listen to SIGTERM is killed, with its children, when patience is over")
def _():
    setup = (f"trap '' TERM; echo $$ >>{here('pids')}; sleep 300 & echo $! >>{here('pids')}; "
             f"{serve()[:-1].replace('exec ', '')} & wait; wait")
    d, _ = sweep("--setup", setup, "--patience", "0.3s", *QUICK)
    expect(d["cells"][0]["rate"] > 0, d)
    nobody_left()


@test("table within 80 columns, CSV, a page without a script")
def _():
    words = ("--over", "a<b=1,2", *QUICK)
    r = assay("sweep", *words, "unix:/nowhere")
    expect_eq(r.rc, 2, "a name that is none")
    words = ("--over", "x=1,<b>", "--setup", serve(), "--html", here("page.html"), *QUICK)
    r = assay("sweep", *words, f"unix:{here('s')}")
    expect(r.rc in (0, 6), r.err)
    expect(max(map(len, r.out.splitlines())) <= 80, r.out)
    expect_in("memory", r.out, "titles")
    page = open(here("page.html")).read()
    expect_in("<svg", page, "a plot")
    expect("<script" not in page and "<b>" not in page, "outside text stays text")
    r = assay("sweep", "--csv", "--over", "x=1", "--setup", serve(), *QUICK, f"unix:{here('s')}")
    rows = list(csv.DictReader(io.StringIO(r.out)))
    expect_eq((len(rows), rows[0]["x"]), (1, "1"), "rows")
    expect(float(rows[0]["rate"]) > 0, rows)
    nobody_left()


@test("--html - is standard output, with nothing beside it, and no file of that name")
def _():
    words = ("--over", "x=1", "--setup", serve(), "--html", "-", *QUICK, f"unix:{here('s')}")
    r = assay("sweep", *words)
    expect(r.rc in (0, 6), r.err)
    expect(r.out.startswith("<!doctype html>") and r.out.endswith("</html>\n"),
           f"{r.out[:80]!r} … {r.out[-80:]!r}")
    for document in ("--json", "--csv"):
        r = assay("sweep", document, *words)
        expect_eq((r.rc, r.out), (2, ""), f"with {document}")
        expect_in("have one standard output", r.err)
    nobody_left()


main()
