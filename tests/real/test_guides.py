#!/usr/bin/env python3
"""What the guides show, with the real programs that they show it on."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from guides import tests_of
from harness import main

tests_of(lambda needs: needs)
main()
