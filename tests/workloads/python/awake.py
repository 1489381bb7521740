"""awake -- a main thread that never sleeps for long, and does what each line says.

    grow N      N blocks of 5003 bytes, kept
    left        what is there that was not at the beginning: modules, names of sys
"""
import select
import sys

kept = []


def grow(n):
    for _ in range(n):
        kept.append(bytearray(5003))


def names():
    return {*sys.modules, *("sys." + name for name in dir(sys))}


at_first = names()
print("ready", flush=True)
while True:
    if not select.select([sys.stdin], [], [], 0.001)[0]:
        continue
    word, *n = sys.stdin.readline().split() or [""]
    if not word:
        break
    if word == "grow":
        grow(int(n[0]))
    print("done", *(sorted(names() - at_first) if word == "left" else ()), flush=True)
