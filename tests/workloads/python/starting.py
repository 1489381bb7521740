"""Starts threads that only sleep, and computes all the while: starting.py THREADS

At the end it says, as JSON, the number of the thread that computed, and the CPU time of it all.
"""
import json
import sys
import threading
import time


def sleeper(end):
    end.wait()


def burner(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


end = threading.Event()
for _ in range(int(sys.argv[1])):
    threading.Thread(target=sleeper, args=(end,)).start()
    burner(0.01)
print(json.dumps({"thread": threading.get_native_id(), "used": time.process_time()}), flush=True)
end.set()
