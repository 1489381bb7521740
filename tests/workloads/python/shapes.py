"""Programs whose stacks are known: shapes.py SHAPE SECONDS

Each shape does one thing over and over. Its frames have names of their own, and
ALLOWED says which chains of them can ever be seen.
"""
import sys
import time


# --- flat: two functions in turn, at the same depth and in the same memory ------

def leaf_a():
    return 1


def leaf_b():
    return 2


def call_a():
    return leaf_a()


def call_b():
    return leaf_b()


def flat():
    for _ in range(500):
        call_a()
        call_b()


# --- generators: frames outside of the stack of frames --------------------------

def inner(n):
    for i in range(n):
        yield twice(i)


def outer(n):
    yield from inner(n)


def twice(i):
    return i * 2


def generators():
    for _ in outer(200):
        pass


# --- coroutines -----------------------------------------------------------------

async def deepest(i):
    return twice(i)


async def middle(i):
    return await deepest(i)


def coroutines():
    for i in range(100):
        try:
            middle(i).send(None)
        except StopIteration:
            pass


# --- recursion --------------------------------------------------------------------

def bottom():
    return sum(range(20000))


def down(n):
    return down(n - 1) if n else bottom()


def recursion():
    for _ in range(5):
        down(200)


# --- callbacks: Python, C, Python -----------------------------------------------

def key(x):
    return -x


def callbacks():
    sorted(range(50), key=key)


ALLOWED = {
    "flat": [["flat"], ["flat", "call_a"], ["flat", "call_b"], ["flat", "call_a", "leaf_a"],
             ["flat", "call_b", "leaf_b"]],
    "generators": [["generators"], ["generators", "outer"], ["generators", "outer", "inner"],
                   ["generators", "outer", "inner", "twice"], ["generators", "inner"],
                   ["generators", "inner", "twice"]],
    "coroutines": [["coroutines"], ["coroutines", "middle"], ["coroutines", "middle", "deepest"],
                   ["coroutines", "middle", "deepest", "twice"]],
    "recursion": [["recursion"] + ["down"] * n for n in range(202)]
                 + [["recursion"] + ["down"] * 201 + ["bottom"]],
    "callbacks": [["callbacks"], ["callbacks", "key"]],
}


def main():
    shape = globals()[sys.argv[1]]
    sys.setrecursionlimit(10000)
    print("ready", flush=True)
    end = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < end:
        shape()


if __name__ == "__main__":
    main()
