/*
 * `assay stats`: what a million runs add up to, in a moment.
 *
 * The catalogue keeps sums: of all runs over pieces of 8 hours and of 32 days,
 * and of the runs of each version, of each host and with each label over 32
 * days. A range of time is covered with whole pieces, the largest first; only
 * what sticks out at its ends is added up from the runs themselves. So are two
 * conditions of which no sums are kept at once (a version on a host), and
 * conditions that few runs meet.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "store/livedir.h"
#include "store/rollup.h"
#include "store/where.h"

enum { RECENT = 30, ENOUGH = 5 }; /* runs that a trend looks at, and needs */

/* clang-format off */
static const int64_t span_ns[AS_NSPANS] = {AS_SPAN_0 * AS_SECOND, AS_SPAN_1 * AS_SECOND};
/* clang-format on */

/* The last successful runs of a name, newest first. */
struct recent {
	int64_t start[RECENT], duration[RECENT];
	size_t n;
};

struct sums {
	struct as_name_stats *v;
	struct recent *recent; /* NULL when the trend is asked for later */
	size_t n, cap, recent_cap;
	uint32_t *slots; /* index + 1 into v, 0 = free; a power of two of them */
	size_t nslots;
};

static void free_sums(struct sums *m)
{
	free(m->v);
	free(m->recent);
	free(m->slots);
}

/* ── adding up by name ────────────────────────────────────────────────── */

static size_t hash(const char *name)
{
	size_t h = 1469598103934665603u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211u;
	return h ^ h >> 29;
}

static uint32_t *slot_of(const struct sums *m, const char *name)
{
	for (size_t at = hash(name);; at++) {
		uint32_t *slot = &m->slots[at & (m->nslots - 1)];

		if (!*slot || !strcmp(m->v[*slot - 1].name, name))
			return slot;
	}
}

static bool rehash(struct sums *m)
{
	size_t n = m->nslots ? m->nslots * 2 : 256;
	uint32_t *slots = as_zalloc_n(n, sizeof *slots);

	if (!slots)
		return false;
	free(m->slots);
	m->slots = slots;
	m->nslots = n;
	for (size_t i = 0; i < m->n; i++)
		*slot_of(m, m->v[i].name) = (uint32_t)i + 1;
	return true;
}

/* The sums of a name, new ones if need be; NULL when memory ran out. */
static struct as_name_stats *sums_of(struct sums *m, const char *text, bool recent)
{
	char name[sizeof m->v->name];

	as_fit_text(name, sizeof name, text);
	if (m->n * 2 >= m->nslots && !rehash(m))
		return NULL;
	uint32_t *slot = slot_of(m, name);
	if (*slot)
		return &m->v[*slot - 1];
	if (!as_grow(&m->v, &m->cap, m->n, sizeof *m->v, 64))
		return NULL;
	if (recent && !as_grow(&m->recent, &m->recent_cap, m->n, sizeof *m->recent, 64))
		return NULL;
	if (recent)
		m->recent[m->n].n = 0;
	struct as_name_stats *it = &m->v[m->n++];
	*it = (struct as_name_stats){.first_ns = INT64_MAX,
				     .last_ns = INT64_MIN,
				     .trend = (double)NAN};
	memcpy(it->name, name, sizeof it->name);
	*slot = (uint32_t)m->n;
	return it;
}

static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Which counter a status has. */
static const size_t counters[AS_NSTATUSES] = {
	[AS_SUCCESS] = offsetof(struct as_name_stats, success),
	[AS_FAILED] = offsetof(struct as_name_stats, failed),
	[AS_TIMEOUT] = offsetof(struct as_name_stats, timeout),
	[AS_ERROR] = offsetof(struct as_name_stats, error),
	[AS_INTERRUPTED] = offsetof(struct as_name_stats, interrupted),
};

static void count(struct as_name_stats *t, int status, uint64_t n)
{
	t->count += n;
	if (status > AS_RUNNING && status < AS_NSTATUSES)
		*(uint64_t *)((char *)t + counters[status]) += n;
}

/* Add a row of AS_SQL_SUM_COLUMNS. */
static void add_row(struct as_name_stats *t, sqlite3_stmt *st)
{
	count(t, sqlite3_column_int(st, 1), (uint64_t)sqlite3_column_int64(st, 2));
	t->duration_sum_ns = plus(t->duration_sum_ns, sqlite3_column_int64(st, 3));
	t->duration_max_ns = most(t->duration_max_ns, sqlite3_column_int64(st, 4));
	t->cpu_sum_ns = plus(t->cpu_sum_ns, sqlite3_column_int64(st, 5));
	t->cpu_known += (uint64_t)sqlite3_column_int64(st, 6);
	t->memory_sum_bytes = plus(t->memory_sum_bytes, sqlite3_column_int64(st, 7));
	t->memory_known += (uint64_t)sqlite3_column_int64(st, 8);
	t->memory_max_bytes = most(t->memory_max_bytes, sqlite3_column_int64(st, 9));
	t->first_ns = sqlite3_column_int64(st, 10) < t->first_ns ? sqlite3_column_int64(st, 10)
								 : t->first_ns;
	t->last_ns = most(t->last_ns, sqlite3_column_int64(st, 11));
}

static void remember(struct recent *r, int64_t start, int64_t duration)
{
	size_t at = r->n < RECENT ? r->n++ : RECENT;

	if (at == RECENT && start <= r->start[RECENT - 1])
		return;
	at = at == RECENT ? RECENT - 1 : at;
	for (; at > 0 && r->start[at - 1] < start; at--) {
		r->start[at] = r->start[at - 1];
		r->duration[at] = r->duration[at - 1];
	}
	r->start[at] = start;
	r->duration[at] = duration;
}

/* All rows of a statement. With `recent` they are single runs, kept for the trend too. */
static int add_rows(struct as_store *s, struct sums *m, sqlite3_stmt *st, bool recent,
		    struct as_err *err)
{
	int r;

	while ((r = as_catalogue_step(s, st, err)) > 0) {
		const char *name = (const char *)sqlite3_column_text(st, 0);
		struct as_name_stats *t = name ? sums_of(m, name, recent) : NULL;

		if (!t)
			return as_fail(err, AS_ENOMEM, "no memory for the statistics");
		add_row(t, st);
		if (recent && sqlite3_column_int(st, 1) == AS_SUCCESS)
			remember(&m->recent[t - m->v], sqlite3_column_int64(st, 10),
				 sqlite3_column_int64(st, 3));
	}
	return r;
}

/* ── trend ────────────────────────────────────────────────────────────── */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/*
 * Theil and Sen: the median of the slopes between all pairs, which a third of
 * wild runs does not move. Durations come newest first; growth a run.
 */
static double trend(const int64_t *duration, size_t n)
{
	double slopes[RECENT * (RECENT - 1) / 2], values[RECENT];
	size_t k = 0;

	if (n < ENOUGH)
		return (double)NAN;
	for (size_t i = 0; i < n; i++) {
		values[i] = (double)duration[i];
		for (size_t j = i + 1; j < n; j++)
			slopes[k++] = ((double)duration[i] - (double)duration[j]) / (double)(j - i);
	}
	double slope = median(slopes, k), middle = median(values, n);
	return middle > 0 ? slope / middle : (double)NAN;
}

/* ── one question ─────────────────────────────────────────────────────── */

struct range {
	int64_t from, to; /* start_ns, or buckets; the end not included */
};

struct question {
	struct as_store *s;
	const struct as_query *q;
	struct range range;
	struct as_where where; /* its time is bound anew for each range            */
	struct as_buf facet;   /* whose sums answer it; bad when there are none    */
	sqlite3_stmt *runs;    /* the runs that it asks for, of a range            */
	struct sums sums;
};

static void free_question(struct question *u)
{
	as_where_done(&u->where);
	as_buf_done(&u->facet);
	(void)sqlite3_finalize(u->runs);
	free_sums(&u->sums);
}

static int ask_for_runs(struct question *u, struct as_err *err)
{
	as_auto_buf struct as_buf sql = AS_BUF(AS_BUF_LINE * 4);

	as_buf_fmt(&sql, "SELECT " AS_SQL_SUM_OF_RUN " FROM %s", as_buf_text(&u->where.sql));
	int r = as_buf_ok(&sql, err);
	if (r < 0)
		return r;
	if (sqlite3_prepare_v2(u->s->db, sql.p, (int)sql.len, &u->runs, NULL) != SQLITE_OK)
		return as_catalogue_fail(u->s, "read", err);
	as_where_bind(&u->where, u->runs);
	return AS_OK;
}

/* Add the runs of a range one by one. */
static int add_runs(struct question *u, struct range range, bool recent, struct as_err *err)
{
	int r = u->runs ? AS_OK : ask_for_runs(u, err);

	if (r < 0)
		return r;
	(void)sqlite3_reset(u->runs);
	(void)sqlite3_bind_int64(u->runs, u->where.since, range.from);
	(void)sqlite3_bind_int64(u->runs, u->where.before, range.to);
	return add_rows(u->s, &u->sums, u->runs, recent, err);
}

/* ── from the runs ────────────────────────────────────────────────────── */

static int from_runs(struct question *u, struct as_err *err)
{
	int r = add_runs(u, u->range, true, err);

	for (size_t i = 0; i < u->sums.n && r == AS_OK; i++)
		u->sums.v[i].trend = trend(u->sums.recent[i].duration, u->sums.recent[i].n);
	return r;
}

/* ── from the rollup ──────────────────────────────────────────────────── */

static int add_piece(struct question *u, int span, struct range buckets, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *st = NULL;
	const char *exact, *glob;
	int r = as_catalogue_stmt(u->s, AS_SQL_STATS_ROLLUP, &st, err);

	if (r < 0)
		return r;
	as_where_name(&u->where, &exact, &glob);
	as_bind_text(st, 1, exact);
	as_bind_text(st, 2, glob);
	if (u->q->by_status)
		(void)sqlite3_bind_int(st, 3, (int)u->q->status);
	(void)sqlite3_bind_int(st, 4, span);
	(void)sqlite3_bind_int64(st, 5, buckets.from);
	(void)sqlite3_bind_int64(st, 6, buckets.to);
	as_bind_text(st, 7, as_buf_text(&u->facet));
	return add_rows(u->s, &u->sums, st, false, err);
}

/*
 * Cover a range: whole pieces of this span, and what sticks out at both ends
 * with the next smaller one; below the smallest are the runs themselves.
 */
static int cover(struct question *u, int span, struct range r, struct as_err *err)
{
	int smallest = u->facet.len ? AS_NSPANS - 1 : 0;

	if (r.from >= r.to)
		return AS_OK;
	if (span < smallest)
		return add_runs(u, r, false, err);
	int64_t width = span_ns[span], rest;
	int64_t first = r.from / width + (r.from % width > 0);
	int64_t last = r.to / width + (r.to == INT64_MAX); /* no end: nothing sticks out there */
	if (first >= last)
		return cover(u, span - 1, r, err);
	if (__builtin_mul_overflow(last, width, &rest))
		rest = r.to;
	int rc = add_piece(u, span, (struct range){first, last}, err);
	if (rc == AS_OK)
		rc = cover(u, span - 1, (struct range){r.from, first * width}, err);
	if (rc == AS_OK)
		rc = cover(u, span - 1, (struct range){rest, r.to}, err);
	return rc;
}

static enum as_sql_id trend_sql(const struct as_query *q)
{
	return q->version   ? AS_SQL_TREND_VERSION
	       : q->host    ? AS_SQL_TREND_HOST
	       : q->nlabels ? AS_SQL_TREND_LABEL
			    : AS_SQL_TREND;
}

static void bind_facet(sqlite3_stmt *st, const struct question *u)
{
	if (u->q->version || u->q->host) {
		as_bind_text(st, 5, u->q->version ? u->where.version : u->where.host);
	} else if (u->q->nlabels) {
		as_bind_text(st, 5, u->q->labels[0].key);
		as_bind_text(st, 6, u->q->labels[0].value ? u->q->labels[0].value : "");
	}
}

static int trend_of(struct question *u, struct as_name_stats *t, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *st = NULL;
	int64_t duration[RECENT];
	size_t n = 0;
	int r = as_catalogue_stmt(u->s, trend_sql(u->q), &st, err);

	if (r < 0)
		return r;
	as_bind_text(st, 1, t->name);
	(void)sqlite3_bind_int64(st, 2, u->range.from);
	(void)sqlite3_bind_int64(st, 3, u->range.to);
	(void)sqlite3_bind_int(st, 4, RECENT);
	bind_facet(st, u);
	while (n < RECENT && (r = as_catalogue_step(u->s, st, err)) > 0)
		duration[n++] = sqlite3_column_int64(st, 0);
	t->trend = trend(duration, n);
	return r < 0 ? r : AS_OK;
}

static int from_rollup(struct question *u, struct as_err *err)
{
	int r = cover(u, AS_NSPANS - 1, u->range, err);
	bool successes = !u->q->by_status || u->q->status == AS_SUCCESS;

	for (size_t i = 0; i < u->sums.n && r == AS_OK && successes; i++)
		r = trend_of(u, &u->sums.v[i], err);
	return r;
}

/* ── which way ────────────────────────────────────────────────────────── */

/* The facet that the question is about: "" when about none, bad when about several. */
static int find_facet(struct question *u, struct as_err *err)
{
	const struct as_query *q = u->q;

	u->facet = AS_BUF(AS_BUF_FILE);
	if ((q->version != NULL) + (q->host != NULL) + q->nlabels > 1) {
		u->facet.bad = true;
		return AS_OK;
	}
	if (q->version)
		as_facet_version(&u->facet, u->where.version);
	if (q->host)
		as_facet_host(&u->facet, u->where.host);
	if (q->nlabels)
		as_facet_label(&u->facet, &q->labels[0]);
	return as_buf_ok(&u->facet, err);
}

/* Are there so few that the sums would not be faster? */
static int few(struct question *u, bool *ret, struct as_err *err)
{
	as_auto_stmt sqlite3_stmt *st = NULL;
	int r = as_catalogue_stmt(u->s, AS_SQL_FACET_COUNT, &st, err);

	*ret = false;
	if (r < 0 || !u->q->nlabels)
		return r; /* only labels have an index that leads to their runs */
	as_bind_text(st, 1, u->facet.p);
	r = as_catalogue_step(u->s, st, err);
	*ret = r <= 0 || sqlite3_column_int64(st, 0) <= u->s->few;
	return r < 0 ? r : AS_OK;
}

/* Trends look here and there in the newest part of an index: it should be read once. */
enum { CACHE_KB = 32768 };

static int answer(struct question *u, struct as_err *err)
{
	bool one_by_one = true;
	char sql[48];

	(void)snprintf(sql, sizeof sql, "PRAGMA cache_size=-%d", CACHE_KB);
	int r = as_catalogue_script(u->s, sql, err);
	if (r == AS_OK)
		r = find_facet(u, err);
	if (r == AS_OK && !u->facet.bad)
		r = few(u, &one_by_one, err);
	if (r < 0)
		return r;
	return one_by_one ? from_runs(u, err) : from_rollup(u, err);
}

/* ── runs that nobody has sealed yet ──────────────────────────────────── */

static int nomem(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory for the statistics");
}

/* One whose writer is gone, as it will stand in the catalogue. */
static int add_orphan(struct question *u, const char *id, struct as_err *err)
{
	as_auto_run struct as_run *run = NULL;
	enum as_live_state state;
	struct as_listing l;
	struct as_err why;
	int64_t n;
	int r = as_catalogue_number(u->s, id, &n, err);

	if (r < 0 || n)
		return r; /* it does, a moment ago */
	r = as_live_load(u->s, id, &run, &state, &why);
	if (r == AS_ENOMEM)
		return nomem(err);
	if (r < 0 || state != AS_LIVE_ORPHAN || !as_where_matches(&u->where, u->q, run))
		return AS_OK;
	as_listing_of(run, &l);
	struct as_name_stats *t = sums_of(&u->sums, l.name, false);
	if (!t)
		return nomem(err);
	count(t, (int)l.status, 1);
	t->duration_sum_ns = plus(t->duration_sum_ns, l.duration_ns);
	t->duration_max_ns = most(t->duration_max_ns, l.duration_ns);
	t->cpu_sum_ns = plus(t->cpu_sum_ns, l.cpu_ns == AS_NA ? 0 : l.cpu_ns);
	t->cpu_known += l.cpu_ns != AS_NA;
	t->memory_sum_bytes = plus(t->memory_sum_bytes, l.peak_bytes == AS_NA ? 0 : l.peak_bytes);
	t->memory_known += l.peak_bytes != AS_NA;
	t->memory_max_bytes = most(t->memory_max_bytes, l.peak_bytes);
	t->first_ns = l.start_ns < t->first_ns ? l.start_ns : t->first_ns;
	t->last_ns = most(t->last_ns, l.start_ns);
	return AS_OK;
}

/* Who may only read counts them as if they were sealed. */
static int add_orphans(struct question *u, struct as_err *err)
{
	as_auto_livedir struct as_livedir dir = {0};
	int r = AS_OK;

	as_livedir_open(&dir, u->s->dir, &u->s->self);
	while (r == AS_OK && as_livedir_next(&dir))
		if (as_livedir_state(&dir) == AS_LIVE_ORPHAN)
			r = add_orphan(u, dir.id, err);
	return r;
}

static int by_count(const void *a, const void *b)
{
	const struct as_name_stats *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

int as_store_stats(struct as_store *s, const struct as_query *q, struct as_name_stats **ret,
		   size_t *ret_n, struct as_err *err)
{
	/* No column of the catalogue is before 1970. */
	as_cleanup(free_question) struct question u = {
		.s = s,
		.q = q,
		.range = {q->since_ns > 0 ? q->since_ns : 0, q->until_ns ? q->until_ns : INT64_MAX},
	};
	struct as_query timed = *q;

	timed.since_ns = timed.until_ns = INT64_MAX;
	int r = as_where_make(&u.where, &timed, err);
	if (r == AS_OK && s->db)
		r = answer(&u, err);
	if (r == AS_OK)
		r = add_orphans(&u, err);
	if (r < 0)
		return r;
	if (u.sums.n)
		qsort(u.sums.v, u.sums.n, sizeof *u.sums.v, by_count);
	*ret_n = u.sums.n;
	*ret = as_take(u.sums.v);
	return AS_OK;
}
