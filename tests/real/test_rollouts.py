#!/usr/bin/env python3
"""`assay rollouts` and NeMo Gym's own collector, asked for the same: the same files.

nemo-gym wants a Python of 3.12 or 3.13, and is installed (1.4 GB) for the first that is found;
ASSAY_TEST_GYM names an `ng_collect_rollouts` that is there already."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from fake_gym import *
from harness import *
from pythons import pythons
from roots import venv

GYM = "nemo-gym==0.4.0"


def collector():
    """NeMo Gym's own."""
    python = next((p for p in pythons() if p.minor in (12, 13)), None)
    if not python and "ASSAY_TEST_GYM" not in os.environ:
        skip("nemo-gym needs a Python of 3.12 or 3.13, and there is none")
    return os.environ.get("ASSAY_TEST_GYM") or venv("gym", python, GYM, seconds=1500) / \
        "ng_collect_rollouts"


def lines(name):
    rows = [json.loads(line) for line in (tmp() / name).read_text().splitlines()]
    return sorted(rows, key=lambda r: (r["_ng_task_index"], r["_ng_rollout_index"]))


def expect_same(rest):
    ours, theirs = lines(f"as{rest}"), lines(f"ng{rest}")
    expect_eq(ours, theirs, rest)
    expect_eq([list(r) for r in ours], [list(r) for r in theirs], f"order of keys of {rest}")


@test("inputs, results and metrics are those of NeMo Gym's collector, and it can be gone on with",
      seconds=1800)
def _():
    theirs = collector()
    g = Gym("simple_agent", "other_agent")
    other = {"type": "responses_api_agents", "name": "other_agent"}
    rows = [row(0), row(1), row(0), row(9, agent_ref=other, s="é", n=1.0)]
    (tmp() / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    words = ["+agent_name=simple_agent", f"+input_jsonl_fpath={tmp()}/rows.jsonl",
             "+num_repeats=2", "+num_samples_in_parallel=4", "+num_repeats_add_seed=true",
             "+responses_create_params.temperature=0.5"]
    head = f"+head_server={{host: 127.0.0.1, port: {g.head.split(':')[1]}}}"
    subprocess.run([theirs, *words, head, f"+output_jsonl_fpath={tmp()}/ng.jsonl"], cwd=tmp(),
                   check=True, capture_output=True, timeout=600)
    r = assay("rollouts", "-q", *words, head, "+output_jsonl_fpath=as.jsonl")
    expect_eq(r.rc, 0, r.err)
    expect_same("_materialized_inputs.jsonl")
    expect_same(".jsonl")
    metrics = [json.loads((tmp() / f"{who}_aggregate_metrics.json").read_text())
               for who in ("as", "ng")]
    expect_eq(*(sorted(m, key=lambda a: a["agent_ref"]["name"]) for m in metrics), "metrics")
    kept = (tmp() / "ng.jsonl").read_text().splitlines(True)
    (tmp() / "ng.jsonl").write_text("".join(kept[:3]))
    r = assay("rollouts", "-q", *words, head, "+output_jsonl_fpath=ng.jsonl", "--resume")
    expect_eq(r.rc, 0, r.err)
    expect_same(".jsonl")


main()
