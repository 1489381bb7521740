"""probe -- what this machine and this user may do, asked without the code under test.

A test that needs a thing is skipped where the kernel refuses it. Where the kernel allows it and
assay does without, that is what the test is there to find:

    needs(groups("memory"), told=memory_group(p), what="a control group that counts memory")
"""
import pathlib

import rungs
from harness import expect, skip, tmp


def needs(allowed, told, what):
    """Go on if assay has it (`told`), skip if the kernel refuses it, fail if only assay does."""
    if told:
        return
    expect(not allowed, f"assay goes without {what}, but this machine has it")
    skip(f"this machine or user has not: {what}")


def groups(controller):
    """Can a control group be made whose `controller` counts?"""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        roots = [pathlib.Path("/sys/fs/cgroup") / n for n in (controller, names or "unified", "")]
        for root in roots if names == "" or controller in names.split(",") else ():
            folder = root / path.lstrip("/")
            if (folder / "cgroup.procs").exists() and keeps(folder, controller, names == ""):
                return True
    return False


def keeps(folder, controller, v2):
    """Can a group be made in `folder`, and would the controller be on in it?"""
    control = folder / "cgroup.subtree_control"
    if v2 and (not control.exists() or controller not in control.read_text().split()):
        return False
    try:
        (folder / tmp().name).mkdir()
        (folder / tmp().name).rmdir()
    except OSError:
        return False
    return True


def events():
    """Does anybody tell this user of births and deaths?"""
    return any(refuses() is None for refuses in rungs.REFUSES.values())


def perf():
    """May anybody count the CPU time of his own processes?"""
    setting = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    return setting.exists() and int(setting.read_text()) <= 2


def on_disk():
    """Are the files of the tests on something else than memory?"""
    mounts = [line.split() for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    inside = [m for m in mounts if tmp().resolve().is_relative_to(m[1])]
    return max(inside, key=lambda m: len(m[1]))[2] not in ("tmpfs", "ramfs")
