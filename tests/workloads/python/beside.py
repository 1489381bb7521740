"""A thread of Python and, after a while, one that Python does not know: beside.py LIBRARY SECONDS

Each uses so many seconds of CPU. Says at the end what both used, by their own clocks.
"""
import ctypes
import json
import sys
import time


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def main():
    library, seconds = ctypes.CDLL(sys.argv[1]), float(sys.argv[2])
    library.spin_begin.argtypes = [ctypes.c_double]
    library.spin_end.restype = ctypes.c_double
    print("ready", flush=True)
    before = time.thread_time()
    burn(seconds / 3)
    library.spin_begin(seconds)
    burn(seconds * 2 / 3)
    other = library.spin_end()
    print(json.dumps({"own": time.thread_time() - before, "other": other}), flush=True)


main()
