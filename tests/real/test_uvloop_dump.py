#!/usr/bin/env python3
"""Tasks that uvloop runs: the same as asyncio's own loop has."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from pythons import *

PYTHON = "/usr/bin/python3"


@job_test("every task awaits what the program says")
def _():
    if subprocess.run([PYTHON, "-c", "import uvloop"], capture_output=True).returncode:
        skip("python3-uvloop is not installed")
    p = start(PYTHON, program("tasks"), 60, "uvloop", stdout=subprocess.PIPE, text=True)
    expect_eq(p.stdout.readline(), "ready\n", "its first line")
    told = json.loads(p.stdout.readline())
    found = assay("dump", "--json", "--async", p.pid).ok().json()["tasks"]
    stop(p)
    names = [t["name"] for t in found]
    expect_eq(sorted(names), sorted(told), "tasks")
    for t in found:
        task = told[t["name"]]
        expect_eq(t["state"], task["state"], f"state of {t['name']}")
        expect_eq(sorted(names[i] for i in t["awaits"]), task["awaits"],
                  f"what {t['name']} awaits")
        expect_eq([f["function"].split(".")[-1] for f in t["frames"] if f["function"]],
                  task["functions"], f"coroutines of {t['name']}")


main()
