#!/usr/bin/env python3
"""Pages of a heap in a real browser: the table, and RSS over the curve of the temporal page.

Pictures of the pages are left in BUILD/shots, to be looked at.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from browser import *
from harness import *
from heaps import *
from jobs import *

SHOTS = BUILD / "shots"
APP = """\
import threading, time

def small():
    return [bytearray(10_007) for _ in range(30)]

def large():
    return [bytearray(300_007) for _ in range(20)]

kept = []
for work in small, large, small:
    t = threading.Thread(target=lambda: kept.append(work()))
    t.start()
    t.join()
    time.sleep(0.05)
"""
# 20 blocks for most of the time, and 5 of them at the end.
LEAKS = """\
import os, time

time.sleep(0.1)
kept = [bytearray(300_007) for _ in range(20)]
time.sleep(1.5)
del kept[5:]
os._exit(0)
"""
GONE = 15 * 300_008 / 2**20
SMALL, LARGE = 2 * 30 * 10_008, 20 * 300_008        # a byte more than a bytearray says


def browser():
    if missing():
        skip(missing())
    return Browser()


def record():
    (tmp() / "app.py").write_text(APP)
    return heap("/usr/bin/python3", "app.py")


def picture(b, name):
    SHOTS.mkdir(exist_ok=True)
    b.shot(SHOTS / f"heap-{name}.png")
    size = (SHOTS / f"heap-{name}.png").stat().st_size
    expect(size > 12000, f"the picture {name} has only {size} bytes: is it blank?")


def sizes(b, name):
    """At both widths and in both colours nothing is wider than the page."""
    for width, height, scheme in ((390, 844, "dark"), (390, 844, "light"), (1280, 900, "light"),
                                  (1280, 900, "dark")):
        b.size(width, height)
        b.colours(scheme)
        b.settle()
        expect_eq(b.js("return document.documentElement.scrollWidth"), width,
                  f"width of the page at {width}")
        picture(b, f"{name}-{width}-{scheme}")


def table(b):
    """The rows as they are shown: [[cell]]."""
    return b.js("return [...document.querySelectorAll('tbody tr')].map((r) => [...r.children]"
                ".map((c) => (c.querySelector('.function')?.firstChild ?? c).textContent"
                ".replaceAll('\\u00a0', ' ')))")


def facts(b):
    return b.js("return document.querySelector('.facts').textContent").replace("\xa0", " ")


def press(b, words):
    b.js("[...document.querySelectorAll('button')].find((x) => x.textContent === arguments[0])"
         ".click()", words)
    b.settle()


def choose(b, label, text):
    b.js("const s = document.querySelector(`select[aria-label=\"${arguments[0]}\"]`);"
         "s.value = [...s.options].find((o) => o.textContent === arguments[1]).value;"
         "s.dispatchEvent(new Event('change'))", label, text)
    b.settle()


def search(b, words):
    b.js("const s = document.querySelector('[role=searchbox]'); s.value = arguments[0];"
         "s.dispatchEvent(new Event('input'))", words)
    expect(wait_for(lambda: " of all" in facts(b) or not words, 20), "nothing was searched")


def human(n):
    return f"{n / 2**20:.1f} MiB" if n > 2**20 * 0.97 else f"{n / 1024:.0f} KiB"


@job_test("the table: sorted, searched, by function, a row for each thread", seconds=120)
def _():
    record()
    assay("heap", "table", "-o", "t.html", FILE).ok()
    with browser() as b:
        b.open(tmp() / "t.html")
        choose(b, "A row for each", "By function")
        search(b, "app.py listcomp")
        rows = table(b)
        expect_eq([(r[0], r[2], r[3]) for r in rows],
                  [(human(LARGE), "20", "large.<locals>.<listcomp>"),
                   (human(SMALL), "60", "small.<locals>.<listcomp>")], "rows")
        press(b, "By thread")
        expect_eq([r[2] for r in table(b)], ["20", "30", "30"], "counts by thread")
        press(b, "count")
        expect_eq([r[2] for r in table(b)], ["30", "30", "20"], "counts, sorted")
        press(b, "count")
        expect_eq([r[2] for r in table(b)], ["20", "30", "30"], "counts, the other way")
        search(b, "")
        sizes(b, "table")
        expect_eq(b.complaints(), [], "what the console said and what was asked of a network")


@job_test("the temporal page: RSS over the heap, and in words where the pointer is", seconds=120)
def _():
    record()
    assay("heap", "flamegraph", "--temporal", "-o", "t.html", FILE).ok()
    with browser() as b:
        b.open(tmp() / "t.html")
        legend = "return document.querySelector('.legend').textContent"
        for words in "heap", "RSS", "RSS without files":
            expect_in(words, b.js(legend), "legend")
        x, y, width = b.js("const r = document.querySelector('#strip canvas')"
                           ".getBoundingClientRect(); return [r.left, r.top, r.width]")
        b.hover(x + width * 0.6, y + 40)
        for words in "heap ", "RSS ", "files ", "neither ":
            expect_in(words, b.js("return document.querySelector('.told').textContent"), "words")
        sizes(b, "temporal")
        expect_eq(b.complaints(), [], "what the console said and what was asked of a network")


@job_test("the page of samples: each amount with its interval, as the tree has it", seconds=120)
def _():
    (tmp() / "app.py").write_text("kept = [bytearray(10_007) for _ in range(3000)]\n")
    heap("/usr/bin/python3", "app.py", options=["--sample", "64KiB"])
    assay("heap", "flamegraph", "-o", "t.html", FILE).ok()
    [line] = [line for line in assay("heap", "tree", FILE).ok().out.splitlines()
              if "<listcomp>" in line]
    told = re.search(r"[\d.]+ MiB ± [\d.]+ [KM]iB", line)[0]
    with browser() as b:
        b.open(tmp() / "t.html")
        expect_eq(b.js("return [...document.querySelector('select[aria-label=Metric]').options]"
                       ".map((o) => o.textContent)"), ["allocations", "bytes"], "metrics")
        b.js("[...document.querySelectorAll('.function')].find((x) => "
             "x.textContent.includes('listcomp')).click()")
        b.settle()
        words = b.js("return document.querySelector('.detail').textContent").replace("\xa0", " ")
        expect_in(f"total {told}, ", words, "the chosen function")
        sizes(b, "sampled")
        expect_eq(b.complaints(), [], "what the console said and what was asked of a network")


def strip_words(b):
    return b.js("return document.querySelector('#strip .hint').textContent").replace("\xa0", " ")


@job_test("the temporal page of leaks: a span shows what was made in it and not freed", seconds=120)
def _():
    (tmp() / "app.py").write_text(LEAKS)
    doc = heap("/usr/bin/python3", "app.py").doc
    assay("heap", "flamegraph", "--temporal", "--leaks", "--slice", "10ms", "-o", "t.html",
          FILE).ok()
    with browser() as b:
        b.open(tmp() / "t.html")
        left = human(doc["leaked_bytes"] - doc["arena_bytes_left"])
        expect_in(f"; {left} made in it and not freed by its end", strip_words(b), "the whole time")
        expect_in(left, facts(b), "facts")
        canvas = b.js("const r = document.querySelector('#strip canvas')"
                      ".getBoundingClientRect(); return [r.left, r.top, r.width]")
        b.js("const c = document.querySelector('#strip canvas'), [x, y, w] = arguments[0];"
             "const at = (type, f) => c.dispatchEvent(new PointerEvent(type, {clientX: x + w * f,"
             " clientY: y + 20, pointerId: 1}));"
             "c.setPointerCapture = () => undefined; at('pointerdown', 0); at('pointerup', 0.75)",
             canvas)
        b.settle()
        part = float(strip_words(b).partition("; ")[2].split(" ")[0])
        expect_between(part - float(left.split()[0]), GONE - 0.5, GONE + 0.5, strip_words(b))
        sizes(b, "leaks")
        expect_eq(b.complaints(), [], "what the console said and what was asked of a network")


main()
