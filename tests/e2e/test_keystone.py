#!/usr/bin/env python3
"""What somebody who comes from Keystone types, and what his scripts read."""
import json
import os
import random
import re
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
from harness import *
from same_records import differences

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def in_terminal(*words):
    """What assay prints when its output is a terminal."""
    t = terminal(ASSAY, *words)
    t.wait()
    return t.output.replace("\r\n", "\n")


def record(dice, number):
    """A line as Keystone's job_monitor writes it."""
    day, part = f"2026-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}", dice.randint(1, 999999)
    start = f"{day}T11:59:59.{part:06}"
    end = f"2027-01-01T00:00:00.{part:06}"
    user, system = dice.randint(0, 10**7) / 100, dice.randint(0, 10**5) / 100
    status = dice.choice(["success", "failed", "timeout", "error"])
    failed = dice.choice([1, 2, 139, 255, -9, -11])
    codes = {"success": 0, "failed": failed, "timeout": -1, "error": 1}
    params = {"mesh": dice.randint(-5, 10**12), "tol": dice.random() * 10**dice.randint(-9, 9),
              "solver": "cg é \" \\ \n", "flags": [True, None, 1.0, {"deep": []}], "on": False,
              "text": dice.choice(["64", "true", "null", "[1]", "1e3", "\"q\""])}
    r = {"task_id": f"{dice.getrandbits(64):x}-{number}",
         "tool": dice.choice(["fenicsx", "lammps"]),
         "script": dice.choice(["poisson.py", "in put.lammps", "--odd", ""]),
         "params": dict(dice.sample(sorted(params.items(), key=str), dice.randint(0, 6))),
         "start_time": start, "end_time": dice.choice([start, end]), "duration_seconds": 0.0,
         "status": status,
         "returncode": codes[status],
         "resource_usage": {"cpu_user_seconds": user, "cpu_system_seconds": system,
                            "cpu_total_seconds": round(user + system, 2),
                            "memory_peak_mb": dice.randint(0, 10**8) / 100},
         "error": dice.choice([None, "", "line one\nline two", "x" * 500]),
         "has_result": dice.random() < 0.5}
    if dice.random() < 0.7:
        r["detailed_profile"] = {"samples_collected": dice.randint(0, 999),
                                 "cpu": {"mean_percent": dice.randint(0, 10000) / 100},
                                 "container_stats": {"cpu_percent": "1.5"}, "gpu_stats": {}}
    return r


@test("what is imported is exported as it was, key by key")
def _():
    dice = random.Random(4)
    want = sorted((record(dice, i) for i in range(300)), key=lambda r: r["start_time"])
    (tmp() / "in.jsonl").write_text("".join(json.dumps(r) + "\n" for r in want))
    expect_eq(assay("import", "keystone", "in.jsonl").ok().out, "imported 300 runs\n", "stdout")
    lines = assay("export", "--format", "keystone").ok().out.splitlines()
    got = [json.loads(line) for line in lines]
    expect_eq(len(got), 300, "records")
    for w, g in zip(want, got):
        expect_eq(list(differences(w, g)), [], "differences")
        expect_eq(list(w), list(g), "order of the keys")
    (tmp() / "again.jsonl").write_text("\n".join(lines))
    expect_eq(assay("import", "keystone", "again.jsonl").ok().out,
              "imported 0 runs, 300 were already there\n", "stdout of the second import")


@test("job-history takes the script from the whole command, however long that is")
def _():
    assay("run", "-q", "--name", "tool", "--", "true", "--" + "x" * 300, "deep/train.py").ok()
    expect_in("   Tool: tool, Script: deep/train.py\n", assay("job-history").ok().out, "stdout")


@test("job-history lists what has ended, and its limit counts nothing else")
def _():
    for name in "one", "two", "three":
        assay("run", "-q", "--name", name, "--", "true").ok()
    p = start(ASSAY, "run", "-q", "--name", "long", "--", "sleep", "60")
    wait_for(lambda: assay("jobs", "--status", "running", "--ids").ok().out,
             what="the run in the list")
    out = assay("job-history", "-l", "2").ok().out
    expect_in("\nJob History (showing 2 jobs):\n\n1. Task: ", out, "stdout")
    expect_eq(re.findall(r"Tool: (\w+),", out), ["three", "two"], "tools")
    expect_eq(re.findall(r"Tool: (\w+),", assay("job-history").ok().out), ["three", "two", "one"],
              "all tools")
    expect_eq(re.findall(r"Tool: (\w+),", assay("job-history", "-s", "running").ok().out), ["long"],
              "what was asked for")
    expect_in("  Total Jobs: 3\n", assay("job-stats").ok().out, "stdout of job-stats")
    stop(p)


@test("job-details shows the profile of a run of ours, and what it says of the record is true")
def _():
    assay("run", "-q", "--interval", "0.05", "--param", "n=3", "--keystone-dir", "ks", "--",
          "sleep", "0.5").ok()
    k = json.loads((tmp() / "ks/jobs_history.jsonl").read_text())
    p = k["detailed_profile"]
    out = assay("job-details", k["task_id"]).ok().out
    for line in (f"\nJob Details: {k['task_id']}\n\nBasic Information:\n",
                 f"  Started: {k['start_time']}\n  Ended: {k['end_time']}\n"
                 f"  Duration: {k['duration_seconds']}s\n",
                 'Parameters:\n  {\n  "n": 3\n}\n\n',
                 f"  Memory Peak: {k['resource_usage']['memory_peak_mb']} MB\n",
                 f"\nDetailed Profile:\n  Samples: {p['samples_collected']}\n"
                 f"  Sampling Interval: {p['sampling_interval_seconds']}s\n",
                 f"  Process VMS: mean {p['process_memory']['vms_mean_mb']} MB, max ",
                 "  Time Series:\n    "):
        expect_in(line, out, "stdout")
    rows = re.findall(r"^    ([\d.]+)s: CPU .*, Memory .* MB, VMS .* MB$", out, re.M)
    expect(5 <= len(rows) <= 10, f"{len(rows)} rows of the time series in\n{out}")
    last = float(rows[-1])      # it is taken a moment after the end
    expect(abs(last - k["duration_seconds"]) < 0.1, f"the last moment is {last}")


@test("a terminal gets colours and the same lines, a file gets no colours")
def _():
    assay("run", "-q", "--name", "t", "--", "false")
    for line in "job-history", "job-stats", "job-details last", "job-details nobody":
        words = line.split()
        seen, plain = in_terminal(*words), assay(*words).out
        expect("\x1b[" in seen and "\x1b" not in plain, f"colours of {line}: {seen!r}")
        expect_eq(COLOUR.sub("", seen), plain, f"text of {line}")


@test("an empty history and an unknown job have their sentences; only the latter is a failure")
def _():
    expect_eq(assay("job-history").ok().out, "No job history found\n", "stdout")
    expect_eq(assay("job-stats").ok().out, "No jobs recorded yet\n", "stdout")
    r = assay("job-details", "x\x1b[31my")
    expect_eq((r.rc, r.out), (1, "Job x?[31my not found in history\n"), "status and stdout")


main()
