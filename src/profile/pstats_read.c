/*
 * Statistics of cProfile, profile and yappi, read. They know what each function
 * had below each of its callers, but no stacks: a function becomes stacks of
 * two, a caller and itself, with its own time below that caller. What no caller
 * accounts for is a stack of one. So its own times are exact; its cumulative
 * time is a kind of value of its own.
 */
#include "profile/pstats.h"

#include <string.h>

#include "base/cleanup.h"
#include "profile/marshal.h"
#include "profile/read.h"

enum { CALLS, CUMULATIVE, TIME, KINDS };
enum { NC_AT_CALLER = 0, TT = 2, CT, CALLERS, VALUES = 5 };

struct reader {
	struct as_marshal m;
	struct as_profile *p;
	size_t steps; /* how many callers may still come */
};

static void reader_done(struct reader *r)
{
	as_marshal_done(&r->m);
	as_profile_free(r->p);
}

static int broken(struct as_err *err, const char *why)
{
	return as_fail(err, AS_EFORMAT, "no pstats: %s", why);
}

static int64_t nanoseconds(double s)
{
	const double most = 9e9; /* 285 years */

	return s > 0 ? (int64_t)((s < most ? s : most) * 1e9 + 0.5) : 0;
}

static int64_t whole(double v)
{
	return v > 0 && v < 9e18 ? (int64_t)v : 0;
}

/* ("app.py", 12, "work"); built-in functions stand in "~", line 0. */
static bool place_of(struct reader *r, uint32_t at, uint32_t *ret)
{
	uint32_t item[3];
	const struct as_marshal_value *v = r->m.value;
	struct as_place place = {0};

	if (!as_marshal_tuple(&r->m, at, item, 3) || v[item[0]].type != AS_M_TEXT ||
	    v[item[1]].type != AS_M_INT || v[item[2]].type != AS_M_TEXT)
		return false;
	struct as_span file = v[item[0]].text, name = v[item[2]].text;
	int64_t line = v[item[1]].number;
	place.function = as_profile_text(r->p, name.n ? name.p : "?", name.n ? name.n : 1);
	if (file.n != 1 || file.p[0] != '~')
		place.file = as_profile_text(r->p, file.p, file.n);
	place.begin = place.line = line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
	*ret = as_profile_place(r->p, place);
	return true;
}

/* The four numbers of a function or of a caller; in `profile`'s files a caller has a count only. */
static bool numbers(const struct reader *r, uint32_t at, double n[4])
{
	uint32_t item[4];

	if (!as_marshal_tuple(&r->m, at, item, 4))
		return false;
	for (size_t i = 0; i < 4; i++)
		if (!as_marshal_number(&r->m, item[i], &n[i]))
			return false;
	return true;
}

/* Below one caller; what it accounts for is taken from `left`. A call of itself has no time. */
static bool add_caller(struct reader *r, uint32_t caller, uint32_t value, uint32_t place,
		       int64_t left[KINDS])
{
	double n[4] = {0};
	uint32_t from;

	if (!place_of(r, caller, &from))
		return false;
	if (!numbers(r, value, n) && !as_marshal_number(&r->m, value, &n[NC_AT_CALLER]))
		return false;
	const int64_t v[KINDS] = {whole(n[NC_AT_CALLER]), from == place ? 0 : nanoseconds(n[CT]),
				  nanoseconds(n[TT])};
	as_profile_add(r->p, as_profile_stack(r->p, as_profile_stack(r->p, 0, from), place), 0, 0,
		       v);
	for (size_t i = 0; i < KINDS; i++)
		left[i] = left[i] > v[i] ? left[i] - v[i] : 0;
	return true;
}

static int add_function(struct reader *r, uint32_t key, uint32_t value, struct as_err *err)
{
	uint32_t item[VALUES], place, caller, at;
	double n[4];

	if (!place_of(r, key, &place) || !numbers(r, value, n) ||
	    !as_marshal_tuple(&r->m, value, item, VALUES))
		return broken(err, "a function has not what it must have");
	int64_t left[KINDS] = {whole(n[1]), nanoseconds(n[CT]), nanoseconds(n[TT])};
	uint32_t from = as_marshal_dict(&r->m, item[CALLERS]);
	while (as_marshal_pair(&r->m, &from, &caller, &at)) {
		if (!r->steps--)
			return broken(err, "it has more callers than it can have");
		if (!add_caller(r, caller, at, place, left))
			return broken(err, "a caller has not what it must have");
	}
	if (left[CALLS] || left[CUMULATIVE] || left[TIME])
		as_profile_add(r->p, as_profile_stack(r->p, 0, place), 0, 0, left);
	return AS_OK;
}

static int read_all(struct reader *r, struct as_err *err)
{
	uint32_t from = as_marshal_dict(&r->m, 0), key, value;
	int e = AS_OK;

	if (r->m.value[0].type != AS_M_DICT)
		return broken(err, "it is no dictionary of functions");
	while (e == AS_OK && as_marshal_pair(&r->m, &from, &key, &value))
		e = add_function(r, key, value, err);
	return e == AS_OK ? as_profile_ok(r->p, err) : e;
}

int as_read_pstats(const char *p, size_t n, struct as_profile **ret, struct as_err *err)
{
	static const struct as_value_kind kinds[KINDS] = {
		[CALLS] = {AS_PSTATS_CALLS, "count"},
		[CUMULATIVE] = {AS_PSTATS_CUMULATIVE, "nanoseconds"},
		[TIME] = {AS_PSTATS_TIME, "nanoseconds"},
	};
	as_cleanup(reader_done) struct reader r = {.steps = n};
	int e = as_marshal_read(&r.m, p, n, err);

	if (e < 0)
		return e;
	r.p = as_profile_new(kinds, KINDS, err);
	if (r.p)
		r.p->totals = AS_TOTALS_CUMULATIVE;
	e = r.p ? read_all(&r, err) : err->code;
	if (e == AS_OK)
		*ret = as_take(r.p);
	return e;
}

/* A dictionary whose first key is a tuple; JSON never has that behind its brace. */
bool as_is_pstats(const char *p, size_t n)
{
	return n > 2 && (p[0] & 0x7f) == '{' && ((p[1] & 0x7f) == '(' || (p[1] & 0x7f) == ')');
}
