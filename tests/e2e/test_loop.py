#!/usr/bin/env python3
"""`assay loop`: what holds event loops, of programs that know it themselves."""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from loops import *
from pythons import *
from schemas import *

PYTHON = pythons()[-1]
PROBED = {"ASSAY_RUNG": "proc"}


def service(text, *words):
    """A Python program that says `ready`; it ends with the test."""
    (tmp() / "service.py").write_text(text)
    p = start(PYTHON.path, "service.py", *words, stdout=subprocess.PIPE, text=True)
    expect_eq(p.stdout.readline(), "ready\n", "the service's first line")
    return p


def loops_of(pid, *options, env=PROBED):
    r = assay("loop", "--json", *options, pid, env=env).ok()
    return valid(r.json(), "loop-1")


def line_of(text, sign):
    return next(i for i, line in enumerate(text.splitlines(), 1) if sign in line)


def share(parts, whole):
    return sum(map(bool, parts)) / max(1, len(whole))


for way in WAYS:
    @job_test(f"{way}: blocks of a loop are found, measured, and blamed on the right line")
    def _(way=way):
        log, found = blocks_of(PYTHON, 7, 24, "asyncio", 10, 120, env=by(way))
        valid(found, "loop-1")
        pairs = list(match(log, found))
        hits = [p for p in pairs if p.found]
        expect(len(hits) >= 0.8 * len(pairs), f"{len(hits)} of {len(pairs)} blocks found")
        right = [p for p in hits if p.line in lines_of(p.found, "blocks.py")]
        expect(len(right) >= 0.8 * len(hits), f"{len(right)} of {len(hits)} lines are right")
        expect({p.found["task"] for p in right} <= {"holder", None} and
               share([p.found["task"] for p in right], right) >= 0.8,
               [p.found["task"] for p in right])
        slept = [p for p in hits if p.kind == "sleep"]
        expect(share([p.found["cause"] == "syscall:clock_nanosleep" for p in slept], slept) >= 0.7,
               [p.found["cause"] for p in slept])
        burnt = [p for p in hits if p.kind == "cpu"]
        expect(share([p.found["cause"] in ("cpu", "ready") for p in burnt], burnt) >= 0.7,
               [p.found["cause"] for p in burnt])
        expect_eq(found["exact"], way == "bpf", "exact")
        expect_eq(found["loops"][0]["wait"], "epoll_wait", "how it waits")
        expect(found["over_threshold"] >= len(hits), "fewer blocks than were found")


HOLDERS = """
import asyncio, ctypes, socket, sys, threading, time
lock = threading.Lock()

def hold_lock():
    while True:
        with lock:
            time.sleep(0.06)
        time.sleep(0.001)

def wait_for_lock():
    with lock:                      # HERE lock
        pass

def wait_for_socket():
    a, b = socket.socketpair()
    a.settimeout(0.05)
    try:
        a.recv(1)                   # HERE socket
    except TimeoutError:
        pass

def read_a_pipe():
    import os
    r, w = os.pipe()
    threading.Timer(0.05, os.write, (w, b"x")).start()
    os.read(r, 1)                   # HERE pipe

def want_gil():
    time.sleep(0.001)

def hold_gil():
    while True:
        ctypes.PyDLL(None).usleep(40_000)       # sleeps, and keeps it
        time.sleep(0.001)

async def main():
    print("ready", flush=True)
    while True:
        await asyncio.sleep(0.02)
        {"lock": wait_for_lock, "socket": wait_for_socket, "pipe": read_a_pipe,
         "gil": want_gil}[sys.argv[1]]()

threading.Thread(target=hold_gil if sys.argv[1] == "gil" else hold_lock, daemon=True).start()
asyncio.run(main())
"""


for way, what, cause in [(way, *row) for way in WAYS for row in (
        ("lock", "lock"), ("socket", "syscall:poll"), ("pipe", "syscall:read"), ("gil", "gil"))]:
    @job_test(f"{way}: a loop that waits for a {what} is held by it: {cause}")
    def _(way=way, what=what, cause=cause):
        env = by(way)
        p = service(HOLDERS, what)
        found = loops_of(p.pid, "-d", "1.5", "--threshold", "8ms", env=env)
        stop(p)
        held = [b for b in found["blocks"] if b["cause"] == cause]
        expect(len(held) >= 5 and len(held) >= 0.5 * len(found["blocks"]),
               [b["cause"] for b in found["blocks"]])
        if what == "gil":           # wanted wherever it comes back from a call
            return
        line = line_of(HOLDERS, f"HERE {what}")
        expect(share([line in lines_of(b, "service.py") for b in held], held) >= 0.8,
               [lines_of(b, "service.py") for b in held])


HELD_STILL = """
import os, select, subprocess, sys, time
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
for _ in range(2):
    subprocess.Popen([sys.executable, "-c", "while True: pass"])
print("ready", flush=True)
while True:
    select.epoll().poll(0.005)
    end = time.process_time() + 0.04
    while time.process_time() < end:
        pass
"""


@job_test("bpf: what is held when the watch ends, and has no CPU just then, waits for no page")
def _():
    env = by("bpf")
    p = service(HELD_STILL)
    found = [loops_of(p.pid, "-d", "0.7", env=env) for _ in range(6)]
    stop(p)
    held = [b for f in found for b in f["blocks"] if b["ongoing"]]
    expect(len(held) >= 2, found)
    expect_eq({b["cause"] for b in held} - {"cpu", "ready"}, set(), "other causes")
    expect(all(b["cpu_ms"] + b["ready_ms"] > 0.8 * b["duration_ms"] for b in held), held)
    expect(all(b["cpu_ms"] < 0.8 * b["duration_ms"] for b in held), held)


DEEP = """
import asyncio, sys, time
sys.setrecursionlimit(4000)

def leaf():
    time.sleep(0.08)

def down(n):
    return down(n - 1) if n else leaf()

async def main():
    asyncio.current_task().set_name("tick \\x1b[31m" + 80 * "k")
    print("ready", flush=True)
    while True:
        await asyncio.sleep(0.02)
        down(700)

asyncio.run(main())
"""


@job_test("of a deep stack the innermost frames are told, and no name of a task spoils the page")
def _():
    p = service(DEEP)
    found = loops_of(p.pid, "-d", "1")
    text = assay("loop", "-d", "1", p.pid, env=PROBED).ok().out
    stop(p)
    held = [b["frames"] for b in found["blocks"] if b["frames"]]
    expect(len(held) >= 4, [b["frames"][:3] for b in found["blocks"]])
    for frames in held:
        expect_eq([f["function"] for f in (frames[0], frames[1], frames[-1])],
                  ["(more callers)", "down", "leaf"], "both ends")
    expect_in("leaf", text.partition("The longest")[2])
    expect("\x1b" not in text, "the name of a task was printed as it is")
    expect(max(map(len, text.splitlines())) <= 80, text)


QUEUING = """
import asyncio, os, subprocess, sys, threading
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

def burn():
    while True:
        sum(range(1000))

async def main():
    print("ready", flush=True)
    while True:
        await asyncio.sleep(0.005)

for _ in range(2):
    subprocess.Popen([sys.argv[1], "60"])
    threading.Thread(target=burn, daemon=True).start()
asyncio.run(main())
"""


for way in WAYS:
    @job_test(f"{way}: who wants the GIL and queues for a CPU waits for no other lock")
    def _(way=way):
        env = by(way)
        p = service(QUEUING, BUILD / "tests/workloads/burn")
        found = loops_of(p.pid, "-d", "3", "--threshold", "8ms", env=env)
        stop(p)
        causes = [b["cause"] for b in found["blocks"]]
        expect(causes.count("gil") >= 5, causes)
        # A sanitizer makes looks slow: one block that was short may have had none in time.
        expect(causes.count("lock") <= sanitized() + len(causes) / 50, causes)


@job_test("several loops of a process are each told, the busiest first")
def _():
    p = service("""
import asyncio, threading, time
async def main(hold):
    while True:
        await asyncio.sleep(0.01)
        time.sleep(hold)
for hold in (0.001, 0.03):
    threading.Thread(target=asyncio.run, args=(main(hold),), name=f"held{hold}").start()
print("ready", flush=True)
""")
    found = loops_of(p.pid, "-d", "1.5")
    stop(p)
    expect_eq(len(found["loops"]), 2, "loops")
    first, second = found["loops"]
    expect(first["busy_seconds"] > second["busy_seconds"], "the order")
    expect(p.pid not in (first["thread"], second["thread"]), "the first thread is no loop")
    expect(first["over_threshold"] >= 10 > second["over_threshold"], found["loops"])
    expect_eq(found["over_threshold"], first["over_threshold"] + second["over_threshold"],
              "sum of all")


for way in WAYS:
    @job_test(f"{way}: a first thread that never waits is told, though others do")
    def _(way=way):
        p = service("""
import select, threading
def side():
    waits = select.epoll()
    while True:
        waits.poll(0.02)
threading.Thread(target=side, daemon=True).start()
print("ready", flush=True)
while True:
    pass
""")
        found = loops_of(p.pid, "-d", "1", env=by(way))
        r = assay("loop", "-d", "0.5", p.pid, env=by(way)).ok()
        stop(p)
        expect_eq((len(found["loops"]), found["held"]["thread"]), (1, p.pid), "threads")
        expect(found["held"]["ready_seconds"] >= 0.5, found["held"])
        expect_in("did not wait for events", " ".join(r.out.split()))


@job_test("a loop that is never held has no blocks; its periods are known in sum")
def _():
    p = service("""
import select, time
wait = select.poll()
print("ready", flush=True)
while True:
    wait.poll(5)
""")
    found = loops_of(p.pid, "-d", "1", "--threshold", "50ms")
    stop(p)
    loop = found["loops"][0]
    expect_eq(loop["wait"], "poll", "how it waits")
    expect(30 <= loop["periods"] <= 210, f"{loop['periods']} periods, 200 at the most")
    expect(found["busy_ms"]["p50"] < 5, found["busy_ms"])
    expect(found["over_threshold"] <= 1, found["blocks"])


WORKER = """
import asyncio, queue, select, socket, threading
work, (a, b) = queue.SimpleQueue(), socket.socketpair()
def worker():
    poll = select.poll()
    poll.register(a, select.POLLIN)
    while True:
        work.get()
        poll.poll(60)           # a library waits for an answer
threading.Thread(target=worker, daemon=True).start()
async def main():
    print("ready", flush=True)
    while True:
        work.put(1)
        await asyncio.sleep(0.1)
asyncio.run(main())
"""


for way in WAYS:
    @job_test(f"{way}: a worker that polls for longer than it waits for work is no loop")
    def _(way=way):
        p = service(WORKER)
        found = loops_of(p.pid, "-d", "1.5s", "--threshold", "60ms", env=by(way))
        stop(p)
        expect_eq([loop["wait"] for loop in found["loops"]], ["epoll_wait"], "how the loops wait")


@job_test("a command can be watched from its start; its status is ours")
def _():
    (tmp() / "short.py").write_text("""
import asyncio, sys, time
async def main():
    for _ in range(6):
        await asyncio.sleep(0.05)
        time.sleep(0.04)
asyncio.run(main())
sys.exit(3)
""")
    r = assay("loop", "--json", "-o", "found.json", "--", PYTHON.path, "short.py", env=PROBED)
    expect_eq(r.rc, 3, "exit status")
    found = valid(json.loads((tmp() / "found.json").read_text()), "loop-1")
    expect(4 <= found["over_threshold"] <= 9, [b["duration_ms"] for b in found["blocks"]])


@job_test("for people: how long, how often, what, and the stack of the longest")
def _():
    p = service(HOLDERS, "pipe")
    r = assay("loop", "-d", "1", p.pid, env=PROBED).ok()
    stop(p)
    expect(re.match(r"1 event loop in (9\d\d ms|1\.\d+ s)", r.out), r.out)
    for part in ("waits in epoll_wait", "p50 ", " · max ",
                 "What held the loop", "waited: read", "read_a_pipe",
                 "service.py:%d" % line_of(HOLDERS, "HERE pipe"), "The longest"):
        expect_in(part, r.out)


@job_test("of two that held it both are told; of many tasks without names no number")
def _():
    p = script(PYTHON, "holders", 12)
    r = assay("loop", p.pid, env=PROBED).ok()
    rows = r.out.split("What held the loop")[1].split("The longest")
    expect(re.search(r"(computed|no CPU free) +Task ", rows[0]), r.out)
    expect(re.search(r"waited: clock_nanosleep +Task ", rows[0]), r.out)      # not cut
    expect_in("of these ", rows[1])
    expect(max(map(len, r.out.splitlines())) <= 80, r.out)


@job_test("-d ends a command, too")
def _():
    code = "import select\ne = select.epoll()\nfor _ in range(600): e.poll(0.1)\n"
    for words in (("--",), (os.getpid(), "--")):
        r = assay("loop", "--json", "-d", 1, *words, sys.executable, "-c", code, timeout=50)
        expect(r.rc in (0, 69), f"exit status {r.rc}: {r.err}")
        if r.rc == 0:
            expect(r.json()["duration_seconds"] < 40, "it was watched to its own end")


@job_test("the way out of a loop's process holds nobody")
def _():
    code = ("import select, os\nkeep = [bytearray(1 << 24) for _ in range(24)]\n"
            "e = select.epoll()\nfor _ in range(20): e.poll(0.02)\nos._exit(0)\n")
    for env in (None, PROBED):
        d = assay("loop", "--json", "--threshold", "2ms", "--", sys.executable, "-c", code,
                  env=env).ok().json()
        causes = {b["cause"] for b in d["blocks"]}
        expect("syscall:exit_group" not in causes, causes)


@job_test("of who only starts others, they are named")
def _():
    p = start(sys.executable, "-c", "import subprocess; subprocess.call(['sleep', '30'])")
    born = pathlib.Path(f"/proc/{p.pid}/task/{p.pid}/children")
    wait_for(born.read_text, 20, "its child")
    child = int(born.read_text())
    r = assay("loop", "-d", "0.2", p.pid, env=PROBED)
    stop(p)
    os.kill(child, 9)
    expect_eq(r.rc, 69, "exit status")
    expect_in(f"it has started {child}, which may do the work: assay loop {child}", r.err)


@job_test("… but not who only cleans up after multiprocessing")
def _():
    code = """
import subprocess
from multiprocessing import resource_tracker
resource_tracker.ensure_running()       # as uvicorn --workers does, before its workers
p = [subprocess.Popen(['sleep', '30']) for _ in range(40)]
print(p[0].pid, flush=True)
p[0].wait()
"""
    p = start(sys.executable, "-c", code, stdout=subprocess.PIPE, text=True)
    child = int(p.stdout.readline())
    r = assay("loop", "-d", "0.2", p.pid, env=PROBED)
    stop(p)
    expect(re.search(rf"it has started {child} \d[\d ]+ …, which may do the work: "
                     rf"assay loop {child}\n", r.err), r.err)


@job_test("what cannot be watched is refused with a sentence")
def _():
    for words, rc, part in ((("999999999",), 66, "no process"), (("x",), 2, "x"),
                            ((), 2, "whose loop"), (("--threshold", "0", "1"), 2, "threshold"),
                            (("--", "no-such-program"), 127, "no-such-program")):
        r = assay("loop", *words, env=PROBED)
        expect_eq(r.rc, rc, f"exit status of {words}")
        expect_in(part, r.err)
    p = start("sleep", "30")
    r = assay("loop", "-d", "0.2", p.pid, env=PROBED)
    expect_eq(r.rc, 69, "exit status")
    expect_in("waited for events", r.err)
    if is_root():
        r = run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ASSAY, "loop", "-d",
                "0.2", p.pid, env=PROBED, cwd="/")
        expect_eq(r.rc, 77, "exit status without the right")
        expect_in("it belongs to uid 0: be that user, be root, or have CAP_SYS_PTRACE", r.err)
    stop(p)


main()
