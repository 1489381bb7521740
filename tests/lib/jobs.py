"""jobs -- what tests of `assay run` and `assay attach` share, on top of harness.

    @job_test("a sentence")     as @test, and no process may be left behind
    work("burn")                the path of a workload (tests/workloads)
    profile("burn", 1)          run it under assay; .doc is assay's answer, .truth its own
    public() and NOBODY         run as a user who may not make control groups
    group("cpu", …)             a control group to run it in; profile(…, prefix=group(…))
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import harness
from harness import ASSAY, BUILD, expect, expect_eq, skip, start, test, tmp, wait_for

__all__ = ["job_test", "work", "profile", "Profile", "public", "as_nobody", "NOBODY", "leftovers",
           "end_leftovers", "expect_near", "expect_between", "read_line", "processes", "is_root",
           "own_cgroup", "runs", "sanitized", "group", "without_memory_group"]

WORK = BUILD / "tests/workloads"
NOBODY = 65534


def sanitized():
    """Was the program built with a sanitizer, which needs /proc, much memory and CPU time?"""
    program = pathlib.Path(ASSAY).read_bytes()
    return b"__asan_init" in program or b"__tsan_init" in program


def work(name):
    """The path of a workload."""
    return str(WORK / name)


# --- no process is left behind ------------------------------------------------

def processes():
    """Every (pid, environment) that can be read, zombies left out."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            yield int(entry.name), (entry / "environ").read_bytes()
        except OSError:
            pass


def leftovers():
    """Processes that this test started: they have its store in their environment."""
    mark = f"={tmp()}".encode()
    return [pid for pid, environment in processes() if mark in environment]


def end_leftovers(patience=2.0):
    """End what the test left behind; returns the pids that would not go by themselves."""
    end = time.monotonic() + patience
    left = leftovers()
    while left and time.monotonic() < end:
        time.sleep(0.02)
        left = leftovers()
    names = []
    for pid in left:
        try:
            names.append(f"{pid} {pathlib.Path(f'/proc/{pid}/comm').read_text().strip()}")
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return names


def job_test(sentence, seconds=120):
    """@test, and a process that is still there at its end fails it."""
    def add(function):
        def checked():
            try:
                function()
            except BaseException:
                end_leftovers(0)
                remove_public()
                remove_groups()
                raise
            left = end_leftovers()
            remove_public()
            remove_groups()
            expect(not left, f"{len(left)} left behind: {left[:9]}")
        return test(sentence, seconds)(checked)
    return add


# --- other users --------------------------------------------------------------

made = []       # folders outside of tmp()


def is_root():
    return os.geteuid() == 0


def public():
    """A folder of nobody's that nobody can reach, unlike tmp(); with a copy of the program."""
    if not is_root() or not shutil.which("setpriv"):
        skip("needs root and setpriv to become another user")
    folder = pathlib.Path(f"/tmp/{tmp().name}-public")
    folder.mkdir(mode=0o755)
    made.append(folder)
    shutil.copy(ASSAY, folder / "assay")
    os.chown(folder, NOBODY, NOBODY)
    return folder


def remove_public():
    while made:
        shutil.rmtree(made.pop(), ignore_errors=True)


def as_nobody(*command):
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]


# --- control groups -----------------------------------------------------------

groups = []


def group(controller, inside=None, **settings):
    """Words before a command that run it in a new v1 group with these settings (cpu.x as cpu_x)."""
    root = pathlib.Path("/sys/fs/cgroup") / controller
    own = next((line.split(":", 2)[2] for line in
                pathlib.Path("/proc/self/cgroup").read_text().splitlines()
                if controller in line.split(":")[1].split(",")), None)
    if not is_root() or own is None or not (root / own.lstrip("/") / "cgroup.procs").exists():
        skip(f"needs root and a v1 hierarchy of {controller}")
    parent = groups[-1] if inside else root / own.lstrip("/")
    folder = parent / f"{tmp().name}-{len(groups)}"
    try:
        folder.mkdir()
        groups.append(folder)
        for name, value in settings.items():
            (folder / name.replace("_", ".", 1)).write_text(str(value))
    except OSError as why:
        skip(f"no group of {controller} can be made here: {why}")
    return ["sh", "-c", 'echo 0 >"$0/cgroup.procs" && exec "$@"', str(folder)]


def remove_groups():
    while groups:
        folder = groups.pop()
        for _ in range(100):
            try:
                folder.rmdir()
                break
            except FileNotFoundError:
                break
            except OSError:     # the kernel takes a moment to let the dead out
                time.sleep(0.02)


def without_memory_group():
    """Words before a command that let it see no memory controller; nobody else is touched."""
    script = 'umount /sys/fs/cgroup/memory && exec "$@"'
    words = ["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh"]
    if not is_root() or not os.path.ismount("/sys/fs/cgroup/memory"):
        skip("needs root and a v1 hierarchy of memory to take away")
    if harness.run(*words, "true").rc != 0:
        skip("unshare -m is refused here")
    return words


# --- profiling a workload -----------------------------------------------------

class Profile:
    """What assay says of a run (`doc`), and what the workload says of itself (`truth`)."""

    def __init__(self, doc, truth, rc, err):
        self.doc, self.truth, self.rc, self.err = doc, truth, rc, err

    def total(self, key):
        """A total in its own unit (ns, bytes, a count); None when unknown."""
        return self.doc["assay"]["totals"][key]["value"]

    def source(self, key):
        return self.doc["assay"]["totals"][key]["source"]

    def seconds(self, key="cpu"):
        return self.total(key) / 1e9

    def metric(self, key):
        """mean, min, max and last of a metric of the machine, the job or its group."""
        return self.doc["assay"]["metrics"][key]

    def times(self):
        """The moments of the timeline, in seconds."""
        return [t / 1e9 for t in self.doc["assay"]["timeline"]["t_ns"]]

    def column(self, key):
        """A metric at every moment; counters since the start."""
        return self.doc["assay"]["timeline"]["columns"][key]

    def rates(self, *keys, window=0.1):
        """Growth a second of the sum of counters, in steps of `window` seconds at least."""
        t = self.times()
        v = [None if None in cells else sum(cells)
             for cells in zip(*(self.column(key) for key in keys))]
        known = [i for i, value in enumerate(v) if value is not None]
        cuts = known[:1]
        for i in known[1:]:
            if t[i] - t[cuts[-1]] >= window:
                cuts.append(i)
        if len(cuts) > 1 and cuts[-1] != known[-1]:
            cuts[-1] = known[-1]        # a short rest belongs to the step before it
        elif len(cuts) == 1 and len(known) > 1:
            cuts.append(known[-1])
        return [(t[a], t[b], (v[b] - v[a]) / (t[b] - t[a])) for a, b in zip(cuts, cuts[1:])]

    def cpu_rates(self, **how):
        """CPU of the job as (from, to, cores) over the steps of the timeline."""
        return [(a, b, rate / 1e9) for a, b, rate in
                self.rates("job.cpu.user", "job.cpu.system", **how)]

    def processes(self, name):
        return [p for p in self.doc["assay"]["processes"] if p["name"] == name]

    def threads(self):
        return self.doc["assay"]["threads"]


def profile(name, *args, options=(), nobody=False, env=None, timeout=60, prefix=()):
    """Run a workload under `assay run` until both have told what they know."""
    folder = public() if nobody else tmp()
    program, prefix = work(name), list(prefix)
    if nobody:
        shutil.copy(work(name), folder / name)
        program, prefix = folder / name, [*prefix, *as_nobody()]
        env = {**(env or {}), "ASSAY_STORE": f"{folder}/store", "HOME": str(folder),
               "MARK": str(tmp())}
    out = folder / "run.json"
    r = harness.run(*prefix, folder / "assay" if nobody else ASSAY, "run", "--quiet", "--json",
                    "-o", out, *options, "--", program, *args, env=env, cwd=folder,
                    timeout=timeout)
    expect(out.exists(), f"no document; exit status {r.rc}, stderr: {r.err}")
    truth = json.loads(r.out.splitlines()[-1]) if r.out.strip() else {}
    doc = json.loads(out.read_text())
    if nobody:
        remove_public()
    return Profile(doc, truth, r.rc, r.err)


def own_cgroup(p):
    """Did the run have a control group of its own to count with?"""
    return "cgroup" in p.source("cpu")


def runs(*args, env=None):
    """The rows of `assay jobs --json`."""
    return harness.assay("jobs", "--json", *args, env=env).ok().json()["runs"]


def read_line(p, want, timeout=20):
    """Read lines of a started process (text, stdout=PIPE) until one starts with `want`."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        line = p.stdout.readline()
        if line.startswith(want):
            return line.strip()
        expect(line, f"no line {want!r} before the end of the output")
    raise harness.Failed(f"no line {want!r} in {timeout} s")


# --- numbers ------------------------------------------------------------------

def expect_near(got, want, ratio, what, slack=0.0):
    """`got` is within `ratio` of `want`, or within `slack` in absolute terms."""
    expect(got is not None, f"{what} is unknown, want {want}")
    if "ASSAY_TEST_FIGURES" in os.environ and want:      # a file: how far off everything was
        with open(os.environ["ASSAY_TEST_FIGURES"], "a") as out:
            out.write(f"{what}\t{want:.9g}\t{got:.9g}\t{100 * (got - want) / want:+.4f} %\n")
    margin = max(abs(want) * ratio, slack)
    expect(abs(got - want) <= margin,
           f"{what} is {got}, want {want} ± {margin:.6g} (off by {(got - want):+.6g})")


def expect_between(got, low, high, what):
    expect(got is not None and low <= got <= high, f"{what} is {got}, want {low} … {high}")
