#pragma once
/*
 * json_text -- JSON as the text that it is: checked once, then taken apart and
 * edited where it lies.
 *
 * What nobody asks for is never decoded, so it leaves as it came: the order of
 * keys, the digits of numbers, fields that nobody here has heard of. Only
 * blanks between tokens go, which makes one line of any document.
 *
 * All but as_json_text_check() want text that has passed it, or a piece that
 * was found in such text; of other bytes they make nonsense, but never read
 * past their end. Of a key that stands twice the last counts, as in Python.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { AS_JSON_TEXT_DEPTH = 512 };

struct as_json_text {
	const char *p; /* NULL: there is none */
	size_t n;
};

struct as_json_member {
	struct as_json_text key; /* with its quotes; of an array's element: none */
	struct as_json_text value;
};

struct as_json_edit {
	const char *key;
	struct as_json_text value;
};

static inline struct as_json_text as_json_text(const char *p, size_t n)
{
	return (struct as_json_text){p, n};
}

/* Is it one value and nothing else, in UTF-8? *ret: without the blanks around it. */
int as_json_text_check(const char *p, size_t n, struct as_json_text *ret, struct as_err *err);

static inline bool as_json_is_object(struct as_json_text t)
{
	return t.n && t.p[0] == '{';
}

static inline bool as_json_is_array(struct as_json_text t)
{
	return t.n && t.p[0] == '[';
}

static inline bool as_json_is_string(struct as_json_text t)
{
	return t.n && t.p[0] == '"';
}

/* The first member, or the one after *at; false: none is left. *at begins as all zeros. */
bool as_json_next(struct as_json_text of, struct as_json_member *at);
/* The value of a key, or none; of what is no object, none. */
struct as_json_text as_json_of(struct as_json_text object, const char *key);
/* Is it a string, and this one? */
bool as_json_says(struct as_json_text string, const char *text);

/* The value on one line, without blanks. */
void as_json_squeeze(struct as_buf *out, struct as_json_text value);
/* The characters of a string; a stray surrogate becomes U+FFFD. */
void as_json_unquote(struct as_buf *out, struct as_json_text string);
/* The object, squeezed, with other values where keys are among the edits, and those it lacks. */
void as_json_edit(struct as_buf *out, struct as_json_text object, const struct as_json_edit *edits,
		  size_t n);
