/* when -- moments as people write them. */
#include "utest.h"

#include "base/clock.h"
#include "cli/when.h"

#define NOW (INT64_C(1793534400) * AS_SECOND) /* 2026-11-01 12:00:00 UTC */

static const struct {
	const char *zone, *text;
	int64_t seconds; /* -1: refused */
} cases[] = {
	{"UTC", "2h", 1793534400 - 7200},
	{"UTC", "7d", 1793534400 - 7 * 86400},
	{"UTC", "0s", 1793534400},
	{"UTC", "2026-11-01", 1793534400 - 43200},
	{"UTC", "2026-11-01 12:00", 1793534400},
	{"UTC", "2026-11-01T12:00", 1793534400},
	{"UTC", "2026-11-01 12:00:30", 1793534430},
	{"UTC", "2024-02-29", 1709164800},
	{"CET-1CEST", "2026-11-01 12:00", 1793534400 - 3600},
	{"CET-1CEST", "2026-11-01 12:00Z", 1793534400},
	{"CET-1CEST", "2026-07-01", 1782856800}, /* summer: two hours ahead */
	{"UTC", "2026", -1},
	{"UTC", "5", -1},
	{"UTC", "-2h", -1},
	{"UTC", "2026-02-29", -1},
	{"UTC", "2026-11-31", -1},
	{"UTC", "2026-13-01", -1},
	{"UTC", "2026-11-1", -1},
	{"UTC", "2026-11-01 24:00", -1},
	{"UTC", "2026-11-01 12", -1},
	{"UTC", "2026-11-01 12:00:", -1},
	{"UTC", "2026-11-01 12:00 ", -1},
	{"UTC", "2026-11-01ZZ", -1},
	{"UTC", "1969-12-31", -1},
	{"UTC", "99999d", -1},
	{"UTC", "yesterday", -1},
	{"UTC", "", -1},
};

static void t_table(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int64_t ns = -7;
		struct as_err err = {0};
		char *text = utest_edge(cases[i].text, strlen(cases[i].text) + 1);

		EXPECT_I64(setenv("TZ", cases[i].zone, 1), 0);
		tzset();
		int r = as_when_parse(text, NOW, &ns, &err);
		EXPECT_I64(r, cases[i].seconds < 0 ? AS_EUSAGE : AS_OK);
		if (r == AS_OK)
			EXPECT_I64(ns, cases[i].seconds * AS_SECOND);
	}
}

static void t_says_what_would_be_right(void)
{
	int64_t ns = 0;
	struct as_err err = {0};

	EXPECT_I64(as_when_parse("soon", NOW, &ns, &err), AS_EUSAGE);
	EXPECT_STR(err.msg, "'soon' is neither a time ago (30m, 2h, 7d) nor a date (2026-11-01, "
			    "'2026-11-01 12:00')");
}

UTEST_MAIN(T(t_table), T(t_says_what_would_be_right))
