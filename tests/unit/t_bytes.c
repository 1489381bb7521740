#include "base/bytes.h"

#include "run/field.h"
#include "sample_run.h"
#include "store/column.h"
#include "store/record.h"
#include "utest.h"

static const uint64_t edges[] = {0,
				 1,
				 127,
				 128,
				 16383,
				 16384,
				 UINT32_MAX,
				 INT64_MAX,
				 (uint64_t)INT64_MAX + 1,
				 UINT64_MAX - 1,
				 UINT64_MAX};

static struct as_bytes at_the_edge(const struct as_buf *b)
{
	return as_bytes(utest_edge(b->p, b->len), b->len);
}

static void t_numbers_come_back(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

	for (size_t i = 0; i < AS_LEN(edges); i++) {
		as_enc_u64(&b, edges[i]);
		as_enc_i64(&b, (int64_t)edges[i]);
		as_enc_i64(&b, -(int64_t)(edges[i] / 2));
		as_enc_maybe(&b, (int64_t)edges[i]);
		as_enc_u32le(&b, (uint32_t)edges[i]);
		as_enc_f64(&b, (double)edges[i] / 3);
	}
	struct as_bytes r = at_the_edge(&b);
	for (size_t i = 0; i < AS_LEN(edges); i++) {
		EXPECT_U64(as_dec_u64(&r), edges[i]);
		EXPECT_I64(as_dec_i64(&r), (int64_t)edges[i]);
		EXPECT_I64(as_dec_i64(&r), -(int64_t)(edges[i] / 2));
		EXPECT_I64(as_dec_maybe(&r), (int64_t)edges[i]);
		EXPECT_U64(as_dec_u32le(&r), (uint32_t)edges[i]);
		EXPECT(as_dec_f64(&r) == (double)edges[i] / 3);
	}
	EXPECT(!r.bad);
	EXPECT_U64(as_bytes_left(&r), 0);
	EXPECT_U64(as_dec_u64(&r), 0);
	EXPECT(r.bad);
}

static void t_unknown_is_one_byte(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_enc_maybe(&b, AS_NA);
	EXPECT_U64(b.len, 1);
	EXPECT_I64(b.p[0], 0);
	struct as_bytes r = as_bytes(b.p, b.len);
	EXPECT_I64(as_dec_maybe(&r), AS_NA);
}

static void t_long_numbers_are_refused(void)
{
	static const char *const bad[] = {
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",     /* 65 bits  */
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", /* 11 bytes */
		"\x80\x80",                                     /* cut      */
	};

	for (size_t i = 0; i < AS_LEN(bad); i++) {
		struct as_bytes r = as_bytes(utest_edge(bad[i], strlen(bad[i])), strlen(bad[i]));

		EXPECT_U64(as_dec_u64(&r), 0);
		EXPECT(r.bad);
	}
}

static void t_text(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	char small[4];

	as_enc_text(&b, "hello");
	as_enc_text(&b, NULL);
	as_enc_text(&b, "");
	as_enc_text(&b, "hello");
	struct as_bytes r = at_the_edge(&b);
	as_auto_free char *hello = as_dec_string(&r), *null = as_dec_string(&r);
	as_auto_free char *empty = as_dec_string(&r);
	EXPECT_STR(hello, "hello");
	EXPECT_STR(null, NULL);
	EXPECT_STR(empty, "");
	as_dec_chars(&r, small, sizeof small);
	EXPECT_STR(small, "hel");
	EXPECT(!r.bad);

	r = as_bytes("\x06he\0lo", 6); /* a NUL inside */
	EXPECT(!as_dec_string(&r));
	EXPECT(r.bad);
	r = as_bytes("\x07hello", 6); /* one byte short */
	EXPECT(!as_dec_string(&r));
	EXPECT(r.bad);
}

static void t_counts_are_bounded_by_the_bytes(void)
{
	struct as_bytes r = as_bytes("\x03"
				     "aabbcc",
				     7);

	EXPECT_U64(as_dec_count(&r, 2), 3);
	r = as_bytes("\x04"
		     "aabbcc",
		     7);
	EXPECT_U64(as_dec_count(&r, 2), 0);
	EXPECT(r.bad);
	r = as_bytes("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
	EXPECT_U64(as_dec_count(&r, 1), 0);
	EXPECT(r.bad);
}

/* The check value that every description of CRC-32 gives, and going on in pieces. */
static void t_crc_is_the_usual_one(void)
{
	EXPECT_U64(as_crc32(0, "123456789", 9), 0xcbf43926);
	EXPECT_U64(as_crc32(as_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
	EXPECT_U64(as_crc32(0, "", 0), 0);
	char many[64];

	for (size_t i = 0; i < sizeof many; i++)
		many[i] = (char)(i * 37);
	for (size_t i = 0; i <= sizeof many; i++) /* in whatever pieces */
		EXPECT_U64(as_crc32(as_crc32(0, many, i), many + i, sizeof many - i),
			   as_crc32(0, many, sizeof many));
	EXPECT_U64(as_crc32(0, "\0", 1), 0xd202ef8d);
}

/* ── records ── */

struct thing {
	char *text;
	char chars[8];
	int32_t small;
	int64_t maybe;
	uint64_t big;
	double ratio;
};

static const struct as_slot slots[] = {
	AS_SLOT(1, TEXT, struct thing, text), AS_SLOT(2, CHARS, struct thing, chars),
	AS_SLOT(3, I32, struct thing, small), AS_SLOT(4, MAYBE, struct thing, maybe),
	AS_SLOT(5, U64, struct thing, big),   AS_SLOT(6, F64, struct thing, ratio),
};

static void t_record(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct thing in = {.text = (char[]){"some text"},
			   .chars = "abc",
			   .small = -7,
			   .maybe = AS_NA,
			   .big = UINT64_MAX,
			   .ratio = 0.1},
		     out = {0};

	as_record_enc(&b, slots, AS_LEN(slots), &in);
	struct as_bytes r = at_the_edge(&b);
	as_record_dec(&r, slots, AS_LEN(slots), &out);
	EXPECT(!r.bad);
	EXPECT_STR(out.text, in.text);
	EXPECT_STR(out.chars, in.chars);
	EXPECT_I64(out.small, -7);
	EXPECT_I64(out.maybe, AS_NA);
	EXPECT_U64(out.big, UINT64_MAX);
	EXPECT(out.ratio == 0.1);
	free(out.text);
}

/* An older assay reads what a newer one wrote, with members it never heard of. */
static void t_record_skips_what_it_does_not_know(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct thing in = {.text = (char[]){"new"},
			   .chars = "x",
			   .small = 5,
			   .maybe = 1,
			   .ratio = 2},
		     out = {0};

	as_record_enc(&b, slots, AS_LEN(slots), &in);
	struct as_bytes r = at_the_edge(&b);
	as_record_dec(&r, &slots[2], 1, &out);
	EXPECT(!r.bad);
	EXPECT_U64(as_bytes_left(&r), 0);
	EXPECT_I64(out.small, 5);
	EXPECT(!out.text);
}

static void t_record_of_every_prefix(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct thing in = {
		.text = (char[]){"text"}, .chars = "abc", .small = 5, .maybe = 9, .ratio = 2};

	as_record_enc(&b, slots, AS_LEN(slots), &in);
	for (size_t n = 0; n < b.len; n++) {
		struct thing out = {0};
		struct as_bytes r = as_bytes(utest_edge(b.p, n), n);

		as_record_dec(&r, slots, AS_LEN(slots), &out);
		EXPECT(r.bad);
		free(out.text);
	}
}

/* ── columns ── */

static size_t column_round_trip(const int64_t *v, const int64_t *base, size_t n, size_t step)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	int64_t back[64] = {0};

	as_enc_column(&b, v, base, n, step);
	struct as_bytes r = at_the_edge(&b);
	as_dec_column(&r, back, base, n, step);
	EXPECT(!r.bad);
	EXPECT_U64(as_bytes_left(&r), 0);
	for (size_t i = 0; i < n; i++)
		EXPECT_I64(back[i * step], v[i * step]);

	r = at_the_edge(&b); /* and read past it */
	as_dec_column(&r, NULL, NULL, n, 1);
	EXPECT(!r.bad);
	EXPECT_U64(as_bytes_left(&r), 0);
	for (size_t cut = 0; cut < b.len; cut++) {
		r = as_bytes(utest_edge(b.p, cut), cut);
		as_dec_column(&r, back, base, n, step);
		EXPECT(r.bad);
	}
	return b.len;
}

static void t_columns_come_back(void)
{
	static const int64_t wild[] = {INT64_MAX, AS_NA, -INT64_MAX, 0, 1, AS_NA, -1, INT64_MAX},
			     none[] = {AS_NA, AS_NA, AS_NA}, flat[] = {7, 7, 7, 7},
			     holes[] = {AS_NA, 5, AS_NA, 5, 5}, one[] = {42},
			     pages[] = {4096, 8192, 4096, 40960, 8192},
			     half[] = {0, INT64_MAX, -1, 3, AS_NA, 9, 1, 2};

	EXPECT_U64(column_round_trip(none, NULL, 3, 1), 1);
	EXPECT_U64(column_round_trip(flat, NULL, 4, 1), 2);
	EXPECT_U64(column_round_trip(holes, NULL, 5, 1), 3);
	EXPECT_U64(column_round_trip(one, NULL, 1, 1), 2);
	EXPECT_U64(column_round_trip(NULL, NULL, 0, 1), 1);
	/* flags, first 4096 (2), grain 4096 (2), then a width and 4 times 5 bits */
	EXPECT_U64(column_round_trip(pages, NULL, 5, 1), 9);
	(void)column_round_trip(wild, NULL, 8, 1);
	(void)column_round_trip(wild, half, 8, 1);
	(void)column_round_trip(wild, NULL, 4, 2);
	(void)column_round_trip(wild, half, 4, 2);
}

/* Runs of format 1: an i64 for each difference. */
static void t_columns_of_format_1(void)
{
	static const uint8_t plain[] = {3, 0x80, 0x40, 0x80, 0x20, 2, 1, 18, 15},
			     holes[] = {7, 0x16, 10, 1, 0, 3};
	static const int64_t pages[] = {4096, 8192, 4096, 40960, 8192},
			     some[] = {AS_NA, 5, 5, AS_NA, 3};
	int64_t back[5];

	struct as_bytes r = as_bytes(utest_edge(plain, sizeof plain), sizeof plain);
	as_dec_column(&r, back, NULL, 5, 1);
	EXPECT(!r.bad && !as_bytes_left(&r) && !memcmp(back, pages, sizeof back));
	r = as_bytes(utest_edge(holes, sizeof holes), sizeof holes);
	as_dec_column(&r, back, NULL, 5, 1);
	EXPECT(!r.bad && !as_bytes_left(&r) && !memcmp(back, some, sizeof back));
}

/* No number has more than 64 bits, and nothing is read past the end. */
static void t_columns_of_wrong_blocks(void)
{
	uint8_t wide[64] = {11, 0, 1, 65}, short_one[] = {11, 0, 1, 64, 1, 2, 3};
	int64_t back[3];

	struct as_bytes r = as_bytes(wide, sizeof wide);
	as_dec_column(&r, back, NULL, 3, 1);
	EXPECT(r.bad);
	r = as_bytes(utest_edge(short_one, sizeof short_one), sizeof short_one);
	as_dec_column(&r, back, NULL, 3, 1);
	EXPECT(r.bad);
}

/* Differences of every width, at every length. */
static void t_columns_of_any_width(void)
{
	int64_t v[70], back[70];

	for (unsigned bits = 1; bits < 64; bits++)
		for (size_t n = 2; n < AS_LEN(v); n++) {
			uint64_t seed = bits * 1000 + n;

			for (size_t i = 0; i < n; i++)
				v[i] = (int64_t)(sample_random(&seed) >> (64 - bits)) / 3;
			as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
			as_enc_column(&b, v, NULL, n, 1);
			struct as_bytes r = as_bytes(b.p, b.len);
			as_dec_column(&r, back, NULL, n, 1);
			EXPECT(!r.bad && !as_bytes_left(&r));
			for (size_t i = 0; i < n; i++)
				EXPECT_I64(back[i], v[i]);
		}
}

UTEST_MAIN(T(t_numbers_come_back), T(t_unknown_is_one_byte), T(t_long_numbers_are_refused),
	   T(t_text), T(t_counts_are_bounded_by_the_bytes), T(t_crc_is_the_usual_one), T(t_record),
	   T(t_record_skips_what_it_does_not_know), T(t_record_of_every_prefix),
	   T(t_columns_come_back), T(t_columns_of_format_1), T(t_columns_of_wrong_blocks),
	   T(t_columns_of_any_width))
