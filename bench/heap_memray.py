"""heap_memray -- run a program below memray's tracker: heap_memray.py FILE OPTIONS PROGRAM ARGS…

What `memray run` does, without the commands and pictures that it would import. OPTIONS are words of
Tracker's, joined by commas, or "-".
"""
import runpy
import sys

import memray

path, options = sys.argv[1:3]
sys.argv[:] = sys.argv[3:]
with memray.Tracker(path, **{word: True for word in options.split(",") if word != "-"}):
    runpy.run_path(sys.argv[0], run_name="__main__")
