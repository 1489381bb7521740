#!/usr/bin/env python3
"""The HTML report from outside: one sound page that holds the run as --json tells it."""
import json
import os
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from page import Page

PYTHON = sys.executable
WORK = ("import socket, time; x = bytearray(30 << 20); to = ('127.0.0.1', 9)\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "while time.process_time() < 0.5: s.sendto(b'x', to)")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028'\"&"


def measured(*command, options=()):
    """(the page, the document) of one run."""
    assay("run", "--interval", "0.05", "--html", tmp() / "a.html", "--json", "-o", tmp() / "a.json",
          *options, "--", *command).ok()
    return Page(tmp() / "a.html"), json.loads((tmp() / "a.json").read_text())


def same_lists(columns, rows, scope):
    """Columns of a list say of each instance what its row says."""
    columns = dict(columns, process=columns["parent"])
    columns.update({scope["number"]: columns["key"], scope["detail"]: columns["detail"]})
    for trait in set().union(*rows) - {"metrics"}:
        want = [r[trait] for r in rows]
        expect_eq(columns[trait], want, trait)
    expect_eq(len(columns["id"]), len(rows), "instances")
    known = {k for r in rows for k in r["metrics"]}
    expect_eq(set(columns["metrics"]), known, "metrics")
    for k in known:
        stated = [r["metrics"].get(k, {}) for r in rows]
        want = [m.get("total", m.get("max")) for m in stated]
        expect_eq(columns["metrics"][k], want, k)


def same_sockets(columns, listed, scope):
    """Those are flat in the document."""
    traits = (("name", "peer"), ("born_ns", "opened_ns"), ("died_ns", "closed_ns"))
    for trait, key in traits:
        expect_eq(columns[trait][:len(listed)], [x[key] for x in listed], f"{scope['name']} {key}")
    sent = columns["metrics"].get("socket.bytes.sent", [])[:len(listed)]
    expect_eq(sent, [x["sent_bytes"] for x in listed], "socket sent_bytes")


def same(page, document):
    """The page holds the document, its lists as columns."""
    held = page.data["run"]
    lists = [s for s in page.data["scopes"] if not s["single"]]
    expect(len(lists) >= 3, "no lists")
    for s in lists:
        compare = same_sockets if s["name"] == "socket" else same_lists
        compare(held["assay"].pop(s["plural"]), document["assay"].pop(s["plural"]), s)
    expect_eq(held, document, "the rest of the document")


@test("the page holds what --json says")
def _():
    page, document = measured(PYTHON, "-c", WORK)
    expect(document["assay"]["processes"] and document["assay"]["timeline"]["t_ns"], "empty run")
    same(page, document)
    keys = {f["key"] for f in page.data["fields"]}
    expect(set(document["assay"]["metrics"]) <= keys, "metrics without a row of the field table")
    expect_eq(set(page.data["totals"]), set(document["assay"]["totals"]), "totals")


@test("a run without samples, and one of a moment")
def _():
    page, document = measured("true", options=("--basic",))
    expect_eq(document["assay"]["self"]["samples"], 0, "samples")
    same(page, document)
    same(*measured("true"))


@test("the page asks nobody for anything, and its policy allows only its own script and style")
def _():
    page, _ = measured("true")
    policy = page.policy
    expect_eq(policy["default-src"], "'none'", "default-src")
    [script] = [e for e in page.elements if e[0] == "script" and "type" not in e[1]]
    expect_eq(policy["script-src"], page.digest(script[2]), "script-src")
    expect_eq(policy["style-src"], page.digest(page.only("style")[2]), "style-src")
    expect_eq(policy["img-src"], "data:", "img-src")
    expect_eq(page.addresses, [], "addresses")
    expect(not any("src" in e[1] or any(a.startswith("on") for a in e[1]) for e in page.elements),
           "an element that loads or runs something")


@test("a hostile name is text everywhere")
def _():
    script = tmp() / "a'b\"<b>.sh"
    script.write_text("#!/bin/sh\nsleep 0.2\n")
    script.chmod(0o755)
    page, document = measured(script, HOSTILE, options=(
        "--name", HOSTILE, "--label", f"x={HOSTILE}", "--param", f"y={HOSTILE}"))
    expect_eq(len([e for e in page.elements if e[0] == "script"]), 2, "script elements")
    expect(not any(e[0] in ("img", "b") for e in page.elements), "a name became an element")
    expect_eq(page.text.lower().count("<script"), 2, "<script in the text")
    who = page.data["run"]["assay"]["identity"]
    expect_eq((who["name"], who["labels"], who["params"]),
              (HOSTILE, {"x": HOSTILE}, {"y": HOSTILE}), "names")
    same(page, document)


@test("without a script the page is the text of show")
def _():
    page, document = measured("sleep", "0.1", options=("--name", "quiet<one>"))
    shown = assay("show", document["task_id"], env={"COLUMNS": "100"}).ok().out
    [note] = [e for e in page.elements if e[0] == "pre"]
    expect_eq(note[2], shown, "text")
    expect_eq(page.only("title")[2], "quiet<one> · assay", "title")


@test("report writes a kept run: by default to assay-ID.html, to -o, to standard output")
def _():
    _, document = measured("true")
    name = document["task_id"]
    expect_eq(assay("report").ok().out, f"assay-{name}.html\n", "output")
    by_default = (tmp() / f"assay-{name}.html").read_text()
    expect_eq(assay("report", name[:6], "-o", "x.html").ok().out, "x.html\n", "output")
    expect_eq((tmp() / "x.html").read_text(), by_default, "file of -o")
    expect_eq(assay("report", "last", "-o", "-").ok().out, by_default, "standard output")
    expect_eq(stat.S_IMODE((tmp() / "x.html").stat().st_mode) & 0o111, 0, "executable bits")
    same(Page(tmp() / "x.html"), document)


@test("a page that cannot be written is said, before the job starts where that is possible")
def _():
    r = assay("run", "--html", tmp() / "no/where.html", "--", "touch", tmp() / "ran")
    expect_eq(r.rc, 125, "exit status")
    expect_in("no/where.html", r.err, "message")
    expect(not (tmp() / "ran").exists(), "the job ran")
    assay("run", "-q", "--", "true").ok()
    r = assay("report", "-o", tmp() / "no/where.html")
    expect_eq((r.rc, r.out), (66, ""), "exit status")
    expect_in("where.html", r.err, "message")
    r = assay("report", "nobody")
    expect(r.rc != 0 and not list(tmp().glob("assay-*")), "a page of no run")
    if os.path.exists("/dev/full"):
        r = assay("report", "-o", "/dev/full")
        expect(r.rc != 0 and "No space" in r.err, f"a full disk: {r.rc} {r.err}")


@test("attach writes it too")
def _():
    p = start("sleep", "30")
    assay("attach", p.pid, "--duration", "0.3", "--html", tmp() / "b.html", "-q").ok()
    expect_eq(Page(tmp() / "b.html").data["run"]["assay"]["identity"]["target"], p.pid, "target")


main()
