/* shortest -- every double comes back to the bit, in as few digits as any printf would need. */
#include "utest.h"

#include <float.h>
#include <locale.h>
#include <stdbool.h>

#include "base/shortest.h"

/* xorshift64: the same numbers on every machine. */
static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	return bits;
}

static double from_bits(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

/* Digits that count: not the zeros before the first and after the last of them. */
static int digits_in(const char *text)
{
	int n = 0, zeros = 0;

	for (; *text && *text != 'e'; text++) {
		if (*text < '0' || *text > '9' || (!n && *text == '0'))
			continue;
		zeros = *text == '0' ? zeros + 1 : 0;
		n++;
	}
	return n - zeros;
}

/* The slow way: ask printf for one digit more until it reads back. */
static int fewest(double v)
{
	char text[64];

	for (int digits = 1; digits < 17; digits++) {
		(void)snprintf(text, sizeof text, "%.*e", digits - 1, v);
		if (strtod(text, NULL) == v)
			return digits_in(text);
	}
	return 17;
}

static void check(double v)
{
	char text[AS_SHORTEST_MAX + 1];
	size_t n = (memset(text, '~', sizeof text), as_shortest(text, v));

	if (strlen(text) != n || text[AS_SHORTEST_MAX] != '~')
		UTEST_FAIL("%.17g: %zu bytes are said of '%s'", v, n, text);
	if (bits_of(strtod(text, NULL)) != bits_of(v) && v != 0)
		UTEST_FAIL("%.17g is written as '%s'", v, text);
	if (fabs(v) >= 1e15 && v == floor(v) && fabs(v) < 0x1p53)
		return; /* a whole number has all its digits */
	if (digits_in(text) > fewest(v))
		UTEST_FAIL("%.17g is written as '%s'; %d digits would do", v, text, fewest(v));
}

static void both_signs_and_neighbours(double v)
{
	for (int i = -2; i <= 2; i++) {
		double w = from_bits(bits_of(v) + (uint64_t)i);

		if (isfinite(w)) {
			check(w);
			check(-w);
		}
	}
}

static void t_known(void)
{
	static const struct {
		double v;
		const char *text;
	} rows[] = {
		{0, "0"},
		{-0.0, "0"},
		{1, "1"},
		{-1, "-1"},
		{0.1, "0.1"},
		{-0.25, "-0.25"},
		{0.1 + 0.2, "0.30000000000000004"},
		{1.0 / 3, "0.3333333333333333"},
		{100, "100"},
		{1e6, "1000000"},
		{330.12, "330.12"},
		{1e-4, "0.0001"},
		{1e-5, "1e-05"},
		{123456789.125, "123456789.125"},
		{999999999999999.9, "999999999999999.9"},
		{9007199254740991, "9007199254740991"},
		{1e16, "1e+16"},
		{5e-324, "5e-324"},
		{DBL_MIN, "2.2250738585072014e-308"},
		{DBL_MAX, "1.7976931348623157e+308"},
	};
	char text[AS_SHORTEST_MAX];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		(void)as_shortest(text, rows[i].v);
		EXPECT_STR(text, rows[i].text);
	}
}

/* Where the ways meet, and where the distance between doubles changes. */
static void t_edges(void)
{
	static const double edges[] = {1e-4, 1e15, 0x1p53, DBL_MIN, DBL_TRUE_MIN * 3, 1, 0.1, 9.5};

	for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
		both_signs_and_neighbours(edges[i]);
	for (int e = -1073; e < 1024; e++)
		both_signs_and_neighbours(ldexp(1, e));
	for (int e = -300; e < 300; e++)
		both_signs_and_neighbours(pow(10, e));
}

static void t_random(void)
{
	uint64_t x = UINT64_C(88172645463325252);

	for (int i = 0; i < 15000; i++) {
		double v = from_bits(next(&x));

		if (isfinite(v))
			check(v);
		check((double)(next(&x) >> 11) * 0x1p-53);              /* a ratio    */
		check((double)(next(&x) % 100000000000000) / 1e9);      /* seconds    */
		check((double)(next(&x) % 10000000) / 100);             /* a rounding */
		check(ldexp((double)(next(&x) >> 11), -(int)(i % 66))); /* all sizes  */
	}
}

static bool make_locale(const char *name)
{
	char command[512];

	(void)snprintf(command, sizeof command, "localedef -c -i %s -f UTF-8 %s/%s >/dev/null 2>&1",
		       name, utest_dir(), name);
	return !system(command);
}

static void t_locale(void)
{
	static const char *const names[] = {"de_DE", "ps_AF"}; /* a comma; two bytes */
	char text[AS_SHORTEST_MAX];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!make_locale(names[i]))
			SKIP("localedef has no sources of %s", names[i]);
	EXPECT(!setenv("LOCPATH", utest_dir(), 1));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		EXPECT(setlocale(LC_NUMERIC, names[i]));
		EXPECT(strcmp(localeconv()->decimal_point, "."));
		(void)as_shortest(text, 1.5e-7);
		EXPECT_STR(text, "1.5e-07");
		(void)as_shortest(text, -4.0e-7 / 3);
		EXPECT_STR(text, "-1.3333333333333334e-07");
		(void)as_shortest(text, 2e300);
		EXPECT_STR(text, "2e+300");
		(void)as_shortest(text, 0.25);
		EXPECT_STR(text, "0.25");
	}
}

UTEST_MAIN(T(t_known), T(t_edges), T(t_random), T(t_locale))
