#!/usr/bin/env python3
"""Flame graphs: the picture and the page say what the profile says, to the last sample."""
import collections
import os
import random
import re
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from modules import node
from page import Page

HOSTILE = "</title></script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'"
SVG = "{http://www.w3.org/2000/svg}"


def folded(seed, n=300, names=12, deepest=9):
    """{stack: count}, stacks as tuples, outermost first; names repeat, so there is recursion."""
    chance = random.Random(seed)
    stacks = collections.Counter()
    for _ in range(n):
        depth = chance.randint(1, deepest)
        stack = tuple(f"f{chance.randrange(names)}" for _ in range(depth))
        stacks[stack] += chance.randint(1, 50)
    return stacks


def write(stacks, path="a.folded"):
    lines = (f"{';'.join(stack)} {n}\n" for stack, n in stacks.items())
    (tmp() / path).write_text("".join(lines))
    return path


def page_data(path="a.folded", *options):
    assay("flame", path, "-o", "x.html", *options).ok()
    return Page(tmp() / "x.html").data


# --- what must come out, from the stacks alone --------------------------------------

def boxes(stacks):
    """{path of names: total}"""
    found = collections.Counter()
    for stack, n in stacks.items():
        for depth in range(len(stack) + 1):
            found[stack[:depth]] += n
    return dict(found)


def functions(stacks):
    """{name: [self, total]}; whoever is in a stack twice counts once."""
    found = collections.defaultdict(lambda: [0, 0])
    for stack, n in stacks.items():
        found[stack[-1]][0] += n
        for name in set(stack):
            found[name][1] += n
    return dict(found)


def edges(stacks, name):
    """({caller: value}, {callee: value}) of a function."""
    up, down = collections.Counter(), collections.Counter()
    for stack, n in stacks.items():
        pairs = set(zip(stack, stack[1:]))
        for a in {a for a, b in pairs if b == name}:
            up[a] += n
        for b in {b for a, b in pairs if a == name}:
            down[b] += n
    return dict(up), dict(down)


def reverse(stacks):
    return {stack[::-1]: n for stack, n in stacks.items()}


# --- the page, computed by node -------------------------------------------------------

GROW = """
    const p = modules["flame/data"].arrange(data);
    const frames = modules["flame/frames"].framesOf(p, "function");
    const all = {kind: 0, width: "both", share: true, apart: false, reverse: false, from: 0,
        to: p.slices};
    const tree = (filters, how) => {
        const work = modules["flame/tree"].grow(p, frames,
            new (modules["flame/filter"].Sieve)(p, filters), {...all, ...how});
        for (;;) {
            const step = work.next();
            if (step.done)
                return step.value;
        }
    };
    const path = (t, i) => i ? [...path(t, t.parent[i]), frames.name[t.frame[i]]] : [];
    const drawn = (t) => t.level.flatMap((l) => [...l].map((i) => [path(t, i), t.total[i]]));
    const names = (peers) => Object.fromEntries(peers.map((x) => [frames.name[x.frame], x.value]));
"""


def page_boxes(data, filters, **how):
    got = node(GROW + "return drawn(tree(filters, how))", page="flame", data=data,
               filters=filters, how=how)
    expect_eq(len({tuple(path) for path, _ in got}), len(got), "boxes that are drawn once")
    return {tuple(path): total for path, total in got}


@test("boxes, functions, callers and callees of the page are those of the profile")
def _():
    for seed in (1, 2):
        stacks = folded(seed)
        data = page_data(write(stacks))
        expect_eq(page_boxes(data, {}), boxes(stacks), "boxes")
        expect_eq(page_boxes(data, {}, reverse=True), boxes(reverse(stacks)), "boxes, reversed")
        for backwards in (False, True):
            sums, peers = node(GROW + """
                const t = tree({}, {reverse});
                const s = modules["flame/tree"].sums(t, frames);
                const {callers, callees} = modules["flame/around"];
                return [Object.fromEntries(s.frame.map((f) => [frames.name[f],
                    [s.self[f], s.total[f]]])), Object.fromEntries(s.frame.map((f) =>
                    [frames.name[f], [names(callers(t, f)), names(callees(t, f))]]))];""",
                page="flame", data=data, reverse=backwards)
            expect_eq(sums, functions(stacks), "self and total")
            for name, (up, down) in peers.items():
                expect_eq((up, down), edges(stacks, name), f"callers and callees of {name}")


def converted(*options):
    """What the command line leaves of the profile, by the same filters."""
    text = assay("convert", "a.folded", *options, "-f", "folded", "-").ok().out
    found = collections.Counter()
    for line in text.splitlines():
        stack, _, n = line.rpartition(" ")
        found[tuple(stack.split(";")) if stack else ()] += int(n)
    return found


@test("filters of the page leave what those of the command line leave")
def _():
    data = page_data(write(folded(6, names=9)))
    for filters in ({"focus": "f3"}, {"focus": "f3", "callers": True}, {"show-from-frame": "f2"},
                    {"show-stacks": "f1,f5"}, {"hide-stacks": "f4"}, {"hide-frames": "f7,f8"},
                    {"focus": "f1", "hide-frames": "f2", "hide-stacks": "f6"}):
        options = [f"--{k}" if v is True else f"--{k}={word}" for k, v in filters.items()
                   for word in ([True] if v is True else v.split(","))]
        want, got = boxes(converted(*options)), page_boxes(data, filters)
        del want[()], got[()]
        want.pop(("[no stack]",), None)     # how folded stacks say that nothing is left of one
        wrong = sorted(set(want.items()) ^ set(got.items()))
        expect(want and not wrong, f"boxes with {filters}: {len(wrong)} differ: {wrong[:4]}")


@test("boxes stand side by side, the widest first, inside their caller's")
def _():
    got = node(GROW + """
        const t = tree({}, {});
        return t.level.map((l) => [...l].map((i) => [t.parent[i], t.x[i], t.total[i], i]));""",
        page="flame", data=page_data(write(folded(3))))
    place = {i: (x, x + w) for level in got for _, x, w, i in level}
    for level in got[1:]:
        expect_eq([x for _, x, _, _ in level], sorted(x for _, x, _, _ in level), "from the left")
        for parent, x, w, _ in level:
            expect(place[parent][0] <= x and x + w <= place[parent][1], "a box left its caller's")
        for (p0, x0, w0, _), (p1, x1, w1, _) in zip(level, level[1:]):
            if p0 == p1:
                expect_eq((x1, w1 <= w0), (x0 + w0, True), "the next sibling")


@test("a level of a million boxes takes two looks a pixel")
def _():
    looks, drawn, covered = node("""
        const n = 1e6, t = {x: new Float64Array(n), total: new Float64Array(n).fill(1)};
        const level = Int32Array.from({length: n}, (_, i) => t.x[i] = i);
        let looks = 0;
        t.total[500000] = 5000;
        for (let i = 500001; i < n; i++) t.x[i] += 4999;
        const counted = new Proxy(level, {get: (l, k) => {
            if (k !== "length") looks++;
            return l[k];
        }});
        const seen = {boxes: [], dust: 0};
        modules["flame/layout"].look(t, counted, {from: 0, to: n + 4999}, 1000, {
            box: (i) => seen.boxes.push(i), dust: (a, b) => seen.dust += b - a});
        return [looks, seen.boxes, seen.dust];""", page="flame")
    expect_eq(drawn, [500000], "the only box wider than half a pixel")
    expect(looks < 2 * 1000 * 30, f"{looks} looks at boxes")
    expect(990 < covered <= 1000, f"{covered} pixels of small ones")


@test("of levels, a span of time has its highest slice and not the sum of all")
def _():
    data = page_data(write({("a", "b"): 4, ("a", "c"): 2, ("d",): 1}))
    expect_eq(data["levels"], False, "levels of a profile of time")
    data.update(slice_ns=10**9, levels=True)
    data["sample"]["slice"] = [0, 1, 1]
    expect_eq(page_boxes(data, {}), {(): 4, ("a",): 4, ("a", "b"): 4}, "boxes of the peak")
    expect_eq(page_boxes(data, {}, **{"from": 1, "to": 2}),
              {(): 3, ("a",): 2, ("a", "c"): 2, ("d",): 1}, "boxes of the peak of the rest")


@test("what a page of levels says above it is of one moment")
def _():
    data = page_data(write({("a", "b"): 4, ("a", "c"): 2, ("d",): 1}))
    data.update(slice_ns=10**9, levels=True)
    data["kinds"] = [{**data["kinds"][0], "name": name} for name in ("allocations", "bytes")]
    data["sample"].update(slice=[0, 1, 1], values=[[1, 4, 5], [4, 2, 1]])
    for kind, want in ((1, [1, 4]), (0, [9, 3])):
        data["kind"] = kind
        expect_eq(node(GROW + "return [0, 1].map(modules['flame/data'].whole(p));", page="flame",
                       data=data), want, f"most of kind {kind}")


@test("time slices, threads apart, before and after")
def _():
    data = page_data(write({("a", "b"): 4, ("a", "c"): 2, ("d",): 1}))
    data["slice_ns"] = 10**9
    data["sample"]["slice"] = [0, 1, 1]
    expect_eq(page_boxes(data, {}, **{"from": 1, "to": 2}),
              {(): 3, ("a",): 2, ("a", "c"): 2, ("d",): 1}, "boxes of the second slice")
    for ns, span in ((0, 2e9), (0.9e9, 2e9), (1.25e9, 1.25e9), (3e9, 2e9)):
        data["duration_ns"] = ns
        expect_eq(node(GROW + "return p.span_ns;", page="flame", data=data), span,
                  f"how much of two slices a profile of {ns} ns has")
    data["texts"].append("thread")
    data["tags"] = [[], [[len(data["texts"]) - 1, 7]]]
    data["sample"]["tags"] = [0, 1, 1]
    expect_eq(page_boxes(data, {}, apart=True),
              {(): 7, ("a",): 4, ("a", "b"): 4, ("thread 7",): 3, ("thread 7", "a"): 2,
               ("thread 7", "a", "c"): 2, ("thread 7", "d"): 1}, "boxes, threads apart")
    expect_eq(node(GROW + """
        const m = new modules["flame/model"].Model(p);
        m.search("THREAD 7|^d");
        return frames.name.filter((_, i) => m.found[i]);""", page="flame", data=data),
              ["d", "thread 7"], "what a search finds")
    for how in ({}, {"reverse": True}, {"reverse": True, "apart": True}):
        own = node(GROW + """
            const t = tree({}, how), s = modules["flame/tree"].sums(t, frames);
            return [Object.fromEntries(s.frame.map((f) => [frames.name[f], s.self[f]])),
                t.level.flatMap((l) => [...l].map((i) => t.self[i])).reduce((a, b) => a + b)];""",
                   page="flame", data=data, how=how)
        own[0].pop("thread 7", None)
        expect_eq(own, [{"a": 0, "b": 4, "c": 2, "d": 1}, 7], f"in themselves, {how}")
    data["kinds"] = [{**data["kinds"][0], "name": name} for name in ("before", "after")]
    data["sample"]["values"] = [[4, 2, 1], [0, 12, 2]]
    widths = {"both": 14, "before": 7, "after": 7}      # after counts half: it was twice as long
    for width, total in widths.items():
        expect_eq(page_boxes(data, {}, width=width)[()], total, f"the whole, {width}")
    changes = node(GROW + """
        const t = tree({}, {});
        return Object.fromEntries(t.level.flatMap((l) => [...l].map((i) =>
            [path(t, i).join(), modules["flame/tree"].changed(t, i, true)])));""",
        page="flame", data=data)
    expect_eq({k: round(v, 9) for k, v in changes.items()},
              {"": 0, "a": 0, "a,b": -1, "a,c": round(1 - (2 / 7) / (12 / 14), 9), "d": 0},
              "changes")


# --- the picture ------------------------------------------------------------------------

def picture(*options):
    assay("flame", *options, "-o", "x.svg").ok()
    root = xml.parse(tmp() / "x.svg").getroot()
    found = {}
    for g in root.find(f"{SVG}g[@id='boxes']"):
        rect, title = g.find(f"{SVG}rect"), g.find(f"{SVG}title").text.split("\n")
        found.setdefault(title[0], []).append((float(rect.get("width")), title))
    return root, found


@test("a share that is less than a tenth of a percent does not break the picture")
def _():
    (tmp() / "a.folded").write_text("main;much 100000\nmain;thin;many 300\nmain;thin 20\n")
    _, found = picture("a.folded")
    expect_eq(found["thin"][0][1][-1], "total 320 (0.3 %), self 20 (<0.1 %)", "numbers")


@test("every box of the picture is as wide as its share, and says what it had")
def _():
    stacks = folded(4, n=40, names=5, deepest=4)
    _, found = picture(write(stacks))
    _, turned = picture("a.folded", "--reverse")
    want, whole = boxes(stacks), sum(stacks.values())
    drawn = sorted(w for group in found.values() for w, _ in group)
    expect_eq(drawn, sorted(round(n / whole * 1176, 2) for n in want.values()), "widths")
    self_, total = functions(stacks)["f1"]
    for how, drawn in (("flame", found), ("reversed", turned)):
        told = sum(int(re.search(r"self ([\d ]+) \(", " ".join(t))[1].replace(" ", ""))
                   for _, t in drawn["f1"])
        expect_eq(told, self_, f"self of f1, over all its boxes, {how}")


@test("a name is cut where its box ends, wide letters too")
def _():
    for name, columns, want in (("parse", 5, "parse"), ("parse", 4, "par…"), ("解析数据", 8, "解析数据"),
                                ("解析数据", 7, "解析数…"), ("解析数据", 6, "解析…"), ("a解", 2, "a…")):
        got = node("return modules['flame/draw'].fitted([...name], columns)", page="flame",
                   name=name, columns=columns)
        expect_eq(got, want, f"{name} in {columns} columns")


@test("hostile names stay names, in the picture and in the page")
def _():
    write({(HOSTILE.replace(";", ""), "\u202eevil\x07"): 3})
    root, found = picture("a.folded", "--title", HOSTILE)
    expect(any("alert(1)" in name for name in found), f"names: {list(found)}")
    expect_eq(len(list(root.iter(f"{SVG}script"))), 1, "scripts")
    expect_eq(len(list(root.iter(f"{SVG}img"))), 0, "images")
    expect("\u202e" not in (tmp() / "x.svg").read_text(), "letters run backwards")
    assay("flame", "a.folded", "-o", "x.html", "--title", HOSTILE).ok()
    page = Page(tmp() / "x.html")
    expect_eq([e[0] for e in page.elements].count("script"), 2, "scripts")
    expect_eq(page.data["title"], HOSTILE, "title")


@test("the page needs nothing else, and its policy allows nothing else")
def _():
    assay("flame", write(folded(5)), "-o", "x.html").ok()
    page = Page(tmp() / "x.html")
    expect_eq(page.addresses, [], "addresses")
    scripts = [e for e in page.elements if e[0] == "script" and not e[1]]
    expect_eq(page.policy["script-src"], page.digest(scripts[0][2]), "the script's hash")
    expect_eq(page.policy["style-src"], page.digest(page.only("style")[2]), "the style's hash")
    expect_eq(page.policy["default-src"], "'none'", "everything else")
    expect_in("f1", page.only("noscript")[2] + page.only("pre")[2], "text for readers")


@test("what go's pprof recorded is drawn by time, its files in colours")
def _():
    go = ROOT / "tests/fixtures/profiles/go-cpu.pb.gz"
    _, found = picture(go)
    expect(found["main.spin"][0][0] > 500, f"main.spin is {found['main.spin'][0][0]} wide")
    expect(re.search(r"total [\d.]+ m?s \(", " ".join(found["main.spin"][0][1])), "no time told")


main()
