"""stacks_attach -- from nothing to the first stack of a running Python program."""
import peers
from harness import Result, median
from stacks import target

ABOUT = "Starting a sampler, finding Python in a running process, one look, and the end."
LIMIT_MS, LIMIT_MB = 20, 16


def commands(b, pid):
    out = f"{b.folder('attach')}/out"
    yield "`assay record -d 1ms`", [b.assay, "record", "-q", "-p", pid, "-d", "1ms", "-r", 10_000,
                                    "-o", out]
    for p in peers.of("austin-dist"):
        yield f"`austin --where` {p.version}", [p.program("austin"), "-w", pid]
    for p in peers.of("py-spy"):
        yield f"`py-spy dump` {p.version}", [p.program("py-spy"), "dump", "-p", pid]


def run(b):
    result = Result(["", "wall, ms", "CPU, ms", "peak memory, MB",
                     f"budget: {LIMIT_MS} ms, {LIMIT_MB} MB"])
    with target(b, 900, 50) as pid:
        names, words = zip(*commands(b, pid))
        costs = b.meter(words, 10 if b.quick else 60, may_fail=True)
    for name, runs in zip(names, costs):
        wall, cpu = (median([getattr(k, what) / 1e6 for k in runs]) for what in
                     ("wall_ns", "own_ns"))
        peak = median([k.peak_kb * 1.024e-3 for k in runs])
        words = ""
        if "assay" in name:
            words = " / ".join([result.budget("stacks: attach, look, end", wall, LIMIT_MS, " ms"),
                                result.budget("stacks: peak memory", peak, LIMIT_MB, " MB")])
        result.rows.append([name, wall.text(), cpu.text(), peak.text(), words])
        result.keep(**{f"{name}, wall_ms": wall, f"{name}, cpu_ms": cpu, f"{name}, peak_mb": peak})
    result.notes.append(f"{len(costs[0])} rounds in turns; the program is 50 calls deep. All that "
                        "happens is in it, from the start of the sampler's process to its end.")
    return result
