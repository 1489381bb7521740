#pragma once
/*
 * squeeze -- zstd, with a dictionary.
 *
 * Runs of one machine describe themselves alike. Compressed against the
 * description of the first of them (raw content, not a trained dictionary),
 * the descriptions of the others cost a few bytes.
 *
 * Contexts are made when first needed and kept: many runs in a row pay once.
 */
#include "base/buf.h"

struct as_squeeze;

int as_squeeze_new(struct as_squeeze **ret, struct as_err *err);
void as_squeeze_free(struct as_squeeze *z);
/* Compress against these bytes from now on; copied. n == 0: against nothing. */
int as_squeeze_dictionary(struct as_squeeze *z, const void *p, size_t n, struct as_err *err);
/* Rather fast than small, or not, from now on. */
void as_squeeze_hurry(struct as_squeeze *z, bool hurry);
int as_squeeze(struct as_squeeze *z, const void *p, size_t n, struct as_buf *out,
	       struct as_err *err);
/* Appends to `out`; refuses what would pass its limit. */
int as_unsqueeze(struct as_squeeze *z, const void *p, size_t n, struct as_buf *out,
		 struct as_err *err);
