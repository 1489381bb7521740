#pragma once
/*
 * when -- a moment as people write it: "2h" (that long ago), "2026-11-01",
 * "2026-11-01 12:00[:30]" or with a T, local time unless a Z follows.
 */
#include <stdint.h>

#include "base/err.h"

/* Both in CLOCK_REALTIME nanoseconds. */
int as_when_parse(const char *text, int64_t now_ns, int64_t *ret_ns, struct as_err *err);
