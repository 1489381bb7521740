"""screen -- a small terminal: what a person would see of a stream of bytes.

Just enough of xterm for assay's output and that of the programs in the tests,
ncurses among them: printing with wrapping, CR LF BS TAB, cursor moves, erasing,
inserting and deleting, the scrolling region, the other screen. An escape
sequence that is not known raises: then either the program or this model is wrong,
and a test should say which.
"""
import re

CSI = re.compile(r"\x1b\[([?>!]?)([0-9;]*)([@-~])")


class Screen:
    def __init__(self, rows, cols):
        self.rows, self.cols = rows, cols
        self.cells = [[" "] * cols for _ in range(rows)]
        self.row = self.col = 0
        self.top, self.bottom = 0, rows - 1         # the scrolling region, inclusive
        self.saved = (0, 0)
        self.wrap = False                           # the cursor waits behind the last column
        self.rest = ""                              # an escape sequence that is not complete yet
        self.regions = []                           # every scrolling region that was ever set
        self.modes = set()                          # private modes that are on: 1049 …
        self.last = " "                             # the character that was printed last

    def line(self, row):
        return "".join(self.cells[row]).rstrip()

    def lines(self):
        return [self.line(i) for i in range(self.rows)]

    def text(self):
        return "\n".join(self.lines()).rstrip()

    def whole(self):
        """Do all rows scroll?"""
        return (self.top, self.bottom) == (0, self.rows - 1)

    def scroll(self):
        del self.cells[self.top]
        self.cells.insert(self.bottom, [" "] * self.cols)

    def line_feed(self):
        if self.row == self.bottom:
            self.scroll()
        elif self.row < self.rows - 1:
            self.row += 1

    def put(self, char):
        if self.wrap:
            self.col, self.wrap = 0, False
            self.line_feed()
        self.cells[self.row][self.col] = self.last = char
        if self.col == self.cols - 1:
            self.wrap = True
        else:
            self.col += 1

    def move(self, row, col):
        self.row = max(0, min(self.rows - 1, row))
        self.col = max(0, min(self.cols - 1, col))
        self.wrap = False

    def control(self, char):
        if char == "\n":
            self.line_feed()
        elif char == "\r":
            self.move(self.row, 0)
        elif char == "\b":
            self.move(self.row, self.col - 1)
        elif char == "\t":
            self.move(self.row, (self.col // 8 + 1) * 8)
        elif char != "\a":
            raise ValueError(f"control character {char!r}")

    def erase(self, what):
        first, last = {0: (self.col, self.cols), 1: (0, self.col + 1), 2: (0, self.cols)}[what]
        self.cells[self.row][first:last] = [" "] * (last - first)

    def erase_display(self, what):
        if what == 0:
            self.erase(0)
        for row in range(self.row + 1 if what == 0 else 0, self.rows):
            self.cells[row] = [" "] * self.cols

    def edit(self, final, n):
        """Characters or lines that are inserted, deleted or blanked."""
        line, blanks = self.cells[self.row], [" "] * n
        if final == "@":
            line[self.col:] = (blanks + line[self.col:])[:self.cols - self.col]
        elif final == "P":
            line[self.col:] = (line[self.col + n:] + blanks)[:self.cols - self.col]
        elif final == "X":
            line[self.col:self.col + n] = blanks[:self.cols - self.col]
        else:
            top = self.row if final in "LM" else self.top
            for _ in range(min(n, self.rows)):
                del self.cells[self.bottom if final in "LT" else top]
                self.cells.insert(top if final in "LT" else self.bottom, [" "] * self.cols)

    def set_modes(self, numbers, on):
        for n in numbers:
            (self.modes.add if on else self.modes.discard)(n)
            if n == 1049 and on:
                self.cells = [[" "] * self.cols for _ in range(self.rows)]

    def csi(self, private, numbers, final):
        n = [int(x) if x else 0 for x in numbers.split(";")] if numbers else [0]
        one = n[0] or 1
        if private == "?" and final in "hl":
            self.set_modes(n, final == "h")
        if private or final in "mhlt":
            return                                  # colours, titles: nothing that is seen here
        if final == "r":
            self.top = one - 1
            self.bottom = (n[1] if len(n) > 1 and n[1] else self.rows) - 1
            self.regions.append((self.top, self.bottom))
            self.move(0, 0)
        elif final in "Hf":
            self.move(one - 1, (n[1] or 1) - 1 if len(n) > 1 else 0)
        elif final in "ABCD":
            steps = {"A": (-one, 0), "B": (one, 0), "C": (0, one), "D": (0, -one)}[final]
            self.move(self.row + steps[0], self.col + steps[1])
        elif final == "G":
            self.move(self.row, one - 1)
        elif final == "d":
            self.move(one - 1, self.col)
        elif final == "b":
            for _ in range(one):
                self.put(self.last)
        elif final in "@PXLMST":
            self.edit(final, one)
        elif final == "K":
            self.erase(n[0])
        elif final == "J":
            self.erase_display(n[0])
        else:
            raise ValueError(f"escape sequence ESC [ {private}{numbers}{final}")

    def escape(self, text):
        """Take one escape sequence off the front; how long it was, 0 when it is cut off."""
        if m := CSI.match(text):
            self.csi(*m.groups())
            return m.end()
        if len(text) >= 2 and text[1] in "78":
            if text[1] == "7":
                self.saved = (self.row, self.col)
            else:
                self.move(*self.saved)
            return 2
        if len(text) >= 2 and text[1] in "=>":
            return 2                                # what the keys beside the letters send
        if len(text) >= 3 and text[1] in "()":
            return 3                                # character sets
        if len(text) >= 2 and text[1] == "M":
            if self.row == self.top:
                self.edit("T", 1)
            else:
                self.move(self.row - 1, self.col)
            return 2
        if len(text) < 32 and re.fullmatch(r"\x1b([()]|\[[?>!]?[0-9;]*)?", text):
            return 0
        raise ValueError(f"escape sequence {text[:16]!r}")

    def feed(self, text):
        text, at = self.rest + text, 0
        self.rest = ""
        while at < len(text):
            if text[at] == "\x1b":
                used = self.escape(text[at:at + 64])
                if not used:
                    self.rest = text[at:]
                    return self
                at += used
                continue
            if text[at] < " ":
                self.control(text[at])
            else:
                self.put(text[at])
            at += 1
        return self
