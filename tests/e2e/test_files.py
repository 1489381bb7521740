#!/usr/bin/env python3
"""`assay run --files`: which files were read and written, against known answers."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from rungs import need


def files(doc):
    """path: what was counted there."""
    origin = doc["assay"]["origins"]["file.read"]
    expect_eq(origin["provenance"], "measured", f"files, from '{origin['source']}'")
    return {f["name"]: {k.split(".")[1]: m["total"] for k, m in f["metrics"].items()}
            for f in doc["assay"]["files"]}


def watched(*command, options=()):
    need("bpf")
    assay("run", "--quiet", "--files", "-o", "run.json", *options, "--", *command).ok()
    return files(json.loads((tmp() / "run.json").read_text()))


@job_test("bytes and calls of a file are exact, also of children")
def _():
    for children in (0, 3):
        path = str(tmp() / "data")
        use = watched(work("io"), path, 101, 53, children)[path]
        times = children or 1
        expect_eq(use["read"], times * 101 * 1021, "bytes read")
        expect_eq(use["write"], times * 53 * 4093, "bytes written")
        expect_eq(use["read_calls"], times * 101, "read calls")
        expect_eq(use["write_calls"], times * 53, "write calls")
        expect(use["read_time"] > 0 and use["write_time"] > 0, f"time in calls: {use}")


@job_test("what assay does to start the job is none of its files")
def _():
    use = watched("true")
    expect(use, "no files at all")
    expect_eq([path for path in use if "/cgroup" in path], [], "files of the control group")


@job_test("the mean of a file is its bytes over the run, whenever they were read")
def _():
    need("bpf")
    path = tmp() / "data"
    path.write_bytes(bytes(100_000))
    assay("run", "--quiet", "--files", "-o", "run.json", "--", "sh", "-c",
          f"cat {path} >/dev/null; sleep 1; for i in 1 2 3; do cat /proc/self/stat; done").ok()
    doc = json.loads((tmp() / "run.json").read_text())["assay"]
    read = next(f for f in doc["files"] if f["name"] == str(path))["metrics"]["file.read"]
    expect_eq(read["total"], 100_000, "bytes")
    expect_near(read["mean"], 100_000 / (doc["outcome"]["duration_ns"] / 1e9), 0.15, "mean rate")


@job_test("a file that was deleted, one on another mount and one with an odd name are named")
def _():
    odd = tmp() / "a \"b\" ü"
    gone = tmp() / "gone"
    shm = f"/dev/shm/assay-test-{os.getpid()}"
    script = 'printf abc >"$0"; printf defg >"$1"; rm "$1"; printf hi >"$2"; rm "$2"'
    use = watched("sh", "-c", script, odd, gone, shm)
    expect_eq(use[str(odd)]["write"], 3)
    expect_eq(use[str(gone)]["write"], 4)
    expect_eq(use[shm]["write"], 2)


@job_test("a file is named as the process that used it would")
def _():
    if not is_root():
        skip("only root can change its root")
    code = "import os, sys; os.chroot(sys.argv[1]); open('/inner', 'w').write('abc' * 10**6)"
    use = watched(sys.executable, "-c", code, tmp())
    expect_eq(use["/inner"]["write"], 3_000_000)


@job_test("copies inside the kernel count at both ends")
def _():
    a, b = tmp() / "a", tmp() / "b"
    a.write_bytes(b"x" * 300_000)
    use = watched("cp", "--reflink=never", a, b)
    expect_eq(use[str(a)]["read"], 300_000)
    expect_eq(use[str(b)]["write"], 300_000)


@job_test("what others read and write is not the job's")
def _():
    other = tmp() / "other"
    p = start("sh", "-c", f"i=0; while [ $i -lt 2000 ]; do echo $i >>{other}; i=$((i+1)); done")
    use = watched("sh", "-c", f"sleep 0.2; echo mine >{tmp()}/mine")
    stop(p)
    expect(str(other) not in use, "a stranger's file is in the list")
    expect_eq(use[f"{tmp()}/mine"]["write"], 5)


GROW = '''
import os, sys, time
for i in range(350):
    with open(f"{sys.argv[1]}/{i}", "wb", buffering=0) as f:
        f.write(b"x" * (i + 1) * 1000)
    time.sleep(0.01)
for i in range(350):
    with open(f"{sys.argv[1]}/{i}", "ab", buffering=0) as f:
        f.write(b"x")
'''


@job_test("the last look finds room for its busiest, and tells what those of before came to")
def _():
    use = watched(sys.executable, "-c", GROW, tmp(), options=("--interval", "0.05"))
    mine = {int(os.path.basename(path)): n["write"] for path, n in use.items()
            if os.path.dirname(path) == str(tmp())}
    expect_eq([i for i in range(310, 350) if i not in mine], [], "the busiest are listed")
    expect_eq({i: n for i, n in mine.items() if n != (i + 1) * 1000 + 1}, {}, "stale counts")


MANY = '''
import sys
for i in range(8300):
    with open(f"{sys.argv[1]}/{i}", "wb", buffering=0) as f:
        f.write(b"abc")
'''


@job_test("calls on more files than the kernel's table takes are counted, and told")
def _():
    need("bpf")
    r = assay("run", "--files", "-o", "run.json", "--", sys.executable, "-c", MANY, tmp()).ok()
    origin = json.loads((tmp() / "run.json").read_text())["assay"]["origins"]["file.write"]
    expect_eq(origin["provenance"], "attributed")
    expect_in("calls on files past 8192 left out", origin["source"])
    expect_in(origin["source"], r.err)


@job_test("the summary and show have a table of files")
def _():
    need("bpf")
    r = assay("run", "--files", "--", work("io"), tmp() / "data", 10, 20000).ok()
    expect_in("Files", r.err)
    expect_in("data", r.err)
    expect_in("Files, the most read and written", assay("show").ok().out)


@job_test("without the right to, it says so, and the run is as ever")
def _():
    if not is_root():
        skip("only root can become somebody else")
    r = run(*as_nobody(public() / "assay", "run", "--no-store", "--files", "--", "true")).ok()
    expect_in("not known: needs root, or CAP_BPF and CAP_PERFMON", r.err)


@job_test("--files and --basic do not go together")
def _():
    r = assay("run", "--files", "--basic", "--", "true")
    expect_eq(r.rc, 125)
    expect_in("either --basic or --files, not both", r.err)


main()
