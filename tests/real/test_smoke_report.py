#!/usr/bin/env python3
"""The HTML report in a real browser: what it shows is what was measured, at every width and colour.

Pictures of the pages are left in BUILD/shots, to be looked at.
"""
import base64
import gzip
import itertools
import json
import math
import os
import pathlib
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from browser import *
from harness import *
from jobs import as_nobody, public, remove_public
from page import Page
from stubs import *
import probe

PYTHON = sys.executable
SHOTS = BUILD / "shots"
WINDOW = 10**8      # ns: rates are taken over at least this

JOB = """
import multiprocessing, os, time
def work(k):
    x = bytearray((20 + 10 * k) << 20)
    end = time.process_time() + 0.4
    while time.process_time() < end: pass
    with open(f"out{k}", "wb") as f:
        f.write(x); f.flush(); os.fsync(f.fileno())
if __name__ == "__main__":
    time.sleep(0.4)
    with multiprocessing.Pool(3) as pool: pool.map(work, range(5), chunksize=1)
    time.sleep(0.3)
"""
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def browser():
    if missing():
        skip(missing())
    return Browser()


def page_of(*command, options=()):
    path = tmp() / "run.html"
    assay("run", "-q", "--interval", "0.05", "--html", path, *options, "--", *command).ok()
    return path


def job(**more):
    (tmp() / "job.py").write_text(JOB)
    return page_of(PYTHON, "job.py", **more)


def picture(b, name):
    SHOTS.mkdir(exist_ok=True)
    b.shot(SHOTS / f"{name}.png")
    size = (SHOTS / f"{name}.png").stat().st_size
    expect(size > 15000, f"the picture {name} has only {size} bytes: is it blank?")


def quiet(b):
    expect_eq(b.complaints(), [], "what the console said and what was asked of a network")


# --- what a plot must show, from the document alone -------------------------------

def stretches(points):
    """The points between gaps."""
    for known, group in itertools.groupby(points, key=lambda tv: tv[1] is not None):
        if known:
            yield list(group)


def rates(points):
    """[(from, to, growth per ns)] of a counter."""
    found = []
    for stretch in stretches(points):
        edges = [stretch[0]]
        for point in stretch[1:]:
            if point[0] - edges[-1][0] >= WINDOW:
                edges.append(point)
        if edges[-1] is not stretch[-1]:        # a short rest joins the window before it
            edges[1:] = edges[1:-1] + [stretch[-1]]
        found += [(t0, t1, (v1 - v0) / (t1 - t0)) for (t0, v0), (t1, v1) in zip(edges, edges[1:])]
    return found


def value_at(data, key, moment):
    """What the legend must say at a moment, in the document's terms; None: unknown."""
    timeline = data["run"]["assay"]["timeline"]
    field = next(f for f in data["fields"] if f["key"] == key)
    points = list(zip(timeline["t_ns"], timeline["columns"][key]))
    if field["kind"] == "gauge":
        return min(points, key=lambda tv: abs(tv[0] - moment))[1]
    held = [r for t0, t1, r in rates(points) if t0 <= moment <= t1]
    return held[0] * (1 if field["unit"] == "ns" else 1e9) if held else None


def picture_box(b):
    """Where time runs in the plots: x of its start and end, and y of the first of them."""
    left, right, y = b.js(
        "const p = document.querySelector('.lane.plot .picture');"
        "p.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const r = p.getBoundingClientRect(); return [r.left, r.right, r.top + 30]")
    return left + 64, right - 14, y


def legend(b):
    return b.js("return Object.fromEntries([...document.querySelectorAll('.lane.plot tr')]"
                ".filter((r) => r.dataset.value !== undefined)"
                ".map((r) => [r.dataset.key, JSON.parse(r.dataset.value)]))")


@test("under the cursor stands what the document says", seconds=120)
def _():
    path = job()
    data = Page(path).data
    span = max(data["run"]["assay"]["outcome"]["duration_ns"],
               data["run"]["assay"]["timeline"]["t_ns"][-1])
    with browser() as b:
        b.open(path)
        a, z, y = picture_box(b)
        told = 0
        for share in (0.03, 0.2, 0.37, 0.5, 0.61, 0.83, 0.97):
            x = round(a + (z - a) * share)
            b.hover(x, y)
            moment = span * (x - a) / (z - a)
            for key, shown in legend(b).items():
                want = value_at(data, key, moment)
                expect((shown is None) == (want is None), f"{key} at {share}: {shown}, not {want}")
                if want is not None:
                    expect(math.isclose(shown, want, rel_tol=1e-9, abs_tol=1e-12),
                           f"{key} at {share} of the run: {shown}, not {want}")
                told += want is not None
        expect(told > 30, f"only {told} numbers were shown")
        lines = b.js("return document.querySelectorAll('.cursor:not([hidden])').length")
        expect(lines >= 2, f"{lines} lines: plots and processes do not share the cursor")
        b.hover(5, 5)
        expect_eq(legend(b), {}, "values without a cursor")
        phases = [p["name"] for p in data["run"]["assay"]["phases"]]
        bands = b.js("return [...document.querySelectorAll('.band')].map((e) => e.textContent)")
        expect_eq(bands, phases if len(phases) > 1 else [], "phases")
        quiet(b)


@test("drag, buttons and keys zoom; a double click and 0 show all again", seconds=120)
def _():
    path = job()
    with browser() as b:
        b.open(path)
        a, z, y = picture_box(b)

        def shown():            # the moments at both ends
            ends = []
            for x in (a + 1, z - 1):
                b.hover(x, y)
                ends.append(b.js("return document.querySelector('.moment').textContent"))
            return ends
        whole = shown()
        b.drag(a + (z - a) * 0.25, a + (z - a) * 0.5, y)
        part = shown()
        expect(part != whole, "dragging changed nothing")
        for clicks in (1, 2):
            b.mouse("mousePressed", a + 50, y, 1, clickCount=clicks)
            b.mouse("mouseReleased", a + 50, y, 0, clickCount=clicks)
        b.settle()
        expect_eq(shown(), whole, "ends after a double click")
        b.js("document.querySelectorAll('.zoom button')[1].click()")
        expect(shown() != whole, "the button + changed nothing")
        b.js("document.querySelector('#time .lanes').focus()")
        b.key("0", "Digit0", "0")
        expect_eq(shown(), whole, "ends after 0")
        b.hover(5, 5)
        b.key("ArrowRight")
        first = b.js("return document.querySelector('.moment').textContent")
        b.key("ArrowRight")
        second = b.js("return document.querySelector('.moment').textContent")
        expect(first and second and first != second, f"arrows move from {first} to {second}")
        expect_in("CPU: user", b.js("return document.querySelector('[aria-live]').textContent"))
        quiet(b)


@test("it fits a phone, a desk and a wide screen, in light and dark", seconds=240)
def _():
    path = job(options=("--name", "report", "--label", "who=test"))
    with browser() as b:
        paper = set()
        for scheme in ("light", "dark"):
            b.colours(scheme)
            for width, height in ((390, 844), (1280, 900), (1920, 1080)):
                b.size(width, height)
                b.open(path)
                wide = b.js("return document.documentElement.scrollWidth")
                expect(wide <= width, f"{wide} px of page on {width} px")
                cut = b.js("return [...document.querySelectorAll('.tile p, h1, h2, h3, .sentence, "
                           ".num, button, .legend th')]"
                           ".filter((e) => e.scrollWidth > e.clientWidth + 1 && "
                           "e.clientWidth && !e.matches('.band')).map((e) => e.textContent)")
                expect_eq(cut, [], f"texts cut off at {width} px")
                long = b.js("return [...document.querySelectorAll('nav a')]"
                            ".map((a) => a.textContent).filter((t) => t.length > 12)")
                expect_eq(long, [], "entries of the menu that are sentences")
                chips = b.js("return [...document.querySelectorAll('.chip')]"
                             ".map((c) => c.textContent)")
                expect_eq(len(set(chips)), len(chips), f"different names of {chips}")
                picture(b, f"report-{width}-{scheme}")
            paper.add(b.js("return getComputedStyle(document.body).backgroundColor"))
        expect_eq(len(paper), 2, "different backgrounds")
        b.js("const s = document.getElementById('theme'); s.value = 'light';"
             "s.dispatchEvent(new Event('change'))")
        chosen = b.js("return getComputedStyle(document.body).backgroundColor")
        b.colours("light")
        b.open(path)
        expect_eq(chosen, b.js("return getComputedStyle(document.body).backgroundColor"),
                  "background of the switch in a dark system")
        b.pdf(SHOTS / "report.pdf")
        expect((SHOTS / "report.pdf").stat().st_size > 20000, "an empty print")
        quiet(b)


@test("the pages of a sweep, a flow and a process that was attached to fit a phone", seconds=120)
def _():
    sweep, attached, flow = (tmp() / f"{name}.html" for name in ("sweep", "attached", "flow"))
    models = "llama-3.1-70b-instruct,gpt-oss-120b-instruct,mistral-large-2407,qwen2.5-72b-instruct"
    assay("sweep", "-q", "--over", f"model={models}", "--setup",
          f"rm -f s.sock; exec {ASSAY} stub --listen unix:$PWD/s.sock", "--low", "0.1s", "-z",
          "0.2s", "-c", 2, "--html", sweep, f"unix:{tmp()}/s.sock")
    p = start("sleep", 60)
    assay("attach", "-q", "-d", "0.3", p.pid).ok()
    assay("report", "last", "-o", attached).ok()
    p.kill()
    p.wait()
    s = stub()
    (tmp() / "flow.json").write_text(json.dumps({"base": s.url, "steps": [{"url": "/"}]}))
    assay("load", "-q", "-R", 40, "-z", "0.5s", tmp() / "flow.json")
    assay("report", "last", "-o", flow).ok()
    s.end()
    with browser() as b:
        for path, open_it in ((sweep, b.show), (attached, b.open), (flow, b.open)):
            for width in (390, 1280):
                b.size(width, 900)
                open_it(path)
                wide = b.js("return document.documentElement.scrollWidth")
                expect(wide <= width, f"{path.name}: {wide} px of page on {width} px")
                cut = b.js("return [...document.querySelectorAll('.tile p, section')]"
                           ".filter((e) => e.scrollWidth > e.clientWidth + 1)"
                           ".map((e) => e.textContent.trim().slice(0, 60))")
                expect_eq(cut, [], f"{path.name}: what sticks out at {width} px")
                meet = b.js("return [...document.querySelectorAll('figure svg')].flatMap((s) => {"
                            "const at = [...s.querySelectorAll('text[text-anchor=middle]')]"
                            ".map((t) => [t.getBoundingClientRect(), t.lastChild.textContent]);"
                            "return at.filter(([r], i) => i && at[i - 1][0].right > r.left)"
                            ".map((x) => x[1]); })")
                expect_eq(meet, [], f"{path.name}: names on each other at {width} px")


@test("a flow: its steps and what was checked of them stand in tables", seconds=120)
def _():
    s = stub("--answer", "delay=3ms")
    flow = {"base": s.url, "steps": [
        {"name": "a <b>bold</b> login", "url": "/", "check": {"status": 200}},
        {"name": "look", "url": "/?status=201"},
        {"name": "buy", "url": "/?status=202", "check": {"status": 201, "latency": "10s"}},
        {"name": "lost", "url": "/?status=404"}, {"name": "never", "url": "/"}]}
    (tmp() / "flow.json").write_text(json.dumps(flow))
    d = load(tmp() / "flow.json", "-n", 12, "-c", 2, "--goodput", "e2el<5s")
    s.end()
    assay("report", d["id"], "-o", "flow.html").ok()
    ms = lambda v: f"{v:.2f}" if v < 9.995 else f"{v:.1f}" if v < 99.95 else f"{v:.0f}"
    with browser() as b:
        for scheme, width in itertools.product(("light", "dark"), (1280, 390)):
            b.size(width, 900)
            b.colours(scheme)
            b.open(tmp() / "flow.html")
            heads, *rows = b.js("return [...document.querySelector('#steps table').rows]"
                                ".map((r) => [...r.cells].map((c) => c.textContent))")
            expect_eq(heads, ["step", "requests", "errors", "good", "p50", "p90", "p99", "max",
                              "checks"], "columns")
            for step, cells in zip(d["steps"], rows, strict=True):
                expect_eq(cells[:3], [step["name"], str(step["requests"]), str(step["failed"])])
                times = [step["latency_ms"][q] for q in ("p50", "p90", "p99", "max")]
                expect_eq(cells[4:8], ["–" if t is None else f"{ms(t)}\u00a0ms" for t in times])
            expect_eq([r[3].replace("\u00a0", " ") for r in rows],
                      ["100 %", "100 %", "100 %", "0 %", "–"], "good")
            expect_eq([r[8] for r in rows],
                      ["12 passed", "–", "12 of 24 failed", "–", "–"], "checks")
            checks = b.js("return [...document.querySelectorAll('#steps table')[1].rows].slice(1)"
                          ".map((r) => [...r.cells].map((c) => c.textContent).slice(1))")
            expect_eq(checks[0], ["buy", "0", "12"], "what failed comes first")
            said = b.js("return document.querySelector('#steps p').textContent")
            expect_in("12 sessions ended", said)
            expect_in("12 broke off", said)
            expect_in("Steps", b.js("return document.querySelector('nav').textContent"))
            wide = b.js("return document.documentElement.scrollWidth")
            expect(wide <= width, f"{wide} px of page on {width} px")
            picture(b, f"flow-{width}-{scheme}")
        quiet(b)


@test("a capacity's curve is drawn as wide as there is room", seconds=120)
def _():
    path = tmp() / "capacity.html"
    s = stub("--servers", "2", "--service", "exp:5ms")
    assay("capacity", "-q", "--slo", "p99<1s", "--by", "concurrency", "--most", 8, "--probe",
          "0.3s", "--hold", "0.3s", "--html", path, s.url)
    s.end()
    with browser() as b:
        for width in (390, 1280):
            b.size(width, 900)
            b.open(path)
            wide = b.js("return document.documentElement.scrollWidth")
            expect(wide <= width, f"{wide} px of page on {width} px")
            drawn, shown = b.js("const s = document.querySelector('.curve svg');"
                                "return [s.viewBox.baseVal.width, s.clientWidth]")
            expect_eq(drawn, shown, f"px of the curve that are drawn, and shown, at {width} px")
            said = b.js("return document.querySelector('#capacity p').textContent")
            expect(said.startswith(("at least 8 requests at once", "unknown")), said)
            picture(b, f"capacity-{width}")
        quiet(b)


@test("a run of a moment, one without samples and one that failed have their pages", seconds=120)
def _():
    failed = tmp() / "failed.html"
    r = assay("run", "-q", "--html", failed, "--", "sh", "-c", "sleep 0.2; exit 3")
    expect_eq(r.rc, 3, "exit status")
    with browser() as b:
        b.open(failed)
        expect_in("exit 3", b.js("return document.querySelector('.status').textContent"))
        assay("run", "-q", "--html", failed, "--", "/no/such/command")
        b.open(failed)
        expect_in("never started", b.js("return document.querySelector('#verdict').textContent"))
        expect_eq(b.js("return document.querySelectorAll('.lane').length"), 0, "plots of nothing")
        for name, options in (("true", ()), ("basic", ("--basic",))):
            b.open(page_of("true", options=options))
            figures = b.js("return [...document.querySelectorAll('.tile')].length")
            expect(figures >= 5, f"{figures} figures")
            picture(b, name)
        for what in (".lane.plot", "#cores", "#threads"):
            expect_eq(b.js("return document.querySelectorAll(arguments[0]).length", what), 0,
                      f"{what} of a run without samples")
        quiet(b)


@test("a hostile name stays a name", seconds=120)
def _():
    path = page_of("sh", "-c", "sleep 0.3", HOSTILE, options=(
        "--name", HOSTILE, "--label", f"x={HOSTILE}", "--param", f"y={HOSTILE}"))
    with browser() as b:
        b.open(path)
        expect_eq(b.js("return document.querySelector('h1').textContent"), HOSTILE, "heading")
        expect_eq(b.js("return document.querySelectorAll('img').length"), 0, "images")
        expect_eq(b.js("return document.scripts.length"), 2, "scripts")
        b.js("document.querySelector('.rows [data-row]').click()")
        b.settle()
        expect_in(HOSTILE, b.js("return document.querySelector('.details').textContent"))
        quiet(b)


@test("processes are chosen, folded and found by keys", seconds=120)
def _():
    path = job()
    with browser() as b:
        b.open(path)
        b.js("const r = document.querySelector('.rows'); r.scrollIntoView({behavior: 'instant'});"
             "r.focus()")
        rows = "return document.querySelectorAll('.rows [data-row]').length"
        whole = b.js(rows)
        expect(whole >= 4, f"{whole} rows")
        b.key("ArrowDown")
        expect_in("job.py", b.js("return document.querySelector('.details .command').textContent"))
        b.key("ArrowLeft")
        expect_eq(b.js(rows), 1, "rows when the tree is folded")
        b.key("ArrowRight")
        expect_eq(b.js(rows), whole, "rows when it is open again")
        b.key("End")
        chosen = b.js("return document.querySelector('[aria-selected=true]').dataset.row")
        expect_eq(int(chosen), whole - 1, "the last row")
        for words, want in (("no such thing", 0), ("JOB.PY", whole)):
            b.js("const i = document.querySelector('#processes input'); i.value = arguments[0];"
                 "i.dispatchEvent(new Event('input'))", words)
            b.settle()
            expect_eq(b.js(rows), want, f"rows that match {words!r}")
        quiet(b)


@test("a browser that cannot unpack the data shows the text", seconds=60)
def _():
    path = page_of("sleep", "0.1")
    page = Page(path)
    path.write_text(page.text.replace(page.only("script", id="data")[2], "AAAA"))
    with browser() as b:
        b.open(path)
        expect_in("sleep 0.1", b.js("return document.querySelector('#page > pre').textContent"))


@test("of processes too short for ticks the page does not tell user from system time", seconds=60)
def _():
    folder = public()
    run(*as_nobody(), folder / "assay", "run", "-q", "--no-store", "--html", folder / "ticks.html",
        "--", "sh", "-c", "for i in $(seq 300); do /bin/true; done", cwd=folder).ok()
    (folder / "ticks.html").rename(tmp() / "ticks.html")
    remove_public()
    with browser() as b:
        b.open(tmp() / "ticks.html")
        tile = b.js("return [...document.querySelectorAll('.tile')].map((t) => t.innerText)"
                    ".find((t) => t.startsWith('CPU time'))")
        expect_in("too short to tell user from system time", tile)
        legend = b.js("return [...document.querySelectorAll('[data-plot=CPU] .legend th')]"
                      ".map((t) => t.textContent)")
        expect_eq(legend, ["user and system"], "lines of CPU time")


@test("a run that was imported has a page", seconds=60)
def _():
    assay("import", "keystone", ROOT / "tests/fixtures/keystone/jobs_history.jsonl").ok()
    with browser() as b:
        assay("report", "-o", "old.html").ok()
        b.open(tmp() / "old.html")
        expect_eq(b.js("return document.querySelectorAll('.failed').length"), 0, "failures")
        expect(b.js("return document.querySelectorAll('.tile').length") >= 5, "no figures")
        picture(b, "imported")
        quiet(b)


TALK = """
import os, socket, time
time.sleep(1)   # until connections are followed: the page is what is tested here
server = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    with server.accept()[0] as c:
        while data := c.recv(65536):
            c.sendall(data)
    os._exit(0)
with socket.create_connection(server.getsockname()) as c:
    c.sendall(bytes(1000))
    left = 1000
    while left:
        left -= len(c.recv(65536))
    print(*c.getsockname()[1:], *c.getpeername()[1:])
os.wait()
"""


@test("sockets: protocol, ports and state are said, not measured", seconds=120)
def _():
    if os.geteuid():
        skip("short connections are seen by BPF alone, which needs root")
    (tmp() / "talk.py").write_text(TALK)
    path = tmp() / "talk.html"
    ports = assay("run", "-q", "--html", path, "--", PYTHON, "talk.py").ok().out.split()
    with browser() as b:
        b.open(path)
        table = b.js("const t = [...document.querySelectorAll('section')]"
                     ".find((s) => /^Sockets/.test(s.textContent)).querySelector('table');"
                     "return [...t.rows].map((r) => [...r.cells].map((c) => c.textContent))")
        rows = [dict(zip(table[0], r)) for r in table[1:]]
        opened = [r for r in rows if r["local"] == ports[0]]
        expect_eq(len(opened), 1, f"the socket that connected in {rows}")
        expect_eq([opened[0][k] for k in ("protocol", "port", "accepted")],
                  ["tcp", ports[1], "no"])
        expect(not [t for t in table[0] if t.startswith(("state, ", "protocol, "))], table[0])
        quiet(b)


# --- large runs -------------------------------------------------------------------

def week(path, nprocesses, npoints):
    """The page of a run with so many processes, over a week, joined, and with a gap in it."""
    page, chance = Page(path), random.Random(1)
    data, span = page.data, 7 * 86400 * 10**9
    run, below = data["run"]["assay"], chance.randrange
    fields = {f["key"]: f for f in data["fields"]}
    run["outcome"]["duration_ns"] = span
    born = sorted(below(span) for _ in range(nprocesses))
    run["processes"] = {
        "id": list(range(nprocesses)), "key": [1000 + i for i in range(nprocesses)],
        "parent": [None] + [0 if i % 3 else i - 1 - below(min(i, 9)) for i in range(1, nprocesses)],
        "name": ["make"] + [chance.choice(("sh", "cc1", "as", "ld")) for _ in born[1:]],
        "detail": [f"cc1 -O2 -I../include file_{below(10**6)}.c" for _ in born],
        "born_ns": born, "died_ns": [None] + [t + below(10**12) for t in born[1:]],
        "wait_status": [0] * nprocesses,
        "metrics": {k: [below(10**9) for _ in born] for k, f in fields.items()
                    if f["scope"] == "process"}}
    timeline = run["timeline"]
    timeline.update(t_ns=[span * (i + 1) // npoints for i in range(npoints)], joined=9, min={},
                    max={})
    data["points"] = {scope: list(range(npoints)) for scope in data["points"]}
    gap = range(npoints // 2, npoints // 2 + npoints // 20)
    for key in timeline["columns"]:
        level, column = 0, []
        for i in range(npoints):
            grows = fields[key]["kind"] == "counter"
            level = level + below(span // npoints) if grows else 10**9 + below(10**8)
            column.append(None if i in gap else level)
        timeline["columns"][key] = column
        if fields[key]["kind"] == "gauge":
            timeline["min"][key] = [v and v * 0.7 for v in column]
            timeline["max"][key] = [v and v * 1.4 for v in column]
    packed = base64.b64encode(gzip.compress(json.dumps(data).encode()))
    old = page.only("script", id="data")[2]
    path.write_text(page.text.replace(old, packed.decode()))


@test("a real run of 19,000 processes fits 1.5 MB, and all of them can be found", seconds=400)
def _():
    path = page_of(BUILD / "tests/workloads/forker", 19000, 0)
    run = Page(path).data["run"]["assay"]
    probe.needs(probe.events(), run["totals"]["processes"]["value"] >= 19000,
                "somebody who tells of every child")
    listed = len(run["processes"]["id"])
    expect(listed > 19000, f"only {listed} processes are listed")
    size = path.stat().st_size
    expect(size <= 1.5e6, f"{size} bytes")
    with browser() as b:
        b.open(path)
        shown = b.js("return [...document.querySelectorAll('.rows .times')]"
                     ".map((e) => e.textContent)")
        expect("×\u200919\u00a0000" in shown, f"rows of many: {shown}")
        picture(b, "crowd-1280")
        quiet(b)


@test("a process deep in the tree can be read: its name, and how many it stands for")
def _():
    (tmp() / "deep.sh").write_text("[ $1 -gt 0 ] && sh deep.sh $(($1 - 1)) && exit\n" +
                                   "cat /dev/null\n" * 12)
    path = page_of("sh", "deep.sh", 9)
    with browser() as b:
        for width in 1280, 390:
            b.size(width, 900)
            b.open(path)
            name, whole, many = b.js("""
                const row = [...document.querySelectorAll('.process .name')].at(-1);
                const word = row.querySelector('.word'), many = row.querySelector('.times');
                const box = row.getBoundingClientRect(), at = many.getBoundingClientRect();
                return [word.textContent, word.scrollWidth <= word.clientWidth,
                        at.width > 0 && at.right <= box.right + 0.5];""")
            expect_eq(name, "cat", "the deepest")
            expect(whole, f"its name is cut, at {width}")
            expect(many, f"how many it stands for is cut, at {width}")
            picture(b, f"deep-{width}")


@test("a command of thousands of words does not push all else off the page")
def _():
    short, long = (page_of("true", *words).rename(tmp() / f"{len(words)}.html")
                   for words in ([], [f"word-{i}" for i in range(4000)]))
    with browser() as b:
        heights = []
        for path in short, long:
            b.open(path)
            heights.append(b.js("return document.documentElement.scrollHeight"))
        expect(heights[1] < heights[0] + 600, f"pixels: {heights}")


@test("a week with 20,000 processes and a gap: few elements, and nothing where nothing is known",
      seconds=240)
def _():
    path = page_of("sleep", "0.3")
    week(path, 20000, 2048)
    with browser() as b:
        b.open(path)
        rows = b.js("return document.querySelectorAll('.rows [data-row]').length")
        expect(5 < rows < 120, f"{rows} rows exist")
        elements = b.js("return document.getElementsByTagName('*').length")
        expect(elements < 4000, f"{elements} elements")
        a, z, y = picture_box(b)
        b.hover(a + (z - a) * 0.52, y)
        held = legend(b)
        expect(held and all(v is None for v in held.values()), f"values in a gap: {held}")
        b.hover(a + (z - a) * 0.3, y)
        expect(all(v is not None for v in legend(b).values()), "no values beside the gap")
        picture(b, "week-1280")
        b.js("const s = document.querySelector('#processes select'); s.value = 'cpu';"
             "s.dispatchEvent(new Event('change'))")
        b.settle()
        b.js("document.querySelector('.rows').scrollTop = 1e9")
        b.settle()
        last = b.js("return Math.max(...[...document.querySelectorAll('.rows [data-row]')]"
                    ".map((e) => +e.dataset.row))")
        expect_eq(last, 19999, "the last row")
        quiet(b)


@test("a load: requests and latency are its first figures, and its first plots", seconds=120)
def _():
    s = stub()
    d = load(s.url, "-n", 300, "-R", 200, "--watch", s.p.pid)
    assay("report", d["id"], "-o", "load.html").ok()
    with browser() as b:
        b.open(tmp() / "load.html")
        tiles = b.js("return [...document.querySelectorAll('.tile')]"
                     ".map((e) => [e.querySelector('h3').textContent,"
                     " e.querySelector('.figure').textContent])")
        expect_in(["Requests", "300"], tiles)
        expect_in("Latency, p99", dict(tiles))
        rows = b.js("return [...document.querySelectorAll('#numbers details')]"
                    ".find((e) => e.textContent.startsWith('The load'))?.textContent")
        expect_in("latency.p99", rows or "", "numbers of the load")
        titles = b.js("return [...document.querySelectorAll('.lane.plot h3')].map((e) =>"
                      " e.firstChild.textContent)")
        expect_eq(titles[:2], ["Requests", "Latency"], "the first plots")
        picture(b, "load-1280")
        quiet(b)


main()
