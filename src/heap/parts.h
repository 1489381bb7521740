#pragma once
/*
 * parts -- what stands in a capture's blocks, as bytes and back: all but events.
 *
 * Each pair is beside its other half in one file, so that they stay alike. What
 * a newer writer appends to a part an older reader does not look at.
 */
#include "base/bytes.h"
#include "heap/capture.h"

/* --- head, processes, kinds, points (parts.c) ------------------------------ */

void as_enc_capture_head(struct as_buf *b, const struct as_capture_head *h);
/* The command is a copy; a format that is newer than ours is AS_EUNSUP. */
int as_dec_capture_head(struct as_bytes *b, struct as_capture_head *ret, struct as_err *err);

void as_enc_heap_process(struct as_buf *b, const struct as_heap_process *p);
/* The command is a copy. Totals are not touched. */
void as_dec_heap_process(struct as_bytes *b, struct as_heap_process *ret);

/* As the distance from the one before (in `k`, when it is read). */
void as_enc_heap_kind(struct as_buf *b, const struct as_heap_kind *k,
		      const struct as_heap_kind *before);
void as_dec_heap_kind(struct as_bytes *b, struct as_heap_kind *k);

/* The same. */
void as_enc_heap_point(struct as_buf *b, const struct as_heap_point *p,
		       const struct as_heap_point *before);
void as_dec_heap_point(struct as_bytes *b, struct as_heap_point *p);
/* What of it is files stands in a part of its own, the same way: that came later. */
void as_enc_point_files(struct as_buf *b, const struct as_heap_point *p,
			const struct as_heap_point *before);
void as_dec_point_files(struct as_bytes *b, struct as_heap_point *p);

/* --- names (parts_names.c) -------------------------------------------------- */

/* How far names were written; all zeros is the beginning. */
struct as_names_told {
	size_t nodes, codes, symbols;
	uint32_t *module, *thread; /* hashes of what was told of each: they change */
	size_t modules, threads, module_cap, thread_cap;
	uint64_t key; /* of the last node in this buffer; 0 at its beginning */
};

void as_names_told_done(struct as_names_told *t);
/*
 * What was not told yet, until `b` has `enough` bytes; false when everything is
 * told. Each call begins a new buffer.
 */
bool as_enc_names(struct as_buf *b, struct as_names_told *t, const struct as_heap_names *n,
		  size_t enough);
/* Adds to what is there. */
void as_dec_names(struct as_bytes *b, struct as_heap_names *n);

/* --- sums (parts_sums.c) ---------------------------------------------------- */

void as_enc_totals(struct as_buf *b, const struct as_heap_totals *t);
void as_dec_totals(struct as_bytes *b, struct as_heap_totals *ret);
void as_enc_rss(struct as_buf *b, const struct as_heap_rss *r);
void as_dec_rss(struct as_bytes *b, struct as_heap_rss *ret);
/* Of a kind of that size; bytes are mostly count × size. */
void as_enc_sums(struct as_buf *b, const struct as_heap_sums *s, uint64_t size, bool sampled);
void as_dec_sums(struct as_bytes *b, struct as_heap_sums *ret, uint64_t size, bool sampled);
