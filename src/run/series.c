/*
 * Points are joined in pairs when the series is full. From then on every new
 * point is itself made of 2^joined samples, so that all points span about the
 * same time: `pending` counts the samples already in the open last point.
 */
#include "run/series.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"

enum { FIRST_CAP = 64 };

static size_t width(const struct as_series *s)
{
	return as_scope_info(s->scope)->n;
}

int as_series_new(enum as_scope scope, struct as_series **ret, struct as_err *err)
{
	struct as_series *s = as_zalloc(sizeof *s);

	if (!s)
		return as_fail(err, AS_ENOMEM, "no memory for a timeline");
	s->scope = scope;
	*ret = s;
	return AS_OK;
}

static bool grow_cells(int64_t **cells, size_t n)
{
	int64_t *p = as_realloc(*cells, n * sizeof **cells);

	if (p)
		*cells = p;
	return p != NULL;
}

static bool grow(struct as_series *s, size_t cap)
{
	if (!grow_cells(&s->t, cap) || !grow_cells(&s->mean, cap * width(s)))
		return false;
	s->cap = cap;
	return true;
}

/* Room for the smallest and the largest values of all points. */
static bool take_spare(struct as_series *s)
{
	for (size_t k = 0; k < AS_LEN(s->spare); k++)
		if (!s->spare[k] && !grow_cells(&s->spare[k], s->cap * width(s)))
			return false;
	return true;
}

/* Pages are there once they were written. */
static void fill(int64_t *cells, size_t n)
{
	for (size_t i = 0; i < n; i++)
		cells[i] = AS_NA;
}

int as_series_take_whole(struct as_series *s, struct as_err *err)
{
	size_t n = AS_SERIES_CAP * width(s);

	if (!grow(s, AS_SERIES_CAP) || !take_spare(s))
		return as_fail(err, AS_ENOMEM, "no memory for a timeline");
	fill(s->t, AS_SERIES_CAP);
	fill(s->mean, n);
	fill(s->spare[0], n);
	fill(s->spare[1], n);
	return AS_OK;
}

/* From the first joining on, smallest and largest values differ from the mean. */
static bool add_extremes(struct as_series *s)
{
	size_t bytes = s->n * width(s) * sizeof *s->mean;

	if (s->min)
		return true;
	if (!take_spare(s))
		return false;
	s->min = memcpy(as_take(s->spare[0]), s->mean, bytes);
	s->max = memcpy(as_take(s->spare[1]), s->mean, bytes);
	return true;
}

static int64_t weighted(int64_t a, int64_t wa, int64_t b, int64_t wb)
{
	__int128 sum = (__int128)a * wa + (__int128)b * wb, half = (wa + wb) / 2;

	if (wa + wb <= 0)
		return b;
	/* To the nearest: a point is joined many times, and cutting would add up. */
	return (int64_t)((sum + (sum < 0 ? -half : half)) / (wa + wb));
}

/* The span that point i stands for: the time since the point before it. */
static int64_t span(const struct as_series *s, size_t i)
{
	return i ? s->t[i] - s->t[i - 1] : 0;
}

/* Put point `from` into point `to`, which is earlier: cells of one column. */
static void join_cell(struct as_series *s, size_t to, size_t from, size_t c, int64_t wa, int64_t wb)
{
	size_t a = to * width(s) + c, b = from * width(s) + c;
	const struct as_field *f = &as_fields[as_scope_info(s->scope)->first + c];

	if (s->mean[b] == AS_NA)
		return;
	if (s->mean[a] == AS_NA || f->kind == AS_COUNTER) {
		s->mean[a] = s->mean[b];
		s->min[a] = s->min[b];
		s->max[a] = s->max[b];
		return;
	}
	s->mean[a] = weighted(s->mean[a], wa, s->mean[b], wb);
	s->min[a] = s->min[b] < s->min[a] ? s->min[b] : s->min[a];
	s->max[a] = s->max[b] > s->max[a] ? s->max[b] : s->max[a];
}

static void move_point(struct as_series *s, size_t to, size_t from)
{
	size_t w = width(s), bytes = w * sizeof *s->mean;

	s->t[to] = s->t[from];
	memmove(s->mean + to * w, s->mean + from * w, bytes);
	memmove(s->min + to * w, s->min + from * w, bytes);
	memmove(s->max + to * w, s->max + from * w, bytes);
}

/* Halve the points. The first stays alone: it is the baseline of every counter. */
static bool join_all(struct as_series *s)
{
	size_t out = 1;

	if (!add_extremes(s))
		return false;
	for (size_t i = 1; i + 1 < s->n; i += 2, out++) {
		int64_t wa = span(s, i), wb = span(s, i + 1), t = s->t[i + 1];

		for (size_t c = 0; c < width(s); c++)
			join_cell(s, i, i + 1, c, wa, wb);
		move_point(s, out, i);
		s->t[out] = t;
	}
	if (s->n % 2 == 0)
		move_point(s, out++, s->n - 1);
	s->pending = s->n % 2 == 0 ? 1u << s->joined : 0;
	s->n = out;
	s->joined++;
	return true;
}

static void put(struct as_series *s, size_t i, int64_t t_ns, const int64_t *row)
{
	size_t bytes = width(s) * sizeof *row;

	s->t[i] = t_ns;
	memcpy(s->mean + i * width(s), row, bytes);
	if (s->min) {
		memcpy(s->min + i * width(s), row, bytes);
		memcpy(s->max + i * width(s), row, bytes);
	}
}

/* Join a sample into the last point, which is not full yet. */
static void absorb(struct as_series *s, int64_t t_ns, const int64_t *row)
{
	int64_t wa = span(s, s->n - 1), wb = t_ns - s->t[s->n - 1];

	put(s, s->n, t_ns, row); /* the spare point at the end */
	for (size_t c = 0; c < width(s); c++)
		join_cell(s, s->n - 1, s->n, c, wa, wb);
	s->t[s->n - 1] = t_ns;
}

int as_series_add(struct as_series *s, int64_t t_ns, const int64_t *row, struct as_err *err)
{
	if (s->n && t_ns <= s->t[s->n - 1])
		return AS_OK; /* no time has passed: nothing to draw */
	if (s->n + 1 >= AS_SERIES_CAP && !s->pending && !join_all(s))
		return as_fail(err, AS_ENOMEM, "no memory for the timeline");
	if (s->n + 1 >= s->cap && s->cap < AS_SERIES_CAP &&
	    !grow(s, s->cap ? s->cap * 2 : FIRST_CAP))
		return as_fail(err, AS_ENOMEM, "no memory for the timeline");
	if (s->pending && s->n > 1) {
		absorb(s, t_ns, row);
	} else {
		put(s, s->n++, t_ns, row);
		s->pending = 0;
	}
	if (s->joined && ++s->pending >= 1u << s->joined)
		s->pending = 0;
	return AS_OK;
}

void as_series_forget(struct as_series *s, size_t column)
{
	int64_t *const cells[] = {s->mean, s->min, s->max};

	for (size_t k = 0; k < AS_LEN(cells); k++)
		for (size_t i = 0; cells[k] && i < s->n; i++)
			cells[k][i * width(s) + column] = AS_NA;
}

void as_series_free(struct as_series *s)
{
	if (!s)
		return;
	free(s->t);
	free(s->mean);
	free(s->min);
	free(s->max);
	free(s->spare[0]);
	free(s->spare[1]);
	free(s);
}
