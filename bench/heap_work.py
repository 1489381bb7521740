"""heap_work -- programs whose memory is profiled: heap_work.py CASE REPEATS [FILE]

Each has the character of something that people run: much recursion, many small objects, a parser,
a C library that allocates by itself. After one round that is not counted the work is repeated, and
the CPU time of it in this process, in ns, is written to FILE. Everything is imported whatever the
case, so that to start costs all of them the same.
"""
import ast
import decimal
import io
import json
import pickle
import random
import re
import sqlite3
import sys
import time


# --- search and numbers ----------------------------------------------------------

def queens(n, row=0, columns=frozenset(), up=frozenset(), down=frozenset()):
    if row == n:
        yield 1
        return
    for c in range(n):
        if c not in columns and row + c not in up and row - c not in down:
            yield from queens(n, row + 1, columns | {c}, up | {row + c}, down | {row - c})


def nqueens():
    return sum(queens(6))


def fib(n=17):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def spectral(n=24):
    def weight(i, j):
        return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1)

    v = [1.0] * n
    for _ in range(3):
        v = [sum(weight(i, j) * v[j] for j in range(n)) for i in range(n)]
    return v


def tiles(board=None, left=18):
    """Dominoes on 6 by 6: the first so many ways, by going back."""
    board, found = board or [[0] * 6 for _ in range(6)], 0
    free = next(((r, c) for r in range(6) for c in range(6) if not board[r][c]), None)
    if free is None or left == 10:
        return 1
    for dr, dc in ((0, 1), (1, 0)):
        r, c = free[0] + dr, free[1] + dc
        if r < 6 and c < 6 and not board[r][c]:
            copy = [row[:] for row in board]
            copy[free[0]][free[1]] = copy[r][c] = left
            found += tiles(copy, left - 1)
    return found


class Stones:
    """A 9 by 9 board on which stones without liberties are taken."""

    def __init__(self):
        self.at = {}

    def around(self, p):
        r, c = p
        return [q for q in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1))
                if 0 <= q[0] < 9 and 0 <= q[1] < 9]

    def group(self, p):
        found, todo, free = {p}, [p], False
        while todo:
            for q in self.around(todo.pop()):
                if q not in self.at:
                    free = True
                elif self.at[q] == self.at[p] and q not in found:
                    found.add(q)
                    todo.append(q)
        return found, free

    def put(self, p, colour):
        self.at[p] = colour
        for q in self.around(p):
            if self.at.get(q, colour) != colour:
                stones, free = self.group(q)
                if not free:
                    for s in stones:
                        del self.at[s]


def stones():
    board, chance = Stones(), random.Random(1)
    for turn in range(60):
        p = chance.randrange(9), chance.randrange(9)
        if p not in board.at:
            board.put(p, turn % 2)


# --- objects ---------------------------------------------------------------------

class Vector:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __add__(self, o):
        return Vector(self.x + o.x, self.y + o.y, self.z + o.z)

    def __sub__(self, o):
        return Vector(self.x - o.x, self.y - o.y, self.z - o.z)

    def times(self, k):
        return Vector(self.x * k, self.y * k, self.z * k)

    def dot(self, o):
        return self.x * o.x + self.y * o.y + self.z * o.z


def rays():
    eye, balls = Vector(0, 0, -5), [Vector(i - 1, 0, i) for i in range(3)]
    seen = 0
    for i in range(18):
        for j in range(18):
            way = Vector((i - 9) / 9, (j - 9) / 9, 1)
            for ball in balls:
                to = ball - eye
                along = to.dot(way) / way.dot(way)
                near = eye + way.times(along) - ball
                seen += near.dot(near) < 1
    return seen


class Cell:
    """A value that follows others."""

    def __init__(self, *sources):
        self.value, self.sources, self.users = 0, sources, []
        for s in sources:
            s.users.append(self)

    def set(self, value):
        if value != self.value:
            self.value = value
            for u in self.users:
                u.update()

    def update(self):
        self.set(sum(s.value for s in self.sources) + 1)


def cells():
    rows = [[Cell() for _ in range(8)]]
    for _ in range(5):
        above = rows[-1]
        rows.append([Cell(above[i], above[i - 1]) for i in range(8)])
    for i, c in enumerate(rows[0]):
        c.set(i + 1)


def objchurn():
    for i in range(1500):
        pair = (i, str(i))
        {"pair": pair, "list": [i, pair]}


# --- texts -----------------------------------------------------------------------

SOURCE = "\n".join(f"def f{i}(a, b=({i}, 'x')):\n    return [a + {i} for a in b if a > {i}]\n"
                   for i in range(12))
RECORDS = [{"id": i, "name": f"name {i}", "tags": ["a", "b", str(i)], "at": {"x": i / 7, "y": None}}
           for i in range(120)]
TEXT = json.dumps(RECORDS)
PATTERNS = [re.compile(p) for p in (r"\d+\.\d+", r'"(\w+)": "([^"]*)"', r"(a|b)+", r"\bname (\d)\b",
                                    r"[\[{][^\]}]*", r"x.*?y")]
PICKLED = pickle.dumps(RECORDS)
PRICES = [f"{i % 997}.{i % 100:02}" for i in range(400)]


class Renamer(ast.NodeTransformer):
    def visit_Name(self, node):
        return ast.copy_location(ast.Name(node.id + "_", node.ctx), node)


def trees():
    compile(ast.fix_missing_locations(Renamer().visit(ast.parse(SOURCE))), "x", "exec")


def json_dumps():
    json.dumps(RECORDS)


def json_loads():
    json.loads(TEXT)


def regex():
    for p in PATTERNS:
        p.sub("-", TEXT)
        for _ in p.finditer(TEXT):
            pass


def pickle_dumps():
    pickle.dumps(RECORDS)


def unpickle_python():
    pickle._Unpickler(io.BytesIO(PICKLED)).load()


def bill():
    cent, total = decimal.Decimal("0.01"), decimal.Decimal(0)
    for p in PRICES:
        net = decimal.Decimal(p)
        total += (net * decimal.Decimal("1.19")).quantize(cent) + net / 3
    return str(total)


class Longest:
    def __init__(self):
        self.best = ""

    def step(self, text):
        self.best = max(self.best, text, key=len)

    def finalize(self):
        return self.best


def sqlite():
    db = sqlite3.connect(":memory:")
    db.create_function("twice", 1, lambda x: 2 * x)
    db.create_aggregate("longest", 1, Longest)
    db.execute("CREATE TABLE t (i INTEGER, s TEXT)")
    db.executemany("INSERT INTO t VALUES (?, ?)", ((i, "s" * (i % 40)) for i in range(200)))
    db.execute("SELECT longest(s), sum(twice(i)) FROM t GROUP BY i % 7").fetchall()
    db.close()


# --- the allocator itself ----------------------------------------------------------

def mallocbytes():
    keep = [None] * 64
    for i in range(1500):
        keep[i & 63] = bytes(700 + i)


def deep(left, n):
    if left:
        return deep(left - 1, n)
    return [bytes(600) for _ in range(n)]


def deep50():
    for _ in range(20):
        deep(50, 40)


def deep500():
    for _ in range(4):
        deep(500, 60)


CASES = {f.__name__: f for f in (
    trees, nqueens, cells, tiles, stones, rays, json_dumps, json_loads, bill, regex, spectral,
    unpickle_python, pickle_dumps, sqlite, fib, mallocbytes, objchurn, deep50, deep500)}


IDLE = 0.3      # of a program that does nothing: as long as those that work


def main():
    case, repeats = CASES[sys.argv[1]], int(sys.argv[2])
    sys.setrecursionlimit(5000)
    if repeats:
        case()
    else:
        time.sleep(IDLE)
    start = time.process_time_ns()
    for _ in range(repeats):
        case()
    used = time.process_time_ns() - start
    if len(sys.argv) > 3:
        with open(sys.argv[3], "w") as f:
            f.write(str(used))


if __name__ == "__main__":
    main()
