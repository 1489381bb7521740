/*
 * Statistics and gc against a model: the same runs in a plain array, added up
 * in the simplest way there is.
 */
#define UTEST_SECONDS 120
#include "store/store.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "same_run.h"
#include "sample_run.h"
#include "store/catalogue.h"

#define HOUR  (INT64_C(3600) * AS_SECOND)
#define DAY   (24 * HOUR)
#define EPOCH INT64_C(1767225600000000000) /* 2026-01-01 */

enum { RUNS = 1500, NAMES = 7 };

struct fact {
	char id[AS_ID_LEN + 1];
	char name[16], version[8], host[8];
	bool prod, gone;
	enum as_status status;
	int64_t start, duration, cpu, peak;
};

static struct as_store *open_store(void)
{
	struct as_store *s = NULL;
	struct as_err err;

	EXPECT_OK(as_store_open(utest_dir(), AS_STORE_WRITE, &s, &err), err);
	return s;
}

static struct fact invent(uint64_t *seed, uint64_t i, int64_t over_ns)
{
	struct fact f = {.status = (enum as_status)(1 + sample_below(seed, 5)),
			 .start = EPOCH + sample_below(seed, (uint64_t)over_ns),
			 .duration = sample_below(seed, 1000 * (uint64_t)AS_SECOND),
			 .cpu = sample_below(seed, 4) ? sample_below(seed, 1u << 30) : AS_NA,
			 .peak = sample_below(seed, 4) ? sample_below(seed, 1u << 30) : AS_NA,
			 .prod = sample_below(seed, 3) == 0};

	sample_id(i + 77, f.id);
	(void)snprintf(f.name, sizeof f.name, "job-%c", (char)('a' + sample_below(seed, NAMES)));
	(void)snprintf(f.version, sizeof f.version, "v%d", (int)sample_below(seed, 3));
	(void)snprintf(f.host, sizeof f.host, "n%d", (int)sample_below(seed, 4));
	return f;
}

static void put_fact(struct as_store *s, const struct fact *f)
{
	struct as_pair prod = {(char[]){"env"}, (char[]){"prod"}};
	struct sample m = {.seed = 1,
			   .name = f->name,
			   .version = f->version,
			   .id = f->id,
			   .status = f->status,
			   .start_ns = f->start,
			   .labels = &prod,
			   .nlabels = f->prod};
	as_auto_run struct as_run *run = sample_run(&m);
	struct as_err err;

	free(run->who.host);
	run->who.host = strdup(f->host);
	run->end.duration_ns = f->duration;
	run->totals[AS_T_CPU].value = f->cpu;
	run->totals[AS_T_MEM_PEAK].value = f->peak;
	EXPECT_OK(as_store_put(s, run, &err), err);
}

static struct fact *fill(struct as_store *s, size_t n, int64_t over_ns, uint64_t seed)
{
	struct fact *facts = calloc(n, sizeof *facts);
	struct as_err err;

	EXPECT(facts);
	EXPECT_OK(as_store_begin(s, &err), err);
	for (size_t i = 0; i < n; i++) {
		facts[i] = invent(&seed, i, over_ns);
		put_fact(s, &facts[i]);
	}
	EXPECT_OK(as_store_commit(s, &err), err);
	return facts;
}

/* ── the model ── */

static bool lets_through(const struct as_query *q, const struct fact *f)
{
	if (f->gone || (q->since_ns && f->start < q->since_ns) ||
	    (q->until_ns && f->start >= q->until_ns) || (q->by_status && q->status != f->status) ||
	    (q->version && strcmp(q->version, f->version) != 0) ||
	    (q->host && strcmp(q->host, f->host) != 0) || (q->nlabels && !f->prod))
		return false;
	if (!q->name || !strcmp(q->name, "job-*"))
		return true;
	if (!strcmp(q->name, "*-?"))
		return true;
	return !strcmp(q->name, f->name);
}

static int newest(const void *a, const void *b)
{
	const struct fact *const *x = a, *const *y = b;

	return (*x)->start < (*y)->start ? 1 : -1;
}

static int smaller(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double middle(double *v, size_t n)
{
	qsort(v, n, sizeof *v, smaller);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static double model_trend(const struct fact **runs, size_t n)
{
	static double slopes[1000], values[30];
	size_t k = 0;

	qsort(runs, n, sizeof *runs, newest);
	n = n > 30 ? 30 : n;
	if (n < 5)
		return (double)NAN;
	for (size_t i = 0; i < n; i++) {
		values[i] = (double)runs[i]->duration;
		for (size_t j = 0; j < i; j++)
			slopes[k++] =
				(double)(runs[j]->duration - runs[i]->duration) / (double)(i - j);
	}
	double slope = middle(slopes, k);
	return slope / middle(values, n);
}

static void model(const struct as_query *q, const struct fact *facts, size_t nfacts,
		  const char *name, struct as_name_stats *t)
{
	const struct fact **good = calloc(nfacts + 1, sizeof *good);
	size_t n = 0;
	uint64_t by[AS_NSTATUSES] = {0};

	*t = (struct as_name_stats){.first_ns = INT64_MAX};
	for (const struct fact *f = facts; f < facts + nfacts; f++) {
		if (strcmp(f->name, name) != 0 || !lets_through(q, f))
			continue;
		t->count++;
		by[f->status]++;
		t->duration_sum_ns += f->duration;
		t->duration_max_ns =
			f->duration > t->duration_max_ns ? f->duration : t->duration_max_ns;
		t->cpu_known += f->cpu != AS_NA;
		t->cpu_sum_ns += f->cpu == AS_NA ? 0 : f->cpu;
		t->memory_known += f->peak != AS_NA;
		t->memory_sum_bytes += f->peak == AS_NA ? 0 : f->peak;
		t->memory_max_bytes = f->peak > t->memory_max_bytes ? f->peak : t->memory_max_bytes;
		t->first_ns = f->start < t->first_ns ? f->start : t->first_ns;
		t->last_ns = f->start > t->last_ns ? f->start : t->last_ns;
		if (f->status == AS_SUCCESS)
			good[n++] = f;
	}
	t->success = by[AS_SUCCESS];
	t->failed = by[AS_FAILED];
	t->timeout = by[AS_TIMEOUT];
	t->error = by[AS_ERROR];
	t->interrupted = by[AS_INTERRUPTED];
	t->trend = model_trend(good, n);
	free(good);
}

static void same_stats(const struct as_name_stats *a, const struct as_name_stats *b)
{
	EXPECT_U64(a->count, b->count);
	EXPECT_U64(a->success, b->success);
	EXPECT_U64(a->failed, b->failed);
	EXPECT_U64(a->timeout, b->timeout);
	EXPECT_U64(a->error, b->error);
	EXPECT_U64(a->interrupted, b->interrupted);
	EXPECT_I64(a->duration_sum_ns, b->duration_sum_ns);
	EXPECT_I64(a->duration_max_ns, b->duration_max_ns);
	EXPECT_U64(a->cpu_known, b->cpu_known);
	EXPECT_I64(a->cpu_sum_ns, b->cpu_sum_ns);
	EXPECT_U64(a->memory_known, b->memory_known);
	EXPECT_I64(a->memory_sum_bytes, b->memory_sum_bytes);
	EXPECT_I64(a->memory_max_bytes, b->memory_max_bytes);
	EXPECT_I64(a->first_ns, b->first_ns);
	EXPECT_I64(a->last_ns, b->last_ns);
	if (!isnan(a->trend) || !isnan(b->trend))
		EXPECT_NEAR(a->trend, b->trend, 1e-12);
}

static void check(struct as_store *s, const struct as_query *q, const struct fact *facts, size_t n)
{
	struct as_name_stats *got = NULL, want;
	struct as_err err;
	size_t ngot = 0, names = 0;

	EXPECT_OK(as_store_stats(s, q, &got, &ngot, &err), err);
	for (char c = 'a'; c < 'a' + NAMES; c++) {
		char name[16];

		(void)snprintf(name, sizeof name, "job-%c", c);
		model(q, facts, n, name, &want);
		names += want.count > 0;
		for (size_t i = 0; i < ngot; i++)
			if (!strcmp(got[i].name, name)) {
				same_stats(&got[i], &want);
				want.count = 0;
			}
		EXPECT_U64(want.count, 0); /* it was in the answer */
	}
	EXPECT_U64(ngot, names);
	for (size_t i = 1; i < ngot; i++)
		EXPECT(got[i - 1].count >= got[i].count);
	free(got);
}

/* A question of any kind, with ends on and off the borders of hours, days and longer spans. */
static struct as_query ask(uint64_t *seed, const struct as_pair *prod, int64_t over_ns)
{
	static const char *const names[] = {NULL, NULL, "job-a", "job-c", "job-*", "*-?", "nobody"};
	static const int64_t grids[] = {1, HOUR, DAY, 32 * DAY};
	struct as_query q = {.name = names[sample_below(seed, AS_LEN(names))]};
	int64_t grid = grids[sample_below(seed, AS_LEN(grids))];

	if (sample_below(seed, 2))
		q.since_ns = (EPOCH + sample_below(seed, (uint64_t)over_ns)) / grid * grid;
	if (sample_below(seed, 2))
		q.until_ns = (EPOCH + sample_below(seed, (uint64_t)over_ns)) / grid * grid;
	if (sample_below(seed, 3) == 0) {
		q.by_status = true;
		q.status = (enum as_status)(1 + sample_below(seed, 5));
	}
	if (sample_below(seed, 4) == 0)
		q.version = "v1";
	if (sample_below(seed, 4) == 0)
		q.host = "n2";
	if (sample_below(seed, 4) == 0) {
		q.labels = prod;
		q.nlabels = 1;
	}
	return q;
}

static void check_many(struct as_store *s, const struct fact *facts, size_t n, int64_t over_ns,
		       uint64_t seed)
{
	struct as_pair prod = {(char[]){"env"}, (char[]){"prod"}};

	for (int i = 0; i < 150; i++) {
		struct as_query q = ask(&seed, &prod, over_ns);

		s->few = i % 2 ? AS_STORE_FEW : 0; /* one by one, or from the sums: the same */
		check(s, &q, facts, n);
	}
}

static void t_statistics_over_months(void)
{
	as_auto_store struct as_store *s = open_store();
	as_auto_free struct fact *facts = fill(s, RUNS, 200 * DAY, 1);

	check_many(s, facts, RUNS, 200 * DAY, 2);
}

static void t_statistics_over_hours(void)
{
	as_auto_store struct as_store *s = open_store();
	as_auto_free struct fact *facts = fill(s, RUNS, 30 * HOUR, 3);

	check_many(s, facts, RUNS, 30 * HOUR, 4);
}

/* Removed one by one, largest and oldest among them: the sums are as if they had never been. */
static void t_statistics_after_removing(void)
{
	as_auto_store struct as_store *s = open_store();
	as_auto_free struct fact *facts = fill(s, 400, 60 * DAY, 5);
	struct as_err err;
	uint64_t seed = 6;

	for (size_t i = 0; i < 250; i++) {
		struct fact *f = &facts[sample_below(&seed, 400)];

		if (!f->gone)
			EXPECT_OK(as_store_remove(s, f->id, &err), err);
		f->gone = true;
	}
	check_many(s, facts, 400, 60 * DAY, 7);
	for (size_t i = 0; i < 400; i++)
		if (!facts[i].gone)
			EXPECT_OK(as_store_remove(s, facts[i].id, &err), err);
	struct as_name_stats *got = NULL;
	size_t n = 1;
	EXPECT_OK(as_store_stats(s, &(struct as_query){0}, &got, &n, &err), err);
	EXPECT_U64(n, 0);
	free(got);
}

/* In one batch runs are added, and added again with other numbers: each counts once. */
static void t_statistics_after_replacing(void)
{
	as_auto_store struct as_store *s = open_store();
	as_auto_free struct fact *facts = fill(s, 300, 60 * DAY, 11);
	struct as_err err;
	uint64_t seed = 12;

	EXPECT_OK(as_store_begin(s, &err), err);
	for (size_t i = 0; i < 200; i++) {
		size_t k = (size_t)sample_below(&seed, 300);

		facts[k] = invent(&seed, k, 60 * DAY); /* the same id */
		put_fact(s, &facts[k]);
		if (i % 3 == 0)
			put_fact(s, &facts[k]);
	}
	EXPECT_OK(as_store_commit(s, &err), err);
	for (size_t i = 0; i < 20; i++) {
		size_t k = (size_t)sample_below(&seed, 300);

		facts[k] = invent(&seed, k, 60 * DAY);
		put_fact(s, &facts[k]);
	}
	check_many(s, facts, 300, 60 * DAY, 13);
}

/* Sums that do not fit stop at the largest number; nothing fails. */
static void t_sums_do_not_overflow(void)
{
	as_auto_store struct as_store *s = open_store();
	struct as_name_stats *got = NULL;
	struct as_err err;
	size_t n = 0;
	uint64_t seed = 1;

	for (uint64_t i = 0; i < 4; i++) {
		struct fact f = invent(&seed, i, DAY);

		(void)snprintf(f.name, sizeof f.name, "long");
		f.status = AS_SUCCESS;
		f.duration = f.cpu = f.peak = INT64_MAX / 2;
		put_fact(s, &f);
	}
	EXPECT_OK(as_store_stats(s, &(struct as_query){0}, &got, &n, &err), err);
	EXPECT_U64(n, 1);
	EXPECT_U64(got[0].count, 4);
	EXPECT(got[0].duration_sum_ns >= INT64_C(9000000000000000000));
	EXPECT_I64(got[0].duration_max_ns, INT64_MAX / 2);
	free(got);
	char id[AS_ID_LEN + 1];
	sample_id(77, id);
	EXPECT_OK(as_store_remove(s, id, &err), err);
	EXPECT_OK(as_store_stats(s, &(struct as_query){.host = "n0"}, &got, &n, &err), err);
	free(got);
}

/* ── trend ── */

static double trend_after(struct as_store *s, const char *name, size_t n,
			  int64_t (*duration)(size_t i))
{
	struct as_name_stats *got = NULL;
	struct as_err err;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		struct fact f = {.status = AS_SUCCESS,
				 .start = EPOCH + (int64_t)i * HOUR,
				 .duration = duration(i),
				 .cpu = AS_NA,
				 .peak = AS_NA};

		sample_id((uint64_t)name[0] << 32 | i, f.id);
		(void)snprintf(f.name, sizeof f.name, "%s", name);
		put_fact(s, &f);
	}
	EXPECT_OK(as_store_stats(s, &(struct as_query){.name = name}, &got, &k, &err), err);
	EXPECT_U64(k, 1);
	double trend = got[0].trend;
	free(got);
	return trend;
}

static int64_t steady(size_t i)
{
	(void)i;
	return 10 * AS_SECOND;
}

static int64_t one_percent(size_t i) /* of 100 s, which is the median of 30 */
{
	return (int64_t)(2 * i + 171) * AS_SECOND / 2;
}

static int64_t with_wild_ones(size_t i)
{
	return i % 5 == 0 ? 5000 * AS_SECOND : one_percent(i);
}

/* It was slower and slower long ago; the last thirty are what counts. */
static int64_t long_ago(size_t i)
{
	return i < 50 ? (int64_t)(i + 1) * AS_SECOND : 60 * AS_SECOND;
}

static void t_trend(void)
{
	as_auto_store struct as_store *s = open_store();

	EXPECT(isnan(trend_after(s, "few", 4, steady)));
	EXPECT_NEAR(trend_after(s, "steady", 12, steady), 0, 1e-15);
	EXPECT_NEAR(trend_after(s, "growing", 30, one_percent), 0.01, 1e-12);
	EXPECT_NEAR(trend_after(s, "wild", 30, with_wild_ones), 0.01, 0.002);
	EXPECT_NEAR(trend_after(s, "past", 80, long_ago), 0, 1e-15);
}

/* ── gc ── */

static size_t left(struct as_store *s, struct as_listing **ret)
{
	struct as_err err;
	size_t n = 0;

	EXPECT_OK(as_store_list(s, &(struct as_query){0}, ret, &n, &err), err);
	return n;
}

static uint64_t gc(struct as_store *s, struct as_keep keep)
{
	uint64_t removed = 0, bytes = 0;
	struct as_err err;

	EXPECT_OK(as_store_gc(s, &keep, &removed, &bytes, &err), err);
	EXPECT_I64(removed > 0, bytes > 0);
	return removed;
}

static void t_gc_keeps_the_newest(void)
{
	as_auto_store struct as_store *s = open_store();
	as_auto_free struct fact *facts = fill(s, 300, 100 * DAY, 8);
	struct as_listing *before, *after;

	EXPECT_U64(left(s, &before), 300);
	EXPECT_U64(gc(s, (struct as_keep){0}), 0);
	EXPECT_U64(gc(s, (struct as_keep){.runs = 120}), 180);
	EXPECT_U64(left(s, &after), 120);
	for (size_t i = 0; i < 120; i++)
		EXPECT_STR(after[i].id, before[i].id);
	for (size_t i = 0; i < 300; i++) {
		facts[i].gone = facts[i].start < after[119].start_ns;
	}
	check_many(s, facts, 300, 100 * DAY, 9);
	free(before);
	free(after);
}

static void t_gc_by_age(void)
{
	as_auto_store struct as_store *s = open_store();
	struct as_listing *l;
	int64_t now = as_clock(CLOCK_REALTIME);

	for (uint64_t i = 0; i < 20; i++) {
		struct fact f = {.status = AS_SUCCESS,
				 .start = now - (int64_t)i * DAY - HOUR,
				 .name = "x",
				 .cpu = AS_NA,
				 .peak = AS_NA};

		sample_id(i, f.id);
		put_fact(s, &f);
	}
	EXPECT_U64(gc(s, (struct as_keep){.age_ns = 7 * DAY}), 13);
	EXPECT_U64(left(s, &l), 7);
	EXPECT(l[6].start_ns >= now - 7 * DAY);
	free(l);
}

static void t_gc_per_name(void)
{
	as_auto_store struct as_store *s = open_store();
	struct as_listing *l;
	size_t of[256] = {0};

	free(fill(s, 300, 100 * DAY, 10));
	EXPECT(gc(s, (struct as_keep){.per_name = 5}) == 300 - 5 * NAMES);
	EXPECT_U64(left(s, &l), 5 * NAMES);
	for (size_t i = 0; i < 5 * NAMES; i++)
		of[(unsigned char)l[i].name[4]]++;
	for (char c = 'a'; c < 'a' + NAMES; c++)
		EXPECT_U64(of[(unsigned char)c], 5);
	free(l);
}

static int64_t file_size(void)
{
	char path[512];
	struct stat st;

	(void)snprintf(path, sizeof path, "%s/catalogue.db", utest_dir());
	EXPECT(stat(path, &st) == 0);
	return (int64_t)st.st_size;
}

/* Space is given back, and what is left fits the limit, about. */
static void t_gc_by_bytes(void)
{
	as_auto_store struct as_store *s = open_store();
	struct sample m = SAMPLE_SHORT;
	struct as_listing *l;
	struct as_err err;
	uint64_t removed, bytes;

	EXPECT_OK(as_store_begin(s, &err), err);
	for (m.seed = 0; m.seed < 1000; m.seed++) {
		m.start_ns = EPOCH + (int64_t)m.seed * HOUR;
		as_auto_run struct as_run *run = sample_run(&m);

		EXPECT_OK(as_store_put(s, run, &err), err);
	}
	EXPECT_OK(as_store_commit(s, &err), err);
	EXPECT_OK(as_store_gc(s, &(struct as_keep){.bytes = 1000000000}, &removed, &bytes, &err),
		  err);
	EXPECT_U64(removed, 0);
	int64_t before = file_size();
	EXPECT_OK(as_store_gc(s, &(struct as_keep){.bytes = 1000000}, &removed, &bytes, &err), err);
	int64_t after = file_size();
	printf("# %" PRId64 " bytes before, %" PRId64 " after; %" PRIu64 " runs of %" PRIu64
	       " bytes\n",
	       before, after, removed, bytes);
	EXPECT(after < 1200000 && after > 800000);
	EXPECT(before - after > (int64_t)bytes * 8 / 10 &&
	       before - after < (int64_t)bytes * 12 / 10);
	EXPECT_U64(left(s, &l), 1000 - removed);
	EXPECT_I64(l[0].start_ns, EPOCH + 999 * HOUR);
	free(l);
}

UTEST_MAIN(T(t_statistics_over_months), T(t_statistics_over_hours), T(t_statistics_after_removing),
	   T(t_statistics_after_replacing), T(t_sums_do_not_overflow), T(t_trend),
	   T(t_gc_keeps_the_newest), T(t_gc_by_age), T(t_gc_per_name), T(t_gc_by_bytes))
