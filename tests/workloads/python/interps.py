"""A function in an interpreter of its own, called by the main one: interps.py SECONDS"""
import sys

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
import time
def inside(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100))
inside({})
"""


def outside(seconds):
    interpreters.run_string(interpreters.create(), CODE.format(seconds))


print("ready", flush=True)
outside(float(sys.argv[1]))
