#include "report/gzip64.h"

#include <zlib.h>

#include "base/fault.h"
#include "utest.h"

static int digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, c);

	return c && at ? (int)(at - digits) : -1;
}

/* Base64 back into bytes; how many they are. */
static size_t decode(const char *text, size_t n, unsigned char *ret)
{
	size_t len = 0;

	EXPECT_I64(n % 4, 0);
	for (size_t i = 0; i < n; i += 4) {
		unsigned bits = 0, pads = 0;

		for (size_t k = 0; k < 4; k++) {
			bool pad = text[i + k] == '=';

			EXPECT(pad ? i + 4 == n && k >= 2 : digit(text[i + k]) >= 0 && !pads);
			pads += pad;
			bits = bits << 6 | (pad ? 0 : (unsigned)digit(text[i + k]));
		}
		for (unsigned k = 0; k < 3 - pads; k++)
			ret[len++] = (unsigned char)(bits >> (16 - 8 * k));
	}
	return len;
}

/* Through both and back. */
static void round_trip(const unsigned char *p, size_t n)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);
	as_auto_free unsigned char *packed = NULL, *back = as_zalloc(n + 1);
	z_stream z = {0};

	as_put_gzip64(&out, (const char *)p, n);
	EXPECT(!out.bad && out.len && back);
	packed = as_zalloc(out.len);
	z.next_in = packed;
	z.avail_in = (unsigned)decode(out.p, out.len, packed);
	z.next_out = back;
	z.avail_out = (unsigned)n + 1;
	EXPECT_I64(inflateInit2(&z, 15 + 16), Z_OK);
	EXPECT_I64(inflate(&z, Z_FINISH), Z_STREAM_END);
	EXPECT_I64(z.total_out, n);
	EXPECT(!memcmp(back, p, n));
	EXPECT_I64(inflateEnd(&z), Z_OK);
}

static void t_every_length_comes_back(void)
{
	unsigned char noise[20000]; /* does not shrink: several pieces, every padding */
	uint32_t seed = 1;

	for (size_t i = 0; i < sizeof noise; i++) {
		seed = seed * 1664525 + 1013904223;
		noise[i] = (unsigned char)(seed >> 24);
	}
	for (size_t n = 0; n < 64; n++)
		round_trip(noise, n);
	for (size_t n = sizeof noise - 8; n <= sizeof noise; n++)
		round_trip(noise, n);
}

static void t_repetition_shrinks(void)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_DOCUMENT), out = AS_BUF(AS_BUF_DOCUMENT);

	as_buf_fill(&text, 'x', 1 << 20);
	as_put_gzip64(&out, text.p, text.len);
	EXPECT(!out.bad && out.len < 4096);
	round_trip((const unsigned char *)text.p, text.len);
}

static void t_a_full_buffer_is_bad(void)
{
	as_auto_buf struct as_buf out = AS_BUF(8);

	as_put_gzip64(&out, "some words", 10);
	EXPECT(out.bad);
}

UTEST_MAIN(T(t_every_length_comes_back), T(t_repetition_shrinks), T(t_a_full_buffer_is_bad))
