"""guests -- a collector in Python: what assay-heap.so writes, read by the book (src/wire/heap.h).

    for h in hosts([python, "x.py"], PYTHON | OBJECTS):     one a process, in order of arrival
        h.allocs                                            [Alloc(op, address, size, stack)]
        h.frees, h.why, h.python, h.clipped

It shares no line with assay's own. A stack is [(function, file, line)], the outermost first.
"""
import collections
import ctypes
import mmap
import os
import socket
import struct
import threading
import time

from harness import BUILD, run, tmp

__all__ = ["Collector", "hosts", "PYTHON", "NATIVE", "OBJECTS", "FORKS", "OPS"]

PYTHON, NATIVE, OBJECTS, FORKS = 1, 2, 4, 8
MAGIC = 0x3450414548595341
RINGS, WIDE, WIDE_BYTES, NARROW_BYTES = 1024, 16, 512 << 10, 64 << 10
NODES, NOTES = 4 << 20, 256 << 20
SLOTS = 1 << 19                     # of a guest's table of samples
RINGS_AT, RING = 192, 192           # struct as_wire_ring[] in struct as_wire_heap, one of them
PAGE = 1 << 16
FUTEX, FUTEX_WAKE = {"x86_64": 202}.get(os.uname().machine, 98), 1

SKIP, TIME, RATE, NONE, AT, KIND = 1, 2, 3, 4, 5, 6
FREE, OBJECT_FREE, UNMAP, RESERVE, THIN = 8, 9, 16, 17, 18
FIRST_ALLOC = 32
OPS = {32: "malloc", 33: "calloc", 34: "realloc", 35: "aligned", 36: "new", 37: "mmap", 38: "brk",
       39: "object_malloc", 40: "object_calloc", 41: "object_realloc", 42: "commit",
       43: "mapped file", 44: "arena"}
SIZES = {TIME: 16, RATE: 16, NONE: 8, AT: 8, KIND: 24,
         FREE: 16, OBJECT_FREE: 16, UNMAP: 24, RESERVE: 24, THIN: 24}

SHORT, SHORT_ALLOC, SLOT_SHIFT = 1 << 63, 1 << 62, 48

IS_PYTHON, IS_ENTRY, CODE_SHIFT = 1 << 63, 1 << 62, 24

Alloc = collections.namedtuple("Alloc", "seq op address size stack tid")
Free = collections.namedtuple("Free", "seq op address")
Thinned = collections.namedtuple("Thinned", "seq address rate")


# --- line tables ---------------------------------------------------------------

def by_pairs(table, first, at, before):
    """Until 3.9 the line changes behind the bytes of a pair, in 3.10 it holds for them."""
    end, line = 0, first
    for i in range(0, len(table) - 1, 2):
        size, by = table[i], table[i + 1] - 256 * (table[i + 1] > 127)
        if before:
            end += size
            if end > at:
                return line
            line += by
        else:
            end += size
            line += 0 if by == -128 else by
            if at < end:
                return 0 if by == -128 else line
    return line if before else 0


def varint(table, i):
    value, shift = 0, 0
    while True:
        value |= (table[i] & 63) << shift
        shift, more, i = shift + 6, table[i] & 64, i + 1
        if not more:
            return value, i


def by_locations(table, first, at):
    i, end, line = 0, 0, first
    while i < len(table):
        kind, units = table[i] >> 3 & 15, (table[i] & 7) + 1
        i, end = i + 1, end + 2 * units
        if kind in (13, 14):
            by, i = varint(table, i)
            line += -(by >> 1) if by & 1 else by >> 1
        elif 10 <= kind <= 12:
            line += kind - 10
        while i < len(table) and not table[i] & 128:    # only first bytes have the highest bit
            i += 1
        if at < end:
            return 0 if kind == 15 else line
    return 0


def line_of(code, at):
    how, first, _, _, table = code
    if how == 2:
        return by_locations(table, first, at)
    return by_pairs(table, first, at, how == 0)


# --- one process ----------------------------------------------------------------

def memory(size):
    fd = os.memfd_create("guest")
    os.ftruncate(fd, size)
    return fd, mmap.mmap(fd, size)


class Told:
    """What a ring's records say of those that follow: the next number, kinds by slot."""

    def __init__(self):
        self.due, self.slots = None, {}


class Host:
    """A guest's mapping, and what was read from it."""

    def __init__(self):
        at = (RINGS_AT + RINGS * RING + PAGE - 1) // PAGE * PAGE
        self.nodes_at, self.notes_at = at, at + NODES * 16
        at = self.notes_at + NOTES
        rings = []
        for i in range(RINGS):
            size = WIDE_BYTES if i < WIDE else NARROW_BYTES
            rings.append((at, size))
            at += size
        self.fd, self.map = memory(at)
        self.bytes, self.raw = at, []
        self.told = [Told() for _ in rings]
        struct.pack_into("<QQQQ", self.map, 0, MAGIC, at, self.nodes_at, self.notes_at)
        for i, ring in enumerate(rings):
            struct.pack_into("<QI", self.map, RINGS_AT + i * RING, *ring)

    def u32(self, at):
        return struct.unpack_from("<I", self.map, at)[0]

    def u64(self, at):
        return struct.unpack_from("<Q", self.map, at)[0]

    def short(self, word, tid, told):
        address, slot = word & (1 << SLOT_SHIFT) - 1, word >> SLOT_SHIFT & 0x3fff
        if word & SHORT_ALLOC:
            op, *rest = told.slots[slot]
            self.raw.append((told.due, op, tid, address, *rest))
        else:
            self.raw.append((told.due, FREE, tid, address))
        told.due += 1

    def aside(self, op, seq, data, told):
        if op == AT:
            told.due = seq
        elif op == KIND:
            told.slots[seq & 0xffff] = (seq >> 16, *struct.unpack_from("<QII", data, 8))

    def whole(self, op, seq, data, tid):
        if op >= FIRST_ALLOC:
            self.raw.append((seq, op, tid, *struct.unpack_from("<QQII", data, 8)))
        elif op in (FREE, OBJECT_FREE, UNMAP):
            self.raw.append((seq, op, tid, struct.unpack_from("<Q", data, 8)[0]))
        elif op == THIN:
            self.raw.append((seq, op, tid, *struct.unpack_from("<QQ", data, 8)))
        elif op in (NONE, RESERVE):
            self.raw.append((seq, op, tid, 0))

    def records(self, data, tid, told):
        at = 0
        while at < len(data):
            word, = struct.unpack_from("<Q", data, at)
            op, seq = word >> 56, word & (1 << 56) - 1
            if word & SHORT:
                self.short(word, tid, told)
                at += 8
            elif op == SKIP:
                return at
            elif op <= KIND and op != NONE:
                self.aside(op, seq, data[at:at + 24], told)
                at += SIZES[op]
            else:
                self.whole(op, seq, data[at:at + 32], tid)
                told.due = seq + 1
                at += SIZES.get(op, 32)
        return at

    def drain_ring(self, i):
        r = RINGS_AT + i * RING
        at, size, state = struct.unpack_from("<QII", self.map, r)
        head, tail = self.u64(r + 64), self.u64(r + 128)
        while tail < head:
            here = tail % size
            n = min(head - tail, size - here)
            done = self.records(self.map[at + here:at + here + n], self.u32(r + 16), self.told[i])
            tail += n if done < n else done         # what a SKIP leaves belongs to it
            struct.pack_into("<Q", self.map, r + 128, tail)
        if state == 2:
            self.told[i] = Told()
            struct.pack_into("<I", self.map, r + 12, 0)
        if self.u32(r + 24):
            struct.pack_into("<I", self.map, r + 20, self.u32(r + 20) + 1 & 0xffffffff)
            room = ctypes.c_uint32.from_buffer(self.map, r + 20)
            ctypes.CDLL(None).syscall(FUTEX, ctypes.byref(room), FUTEX_WAKE, 1 << 30, 0, 0, 0)

    def drain(self):
        for i in range(RINGS):
            if self.u32(RINGS_AT + i * RING + 12):
                self.drain_ring(i)
            elif i and not self.u64(RINGS_AT + i * RING + 64):
                return              # nor was any after it ever taken

    def codes(self):
        found, at, end = [], self.notes_at, self.notes_at + self.u64(136)
        while at < end:
            kind, size = struct.unpack_from("<II", self.map, at)
            if kind == 1:
                how, first, *lengths = struct.unpack_from("<IiIII", self.map, at + 8)
                parts, p = [], at + 8 + 24
                for n in lengths:
                    parts.append(self.map[p:p + n])
                    p += n
                found.append((how, first, parts[0].decode(), parts[1].decode(), parts[2]))
            at += (8 + size + 7) // 8 * 8
        return found

    def finish(self):
        """From numbers to what they mean."""
        codes, stacks = self.codes(), {0: []}
        nodes = [struct.unpack_from("<QI", self.map, self.nodes_at + 16 * i)
                 for i in range(self.u32(128))]
        for i, (key, caller) in enumerate(nodes[1:], 1):
            if not key & IS_PYTHON:
                continue
            code = codes[(key & IS_ENTRY - 1) >> CODE_SHIFT]
            line = line_of(code, key & (1 << CODE_SHIFT) - 1)
            stacks[i] = [*stacks[caller], (code[2], code[3], line)]
        self.codes_noted = len(codes)
        self.entries = [bool(key & IS_ENTRY) for key, _ in nodes]
        self.pid, self.parent = self.u32(40), self.u32(44)
        self.state, self.python, self.why = self.u32(48), self.u32(56), self.u32(60)
        self.lost, self.clipped, self.nested = (self.u64(at) for at in (144, 160, 168))
        raw = sorted(self.raw)
        self.numbers = [r[0] for r in raw]
        self.allocs = [Alloc(r[0], OPS[r[1]], r[3], r[4], stacks[r[5]], r[2])
                       for r in raw if r[1] >= FIRST_ALLOC]
        self.frees = [Free(r[0], r[1], r[3]) for r in raw if NONE < r[1] <= UNMAP]
        self.thinned = [Thinned(r[0], *r[3:]) for r in raw if r[1] == THIN]
        self.map.close()
        os.close(self.fd)


# --- all of them -----------------------------------------------------------------

class Collector:
    def __init__(self, flags, sample, slots=SLOTS):
        self.path = str(tmp() / "guests")
        self.door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.door.bind(self.path)
        self.door.listen(64)
        self.door.settimeout(0.005)
        self.page, self.session = memory(PAGE)
        struct.pack_into("<QIIQIIQQ", self.session, 0, MAGIC, flags, slots, sample, 0, 0, 0,
                         sample)
        self.hosts, self.over = [], False
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def welcome(self):
        try:
            guest, _ = self.door.accept()
        except socket.timeout:
            return
        with guest:
            guest.settimeout(5)
            guest.recv(64)
            host = Host()
            socket.send_fds(guest, [struct.pack("<QQ", MAGIC, host.bytes)], [self.page, host.fd])
            self.hosts.append(host)

    def tick(self):
        struct.pack_into("<Q", self.session, 32, time.monotonic_ns() & ~1)

    def drain(self):
        for host in self.hosts:
            host.drain()

    def work(self):
        while not self.over:
            self.welcome()
            self.tick()
            self.drain()

    def close(self):
        self.over = True
        self.thread.join()
        for host in self.hosts:
            host.drain()
            host.finish()
        self.door.close()
        os.unlink(self.path)
        self.session.close()
        os.close(self.page)


def hosts(command, flags=PYTHON, sample=0, collector=Collector, **how):
    """Run it with the guest in it: (how it ended, what each of its processes did)."""
    c = collector(flags, sample)
    env = {"LD_PRELOAD": str(BUILD / "assay-heap.so"), "ASSAY_HEAP": c.path}
    try:
        r = run(*command, env={**env, **how.pop("env", {})}, **how)
    finally:
        c.close()
    return r, c.hosts
