/* hdr -- the frame of the text, byte by byte; tests/real reads it with HdrHistogram itself. */
#include "report/hdr.h"

#include <endian.h>
#include <zlib.h>

#include "utest.h"

static struct as_histogram h; /* too large for a stack */

static size_t unbase64(const char *text, size_t n, unsigned char *ret)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = 0;

	for (size_t i = 0; i < n; i += 4) {
		unsigned bits = 0, pads = 0;

		for (size_t k = 0; k < 4; k++) {
			pads += text[i + k] == '=';
			bits = bits << 6 |
			       (text[i + k] == '='
					? 0u
					: (unsigned)(strchr(digits, text[i + k]) - digits));
		}
		for (unsigned k = 0; k < 3 - pads; k++)
			ret[len++] = (unsigned char)(bits >> (16 - 8 * k));
	}
	return len;
}

static uint32_t u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return be32toh(v);
}

static uint64_t u64(const unsigned char *p)
{
	return (uint64_t)u32(p) << 32 | u32(p + 4);
}

/* What the text says once it is unpacked; how many bytes that is. */
static size_t unpack(unsigned char *ret, size_t size)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	unsigned char packed[4096];
	uLongf n = size;

	as_put_hdr(&text, &h);
	EXPECT(!text.bad && text.len < sizeof packed);
	size_t len = unbase64(text.p, text.len, packed);
	EXPECT_U64(u32(packed), 0x1c849314);
	EXPECT_U64(u32(packed + 4), len - 8);
	EXPECT_I64(uncompress(ret, &n, packed + 8, len - 8), Z_OK);
	return n;
}

static void t_frame(void)
{
	unsigned char b[256];

	as_histogram_add(&h, 1, 2);
	as_histogram_add(&h, 5, 100);
	size_t n = unpack(b, sizeof b);
	EXPECT_U64(u32(b), 0x1c849313);
	EXPECT_U64(u32(b + 4), n - 40);
	EXPECT_U64(u32(b + 8), 0);
	EXPECT_U64(u32(b + 12), 3);
	EXPECT_U64(u64(b + 16), 1);
	EXPECT_U64(u64(b + 24), 5);
	EXPECT_U64(u64(b + 32), 0x3ff0000000000000);
	static const unsigned char counts[] = {1, 4, 5, 0xc8,
					       1}; /* one empty, 2, three empty, 100 in two bytes */
	EXPECT_U64(n - 40, sizeof counts);
	EXPECT(!memcmp(b + 40, counts, sizeof counts));
}

static void t_empty(void)
{
	unsigned char b[256];

	EXPECT_U64(unpack(b, sizeof b), 40);
	EXPECT_U64(u64(b + 24), 2);
}

/* The largest count there can be takes nine bytes, not ten. */
static void t_large_count(void)
{
	unsigned char b[256];

	as_histogram_add(&h, 0, INT64_MAX);
	EXPECT_U64(unpack(b, sizeof b), 40 + 9);
	EXPECT_U64(b[40], 0xfe);
	EXPECT_U64(b[48], 0xff);
}

static void t_a_full_buffer_is_bad(void)
{
	as_auto_buf struct as_buf out = AS_BUF(8);

	as_put_hdr(&out, &h);
	EXPECT(out.bad);
}

UTEST_MAIN(T(t_frame), T(t_empty), T(t_large_count), T(t_a_full_buffer_is_bad))
