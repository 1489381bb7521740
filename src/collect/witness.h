#pragma once
/*
 * witness -- who tells us of births and deaths (os/life.h).
 *
 * Rungs of a ladder, from the cheap to the good. The first is opened before
 * the command starts; a better one that costs more to open only when the job
 * has lived a while, for a job of milliseconds must not pay for it. Then the
 * members are named to it, and when it knows all of them the first is closed.
 * Where none may speak, /proc is listed as ever.
 */
#include "collect/ledger.h"

struct as_voice {
	const struct as_life_ops *ops; /* NULL: none */
	struct as_life_source *source;
};

struct as_witness {
	struct as_voice now; /* who speaks                                        */
	struct as_voice old; /* who spoke before, while it is being replaced      */
	bool by_old;         /* that is who is heard at this moment               */
	size_t tried;        /* rungs                                             */
	bool interrupted;    /* a child ended while one was being opened          */
	bool from_start;     /* somebody spoke before there was any member        */
	uint64_t lost;       /* events, by those that were closed                 */
};

/*
 * Open what may be opened by now: before the start, and at every tick. True:
 * somebody new speaks, and members must be named to it.
 */
bool as_witness_climb(struct as_witness *w, const struct as_collect *c);
/* Name those it does not know yet; true when there were any. */
bool as_witness_name(struct as_witness *w, struct as_members *m);
/* It cannot know how this one ends: only the one before can. */
void as_witness_forget(struct as_witness *w, int32_t pid);
/* It knows all: close the one before. */
void as_witness_settle(struct as_witness *w);
/* Tell everything that happened since. True: there was something, if only of others. */
bool as_witness_drain(struct as_witness *w, as_life_fn *fn, void *data);
/* Have told what it would only tell later of those that ended; how many threads still end. */
uint32_t as_witness_hurry(struct as_witness *w);
static inline bool as_witness_speaks(const struct as_witness *w)
{
	return w->now.ops != NULL;
}
int as_witness_fd(const struct as_witness *w); /* -1: nobody speaks */
/* Events that the kernel had no room for, ever. */
uint64_t as_witness_lost(const struct as_witness *w);
void as_witness_close(struct as_witness *w);
