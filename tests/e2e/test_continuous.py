#!/usr/bin/env python3
"""`assay record --continuous`: profiles of a service, again and again, and what there is to see
in them: `assay profiles`."""
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from pythons import *

PYTHON = pythons()[-1]
OFTEN = ("--continuous", "--every", "2s", "--for", "1s")


def service(*words, env=None):
    """A program that runs until it is stopped."""
    p = start(PYTHON.path, *words, stdout=subprocess.PIPE, text=True, env=env)
    expect_eq(p.stdout.readline(), "ready\n", "the script's first line")
    return p


def kept(name):
    return [r for r in runs("--name", name) if r["status"] != "running"]


def until(recorder, name, n):
    """Wait for n profiles, then say stop."""
    wait_for(lambda: len(kept(name)) >= n, 90, f"{n} profiles of {name}")
    recorder.send_signal(signal.SIGINT)
    recorder.wait(30)
    expect_eq(recorder.returncode, 0, "exit status of the recorder")


@job_test("profiles are kept every so often, with the version that the process was told")
def _():
    p = service(program("split"), 0.9, 120, env={"GIT_COMMIT": "abc123"})
    r = start(ASSAY, "record", *OFTEN, "--service", "shop", "--zone", "here", "-p", p.pid,
              stderr=subprocess.PIPE, text=True)
    until(r, "shop", 2)
    stop(p)
    expect_in("of a core, version abc123", r.stderr.read())
    found = kept("shop")
    expect_eq({(x["kind"], x["version"]) for x in found}, {("profile", "abc123")}, "what is kept")
    starts = sorted(x["start_time"] for x in found)
    expect_eq(len(set(starts)), len(starts), "beginnings")
    doc = assay("show", "--json", found[-1]["id"]).ok().json()
    expect_eq(doc["assay"]["identity"]["labels"]["zone"], "here", "label")
    expect(doc["assay"]["stacks"]["samples"] > 0, doc["assay"]["stacks"])
    expect(doc["assay"]["totals"]["cpu"]["value"] > 0, "what it used is not known")


@job_test("a service is found by its command line, again when it was started anew; disk is bounded")
def _():
    r = start(ASSAY, "record", *OFTEN, "--service", "again", "--service-version", "7", "--match",
              f"split.py 0.? 12{os.getpid()}", "--keep", "2", stderr=subprocess.PIPE, text=True)
    pids = set()
    for turn in range(2):
        p = service(program("split"), 0.9, f"12{os.getpid()}")
        old = {x["id"] for x in kept("again")}
        wait_for(lambda: len({x["id"] for x in kept("again")} - old) >= 2, 90, "two new profiles")
        newest = max(kept("again"), key=lambda x: x["start_time"])
        pids.add(assay("show", "--json", newest["id"]).ok().json()["assay"]["identity"]["target"])
        expect(p.pid in pids, f"{p.pid} is not one of {pids}")
        stop(p)
    expect(len(kept("again")) <= 2, kept("again"))
    r.send_signal(signal.SIGTERM)
    r.wait(30)
    expect_eq(r.returncode, 0, "exit status of the recorder")
    expect_in("no process matches", r.stderr.read())


@job_test("the end of a process that was named ends it; what makes no sense is refused")
def _():
    p = service(program("split"), 0.9, 0.5)
    assay("record", *OFTEN, "--service", "short", "-p", p.pid).ok()
    expect(kept("short"), "no profile is kept")
    for words, why in [(["--continuous", "-p", 1], "--service"),
                       (["--continuous", "--service", "x", "-p", 1, "-o", "f"], "--output"),
                       (["--continuous", "--service", "x", "-p", 1, "--for", "2m"], "--every"),
                       (["--service", "x", "-p", 1], "--continuous")]:
        r = assay("record", *words)
        expect_eq(r.rc, 2, f"exit status of {words}")
        expect_in(why, r.err)
    r = assay("record", *OFTEN, "--service", "x", "-p", start("sleep", 20).pid)
    expect_eq(r.rc, 69, f"exit status for a process that is no Python ({r.err})")


main()
