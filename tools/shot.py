#!/usr/bin/env python3
"""Draw terminal output as an SVG picture:

    script -qec 'assay run -- …' /dev/null | tools/shot.py '$ assay run -- …' >docs/images/x.svg

Reads what a terminal would get: ANSI colours stay, the status line and other
movements of the cursor are dropped. The argument stands above it as the command
line. The picture has no script and no font of its own, so it looks the same
wherever Markdown is shown.
"""
import html, re, sys, unicodedata

COLOURS = {30: "#484f58", 31: "#ff7b72", 32: "#3fb950", 33: "#d29922", 34: "#58a6ff", 35: "#bc8cff",
           36: "#39c5cf", 37: "#e6edf3", 90: "#8b949e", 91: "#ffa198", 92: "#56d364", 93: "#e3b341",
           94: "#79c0ff", 95: "#d2a8ff", 96: "#56d4dd", 97: "#ffffff"}
PLAIN = "#e6edf3"
WIDTH, HEIGHT, TOP, LEFT = 8.43, 19, 48, 18


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def turn(look, code):
    """The look (colour, bold, dim) after one SGR code."""
    colour, bold, dim = look
    if code == 0:
        return None, False, False
    if code in COLOURS or code == 39:
        return (code if code in COLOURS else None), bold, dim
    return colour, code == 1 or (bold and code != 22), code == 2 or (dim and code != 22)


def spans(line, look):
    """([(column, text, look)], the look at the end): a look lasts over the end of a line."""
    column, out = 0, []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        codes = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if codes:
            for code in codes[1].split(";"):
                look = turn(look, int(code or 0))
        elif part:
            out.append((column, part, look))
            column += columns(part)
    return out, look


def draw(lines, title):
    wide = max([columns(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines] + [80])
    w, h = round(wide * WIDTH + 2 * LEFT), TOP + HEIGHT * len(lines) + 10
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" '
           f'viewBox="0 0 {w} {h}" role="img" aria-label="{html.escape(title)}">')
    yield f'<rect width="{w}" height="{h}" rx="8" fill="#0d1117"/>'
    for i, colour in enumerate(("#ff5f56", "#ffbd2e", "#27c93f")):
        yield f'<circle cx="{20 + 20 * i}" cy="18" r="6" fill="{colour}"/>'
    yield ('<g font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14" '
           'xml:space="preserve">')
    look = None, False, False
    for row, line in enumerate(lines):
        pieces, look = spans(line, look)
        for column, text, (colour, bold, dim) in pieces:
            style = (' font-weight="bold"' if bold else "") + (' opacity="0.6"' if dim else "")
            yield (f'<text x="{LEFT + column * WIDTH:.1f}" y="{TOP + row * HEIGHT}" '
                   f'fill="{COLOURS.get(colour, PLAIN)}"{style} '
                   f'textLength="{columns(text) * WIDTH:.1f}">{html.escape(text)}</text>')
    yield "</g></svg>"


def plain(text):
    """Lines with colours only: without the status line, which is drawn between save and restore."""
    text = re.sub(r"\x1b7.*?\x1b8", "", text.replace("\r", ""), flags=re.S)
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-ln-z]", "", text)
    return text.strip("\n").split("\n")


if __name__ == "__main__":
    command = " ".join(sys.argv[1:])
    print("\n".join(draw([f"\x1b[1m{command}\x1b[0m"] + plain(sys.stdin.read()), command)))
