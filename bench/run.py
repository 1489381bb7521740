#!/usr/bin/env python3
"""bench -- what assay itself costs, side by side with its peers.

    bench/run.py [--build DIR] [--quick | --render] [NAME]...

Every benchmark is a module beside this one (harness.py says how it is made);
to add one: its file, and its name in ALL. NAME chooses those that begin so.
Results are printed, written to build/bench/NAME.json, and put into
docs/overhead.md between the comments that bear their names; what was not
measured stays there as it was. --quick is for trying: few rounds, docs left as
they are. --render measures nothing and puts the last results of NAME into the
docs again.
Wants a quiet machine; how quiet it was is told with every result.
"""
import argparse
import dataclasses
import importlib
import json
import os
import pathlib
import platform
import re
import sys
import textwrap
import time

sys.dont_write_bytecode = True
import harness
import peers

ALL = ["start", "own", "sample1000", "cgroup", "store", "stacks", "stacks_attach", "heap", "load",
       "histogram", "streams", "capacity"]
DOCS = harness.ROOT / "docs" / "overhead.md"


def conditions(noise):
    """Where and when: all that the figures depend on, and no names of hosts."""
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "kernel": platform.release(),
            "cpu": harness.cpu_model(), "cpus": os.cpu_count(),
            "python": platform.python_version(), "root": os.geteuid() == 0,
            "peers": [f"{p.name} {p.version}" for p in peers.ALL if p.is_here], **noise.shares()}


def where(c):
    return (f"{c['date']}, Linux {c['kernel']}, {c['cpus']} × {c['cpu']}, Python {c['python']}, "
            f"{'root' if c['root'] else 'not root'}. "
            f"Others used {100 * c['others']:.0f} % of the machine meanwhile, "
            f"{100 * c['steal']:.1f} % was stolen by its host.")


def block(text, name, body):
    """The text with what stands between the comments of this name replaced."""
    pattern = re.compile(rf"(<!-- bench {name} -->\n).*?(<!-- end -->)", re.S)
    if not pattern.search(text):
        sys.exit(f"bench: docs/overhead.md has no place for '{name}'")
    return pattern.sub(lambda m: m[1] + "\n" + body + "\n" + m[2], text)


def prose(told):
    """A result as the docs show it."""
    parts = [*told["notes"], f"*{where(told['conditions'])}*"]
    return (harness.table(told["columns"], told["rows"]) + "\n"
            + "\n\n".join(textwrap.fill(p, 100, break_long_words=False) for p in parts) + "\n")


BUDGETS = ["by", "what", "budget", "measured (95 % interval)", ""]


def shown_budgets(text):
    """The rows that the docs have now."""
    inside = re.search(r"<!-- bench budgets -->\n(.*?)<!-- end -->", text, re.S)[1]
    lines = [line for line in inside.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:]]


def budgets_of(told):
    return [[told["name"], *row] for row in told["budgets"]]


def merged(rows, told):
    """What a benchmark said before is gone, whatever it was called; what others said stays."""
    rows = [row for row in rows if row[0] != told["name"]] + budgets_of(told)
    return sorted(rows, key=lambda row: ALL.index(row[0]))


def publish(told):
    text = DOCS.read_text()
    rows = merged(shown_budgets(text), told)
    text = block(text, "budgets", harness.table(BUDGETS, rows))
    DOCS.write_text(block(text, told["name"], prose(told)))


def bench(b, name):
    module = importlib.import_module(name)
    noise, start = harness.Noise(), time.monotonic()
    result = module.run(b)
    told = {"schema": "assay/bench/1", "name": name, "about": module.ABOUT, "quick": b.quick,
            "conditions": conditions(noise), **dataclasses.asdict(result)}
    b.bin(f"{name}.json").write_text(json.dumps(told, indent=1, ensure_ascii=False))
    seconds = time.monotonic() - start
    print(f"\n{name}: {module.ABOUT}\n\n{prose(told)}({seconds:.0f} s)", flush=True)
    if not b.quick:
        publish(told)
    return budgets_of(told)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--build", default=harness.ROOT / "build", type=pathlib.Path)
    args.add_argument("--quick", action="store_true")
    args.add_argument("--render", action="store_true")
    args.add_argument("name", nargs="*", help=", ".join(ALL))
    args = args.parse_args()
    unknown = [n for n in args.name if not any(have.startswith(n) for have in ALL)]
    if unknown:
        sys.exit(f"bench: no '{unknown[0]}'; there are {', '.join(ALL)}")
    chosen = [have for have in ALL if have.startswith(tuple(args.name or [""]))]

    build = args.build.resolve()
    if args.render:
        for path in (build / "bench" / f"{name}.json" for name in chosen):
            told = json.loads(path.read_text())
            if not told["quick"]:
                publish(told)
        return
    if not peers.are_here():
        sys.exit("bench: the peers are not here: `make bench-deps` installs them")
    b = harness.Bench(build, args.quick)
    rows = []
    try:
        for name in chosen:
            rows += bench(b, name)
    finally:
        b.close()
    print("\n" + harness.table(BUDGETS, rows))


if __name__ == "__main__":
    main()
