"""told -- what a parser of assay's makes of bytes (tests/fuzz/tell.c), for oracles in Python.

    told("sse", [[b"data: a", b"\\n\\n"], …])     of each case, which comes in these pieces, a list
                                                of its words; bytes where a word is bytes
    pieces(r, data)                             the bytes, cut at random places
"""
import struct
import subprocess

from harness import *

__all__ = ["told", "pieces"]

END_OF_CASE = b"\xff\xff\xff\xff"
KINDS = {"text", "bytes", "close", "ping", "pong", "bad"}       # words that are words


def told(parser, cases):
    data = b"".join(struct.pack("=I", len(piece)) + piece if piece is not None else END_OF_CASE
                    for case in cases for piece in [*case, None])
    p = subprocess.run([BUILD / "tests/fuzz/tell", parser], input=data, capture_output=True)
    expect_eq(p.returncode, 0, f"exit status of tell: {p.stderr.decode(errors='replace')}")
    lines = p.stdout.decode().split("\n")[:-1]
    expect_eq(len(lines), len(cases), "cases")
    return [[w if w in KINDS else b"" if w == "-" else bytes.fromhex(w) for w in line.split()]
            for line in lines]


def pieces(r, data):
    cuts = sorted(r.randrange(len(data) + 1) for _ in range(r.choice((0, 1, 3, 20))))
    return [data[a:b] for a, b in zip([0] + cuts, cuts + [len(data)])]
