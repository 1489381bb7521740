#pragma once
/*
 * follow -- names of a process, copied out of its mapping as they become complete.
 *
 * Nothing there is trusted: a note that makes no sense is left out (a code
 * keeps its number and has no name); a length that leads outside, or a place
 * where nothing was written, ends all reading of notes.
 */
#include "heap/mapping.h"
#include "heap/names.h"

enum { AS_FOLLOW_THREADS = 4096 }; /* that are told apart; the others are one */

struct as_follow {
	uint64_t noted; /* bytes of notes that were read                           */
	uint64_t bad;   /* notes and nodes that made no sense                     */
	bool short_of;  /* memory: some names are missing, and stay so            */
};

/* Whatever is new since the last time, into `n`. */
void as_follow(struct as_follow *f, const struct as_mapping *m, struct as_heap_names *n);
