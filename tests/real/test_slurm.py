#!/usr/bin/env python3
"""Jobs, steps and arrays of a real Slurm, measured by `assay run` in them."""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from harness import *
from jobs import *
from slurm import cluster


def batch(slurm, script, *options):
    """Submit, and wait for the end; the number of the job."""
    path = tmp() / "job.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    out = slurm.run("sbatch", "--wait", "-o", tmp() / "job-%a.out", *options, path).ok().out
    return re.search(r"job (\d+)", out)[1]


def document(name):
    return json.loads((tmp() / name).read_text())["assay"]


def total(name, key):
    return document(name)["totals"][key]["value"]


@job_test("a step's CPU time and peak are its own, below Slurm's group, and its CPUs are known")
def _():
    with cluster(tmp()) as slurm:
        step = ("srun", "-n1", "-c1", "--mem=200", ASSAY, "run", "--quiet", "-o")
        burnt = json.loads(slurm.run(*step, "burn.json", "--", work("burn"), 2, 1).ok().out)
        slurm.run(*step, "hold.json", "--", work("hold"), 100, 300).ok()
    expect_near(total("burn.json", "cpu") / 1e9, burnt["cpu_seconds"], 0.01, "CPU seconds")
    expect_near(total("hold.json", "memory_peak"), 100 << 20, 0.03, "peak")
    doc = document("hold.json")
    expect_eq(doc["identity"]["cpus"], 1, "CPUs that it may use")
    expect_eq(doc["identity"]["memory_bytes"], 200 << 20, "memory that it may use")
    expect_in("cgroup", doc["totals"]["cpu"]["source"], "source of CPU time")


@job_test("a job that Slurm's limit kills says so, with that limit, and has Slurm's exit status")
def _():
    # Into a file: srun may drop what a task wrote before it was killed, and assay ends as its job.
    run_it = f"exec {ASSAY} run -o oom.json -- {work('hold')} 200 300 2>summary"
    with cluster(tmp()) as slurm:
        r = slurm.run("srun", "-n1", "--mem=50", "sh", "-c", run_it)
    expect_eq(r.rc, 128 + 9, "exit status of srun")
    doc = document("oom.json")
    expect_eq(doc["verdict"]["kind"], "oom-killed", "verdict")
    expect_eq(doc["totals"]["oom_kills"]["value"], 1, "processes killed")
    expect(doc["totals"]["memory_peak"]["value"] <= 50 << 20, "its peak is within the limit")
    expect_in("50.0 MiB", (tmp() / "summary").read_text(), "the summary")


@job_test("tasks of an array are runs of their own, each with what it needed")
def _():
    with cluster(tmp()) as slurm:
        batch(slurm, f"exec {ASSAY} run --quiet --label task=$SLURM_ARRAY_TASK_ID -- "
                     f"{work('hold')} $((20 + 30 * SLURM_ARRAY_TASK_ID)) 300",
              "--array=0-2", "--mem=200")
    rows = assay("jobs", "--json").ok().json()["runs"]
    expect_eq(len(rows), 3, "runs")
    for task in range(3):
        row, = assay("jobs", "--json", "--label", f"task={task}").ok().json()["runs"]
        expect_near(row["memory_peak_bytes"], (20 + 30 * task) << 20, 0.05, f"peak of task {task}")


@job_test("two steps of a job at once do not count each other, and one that sleeps is told")
def _():
    with cluster(tmp()) as slurm:
        step = f"srun --overlap --exact -n1 -c1 --mem=60 {ASSAY} run --quiet -o"
        batch(slurm, f"{step} burn.json -- {work('burn')} 1 1 >burn.out &\n"
                     f"{step} hold.json -- {work('hold')} 40 900 &\n"
                     f"{step} sleep.json -- sleep 0.8 &\nwait", "-n3", "-c1", "--mem=200",
              "--overcommit")
    burnt = json.loads((tmp() / "burn.out").read_text())
    expect_near(total("burn.json", "cpu") / 1e9, burnt["cpu_seconds"], 0.02, "CPU seconds")
    expect(total("burn.json", "memory_peak") < 10 << 20, "no memory of the other step")
    expect_near(total("hold.json", "memory_peak"), 40 << 20, 0.05, "peak")
    expect(total("hold.json", "cpu") < 0.3e9, "no CPU time of the other step")
    expect_eq(document("sleep.json")["verdict"]["kind"], "waiting", "who sleeps")


main()
