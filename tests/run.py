#!/usr/bin/env python3
"""Run the tests and say what came of them.

    tests/run.py [--build DIR] [--kind KIND]... [--again] [NAME]...

Every test program prints TAP; a NAME picks the programs whose name contains
it. The last line is always `N passed, N failed, N skipped`. A program that
dies, hangs, or runs fewer tests than it planned counts as a failure of its
own, and so does a run in which nothing ran.

    kind      programs                       what they are
    unit      BUILD/tests/unit/t_*           C, one per module
    golden    tests/golden/*.t               commands and what they print
    e2e       tests/e2e/test_*.py            the whole program, from outside
    fuzz      BUILD/tests/fuzz/replay_*      parsers over tests/fuzz/corpus/
    real      tests/real/test_*.py           with real components   (only when asked for)
    truth     tests/truth/test_*.py          against known answers  (only when asked for)

CI runs those of `real` that are called test_smoke_*.py. `make test` says --again:
a program that failed is run once more, alone, when the others of its kind are
done. If it passes then, it has passed, and what failed first is named on lines
`unsteady: NAME: TEST`. When many programs fail, the change is bad, not the
machine: then none is run again.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"

# kind: (seconds a program may take, how many at a time)
KINDS = {
    "unit": (120, 2),
    "golden": (120, 2),
    "e2e": (300, 2),
    "fuzz": (120, 2),
    "real": (1800, 1),
    "truth": (1800, 1),
}
AGAIN_MOST = 3              # programs of a kind
DEFAULT_KINDS = ["unit", "golden", "e2e", "fuzz"]

SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1",
    # variables of a library that was loaded late (libdw has some) are misread, up to a crash
    "LSAN_OPTIONS": f"use_tls=0:print_suppressions=0:suppressions={TESTS}/lsan.supp",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}


def programs(kind, build):
    """(name, command) of every test program of one kind."""
    def script(path):
        return f"{kind}/{path.stem}", [sys.executable, str(path)]

    def executable(path):
        return f"{kind}/{path.name}", [str(path)]

    def binaries(folder, pattern):
        return [p for p in sorted((build / folder).glob(pattern))
                if p.is_file() and os.access(p, os.X_OK)]

    if kind == "unit":
        return [executable(p) for p in binaries("tests/unit", "t_*")]
    if kind == "golden":
        runner = [sys.executable, str(TESTS / "golden/run.py")]
        return [(f"golden/{p.stem}", runner + [str(p)])
                for p in sorted((TESTS / "golden").glob("*.t"))]
    if kind == "fuzz":
        found = []
        for p in binaries("tests/fuzz", "replay_*"):
            corpus = TESTS / "fuzz/corpus" / p.name.removeprefix("replay_")
            found.append((f"fuzz/{p.name}", [str(p)] + sorted(str(f) for f in corpus.glob("*"))))
        return found
    return [script(p) for p in sorted((TESTS / kind).glob("test_*.py"))]


def environment(build, tmp):
    """No setting of the user's reaches a test, and no test reaches the user's store."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("ASSAY_") or k.startswith("ASSAY_TEST_")}
    for name, value in SANITIZERS.items():
        env.setdefault(name, value)
    env.update(ASSAY_BUILD=str(build), ASSAY_STORE=f"{tmp}/store", TMPDIR=tmp,
               PYTHONDONTWRITEBYTECODE="1")
    return env


running = set()             # process groups under way, for interrupt()
interrupted = False


def end_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def interrupt(*_):
    """Ctrl-C, or CI's patience is over: end what runs, start nothing, still count."""
    global interrupted
    interrupted = True
    for pid in list(running):
        end_group(pid)


def unmount_below(folder):
    """A test that was killed may have left something mounted: nobody may delete that."""
    with open("/proc/self/mountinfo") as f:
        places = [line.split()[4] for line in f]
    for place in reversed([p for p in places if p.startswith(f"{folder}/")]):
        subprocess.run(["umount", "--lazy", place], stderr=subprocess.DEVNULL)


def execute(command, build, seconds):
    """Run one program to its end, or to ours. Returns (exit status or None, output)."""
    if interrupted:
        return -signal.SIGINT, ""
    with tempfile.TemporaryDirectory(prefix="assay-test-", ignore_cleanup_errors=True) as tmp, \
            tempfile.TemporaryFile() as out:
        os.chmod(tmp, 0o755)  # tests that become another user must get in
        p = subprocess.Popen(command, cwd=ROOT, env=environment(build, tmp), stdout=out,
                             stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                             start_new_session=True)
        running.add(p.pid)
        try:
            status = p.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            status = None
        running.discard(p.pid)
        end_group(p.pid)    # also what the program left behind
        p.wait()
        unmount_below(tmp)
        out.seek(0)
        return status, out.read().decode(errors="replace")


PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*skip\S*\s*(.*))?$", re.I)
RESULT = re.compile(r"(not )?ok\b\s*\d*\s*-?\s*(.*?)(?:\s*#\s*skip\S*\s*(.*))?$", re.I)


def parse_tap(text):
    """(passed, [names of failed], [(name, why) of skipped], number planned or None)."""
    passed, failed, skipped, plan = 0, [], [], None
    for line in text.splitlines():
        if m := PLAN.match(line):
            plan = int(m[1])
            if plan == 0 and "#" in line:
                skipped.append(("all", m[2] or "no reason given"))
                plan = 1    # one skip stands for the whole program
        elif m := RESULT.match(line):
            if m[1]:
                failed.append(m[2])
            elif m[3] is not None:
                skipped.append((m[2], m[3] or "no reason given"))
            else:
                passed += 1
    return passed, failed, skipped, plan


def judge(status, text, seconds):
    """As parse_tap, with one more failure when the program itself went wrong."""
    passed, failed, skipped, plan = parse_tap(text)
    ran = passed + len(failed) + len(skipped)
    if status is None:
        failed.append(f"no end after {seconds} s")
    elif status < 0:
        failed.append(f"died of {signal.Signals(-status).name}")
    elif plan is None:
        failed.append(f"printed no plan (1..N), exit status {status}")
    elif ran != plan:
        failed.append(f"planned {plan} tests and ran {ran}, exit status {status}")
    elif ran == 0:
        failed.append("ran no test")
    elif status != 0 and not failed:
        failed.append(f"exit status {status} although no test failed")
    return passed, failed, skipped


# unsteady: what failed at first and passed when it was run again.
Result = collections.namedtuple("Result", "name passed failed skipped unsteady")


def run_one(name, command, build, seconds):
    start = time.monotonic()
    status, text = execute(command, build, seconds)
    passed, failed, skipped = judge(status, text, seconds)
    took = time.monotonic() - start
    counts = f"{passed} passed"
    if failed:
        counts += f", {len(failed)} FAILED"
    if skipped:
        counts += f", {len(skipped)} skipped"
    line = f"{'FAIL' if failed else 'ok':4} {name:32} {counts}  ({took:.1f} s)"
    if failed:
        line += "\n" + "".join(f"     | {t}\n" for t in text.splitlines())
        line += "\n".join(f"     failed: {t}" for t in failed)
    print(line, flush=True)
    return Result(name, passed, failed, skipped, [])


def run_again(results, commands, build, seconds):
    """Give those that failed, if they are few, a second chance, alone."""
    bad = [i for i, r in enumerate(results) if r.failed]
    if len(bad) > AGAIN_MOST:
        return
    for i in bad:
        first = results[i]
        print(f"again: {first.name}", flush=True)
        second = run_one(first.name, commands[first.name], build, seconds)
        results[i] = second if second.failed else second._replace(unsteady=first.failed)


def run_kind(kind, build, names, patience, again):
    seconds, at_once = KINDS[kind]
    seconds *= patience
    chosen = [(name, command) for name, command in programs(kind, build)
              if not names or any(n in name for n in names)]
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        results = list(pool.map(lambda nc: run_one(*nc, build, seconds), chosen))
    if again and not interrupted:
        run_again(results, dict(chosen), build, seconds)
    return results


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--build", default="build", type=pathlib.Path)
    args.add_argument("--kind", action="append", choices=list(KINDS))
    args.add_argument("--patience", default=1, type=int, help="multiplies every time limit")
    args.add_argument("--again", action="store_true", help="what failed is run once more, alone")
    args.add_argument("name", nargs="*")
    args = args.parse_args()

    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    build = args.build.resolve()
    results = []
    for kind in args.kind or DEFAULT_KINDS:
        results += run_kind(kind, build, args.name, args.patience, args.again)

    for r in results:
        for test, why in r.skipped:
            print(f"skipped: {r.name}: {test}: {why}")
    for r in results:
        for test in r.failed:
            print(f"failed: {r.name}: {test}")
    for r in results:
        for test in r.unsteady:
            print(f"unsteady: {r.name}: {test}")
    passed = sum(r.passed for r in results)
    failed = sum(len(r.failed) for r in results)
    skipped = sum(len(r.skipped) for r in results)
    if passed + failed == 0:
        print("no test ran")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
