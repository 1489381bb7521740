#include "load/turns.h"

#include <string.h>

#include "base/clock.h"
#include "base/num.h"

#define OPEN  "<response"
#define CLOSE "</response>"

enum { NAMES_MOST = 32, LATENCY_MS_MOST = 3600000 };

static struct as_span from(struct as_span t, const char *p)
{
	return as_span(p, t.n - (size_t)(p - t.p));
}

static struct as_span between(const char *p, const char *end)
{
	return as_span(p, (size_t)(end - p));
}

/* ── attributes ───────────────────────────────────────────────────────── */

static int64_t milliseconds(struct as_span t)
{
	uint64_t ms = 0;

	if (as_scan_u64(t.p, t.n, &ms) != t.n || ms > LATENCY_MS_MOST)
		return 0;
	return (int64_t)ms * AS_MSEC;
}

static void set(struct as_turn *turn, struct as_span name, struct as_span value)
{
	if (as_span_is(name, "latency_ms"))
		turn->latency_ns = milliseconds(value);
	else if (as_span_is(name, "chunk_delay_ms"))
		turn->chunk_ns = milliseconds(value);
	else if (as_span_is(name, "stream"))
		turn->stream = as_span_is(value, "true") || as_span_is(value, "True");
	else if (as_span_is(name, "file"))
		turn->file = value;
}

/* name='value' or name="value"; what follows it. p is NULL: there is none. */
static struct as_span take_attribute(struct as_turn *turn, struct as_span t)
{
	const char *equals = as_span_find(t, "=");
	struct as_span none = {0};

	if (!equals || equals + 1 >= t.p + t.n || (equals[1] != '\'' && equals[1] != '"'))
		return none;
	struct as_span value = from(t, equals + 2);
	const char *end = value.n ? memchr(value.p, equals[1], value.n) : NULL;
	if (!end)
		return none;
	value.n = (size_t)(end - value.p);
	set(turn, as_span_trim_white(between(t.p, equals)), value);
	return from(t, end + 1);
}

/* ── tags ─────────────────────────────────────────────────────────────── */

/* What stands between <response …> and </response>: words, and calls. */
static void take_inside(struct as_turn *turn, struct as_span in)
{
	const char *begin = as_span_find(in, "<tool_calls>");
	const char *end = begin ? as_span_find(from(in, begin), "</tool_calls>") : NULL;

	turn->text = as_span_trim_white(in);
	if (!end)
		return;
	turn->text = as_span_trim_white(between(in.p, begin));
	begin += strlen("<tool_calls>");
	turn->calls = as_span_trim_white(between(begin, end));
}

/* The next tag of the text; what follows it. p is NULL: there is none. */
static struct as_span take_turn(struct as_span t, struct as_turn *ret)
{
	const char *begin = as_span_find(t, OPEN);
	struct as_span rest = {0};

	if (!begin)
		return rest;
	rest = from(t, begin + strlen(OPEN));
	*ret = (struct as_turn){0};
	for (rest = as_span_trim_white(rest); rest.n && *rest.p != '/' && *rest.p != '>';) {
		rest = take_attribute(ret, rest);
		if (!rest.p)
			return rest;
		while (rest.n && as_is_white(*rest.p))
			rest = from(rest, rest.p + 1);
	}
	if (rest.n && *rest.p == '/')
		return rest;
	const char *end = as_span_find(rest, CLOSE);
	if (!end)
		return as_span(NULL, 0);
	take_inside(ret, between(rest.p + 1, end));
	return from(rest, end);
}

bool as_turn_find(const char *text, size_t n, size_t i, struct as_turn *ret)
{
	struct as_span rest = as_span(text, n);
	struct as_turn turn;
	bool some = false, more = true;

	for (size_t at = 0; more && at <= i; at++) {
		rest = take_turn(rest, &turn);
		more = rest.p != NULL;
		if (!more)
			break;
		*ret = turn;
		some = true;
		more = turn.calls.n > 0; /* the first without a call is the end */
	}
	return some;
}

/* ── names ────────────────────────────────────────────────────────────── */

struct names {
	struct as_span name[NAMES_MOST], value[NAMES_MOST];
	size_t n;
};

/* {% set word = 'text' %}: what stands between the marks. */
static void define(struct names *names, struct as_span in)
{
	const char *equals = as_span_find(in, "=");

	in = as_span_trim_white(in);
	if (!equals || names->n == NAMES_MOST || in.n < 4 || memcmp(in.p, "set ", 4) != 0)
		return;
	struct as_span value = as_span_trim_white(from(in, equals + 1));
	if (value.n < 2 || (*value.p != '\'' && *value.p != '"') ||
	    value.p[value.n - 1] != *value.p)
		return;
	names->name[names->n] = as_span_trim_white(between(in.p + 4, equals));
	names->value[names->n++] = as_span(value.p + 1, value.n - 2);
}

static void put_named(struct as_buf *out, const struct names *names, struct as_span in)
{
	in = as_span_trim_white(in);
	for (size_t i = names->n; i-- > 0;)
		if (as_span_same(names->name[i], in)) {
			as_buf_add(out, names->value[i].p, names->value[i].n);
			return;
		}
}

/* The nearest "{%" or "{{", with its end; NULL: none that is whole. */
static const char *next_mark(struct as_span t, const char **ret_end)
{
	const char *set = as_span_find(t, "{%"), *use = as_span_find(t, "{{");
	const char *p = !use || (set && set < use) ? set : use;

	*ret_end = p ? as_span_find(from(t, p + 2), p == set ? "%}" : "}}") : NULL;
	return *ret_end ? p : NULL;
}

void as_turns_expand(struct as_buf *out, const char *text, size_t n)
{
	struct as_span rest = as_span(text, n);
	struct names names = {.n = 0};
	const char *end;

	for (const char *p = next_mark(rest, &end); p; p = next_mark(rest, &end)) {
		struct as_span in = between(p + 2, end);

		as_buf_add(out, rest.p, (size_t)(p - rest.p));
		if (p[1] == '%')
			define(&names, in);
		else
			put_named(out, &names, in);
		rest = from(rest, end + 2);
	}
	if (rest.n)
		as_buf_add(out, rest.p, rest.n);
}
