#include "base/num.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

size_t as_scan_u64(const char *p, size_t n, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;

	for (; i < n && is_digit(p[i]); i++) {
		unsigned d = (unsigned)(p[i] - '0');

		if (v > (UINT64_MAX - d) / 10)
			return 0; /* would overflow: not a number */
		v = v * 10 + d;
	}
	if (i)
		*ret = v;
	return i;
}

size_t as_scan_i64(const char *p, size_t n, int64_t *ret)
{
	size_t sign = n && p[0] == '-';
	uint64_t v = 0;
	size_t used = as_scan_u64(p + sign, n - sign, &v);

	if (!used || v > (uint64_t)INT64_MAX + sign)
		return 0;
	*ret = sign ? (int64_t)(0 - v) : (int64_t)v;
	return used + sign;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

size_t as_scan_hex(const char *p, size_t n, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;

	for (; i < n && hex_digit(p[i]) >= 0; i++) {
		if (v >> 60)
			return 0;
		v = v << 4 | (uint64_t)hex_digit(p[i]);
	}
	if (i)
		*ret = v;
	return i;
}

/* The digits after a point, if there are any: adds them to *v and counts them. */
static size_t scan_fraction(const char *p, size_t n, double *v)
{
	double unit = 0.1;
	size_t i = 1;

	if (n < 2 || p[0] != '.' || !is_digit(p[1]))
		return 0;
	for (; i < n && is_digit(p[i]); i++, unit /= 10)
		*v += (p[i] - '0') * unit;
	return i;
}

static size_t scan_exponent(const char *p, size_t n, double *v)
{
	int64_t e = 0;

	if (n < 2 || (p[0] != 'e' && p[0] != 'E'))
		return 0;
	size_t plus = p[1] == '+', used = as_scan_i64(p + 1 + plus, n - 1 - plus, &e);
	double scaled = used && e <= 400 && e >= -400 ? *v * pow(10, (double)e) : INFINITY;
	if (!isfinite(scaled))
		return 0;
	*v = scaled;
	return 1 + plus + used;
}

size_t as_scan_dec(const char *p, size_t n, double *ret)
{
	size_t sign = n && p[0] == '-', i = sign;
	double v = 0;

	for (; i < n && is_digit(p[i]); i++)
		v = v * 10 + (p[i] - '0');
	i += scan_fraction(p + i, n - i, &v);
	if (i == sign)
		return 0;
	i += scan_exponent(p + i, n - i, &v);
	if (!isfinite(v))
		return 0;
	*ret = sign ? -v : v;
	return i;
}

size_t as_scan_fixed(const char *p, size_t n, uint64_t scale, uint64_t *ret)
{
	uint64_t whole = 0, part = 0;
	size_t i = as_scan_u64(p, n, &whole);

	if (!i || whole > UINT64_MAX / scale - 1)
		return 0;
	whole *= scale;
	if (i + 1 < n && p[i] == '.' && is_digit(p[i + 1]))
		for (i++; i < n && is_digit(p[i]); i++) {
			scale /= 10;
			part += (uint64_t)(p[i] - '0') * scale;
		}
	*ret = whole + part;
	return i;
}

bool as_scan_part(const char **p, size_t digits, char stop, int lo, int hi, int *ret)
{
	uint64_t v = 0;

	if (strnlen(*p, digits) < digits || as_scan_u64(*p, digits, &v) != digits)
		return false;
	if (v < (uint64_t)lo || v > (uint64_t)hi || (stop && (*p)[digits] != stop))
		return false;
	*p += digits + (stop ? 1 : 0);
	*ret = (int)v;
	return true;
}

int as_parse_u64(const char *text, uint64_t *ret, struct as_err *err)
{
	size_t n = strlen(text);

	if (!n || as_scan_u64(text, n, ret) != n)
		return as_fail(err, AS_EUSAGE, "'%s' is not a whole number", text);
	return AS_OK;
}

int as_parse_f64(const char *text, double *ret, struct as_err *err)
{
	size_t n = strlen(text);

	if (!n || as_scan_dec(text, n, ret) != n)
		return as_fail(err, AS_EUSAGE, "'%s' is not a number", text);
	return AS_OK;
}

int as_parse_pid(const char *text, int *ret, struct as_err *err)
{
	uint64_t v = 0;
	size_t n = strlen(text);

	if (!n || as_scan_u64(text, n, &v) != n || v == 0 || v > INT_MAX)
		return as_fail(err, AS_EUSAGE, "'%s' is not a process id", text);
	*ret = (int)v;
	return AS_OK;
}

struct unit {
	const char *name;
	double factor;
};

static const struct unit durations[] = {
	{"", 1e9},   {"ns", 1},     {"us", 1e3},   {"ms", 1e6},    {"s", 1e9},
	{"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9},
};

static const struct unit sizes[] = {
	{"", 1},
	{"B", 1},
	{"k", 1e3},
	{"K", 1e3},
	{"kB", 1e3},
	{"KB", 1e3},
	{"M", 1e6},
	{"MB", 1e6},
	{"G", 1e9},
	{"GB", 1e9},
	{"T", 1e12},
	{"TB", 1e12},
	{"Ki", 1024},
	{"KiB", 1024},
	{"Mi", 1048576},
	{"MiB", 1048576},
	{"Gi", 1073741824},
	{"GiB", 1073741824},
	{"Ti", 1099511627776.},
	{"TiB", 1099511627776.},
};

static const struct unit rates[] = {
	{"", 1}, {"/s", 1}, {"/m", 1 / 60.}, {"/min", 1 / 60.}, {"/h", 1 / 3600.},
};

/* A number and one of `units`, the whole of `text`; false when it is not. */
static bool with_unit(const char *text, const struct unit *units, size_t n, double *ret)
{
	double v = 0;
	size_t used = as_scan_dec(text, strlen(text), &v);

	if (!used || v < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(text + used, units[i].name)) {
			*ret = v * units[i].factor;
			return true;
		}
	return false;
}

int as_parse_duration(const char *text, int64_t *ret_ns, struct as_err *err)
{
	double v = 0;

	if (!with_unit(text, durations, AS_LEN(durations), &v) || v >= 9.2e18)
		return as_fail(err, AS_EUSAGE,
			       "'%s' is not a duration; write 0.5s, 200ms, 5m or 2h", text);
	*ret_ns = (int64_t)(v + 0.5);
	return AS_OK;
}

int as_parse_bytes(const char *text, uint64_t *ret, struct as_err *err)
{
	double v = 0;

	if (!with_unit(text, sizes, AS_LEN(sizes), &v) || v >= 1.8e19)
		return as_fail(err, AS_EUSAGE,
			       "'%s' is not a size; write 4096, 64KiB, 200MB or 2GiB", text);
	*ret = (uint64_t)(v + 0.5);
	return AS_OK;
}

int as_parse_rate(const char *text, double *ret_per_second, struct as_err *err)
{
	if (!with_unit(text, rates, AS_LEN(rates), ret_per_second))
		return as_fail(err, AS_EUSAGE, "'%s' is not a rate; write 50, 50/s or 3000/m",
			       text);
	return AS_OK;
}
