#pragma once
/*
 * text -- numbers in a text, and tables of "key number" lines.
 *
 * What the readers of kernel files share, on top of spans (base/span.h). A
 * number that does not fit is as good as missing.
 */
#include <stdint.h>

#include "base/num.h"
#include "base/span.h"

/* What a file did not say. The same bits as AS_NA and AS_PROC_NA. */
#define AS_TEXT_NA INT64_MIN

/* The number at the front, at most INT64_MAX; AS_TEXT_NA when there is none. */
static inline int64_t as_span_number(struct as_span s)
{
	uint64_t v = 0;

	return as_scan_u64(s.p, s.n, &v) && v <= INT64_MAX ? (int64_t)v : AS_TEXT_NA;
}

/* a + b and a * b where either may be unknown; what does not fit is unknown. */
static inline int64_t as_text_add(int64_t a, int64_t b)
{
	int64_t sum;

	return a == AS_TEXT_NA || b == AS_TEXT_NA || __builtin_add_overflow(a, b, &sum) ? AS_TEXT_NA
											: sum;
}

static inline int64_t as_text_times(int64_t a, int64_t by)
{
	int64_t product;

	return a == AS_TEXT_NA || __builtin_mul_overflow(a, by, &product) ? AS_TEXT_NA : product;
}

/* The number after `key` and blanks or a colon, if the line is about that key. */
static inline int64_t as_span_keyed(struct as_span line, const char *key, size_t len)
{
	size_t at = len;

	if (line.n <= len || memcmp(line.p, key, len))
		return AS_TEXT_NA;
	at += line.p[at] == ':';
	while (at < line.n && as_is_blank(line.p[at]))
		at++;
	return at > len ? as_span_number(as_span_skip(line, at)) : AS_TEXT_NA;
}

enum { AS_TEXT_KEYS_MAX = 16 };

/*
 * A table of "key 123" or "Key:   123 kB" lines: values[i] becomes the number
 * of keys[i] (first mention), AS_TEXT_NA when there is none. Stops reading
 * when all are known. Returns how many are.
 */
static inline size_t as_text_keys(struct as_span text, const char *const *keys, size_t n,
				  int64_t *values)
{
	size_t len[AS_TEXT_KEYS_MAX], known = 0;
	struct as_span line;

	for (size_t k = 0; k < n; k++) {
		len[k] = strlen(keys[k]);
		values[k] = AS_TEXT_NA;
	}
	while (known < n && as_span_cut(&text, '\n', &line))
		for (size_t k = 0; k < n; k++) {
			if (values[k] != AS_TEXT_NA || !line.n || line.p[0] != keys[k][0])
				continue;
			values[k] = as_span_keyed(line, keys[k], len[k]);
			known += values[k] != AS_TEXT_NA;
		}
	return known;
}
