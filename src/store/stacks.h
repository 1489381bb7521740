#pragma once
/*
 * stacks -- a profile as the store keeps it: how sampling went, then pprof's
 * bytes (profile/pprof.c), compressed. The live file has pieces of it, the
 * catalogue the whole.
 *
 *	record sampling, one zstd frame until the end
 */
#include "base/bytes.h"
#include "profile/profile.h"
#include "run/run.h"

enum { AS_STACKS_MAX = 256 << 20 }; /* plain bytes; more is damage */

int as_enc_stacks(struct as_buf *out, const struct as_profile *p, const struct as_sampling *count,
		  struct as_err *err);
/* Bytes that are not right fail with FORMAT. */
int as_dec_stacks(struct as_bytes *b, struct as_profile **ret, struct as_sampling *ret_count,
		  struct as_err *err);
