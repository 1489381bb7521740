"""rungs -- by which ways this machine tells of births and deaths (src/collect/witness.c).

A test of a way that the machine refuses is skipped. Whether it does is asked without
the code under test: where the kernel would let us and assay does not, the test fails.

    need("bpf")             skip, unless the kernel lets us load programs
    allowed()               those of RUNGS that must work here
    on("netlink")           the environment that holds a run to one of them
    expect_by(p, "bpf")     this profile was told by it
"""
import ctypes
import os
import socket
import struct

import harness
from harness import expect, skip
from jobs import is_root

__all__ = ["RUNGS", "need", "allowed", "on", "expect_by", "refuses_bpf"]

RUNGS = ("netlink", "bpf")
SOURCES = {"netlink": "proc connector", "bpf": "BPF"}

PROG_LOAD, PROG_TYPE_RAW_TRACEPOINT = 5, 17
NETLINK_CONNECTOR, CN_IDX_PROC, CN_VAL_PROC, LISTEN = 11, 1, 1, 1


def on(rung):
    return {"ASSAY_RUNG": rung}


def load_program():
    """Load a tracing program of two instructions; why the kernel refuses it, or None."""
    number = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine)
    if number is None:
        return "not tried on this machine"
    code = (ctypes.c_uint64 * 2)(0xb7, 0x95)                    # r0 = 0; exit
    words = ctypes.create_string_buffer(b"GPL")
    wish = ctypes.create_string_buffer(struct.pack(
        "=IIQQ", PROG_TYPE_RAW_TRACEPOINT, len(code), ctypes.addressof(code),
        ctypes.addressof(words)), 128)
    kernel = ctypes.CDLL(None, use_errno=True)
    fd = kernel.syscall(number, PROG_LOAD, wish, len(wish))
    if fd < 0:
        return os.strerror(ctypes.get_errno())
    os.close(fd)
    return None


def refuses_bpf():
    """Why assay cannot load programs here, by the kernel's word; None when it must."""
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "the kernel tells nothing of its types"
    detail = harness.assay("doctor", "--json").ok().json()["probes"]["bpf"]["detail"]
    return "not built in" if "built without BPF" in detail else load_program()


def refuses_netlink():
    """Why the kernel's process connector does not answer; None when it does."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_CONNECTOR) as s:
        s.settimeout(2)
        try:
            s.bind((0, CN_IDX_PROC))
            wish = struct.pack("=IIIIHHI", CN_IDX_PROC, CN_VAL_PROC, 0, 0, 4, 0, LISTEN)
            s.send(struct.pack("=IHHII", 16 + len(wish), 3, 0, 0, os.getpid()) + wish)
            s.recv(4096)
        except OSError as why:
            return f"the proc connector: {why}"
    return None if is_root() else "taskstats need privileges"


REFUSES = {"netlink": refuses_netlink, "bpf": refuses_bpf}


def need(rung):
    why = REFUSES[rung]()
    if why:
        skip(f"{rung}: {why}")


def allowed():
    """The rungs that must work here; the test is skipped where there is none."""
    refusals = {rung: REFUSES[rung]() for rung in RUNGS}
    found = [rung for rung in RUNGS if not refusals[rung]]
    if not found:
        skip("; ".join(refusals.values()))
    return found


def expect_by(p, rung):
    """The machine allows this rung, so the run must have been told by it."""
    told = p.doc["assay"]["totals"]["lost_events"]
    expect(told["value"] is not None and told["source"] == SOURCES[rung],
           f"this machine allows {rung}, but births and deaths are told by: {told['source']}")
