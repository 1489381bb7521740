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
	const struct as_sweep_cell *cell;
	size_t ncells, naxes;
	const char *(*axis)(const void *grid, size_t axis);
	const char *(*value)(const void *grid, size_t cell, size_t axis);
	const void *grid;
	bool interrupted;
};

void as_report_sweep(struct as_buf *out, const struct as_look *look,
		     const struct as_sweep_report *r);
void as_report_sweep_csv(struct as_buf *out, const struct as_sweep_report *r);
void as_report_sweep_json(struct as_buf *out, const struct as_sweep_report *r);
/* Plots of rate, latency and memory by cell, and the table; a page without a script. */
void as_report_sweep_html(struct as_buf *out, const struct as_sweep_report *r);
