#include "store/rollup.h"

#include <string.h>

#include "base/clock.h"
#include "base/fault.h"

/* A power of two; a batch of 10,000 runs has some 6,000 groups. How far to look for a free one. */
enum { PLACES = 16384, NEAR = 16 };

/* Sums of one group of runs: a row of the table. */
struct as_sum {
	char facet[96]; /* a longer one is written at once */
	char name[64];
	int32_t span, status;
	int64_t bucket;
	int64_t count; /* 0: the place is free */
	int64_t duration, longest, cpu, cpu_known, memory, memory_known, largest, first, last;
};

/* clang-format off */
static const int64_t span_ns[AS_NSPANS] = {AS_SPAN_0 * AS_SECOND, AS_SPAN_1 * AS_SECOND};
/* clang-format on */

void as_facet_version(struct as_buf *b, const char *version)
{
	as_buf_str(b, "v" AS_FACET_SEPARATOR);
	as_buf_str(b, version);
}

void as_facet_host(struct as_buf *b, const char *host)
{
	as_buf_str(b, "h" AS_FACET_SEPARATOR);
	as_buf_str(b, host);
}

void as_facet_label(struct as_buf *b, const struct as_pair *p)
{
	as_buf_str(b, "l" AS_FACET_SEPARATOR);
	as_buf_str(b, p->key);
	as_buf_str(b, AS_FACET_SEPARATOR);
	as_buf_str(b, p->value ? p->value : "");
}

/* ── the table ────────────────────────────────────────────────────────── */

static int write_sum(struct as_store *s, const char *facet, const struct as_sum *m,
		     struct as_err *err)
{
	const int64_t numbers[] = {m->status,  m->count,     m->duration, m->longest,
				   m->cpu,     m->cpu_known, m->memory,   m->memory_known,
				   m->largest, m->first,     m->last};
	sqlite3_stmt *st;
	int r = as_catalogue_stmt(s, AS_SQL_ROLLUP_ADD, &st, err);

	if (r < 0)
		return r;
	as_bind_text(st, 1, facet);
	(void)sqlite3_bind_int(st, 2, m->span);
	(void)sqlite3_bind_int64(st, 3, m->bucket);
	as_bind_text(st, 4, m->name);
	for (size_t i = 0; i < AS_LEN(numbers); i++)
		(void)sqlite3_bind_int64(st, 5 + (int)i, numbers[i]);
	return as_catalogue_done(s, st, err);
}

/* ── in memory ────────────────────────────────────────────────────────── */

static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void add_sums(struct as_sum *to, const struct as_sum *from)
{
	to->count += from->count;
	to->duration = plus(to->duration, from->duration);
	to->longest = most(to->longest, from->longest);
	to->cpu = plus(to->cpu, from->cpu);
	to->cpu_known += from->cpu_known;
	to->memory = plus(to->memory, from->memory);
	to->memory_known += from->memory_known;
	to->largest = most(to->largest, from->largest);
	to->first = from->first < to->first ? from->first : to->first;
	to->last = most(to->last, from->last);
}

static bool same_group(const struct as_sum *a, const struct as_sum *b)
{
	return a->bucket == b->bucket && a->span == b->span && a->status == b->status &&
	       !strcmp(a->name, b->name) && !strcmp(a->facet, b->facet);
}

static size_t hash(const struct as_sum *m)
{
	uint64_t h = (uint64_t)m->bucket * 31 + (uint64_t)m->status * 7 + (uint64_t)m->span;

	for (const char *p = m->name; *p; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211u;
	for (const char *p = m->facet; *p; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211u;
	return (h ^ h >> 29) & (PLACES - 1);
}

/* Its group's place, or a free one near it; that of another group when there is none. */
static struct as_sum *place_of(struct as_store *s, const struct as_sum *m)
{
	size_t h = hash(m);

	for (size_t i = 0; i < NEAR; i++) {
		struct as_sum *place = &s->sums[(h + i) & (PLACES - 1)];

		if (!place->count || same_group(place, m))
			return place;
	}
	return &s->sums[h];
}

/* Join it to its group; if another one has its place, that one is written first. */
static int collect(struct as_store *s, const struct as_sum *m, struct as_err *err)
{
	struct as_sum *place = place_of(s, m);
	int r = AS_OK;

	if (place->count && same_group(place, m)) {
		add_sums(place, m);
		return AS_OK;
	}
	if (place->count)
		r = write_sum(s, place->facet, place, err);
	*place = *m;
	return r;
}

int as_rollup_flush(struct as_store *s, struct as_err *err)
{
	int r = AS_OK;

	for (size_t i = 0; s->sums && i < PLACES && r == AS_OK; i++) {
		if (s->sums[i].count)
			r = write_sum(s, s->sums[i].facet, &s->sums[i], err);
		s->sums[i].count = 0;
	}
	return r;
}

void as_rollup_forget(struct as_store *s)
{
	for (size_t i = 0; s->sums && i < PLACES; i++)
		s->sums[i].count = 0;
}

/* ── one run ──────────────────────────────────────────────────────────── */

static int count_in(struct as_store *s, struct as_sum *m, const char *facet, int span,
		    struct as_err *err)
{
	size_t len = strlen(facet);

	m->span = span;
	m->bucket = m->first / span_ns[span];
	if (!s->batch || !s->sums || len >= sizeof m->facet)
		return write_sum(s, facet, m, err);
	memcpy(m->facet, facet, len + 1);
	return collect(s, m, err);
}

/* The facet in s->facet, in the longest span; it is emptied for the next. */
static int count_facet(struct as_store *s, struct as_sum *m, struct as_err *err)
{
	int r = as_buf_ok(&s->facet, err);

	if (r == AS_OK)
		r = count_in(s, m, s->facet.p, AS_NSPANS - 1, err);
	as_buf_clear(&s->facet);
	return r;
}

/* A label that is said twice is one label, and counts once. */
static bool said_before(const struct as_identity *who, size_t i)
{
	const struct as_pair *p = &who->labels[i];

	for (size_t k = 0; k < i; k++)
		if (!strcmp(who->labels[k].key, p->key) && !strcmp(who->labels[k].value, p->value))
			return true;
	return false;
}

static int count_facets(struct as_store *s, const struct as_run *run, const struct as_listing *l,
			struct as_sum *m, struct as_err *err)
{
	int r = AS_OK;

	if (*l->version) {
		as_facet_version(&s->facet, l->version);
		r = count_facet(s, m, err);
	}
	if (r == AS_OK && *l->host) {
		as_facet_host(&s->facet, l->host);
		r = count_facet(s, m, err);
	}
	for (size_t i = 0; i < run->who.nlabels && r == AS_OK; i++) {
		if (said_before(&run->who, i))
			continue;
		as_facet_label(&s->facet, &run->who.labels[i]);
		r = count_facet(s, m, err);
	}
	return r;
}

static struct as_sum sum_of(const struct as_listing *l)
{
	struct as_sum m = {.status = (int32_t)l->status,
			   .count = 1,
			   .duration = l->duration_ns,
			   .longest = l->duration_ns,
			   .cpu = l->cpu_ns == AS_NA ? 0 : l->cpu_ns,
			   .cpu_known = l->cpu_ns != AS_NA,
			   .memory = l->peak_bytes == AS_NA ? 0 : l->peak_bytes,
			   .memory_known = l->peak_bytes != AS_NA,
			   .largest = l->peak_bytes == AS_NA ? 0 : l->peak_bytes,
			   .first = l->start_ns,
			   .last = l->start_ns};

	memcpy(m.name, l->name, sizeof m.name);
	return m;
}

int as_rollup_count(struct as_store *s, const struct as_run *run, const struct as_listing *l,
		    struct as_err *err)
{
	struct as_sum m = sum_of(l);
	int r = AS_OK;

	if (s->batch && !s->sums)
		s->sums = as_zalloc_n(PLACES, sizeof *s->sums); /* without it: slower */
	for (int span = 0; span < AS_NSPANS && r == AS_OK; span++)
		r = count_in(s, &m, "", span, err);
	return r < 0 ? r : count_facets(s, run, l, &m, err);
}
