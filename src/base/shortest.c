#include "base/shortest.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* What is below or not below these goes through printf; %g says where it begins to write 1e-05. */
static const double SMALL = 1e-4, LARGE = 1e15;
static const double EXACT = 9007199254740992.0; /* 2^53: whole numbers below are all different */

/* ── digits by printf ─────────────────────────────────────────────────── */

/* The locale's point, which may be several bytes, becomes ours. */
static void set_point(char *text)
{
	char *at = text + strspn(text, "-0123456789");
	size_t n = strcspn(at, "0123456789");

	if (!*at || *at == 'e')
		return;
	*at = '.';
	memmove(at + 1, at + n, strlen(at + n) + 1);
}

/* 15 digits are as good as fewer, since %g drops zeros; but not of a number that has fewer bits. */
static size_t by_printf(char text[AS_SHORTEST_MAX], double v)
{
	int digits = fabs(v) < DBL_MIN ? 1 : 15;
	double back = 0;

	do
		(void)snprintf(text, AS_SHORTEST_MAX, "%.*g", digits, v);
	while (digits++ < 17 && (sscanf(text, "%lf", &back) != 1 || back != v));
	set_point(text);
	return strlen(text);
}

/* ── digits by integers ───────────────────────────────────────────────── */

static u128 ten_to(int n)
{
	static const uint64_t tens[] = {1,         10,         100,        1000,
					10000,     100000,     1000000,    10000000,
					100000000, 1000000000, 10000000000};

	return (u128)tens[n / 2] * tens[n - n / 2]; /* n is 20 at most */
}

/* v = bits * 2^-down, with 53 bits and down > 0 for what is in range. */
struct parts {
	uint64_t bits;
	int down;
};

static struct parts take_apart(double v)
{
	int exponent = 0;
	double half = frexp(v, &exponent);

	return (struct parts){(uint64_t)ldexp(half, DBL_MANT_DIG), DBL_MANT_DIG - exponent};
}

/*
 * Is v the double nearest to n / 10^places? Both times 10^places * 2^down they
 * are integers, and the next doubles are 10^places, `one`, away from v. (Below
 * a power of two it is half of that, but those in range are exact in 15
 * digits; and no 17 digits lie halfway between two doubles here.)
 */
static bool reads_back(struct parts v, uint64_t n, u128 one)
{
	u128 want = v.bits * one, got = (u128)n << v.down;

	return (got > want ? got - want : want - got) * 2 < one;
}

/* Digits of n, the last `places` of them behind a point; zeros at the end are dropped. */
static size_t put_decimal(char *text, uint64_t n, int places)
{
	char back[AS_SHORTEST_MAX];
	size_t at = 0, len = 0;

	for (; places > 0 && n % 10 == 0; places--)
		n /= 10;
	for (; n || places >= 0; n /= 10) {
		back[at++] = (char)('0' + n % 10);
		if (--places == 0)
			back[at++] = '.';
	}
	while (at)
		text[len++] = back[--at];
	return len;
}

static size_t by_integers(char *text, double v)
{
	struct parts p = take_apart(v);
	int places = 14; /* that make 15 digits of what is below 10 */

	for (double limit = 10; v >= limit; limit *= 10)
		places--;
	for (double limit = 1; v < limit; limit /= 10)
		places++;
	for (int digits = 15;; digits++, places++) {
		u128 one = ten_to(places);
		uint64_t n = (uint64_t)((p.bits * one + ((u128)1 << (p.down - 1))) >> p.down);

		if (digits == 17 || reads_back(p, n, one))
			return put_decimal(text, n, places);
	}
}

size_t as_shortest(char text[AS_SHORTEST_MAX], double v)
{
	double size = fabs(v);
	size_t len = v < 0;

	text[0] = '-';
	if (size < EXACT && size == floor(size))
		len += put_decimal(text + len, (uint64_t)size, 0);
	else if (size < SMALL || size >= LARGE)
		return by_printf(text, v);
	else
		len += by_integers(text + len, size);
	text[len] = '\0';
	return len;
}
