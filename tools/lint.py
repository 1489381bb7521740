#!/usr/bin/env python3
"""lint -- what a reviewer should not have to say.

    tools/lint.py [--root DIR] [CHECK]...

Each check prints `ok NAME note`, or its problems as `file:line: text`. The
last line counts them. To add a check: a function that takes a Tree and
returns (problems, note), and its line in CHECKS at the end. The facts the
checks go by are tables of their own: rooms.py, banned.py, drift.py.
"""
import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
import banned
import csource
import drift
import rooms

COLUMNS = 100
LONGEST = 100           # lines a function may have
SKIP_DIRS = re.compile(r"\.(?!ci$)|build|__pycache__$")     # hidden ones but .ci, and build*


class Tree:
    """The files of a source tree, read once."""

    def __init__(self, root):
        self.root, self.files, self.texts = root, [], {}
        for folder, dirs, names in os.walk(root):
            dirs[:] = sorted(d for d in dirs if not SKIP_DIRS.match(d))
            for name in sorted(names):
                self.files.append(str((pathlib.Path(folder) / name).relative_to(root)))

    def match(self, *patterns):
        """Paths like these; * also crosses directories."""
        return [f for f in self.files if any(fnmatch.fnmatch(f, p) for p in patterns)]

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = (self.root / path).read_text(errors="replace")
        return self.texts[path]

    def lines(self, path):
        return enumerate(self.text(path).split("\n"), 1)

    def sources(self):
        return self.match("src/*.c", "src/*.h")


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


def tool_output(command, root, **kw):
    p = subprocess.run(command, cwd=root, text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, **kw)
    return p.stdout if p.returncode else ""


# --- how the text looks -------------------------------------------------------

def check_format(tree):
    """clang-format has nothing to change."""
    files = tree.match("src/*.c", "src/*.h", "tests/*.c", "tests/*.h", "bench/*.c", "examples/*.c",
                       "include/*.h")
    if not shutil.which("clang-format"):
        return ["clang-format is not installed; run `make dev-deps`"], ""
    def one(path):
        out = tool_output(["clang-format", "--dry-run", "--Werror", path], tree.root)
        return re.findall(r"^(\S+?:\d+):\d+: error: .*", out, re.M)
    return [f"{places[0]}: not as clang-format writes it ({len(set(places))} lines); "
            "run `make format`"
            for places in parallel(one, files) if places], f"{len(files)} files"


def check_columns(tree):
    """No line is longer than 100 columns, with tabs of 8; tables set by hand may be."""
    files = tree.match("*.c", "*.h", "*.py", "*.ts", "*.sh", "*meson.build", "Makefile", ".ci/run")
    problems = []
    for f in files:
        by_hand = False
        for n, line in tree.lines(f):
            by_hand = ("clang-format off" in line) or (by_hand and "clang-format on" not in line)
            width = len(line.expandtabs(8))
            if width > COLUMNS and not by_hand:
                problems.append(f"{f}:{n}: {width} columns, {COLUMNS} are allowed")
    return problems, f"{len(files)} files"


def check_words(tree):
    """Nothing is left for later, nothing asks the reader to copy a change, no // remains."""
    problems = []
    for f in tree.match("*.c", "*.h", "*.py", "*.ts", "*.sh", "*.md", "*meson.build", "Makefile"):
        for m in re.finditer(r"keep\s+in\s+sync", tree.text(f), re.I):
            problems.append(f"{f}:{line_of(tree.text(f), m.start())}: write the fact once instead")
    for f in tree.sources():
        for n, line in tree.lines(f):
            if m := re.search(r"\b(TODO|FIXME|XXX)\b", line):
                problems.append(f"{f}:{n}: {m[1]}: do it or open an issue")
        for m in csource.LEXEMES.finditer(tree.text(f)):
            if m[0].startswith("//"):
                problems.append(f"{f}:{line_of(tree.text(f), m.start())}: // is for lines that "
                                "are deleted before committing; write /* */")
    return problems, ""


def check_links(tree):
    """Links between our Markdown files lead somewhere."""
    problems, count = [], 0
    for f in tree.match("*.md"):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", lambda m: csource.blank(m[0]), tree.text(f),
                      flags=re.M | re.S)
        for m in re.finditer(r"\]\(<?([^)>\s]+)>?[^)]*\)", text):
            target = m[1].split("#")[0]
            if not target or re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            count += 1
            base = tree.root if target.startswith("/") else (tree.root / f).parent
            if not (base / target.lstrip("/")).exists():
                problems.append(f"{f}:{line_of(text, m.start())}: '{target}' does not exist")
    return problems, f"{count} links"


# --- what the code says -------------------------------------------------------

def check_rooms(tree):
    """A file includes only what its room may know (rooms.py)."""
    problems, count = table_cycles(), 0
    for f in tree.sources():
        room = f.split("/")[1]
        if room not in rooms.ROOMS:
            problems.append(f"{f}:1: room '{room}' is not in tools/rooms.py")
            continue
        for n, line in tree.lines(f):
            if m := re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line):
                count += 1
                why = include_problem(room, m[2], m[1] == '"')
                if why:
                    problems.append(f"{f}:{n}: {why}")
    return problems, f"{count} includes"


def include_problem(room, header, ours):
    if not ours and header != "assay.h":
        for pattern, only in rooms.ONLY_IN.items():
            if fnmatch.fnmatch(header, pattern) and room not in only.split():
                return f"<{header}> belongs to {only.replace(' ', ', ')} only"
        return None
    other = header.split("/")[0]
    if other == room or other in rooms.may_use(room):
        return None
    if "/" not in header and header != "assay.h":
        return f'write the room too: "{room}/{header}"'
    return f"{room} may not include {other}"


def table_cycles():
    """The table itself: every door leads to a room, and none leads back."""
    problems = []
    def visit(room, path):
        if room in path:
            problems.append(f"tools/rooms.py:1: doors in a circle: {' '.join(path)} {room}")
        elif room not in rooms.ROOMS:
            problems.append(f"tools/rooms.py:1: no room '{room}', a door of {path[-1]}")
        else:
            for other in rooms.may_use(room):
                if other != "assay.h":
                    visit(other, path + [room])
    for room in rooms.ROOMS:
        visit(room, [])
    return problems


def check_banned(tree):
    """No call of what has a better replacement (banned.py)."""
    problems = []
    for f in tree.sources():
        code = csource.code_only(tree.text(f))
        below = f.removeprefix("src/")
        for pattern, allowed, why in banned.BANNED:
            if any(fnmatch.fnmatch(below, a) for a in allowed):
                continue
            for m in re.finditer(pattern, code):
                word = re.match(r"\w+", m[0])[0]
                problems.append(f"{f}:{line_of(code, m.start())}: {word}: {why}")
    return problems, f"{len(banned.BANNED)} rules"


def check_lengths(tree):
    """Functions stay small because someone counts."""
    found = [(length, name, f"{f}:{line}") for f in tree.match("src/*.c", "src/*.h")
             for name, line, length in csource.functions(tree.text(f))]
    if not found:
        return [], "no functions"
    found.sort(reverse=True)
    lengths = sorted(f[0] for f in found)
    p90 = lengths[min(len(lengths) - 1, len(lengths) * 9 // 10)]
    median = statistics.median(lengths)
    note = f"{len(found)} functions, median {median:g} lines, p90 {p90}; longest:"
    note += "".join(f"\n   {length:4} {name} ({place})" for length, name, place in found[:10])
    return [f"{place}: {name} has {length} lines, {LONGEST} are allowed"
            for length, name, place in found if length > LONGEST], note


BPF_FLAGS = ["-target", "bpf", "-ffreestanding", "-Wno-unused-parameter"]


def check_headers(tree):
    """Every header compiles alone, with gcc and with clang; BPF's only for BPF."""
    headers = tree.match("src/*.h", "include/*.h")
    compilers = [cc for cc in ("gcc", "clang") if shutil.which(cc)]
    flags = ["-std=gnu17", "-D_GNU_SOURCE", "-DASSAY_VERSION=\"0\"", *optional_defines(tree),
             "-Isrc", "-Iinclude", "-Wall", "-Wextra", "-Wstrict-prototypes", "-Wundef", "-Werror",
             "-Wno-missing-field-initializers", "-fsyntax-only"]
    def one(job):
        cc, header = job
        name = header.removeprefix("src/").removeprefix("include/")
        ours = [*flags, *(BPF_FLAGS if name.startswith("bpf/") else []), "-x", "c", "-"]
        out = tool_output([cc, *ours], tree.root,
                          input=f'#include "{name}"\nint lint;\n')
        first = next((line for line in out.splitlines() if "error:" in line), None)
        return first and f"{header}:1: does not compile alone ({cc}): {first}"
    jobs = [(cc, h) for cc in compilers for h in headers
            if cc == "clang" or not h.startswith("src/bpf/")]
    problems = [p for p in parallel(one, jobs) if p]
    if len(compilers) < 2:
        problems.append("gcc and clang are not both installed; run `make dev-deps`")
    return problems, f"{len(headers)} headers, {' and '.join(compilers)}"


def optional_defines(tree):
    """-DAS_HAVE_X=1 for each feature in meson_options.txt."""
    if "meson_options.txt" not in tree.files:
        return []
    names = re.findall(r"option\('(\w+)', type: 'feature'", tree.text("meson_options.txt"))
    return [f"-DAS_HAVE_{n.upper()}=1" for n in names]


# --- what belongs together ----------------------------------------------------

def check_listed(tree):
    """Every C file is built: it stands in the meson.build beside it, and in order."""
    problems = []
    for f in tree.match("src/*/meson.build", "tests/unit/meson.build", "tests/fuzz/meson.build"):
        folder, text = f.removesuffix("meson.build"), tree.text(f)
        listed = re.findall(r"^\s+'([\w.-]+)',$", text, re.M)
        if listed != sorted(listed):
            problems.append(f"{f}:1: the list is not sorted")
        for c in tree.match(folder + "*.c"):
            stem = c.removeprefix(folder)
            names = {stem, stem.removesuffix(".c"), stem.removeprefix("fuzz_").removesuffix(".c")}
            if "/" not in stem and not names & set(listed) and f"'{stem}'" not in text:
                problems.append(f"{c}:1: not in {f}, so nobody builds it")
    return problems, ""


def check_drift(tree):
    """Generated files are what their generator prints (drift.py)."""
    return [f"{path}:1: {why}" for path, why in drift.drifted(tree.root)], \
        f"{len(drift.table(tree.root))} generated files"


def check_shell(tree):
    """shellcheck has nothing to say."""
    files = tree.match(".ci/run", "examples/*.sh", "tools/*.sh", "tests/*.sh", "bench/*.sh")
    if not files or not shutil.which("shellcheck"):
        return [], f"{len(files)} scripts" if not files else "skipped: shellcheck is not installed"
    out = tool_output(["shellcheck", "--format=gcc", *files], tree.root)
    return out.splitlines(), f"{len(files)} scripts"


CHECKS = {
    "format": check_format,
    "columns": check_columns,
    "words": check_words,
    "links": check_links,
    "rooms": check_rooms,
    "banned": check_banned,
    "lengths": check_lengths,
    "headers": check_headers,
    "listed": check_listed,
    "drift": check_drift,
    "shell": check_shell,
}


def problem_count(n):
    return "1 problem" if n == 1 else f"{n} problems"


def main():
    args = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--root", type=pathlib.Path,
                      default=pathlib.Path(__file__).resolve().parent.parent)
    args.add_argument("check", nargs="*", metavar="CHECK", help=f"one of {', '.join(CHECKS)}")
    args = args.parse_args()
    unknown = [c for c in args.check if c not in CHECKS]
    if unknown:
        sys.exit(f"no check '{unknown[0]}'; there are {', '.join(CHECKS)}")

    tree, total = Tree(args.root.resolve()), 0
    for name in args.check or CHECKS:
        problems, note = CHECKS[name](tree)
        for p in problems:
            print(p)
        if problems:
            print(f"-- {name}: {problem_count(len(problems))}" + (f"; {note}" if note else ""))
        else:
            print(f"ok {name}" + (f": {note}" if note else ""), flush=True)
        total += len(problems)
    print(problem_count(total))
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
