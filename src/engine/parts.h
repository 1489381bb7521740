#pragma once
/*
 * parts -- the collectors of one run, at work.
 *
 * Those of the registry that some wanted field needs, in its order, each with
 * its state. One that could not be opened is asked no more: what it knows is
 * unknown, and it has told the sinks why.
 */
#include "collect/collector.h"

enum { AS_PARTS_MAX = 16 };

struct as_parts {
	size_t n;
	struct {
		const struct as_collector *ops;
		void *state;
		bool broken;
	} v[AS_PARTS_MAX];
};

/* Fails only for want of memory; as_parts_close() follows in any case. */
int as_parts_open(struct as_parts *p, const struct as_collect *c, struct as_err *err);
/* Let each add its rows. What memory ran out for is told through c->starved. */
void as_parts_sample(struct as_parts *p, const struct as_collect *c, struct as_frame *frame);
/* The job has ended: let each hear what is on its way, before the last sample. */
void as_parts_last(struct as_parts *p, const struct as_collect *c);
void as_parts_exited(struct as_parts *p, const struct as_collect *c, const struct as_exit *x);
/* Send a signal (0: none) to every process of the job; how many there are. */
int as_parts_signal(struct as_parts *p, const struct as_collect *c, int sig);
/* The totals: unknown, unless a collector knows them; a later one knows better. */
void as_parts_finish(struct as_parts *p, const struct as_collect *c, struct as_total *totals);
void as_parts_close(struct as_parts *p);
