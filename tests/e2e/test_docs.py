#!/usr/bin/env python3
"""What docs/truth.md says of the tests is true: they exist."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from harness import *

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rows():
    """(number, what holds it) of every pitfall in the table."""
    page = (ROOT / "docs/truth.md").read_text()
    return re.findall(r"^\| (\d+) \|[^|]*\| (.*) \|$", page, re.M)


def held(text):
    """(file, beginnings of its tests' names) of each reference in a row."""
    for part in text.split("; `"):
        m = re.match(r"`?([a-z0-9]+/[a-z0-9_]+\.(?:py|c))`(?:: (.*))?$", part)
        if m:
            yield m[1], m[2] or ""


def source_of(name):
    path = ROOT / "tests" / name
    expect(path.exists(), f"docs/truth.md names tests/{name}, which is not there")
    return path.read_text()


@test("every pitfall from 1 to 25 has its row")
def _():
    expect_eq([int(number) for number, _ in rows()], list(range(1, 26)), "numbers of the rows")


@test("every test that the table of pitfalls names exists")
def _():
    named = 0
    for number, text in rows():
        for name, tests in held(text):
            source, named = source_of(name), named + 1
            for one in re.findall(r"\bt_[a-z0-9_]+", tests):
                expect(f"T({one})" in source, f"pitfall {number}: no {one} in tests/{name}")
            for one in tests.split("; ") if name.endswith(".py") else ():
                one = one.split(" …")[0]
                expect(one and one in source, f"pitfall {number}: no {one!r} in tests/{name}")
    expect(named >= 30, f"only {named} references were found: the table has another form now")


main()
