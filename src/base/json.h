#pragma once
/*
 * json -- write JSON into a buffer, without ever writing it wrong.
 *
 * The writer knows where commas belong; the caller only says what comes next.
 * Keys are NULL inside arrays. A document is built like this:
 *
 *	struct as_json j = as_json(&buf);
 *	as_json_open(&j, NULL, '{');
 *	as_json_str(&j, "name", "demo");
 *	as_json_open(&j, "samples", '[');
 *	as_json_i64(&j, NULL, 42);
 *	as_json_close(&j);
 *	as_json_close(&j);
 *
 * Nothing known is ever lost: as_json_na() writes null, never 0, and text that
 * is not UTF-8 has its stray bytes written as U+FFFD so that every reader
 * accepts the document. JSON is read with jansson, where it is read at all.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { AS_JSON_DEPTH = 72 };

struct as_json {
	struct as_buf *out;
	int indent;                /* spaces a level; 0 writes one line      */
	int depth;                 /* how many are open                      */
	char close[AS_JSON_DEPTH]; /* what closes each                       */
	bool some[AS_JSON_DEPTH];  /* does it hold anything yet              */
};

struct as_json as_json(struct as_buf *out);
struct as_json as_json_pretty(struct as_buf *out);

void as_json_open(struct as_json *j, const char *key, char kind); /* '{' or '[' */
void as_json_close(struct as_json *j);
void as_json_str(struct as_json *j, const char *key, const char *s); /* NULL is null      */
void as_json_i64(struct as_json *j, const char *key, int64_t v);
void as_json_f64(struct as_json *j, const char *key, double v); /* 17 digits at most; NaN is null */
void as_json_fixed(struct as_json *j, const char *key, double v, int decimals);
void as_json_bool(struct as_json *j, const char *key, bool v);
void as_json_na(struct as_json *j, const char *key);
void as_json_raw(struct as_json *j, const char *key, const char *json); /* a document, verbatim */

/* `s` quoted and escaped, as it stands in a document. */
void as_json_quote(struct as_buf *out, const char *s);
