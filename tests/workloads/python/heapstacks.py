"""heapstacks.py CASE... -- allocations whose whole stack is known.

Each case prints lines of JSON: size (what a bytearray of a prime asks for), and the
stack as Python itself sees it there, [[function, line]...], the outermost first. Lines are asked
for, not counted: sys._getframe() is on the line of the allocation.
"""
import ctypes
import json
import sys
import threading


def seen(size, skip=1):
    """This stack, by the interpreter; on the line that makes the block."""
    frame, stack = sys._getframe(skip), []
    while frame:
        code = frame.f_code
        stack.append([getattr(code, "co_qualname", code.co_name), frame.f_lineno])
        frame = frame.f_back
    told.append({"size": size + MORE, "stack": stack[::-1]})
    return size


told = []
MORE = sys.getsizeof(bytearray(7)) - sys.getsizeof(bytearray()) - 7     # 33 since 3.15


def simple():
    for size in (10007, 10009):
        bytearray(seen(size))
    bytearray(seen(10037))


def twice(size):
    """The same function at the same depth, called from two lines."""
    return bytearray(seen(size))


def lines():
    for size in (20011, 20021):
        twice(size)
        twice(size + 2)
    (twice(20047),
     twice(20051))


def down(depth, size):
    if depth:
        return down(depth - 1, size)
    return bytearray(seen(size))


def recursion():
    """Deep, and deeper; from two lines, which only the outermost frames show."""
    for depth in (1, 50, 150, 300, 500, 700):
        down(depth, 30011)
        down(depth, 30013)
    for depth in range(690, 710):
        down(depth, 30029)


def leaf(size):
    return bytearray(seen(size))


def staircase(depth, most):
    """At every depth, on the way down and on the way up."""
    bytearray(seen(40009))
    if depth < most:
        staircase(depth + 1, most)
    leaf(40013)
    bytearray(seen(40031))


def stairs():
    staircase(0, 400)


def numbers(n):
    for i in range(n):
        yield bytearray(seen(50021))
        (yield from nested(i))


def nested(i):
    yield bytearray(seen(50023 + 2 * (i % 2)))


def generators():
    for _ in numbers(5):
        pass
    total = sum(len(b) for b in numbers(3))
    return [total, *map(len, numbers(2))]


async def inner():
    return bytearray(seen(50033))


async def outer():
    return await inner()


def coroutines():
    for _ in range(3):
        try:
            outer().send(None)
        except StopIteration:
            pass


class Made:
    def __init__(self, size):
        self.block = bytearray(seen(size))

    def __len__(self):
        bytearray(seen(60013))
        return 1

    def __del__(self):
        bytearray(seen(60017))


def classes():
    for _ in range(20):
        len(Made(60029))


def called(size):
    bytearray(seen(size))
    return size


def natives():
    """Python called by C called by Python."""
    sorted([60037, 60041], key=called)
    sorted([60077], key=lambda size: called(size) and bytearray(seen(60083)))
    list(map(called, [60089]))


def again():
    """Code that is gone, and other code where it was: the same file, other names and lines."""
    for i in range(60):
        name = f"made{i % 11}"
        text = f"def {name}(n):\n\treturn bytearray(seen(n))\n{name}(70001)\n"
        exec(compile("\n" * (i % 7) + text, "exec%d" % (i % 3), "exec"), {"seen": seen})
        exec(compile("\n" * (i % 5) + "bytearray(seen(70003))", "other", "exec"), {"seen": seen})


def closures():
    """Cells and functions inside of functions."""
    def outside(size):
        def inside():
            return bytearray(seen(size))
        return inside()
    for _ in range(3):
        outside(80021)


def thread(size):
    for _ in range(50):
        bytearray(seen(size))
        down(10, size)


def threads():
    all_ = [threading.Thread(target=thread, args=(size,)) for size in (90001, 90007, 90011, 90017)]
    for t in all_:
        t.start()
    for t in all_:
        t.join()


def foreign():
    """Threads that Python did not begin: it has a state for them only while they are in it."""
    def body(_):
        bytearray(seen(90019))
        down(5, 90023)
        return 0
    kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    run, c = kind(body), ctypes.CDLL(None)
    for _ in range(20):
        t = ctypes.c_ulong()
        c.pthread_create(ctypes.byref(t), None, run, None)
        c.pthread_join(t, None)


def größe(size):
    return bytearray(seen(size))


def names():
    größe(100003)
    exec("def 名前(n):\n\treturn bytearray(seen(n))\n名前(100019)\n", {"seen": seen})
    exec("def 𝒻(n):\n\treturn bytearray(seen(n))\n𝒻(100043)\n", {"seen": seen})


def errors():
    """Frames that end by an exception."""
    def fails(depth):
        bytearray(seen(110017))
        if not depth:
            raise ValueError
        try:
            fails(depth - 1)
        finally:
            bytearray(seen(110023))
    for depth in range(4):
        try:
            fails(depth)
        except ValueError:
            bytearray(seen(110039))


CASES = {f.__name__: f for f in (simple, lines, recursion, stairs, generators, coroutines, classes,
                                 natives, again, closures, threads, foreign, names,
                                 errors)}

if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        CASES[name]()
    print(json.dumps(told))
