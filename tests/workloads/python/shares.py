"""shares SECONDS -- three functions and a sleep in a loop; which part of its CPU time each used."""
import hashlib
import json
import sys
import time

used, data = {"long": 0, "short": 0, "native": 0}, b"x" * 1_000_000


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def count(function):
    start = time.thread_time()
    function()
    used[function.__name__] += time.thread_time() - start


def long():
    burn(0.001)


def short():
    burn(0.0003)


def native():
    hashlib.sha256(data).digest()


def main():
    end = time.time() + float(sys.argv[1])
    while time.time() < end:
        for function in (long, short, native):
            count(function)
        time.sleep(0.002)


main()
print(json.dumps({name: seconds / time.thread_time() for name, seconds in used.items()}))
