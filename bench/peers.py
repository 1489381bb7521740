#!/usr/bin/env python3
"""peers -- install the programs that we are measured beside.

    bench/peers.py          pip puts them into .peers/, which git ignores

They are installed by name, at whatever version the package index of this
machine gives: that is what a user would get. Their versions are printed with
the results.
"""
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / ".peers"
NAMES = ["psutil", "psrecord"]


def version(name):
    """As installed in FOLDER; None when it is not."""
    for info in FOLDER.glob(f"{name}-*.dist-info"):
        return info.name[len(name) + 1:-len(".dist-info")]
    return None


def environment():
    """That of a process that shall find them before any other."""
    return {**os.environ, "PYTHONPATH": str(FOLDER), "PYTHONDONTWRITEBYTECODE": "1"}


def main():
    missing = [n for n in NAMES if not version(n)]
    if missing:
        p = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", FOLDER,
                            "--root-user-action=ignore", *missing])
        if p.returncode:
            sys.exit("peers: pip could not install " + ", ".join(missing))
    print("peers: " + ", ".join(f"{n} {version(n)}" for n in NAMES))


if __name__ == "__main__":
    main()
