"""amounts.py CASE... -- a Python program that knows what its lines allocate.

A line that allocates ends with a mark, `# NAME`. The answer is one line of JSON: of each mark its
function and line, how many blocks of which size malloc was asked for there, and how many bytes of
them are left; and under "objects" the same with what CPython keeps in arenas of its own. Numbers
and sizes are primes. A bytearray asks for one byte more than it has, since 3.15 for an object.
"""
import ctypes
import json
import multiprocessing
import os
import sys
import threading

SOURCE = open(__file__).read().splitlines()
C = ctypes.CDLL(None)
C.malloc.restype = C.calloc.restype = ctypes.c_void_p
C.malloc.argtypes, C.calloc.argtypes = [ctypes.c_size_t], [ctypes.c_size_t] * 2
C.free.argtypes = [ctypes.c_void_p]
told = {}
kept = []       # lives to the end
MORE = sys.getsizeof(bytearray(7)) - sys.getsizeof(bytearray()) - 7


def tell(mark, function, count, size, left=0, own=sys.getsizeof(bytearray())):
    """
    So many blocks of one size at the line with this mark, each of which belongs to an object of
    `own` bytes; None: nobody knows what else is there.
    """
    line = 1 + next(i for i, text in enumerate(SOURCE) if text.endswith(f"# {mark}"))
    blocks = 1 if size else 0
    told[mark] = {"function": function, "line": line, "count": count * blocks,
                  "bytes": count * size, "left": left * size}
    told[mark]["objects"] = None if own is None else {
        "count": count * (blocks + 1), "bytes": count * (size + own), "left": left * (size + own)}


def asked(n):
    """What a bytearray of so many bytes asks for."""
    return n + MORE


def room(n):
    """A list that need not grow."""
    return [None] * n


# --- lines --------------------------------------------------------------------

def arrays():
    keep = room(101)
    for i in range(101):
        keep[i] = bytearray(10007)                                  # ARRAYS
    del keep[:70]
    kept.append(keep)
    tell("ARRAYS", "arrays", 101, asked(10007), left=31)


def natives():
    keep = room(211)
    for i in range(211):
        keep[i] = C.malloc(1009)                                    # NATIVES
    for p in keep[11:]:
        C.free(p)
    tell("NATIVES", "natives", 211, 1009, left=11, own=None)


def temporary():
    for _ in range(307):
        bytearray(2003)                                             # TEMPORARY
    tell("TEMPORARY", "temporary", 307, asked(2003))


class Holder:
    def method(self, n):
        return bytearray(n)                                         # METHOD


def methods():
    h, keep = Holder(), room(53)
    for i in range(53):
        keep[i] = h.method(3001)
    tell("METHOD", "method", 53, asked(3001))


def peak():
    """For a moment there is much more than ever else."""
    keep = room(13)
    for i in range(13):
        keep[i] = bytearray(5000011)                                # PEAK
    tell("PEAK", "peak", 13, asked(5000011))


# --- frames that come and go ---------------------------------------------------

def generator(n):
    for _ in range(n):
        yield bytearray(4001)                                       # GENERATOR


def generators():
    keep = room(59)
    for i, block in enumerate(generator(59)):
        keep[i] = block
    tell("GENERATOR", "generator", 59, asked(4001))


async def coroutine():
    return bytearray(4007)                                          # COROUTINE


def coroutines():
    keep = room(61)
    for i in range(61):
        try:
            coroutine().send(None)
        except StopIteration as end:
            keep[i] = end.value
    tell("COROUTINE", "coroutine", 61, asked(4007))


def down(left):
    if left:
        return down(left - 1)
    return bytearray(4013)                                          # DEEP


def deep():
    keep = room(31)
    for i in range(31):
        keep[i] = down(300 + i)
    tell("DEEP", "down", 31, asked(4013))


def key(i):
    kept_keys[i] = bytearray(4019)                                  # CALLBACK
    return i


kept_keys = room(67)


def callbacks():
    """Called from C: sorted() knows no Python frame of its own."""
    sorted(range(67), key=key)
    tell("CALLBACK", "key", 67, asked(4019), left=67)


# --- objects, which only --python-allocators sees --------------------------------

def objects():
    keep, big = room(1009), 10 ** 20
    for i in range(1009):
        keep[i] = object()                                          # SMALL
    for i in range(503):
        keep[i] = -big                                              # NUMBER
    tell("SMALL", "objects", 1009, 0, own=sys.getsizeof(object()))
    tell("NUMBER", "objects", 503, 0, own=sys.getsizeof(big))


# --- threads and processes -------------------------------------------------------

def thread_work(keep):
    for i in range(41):
        keep[i] = bytearray(6007)                                   # THREAD


def threads():
    keep = [room(41) for _ in range(5)]
    all_ = [threading.Thread(target=thread_work, args=(k,), name=f"lane{i}")
            for i, k in enumerate(keep)]
    for t in all_:
        t.start()
    for t in all_:
        t.join()
    tell("THREAD", "thread_work", 205, asked(6007))


def process_work():
    keep = room(43)
    for i in range(43):
        keep[i] = bytearray(7001)                                   # PROCESS
    tell("PROCESS", "process_work", 43, asked(7001))


def answer(**more):
    os.write(1, (json.dumps({"pid": os.getpid(), "marks": told, **more}) + "\n").encode())


def child():
    told.clear()
    process_work()
    answer()


def forks():
    for _ in range(3):
        pid = os.fork()
        if not pid:
            child()
            os._exit(0)
        os.waitpid(pid, 0)


def workers():
    """By multiprocessing, forked and begun anew."""
    for method in ("fork", "spawn"):
        p = multiprocessing.get_context(method).Process(target=child)
        p.start()
        p.join()


CASES = {f.__name__: f for f in (arrays, natives, temporary, methods, peak, generators, coroutines,
                                 deep, callbacks, objects, threads, forks, workers)}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        CASES[name]()
    answer()
    os._exit(0)         # or Python would give back what is kept
