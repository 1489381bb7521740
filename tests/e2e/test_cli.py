#!/usr/bin/env python3
"""The command line as a whole: examples, pipes, closed streams, completions, man pages, doctor."""
import json
import os
import shutil
import signal
import subprocess
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
from fake_gym import *
from harness import *

HISTORY = ROOT / "tests/fixtures/keystone/jobs_history.jsonl"
PROFILE = ROOT / "tests/fixtures/profiles/go-cpu.pb.gz"


def history():
    """A store with runs of many kinds, and the files that the examples name."""
    shutil.copy(HISTORY, tmp() / "jobs_history.jsonl")
    for name in "profile", "before", "after":
        shutil.copy(PROFILE, tmp() / f"{name}.pb.gz")
    for name in "sort", "before", "after":
        capture(f"{name}.heap")
    assay("import", "keystone", "jobs_history.jsonl").ok()
    assay("run", "-q", "--name", "train-1", "--label", "team=physics", "--", "true").ok()


def capture(name):
    if not (tmp() / name).exists():
        assay("heap", "run", "-q", "--no-store", "-o", name, "--", "sort", "/etc/passwd").ok()


def path():
    return f"{BUILD}:{os.environ['PATH']}"


def without_files_left(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


# --- examples -----------------------------------------------------------------

@test("every example of every manual runs and succeeds")
def _():
    examples = assay("internal-docs", "examples").ok().out.splitlines()
    expect(len(examples) > 25, f"only {len(examples)} examples")
    start(ASSAY, "stub", "--listen", f"unix:{tmp()}/app.sock", stdout=subprocess.DEVNULL)
    wait_for(lambda: (tmp() / "app.sock").exists(), what="a server to load")
    Gym(path=tmp() / "agent.sock")
    (tmp() / "rows.jsonl").write_text("".join(json.dumps(row(i)) + "\n" for i in range(3)))
    for line in examples:
        shutil.rmtree(tmp() / "store", ignore_errors=True)
        history()
        r = run("sh", "-c", f"{{ {line}; }} >out", env={"PATH": path()})
        loads = ("assay load", "assay capacity", "assay sweep")
        busy = r.rc == 6 and line.startswith(loads)     # the machine, not the example
        expect(r.rc == 0 or busy, f"`{line}` exits with {r.rc}\n{r.err}")


@test("every command has a manual, an example, and options that say what they do")
def _():
    listed = [line.split("\t") for line in assay("internal-docs").ok().out.splitlines()]
    names = [words.split()[1:] for _, words in listed if words.startswith("manual ")]
    expect_in(["run"], names, "list of commands")
    expect_in(["heap", "run"], names, "list of commands")
    for name in names + [["job-history"], ["job-details"], ["job-stats"]]:
        page = assay("help", *name).ok().out
        expect_in("examples:", page, f"manual of {name}")
        expect_in("  heap run" if name == ["heap"] else "-h, --help", page, f"manual of {name}")
        expect(len(page.split("\n\n")[2]) > 60, f"the manual of {name} begins with nothing much")


# --- streams ------------------------------------------------------------------

def into_closed_pipe(*words, sigpipe):
    """(exit status, stderr) of a command whose reader has gone before it writes."""
    read, write = os.pipe()
    os.close(read)
    p = start(ASSAY, *words, stdout=write, stderr=subprocess.PIPE, text=True,
              preexec_fn=lambda: signal.signal(signal.SIGPIPE, sigpipe))
    os.close(write)
    err = p.communicate(timeout=20)[1]
    return p.returncode, err


@test("a reader that has seen enough ends assay without a word")
def _():
    for words in ["help"], ["help", "metrics"], ["jobs"]:
        expect_eq(into_closed_pipe(*words, sigpipe=signal.SIG_DFL), (-signal.SIGPIPE, ""), words)


@test("the same where the parent ignores SIGPIPE")
def _():
    for words in ["help"], ["help", "metrics"], ["jobs"]:
        expect_eq(into_closed_pipe(*words, sigpipe=signal.SIG_IGN), (141, ""), words)


@test("a full disk on standard output is an error")
def _():
    for words in "jobs", "help", "--version", "doctor --json", "help metrics":
        r = run("sh", "-c", f"assay {words} >/dev/full", env={"PATH": path()})
        expect_eq(r.rc, 74, f"status of {words}")
        expect_in("output: No space left on device", r.err, "stderr")


@test("a closed standard output is an error too, and nothing is written into the store instead")
def _():
    history()
    before = assay("jobs", "--ids").ok().out
    r = run("sh", "-c", "assay jobs >&-", env={"PATH": path()})
    expect_eq(r.rc, 74, "status")
    r = run("sh", "-c", "assay rm kilorun23456 <&- >&- 2>&-", env={"PATH": path()})
    expect_eq(r.rc, 74, "status of rm")
    expect_eq(assay("jobs", "--ids").ok().out, before.replace("kilorun23456\n", ""), "ids")


@test("words of the user cannot reach the terminal as control sequences")
def _():
    r = assay("show", "x\x1b[31m\x07y")
    expect("\x1b" not in r.err and "\x07" not in r.err, f"control bytes in {r.err!r}")


@test("commands that look at no machine do not open it")
def _():
    nowhere = {"ASSAY_ROOT": str(tmp() / "nowhere")}
    for words in "jobs", "stats", "help", "--version", "help metrics", "export":
        assay(*words.split(), env=nowhere).ok()
    r = assay("doctor", env=nowhere)
    expect_eq(r.rc, 66, "status of doctor")
    expect_in("ASSAY_ROOT", r.err, "stderr")


# --- import -------------------------------------------------------------------

@test("import: a line of 5 MB is refused, its neighbours come in")
def _():
    lines = HISTORY.read_text().splitlines()
    (tmp() / "big.jsonl").write_text("\n".join([lines[0], "x" * 5_000_000, lines[1]]))
    r = assay("import", "keystone", "big.jsonl")
    expect_eq(r.rc, 65, "status")
    expect_in("big.jsonl:2: longer than 4194304 bytes", r.err, "stderr")
    expect_eq(r.out, "imported 2 runs, 1 line could not be read\n", "stdout")


@test("import: NULs, half a line and DOS line ends")
def _():
    line = HISTORY.read_text().splitlines()[0].encode()
    (tmp() / "odd.jsonl").write_bytes(b"\0\0\0\n\r\n" + line + b"\r\n" + line[:50])
    r = assay("import", "keystone", "odd.jsonl")
    expect_eq(r.rc, 65, "status")
    expect_eq(r.out, "imported 1 run, 2 lines could not be read\n", "stdout")


@test("import: only the first twenty bad lines are told one by one")
def _():
    (tmp() / "bad.jsonl").write_text("{}\n" * 50)
    r = assay("import", "keystone", "bad.jsonl")
    expect_eq(r.rc, 65, "status")
    expect_eq(r.err.count("there is no task_id"), 20, "lines told")
    expect_in("and 30 more", r.err, "stderr")


@test("import never replaces a run that is there")
def _():
    shown = assay("run", "--json", "--name", "ours", "--", "true").ok().json()
    assay("export", "--format", "keystone", "-o", "ours.jsonl").ok()
    r = assay("import", "keystone", "ours.jsonl").ok()
    expect_eq(r.out, "imported 0 runs, 1 were already there\n", "stdout")
    expect_eq(assay("show", "--json").ok().json()["assay"], shown["assay"], "the run")


# --- rm, show, export ---------------------------------------------------------

@test("rm refuses a run that is going on, and then removes nothing")
def _():
    history()
    before = assay("jobs", "--ids").ok().out
    p = start(ASSAY, "run", "-q", "--name", "long", "--", "sleep", "60")
    live = wait_for(lambda: assay("jobs", "--status", "running", "--ids").ok().out.strip(),
                    what="the run in the list")
    r = assay("rm", "kilorun23456", live)
    expect_eq(r.rc, 2, "status")
    expect_in(f"run {live} is still going on", r.err, "stderr")
    expect_eq(assay("jobs", "--ids").ok().out, f"{live}\n{before}", "ids")
    expect_eq(assay("export", "--format", "csv").ok().out.count("\n"), 1 + len(before.split()) + 1,
              "lines exported: the running one is left out")
    stop(p)


@test("last is the run that started last, also beside one that has been going on for longer")
def _():
    p = start(ASSAY, "run", "-q", "--name", "long", "--", "sleep", "60")
    wait_for(lambda: assay("jobs", "--ids").ok().out, what="the run in the list")
    assay("run", "-q", "--name", "short", "--", "true").ok()
    expect_eq(assay("show", "--json").ok().json()["tool"], "short", "name of the last")
    stop(p)


@test("export -o to a place that cannot be written")
def _():
    history()
    expect_eq(assay("export", "-o", "no/where.json").rc, 66, "status")
    r = assay("export", "-o", "/dev/full")
    expect_eq(r.rc, 74, "status")
    expect_in("No space left on device", r.err, "stderr")


# --- doctor -------------------------------------------------------------------

@test("doctor --json: every row has a state, what it gives, and how to have it")
def _():
    probes = assay("doctor", "--json").ok().json()["probes"]
    expect(len(probes) >= 15, f"only {len(probes)} rows")
    for key, row in probes.items():
        expect(row["state"] in ("yes", "partly", "no"), f"{key}: {row}")
        expect(row["gives"] and row["detail"], f"{key}: {row}")
    expect_eq(probes["proc"]["state"], "yes", "/proc, which this test needs itself")


@test("doctor changes nothing and makes no store")
def _():
    assay("doctor").ok()
    expect_eq(without_files_left(tmp()), [], "files in an empty folder")


@test("doctor, as a user without privileges")
def _():
    if os.getuid() != 0 or not shutil.which("setpriv"):
        skip("needs root and setpriv to become somebody without privileges")
    tmp().chmod(0o755)
    p = run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
            ASSAY, "doctor", "--json")
    if p.rc in (126, 127):
        skip("the program is not readable for others here")
    probes = p.ok().json()["probes"]
    for key in "cgroup", "bpf":
        expect_eq(probes[key]["state"], "no", key)
    # Linux since 6.6 tells everybody of births and ends, but not of what was used.
    expect(probes["exits"]["state"] in ("no", "partly"), f"exits: {probes['exits']}")
    expect_in("setcap", probes["bpf"]["enable"], "what would enable BPF")
    expect_eq(probes["store"]["state"], "no", "a store in a folder of root")


# --- documents ----------------------------------------------------------------

@test("man pages pass mandoc's lint")
def _():
    if not shutil.which("mandoc"):
        skip("mandoc is not installed")
    for line in assay("internal-docs").ok().out.splitlines():
        file, words = line.split("\t")
        if not words.startswith("man") or words.startswith("manual"):
            continue
        (tmp() / "page").write_text(assay("internal-docs", *words.split()).ok().out)
        r = run("mandoc", "-T", "lint", "-W", "warning", "page")
        expect_eq((r.rc, r.out), (0, ""), f"mandoc about {file}")


COMPLETE = """
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_assay
printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(*words):
    (tmp() / "c.bash").write_text(assay("internal-docs", "bash").ok().out)
    r = run("bash", "--norc", "-c", COMPLETE, "bash", "c.bash", "assay", *words,
            env={"PATH": path()})
    return r.ok().out.split()


@test("bash completes commands, options, choices, runs, files and the words of other commands")
def _():
    if not shutil.which("bash"):
        skip("bash is not installed")
    history()
    expect_eq(complete("r"), ["run", "record", "rollouts", "report", "rm"], "commands")
    expect_eq(complete("jobs", "--so"), ["--sort"], "options")
    expect_eq(complete("jobs", "--sort", "m"), ["memory"], "choices")
    expect_eq(complete("jobs", "--sort", "=", "m"), ["memory"], "choices behind =")
    expect_eq(complete("show", "kil"), ["kilorun23456"], "runs")
    expect_eq(complete("show", "la"), ["last"], "the word last")
    expect_eq(complete("run", "-m", "cpu,fa"), ["cpu,faults"], "metrics")
    expect_eq(complete("run", "-o", "jobs_h"), ["jobs_history.jsonl"], "files")
    expect_in("sleep", complete("run", "--interval", "1", "slee"), "commands of others")
    expect_eq(complete("run", "--", "cat", "jobs_h"), ["jobs_history.jsonl"], "files of others")
    expect_eq(complete("help", "met"), ["metrics"], "topics")
    expect_eq(complete("heap", "t"), ["table", "tree", "transform"], "members of a family")
    expect_eq(complete("heap", "summary", "--so"), ["--sort"], "options of a member")
    expect_eq(complete("heap", "summary", "-s", "o"), ["own"], "choices of a member")
    expect_eq(complete("heap", "stats", "sort.h"), ["sort.heap"], "captures")
    expect_eq(complete("heap", "transform", "sp"), ["speedscope"], "formats of a member")
    expect_eq(complete("heap", "run", "-q", "cat", "jobs_h"), ["jobs_history.jsonl"],
              "files of what a member runs")
    expect_eq(complete("import", ""), ["keystone"], "formats")
    expect_eq(complete("import", "keystone", "jobs_h"), ["jobs_history.jsonl"], "files to import")


@test("the completion of zsh is at least zsh")
def _():
    if not shutil.which("zsh"):
        skip("zsh is not installed")
    (tmp() / "_assay").write_text(assay("internal-docs", "zsh").ok().out)
    run("zsh", "-n", "_assay").ok()


main()
