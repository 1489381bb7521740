#!/usr/bin/env python3
"""Names of peers from a real systemd-resolved: Debian 12's is too old, so Debian 13's."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from harness import *
from jobs import *
from resolvers import expect_names
from roots import debian


@job_test("a peer has the name that systemd-resolved remembers, and nobody was asked for it",
          seconds=900)
def _():
    expect_names("resolved", debian("trixie", "systemd-resolved,dbus"))


main()
