#pragma once
/*
 * loads -- what a load measured, as the live file and the catalogue keep it.
 *
 *	record, then errors: u64 count of (text key, u64 number), then five u64
 *	(answers by the first digit of their status), then three histograms, then
 *	u64 count of (text name, histogram), then u64 count of targets' records, then
 *	of streams a record and u64 count of histograms (AS_LOAD_STREAM_TIMES), then
 *	of a climb a record and u64 count of probes' records, then of a flow u64 count
 *	of (a step's record, errors, statuses, two histograms) and u64 count of checks'
 *	records, then of rollouts a record and, if there were any, three histograms
 *	histogram: u64 bits, i64 min, i64 max, f64 sum, u64 count of
 *	           (u64 buckets passed over, u64 number)
 */
#include "base/bytes.h"
#include "run/load.h"

void as_enc_load(struct as_buf *b, const struct as_load *l);
/* `ret` is zeroed memory. */
void as_dec_load(struct as_bytes *b, struct as_load *ret);
