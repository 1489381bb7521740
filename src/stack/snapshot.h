#pragma once
/*
 * snapshot -- the Python stack of one thread, read while it runs.
 *
 * Everything a stack consists of is copied twice by one system call (and the
 * frames at its tip, which come and go, twice more in between): the chunks of
 * its frames, and the frames that live elsewhere (of generators, of C calls;
 * before 3.11 all of them), where the last look at this thread found them. The
 * thread's own state is read once, between the two. Then the chain of frames is
 * walked in the copies, and each link must be the same in both. What is not
 * where it was expected is learned and read anew; what differs is torn and read
 * anew. After a few vain attempts the sample is rejected: no stack is better
 * than one that never was.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "os/remote.h"
#include "stack/python.h"

enum { AS_FRAMES_MAX = 4096 }; /* deeper stacks lose their roots, and say so */

/* A frame as it was found: where in which code. Names come later, code.h. */
struct as_pyframe {
	uint64_t code;
	uint64_t instr; /* as the layout says: a pointer, or a number */
	uint64_t at;    /* of the frame itself                        */
};

/* Of a copy of a frame: is it one between C and Python, which has no code? And its code. */
static inline bool as_pyframe_is_shim(const struct as_py_layout *l, const unsigned char *frame)
{
	return l->frame.owner != AS_PY_NO && frame[l->frame.owner] >= l->frame.shim;
}

static inline uint64_t as_pyframe_code(const struct as_py_layout *l, const unsigned char *frame)
{
	return as_word(frame, l->frame.code) & ~(l->frame.tagged ? UINT64_C(7) : 0);
}

struct as_pystack {
	struct as_pyframe at[AS_FRAMES_MAX]; /* the leaf first */
	size_t n;
	bool cut; /* there were more */
};

enum as_snap {
	AS_SNAP_OK,
	AS_SNAP_EMPTY,    /* no Python frame: it is starting, ending, or in C */
	AS_SNAP_REJECTED, /* it changed under our eyes, again and again       */
	AS_SNAP_GONE,     /* the process                                      */
};

/* A piece of the thread's memory, and where its two copies are; the thread's state has one. */
struct as_snap_region {
	uint64_t at;
	size_t n;
	size_t first, second; /* offsets in `copy` */
};

enum {
	AS_TIP_COPIES = 2,
	AS_SPARES = 4, /* frames outside of chunks that are read though they were not met */
};

enum { AS_ALSO_MOST = 2 };

/* What else somebody wants to know of the process, read by the way: once, by the same call. */
struct as_snap_also {
	struct as_range range[AS_ALSO_MOST];
	bool read;
};

/* What is remembered of a thread from look to look. */
struct as_snapper {
	const struct as_python *py;
	uint64_t thread;               /* its PyThreadState                       */
	struct as_snap_region *region; /* thread, [via,] chunks…, frames…         */
	size_t nregions, regions_cap;
	size_t nchunks;
	struct {
		uint64_t at; /* around the last leaf, in the newest chunk     */
		size_t n;    /* 0: nowhere                                    */
		size_t copy[AS_TIP_COPIES];
	} tip;
	size_t nstray; /* frames outside chunks, as they were met */
	uint64_t *met; /* the same, in the walk that goes on      */
	size_t nmet, met_cap;
	unsigned char *copy;
	size_t copy_cap;
	struct as_reading plan;    /* the regions in the order of reading    */
	bool planned;              /* it is made, and still right            */
	struct as_snap_also *also; /* the caller's; NULL: nothing            */
};

struct as_snap_count {
	uint64_t torn, learned; /* attempts that were vain because of it */
};

void as_snapper_init(struct as_snapper *s, const struct as_python *py, uint64_t thread);
void as_snapper_done(struct as_snapper *s);
/* Of a thread that was just read: another one stands before it in the list of threads. */
bool as_snapper_preceded(const struct as_snapper *s);
enum as_snap as_snapshot(struct as_snapper *s, struct as_pystack *ret, struct as_snap_count *count);
