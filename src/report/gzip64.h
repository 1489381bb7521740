#pragma once
/*
 * gzip64 -- bytes, compressed and in base64: how the HTML report carries its
 * data. A browser unpacks them without help (DecompressionStream), and no
 * name in them can be taken for markup: there is no '<' in this alphabet.
 */
#include "base/base64.h"

void as_put_gzip64(struct as_buf *out, const char *p, size_t n);

/* For formats that are made otherwise: zlib's own framing, no gzip, no base64. */
void as_put_zlib(struct as_buf *out, const char *p, size_t n);
