#!/usr/bin/env python3
"""assay-heap.so in other programs: what it tells, and that they do not notice."""
import math
import os
import re
import struct
import time
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from guests import *
from harness import *
from heaps import *
from jobs import *

LIBRARY = BUILD / "assay-heap.so"


def guests(*command, flags=0, **how):
    """(what the processes told of themselves, what their guests told)"""
    r, found = hosts([work(command[0]), *command[1:]], flags, **how)
    return lines_of_json(r.ok().out), found


def sums(host):
    return len(host.allocs), len(host.frees), sum(a.size for a in host.allocs)


def expect_same(told, host, what):
    """Blocks of the malloc family are told as the program counted them, in numbers without gap."""
    expect_eq(sums(host), (told["allocations"], told["frees"], told["bytes"]), what)
    expect_whole(host, what)


def expect_whole(host, what):
    expect_eq((host.lost, host.nested), (0, 0), f"{what}: lost, nested")
    expect_eq(host.numbers, list(range(len(host.numbers))), f"{what}: numbers")


def live_at_end(host, what):
    """In the order of numbers no address is taken twice, and none is given back that was not."""
    events = sorted([(a.seq, a.address, True) for a in host.allocs] +
                    [(f.seq, f.address, False) for f in host.frees])
    live = set()
    for seq, address, made in events:
        expect(made != (address in live), f"{what}: {address:#x} at {seq}: "
               f"{'taken twice' if made else 'given back, but not taken'}")
        live.symmetric_difference_update([address])
    return len(live)


# --- what the library is ---------------------------------------------------------

@test("the library wants and offers what is listed, and nothing else")
def _():
    listed = (ROOT / "tests/fixtures/guest.symbols").read_text().split("\n")
    found = []                      # but for what a compiler calls by itself
    for line in run("nm", "-D", LIBRARY).ok().out.splitlines():
        kind, name = line.split()[-2:]
        name = name.split("@")[0]
        if not re.match(r"_ITM_|__gmon_start__|__cxa_finalize|mem(cpy|move|set|cmp)$", name):
            found.append(f"{'wants' if kind in 'Uwv' else 'offers'} {name}")
    listed = set(filter(None, listed))
    expect_eq((sorted(set(found) - listed), sorted(listed - set(found))), ([], []),
              "new, and gone")


@test("it has no library but libc and the loader, and TLS that needs no call")
def _():
    out = run("readelf", "-dW", LIBRARY).ok().out
    wanted = re.findall(r"NEEDED.*\[(.*)\]", out)
    expect_eq([w for w in wanted if not w.startswith("ld-linux-")], ["libc.so.6"], "libraries")
    expect_in("STATIC_TLS", out)


@test("a C library of 2013 is new enough for it")
def _():
    out = run("readelf", "-VW", LIBRARY).ok().out
    wanted = {tuple(map(int, v.split("."))) for v in re.findall(r"Name: GLIBC_([\d.]+)", out)}
    expect(wanted and max(wanted) <= (2, 17), f"versions {sorted(wanted)}")


@test("what is wiped in a forked child is on pages of its own")
def _():
    (at, size), = re.findall(r"^(\w+) (\w+) b as_guest$", run("nm", "-S", LIBRARY).ok().out, re.M)
    expect_eq((int(at, 16) % 4096, int(size, 16) % 4096), (0, 0), "place and size")


# --- what is told ----------------------------------------------------------------

@job_test("every allocation and free of the malloc family is told, and no other")
def _():
    for case in ("malloc", "calloc", "realloc", "aligned", "fails", "temporary", "recursion"):
        (told,), (host,) = guests("allocs", case)
        expect_same(told, host, case)
        expect_eq(host.pid, told["pid"], "pid")
        live_at_end(host, case)


@job_test("operators new are told as such, once, with the size that was asked for")
def _():
    (told,), (host,) = guests("allocs_new")
    new = [a for a in host.allocs if a.op == "new"]
    expect_eq((len(new), sum(a.size for a in new), len(host.frees)),
              (told["allocations"], told["bytes"], told["frees"]), "new")
    expect_whole(host, "allocs_new")


@job_test("mappings and the break are told as they come and go")
def _():
    for case, op, freed in (("mmap", "mmap", 4), ("brk", "brk", 1)):
        (told,), (host,) = guests("allocs", case)
        mine = [a.size for a in host.allocs if a.op == op]
        expect_eq((len(mine), sum(mine)), (told["allocations"], told["bytes"]), case)
        expect_eq(len(host.frees), freed, f"{case}: given back")


@job_test("blocks that threads trade are in order: no address is taken twice", seconds=120)
def _():
    _, (host,) = guests("host", "trade")
    expect_whole(host, "trade")
    expect_eq(sum(a.op == "realloc" for a in host.allocs), 80044, "allocations")
    expect(live_at_end(host, "trade") < 80, "most were given back")


@job_test("what a thread frees after its end is told too")
def _():
    (told,), (host,) = guests("host", "late")
    expect_whole(host, "late")
    made = [a for a in host.allocs if a.op == "malloc"]
    expect_eq((len(made), len(host.frees)), (told["allocations"], told["frees"]), "late")


@job_test("more threads than there are rings")
def _():
    (told,), (host,) = guests("host", "many")
    expect_whole(host, "many")
    mine = [a for a in host.allocs if a.op == "malloc"]
    expect_eq((len(mine), len(host.frees)), (told["allocations"], told["frees"]), "many")
    expect_eq(sum(not a.tid for a in mine), 3 * (1103 - 1023 + 1), "by those without")


# --- sampled ---------------------------------------------------------------------

def estimate(host, rate):
    """(bytes, their standard deviation): each stands for itself by how likely it was."""
    weights = [(a.size, a.size if a.size >= rate else a.size / -math.expm1(-a.size / rate))
               for a in host.allocs]
    return sum(w for _, w in weights), math.sqrt(sum(w * (w - size) for size, w in weights))


@job_test("a sample tells what all of it was, and every free of what it has")
def _():
    (told,), (host,) = guests("host", "churn", "300007", sample=10007)
    expect_whole(host, "sampled")
    expect(500 < len(host.allocs) < 5000, f"{len(host.allocs)} samples")
    bytes, deviation = estimate(host, 10007)
    expect(abs(bytes - told["bytes"]) < 5 * deviation, f"{bytes} +- {deviation}, {told['bytes']}")
    expect_eq(live_at_end(host, "sampled"), 0, "left")


@job_test("what is at least as large as the mean distance is never left out")
def _():
    (told,), (host,) = guests("allocs", "peak", sample=500009)
    expect_same(told, host, "large ones")
    (told,), (host,) = guests("allocs", "realloc", sample=1)
    expect_same(told, host, "each is a sample")


SLOTS = 256


class Narrow(Collector):
    def __init__(self, flags, sample):
        super().__init__(flags, sample, SLOTS)


@job_test("samples that live are thinned when there are many: of those each free is told")
def _():
    (told,), (host,) = guests("allocs", "tide", sample=64, collector=Narrow)
    expect_whole(host, "thinned")
    live, most, doubled = {}, 0, 64
    for e in sorted(host.allocs + host.frees + host.thinned):
        rate = getattr(e, "rate", None)
        if hasattr(e, "size"):
            live[e.address] = 0
        elif rate is None:
            expect(e.address in live, f"{e}: nobody has it")
            del live[e.address]
        elif rate:
            expect(live[e.address] < rate and rate % 64 == 0, f"{e}: it was {live[e.address]}")
            live[e.address] = rate
        else:
            del live[e.address]
        most, doubled = max(most, len(live)), max(doubled, rate or 0)
    expect(SLOTS // 2 <= most <= SLOTS * 3 // 4 + 1, f"{most} at a time")
    expect(doubled >= 64 << 7, f"thinned to one in {doubled}")
    expect(live, "none is left")


# --- processes -------------------------------------------------------------------

@job_test("a program that is executed in place of another is the same process")
def _():
    told, found = guests("host", "exec", "3")
    expect_eq([sums(h) for h in found], [(1, 0, n) for n in (4, 3, 2, 1)], "one after the other")
    expect_eq({h.pid for h in found}, {told[0]["pid"]}, "pid")


@job_test("children are left alone, and do not find us in their environment")
def _():
    told, found = guests("allocs", "fork")
    expect_eq(len(found), 1, "guests")
    expect_same(told[1], found[0], "the parent")
    r, found = hosts(["sh", "-c", "env; exit 0"], env={"LANG": "C"})
    expect_eq(len(found), 1, "guests")
    expect("ASSAY_HEAP" not in r.ok().out and "LD_PRELOAD" not in r.out, "env: " + r.out)


@job_test("what else is preloaded stays")
def _():
    other = work("libcount_allocs.so")
    for both in (f"{LIBRARY}:{other}", f"{other} {LIBRARY}", f"::{other}:{LIBRARY}:"):
        r, _ = hosts(["sh", "-c", "env; exit 0"], env={"LD_PRELOAD": both})
        expect_in(f"LD_PRELOAD={other}\n", r.ok().out)


@job_test("with forks wanted, children and what they execute come too", seconds=120)
def _():
    told, found = guests("host", "forks", flags=FORKS, timeout=100)
    parent, children = found[0], {h.pid: h for h in found[1:]}
    expect_eq(len(children), 200, "children")
    for t in told[:-1]:
        expect_same(t, children[t["pid"]], "a child")
        expect_eq(children[t["pid"]].parent, parent.pid, "its parent")
    expect_whole(parent, "the parent")
    told, found = guests("allocs", "vfork", flags=FORKS)
    expect_eq([h.pid for h in found], [told[1]["pid"], told[0]["pid"]], "vfork")
    for t, h in zip(reversed(told), found):
        expect_same(t, h, "vfork")


@job_test("assay itself prints the same with a guest in it", seconds=180)
def _():
    files = [ROOT / "tests/golden" / f for f in ("doctor.t", "usage.t")]
    r, found = hosts([sys.executable, ROOT / "tests/golden/run.py", "--build", BUILD, *files],
                     FORKS | NATIVE, timeout=150)
    expect_eq(r.ok().err, "", "stderr")
    expect(len(found) > 50 and all(h.state for h in found), f"{len(found)} guests")
    for host in found:
        expect_whole(host, f"process {host.pid}")


# --- ends ------------------------------------------------------------------------

@job_test("what was told before SIGKILL, a crash and _exit is there")
def _():
    for case, rc, name in (("kill", -9, "host"), ("crash", -6, "allocs"), ("exit7", 7, "allocs")):
        r, (host,) = hosts([work(name), case], 0)
        expect_eq(r.rc, rc, f"{case}: how it ended")
        expect_same(lines_of_json(r.out)[0], host, case)
        expect_eq(host.state, 1, f"{case}: state")
    _, (host,) = guests("allocs", "malloc")
    expect_eq(host.state, 2, "state after exit")


@job_test("a program that closes every descriptor does not close us")
def _():
    (told,), (host,) = guests("host", "closes")
    expect_same(told, host, "closes")


@job_test("a signal's handler that maps memory does not hang, and is told or counted")
def _():
    (told,), (host,) = guests("host", "signals")
    mine = [a for a in host.allocs if a.op == "malloc"]
    expect_eq((len(mine), host.lost), (told["allocations"], 0), "the program's own")
    expect(sum(a.op == "mmap" for a in host.allocs) + host.nested <= 4 * 101, "the handler's")


class Slow(Collector):
    """Its clock goes, but it reads nothing."""

    def drain(self):
        pass


class Dead(Slow):
    def tick(self):
        pass


class Asleep(Collector):
    """It fell asleep before anybody came, and notes who wakes it."""

    def welcome(self):
        if not self.hosts:
            struct.pack_into("<Q", self.session, 32, 1)
        super().welcome()

    def tick(self):
        pass

    def close(self):
        self.woken, _, self.clock = struct.unpack_from("<IIQ", self.session, 24)
        super().close()


@job_test("a collector that sleeps is woken, once, by whoever has something to tell")
def _():
    seen = []

    def collector(*how):
        seen.append(Asleep(*how))
        return seen[-1]
    start = time.monotonic_ns()
    (told,), (host,) = guests("host", "churn", "1021", collector=collector)
    expect_same(told, host, "churn")
    expect_eq((seen[0].woken, seen[0].clock % 2), (1, 0), "rings, asleep")
    expect(start <= seen[0].clock <= time.monotonic_ns(), "the time is the guest's")


class Stopped(Collector):
    def welcome(self):
        struct.pack_into("<I", self.session, 28, 1)     # before anybody comes
        super().welcome()


@job_test("a collector that does not read is waited for once, what it missed is counted")
def _():
    (told,), (host,) = guests("host", "churn", "50021", collector=Slow)
    expect_eq(len(host.allocs) + len(host.frees) + host.lost, 2 * told["allocations"], "all")
    expect(host.lost > 10000, f"lost {host.lost}")
    expect_eq((host.state, host.why), (2, 0), "state, why")


@job_test("a dead collector is left")
def _():
    (_,), (host,) = guests("host", "churn", "50021", collector=Dead)
    expect_eq((host.state, host.why, host.lost), (3, 4, 1), "state, why, lost")


@job_test("who is told to stop records nothing more")
def _():
    (_,), (host,) = guests("host", "churn", "50021", collector=Stopped)
    expect_eq((host.state, sums(host)), (2, (0, 0, 0)), "state, events")


@job_test("nobody is there: the program runs as ever")
def _():
    for env in ({"ASSAY_HEAP": str(tmp() / "nobody")}, {"ASSAY_HEAP": "nonsense"},
                {"ASSAY_HEAP": "99999999999:/x"}, {"ASSAY_HEAP": "/" + 200 * "x"}, {}):
        r = run(work("allocs"), "realloc", "threads", env={"LD_PRELOAD": str(LIBRARY), **env})
        expect_eq(r.ok().err, "", f"{env}")


main()
