#pragma once
/*
 * lives -- the tables of a run's processes, threads and cores.
 */
#include "report/head.h"

void as_put_processes(const struct as_sheet *s); /* a tree, with lifetimes as bars */
void as_put_threads(const struct as_sheet *s);   /* the busiest ones               */
void as_put_cores(const struct as_sheet *s);     /* one character each             */

/* The lines that lead to a row of a tree; bit d of `lines`: an ancestor at depth d has more. */
void as_put_branch(struct as_buf *out, int depth, uint64_t lines, bool last);

/* The columns that every table of processes has after its name: pid, CPU, peak, life, end. */
enum { AS_PROCESS_COLUMNS = 6 };
void as_put_process(struct as_buf *cell, const struct as_run *run, const struct as_instance *i,
		    size_t col);
