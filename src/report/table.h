#pragma once
/*
 * table -- rows and columns that fit the width of the look.
 *
 * A table asks for each cell twice, once to measure and once to print, and
 * keeps none: a list of a million rows costs no memory. When the rows are too
 * wide, columns that may shrink do, the widest first; what is cut ends in "…".
 * When that is not enough, columns that can be spared are left out.
 */
#include "report/page.h"

struct as_column {
	const char *title;
	bool right; /* numbers                                      */
	int min;    /* may shrink to this; 0: never narrower        */
	int max;    /* never wider, whatever it holds; 0: no limit  */
	bool path;  /* what is cut off is its beginning             */
	bool port;  /* what is cut off is its middle, if it ends in ":8000" */
	int spare;  /* 1, 2 …: left out in this order when there is no room; 0: never */
};

struct as_table {
	const struct as_column *cols;
	size_t ncols, nrows;
	const void *data;
	int indent;
	bool bare; /* no line of titles */
	void (*cell)(const void *data, size_t row, size_t col, struct as_buf *cell);
	/* May be NULL: plain. */
	enum as_ink (*ink)(const void *data, size_t row, size_t col);
};

enum { AS_COLUMNS_MAX = 12 };

/* Columns that it would take if there were room for all; `out` only hears of failure. */
int as_table_width(struct as_buf *out, const struct as_table *t);
void as_put_table(struct as_buf *out, const struct as_look *look, const struct as_table *t);
