#!/usr/bin/env python3
"""Tasks of a real Celery worker, each measured by attaching to the child that runs it."""
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from harness import *
from jobs import *

PYTHON = "/usr/bin/python3"     # Debian's: the modules are its packages
PORT = 16398
TASKS = f'''
import mmap, os, time
from celery import Celery

app = Celery("tasks", broker="redis://127.0.0.1:{PORT}/0", backend="redis://127.0.0.1:{PORT}/1")

@app.task
def who():
    return os.getpid()

@app.task
def hold(mib):
    m = mmap.mmap(-1, mib << 20)
    for at in range(0, mib << 20, 4096):
        m[at] = 1
    time.sleep(0.5)
    m.close()

@app.task
def burn(seconds):
    start = time.process_time()
    while time.process_time() < start + seconds:
        pass
    return time.process_time() - start
'''
ASK = '''
import sys, tasks
print(getattr(tasks, sys.argv[1]).delay(*map(int, sys.argv[2:])).get(timeout=60))
'''


def start_worker():
    """redis-server and a worker with one child; the child's pid."""
    has_celery = subprocess.run([PYTHON, "-c", "import celery, redis"], capture_output=True)
    if has_celery.returncode or not shutil.which("redis-server"):
        skip("python3-celery and redis-server are not installed (make test-real installs them)")
    (tmp() / "tasks.py").write_text(TASKS)
    (tmp() / "ask.py").write_text(ASK)
    start("redis-server", "--bind", "127.0.0.1", "--port", PORT, "--save", "", "--appendonly",
          "no", "--dir", tmp(), stdout=subprocess.DEVNULL)
    wait_for(lambda: run("redis-cli", "-p", PORT, "ping").out.strip() == "PONG")
    worker = start(PYTHON, "-m", "celery", "-A", "tasks", "worker", "-c", 1, "--without-mingle",
                   "--without-gossip", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return worker, int(run(PYTHON, "ask.py", "who").ok().out)


def measured(child, *task):
    """What `assay attach` tells of this child while the task runs, and the task's answer."""
    r = assay("attach", "--quiet", "-o", "task.json", child, "--", PYTHON, "ask.py", *task).ok()
    return json.loads((tmp() / "task.json").read_text())["assay"], r.out.strip()


def peak(doc):
    return doc["totals"]["memory_peak"]["value"]


def peak_of_process(doc):
    """As the row of the process has it: the kernel's mark if it is of this time, or as seen."""
    row = doc["processes"][0]["metrics"]
    mark, rss = row.get("process.memory.peak"), row["process.memory.rss"]
    return max(mark["last"] if mark else 0, rss["max"])


@job_test("two tasks in one Celery child share neither a peak nor CPU time")
def _():
    worker, child = start_worker()
    large, _ = measured(child, "hold", 200)
    small, _ = measured(child, "hold", 20)
    busy, used = measured(child, "burn", 1)
    base = peak(busy)               # a task that holds nothing: what the worker itself needs
    expect_near(peak(large) - base, 200 << 20, 0.03, "peak of the large task, over none")
    expect_near(peak(small) - base, 20 << 20, 0.15, "peak of the small task, over none")
    expect(peak_of_process(small) < 200 << 20, f"the small task's process: {small['processes']}")
    cpu = busy["totals"]["cpu"]["value"] / 1e9
    expect_near(cpu, float(used), 0.03, "CPU seconds of the busy task", slack=0.03)
    stop(worker)


@job_test("a whole worker with its children is measured while tasks run")
def _():
    worker, child = start_worker()
    assay("attach", "--quiet", "--include-children", "-o", "task.json", worker.pid, "--", PYTHON,
          "ask.py", "burn", 1).ok()
    doc = json.loads((tmp() / "task.json").read_text())["assay"]
    rows = {p["pid"]: p["metrics"] for p in doc["processes"]}
    spent = {pid: m["process.cpu.user"]["total"] + m["process.cpu.system"]["total"]
             for pid, m in rows.items()}
    expect(child in spent and worker.pid in spent, f"the worker and its child: {list(spent)}")
    expect_between(spent[child] / 1e9, 0.97, 1.5, "CPU seconds of the child")
    expect(spent[worker.pid] < spent[child] / 3, f"the worker itself only waits: {spent}")
    stop(worker)


main()
