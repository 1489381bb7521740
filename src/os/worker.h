#pragma once
/*
 * worker -- a thread of our own that has moments to keep.
 *
 * It takes no signals (they are the engine's), wakes at the very moment that
 * it asks for, and is told to stop while it sleeps.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct as_env;

struct as_worker {
	pthread_t thread;
	int stop;                  /* eventfd, for who waits for a descriptor too   */
	_Atomic uint32_t stopping; /* the same, and a futex for who sleeps          */
};

/* `name` is what ps shows, at most 15 bytes. */
int as_worker_start(struct as_worker *w, const char *name, void *(*work)(void *), void *data,
		    struct as_err *err);
/* For the thread itself: sleep until CLOCK_MONOTONIC says so; false: it is time to stop. */
bool as_worker_sleep(struct as_worker *w, int64_t until_ns);
/* The same until a descriptor is readable. */
bool as_worker_wait(struct as_worker *w, int fd);
/* Was it told to stop? For who does not sleep. */
bool as_worker_told(struct as_worker *w);
/* Tell it to stop, and go on. */
void as_worker_tell(struct as_worker *w);
/* Stop it and wait for its end. */
void as_worker_stop(struct as_worker *w);
/* How long the thread that asks was ready and waited for a CPU so far; 0 if nobody says. */
int64_t as_waited_for_cpu(const struct as_env *env);
