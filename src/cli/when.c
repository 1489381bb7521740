#include "cli/when.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/num.h"

static bool scan_clock(const char **p, struct tm *tm)
{
	if (**p != ' ' && **p != 'T')
		return true; /* midnight */
	++*p;
	if (!as_scan_part(p, 2, ':', 0, 23, &tm->tm_hour) ||
	    !as_scan_part(p, 2, 0, 0, 59, &tm->tm_min))
		return false;
	if (**p != ':')
		return true;
	++*p;
	return as_scan_part(p, 2, 0, 0, 59, &tm->tm_sec);
}

/* The calendar is asked back: 31 November is not a date. */
static bool scan_date(const char *p, int64_t *ret_ns)
{
	struct tm tm = {.tm_isdst = -1};
	int year = 0, month = 0;

	if (!as_scan_part(&p, 4, '-', 1970, 2200, &year) ||
	    !as_scan_part(&p, 2, '-', 1, 12, &month) ||
	    !as_scan_part(&p, 2, 0, 1, 31, &tm.tm_mday) || !scan_clock(&p, &tm))
		return false;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	int day = tm.tm_mday;
	time_t t = *p == 'Z' ? timegm(&tm) : mktime(&tm);
	if (t < 0 || tm.tm_mday != day || tm.tm_mon != month - 1 || (*p && strcmp(p, "Z")))
		return false;
	*ret_ns = (int64_t)t * AS_SECOND;
	return true;
}

int as_when_parse(const char *text, int64_t now_ns, int64_t *ret_ns, struct as_err *err)
{
	size_t digits = strspn(text, "0123456789");
	int64_t ago = 0;

	if (scan_date(text, ret_ns))
		return AS_OK;
	/* A bare number could be a year as well as seconds: it must be said. */
	if (text[digits] && as_parse_duration(text, &ago, err) == AS_OK && ago < now_ns) {
		*ret_ns = now_ns - ago;
		return AS_OK;
	}
	return as_fail(err, AS_EUSAGE,
		       "'%s' is neither a time ago (30m, 2h, 7d) nor a date (2026-11-01, "
		       "'2026-11-01 12:00')",
		       text);
}
