/* num -- the scanners every reader of outside text is built on. */
#include "utest.h"

#include "base/num.h"

static const struct {
	const char *in;
	size_t used;
	uint64_t want;
} u64s[] = {
	{"0", 1, 0},
	{"42 kB", 2, 42},
	{"18446744073709551615", 20, UINT64_MAX},
	{"18446744073709551616", 0, 7 /* untouched */},
	{"99999999999999999999999", 0, 7},
	{"", 0, 7},
	{"-1", 0, 7},
	{" 1", 0, 7},
};

static void t_u64(void)
{
	for (size_t i = 0; i < sizeof u64s / sizeof *u64s; i++) {
		size_t n = strlen(u64s[i].in);
		uint64_t v = 7;

		EXPECT_U64(as_scan_u64(utest_edge(u64s[i].in, n), n, &v), u64s[i].used);
		EXPECT_U64(v, u64s[i].want);
	}
}

static void t_i64(void)
{
	static const struct {
		const char *in;
		size_t used;
		int64_t want;
	} cases[] = {
		{"-9223372036854775808", 20, INT64_MIN},
		{"9223372036854775807", 19, INT64_MAX},
		{"9223372036854775808", 0, 7},
		{"-9223372036854775809", 0, 7},
		{"-0", 2, 0},
		{"-", 0, 7},
		{"-12x", 3, -12},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t n = strlen(cases[i].in);
		int64_t v = 7;

		EXPECT_U64(as_scan_i64(utest_edge(cases[i].in, n), n, &v), cases[i].used);
		EXPECT_I64(v, cases[i].want);
	}
}

static void t_hex(void)
{
	uint64_t v = 7;

	EXPECT_U64(as_scan_hex("7fFf-", 5, &v), 4);
	EXPECT_U64(v, 0x7fff);
	EXPECT_U64(as_scan_hex("10000000000000000", 17, &v), 0);
	EXPECT_U64(as_scan_hex("g", 1, &v), 0);
}

static void t_dec(void)
{
	static const struct {
		const char *in;
		size_t used;
		double want;
	} cases[] = {
		{"12", 2, 12},
		{"-0.5", 4, -0.5},
		{"1.25e-3", 7, 0.00125},
		{"1.25e", 4, 1.25},
		{"3.", 1, 3},
		{".5", 2, 0.5},
		{"1e400", 1, 1},
		{"2E+2", 4, 200},
		{"abc", 0, 7},
		{"0.0000001", 9, 1e-7},
		{"-.25e1", 6, -2.5},
		{".5.5", 2, 0.5},
		{".", 0, 7},
		{"-.", 0, 7},
		{"-", 0, 7},
		{".e1", 0, 7},
		{"..5", 0, 7},
		{"", 0, 7},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t n = strlen(cases[i].in);
		double v = 7;

		EXPECT_U64(as_scan_dec(utest_edge(cases[i].in, n), n, &v), cases[i].used);
		EXPECT_NEAR(v, cases[i].want, 1e-15);
	}
}

static void t_fixed(void)
{
	static const struct {
		const char *in;
		size_t used;
		uint64_t want;
	} cases[] = {
		{"0.25", 4, 250000},
		{"12", 2, 12000000},
		{"1.2345678", 9, 1234567},
		{"3.x", 1, 3000000},
		{"99999999999999999999", 0, 7},
		{"18446744073709", 0, 7},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t n = strlen(cases[i].in);
		uint64_t v = 7;

		EXPECT_U64(as_scan_fixed(utest_edge(cases[i].in, n), n, 1000000, &v),
			   cases[i].used);
		EXPECT_U64(v, cases[i].want);
	}
}

/* A file read while the kernel rewrites it can stop anywhere. */
static void t_every_prefix(void)
{
	const char *line = "-1234567890.17e-5 0\n";

	for (size_t n = 0; n <= strlen(line); n++) {
		const char *p = utest_edge(line, n);
		uint64_t u = 0;
		int64_t i = 0;
		double d = 0;

		EXPECT(as_scan_u64(p, n, &u) <= n);
		EXPECT(as_scan_i64(p, n, &i) <= n);
		EXPECT(as_scan_dec(p, n, &d) <= n);
		EXPECT(as_scan_hex(p, n, &u) <= n);
		EXPECT(as_scan_fixed(p, n, 1000, &u) <= n);
	}
}

static void t_durations(void)
{
	static const struct {
		const char *in;
		int64_t want; /* -1: refused */
	} cases[] = {
		{"0.5", 500000000},
		{"0.5s", 500000000},
		{".5", 500000000},
		{".5ms", 500000},
		{"200ms", 200000000},
		{"5m", 300000000000},
		{"2h", 7200000000000},
		{"1d", 86400000000000},
		{"7us", 7000},
		{"9ns", 9},
		{"0", 0},
		{"-1", -1},
		{"-.5", -1},
		{".", -1},
		{".s", -1},
		{"abc", -1},
		{"", -1},
		{"1x", -1},
		{"1 s", -1},
		{"1e30", -1},
		{"s", -1},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct as_err err;
		int64_t v = 7;
		int r = as_parse_duration(cases[i].in, &v, &err);

		EXPECT_I64(r, cases[i].want < 0 ? AS_EUSAGE : AS_OK);
		EXPECT_I64(v, cases[i].want < 0 ? 7 : cases[i].want);
	}
}

static void t_sizes_and_rates(void)
{
	struct as_err err;
	uint64_t v = 0;
	double d = 0;
	int pid = 0;

	EXPECT_OK(as_parse_bytes("64KiB", &v, &err), err);
	EXPECT_U64(v, 65536);
	EXPECT_OK(as_parse_bytes("1.5G", &v, &err), err);
	EXPECT_U64(v, 1500000000);
	EXPECT_OK(as_parse_bytes(".5KiB", &v, &err), err);
	EXPECT_U64(v, 512);
	EXPECT_I64(as_parse_bytes("1Q", &v, &err), AS_EUSAGE);
	EXPECT_OK(as_parse_rate("3000/m", &d, &err), err);
	EXPECT_NEAR(d, 50, 1e-9);
	EXPECT_OK(as_parse_rate(".5/s", &d, &err), err);
	EXPECT_NEAR(d, 0.5, 1e-9);
	EXPECT_I64(as_parse_rate("50/x", &d, &err), AS_EUSAGE);
	EXPECT_OK(as_parse_pid("4242", &pid, &err), err);
	EXPECT_I64(pid, 4242);
	EXPECT_I64(as_parse_pid("0", &pid, &err), AS_EUSAGE);
	EXPECT_I64(as_parse_pid("2147483648", &pid, &err), AS_EUSAGE);
	EXPECT_I64(as_parse_pid("12x", &pid, &err), AS_EUSAGE);
	EXPECT_I64(as_parse_u64("", &v, &err), AS_EUSAGE);
	EXPECT_OK(as_parse_f64("-.5", &d, &err), err);
	EXPECT_NEAR(d, -0.5, 1e-9);
	EXPECT_I64(as_parse_f64("-.", &d, &err), AS_EUSAGE);
	EXPECT_I64(as_parse_f64("1.5x", &d, &err), AS_EUSAGE);
}

UTEST_MAIN(T(t_u64), T(t_i64), T(t_hex), T(t_dec), T(t_fixed), T(t_every_prefix), T(t_durations),
	   T(t_sizes_and_rates))
