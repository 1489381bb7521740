"""capacity -- how near `assay capacity` comes to what theory says that a queue holds."""
import json
import subprocess
import sys

from harness import ROOT, Result, median, number, pinned, two_cpus

sys.path.append(str(ROOT / "tests" / "lib"))
from queues import holds

ABOUT = "`assay capacity` against M/M/c queues, whose capacity theory knows."
QUEUES = [(8, 40, 200), (4, 20, 120)]       # servers, mean service in ms, bound of p95 in ms
LIMIT = 5.0


def capacity(b, queue, probe, hold):
    """What it found, as its document; None: the machine was too busy for it."""
    servers, mean, bound = queue
    client, server = two_cpus()
    with b.stub("--servers", servers, "--service", f"exp:{mean}ms", on=server) as url:
        command = [b.assay, "capacity", "--no-store", "--json", "--slo", f"p95<{bound}ms,errors<1%",
                   "--from", 40, "--probe", f"{probe}s", "--hold", f"{hold}s", url]
        p = subprocess.run(pinned(client, command), capture_output=True, text=True)
    if p.returncode not in (0, 6):
        raise SystemExit(f"bench: capacity: {p.stderr}")
    return json.loads(p.stdout) if p.returncode == 0 else None


def run(b):
    probe, hold = (1, 1) if b.quick else (4, 15)
    queues = QUEUES[:1] if b.quick else QUEUES
    return told([(q, capacity(b, q, probe, hold)) for q in queues], probe, hold)


def told(found, probe, hold):
    result = Result(["queue", "theory, 1/s", "told, 1/s", "off by", f"budget: {LIMIT:g} %"])
    for (servers, mean, bound), d in found:
        truth = holds(servers, mean / 1e3, bound / 1e3, 0.95)
        name = f"{servers} servers of {mean} ms, p95 < {bound} ms"
        if not d:
            result.rows.append([name, number(truth, 4), "INVALID", "-", "-"])
            continue
        off = median([100 * abs(d["capacity"] / truth - 1)])
        result.keep(**{f"off_percent_{servers}x{mean}": off})
        word = result.budget(f"capacity of {name}: off by", off, LIMIT, " %")
        result.rows.append([name, number(truth, 4),
                            f"{number(d['capacity'], 4)} in {len(d['probes'])} probes",
                            off.text(" %"), word])
    result.notes.append(
        f"Service is exponential, arrivals are Poisson's. A probe takes {probe} s and more, the "
        f"answer is held for {hold} s. Client and server have a core each. A search is INVALID "
        "when others had the cores.")
    return result
