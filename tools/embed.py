#!/usr/bin/env python3
"""embed -- the style sheet and the script of the HTML report as a C file.

    tools/embed.py STYLE SCRIPT OUTPUT      (meson calls it; see src/report/asset.h)
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


def embed(name, path):
    text = pathlib.Path(path).read_text()
    if "</s" in text.lower():
        sys.exit(f"embed: {path} holds '</s': it would end its own element")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return (f"const char as_page_{name}_hash[] = \"{digest}\";\n"
            f"const char as_page_{name}[] =\n{literal(text)};\n")


def main():
    style, script, output = sys.argv[1:]
    pathlib.Path(output).write_text('#include "report/asset.h"\n\n' + embed("style", style) +
                                    "\n" + embed("script", script))


main()
