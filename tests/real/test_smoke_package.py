#!/usr/bin/env python3
"""The package as a user gets it: made, unpacked, and used from there."""
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from harness import *

ROOT = pathlib.Path(__file__).resolve().parents[2]


@test("make deb makes a package that runs where it is unpacked, with man pages and completions",
      seconds=500)
def _():
    if not shutil.which("dpkg-deb"):
        skip("dpkg-deb is not installed: this is no Debian")
    clone = tmp() / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    run("make", "-C", clone, "deb", timeout=400).ok()
    [package] = (clone / "build").glob("assay_*.deb")
    subprocess.run(["dpkg-deb", "-x", str(package), str(tmp() / "root")], check=True)
    program = tmp() / "root/usr/bin/assay"
    expect_in("assay ", run(program, "--version").ok().out)
    run(program, "run", "--quiet", "--name", "packaged", "--", "true").ok()
    expect_in("packaged", run(program, "jobs").ok().out)
    names = {p.name for p in (tmp() / "root/usr/share").rglob("*")}
    for want in ("assay.1", "assay-run.1"):
        expect(want in names or want + ".gz" in names, f"{want} is not in the package")
    expect("_assay" in names and "assay" in names, "completions are not in the package")
    expect((tmp() / "root/usr/lib/assay/assay-heap.so").exists(), "the guest is not in the package")
    fields = run("dpkg-deb", "-f", package).ok().out
    for library in ("libsqlite3-0", "libncursesw6", "libtinfo6", "libdw1"):
        expect_in(library, fields, "what the package depends on")
    t = terminal("sh", "-c", "sleep 100 & exec \"$0\" top $!", program)
    t.wait_text("not a Python program", 30)      # and no word of a module that is missing
    needed = run("readelf", "-d", program).ok().out
    for library in ("ncurses", "libdw"):
        expect(library not in needed, f"the program itself is linked with {library}")


main()
