#include "load/turns.h"

#include <string.h>

#include "base/clock.h"
#include "base/num.h"

#define OPEN  "<response"
#define CLOSE "</response>"

enum { NAMES_MOST = 32, LATENCY_MS_MOST = 3600000 };

static const char *find(struct as_turn_text in, const char *word)
{
	return in.n ? memmem(in.p, in.n, word, strlen(word)) : NULL;
}

static struct as_turn_text from(struct as_turn_text t, const char *p)
{
	return (struct as_turn_text){p, t.n - (size_t)(p - t.p)};
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct as_turn_text stripped(struct as_turn_text t)
{
	while (t.n && is_space(*t.p))
		t.p++, t.n--;
	while (t.n && is_space(t.p[t.n - 1]))
		t.n--;
	return t;
}

static bool is(struct as_turn_text t, const char *word)
{
	return t.n == strlen(word) && !memcmp(t.p, word, t.n);
}

/* ── attributes ───────────────────────────────────────────────────────── */

static int64_t milliseconds(struct as_turn_text t)
{
	uint64_t ms = 0;

	if (as_scan_u64(t.p, t.n, &ms) != t.n || ms > LATENCY_MS_MOST)
		return 0;
	return (int64_t)ms * AS_MSEC;
}

static void set(struct as_turn *turn, struct as_turn_text name, struct as_turn_text value)
{
	if (is(name, "latency_ms"))
		turn->latency_ns = milliseconds(value);
	else if (is(name, "chunk_delay_ms"))
		turn->chunk_ns = milliseconds(value);
	else if (is(name, "stream"))
		turn->stream = is(value, "true") || is(value, "True");
	else if (is(name, "file"))
		turn->file = value;
}

/* name='value' or name="value"; what follows it. p is NULL: there is none. */
static struct as_turn_text take_attribute(struct as_turn *turn, struct as_turn_text t)
{
	const char *equals = find(t, "=");
	struct as_turn_text none = {NULL, 0};

	if (!equals || equals + 1 >= t.p + t.n || (equals[1] != '\'' && equals[1] != '"'))
		return none;
	struct as_turn_text value = from(t, equals + 2);
	const char *end = value.n ? memchr(value.p, equals[1], value.n) : NULL;
	if (!end)
		return none;
	value.n = (size_t)(end - value.p);
	set(turn, stripped((struct as_turn_text){t.p, (size_t)(equals - t.p)}), value);
	return from(t, end + 1);
}

/* ── tags ─────────────────────────────────────────────────────────────── */

/* What stands between <response …> and </response>: words, and calls. */
static void take_inside(struct as_turn *turn, struct as_turn_text in)
{
	const char *begin = find(in, "<tool_calls>");
	const char *end = begin ? find(from(in, begin), "</tool_calls>") : NULL;

	turn->text = stripped(in);
	if (!end)
		return;
	turn->text = stripped((struct as_turn_text){in.p, (size_t)(begin - in.p)});
	begin += strlen("<tool_calls>");
	turn->calls = stripped((struct as_turn_text){begin, (size_t)(end - begin)});
}

/* The next tag of the text; what follows it. p is NULL: there is none. */
static struct as_turn_text take_turn(struct as_turn_text t, struct as_turn *ret)
{
	const char *begin = find(t, OPEN);
	struct as_turn_text rest = {NULL, 0};

	if (!begin)
		return rest;
	rest = from(t, begin + strlen(OPEN));
	*ret = (struct as_turn){0};
	for (rest = stripped(rest); rest.n && *rest.p != '/' && *rest.p != '>';) {
		rest = take_attribute(ret, rest);
		if (!rest.p)
			return rest;
		while (rest.n && is_space(*rest.p))
			rest = from(rest, rest.p + 1);
	}
	if (rest.n && *rest.p == '/')
		return rest;
	const char *end = find(rest, CLOSE);
	if (!end)
		return (struct as_turn_text){NULL, 0};
	take_inside(ret, (struct as_turn_text){rest.p + 1, (size_t)(end - rest.p) - 1});
	return from(rest, end);
}

bool as_turn_find(const char *text, size_t n, size_t i, struct as_turn *ret)
{
	struct as_turn_text rest = {text, n};
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
	struct as_turn_text name[NAMES_MOST], value[NAMES_MOST];
	size_t n;
};

/* {% set word = 'text' %}: what stands between the marks. */
static void define(struct names *names, struct as_turn_text in)
{
	const char *equals = find(in, "=");

	in = stripped(in);
	if (!equals || names->n == NAMES_MOST || in.n < 4 || memcmp(in.p, "set ", 4) != 0)
		return;
	struct as_turn_text value = stripped(from(in, equals + 1));
	if (value.n < 2 || (*value.p != '\'' && *value.p != '"') ||
	    value.p[value.n - 1] != *value.p)
		return;
	names->name[names->n] =
		stripped((struct as_turn_text){in.p + 4, (size_t)(equals - in.p) - 4});
	names->value[names->n++] = (struct as_turn_text){value.p + 1, value.n - 2};
}

static void put_named(struct as_buf *out, const struct names *names, struct as_turn_text in)
{
	in = stripped(in);
	for (size_t i = names->n; i-- > 0;)
		if (names->name[i].n == in.n && !memcmp(names->name[i].p, in.p, in.n)) {
			as_buf_add(out, names->value[i].p, names->value[i].n);
			return;
		}
}

/* The nearest "{%" or "{{", with its end; NULL: none that is whole. */
static const char *next_mark(struct as_turn_text t, const char **ret_end)
{
	const char *set = find(t, "{%"), *use = find(t, "{{");
	const char *p = !use || (set && set < use) ? set : use;

	*ret_end = p ? find(from(t, p + 2), p == set ? "%}" : "}}") : NULL;
	return *ret_end ? p : NULL;
}

void as_turns_expand(struct as_buf *out, const char *text, size_t n)
{
	struct as_turn_text rest = {text, n};
	struct names names = {.n = 0};
	const char *end;

	for (const char *p = next_mark(rest, &end); p; p = next_mark(rest, &end)) {
		struct as_turn_text in = {p + 2, (size_t)(end - p) - 2};

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
