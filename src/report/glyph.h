#pragma once
/*
 * glyph -- characters as a terminal shows them.
 *
 * Text that comes from outside (process names, command lines, labels) may hold
 * anything: escape sequences, half characters, letters that run backwards.
 * Everything shown goes through here, so that nothing of it reaches a terminal
 * but letters. The tables do not depend on the locale.
 *
 * Reports are always composed in UTF-8; for a terminal that cannot show it
 * as_plain() turns what was composed into ASCII, column for column.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* One character of p[0..n), n > 0: how many bytes it takes; *ret is -1 when they are none. */
size_t as_glyph_read(const char *p, size_t n, int32_t *ret);
/* Columns: 0 (joins the letter before), 1, 2, or -1: must not be shown. */
int as_glyph_width(int32_t c);

/* Columns of a composed line; colours take none. */
int as_text_width(const char *text, size_t n);

/* Columns that outside text takes once it is cleaned. */
int as_clean_width(const char *text, size_t n);
/* At most `columns` of the text, cleaned; how many it took. "…" marks what was cut. */
int as_put_clean(struct as_buf *out, const char *text, size_t n, int columns);

/* Rewrite out[from..] in ASCII. */
void as_plain(struct as_buf *out, size_t from);
