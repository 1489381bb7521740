#pragma once
/*
 * guest -- in somebody else's process: what the files of preload/ share.
 *
 * We are guests. No host allocator, no stdio, no lock of libc's, no lock of ours
 * over the host's code; errno is left as it was (system calls go through sys.h,
 * which does not know it). What we need is mapped by as_guest_pages().
 *
 * A hook forwards to the next allocator with `inside` set, so that what that
 * calls (malloc under operator new, mmap under malloc) is not told twice, and
 * records with `busy` set, so that a signal's handler that comes in between
 * finds the door closed: its allocations pass by and are counted as `nested`. One
 * that does not come back is hook_jump.c's.
 *
 * struct as_guest is on pages of its own that the kernel empties in a forked
 * child: whoever finds its phase UNKNOWN is in a new process, where none of the
 * mappings is, and must begin. Locks are in it too, so a child finds them open.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/heap.h"

#if defined(__x86_64__)
#define AS_GUEST_PAGE 4096
#else
#define AS_GUEST_PAGE 65536 /* the largest that the machine may have */
#endif

enum as_guest_phase {
	AS_GUEST_UNKNOWN, /* not begun, or just forked         */
	AS_GUEST_BEGINS,  /* some thread is about to           */
	AS_GUEST_RECORDS, /* all of the following is valid     */
	AS_GUEST_OFF,     /* nothing is recorded, until exec   */
};

/* Where records go: one writer at a time, see ring.h. */
struct as_writer {
	struct as_wire_ring *ring; /* NULL: none yet                                   */
	uint8_t *bytes;
	uint64_t head;       /* where it is written next                               */
	uint64_t limit;      /* up to here without a look at the other end             */
	uint64_t mask;       /* of positions                                           */
	uint64_t now_ns;     /* what its reader was told last                          */
	uint64_t due;        /* the number that its reader thinks comes next           */
	uint64_t rate, told; /* mean bytes between samples; what its reader was told   */
	bool hopeless;       /* it was waited for in vain: no longer, until there is room */
};

/* What a slot of a thread's ring stands for (wire/heap.h); all zeros: nothing. */
struct as_guest_kind {
	uint64_t nodes;   /* python, native << 32 */
	uint64_t size_op; /* size << 8 | op       */
};

enum { AS_SAMPLE_FILTER = 32 << 10 };

/* One that was sampled and lives (sample.h). */
struct as_sampled {
	const void *address; /* NULL: none */
	uint64_t size    : 56;
	uint64_t doubled : 8; /* how often the session's rate was, for what it stands for */
};

struct as_guest {
	/* The alignment makes whole pages of it: what is wiped with them is nobody else's. */
	_Alignas(AS_GUEST_PAGE) _Atomic uint32_t phase; /* of enum as_guest_phase */
	uint32_t flags;  /* of enum as_wire_heap_flags: what this guest does           */
	uint32_t era;    /* which beginning this is: what a thread kept of an earlier one is void */
	bool attached;   /* it came while the process ran (attach.c)                    */
	uint32_t forked; /* the process that our fork() came back in; 0: it was not ours */
	/*
	 * `era`, while every object is told with its Python stack alone: all that most
	 * events have to ask (record.h). 0: it is not so, or nothing is recorded.
	 */
	_Atomic uint32_t plain;
	struct as_wire_session *session;
	struct as_wire_heap *heap;
	size_t shared; /* bytes of it */
	struct as_wire_node *nodes;
	uint8_t *notes;
	uint64_t noted[8]; /* of each kind */
	_Atomic uint32_t note_lock, tree_lock, code_lock, module_lock, ring_lock, sample_lock;
	_Atomic uint32_t got_lock;
	_Atomic uint32_t visit_lock;    /* of attach.c's thread, as long as it is there      */
	struct as_writer everybody;     /* ring 0, under ring_lock                            */
	struct as_known_module *module; /* those that were noted; under module_lock          */
	struct as_known_module *gone;   /* and went again, each once                         */
	uint32_t nmodules, ngone;
	_Atomic bool moved_in;      /* where one is now another one was (module.c)                */
	bool samples;               /* sample.h, under sample_lock but for a look at `filter` */
	_Atomic uint8_t *filter;    /* [AS_SAMPLE_FILTER]: sampled ones that live, by hash    */
	struct as_sampled *sampled; /* [slots]: their table                                   */
	uint32_t slots, nsampled;
	uint32_t sweep;         /* slots that are still to be thinned                     */
	uint32_t swept;         /* to as many doublings                                   */
	_Atomic uint32_t draws; /* threads that have a generator                          */
	/*
	 * Counts what may have made an address mean something else (dlclose). Who
	 * remembers anything by address forgets it when this has changed.
	 */
	_Atomic uint32_t unloads;
	_Atomic uint32_t unmaps; /* mappings that were given back; a stack may have been one */
	_Atomic bool reserves;   /* address space was mapped without access                  */
};

extern struct as_guest as_guest;

struct as_known_module;

/* Room that b and c keep for a thread; theirs to make, from as_guest_pages(). */
struct as_pywalk_thread;
struct as_native_thread;

/* Of each thread, in initial-exec TLS: small. It is zero in a new thread. */
struct as_guest_thread {
	uint32_t busy;   /* our own code runs                                              */
	uint32_t tid;    /* not beside each other: read as one word right after the other
			  was written, they would wait for it                          */
	uint32_t inside; /* the next allocator runs, called by a hook of ours            */
	uintptr_t frame; /* of the hook that was called last                              */
	size_t arena;    /* that CPython asks for just now; 0: none (pyarena.c)            */
	struct as_writer own;
	struct as_guest_kind *kinds; /* [AS_WIRE_SLOTS], of `own`; NULL: no memory for them  */
	uint64_t drawn;    /* the rate that the countdown was drawn for                     */
	int64_t countdown; /* bytes up to the next sample                          */
	uint64_t random;   /* state of its generator                               */
	struct as_pywalk_thread
		*python; /* NULL: not yet; after a fork it is emptied by as_pywalk_begin() */
	struct as_native_thread *native; /* likewise                                     */
	struct {
		uint32_t op; /* of an operator new that is being forwarded; 0: none  */
		size_t size;
		void *frame;
	} outer;
	uint32_t era;   /* as_guest's, that the above is of                              */
	uint32_t tries; /* to get a ring                                                 */
	uint64_t self;  /* pthread_self()                                                */
	char name[16];
	uint8_t rounds;          /* of destructors, at its end                                    */
	bool ended;              /* it has given its ring back                                    */
	bool finding;            /* as_next_find()                                                */
	struct as_sampled taken; /* by as_sample_had(), until the next is                   */
};

#define AS_GUEST_TLS __attribute__((tls_model("initial-exec")))
extern _Thread_local struct as_guest_thread as_guest_thread AS_GUEST_TLS;

/* Zeroed, never given back except by as_guest_pages_back(); NULL: there is no memory. */
void *as_guest_pages(size_t bytes);
void as_guest_pages_back(void *pages, size_t bytes);

/*
 * Locks are held for a few instructions, by `busy` threads only. as_lock_try()
 * is for places that can do without.
 */
void as_lock(_Atomic uint32_t *lock);
bool as_lock_try(_Atomic uint32_t *lock);
void as_unlock(_Atomic uint32_t *lock);
bool as_lock_is_ours(const _Atomic uint32_t *lock); /* this thread has it */

/* --- notes: names, once each (note.c) ---------------------------------------- */

struct as_note_part {
	const void *data;
	size_t size;
};

/* How many of its kind were noted before it (the number of a code); NONE: there is no room. */
#define AS_NOTE_NONE UINT64_MAX
uint64_t as_note(enum as_wire_note_kind kind, const struct as_note_part *part, size_t n);

/* --- events (record.h) --------------------------------------------------------- */

/*
 * Every hook is made of these, CPython's too:
 *
 *	as_inside(t); p = next(size); as_outside(t);
 *	as_guest_alloc(t, op, p, size, frame);		after it was made
 *
 *	as_guest_free(t, op, p);			before it is given back
 *	as_inside(t); next_free(p); as_outside(t);
 *
 * They do nothing when nothing is recorded, for NULL, and within another hook. `frame` is
 * __builtin_frame_address(0) of the hook, which has a frame pointer: its caller's is at
 * frame[0], the address that it returns to at frame[1].
 */
/* A range was mapped without access; or is accessible (hook_map.c). */
void as_guest_reserve(struct as_guest_thread *t, const void *address, size_t size);
void as_guest_commit(struct as_guest_thread *t, const void *address, size_t size, void *frame);

static inline struct as_guest_thread *as_this_thread(void)
{
	return &as_guest_thread;
}

/* In a hook, with its frame: so hook_jump.c knows whether it is left. */
static inline struct as_guest_thread *as_hooked(void *frame)
{
	as_guest_thread.frame = (uintptr_t)frame;
	return &as_guest_thread;
}

static inline void as_inside(struct as_guest_thread *t)
{
	t->inside++;
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void as_outside(struct as_guest_thread *t)
{
	atomic_signal_fence(memory_order_seq_cst);
	t->inside--;
}

/*
 * What is given back by a call that may fail (realloc, munmap): the number is
 * taken before it, the record written after it, as nothing when it failed. Claim
 * 0: nothing is recorded. Nothing else of the thread is recorded in between.
 */
uint64_t as_guest_claim(struct as_guest_thread *t, enum as_wire_op op, const void *address,
			size_t size);
void as_guest_settle(struct as_guest_thread *t, uint64_t claim, enum as_wire_op op,
		     const void *address, size_t size, bool done);

/* --- stacks ---------------------------------------------------------------------
 *
 * All are called with `busy` set. The _begin() are called once a process, when
 * `as_guest` is valid, in a forked child too: everything that they remember is
 * of the parent and must be forgotten, that of `t` included.
 */

/* The tree (tree.c). When it is full `caller` comes back, and is counted as clipped. */
bool as_tree_begin(void);
uint32_t as_tree_child(uint32_t caller, uint64_t key);

/*
 * Python (pywalk.c). The node of this thread's stack; 0: none. `held`: it has the
 * GIL, as whoever allocates an object must.
 */
void as_pywalk_begin(struct as_guest_thread *t);
void as_pywalk_end(struct as_guest_thread *t); /* the thread ends */
uint32_t as_pywalk(struct as_guest_thread *t, bool held);
/*
 * There is a CPython in the process, perhaps not yet initialized: in `module`, a
 * link_map, that was loaded just now, or from the beginning (NULL).
 */
void as_python_appeared(const void *module);
/* Around anything that may unload it. */
void as_python_may_go(void);
void as_python_is_there(bool still);

/* Native code (native.c). */
void as_native_begin(struct as_guest_thread *t);
void as_native_end(struct as_guest_thread *t);
uint32_t as_native_walk(struct as_guest_thread *t, void *frame);

/* --- modules (module.c) --------------------------------------------------------- */

struct as_guest_module {
	uint64_t start, end; /* of its mapping                                          */
	uint64_t bias;       /* address less that in the file                           */
	const void *eh_frame_hdr;
};

/*
 * The module that an address is of, noted when it was not; false: none that the
 * loader knows. Takes no lock of libc's, but is not fast: remember what it says,
 * until `as_guest.unloads` changes.
 */
bool as_module_at(uint64_t address, struct as_guest_module *ret);

/* The key of a node: the address, told from that of a module that was there before. */
uint64_t as_module_key_slowly(uint64_t address);

static inline uint64_t as_module_key(uint64_t address)
{
	if (__builtin_expect(atomic_load_explicit(&as_guest.moved_in, memory_order_relaxed), 0))
		return as_module_key_slowly(address);
	return address;
}
