"""objects -- scripts that know their variables and tasks, and what assay made of them.

    check_states(p)      every thread of states.py has its state, stack and name
    check_locals(p)      variables of locals.py
    check_tasks(p)       tasks of tasks.py, and the tree of them as text
    check_sampled(p)     tasks of jobs.py, as `assay record` sees them

Each takes a script that has said `ready`, and stops it.
"""
import collections
import json
import math

from harness import assay, expect, expect_eq, expect_in, stop, wait_for
from pythons import program, stacks

__all__ = ["dump", "threads", "functions", "tasks", "settled", "check_states", "check_locals",
           "check_tasks", "check_sampled"]

# What each thread of states.py is doing: its state, and the calls in which that shows.
STATES = {
    "sleeper": ("idle", {"clock_nanosleep", "select", "pselect6"}),
    "reader": ("system_call", {"read"}),
    "locked": ("idle", {"futex"}),
    "poller": ("idle", {"epoll_wait", "epoll_pwait"}),
    "main": ("idle", {"clock_nanosleep", "select", "pselect6"}),
}


def dump(pid, *options):
    return assay("dump", "--json", *options, pid).ok().json()


def threads(pid, *options):
    """The threads of a process by their numbers."""
    return {t["tid"]: t for t in dump(pid, *options)["threads"]}


def functions(thread):
    return [f["function"].split(".")[-1] for f in thread["frames"]]


def tasks(pid):
    """The tasks of a process by their names."""
    found = dump(pid, "--async")["tasks"]
    expect_eq([t["id"] for t in found], list(range(len(found))), "ids")
    for t in found:
        t["awaits"] = sorted(found[i]["name"] for i in t["awaits"])
    return {t["name"]: t for t in found}


def settled(pid, told):
    """The threads, once all that wait for something are where they wait."""
    def all_wait():
        found = threads(pid)
        return found if all(found[told[name]]["state"] != "running" and
                            found[told[name]]["state"] != "waiting_for_gil"
                            for name in STATES) else None
    return wait_for(all_wait, timeout=30, what="threads that wait")


def check_states(p):
    told = json.loads(p.stdout.readline())
    found = settled(p.pid, told)
    d = dump(p.pid)
    stop(p)
    expect_eq(set(found), set(told.values()), "threads")
    expect_in("states.py", d["command"])
    for name, (state, calls) in STATES.items():
        t = found[told[name]]
        expect_eq((t["state"], t["holds_gil"], t["stack"]), (state, False, "whole"), name)
        expect_in(t["system_call"], calls, name)
        expect_in(name, functions(t), "stack")
        expect_eq((t["name"], t["daemon"]), ("MainThread", False) if name == "main"
                  else (f"{name}-thread", True), f"name and kind of {name}")
        last = [f for f in t["frames"] if f["file"].endswith("states.py")][-1]
        source = open(program("states")).read().splitlines()[last["line"] - 1]
        expect(any(w in source for w in ("sleep(", "read(", "held.acquire", "poll.poll")),
               f"{name} is at line {last['line']}: {source}")
    return d


def check_locals(p):
    told = json.loads(p.stdout.readline())
    frames = dump(p.pid, "--locals")["threads"][0]["frames"]
    text = assay("dump", "--locals", p.pid).ok().out
    stop(p)
    found = {f["function"].split(".")[-1]: f["locals"] for f in frames}
    for function, variables in told.items():
        for name, value in variables.items():
            expect_eq(found[function].get(name), value, f"{function}: {name}")
    expect_eq(found["<module>"], {}, "variables of a module")
    expect_in("        own = 5\n", text)
    expect(all(len(line) <= 80 for line in text.splitlines()), "a line is too wide")


def compare_tasks(pid, told):
    """Every task does, has and awaits what the program says."""
    found = tasks(pid)
    expect_eq(set(found), set(told), "tasks")
    for name, task in told.items():
        t = found[name]
        expect_eq((t["state"], t["stack"]), (task["state"], "whole"), name)
        expect_eq([f for f in functions(t) if f != "_aexit"], task["functions"],
                  f"coroutines of {name}")
        expect_eq(t["awaits"], task["awaits"], f"what {name} awaits")
        expect_eq(t["tid"], pid if task["state"] == "running" else None, f"thread of {name}")
        expect_eq(t["awaits_a"] is None, task["state"] != "awaiting", f"{name} awaits a")


def check_tasks(p):
    told = json.loads(p.stdout.readline())
    wait_for(lambda: threads(p.pid)[p.pid]["state"] == "idle", timeout=30, what="a pause")
    compare_tasks(p.pid, told)
    text = assay("dump", "--async", p.pid).ok().out
    stop(p)
    lines = text.splitlines()
    expect(all(len(line) <= 80 for line in lines), "a line is too wide")
    expect_in(f"tasks  {len(told)}, 1 running", lines)
    at = lines.index("gather  awaits 3 tasks")
    expect_eq([line for line in lines[at:at + 12] if "gathered-" in line],
              ["├─ gathered-0  awaits a Future", "├─ gathered-1  awaits a Future",
               "└─ gathered-2  awaits a Future"], "the tree below gather")
    expect_in("└─ ring-a  awaits 1 task (see above)", text.replace("│  ", ""))


def name_of(frame):
    return frame.split(" ")[0]


def record(pid, *options):
    return stacks(assay("record", "--quiet", "-p", pid, "-d", 1.5, "-f", "folded", "-r", 200,
                        "--async", *options).ok().out)


def check_sampled(p):
    """Samples have the task that ran, and in wall those that await."""
    cpu = record(p.pid)
    wall = record(p.pid, "--mode", "wall")
    stop(p)
    count = collections.Counter()
    for frames, n in cpu:
        names = [name_of(f) for f in frames]
        if "burn" in names:
            owner = frames[0] if frames[0].startswith("task ") else "nobody"
            count[owner] += n
            expect_in(owner, ("task busy-3" if "three" in names else "task busy-1", "nobody"))
    expect(count["nobody"] <= 2 + sum(count.values()) / 20, f"the loop was faster: {count}")
    share = count["task busy-3"] / sum(count.values())
    sigma = math.sqrt(0.75 * 0.25 / sum(count.values()))
    expect(abs(share - 0.75) < 5 * sigma + 0.05, f"{count}, truly 3 to 1")
    found = {frames[0]: [name_of(f).split(".")[-1] for f in frames[1:]]
             for frames, _ in wall if frames[0].startswith("task idle")}
    expect_eq(found, {"task idle": ["idle", "deeper", "sleep"]}, "those that await")
    looks = sum(n for frames, n in wall if frames[0] == "task idle")
    expect(looks >= 10, f"seen {looks} times")
