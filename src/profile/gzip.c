#include "profile/gzip.h"

#include <zlib.h>

enum { GZIP = 16 + MAX_WBITS, MEMORY = 8, CHUNK = 64 << 10 };

void as_gzip_put(const struct as_buf *raw, struct as_buf *out)
{
	z_stream z = {0};

	out->bad |= raw->bad || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY,
					     Z_DEFAULT_STRATEGY) != Z_OK;
	if (out->bad)
		return;
	size_t most = deflateBound(&z, raw->len);
	char *room = as_buf_room(out, most);

	if (room) {
		z.next_in = (Bytef *)raw->p;
		z.avail_in = (uInt)raw->len;
		z.next_out = (Bytef *)room;
		z.avail_out = (uInt)most;
		out->bad |= deflate(&z, Z_FINISH) != Z_STREAM_END;
		out->len += z.total_out;
	}
	(void)deflateEnd(&z);
}

bool as_is_gzip(const char *p, size_t n)
{
	return n > 2 && (unsigned char)p[0] == 0x1f && (unsigned char)p[1] == 0x8b;
}

static int inflate_all(z_stream *z, struct as_buf *out)
{
	int r = Z_OK;

	while (r == Z_OK) {
		char *room = as_buf_room(out, CHUNK);

		if (!room)
			return Z_BUF_ERROR;
		z->next_out = (Bytef *)room;
		z->avail_out = CHUNK;
		r = inflate(z, Z_NO_FLUSH);
		out->len += CHUNK - z->avail_out;
		out->p[out->len] = '\0';
	}
	return r;
}

int as_gzip_read(const char *p, size_t n, struct as_buf *out, struct as_err *err)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)p, .avail_in = (uInt)n};

	if (n > UINT32_MAX || inflateInit2(&z, GZIP) != Z_OK)
		return as_fail(err, AS_ENOMEM, "no memory to unpack gzip");
	int r = inflate_all(&z, out);

	(void)inflateEnd(&z);
	if (out->bad && out->len + CHUNK > out->max)
		return as_fail(err, AS_EFORMAT, "it unpacks to more than %zu bytes", out->max);
	if (out->bad)
		return as_buf_ok(out, err);
	return r == Z_STREAM_END ? AS_OK
				 : as_fail(err, AS_EFORMAT, "it begins as gzip, but is broken");
}
