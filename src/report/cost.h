#pragma once
/*
 * cost -- what measuring a run has cost, and what measuring would cost.
 */
#include "report/head.h"
#include "run/price.h"

/* A table of the parts of assay, dearest first, and which groups of metrics were paid for. */
void as_put_cost(const struct as_sheet *s);

/* A table: prices[AS_NGROUPS]. */
void as_report_prices(struct as_buf *out, const struct as_look *look,
		      const struct as_price *prices);
