#include "load/tokens.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"

/*
 * Where a value stands is told by the keys that lead to it, of which only
 * those that matter have a number; '[' adds none. A path is these numbers, one
 * byte each, the outermost the highest: choices/0/delta/content is 0x010203.
 */
enum key {
	OTHER,
	CHOICES,
	DELTA,
	CONTENT,
	REASONING,
	REASONING_CONTENT,
	TOOL_CALLS,
	TEXT,
	USAGE,
	COMPLETION_TOKENS,
	OUTPUT_TOKENS,
	RESPONSE,
	SENT,
};

static const char *const keys[] = {
	[CHOICES] = "choices",
	[DELTA] = "delta",
	[CONTENT] = "content",
	[REASONING] = "reasoning",
	[REASONING_CONTENT] = "reasoning_content",
	[TOOL_CALLS] = "tool_calls",
	[TEXT] = "text",
	[USAGE] = "usage",
	[COMPLETION_TOKENS] = "completion_tokens",
	[OUTPUT_TOKENS] = "output_tokens",
	[RESPONSE] = "response",
	[SENT] = "assay_sent_ns",
};

#define PATH1(a)       ((uint32_t)(a))
#define PATH2(a, b)    (PATH1(a) << 8 | (b))
#define PATH3(a, b, c) (PATH2(a, b) << 8 | (c))

enum { DEEPEST = 24, KEYS_DEEP = 3 };

struct reader {
	const char *p, *end;
	struct as_tokens out;
	uint32_t path[DEEPEST]; /* of what is open, and of the value in it */
	bool object[DEEPEST];
	unsigned keys[DEEPEST]; /* how many lead there */
	unsigned depth;
};

/* ── values ───────────────────────────────────────────────────────────── */

static bool is_text_of_answer(uint32_t path)
{
	static const uint32_t paths[] = {
		PATH3(CHOICES, DELTA, CONTENT),
		PATH3(CHOICES, DELTA, REASONING),
		PATH3(CHOICES, DELTA, REASONING_CONTENT),
		PATH2(CHOICES, TEXT),
		PATH1(DELTA), /* of a response.output_text.delta */
	};

	for (size_t i = 0; i < AS_LEN(paths); i++)
		if (paths[i] == path)
			return true;
	return false;
}

static void on_number(struct reader *r, uint32_t path)
{
	uint64_t v = 0;

	if (!as_scan_u64(r->p, (size_t)(r->end - r->p), &v) || v > INT64_MAX)
		return;
	if (path == PATH2(USAGE, COMPLETION_TOKENS) || path == PATH2(USAGE, OUTPUT_TOKENS) ||
	    path == PATH3(RESPONSE, USAGE, OUTPUT_TOKENS))
		r->out.so_far = (int64_t)v;
	else if (path == PATH1(SENT))
		r->out.sent_ns = (int64_t)v;
}

/* ── the document ─────────────────────────────────────────────────────── */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool skip_to_next(struct reader *r)
{
	while (r->p < r->end && is_space(*r->p))
		r->p++;
	return r->p < r->end;
}

/* What stands between quotes, as it stands; p is behind it then. False: it has no end. */
static bool take_string(struct reader *r, const char **ret, size_t *ret_n)
{
	const char *from = ++r->p;

	for (; r->p < r->end && *r->p != '"'; r->p++)
		if (*r->p == '\\' && ++r->p == r->end)
			return false;
	*ret = from;
	*ret_n = (size_t)(r->p - from);
	return r->p++ < r->end;
}

static enum key key_of(const char *p, size_t n)
{
	for (unsigned k = 1; k < AS_LEN(keys); k++)
		if (n && keys[k][0] == *p && strlen(keys[k]) == n && !memcmp(keys[k], p, n))
			return (enum key)k;
	return OTHER;
}

/* The path of what is in the innermost that is open, with this key. */
static uint32_t path_with(const struct reader *r, enum key k)
{
	unsigned n = r->depth ? r->keys[r->depth - 1] : 0;
	uint32_t above = r->depth ? r->path[r->depth - 1] : 0;

	return n >= KEYS_DEEP || k == OTHER ? UINT32_MAX : above << 8 | k;
}

static bool take_key(struct reader *r, uint32_t *path)
{
	const char *name;
	size_t n;

	if (*r->p != '"' || !take_string(r, &name, &n) || !skip_to_next(r) || *r->p != ':')
		return false;
	r->p++;
	*path = path_with(r, key_of(name, n));
	return skip_to_next(r);
}

static bool open_one(struct reader *r, uint32_t path, bool keyed)
{
	bool object = *r->p++ == '{';

	if (r->depth == DEEPEST)
		return false;
	if (path == PATH3(CHOICES, DELTA, TOOL_CALLS))
		r->out.piece |= skip_to_next(r) && *r->p != ']';
	r->keys[r->depth] = (r->depth ? r->keys[r->depth - 1] : 0) + keyed;
	r->path[r->depth] = path;
	r->object[r->depth++] = object;
	return true;
}

static bool take_text(struct reader *r, uint32_t path)
{
	const char *text;
	size_t n;

	if (!take_string(r, &text, &n))
		return false;
	r->out.piece |= n && is_text_of_answer(path);
	return true;
}

/* A number, or a word like null: whatever stands until something else may. */
static bool take_plain(struct reader *r, uint32_t path)
{
	on_number(r, path);
	while (r->p < r->end && !is_space(*r->p) && !memchr(",]}", *r->p, 3))
		r->p++;
	return true;
}

static bool take_value(struct reader *r)
{
	bool keyed = r->depth && r->object[r->depth - 1];
	uint32_t path = r->depth ? r->path[r->depth - 1] : 0;

	if (keyed && !take_key(r, &path))
		return false;
	if (*r->p == '{' || *r->p == '[')
		return open_one(r, path, keyed);
	return *r->p == '"' ? take_text(r, path) : take_plain(r, path);
}

struct as_tokens as_tokens_of(const char *json, size_t n)
{
	struct reader r = {.p = json, .end = json + n, .out = {.so_far = -1, .sent_ns = -1}};

	if (!skip_to_next(&r) || *r.p != '{')
		return r.out;
	for (bool more = true; more && skip_to_next(&r);) {
		if (*r.p == ',') {
			r.p++;
		} else if (*r.p == '}' || *r.p == ']') {
			r.p++;
			more = r.depth && --r.depth;
		} else {
			more = take_value(&r);
		}
	}
	return r.out;
}
