#!/usr/bin/env python3
"""`assay record --continuous`: profiles of a service, again and again, and what there is to see
in them: `assay profiles`."""
import json
import os
import re
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
    listed = assay("profiles", "--json", "--zone", "here").ok().json()["profiles"]
    expect_eq({(x["zone"], x["project"]) for x in listed}, {("here", None)}, "zone and project")
    expect_eq(assay("profiles", "--json", "--zone", "there").ok().json()["profiles"], [], "others")
    expect_eq(assay("profiles", "--project", "none").rc, 66, "exit status when none matches")
    expect(doc["assay"]["stacks"]["samples"] > 0, doc["assay"]["stacks"])
    expect(doc["assay"]["totals"]["cpu"]["value"] > 0, "what it used is not known")


@job_test("a service is found by its command line, again when it was started anew; disk is bounded")
def _():
    r = start(ASSAY, "record", *OFTEN, "--service", "again", "--service-version", "7", "--match",
              f"split.py 0.? 12{os.getpid()}", "--keep", "2", stderr=subprocess.PIPE, text=True)
    expect_in("no process matches", r.stderr.readline())
    pids = set()
    for turn in range(2):
        p = service(program("split"), 0.9, f"12{os.getpid()}")
        old = {x["id"] for x in kept("again")}
        wait_for(lambda: len({x["id"] for x in kept("again")} - old) >= 2, 90, "two new profiles")
        newest = max(kept("again"), key=lambda x: x["start_time"])
        pids.add(assay("show", "--json", newest["id"]).ok().json()["assay"]["identity"]["target"])
        expect(p.pid in pids, f"{p.pid} is not one of {pids}")
        stop(p)
    r.send_signal(signal.SIGTERM)
    r.wait(30)
    expect(len(kept("again")) <= 2, kept("again"))
    expect_eq(r.returncode, 0, "exit status of the recorder")


def targets(name):
    """Whose profiles are kept, in the order of their beginnings."""
    return [assay("show", "--json", x["id"]).ok().json()["assay"]["identity"]["target"]
            for x in sorted(kept(name), key=lambda x: x["start_time"])]


@job_test("of several that match each has its turn, and what one starts is part of it")
def _():
    mark = f"13{os.getpid()}"
    code = f"{PYTHON.path} {program('split')} 0.9 {mark}; true"
    first = start("sh", "-c", code, stdout=subprocess.PIPE, text=True)
    expect_eq(first.stdout.readline(), "ready\n", "the script's first line")
    second = service(program("split"), 0.9, mark)
    r = start(ASSAY, "record", *OFTEN, "--service", "twins", "--match", f"split.py 0.? {mark}",
              stderr=subprocess.DEVNULL)
    until(r, "twins", 3)
    found = targets("twins")
    child = assay("show", "--json", kept("twins")[0]["id"]).ok().json()
    stop(second)
    stop(first)
    expect_eq(found[:2], [first.pid, second.pid], "whose turn it was")
    expect_eq(set(found), {first.pid, second.pid}, "who had a turn")
    expect(child["assay"]["stacks"]["samples"] > 0, "no samples")


@job_test("the end of a process that was named ends it; what makes no sense is refused")
def _():
    p = service(program("split"), 0.9, 0.5)
    assay("record", *OFTEN, "--service", "short", "-p", p.pid).ok()
    expect(kept("short"), "no profile is kept")
    for words, why in [(["--continuous", "-p", 1], "--service"),
                       (["--continuous", "--service", "x", "-p", 1, "-o", "f"], "--output"),
                       (["--continuous", "--service", "x", "-p", 1, "--for", "2m"], "--every"),
                       (["--service", "x", "-p", 1], "--continuous"),
                       (["--project", "x", "-p", 1], "--continuous")]:
        r = assay("record", *words)
        expect_eq(r.rc, 2, f"exit status of {words}")
        expect_in(why, r.err)
    sleeper = start("sleep", 20)
    r = assay("record", *OFTEN, "--service", "x", "-p", sleeper.pid)
    stop(sleeper)
    expect_eq(r.rc, 69, f"exit status for a process that is no Python ({r.err})")


@job_test("profiles are listed, weighed and merged; a function has a history")
def _():
    for version, name, seconds in (("1", "light", 0.2), ("1", "light", 0.25), ("2", "heavy", 0.8)):
        code = (f"import time\ndef {name}():\n  e = time.thread_time() + {seconds}\n"
                f"  while time.thread_time() < e: pass\n{name}()")
        assay("record", "-q", "-n", "shop", "--run-version", version, "--", PYTHON.path, "-c",
              code).ok()
    d = assay("profiles", "--json", "--service", "sh?p", "--function", "heavy").ok().json()
    expect_eq([p["version"] for p in d["profiles"]], ["1", "1", "2"], "versions, the oldest first")
    expect_eq([p["self"] > 5e8 for p in d["profiles"]], [False, False, True], "who has heavy")
    expect_eq(d["merged"], 3, "profiles that were merged")
    expect({"light", "heavy"} <= {f["function"] for f in d["functions"]}, d["functions"])
    total = sum(p["value"] for p in d["profiles"])
    expect_eq([k["total"] for k in d["kinds"] if k["name"] == "cpu"], [total], "CPU time of all")
    d = assay("profiles", "--json", "--weight", "33").ok().json()
    expect_eq([p["version"] for p in d["profiles"]], ["2"], "the heaviest third")
    for more in ([], ["-o", "x.svg"], ["--function", "heavy"]):
        r = assay("profiles", "--focus", "nobody", *more)
        expect_eq((r.rc, r.out), (66, ""), "no stack is left")
        expect_in("no stack is left after the filters", r.err)
    expect(not (tmp() / "x.svg").exists(), "a picture of nothing")
    d = assay("profiles", "--json", "--version", "1").ok().json()
    expect_eq(len(d["profiles"]), 2, "profiles of version 1")
    out = assay("profiles").ok().out
    expect_in("of 3 profiles", out)
    expect_in("heavy", out)
    assay("profiles", "-o", "all.pb.gz").ok()
    page = assay("profiles", "-o", "-", "-f", "html", "--highlight", "heavy").ok().out
    expect(page.startswith("<!doctype html>") and "3 profiles" in page, page[:300])
    expect_in("*heavy", assay("profiles", "--highlight", "heavy").ok().out)
    d = assay("profiles", "--json", "--show-stacks", "heavy", "--function", "light").ok().json()
    expect_eq({p["total"] for p in d["profiles"]}, {0}, "light, where only heavy is shown")
    expect("light" not in {f["function"] for f in d["functions"]}, d["functions"])
    d = assay("profiles", "--json", "--metric", "samples").ok().json()
    expect_eq([k["name"] for k in d["kinds"]], ["samples"], "what is left")
    elsewhere = {"env": {"ASSAY_STORE": "nowhere"}}
    for command in (["flame", "-o", "x.html"], ["report", "--stacks"], ["merge", "-o", "m.folded"],
                    ["diff", "last"]):
        expect_eq(assay(*command, "last", **elsewhere).rc, 66, f"{command} where nothing is kept")
        assay(*command, "last", "--store", tmp() / "store", **elsewhere).ok()
    assay("convert", "--store", tmp() / "store", "last", "c.folded", **elsewhere).ok()
    expect_in("counts 'wall'", assay("profiles", "--metric", "wall").err)
    found = stacks(assay("convert", "all.pb.gz", "-", "-f", "folded").ok().out)
    expect({"light", "heavy"} <= {frames[-1].split(" ")[0] for frames, _ in found}, found)
    history = assay("profiles", "--function", "light").ok().out
    expect_in("over time", history)
    expect_in("% rejected", history)
    expect_eq(assay("profiles", "--function", "light", "-o", "again.pb.gz").ok().out, history, "-o")
    expect((tmp() / "again.pb.gz").stat().st_size > 100, "the file beside the history")
    expect_eq(assay("profiles", "--function", "light", "-o", "-").rc, 2, "two in one place")
    expect_eq(assay("profiles", "--service", "none").rc, 66, "exit status when there are none")
    expect_eq(assay("profiles", "--weight", "101").rc, 2, "exit status of too much")
    expect_eq(assay("profiles", "--json", "-o", "-").rc, 2, "exit status of two in one place")


@job_test("idle spans are left out of what is shown")
def _():
    code = ("import time\ndef doze(): time.sleep(4)\ndef burn():\n  e = time.thread_time() + 1\n"
            "  while time.thread_time() < e: pass\ndoze(); burn()")
    assay("record", "-q", "--mode", "wall", "--", PYTHON.path, "-c", code).ok()

    def share(*options):
        d = assay("profiles", "--json", "--function", "doze", *options).ok().json()
        return d["profiles"][0]["total"] / d["profiles"][0]["of"]
    everything, busy = share(), share("--busy")
    expect(everything > 0.3, f"doze is {everything} of it")
    expect(busy < everything - 0.2, f"doze is {busy} of the busy spans, {everything} of all")
    expect(not re.search(r"\d of .*\d samples, ", assay("profiles").ok().out), "all are left")
    told = assay("profiles", "--busy").ok().out
    expect(re.search(r"^\d+ of \d+ samples, ", told, re.M), f"how many are left: {told}")


main()
