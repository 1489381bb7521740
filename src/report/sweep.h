#pragma once
/*
 * sweep -- the cells of a grid: as a table, with bars, as CSV, as JSON
 * (docs/schema/sweep-1.json), as a page.
 */
#include "base/buf.h"
#include "report/look.h"
#include "run/sweep.h"

/* What a report needs to know of the grid, whoever keeps that. */
struct as_sweep_report {
	const char *url; /* as it was given */
	const char *id;  /* of its run; NULL: nothing was measured */
	const struct as_sweep_cell *cell;
	size_t ncells, naxes;
	const char *(*axis)(const void *grid, size_t axis);
	size_t (*values)(const void *grid, size_t axis); /* how many an axis has */
	const char *(*value)(const void *grid, size_t cell, size_t axis);
	const void *grid;
	bool interrupted;
};

void as_report_sweep(struct as_buf *out, const struct as_look *look,
		     const struct as_sweep_report *r);
void as_report_sweep_csv(struct as_buf *out, const struct as_sweep_report *r);
void as_report_sweep_json(struct as_buf *out, const struct as_sweep_report *r);
/* Curves of rate, latency and memory over each axis, and the table; a page without a script. */
void as_report_sweep_html(struct as_buf *out, const struct as_sweep_report *r);

/* Nodes of all cells by their names, in the order in which they are met. */
enum { AS_SWEEP_NODES = 16 };
struct as_sweep_nodes {
	const char *name[AS_SWEEP_NODES];
	size_t n;
};
struct as_sweep_nodes as_sweep_nodes_of(const struct as_sweep_report *r);
/* The peak memory of that node in a cell, in bytes; NaN: there is none so, or nobody knows. */
double as_sweep_node_memory(const struct as_sweep_cell *c, const char *name);
