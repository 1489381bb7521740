#include "base/base64.h"

static void put_three(struct as_buf *out, const unsigned char *p, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits =
		(unsigned)p[0] << 16 | (n > 1 ? (unsigned)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);
	char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
			n > 1 ? digits[bits >> 6 & 63] : '=', n > 2 ? digits[bits & 63] : '='};

	as_buf_add(out, four, sizeof four);
}

void as_put_base64(struct as_buf *out, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 3)
		put_three(out, (const unsigned char *)p + i, n - i);
}
