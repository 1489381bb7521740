#!/usr/bin/env python3
"""`assay heap` in Pythons that this system has not, each with the C library of its own."""
import collections
import json
import os
import signal
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

    @job_test(f"3.{minor}: one that is awake loads the guest itself, and nothing stays", 1800)
    def _(minor=minor):
        t = Target(*python_in(forky(), minor, "awake"))
        for n in (11, 13):
            a = Attached(t.pid, env={"XDG_RUNTIME_DIR": str(tmp())})
            expect_in("its Python did it itself", a.line)
            t.tell("grow", n)
            expect_eq(a.left().by_function("top_by_size")["grow"][1] >= n, True, "blocks")
            t.tell("grow", 3)
        expect_eq((t.tell("left").split(), len(threads(t.pid))), (["done"], 1), "left behind")
        expect_eq(list(tmp().glob("assay-heap-*")), [], "folders")
        t.end()

    @job_test(f"3.{minor}: under a debugger, where no thread can be borrowed, it still does", 1800)
    def _(minor=minor):
        t = Target(*python_in(forky(), minor, "awake"))
        tracer = seized(t.pid)
        a = Attached(t.pid, env={"XDG_RUNTIME_DIR": str(tmp())})
        expect_in("its Python did it itself", a.line)
        t.tell("grow", 11)
        expect_eq(a.left().by_function("top_by_size")["grow"][1] >= 11, True, "blocks")
        stop(tracer, signal.SIGKILL)
        t.end()

    @job_test(f"3.{minor}: one that has remote debugging switched off is left alone", 1800)
    def _(minor=minor):
        python, script = python_in(forky(), minor, "awake")[-2:]
        for words in ((python, "-X", "disable-remote-debug", script),
                      ("env", "PYTHON_DISABLE_REMOTE_DEBUG=1", python, script)):
            t = Target(*inside(forky(), *words))
            r = assay("heap", "attach", "--no-store", "-o", "x.heap", t.pid,
                      env={"XDG_RUNTIME_DIR": str(tmp())})
            expect_eq(r.rc, 77, r.err)
            expect_in("remote debugging switched off", r.err)
            expect_eq(threads(t.pid), threads(t.pid)[:1], "threads")
            t.tell("grow", 1)
            t.end()

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
