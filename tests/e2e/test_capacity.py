#!/usr/bin/env python3
"""`assay capacity` against a stub whose limit is known: the search, its end, its runs.

How near it comes to theory is measured by truth/test_capacity; a busy machine may make any probe
INVALID (exit status 6), and then what it says must say so.
"""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from schemas import *
from stubs import *

QUICK = ("--probe", "0.25s", "--hold", "0.3s")


def capacity(url, *options, rc=(0, 6)):
    r = assay("capacity", "--json", *options, url, timeout=60)
    expect(r.rc in rc, f"exit status {r.rc}: {r.err}")
    d = valid(r.json(), "capacity-1")
    expect_eq(d["end"] == "invalid", r.rc == 6, "the end and the exit status agree")
    return d, r


@test("four servers of 100 ms each: four at once keep to 150 ms, five do not")
def _():
    s = stub("--servers", 4, "--service", "100ms")
    d, _ = capacity(s.url, "--by", "concurrency", "--slo", "p90<150ms,errors<1%", "--probe", "0.6s",
                    "--hold", "0.6s", "--precision", "0.01")
    for p in d["probes"]:
        if p["verdict"] != "invalid" and p["sure"]:
            expect_eq(p["verdict"], "keeps" if p["amount"] <= 4 else "misses", f"{p}")
    if d["end"] == "held":
        expect_eq((d["capacity"], d["too_much"]), (4, 5), "capacity")
        expect(d["load"]["requests"] >= 4 and d["load"]["connections"] == 4, d["load"])


@test("no more is under way than is asked for, and a probe's rate is its load's")
def _():
    s = stub("--answer", "delay=85ms")
    d, _ = capacity(s.url, "--by", "concurrency", "--slo", "p99<10s", "--from", 1, "--most", 4,
                    "--probe", "0.7s", "--hold", "0.9s")
    for p in d["probes"]:
        expect(p["under_way"] <= p["amount"] + 1e-6, f"under way: {p}")
        expect(p["rate"] <= p["amount"] / 0.085 + 1e-6, f"rate: {p}")
        run = assay("show", "--json", p["run"]).json()["assay"]["load"]
        expect_eq(p["rate"], run["rate"], "the rate of its run")
    last = [p for p in d["probes"] if p["verdict"] != "invalid"][-1]
    if d["end"] != "invalid":
        expect_eq(last["rate"], d["load"]["rate"], "the answer's")


@test("what is never too much ends at the most that may be tried")
def _():
    s = stub()
    d, _ = capacity(s.url, "--slo", "p99<10s", "--from", 50, "--most", 100, *QUICK)
    if d["end"] != "invalid":
        expect_eq((d["end"], d["capacity"], d["too_much"]), ("top", 100, None), "end")


@test("what nothing keeps to: exit status 3, no number")
def _():
    s = stub("--answer", "delay=20ms")
    d, r = capacity(s.url, "--slo", "p50<1ms", "--by", "concurrency", *QUICK, rc=(3, 6))
    if r.rc == 3:
        expect_eq((d["end"], d["capacity"]), ("none", None), "end")
    d, r = capacity(s.url + "/?status=404", "--slo", "errors<1%", "--from", 200, *QUICK, rc=(3, 6))
    if r.rc == 3:
        expect_eq((d["end"], min(p["amount"] for p in d["probes"])), ("none", 25),
                  "not down to where no request is sent: five a probe are the least")


@test("nobody answers: INVALID, and head, reason, row and list say so")
def _():
    r = assay("capacity", "--slo", "p99<1s", "--from", 50, "--name", "nobody", *QUICK,
              "unix:" + str(tmp() / "nobody"))
    expect_eq(r.rc, 6, "exit status")
    expect_in("✘ INVALID", r.out.splitlines()[0], "head")
    expect_in("50/s could not be measured: no request was answered", r.out, "reason")
    expect_in("invalid: none", r.out, "row")
    expect_in("invalid: none", r.err, "progress")
    expect_in("✘ INVALID", assay("jobs").out, "list")
    expect_eq(r.err.count("invalid: none"), 1, "who is not there is not asked again and again")


@test("no descriptor is left for more: INVALID, not a capacity")
def _():
    s = stub("--answer", "delay=20ms")
    r = run("sh", "-c", f"ulimit -n 64; exec {ASSAY} capacity --json --by concurrency --from 128 "
                        f"--most 128 --slo 'p99<10s' --probe 0.3s --hold 0.3s {s.url}")
    d = valid(r.json(), "capacity-1")
    expect_eq((r.rc, d["end"], d["capacity"]), (6, "invalid", None), "end")
    expect_eq([p["invalid"] for p in d["probes"]], ["descriptors"], "tried once, and why")


@test("a flow: amounts are sessions, wherever they are told")
def _():
    s = stub("--answer", "delay=2ms")
    flow = tmp() / "flow.json"
    steps = [{"name": "a", "url": "/a"}, {"name": "b", "url": "/b"}]
    flow.write_text(json.dumps({"base": s.url, "steps": steps}))
    words = ("capacity", "--slo", "p99<10s", "--from", 20, "--most", 40, "--arrival", "constant",
             *QUICK)  # strangers may stay away for the third of a second
    d, _ = capacity(str(flow), *words[1:])
    expect_eq((d["unit"], d["load"]["rate_unit"]), ("sessions/s", "sessions/s"), "unit")
    for p in d["probes"]:
        if p["verdict"] != "invalid":
            expect(p["rate"] > 1.2 * p["amount"], f"two requests a session: {p}")
    text = assay(*words, flow)
    expect_in(" sessions/s", text.out, "summary")
    expect_in(" sessions/s  ", text.err, "progress")
    d, _ = capacity(str(flow), "--slo", "p99<10s", "--by", "concurrency", "--most", 2, *QUICK)
    expect_eq(d["unit"], "sessions at once", "unit")


@test("a flow: a step is judged while a probe goes on, as all of it is")
def _():
    s = stub("--answer", "delay=1ms")
    steps = [{"name": "login", "url": "/a"},
             {"name": "order", "url": "/b?delay=60ms", "check": {"status": 200}}]
    (tmp() / "flow.json").write_text(json.dumps({"base": s.url, "steps": steps}))
    for slo, keeps in (("p95{order}<20ms", False), ("p95{login}<30s,checks{order}>0.5", True)):
        d, _ = capacity("flow.json", "--slo", slo, "--from", 30, "--most", 30, "--probe", "3s",
                        "--hold", "0.3s", rc=(0, 6) if keeps else (3, 6))
        first = d["probes"][0]
        if first["verdict"] == "invalid":
            continue
        expect_eq((first["verdict"], first["sure"]), ("keeps" if keeps else "misses", True), slo)
        expect(keeps or first["seconds"] < 2.7, f"half of its time is enough: {first}")
    s.end()


@test("streams: gaps between events are judged while a probe goes on")
def _():
    s = stub("--sse", 25, "--every", "20ms")
    for slo, keeps in (("between_events.p90<5ms", False), ("between_events.p90<2s", True)):
        d, _ = capacity(s.url, "--slo", slo, "--by", "concurrency", "--from", 10, "--most", 10,
                        "--probe", "3s", "--hold", "1s", rc=(0, 6) if keeps else (3, 6))
        first = d["probes"][0]
        if first["verdict"] == "invalid":
            continue
        expect_eq((first["verdict"], first["sure"]), ("keeps" if keeps else "misses", True), slo)
        expect(keeps or first["seconds"] < 2.7, f"half of its time is enough: {first}")
    s.end()


@test("in the list it stands once; its probes when they are asked for")
def _():
    s = stub("--answer", "delay=5ms")
    d, _ = capacity(s.url, "--slo", "p99<10s", "--from", 20, "--most", 40, *QUICK)
    expect_eq([r["id"] for r in assay("jobs", "--json").json()["runs"]], [d["id"]], "list")
    runs = valid(assay("jobs", "--json", "--parts").json(), "list-1")["runs"]
    expect_eq(len(runs), 1 + len(d["probes"]), "with its parts")
    expect_eq({r["parent"] for r in runs}, {None, d["id"]}, "parents")
    expect_eq(assay("show", "--json", "last").json()["assay"]["identity"]["id"], d["id"], "last")


@test("of a target that is no Python it says why nobody knows what limits it")
def _():
    s = stub("--answer", "delay=5ms")
    d, _ = capacity(s.url, "--slo", "p99<10s", "--from", 20, "--most", 20, *QUICK, "--watch",
                    f"stub={s.p.pid}")
    expect(d["limited_by"] is None, d)
    expect_in("no Python was seen at work in stub" if d["end"] == "top" else "nothing was held",
              d["limit_unknown"], "reason")


@test("every probe is a run whose parent is the capacity's, and the capacity is shown again")
def _():
    s = stub("--answer", "delay=5ms")
    d, _ = capacity(s.url, "--slo", "p99<10s", "--from", 20, "--most", 40, *QUICK)
    for p in d["probes"]:
        run = assay("show", "--json", p["run"]).json()
        expect_eq(run["assay"]["identity"]["parent"], d["id"], "parent")
        expect_eq(run["assay"]["identity"]["kind"], "load", "kind")
    again = assay("show", "--json", d["id"]).json()["assay"]
    expect_eq(again["identity"]["kind"], "capacity", "kind")
    expect_eq(again["load"]["climb"]["probes"], d["probes"], "probes")
    text = assay("show", d["id"])
    expect_in("capacity ", text.out, "summary")
    expect(max(map(len, text.out.splitlines())) <= 80, "within 80 columns")


@test("Ctrl-C: what is known so far, and the signal is passed on")
def _():
    s = stub("--answer", "delay=5ms")
    p = start(ASSAY, "capacity", "--json", "--slo", "p99<10s", "--from", "20", "--most", "20",
              "--probe", "0.4s", "--hold", "50s", s.url, stdout=subprocess.PIPE,
              stderr=subprocess.PIPE, text=True)
    p.stderr.readline()  # the first probe is over
    time.sleep(0.2)
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=30)
    d = valid(json.loads(out), "capacity-1")
    if d["end"] != "invalid":
        expect_eq(d["end"], "interrupted", "end")
        expect_eq(p.returncode, -signal.SIGINT, "how it ended")


@test("a page with the curve")
def _():
    s = stub("--answer", "delay=5ms")
    page = tmp() / "page.html"
    r = assay("capacity", "--slo", "p99<10s", "--from", 20, "--most", 40, *QUICK, "--html", page,
              s.url)
    expect(r.rc in (0, 6), r.err)
    text = page.read_text()
    expect_in("tried", text, "what was tried")
    if r.rc == 0:
        expect_in("answers a second, over requests under way", text, "the curve")


@test("--html - is standard output, with nothing beside it, and no file of that name")
def _():
    s = stub("--answer", "delay=5ms")
    words = ("capacity", "--slo", "p99<10s", "--from", 20, "--most", 40, *QUICK, "--html")
    r = assay(*words, "-", s.url)
    expect(r.rc in (0, 6), r.err)
    expect(r.out.startswith("<!doctype html>") and r.out.endswith("</html>\n"),
           f"{r.out[:80]!r} … {r.out[-80:]!r}")
    r = assay(*words, "-", "--json", s.url)
    expect_eq((r.rc, r.out), (2, ""), "with a document")
    expect_in("have one standard output", r.err)
    expect(not (tmp() / "-").exists(), "a file that is called '-'")
    (tmp() / "kept").write_text("precious")
    expect_eq(assay(*words, "kept", s.url.replace("http:", "nothing:")).rc, 2, "no such scheme")
    expect_eq((tmp() / "kept").read_text(), "precious", "when nothing comes of it")


@test("with --watch the target's use is known, and its stacks at the answer say what limits it")
def _():

    server = tmp() / "server.py"
    server.write_text("""
import http.server, sys, time
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.burn()
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def burn(self):
        end = time.thread_time() + 0.01
        while time.thread_time() < end:
            pass
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
print(s.server_port, flush=True)
s.serve_forever()
""")
    p = start("/usr/bin/python3", server, stdout=subprocess.PIPE, text=True)
    port = int(p.stdout.readline())
    d, _ = capacity(f"http://127.0.0.1:{port}", "--slo", "p99<30s", "--by", "concurrency", "--most",
                    2, "--probe", "0.3s", "--hold", "1s", "--watch", f"web={p.pid}")
    expect_eq(d["load"]["target"]["name"], "web", "target")
    if d["end"] == "top":
        expect_in("burn", d["limited_by"]["function"], "what limits it")


@test("a server that dies: the load that is shown is the one that the verdict is of")
def _():
    server = tmp() / "server.py"
    server.write_text("""
import http.server, os, threading, time
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        threading.Timer(0.4, os._exit, [0]).start()
        time.sleep(0.05)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
print(s.server_port, flush=True)
s.serve_forever()
""")
    p = start("/usr/bin/python3", server, stdout=subprocess.PIPE, text=True)
    port = int(p.stdout.readline())
    d, _ = capacity(f"http://127.0.0.1:{port}", "--slo", "p99<10ms", "--by", "concurrency",
                    "--from", 4, "--probe", "0.6s")
    expect_eq((d["end"], d["probes"][-1]["invalid"]), ("invalid", "none"), "end")
    expect(d["probes"][0]["rate"] > 0, d["probes"][0])
    expect_eq(d["load"]["statuses"], {}, "answers of the load that is shown")


@test("who sleeps in an event loop limits it, though others have more CPU time")
def _():
    server = tmp() / "server.py"
    server.write_text("""
import asyncio, time
def nap():
    time.sleep(0.03)
async def serve(reader, writer):
    while (line := await reader.readline()).strip():
        while (await reader.readline()).strip():
            pass
        nap()
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
async def main():
    s = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(s.sockets[0].getsockname()[1], flush=True)
    await s.serve_forever()
asyncio.run(main())
""")
    p = start("/usr/bin/python3", server, stdout=subprocess.PIPE, text=True)
    port = int(p.stdout.readline())
    d, _ = capacity(f"http://127.0.0.1:{port}", "--slo", "p99<30s", "--by", "concurrency", "--most",
                    2, "--probe", "0.3s", "--hold", "1s", "--watch", f"web={p.pid}")
    if d["end"] == "top":
        expect_in("nap", d["limited_by"]["function"], "what limits it")
        expect(d["limited_by"]["share"] > 0.5, d["limited_by"])


@test("usage: what is asked for wrongly is said before anything is sent")
def _():
    for words, say in ((["--slo", "p99<"], "no threshold"), ([], "--slo"),
                       (["--slo", "p99<1s", "--by", "magic"], "magic"),
                       (["--slo", "p99<1s", "--by", "concurrency", "--most", "1e9"], "at once"),
                       (["--slo", "p99<1s", "--precision", "2"], "share"),
                       (["--slo", "p99<1s", "--stacks", "cpu"], "watch"),
                       (["--slo", "p99<1s", "--arrival", "never"], "never")):
        r = assay("capacity", *words, "http://127.0.0.1:1")
        expect_eq(r.rc, 2, f"{words}")
        expect_in(say, r.err, f"{words}")


main()
