#!/usr/bin/env python3
"""A real service, driven by its own load generator while assay measures it from outside."""
import json
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from harness import *
from jobs import *
from rungs import need

PORT = 16399


def start_redis():
    """A redis-server of our own on loopback; skips when there is none."""
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        skip("redis-server is not installed (make test-real installs it)")
    server = start("redis-server", "--bind", "127.0.0.1", "--port", PORT, "--save", "",
                   "--appendonly", "no", "--dir", tmp())
    wait_for(lambda: run("redis-cli", "-p", PORT, "ping").out.strip() == "PONG")
    return server


@job_test("attach PID -- redis-benchmark: the CPU of the server, not of the benchmark")
def _():
    server = start_redis()
    before = cpu_seconds(server.pid)
    r = assay("attach", "--quiet", "-o", "run.json", server.pid, "--", "redis-benchmark", "-q",
              "-p", PORT, "-n", 60000, "-t", "set,get").ok()
    true = cpu_seconds(server.pid) - before
    run_doc = json.loads((tmp() / "run.json").read_text())
    expect("SET" in r.out and "GET" in r.out, f"the benchmark's output came through: {r.out!r}")
    expect_near(run_doc["resource_usage"]["cpu_total_seconds"], true, 0.03,
                "CPU seconds of the server", slack=0.03)
    expect(run_doc["assay"]["identity"]["name"] == "redis-server", "its name")
    expect(run_doc["status"] == "success", "status")


@job_test("a service that is not driven waits, and the verdict says so")
def _():
    server = start_redis()
    assay("attach", "--quiet", "--duration", "1.5", "-o", "run.json", server.pid).ok()
    verdict = json.loads((tmp() / "run.json").read_text())["assay"]["verdict"]
    expect(verdict["kind"] == "waiting", f"verdict is {verdict}")


@job_test("requests of redis-benchmark are exchanges, and its connections are reused, with BPF")
def _():
    need("bpf")
    start_redis()
    assay("run", "--quiet", "--metrics", "net", "-o", "run.json", "--", "redis-benchmark", "-q",
          "-p", PORT, "-c", 20, "-n", 20000, "-t", "get").ok()
    doc = json.loads((tmp() / "run.json").read_text())["assay"]
    expect_eq(doc["totals"]["net_sent"]["source"], "BPF", "who tells of the network")
    peer = {k: v.get("total") for k, v in doc["peers"][0]["metrics"].items()}
    # It asks for the server's settings first, over a connection of its own.
    expect_eq(peer["peer.connections"], 21, "connections")
    expect(20 <= peer["peer.reused"] <= 21, f"reused: {peer['peer.reused']}")
    expect(20001 <= peer["peer.exchanges"] <= 20002, f"exchanges: {peer['peer.exchanges']}")
    row = next(x for x in assay("show").ok().out.splitlines() if f"127.0.0.1:{PORT}" in x)
    expect(re.search(r" 21 +2[01] ", row), f"opened and reused in {row!r}")


def cpu_seconds(pid):
    """What the process itself has used, by its own clock."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


main()
