#!/usr/bin/env python3
"""notice -- print NOTICE: whose work is linked into assay, and on what terms.

To link another library: a row here and a dependency in meson.build. The two
are compared, so that neither is forgotten.
"""
import pathlib
import re
import sys

# name in meson.build: (name for people, licence, whose it is)
LINKED = {
    "sqlite3": ("SQLite", "public domain", "D. Richard Hipp and others"),
    "libzstd": ("Zstandard", "BSD-3-Clause", "Meta Platforms, Inc. and affiliates"),
    "zlib": ("zlib", "Zlib", "Jean-loup Gailly and Mark Adler"),
    "jansson": ("Jansson", "MIT", "Petri Lehtinen and contributors"),
    "ncursesw": ("ncurses", "X11", "Free Software Foundation, Inc. and Thomas E. Dickey"),
    "libdw": ("elfutils", "LGPL-3.0+", "Red Hat, Inc. and others"),
    "libnghttp2": ("nghttp2", "MIT", "Tatsuhiro Tsujikawa and nghttp2 contributors"),
    "openssl": ("OpenSSL", "Apache-2.0", "The OpenSSL Project Authors"),
}
NOT_LISTED = {"threads"}        # part of the C library

TEXT = """assay
Copyright the assay authors

Licensed under the Apache License, Version 2.0; see LICENSE.

What loads BPF programs is from libbpf (BSD-2-Clause, Meta Platforms, Inc. and others); our
programs in src/bpf may also be used under GPL-2.0 or BSD-2-Clause.

assay is linked dynamically with these libraries, which keep their own licences:

"""


def dependencies(meson):
    """Names that meson.build links: dependency('x'), and the table of optional ones."""
    names = set(re.findall(r"\bdependency\('([\w.+-]+)'", meson))
    table = re.search(r"^optional = \{(.*?)^\}", meson, re.M | re.S)
    return names | set(re.findall(r":\s*'([\w.+-]+)'", table[1] if table else ""))


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    linked = dependencies((root / "meson.build").read_text()) - NOT_LISTED
    if linked != set(LINKED):
        sys.exit("meson.build and tools/notice.py differ about: "
                 + ", ".join(sorted(linked ^ set(LINKED))))
    rows = "".join(f"  {name:12}{licence:16}{owner}\n" for name, licence, owner in LINKED.values())
    print(TEXT + rows, end="")


if __name__ == "__main__":
    main()
