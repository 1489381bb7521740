"""Two processes of multiprocessing that use the CPU: pool.py METHOD SECONDS"""
import multiprocessing
import sys
import time


def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100))


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    workers = [context.Process(target=work, args=(float(sys.argv[2]),)) for _ in range(2)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
