/*
 * A live file, twice: as it is, and with the right sum put on every frame, so
 * that what the sums would have caught reaches the code behind them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/live.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

static void decode(const uint8_t *data, size_t size)
{
	struct as_live_decoder *d = NULL;
	struct as_err err = {0};
	size_t used = 0, more = 0;

	if (as_live_decoder_new(&d, &err) < 0)
		return;
	/* In two pieces, as a file is read: what was not used is given again. */
	int r = as_live_decoder_feed(d, data, size / 2, &used, &err);
	must(used <= size / 2);
	if (r == AS_OK && !as_live_decoder_broken(d))
		r = as_live_decoder_feed(d, data + used, size - used, &more, &err);
	must(r == AS_OK || r == AS_EUNSUP);
	must(used + more <= size);
	struct as_run *run = as_live_decoder_take(d);
	must(run != NULL);
	as_run_free(run);
}

static void mend(uint8_t *p, size_t n)
{
	if (n >= AS_LIVE_MAGIC_LEN)
		memcpy(p, AS_LIVE_MAGIC, AS_LIVE_MAGIC_LEN);
	for (size_t at = AS_LIVE_MAGIC_LEN; at + AS_LIVE_HEAD_LEN < n;) {
		struct as_bytes b = as_bytes(p + at, 4);
		size_t left = n - at - AS_LIVE_HEAD_LEN, len = as_dec_u32le(&b);

		if (len > left) {
			len = left;
			for (int i = 0; i < 4; i++)
				p[at + (size_t)i] = (uint8_t)(len >> 8 * i);
		}
		uint32_t crc = as_crc32(as_crc32(0, p + at, 4), p + at + AS_LIVE_HEAD_LEN, len);
		for (int i = 0; i < 4; i++)
			p[at + 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
		at += AS_LIVE_HEAD_LEN + len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return 0;
	decode(data, size);
	if (size)
		memcpy(copy, data, size);
	mend(copy, size);
	decode(copy, size);
	free(copy);
	return 0;
}
