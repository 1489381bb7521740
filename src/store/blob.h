#pragma once
/*
 * blob -- a whole run as bytes, and back: what the catalogue keeps of a run
 * besides the columns it searches by (docs/formats.md draws them).
 *
 *	u8 version, then sections: u8 tag | u64 length | body
 *
 * The first section describes: which columns there are, by key, and where each
 * number came from. It is the same for nearly all runs of a machine, so the
 * catalogue compresses blobs against one such section (squeeze.h), and naming
 * every key in every blob costs a few bytes.
 *
 * Lossless but for two things that only a run in the making needs: the private
 * half of its tallies, and the spare room of its arrays.
 */
#include "base/bytes.h"
#include "run/run.h"

enum {
	AS_BLOB_VERSION = 3,     /* 2: rates as they are; 1: columns without blocks, too */
	AS_BLOB_MAX = 256 << 20, /* plain bytes; a longer one is damage, or nobody's run */
};

/*
 * What the packer keeps from one run to the next: memory, and the description
 * of the run before, which mostly is that of the next one too. Zero-initialised
 * is fine, and so is NULL.
 */
struct as_blob_memo {
	struct as_origin origins[AS_NFIELDS];
	struct as_origin totals[AS_NTOTALS];
	struct as_buf bytes, body;
	size_t known[AS_NFIELDS]; /* values in the series of the run at hand */
};
void as_blob_memo_done(struct as_blob_memo *m);

/* Append to `out`; *ret_description gets the length of version and first section. */
int as_blob_pack(const struct as_run *run, struct as_blob_memo *memo, struct as_buf *out,
		 size_t *ret_description, struct as_err *err);
int as_blob_unpack(const void *p, size_t n, struct as_run **ret, struct as_err *err);
