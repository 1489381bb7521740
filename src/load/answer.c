#include "load/answer.h"

#include <string.h>

#include "base/num.h"

enum { TEN = 10, HUGE_HEADERS = 100 << 10, WORD = 64 };

const struct as_stub_answer as_stub_usual = {.status = 200, .size = 27};

/* ── the script ───────────────────────────────────────────────────────── */

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

/* "5ms:15ms" */
static int set_range(const char *v, struct as_stub_delay *d, struct as_err *err)
{
	char from[WORD];
	const char *colon = strchr(v, ':');

	if (!colon || (size_t)(colon - v) >= sizeof from)
		return as_fail(err, AS_EUSAGE, "'%.40s' is no range: uniform:5ms:15ms", v);
	(void)snprintf(from, sizeof from, "%.*s", (int)(colon - v), v);
	int r = as_parse_duration(from, &d->a_ns, err);
	if (r == AS_OK)
		r = as_parse_duration(colon + 1, &d->b_ns, err);
	if (r == AS_OK && d->b_ns < d->a_ns)
		return as_fail(err, AS_EUSAGE, "'%.40s' ends before it begins", v);
	return r;
}

static int set_delay(const char *v, struct as_stub_answer *a, struct as_err *err)
{
	a->delay = (struct as_stub_delay){.kind = AS_DELAY_FIXED};
	if (!strncmp(v, "uniform:", 8)) {
		a->delay.kind = AS_DELAY_UNIFORM;
		return set_range(v + 8, &a->delay, err);
	}
	if (!strncmp(v, "exp:", 4)) {
		a->delay.kind = AS_DELAY_EXP;
		v += 4;
	}
	return as_parse_duration(v, &a->delay.a_ns, err);
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

static int set_word(const char *word, struct as_stub_answer *a, struct as_err *err)
{
	static const struct {
		const char *key;
		int (*set)(const char *v, struct as_stub_answer *a, struct as_err *err);
	} known[] = {{"status=", set_status},
		     {"size=", set_size},
		     {"delay=", set_delay},
		     {"framing=", set_framing},
		     {"end=", set_end}};

	for (size_t i = 0; i < AS_LEN(known); i++)
		if (!strncmp(word, known[i].key, strlen(known[i].key))) {
			int r = known[i].set(word + strlen(known[i].key), a, err);

			return r < 0 ? as_err_wrap(err, "'%s'", word) : r;
		}
	(void)as_fail(err, AS_EUSAGE, "no word '%.40s' of an answer", word);
	return as_hint(err, "status=, size=, delay=, framing=, end=, with '&' between them");
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
			r = set_word(word, ret, err);
		script += n + (script[n] == '&');
	}
	return r;
}

/* ── the answer ───────────────────────────────────────────────────────── */

int64_t as_stub_draw(const struct as_stub_delay *d, struct as_random *r)
{
	if (d->kind == AS_DELAY_EXP)
		return (int64_t)((double)d->a_ns * as_random_exponential(r));
	if (d->kind == AS_DELAY_UNIFORM)
		return d->a_ns + (int64_t)((double)(d->b_ns - d->a_ns) * as_random_unit(r));
	return d->a_ns;
}

static void put_head(struct as_buf *out, const struct as_stub_answer *a)
{
	uint64_t more = a->end == AS_STUB_SHORT ? TEN : 0;
	bool closes = a->end == AS_STUB_CLOSE || a->framing == AS_STUB_UNTIL_CLOSE;

	as_buf_fmt(out, "HTTP/1.1 %u Stub\r\nContent-Type: text/plain\r\n", a->status);
	if (a->end == AS_STUB_HEADERS)
		for (size_t n = 0; n < HUGE_HEADERS; n += 64)
			as_buf_fmt(out, "X-%05zu: %054d\r\n", n, 0);
	if (a->framing == AS_STUB_CHUNKED || a->end == AS_STUB_ENDLESS)
		as_buf_str(out, "Transfer-Encoding: chunked\r\n");
	else if (a->framing == AS_STUB_LENGTH)
		as_buf_fmt(out, "Content-Length: %zu\r\n", (size_t)(a->size + more));
	as_buf_fmt(out, "%s\r\n", closes ? "Connection: close\r\n" : "");
}

static void put_body(struct as_buf *out, const struct as_stub_answer *a)
{
	if (a->framing != AS_STUB_CHUNKED) {
		as_buf_fill(out, 'x', (size_t)a->size + (a->end == AS_STUB_LONG ? TEN : 0));
		return;
	}
	for (uint64_t left = a->size, n; left; left -= n) {
		n = left < 1000 ? left : 1000;
		as_buf_fmt(out, "%zx\r\n", (size_t)n);
		as_buf_fill(out, 'x', (size_t)n);
		as_buf_str(out, "\r\n");
	}
	as_buf_str(out, "0\r\n\r\n");
}

void as_stub_put(struct as_buf *out, const struct as_stub_answer *a)
{
	if (a->end == AS_STUB_GARBAGE) {
		as_buf_str(out, "\001\377this is not HTTP\r\n\r\n");
		return;
	}
	put_head(out, a);
	if (a->end == AS_STUB_HALF)
		out->len /= 2;
	else if (a->end != AS_STUB_ENDLESS && a->end != AS_STUB_DRIP)
		put_body(out, a);
}
