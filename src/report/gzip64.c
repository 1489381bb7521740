#include "report/gzip64.h"

#include <zlib.h>

#include "base/fault.h"

enum {
	PIECE = 3 << 10, /* a multiple of 3: only the last one needs padding */
	ZLIB = 15,       /* the largest window */
	GZIP = 15 + 16,  /* and a gzip head */
	MEMORY = 9,
};

/* ── gzip ─────────────────────────────────────────────────────────────── */

static void *get_memory(void *unused, unsigned n, unsigned size)
{
	(void)unused;
	return as_zalloc_n(n, size);
}

static void free_memory(void *unused, void *p)
{
	(void)unused;
	free(p);
}

static void end(z_stream *z)
{
	(void)deflateEnd(z);
}

typedef void put_piece(struct as_buf *out, const char *p, size_t n);

static void put_bytes(struct as_buf *out, const char *p, size_t n)
{
	as_buf_add(out, p, n);
}

static void put_deflated(struct as_buf *out, const char *p, size_t n, int window, put_piece *put)
{
	as_cleanup(end) z_stream z = {.zalloc = get_memory, .zfree = free_memory};
	char piece[PIECE];
	int r = deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, window, MEMORY,
			     Z_DEFAULT_STRATEGY);

	out->bad |= r != Z_OK || n > UINT_MAX; /* a document is at most 1 GiB */
	z.next_in = (z_const Bytef *)(uintptr_t)p;
	z.avail_in = (unsigned)n;
	while (!out->bad && r == Z_OK) {
		z.next_out = (Bytef *)piece;
		z.avail_out = sizeof piece;
		r = deflate(&z, Z_FINISH);
		out->bad |= r != Z_OK && r != Z_STREAM_END;
		put(out, piece, sizeof piece - z.avail_out);
	}
}

void as_put_gzip64(struct as_buf *out, const char *p, size_t n)
{
	put_deflated(out, p, n, GZIP, as_put_base64);
}

void as_put_zlib(struct as_buf *out, const char *p, size_t n)
{
	put_deflated(out, p, n, ZLIB, put_bytes);
}
