#!/usr/bin/env python3
"""torture -- fail every allocation once, and see that the program stays standing.

    tests/torture.py [--build DIR] [--most N] [TEXT]...

tests/torture.list holds one shell command a line. Each is run with
ASSAY_FAULT_AT=1, 2, 3, ... up to the number of allocations it makes (at most
N of them, evenly spread, with --most). After a fault the program may only

    say so       exit 71 (or 125 from `assay run`) and name memory on stderr,
    survive      exit and print as it does without the fault (numbers aside),
    do less      exit as without the fault, and name memory on stderr.

A crash, a hang, a sanitizer's report, silence: each is a failure. A crash or a
report counts at once. Anything else is tried twice more, as a slow moment can
look like it: only what goes wrong each time is a failure, the rest is told as
unsteady. TEXT picks the commands that contain it.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tests/torture.list"
SECONDS = 60            # for one run
SANITIZER_EXIT = 99
SHOWN = 3               # failures of a command that are printed in full
TRIES = 3               # in which it must go wrong each time
CERTAIN = ("the sanitizer reports", "died of signal")   # no slow moment looks like these


def parse(text):
    """[(setup commands, command, check command or None)], see torture.list."""
    cases, setup, check = [], [], None
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("setup:"):
            setup = setup + [line.removeprefix("setup:").strip()]
        elif line.startswith("check:"):
            check = line.removeprefix("check:").strip()
        elif line == "fresh":
            setup, check = [], None
        elif line and not line.startswith("#"):
            cases.append((setup, line, check))
    return cases


def run(command, cwd, build, **env):
    """(exit status or None, stdout, stderr) of one shell command in `cwd`."""
    full = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
    san = f"exitcode={SANITIZER_EXIT}:detect_leaks=1"
    leaks = f"use_tls=0:print_suppressions=0:suppressions={ROOT}/tests/lsan.supp"
    full.update(ASSAY_STORE=f"{cwd}/store", ASAN_OPTIONS=san, LSAN_OPTIONS=leaks,
                UBSAN_OPTIONS="print_stacktrace=1",
                LC_ALL="C.UTF-8", TZ="UTC", COLUMNS="80", ROOT=str(ROOT),
                PATH=f"{build}:{full['PATH']}", **env)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen(["/bin/sh", "-c", command], cwd=cwd, env=full, stdout=out, stderr=err,
                             stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status = p.wait(SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()
        texts = []
        for f in out, err:
            f.seek(0)
            texts.append(f.read().decode(errors="replace"))
    return status, *texts


def normalise(text):
    """The words of the output: what was measured, ids and the shape of columns may change."""
    text = re.sub(r"\b[a-z2-7]{12}\b", "ID", text)
    text = re.sub(r"(?<=\d) (?=\d{3}/s)", "", text)     # 9 999/s
    unit = r"(?:[kKMGTPmunμ]?i?(?:B|s|Hz|W|J)(?:/s)?|[kKMGTP%mh])"
    text = re.sub(rf"<?[-+]?\d[\d.,:]*\s*{unit}?(?!\w)", "N", text)
    return text.split()


def shape(value):
    """Which keys a document has, and where; how many samples and processes there were varies.

    A slow moment makes a job long enough for a time series: that it is there tells nothing.
    """
    if isinstance(value, dict):
        return {key: shape(v) for key, v in value.items() if key != "time_series"}
    if isinstance(value, list):
        return "list"
    return "leaf"


def same(command, out, base_out):
    """Is it the same output? A measurement is the same when its document has the same shape."""
    if re.search(r"assay (run|attach) .*--json", command):
        lines, base_lines = out.splitlines(), base_out.splitlines()
        try:
            return (lines[:-1] == base_lines[:-1]
                    and shape(json.loads(lines[-1])) == shape(json.loads(base_lines[-1])))
        except (IndexError, ValueError):
            return False
    return normalise(out) == normalise(base_out)


def judge(command, status, out, err, base):
    """None if this way to end is allowed, else what is wrong with it."""
    base_status, base_out, _ = base
    summary = " ".join(out.split())     # which may say it too
    said_so = "memory" in err.lower() or re.search(
        r"memory ran out|no (file )?descriptor, port or memory", summary)
    if status is None:
        return f"no end after {SECONDS} s"
    if "Sanitizer" in err or "runtime error:" in err or status == SANITIZER_EXIT:
        return "the sanitizer reports"
    if status < 0 or status >= 128:
        return f"died of signal {-status if status < 0 else status - 128}"
    if status in (71, 125):
        return None if said_so else f"exit {status} without naming memory on stderr"
    if status != base_status:
        return f"exit {status}, which is neither 71 nor the usual {base_status}"
    if not said_so and not same(command, out, base_out):
        return "other output, and not a word about it"
    return None


def attempt(at, template, command, check, build, base):
    """Run with the at-th allocation failing. (What went wrong or None, all that was printed)."""
    with tempfile.TemporaryDirectory(prefix="torture-") as tmp:
        work = shutil.copytree(template, f"{tmp}/w")
        status, out, err = run(command, work, build, ASSAY_FAULT_AT=str(at))
        wrong = judge(command, status, out, err, base)
        if not wrong and check:
            status, out, err = run(check, work, build)
            if status != 0:
                wrong = f"afterwards `{check}` exits with {status}"
    return wrong, out + err


def one_fault(at, *how):
    """None, or (a description of what went wrong, whether it does so each time)."""
    wrong, told = attempt(at, *how)
    steady = True
    for _ in range(1, TRIES):
        if not wrong or wrong.startswith(CERTAIN):
            break
        again, text = attempt(at, *how)
        if not again:
            steady = False
            break
        wrong, told = again, text
    return wrong and (f"fault {at}: {wrong}\n" + "".join(
        f"     | {line}\n" for line in told.splitlines()[:40]), steady)


def pick(total, most):
    """1..total, or `most` of them evenly spread."""
    if not most or total <= most:
        return list(range(1, total + 1))
    return sorted({1 + i * (total - 1) // max(most - 1, 1) for i in range(most)})


def torture(case, build, most):
    """Returns (text for the line, [failures], [what went wrong, but not again])."""
    setup, command, check = case
    with tempfile.TemporaryDirectory(prefix="torture-") as tmp:
        template, count = pathlib.Path(tmp, "template"), pathlib.Path(tmp, "count")
        template.mkdir()
        for line in setup:
            status, out, err = run(line, template, build)
            if status != 0:
                return "", [f"setup `{line}` exits with {status}\n{out}{err}"], []
        first = shutil.copytree(template, f"{tmp}/first")
        base = run(command, first, build, ASSAY_FAULT_COUNT=str(count))
        wrong = judge(command, *base, base)
        total = int(count.read_text()) if count.exists() else 0
        if wrong or not total:
            return "", [f"without a fault: {wrong or 'no fault points, is this a torture build?'}\n"
                        f"{base[1]}{base[2]}"], []
        faults = pick(total, most)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(lambda at: one_fault(at, template, command, check, build, base),
                               faults)
            found = [r for r in results if r]
    bad = [text for text, steady in found if steady]
    unsteady = [text for text, steady in found if not steady]
    note = f", {len(unsteady)} unsteady" if unsteady else ""
    return f"{len(faults)} of {total} faults{note}", bad, unsteady


def show(texts, what):
    """The first of them in full, how many there are else."""
    for text in texts[:SHOWN]:
        print(f"     {what}", text.rstrip("\n"))
    if len(texts) > SHOWN:
        print(f"     and {len(texts) - SHOWN} more")


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--build", default=ROOT / "build-torture", type=pathlib.Path)
    args.add_argument("--list", default=LIST, type=pathlib.Path)
    args.add_argument("--most", default=0, type=int, metavar="N", help="faults for one command")
    args.add_argument("text", nargs="*")
    args = args.parse_args()

    passed = failed = 0
    for case in parse(args.list.read_text()):
        if args.text and not any(t in case[1] for t in args.text):
            continue
        note, bad, unsteady = torture(case, args.build.resolve(), args.most)
        print(f"{'FAIL' if bad else 'ok':4} {case[1]}: {note}", flush=True)
        show(bad, "bad:")
        show(unsteady, "unsteady:")
        passed, failed = passed + (not bad), failed + bool(bad)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
