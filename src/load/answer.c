#include "load/answer.h"

#include <string.h>

#include "base/num.h"

enum { WORD = 80 };

const struct as_stub_answer as_stub_usual = {.status = 200, .size = 27};

/* ── what each word says ──────────────────────────────────────────────── */

static int set_status(const char *v, struct as_stub_answer *a, struct as_err *err)
{
	uint64_t status = 0;
	int r = as_parse_u64(v, &status, err);

	if (r == AS_OK && (status < 200 || status > 599))
		return as_fail(err, AS_EUSAGE, "no status %s: 200 to 599", v);
	a->status = (unsigned)status;
	return r;
}

static int set_size(const char *v, struct as_stub_answer *a, struct as_err *err)
{
	uint64_t size = 0;
	int r = as_parse_bytes(v, &size, err);

	if (r == AS_OK && size > AS_STUB_BODY_MOST)
		return as_fail(err, AS_EUSAGE, "a body of %s is too large: 16 MiB at most", v);
	a->size = size;
	return r;
}

static int set_delay(const char *v, struct as_stub_answer *a, struct as_err *err)
{
	return as_delay_parse(v, &a->delay, err);
}

static int set_first(const char *v, struct as_stub_answer *a, struct as_err *err)
{
	return as_delay_parse(v, &a->first, err);
}

static int set_every(const char *v, struct as_stub_answer *a, struct as_err *err)
{
	return as_delay_parse(v, &a->every, err);
}

static int set_pieces(const char *v, enum as_stub_pieces kind, struct as_stub_answer *a,
		      struct as_err *err)
{
	uint64_t n = 0;
	int r = as_parse_u64(v, &n, err);

	if (r == AS_OK && (!n || n > AS_STUB_PIECES_MOST))
		return as_fail(err, AS_EUSAGE, "no stream has %s pieces", v);
	a->kind = kind;
	a->pieces = n;
	return r;
}

static int set_sse(const char *v, struct as_stub_answer *a, struct as_err *err)
{
	return set_pieces(v, AS_STUB_EVENTS, a, err);
}

static int set_chunks(const char *v, struct as_stub_answer *a, struct as_err *err)
{
	return set_pieces(v, AS_STUB_CHUNKS, a, err);
}

static int choose(const char *v, const char *const *names, size_t n, size_t *ret,
		  struct as_err *err)
{
	for (*ret = 0; *ret < n; (*ret)++)
		if (!strcmp(v, names[*ret]))
			return AS_OK;
	return as_fail(err, AS_EUSAGE, "'%.40s' is none of them", v);
}

static int set_framing(const char *v, struct as_stub_answer *a, struct as_err *err)
{
	static const char *const names[] = {"length", "chunked", "close"};
	size_t at;
	int r = choose(v, names, AS_LEN(names), &at, err);

	if (r == AS_OK)
		a->framing = (enum as_stub_framing)at;
	return r;
}

static int set_end(const char *v, struct as_stub_answer *a, struct as_err *err)
{
	static const char *const names[] = {
#define X(id, name, help) name,
		AS_STUB_ENDS(X)
#undef X
	};
	size_t at;
	int r = choose(v, names, AS_LEN(names), &at, err);

	if (r == AS_OK)
		a->end = (enum as_stub_end)at;
	return r;
}

/* ── words ────────────────────────────────────────────────────────────── */

static const struct word {
	const char *key;
	int (*set)(const char *v, struct as_stub_answer *a, struct as_err *err);
} words[] = {
	{"status", set_status},   {"size", set_size},   {"delay", set_delay},
	{"framing", set_framing}, {"end", set_end},     {"sse", set_sse},
	{"chunks", set_chunks},   {"first", set_first}, {"every", set_every},
};

static const struct word *find(const char *key, size_t n)
{
	for (size_t i = 0; i < AS_LEN(words); i++)
		if (strlen(words[i].key) == n && !memcmp(words[i].key, key, n))
			return &words[i];
	return NULL;
}

bool as_stub_is_word(const char *key)
{
	return find(key, strlen(key)) != NULL;
}

int as_stub_word(const char *key, const char *value, struct as_stub_answer *ret, struct as_err *err)
{
	int r = find(key, strlen(key))->set(value, ret, err);

	return r < 0 ? as_err_wrap(err, "'%s=%.40s'", key, value) : r;
}

static int take_word(const char *text, struct as_stub_answer *a, struct as_err *err)
{
	size_t n = strcspn(text, "=");
	const struct word *w = text[n] ? find(text, n) : NULL;

	if (w)
		return as_stub_word(w->key, text + n + 1, a, err);
	(void)as_fail(err, AS_EUSAGE, "no word '%.40s' of an answer", text);
	return as_hint(err, "status=, size=, delay=, framing=, end=, sse=, chunks=, first=, "
			    "every=, with '&' between them");
}

int as_stub_parse(const char *script, struct as_stub_answer *ret, struct as_err *err)
{
	char word[WORD];
	int r = AS_OK;

	while (r == AS_OK && *script) {
		size_t n = strcspn(script, "&");

		if (n >= sizeof word)
			return as_fail(err, AS_EUSAGE, "'%.40s…' is too long", script);
		(void)snprintf(word, sizeof word, "%.*s", (int)n, script);
		if (n)
			r = take_word(word, ret, err);
		script += n + (script[n] == '&');
	}
	return r;
}
