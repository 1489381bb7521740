#!/usr/bin/env python3
"""drift -- generated files are what their generator prints today.

    tools/drift.py            rewrite them all (`make docs`)

tools/lint.py compares them and names those that differ. To add one: a row in
GENERATED; the documents made from the program's own tables (man pages, manual,
completions) are listed by the program itself. A row with a mark replaces only
the text between the lines `<!-- generated: MARK -->` and `<!-- end: MARK -->`
of the file.
"""
import pathlib
import subprocess
import sys

# (file, mark or None for the whole file, command that prints it)
GENERATED = [
    ("NOTICE", None, [sys.executable, "tools/notice.py"]),
    *[(f"web/{page}.js", None, [sys.executable, "tools/page.py", page])
      for page in ("report", "flame", "svg", "table")],
]
CANNOT_TELL = 77        # exit status of a generator that needs what this machine has not

# Prints "FILE<tab>WORDS" for each document that it prints when it is given these words.
PROGRAM = ["build/assay", "internal-docs"]
# Folders in which nothing else may lie.
PROGRAM_ONLY = ["docs/man", "docs/manual", "completions"]


def table(root):
    """All rows: those above and the program's."""
    try:
        p = subprocess.run(PROGRAM, cwd=root, capture_output=True, text=True, timeout=60,
                           stdin=subprocess.DEVNULL)
    except OSError:
        return GENERATED + [("docs/man/assay.1", None, PROGRAM)]    # fresh() says what is wrong
    rows = [line.split("\t") for line in p.stdout.splitlines()]
    return GENERATED + [(path, None, PROGRAM + words.split()) for path, words in rows]


class CannotTell(Exception):
    """The generator does not run here; the text says why."""


def leftovers(root, rows):
    """Files that a command which is no more has left behind."""
    known = {path for path, _, _ in rows}
    found = [f for d in PROGRAM_ONLY for f in sorted((root / d).glob("*"))]
    return [str(f.relative_to(root)) for f in found if str(f.relative_to(root)) not in known]


def fresh(root, path, mark, command):
    """The file's text as it should be; ValueError says why that cannot be known."""
    try:
        p = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60,
                           stdin=subprocess.DEVNULL)
    except OSError as e:
        raise ValueError(f"cannot run {command[0]}: {e.strerror}") from None
    if p.returncode == CANNOT_TELL:
        raise CannotTell(p.stderr.strip())
    if p.returncode != 0:
        raise ValueError(f"`{' '.join(command)}` exited with {p.returncode}: {p.stderr.strip()}")
    if mark is None:
        return p.stdout
    if not (root / path).exists():
        raise ValueError("does not exist")
    text = (root / path).read_text()
    begin, end = f"<!-- generated: {mark} -->\n", f"<!-- end: {mark} -->\n"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"no lines {begin.strip()} and {end.strip()}")
    return head + begin + p.stdout.rstrip("\n") + "\n" + end + tail


def drifted(root, rows=None):
    """[(file, why)] of what is not as its generator prints it."""
    wrong = []
    if rows is None:
        rows = table(root)
        wrong += [(path, "nothing generates it any more") for path in leftovers(root, rows)]
    for path, mark, command in rows:
        file = root / path
        try:
            if not file.exists() or file.read_text() != fresh(root, path, mark, command):
                wrong.append((path, f"is not what `{' '.join(command)}` prints; run `make docs`"))
        except CannotTell as why:
            print(f"   {path} is not checked: {why}")
        except ValueError as why:
            wrong.append((path, str(why)))
    return wrong


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    for path, mark, command in table(root):
        try:
            text = fresh(root, path, mark, command)
        except CannotTell as why:
            print(f"{path} stays as it is: {why}")
            continue
        except ValueError as why:
            sys.exit(f"{path}: {why}")
        file = root / path
        if not file.exists() or file.read_text() != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            print(f"rewrote {path}")


if __name__ == "__main__":
    main()
