#!/usr/bin/env python3
"""peers -- install the programs that we are measured beside.

    bench/peers.py      pip puts each line of peers.lock into a folder of .peers/, which git ignores

The lock is one of pip's requirement files, with versions and the hashes of their files, so that
everybody measures beside the same; a program may be there in several versions. `# musl` on a line:
its other build needs a newer C library than Debian 12 has, so the one for musl is taken. Versions
are printed with the results.
"""
import dataclasses
import os
import pathlib
import platform
import shlex
import subprocess
import sys

LOCK = pathlib.Path(__file__).resolve().parent / "peers.lock"
FOLDER = LOCK.parent.parent / ".peers"
MUSL = ["--platform", f"musllinux_1_1_{platform.machine()}", "--only-binary=:all:"]


@dataclasses.dataclass
class Peer:
    name: str
    version: str
    line: str       # of the lock

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
        p = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
                            "--root-user-action=ignore", "--target", self.folder, *how,
                            "--require-hashes", "-r", "/dev/stdin"], input=self.line, text=True)
        if p.returncode:
            sys.exit(f"peers: pip could not install {self.name} {self.version}")


def read():
    for line in LOCK.read_text().splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield Peer(*words[0].split("=="), line)


ALL = list(read())


def version(name):
    """Of all that bear this name, the newest first."""
    return ", ".join(p.version for p in of(name))


def of(name):
    return [p for p in ALL if p.name == name]


def are_here():
    return all(p.is_here for p in ALL)


def environment():
    """That of a process that shall find their modules before any other."""
    folders = ":".join(str(p.folder) for p in ALL)
    return {**os.environ, "PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}


def main():
    for p in ALL:
        if not p.is_here:
            p.install()
    print("peers: " + ", ".join(f"{p.name} {p.version}" for p in ALL))


if __name__ == "__main__":
    main()
