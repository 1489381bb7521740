#!/usr/bin/env python3
"""Names of peers from a real systemd-resolved: Debian 12's is too old, so Debian 13's."""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from harness import *
from jobs import *
from resolvers import expect_names


@job_test("a peer has the name that systemd-resolved remembers, and nobody was asked for it")
def _():
    root = tmp() / "debian13"
    if not shutil.which("debootstrap"):
        skip("debootstrap is not installed (make test-real installs it)")
    r = run("debootstrap", "--variant=minbase", "--include=systemd-resolved,dbus", "trixie", root,
            timeout=800)
    if r.rc != 0:
        skip(f"no Debian 13 to be had: {r.out[-200:]}")
    try:
        expect_names("resolved", root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


main()
