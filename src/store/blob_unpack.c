/*
 * Bytes to a run. They come from our own catalogue, but a disk may have lied
 * and a store may be a gift: nothing is believed, every array is bounded
 * before it is made, and values so large that adding them up could overflow
 * are damage.
 */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "run/series.h"
#include "store/blob.h"
#include "store/blob_format.h"
#include "store/column.h"
#include "store/heap_notes.h"
#include "store/loads.h"
#include "store/parts.h"

#define VALUE_MAX (INT64_C(1) << 62)

enum {
	INSTANCES_MAX = 1 << 16,
	POINTS_MAX = 1 << 16,
	TOTALS_MAX = 1024,
};

struct unpack {
	struct as_run *run;
	struct as_keys keys;
	size_t ntotals;
	uint16_t total[TOTALS_MAX]; /* ours, AS_NTOTALS when unknown */
	bool described, identified;
	uint8_t version;
	struct as_blob_times times; /* of the instance before */
};

static void *room(struct as_bytes *b, size_t n, size_t size)
{
	void *p = b->bad ? NULL : as_zalloc_n(n, size);

	if (!p && !b->bad)
		b->bad = b->nomem = true;
	return p;
}

/* ── description ──────────────────────────────────────────────────────── */

static void set_origin(struct unpack *u, size_t s, size_t c, const struct as_origin *o)
{
	enum as_scope scope = u->keys.scopes[s].scope;
	uint16_t column = u->keys.column[u->keys.scopes[s].first + c];

	if (scope < AS_NSCOPES && column != AS_NO_COLUMN)
		u->run->origins[as_scope_info(scope)->first + column] = *o;
}

static void take_origins(struct unpack *u, struct as_bytes *b)
{
	struct as_origin o = {0};
	size_t left = 0;

	for (size_t s = 0; s < u->keys.n; s++)
		for (size_t c = 0; c < u->keys.scopes[s].n && !b->bad; c++, left--) {
			if (!left) {
				left = (size_t)as_dec_below(b, AS_KEYS_COLUMNS + 1);
				as_dec_origin(b, &o);
				b->bad |= !left;
			}
			set_origin(u, s, c, &o);
		}
}

static void take_total_origin(struct unpack *u, struct as_bytes *b, size_t t)
{
	char key[64];
	struct as_origin o;

	as_dec_chars(b, key, sizeof key);
	as_dec_origin(b, &o);
	enum as_total_id id = as_total_find(key);
	u->total[t] = (uint16_t)id;
	if (id == AS_NTOTALS)
		return;
	u->run->totals[id].how = o.how;
	memcpy(u->run->totals[id].source, o.source, sizeof o.source);
}

static void take_description(struct unpack *u, struct as_bytes *b)
{
	as_dec_keys(b, &u->keys);
	take_origins(u, b);
	u->ntotals = (size_t)as_dec_below(b, TOTALS_MAX + 1);
	for (size_t t = 0; t < u->ntotals && !b->bad; t++)
		take_total_origin(u, b, t);
	u->described = true;
}

static void take_identity(struct unpack *u, struct as_bytes *b)
{
	as_identity_done(&u->run->who);
	as_dec_identity(b, &u->run->who);
	u->identified = true;
}

static void take_outcome(struct unpack *u, struct as_bytes *b)
{
	free(u->run->end.error);
	as_dec_outcome(b, &u->run->end);
	u->run->unlisted = as_dec_u64(b);
}

static void take_totals(struct unpack *u, struct as_bytes *b)
{
	for (size_t t = 0; t < u->ntotals && !b->bad; t++) {
		int64_t v = as_dec_maybe(b);

		if (u->total[t] < AS_NTOTALS)
			u->run->totals[u->total[t]].value = v;
	}
}

static void take_verdict(struct unpack *u, struct as_bytes *b)
{
	if (as_bytes_left(b))
		as_dec_verdict(b, &u->run->verdict);
}

static void take_load(struct unpack *u, struct as_bytes *b)
{
	free(u->run->load); /* said twice: the later one counts */
	u->run->load = room(b, 1, sizeof *u->run->load);
	if (u->run->load)
		as_dec_load(b, u->run->load);
}

static void take_heap(struct unpack *u, struct as_bytes *b)
{
	free(u->run->heap);
	u->run->heap = room(b, 1, sizeof *u->run->heap);
	if (u->run->heap)
		as_dec_heap_note(b, u->run->heap);
}

/* ── tallies ──────────────────────────────────────────────────────────── */

/* What a number follows from: of a gauge its base, of a counter (format 3) its time. */
struct number {
	bool grown;
	int64_t base, time;
	double before;
};

static double take_whole(struct as_bytes *b, const struct number *n)
{
	int64_t v = as_dec_i64(b);

	if (!n->grown)
		return (double)(int64_t)((uint64_t)n->base + (uint64_t)v);
	b->bad |= v && !n->time;
	return v && n->time ? (double)v / (double)n->time : 0;
}

static double take_number(struct as_bytes *b, unsigned kind, const struct number *n)
{
	switch ((enum as_number_kind)kind) {
	case AS_NUMBER_RAW:
		return as_dec_f64(b);
	case AS_NUMBER_WHOLE:
		return take_whole(b, n);
	case AS_NUMBER_SAME:
		return n->before;
	case AS_NUMBER_NAN:
		break;
	}
	return (double)NAN;
}

static void take_tally(struct as_bytes *b, struct as_tally *t, int64_t *last, bool grown,
		       const struct as_blob_times *times)
{
	double *const v[] = {&t->last, &t->min, &t->max, &t->mean};

	*last = as_dec_maybe(b);
	uint8_t kinds = as_dec_u8(b);
	struct number n = {.grown = grown,
			   .base = *last == AS_NA ? 0 : *last,
			   .before = (double)*last};
	for (size_t i = 0; i < AS_LEN(v); i++) {
		n.time = i == AS_LEN(v) - 1 ? times->mean : times->last;
		n.before = *v[i] = take_number(b, kinds >> 2 * i & 3, &n);
	}
}

static bool give_last(struct as_bytes *b, struct as_instance *i)
{
	size_t n = as_scope_info(i->scope)->n;

	i->last = room(b, n, sizeof *i->last);
	for (size_t c = 0; c < n && !b->bad; c++)
		i->last[c] = AS_NA;
	return !b->bad;
}

static bool give_cells(struct as_bytes *b, struct as_instance *i)
{
	size_t n = as_scope_info(i->scope)->n;

	i->tally = room(b, n, sizeof *i->tally);
	for (size_t c = 0; c < n && !b->bad; c++)
		i->tally[c] = as_tally_new();
	return !b->bad && give_last(b, i);
}

static bool is_counter(enum as_scope scope, size_t column)
{
	return as_fields[as_scope_info(scope)->first + column].kind == AS_COUNTER;
}

static void take_times(struct unpack *u, struct as_bytes *b)
{
	if (u->version < 3)
		return;
	u->times.mean = (int64_t)((uint64_t)u->times.mean + (uint64_t)as_dec_i64(b));
	u->times.last = (int64_t)((uint64_t)u->times.last + (uint64_t)as_dec_i64(b));
}

/* The tallies of file scope s; `i` NULL when that is none of ours. */
static void take_tallies(struct unpack *u, struct as_bytes *b, size_t s, struct as_instance *i)
{
	size_t columns = u->keys.scopes[s].n;
	uint64_t n = 0;

	take_times(u, b);
	struct as_bytes bitmap = as_dec_piece(b, (columns + 7) / 8);
	if (i && !give_cells(b, i))
		return;
	for (size_t c = 0; c < columns && !b->bad; c++) {
		uint16_t column = u->keys.column[u->keys.scopes[s].first + c];
		struct as_tally spare, *t = &spare;
		int64_t unwanted, *last = &unwanted;
		bool grown = false;

		if (!(bitmap.p[c / 8] >> c % 8 & 1))
			continue;
		if (i && column != AS_NO_COLUMN) {
			t = &i->tally[column];
			last = &i->last[column];
			grown = u->version >= 3 && is_counter(i->scope, column);
		}
		n += (uint64_t)as_dec_i64(b);
		t->n = n;
		take_tally(b, t, last, grown, &u->times);
	}
}

static void take_only_row(struct unpack *u, struct as_bytes *b, size_t s, struct as_instance *i)
{
	size_t columns = u->keys.scopes[s].n;
	struct as_bytes bitmap = as_dec_piece(b, (columns + 7) / 8);

	if (i && !give_last(b, i))
		return;
	for (size_t c = 0; c < columns && !b->bad; c++) {
		uint16_t column = u->keys.column[u->keys.scopes[s].first + c];

		if (!(bitmap.p[c / 8] >> c % 8 & 1))
			continue;
		int64_t v = as_dec_i64(b);
		if (i && column != AS_NO_COLUMN)
			i->last[column] = v;
	}
}

static void retell(struct unpack *u, struct as_bytes *b, struct as_instance *i)
{
	const struct as_series *s = i ? u->run->series[i->scope] : NULL;

	b->bad |= i && !s;
	if (s && give_cells(b, i))
		as_blob_retell(s, i->tally, i->last);
}

static void take_instance(struct unpack *u, struct as_bytes *b)
{
	uint64_t head = as_dec_u64(b);
	size_t s = (size_t)(head / 4);
	struct as_instance facts = {0}, *i = NULL;

	b->bad |= head / 4 >= u->keys.n || head % 4 > AS_TOLD_ROW;
	if (b->bad)
		return;
	as_dec_instance(b, &facts);
	facts.scope = u->keys.scopes[s].scope;
	if (facts.scope < AS_NSCOPES) {
		i = &u->run->instances[u->run->ninstances++];
		*i = facts;
	} else {
		as_instance_done(&facts);
	}
	if (head % 4 == AS_TOLD_TALLIES)
		take_tallies(u, b, s, i);
	else if (head % 4 == AS_TOLD_BY_SERIES)
		retell(u, b, i);
	else if (head % 4 == AS_TOLD_ROW)
		take_only_row(u, b, s, i);
}

static void take_instances(struct unpack *u, struct as_bytes *b)
{
	size_t n = as_dec_count(b, 2);

	b->bad |= n > INSTANCES_MAX || u->run->instances;
	u->run->instances = b->bad ? u->run->instances : room(b, n, sizeof *u->run->instances);
	for (size_t i = 0; i < n && !b->bad; i++)
		take_instance(u, b);
	u->run->instances_cap = n;
}

/* ── series ───────────────────────────────────────────────────────────── */

static bool sane(int64_t v)
{
	return v == AS_NA || (v >= -VALUE_MAX && v <= VALUE_MAX);
}

/* All columns of file scope s into cells of our scope; NULL reads past them. */
static void take_columns(struct unpack *u, struct as_bytes *b, size_t s, size_t n, int64_t *cells,
			 const int64_t *base)
{
	enum as_scope scope = u->keys.scopes[s].scope;
	size_t width = scope < AS_NSCOPES ? as_scope_info(scope)->n : 0;

	for (size_t i = 0; cells && i < n * width; i++)
		cells[i] = AS_NA;
	for (size_t c = 0; c < u->keys.scopes[s].n && !b->bad; c++) {
		uint16_t column = u->keys.column[u->keys.scopes[s].first + c];
		bool ours = cells && column != AS_NO_COLUMN;

		as_dec_column(b, ours ? cells + column : NULL, base && ours ? base + column : NULL,
			      n, width);
	}
	for (size_t i = 0; cells && i < n * width && !b->bad; i++)
		b->bad |= !sane(cells[i]);
}

static int64_t *take_moments(struct as_bytes *b, size_t n, const struct as_series *same)
{
	int64_t *t = room(b, n, sizeof *t);

	if (!t)
		return NULL;
	if (same && n)
		memcpy(t, same->t, n * sizeof *t);
	else
		as_dec_column(b, t, NULL, n, 1);
	for (size_t i = 0; i < n && !b->bad; i++)
		b->bad |= t[i] == AS_NA || !sane(t[i]) || (i && t[i] < t[i - 1]);
	return t;
}

/* A new series in its place in the run; NULL with a spare when the scope is none of ours. */
static struct as_series *place(struct unpack *u, struct as_bytes *b, enum as_scope scope,
			       struct as_series *spare)
{
	if (scope == AS_NSCOPES)
		return spare;
	b->bad |= u->run->series[scope] != NULL;
	struct as_series *s = room(b, 1, sizeof *s);
	if (!s)
		return NULL;
	s->scope = scope;
	u->run->series[scope] = s;
	return s;
}

static void take_cells(struct unpack *u, struct as_bytes *b, size_t file_scope, struct as_series *s,
		       bool extremes)
{
	size_t cells = s->scope < AS_NSCOPES ? s->n * as_scope_info(s->scope)->n : 0;

	if (s->scope < AS_NSCOPES) {
		s->mean = room(b, cells, sizeof *s->mean);
		s->min = extremes ? room(b, cells, sizeof *s->min) : NULL;
		s->max = extremes ? room(b, cells, sizeof *s->max) : NULL;
	}
	take_columns(u, b, file_scope, s->n, b->bad ? NULL : s->mean, NULL);
	if (extremes) {
		take_columns(u, b, file_scope, s->n, b->bad ? NULL : s->min, s->mean);
		take_columns(u, b, file_scope, s->n, b->bad ? NULL : s->max, s->mean);
	}
}

static void free_moments(struct as_series *s)
{
	free(s->t);
}

/* `before` is the series before it in the blob, whose moments it may share. */
static void take_one_series(struct unpack *u, struct as_bytes *b, struct as_series *before)
{
	as_cleanup(free_moments) struct as_series spare = {.scope = AS_NSCOPES};
	size_t scope = (size_t)as_dec_below(b, u->keys.n);
	struct as_series *s = b->bad ? NULL : place(u, b, u->keys.scopes[scope].scope, &spare);

	if (!s)
		return;
	size_t n = (size_t)as_dec_below(b, POINTS_MAX + 1);
	s->joined = (uint32_t)as_dec_below(b, 32);
	s->pending = (uint32_t)as_dec_below(b, UINT64_C(1) << 32);
	uint64_t flags = as_dec_u64(b);
	b->bad |= (flags & AS_SERIES_SAME_T) && (!before->t || before->n != n);
	s->t = take_moments(b, n, flags & AS_SERIES_SAME_T ? before : NULL);
	if (!s->t)
		return;
	s->n = s->cap = n;
	take_cells(u, b, scope, s, flags & AS_SERIES_EXTREMES);

	free(before->t);
	*before = (struct as_series){.n = n, .t = room(b, n, sizeof *s->t)};
	if (before->t && n)
		memcpy(before->t, s->t, n * sizeof *s->t);
}

static void take_series(struct unpack *u, struct as_bytes *b)
{
	as_cleanup(free_moments) struct as_series before = {0};

	for (size_t n = as_dec_count(b, 5); n > 0 && !b->bad; n--)
		take_one_series(u, b, &before);
}

/* ── all of it ────────────────────────────────────────────────────────── */

/* clang-format off */
static const struct {
	enum as_blob_tag tag;
	void (*take)(struct unpack *u, struct as_bytes *b);
} sections[] = {
	{AS_BLOB_DESCRIPTION, take_description},
	{AS_BLOB_IDENTITY, take_identity},
	{AS_BLOB_OUTCOME, take_outcome},
	{AS_BLOB_TOTALS, take_totals},
	{AS_BLOB_SERIES, take_series},
	{AS_BLOB_INSTANCES, take_instances},
	{AS_BLOB_VERDICT, take_verdict},
	{AS_BLOB_LOAD, take_load},
	{AS_BLOB_HEAP, take_heap},
};
/* clang-format on */

static void take_section(struct unpack *u, struct as_bytes *b)
{
	uint8_t tag = as_dec_u8(b);
	struct as_bytes body = as_dec_piece(b, as_dec_u64(b));

	b->bad |= u->described == (tag == AS_BLOB_DESCRIPTION);
	for (size_t i = 0; i < AS_LEN(sections) && !b->bad; i++)
		if (sections[i].tag == tag)
			sections[i].take(u, &body);
	b->bad |= body.bad;
	b->nomem |= body.nomem;
}

int as_blob_unpack(const void *p, size_t n, struct as_run **ret, struct as_err *err)
{
	as_auto_run struct as_run *run = as_zalloc(sizeof *run);
	as_auto_free struct unpack *u = as_zalloc(sizeof *u);
	struct as_bytes b = as_bytes(p, n);
	uint8_t version = as_dec_u8(&b);

	if (!run || !u)
		return as_fail(err, AS_ENOMEM, "no memory for a run");
	if (version > AS_BLOB_VERSION)
		return as_fail(err, AS_EUNSUP, "the run has format %d, this assay knows up to %d",
			       version, AS_BLOB_VERSION);
	for (size_t t = 0; t < AS_NTOTALS; t++)
		run->totals[t].value = AS_NA;
	u->run = run;
	u->version = version;
	while (as_bytes_left(&b) && !b.bad)
		take_section(u, &b);
	b.bad |= !u->identified || !version;
	int r = as_bytes_ok(&b, "the run", err);
	if (r == AS_OK)
		*ret = as_take(run);
	return r;
}
