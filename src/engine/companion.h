#pragma once
/*
 * companion -- what runs beside the process that is measured, in threads of its
 * own, and whose end ends the run: a load.
 *
 * The engine starts it when the baseline is taken, asks it for its rows at each
 * sample, passes on to it what asks us to end, and lets it speak last: so what
 * it did and what the process used are one run, on one timeline. When the
 * process ends before it, the run goes on.
 */
#include "run/sink.h"

struct as_engine_config;

/* A descriptor that the engine listens to for somebody else: keys of a screen. */
struct as_ear {
	int fd;
	void (*heard)(void *arg);
	void *arg;
};

struct as_companion {
	void *arg;
	/* Readable when it is over; good once it has started. */
	int (*fd)(void *arg);
	/* `who` is the run that it belongs to, `how` it is measured. */
	int (*start)(void *arg, const struct as_identity *who, const struct as_engine_config *how,
		     struct as_err *err);
	/* Add rows to the frame of this moment, which has all others; also before it starts. */
	void (*rows)(void *arg, struct as_frame *frame);
	/* SIGINT, SIGTERM or another that asks us to end: it soon becomes readable. */
	void (*signal)(void *arg, int sig);
	/*
	 * It is over, or must be. It tells the sinks what it found, may set totals,
	 * and says how the run ended; without `sinks` it only ends. Called once
	 * after each start() that worked.
	 */
	int (*finish)(void *arg, struct as_tee *sinks, struct as_outcome *o,
		      struct as_total *totals, struct as_err *err);
};
