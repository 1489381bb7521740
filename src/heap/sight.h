#pragma once
/*
 * sight -- the heap of a session, looked at again and again while it runs.
 *
 * The session's thread must not wait: while it does, rings fill, and programs
 * stop at full ones. So what is new is copied in small pieces, with a nap
 * between them, and everything else (names, sums by stack) is done with the
 * copies. Each number is exact at the moment when it was copied; up to
 * AS_SIGHT_ONCE kinds of allocations, which is what most programs have, all of
 * it is of one moment.
 */
#include "heap/session.h"

enum { AS_SIGHT_ONCE = 16 << 10 };

struct as_sight;

/* What it is now, beside the heap. */
struct as_sight_now {
	struct as_heap_amount held; /* by processes that live; or, if none does, left by all    */
	int64_t mapped;             /* of it: files, resident or not                            */
	struct as_heap_rss rss;     /* of those that live; -1: unknown                          */
	int64_t beside;             /* as in struct as_heap_resident; INT64_MIN: unknown        */
	size_t living;
	uint64_t lost; /* events                                                                */
};

/* Both stay the caller's, and outlive it. */
int as_sight_open(struct as_session *s, const struct as_env *env, struct as_sight **ret,
		  struct as_err *err);
void as_sight_close(struct as_sight *x);
/*
 * How it is. The heap is the sight's, and changes with the next look: its
 * stacks, sites and threads keep their numbers, and more come. What an ended
 * process had left counts when all have ended. Failing, it is not whole.
 */
int as_sight_look(struct as_sight *x, struct as_err *err);
const struct as_heap *as_sight_heap(const struct as_sight *x);
const struct as_sight_now *as_sight_now(const struct as_sight *x);

static inline void as_sight_close_(struct as_sight **x)
{
	as_sight_close(*x);
}

#define as_auto_sight as_cleanup(as_sight_close_)
