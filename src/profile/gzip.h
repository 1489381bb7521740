#pragma once
/*
 * gzip -- bytes packed and unpacked, bounded: a few bytes may unpack to
 * gigabytes, and then they are refused.
 */
#include "base/buf.h"

void as_gzip_put(const struct as_buf *raw, struct as_buf *out);

bool as_is_gzip(const char *p, size_t n);
/* All of it into `out`, up to out's limit. */
int as_gzip_read(const char *p, size_t n, struct as_buf *out, struct as_err *err);
