#!/usr/bin/env python3
"""`assay run`: its options, its documents, and what it says of a wrong command line."""
import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *

KEYSTONE = {
    "": "task_id tool script params start_time end_time duration_seconds status returncode "
        "resource_usage error has_result detailed_profile",
    "resource_usage": "cpu_user_seconds cpu_system_seconds cpu_total_seconds memory_peak_mb",
    "detailed_profile": "duration_seconds samples_collected sampling_interval_seconds cpu memory "
                        "process_cpu process_memory io_stats gpu_stats",
}


def stored_files():
    """Every file below the store."""
    return [str(p.relative_to(tmp() / "store")) for p in (tmp() / "store").rglob("*")
            if p.is_file()]


@job_test("--stacks-rate without --stacks is refused before anything is started")
def _():
    url = "http://127.0.0.1:9/"
    watched, slo, stacks = ("--watch", os.getpid(), url), ("--slo", "p99<1s"), "needs --stacks"
    for rc, why, command, *words in (
            (125, stacks, "run", "--", "touch", "began"), (2, stacks, "attach", os.getpid()),
            (2, stacks, "load", *watched), (2, stacks, "sweep", *watched),
            (2, stacks, "sweep", "--setup", "touch began", url),
            (2, "needs somebody to --watch", "capacity", *slo, url)):
        r = assay(command, "--stacks-rate", "50", *words)
        expect_eq(r.rc, rc, f"exit status of {command} {words}")
        expect_in(f"--stacks-rate {why}", r.err)
    expect(not (tmp() / "began").exists(), "something was started")


# --- documents ----------------------------------------------------------------

@job_test("--json prints one document with Keystone's keys on top and the run under assay")
def _():
    r = assay("run", "--json", "--param", "n=3", "--param", "mode=fast", "--label", "who=me",
              "--name", "demo", "--run-version", "1.2", "--", work("burn"), "0.2")
    lines = r.out.splitlines()
    json.loads(lines[0])            # the command's own output comes first
    doc = json.loads("\n".join(lines[1:]))
    expect_eq(r.err, "", "stderr")
    for part, keys in KEYSTONE.items():
        for key in keys.split():
            expect_in(key, (doc[part] if part else doc).keys(), f"keys of '{part}'")
    expect_eq(doc["schema"], "assay/run/1")
    expect_eq((doc["tool"], doc["params"], doc["status"], doc["returncode"], doc["error"]),
              ("demo", {"n": 3, "mode": "fast"}, "success", 0, None))
    who = doc["assay"]["identity"]
    expect_eq((who["name"], who["version"], who["labels"], who["command"]),
              ("demo", "1.2", {"who": "me"}, [work("burn"), "0.2"]))
    expect_eq(doc["task_id"], who["id"])
    expect(re.fullmatch("[a-z2-7]{12}", who["id"]), f"id {who['id']}")
    expect(doc["resource_usage"]["cpu_total_seconds"] >= 0.2, "less CPU than it used")


@job_test("-o - and --html - are standard output, as everywhere else, and no file of that name")
def _():
    for option, begin in (("-o", "{"), ("--html", "<!doctype html>")):
        r = assay("run", "--no-store", option, "-", "--", "true").ok()
        expect(r.out.lower().startswith(begin), f"{option} -: {r.out[:80]!r}")
        expect_eq(r.err, "", f"beside {option} -")
    refused("--csv", "--html", "-")
    expect(not (tmp() / "-").exists(), "a file that is called '-'")


@job_test("a file that is to be written stays as it was when nothing comes of it")
def _():
    for words in (("record", "-p", "99999999", "-o"), ("loop", "99999999", "-o"),
                  ("record", "-p", "99999999", "--stats-json"),
                  ("profiles", "--service", "nobody", "-o")):
        (tmp() / "kept").write_text("precious")
        expect_eq(assay(*words, "kept", *(("-f", "html") if words[0] == "profiles" else ())).rc, 66,
                  f"exit status of {words[0]}")
        expect_eq((tmp() / "kept").read_text(), "precious", f"after {words[0]}")
    (tmp() / "kept").write_text("x" * 10 ** 6)
    assay("run", "-q", "-o", "kept", "--", "true").ok()
    json.loads((tmp() / "kept").read_text())


@job_test("the document is valid against docs/schema/run-1.json, however the command ended")
def _():
    schema = ROOT / "docs/schema/run-1.json"
    try:
        import jsonschema
    except ImportError:
        skip("needs the Python package jsonschema (python3-jsonschema)")
    schema = json.loads(schema.read_text())
    cases = [(("true",), ()), (("sleep", "1.2"), ()), ((work("exitcode"), "3"), ()),
             ((work("killself"), "11"), ()), (("no-such-command",), ()), (("true",), ("--basic",)),
             (("true",), ("--metrics", "cpu")), (("sleep", "9"), ("--timeout", "0.1"))]
    for command, options in cases:
        out = tmp() / "doc.json"
        assay("run", "--quiet", "--json", "-o", out, *options, "--", *command)
        jsonschema.validate(json.loads(out.read_text()), schema)


@job_test("a command that was killed or could not start is told so in the document")
def _():
    def doc(*command):
        assay("run", "--quiet", "-o", tmp() / "doc.json", "--", *command)
        return json.loads((tmp() / "doc.json").read_text())
    d = doc(work("killself"), "9")
    expect_eq((d["status"], d["returncode"], d["assay"]["outcome"]["signal"],
               d["assay"]["outcome"]["exit_code"]), ("failed", -9, 9, None))
    d = doc("no-such-command-anywhere")
    expect_eq((d["status"], d["returncode"]), ("error", 127))
    expect_in("no-such-command-anywhere", d["error"], "error")
    expect_eq(d["resource_usage"]["cpu_total_seconds"], None, "CPU of a command that never ran")


@job_test("-o FILE writes the document there, and the summary still comes")
def _():
    r = assay("run", "-o", "run.json", "--", "true").ok()
    json.loads((tmp() / "run.json").read_text())
    expect_eq(r.out, "", "stdout")
    expect(len(r.err.splitlines()) >= 3, f"no summary: {r.err!r}")
    r = assay("run", "--quiet", "-o", "run.csv", "--", "true").ok()
    expect((tmp() / "run.csv").read_text().startswith("t_seconds,"), "*.csv is no CSV")
    expect_eq((r.out, r.err), ("", ""), "output")


@job_test("-o FILE that cannot be written fails before the command runs")
def _():
    r = assay("run", "-o", "no/such/dir/run.json", "--", "touch", tmp() / "ran")
    expect_eq(r.rc, 125, "exit status")
    expect_in("no/such/dir/run.json", r.err, "message")
    expect(not (tmp() / "ran").exists(), "the command ran all the same")


@job_test("-o FILE is the old one until it is whole, and keeps its rights; a link stays a link")
def _():
    (tmp() / "old.json").write_text("old")
    (tmp() / "old.json").chmod(0o600)
    os.link(tmp() / "old.json", tmp() / "second.json")
    (tmp() / "alone.json").write_text("old")
    (tmp() / "alone.json").chmod(0o640)
    r = assay("run", "-q", "-o", "alone.json", "--", "cat", "alone.json").ok()
    expect_eq(r.out, "old", "what the command finds")
    json.loads((tmp() / "alone.json").read_text())
    expect_eq((tmp() / "alone.json").stat().st_mode & 0o777, 0o640, "rights")
    assay("run", "-q", "-o", "old.json", "--", "true").ok()
    json.loads((tmp() / "second.json").read_text())
    expect_eq(assay("run", "-q", "-o", "new.json", "--html", "no/page.html", "--", "true").rc, 125)
    expect_eq(sorted(p.name for p in tmp().glob("*.json*")),
              ["alone.json", "old.json", "second.json"], "what came to nothing left nothing")


@job_test("--csv is the timeline: a head of keys, rising times, counters that never fall")
def _():
    r = assay("run", "--csv", "-o", "t.csv", "--quiet", "--", work("burn"), "0.7").ok()
    rows = list(csv.reader(io.StringIO((tmp() / "t.csv").read_bytes().decode())))
    head, rows = rows[0], rows[1:]
    for key in ("t_seconds", "job.cpu.user", "job.memory.used", "system.cpu.user"):
        expect_in(key, head, "head")
    expect(all(len(row) == len(head) for row in rows), "ragged rows")
    expect(len(rows) >= 10, f"only {len(rows)} rows of a second that is sampled densely")
    for key in ("t_seconds", "job.cpu.user", "job.cpu.system", "job.faults.minor"):
        known = [float(row[head.index(key)]) for row in rows if row[head.index(key)]]
        expect(known and known == sorted(known), f"{key} falls: {known}")
    expect_eq(float(rows[0][0]), 0.0, "first moment")


# --- the store ----------------------------------------------------------------

@job_test("--no-store leaves no file")
def _():
    assay("run", "--quiet", "--no-store", "--", "true").ok()
    expect(not (tmp() / "store").exists(), "a store was made")


@job_test("--store DIR keeps the run there and nowhere else, and jobs --store finds it")
def _():
    assay("run", "--quiet", "--store", "other", "--", "true").ok()
    expect(not (tmp() / "store").exists(), "the default store was made as well")
    expect_eq(len(runs("--store", "other")), 1, "runs in the store")


@job_test("runs that are over are sealed by whoever looks, and leave nothing in live/")
def _():
    for command in (["true"], [work("exitcode"), "3"], [work("killself"), "9"], ["no-such-thing"]):
        assay("run", "--quiet", "--", *command)
    expect_eq(sorted(r["status"] for r in runs()), ["error", "failed", "failed", "success"])
    expect_eq([f for f in stored_files() if f.startswith("live")], [], "live files")


@job_test("a run is in the history while it lasts, and can be shown")
def _():
    p = start(ASSAY, "run", "--quiet", "--name", "going", "--", work("phases"), "0.2", "1", "30")
    found = wait_for(lambda: [r for r in runs() if r["name"] == "going"], what="a running run")
    expect_eq(found[0]["status"], "running", "status")

    def samples():
        doc = assay("show", "--json", found[0]["id"]).ok().json()
        return doc if (doc["detailed_profile"]["process_cpu"]["max_percent"] or 0) > 20 else None
    doc = wait_for(samples, 20, "samples of the running run")
    expect_eq((doc["status"], doc["end_time"], doc["returncode"]), ("running", None, None))
    stop(p)


@job_test("fifty assays at once on one store: all fifty are in the history", 180)
def _():
    started = [start(ASSAY, "run", "--quiet", "--name", f"n{i}", "--", work("exitcode"), i % 3,
                     stderr=subprocess.PIPE, text=True) for i in range(50)]
    for i, p in enumerate(started):
        err = p.communicate(timeout=120)[1]
        expect_eq((p.returncode, err), (i % 3, ""), f"how number {i} ended")
    found = runs("--limit", "0")
    expect_eq(sorted(r["name"] for r in found), sorted(f"n{i}" for i in range(50)), "names")
    expect_eq(len({r["id"] for r in found}), 50, "different ids")
    expect_eq([f for f in stored_files() if f.startswith("live")], [], "live files")
    for r in found:
        expect_eq(r["status"], "failed" if int(r["name"][1:]) % 3 else "success", r["name"])


@job_test("labels and parameters are kept and found again")
def _():
    assay("run", "-q", "--label", "team=a", "--label", "x=1=2", "-p", "size=10", "--", "true").ok()
    assay("run", "-q", "--label", "team=b", "--", "true").ok()
    found = runs("--label", "team=a")
    expect_eq(len(found), 1, "runs of team a")
    doc = assay("show", "--json", found[0]["id"]).ok().json()
    expect_eq(doc["assay"]["identity"]["labels"], {"team": "a", "x": "1=2"})
    expect_eq(doc["params"], {"size": 10})


@job_test("--keystone-dir appends one line a run to jobs_history.jsonl")
def _():
    for status in (0, 3):
        assay("run", "--quiet", "--keystone-dir", "ks", "--", work("exitcode"), status)
    lines = (tmp() / "ks/jobs_history.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    expect_eq([(r["status"], r["returncode"]) for r in records], [("success", 0), ("failed", 3)])
    for key in KEYSTONE[""].split():
        expect_in(key, records[0].keys(), "keys")


# --- what is measured ---------------------------------------------------------

@job_test("--metrics cpu knows the CPU and says of the rest that nobody asked")
def _():
    p = profile("io", "f", 11, 13, options=("--metrics", "cpu"))
    expect(p.total("cpu") > 0, "no CPU time")
    for key in ("io_read_calls_bytes", "io_write_calls", "switches_voluntary", "memory_peak"):
        expect_eq(p.total(key), None, key)
    expect_eq(p.doc["resource_usage"]["memory_peak_mb"], None, "memory_peak_mb")
    expect_eq(p.doc["detailed_profile"]["io_stats"]["read_count"], None, "read_count")
    for key in p.doc["assay"]["metrics"]:
        expect(key.startswith("job."), f"{key} was not asked for")


def opened(*options):
    """The files that assay itself opens below /proc and /sys while it measures."""
    if not shutil.which("strace"):
        skip("needs strace")
    # -f would follow the command too; the engine opens what it reads from its own threads.
    r = run("strace", "-qq", "-e", "trace=openat,open", "-o", tmp() / "trace", ASSAY, "run",
            "--quiet", "--no-store", *options, "--", work("sleeper"), "1.3", timeout=60,
            env={"ASAN_OPTIONS": "detect_leaks=0"})     # which does not work below strace
    if r.rc != 0 and "ptrace" in r.err.lower():
        skip("strace may not trace here")
    return re.findall(r'open(?:at)?\([^"]*"([^"]*)"', (tmp() / "trace").read_text())


@job_test("--metrics cpu opens no file that only other metrics need")
def _():
    few, all_of_them = opened("--metrics", "cpu"), opened()
    expect_in("io", [f.rpartition("/")[2] for f in all_of_them], "files opened by default")
    for name in ("io", "smaps_rollup", "fd", "meminfo", "loadavg"):
        expect(not any(f.rpartition("/")[2] == name for f in few), f"{name} is opened: {few}")
    expect(len(few) < len(all_of_them), f"{len(few)} files, by default {len(all_of_them)}")


@job_test("--basic takes no samples but has the totals")
def _():
    p = profile("burn", 0.5, options=("--basic",))
    expect_eq(p.doc["assay"]["timeline"]["t_ns"], [], "moments")
    expect_eq(p.doc["detailed_profile"]["samples_collected"], 0, "samples")
    expect_near(p.seconds(), p.truth["cpu_seconds"], 0.1, "CPU seconds")
    for key in ("io_write_calls", "switches_voluntary", "faults_minor"):
        expect(p.total(key), f"{key} is {p.total(key)}")
    p = profile("hold", 53, 0, options=("--basic",))
    expect_near(p.total("memory_peak"), p.truth["bytes"], 0.08, "peak")


@job_test("--interval is the distance of the samples after the first second")
def _():
    p = profile("sleeper", 2.2, options=("--interval", "0.2"))
    t = [x for x in p.times() if 1.0 <= x]
    expect(5 <= len(t) <= 9, f"moments after the first second: {t}")
    grid = [abs(x / 0.2 - round(x / 0.2)) * 0.2 for x in t[:-1]]
    expect(sorted(grid)[len(grid) // 2] < 0.05, f"not on a grid of 0.2 s: {t}")
    expect(len([x for x in p.times() if x < 1.0]) >= 10, "the first second is not dense")


@job_test("survivors are counted, with a control group and without")
def _():
    ways = [{"options": options} for options in
            ((), ("--metrics", "io"), ("--metrics", "system"), ("--basic",))]
    for how in ways + ([{**way, "nobody": True} for way in ways] if is_root() else []):
        p = profile("orphan", 30, 3, **how)
        expect_eq(len(p.truth["survivors"]), 3)
        for pid in p.truth["survivors"]:
            os.kill(pid, 9)
        expect_eq(p.doc["assay"]["outcome"]["survivors"], 3, f"survivors {how}")
        alive = [x for x in p.doc["assay"]["processes"] if x["died_ns"] is None]
        expect(not alive or len(alive) == 3, f"{len(alive)} listed without an end {how}")


# --- wrong command lines ------------------------------------------------------

def refused(*words, status=125):
    r = assay("run", *words, "--", "touch", tmp() / "ran")
    expect_eq(r.rc, status, f"exit status of {words}")
    lines = r.err.splitlines()
    expect(1 <= len(lines) <= 2 and lines[0].startswith("assay"), f"{words}: {r.err!r}")
    expect_eq(r.out, "", "stdout")
    expect(not (tmp() / "ran").exists(), f"{words}: the command ran all the same")
    expect(not (tmp() / "store").exists(), f"{words}: a store was made")
    return r.err


@job_test("an unknown option is 125 and one line that names it and what was meant")
def _():
    expect_in("--intervall", refused("--intervall", "1"))
    expect_in("--interval", refused("--intervall=1"))
    expect_in("-Z", refused("-Z"))


@job_test("an interval of 0, a negative one and no number at all are 125 and one clear line")
def _():
    for text in ("0", "-1", "abc", "", "1x", "nan", "inf", "0s", "1e400", "99999999999999h"):
        expect_in("interval", refused("--interval", text))
        refused(f"--interval={text}")
    for text in ("0", "-3", "soon"):
        expect_in("timeout", refused("--timeout", text))


@job_test("a metric that does not exist, or a label without '=', is 125 and named")
def _():
    expect_in("no.such", refused("--metrics", "cpu,no.such"))
    expect_in("label", refused("--label", "lonely"))
    expect_in("label", refused("--label", "=x"))


@job_test("run without a command is 125 and says how it is used")
def _():
    for words in (["run"], ["run", "--"], ["run", "--quiet"]):
        r = assay(*words)
        expect_eq(r.rc, 125, f"exit status of {words}")
        expect_in("COMMAND", r.err, "message")


@job_test("everything behind -- belongs to the command, and so do its options without --")
def _():
    r = assay("run", "-q", "--", "echo", "--json", "-o", "x", "--", "y").ok()
    expect_eq(r.out, "--json -o x -- y\n", "output")
    r = assay("run", "-q", "echo", "--quiet", "-n").ok()
    expect_eq(r.out, "--quiet -n\n", "output")
    expect(not (tmp() / "x").exists(), "an option of the command was taken by assay")


@job_test("the commands that a summary names show the run; one that was not kept names none")
def _():
    r = assay("run", "--name", "next one", "--", "true").ok()
    said = r.err[r.err.index("  next        ") + 14:]
    commands = [c.strip() for c in said.replace("\n", " · ").split(" · ") if c.strip()]
    expect_eq(len(commands), 3, f"commands in {said!r}")
    for command in commands:
        words = shlex.split(command)
        expect_eq(words[0], "assay", command)
        expect_in("next one", assay(*words[1:]).ok().out, command)
    r = assay("run", "--no-store", "--", "true").ok()
    expect("next" not in r.err, r.err)


main()
