#!/usr/bin/env python3
"""`assay rollouts` against a gym that counts and misbehaves as its rows say."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from fake_gym import *
from harness import *
from jobs import *
from schemas import *
from talkers import Talker


def write_rows(rows, name="rows.jsonl"):
    text = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows)
    (tmp() / name).write_text(text)
    return name


def lines(name):
    return [json.loads(l) for l in (tmp() / name).read_text().splitlines()]


def keys(rows):
    return [(r["_ng_task_index"], r["_ng_rollout_index"]) for r in rows]


def usual(g):
    return ["--head", g.head, "-a", "simple_agent", "-i", "rows.jsonl", "-o", "out.jsonl"]


class Workload:
    """A server of tests/workloads/python; it ends with the test."""
    def __init__(self, name):
        self.p = start(sys.executable, ROOT / "tests/workloads/python" / name,
                       stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.p.stdout.readline())}"
        self.pid = self.p.pid

    @contextlib.contextmanager
    def busy(self, path):
        """Asked for this again and again, meanwhile."""
        over = threading.Event()

        def ask():
            while not over.is_set():
                urllib.request.urlopen(self.url + path, timeout=30).read()

        t = threading.Thread(target=ask, daemon=True)
        t.start()
        yield
        over.set()
        t.join()


def collect(g, *options, rc=0):
    """A busy machine may make any run INVALID: what came back is whole all the same."""
    r = assay("rollouts", "--json", "--head", g.head, "+agent_name=simple_agent",
              "+input_jsonl_fpath=rows.jsonl", "+output_jsonl_fpath=out.jsonl", *options)
    expect_eq(r.rc, rc, f"exit status: {r.err}")
    return valid(r.json(), "rollouts-1")


# --- files ---------------------------------------------------------------------

@test("every row goes to its agent, and results have the shape and the keys that the agent gave")
def _():
    g = Gym("simple_agent", "other_agent")
    other = {"type": "responses_api_agents", "name": "other_agent"}
    write_rows([row(0), row(1, agent_ref=other), row(2), row(0)])
    d = collect(g, "+num_repeats=2", "+num_samples_in_parallel=3")
    expect_eq((d["asked"], d["back"], d["missing"], d["status"]), (8, 8, 0, "success"), "counts")
    inputs = lines("out_materialized_inputs.jsonl")
    expect_eq(keys(inputs), [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (0, 2), (0, 3)],
              "tasks and repetitions: the same row is the same task")
    expect_eq(list(inputs[0]), ["responses_create_params", "verifier_metadata", "agent_ref",
                                "_ng_task_index", "_ng_rollout_index"], "keys of an input")
    expect_eq(inputs[0]["agent_ref"], {"name": "simple_agent"}, "the agent of a row without one")
    by_key = lambda r: (r["_ng_task_index"], r["_ng_rollout_index"])
    expect_eq(sorted(g.runs, key=by_key), sorted(inputs, key=by_key), "what agents were sent")
    results = lines("out.jsonl")
    expect_eq(sorted(keys(results)), sorted(keys(inputs)), "results")
    one = next(r for r in results if by_key(r) == (1, 1))
    expect_eq((one["agent_ref"], one["reward"]), (other, 0.25), "a result")
    text = (tmp() / "out.jsonl").read_text()
    expect_in('"unknown_field":{"z":1,"a":[1.0,2.5,"\\u00e9"]}', text,
              "what nobody knows, as it was")
    expect_eq(list(one)[-3:], ["_ng_task_index", "_ng_rollout_index", "agent_ref"], "last keys")
    expect_eq((tmp() / "out_failures.jsonl").read_text(), "", "failures")
    expect(g.most <= 3, f"{g.most} at once")


@test("the sidecar tells start, end, status, bytes and tools of each attempt")
def _():
    g = Gym()
    write_rows([row(0, fake={"delay": 0.05, "tools": [12.5, 80]}),
                row(1, fake={"fail": 1, "status": 503})])
    d = collect(g, "--preset", "gym", rc=3)
    t = lines("out_timings.jsonl")
    expect_eq(sorted((r["_ng_task_index"], r["attempt"], r["outcome"], r["status"],
                      r["error"]) for r in t),
              [(0, 1, "back", 200, None), (1, 1, "again", 503, "status_5xx"),
               (1, 2, "back", 200, None)], "rows")
    one = next(r for r in t if r["_ng_task_index"] == 0)
    expect(one["latency_ms"] >= 50, "a rollout takes as long as the agent")
    expect(abs((one["ended_at"] - one["started_at"]) * 1000 - one["latency_ms"]) < 0.01,
           "its times agree")
    expect_eq([(x["name"], x["ms"]) for x in one["tools"]],
              [("get_weather", 12.5), ("get_weather", 80)], "tools")
    result = (tmp() / "out.jsonl").read_text().splitlines()
    expect(one["bytes_in"] > len(result[0]) - 100 and one["bytes_out"] > 100, "bytes")
    expect_eq((d["tool_ms"]["count"], d["tool_ms"]["max"], d["retried"]), (2, 80, 1), "summed up")
    expect_eq([(x["name"], x["met"], x["not_measured"] is None) for x in d["targets"]],
              [("tool", True, True), ("verify", False, False), ("loop_lag", False, False)],
              "targets")
    expect_eq((d["load"]["requests"], d["load"]["statuses"]), (3, {"2xx": 2, "5xx": 1}),
              "as a load")


@test("a target that is missed is exit status 3")
def _():
    write_rows([row(0, fake={"tools": [150]})])
    d = collect(Gym(), "--preset", "gym", rc=3)
    expect_eq((d["missing"], d["targets"][0]["met"]), (0, False), "target")


@test("a target that nobody measured is not met: exit status 3, and the table says what to do")
def _():
    g = Gym()
    write_rows([row(0, fake={"tools": [5]})])
    collect(g, rc=0)
    r = assay("rollouts", *usual(g), "--preset", "gym")
    expect_eq(r.rc, 3, "exit status")
    flat = " ".join(r.out.split())
    for what in ("tool 1 5.00 ms 5.00 ms 5.00 ms < 100 ms met",
                 "verify 0 - - - < 50.0 ms not measured",
                 "loop lag 0 - - - < 10.0 ms not measured",
                 "verify: the agent calls it, and tells no times: replay the results with --drive",
                 "loop lag: nobody was watched: name the servers with --watch PID",
                 "memory a session: unknown: nobody was watched"):
        expect_in(what, flat, "table")
    expect(max(map(len, r.out.splitlines())) <= 80, "80 columns")
    expect(r.out.startswith("✘ targets not met"), f"its first line: {r.out.splitlines()[0]}")
    r = assay("rollouts", *usual(g), "--preset", "gym", "--resume")
    expect_eq(r.rc, 3, "nor when nothing was left to do")


@test("limits, parameters, seeds and repetitions by agent, as words and as options")
def _():
    g = Gym("simple_agent", "b")
    write_rows([row(0), row(1, agent_ref={"name": "b"}), row(2)])
    collect(g, "+limit=2", "+num_repeats={b: 3, _default: 1}", "+num_repeats_add_seed=true",
            "++responses_create_params.temperature=0.5", "+responses_create_params.stop=[a, 'b c']")
    inputs = lines("out_materialized_inputs.jsonl")
    expect_eq(keys(inputs), [(0, 0), (1, 0), (1, 1), (1, 2)], "rollouts")
    p = inputs[3]["responses_create_params"]
    expect_eq((p["temperature"], p["stop"], p["metadata"]),
              (0.5, ["a", "b c"], {"extra_body": '{"seed": 2}'}), "parameters")
    r = assay("rollouts", "-q", "--head", g.head, "-a", "simple_agent", "-i", "rows.jsonl", "-o",
              "o/2.jsonl",
              "--limit", "2", "--num-repeats", "{b: 3, _default: 1}", "--num-repeats-add-seed",
              "--temperature", "0.5", "+responses_create_params={stop: [a, b c], temperature: 0.5}")
    expect_eq(r.rc, 0, r.err)
    expect_eq(lines("o/2_materialized_inputs.jsonl"), inputs, "the same, otherwise said")
    r = assay("rollouts", "+num_repeat=2")
    expect_eq(r.rc, 2, "status")
    expect_in("no key 'num_repeat'; did you mean 'num_repeats'?", r.err, "stderr")


@test("what the agents make of all results is kept, in order and without conversations")
def _():
    g = Gym()
    write_rows([row(i, fake={"delay": 0.05 * (i == 0)}) for i in range(4)])
    collect(g)
    expect_eq(lines_of_metrics(), [("simple_agent", {"mean/reward": 0.25})], "metrics")
    sent = g.aggregated[0]["verify_responses"]
    expect_eq(keys(sent), [(i, 0) for i in range(4)], "order")
    expect_eq(sent[0]["response"], {"usage": {"total_tokens": 12}}, "what is left of a response")
    expect("responses_create_params" not in sent[0], "no parameters")
    collect(g, "+disable_aggregation=true")
    expect(not (tmp() / "out_aggregate_metrics.json").exists(), "none were asked for")


def lines_of_metrics():
    found = json.loads((tmp() / "out_aggregate_metrics.json").read_text())
    return [(m["agent_ref"]["name"], m["agent_metrics"]) for m in found]


# --- what goes wrong -------------------------------------------------------------

@test("rows that are no rows are named by file and line, the others go on, and it is said loudly")
def _():
    write_rows([row(0), "{broken", "", '["list"]', '{"no": "parameters"}', row(1),
                '{"responses_create_params": {}} x'])
    g = Gym()
    r = assay("rollouts", "--json", *usual(g))
    d = valid(r.json(), "rollouts-1")
    expect_eq((r.rc, d["asked"], d["back"], d["malformed"]), (3, 7, 2, 5),
              "counts")
    for what in ("rows.jsonl:2: not JSON: no key (byte 2)", "rows.jsonl:3: a blank line",
                 "rows.jsonl:4: no JSON object",
                 "rows.jsonl:5: it has no responses_create_params",
                 "rows.jsonl:7: not JSON: more follows the value",
                 "5 of 7 rollouts did not come back"):
        expect_in(what, r.err, "stderr")


def counts(d):
    return tuple(d[k] for k in ("asked", "before", "back", "malformed"))


@test("asked for is each row as often as it is repeated, whatever is wrong with it, resumed too")
def _():
    g = Gym()
    bad_seed = {"responses_create_params": {"metadata": {"extra_body": "[]"}}}
    write_rows([row(0), "{broken", row(1), bad_seed])
    words = ("+num_repeats=2", "+num_repeats_add_seed=true")
    first = collect(g, *words, rc=3)
    expect_eq((counts(first), first["lost"]), ((8, 0, 4, 2), 4), "at first")
    expect_in("missing     4 of 8 · 2 rows could not be read (4 rollouts)\n",
              assay("show", first["id"]).out, "adds up")
    d = collect(g, *words, "+resume_from_cache=true", rc=3)
    expect_eq(counts(d), (8, 4, 0, 2), "resumed")
    for repeats in ((), ("+num_repeats=1",)):
        d = collect(g, *repeats, "+num_repeats_add_seed=true", "+resume_from_cache=true", rc=3)
        expect_eq(counts(d), (8, 4, 0, 2), f"goes on with what was asked for then: {repeats}")
    d = collect(g, "+num_repeats=3", words[1], "+resume_from_cache=true", rc=3)
    expect_eq(counts(d), (12, 4, 0, 2), "more is asked for now, and not back")
    d = collect(g, "+resume_from_cache=true", *words, "+limit=1")
    expect_eq(counts(d), (4, 4, 0, 0), "resumed, for less than was asked for before")
    write_rows([row(0), row(2), row(1), row(3)])
    d = collect(g, *words, "+resume_from_cache=true", rc=3)
    expect_eq(counts(d), (8, 4, 0, 0), "mended rows were asked for, and are not back")
    write_rows([row(0), "{broken", row(1)])
    for repeats, asked in (("{simple_agent: 3, _default: 2}", 9), ("{_default: 2}", 6)):
        d = collect(g, f"+num_repeats={repeats}", rc=3)
        expect_eq(d["asked"], asked, repeats)


@test("one that fails stops no other; what was answered is kept, and never taken for a result")
def _():
    g = Gym()
    write_rows([row(0, fake={"fail": 99, "status": 422}), row(1), row(2, fake={"answer": "[1]"}),
                row(3, fake={"add": {"_ng_failure_class": "timeout_exceeded",
                                     "_ng_failure_terminal": True}}),
                row(4, fake={"add": {"_ng_no_persist": True}}),
                row(5, fake={"answer": '{"reward": 1,'})])
    d = collect(g, rc=3)
    expect_eq((d["back"], d["failed"], d["missing"]), (1, 5, 5), "counts")
    expect_eq(keys(lines("out.jsonl")), [(1, 0)], "results")
    failures = {r["_ng_task_index"]: r["_ng_failure_class"] for r in lines("out_failures.jsonl")}
    expect_eq(failures, {0: "http_422", 2: "malformed_answer", 3: "timeout_exceeded",
                         5: "malformed_answer"}, "failures")
    expect_eq(len(g.runs), 6, "what is no bad moment of the server is not tried again")
    d = collect(g, "+resume_from_cache=true", rc=3)
    expect_eq((d["before"], d["back"], d["given_up"]), (1, 0, 1),
              "resumed: never again what is terminal")
    expect_eq(len(g.runs), 6 + 4, "the others were tried")
    collect(g, "+resume_from_cache=true", rc=3)
    d = collect(g, "+resume_from_cache=true", rc=3)
    expect_eq((d["given_up"], len(g.runs)), (4, 6 + 4 + 4 + 1),
              "after three times only who left no trace is tried")


@test("an answer that is larger than any is told as that, and not asked for again")
def _():
    more = bytes((256 << 20) + 1)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(more)
    s = Talker(None, plain=lambda *_: head + more)
    write_rows([row(0)])
    r = assay("rollouts", "--json", "--url", s.url.replace("ws", "http", 1), "-a", "simple_agent",
              "--disable-aggregation", "-i", "rows.jsonl", "-o", "out.jsonl")
    d = valid(r.json(), "rollouts-1")
    expect_eq((r.rc, d["failed"], d["retried"]), (3, 1, 0), r.err)
    expect_eq([x["_ng_failure_class"] for x in lines("out_failures.jsonl")], ["large"], "class")
    expect_in("large 1: the answer is longer", assay("show", d["id"]).out)


# Stray bytes, one that should go on, a slash in two bytes, half of a pair, beyond the last.
STRAY = (b"\xff", b"\xe9 t\xe9", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80")


@test("rows with bytes that are no UTF-8 are named by file and line, and the others go on")
def _():
    g = Gym()
    good = [json.dumps(row(i, note="\u00e9")).encode() for i in range(2)]
    bad = [json.dumps(row(9, note="NOTE")).encode().replace(b"NOTE", s) for s in STRAY]
    bad += [json.dumps(row(9)).encode().replace(b"verifier_metadata", b"\xffkey"),
            json.dumps(row(9)).encode() + b" \xff", b"\xff" * 10]
    (tmp() / "rows.jsonl").write_bytes(b"\n".join([good[0], *bad, good[1]]) + b"\n")
    r = assay("rollouts", "--json", *usual(g))
    d = valid(r.json(), "rollouts-1")
    expect_eq((r.rc, d["asked"], d["back"], d["malformed"]),
              (3, len(bad) + 2, 2, len(bad)), "counts")
    for i in range(len(bad)):
        expect_in(f"rows.jsonl:{i + 2}: not JSON: ", r.err, "stderr")
    expect("rows.jsonl:1:" not in r.err and f"rows.jsonl:{len(bad) + 2}:" not in r.err, r.err)
    r.err.encode()
    expect_eq(sorted(x["note"] for x in lines("out.jsonl")), ["\u00e9"] * 2, "the others")
    expect_eq(len(lines("out_materialized_inputs.jsonl")), 2, "inputs")


@test("an answer with bytes that are no UTF-8 is a failure of its kind, and files stay JSONL")
def _():
    g = Gym()
    texts = [s.decode("latin-1") for s in STRAY]
    fakes = [{"answer": '{"reward": 1, "text": "%s"}' % t} for t in texts]
    fakes += [{"answer": '{"\xff": 1, "reward": 1}'}, {"answer": "\xff\xfe\0"},
              {"answer": '{"reward": 1}\xff'}, {"answer": "\xe9" * 5000},
              {"answer": "no \xff", "fail": 9, "status": 422}]
    write_rows([row(i, fake={**f, "encoding": "latin-1"}) for i, f in enumerate(fakes)]
               + [row(99)])
    d = collect(g, rc=3)
    n = len(fakes)
    expect_eq((d["asked"], d["back"], d["failed"], d["malformed_answers"]), (n + 1, 1, n, n - 1),
              "counts")
    text = assay("show", d["id"]).ok().out
    expect_in(f"{n} failed ({n - 1} answers were no JSON object)", text)
    expect_eq(keys(lines("out.jsonl")), [(n, 0)], "the one that is a result")
    kinds = {r["_ng_task_index"]: r["_ng_failure_class"] for r in lines("out_failures.jsonl")}
    expect_eq(kinds, {**{i: "malformed_answer" for i in range(n - 1)}, n - 1: "http_422"}, "kinds")
    told = {r["_ng_task_index"]: r["error"] for r in lines("out_failures.jsonl")}
    expect_in("\ufffd", told[0], "what was answered is kept, as text")
    errors = [r["error"] for r in lines("out_timings.jsonl")]
    expect_eq(errors.count("malformed_answer"), n - 1, "timings")
    d = collect(g, "+resume_from_cache=true", rc=3)
    expect_eq((d["before"], d["back"]), (1, 0), "who goes on can read what is there")
    with open(tmp() / "out.jsonl", "ab") as f:
        f.write(b'{"_ng_task_index": 0, "_ng_rollout_index": 0, "x": "\xff"}\n')
    r = assay("rollouts", "--json", *usual(g), "+resume_from_cache=true")
    expect_eq(r.rc, 3, r.err)
    expect_eq(valid(r.json(), "rollouts-1")["before"], 1, "a line that is no JSON is no result")


@test("a bad moment is tried again, so often and no more")
def _():
    g = Gym()
    write_rows([row(0, fake={"fail": 1}), row(1, fake={"drop": 1}), row(2, fake={"fail": 9}),
                row(3, fake={"drop": 9})])
    d = collect(g, "--retries", "1", rc=3)
    expect_eq((d["back"], d["failed"]), (2, 2), "counts")
    expect_eq(g.tries[(2, 0)], 2, "attempts")
    expect_eq(d["load"]["errors"], {"closed": 3, "status_5xx": 3}, "errors of attempts")
    expect_eq([r["_ng_task_index"] for r in lines("out_failures.jsonl")], [2],
              "a connection that broke leaves nothing: it is not done yet")


@test("nothing waits longer than it may")
def _():
    g = Gym()
    write_rows([row(0, fake={"delay": 30}), row(1)])
    d = collect(g, "--timeout", "0.3s", rc=3)
    expect_eq((d["back"], d["load"]["errors"]), (1, {"timeout": 1}), "of a request")
    expect_eq(lines("out_failures.jsonl")[0]["_ng_failure_class"], "timeout", "failure")
    d = collect(g, "--time-limit", "0.4s", rc=3)
    expect_eq((d["back"], d["unfinished"]), (1, 1), "of all")


@test("who is not there is told before anything of an earlier collection is gone")
def _():
    g = Gym()
    write_rows([row(0)])
    collect(g)
    before = (tmp() / "out.jsonl").read_text()
    for words, what in [(("--head", "127.0.0.1:1"), "assay: the head server: http://127.0.0.1:1/"),
                        (("--head", g.head, "-a", "nobody"), "knows no server 'nobody'"),
                        (("--head", g.head, "-i", "none.jsonl"), "none.jsonl"),
                        (("--url", "http://192.0.2.1/"), "neither on this machine")]:
        r = assay("rollouts", "-a", "simple_agent", "-i", "rows.jsonl", "-o", "out.jsonl", *words)
        expect(r.rc in (2, 66), f"status {r.rc} of {words}: {r.err}")
        expect_in(what, r.err, "stderr")
    expect_eq((tmp() / "out.jsonl").read_text(), before, "earlier results")
    expect(not list(tmp().glob("*.part")), "nothing half done is left")


@test("the file of rows is never one that the collection writes")
def _():
    g = Gym()
    write_rows([row(0), row(1)])
    write_rows([row(0)], "x_failures.jsonl")
    os.symlink("rows.jsonl", tmp() / "same.jsonl")
    for rows, out in (("rows.jsonl", "rows.jsonl"), ("rows.jsonl", "same.jsonl"),
                      ("same.jsonl", "./rows.jsonl"), ("x_failures.jsonl", "x.jsonl")):
        before = (tmp() / rows).read_text()
        for resume in ([], ["--resume"]):
            r = assay("rollouts", "--head", g.head, "-a", "simple_agent", "-i", rows, "-o", out,
                      *resume)
            expect_eq(r.rc, 2, f"exit status of {rows} and {out}")
            expect_in(f"the rows of '{rows}' would be overwritten", r.err, "stderr")
            expect_eq((tmp() / rows).read_text(), before, f"rows of {rows}")
    expect_eq(g.runs, [], "nothing was sent")


# --- resuming --------------------------------------------------------------------

@test("a collection that is killed at any moment goes on: nothing is lost, nothing is there twice")
def _():
    g = Gym()
    write_rows([row(i, fake={"delay": 0.005}) for i in range(40)])
    words = ["rollouts", "-q", *usual(g),
             "--num-repeats", "2", "-c", "3", "--disable-aggregation", "--no-store"]
    killed = 0
    for n in (0, 1, 5, 9, 20, 40, 55, 70):
        p = start(ASSAY, *words, "--resume", stderr=subprocess.PIPE)
        seen = len(g.runs)
        wait_for(lambda: len(g.runs) >= min(seen + n // 4, 80) or p.poll() is not None,
                 what="some rollouts")
        p.kill()
        killed += p.wait() == -signal.SIGKILL
    expect(killed > 2, "some were killed")
    with open(tmp() / "out.jsonl", "a") as f:
        f.write('{"_ng_task_index": 39, "torn')
    r = assay(*words, "--resume")
    expect_eq(r.rc, 0, r.err)
    results = keys(lines("out.jsonl"))
    expect_eq(sorted(results), [(t, n) for t in range(40) for n in range(2)], "results, each once")
    r = assay(*words[:1], "--json", *words[2:], "--resume")
    expect_eq((r.rc, r.json()["before"], r.json()["back"], r.json()["id"]), (0, 80, 0, None),
              "nothing is left to do")


@test("Ctrl-C ends it with a report, and what was back stays")
def _():
    g = Gym()
    write_rows([row(0), row(1, fake={"delay": 30})])
    p = start(ASSAY, "rollouts", "--json", *usual(g),
              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    timings = tmp() / "out_timings.jsonl"
    wait_for(lambda: timings.exists() and timings.read_text().endswith("\n"), what="the first")
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=20)
    d = valid(json.loads(out), "rollouts-1")
    expect_eq((d["status"], d["back"], d["unfinished"], d["missing"]), ("interrupted", 1, 1, 1),
              "report")
    expect_eq((p.returncode, keys(lines("out.jsonl"))), (-signal.SIGINT, [(0, 0)]), "end")


@test("two collections never write into one file")
def _():
    g = Gym()
    write_rows([row(0, fake={"delay": 30})])
    start(ASSAY, "rollouts", "-q", *usual(g))
    wait_for(lambda: g.runs, what="the first")
    r = assay("rollouts", *usual(g))
    expect_eq(r.rc, 74, "status")
    expect_in("another assay collects rollouts into 'out.jsonl'", r.err, "stderr")


# --- the resources server -------------------------------------------------------

def call(name, arguments):
    return {"type": "function_call", "call_id": "c", "name": name,
            "arguments": json.dumps(arguments)}


@test("driving a resources server: a session for each row, its tools in order, then verify")
def _():
    g = Gym()
    said = {"id": "r", "output": [call("get_weather", {"city": "Oslo"}), {"type": "message"},
                                  call("no such/tool", {}),
                                  call("get_weather", {"city": "Rome"})]}
    write_rows([row(i, response=said, agent_ref={"name": "simple_agent"}) for i in range(5)])
    d = collect(g, "--drive", "weather", "--preset", "gym", "-c", "2", rc=3)
    expect_eq((d["back"], d["driven"], d["tools_failed"]), (5, True, 5), "counts")
    expect_eq([d[k]["count"] for k in ("seed_ms", "tool_ms", "verify_ms")], [5, 15, 5], "steps")
    expect_eq([x["not_measured"] is None for x in d["targets"]], [True, True, False],
              "targets that are known")
    expect_eq(len(g.sessions), 5, "sessions")
    for steps in g.sessions.values():
        expect_eq([p for p, _ in steps],
                  ["/get_weather", "/no%20such%2Ftool", "/get_weather", "/verify"], "calls")
        expect_eq((steps[0][1], steps[3][1]["response"]), ({"city": "Oslo"}, said), "bodies")
    expect_eq([r["reward"] for r in lines("out.jsonl")], [0.5] * 5,
              "verify's answers are the results")
    t = lines("out_timings.jsonl")[0]
    expect(t["seed_ms"] > 0 and t["verify_ms"] > 0, "times")
    expect_eq([x["status"] for x in t["tools"]], ["200", "404", "200"], "tools")


# --- who is watched ------------------------------------------------------------

@test("the servers that the head server knows are watched meanwhile, unless nobody shall be")
def _():
    g = Gym("simple_agent", "other_agent")
    g.pid = os.getpid()
    write_rows([row(i, fake={"delay": 0.1}) for i in range(3)])
    d = collect(g)
    expect_eq([(t["name"], t["pid"]) for t in d["load"]["watched"]], [("simple_agent", g.pid)],
              "each process once")
    expect(d["load"]["target"]["memory_peak_bytes"] > 1 << 20, "what it used")
    expect_eq(collect(g, "--no-watch")["load"]["watched"], [], "nobody")
    d = collect(g, "--watch", f"me={g.pid}")
    expect_eq([t["name"] for t in d["load"]["watched"]], ["me"], "who was named")
    g.pid = 4194303
    expect_eq(collect(g)["load"]["watched"], [], "who is not there stops nothing")


@test("the loop lag is that of the server whose loop was held up most, and says whose")
def _():
    g = Gym()
    idle, held = Workload("httpd.py"), Workload("httpd.py")
    write_rows([row(0, fake={"delay": 2})])
    with held.busy("/hold/40"):
        d = collect(g, "--preset", "gym", "-w", f"idle={idle.pid}", "-w", f"held={held.pid}", rc=3)
    lag = d["targets"][2]
    expect_eq((lag["server"], lag["met"]), ("held", False), "whose")
    expect(lag["p99_ms"] >= 39, lag)
    expect_in("MISSED, held", assay("show", d["id"]).ok().out, "table")


@test("servers that there was no room for are counted and told")
def _():
    names = [f"agent_{i}" for i in range(11)]
    g = Gym(*names)
    g.pids = {n: start("sleep", "600").pid for n in names}
    write_rows([row(0)])
    d = collect(g, "+agent_name=agent_0")
    expect_eq((len(d["load"]["watched"]), d["unwatched"]), (8, 3), "watched, and not")
    expect_in("servers that were not watched: 3 more, 8 is the most: choose with --watch",
              assay("show", d["id"]).ok().out, "show")


# --- what a session takes -------------------------------------------------------

MIB = 1 << 20


def take(bytes, hold, keep, n):
    takes = {"bytes": bytes, "hold": hold, "keep": keep}
    write_rows([row(i, takes=takes) for i in range(n)])


def sessions(s, *options):
    r = assay("rollouts", "--json", "--url", s.url, "-a", "x", "-i", "rows.jsonl", "-o",
              "out.jsonl", "-w", f"app={s.pid}", "--interval", "50ms", "--disable-aggregation",
              *options)
    expect_eq(r.rc, 0, f"exit status: {r.err}")
    return valid(r.json(), "rollouts-1")


@test("what a session holds of the memory: the growth, divided by the most at once")
def _():
    s = Workload("sessions.py")
    take(4 * MIB, 0.8, False, 24)
    d = sessions(s, "-c", 12)
    m = d["session_memory"]
    expect_eq((m["server"], m["how"], m["sessions"]), ("app", "held", 12), "how it is known")
    expect_between(m["growth_bytes"], 12 * 4 * MIB, 12 * 4 * MIB + 4 * MIB, "growth")
    expect_eq(m["bytes"], m["growth_bytes"] // 12, "a session's")
    expect_eq(d["load"]["target"]["session_memory"], m, "of the server")
    r = assay("show", d["id"]).ok()
    expect_in("memory each, at most", r.out, "show")
    expect_in("memory a session", r.out, "table")


@test("what a session leaves behind: the slope over all that were opened")
def _():
    s = Workload("sessions.py")
    take(MIB, 0.05, True, 120)
    m = sessions(s, "-c", 4)["session_memory"]
    expect_eq(m["how"], "kept", "how it is known")
    expect_between(m["bytes"], 0.97 * MIB, 1.03 * MIB, "a session's")
    expect(100 <= m["sessions"] <= 120, m)


@test("three at once say nothing of what one takes, and nobody watched nothing at all")
def _():
    s = Workload("sessions.py")
    take(MIB, 0.3, False, 6)
    d = sessions(s, "-c", 3)
    m = d["session_memory"]
    expect_eq((m["how"], m["bytes"], m["growth_bytes"]), ("few", None, None), "unknown")
    expect_in("memory unknown", assay("show", d["id"]).ok().out, "show")
    r = assay("rollouts", "--json", "--url", s.url, "-a", "x", "-i", "rows.jsonl", "-o",
              "out.jsonl", "--disable-aggregation")
    expect_eq(valid(r.json(), "rollouts-1")["session_memory"], None, "nobody was watched")


# --- as a run ---------------------------------------------------------------------

@test("a collection is a run in the history; progress is told in rollouts a minute")
def _():
    g = Gym()
    write_rows([row(i) for i in range(5)])
    r = assay("rollouts", *usual(g), "-c", "1", "-l", "a=b")
    expect_eq(r.rc, 0, r.err)
    expect_in("rollouts    5 of 5 back · ", r.out, "summary")
    expect_in("Finished 5 / 5 rollouts (100%) in 0:00:", r.err, "progress")
    expect_in(" rollouts/min).\n", r.err, "progress")
    d = assay("show", "--json", "last").json()
    expect_eq(d["assay"]["load"]["requests"], 5, "requests of the run that was kept")
    expect_in("assay rollouts out.jsonl", assay("show", "last").ok().out, "shown")


@test("who shows a collection later sees what came back, what is missing and the targets")
def _():
    g = Gym()
    write_rows([row(0, fake={"tools": [150]}), row(1, fake={"fail": 9, "status": 404}), "no row"])
    d = collect(g, "--preset", "gym", rc=3)
    shown = assay("show", d["id"]).ok().out
    for what in ("1 of 3 back", "/min", "2 of 3 · 1 failed · 1 row could not be read", "MISSED",
                 "< 100 ms", "not measured"):
        expect_in(what, shown, "show")
    expect("not asked for\n" not in shown.replace(" ", ""), "no row for each that is not there")
    expect_in("more were not asked for: nobody was watched (--watch)", shown, "show")
    kept = valid(assay("show", "--json", d["id"]).json())["assay"]["load"]["rollouts"]
    expect_eq(kept, d["load"]["rollouts"], "the same as when it ended")
    expect_eq({k: kept[k] for k in kept if k in d}, {k: d[k] for k in kept}, "… and above it")


@test("a collector that others keep from its CPU says so")
def _():
    g = Gym()
    write_rows([row(i, fake={"delay": 0.02}) for i in range(120)])
    cpu = min(os.sched_getaffinity(0))
    for _ in range(2):
        p = start(sys.executable, "-c", "while True: pass")
        os.sched_setaffinity(p.pid, {cpu})
    p = start("nice", "-n", "19", ASSAY, "rollouts", "--json", *usual(g), "-c", "4",
              stdout=subprocess.PIPE, text=True)
    os.sched_setaffinity(p.pid, {cpu})
    out, _ = p.communicate(timeout=120)
    d = valid(json.loads(out), "rollouts-1")
    busy = {e["what"]: e["value"] for e in verdict(d["id"])["evidence"]}["generator busy"]
    expect(re.search(r"%: ran .* %, waited for a CPU (?!0 %)", busy), f"generator busy {busy}")
    expect_eq((p.returncode, d["missing"]), (0, 0), "all came back, so all is well")


def verdict(run):
    return assay("show", "--json", run).json()["assay"]["verdict"]


@test("every key that is understood is in the help, and no option has a default that is none")
def _():
    text = "".join(assay("rollouts", "--help").ok().out.split())
    for key in ("agent_name", "input_jsonl_fpath", "output_jsonl_fpath", "limit", "num_repeats",
                "num_samples_in_parallel", "num_repeats_add_seed", "responses_create_params",
                "resume_from_cache", "disable_aggregation", "head_server"):
        expect_in("+" + key, text, "help")
    expect("(default-1)" not in text, "a default of -1")
    r = assay("rollouts", "--temperature", "warm", "-i", "x", "-o", "y")
    expect_eq(r.rc, 2, "exit status")
    expect_in("--temperature: ", r.err, "stderr")


main()
