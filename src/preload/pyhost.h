#pragma once
/*
 * pyhost -- the CPython of this process, as its guest knows it.
 *
 * A guest reads the frames of its own thread, which nobody else changes: no
 * GIL, no call into the interpreter, nothing allocated. What it must know are
 * offsets (pyabi/) and a few symbols. Frames are believed once they have been
 * tried (pyself.c); a Python that fails goes on without us.
 *
 * All of this outlives a fork: the child has the same Python.
 */
#include <stdatomic.h>
#include <string.h>

#include "preload/guest.h"
#include "pyabi/layout.h"

enum as_pyhost_state {
	AS_PYHOST_NONE,    /* there is no Python                        */
	AS_PYHOST_FOUND,   /* its layout is known, and not tried        */
	AS_PYHOST_TRUSTED, /* its stacks are read                       */
	AS_PYHOST_REFUSED, /* they are not, for ever                    */
};

/* What the interpreter has for us; all but the first few may be NULL in some version. */
struct as_pyhost_api {
	void *(*thread_state)(void); /* of this thread, with or without the GIL; NULL: none */
	unsigned char *code_type, *text_type, *bytes_type;
	const char *(*version)(void);
	const unsigned char *runtime;
	int (*add_pending)(int (*call)(void *), void *arg);
	void (*get_allocator)(int domain, void *ret);
	void (*set_allocator)(int domain, void *allocator);
	void (*get_arenas)(void *ret);
	void (*set_arenas)(const void *arenas);
	void *(*eval_frame)(void);        /* the current frame, borrowed */
	void *(*frame_back)(void *frame); /* new references              */
	void *(*frame_code)(void *frame); /*                             */
	int (*frame_lasti)(void *frame);
	void (*decref)(void *object);
	int (*gc_disable)(void), (*gc_enable)(void);
	int (*gil_take)(void);
	void (*gil_give)(int was);
};

struct as_pyhost {
	_Atomic uint32_t state; /* of enum as_pyhost_state */
	uint32_t minor;         /* of its version          */
	uint32_t why;           /* it was refused          */
	uint32_t paused;        /* its state, while it may be unloaded */
	bool late;              /* it was loaded while the program ran */
	struct as_py_layout at;
	struct as_pyhost_api api;
	const unsigned char *current; /* of the thread with the GIL; NULL: not where it is */
	_Atomic uint64_t age; /* codes that were noted and have died: their addresses are others' */
};

extern struct as_pyhost as_pyhost;

/* Stacks of it are not read from now on. */
void as_pyhost_refuse(enum as_wire_heap_why why);

/* --- reading: everything is at some offset of something ------------------------ */

static inline uint64_t as_pyword(const void *p, size_t at)
{
	uint64_t v;

	memcpy(&v, (const unsigned char *)p + at, sizeof v);
	return v;
}

static inline const unsigned char *as_pypointer(const void *p, size_t at)
{
	const unsigned char *v;

	memcpy(&v, (const unsigned char *)p + at, sizeof v);
	return v;
}

static inline int32_t as_pyint(const void *p, size_t at)
{
	int32_t v;

	memcpy(&v, (const unsigned char *)p + at, sizeof v);
	return v;
}

/* The type of an object, and how many items one of varying size has. */
static inline const unsigned char *as_pytype(const struct as_py_layout *l, const void *object)
{
	return as_pypointer(object, l->free_threaded ? 24 : 8);
}

static inline uint64_t as_pysize(const struct as_py_layout *l, const void *object)
{
	return as_pyword(object, l->free_threaded ? 32 : 16);
}

/* --- frames ---------------------------------------------------------------------- */

/* The frame that runs; NULL: none. */
static inline const unsigned char *as_pyframe_leaf(const struct as_py_layout *l, const void *thread)
{
	const unsigned char *f = as_pypointer(thread, l->thread.frame);

	return f && l->thread.via != AS_PY_NO ? as_pypointer(f, l->thread.via) : f;
}

static inline const unsigned char *as_pyframe_back(const struct as_py_layout *l, const void *frame)
{
	return as_pypointer(frame, l->frame.back);
}

/* One between C and Python, which has no code. */
static inline bool as_pyframe_is_shim(const struct as_py_layout *l, const unsigned char *frame)
{
	return l->frame.owner != AS_PY_NO && frame[l->frame.owner] >= l->frame.shim;
}

static inline const unsigned char *as_pyframe_code(const struct as_py_layout *l, const void *frame)
{
	uint64_t code = as_pyword(frame, l->frame.code) & ~(l->frame.tagged ? UINT64_C(7) : 0);

	return (const unsigned char *)(uintptr_t)code;
}

/* Where in its code, in bytes; before the first instruction it is negative. */
static inline int64_t as_pyframe_offset(const struct as_py_layout *l, const void *frame,
					const void *code)
{
	if (l->lines == AS_PY_LOCATIONS)
		return (int64_t)(as_pyword(frame, l->frame.instr) - (uintptr_t)code - l->code.code);
	return (int64_t)as_pyint(frame, l->frame.instr) * (l->lines == AS_PY_PEP626 ? 2 : 1);
}

/*
 * One that has not begun: its cells are made, or the generator that it becomes.
 * The interpreter hides it, and says that its caller does all that.
 */
static inline bool as_pyframe_is_incomplete(const struct as_py_layout *l,
					    const unsigned char *frame, const void *code,
					    int64_t offset)
{
	return l->code.traceable != AS_PY_NO && frame[l->frame.owner] != AS_PY_OWNED_BY_GENERATOR &&
	       offset < (int64_t)as_pyint(code, l->code.traceable) * 2;
}

/* Is it the outermost of one run of the C evaluator? */
static inline bool as_pyframe_is_entry(const struct as_py_layout *l, const unsigned char *frame)
{
	const unsigned char *back;

	if (l->frame.owner == AS_PY_NO)
		return true; /* until 3.10 each has a run of its own */
	if (l->frame.entry != AS_PY_NO)
		return frame[l->frame.entry] != 0;
	back = as_pyframe_back(l, frame);
	return !back || as_pyframe_is_shim(l, back);
}

/* --- code (pycode.c) --------------------------------------------------------------- */

#define AS_PYCODE_NONE UINT32_MAX

/* Forget all numbers: a new process has none. */
void as_pycode_begin(void);
/* The number of its note, which is made when there is none; NONE: it cannot be. */
uint32_t as_pycode_number(const unsigned char *code);
/* From now on we learn when a code dies; no longer. */
void as_pycode_watch(void);
void as_pycode_unwatch(void);

/* --- is it what we think? (pyself.c) ----------------------------------------------- */

/* The first look at a frame: are things where they should be? Decides `state`. */
bool as_pyself_try(const void *thread);

/* --- objects (pymem.c) --------------------------------------------------------------- */

/* Put ourselves before the allocators of objects, if the session wants that and we are not. */
void as_pymem_install(void);
/* The allocators that were there are there again, unless others have come before us meanwhile. */
void as_pymem_remove(void);

/* --- its arenas (pyarena.c) ------------------------------------------------------------ */

/* Put ourselves before who makes arenas, if we are not; the one that was there is there again. */
void as_pyarena_install(void);
void as_pyarena_remove(void);
