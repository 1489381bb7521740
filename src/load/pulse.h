#pragma once
/*
 * pulse -- what a generator does, told to another thread while it does it.
 *
 * The generator counts what ends in one of two slices. Fifty times a second it
 * gives this one and goes on in the other; one that nobody took yet becomes
 * longer. So whoever watches, however seldom, takes what ended until just now,
 * and says the word when it shall end. The generator never waits for anybody.
 */
#include "base/clock.h"
#include "run/load.h"

/* What ended in some time, warm-up too. Of the heap: it holds histograms. */
struct as_load_slice {
	uint64_t requests, failed;
	uint64_t met; /* all bounds of a good answer */
	struct as_histogram latency, wire, waiting;
	struct as_load_streams stream; /* what is told of one when it is over */
	uint64_t nsteps;               /* of a flow; its steps have no names here */
	struct as_load_step step[AS_LOAD_STEPS];
};

/* How it stood when a slice was given; counts as in struct as_load. */
struct as_load_state {
	uint64_t requests, warmup, bytes_in, bytes_out;
	uint64_t sessions;
	uint64_t errors[AS_LOAD_NERRORS];
	uint64_t status[AS_LOAD_CLASSES];
	uint64_t nchecks; /* of a flow */
	struct as_load_check check[AS_LOAD_CHECKS];
	uint64_t under_way;
	bool judged;    /* something says what a good answer is   */
	int64_t t_ns;   /* since it began to send                 */
	int64_t cpu_ns; /* of its thread                          */
};

#define AS_PULSE_STEP (20 * AS_MSEC)

struct as_pulse; /* both threads have it */

/* NULL: no memory, or no descriptor. */
struct as_pulse *as_pulse_new(void);
void as_pulse_free(struct as_pulse *p); /* NULL is fine */

/* Empty again; pages stay. */
void as_load_slice_clear(struct as_load_slice *s);
/* As as_load_settle(), where `like`, which may be itself, has values. */
void as_load_slice_settle(struct as_load_slice *s, const struct as_load_slice *like);

/* ── the generator's side ─────────────────────────────────────────────── */

/* What ends from now on is counted there. */
struct as_load_slice *as_pulse_slice(struct as_pulse *p);
/* Give it, with the one before if that was not taken. */
void as_pulse_give(struct as_pulse *p, const struct as_load *so_far, uint64_t under_way,
		   int64_t t_ns);
int as_pulse_word(const struct as_pulse *p); /* readable when it shall end */

/* ── the watcher's side ───────────────────────────────────────────────── */

/* End. */
void as_pulse_tell(struct as_pulse *p);
/* What was given since, added to `to`, and how it then stood: false when that was nothing. */
bool as_pulse_take(struct as_pulse *p, struct as_load_slice *to, struct as_load_state *ret);
/* The same, of a generator that is no more: what it never gave. */
void as_pulse_rest(struct as_pulse *p, struct as_load_slice *to);
