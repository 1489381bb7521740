#!/usr/bin/env python3
"""The tools that judge the project are judged here: each must be able to say no.

tests/run.py, tests/golden/run.py, tests/torture.py, tests/unit/utest.h and
bench/run.py are given toy programs that go wrong in every way they claim to notice.
"""
import json
import os
import pathlib
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *

PYTHON = sys.executable


def script(path, *lines):
    path = tmp() / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
    path.chmod(0o755)


def compile_c(source, output, *flags):
    (tmp() / output).parent.mkdir(parents=True, exist_ok=True)
    run("gcc", "-std=gnu17", "-D_GNU_SOURCE", "-I", ROOT / "src", "-I", ROOT / "tests/unit", *flags,
        source, "-o", tmp() / output, "-lm").ok()


# --- tests/run.py -------------------------------------------------------------

def run_tests(*args):
    """Run a copy of the runner, so that it sees only the toy programs in tmp()."""
    (tmp() / "tests").mkdir(exist_ok=True)
    shutil.copy(ROOT / "tests/run.py", tmp() / "tests")
    return run(PYTHON, tmp() / "tests/run.py", "--build", tmp() / "b", *args)


def last_line(r):
    return r.out.splitlines()[-1]


def judged(want, *lines):
    """A unit test program with these lines must lead to this last line."""
    script("b/tests/unit/t_toy", *lines)
    r = run_tests()
    expect_eq(last_line(r), want, f"last line of\n{r.out}\n")
    expect_eq(r.rc, 1 if " 0 failed" not in want or want[0] == "0" else 0, "exit status")
    return r.out


@test("what a program leaves mounted is unmounted before its folder is deleted")
def _():
    if os.geteuid():
        skip("needs root")
    kept = tmp() / "kept"
    kept.mkdir()
    (kept / "file").touch()
    script("b/tests/unit/t_toy", 'mkdir "$TMPDIR/m"', f'echo "$TMPDIR/m" >{tmp()}/where',
           f'mount --bind {kept} "$TMPDIR/m" || touch {tmp()}/refused',
           "echo 1..1; echo ok 1 - a")
    expect_eq(last_line(run_tests()), "1 passed, 0 failed, 0 skipped", "last line")
    if (tmp() / "refused").exists():
        skip("nothing can be mounted here")
    expect((kept / "file").exists(), "what was mounted was deleted")
    mounted = pathlib.Path("/proc/mounts").read_text()
    expect((tmp() / "where").read_text().strip() not in mounted, "still mounted")


@test("a program that fails once is unsteady, and only with --again")
def _():
    script("b/tests/unit/t_other", "echo 1..1; echo ok 1 - c")
    once = tmp() / "once"
    script("b/tests/unit/t_toy", "echo 1..2; echo ok 1 - a",
           f"[ -e {once} ] || {{ touch {once}; echo not ok 2 - b; exit 1; }}", "echo ok 2 - b")
    r = run_tests("--again")
    expect_eq(last_line(r), "3 passed, 0 failed, 0 skipped", f"last line of\n{r.out}\n")
    expect_eq(r.rc, 0, "exit status")
    expect_eq(r.out.splitlines()[-2], "unsteady: unit/t_toy: b", "the line before")
    expect_in("not ok 2 - b", r.out)
    once.unlink()
    r = run_tests()
    expect_eq(last_line(r), "2 passed, 1 failed, 0 skipped", f"last line of\n{r.out}\n")
    expect("unsteady" not in r.out, "unsteady without --again")


@test("what fails twice has failed, and many failures are not tried again")
def _():
    for n in range(3):
        script(f"b/tests/unit/t_{n}", "echo 1..1; echo not ok 1 - a; exit 1")
    r = run_tests("--again")
    expect_eq((last_line(r), r.rc), ("0 passed, 3 failed, 0 skipped", 1), f"end of\n{r.out}\n")
    expect_eq(r.out.count("again: "), 3, "programs run again")
    expect("unsteady" not in r.out, "failed twice, yet unsteady")
    script("b/tests/unit/t_3", "echo 1..1; echo not ok 1 - a; exit 1")
    r = run_tests("--again")
    expect_eq((last_line(r), r.rc), ("0 passed, 4 failed, 0 skipped", 1), f"end of\n{r.out}\n")
    expect("again: " not in r.out, "so many failures, and they are run again")


@test("the runner counts what passed, failed and was skipped, and why")
def _():
    judged("2 passed, 0 failed, 0 skipped", "echo 1..2; echo ok 1 - a; echo ok 2 - b")
    out = judged("1 passed, 1 failed, 1 skipped", "echo 1..3; echo ok 1 - a; echo '# because'",
                 "echo not ok 2 - b; echo 'ok 3 - c # SKIP no gpu'; exit 1")
    expect_in("# because", out)
    expect_in("skipped: unit/t_toy: c: no gpu", out)
    expect_in("failed: unit/t_toy: b", out)


@test("the runner fails a program that dies, is silent, or does less than it planned")
def _():
    judged("1 passed, 1 failed, 0 skipped", "echo 1..1; echo ok 1; kill -SEGV $$")
    judged("1 passed, 1 failed, 0 skipped", "echo 1..2; echo ok 1")
    judged("1 passed, 1 failed, 0 skipped", "echo 1..1; echo ok 1; exit 3")
    judged("0 passed, 1 failed, 0 skipped", "echo 1..0")
    judged("0 passed, 1 failed, 0 skipped", "exit 0")


@test("the runner fails when nothing ran")
def _():
    expect_eq((run_tests().rc, last_line(run_tests())), (1, "0 passed, 0 failed, 0 skipped"))
    judged("0 passed, 0 failed, 1 skipped", "echo '1..0 # SKIP not root'")


@test("the runner ends a program that hangs, and what a program left behind")
def _():
    script("b/tests/unit/t_toy", "echo 1..1; echo ok 1; sleep 300 & echo $! >$PIDS/left")
    script("b/tests/unit/t_slow", "echo $$ >$PIDS/slow; echo 1..1; sleep 300")
    r = run_tests("t_toy")      # copies the runner
    runner = tmp() / "tests/run.py"
    runner.write_text(runner.read_text().replace('"unit": (120,', '"unit": (1,'))
    r = run(PYTHON, runner, "--build", tmp() / "b", env={"PIDS": str(tmp())})
    expect_in("failed: unit/t_slow: no end after 1 s", r.out)
    expect_eq(last_line(r), "1 passed, 1 failed, 0 skipped")
    for name in "left", "slow":
        expect(not alive((tmp() / name).read_text().strip()), f"{name} is still there")


@test("the runner picks programs by name and by kind")
def _():
    script("b/tests/unit/t_one", "echo 1..1; echo ok 1")
    script("b/tests/fuzz/replay_two", "echo 1..1; echo ok 1")
    (tmp() / "tests/e2e").mkdir(parents=True)
    (tmp() / "tests/e2e/test_three.py").write_text("print('1..1'); print('ok 1 - three')\n")
    expect_eq(last_line(run_tests()), "3 passed, 0 failed, 0 skipped")
    expect_eq(last_line(run_tests("--kind", "fuzz")), "1 passed, 0 failed, 0 skipped")
    expect_eq(last_line(run_tests("one", "three")), "2 passed, 0 failed, 0 skipped")


# --- tests/golden/run.py ------------------------------------------------------

def golden(text, *args):
    """Run a copy of the golden runner over one file, with a toy `assay`."""
    shutil.copytree(ROOT / "tests/golden", tmp() / "tests/golden", dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("*.t"))
    (tmp() / "tests/fixtures/demo/proc").mkdir(parents=True, exist_ok=True)
    script("build/assay", 'echo "root $ASSAY_ROOT"', "echo", 'echo "store $ASSAY_STORE id $$"',
           "echo sorry >&2", "exit 3")
    if text is not None:
        (tmp() / "tests/golden/x.t").write_text(text)
    return run(PYTHON, tmp() / "tests/golden/run.py", "--build", tmp() / "build", *args)


GOLDEN = """\
# a sentence
fixture demo

$ assay
? 3
! sorry
root ROOT/tests/fixtures/demo

store TMP/store id <...>

# another
$ echo one
one
"""


@test("a golden file that says what is printed passes")
def _():
    r = golden(GOLDEN)
    expect_eq(r.out, "1..2\nok 1 - assay\nok 2 - echo one\n")
    expect_eq(r.rc, 0, "exit status")


@test("a golden file fails on another line, exit status, error text or blank line")
def _():
    for old, new in [("\none", "\ntwo"), ("? 3", "? 4"), ("! sorry", "! no"),
                     ("demo\n\nstore", "demo\nstore")]:
        r = golden(GOLDEN.replace(old, new, 1))
        expect(r.rc == 1 and "not ok" in r.out, f"{new!r} passes:\n{r.out}")


@test("a golden file is rewritten on request, and its wildcards stay")
def _():
    golden(GOLDEN.replace("\none", "\ntwo").replace("? 3\n", ""), "--update").ok()
    expect_eq((tmp() / "tests/golden/x.t").read_text(), GOLDEN, "rewritten file")
    golden(None).ok()


# --- tests/unit/utest.h -------------------------------------------------------

@test("a unit test that is wrong, crashes, hangs or reads too far is one red line")
def _():
    (tmp() / "t.c").write_text("""
#define UTEST_SECONDS 1
#include "utest.h"
struct as_err { char msg[9]; };
static void t_good(void) { EXPECT(1); EXPECT_U64(1, 1); EXPECT_STR("a", "a"); utest_dir(); }
static void t_i64(void) { EXPECT_I64(-1, 2); }
static void t_str(void) { EXPECT_STR(NULL, "b"); }
static void t_near(void) { EXPECT_NEAR(1.0, 2.0, 0.5); }
static void t_ok(void) { struct as_err err = {"why"}; EXPECT_OK(-5, err); }
static void t_skip(void) { SKIP("no %s", "gpu"); }
static void t_crash(void) { raise(SIGSEGV); }
static void t_hang(void) { for (;;) pause(); }
static void t_edge(void) { volatile char *p = utest_edge("abc", 3); EXPECT(p[2]); EXPECT(p[3]); }
UTEST_MAIN(T(t_good), T(t_i64), T(t_str), T(t_near), T(t_ok), T(t_skip), T(t_crash), T(t_hang),
           T(t_edge))
""")
    compile_c(tmp() / "t.c", "t")
    r = run(tmp() / "t", env={"TMPDIR": str(tmp())})
    expect_eq(r.rc, 1, "exit status")
    results = [line for line in r.out.splitlines() if "ok" in line.split()[:2]]
    expect_eq([line.startswith("ok") for line in results],
              [True] + [False] * 4 + [True] + [False] * 3, "what passed")
    for text in ("-1 is -1, want 2", '"(null)", want', "want 2 +- 0.5", "returned -5: why",
                 "ok 6 - t_skip # SKIP no gpu", "signal 11", "hung: no end after 1 s"):
        expect_in(text, r.out)
    expect_eq(list(tmp().glob("utest-*")), [], "directories left behind")


# --- tests/torture.py ---------------------------------------------------------

TORTURED = """
#include "base/fault.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(int c, char **v)
{
    char way = c > 1 ? v[1][0] : 0, *a = as_zalloc(9), *b = as_zalloc(9);
    int lost = !a || !b;
    if (lost && c > 2 && open(v[2], O_CREAT | O_EXCL, 0600) < 0) way = 'i';
    if (lost && way == 'c') { *(volatile char *)0 = 1; }
    if (lost && way == 'o') { puts("something else"); return 0; }
    if (lost && way == 's') return 71;
    if (lost && way == 'x') { fprintf(stderr, "out of memory\\n"); return 1; }
    if (lost && way != 'i') { fprintf(stderr, "out of memory\\n"); return 71; }
    printf("took %d ms\\n", (int)getpid());
    return 0;
}
"""


@test("torture accepts saying so and surviving; not a crash, silence, other words or another exit")
def _():
    (tmp() / "toy.c").write_text(TORTURED)
    compile_c(tmp() / "toy.c", "b/assay", "-DAS_TORTURE", ROOT / "src/base/fault.c")
    (tmp() / "list").write_text(
        "setup: echo kept >file\ncheck: grep -q kept file\n# ways to end\n"
        "assay good\nassay ignore\nassay crash\nassay other\nassay silent\nassay x\n"
        "assay good; rm file\nfresh\ntrue\n")
    r = run(PYTHON, ROOT / "tests/torture.py", "--build", tmp() / "b", "--list", tmp() / "list")
    words = {line[5:].split(":")[0]: line[:4].strip() for line in r.out.splitlines()
             if line.startswith(("ok ", "FAIL "))}
    expect_eq(words, {"assay good": "ok", "assay ignore": "ok", "assay crash": "FAIL",
                      "assay other": "FAIL", "assay silent": "FAIL", "assay x": "FAIL",
                      "assay good; rm file": "FAIL", "true": "FAIL"}, f"{r.out}\nresults")
    expect_in("assay good: 2 of 2 faults", r.out)
    expect_eq((r.rc, last_line(r)), (1, "2 passed, 6 failed, 0 skipped"))


@test("torture names what goes wrong once only, and refuses a crash however seldom it is")
def _():
    (tmp() / "toy.c").write_text(TORTURED)
    compile_c(tmp() / "toy.c", "b/assay", "-DAS_TORTURE", ROOT / "src/base/fault.c")
    (tmp() / "list").write_text(f"assay other {tmp()}/seen\nassay crash {tmp()}/felt\n")
    r = run(PYTHON, ROOT / "tests/torture.py", "--build", tmp() / "b", "--list", tmp() / "list")
    expect_in("ok   assay other", r.out)
    expect_in("2 of 2 faults, 1 unsteady\n", r.out)
    expect_in("something else", r.out)
    expect_in("FAIL assay crash", r.out)
    expect_eq((r.rc, last_line(r)), (1, "1 passed, 1 failed, 0 skipped"))


# --- bench/run.py -------------------------------------------------------------

@test("what a benchmark said of its budgets before is gone when it says something else")
def _():
    folder = tmp() / "repo"
    for name in ("bench/run.py", "bench/harness.py", "bench/peers.py", "bench/peers.lock",
                 "docs/overhead.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    told = {"name": "own", "quick": False, "columns": ["x"], "rows": [["y"]], "notes": [],
            "conditions": {"date": "d", "kernel": "k", "cpus": 1, "cpu": "c", "python": "p",
                           "root": True, "others": 0, "steal": 0},
            "budgets": [["called otherwise now", "≤ 1", "2", "over"]]}
    (folder / "build/bench").mkdir(parents=True)
    (folder / "build/bench/own.json").write_text(json.dumps(told))
    run(PYTHON, folder / "bench/run.py", "--build", folder / "build", "--render", "own").ok()
    rows = [line for line in (folder / "docs/overhead.md").read_text().splitlines()
            if line.startswith("| own |")]
    expect_eq(rows, ["| own | called otherwise now | ≤ 1 | 2 | over |"], "rows of its budgets")
    before = [r for r in (ROOT / "docs/overhead.md").read_text().splitlines()
              if r.startswith("| heap |")]
    after = [r for r in (folder / "docs/overhead.md").read_text().splitlines()
             if r.startswith("| heap |")]
    expect_eq(after, before, "rows of another")


main()
