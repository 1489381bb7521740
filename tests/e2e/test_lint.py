#!/usr/bin/env python3
"""lint can fail: each check is shown a tree with one thing wrong, and must name its place.

A tree with nothing wrong must pass, or every test here would pass for nothing.
"""
import os
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../lib"), os.path.join(HERE, "../../tools")]
from harness import *
import csource
import drift
import lint
import rooms

GOOD_H = """\
#pragma once
#include <stdint.h>

#include "base/err.h"

int as_thing(uint64_t n, struct as_err *err);
"""
GOOD_C = """\
#include "run/thing.h"

int as_thing(uint64_t n, struct as_err *err)
{
\t(void)err;
\treturn n ? 0 : -1;
}
"""
GOOD = {
    "src/base/err.h": "#pragma once\n\nstruct as_err {\n\tint code;\n};\n",
    "src/run/thing.h": GOOD_H,
    "src/run/thing.c": GOOD_C,
    "src/run/meson.build": "core_src += files(\n  'thing.c',\n)\n",
    "README.md": "See [the code](src/run/thing.c) and [elsewhere](https://example.org/x).\n",
    "tools/a.sh": "#!/bin/sh\necho hello\n",
}


def tree(changes=None):
    """A small good tree with some files replaced or added."""
    shutil.copy(ROOT / ".clang-format", tmp())
    for path, text in {**GOOD, **(changes or {})}.items():
        (tmp() / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp() / path).write_text(text)


def run_lint(*checks):
    return run(sys.executable, ROOT / "tools/lint.py", "--root", tmp(), *checks)


def finds(check, changes, *texts):
    """With `changes` the check fails and says each of `texts`; without them it passes."""
    tree()
    before = run_lint(check)
    expect(before.rc == 0, f"the good tree already fails:\n{before.out}{before.err}")
    tree(changes)
    r = run_lint(check)
    expect_eq(r.rc, 1, "exit status")
    for text in texts:
        expect_in(text, r.out)
    expect(r.out.splitlines()[-1] != "0 problems", "the last line does not count")


def in_body(line):
    return {"src/run/thing.c": GOOD_C.replace("\t(void)err;\n", f"\t(void)err;\n\t{line}\n")}


@test("a tree with nothing wrong passes")
def _():
    tree()
    checks = [c for c in lint.CHECKS if c != "drift"]
    for tool, check in ("clang-format", "format"), ("clang", "headers"):
        if not shutil.which(tool):
            checks.remove(check)
    r = run_lint(*checks)
    expect_eq(r.rc, 0, "exit status of\n" + r.out)
    expect_eq(r.out.splitlines()[-1], "0 problems")


@test("format: a line that clang-format would change")
def _():
    if not shutil.which("clang-format"):
        skip("clang-format is not installed")
    finds("format", in_body("if (n) { n = 2; }"), "src/run/thing.c:6: not as clang-format")


@test("format: a table between clang-format off and on is left alone")
def _():
    if not shutil.which("clang-format"):
        skip("clang-format is not installed")
    tree({"src/run/thing.c": GOOD_C + "\n/* clang-format off */\n"
          "static const int table[] = {\n\t1,    10,\n\t100,  1,\n};\n/* clang-format on */\n"})
    expect_eq(run_lint("format").rc, 0, "exit status")


@test("columns: a tab counts as eight, and 101 columns are too many")
def _():
    finds("columns", {"src/run/thing.c": GOOD_C + "\t/*" + "x" * 89 + "*/\n"},
          "src/run/thing.c:8: 101 columns")


@test("words: work left for later, a fact written twice, a // comment")
def _():
    finds("words", {"src/run/thing.c": GOOD_C + "/* TO" + "DO: more */\n",
                    "src/run/other.c": "int a; // later\n",
                    "README.md": "\nThese two: keep" + " in sync.\n"},
          "src/run/thing.c:8: TO" + "DO", "src/run/other.c:1: //",
          "README.md:2: write the fact once")


@test("words: a // inside a string or an address is not a comment")
def _():
    tree({"src/run/other.c": 'const char *a = "http://x"; /* http://y */\n'})
    expect_eq(run_lint("words").rc, 0, "exit status")


@test("links: a link to a file that does not exist")
def _():
    finds("links", {"docs/x.md": "ok [a](../README.md#b)\n\n[gone](no/such.md)\n"},
          "docs/x.md:3: 'no/such.md' does not exist")


@test("rooms: a door that is not in the table")
def _():
    finds("rooms", {"src/base/bad.c": '#include "base/err.h"\n#include "run/thing.h"\n'},
          "src/base/bad.c:2: base may not include run")


@test("rooms: an external header outside its room")
def _():
    finds("rooms", {"src/run/bad.c": "#include <sqlite3.h>\n#include <linux/perf_event.h>\n"},
          "src/run/bad.c:1: <sqlite3.h> belongs to store only",
          "src/run/bad.c:2: <linux/perf_event.h> belongs to os only")


@test("rooms: an include without its room, and a room that is not in the table")
def _():
    finds("rooms", {"src/run/bad.c": '#include "thing.h"\n', "src/attic/x.c": "int x;\n"},
          'src/run/bad.c:1: write the room too: "run/thing.h"',
          "src/attic/x.c:1: room 'attic' is not in tools/rooms.py")


@test("rooms: the table has no circles, and cli may not enter preload or bpf")
def _():
    expect_eq(lint.table_cycles(), [], "problems of the table")
    expect(lint.include_problem("cli", "preload/hooks.h", True), "cli may include preload")
    expect(lint.include_problem("cli", "bpf/exit.h", True), "cli may include bpf")
    expect(not lint.include_problem("cli", "store/store.h", True), "cli may not include store")
    expect(not lint.include_problem("store", "sqlite3.h", False), "store may not have SQLite")
    expect(lint.include_problem("python", "base/err.h", True), "python may include base")
    try:
        rooms.ROOMS["base"] = ("", "cli")
        expect(lint.table_cycles(), "a circle base, cli, base was not noticed")
    finally:
        rooms.ROOMS["base"] = ("", "")


BANNED_LINES = [
    "strcpy(a, b);", "strcat(a, b);", "sprintf(a, b);", "strtok(a, b);", "gmtime(t);",
    "localtime(t);", "n = atoi(a);", "n = atol(a);", "n = strtol(a, 0, 10);", "n = strtod(a, 0);",
    "gets(a);", "system(a);", "popen(a, b);", "goto out;", "printf(a);", "fprintf(stderr, a);",
    "p = malloc(3);", "p = calloc(1, 3);", "p = realloc(p, 3);", "p = strdup(a);",
]


@test("banned: each banned call is named")
def _():
    tree()
    expect_eq(run_lint("banned").rc, 0, "exit status of the good tree")
    for line in BANNED_LINES:
        tree(in_body(line))
        r = run_lint("banned")
        expect(r.rc == 1 and "src/run/thing.c:6: " in r.out, f"'{line}' passes:\n{r.out}")


@test("banned: comments, strings, members and longer names are not calls")
def _():
    tree(in_body('/* printf(x) */ f("malloc(3)"); a.system(b); p->free_strcpy(c); my_printf(d);'))
    expect_eq(run_lint("banned").rc, 0, "exit status")
    tree({"src/cli/main.c": 'int x(void)\n{\n\treturn printf("hi");\n}\n',
          "src/base/num.c": "int x(void)\n{\n\treturn strtol(a, b, 10);\n}\n"})
    expect_eq(run_lint("banned").rc, 0, "exit status of printf in cli and strtol in base/num.c")


def function(name, lines):
    return f"int {name}(void)\n{{\n" + "\ta();\n" * (lines - 2) + "}\n"


@test("lengths: a function of 101 lines is too long, one of 100 is not")
def _():
    finds("lengths", {"src/run/thing.c": function("edge", 100) + function("long_one", 101)},
          "src/run/thing.c:103: long_one has 101 lines, 100 are allowed", " 100 edge")
    expect("edge has" not in run_lint("lengths").out, "100 lines are refused")


@test("lengths: the parser finds functions and nothing else")
def _():
    text = (
        "#define X(a) \\\n\tint a(void) { \\\n\t}\n"
        "struct s { int (*f)(void); };\n"
        "static const struct s t = { f };\n"
        "static int g(int (*cb)(int), char c) { return c == '{' ? 1 : cb(2); }\n"
        "__attribute__((format(printf, 1, 2)))\nint h(const char *f, ...)\n{\n"
        '\tputs("}");\t/* } */\n\tif (f) {\n\t\tg(0, 1);\n\t}\n}\n'
        "int j(void) __attribute__((noreturn))\n{\n}\n"
        "enum e { A, B };\n"
        "static int k(struct s s[static 2],\n\t     int n)\n{\n#if A\n\tif (n) {\n#else\n"
        "\tif (!n) {\n#endif\n\t}\n}\n"
        "int last(void)\n{\n}\n")
    found = csource.functions(text)
    expect_eq([f[0] for f in found], ["g", "h", "j", "k", "last"], "names")
    expect_eq([f[2] for f in found], [1, 6, 2, 8, 2], "lengths")
    for name, line, _ in found:
        expect("{" in text.splitlines()[line - 1], f"{name} does not start in line {line}")


@test("headers: a header that needs another one first")
def _():
    if not shutil.which("clang"):
        skip("clang is not installed")
    finds("headers", {"src/run/thing.h": GOOD_H.replace("#include <stdint.h>\n", "")},
          "src/run/thing.h:1: does not compile alone (gcc)",
          "src/run/thing.h:1: does not compile alone (clang)")


@test("listed: a file that nobody builds, and a list out of order")
def _():
    finds("listed", {"src/run/other.c": "int a;\n"},
          "src/run/other.c:1: not in src/run/meson.build")
    tree({"src/run/meson.build": "core_src += files(\n  'thing.c',\n  'other.c',\n)\n"})
    expect_in("src/run/meson.build:1: the list is not sorted", run_lint("listed").out)


@test("drift: a generated file that was edited, is missing, or cannot be made")
def _():
    row = ("gen.md", None, ["echo", "generated"])
    expect_in("is not what `echo generated` prints", str(drift.drifted(tmp(), [row])))
    (tmp() / "gen.md").write_text("generated\n")
    expect_eq(drift.drifted(tmp(), [row]), [], "drift of a fresh file")
    (tmp() / "gen.md").write_text("edited\n")
    expect_eq(len(drift.drifted(tmp(), [row])), 1, "drift of an edited file")
    expect_in("exited with 1", str(drift.drifted(tmp(), [("gen.md", None, ["false"])])))
    expect_in("cannot run no-such", str(drift.drifted(tmp(), [("gen.md", None, ["no-such"])])))


@test("drift: a generator that cannot run on this machine says why, and is no problem")
def _():
    here = ("gen.md", None, ["sh", "-c", "echo no compiler >&2; exit 77"])
    (tmp() / "gen.md").write_text("kept\n")
    expect_eq(drift.drifted(tmp(), [here]), [], "problems")
    try:
        drift.fresh(tmp(), *here)
    except drift.CannotTell as why:
        expect_eq(str(why), "no compiler", "why")
    else:
        expect(False, "nobody said that it cannot be told")


@test("drift: only the text between two marks is compared")
def _():
    row = ("a.md", "rooms", ["echo", "table"])
    text = "before\n<!-- generated: rooms -->\n{}<!-- end: rooms -->\nafter\n"
    (tmp() / "a.md").write_text(text.format("table\n"))
    expect_eq(drift.drifted(tmp(), [row]), [], "drift of a fresh part")
    (tmp() / "a.md").write_text(text.format("tables\n"))
    expect_eq(len(drift.drifted(tmp(), [row])), 1, "drift of an edited part")
    (tmp() / "a.md").write_text("no marks\n")
    expect_in("no lines", str(drift.drifted(tmp(), [row])))


@test("drift: every row of the table names a file of the project")
def _():
    for path, _, _ in drift.GENERATED:
        expect((ROOT / path).exists(), f"{path} does not exist; run `make docs`")


@test("shell: a script that shellcheck complains about")
def _():
    if not shutil.which("shellcheck"):
        skip("shellcheck is not installed")
    finds("shell", {"tools/a.sh": "#!/bin/sh\nrm $1\n"}, "tools/a.sh:2:")


@test("a check that does not exist is refused")
def _():
    tree()
    r = run_lint("nonsense")
    expect_eq(r.rc, 1, "exit status")
    expect_in("no check 'nonsense'", r.err, "error")


main()
