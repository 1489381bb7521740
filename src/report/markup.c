#include "report/markup.h"

#include <limits.h>

#include "report/glyph.h"

void as_put_markup(struct as_buf *out, const char *text, size_t n)
{
	static const char *const escapes[UCHAR_MAX + 1] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};

	for (size_t i = 0; i < n; i++) {
		const char *escape = escapes[(unsigned char)text[i]];

		if (escape)
			as_buf_str(out, escape);
		else
			as_buf_byte(out, text[i]);
	}
}

void as_put_clean_markup(struct as_buf *out, const char *text, size_t n, int columns)
{
	as_auto_buf struct as_buf clean = AS_BUF(AS_BUF_LINE);

	(void)as_put_clean(&clean, text, n, columns);
	as_put_markup(out, as_buf_text(&clean), clean.len);
	out->bad |= clean.bad;
}
