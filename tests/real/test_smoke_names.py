#!/usr/bin/env python3
"""Names of peers from a real nscd."""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from harness import *
from jobs import *
from resolvers import expect_names


@job_test("a peer has the name by which nscd found it, and nobody was asked for it")
def _():
    program = shutil.which("nscd")
    if not program:     # not installed, as its daemon would be started: only unpacked
        if not shutil.which("apt-get") or run("apt-get", "download", "nscd", cwd=tmp()).rc != 0:
            skip("no nscd, and none to be had")
        package = next(tmp().glob("nscd_*.deb"))
        run("dpkg", "-x", package, tmp() / "nscd").ok()
        program = tmp() / "nscd/usr/sbin/nscd"
    expect_names("nscd", program)


main()
