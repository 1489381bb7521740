"""guides -- the commands of docs/guides, run as they stand.

A section of a guide is one test. Its ```sh blocks run one after the other, each in a folder of
its own, with the Python files of the block before it and the program as `assay`; every command
must succeed. A ```text block shows what the
block before it prints: the words that begin its lines must begin lines of the real output too,
whatever the numbers. $EXAMPLES is the folder examples. A section that needs something big says so:

    <!-- needs: lammps -->
"""
import os
import pathlib
import re
import shutil
import subprocess

import harness
from harness import ASSAY, expect, run, skip, tmp
from jobs import job_test

GUIDES = sorted((pathlib.Path(__file__).resolve().parents[2] / "docs/guides").glob("*.md"))
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```\n", re.M | re.S)
NEEDS = re.compile(r"^<!-- needs: (.*) -->\n", re.M)

PROGRAMS = {"lammps": "lmp", "openfoam": "icoFoam"}     # that show what is installed
MODULES = {"dolfinx": "dolfinx", "fastapi": "fastapi, uvicorn"}


def sections(guide):
    """(title, needs, text) of every section of a guide."""
    for part in re.split(r"^(?=## )", guide.read_text(), flags=re.M)[1:]:
        needs = NEEDS.search(part)
        yield part.splitlines()[0][3:], needs[1] if needs else "", part


def steps(text):
    """The ```sh blocks, each with the ```text block that follows it, or ""."""
    found = []
    for kind, body in BLOCK.findall(text):
        if kind == "sh":
            found.append([body, ""])
        elif found:         # before the first it is only shown
            found[-1][1] = body
    return found


def fetch_source(name, folder):
    """The source of a Debian package, from where the machine has its packages from."""
    listed = "".join(p.read_text() for p in pathlib.Path("/etc/apt").glob("*/debian.sources"))
    system = pathlib.Path("/etc/os-release").read_text()
    place = re.search(r"^URIs:\s*(\S+)", listed, re.M)
    release = re.search(r"^VERSION_CODENAME=(\w+)", system, re.M)
    if not place or not release or not shutil.which("dpkg-source"):
        skip(f"the source of {name} cannot be fetched: this is no Debian with dpkg-dev")
    apt = folder / "apt"
    (apt / "lists/partial").mkdir(parents=True)
    (apt / "list").write_text(f"deb-src {place[1]} {release[1]} main\n")
    options = [f"-oDir::Etc::sourcelist={apt}/list", "-oDir::Etc::sourceparts=/dev/null",
               f"-oDir::State::lists={apt}/lists", "-qq"]
    for words in (["update"], ["source", name]):
        r = subprocess.run(["apt-get", *options, *words], cwd=folder, capture_output=True,
                           text=True)
        if r.returncode:
            skip(f"the source of {name} cannot be fetched: {r.stderr.strip()[:200]}")


def provide(needs, folder):
    """Skip, unless what the section needs is there or can be had."""
    if needs.startswith("source of "):
        fetch_source(needs.removeprefix("source of "), folder)
    elif needs in MODULES:
        python = ["/usr/bin/python3", "-c", f"import {MODULES[needs]}"]
        if subprocess.run(python, capture_output=True).returncode:
            skip(f"{needs} is not installed (make test-real installs it)")
    elif needs and not shutil.which(PROGRAMS[needs]):
        skip(f"{needs} is not installed (make test-real installs it)")


def perform(script, folder):
    """What the block prints; it must succeed."""
    bin_ = tmp() / "bin"
    bin_.mkdir(exist_ok=True)
    if not (bin_ / "assay").exists():
        (bin_ / "assay").symlink_to(ASSAY)
    env = {"PATH": f"{bin_}:{os.environ['PATH']}", "ASSAY_STORE": str(tmp() / "store"),
           "LC_ALL": "C.UTF-8", "COLUMNS": "100", "EXAMPLES": str(EXAMPLES)}
    r = run("sh", "-euc", script, cwd=folder, env=env, timeout=280)
    expect(r.rc == 0, f"exit status {r.rc} of:\n{script}\n{r.err[-1000:]}")
    return (r.out + r.err).rstrip("\n") + "\n"


def labels(text):
    """What the lines begin with, up to two spaces or a number: the words of a report."""
    found = []
    for line in text.splitlines():
        m = re.match(r"\s{0,2}([A-Za-z][A-Za-z/]*(?: [A-Za-z/]+)*)(?:  |$)", line)
        if m:
            found.append(m[1])
    return found


def folder_of(number):
    """Where that block runs: the programs of the one before are there."""
    folder = tmp() / f"step{number}"
    folder.mkdir()
    for program in (tmp() / f"step{number - 1}").glob("*.py"):
        shutil.copy(program, folder)
    return folder


def run_section(text, needs):
    """Run a section; returns the outputs of its blocks."""
    outputs = []
    for number, (script, shown) in enumerate(steps(text)):
        folder = folder_of(number)
        provide(needs, folder)
        got = perform(script, folder)
        for label in LASTING & set(labels(shown)):
            expect(label in labels(got), f"the guide shows a line {label!r}, but there is:\n{got}")
        outputs.append(got)
    return outputs


# Lines that a report always has; others come and go with what the job did that day.
LASTING = {"CPU time", "memory peak", "verdict", "assay", "next", "name"}


def tests_of(wanted):
    """Make every section for which wanted(needs) holds a test."""
    for guide in GUIDES:
        for title, needs, text in sections(guide):
            if wanted(needs) and steps(text):
                job_test(f"guide '{guide.stem}', {title}: every command works", 290)(
                    lambda text=text, needs=needs: run_section(text, needs))


def record():
    """Write what the blocks print today into the guides: python3 tests/lib/guides.py NAME…"""
    import sys
    import tempfile
    for guide in GUIDES:
        page = guide.read_text()
        for title, needs, text in sections(guide):
            if sys.argv[1:] and not any(word in title for word in sys.argv[1:]):
                continue
            harness.current["tmp"] = pathlib.Path(tempfile.mkdtemp(prefix="guide-"))
            new = text
            for (script, shown), got in zip(steps(text), run_section(text, needs)):
                new = new.replace(f"```sh\n{script}```\n```text\n{shown}```\n",
                                  f"```sh\n{script}```\n```text\n{got}```\n")
            page = page.replace(text, new)
            shutil.rmtree(harness.current["tmp"])
        guide.write_text(page)


if __name__ == "__main__":
    record()
