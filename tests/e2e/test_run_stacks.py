#!/usr/bin/env python3
"""`assay run --stacks`: stacks as a part of a run, on its timeline, and kept with it."""
import datetime
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from page import Page
from pythons import *
from schemas import *

PYTHON = pythons()[-1]

# A look stands for the time since the one before it, so what it tells begins a bit too early.
# Pauses are exponential with a mean of 10 ms: one in three million is longer than this.
LAG = 0.15


def measured(*words, options=("--stacks", "cpu")):
    """The document of a run, and the lines that the program said."""
    r = assay("run", "--json", "-o", "run.json", "-q", *options, "--", PYTHON.path, *words).ok()
    return json.loads((tmp() / "run.json").read_text()), r.out.splitlines()


def kinds(stacks):
    return {k["name"]: k["total"] for k in stacks["kinds"]}


@job_test("what stacks cost is a part of what measuring cost")
def _():
    doc, _ = measured("-c", "import time\nend = time.time() + 1\nwhile time.time() < end: pass",
                      options=("--stacks", "cpu", "--stacks-rate", "500"))
    part = {x["name"]: x["metrics"]["collector.cpu"]["total"] for x in doc["assay"]["collectors"]}
    expect(part["stacks"] > 0, f"no part of {part}")
    own = doc["assay"]["totals"]["self_cpu"]["value"]
    expect(sum(part.values()) <= own, f"{part} together are more than {own} ns")
    plain, _ = measured("-c", "pass", options=())
    expect("stacks" not in {x["name"] for x in plain["assay"]["collectors"]}, "a part that was not")


@job_test("each slice of time has the function that ran in it")
def _():
    doc, said = measured(program("turns"), 0.8)
    stacks, times = doc["assay"]["stacks"], json.loads(said[-1])
    expect(stacks["slice_ns"] * 40 < stacks["duration_ns"], "a few long slices")
    began = datetime.datetime.fromisoformat(doc["start_time"] + "+00:00").timestamp()
    length = stacks["slice_ns"] / 1e9
    whole = {"first_turn": 0, "second_turn": 0}
    for s in stacks["timeline"]:
        begin = began + s["t_ns"] / 1e9
        for name, (first, last) in times.items():
            if begin > first and begin + length + LAG < last and s["values"]["cpu"]:
                expect_eq(s["function"], name, f"function of the slice at {s['t_ns']} ns")
                whole[name] += 1
    expect(all(whole.values()), f"slices that lie in each turn: {whole} of {stacks['timeline']}")
    total = sum(s["values"]["cpu"] for s in stacks["timeline"])
    expect_eq(total, kinds(stacks)["cpu"], "CPU time of all slices")


@job_test("one thread has no more of a slice than the slice is long")
def _():
    doc, _ = measured("-c", "import time; time.sleep(3)", options=("--stacks", "wall"))
    stacks = doc["assay"]["stacks"]
    most = max(s["values"]["wall"] for s in stacks["timeline"])
    expect(most <= stacks["slice_ns"] + 1000, f"{most} of {stacks['slice_ns']} ns")
    whole = sum(s["values"]["wall"] for s in stacks["timeline"])
    expect_eq(whole, kinds(stacks)["wall"], "wall time of all slices")


@job_test("the summary names no command that needs the run when it is not kept")
def _():
    for options, there in (((), True), (("--no-store",), False)):
        said = assay("run", "--stacks", "cpu", *options, "--", PYTHON.path,
                     "-c", "sum(range(10**7))").ok().err
        expect_in("Functions that took most", said)
        for words in "assay flame", "assay report --stacks", "assay show":
            named = re.search(rf"{words} [a-z0-9]{{12}}", said) is not None
            expect_eq(named, there, f"{words!r} is named with {options}")


@job_test("the page has the functions of each slice on the run's time, and all of their time")
def _():
    doc, said = measured(program("turns"), 0.8,
                         options=("--stacks", "cpu,wall", "--html", "x.html"))
    times, totals = json.loads(said[-1]), kinds(doc["assay"]["stacks"])
    began = datetime.datetime.fromisoformat(doc["start_time"] + "+00:00").timestamp()
    curves = {c["kind"]: c for c in Page(tmp() / "x.html").data["curves"]}
    expect_eq(sorted(curves), ["cpu", "wall"], "kinds")
    for kind, c in curves.items():
        expect_eq(sum(sum(f["values"]) for f in c["functions"]), totals[kind], f"all of {kind}")
        expect_eq(c["functions"][-1]["function"], None, "the last curve is that of all others")
    slice_s = curves["cpu"]["slice_ns"] / 1e9
    for name, (first, last) in times.items():
        values = next(f for f in curves["cpu"]["functions"] if f["function"] == name)["values"]
        inside = sum(v for i, v in enumerate(values)
                     if began + (i + 1) * slice_s > first - LAG and began + i * slice_s < last)
        expect_near(inside, sum(values), 0.02, f"time of {name} in its turn")


@job_test("several modes: each has its table and its functions; profiles merge what all count")
def _():
    code = "import time\ndef burn():\n  e = time.thread_time() + .2\n" \
           "  while time.thread_time() < e: pass\ndef wait(): time.sleep(2)\nburn(); wait()"
    doc, _ = measured("-c", code, options=("--stacks", "cpu,wall", "--name", "both"))
    stacks = valid(doc, "run-1")["assay"]["stacks"]
    expect_eq(stacks["functions_kind"], "cpu", "what functions are by")
    first = {k["name"]: k["functions"][0]["function"] for k in stacks["kinds"] if "functions" in k}
    expect_eq(first, {"cpu": "burn", "wall": "wait"}, "what took most")
    shown = assay("show", "last").ok().out
    expect(re.search(r"self +total +cpu +function.*\n.* burn ", shown), shown)
    expect(re.search(r"self +total +wall +function.*\n.* wait ", shown), shown)
    measured("-c", code, options=("--stacks", "cpu", "--name", "one"))
    d = valid(assay("profiles", "--json", "--function", "burn").ok().json(), "profiles-1")
    expect_eq((d["merged"], d["left_out"], d["functions_kind"]), (2, 0, "cpu"), "merged, left out")
    expect(all(p["total"] > 0.5 * p["of"] for p in d["profiles"]), d["profiles"])
    r = assay("record", "--no-store", "--mode", "wall", "--", PYTHON.path, "-c", code).ok()
    expect(re.search(r"self +total +wall +function", r.err), r.err)


@job_test("the CPU time of the stacks is the run's CPU time")
def _():
    doc, _ = measured(program("split"), 0.5, 3)
    cpu = doc["assay"]["totals"]["cpu"]["value"]
    expect_near(kinds(doc["assay"]["stacks"])["cpu"], cpu, 0.02, "CPU time of the stacks")


@job_test("both modes at once: waiting counts in wall only; the Pythons of all children")
def _():
    (tmp() / "child.py").write_text(
        "import time, sys\n"
        "def wait(): time.sleep(1.2)\n"
        "def burn():\n"
        "  e = time.thread_time() + .3\n"
        "  while time.thread_time() < e: pass\n"
        "burn(); wait()\n")
    code = (f"import subprocess as s\n"
            f"for p in [s.Popen(['{PYTHON.path}', 'child.py']) for _ in range(2)]: p.wait()")
    doc, _ = measured("-c", code, options=("--stacks", "cpu,wall"))
    stacks = doc["assay"]["stacks"]
    wall, = (k for k in stacks["kinds"] if k["name"] == "wall")
    functions = {f["function"]: f for f in wall["functions"]}
    expect_eq(stacks["processes"], 3, "Pythons")
    expect(functions["wait"]["self"] > 1.9e9, f"wall time of wait: {functions['wait']}")
    expect(kinds(stacks)["wall"] > kinds(stacks)["cpu"] + 1.9e9, kinds(stacks))


@job_test("a shell that becomes a Python, and one that is loaded late, are found soon")
def _():
    (tmp() / "late.py").write_text("import time\ndef burn():\n  end = time.time() + 2\n"
                                   "  while time.time() < end: pass\nburn()\n")
    seen = {}
    for words in (f"sleep 0.7; exec {PYTHON.path} late.py", f"sleep 0.7; {PYTHON.path} late.py"):
        doc = assay("run", "--no-store", "--json", "--stacks", "cpu", "--", "sh", "-c",
                    words).ok().json()["assay"]
        found = {f["function"]: f["self"] for f in doc["stacks"]["functions"]}
        seen[words] = found.get("burn", 0) / doc["totals"]["cpu"]["value"]
    expect(min(seen.values()) > 0.75, f"the share of the CPU time that is burn's: {seen}")


@job_test("a hundred looks a second, unless another rate is said")
def _():
    code = "import time\nend = time.time() + 2\nwhile time.time() < end: pass"
    for options, hz in ((), 100), (("--stacks-rate", "25"), 25):
        doc, _ = measured("-c", code, options=("--stacks", "cpu", *options))
        expect_near(doc["assay"]["stacks"]["looks"] / 2, hz, 0.45, f"looks a second with {options}")


@job_test("sampling stacks is not counted as the job's reading and writing")
def _():
    code = ("import time\n"
            "for i in range(50): open('x', 'w').write('y' * 1000); open('x').read()\n"
            "time.sleep(.6)")
    for rung in (None, "proc"):
        env, seen = {"ASSAY_RUNG": rung}, []
        for options in ((), ("--stacks", "cpu,wall,gil", "--stacks-rate", "500")):
            doc = assay("run", "--no-store", "--json", *options, "--", PYTHON.path, "-c", code,
                        env=env).ok().json()
            totals = doc["assay"]["totals"]
            seen.append({k: totals[k]["value"] for k in (
                "io_read_calls", "io_write_calls", "io_read_calls_bytes", "io_write_calls_bytes")})
        expect_eq(seen[1], seen[0], f"what was read and written, rung {rung}")
        expect(seen[0]["io_write_calls"] >= 50, seen)


@job_test("a running process with its stacks")
def _():
    p = script(PYTHON, "threads", 20)
    doc = assay("attach", "--json", "-d", "1.5", "--stacks", "wall", p.pid).ok().json()
    stop(p)
    names = {f["function"] for f in doc["assay"]["stacks"]["functions"]}
    expect({"burner", "sleeper"} <= names, names)


@job_test("a job without a Python runs as ever, and the lack of stacks is told")
def _():
    r = assay("run", "--stacks", "cpu", "--", "sh", "-c", "echo hello; exit 3")
    expect_eq((r.rc, r.out), (3, "hello\n"), "what the command did")
    expect_in("no stacks", r.err)
    r = assay("run", "--stacks", "cpu,cqu", "--", "touch", "started")
    expect_eq(r.rc, 125, "exit status of a mode that is none")
    expect_in("no mode 'cqu'", r.err)
    expect(not (tmp() / "started").exists(), "the command was started")


@job_test("the summary names the functions that took most")
def _():
    r = assay("run", "--stacks", "cpu", "--", PYTHON.path, program("split"), 0.9, 0.5).ok()
    expect_in("burn_first", r.err)
    expect_in("% rejected", r.err)


@job_test("record keeps a run, unless it was not asked to or saw no Python")
def _():
    code = "e = __import__('time').time() + .4\nwhile __import__('time').time() < e: pass"
    assay("record", "--no-store", "-q", "--", PYTHON.path, "-c", code).ok()
    assay("record", "--", "true")
    expect_eq(runs(), [], "runs that are kept")
    r = assay("record", "--json", "--name", "mine", "--", PYTHON.path, "-c", code).ok()
    expect_eq([(x["name"], x["kind"]) for x in runs()], [("mine", "record")], "runs that are kept")
    expect(r.json()["assay"]["stacks"]["samples"] > 0, "no samples in the document")
    r = assay("record", "--json", "-f", "folded", "--", "true")
    expect_eq(r.rc, 2, "exit status of two things on standard output")


@job_test("stacks are kept with the run: shown, converted by its id, removed with it")
def _():
    import sqlite3
    assay("run", "--stacks", "cpu", "-n", "kept", "--", PYTHON.path, program("split"), 0.9,
          0.5).ok()
    shown = assay("show").ok().out
    expect_in("burn_first", shown)
    doc = assay("show", "--json").ok().json()
    expect(doc["assay"]["stacks"]["samples"] > 10, doc["assay"]["stacks"])
    found = stacks(assay("convert", doc["task_id"], "-", "-f", "folded").ok().out)
    expect(any("burn_first" in frames[-1] for frames, _ in found), found)
    expect_in("no file and no run", assay("convert", "nobody", "x.folded").err)
    catalogue = sqlite3.connect(tmp() / "store/catalogue.db")
    expect_eq(catalogue.execute("SELECT count(*) FROM profile").fetchone(), (1,), "profiles")
    assay("rm", doc["task_id"]).ok()
    expect_eq(catalogue.execute("SELECT count(*) FROM profile").fetchone(), (0,), "profiles")
    catalogue.close()


@job_test("what was seen is there while it runs, and after kill -9")
def _():
    p = start(ASSAY, "run", "-q", "--stacks", "cpu", "--", PYTHON.path, program("split"), 0.9, 60)

    def seen():
        r = assay("show", "--json")
        return r.rc == 0 and r.json()["assay"]["stacks"] and r.json()
    doc = wait_for(seen, 60, "stacks of the run that goes on")
    expect_eq(doc["status"], "running", "status")
    pid = doc["assay"]["processes"][0]["pid"]
    p.kill()
    p.wait()
    os.kill(pid, 9)
    assay("gc", "--keep", "10").ok()      # who writes seals it
    after = assay("show", "--json").ok().json()
    expect_eq(after["status"], "interrupted", "status")
    used, was = kinds(after["assay"]["stacks"]), kinds(doc["assay"]["stacks"])
    expect(used["cpu"] >= was["cpu"] > 0, f"{used} of stacks, {was} before")
    lost = after["assay"]["outcome"]["duration_ns"] - after["assay"]["stacks"]["duration_ns"]
    expect(lost < 15e9, f"the last {lost / 1e9} s are lost")


main()
