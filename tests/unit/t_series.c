/* series -- bounded points; counters stay exact, gauges keep mean, min and max. */
#include <malloc.h>

#include "utest.h"

#include "run/series.h"

#define SECOND INT64_C(1000000000)

static int64_t cell(const struct as_series *s, const int64_t *cells, size_t i, enum as_field_id f)
{
	const struct as_scope_info *info = as_scope_info(s->scope);

	return cells[i * info->n + (f - info->first)];
}

static void add(struct as_series *s, size_t samples)
{
	int64_t row[AS_NFIELDS];
	struct as_err err;

	for (size_t i = 0; i < samples; i++) {
		for (size_t c = 0; c < AS_NFIELDS; c++)
			row[c] = AS_NA;
		as_row_set(row, AS_F_JOB_USER, (int64_t)i * SECOND / 2);
		as_row_set(row, AS_F_JOB_RSS, i % 2 ? 100 : 300);
		EXPECT_OK(as_series_add(s, (int64_t)i * SECOND, row, &err), err);
	}
}

static struct as_series *new_series(void)
{
	struct as_series *s = NULL;
	struct as_err err;

	EXPECT_OK(as_series_new(AS_JOB, &s, &err), err);
	return s;
}

static struct as_series *fill(size_t samples)
{
	struct as_series *s = new_series();

	add(s, samples);
	return s;
}

static void t_small_is_exact(void)
{
	struct as_series *s = fill(1000);

	EXPECT_U64(s->n, 1000);
	EXPECT(!s->min && !s->joined);
	EXPECT_I64(cell(s, s->mean, 999, AS_F_JOB_USER), 999 * SECOND / 2);
	EXPECT_I64(cell(s, s->mean, 999, AS_F_JOB_SYSTEM), AS_NA);
	as_series_free(s);
}

/* Whatever the length, the rate between any two points is the true one. */
static void t_long_is_bounded(void)
{
	static const size_t lengths[] = {2046, 2047, 2048, 2049, 4095, 5000, 100003};

	for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
		struct as_series *s = fill(lengths[k]);

		EXPECT(s->n <= AS_SERIES_CAP && s->n >= AS_SERIES_CAP / 2 - 1);
		EXPECT_I64(s->t[0], 0);
		EXPECT_I64(s->t[s->n - 1], (int64_t)(lengths[k] - 1) * SECOND);
		for (size_t i = 1; i < s->n; i++) {
			EXPECT(s->t[i] > s->t[i - 1]);
			EXPECT_I64(cell(s, s->mean, i, AS_F_JOB_USER), s->t[i] / 2);
			EXPECT_I64(cell(s, s->mean, i, AS_F_JOB_SYSTEM), AS_NA);
		}
		as_series_free(s);
	}
}

static void t_joined_gauges(void)
{
	struct as_series *s = fill(100000);

	EXPECT(s->joined >= 5);
	for (size_t i = 1; i + 1 < s->n; i++) {
		EXPECT_NEAR(cell(s, s->mean, i, AS_F_JOB_RSS), 200, 10);
		EXPECT_I64(cell(s, s->min, i, AS_F_JOB_RSS), 100);
		EXPECT_I64(cell(s, s->max, i, AS_F_JOB_RSS), 300);
	}
	as_series_free(s);
}

static bool same_cells(const struct as_series *a, const int64_t *x, const int64_t *y)
{
	return !x == !y && (!x || !memcmp(x, y, a->n * as_scope_info(a->scope)->n * sizeof *x));
}

/* Taken whole it is the same timeline, and memory is all that it ever takes. */
static void t_whole(void)
{
	static const size_t lengths[] = {1, 63, 64, 1000, 2046, 2047, 2049, 5000, 100003};

	for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
		struct as_series *a = fill(lengths[k]), *b = new_series();
		struct as_err err;

		EXPECT_OK(as_series_take_whole(b, &err), err);
		size_t used = mallinfo2().uordblks + mallinfo2().hblkhd;
		add(b, lengths[k]);
		EXPECT_U64(mallinfo2().uordblks + mallinfo2().hblkhd, used);
		EXPECT_U64(b->n, a->n);
		EXPECT_U64(b->joined, a->joined);
		EXPECT_U64(b->pending, a->pending);
		EXPECT(!memcmp(a->t, b->t, a->n * sizeof *a->t));
		EXPECT(same_cells(a, a->mean, b->mean));
		EXPECT(same_cells(a, a->min, b->min));
		EXPECT(same_cells(a, a->max, b->max));
		as_series_free(a);
		as_series_free(b);
	}
}

/* Time that stands still adds no point. */
static void t_same_moment(void)
{
	int64_t row[AS_NFIELDS] = {0};
	struct as_series *s = NULL;
	struct as_err err;

	EXPECT_OK(as_series_new(AS_SYSTEM, &s, &err), err);
	EXPECT_OK(as_series_add(s, 5, row, &err), err);
	EXPECT_OK(as_series_add(s, 5, row, &err), err);
	EXPECT_OK(as_series_add(s, 4, row, &err), err);
	EXPECT_U64(s->n, 1);
	as_series_free(s);
}

UTEST_MAIN(T(t_small_is_exact), T(t_long_is_bounded), T(t_joined_gauges), T(t_whole),
	   T(t_same_moment))
