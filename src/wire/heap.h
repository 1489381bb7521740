#pragma once
/*
 * heap -- what the guest in a process (preload/) and its collector (heap/) share.
 *
 * The collector makes a session: a folder with a socket in it and one page that
 * all guests map. A guest connects once, gets that page and a mapping of its
 * own, both as descriptors, maps them and closes everything: nothing of ours
 * stays among the descriptors of its host. When the host dies, however, the
 * mapping is still the collector's, with all that was written.
 *
 *	session page     struct as_wire_session        one for all
 *	process mapping  struct as_wire_heap           at 0
 *	                 struct as_wire_node[]         at nodes_at: the tree of stacks
 *	                 notes                         at notes_at: names, once each
 *	                 rings                         at ring[].at: a thread's records
 *
 * Every record has a number (`seq`), taken after an allocation was made and
 * before one is given back: in the order of numbers no address is taken twice.
 * Numbers have no gaps unless the host died in the middle of a record, or jumped
 * out of it (`left`).
 *
 * Everything but the rings' room is written by the guest alone (`wanted` by both), and the
 * collector distrusts every word of it: the host may have written there.
 */
#include <stdatomic.h>
#include <stdint.h>

/* "PATH" of the socket; or "PID:PATH": only that process goes there (no AS_WIRE_HEAP_FORKS) */
#define AS_WIRE_HEAP_ENV     "ASSAY_HEAP"
#define AS_WIRE_HEAP_MAGIC   0x3450414548595341ull /* "ASYHEAP4" */
#define AS_WIRE_HEAP_LIBRARY "assay-heap.so"
#define AS_WIRE_RATE_MOST    (1ull << 40) /* it is not doubled any more */
#define AS_WIRE_ASLEEP       1ull         /* in now_ns, which has a ns less for that */

enum {
	AS_WIRE_HEAP_RINGS = 1024, /* ring 0 is for threads without one, under a lock    */
	AS_WIRE_HEAP_WIDE = 16,    /* rings with the full size; the others have a narrow one */
	AS_WIRE_RING_WIDE = 512 << 10,
	AS_WIRE_RING_NARROW = 64 << 10,
	AS_WIRE_NODES = 4 << 20,   /* stacks; node 0 is the empty one                    */
	AS_WIRE_NOTES = 256 << 20, /* bytes                                              */
	AS_WIRE_HEAP_DEPTH = 1024, /* frames of a stack: the innermost are kept          */
	AS_WIRE_SLOTS = 4096,      /* kinds that a ring knows at a time                  */
	AS_WIRE_SAMPLES = 1 << 19, /* slots of a guest's table of samples, at most       */
};

/* What the session wants of its guests; constant once guests connect. */
enum as_wire_heap_flags {
	AS_WIRE_HEAP_PYTHON = 1 << 0,  /* stacks of Python                             */
	AS_WIRE_HEAP_NATIVE = 1 << 1,  /* stacks of native code                        */
	AS_WIRE_HEAP_OBJECTS = 1 << 2, /* CPython's objects (PyMem and PyObject domains) */
	AS_WIRE_HEAP_FORKS = 1 << 3,   /* children too, by fork and by exec            */
	/* Neither PYTHON nor NATIVE: a guest decides, NATIVE unless it finds a Python. */
};

/* How a session ends. */
enum as_wire_stop {
	AS_WIRE_GO_ON,
	AS_WIRE_STOP,    /* guests record no more                                      */
	AS_WIRE_STOPPED, /* what they had a number for was read: they share no more    */
};

/* One page, mapped by every guest of a session. */
struct as_wire_session {
	uint64_t magic;
	uint32_t flags;
	uint32_t slots;        /* of a guest's table of samples that live, a power of 2     */
	uint64_t sample;       /* mean bytes between samples; 0: everything is recorded    */
	_Atomic uint32_t bell; /* futex: a guest adds 1 and wakes when a ring is half full */
	_Atomic uint32_t stop; /* futex, of enum as_wire_stop; set it, then change now_ns   */
	/*
	 * CLOCK_MONOTONIC, written by the collector, about each 10 ms, without AS_WIRE_ASLEEP:
	 * with that it sleeps for longer, as nothing comes. Who has something to tell then sets
	 * it by his own clock, and rings.
	 */
	_Atomic uint64_t now_ns;
	/*
	 * Sampling: what `sample` is now, doubled some times; guests follow. The collector
	 * changes it, and a guest doubles it whose table is half full.
	 */
	_Atomic uint64_t rate;
};

/*
 * How a guest comes: it connects to the socket (SOCK_SEQPACKET), says hello and
 * waits for one welcome, to which two descriptors are attached (SCM_RIGHTS): the
 * session page, then the mapping with magic, bytes, nodes_at, notes_at and each
 * ring's at and size filled in. A guest that is not wanted finds the socket closed.
 */
struct as_wire_hello {
	uint64_t magic;
	uint32_t pid, parent; /* as in struct as_wire_heap */
};

struct as_wire_welcome {
	uint64_t magic;
	uint64_t bytes; /* of the mapping */
};

enum as_wire_ring_state {
	AS_WIRE_RING_FREE,
	AS_WIRE_RING_USED,  /* a thread writes                                        */
	AS_WIRE_RING_ENDED, /* it is gone; the collector drains, then sets FREE       */
};

/*
 * One thread writes, the collector reads. Positions only grow; the byte of
 * position P is at P % size. A record never wraps: AS_WIRE_OP_SKIP fills the rest.
 */
struct as_wire_ring {
	uint64_t at;            /* of its bytes, from the start of the mapping            */
	uint32_t size;          /* a power of 2                                           */
	_Atomic uint32_t state; /* of enum as_wire_ring_state; FREE to USED by exchange   */
	_Atomic uint32_t tid;
	_Atomic uint32_t room;   /* futex: the collector adds 1 and wakes when it has read */
	_Atomic uint32_t wanted; /* the writer waits for room; 0 again by who wakes it    */
	uint32_t zero;
	_Alignas(64) _Atomic uint64_t head; /* written so far: the guest's                */
	_Alignas(64) _Atomic uint64_t tail; /* read so far: the collector's               */
};

enum as_wire_heap_state {
	AS_WIRE_HEAP_NEW,  /* mapped by the collector, the guest has not begun  */
	AS_WIRE_HEAP_LIVE, /* records                                            */
	AS_WIRE_HEAP_OVER, /* it ends in order (the last destructors may still
			      record), or has been told to stop             */
	AS_WIRE_HEAP_LEFT, /* it gave up: `why` says why                         */
};

/* Whether the guest came with the program, or later (attach.h). */
enum as_wire_attached {
	AS_WIRE_FROM_START,
	AS_WIRE_ATTACHED, /* its hooks are in place                              */
	AS_WIRE_DETACHED, /* the process is as it was: nothing comes any more    */
};

struct as_wire_heap {
	uint64_t magic;
	uint64_t bytes; /* of the whole mapping */
	uint64_t nodes_at, notes_at;
	uint64_t start_ns;      /* CLOCK_MONOTONIC, when the guest began                       */
	uint32_t pid;           /* as the guest's namespace has it                             */
	uint32_t parent;        /* pid of the process that it was forked from; 0: begun by exec */
	_Atomic uint32_t state; /* of enum as_wire_heap_state                             */
	uint32_t flags;         /* of enum as_wire_heap_flags: what this guest does        */
	uint32_t python;        /* minor version of the CPython; 0: none (yet)             */
	uint32_t why;           /* of enum as_wire_heap_why: what it could not do          */

	_Alignas(64) _Atomic uint64_t seq; /* the next number                             */
	uint64_t seed; /* of what is sampled, the collector's; 0: of nobody                  */
	_Atomic uint32_t held; /* sampled: how many it holds that live                       */
	_Alignas(64) _Atomic uint32_t nnodes; /* nodes that are complete, node 0 included  */
	_Atomic uint32_t attached;   /* of enum as_wire_attached                              */
	_Atomic uint64_t nnotes;     /* bytes of notes that are complete                      */
	_Atomic uint64_t lost;       /* events that found no room in time                     */
	_Atomic uint64_t waited_ns;  /* how long threads waited for room                     */
	_Atomic uint64_t clipped;    /* stacks deeper than AS_WIRE_HEAP_DEPTH, or without a node */
	_Atomic uint64_t nested;     /* events from within our own code (a signal's handler)  */
	_Atomic uint64_t left;       /* records that a jump left behind: numbers may be missing */
	_Atomic uint32_t unfollowed; /* processes that it started, and that are left alone      */
	_Atomic uint32_t becomes;    /* 1: it executes another program, in its place            */

	struct as_wire_ring ring[AS_WIRE_HEAP_RINGS];
};

enum as_wire_heap_why {
	AS_WIRE_WHY_NONE,
	AS_WIRE_WHY_PYTHON,   /* a CPython of a version that is not known           */
	AS_WIRE_WHY_SELFTEST, /* its frames are not where they should be            */
	AS_WIRE_WHY_UNWIND,   /* no way to unwind native code                       */
	AS_WIRE_WHY_DEAD,     /* the collector did not read for long                */
	AS_WIRE_WHY_INSIDE,   /* malloc is the program's own: it does not come by   */
	AS_WIRE_WHY_NO_GIL,   /* a CPython from 3.14 on without one: codes have copies */
	AS_WIRE_WHY_EXEC,     /* it became a program without a guest: the collector's word */
	AS_WIRE_WHY_DEEPBIND, /* a library was opened to see libc before us                */
	AS_WIRE_WHY_ROOM, /* it came, and could not map what we share: the collector's word    */
	AS_WIRE_WHYS,
};

/*
 * A stack is a node and its callers. Native: the return address less one, as
 * the process sees it; where another module was before, with the number of this
 * one there in the bits from AS_WIRE_PLACE_SHIFT on. Python: AS_WIRE_PYTHON, the
 * number of the code's note, and the offset of the instruction in bytes. Node
 * numbers grow, and callers have the smaller ones.
 */
struct as_wire_node {
	uint64_t key;
	uint32_t caller;
	uint32_t zero;
};

#define AS_WIRE_PYTHON      (1ull << 63)
#define AS_WIRE_ENTRY       (1ull << 62) /* the first Python frame of one run of the C evaluator */
#define AS_WIRE_PLACE_SHIFT 48
#define AS_WIRE_PLACES      (1u << 13) /* modules in one place, one after the other */
#define AS_WIRE_CODE_SHIFT  24         /* bits below: offset of the instruction in bytes */
#define AS_WIRE_OFFSET_MASK ((1ull << AS_WIRE_CODE_SHIFT) - 1)

/*
 * Notes: each begins with this and is followed by its bytes, padded to 8. The
 * number of a code is how many codes were noted before it.
 */
struct as_wire_note {
	uint32_t kind; /* of enum as_wire_note_kind                          */
	uint32_t size; /* of what follows, without the padding                */
};

enum as_wire_note_kind {
	AS_WIRE_NOTE_CODE = 1, /* struct as_wire_code, name, file, line table        */
	AS_WIRE_NOTE_MODULE,   /* struct as_wire_module, path: loaded from now on    */
	AS_WIRE_NOTE_UNLOAD,   /* struct as_wire_module, path: no longer there       */
	AS_WIRE_NOTE_THREAD,   /* struct as_wire_thread, name                        */
};

struct as_wire_code {
	uint32_t lines; /* of enum as_py_lines, pyabi/layout.h */
	int32_t first_line;
	uint32_t name, file, table; /* bytes of each; texts are UTF-8 */
	uint32_t flags;             /* co_flags                       */
};

struct as_wire_module {
	/* Of its code; bias: address less that in the file. As in nodes' keys. */
	uint64_t start, end, bias;
	uint64_t seq; /* since when */
};

struct as_wire_thread {
	uint32_t tid, zero;
	uint64_t self; /* pthread_self(): what Python calls its ident */
};

/* The first word of a record: the operation in the top 8 bits, `seq` below. */
#define AS_WIRE_OP_SHIFT 56
#define AS_WIRE_SEQ_MASK ((1ull << AS_WIRE_OP_SHIFT) - 1)

enum as_wire_op {
	AS_WIRE_OP_SKIP = 1, /* the rest of the ring up to its end; 8 bytes, no number */
	AS_WIRE_OP_TIME,     /* struct as_wire_time: the moment of what follows; no number */
	AS_WIRE_OP_RATE,     /* struct as_wire_time: mean bytes between samples, instead of ns */
	AS_WIRE_OP_NONE,     /* a number that was taken for nothing; 8 bytes            */
	AS_WIRE_OP_AT,       /* the number of the record that follows; 8 bytes          */
	AS_WIRE_OP_KIND,     /* struct as_wire_kind: what a slot stands for; no number   */
	AS_WIRE_OP_SHORT,    /* the reader's name for records of one word; never written */

	/* struct as_wire_free */
	AS_WIRE_OP_FREE = 8, /* of the malloc family, also the old part of a realloc    */
	AS_WIRE_OP_OBJECT_FREE,
	/* struct as_wire_range: a part of the address space */
	AS_WIRE_OP_UNMAP = 16,
	AS_WIRE_OP_RESERVE, /* mapped without access: nothing yet, see COMMIT           */
	/* A sample that lives: `size` is what its rate is now; 0: its free is not told. */
	AS_WIRE_OP_THIN,

	/* struct as_wire_alloc, from here on */
	AS_WIRE_OP_MALLOC = 32,
	AS_WIRE_OP_CALLOC,
	AS_WIRE_OP_REALLOC,
	AS_WIRE_OP_ALIGNED, /* posix_memalign, aligned_alloc, memalign, valloc, pvalloc */
	AS_WIRE_OP_NEW,
	AS_WIRE_OP_MMAP, /* a range; also what mremap made                              */
	AS_WIRE_OP_BRK,  /* a range: what the program break grew by                     */
	AS_WIRE_OP_OBJECT_MALLOC,
	AS_WIRE_OP_OBJECT_CALLOC,
	AS_WIRE_OP_OBJECT_REALLOC,
	AS_WIRE_OP_COMMIT,   /* a range is accessible now (mprotect): what of it was reserved */
	AS_WIRE_OP_MAP_FILE, /* a range: a file, not memory of the program's own         */
	AS_WIRE_OP_ARENA,    /* a range: CPython's, for small objects of any line        */
	AS_WIRE_OPS,
};

/*
 * What a thread does most, all day long, is told in one word:
 *
 *	63  62  61 .. 48  47 .. 0
 *	 1   1  slot      address	an allocation, of the kind that the slot stands for
 *	 1   0  0         address	a free, as by AS_WIRE_OP_FREE
 *
 * Its number is the one after that of the record before it in the ring, unless
 * AS_WIRE_OP_AT has told another. Slots are a ring's own, and are empty when a
 * thread takes the ring.
 */
#define AS_WIRE_SHORT         (1ull << 63)
#define AS_WIRE_SHORT_ALLOC   (1ull << 62)
#define AS_WIRE_SLOT_SHIFT    48
#define AS_WIRE_SHORT_ADDRESS ((1ull << AS_WIRE_SLOT_SHIFT) - 1)

struct as_wire_kind {
	uint64_t slot_op; /* AS_WIRE_OP_KIND; op of the allocation << 16 | slot */
	uint64_t size;
	uint32_t python, native; /* nodes; 0: no such stack */
};

struct as_wire_alloc {
	uint64_t seq_op, address, size;
	uint32_t python, native; /* nodes; 0: no such stack */
};

struct as_wire_free {
	uint64_t seq_op, address;
};

struct as_wire_range {
	uint64_t seq_op, address, size;
};

struct as_wire_time {
	uint64_t seq_op, ns; /* CLOCK_MONOTONIC */
};

_Static_assert(sizeof(struct as_wire_alloc) == 32 && sizeof(struct as_wire_free) == 16,
	       "records are shared with guests");
_Static_assert(sizeof(struct as_wire_kind) == 24, "records are shared with guests");
_Static_assert(sizeof(struct as_wire_node) == 16, "nodes are shared with guests");
_Static_assert(sizeof(struct as_wire_ring) % 64 == 0, "rings do not share lines");
