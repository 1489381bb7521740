#!/usr/bin/env python3
"""Draw terminal output as an SVG picture: assay … 2>&1 | tools/shot.py TITLE > docs/images/x.svg

Reads text with ANSI colours (SGR only) from standard input. The picture has no
script and no font of its own, so it looks the same wherever Markdown is shown.
"""
import html, re, sys, unicodedata

COLOURS = {30: "#484f58", 31: "#ff7b72", 32: "#3fb950", 33: "#d29922", 34: "#58a6ff", 35: "#bc8cff",
           36: "#39c5cf", 37: "#e6edf3", 90: "#8b949e", 91: "#ffa198", 92: "#56d364", 93: "#e3b341",
           94: "#79c0ff", 95: "#d2a8ff", 96: "#56d4dd", 97: "#ffffff"}
WIDTH, HEIGHT, TOP, LEFT = 8.43, 19, 48, 18


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def spans(line):
    """(column, text, style) for each piece of one look."""
    column, bold, dim, colour = 0, False, False, None
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        codes = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if not codes:
            if part:
                fill = COLOURS.get(colour, "#e6edf3")
                yield column, part, fill, bold, dim
                column += columns(part)
            continue
        for code in (int(c or 0) for c in codes[1].split(";")):
            if code == 0:
                bold, dim, colour = False, False, None
            elif code == 1:
                bold = True
            elif code == 2:
                dim = True
            elif code == 22:
                bold = dim = False
            elif code == 39:
                colour = None
            elif code in COLOURS:
                colour = code


def draw(lines, title):
    wide = max([columns(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines] + [80])
    w, h = round(wide * WIDTH + 2 * LEFT), TOP + HEIGHT * len(lines) + 10
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
           f'role="img" aria-label="{html.escape(title)}">')
    yield f'<rect width="{w}" height="{h}" rx="8" fill="#0d1117"/>'
    for i, colour in enumerate(("#ff5f56", "#ffbd2e", "#27c93f")):
        yield f'<circle cx="{20 + 20 * i}" cy="18" r="6" fill="{colour}"/>'
    yield ('<g font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14" '
           'xml:space="preserve">')
    for row, line in enumerate(lines):
        for column, text, fill, bold, dim in spans(line):
            look = (' font-weight="bold"' if bold else "") + (' opacity="0.6"' if dim else "")
            yield (f'<text x="{LEFT + column * WIDTH:.1f}" y="{TOP + row * HEIGHT}" fill="{fill}"{look} '
                   f'textLength="{columns(text) * WIDTH:.1f}">{html.escape(text)}</text>')
    yield "</g></svg>"


if __name__ == "__main__":
    print("\n".join(draw(sys.stdin.read().rstrip("\n").split("\n"), " ".join(sys.argv[1:]))))
