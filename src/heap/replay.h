#pragma once
/*
 * replay -- the events of a capture once more, through a tracker for each process.
 *
 * Processes are merged by the moments of their events. For a part of the time
 * what was allocated before it has kinds of its own (shadows), so that it is
 * there at the peak and nowhere else. It begins at the last sums before that
 * part: what comes before them is not read.
 */
#include "heap/capture_file.h"
#include "heap/lasting.h"

struct as_replay;

struct as_replay_want {
	uint64_t temporary;
	int64_t from_ns, until_ns; /* CLOCK_MONOTONIC; INT64_MIN, INT64_MAX: all */
	bool partial;
	int64_t slice_ns; /* 0: no slices; counted from from_ns, or from the start */
	bool lasting;     /* as_replay_lasting() is wanted                           */
	/* A slice is over: sums of the trackers are of its highest moment. */
	int (*slice)(void *arg, struct as_replay *r, uint32_t number, struct as_err *err);
	void *arg;
};

int as_replay_new(struct as_file *f, const struct as_replay_want *want, struct as_replay **ret,
		  struct as_err *err);
void as_replay_free(struct as_replay *r);
/* All of it. */
int as_replay_run(struct as_replay *r, struct as_err *err);
/* Was a block damaged? It ended there then (want.partial). */
bool as_replay_cut(const struct as_replay *r);

/* Of one kind, what was made before included where it counts. */
void as_replay_sums(const struct as_replay *r, uint32_t process, uint32_t kind,
		    struct as_heap_sums *ret);
void as_replay_totals(const struct as_replay *r, uint32_t process, struct as_heap_totals *ret);
/* What was made and freed in which slice, as far as it lasted. */
const struct as_lasting *as_replay_lasting(const struct as_replay *r, uint32_t process);
uint32_t as_replay_slices(const struct as_replay *r);
/* The highest moment of all together. */
struct as_heap_amount as_replay_high(const struct as_replay *r, int64_t *ret_ns);

static inline void as_replay_free_(struct as_replay **r)
{
	as_replay_free(*r);
}

#define as_auto_replay as_cleanup(as_replay_free_)
