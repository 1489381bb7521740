/* stacks -- a run's stacks in the store: sealed, live, and of a store that had none. */
#include "store/stacks.h"

#include <sqlite3.h>

#include "profile/merge.h"
#include "sample_run.h"
#include "store/catalogue.h"
#include "utest.h"

static const struct as_value_kind kinds[] = {{"samples", "count"},
					     {"cpu", "nanoseconds"},
					     {"wall", "nanoseconds"}};

/* Slices `from` to before `to`, each with two stacks. */
static struct as_profile *some(uint32_t from, uint32_t to)
{
	struct as_err err;
	struct as_profile *p = as_profile_new(kinds, AS_LEN(kinds), &err);

	EXPECT(p);
	p->start_unix_ns = 1000 * AS_SECOND;
	p->slice_ns = AS_SECOND;
	p->period_ns = 10 * AS_MSEC;
	for (uint32_t i = from; i < to; i++)
		for (int32_t line = 1; line <= 2; line++) {
			uint32_t function = as_profile_text(p, "work", 4);
			uint32_t file = as_profile_text(p, "app.py", 6);
			struct as_place at = {function, file, line, 1};
			uint32_t stack = as_profile_stack(p, 0, as_profile_place(p, at));

			as_profile_add(p, stack, 0, i, (int64_t[]){1, i, 10 * line});
		}
	p->duration_ns = (int64_t)to * AS_SECOND;
	return p;
}

static struct as_run *run_with(struct as_profile *stacks)
{
	struct sample s = {
		.seed = 1, .procs = 1, .ticks = 3, .step_ns = AS_SECOND, .status = AS_SUCCESS};
	struct as_run *run = sample_run(&s);

	EXPECT(run);
	run->stacks = stacks;
	run->sampling = (struct as_sampling){1, 100, 7, 2, 3, 4, 5};
	return run;
}

static void same(const struct as_profile *a, const struct as_profile *b)
{
	EXPECT(a && b);
	EXPECT_U64(a->nkinds, b->nkinds);
	for (size_t i = 0; i < a->nkinds; i++) {
		EXPECT_STR(a->kind[i].name, b->kind[i].name);
		EXPECT_I64(as_profile_total(a, i), as_profile_total(b, i));
	}
	EXPECT_U64(a->nsamples, b->nsamples);
	EXPECT_U64(as_profile_slices(a), as_profile_slices(b));
	EXPECT_I64(a->slice_ns, b->slice_ns);
	EXPECT_I64(a->start_unix_ns, b->start_unix_ns);
	EXPECT_I64(a->duration_ns, b->duration_ns);
	EXPECT_I64(a->period_ns, b->period_ns);
}

static int64_t sql(const char *text)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	int64_t v = INT64_MIN;

	as_buf_fmt(&path, "%s/catalogue.db", utest_dir());
	EXPECT(sqlite3_open(path.p, &db) == SQLITE_OK);
	if (sqlite3_prepare_v2(db, text, -1, &st, NULL) != SQLITE_OK)
		UTEST_FAIL("%s: %s", text, sqlite3_errmsg(db));
	if (sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(db);
	return v;
}

static struct as_store *open_store(void)
{
	struct as_store *s = NULL;
	struct as_err err;

	EXPECT_OK(as_store_open(utest_dir(), AS_STORE_WRITE, &s, &err), err);
	return s;
}

static void t_kept_and_removed(void)
{
	as_auto_run struct as_run *run = run_with(some(0, 20)), *back = NULL;
	as_auto_store struct as_store *s = open_store();
	struct as_err err;

	EXPECT_OK(as_store_put(s, run, &err), err);
	EXPECT_OK(as_store_get(s, run->who.id, &back, &err), err);
	same(run->stacks, back->stacks);
	EXPECT(!memcmp(&run->sampling, &back->sampling, sizeof run->sampling));
	EXPECT_I64(sql("SELECT value FROM profile WHERE kind = 'wall'"), 20 * 30);
	EXPECT_OK(as_store_put(s, run, &err), err); /* once more: the old ones go */
	EXPECT_I64(sql("SELECT count(*) FROM profile"), 1);
	EXPECT_OK(as_store_remove(s, run->who.id, &err), err);
	EXPECT_I64(sql("SELECT count(*) FROM profile"), 0);
}

static void t_what_it_takes_counts(void)
{
	as_auto_run struct as_run *run = run_with(some(0, 5000));
	as_auto_store struct as_store *s = open_store();
	uint64_t removed = 0, bytes = 0;
	struct as_err err;

	EXPECT_OK(as_store_put(s, run, &err), err);
	EXPECT(sql("SELECT size FROM run") > sql("SELECT length(bytes) FROM profile"));
	EXPECT_OK(as_store_gc(s, &(struct as_keep){.bytes = 1}, &removed, &bytes, &err), err);
	EXPECT_U64(removed, 1);
	EXPECT_I64(sql("SELECT count(*) FROM profile"), 0);
}

static void t_schema_3_had_none(void)
{
	as_auto_run struct as_run *run = run_with(NULL), *back = NULL;
	struct as_err err;

	{
		as_auto_store struct as_store *s = open_store();

		EXPECT_OK(as_store_put(s, run, &err), err);
	}
	(void)sql("DROP TABLE profile");
	(void)sql("ALTER TABLE run DROP COLUMN parent");
	(void)sql("PRAGMA user_version = 3");
	as_auto_store struct as_store *s = open_store();
	EXPECT_I64(sql("PRAGMA user_version"), as_schema);
	EXPECT_OK(as_store_get(s, run->who.id, &back, &err), err);
	EXPECT(!back->stacks);
	run->stacks = some(0, 2);
	EXPECT_OK(as_store_put(s, run, &err), err);
	EXPECT_I64(sql("SELECT count(*) FROM profile"), 1);
}

static void t_damaged(void)
{
	as_auto_run struct as_run *run = run_with(some(0, 20)), *back = NULL;
	struct as_err err;

	{
		as_auto_store struct as_store *s = open_store();

		EXPECT_OK(as_store_put(s, run, &err), err);
	}
	(void)sql("UPDATE profile SET bytes = substr(bytes, 1, length(bytes) - 5)");
	as_auto_store struct as_store *s = open_store();
	EXPECT_I64(as_store_get(s, run->who.id, &back, &err), AS_EFORMAT);
	EXPECT(!back);
	EXPECT_OK(as_store_remove(s, run->who.id, &err), err);
}

/* ── live ── */

#define LIVE_ID "liverunlive2"

/* Tell a live file of 30 slices, one by one; the path of it. */
static void go_on(struct as_live **ret, struct as_buf *path)
{
	struct as_identity who = {.id = LIVE_ID, .interval_ns = AS_SECOND};
	struct as_sampling count = {.pythons = 1};
	struct as_err err;

	EXPECT_OK(as_live_create(utest_dir(), LIVE_ID, ret, &err), err);
	struct as_sink sink = as_live_sink(*ret);
	EXPECT_OK(sink.ops->begin(sink.state, &who, &err), err);
	for (uint32_t i = 0; i < 30; i++) {
		as_auto_profile struct as_profile *p = some(i, i + 1);

		count.samples += 2;
		EXPECT_OK(sink.ops->stacks(sink.state, p, &count, &err), err);
	}
	as_buf_fmt(path, "%s/live/%s", utest_dir(), LIVE_ID);
}

static struct as_run *read_live(const char *path)
{
	struct as_run *run = NULL;
	struct as_err err;
	bool cut;

	EXPECT_OK(as_live_read(path, &run, &cut, &err), err);
	return run;
}

/* Whatever happens to the writer, all but the last few seconds are there. */
static void t_live_pieces(void)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	as_auto_profile struct as_profile *whole = some(0, 30);
	struct as_live *l = NULL;
	struct as_err err;

	go_on(&l, &path);
	{
		as_auto_run struct as_run *run = read_live(path.p);

		EXPECT(run->stacks);
		EXPECT(as_profile_slices(run->stacks) >= 26);
		EXPECT_I64(run->sampling.samples, 2 * (int64_t)as_profile_slices(run->stacks));
	}
	struct as_sink sink = as_live_sink(l);
	struct as_total totals[AS_NTOTALS] = {0};
	EXPECT_OK(sink.ops->end(sink.state, &(struct as_outcome){.status = AS_SUCCESS}, totals,
				&err),
		  err);
	as_auto_run struct as_run *run = read_live(path.p);
	same(run->stacks, whole);
	as_live_discard(l);
}

static void t_live_stays_below_its_limit(void)
{
	struct as_live *l = NULL;
	struct as_err err;
	struct as_identity who = {.id = LIVE_ID, .interval_ns = AS_SECOND};
	struct as_sampling count = {.pythons = 1};
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);

	EXPECT_OK(as_live_create(utest_dir(), LIVE_ID, &l, &err), err);
	as_live_limit(l, 1 << 20);
	struct as_sink sink = as_live_sink(l);
	EXPECT_OK(sink.ops->begin(sink.state, &who, &err), err);
	for (uint32_t i = 0; i < 40000; i += 4) {
		as_auto_profile struct as_profile *p = some(i, i + 4);

		EXPECT_OK(sink.ops->stacks(sink.state, p, &count, &err), err);
	}
	as_buf_fmt(&path, "%s/live/%s", utest_dir(), LIVE_ID);
	struct stat st;
	EXPECT(stat(path.p, &st) == 0 && st.st_size > 1 << 19 && st.st_size < 1 << 20);
	as_auto_run struct as_run *run = read_live(path.p);
	EXPECT(as_profile_slices(run->stacks) <= AS_SLICES_MOST);
	EXPECT(run->stacks->duration_ns > 20000 * AS_SECOND);
	as_live_discard(l);
}

UTEST_MAIN(T(t_kept_and_removed), T(t_what_it_takes_counts), T(t_schema_3_had_none), T(t_damaged),
	   T(t_live_pieces), T(t_live_stays_below_its_limit))
