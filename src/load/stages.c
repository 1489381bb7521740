#include "load/stages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

enum { WORD = 64 };

/* ── words ────────────────────────────────────────────────────────────── */

static int bad(const char *text, struct as_err *err)
{
	(void)as_fail(err, AS_EUSAGE, "'%.60s' is no plan", text);
	return as_hint(err, "100, 10:100 (from, to), or stages: 100@30s,500@1m");
}

static int parse_amount(const char *word, double *ret, struct as_err *err)
{
	int r = as_parse_rate(word, ret, err);

	if (r == AS_OK && *ret > 1e7)
		return as_fail(err, AS_EUSAGE, "'%.40s' is more than any machine can do", word);
	return r;
}

/* "FROM:TO" or "TO"; what is not said stays. */
static int parse_range(char *word, struct as_stage *ret, struct as_err *err)
{
	char *colon = strchr(word, ':');
	int r = AS_OK;

	if (colon) {
		*colon = '\0';
		r = parse_amount(word, &ret->from, err);
	}
	return r < 0 ? r : parse_amount(colon ? colon + 1 : word, &ret->to, err);
}

static int parse_stage(char *word, struct as_stage *ret, struct as_err *err)
{
	char *when = strchr(word, '@');
	int64_t ns = 0;

	if (!when)
		return bad(word, err);
	*when = '\0';
	int r = as_parse_duration(when + 1, &ns, err);
	ret->seconds = (double)ns / 1e9;
	if (r == AS_OK && !ns)
		return as_fail(err, AS_EUSAGE, "a stage lasts longer than no time");
	return r < 0 ? r : parse_range(word, ret, err);
}

static int add_stage(const char *p, size_t n, struct as_stages *to, struct as_err *err)
{
	char word[WORD];

	if (n >= sizeof word)
		return bad(p, err);
	if (to->n == AS_STAGES_MOST)
		return as_fail(err, AS_EUSAGE, "too many stages: %d at most", AS_STAGES_MOST);
	(void)snprintf(word, sizeof word, "%.*s", (int)n, p);
	struct as_stage s = {.from = to->n ? to->at[to->n - 1].to : 0};
	int r = parse_stage(word, &s, err);
	to->at[to->n] = s;
	to->n += r == AS_OK;
	return r;
}

static int parse_list(const char *text, struct as_stages *ret, struct as_err *err)
{
	int r = AS_OK;

	for (const char *p = text; r == AS_OK; p++) {
		size_t n = strcspn(p, ",");

		r = add_stage(p, n, ret, err);
		p += n;
		if (!*p)
			break;
	}
	return r;
}

/* Without a time: one stage, as long as all of it. */
static int parse_whole(const char *text, int64_t whole_ns, struct as_stage *ret, struct as_err *err)
{
	char word[WORD];

	if (strlen(text) >= sizeof word)
		return bad(text, err);
	(void)snprintf(word, sizeof word, "%s", text);
	ret->from = -1;
	int r = parse_range(word, ret, err);
	bool ramp = ret->from >= 0;
	ret->seconds = ramp ? (double)whole_ns / 1e9 : (double)INFINITY;
	ret->from = ramp ? ret->from : ret->to;
	if (r == AS_OK && ramp && !whole_ns)
		return as_fail(err, AS_EUSAGE, "'%.60s' in which time? (-z TIME)", text);
	return r;
}

int as_stages_parse(const char *text, int64_t whole_ns, struct as_stages *ret, struct as_err *err)
{
	*ret = (struct as_stages){.n = 0};
	if (strchr(text, '@'))
		return parse_list(text, ret, err);
	ret->n = 1;
	return parse_whole(text, whole_ns, &ret->at[0], err);
}

struct as_stages as_stages_constant(double amount)
{
	return (struct as_stages){.at = {{amount, amount, (double)INFINITY}}, .n = 1};
}

int as_stages_delay(struct as_stages *s, int64_t ns, struct as_err *err)
{
	if (!ns || !as_stages_vary(s))
		return AS_OK;
	if (s->n == AS_STAGES_MOST)
		return as_fail(err, AS_EUSAGE, "too many stages: %d at most", AS_STAGES_MOST);
	memmove(&s->at[1], &s->at[0], s->n * sizeof s->at[0]);
	s->n++;
	s->at[0] = (struct as_stage){s->at[1].from, s->at[1].from, (double)ns / 1e9};
	return AS_OK;
}

/* ── what they come to ────────────────────────────────────────────────── */

bool as_stages_vary(const struct as_stages *s)
{
	return isfinite(s->at[0].seconds);
}

double as_stages_seconds(const struct as_stages *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->at[i].seconds;
	return sum;
}

double as_stages_most(const struct as_stages *s)
{
	double most = 0;

	for (size_t i = 0; i < s->n; i++)
		most = fmax(most, fmax(s->at[i].from, s->at[i].to));
	return most;
}

/* A second of one that lasts for ever is as good as any. */
static double slope(const struct as_stage *s)
{
	return (s->to - s->from) / s->seconds;
}

static double sum_within(const struct as_stage *s, double second)
{
	return s->from * second + slope(s) * second * second / 2;
}

double as_stages_at(const struct as_stages *s, double second)
{
	for (size_t i = 0; i < s->n; i++) {
		if (second < s->at[i].seconds)
			return s->at[i].from + slope(&s->at[i]) * second;
		second -= s->at[i].seconds;
	}
	return s->at[s->n - 1].to;
}

double as_stages_sum(const struct as_stages *s, double second)
{
	double sum = 0;

	for (size_t i = 0; i < s->n && second > 0; i++) {
		sum += sum_within(&s->at[i], fmin(second, s->at[i].seconds));
		second -= s->at[i].seconds;
	}
	return sum;
}

/* The root of from*t + slope*t*t/2 = n that is never the difference of two near numbers. */
static double when_within(const struct as_stage *s, double n)
{
	double under = s->from * s->from + 2 * slope(s) * n;

	return n > 0 ? 2 * n / (s->from + sqrt(fmax(under, 0))) : 0;
}

double as_stages_when(const struct as_stages *s, double n)
{
	double before = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct as_stage *at = &s->at[i];
		double all = (at->from + at->to) / 2 * at->seconds;

		if (n < all)
			return before + when_within(at, n);
		n -= all;
		before += at->seconds;
	}
	return (double)INFINITY;
}
