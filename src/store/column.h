#pragma once
/*
 * column -- many values of one metric, small.
 *
 * Neighbours differ little, and what they differ by has a grain: clock ticks
 * of 10 ms, pages of 4 KiB. So a column is its first value, the greatest
 * common divisor of all differences, and the differences divided by it.
 *
 *	u8 flags           bit 0: some value is known
 *	                   bit 1: not all known ones are equal
 *	                   bit 2: some are unknown
 *	bitmap             only with bit 2: (n + 7) / 8 bytes, set = known
 *	i64 first          only with bit 0
 *	u64 grain, blocks  only with bit 1: of up to 32 differences each
 *
 *	block: u8 width in bits, then as many bits of each difference, zigzagged
 *
 * Bit 3 says that there are blocks. Runs of format 1 have an i64 for each
 * difference instead; they are read, and no longer written.
 */
#include "base/bytes.h"
#include "run/run.h"

enum { AS_COLUMN_MAX = AS_SERIES_CAP }; /* values, when writing: no series has more */
enum { AS_COLUMN_BLOCK = 32 };

/*
 * n values, `step` apart; AS_NA is unknown. With a `base` (as long, and as far
 * apart) what is written is the distance from it, where it is known. How many
 * were known.
 */
size_t as_enc_column(struct as_buf *b, const int64_t *v, const int64_t *base, size_t n,
		     size_t step);
/* `v` NULL reads past a column that nobody wants. */
void as_dec_column(struct as_bytes *b, int64_t *v, const int64_t *base, size_t n, size_t step);
