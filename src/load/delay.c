#include "load/delay.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"

enum { WORD = 40 };

/* A day: whatever is drawn. */
static const double most_ns = 86400e9;

/* "5ms:15ms" is "5ms", and the rest what is returned; NULL: there is no colon. */
static const char *cut(const char *text, char first[WORD])
{
	const char *colon = strchr(text, ':');

	if (!colon || (size_t)(colon - text) >= WORD)
		return NULL;
	(void)snprintf(first, WORD, "%.*s", (int)(colon - text), text);
	return colon + 1;
}

static int parse_uniform(const char *text, struct as_delay *d, struct as_err *err)
{
	char from[WORD];
	const char *to = cut(text, from);

	if (!to)
		return as_fail(err, AS_EUSAGE, "'%.40s' is no range: uniform:5ms:15ms", text);
	int r = as_parse_duration(from, &d->a_ns, err);
	if (r == AS_OK)
		r = as_parse_duration(to, &d->b_ns, err);
	if (r == AS_OK && d->b_ns < d->a_ns)
		return as_fail(err, AS_EUSAGE, "'%.40s' ends before it begins", text);
	return r;
}

/* "10ms:0.5" */
static int parse_spread(const char *text, struct as_delay *d, struct as_err *err)
{
	char middle[WORD];
	const char *spread = cut(text, middle);

	if (!spread)
		return as_fail(err, AS_EUSAGE, "'%.40s' lacks a number: lognormal:10ms:0.5", text);
	int r = as_parse_duration(middle, &d->a_ns, err);
	if (r == AS_OK)
		r = as_parse_f64(spread, &d->spread, err);
	if (r == AS_OK && !(d->spread >= 0.01 && d->spread <= 100))
		return as_fail(err, AS_EUSAGE, "'%.40s' is no spread: 0.01 to 100", spread);
	return r;
}

static int parse_time(const char *text, struct as_delay *d, struct as_err *err)
{
	return as_parse_duration(text, &d->a_ns, err);
}

static const struct {
	const char *prefix;
	enum as_delay_kind kind;
	int (*parse)(const char *text, struct as_delay *d, struct as_err *err);
} kinds[] = {
	{"exp:", AS_DELAY_EXP, parse_time},
	{"uniform:", AS_DELAY_UNIFORM, parse_uniform},
	{"lognormal:", AS_DELAY_LOGNORMAL, parse_spread},
	{"gamma:", AS_DELAY_GAMMA, parse_spread},
	{"", AS_DELAY_FIXED, parse_time},
};

int as_delay_parse(const char *text, struct as_delay *ret, struct as_err *err)
{
	size_t i = 0;

	while (strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
		i++;
	*ret = (struct as_delay){.kind = kinds[i].kind};
	return kinds[i].parse(text + strlen(kinds[i].prefix), ret, err);
}

static double draw(const struct as_delay *d, struct as_random *r)
{
	double a = (double)d->a_ns;

	switch (d->kind) {
	case AS_DELAY_EXP:
		return a * as_random_exponential(r);
	case AS_DELAY_UNIFORM:
		return a + (double)(d->b_ns - d->a_ns) * as_random_unit(r);
	case AS_DELAY_LOGNORMAL:
		return a * exp(d->spread * as_random_normal(r));
	case AS_DELAY_GAMMA:
		return a * as_random_gamma(r, d->spread);
	case AS_DELAY_FIXED:
		break;
	}
	return a;
}

int64_t as_delay_draw(const struct as_delay *d, struct as_random *r)
{
	return (int64_t)fmin(draw(d, r), most_ns);
}
