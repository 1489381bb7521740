"""Interpreters that one thread makes and others run, while it computes: lodgers.py SECONDS

Until 3.11 nobody asks a thread for the GIL who is in another interpreter: they give it away.
"""
import sys
import threading
import time

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
import time
def inside(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(20000))
        time.sleep(0.0005)
inside({})
"""


def lodge(interpreter, seconds):
    interpreters.run_string(interpreter, CODE.format(seconds))


def outside(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(20000))
        time.sleep(0.0005)


made = [interpreters.create() for _ in range(2)]
for one in made:
    threading.Thread(target=lodge, args=(one, float(sys.argv[1])), daemon=True).start()
print("ready", flush=True)
outside(float(sys.argv[1]))
