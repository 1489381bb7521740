/*
 * A heap's capture, twice: as it is, and with the right sum put on every block,
 * so that what the sums would have caught reaches the code behind them. Each is
 * read whole, in part, and in slices.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap/blocks.h"
#include "heap/capture.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

static int on_slice(void *arg, const struct as_heap *h, const struct as_capture_slice *s,
		    struct as_err *err)
{
	int64_t sum = 0;

	(void)err;
	for (size_t i = 0; i < h->nsites; i++)
		sum = as_value_plus(sum, s->peak[i].bytes);
	*(int64_t *)arg = sum;
	return AS_OK;
}

/* What reports are made of; numbers may be anything. */
static void look_around(const struct as_heap *h)
{
	struct as_heap_resident r;
	struct as_heap_parts parts = {0};
	struct as_err err;

	must(as_heap_resident(h, &r, &err) == AS_OK);
	must(as_heap_parts(h, &parts, &err) == AS_OK);
	must(!parts.ntasks || parts.coroutine[parts.ntasks - 1] < h->stacks->nplaces);
	as_heap_parts_done(&parts);
}

static void look(const char *path, const struct as_capture_want *want)
{
	as_auto_heap struct as_heap *h = NULL;
	struct as_err err = {0};
	int r = as_capture_read(path, want, &h, &err);

	must(r == AS_OK ? h != NULL : *err.msg != '\0');
	for (size_t i = 0; h && i < h->nsites; i++) {
		must(h->site[i].process < h->nprocesses);
		must(h->site[i].thread < h->nthreads);
		must(h->site[i].stack < h->stacks->nstacks);
	}
	for (size_t i = 0; h && i < h->nlasting; i++) {
		must(h->lasting[i].site < h->nsites);
		must(h->lasting[i].made < h->slices && h->lasting[i].until < h->slices);
		must(h->slices <= AS_HEAP_UNTIL_MASK + 1);
	}
	if (h)
		look_around(h);
}

static void read_all(const uint8_t *data, size_t size)
{
	int64_t sum;
	const struct as_capture_want part = {.partial = true, .from_ns = 1000, .until_ns = 1 << 28},
				     slices = {.partial = true,
					       .threshold = true,
					       .temporary = 3,
					       .slice = on_slice,
					       .slice_ns = 1 << 26,
					       .arg = &sum,
					       .lasting = true};
	int fd = memfd_create("capture", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		exit(2);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	look(path, NULL);
	look(path, &part);
	look(path, &slices);
	(void)close(fd);
}

static void put_u32le(uint8_t *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static void mend(uint8_t *p, size_t n)
{
	if (n >= AS_BLOCKS_MAGIC_LEN)
		memcpy(p, AS_BLOCKS_MAGIC, AS_BLOCKS_MAGIC_LEN);
	for (size_t at = AS_BLOCKS_MAGIC_LEN; at + AS_BLOCKS_HEAD_LEN < n;) {
		struct as_bytes b = as_bytes(p + at, 4);
		size_t left = n - at - AS_BLOCKS_HEAD_LEN, len = as_dec_u32le(&b);

		if (len > left || !len)
			len = left;
		put_u32le(p + at, (uint32_t)len);
		put_u32le(p + at + 4,
			  as_crc32(as_crc32(0, p + at, 4), p + at + AS_BLOCKS_HEAD_LEN, len));
		at += AS_BLOCKS_HEAD_LEN + len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return 0;
	read_all(data, size);
	if (size)
		memcpy(copy, data, size);
	mend(copy, size);
	read_all(copy, size);
	free(copy);
	return 0;
}
