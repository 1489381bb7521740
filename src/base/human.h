#pragma once
/*
 * human -- numbers as people read them: short, stable, never wider than nine
 * columns, plain ASCII, "-" when unknown.
 *
 * Two or three digits that matter are shown and the rest is rounded; rounding
 * carries into the next unit, so 999.7 ms is "1.00 s" and never "1000 ms".
 * What is more than nothing is never shown as nothing: 0.003 is "<0.01".
 *
 * Each function returns a small struct by value: as_human_bytes(n).s is good
 * until the end of the full expression, which is all that a printf needs.
 */
#include <stdint.h>

struct as_text {
	char s[32];
};

struct as_text as_human_duration(int64_t ns);  /* 820 ms, 1.24 s, 3m 12s, 5h 02m, 2d 03h */
struct as_text as_human_bytes(double bytes);   /* 512 B, 1.5 GiB, 153 MiB                */
struct as_text as_human_byte_rate(double v);   /* 9.8 MiB/s, 17 MiB/s, 153 MiB/s         */
struct as_text as_human_count(double n);       /* 0.4, 12 345, 1.2 M                     */
struct as_text as_human_percent(double ratio); /* of 0.98: 98 %; 0.4 %, 1 240 %          */
struct as_text as_human_cpus(double cpus);     /* 2, 16, 1.50: whole or a quota's share    */
struct as_text as_human_number(double v);      /* 1.24, 12.4, 124                        */
