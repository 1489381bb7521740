#!/usr/bin/env python3
"""page -- print the script of the HTML report: web/report/*.ts, compiled by tsc into one file.

The result, web/report.js, is committed, so that building assay needs no
compiler of TypeScript; `make docs` writes it anew (tools/drift.py).
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CANNOT_TELL = 77


def compiled():
    with tempfile.TemporaryDirectory() as tmp:
        out = pathlib.Path(tmp) / "report.js"
        p = subprocess.run(["tsc", "-p", ROOT / "web", "--outFile", out], text=True,
                           stdout=subprocess.PIPE)
        if p.returncode != 0:
            sys.exit(p.stdout)
        return out.read_text()


def main():
    if not shutil.which("tsc"):
        print("tsc is not installed; Debian's package is node-typescript", file=sys.stderr)
        sys.exit(CANNOT_TELL)
    text = re.sub(r"^(    )+", lambda m: "\t" * (len(m[0]) // 4), compiled(), flags=re.M)
    print("/* generated from web/report/ by tools/page.py; do not edit */")
    print((ROOT / "web/report/loader.js").read_text() + text, end="")


main()
