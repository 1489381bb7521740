#pragma once
/*
 * parts -- the collectors of one run, at work.
 *
 * Those of the registry that some wanted field needs, in its order, each with
 * its state. One that could not be opened is asked no more: what it knows is
 * unknown, and it has told the sinks why. What each costs is measured with it:
 * rows of the scope `collector`, one more for all that the engine does itself,
 * and one for a thread of ours that helps it.
 */
#include "collect/collector.h"

enum { AS_PARTS_MAX = 16 };

/* CPU time of this thread, and the system calls it counted. */
struct as_meter {
	int64_t cpu_ns;
	uint64_t calls;
};

struct as_meter as_meter_now(void);

struct as_parts {
	size_t n;
	struct as_meter began; /* when all were open */
	bool helped;           /* by a thread of ours: collect.helper */
	struct {
		const struct as_collector *ops;
		void *state;
		bool broken;
		int64_t open_ns;       /* CPU time to open it           */
		struct as_meter spent; /* on it since: samples and exits */
	} v[AS_PARTS_MAX];
};

/* Fails only for want of memory; as_parts_close() follows in any case. */
int as_parts_open(struct as_parts *p, const struct as_collect *c, struct as_err *err);
/* From now on c->helper costs something, too: it is told as `name`, which reads `reads`. */
void as_parts_help(struct as_parts *p, const struct as_collect *c, const char *name,
		   const char *reads);
/* Let each add its rows. What memory ran out for is told through c->starved. */
void as_parts_sample(struct as_parts *p, const struct as_collect *c, struct as_frame *frame);
/* The job has ended: let each hear what is on its way, before the last sample. */
void as_parts_last(struct as_parts *p, const struct as_collect *c);
void as_parts_exited(struct as_parts *p, const struct as_collect *c, const struct as_exit *x);
/* Send a signal (0: none) to every process of the job; how many there are. */
int as_parts_signal(struct as_parts *p, const struct as_collect *c, int sig);
/* The totals: unknown, unless a collector knows them; a later one knows better. */
void as_parts_finish(struct as_parts *p, const struct as_collect *c, struct as_total *totals);
/* All that was spent since all were open, by the engine and the sinks too. */
struct as_meter as_parts_spent(const struct as_parts *p);
void as_parts_close(struct as_parts *p);
