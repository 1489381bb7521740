"""streams -- a thousand streams of events read on one core, ten thousand that rest, and memory.

$ASSAY_BENCH_LONG=1 holds a load for the ten minutes that its budget speaks of, instead of two.
"""
import json
import os
import statistics
import subprocess
import time

from harness import Result, median, pinned, two_cpus

ABOUT = "Streams of events: how true they are read, and the memory of `assay load`, on one core."
STREAMS, EVERY_MS, OFF_PERCENT, LAG_MS = 1000, 20, 1.0, 5.0
IDLE, IDLE_MB = 10_000, 100.0
GROWN_MB = 0.1              # of a load that lasts: code that is needed for the first time
FROM_S = 10
LASTING = {                 # what: options of the stub, options of the load
    "1,000 requests a second": ((), ("-c", 50, "-R", 1000)),
    "100 streams, 20,000 events a second": (("--sse", 100, "--every", "5ms"), ("-c", 100)),
}


def load(b, url, *options):
    """A client on a core of its own, begun."""
    command = [b.assay, "load", "--no-store", "--json", *options, url]
    return subprocess.Popen(pinned(two_cpus()[0], command), stdout=subprocess.PIPE, text=True)


def status_mb(pid, key):
    """A line of its memory in MB; None when it has none any more."""
    try:
        with open(f"/proc/{pid}/status") as lines:
            found = next((line for line in lines if line.startswith(key)), None)
    except OSError:
        return None
    return int(found.split()[1]) * 1024 / 1e6 if found else None


def followed(p):
    """What it told, and [(seconds, resident MB, the most so far)] while it ran."""
    start, seen = time.monotonic(), []
    while p.poll() is None:
        now = [status_mb(p.pid, key) for key in ("VmRSS", "VmHWM")]
        if None not in now:
            seen.append((time.monotonic() - start, *now))
        try:
            out = p.communicate(timeout=0.25)[0]
        except subprocess.TimeoutExpired:
            continue
        return json.loads(out), seen
    return json.loads(p.communicate()[0]), seen


def whole(d, events):
    """Did all come? What lacks some is no figure."""
    if d["stream"]["events"] != events:
        raise SystemExit(f"bench: {d['stream']['events']} events of {events}: {d['errors']}")


def paced(b, rounds, events):
    """Of each round how far the median gap was off in %, the lag's p99 in ms, how busy we were."""
    off, lag, busy = [], [], []
    with b.stub("--sse", events, "--every", f"{EVERY_MS}ms", on=two_cpus()[1]) as url:
        for _ in range(rounds):
            p = load(b, url, "-c", STREAMS, "-n", STREAMS, "--timeout", "120s")
            d = json.loads(p.communicate()[0])
            st = d["stream"]
            whole(d, STREAMS * events)
            off.append(100 * abs(st["between_events_ms"]["p50"] / EVERY_MS - 1))
            lag.append(st["event_lag_ms"]["p99"])
            busy.append(100 * d["generator"]["busy"])
    return median(off), median(lag), median(busy)


def resting(b, streams, seconds):
    """The most memory, in MB, while that many streams are open and say nothing."""
    with b.stub("--sse", 2, "--every", f"{seconds}s", on=two_cpus()[1]) as url:
        d, seen = followed(load(b, url, "-c", streams, "-n", streams, "--timeout", "120s"))
    whole(d, 2 * streams)
    return median([max(most for _, _, most in seen)])


def grown(b, what, start, seconds):
    """By how many MB the resident memory grew from `start` seconds to the end, and what it was."""
    server, options = LASTING[what]
    with b.stub(*server, on=two_cpus()[1]) as url:
        _, seen = followed(load(b, url, *options, "-z", f"{seconds}s"))
    early = statistics.median(mb for t, mb, _ in seen if start <= t < start + 1)
    late = statistics.median(mb for t, mb, _ in seen if seconds - 1 <= t < seconds)
    return median([late - early]), early


def run(b):
    rounds, events, rest, many = (1, 100, 3, 2000) if b.quick else (3, 500, 20, IDLE)
    start, seconds = (2, 5) if b.quick else (FROM_S, 600 if os.getenv("ASSAY_BENCH_LONG") else 120)
    off, lag, busy = paced(b, rounds, events)
    idle = resting(b, many, rest)
    lasting = {what: grown(b, what, start, seconds) for what in LASTING}
    paces = f"{STREAMS:,} streams × {1000 // EVERY_MS} events a second"
    result = Result(["", "measured", "budget"])
    result.keep(off_percent=off, lag_p99_ms=lag, busy_percent=busy, idle_mb=idle,
                grown_mb=lasting["1,000 requests a second"][0],
                streams_grown_mb=lasting["100 streams, 20,000 events a second"][0])
    for what, figure, limit, unit in (
            (f"{paces}: median gap off by", off, OFF_PERCENT, " %"),
            (f"{paces}: read after they were sent, p99", lag, LAG_MS, " ms"),
            (f"{many:,} streams that rest: memory", idle, IDLE_MB, " MB"),
            *((f"a load that lasts, {what}: memory grown", more, GROWN_MB, " MB")
              for what, (more, _) in lasting.items())):
        word = result.budget(what, figure, limit, unit)
        result.rows.append([what, figure.text(unit), f"{limit:g}{unit}: {word}"])
    held = ", ".join(f"{what}: {mb:.2f} MB" for what, (_, mb) in lasting.items())
    result.notes.append(
        f"Client and server have a core each. {rounds} × {events} events of each stream; the "
        f"client's core was busy for {busy.text(' %')}. What a load holds is its resident memory "
        f"after {start} s ({held}) against that after {seconds} s; with `ASSAY_BENCH_LONG=1` "
        "after ten minutes.")
    return result
