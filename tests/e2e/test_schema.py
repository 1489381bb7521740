#!/usr/bin/env python3
"""Every JSON document that assay writes is what docs/schema says, and the schemas can say no."""
import copy
import json
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from schemas import *

PYTHON = sys.executable


def measure(*command, options=(), rc=0):
    """Run a command under assay; its document, checked."""
    r = assay("run", *options, "--json", "-o", tmp() / "run.json", "--", *command)
    expect_eq(r.rc, rc, "exit status")
    document = valid(json.loads((tmp() / "run.json").read_text()))
    agrees(document)
    return document


def agrees(d):
    """What is said twice in a document is said alike."""
    ours = d["assay"]
    expect_eq(d["task_id"], ours["identity"]["id"], "task_id")
    expect_eq(d["status"], ours["outcome"]["status"], "status")
    expect(abs(d["duration_seconds"] * 1e9 - ours["outcome"]["duration_ns"]) < 2, "durations")
    cpu = ours["totals"]["cpu"]["value"]
    if cpu is not None:
        expect(abs(d["resource_usage"]["cpu_total_seconds"] * 1e9 - cpu) < 2, "CPU times differ")
    timeline = ours["timeline"]
    lengths = {len(column) for part in ("columns", "min", "max")
               for column in timeline.get(part, {}).values()}
    moments = len(timeline["t_ns"])
    expect(lengths <= {moments}, f"columns of {lengths} for {moments} moments")
    expect(timeline["t_ns"] == sorted(set(timeline["t_ns"])), "moments are not in order")
    for key, m in ours["metrics"].items():
        if m["mean"] is not None and m["min"] is not None:
            slack = 1e-9 * max(abs(m["max"]), 1)
            expect(m["min"] <= m["mean"] + slack or m["kind"] == "counter",
                   f"{key}: min above mean")
            expect(m["min"] <= m["max"] + slack, f"{key}: min above max")
    ids = {p["id"] for p in ours["processes"]}
    for p in ours["processes"]:
        expect(p["parent"] is None or p["parent"] in ids or ours["unlisted"],
               f"{p['pid']}: parent not listed")
    series = d["detailed_profile"].get("time_series", {})
    expect(len({len(c) for c in series.values()}) <= 1, "time_series columns differ in length")


BUSY = "import time; x = bytearray(40 << 20)\nwhile time.process_time() < 0.7: pass"


@test("a run that succeeds")
def _():
    d = measure(PYTHON, "-c", BUSY,
                options=("--interval", "0.1", "--name", "busy", "--label", "a=b", "--param", "n=3",
                         "--param", "lr=1e-3", "--param", "on=true", "--param", "s=x y"))
    expect_eq(d["tool"], "busy", "tool")
    expect_eq(d["params"], {"n": 3, "lr": 0.001, "on": True, "s": "x y"}, "params")
    expect_eq(d["assay"]["identity"]["labels"], {"a": "b"}, "labels")
    expect_eq((d["status"], d["returncode"], d["error"]), ("success", 0, None), "outcome")
    expect(0.69 < d["resource_usage"]["cpu_total_seconds"] < 3, "CPU time of a loop of 0.7 s")
    expect(d["resource_usage"]["memory_peak_mb"] > 40, "peak of a program that fills 40 MiB")
    expect(d["detailed_profile"]["samples_collected"] >= 3, "too few samples")
    expect(len(d["assay"]["processes"]) >= 1, "no process listed")
    expect(d["assay"]["verdict"]["kind"] != "", "no verdict")


@test("a run that fails, that a signal ends, and that takes too long")
def _():
    d = measure("sh", "-c", "exit 7", rc=7)
    expect_eq((d["status"], d["returncode"]), ("failed", 7), "outcome")
    d = measure("sh", "-c", "kill -SEGV $$", rc=-signal.SIGSEGV)
    expect_eq((d["status"], d["returncode"]), ("failed", -signal.SIGSEGV), "outcome")
    expect_eq(d["assay"]["outcome"]["signal_name"], "SIGSEGV", "signal_name")
    d = measure("sleep", "60", options=("--timeout", "0.3"), rc=124)
    expect_eq(d["status"], "timeout", "status")


@test("totals only, and one group of metrics only")
def _():
    d = measure("true", options=("--basic",))
    expect_eq(d["detailed_profile"]["samples_collected"], 0, "samples")
    d = measure("sleep", "0.3", options=("--metrics", "memory", "--interval", "0.05"))
    expect(not any(k.startswith("system.") for k in d["assay"]["timeline"]["columns"]),
           "a column nobody asked for")


@test("a command with many processes and odd names")
def _():
    script = tmp() / 'we"ird\n\x01näme.sh'
    script.write_text("#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8; do sh -c 'sleep 0.2' & done; wait\n")
    script.chmod(0o755)
    d = measure(script, options=("--interval", "0.05"))
    expect(len(d["assay"]["processes"]) >= 9, f"only {len(d['assay']['processes'])} processes")


@test("show --json of a run that is over and of one that is not")
def _():
    d = measure("sleep", "0.2")
    shown = valid(assay("show", "--json", d["task_id"]).ok().json())
    for key in ("task_id", "status", "resource_usage", "params", "start_time"):
        expect_eq(shown[key], d[key], key)
    expect_eq(shown["assay"]["totals"], d["assay"]["totals"], "totals")
    expect_eq(shown["assay"]["timeline"], d["assay"]["timeline"], "timeline")
    p = start(ASSAY, "run", "--quiet", "--name", "long", "--interval", "0.1", "--", "sleep", "30")

    def running():
        runs = valid(assay("jobs", "--json").ok().json(), "list-1")["runs"]
        ids = [r["id"] for r in runs if r["status"] == "running"]
        return ids[0] if ids else None
    found = wait_for(running, what="a running run in the list")
    time.sleep(0.5)
    now = valid(assay("show", "--json", found).ok().json())
    outcome = (now["status"], now["end_time"], now["returncode"])
    expect_eq(outcome, ("running", None, None), "outcome")
    agrees(now)
    stop(p)


@test("lists and statistics")
def _():
    for name, command in (("a", "true"), ("a", "false"), ("b", "true")):
        assay("run", "--quiet", "--name", name, "--", command)
    runs = valid(assay("jobs", "--json").ok().json(), "list-1")["runs"]
    expect_eq(sorted(r["name"] for r in runs), ["a", "a", "b"], "names")
    stats = valid(assay("stats", "--json").ok().json(), "stats-1")
    expect_eq({s["name"]: (s["count"], s["success"]) for s in stats["names"]},
              {"a": (2, 1), "b": (1, 1)}, "counts")
    expect_eq(stats["total"]["count"], 3, "total")
    none = valid(assay("jobs", "--json", "--name", "nobody").ok().json(), "list-1")
    expect_eq(none["runs"], [], "runs")


@test("every document that names a schema has one")
def _():
    named = set()
    for path in (ROOT / "src").rglob("*.c"):
        named |= set(re.findall(r'"assay/([a-z-]+/[0-9]+)', path.read_text().replace("\\", "")))
    expect_eq(sorted(n.replace("/", "-") for n in named),
              sorted(p.stem for p in (ROOT / "docs" / "schema").glob("*.json")), "schemas")


@test("the tree, nested, also while it runs")
def _():
    assay("run", "--quiet", "--interval", "0.05", "--", "sh", "-c",
          "sh -c 'sleep 0.2; false'; sh -c 'sleep 0.2; true'; true").ok()
    d = valid(assay("show", "--tree", "--json").ok().json(), "tree-1")
    expect_eq([p["name"] for p in d["processes"]], ["sh"], "first processes")
    expect(d["processes"][0]["children"], "no children")
    p = start(ASSAY, "run", "--quiet", "--interval", "0.1", "--", "sleep", "30")

    def alive():
        r = assay("show", "--tree", "--json")
        rows = valid(r.json(), "tree-1")["processes"] if r.rc == 0 else []
        return [x for x in rows if x["name"] == "sleep" and x["died_ns"] is None]
    wait_for(alive, what="a process of the run in its tree")
    stop(p)
    wrong = copy.deepcopy(d)
    wrong["processes"][0]["children"][0].pop("pid")
    expect(faults(wrong, "tree-1"), "a child without a pid was not noticed")


@test("its sockets, as the whole run has them")
def _():
    assay("run", "--quiet", "--interval", "0.05", "--", "/usr/bin/python3", "-c",
          "import socket, time\n"
          "s = socket.create_server(('127.0.0.1', 0))\n"
          "c = socket.create_connection(s.getsockname())\n"
          "time.sleep(0.4)").ok()
    d = valid(assay("show", "--sockets", "--json").ok().json(), "sockets-1")
    whole = assay("show", "--json").ok().json()
    expect_eq(d["id"], whole["assay"]["identity"]["id"], "the run")
    expect_eq(d["sockets"], whole["assay"]["sockets"], "sockets")
    expect_eq(len(d["sockets"]), 2, "both ends")


@test("how the sampling of stacks went")
def _():
    code = "import time; e = time.time() + 0.3\nwhile time.time() < e: pass"
    assay("record", "-q", "--stats-json", "s.json", "--", sys.executable, "-c", code).ok()
    d = valid(json.loads((tmp() / "s.json").read_text()), "sampling-1")
    expect(d["samples"] > 0, f"no samples: {d}")


@test("the functions of a profile: lines, callers and callees add up")
def _():
    (tmp() / "a.folded").write_text("main;work (w.py:3);f 5\nmain;work (w.py:4) 2\nmain;f;f 1\n")
    d = valid(assay("report", "--stacks", "--json", "a.folded").ok().json(), "stacks-1")
    got = {f["function"]: f for f in d["functions"]}
    told = {name: (f["self"], f["total"]) for name, f in got.items()}
    expect_eq(told, {"f": (6, 6), "work": (2, 7), "main": (0, 8)}, "self and total")
    expect_eq({n: [(x["function"], x["value"]) for x in f["callers"]] for n, f in got.items()},
              {"f": [("work", 5), ("main", 1), ("f", 1)], "work": [("main", 7)], "main": []},
              "callers")
    expect_eq([(x["line"], x["self"], x["total"]) for x in got["work"]["lines"]],
              [(3, 0, 5), (4, 2, 2)], "lines of work")
    expect_eq([(x["function"], x["value"]) for x in got["main"]["callees"]],
              [("work", 7), ("f", 1)], "callees of main")
    wrong = copy.deepcopy(d)
    wrong["functions"][0]["self"] = None
    expect(faults(wrong, "stacks-1"), "a function without a number was not noticed")


@test("profiles over time, and stacks of a run")
def _():
    code = "import time\ne = time.time() + .3\nwhile time.time() < e: pass"
    d = valid(assay("record", "--json", "--", sys.executable, "-c", code).ok().json(), "run-1")
    expect(d["assay"]["stacks"]["functions"], "a run has no functions")
    wrong = copy.deepcopy(d)
    wrong["assay"]["stacks"]["timeline"][0]["values"]["cpu"] = None
    expect(faults(wrong, "run-1"), "a slice without a number was not noticed")
    for options in ((), ("--function", "f"), ("--service", "nobody")):
        valid(assay("profiles", "--json", *options).ok().json(), "profiles-1")


@test("what a Python is doing now")
def _():
    d = valid(assay("dump", "--json", "--locals", "--async", os.getpid()).ok().json(), "dump-1")
    expect_eq(d["pid"], os.getpid(), "pid")
    wrong = copy.deepcopy(d)
    wrong["threads"][0]["state"] = "bored"
    expect(faults(wrong, "dump-1"), "a state that is none was not noticed")


@test("diff of profiles")
def _():
    (tmp() / "a.folded").write_text("main;work (app/work.py:3) 3\nmain 1\n")
    (tmp() / "b.folded").write_text("main;rest 2\nmain 1\n")
    d = valid(assay("diff", "--json", "a.folded", "b.folded").ok().json(), "diff-1")
    expect_eq([f["function"] for f in d["functions"]], ["work", "rest", "main"], "functions")
    expect_eq(d["functions"][0]["self"]["relative"], -1, "what is gone")
    expect_eq(d["functions"][1]["self"]["relative"], None, "what is new")
    expect_eq(d["all"]["change"], -1, "in all")


@test("export, import, gc and doctor")
def _():
    history = ROOT / "tests" / "fixtures" / "keystone"
    d = valid(assay("import", "--json", "keystone", history / "jobs_history.jsonl").ok().json(),
              "import-1")
    expect(d["imported"] > 1, f"{d['imported']} imported")
    d = valid(assay("import", "--json", "keystone", history / "broken.jsonl").json(), "import-1")
    expect(d["problems"], "no line refused")
    runs = valid(assay("export").ok().json(), "runs-1")["runs"]
    expect(len(runs) > 1, f"{len(runs)} exported")
    for run in runs:
        valid(run)
    d = valid(assay("gc", "--keep", "1", "--json").ok().json(), "gc-1")
    expect(d["removed"] > 0 and not d["dry_run"], d)
    valid(assay("doctor", "--json").ok().json(), "doctor-1")


@test("a line of Keystone's history is the same record, rounded")
def _():
    assay("run", "--keystone-dir", tmp() / "ks", "--json", "-o", tmp() / "run.json",
          "--interval", "0.05", "--", PYTHON, "-c", BUSY).ok()
    d = json.loads((tmp() / "run.json").read_text())
    lines = (tmp() / "ks" / "jobs_history.jsonl").read_text().splitlines()
    expect_eq(len(lines), 1, "lines")
    k = json.loads(lines[0])
    expect_eq(list(k), ["task_id", "tool", "script", "params", "start_time", "end_time",
                        "duration_seconds", "status", "returncode", "resource_usage", "error",
                        "has_result", "detailed_profile"], "keys")
    expect_eq(list(k["detailed_profile"])[:9],
              ["duration_seconds", "samples_collected", "sampling_interval_seconds", "cpu",
               "memory", "process_cpu", "process_memory", "io_stats", "gpu_stats"],
              "keys of the profile")

    def same(ours, theirs, path):
        if isinstance(ours, dict):
            for key in theirs:
                if key != "time_series":
                    same(ours[key], theirs[key], f"{path}/{key}")
        elif isinstance(ours, float):
            expect_eq(theirs, round(ours, 2), path)
        else:
            expect_eq(theirs, ours, path)
    same(d, k, "")
    valid({"schema": "assay/run/1", **k, "assay": d["assay"]})


@test("the schemas refuse what is wrong")
def _():
    d = measure("sleep", "0.2", options=("--interval", "0.05"))

    def broken(change):
        wrong = copy.deepcopy(d)
        change(wrong)
        return faults(wrong)
    changes = [
        lambda x: x.pop("resource_usage"),
        lambda x: x.update(duration_seconds="1"),
        lambda x: x.update(status="done"),
        lambda x: x.update(start_time="2026-01-01T00:00:00Z"),
        lambda x: x.update(extra=1),
        lambda x: x["resource_usage"].update(memory_peak_mb=-1),
        lambda x: x["detailed_profile"]["io_stats"].pop("read_mb"),
        lambda x: x["assay"]["totals"]["cpu"].update(value=None),   # unknown, but "measured"
        lambda x: x["assay"]["totals"]["cpu"].update(unit="seconds"),
        lambda x: x["assay"]["metrics"].update({"nonsense": {}}),
        lambda x: x["assay"]["processes"][0].pop("pid"),
        lambda x: x["assay"]["timeline"]["t_ns"].append("x"),
        lambda x: x["assay"]["verdict"].update(confidence=2),
        lambda x: x["assay"]["outcome"].update(exit_code=-1),
    ]
    for number, change in enumerate(changes):
        expect(broken(change), f"change {number} was not noticed")


main()
