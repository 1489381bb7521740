"""stubs -- a server that knows what it did, and a load on it.

    s = stub("--stall", "1s:0.5s")      listens until the test ends
    d = load(s.url, "-n", 100)          the JSON document, as the schema wants it
    s.end()                             what it counted
"""
import json
import re
import signal
import subprocess

from harness import *
from schemas import *

__all__ = ["stub", "load"]


class Stub:
    def __init__(self, *options):
        self.p = start(ASSAY, "stub", "--json", *options, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
        line = self.p.stderr.readline()
        expect_in("listening on ", line, "first line")
        self.url = line.split()[-1]

    def end(self):
        self.p.send_signal(signal.SIGINT)
        out, _ = self.p.communicate(timeout=20)
        expect_eq(self.p.returncode, 0, "the stub's exit status")
        return valid(json.loads(out), "stub-1")


def stub(*options):
    return Stub(*options)


def load(url, *options, rc=(0, 3, 6), timeout=60):
    """A busy machine may make any load INVALID (6), and one of which half failed has (3): what it
    counted is right all the same."""
    r = assay("load", "--json", *options, url, timeout=timeout)
    expect(r.rc in rc, f"exit status {r.rc}: {r.err}")
    d = valid(r.json(), "load-1")
    expect_eq(r.rc, 6 if d["verdict"] == "INVALID" else 3 if d["status"] == "failed" else 0,
              "exit status")
    return d
