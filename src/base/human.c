#include "base/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"

static struct as_text unknown(void)
{
	return (struct as_text){"-"};
}

/* How many decimals show `digits` (2 or 3) digits of v, once it is rounded to them. */
static int decimals(double v, int digits)
{
	if (v < 10 - (digits == 3 ? 0.005 : 0.05))
		return digits - 1;
	return v < 100 - 0.05 ? 1 : 0;
}

/* ── durations: integers, because ns do not fit a double after 104 days ─── */

static int64_t divide(int64_t v, int64_t by) /* rounds to the nearest; v >= 0 */
{
	return v / by + (v % by >= by - v % by ? 1 : 0);
}

static struct as_text small_duration(const char *sign, double v)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	struct as_text t;
	size_t u = 0;

	for (; v >= 999.5 && u < 3; u++)
		v /= 1000;
	(void)snprintf(t.s, sizeof t.s, "%s%.*f %s", sign, u ? decimals(v, 3) : 0, v, units[u]);
	return t;
}

/* "3m 12s": v of the smaller unit, `per` of which make the larger. */
static struct as_text pair(const char *sign, int64_t v, int64_t per, char large, char small)
{
	struct as_text t;

	(void)snprintf(t.s, sizeof t.s, "%s%d%c %02d%c", sign, (int)(v / per), large,
		       (int)(v % per), small);
	return t;
}

struct as_text as_human_duration(int64_t ns)
{
	const char *sign = ns < 0 ? "-" : "";
	const int64_t minute = 60 * AS_SECOND, hour = 60 * minute;
	struct as_text t;

	if (ns == INT64_MIN)
		return unknown();
	if (ns == 0)
		return (struct as_text){"0 s"};
	ns = ns < 0 ? -ns : ns;
	if (divide(ns, AS_SECOND / 10) < 600) /* would be shown as less than 60.0 s */
		return small_duration(sign, (double)ns);
	if (divide(ns, AS_SECOND) < 3600)
		return pair(sign, divide(ns, AS_SECOND), 60, 'm', 's');
	if (divide(ns, minute) < 48 * 60)
		return pair(sign, divide(ns, minute), 60, 'h', 'm');
	if (divide(ns, hour) < 1000 * 24)
		return pair(sign, divide(ns, hour), 24, 'd', 'h');
	(void)snprintf(t.s, sizeof t.s, "%s%" PRId64 "d", sign, divide(ns, 24 * hour));
	return t;
}

/* ── sizes, counts, shares ────────────────────────────────────────────── */

/* `fine`: one decimal up to 99.9; otherwise up to 9.9, which leaves room for `per`. */
static struct as_text bytes(double v, bool fine, const char *per)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	const char *sign = v < 0 ? "-" : "";
	struct as_text t;
	size_t u = 0;

	v = fabs(v);
	for (; v >= 999.5 && u < 6; u++)
		v /= 1024;
	int places = (u == 0 && v == floor(v)) || (!fine && v >= 9.95) ? 0 : decimals(v, 2);
	if (v >= 999.5)
		(void)snprintf(t.s, sizeof t.s, "%s EiB%s", *sign ? "<-999" : ">999", per);
	else if (u == 0 && v > 0 && v < 0.05)
		(void)snprintf(t.s, sizeof t.s, "%s<0.1 B%s", sign, per);
	else
		(void)snprintf(t.s, sizeof t.s, "%s%.*f %s%s", sign, places, v, units[u], per);
	return t;
}

struct as_text as_human_bytes(double v)
{
	return isfinite(v) ? bytes(v, true, "") : unknown();
}

struct as_text as_human_byte_rate(double v)
{
	/* No growth is negative, and no bus moves an exabyte: what is beyond was no rate. */
	return v >= 0 && v < 0x1p69 ? bytes(v, false, "/s") : unknown();
}

/* A whole number below a million, its thousands set apart. */
static void grouped(struct as_text *t, const char *sign, double v, const char *after)
{
	int n = (int)lround(v);

	if (n >= 1000)
		(void)snprintf(t->s, sizeof t->s, "%s%d %03d%s", sign, n / 1000, n % 1000, after);
	else
		(void)snprintf(t->s, sizeof t->s, "%s%d%s", sign, n, after);
}

static void small_count(struct as_text *t, const char *sign, double v)
{
	if (v < 0.005)
		(void)snprintf(t->s, sizeof t->s, "%s<0.01", sign);
	else
		(void)snprintf(t->s, sizeof t->s, "%s%.*f", sign, v < 0.95 ? 2 : decimals(v, 2), v);
}

struct as_text as_human_count(double v)
{
	const char *sign = v < 0 ? "-" : "";
	struct as_text t;
	int u = 0;

	if (!isfinite(v))
		return unknown();
	v = fabs(v);
	if (v != floor(v) && v < 99.95)
		small_count(&t, sign, v);
	else if (v < 999999.5)
		grouped(&t, sign, v, "");
	else {
		for (v /= 1e6; v >= 999.5 && u < 4; u++)
			v /= 1000;
		if (v >= 999.5)
			(void)snprintf(t.s, sizeof t.s, "%s E", *sign ? "<-999" : ">999");
		else
			(void)snprintf(t.s, sizeof t.s, "%s%.*f %c", sign, decimals(v, 2), v,
				       "MGTPE"[u]);
	}
	return t;
}

struct as_text as_human_percent(double ratio)
{
	const char *sign = ratio < 0 ? "-" : "";
	double v = fabs(ratio) * 100;
	struct as_text t;

	if (!isfinite(ratio))
		return unknown();
	if (v == 0)
		(void)snprintf(t.s, sizeof t.s, "0 %%");
	else if (v < 0.05)
		(void)snprintf(t.s, sizeof t.s, "%s<0.1 %%", sign);
	else if (v < 9.95)
		(void)snprintf(t.s, sizeof t.s, "%s%.1f %%", sign, v);
	else if (v < 99999.5)
		grouped(&t, sign, v, " %");
	else
		(void)snprintf(t.s, sizeof t.s, "%s %%", *sign ? "<-99999" : ">99 999");
	return t;
}

struct as_text as_human_number(double v)
{
	const char *sign = v < 0 ? "-" : "";
	struct as_text t;

	if (!isfinite(v))
		return unknown();
	if (fabs(v) >= 99.95 || v == 0)
		return as_human_count(v);
	if (fabs(v) < 0.005)
		(void)snprintf(t.s, sizeof t.s, "%s<0.01", sign);
	else
		(void)snprintf(t.s, sizeof t.s, "%.*f", decimals(fabs(v), 3), v);
	return t;
}

struct as_text as_human_cpus(double cpus)
{
	return cpus == floor(cpus) ? as_human_count(cpus) : as_human_number(cpus);
}
