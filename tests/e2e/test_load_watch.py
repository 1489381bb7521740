#!/usr/bin/env python3
"""`assay load --watch`: a server that knows what it used, watched while it is loaded."""
import http.server
import json
import os
import re
import signal
import socketserver
import subprocess
import sys
import threading
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from pythons import *
from schemas import *
from stubs import *

PYTHON = pythons()[-1]
PROBED = {"ASSAY_RUNG": "proc"}


class Server:
    """tests/workloads/python/httpd.py; it ends with the test."""
    def __init__(self):
        self.p = start(PYTHON.path, ROOT / "tests/workloads/python/httpd.py",
                       stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.p.stdout.readline())}"
        self.pid = self.p.pid

    def cpu(self):
        with urllib.request.urlopen(self.url + "/cpu", timeout=30) as f:
            return float(f.read())


def columns(run):
    """The timeline of a kept run: {key: values}."""
    return valid(assay("show", "--json", run).ok().json())["assay"]["timeline"]["columns"]


@test("what the target used is what it says itself")
def _():
    s = Server()
    before = s.cpu()
    d = load(s.url + "/burn/5", "-n", 80, "-c", 2, "--watch", f"app={s.pid}")
    used = s.cpu() - before
    t = d["target"]
    expect_eq((t["name"], t["pid"], t["run"]), ("app", s.pid, d["id"]), "whose")
    expect(used >= 0.4, f"{used} s of CPU time")
    expect_between(t["cpu_seconds"], 0.9 * used - 0.05, 1.05 * used + 0.05, "CPU seconds")
    expect(0 < t["cores"] <= t["cores_most"] <= 1.3, t)
    expect_eq((t["processes"], t["threads"], t["ended_seconds"]), (1, 1, None), "one process")
    expect(t["files"] >= 5 and t["memory_peak_bytes"] > 1 << 20, t)
    expect_eq(d["watched"], [t], "watched")


@test("memory that it grew by is in its peak")
def _():
    s = Server()
    d = load(s.url + "/grow/1024", "-n", 64, "-c", 2, "--watch", s.pid)
    expect_between(d["target"]["memory_peak_bytes"], 64 << 20, 110 << 20, "peak")


for way, env in (("told by the kernel", {}), ("probed", PROBED)):
    @test(f"how long requests held its loop, {way}")
    def _(env=env):
        s = Server()
        r = assay("load", "--json", "-n", 20, "-R", "15", "-w", s.pid, s.url + "/hold/30", env=env)
        d = valid(r.json(), "load-1")
        lag = d["target"]["loop_lag_ms"]
        expect(lag["max"] >= 29 and lag["p99"] >= 29, lag)
        expect_between(lag["blocks"], 12, 25, "blocks")
        for word in ("its event loop was held", "hold (", "httpd.py:", "(clock_nanosleep)"):
            expect_in(word, d["target"]["limit"])
        text = assay("show", d["id"]).ok().out
        expect_in("loop lag", text)
        r = assay("load", "--no-store", "-n", 20, "-R", "15", "-w", s.pid, s.url + "/hold/30",
                  "--threshold", "looplag.p99<10ms,target.memory<1GiB,target.cpu<4", env=env)
        expect(r.rc in (3, 6), r.rc)
        expect_in("looplag.p99<10ms", r.out)


@test("who may not look into the target says so once, and what helps")
def _():
    s, folder = Server(), public()
    r = run(*as_nobody(folder / "assay"), "load", "--no-store", "-n", 20, "-w", s.pid, "--stacks",
            "cpu", "-o", "a.json", s.url + "/hold/1", cwd=folder)
    d = valid(json.loads((folder / "a.json").read_text()), "load-1")["target"]
    expect_eq(d["loop_lag_ms"], None, "loop lag")
    expect(re.match(r"look at process \d+: .*; .*root", d["unseen"]), d["unseen"])
    expect_eq(r.out.count("unknown, and so are stacks"), 1, r.out)
    expect_eq([l for l in r.out.splitlines() if len(l) > 80], [], "lines that are too long")
    expect_eq(load(s.url, "-n", 5, "-w", s.pid)["target"]["unseen"], None, "root may")


@test("rate, errors and percentiles are on the run's timeline, beside the target's")
def _():
    s = Server()
    d = load(s.url + "/burn/1", "-R", "200", "-z", "1.5s", "--warmup", "0.5s", "-w", s.pid)
    c = columns(d["id"])
    sent = [n for n in c["load.requests"] if n is not None]
    expect_eq(sent[-1], d["requests"] + d["warmup_requests"], "requests, warm-up too")
    expect_eq((sent[0], sent), (0, sorted(sent)), "from none, and only more")
    expect_eq([n for n in c["load.errors"] if n is not None][-1], 0, "errors")
    p50 = [n for n in c["load.latency.p50"] if n is not None]
    p99 = [n for n in c["load.latency.p99"] if n is not None]
    expect(len(p50) >= 3 and all(a <= b for a, b in zip(p50, p99)), (p50, p99))
    most = max(n for n in c["load.latency.max"] if n is not None)
    expect(most * 1.001 >= d["latency_ms"]["max"] * 1e6, "none was missed")
    expect(any(n for n in c["job.cpu.total"]), "the target's CPU time")
    without = load(s.url, "-n", 50)
    c = columns(without["id"])
    expect_eq([n for n in c["load.requests"] if n is not None][-1], 50, "unwatched")
    expect_eq((without["target"], without["watched"]), (None, []), "nobody")


@test("a target that ends is told of; the load goes on and counts")
def _():
    s = Server()
    d = load(s.url + "/end", "-n", 60, "-R", "100", "-w", s.pid, rc=(6,))
    s.p.wait(20)
    expect_eq(d["requests"], 60, "requests")
    expect(d["failed"] == 60 and d["errors"].get("refused", 0) > 0, d["errors"])
    expect(0 <= d["target"]["ended_seconds"] < d["duration_seconds"], d["target"])
    text = assay("show", d["id"]).ok().out
    expect_in("before the load did", text)


@test("several targets have names, figures and timelines of their own")
def _():
    a, b = Server(), Server()
    d = load(a.url + "/burn/4", "-n", 60, "-w", a.pid, "-w", f"db={b.pid}")
    first, second = d["watched"]
    expect(first["name"] != "db" and second["name"] == "db", d["watched"])
    expect(first["cpu_seconds"] > 0.2 > second["cpu_seconds"], d["watched"])
    expect_eq([r["id"] for r in runs()], [d["id"]], "in the list")
    kept = {r["id"]: r for r in runs("--parts")}
    expect_eq(set(kept), {d["id"], second["run"]}, "kept")
    doc = valid(assay("show", "--json", second["run"]).ok().json())
    expect_eq((doc["assay"]["identity"]["parent"], doc["assay"]["identity"]["target"]),
              (d["id"], b.pid), "whose part it is")
    again = assay("show", "--json", d["id"]).ok().json()["assay"]["load"]
    expect_eq(again["watched"], d["watched"], "as it was told")
    d = load(a.url, "-n", 10, "-w", a.pid, "-w", b.pid, "--no-store")
    expect_eq(d["watched"][1]["name"], f"{d['watched'][0]['name']}-{b.pid}", "told apart")


@test("its stacks are in the run, for a flame graph")
def _():
    s = Server()
    d = load(s.url + "/burn/5", "-n", 150, "-c", 1, "-w", s.pid, "--stacks", "cpu",
             "--stacks-rate", "200")
    text = assay("show", d["id"]).ok().out
    expect_in("burn", text)
    assay("flame", "-o", "out.svg", d["id"]).ok()
    expect_in("burn", (tmp() / "out.svg").read_text())


# --- containers ----------------------------------------------------------------------

class Docker(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


@test("a container's first process, as Docker tells it")
def _():
    s = Server()
    seen = []

    class Answer(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            seen.append(self.path)
            pid = {"/containers/web/json": s.pid, "/containers/ended/json": 0}.get(self.path)
            body = json.dumps({"Id": "f00", "State": {"Pid": pid, "Note": "x" * 40000}}).encode()
            self.send_response(200 if pid is not None else 404)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for i in range(0, len(body), 7000):
                piece = body[i:i + 7000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")

        def address_string(self):
            return "-"

        def log_message(self, *_):
            pass

    path = tmp() / "docker.sock"
    with Docker(str(path), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        env = {"DOCKER_HOST": f"unix://{path}"}
        r = assay("load", "--json", "-n", 20, "-w", "container:web", s.url, env=env)
        t = valid(r.json(), "load-1")["target"]
        expect_eq((t["name"], t["pid"]), ("web", s.pid), "target")
        r = assay("load", "--json", "-n", 5, "-w", "app=container:web", s.url, env=env)
        expect_eq(r.json()["target"]["name"], "app", "name")
        r = assay("load", "-n", 5, "-w", "container:ended", s.url, env=env)
        expect_eq((r.rc, "not running" in r.err), (66, True), r.err)
        r = assay("load", "-n", 5, "-w", "container:other", s.url, env=env)
        expect_eq((r.rc, "no container 'other'" in r.err), (66, True), r.err)
        r = assay("load", "-n", 5, "-w", "container:a/../b", s.url, env=env)
        expect_eq(r.rc, 2, r.err)
        expect(all(".." not in p for p in seen), seen)
        server.shutdown()
    r = assay("load", "-n", 5, "-w", "container:web", s.url, env=env)
    expect(r.rc and "DOCKER_HOST" in r.err, r)


# --- what makes no sense ----------------------------------------------------------------

@test("wrong targets are refused before anything is sent")
def _():
    s = stub()
    for words, rc in ((["-w", "nobody"], 2), (["-w", "=1"], 2), (["-w", "x="], 2),
                      (["-w", "x" * 50 + f"={os.getpid()}"], 2), (["-w", "4194304999"], 2),
                      (["-w", f"{os.getpid()}", "-w", f"a={os.getpid()}"], 2),
                      (["--stacks", "cpu"], 2), (["-w", "4194300"], 66),
                      (["-w", f"{os.getpid()}", "--stacks", "wrong"], 2)):
        r = assay("load", "-n", 1, *words, s.url)
        expect_eq((r.rc, r.out), (rc, ""), f"{words}: {r.err}")
    expect_eq(s.end()["requests"], 0, "requests")


@test("Ctrl-C: what was measured of both until then")
def _():
    s = Server()
    p = start(ASSAY, "load", "--json", "-z", "60s", "-c", 2, "-w", s.pid, s.url + "/burn/2",
              stdout=subprocess.PIPE, text=True)
    wait_for(lambda: s.cpu() > 0.5, 30)
    p.send_signal(signal.SIGINT)
    d = valid(json.loads(p.communicate(timeout=20)[0]), "load-1")
    expect_eq((p.returncode, d["status"]), (-signal.SIGINT, "interrupted"), "how it ended")
    expect(d["requests"] > 0 and d["target"]["cpu_seconds"] > 0.1, d["target"])
    expect_eq(s.p.poll(), None, "the server")


main()
