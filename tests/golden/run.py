#!/usr/bin/env python3
"""Run golden files: commands with the output they must print.

    tests/golden/run.py [--update] [--build DIR] [FILE.t | DIR]...

A golden file is a list of blocks, a blank line between two of them:

    # a sentence        what is being shown
    fixture NAME        from here on read tests/fixtures/NAME/{proc,sys,...}, not this machine
    $ command           run it with sh, in a temporary directory, with an empty store
    ? 3                 it must exit 3 (0 if this line is absent)
    ! text              a line it must print on stderr
    anything else       a line it must print on stdout (blank lines too)

`<...>` in an expected line stands for any text: ids, times. The temporary
directory is printed as TMP, the source tree as ROOT; $ROOT holds the latter
for commands. `--update` rewrites the files with what the commands print now;
read the diff before committing it.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIXTURES = ROOT / "tests/fixtures"
SECONDS = 60            # for one command

# Output may hold blank lines, so a block ends only where the next one visibly starts.
BLOCK_END = re.compile(r"\n\n+(?=\$ |# |fixture )")


def environment(build, tmp):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_") or k == "ASSAY_HEAP"}
    env.update(ASSAY_STORE=f"{tmp}/store", ROOT=str(ROOT), LC_ALL="C.UTF-8", TZ="UTC",
               COLUMNS="80", TERM="dumb", PATH=f"{build}:{env['PATH']}")
    return env


def run(command, env, tmp):
    """What the command prints today, as the lines of a block below its `$` line."""
    try:
        p = subprocess.run(command, shell=True, env=env, cwd=tmp, timeout=SECONDS,
                           stdin=subprocess.DEVNULL, capture_output=True)
    except subprocess.TimeoutExpired:
        return [f"? no end after {SECONDS} s"]
    lines = [f"? {p.returncode}"] if p.returncode else []
    for prefix, stream in ("! ", p.stderr), ("", p.stdout):
        text = stream.decode(errors="backslashreplace").replace(tmp, "TMP")
        text = text.replace(str(ROOT), "ROOT").rstrip("\n")
        lines += [prefix + line for line in text.split("\n")] if text else []
    return lines


def line_matches(want, got):
    parts = [re.escape(part) for part in want.split("<...>")]
    return re.fullmatch(".*".join(parts), got) is not None


def keep_wildcards(want, got):
    """`got`, with the lines that an expected line describes replaced by that line."""
    if len(want) == len(got) and all(map(line_matches, want, got)):
        return want
    merged = []
    for _, i1, i2, j1, j2 in difflib.SequenceMatcher(None, want, got, False).get_opcodes():
        if i2 - i1 == j2 - j1:
            merged += [w if line_matches(w, g) else g for w, g in zip(want[i1:i2], got[j1:j2])]
        else:
            merged += got[j1:j2]
    return merged


def check(block, env, tmp, number):
    """Run a block's command, print a TAP line. Returns (the block as it is today, was it right)."""
    lines = block.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("$ "))
    want, got = lines[at + 1:], run(lines[at][2:], env, tmp)
    got = keep_wildcards(want, got)
    ok = want == got
    if not ok:
        for line in difflib.unified_diff(want, got, "expected", "printed", lineterm=""):
            print("#", line)
    print(f"{'ok' if ok else 'not ok'} {number} - {lines[at][2:]}", flush=True)
    return "\n".join(lines[:at + 1] + got), ok


def read_blocks(path):
    return BLOCK_END.split(path.read_text().rstrip("\n"))


def is_command(block):
    return re.search(r"^\$ ", block, re.M) is not None


def check_file(path, build, first):
    """Run one golden file. Returns (its text as it is today, number of tests, number wrong)."""
    blocks = read_blocks(path)
    done = wrong = 0
    # Always a path of one length, whatever TMPDIR says: where lines break must not depend on it.
    with tempfile.TemporaryDirectory(prefix="golden-", dir="/tmp") as tmp:
        env = environment(build, tmp)
        for i, block in enumerate(blocks):
            for name in re.findall(r"^fixture (\S+)$", block.split("\n$ ")[0], re.M):
                if not (FIXTURES / name).is_dir():
                    sys.exit(f"{path}: no fixture '{name}' in {FIXTURES}")
                env["ASSAY_ROOT"] = str(FIXTURES / name)
            if not is_command(block):
                continue
            blocks[i], ok = check(block, env, tmp, first + done)
            done += 1
            wrong += not ok
            if BLOCK_END.search(blocks[i]):
                sys.exit(f"{path}: a blank line and then '# ' or '$ ' in the output would be read "
                         "as a new block: cut the output of that command")
    return "\n\n".join(blocks) + "\n", done, wrong


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--update", action="store_true")
    args.add_argument("--build", type=pathlib.Path,
                      default=os.environ.get("ASSAY_BUILD", ROOT / "build"))
    args.add_argument("path", nargs="*", type=pathlib.Path, default=[ROOT / "tests/golden"])
    args = args.parse_args()

    files = [f for p in args.path for f in (sorted(p.glob("*.t")) if p.is_dir() else [p])]
    print(f"1..{sum(is_command(b) for f in files for b in read_blocks(f))}")
    done = wrong = 0
    for f in files:
        text, n, bad = check_file(f, args.build.resolve(), done + 1)
        done += n
        wrong += bad
        if args.update and text != f.read_text():
            f.write_text(text)
            print(f"# rewrote {f}")
    return 1 if wrong and not args.update else 0


if __name__ == "__main__":
    sys.exit(main())
