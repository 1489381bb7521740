#pragma once
/*
 * sweep -- what a server did in each cell of a grid: with nobody else there,
 * and under load. Unknown is NaN or AS_NA.
 */
#include "run/load.h"

struct as_sweep_cell {
	bool tried;                /* else the sweep ended before                             */
	char invalid[160];         /* why one of its loads says nothing of the server; ""     */
	char error[160];           /* why it could not be measured; ""                        */
	double low_p50, low_p99;   /* ms, one request at a time                   */
	double rate;               /* answers a second, under load                */
	double p50, p99, errors;   /* ms, ms, share; under load                   */
	double goodput;            /* share, under load; NaN: nothing says what is good */
	char low_run[16], run[16]; /* where they are kept                         */
	uint64_t nodes;
	struct {
		char name[AS_LOAD_NAME];
		int64_t memory; /* its peak, in either load                         */
	} node[AS_LOAD_TARGETS];
};

/* The most that a node had; AS_NA: nobody knows. */
static inline int64_t as_sweep_memory(const struct as_sweep_cell *c)
{
	int64_t most = AS_NA;

	for (uint64_t i = 0; i < c->nodes; i++)
		if (c->node[i].memory != AS_NA && (most == AS_NA || c->node[i].memory > most))
			most = c->node[i].memory;
	return most;
}
