#!/usr/bin/env python3
"""peers -- install the programs that we are measured beside.

    bench/peers.py      puts each line of peers.lock into a folder of .peers/, which git ignores

A line is one of pip's requirements, with the version and the hash of its file, so that everybody
measures beside the same; a program may be there in several versions. A word behind it says what is
special:
    # musl        its other build needs a newer C library than Debian 12 has: the one for musl
    # cargo       a program in Rust, which cargo builds, with the versions that its author locked
    # go MODULE   a program in Go, which go builds; the sums of its sources are in its module
Who has no cargo or go, or one too old, measures without those. Versions are printed with the
results.
"""
import dataclasses
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys

LOCK = pathlib.Path(__file__).resolve().parent / "peers.lock"
FOLDER = LOCK.parent.parent / ".peers"
MUSL = ["--platform", f"musllinux_1_1_{platform.machine()}", "--only-binary=:all:"]


@dataclasses.dataclass
class Peer:
    """A package for Python, of pip's."""
    name: str
    version: str
    line: str       # of the lock

    builder = None  # a program that the machine may lack

    @property
    def folder(self):
        return FOLDER / f"{self.name}-{self.version}"

    @property
    def is_here(self):
        return any(self.folder.glob(f"*-{self.version}.dist-info"))

    def program(self, name):
        return str(self.folder / "bin" / name)

    def install(self):
        how = MUSL if "# musl" in self.line else []
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
                        "--root-user-action=ignore", "--target", self.folder, *how,
                        "--require-hashes", "-r", "/dev/stdin"], input=self.line, text=True)


class Built(Peer):
    """A program that its language's own tool builds from its registry."""

    @property
    def is_here(self):
        return os.access(self.program(self.name), os.X_OK)


class Crate(Built):
    builder = "cargo"

    def install(self):
        subprocess.run(["cargo", "install", "--quiet", "--locked", "--root", self.folder,
                        f"{self.name}@{self.version}"])


class GoProgram(Built):
    builder = "go"

    def install(self):
        module = self.line.split()[-1]
        subprocess.run(["go", "install", f"{module}@v{self.version}"],
                       env={**os.environ, "GOBIN": str(self.folder / "bin")})


KINDS = {"cargo": Crate, "go": GoProgram}


def read():
    for line in LOCK.read_text().splitlines():
        words = shlex.split(line, comments=True)
        if words:
            special = re.search(r"# (\w+)", line)
            kind = KINDS.get(special and special[1], Peer)
            yield kind(*words[0].split("=="), line)


ALL = list(read())


def version(name):
    """Of all that bear this name, the newest first."""
    return ", ".join(p.version for p in of(name))


def of(name):
    return [p for p in ALL if p.name == name]


def are_here():
    """All that every machine can have."""
    return all(p.is_here for p in ALL if not p.builder)


def environment():
    """That of a process that shall find their modules before any other."""
    folders = ":".join(str(p.folder) for p in ALL if not p.builder)
    return {**os.environ, "PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}


def install(p):
    if p.builder and not shutil.which(p.builder):
        return
    p.install()
    if not p.is_here and not p.builder:
        sys.exit(f"peers: pip could not install {p.name} {p.version}")


def main():
    for p in ALL:
        if not p.is_here:
            install(p)
    for p in ALL:
        print(f"peers: {p.name} {p.version}" + ("" if p.is_here else
                                                f": not here, {p.builder} did not build it"))


if __name__ == "__main__":
    main()
