"""roots -- other Debians, for what this one has not: newer Pythons, older C libraries; and
Pythons with packages. What was made is kept (cache()).

    root = forky()
    heap(*inside(root, "/usr/bin/python3.14", "x.py"))      the same files are there as here
"""
import os
import pathlib
import shutil
import tempfile

from harness import BUILD, ROOT, run, skip
from jobs import is_root

__all__ = ["cache", "debian", "forky", "inside", "venv"]

NEWER_SCRIPT = "/usr/share/debootstrap/scripts/sid"     # one that knows no suite in particular


def cache():
    """What takes minutes to make is kept here, outside of the source."""
    home = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return pathlib.Path(os.environ.get("ASSAY_TEST_CACHE", f"{home}/assay-tests"))


def debian(suite, packages):
    """The root of another Debian with these packages."""
    root = cache() / suite
    if (root / "made").exists():
        return root
    if not is_root() or not shutil.which("debootstrap"):
        skip("needs root and debootstrap (make test-real installs it)")
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    sources = pathlib.Path("/etc/apt/sources.list.d/debian.sources").read_text()
    mirror = next(line.split()[1] for line in sources.splitlines() if line.startswith("URIs:"))
    # What it mounts, and would leave if it were killed, is seen by nobody else.
    r = run("unshare", "--mount", "debootstrap", "--variant=minbase", f"--include={packages}",
            suite, root, mirror, NEWER_SCRIPT, timeout=1500)
    if r.rc:
        skip(f"no {suite} to be had: {r.out[-200:]}")
    (root / "made").touch()
    return root


def forky():
    return debian("forky", "python3,python3.15")


def venv(name, python, *packages, seconds=600):
    """The bin/ of a Python's environment with these packages."""
    home = cache() / f"{name}-{python.version}"
    if not (home / "made").exists():
        shutil.rmtree(home, ignore_errors=True)
        run(python.path, "-m", "venv", home, timeout=300).ok()
        r = run(home / "bin/pip", "install", "-q", *packages, timeout=seconds)
        if r.rc:
            skip(f"no {packages[0]} to be had: {r.err[-200:]}")
        (home / "made").touch()
    return home / "bin"


def inside(root, *command):
    """
    The words that run a command there: by exec, so it is one process. The source, what was built
    and the folder for what is passing are bound to where they are here, for this process only.
    """
    script, shared = ["root=$1; shift"], {ROOT, BUILD, pathlib.Path(tempfile.gettempdir())}
    for place in sorted(p.resolve() for p in shared):
        script.append(f"mkdir -p '{root}{place}' && mount --bind '{place}' '{root}{place}'")
    script.append('exec chroot "$root" "$@"')
    return ["unshare", "--mount", "sh", "-ec", "\n".join(script), "sh", str(root), *command]
