#pragma once
/*
 * graph -- a profile as functions that call functions, which is all that some
 * formats can hold: what each place had itself, what each function had with
 * what it called, and the same of each call.
 *
 * A sample counts once for a function or call, however often its stack has it.
 */
#include "profile/profile.h"

struct as_call {
	uint32_t caller; /* a place: the line that calls, or its function    */
	uint32_t callee; /* a function: its first place                      */
	size_t seen;     /* for graph.c: the last sample that counted, + 1   */
};

struct as_graph {
	const struct as_profile *p;
	bool functions; /* callers are functions, not lines                  */
	uint32_t *of;   /* each place's function: the first place of it      */
	int64_t *self;  /* of a place, a value of each kind                  */
	int64_t *total; /* of a function, likewise                           */
	size_t *seen;   /* for graph.c                                       */
	struct as_call *call;
	int64_t *call_self, *call_total; /* of a call, likewise; self: what the callee had itself */
	size_t ncalls, call_cap, self_cap, total_cap;
	struct as_index by_call;
};

int as_graph_open(struct as_graph *g, const struct as_profile *p, bool functions,
		  struct as_err *err);
void as_graph_done(struct as_graph *g);

/* Of `values` (one of the arrays above), those of the place or call `at`. */
static inline const int64_t *as_graph_of(const struct as_graph *g, const int64_t *values, size_t at)
{
	return values + at * g->p->nkinds;
}
