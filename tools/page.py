#!/usr/bin/env python3
"""page -- print the script of a page: web/NAME/*.ts, compiled by tsc into one file.

    tools/page.py NAME      (report: of a run; flame: of a profile; svg: of its picture;
                             table: of a heap by line)

The result, web/NAME.js, is committed, so that building assay needs no compiler
of TypeScript; `make docs` writes it anew (tools/drift.py).
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CANNOT_TELL = 77
TSC = "Version 4.8."    # other compilers write the same program in other words


def compiled(name):
    with tempfile.TemporaryDirectory() as tmp:
        out = pathlib.Path(tmp) / "page.js"
        p = subprocess.run(["tsc", "-p", ROOT / "web" / name, "--outFile", out], text=True,
                           stdout=subprocess.PIPE)
        if p.returncode != 0:
            sys.exit(p.stdout)
        return out.read_text()


def cannot(why):
    print(why, file=sys.stderr)
    sys.exit(CANNOT_TELL)


def main():
    name, = sys.argv[1:]
    if not shutil.which("tsc"):
        cannot("tsc is not installed; Debian's package is node-typescript")
    version = subprocess.run(["tsc", "--version"], stdout=subprocess.PIPE, text=True).stdout
    if not version.startswith(TSC):
        cannot(f"this is tsc {version.strip()}, not {TSC}")
    text = re.sub(r"^(    )+", lambda m: "\t" * (len(m[0]) // 4), compiled(name), flags=re.M)
    print(f"/* generated from web/{name}/ by tools/page.py; do not edit */")
    print((ROOT / "web/loader.js").read_text() + text, end="")


main()
