#pragma once
/*
 * base64 -- bytes as letters, digits, + and /, for places where only text may be.
 */
#include "base/buf.h"

void as_put_base64(struct as_buf *out, const char *p, size_t n);
