#pragma once
/*
 * arrivals -- lets guests in, at once: a process waits for us while it starts.
 *
 * A thread of its own makes the mapping of each and answers; the session takes
 * the new members over when it next looks.
 */
#include <pthread.h>

#include "heap/member.h"
#include "os/guestdoor.h"
#include "os/worker.h"

struct as_arrivals {
	struct as_guestdoor door;
	struct as_worker worker;
	struct as_member_config config; /* of every member, but for who it is */
	uint64_t welcomed;              /* how many came; the worker's        */
	int page;                       /* descriptor of the session's page    */
	void (*before)(void *arg);      /* called before anybody is let in     */
	void *arg;
	pthread_mutex_t lock;
	struct as_member **member; /* that nobody has taken yet, under the lock */
	size_t n, cap;
	struct as_err failed; /* why the first was sent away, under the lock; code 0: none was */
	bool open;
};

/* `a` must stay where it is; `before` and `arg` are set. */
int as_arrivals_open(struct as_arrivals *a, const struct as_member_config *config, int page,
		     struct as_err *err);
/* The next one, or NULL. */
struct as_member *as_arrivals_take(struct as_arrivals *a);
/* Was somebody sent away who should have come in? Why is told once. */
int as_arrivals_failed(struct as_arrivals *a, struct as_err *err);
/* Nobody comes any more. Those not taken are still there. */
void as_arrivals_shut(struct as_arrivals *a);
void as_arrivals_done(struct as_arrivals *a);
