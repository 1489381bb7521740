#include <locale.h>
#include <wchar.h>

#include "base/clock.h"
#include "base/human.h"
#include "report/glyph.h"
#include "report/look.h"
#include "report/page.h"
#include "report/table.h"
#include "run/run.h"
#include "utest.h"

enum { COLUMNS_MAX = 9 };

static const int64_t MINUTE = 60 * AS_SECOND, HOUR = 3600 * AS_SECOND, DAY = 24 * 3600 * AS_SECOND;

/* --- numbers ---------------------------------------------------------------- */

static void t_durations(void)
{
	const struct {
		int64_t ns;
		const char *want;
	} rows[] = {
		{AS_NA, "-"},
		{0, "0 s"},
		{1, "1 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{1240, "1.24 us"},
		{12400, "12.4 us"},
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{820 * AS_MSEC, "820 ms"},
		{999 * AS_MSEC, "999 ms"},
		{999700 * AS_USEC, "1.00 s"},
		{1240 * AS_MSEC, "1.24 s"},
		{9994 * AS_MSEC, "9.99 s"},
		{9996 * AS_MSEC, "10.0 s"},
		{59940 * AS_MSEC, "59.9 s"},
		{59960 * AS_MSEC, "1m 00s"},
		{60 * AS_SECOND, "1m 00s"},
		{192 * AS_SECOND, "3m 12s"},
		{HOUR - AS_SECOND, "59m 59s"},
		{HOUR - AS_SECOND / 4, "1h 00m"},
		{HOUR + 2 * MINUTE, "1h 02m"},
		{48 * HOUR - MINUTE, "47h 59m"},
		{48 * HOUR - AS_SECOND, "2d 00h"},
		{999 * DAY + 23 * HOUR, "999d 23h"},
		{1000 * DAY, "1000d"},
		{INT64_MAX, "106752d"},
		{-1240 * AS_MSEC, "-1.24 s"},
		{-3 * AS_USEC, "-3.00 us"},
	};

	for (size_t i = 0; i < AS_LEN(rows); i++)
		EXPECT_STR(as_human_duration(rows[i].ns).s, rows[i].want);
}

static void t_bytes(void)
{
	const struct {
		double v;
		const char *want;
	} rows[] = {
		{NAN, "-"},
		{INFINITY, "-"},
		{0, "0 B"},
		{1, "1 B"},
		{0.01, "<0.1 B"},
		{0.3, "0.3 B"},
		{999, "999 B"},
		{1000, "1.0 KiB"},
		{1023, "1.0 KiB"},
		{1536, "1.5 KiB"},
		{10.24 * 1024, "10.2 KiB"},
		{99.94 * 1024, "99.9 KiB"},
		{99.96 * 1024, "100 KiB"},
		{153.4 * 1024 * 1024, "153 MiB"},
		{999.4 * 1024 * 1024, "999 MiB"},
		{999.6 * 1024 * 1024, "1.0 GiB"},
		{1.5 * 1024 * 1024 * 1024, "1.5 GiB"},
		{0x1p60, "1.0 EiB"},
		{0x1p80, ">999 EiB"},
		{-2048, "-2.0 KiB"},
	};

	for (size_t i = 0; i < AS_LEN(rows); i++)
		EXPECT_STR(as_human_bytes(rows[i].v).s, rows[i].want);
	EXPECT_STR(as_human_byte_rate(16.7 * 1024 * 1024).s, "17 MiB/s");
	EXPECT_STR(as_human_byte_rate(9.8 * 1024 * 1024).s, "9.8 MiB/s");
	EXPECT_STR(as_human_byte_rate(9.96 * 1024 * 1024).s, "10 MiB/s");
	EXPECT_STR(as_human_byte_rate(0).s, "0 B/s");
	EXPECT_STR(as_human_byte_rate(-1).s, "-");
	EXPECT_STR(as_human_byte_rate(NAN).s, "-");
}

static void t_counts(void)
{
	const struct {
		double v;
		const char *want;
	} rows[] = {
		{NAN, "-"},
		{0, "0"},
		{0.003, "<0.01"},
		{0.4, "0.40"},
		{0.97, "1.0"},
		{3.25, "3.2"},
		{3, "3"},
		{42.7, "42.7"},
		{99.96, "100"},
		{999, "999"},
		{1000, "1 000"},
		{12345, "12 345"},
		{999999, "999 999"},
		{999999.7, "1.0 M"},
		{1234567, "1.2 M"},
		{123456789, "123 M"},
		{999.7e6, "1.0 G"},
		{1e21, ">999 E"},
		{-1234, "-1 234"},
	};

	for (size_t i = 0; i < AS_LEN(rows); i++)
		EXPECT_STR(as_human_count(rows[i].v).s, rows[i].want);
}

static void t_percents(void)
{
	const struct {
		double v;
		const char *want;
	} rows[] = {
		{NAN, "-"},           {0, "0 %"},
		{0.0001, "<0.1 %"},   {0.004, "0.4 %"},
		{0.0994, "9.9 %"},    {0.0996, "10 %"},
		{0.984, "98 %"},      {1, "100 %"},
		{12.4, "1 240 %"},    {999.994, "99 999 %"},
		{1000, ">99 999 %"},  {-0.012, "-1.2 %"},
		{-0.0001, "-<0.1 %"},
	};

	for (size_t i = 0; i < AS_LEN(rows); i++)
		EXPECT_STR(as_human_percent(rows[i].v).s, rows[i].want);
	EXPECT_STR(as_human_number(1.239).s, "1.24");
	EXPECT_STR(as_human_number(12.39).s, "12.4");
	EXPECT_STR(as_human_number(0).s, "0");
	EXPECT_STR(as_human_number(0.001).s, "<0.01");
	EXPECT_STR(as_human_number(NAN).s, "-");
}

/* Magnitudes from 1e-12 to 1e24, both signs, none rounds to more than nine columns. */
static void t_never_wider_than_nine(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);

	for (double x = 1e-12; x < 1e24; x *= 1.0037) {
		for (int sign = -1; sign <= 1; sign += 2) {
			double v = sign * x;
			const struct as_text texts[] = {
				as_human_bytes(v),
				as_human_byte_rate(v),
				as_human_count(v),
				as_human_percent(v),
				as_human_number(v),
				as_human_duration(x < 9e18 ? (int64_t)v : INT64_MAX)};

			for (size_t i = 0; i < AS_LEN(texts); i++)
				if (strlen(texts[i].s) > COLUMNS_MAX)
					UTEST_FAIL("form %zu of %g is '%s'", i, v, texts[i].s);
			for (size_t f = 0; f < AS_NFIELDS; f += 3) {
				as_buf_clear(&b);
				as_put_shown(&b, (enum as_field_id)f, v);
				if (b.len > COLUMNS_MAX)
					UTEST_FAIL("%s of %g is '%s'", as_fields[f].key, v, b.p);
			}
		}
	}
	as_buf_done(&b);
}

static const char *shown(enum as_field_id f, double v, struct as_buf *b)
{
	as_buf_clear(b);
	as_put_shown(b, f, v);
	return as_buf_text(b);
}

static void t_fields_as_people_read_them(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);

	EXPECT_STR(shown(AS_F_JOB_USER, 1.86, &b), "186 %");
	EXPECT_STR(shown(AS_F_JOB_READ, 3.5 * 1024 * 1024, &b), "3.5 MiB/s");
	EXPECT_STR(shown(AS_F_JOB_MEMORY, 3.5 * 1024 * 1024, &b), "3.5 MiB");
	EXPECT_STR(shown(AS_F_JOB_MINFLT, 1234, &b), "1 234/s");
	EXPECT_STR(shown(AS_F_JOB_PROCS, 3, &b), "3");
	EXPECT_STR(shown(AS_F_SYS_LOAD1, as_tally_shown(AS_F_SYS_LOAD1, 1240000), &b), "1.24");
	EXPECT_STR(shown(AS_F_JOB_READ, NAN, &b), "-");
	as_buf_clear(&b);
	as_put_value(&b, AS_RATIO, 1240000);
	as_put_value(&b, AS_NS, (double)AS_NA);
	EXPECT_STR(as_buf_text(&b), "1.24-");
	as_buf_done(&b);
}

static void t_moments_are_local(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);

	(void)setenv("TZ", "UTC-2", 1);
	tzset();
	as_put_time(&b, 1763234164 * AS_SECOND + 999999999);
	EXPECT_STR(as_buf_text(&b), "2025-11-15 21:16:04");
	as_buf_clear(&b);
	as_put_time(&b, AS_NA);
	EXPECT_STR(as_buf_text(&b), "-");
	as_buf_done(&b);
}

/* --- characters -------------------------------------------------------------- */

static const char *cell(const char *text, int width, bool right, struct as_buf *b)
{
	as_buf_clear(b);
	as_put_cell(b, text, width, right);
	return as_buf_text(b);
}

static void t_cells(void)
{
	const struct {
		const char *text;
		int width;
		bool right;
		const char *want;
	} rows[] = {
		{"abc", 5, false, "abc  "},
		{"abc", 5, true, "  abc"},
		{"abcdef", 4, false, "abc…"},
		{"abcdef", 6, false, "abcdef"},
		{"abcdef", 1, false, "…"},
		{"abc", 0, false, ""},
		{"", 3, true, "   "},
		{"größe", 6, true, " größe"},
		{"größe", 4, false, "grö…"},
		{"日本語", 6, false, "日本語"},
		{"日本語", 5, false, "日本…"},
		{"日本語", 4, false, "日… "}, /* half of a wide letter cannot be shown */
		{"\033[31mred\033[0m", 12, false, "?[31mred?[0m"},
		{"a\nb\tc\rd", 7, false, "a b c?d"},
		{"\xc2\x9b"
		 "31m",
		 4, false, "?31m"}, /* CSI as one character       */
		{"\xff\xfe"
		 "x",
		 3, false, "??x"},            /* no UTF-8                   */
		{"\xe2\x82", 2, false, "??"}, /* half a character           */
		{"\xe2\x80\xae"
		 "abc",
		 4, false, "?abc"},                /* turns the writing round    */
		{"e\xcc\x81", 2, false, "e "},     /* a mark on a letter: dropped */
		{"\xed\xa0\x80", 3, false, "???"}, /* half of a UTF-16 pair      */
		{"\xc0\xaf", 2, false, "??"},      /* overlong                   */
		{"\xe0\x80\xaf", 3, false, "???"}, /* overlong, in three         */
	};
	struct as_buf b = AS_BUF(AS_BUF_LINE);

	for (size_t i = 0; i < AS_LEN(rows); i++)
		EXPECT_STR(cell(rows[i].text, rows[i].width, rows[i].right, &b), rows[i].want);
	as_buf_done(&b);
}

/* Whatever the bytes, no control character gets through and a cell is as wide as asked. */
static void t_hostile_bytes(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);
	uint32_t x = 7;

	for (int round = 0; round < 20000; round++) {
		char text[24];
		size_t n = (size_t)(round % 23);

		for (size_t i = 0; i < n; i++) {
			x = x * 1664525 + 1013904223;
			text[i] = (char)(x >> 24 ? x >> 24 : 1);
		}
		text[n] = '\0';
		const char *edge = utest_edge(text, n + 1);
		as_buf_clear(&b);
		as_put_cell(&b, edge, 12, round & 1);
		EXPECT_I64(as_text_width(b.p, b.len), 12);
		for (size_t i = 0; i < b.len; i++)
			if ((unsigned char)b.p[i] < 0x20 || b.p[i] == 0x7f ||
			    ((unsigned char)b.p[i] == 0xc2 && (unsigned char)b.p[i + 1] < 0xa0))
				UTEST_FAIL("byte %02x got through", (unsigned char)b.p[i]);
		(void)munmap((void *)((uintptr_t)edge & ~(uintptr_t)4095), 8192);
	}
	as_buf_done(&b);
}

/* Against the C library's tables, where it has a UTF-8 locale: letters that people use. */
static void t_widths_agree_with_libc(void)
{
	static const int32_t ranges[][2] = {{0x20, 0x52f},    {0x1e00, 0x200a},  {0x2010, 0x2027},
					    {0x2030, 0x205e}, {0x2190, 0x24ff},  {0x2500, 0x27bf},
					    {0x3041, 0x33ff}, {0x4e00, 0x9fff},  {0xac00, 0xd7a3},
					    {0xff01, 0xffe6}, {0x1f300, 0x1f64f}};
	int checked = 0, differ = 0;

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		SKIP("no C.UTF-8 locale");
	for (size_t r = 0; r < AS_LEN(ranges); r++)
		for (int32_t c = ranges[r][0]; c <= ranges[r][1]; c++) {
			int theirs = wcwidth((wchar_t)c), ours = as_glyph_width(c);

			if (theirs < 0 || ours < 0) /* unassigned there, or hidden by us */
				continue;
			checked++;
			differ += theirs != ours;
		}
	EXPECT(checked > 30000);
	EXPECT(differ * 1000 <= checked); /* tables of different Unicode versions */
	for (int32_t c = 0; c < 0xa0; c++)
		EXPECT_I64(as_glyph_width(c) < 0, c < 0x20 || c >= 0x7f);
}

static void t_ascii_keeps_the_columns(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_buf_str(&b, "kept ▁");
	as_plain(&b, 8);
	as_buf_str(&b, "…├─└─▕█▒▏·✔é日x\n");
	size_t at = strlen("kept ▁");
	int before = as_text_width(b.p + at, b.len - at - 1);
	as_plain(&b, at);
	EXPECT_STR(as_buf_text(&b) + at, "~|-`-|#%||+???x\n");
	EXPECT_I64(as_text_width(b.p + at, b.len - at - 1), before);
	as_buf_done(&b);
}

/* --- sparklines --------------------------------------------------------------- */

static const char *spark(bool utf8, const double *v, size_t n, int width, struct as_buf *b)
{
	as_buf_clear(b);
	as_put_spark(b, &(struct as_look){80, false, utf8}, v, n, width);
	return as_buf_text(b);
}

static void t_sparks(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);
	const double ramp[] = {0, 1, 2, 3, 4, 5, 6, 7}, flat[] = {0, 0, 0}, same[] = {5, 5};
	const double holes[] = {1, NAN, 1}, peak[] = {0, 0, 9, 0, 0, 0, 0, 0},
		     wild[] = {INFINITY, 1};

	EXPECT_STR(spark(true, ramp, 8, 8, &b), "▁▂▃▄▅▆▇█");
	EXPECT_STR(spark(false, ramp, 8, 8, &b), " .:-=+*#");
	EXPECT_STR(spark(true, flat, 3, 3, &b), "▁▁▁");
	EXPECT_STR(spark(true, same, 2, 2, &b), "██");
	EXPECT_STR(spark(true, holes, 3, 3, &b), "█ █");
	EXPECT_STR(spark(true, peak, 8, 4, &b), "▁█▁▁"); /* a peak is never averaged away */
	EXPECT_STR(spark(true, ramp, 2, 4, &b), "▁▁██");
	EXPECT_STR(spark(true, NULL, 0, 3, &b), "   ");
	EXPECT_STR(spark(true, wild, 2, 2, &b), " █");
	EXPECT_STR(spark(true, ramp, 8, 0, &b), "");
	as_buf_done(&b);
}

/* --- the terminal -------------------------------------------------------------- */

static void t_look_of_the_environment(void)
{
	int fd = fileno(tmpfile());

	(void)unsetenv("COLUMNS");
	(void)setenv("LC_ALL", "", 1);
	(void)unsetenv("LC_CTYPE");
	(void)setenv("LANG", "en_GB.UTF-8", 1);
	struct as_look look = as_look_for(fd);
	EXPECT_I64(look.width, 80);
	EXPECT(look.utf8 && !look.colour);
	(void)setenv("LC_ALL", "C", 1);
	(void)setenv("COLUMNS", "132", 1);
	look = as_look_for(fd);
	EXPECT_I64(look.width, 132);
	EXPECT(!look.utf8);
	const struct {
		const char *columns;
		int want;
	} rows[] = {{"0", 80}, {"x", 80}, {"80x", 80},   {"-5", 80},
		    {"", 80},  {"1", 40}, {"99999", 200}};
	for (size_t i = 0; i < AS_LEN(rows); i++) {
		(void)setenv("COLUMNS", rows[i].columns, 1);
		EXPECT_I64(as_look_for(fd).width, rows[i].want);
	}
}

/* --- paragraphs and tables -------------------------------------------------------- */

static void t_paragraphs_wrap(void)
{
	struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_look look = {20, false, true};

	as_put_wrapped(&b, &look, "the quick  brown\nfox jumps over", 4, 2);
	EXPECT_STR(as_buf_text(&b), "the quick brown\n  fox jumps over\n");
	as_buf_clear(&b);
	as_put_wrapped(&b, &look, "a verylongwordthatdoesnotfitinaline b", 0, 2);
	EXPECT_STR(as_buf_text(&b), "a\n  verylongwordthatd…\n  b\n");
	as_buf_clear(&b);
	struct as_flow f = {&b, &look, 2, "also  ", AS_INK_NONE, 0};
	as_flow_add(&f, "one");
	as_flow_add(&f, "two");
	as_flow_add(&f, "%s", "three");
	as_flow_end(&f);
	as_flow_end(&f);
	EXPECT_STR(as_buf_text(&b), "  also  one · two\n        three\n");
	as_buf_done(&b);
}

static void demo_cell(const void *data, size_t row, size_t col, struct as_buf *c)
{
	const char *const(*rows)[2] = data;

	as_buf_str(c, rows[row][col]);
}

static void t_tables_fit(void)
{
	static const char *const rows[][2] = {{"short", "1"}, {"a rather long name", "12 345"}};
	static const struct as_column cols[] = {{"name", false, 4, 0}, {"n", true, 0, 0}};
	struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_table t = {cols, 2, 2, rows, 1, false, demo_cell, NULL};

	as_put_table(&b, &(struct as_look){80, false, true}, &t);
	EXPECT_STR(as_buf_text(&b), " name                     n\n"
				    " short                    1\n"
				    " a rather long name  12 345\n");
	as_buf_clear(&b);
	as_put_table(&b, &(struct as_look){20, false, true}, &t);
	EXPECT_STR(as_buf_text(&b), " name              n\n"
				    " short             1\n"
				    " a rather l…  12 345\n");
	as_buf_done(&b);
}

UTEST_MAIN(T(t_durations), T(t_bytes), T(t_counts), T(t_percents), T(t_never_wider_than_nine),
	   T(t_fields_as_people_read_them), T(t_moments_are_local), T(t_cells), T(t_hostile_bytes),
	   T(t_widths_agree_with_libc), T(t_ascii_keeps_the_columns), T(t_sparks),
	   T(t_look_of_the_environment), T(t_paragraphs_wrap), T(t_tables_fit))
