#pragma once
/*
 * markup -- outside text inside HTML and SVG: it stays text.
 */
#include "base/buf.h"

/* As it is, but for the four characters that mean something. */
void as_put_markup(struct as_buf *out, const char *text, size_t n);
/* At most `columns` of it, without what may not be shown (and XML forbids). */
void as_put_clean_markup(struct as_buf *out, const char *text, size_t n, int columns);
