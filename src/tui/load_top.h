#pragma once
/*
 * load_top -- a load while it runs: what the screen of `assay load` shows, and
 * what its keys do.
 *
 * Nothing here knows a terminal or a generator. What is known at a sample comes
 * in, keys come in, and a canvas is drawn: rate and percentiles of the last
 * moments over those of the whole load, errors by kind, and what the target uses.
 */
#include "run/frame.h"
#include "run/load.h"
#include "tui/canvas.h"
#include "tui/key.h"
#include "tui/trail.h"

/* What is known when a sample is. */
struct as_load_top_facts {
	const char *url;
	int64_t t_ns;      /* since it began to send          */
	int64_t until_ns;  /* it will last so long; 0: it is not said */
	uint64_t most;     /* … or so many requests, of a flow sessions; likewise */
	bool flow;         /* what is asked for is sessions   */
	uint64_t sessions; /* … that ended, without warm-up   */
	uint64_t conns, requests, failed;   /* of all, warm-up too             */
	uint64_t errors[AS_LOAD_NERRORS];   /* of those that were measured     */
	double rate;                        /* asked for; 0: as fast as answers come */
	const struct as_histogram *latency; /* of the whole load               */
	const struct as_histogram *wire;
	const char *target; /* name of the first that is watched; NULL: nobody */
	int32_t pid;
};

struct as_load_top {
	struct as_load_top_facts facts;
	bool paused; /* the drawing, not the load */
	/* private: the last sample, and all of them */
	int64_t now[AS_NFIELDS];   /* of the scopes that are shown; rates a second  */
	int64_t at_ns[AS_NSCOPES]; /* when that was                               */
	int64_t seen[AS_NFIELDS];
	double sessions; /* a second; NaN: nobody knows yet                        */
	struct as_trail rate, p99, cpu;
};

struct as_load_top as_load_top_new(void);
/* A sample. While it is paused the load goes on, and so do these. */
void as_load_top_tick(struct as_load_top *t, const struct as_load_top_facts *facts,
		      const struct as_frame *frame);
/* False: end the load. */
bool as_load_top_key(struct as_load_top *t, int key);
void as_load_top_draw(const struct as_load_top *t, struct as_canvas *g);
