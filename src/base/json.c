#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/shortest.h"

struct as_json as_json(struct as_buf *out)
{
	return (struct as_json){.out = out};
}

struct as_json as_json_pretty(struct as_buf *out)
{
	return (struct as_json){.out = out, .indent = 2};
}

/* Bytes of the well-formed UTF-8 character at p, or 0. */
static size_t utf8_len(const unsigned char *p)
{
	size_t n = p[0] < 0x80                   ? 1
		   : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
		   : (p[0] & 0xf0) == 0xe0       ? 3
						 : 4;

	if (p[0] >= 0x80 && (p[0] < 0xc2 || p[0] > 0xf4))
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

void as_json_quote(struct as_buf *out, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	as_buf_byte(out, '"');
	while (*p) {
		size_t n = utf8_len(p);

		if (!n)
			as_buf_str(out, "\\ufffd");
		else if (*p == '"' || *p == '\\')
			as_buf_fmt(out, "\\%c", *p);
		else if (*p == '\n')
			as_buf_str(out, "\\n");
		else if (*p < 0x20 || *p == 0x7f)
			as_buf_fmt(out, "\\u%04x", *p);
		else
			as_buf_add(out, p, n);
		p += n ? n : 1;
	}
	as_buf_byte(out, '"');
}

static void new_line(struct as_json *j)
{
	if (!j->indent)
		return;
	as_buf_byte(j->out, '\n');
	as_buf_fill(j->out, ' ', (size_t)(j->indent * j->depth));
}

/* Everything that stands before a value: comma, line, key. */
static void lead(struct as_json *j, const char *key)
{
	if (j->depth) {
		if (j->some[j->depth - 1])
			as_buf_byte(j->out, ',');
		j->some[j->depth - 1] = true;
		new_line(j);
	}
	if (key) {
		as_json_quote(j->out, key);
		as_buf_str(j->out, j->indent ? ": " : ":");
	}
}

void as_json_open(struct as_json *j, const char *key, char kind)
{
	lead(j, key);
	as_buf_byte(j->out, kind);
	if (j->depth == AS_JSON_DEPTH) {
		j->out->bad = true;
		return;
	}
	j->close[j->depth] = kind == '{' ? '}' : ']';
	j->some[j->depth++] = false;
}

void as_json_close(struct as_json *j)
{
	if (!j->depth)
		return;
	j->depth--;
	if (j->some[j->depth])
		new_line(j);
	as_buf_byte(j->out, j->close[j->depth]);
	if (!j->depth && j->indent)
		as_buf_byte(j->out, '\n');
}

void as_json_str(struct as_json *j, const char *key, const char *s)
{
	lead(j, key);
	if (s)
		as_json_quote(j->out, s);
	else
		as_buf_str(j->out, "null");
}

void as_json_i64(struct as_json *j, const char *key, int64_t v)
{
	lead(j, key);
	as_buf_fmt(j->out, "%" PRId64, v);
}

void as_json_f64(struct as_json *j, const char *key, double v)
{
	char text[AS_SHORTEST_MAX];

	if (!isfinite(v)) {
		as_json_na(j, key);
		return;
	}
	lead(j, key);
	as_buf_add(j->out, text, as_shortest(text, v));
}

void as_json_fixed(struct as_json *j, const char *key, double v, int decimals)
{
	if (!isfinite(v)) {
		as_json_na(j, key);
		return;
	}
	lead(j, key);
	as_buf_fmt(j->out, "%.*f", decimals, v);
}

void as_json_bool(struct as_json *j, const char *key, bool v)
{
	lead(j, key);
	as_buf_str(j->out, v ? "true" : "false");
}

void as_json_na(struct as_json *j, const char *key)
{
	lead(j, key);
	as_buf_str(j->out, "null");
}

void as_json_raw(struct as_json *j, const char *key, const char *json)
{
	lead(j, key);
	as_buf_str(j->out, json);
}
