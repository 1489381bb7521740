#pragma once
/*
 * pytext -- a str object of another process, as UTF-8.
 */
#include "base/buf.h"
#include "stack/python.h"

/* False when there is none that makes sense at this address. Long ones are cut. */
bool as_pytext_read(const struct as_python *py, uint64_t at, struct as_buf *out);
