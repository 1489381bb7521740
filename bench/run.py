#!/usr/bin/env python3
"""bench -- what assay itself costs, side by side with its peers.

    bench/run.py [--build DIR] [--quick] [NAME]...

Every benchmark is a module beside this one (harness.py says how it is made);
to add one: its file, and its name in ALL. Results are printed, written to
build/bench/NAME.json, and put into docs/overhead.md between the comments that
bear their names. --quick is for trying: few rounds, docs left as they are.
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
import time

sys.dont_write_bytecode = True
import harness
import peers

ALL = ["start", "own", "sample1000", "cgroup", "store"]
DOCS = harness.ROOT / "docs" / "overhead.md"


def conditions(noise):
    """Where and when: all that the figures depend on, and no names of hosts."""
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "kernel": platform.release(),
            "cpu": harness.cpu_model(), "cpus": os.cpu_count(),
            "python": platform.python_version(), "root": os.geteuid() == 0,
            "peers": {n: peers.version(n) for n in peers.NAMES}, **noise.shares()}


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


def prose(name, result, c):
    notes = "\n".join(result.notes)
    return harness.table(result.columns, result.rows) + f"\n{notes}\n\n*{where(c)}*\n"


def budgets(build, quick):
    """All budgets of the results at hand, also those of earlier calls."""
    rows = []
    for name in ALL:
        path = build / "bench" / f"{name}.json"
        told = json.loads(path.read_text()) if path.exists() else {"budgets": [], "quick": True}
        rows += told["budgets"] if quick or not told["quick"] else []
    return harness.table(["what", "budget", "measured (95 % interval)", ""], rows)


def publish(build, name, body):
    if DOCS.exists():
        text = block(DOCS.read_text(), name, body)
        DOCS.write_text(block(text, "budgets", budgets(build, False)))


def bench(b, name):
    module = importlib.import_module(name)
    noise, start = harness.Noise(), time.monotonic()
    result = module.run(b)
    c = conditions(noise)
    path = b.bin(f"{name}.json")
    path.write_text(json.dumps({"schema": "assay/bench/1", "name": name, "about": module.ABOUT,
                                "quick": b.quick, "conditions": c,
                                **dataclasses.asdict(result)}, indent=1, ensure_ascii=False))
    body = prose(name, result, c)
    print(f"\n{name}: {module.ABOUT}\n\n{body}({time.monotonic() - start:.0f} s)", flush=True)
    if not b.quick:
        publish(b.build, name, body)


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--build", default=harness.ROOT / "build", type=pathlib.Path)
    args.add_argument("--quick", action="store_true")
    args.add_argument("name", nargs="*", help=", ".join(ALL))
    args = args.parse_args()
    unknown = [n for n in args.name if n not in ALL]
    if unknown:
        sys.exit(f"bench: no '{unknown[0]}'; there are {', '.join(ALL)}")

    b = harness.Bench(args.build.resolve(), args.quick)
    try:
        for name in args.name or ALL:
            bench(b, name)
    finally:
        b.close()
    print("\n" + budgets(b.build, True))


if __name__ == "__main__":
    main()
