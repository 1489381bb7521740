#pragma once
/*
 * column -- many values of one metric, small.
 *
 * Neighbours differ little, and what they differ by has a grain: clock ticks
 * of 10 ms, pages of 4 KiB. So a column is its first value, the greatest
 * common divisor of all differences, and the differences divided by it: packed
 * with as many bits each as the largest needs or, when one of them is far
 * larger than the others, each with as many bytes as it needs itself.
 *
 *	u8 flags           bit 0: some value is known
 *	                   bit 1: not all known ones are equal
 *	                   bit 2: some are unknown
 *	                   bit 3: the differences are packed
 *	bitmap             only with bit 2: (n + 7) / 8 bytes, set = known
 *	i64 first          only with bit 0
 *	u64 grain          only with bit 1; then for each further known value
 *	  i64 …            without bit 3: the difference / grain
 *	  u8 bits, bytes   with bit 3: the same in zigzag, `bits` each, least first
 */
#include "run/run.h"
#include "store/bytes.h"

enum { AS_COLUMN_MAX = AS_SERIES_CAP }; /* values, when writing: no series has more */

/*
 * n values, `step` apart; AS_NA is unknown. With a `base` (as long, and as far
 * apart) what is written is the distance from it, where it is known.
 */
void as_enc_column(struct as_buf *b, const int64_t *v, const int64_t *base, size_t n, size_t step);
/* `v` NULL reads past a column that nobody wants. */
void as_dec_column(struct as_bytes *b, int64_t *v, const int64_t *base, size_t n, size_t step);
