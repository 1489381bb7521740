/*
 * What yappi prints, read: a table of functions without callers, so each is a
 * stack of one.
 *
 *	name                                  ncall  tsub      ttot      tavg
 *	/srv/app/main.py:16 main              6/1    0.000010  0.005093  0.005093
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/span.h"
#include "profile/pstats.h"
#include "profile/read.h"

enum { CALLS, CUMULATIVE, TIME, KINDS };

static bool is_title(struct as_span s)
{
	return as_span_starts(s, "name ") && as_span_find(s, " ncall ") &&
	       as_span_find(s, " tsub ");
}

/* Cuts the last word off. */
static struct as_span last_word(struct as_span *s)
{
	size_t at = s->n;

	while (at && !as_is_white(s->p[at - 1]))
		at--;
	struct as_span w = as_span_skip(*s, at);
	*s = as_span_trim_white(as_span(s->p, at));
	return w;
}

static bool seconds(struct as_span *row, int64_t *ret)
{
	struct as_span w = last_word(row);
	uint64_t ns = 0;

	if (!w.n || as_scan_fixed(w.p, w.n, 1000000000, &ns) != w.n || ns > INT64_MAX)
		return false;
	*ret = (int64_t)ns;
	return true;
}

/* "6/1": all calls, and those that did not come from itself. */
static bool calls(struct as_span *row, int64_t *ret)
{
	struct as_span w = last_word(row);

	return w.n && as_scan_i64(w.p, w.n, ret) > 0;
}

/* "/srv/app/main.py:16 main"; built-in functions have no file. */
static struct as_place place_of(struct as_profile *p, struct as_span name)
{
	struct as_span file = name, function = last_word(&file);
	const char *colon = file.n ? memrchr(file.p, ':', file.n) : NULL;
	uint64_t line = 0;
	size_t digits = colon ? (size_t)(file.p + file.n - colon) - 1 : 0;

	if (!digits || colon == file.p || as_scan_u64(colon + 1, digits, &line) != digits ||
	    line > INT32_MAX)
		return (struct as_place){.function = as_profile_text(p, name.p, name.n)};
	return (struct as_place){as_profile_text(p, function.p, function.n),
				 as_profile_text(p, file.p, (size_t)(colon - file.p)),
				 (int32_t)line, (int32_t)line};
}

static bool read_row(struct as_profile *p, struct as_span row)
{
	int64_t v[KINDS] = {0}, average = 0;

	if (!seconds(&row, &average) || !seconds(&row, &v[CUMULATIVE]) ||
	    !seconds(&row, &v[TIME]) || !calls(&row, &v[CALLS]) || !row.n)
		return false;
	uint32_t place = as_profile_place(p, place_of(p, row));
	as_profile_add(p, place ? as_profile_stack(p, 0, place) : 0, 0, 0, v);
	return true;
}

int as_read_yappi(const char *p, size_t n, struct as_profile **ret, struct as_err *err)
{
	static const struct as_value_kind kinds[KINDS] = {
		[CALLS] = {AS_PSTATS_CALLS, "count"},
		[CUMULATIVE] = {AS_PSTATS_CUMULATIVE, "nanoseconds"},
		[TIME] = {AS_PSTATS_TIME, "nanoseconds"},
	};
	as_auto_profile struct as_profile *to = as_profile_new(kinds, KINDS, err);
	struct as_span text = as_span(p, n), line;
	bool in_table = false, titled = false;

	if (!to)
		return err->code;
	to->totals = AS_TOTALS_CUMULATIVE;
	for (size_t number = 1; as_span_line(&text, &line); number++) {
		line = as_span_trim_white(line);
		bool title = is_title(line);
		if (in_table && line.n && !title && !read_row(to, line))
			return as_fail(err, AS_EFORMAT, "no table of yappi: line %zu is no row",
				       number);
		in_table = title || (in_table && line.n);
		titled |= title;
	}
	if (!titled)
		return as_fail(err, AS_EFORMAT, "no table of yappi: no line is its title");
	int r = as_profile_ok(to, err);
	if (r == AS_OK)
		*ret = as_take(to);
	return r;
}

bool as_is_yappi(const char *p, size_t n)
{
	struct as_span text = as_span(p, n < 4096 ? n : 4096), line;

	while (as_span_line(&text, &line))
		if (is_title(as_span_trim_white(line)))
			return true;
	return false;
}
