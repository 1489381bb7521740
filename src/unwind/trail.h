#pragma once
/*
 * trail -- a thread's stack, and how little of it has changed since last time.
 *
 * A walk depends on nothing but the registers it begins with and the words of
 * the stack that it reads. So when it comes to a frame where the last walk has
 * been, with the same registers, and all words that were read from there on
 * are what they were, the rest is what it was: it need not be walked again.
 */
#include "unwind/unwind.h"

enum { AS_TRAIL_DEPTH = 1024 };

struct as_trail_frame {
	struct as_unwind_regs at;
	struct as_unwind_read read; /* on the way to its caller */
	uint32_t node;              /* the caller's, for whatever it keeps of a frame */
};

struct as_trail {
	struct as_trail_frame frame[AS_TRAIL_DEPTH]; /* the outermost first */
	uint32_t n;
	uint32_t same; /* so many of the outermost are as they were, with their node */
	bool whole;    /* it reaches the outermost frame, or where a walk gets lost */
	uint64_t high; /* of the stack that it is of */
	uint32_t unloads;
	/* frames that are new, the innermost first; for trail.c alone */
	struct as_trail_frame fresh[AS_TRAIL_DEPTH + 1];
	uint32_t nfresh;
};

/* Where a walk begins: the caller writes the registers there. */
static inline struct as_unwind_regs *as_trail_start(struct as_trail *t)
{
	return &t->fresh[0].at;
}

/*
 * A stack of more than AS_TRAIL_DEPTH frames is cut: its innermost frames are
 * there, at least half as many, and the cut is seldom moved.
 */
void as_trail_walk(struct as_trail *t, struct as_unwind *u, const struct as_unwind_stack *stack);
