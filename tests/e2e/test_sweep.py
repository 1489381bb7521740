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


@test("a setup that fails, and one that is never ready, are told; the other cells go on")
def _():
    d, r = sweep("--over", "how=fail,never,fine", "--ready-timeout", "3s", "--setup",
                 f"case {{how}} in fail) exit 3;; never) sleep 60;; esac; {serve()}", *QUICK,
                 rc=(6,))
    fail, never, fine = d["cells"]
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


main()
