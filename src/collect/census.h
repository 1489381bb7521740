#pragma once
/*
 * census -- who belongs to the job at this moment, and what is heard of the rest.
 *
 * Where somebody tells of births and deaths (collect/witness.h) the members are
 * those it told of, and /proc is asked only when events were lost; else /proc is
 * listed at every tick. What is told of them the ledger writes down.
 */
#include "collect/pass.h"

struct as_census {
	struct as_members members;
	struct as_witness witness;
	struct as_ledger ledger;
	struct as_pass pass;
	uint64_t ticks;     /* samples so far                                  */
	bool last;          /* the job has ended: nothing more will be told    */
	uint64_t early;     /* private: ends that were told before BPF was there */
	int64_t looked_ns;  /* private: when the members were last read          */
	bool handing;       /* private: while all are named to somebody new      */
	int64_t until_ns;   /* private: the one before is heard on, at the most  */
	uint64_t heard;     /* private: events that the witness told           */
	uint64_t lost_seen; /* private: events lost when /proc was last listed */
};

/* Before the command starts. */
int as_census_open(struct as_census *s, const struct as_collect *c, bool watch, struct as_err *err);
/* Hear what was told since. */
enum as_news as_census_drain(struct as_census *s, const struct as_collect *c);
/* The same when the job has ended: the last ones' ends may be a moment on their way. */
enum as_news as_census_last(struct as_census *s, const struct as_collect *c);
/* Find newcomers, and read at once those whom a pass can tell of. */
int as_census_find(struct as_census *s, const struct as_collect *c, struct as_err *err);
/* Read the members, as far as no pass has told of them; forget who is gone. */
void as_census_read(struct as_census *s, const struct as_collect *c);
/*
 * A child of ours has ended and is still there to be looked at: the member that it
 * is, or NULL when all is said of it already.
 */
struct as_process *as_census_zombie(struct as_census *s, const struct as_collect *c, int32_t pid);
/*
 * It ended, as p->died_ns and p->ended_by say, with `usage` as we waited for it;
 * whoever tells of ends has told what it used.
 */
void as_census_ended(struct as_census *s, const struct as_collect *c, struct as_process *p,
		     const struct rusage *usage);
/* How many there were, and how surely. */
void as_census_finish(const struct as_census *s, struct as_total *totals);
void as_census_close(struct as_census *s);
