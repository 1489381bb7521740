#pragma once
/*
 * rollup -- the sums that the catalogue keeps by name, status and time, of all
 * runs and of each version, host and label (sql.h says which; stats.c asks).
 *
 * A run that is put alone is counted at once. In a batch runs of the same name
 * and time follow each other, so sums are collected in memory first and added
 * to the table when their place is needed, and before the batch is committed.
 */
#include "store/catalogue.h"

/* Count one run; `l` is its row. */
int as_rollup_count(struct as_store *s, const struct as_run *run, const struct as_listing *l,
		    struct as_err *err);
/* Write what was collected, before anybody looks at the table. */
int as_rollup_flush(struct as_store *s, struct as_err *err);
/* The batch is undone: forget what was collected. */
void as_rollup_forget(struct as_store *s);

/* Facets by name. */
void as_facet_version(struct as_buf *b, const char *version);
void as_facet_host(struct as_buf *b, const char *host);
void as_facet_label(struct as_buf *b, const struct as_pair *p);
