#!/usr/bin/env python3
"""The modules of the HTML report that only compute, run by node: numbers, rates, rows."""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from modules import node

def told(function, pairs, *more):
    """Each value becomes its text; spaces that do not break are written as plain ones."""
    got = node("return values.map((v) => modules.units[name](...more, v))", name=function,
               values=[v for v, _ in pairs], more=list(more))
    expect_eq([t.replace("\u00a0", " ") for t in got], [t for _, t in pairs], function)


@test("numbers are written as the terminal writes them")
def _():
    told("duration", [(0, "0 s"), (999, "999 ns"), (999.6e3, "1.00 ms"), (26094, "26.1 µs"),
                      (820e6, "820 ms"), (999.6e6, "1.00 s"), (1.24e9, "1.24 s"),
                      (59.94e9, "59.9 s"), (59.96e9, "1m 00s"), (192e9, "3m 12s"),
                      (18120e9, "5h 02m"), (183600e9, "2d 03h"), (-5e6, "−5.00 ms"),
                      (None, "–")])
    told("bytes", [(0, "0 B"), (512, "512 B"), (1024, "1.0 KiB"), (1023, "1.0 KiB"),
                   (1.5 * 2**30, "1.5 GiB"), (153 * 2**20, "153 MiB"), (99.96 * 1024, "100 KiB"),
                   (None, "–")])
    told("count", [(0, "0"), (0.4, "0.40"), (0.001, "<0.01"), (12345, "12 345"),
                   (999999, "999 999"), (1.2e6, "1.2 M"), (None, "–")])
    told("percent", [(0, "0 %"), (0.98, "98 %"), (0.004, "0.4 %"), (12.4, "1 240 %"),
                     (0.0001, "<0.1 %"), (0.0996, "10 %"), (None, "–")])
    told("number", [(1.24, "1.24"), (12.4, "12.4"), (124, "124"), (0.001, "<0.01"), (0, "0")])


@test("ticks are round, in the unit that is shown, and differ from each other")
def _():
    told("tick", [(0, "0"), (96 * 2**20, "96 MiB"), (2**30, "1 GiB"), (2.5 * 2**20, "2.5 MiB")],
         "bytes")
    told("tick", [(0.5, "50 %"), (2, "200 %"), (100, "10 000 %"), (0.05, "5 %")], "share")
    told("tick", [(10, "10"), (2e6, "2 M"), (100, "100")], "count")
    told("tick", [(0.0001, "0.01 %"), (0.0005, "0.05 %"), (0.001, "0.1 %"), (0.0015, "0.15 %")],
         "share")
    told("tick", [(0.001, "0.001"), (0.005, "0.005"), (2, "2")], "ratio")
    told("tick", [(0.005, "0.005/s"), (0.01, "0.01/s"), (0.5, "0.5/s")], "count/s")
    spans = [50e6, 1e9, 20e9, 61e9, 3600e9, 86400e9, 7 * 86400e9, 1e3, 400 * 86400e9]
    steps, texts = node("""
        const steps = spans.map((s) => modules.units.timeStep(s, 8));
        return [steps, spans.map((s, i) => Array.from({length: Math.floor(s / steps[i])},
            (_, k) => modules.units.place(steps[i] * (k + 1), steps[i])))];""", spans=spans)
    for span, step, row in zip(spans, steps, texts):
        expect(2 <= span / step <= 9, f"{span / step} ticks on {span} ns")
        expect_eq(len(set(row)), len(row), f"different ticks on {span} ns: {row}")
    expect_eq(texts[0][0].replace("\u00a0", " "), "10 ms", "first tick of 50 ms")
    expect_eq(texts[6][0], "1d", "first tick of a week")


@test("rates: windows of a tenth of a second, a short rest joined, nothing across a gap")
def _():
    def windows(t, v):
        return [(w["t0"], w["t1"], w["v0"], w["v1"]) for w in
                node("return modules.series.windows(t, v)", t=t, v=v)]
    ms = 10**6
    expect_eq(windows([0, 50 * ms, 100 * ms, 130 * ms], [0, 1, 5, 6]),
              [(0, 130 * ms, 0, 6)], "a rest joins")
    expect_eq(windows([0, 20 * ms], [3, 4]), [(0, 20 * ms, 3, 4)], "all there is")
    expect_eq(windows([0, 200 * ms, 400 * ms, 600 * ms, 800 * ms], [0, 2, None, 6, 9]),
              [(0, 200 * ms, 0, 2), (600 * ms, 800 * ms, 6, 9)], "a gap")
    expect_eq(windows([5], [1]), [], "one moment")


LINE = """
const line = (steps, t, v) => ({key: "k", unit: "count", steps, lo: null, hi: null,
    from: Float64Array.from(steps ? t.slice(0, -1) : t),
    to: Float64Array.from(steps ? t.slice(1) : t),
    v: Float64Array.from(v, (x) => x ?? NaN)});
const plain = (a) => [...a].map((x) => Number.isNaN(x) ? null : x);
"""


@test("thinning keeps the area, the extremes and the gaps")
def _():
    n = 3000
    v = [((i * 7919) % 1000) if not 1200 <= i < 1500 else None for i in range(n)]
    got = node(LINE + """const t = Array.from({length: v.length + 1}, (_, i) => i * 1e9);
        const x = modules.thin.thin(line(true, t, v), 0, 3e12, 300);
        return [x.v, x.lo, x.hi, x.from, x.to].map(plain)""", v=v)
    mean, low, high, begin, end = got
    expect_eq(len(mean), 100, "parts of 300 px")
    expect_eq((begin[0], end[-1]), (0, n * 1e9), "ends")
    known = [x for x in v if x is not None]
    expect_eq((min(x for x in low if x is not None), max(x for x in high if x is not None)),
              (min(known), max(known)), "extremes")
    area = sum(m * (z - a) for m, a, z in zip(mean, begin, end) if m is not None)
    expect(math.isclose(area, sum(known) * 1e9, rel_tol=0.005), f"area {area}")
    expect_eq([i for i, m in enumerate(mean) if m is None], list(range(40, 50)), "gap")
    uneven = [i * 1e6 for i in range(1000)] + [1e9 + i * 1e9 for i in range(300)]
    holes = node(LINE + "const x = modules.thin.thin(line(false, t, t.map(() => 5)), 0, 3e11, 600);"
                 "return [x.v.length, plain(x.v).filter((v) => v !== 5).length]", t=uneven)
    expect_eq(holes, [200, 0], "parts, and those that are not as all the others, of uneven samples")
    short = node(LINE + "const l = line(false, [0, 1, 2], [1, 2, 3]);"
                 "return modules.thin.thin(l, 0, 2, 300) === l")
    expect(short, "a short line was changed")


@test("the point under a moment: the window that holds it, the nearest level, or none")
def _():
    got = node(LINE + """
        const rate = line(true, [0, 10, 20, 30], [1, 2, 3]);
        const level = line(false, [0, 10, 40], [1, 2, 3]);
        rate.from[2] = 25;
        return [[0, 5, 10, 11, 22, 25, 30, 31].map((x) => modules.series.pointAt(rate, x)),
            [-5, 0, 4, 6, 24, 26, 99].map((x) => modules.series.pointAt(level, x))]""")
    expect_eq(got[0], [0, 0, 0, 1, -1, 2, 2, -1], "windows")
    expect_eq(got[1], [0, 0, 0, 1, 1, 2, 2], "levels")


TREE = """
const c = {id: [], key: [], parent: [], name: [], detail: [], born_ns: [], died_ns: [],
    wait_status: [], metrics: {"process.cpu.user": [], "process.memory.peak": []}};
rows.forEach(([parent, name, cpu], i) => {
    c.id.push(100 + i); c.key.push(i); c.parent.push(parent === null ? null : 100 + parent);
    c.name.push(name); c.detail.push(name + " args"); c.born_ns.push(i); c.died_ns.push(i + 5);
    c.wait_status.push(0); c.metrics["process.cpu.user"].push(cpu);
    c.metrics["process.memory.peak"].push(cpu);
});
const all = new modules.tree.Processes(c, 1000);
const seen = (top, words) => modules.tree.flatten(all, top, words)
    .map((r) => [r.depth, r.name, r.members.length, r.cpu]);
"""


@test("a few brothers are shown one by one, many as one, with the children of all below")
def _():
    rows = [[None, "make", 1]]
    for i in range(20):
        rows += [[0, "sh", 2], [len(rows), "cc1", 10]]
    rows += [[0, "ld", 5], [0, "ld", None]]
    tree, found, programs, order = node(TREE + """
        const programs = all.rows("program");
        return [seen(all.rows("tree"), ""), seen(all.rows("tree"), "ld"), seen(programs, ""),
            seen(all.rows("cpu"), "").slice(0, 3)]""", rows=rows)
    expect_eq(tree, [[0, "make", 1, 1], [1, "sh", 20, 40], [2, "cc1", 20, 200], [1, "ld", 1, 5],
                     [1, "ld", 1, None]], "tree")
    expect_eq(found, [[0, "make", 1, 1], [1, "ld", 1, 5], [1, "ld", 1, None]], "found")
    expect_eq(programs, [[0, "cc1", 20, 200], [0, "sh", 20, 40], [0, "ld", 2, 5],
                         [0, "make", 1, 1]], "programs")
    expect_eq(order, [[0, "cc1", 1, 10]] * 3, "most CPU first")


@test("a process whose parent is unknown, or itself, still has its row")
def _():
    rows = [[7, "lost", 1], [1, "self", 1]]
    names = node(TREE + "return seen(all.rows('tree'), '').map((r) => r[1])", rows=rows)
    expect_eq(names, ["lost", "self"], "rows")


main()
