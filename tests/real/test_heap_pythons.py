#!/usr/bin/env python3
"""`assay heap` in Pythons that this system has not, each with the C library of its own."""
import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from attach import *
from guests import *
from harness import *
from heaps import *
from jobs import *
from pythons import *
from roots import *

NEWER = (14, 15)    # minor versions that Debian's forky has and this system has not
LINES = ["arrays", "natives", "temporary", "methods", "peak", "generators", "coroutines", "deep",
         "callbacks", "threads"]


def python_in(root, minor, name, *words):
    return inside(root, f"/usr/bin/python3.{minor}", program(name), *words)


def recorded(minor, *cases, options=()):
    h = heap(*python_in(forky(), minor, "amounts", *cases), options=options,
             env={"XDG_RUNTIME_DIR": str(tmp())})
    for p in h.doc["processes"]:
        expect_eq((p["problem"], p["lost_events"]), (None, 0), p["command"])
    return h


for minor in NEWER:
    @job_test(f"3.{minor}: every marked line, to the byte and the count", 1800)
    def _(minor=minor):
        recorded(minor, *LINES).expect_marks()
        recorded(minor, *LINES, options=["--native"]).expect_marks()

    @job_test(f"3.{minor}: objects too, and what C allocates beside them", 1800)
    def _(minor=minor):
        options = ["--python-allocators"]
        recorded(minor, "objects", *LINES, options=options).expect_marks(objects=True)

    @job_test(f"3.{minor}: children that are forked and begun anew", 1800)
    def _(minor=minor):
        h = recorded(minor, "forks", "workers", options=["--follow-fork"])
        mark = h.truth[0]["marks"]["PROCESS"]
        expect_eq(h.by_function("top_by_size")["process_work"],
                  (5 * mark["bytes"], 5 * mark["count"]), "of all")

    @job_test(f"3.{minor}: a service goes on to serve while it is attached to", 1800)
    def _(minor=minor):
        expect_served(*inside(forky(), f"/usr/bin/python3.{minor}"),
                      env={"XDG_RUNTIME_DIR": str(tmp())})

    @job_test(f"3.{minor}: every stack is as the interpreter sees it", 1800)
    def _(minor=minor):
        r, found = hosts(python_in(forky(), minor, "heapstacks"), timeout=120)
        told, host = json.loads(r.ok().out), found[-1]
        expect_eq((host.python, host.why, host.lost, host.clipped), (minor, 0, 0, 0), "the guest")
        sizes = {t["size"] for t in told}
        want = collections.Counter(json.dumps([t["size"], t["stack"]]) for t in told)
        got = collections.Counter(json.dumps([a.size, [[f[0], f[2]] for f in a.stack]])
                                  for a in host.allocs if a.size in sizes)
        expect_eq((want - got, got - want), ({}, {}), "stacks that are missing, and others")


main()
