#include <math.h>
#include <string.h>

#include "store/blob.h"
#include "store/blob_format.h"
#include "store/column.h"
#include "store/heap_notes.h"
#include "store/loads.h"
#include "store/parts.h"

/* ── description ──────────────────────────────────────────────────────── */

/* Fields that follow each other mostly share their origin: it is said once, with how many. */
static void put_origins(struct as_buf *b, const struct as_run *run)
{
	for (size_t f = 0, n; f < AS_NFIELDS; f += n) {
		const struct as_origin *o = &run->origins[f];

		for (n = 1; f + n < AS_NFIELDS; n++)
			if (o[n].how != o->how || strcmp(o[n].source, o->source) != 0)
				break;
		as_enc_u64(b, n);
		as_enc_origin(b, o->how, o->source);
	}
}

static void put_description(struct as_buf *b, const struct as_run *run)
{
	as_enc_keys(b);
	put_origins(b, run);
	as_enc_u64(b, AS_NTOTALS);
	for (size_t t = 0; t < AS_NTOTALS; t++) {
		as_enc_text(b, as_totals[t].key);
		as_enc_origin(b, run->totals[t].how, run->totals[t].source);
	}
}

/* The origins of the totals, as an array like that of the fields. */
static void total_origins(const struct as_run *run, struct as_origin *ret)
{
	for (size_t t = 0; t < AS_NTOTALS; t++) {
		ret[t].how = run->totals[t].how;
		memcpy(ret[t].source, run->totals[t].source, sizeof ret[t].source);
	}
}

/* The same description as that of the run before is only copied. */
static void put_remembered(struct as_buf *b, const struct as_run *run, struct as_blob_memo *m)
{
	struct as_origin totals[AS_NTOTALS];

	total_origins(run, totals);
	if (!m->bytes.len || memcmp(m->origins, run->origins, sizeof m->origins) != 0 ||
	    memcmp(m->totals, totals, sizeof totals) != 0) {
		as_buf_done(&m->bytes);
		m->bytes = AS_BUF(AS_BUF_FILE);
		put_description(&m->bytes, run);
		memcpy(m->origins, run->origins, sizeof m->origins);
		memcpy(m->totals, totals, sizeof totals);
	}
	b->bad |= m->bytes.bad;
	as_buf_add(b, m->bytes.p, m->bytes.len);
}

void as_blob_memo_done(struct as_blob_memo *m)
{
	as_buf_done(&m->bytes);
	as_buf_done(&m->body);
}

static void put_identity(struct as_buf *b, const struct as_run *run, struct as_blob_memo *m)
{
	(void)m;
	as_enc_identity(b, &run->who);
}

static void put_outcome(struct as_buf *b, const struct as_run *run, struct as_blob_memo *m)
{
	(void)m;
	as_enc_outcome(b, &run->end);
	as_enc_u64(b, run->unlisted);
}

static void put_totals(struct as_buf *b, const struct as_run *run, struct as_blob_memo *m)
{
	(void)m;
	for (size_t t = 0; t < AS_NTOTALS; t++)
		as_enc_maybe(b, run->totals[t].value);
}

static void put_verdict(struct as_buf *b, const struct as_run *run, struct as_blob_memo *m)
{
	(void)m;
	if (run->verdict.kind[0])
		as_enc_verdict(b, &run->verdict);
}

/* ── tallies ──────────────────────────────────────────────────────────── */

/* Is it a whole number near `base`, so that their difference says it in few bytes? */
static bool whole(double v, int64_t base, int64_t *ret)
{
	if (!(v > -4e18 && v < 4e18) || v != (double)(int64_t)v || (v == 0 && signbit(v)))
		return false;
	*ret = (int64_t)((uint64_t)(int64_t)v - (uint64_t)base);
	return true;
}

static bool same_bits(double a, double b)
{
	return !memcmp(&a, &b, sizeof a);
}

/* At most so many bytes: n, last, kinds, and a number of 10 bytes for each of four. */
enum { TALLY_MAX = 10 + 10 + 1 + 4 * 10 };

/* Is it a whole number that grew in `time`, to the bit? */
static bool grown(double v, int64_t time, int64_t *ret)
{
	double growth = v * (double)time;

	*ret = 0;
	if (v == 0 || time <= 0 || !(growth > -1e15 && growth < 1e15))
		return v == 0 && !signbit(v);
	*ret = (int64_t)(growth < 0 ? growth - 0.5 : growth + 0.5);
	return *ret && (double)*ret / (double)time == v;
}

/* One number of a tally: of a gauge near `base`, of a counter grown in `time`. */
struct number {
	bool counter;
	int64_t base, time;
	double before;
};

static char *put_number(char *at, double v, const struct number *n, unsigned *ret_kind)
{
	int64_t short_form;

	*ret_kind = isnan(v) ? AS_NUMBER_NAN : AS_NUMBER_SAME;
	if (isnan(v) || same_bits(v, n->before))
		return at;
	if (n->counter ? grown(v, n->time, &short_form) : whole(v, n->base, &short_form)) {
		*ret_kind = AS_NUMBER_WHOLE;
		return as_enc_at(at, as_zigzag(short_form));
	}
	*ret_kind = AS_NUMBER_RAW;
	return as_enc_f64_at(at, v);
}

static char *put_tally(char *at, const struct as_tally *t, int64_t last, bool counter,
		       const struct as_blob_times *times)
{
	const double v[] = {t->last, t->min, t->max, t->mean};
	struct number n = {.counter = counter,
			   .base = last == AS_NA ? 0 : last,
			   .before = (double)last};
	unsigned kinds = 0, kind;

	at = as_enc_at(at, as_zigzag(last) + 1);
	char *kinds_at = at++;
	for (size_t i = 0; i < AS_LEN(v); i++) {
		n.time = i == AS_LEN(v) - 1 ? times->mean : times->last;
		at = put_number(at, v[i], &n, &kind);
		kinds |= kind << 2 * i;
		n.before = v[i];
	}
	*kinds_at = (char)kinds;
	return at;
}

static bool untold(const struct as_instance *i, size_t c)
{
	const struct as_tally *t = &i->tally[c];

	return !t->n && i->last[c] == AS_NA && isnan(t->mean) && isnan(t->min) && isnan(t->max) &&
	       isnan(t->last);
}

static bool is_counter(const struct as_instance *i, size_t c)
{
	return as_fields[as_scope_info(i->scope)->first + c].kind == AS_COUNTER;
}

/* Those of the first counter that has any: the others were mostly read with it. */
static struct as_blob_times times_of(const struct as_instance *i)
{
	for (size_t c = 0; c < as_scope_info(i->scope)->n; c++) {
		const struct as_tally *t = &i->tally[c];

		if (is_counter(i, c) && as_tally_time(t) > 0)
			return (struct as_blob_times){as_tally_time(t), as_tally_last_time(t)};
	}
	return (struct as_blob_times){0, 0};
}

static void put_tallies(struct as_buf *b, const struct as_instance *i, struct as_blob_times *times)
{
	size_t columns = as_scope_info(i->scope)->n, bitmap = (columns + 7) / 8;
	struct as_blob_times now = times_of(i);
	uint64_t n = 0;

	as_enc_i64(b, now.mean - times->mean);
	as_enc_i64(b, now.last - times->last);
	*times = now;
	char *told = as_buf_room(b, bitmap + columns * TALLY_MAX);
	if (!told)
		return;
	char *at = told + bitmap;
	memset(told, 0, bitmap);
	for (size_t c = 0; c < columns; c++) {
		if (untold(i, c))
			continue;
		told[c / 8] = (char)((unsigned char)told[c / 8] | 1u << c % 8);
		at = as_enc_at(at, as_zigzag((int64_t)(i->tally[c].n - n)));
		at = put_tally(at, &i->tally[c], i->last[c], is_counter(i, c), &now);
		n = i->tally[c].n;
	}
	b->len = (size_t)(at - b->p);
}

static void put_only_row(struct as_buf *b, const struct as_instance *i)
{
	size_t columns = as_scope_info(i->scope)->n, at = b->len;

	as_buf_fill(b, 0, (columns + 7) / 8);
	for (size_t c = 0; c < columns && !b->bad; c++) {
		if (i->last[c] == AS_NA)
			continue;
		b->p[at + c / 8] = (char)((unsigned char)b->p[at + c / 8] | 1u << c % 8);
		as_enc_i64(b, i->last[c]);
	}
}

/*
 * Will a reader find the very same tallies in the series? Then they need no
 * bytes. The builder tells both of every sample, so as long as the series kept
 * as many as the tally counted, and joined none, they saw the same.
 */
static bool follows(const struct as_run *run, const struct as_instance *i,
		    const struct as_blob_memo *m)
{
	const struct as_series *s = run->series[i->scope];
	const struct as_scope_info *info = as_scope_info(i->scope);

	if (!s || s->joined || s->min || i->id != 0)
		return false;
	for (size_t c = 0; c < info->n; c++)
		if (i->tally[c].n != m->known[info->first + c])
			return false;
	return true;
}

static enum as_told how_told(const struct as_run *run, const struct as_instance *i,
			     const struct as_blob_memo *m)
{
	if (!i->last)
		return AS_TOLD_NOTHING;
	if (!i->tally)
		return AS_TOLD_ROW;
	return follows(run, i, m) ? AS_TOLD_BY_SERIES : AS_TOLD_TALLIES;
}

static void put_instances(struct as_buf *b, const struct as_run *run, struct as_blob_memo *m)
{
	struct as_blob_times times = {0, 0};

	as_enc_u64(b, run->ninstances);
	for (size_t i = 0; i < run->ninstances; i++) {
		const struct as_instance *it = &run->instances[i];
		enum as_told told = how_told(run, it, m);

		as_enc_u64(b, (uint64_t)it->scope * 4 + told);
		as_enc_instance(b, it);
		if (told == AS_TOLD_TALLIES)
			put_tallies(b, it, &times);
		else if (told == AS_TOLD_ROW)
			put_only_row(b, it);
	}
}

/* ── series ───────────────────────────────────────────────────────────── */

static bool same_moments(const struct as_series *a, const struct as_series *b)
{
	return a && a->n == b->n && !memcmp(a->t, b->t, b->n * sizeof *b->t);
}

/*
 * Values lie in memory row by row, and columns are read across: ask for all of
 * them now, and the first column does not wait for each row in turn.
 */
static void fetch(const int64_t *v, size_t n)
{
	enum { LINE = 64 / sizeof *v, FITS = (32 << 10) / sizeof *v };

	n = n < FITS ? n : FITS;
	for (size_t i = 0; i < n; i += LINE)
		__builtin_prefetch(v + i);
}

/* The columns of one array of a series; how many values of each are known, when asked. */
static void put_columns(struct as_buf *b, const struct as_series *s, const int64_t *v,
			const int64_t *base, size_t *ret_known)
{
	size_t width = as_scope_info(s->scope)->n;

	fetch(v, s->n * width);
	for (size_t c = 0; c < width; c++) {
		size_t known = as_enc_column(b, v + c, base ? base + c : NULL, s->n, width);

		if (ret_known)
			ret_known[c] = known;
	}
}

static void put_one_series(struct as_buf *b, const struct as_series *s,
			   const struct as_series *before, size_t *known)
{
	bool same = same_moments(before, s), extremes = s->min && s->max;

	as_enc_u64(b, s->scope);
	as_enc_u64(b, s->n);
	as_enc_u64(b, s->joined);
	as_enc_u64(b, s->pending);
	as_enc_u64(b, (same ? AS_SERIES_SAME_T : 0) | (extremes ? AS_SERIES_EXTREMES : 0));
	if (!same)
		(void)as_enc_column(b, s->t, NULL, s->n, 1);
	put_columns(b, s, s->mean, NULL, known + as_scope_info(s->scope)->first);
	if (extremes) {
		put_columns(b, s, s->min, s->mean, NULL);
		put_columns(b, s, s->max, s->mean, NULL);
	}
}

static void put_series(struct as_buf *b, const struct as_run *run, struct as_blob_memo *m)
{
	const struct as_series *before = NULL;
	uint64_t n = 0;

	for (size_t s = 0; s < AS_NSCOPES; s++)
		n += run->series[s] != NULL;
	as_enc_u64(b, n);
	for (size_t s = 0; s < AS_NSCOPES; s++) {
		if (!run->series[s])
			continue;
		put_one_series(b, run->series[s], before, m->known);
		before = run->series[s];
	}
}

/* ── what a load measured, what was allocated ─────────────────────────── */

static void put_load(struct as_buf *b, const struct as_run *run, struct as_blob_memo *m)
{
	(void)m;
	if (run->load)
		as_enc_load(b, run->load);
}

static void put_heap(struct as_buf *b, const struct as_run *run, struct as_blob_memo *m)
{
	(void)m;
	if (run->heap)
		as_enc_heap_note(b, run->heap);
}

/* ── all of it ────────────────────────────────────────────────────────── */

/* clang-format off */
/* All but the description, which comes first. */
static const struct {
	enum as_blob_tag tag;
	void (*put)(struct as_buf *b, const struct as_run *run, struct as_blob_memo *m);
} sections[] = {
	{AS_BLOB_IDENTITY, put_identity},
	{AS_BLOB_OUTCOME, put_outcome},
	{AS_BLOB_TOTALS, put_totals},
	{AS_BLOB_SERIES, put_series},
	{AS_BLOB_INSTANCES, put_instances}, /* their tallies may follow from the series */
	{AS_BLOB_VERDICT, put_verdict},
	{AS_BLOB_LOAD, put_load},
	{AS_BLOB_HEAP, put_heap},
};
/* clang-format on */

/* Most runs have neither of the last two. */
static bool is_there(const struct as_run *run, enum as_blob_tag tag)
{
	return tag == AS_BLOB_LOAD ? run->load != NULL : tag != AS_BLOB_HEAP || run->heap;
}

static void put_section(struct as_buf *out, enum as_blob_tag tag, const struct as_buf *body)
{
	out->bad |= body->bad;
	as_buf_byte(out, (char)tag);
	as_enc_u64(out, body->len);
	as_buf_add(out, body->p, body->len);
}

static void pack(const struct as_run *run, struct as_blob_memo *m, struct as_buf *out,
		 size_t *ret_description)
{
	m->body.max = AS_BLOB_MAX;
	as_buf_clear(&m->body);
	as_buf_byte(out, AS_BLOB_VERSION);
	put_remembered(&m->body, run, m);
	put_section(out, AS_BLOB_DESCRIPTION, &m->body);
	*ret_description = out->len;
	for (size_t i = 0; i < AS_LEN(sections); i++) {
		as_buf_clear(&m->body);
		sections[i].put(&m->body, run, m);
		if (is_there(run, sections[i].tag))
			put_section(out, sections[i].tag, &m->body);
	}
}

int as_blob_pack(const struct as_run *run, struct as_blob_memo *memo, struct as_buf *out,
		 size_t *ret_description, struct as_err *err)
{
	as_cleanup(as_blob_memo_done) struct as_blob_memo own = {.bytes.len = 0};

	pack(run, memo ? memo : &own, out, ret_description);
	return as_buf_ok(out, err);
}
