/*
 * Folded stacks, read: "frame;frame COUNT". A frame that is spelled
 * "function (file:line)", as we and py-spy do, is taken apart; any other is the
 * name of a function.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/span.h"
#include "profile/read.h"

/* "work (app/work.py:3)": where the file begins, and its line; else all of it is the name. */
static struct as_place place_of(struct as_profile *p, struct as_span s)
{
	const char *open = s.n && s.p[s.n - 1] == ')' ? as_read_opening(s) : NULL;
	const char *colon = open ? memrchr(open, ':', (size_t)(s.p + s.n - open)) : NULL;
	const char *file = open ? open + 2 : NULL;
	uint64_t line = 0;

	if (!colon || colon <= file || open == s.p)
		return (struct as_place){.function = as_profile_text(p, s.p, s.n)};
	size_t digits = (size_t)(s.p + s.n - 1 - colon) - 1;
	if (!digits || as_scan_u64(colon + 1, digits, &line) != digits || line > INT32_MAX)
		return (struct as_place){.function = as_profile_text(p, s.p, s.n)};
	return (struct as_place){.function = as_profile_text(p, s.p, (size_t)(open - s.p)),
				 .file = as_profile_text(p, file, (size_t)(colon - file)),
				 .line = (int32_t)line};
}

/* The count at the end of a line, which is cut off it. */
static bool cut_count(struct as_span *line, int64_t *ret)
{
	size_t at = line->n;

	while (at && line->p[at - 1] >= '0' && line->p[at - 1] <= '9')
		at--;
	if (!at || at == line->n || !as_is_white(line->p[at - 1]) ||
	    as_scan_i64(line->p + at, line->n - at, ret) != line->n - at)
		return false;
	*line = as_span_trim_white(as_span(line->p, at));
	return true;
}

/* Nothing on it, or a remark ("# austin: 3.7.0"). */
static bool is_idle(struct as_span line)
{
	return !line.n || as_span_starts(line, "# ");
}

static void add_stack(struct as_profile *p, struct as_span frames, int64_t count)
{
	uint32_t stack = 0;
	struct as_span frame;

	while (as_span_cut(&frames, ';', &frame)) {
		uint32_t place = as_profile_place(p, place_of(p, frame));

		stack = place ? as_profile_stack(p, stack, place) : stack;
	}
	as_profile_add(p, stack, 0, 0, &count);
}

int as_read_folded(const char *p, size_t n, struct as_profile **ret, struct as_err *err)
{
	static const struct as_value_kind kind = {"samples", "count"};
	as_auto_profile struct as_profile *to = as_profile_new(&kind, 1, err);
	struct as_span text = as_span(p, n), line;
	int64_t count = 0;

	if (!to)
		return err->code;
	for (size_t number = 1; as_span_line(&text, &line); number++) {
		line = as_span_trim_white(line);
		if (is_idle(line))
			continue;
		if (!cut_count(&line, &count))
			return as_fail(err, AS_EFORMAT,
				       "no folded stacks: line %zu has no count at its end",
				       number);
		add_stack(to, line, count);
	}
	int r = as_profile_ok(to, err);
	if (r == AS_OK)
		*ret = as_take(to);
	return r;
}

/* The first line that says anything has a count; no byte of it is one of no text. */
bool as_is_folded(const char *p, size_t n)
{
	struct as_span text = as_span(p, n), line;
	int64_t count;

	while (as_span_line(&text, &line)) {
		line = as_span_trim_white(line);
		if (!is_idle(line))
			return !memchr(line.p, 0, line.n) && cut_count(&line, &count);
	}
	return false;
}
