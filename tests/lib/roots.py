"""roots -- other Debians, for what this one has not: newer Pythons, older C libraries; Pythons
with packages, and built without the GIL. What was made is kept (cache()).

    root = forky()
    heap(*inside(root, "/usr/bin/python3.14", "x.py"))      the same files are there as here
"""
import os
import pathlib
import shutil
import tempfile

from harness import BUILD, ROOT, run, skip
from jobs import is_root
from pythons import ask_python, python_named

__all__ = ["cache", "debian", "forky", "inside", "venv", "without_gil"]

FREE_SUITES = {13: "trixie", 14: "forky"}
NEWER_SCRIPT = "/usr/share/debootstrap/scripts/sid"     # one that knows no suite in particular


def cache():
    """What takes minutes to make is kept here, outside of the source."""
    home = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return pathlib.Path(os.environ.get("ASSAY_TEST_CACHE", f"{home}/assay-tests"))


def mirror():
    """Where Debian is to be had here."""
    sources = pathlib.Path("/etc/apt/sources.list.d/debian.sources").read_text()
    return next(line.split()[1] for line in sources.splitlines() if line.startswith("URIs:"))


def debian(suite, packages):
    """The root of another Debian with these packages."""
    root = cache() / suite
    if (root / "made").exists():
        return root
    if not is_root() or not shutil.which("debootstrap"):
        skip("needs root and debootstrap (make test-real installs it)")
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    # What it mounts, and would leave if it were killed, is seen by nobody else.
    r = run("unshare", "--mount", "debootstrap", "--variant=minbase", f"--include={packages}",
            suite, root, mirror(), NEWER_SCRIPT, timeout=1500)
    if r.rc:
        skip(f"no {suite} to be had: {r.out[-200:]}")
    (root / "made").touch()
    return root


def forky():
    return debian("forky", "python3,python3.15")


def source(home, suite, package):
    """A source package of Debian's, unpacked; the lists of this system's apt stay as they are."""
    (home / "lists/partial").mkdir(parents=True)
    (home / "sources.list").write_text(f"deb-src {mirror()} {suite} main\n")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={home}/sources.list", "-o",
           "Dir::Etc::sourceparts=/dev/null", "-o", f"Dir::State::lists={home}/lists"]
    for words in (["update"], ["source", "--download-only", package]):
        r = run(*apt, *words, cwd=home, timeout=600)
        if r.rc:
            skip(f"no source of {package} to be had: {r.err[-200:]}")
    description = next(home.glob("*.dsc"))
    run("dpkg-source", "--no-check", "-x", description, home / "source", timeout=300).ok()


def build(home, *options):
    """What ./configure and make leave in `home`/build, of `home`/source."""
    (home / "build").mkdir()
    for words in (["../source/configure", "-q", *options, "CFLAGS=-O2"], ["make", "-s", "-j2"]):
        run("nice", *words, cwd=home / "build", timeout=3600).ok()


def without_gil(minor):
    """A free-threaded CPython: one that ASSAY_TEST_PYTHONS names, or built here, in minutes."""
    home = cache() / f"python3.{minor}t"
    if python_named(minor):
        return python_named(minor)
    if not (home / "made").exists():
        shutil.rmtree(home, ignore_errors=True)
        source(home, FREE_SUITES[minor], f"python3.{minor}")
        build(home, "--disable-gil", "--disable-test-modules", "--without-ensurepip")
        (home / "made").touch()
    return ask_python(str(home / "build/python"))


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
