#pragma once
/*
 * num -- text to numbers, with a length, an overflow answer and no locale.
 *
 * The as_scan_ functions read a prefix of p[0..n): they never read p[n], never
 * skip spaces, and leave *ret alone unless they return non-zero (bytes used).
 * Every parser of outside text is built on them.
 *
 * The as_parse_ functions take a whole argument as people write it ("1.5s",
 * "200MiB", "50/s") and fail with a sentence that shows what would be right.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

size_t as_scan_u64(const char *p, size_t n, uint64_t *ret);
size_t as_scan_i64(const char *p, size_t n, int64_t *ret);  /* optional '-'               */
size_t as_scan_hex(const char *p, size_t n, uint64_t *ret); /* no 0x                      */
size_t as_scan_dec(const char *p, size_t n, double *ret);   /* 12, -0.5, .5, 1.25e-3      */
/* A decimal as an integer count of 1/scale: "0.25" with scale 1000000 is 250000. */
size_t as_scan_fixed(const char *p, size_t n, uint64_t scale, uint64_t *ret);

/*
 * One part of a date or a time in a NUL-terminated text: exactly `digits`
 * digits that make lo..hi, and then `stop` (0: whatever comes). Moves *p on.
 */
bool as_scan_part(const char **p, size_t digits, char stop, int lo, int hi, int *ret);

int as_parse_u64(const char *text, uint64_t *ret, struct as_err *err);
int as_parse_f64(const char *text, double *ret, struct as_err *err);
int as_parse_pid(const char *text, int *ret, struct as_err *err);
/* ns us ms s m h d; a bare number is seconds. Never negative. */
int as_parse_duration(const char *text, int64_t *ret_ns, struct as_err *err);
/* B, k M G T (1000), Ki Mi Gi Ti (1024), with an optional B. */
int as_parse_bytes(const char *text, uint64_t *ret, struct as_err *err);
/* "50", "50/s", "3000/m", "10/h": events a second. */
int as_parse_rate(const char *text, double *ret_per_second, struct as_err *err);
