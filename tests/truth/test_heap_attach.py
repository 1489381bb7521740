#!/usr/bin/env python3
"""`assay heap attach` on every CPython, and a hundred times in a row."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from attach import *
from harness import *
from jobs import *
from pythons import pythons


@job_test("on every CPython a service goes on to serve, and its lines have their bytes",
          seconds=300)
def _():
    for python in pythons():
        expect_served(python.path)


@job_test("a hundred times coming to threads that allocate all the time, and going", seconds=600)
def _():
    t = attachee()
    t.tell("churn", 4)
    for _ in range(100):
        Attached(t.pid, "--sample", "1MiB", "--aggregate").left()
    t.tell("calm")
    expect_eq((hooks(t.pid), threads(t.pid)), (0, ["attachee"]), "hooks and threads left")
    t.end()


main()
