#pragma once
/*
 * load_rows -- the requests that a load sends, as bytes: one, or one for each
 * line of a file, which take turns.
 */
#include "cli/opt.h"
#include "net/http1_write.h"

struct as_load_rows {
	struct as_buf bytes; /* one behind the other */
	size_t *ends;        /* of each              */
	size_t n;
	bool silent; /* lines that are no row are not named */
	/* private */
	size_t cap;
	size_t left_out; /* lines that are no row, and were named */
};

/* What is sent as a body: `text`, a `file`, or each line of `lines`; all NULL: none. */
struct as_load_body {
	const char *text, *file, *lines;
};

/* `ask` says the rest. Empty lines, and in *.jsonl what is no JSON, are named and left out. */
int as_load_rows_write(struct as_load_rows *r, const struct as_load_body *body,
		       struct as_http_ask *ask, struct as_err *err);
void as_load_rows_done(struct as_load_rows *r);
