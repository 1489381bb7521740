#!/usr/bin/env python3
"""`assay loop` on the loops of others: uvloop, Trio, Node, redis, nginx."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from harness import *
from jobs import *
from loops import *
from pythons import *
from schemas import *

DEBIAN = Python("/usr/bin/python3", sys.version_info[1], "")     # whose packages are installed


def need_module(name):
    if subprocess.run([DEBIAN.path, "-c", f"import {name}"], capture_output=True).returncode:
        skip(f"{name} is not installed (make test-real installs it)")


def need_program(name):
    return shutil.which(name) or skip(f"{name} is not installed (make test-real installs it)")


def held(pid, way, *options):
    r = assay("loop", "--json", "-d", "2", *options, pid, env=by(way)).ok()
    return valid(r.json(), "loop-1")


for way in WAYS:
    for flavour in ("uvloop", "trio"):
        @job_test(f"{way}: blocks of {flavour} are found, with their lines")
        def _(way=way, flavour=flavour):
            need_module(flavour)
            log, found = blocks_of(DEBIAN, 3, 30, flavour, 8, 100, env=by(way))
            valid(found, "loop-1")
            pairs = list(match(log, found))
            hits = [p for p in pairs if p.found]
            expect(len(hits) >= 0.85 * len(pairs), f"{len(hits)} of {len(pairs)} blocks found")
            right = [p for p in hits if p.line in lines_of(p.found, "blocks.py")]
            expect(len(right) >= 0.85 * len(hits), f"{len(right)} of {len(hits)} lines are right")

    @job_test(f"{way}: Node is held by a script that computes")
    def _(way=way):
        node = need_program("node")
        p = start(node, "-e", "setInterval(() => { const t = Date.now() + 40;"
                              " while (Date.now() < t); }, 100)")
        time.sleep(1)
        found = held(p.pid, way)
        stop(p)
        loop = next(x for x in found["loops"] if x["thread"] == p.pid)
        expect_in("epoll", loop["wait"])
        expect(8 <= loop["over_threshold"] <= 30, loop)
        own = [b for b in found["blocks"] if b["thread"] == p.pid]
        expect(sum(b["cause"] in ("cpu", "ready") for b in own) > 0.8 * len(own),
               [b["cause"] for b in own])
        expect_eq(found["blocks"][0]["frames"], [], "frames of what is no Python")
        expect(found["no_stacks"], "it is not said why there are no stacks")

    @job_test(f"{way}: redis is held by a command that sleeps")
    def _(way=way):
        server, client = need_program("redis-server"), need_program("redis-cli")
        path = str(tmp() / "s")
        p = start(server, "--port", "0", "--unixsocket", path, "--enable-debug-command", "yes",
                  "--save", "", stdout=subprocess.DEVNULL)
        wait_for(lambda: os.path.exists(path))
        c = start(client, "-s", path, "-r", "40", "-i", "0.05", "DEBUG", "SLEEP", "0.03",
                  stdout=subprocess.DEVNULL)
        found = held(p.pid, way)
        stop(c)
        stop(p)
        own = [b for b in found["blocks"] if b["thread"] == p.pid]
        expect(len(own) >= 10, f"{len(own)} blocks")
        expect(sum("nanosleep" in b["cause"] for b in own) > 0.7 * len(own),
               [b["cause"] for b in own])

    @job_test(f"{way}: nginx waits, and nothing holds it")
    def _(way=way):
        server = need_program("nginx")
        (tmp() / "n.conf").write_text(f"""
daemon off; master_process off; pid {tmp()}/pid; error_log stderr crit; user root;
events {{ }}
http {{ access_log off; server {{ listen unix:{tmp()}/n.sock; return 200 "ok"; }} }}
""")
        p = start(server, "-c", tmp() / "n.conf", "-p", tmp(), stderr=subprocess.DEVNULL)
        wait_for(lambda: (tmp() / "n.sock").exists())
        c = start("sh", "-c", f"for i in $(seq 60); do curl -s --unix-socket {tmp()}/n.sock "
                              "http://x/ >/dev/null; sleep 0.03; done")
        found = held(p.pid, way, "--threshold", "50ms")
        stop(c)
        stop(p)
        expect_eq(found["loops"][0]["wait"], "epoll_wait", "how it waits")
        expect(found["loops"][0]["periods"] >= 10, found["loops"][0]["periods"])
        expect(found["over_threshold"] <= 1, found["blocks"])


main()
