#pragma once
/*
 * sessions -- how many are open, told by who opens them; and what one takes of
 * the memory of a server that is watched meanwhile.
 *
 * Memory that was freed often stays with the process, so the largest so far is
 * compared with the most sessions so far. A server may hold memory for a session
 * while that is open, or never give it back. If it keeps growing with each one
 * that is opened, however many are open at once, it keeps it: then the slope
 * over them is the answer, which whatever the first of them warmed up does not
 * change. Otherwise the largest growth, divided by the most at once, is: at most
 * so much.
 */
#include <stdatomic.h>

#include "run/load.h"

/* Written by one thread, read by those that sample. */
struct as_sessions {
	_Atomic uint64_t open, opened;
};

void as_session_open(struct as_sessions *s);
void as_session_close(struct as_sessions *s);

enum { AS_HELD_POINTS = 256 };

/* The growth of a server's memory, sample by sample. */
struct as_held {
	uint64_t open_first, opened_first; /* before the first sample           */
	int64_t first;                     /* its memory then; AS_NA: none yet  */
	int64_t growth;                    /* the largest since                 */
	uint64_t most;                     /* open at once, at a sample         */
	uint64_t all;                      /* opened until the last             */
	uint64_t step, seen;               /* one of so many samples is a point */
	size_t n;
	double opened[AS_HELD_POINTS], grown[AS_HELD_POINTS]; /* opened: increasing */
};

struct as_held as_held_new(void);
/* A sample: its memory, or AS_NA. */
void as_held_note(struct as_held *h, const struct as_sessions *s, int64_t memory);
/* What a session takes, into *ret. */
void as_held_finish(const struct as_held *h, struct as_load_target *ret);
