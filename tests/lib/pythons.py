"""pythons -- the CPythons of this machine, and programs for them that know their own stacks.

    for python in pythons():        found by ASSAY_TEST_PYTHONS, pyenv and the PATH
    python = python_named(14)       one without the GIL, if ASSAY_TEST_PYTHONS names it
        p = script(python, "shapes", "generators", 2)

A script of tests/workloads/python says `ready` on its first line.
"""
import collections
import os
import pathlib
import shutil
import subprocess

from harness import ROOT, expect_eq, run, start

__all__ = ["ask_python", "pythons", "python_for", "python_named", "library_of", "script",
           "program", "stacks", "Python"]

SCRIPTS = ROOT / "tests/workloads/python"
KNOWN = range(8, 16)

Python = collections.namedtuple("Python", "path minor version gil", defaults=[True])


def ask_python(path):
    """Who is it? None: nobody that we know."""
    code = ("import sys, sysconfig as s; print(*sys.version_info[:3], sys.implementation.name, "
            "sys.executable, s.get_config_var('Py_GIL_DISABLED') or 0)")
    try:
        told = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=20)
    except OSError:
        return None
    words = told.stdout.split()
    if told.returncode or words[0] != "3" or words[3] != "cpython" or int(words[1]) not in KNOWN:
        return None
    return Python(words[4], int(words[1]), ".".join(words[:3]), words[5] == "0")


def named():
    return [p for p in os.environ.get("ASSAY_TEST_PYTHONS", "").split(":") if os.path.exists(p)]


def places():
    """Where a Python may be."""
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    built = sorted(pathlib.Path(root).glob("versions/*/bin/python3"))
    paths = [shutil.which(f"python3.{minor}") for minor in KNOWN]
    return [p for p in [*named(), "/usr/bin/python3", *built, *paths] if p and os.path.exists(p)]


def pythons(one_each=True):
    """All with a GIL that are here, the oldest first; one of each minor version."""
    found = {}
    for place in places():
        p = ask_python(str(place))
        if p and p.gil:
            found.setdefault(p.minor if one_each else p.path, p)
    return [found[key] for key in sorted(found)]


def python_for(minor):
    """The Python of this minor version, or None."""
    return next((p for p in pythons() if p.minor == minor), None)


def python_named(minor):
    """One of this version without the GIL that was named, or None."""
    found = (ask_python(path) for path in named())
    return next((p for p in found if p and p.minor == minor and not p.gil), None)


def library_of(python):
    """Its libpython; None: it has it inside."""
    code = ("import sysconfig as s; print(s.get_config_var('LIBDIR'), "
            "s.get_config_var('INSTSONAME'), s.get_config_var('Py_ENABLE_SHARED'))")
    folder, name, shared = run(python.path, "-c", code).ok().out.split()
    path = pathlib.Path(folder) / name
    return path if shared == "1" and path.exists() else None


def program(name):
    return str(SCRIPTS / f"{name}.py")


def script(python, name, *words):
    """Start a script, and wait until it says that it is ready."""
    p = start(python.path, program(name), *words, stdout=subprocess.PIPE, text=True)
    expect_eq(p.stdout.readline(), "ready\n", "the script's first line")
    return p


def stacks(folded):
    """A folded profile as [(frames, count)], root first."""
    rows = (line.rsplit(" ", 1) for line in folded.splitlines())
    return [(row[0].split(";"), int(row[1])) for row in rows]
