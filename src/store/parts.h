#pragma once
/*
 * parts -- the pieces of a run that the live file and the catalogue's blob
 * write alike: who it was, how it ended, what its instances are, and the table
 * of keys that says which column is which metric.
 */
#include "base/bytes.h"
#include "run/run.h"

void as_enc_identity(struct as_buf *b, const struct as_identity *who);
/* On failure (b->bad) *ret holds what was read so far: as_identity_done() it. */
void as_dec_identity(struct as_bytes *b, struct as_identity *ret);

void as_enc_outcome(struct as_buf *b, const struct as_outcome *o);
void as_dec_outcome(struct as_bytes *b, struct as_outcome *ret); /* free ret->error */

/* Facts only: no scope, no tallies. */
void as_enc_instance(struct as_buf *b, const struct as_instance *i);
void as_dec_instance(struct as_bytes *b, struct as_instance *ret); /* free name and detail */

void as_enc_origin(struct as_buf *b, enum as_provenance how, const char *source);
void as_dec_origin(struct as_bytes *b, struct as_origin *ret);

void as_enc_verdict(struct as_buf *b, const struct as_verdict *v);
void as_dec_verdict(struct as_bytes *b, struct as_verdict *ret);

/* ── keys ─────────────────────────────────────────────────────────────── */

/*
 * A file numbers its scopes and their columns as it likes and lists their
 * names once. The reader maps them to its own; what it does not know maps to
 * AS_NSCOPES and AS_NO_COLUMN, is decoded all the same, and dropped.
 */
enum { AS_KEYS_SCOPES = 32, AS_KEYS_COLUMNS = 1024, AS_NO_COLUMN = UINT16_MAX };

struct as_keys {
	size_t n;
	struct {
		enum as_scope scope;
		uint16_t first, n; /* its part of `column`                 */
	} scopes[AS_KEYS_SCOPES];
	size_t ncolumns;
	uint16_t column[AS_KEYS_COLUMNS]; /* ours, counted within the scope */
};

void as_enc_keys(struct as_buf *b); /* all our scopes and fields, in our order */
void as_dec_keys(struct as_bytes *b, struct as_keys *ret);
