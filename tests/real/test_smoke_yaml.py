#!/usr/bin/env python3
"""What PyYAML writes, in every style that it has, read by assay and by PyYAML: the same."""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from told import *

try:
    import yaml
except ImportError:
    yaml = None

# Without what ends a line for YAML 1.1 only (U+0085, U+2028, U+2029), and NUL.
LETTERS = ["a", "b", "word", " ", " ", "  ", "\n", "\n\n", "\t", ": ", ":", "- ", "-", "#", " #",
           "'", '"', "\\", "{", "}", "[", "]", ",", "?", "!", "&", "*", "|", ">", "%", "@", "`",
           "é", "\x07", "\U0001f600", "~", "=", "http://h:1/x", "---", "...", "null", "1", "host: "]


def word(r):
    return "".join(r.choice(LETTERS) for _ in range(r.choice((0, 1, 1, 2, 4, 8, 40))))


def value(r, depth=0):
    kind = r.randrange(10) if depth < 5 else 9
    if kind < 3:
        return {word(r) if r.random() < 0.5 else r.choice("xyz") * r.choice((1, 3, 140)):
                value(r, depth + 1) for _ in range(r.randrange(4))}
    if kind < 5:
        return [value(r, depth + 1) for _ in range(r.randrange(4))]
    return r.choice((word(r), word(r), 7, -1.5, True, None, b"bytes" * 20, (1, "two")))


def twice(r):
    """Some of it stands there again, which has a name then."""
    shared = value(r)
    return {"one": shared, "more": [shared, value(r), {"inner": shared}]}


def written(r, document):
    return yaml.dump(document, default_flow_style=r.choice((False, None, True)),
                     default_style=r.choice((None, None, None, "'", '"', "|", ">")),
                     width=r.choice((20, 80, 1000)), indent=r.choice((2, 4)),
                     allow_unicode=r.random() < 0.5, sort_keys=False,
                     explicit_start=r.random() < 0.2)


@test("documents in every style of PyYAML's are read as PyYAML reads them")
def _():
    if not yaml:
        skip("python3-yaml is not installed")
    r = random.Random(6)
    texts = [written(r, twice(r) if r.random() < 0.2 else value(r)) for _ in range(6000)]
    for text, got in zip(texts, told("yaml", [[text.encode()] for text in texts])):
        want = yaml.load(text, Loader=yaml.BaseLoader)
        expect(got != ["bad"], f"not read: {text!r}")
        expect_eq(json.loads(got[0]), want, f"of {text!r}")


main()
