#!/usr/bin/env python3
"""embed -- style sheets and scripts of the pages that assay writes, as a C file.

    tools/embed.py OUTPUT NAME=FILE[+FILE]...      (meson calls it; see src/report/asset.h)

Several files become one text, in this order.
"""
import base64
import hashlib
import pathlib
import sys


def literal(text):
    """C string literals, one a line; bytes that are not printable ASCII in octal."""
    def one(line):
        out = "".join({'"': '\\"', "\\": "\\\\", "?": "\\?"}.get(chr(b), chr(b))
                      if 32 <= b < 127 else f"\\{b:03o}" for b in line.encode())
        return f'\t"{out}"'
    return "\n".join(one(line) for line in text.splitlines(keepends=True)) or '\t""'


def read(path):
    text = pathlib.Path(path).read_text()
    for end in ("</s", "]]>"):
        if end in text.lower():
            sys.exit(f"embed: {path} holds '{end}': it would end its own element")
    return text


def embed(asset):
    name, _, paths = asset.partition("=")
    text = "".join(read(path) for path in paths.split("+"))
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"\nconst struct as_asset as_{name} = {{\n{literal(text)},\n\t\"{digest}\",\n}};\n"


def main():
    output, *assets = sys.argv[1:]
    pathlib.Path(output).write_text('#include "report/asset.h"\n' + "".join(map(embed, assets)))


main()
