#pragma once
/*
 * listed -- a table for each list of a run that has no view of its own: files,
 * peers, devices, collectors, and whatever scope comes next.
 *
 * Its columns are the fields of the scope that are known for any of them:
 * counters by what they came to, gauges by their last value. Rows are ranked as
 * the scope says.
 */
#include "report/head.h"

/* At most `rows` of them. Nothing when the run has none. */
void as_put_listed(const struct as_sheet *s, enum as_scope scope, const char *title, size_t rows);
