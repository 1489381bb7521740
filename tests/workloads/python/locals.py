"""Variables of many kinds: locals.py SECONDS

Its second line is JSON: for each function the variables as the program itself
shows them, in the form of `assay dump --locals`.
"""
import collections
import json
import sys
import time


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


class Sheet(dict):
    pass


class Late:
    """Its attributes are in a dict, not shared with others."""


def said(variables):
    """As assay shows them: no code of the program's own decides."""
    def one(v):
        if isinstance(v, Point):
            return f"<Point at 0x{id(v):x}>"
        if isinstance(v, Sheet):
            return f"Sheet({dict(v)!r})"
        if callable(v):
            return f"<{type(v).__name__} at 0x{id(v):x}>"
        return repr(v)
    return {name: one(v) for name, v in variables.items()}


def numbers(told):
    zero, one, minus = 0, 1, -1
    digits = [2 ** 15, 2 ** 30 - 1, 2 ** 30, 2 ** 60 - 1, 2 ** 60, 2 ** 63, 2 ** 64]
    huge, deep = 10 ** 40 + 7, -(2 ** 200)
    yes, no, none = True, False, None
    tenth, third, big, tiny, whole = 0.1, 1 / 3, 1e100, 5e-324, 3.0
    nothing, less, endless, not_one = 0.0, -0.0, float("-inf"), float("nan")
    told["numbers"] = said({k: v for k, v in locals().items() if k != "told"})
    texts(told)
    return zero, one, minus, digits


def texts(told):
    empty, plain, accents = "", "plain", "caf\xe9"
    wide, wider = "\u6f22\u5b57 and more", "\U0001f600 and more"
    quoted, both, lines = "it's", "it's \"both\"", "a\n\tb\\"
    raw, no_bytes = b"\x00\xff'abc'\n", b""
    told["texts"] = said({k: v for k, v in locals().items() if k != "told"})
    containers(told)
    return empty


def containers(told):
    nothing = ((), [], {}, set(), frozenset())
    single, nested = (1,), [1, [2, [3]], (4, "five")]
    by_number = {1: "one", 2: "two"}
    by_text = {"a": 1, "b": [2]}
    mixed = {"a": 1, 2: "b", None: 3.5}
    holes = {i: i * i for i in range(6)}
    del holes[2], holes[4]
    one_set, frozen = {7}, frozenset({"seven"})
    shared = Point(1, "two").__dict__
    subclass = Sheet(x=1)
    late = Late()
    late.first, late.second = 1, 2
    vars_of = vars(late)
    point = Point(3, 4)
    told["containers"] = said({k: v for k, v in locals().items() if k not in ("told", "late")})
    arguments(told, 1, 2, 3, key="word", default=Point)
    return point


def arguments(told, first, *rest, key, default=None, **more):
    captured = first + 1

    def inner(own):
        nonlocal captured
        captured += own
        told["arguments"] = said({"first": first, "rest": rest, "key": key, "default": default,
                                  "more": more, "captured": captured, "inner": inner})
        told["inner"] = said({"own": own, "captured": captured, "inner": inner,
                              "first": first, "rest": rest, "key": key, "default": default,
                              "more": more})
        wait(told)
    inner(5)


def wait(told):
    print("ready", flush=True)
    print(json.dumps(told), flush=True)
    time.sleep(float(sys.argv[1]))


numbers({})
