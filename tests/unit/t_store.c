#define UTEST_SECONDS 120
#include "store/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/vfs.h>

#include "base/fault.h"
#include "same_run.h"
#include "sample_run.h"
#include "store/catalogue.h"

#define DAY   (INT64_C(86400) * AS_SECOND)
#define EPOCH INT64_C(1767225600000000000) /* 2026-01-01 */

/* ── another machine's folder ── */

static bool remote; /* statfs() says NFS */

/* Ours instead of libc's, for the whole program. */
int statfs(const char *path, struct statfs *ret)
{
	int r = (int)syscall(SYS_statfs, path, ret);

	if (r == 0 && remote)
		ret->f_type = 0x6969;
	return r;
}

/* ── helpers ── */

static struct as_store *open_store(enum as_store_mode mode)
{
	struct as_store *s = NULL;
	struct as_err err;

	EXPECT_OK(as_store_open(utest_dir(), mode, &s, &err), err);
	return s;
}

static struct as_run *a_run(uint64_t seed, const char *name, enum as_status status,
			    int64_t start_ns)
{
	struct sample s = {.seed = seed,
			   .procs = 1,
			   .cores = 1,
			   .ticks = 3,
			   .step_ns = AS_SECOND,
			   .name = name,
			   .status = status,
			   .start_ns = start_ns};
	struct as_run *run = sample_run(&s);

	EXPECT(run);
	return run;
}

static void put(struct as_store *s, struct as_run *run)
{
	struct as_err err;

	EXPECT_OK(as_store_put(s, run, &err), err);
}

static void put_new(struct as_store *s, uint64_t seed, const char *name, int64_t start_ns)
{
	as_auto_run struct as_run *run = a_run(seed, name, AS_SUCCESS, start_ns);

	put(s, run);
}

static size_t list(struct as_store *s, struct as_query q, struct as_listing **ret)
{
	struct as_err err;
	size_t n = 0;

	*ret = NULL;
	EXPECT_OK(as_store_list(s, &q, ret, &n, &err), err);
	return n;
}

static size_t count(struct as_store *s, struct as_query q)
{
	struct as_listing *l;
	size_t n = list(s, q, &l);

	free(l);
	return n;
}

static void path_of(char path[512], const char *name)
{
	(void)snprintf(path, 512, "%s/%s", utest_dir(), name);
}

static int64_t sql(const char *text)
{
	char path[512];
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	int64_t v = INT64_MIN;

	path_of(path, "catalogue.db");
	EXPECT(sqlite3_open(path, &db) == SQLITE_OK);
	if (sqlite3_prepare_v2(db, text, -1, &st, NULL) != SQLITE_OK)
		UTEST_FAIL("%s: %s", text, sqlite3_errmsg(db));
	if (sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(db);
	return v;
}

/* ── put and get ── */

static void t_missing_store_is_empty(void)
{
	struct as_store *s = NULL;
	struct as_err err;
	struct as_run *run;
	struct as_name_stats *stats;
	char path[512], id[AS_ID_LEN + 1];
	size_t n;

	path_of(path, "nowhere");
	EXPECT_OK(as_store_open(path, AS_STORE_READ, &s, &err), err);
	EXPECT_U64(count(s, (struct as_query){0}), 0);
	EXPECT_OK(as_store_stats(s, &(struct as_query){0}, &stats, &n, &err), err);
	EXPECT_U64(n, 0);
	free(stats);
	EXPECT_I64(as_store_find(s, "abc", id, &err), AS_ENOTFOUND);
	EXPECT_I64(as_store_get(s, "abcdefghijkl", &run, &err), AS_ENOTFOUND);
	as_store_close(s);
	EXPECT(access(path, F_OK) < 0);
}

static void t_put_and_get(void)
{
	struct sample sample = SAMPLE_SHORT;
	as_auto_run struct as_run *run = sample_run(&sample), *back = NULL;
	struct as_err err;
	char id[AS_ID_LEN + 1], prefix[5] = {0};

	as_store_close(open_store(AS_STORE_WRITE));
	{
		as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);

		put(s, run);
		put_new(s, 77, "other", EPOCH);
	}
	as_auto_store struct as_store *s = open_store(AS_STORE_READ);
	memcpy(prefix, run->who.id, 4);
	EXPECT_OK(as_store_find(s, prefix, id, &err), err);
	EXPECT_STR(id, run->who.id);
	EXPECT_OK(as_store_get(s, id, &back, &err), err);
	same_run(back, run);
	EXPECT_I64(as_store_put(s, run, &err), AS_EBUG);
}

static void t_unclear_and_unknown_ids(void)
{
	static const char *const ids[] = {"aaaabbbbcccc", "aaaabbbbdddd", "aaaacccccccc",
					  "zzzzzzzzzzzz"};
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct as_err err;
	char id[AS_ID_LEN + 1];

	for (size_t i = 0; i < AS_LEN(ids); i++) {
		as_auto_run struct as_run *run = a_run(i, "x", AS_SUCCESS, EPOCH);

		memcpy(run->who.id, ids[i], sizeof run->who.id);
		put(s, run);
	}
	EXPECT_I64(as_store_find(s, "aaaa", id, &err), AS_EUSAGE);
	EXPECT(strstr(err.hint, ids[0]) && strstr(err.hint, ids[2]));
	EXPECT_I64(as_store_find(s, "aaaabbbb", id, &err), AS_EUSAGE);
	EXPECT_OK(as_store_find(s, "aaaac", id, &err), err);
	EXPECT_STR(id, ids[2]);
	EXPECT_OK(as_store_find(s, "z", id, &err), err);
	EXPECT_OK(as_store_find(s, ids[1], id, &err), err);
	EXPECT_STR(id, ids[1]);
	EXPECT_I64(as_store_find(s, "q", id, &err), AS_ENOTFOUND);
	EXPECT_I64(as_store_find(s, "", id, &err), AS_EUSAGE);
	EXPECT_I64(as_store_find(s, "aaaabbbbccccd", id, &err), AS_ENOTFOUND);
	EXPECT_I64(as_store_find(s, "'; --", id, &err), AS_ENOTFOUND);
}

static void t_same_id_replaces(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	as_auto_run struct as_run *first = a_run(1, "old", AS_FAILED, EPOCH), *back = NULL;
	as_auto_run struct as_run *second = a_run(1, "new", AS_SUCCESS, EPOCH + DAY);
	struct as_err err;

	put(s, first);
	put(s, second);
	EXPECT_U64(count(s, (struct as_query){0}), 1);
	EXPECT_OK(as_store_get(s, first->who.id, &back, &err), err);
	same_run(back, second);
	EXPECT_I64(sql("SELECT count(*) FROM rollup WHERE name = 'old'"), 0);
	EXPECT_I64(sql("SELECT sum(count) FROM rollup WHERE name = 'new' AND facet = ''"), 2);
	EXPECT_I64(sql("SELECT sum(count) FROM rollup WHERE name = 'new' AND facet <> ''"), 1);
	EXPECT_I64(sql("SELECT count(*) FROM blob"), 1);
	EXPECT_I64(sql("SELECT count(*) FROM piece WHERE id / 16 NOT IN (SELECT n FROM run)"), 0);
}

static void t_remove(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct as_pair label = {(char[]){"k"}, (char[]){"v"}};
	struct sample sample = SAMPLE_SHORT;
	struct as_err err;

	sample.labels = &label;
	sample.nlabels = 1;
	as_auto_run struct as_run *run = sample_run(&sample);
	put(s, run);
	EXPECT_OK(as_store_remove(s, run->who.id, &err), err);
	EXPECT_I64(as_store_remove(s, run->who.id, &err), AS_ENOTFOUND);
	EXPECT_U64(count(s, (struct as_query){0}), 0);
	EXPECT_I64(sql("SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM blob) + "
		       "(SELECT count(*) FROM piece) + "
		       "(SELECT count(*) FROM label) + (SELECT count(*) FROM rollup)"),
		   0);
}

/* Nothing of a removed run may stay behind in the dictionary. */
static void t_dictionary_holds_no_secrets(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct as_pair label = {(char[]){"token"}, (char[]){"hunter2hunter2"}};
	struct sample sample = SAMPLE_SHORT;

	sample.labels = &label;
	sample.nlabels = 1;
	as_auto_run struct as_run *run = sample_run(&sample);
	put(s, run);
	EXPECT_I64(sql("SELECT count(*) FROM dictionary"), 1);
	EXPECT_I64(sql("SELECT instr(bytes, CAST('job.memory.used' AS BLOB)) > 0 FROM dictionary"),
		   1);
	EXPECT_I64(
		sql("SELECT instr(bytes, CAST('hunter2' AS BLOB)) + instr(bytes, CAST('solver' AS "
		    "BLOB)) FROM dictionary"),
		0);
}

static void t_batch(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct as_err err;

	EXPECT_OK(as_store_begin(s, &err), err);
	for (uint64_t i = 0; i < 10; i++)
		put_new(s, i, "batch", EPOCH);
	EXPECT_I64(sql("SELECT count(*) FROM run"), 0); /* nobody else sees them yet */
	EXPECT_OK(as_store_commit(s, &err), err);
	EXPECT_I64(sql("SELECT count(*) FROM run"), 10);
	EXPECT_OK(as_store_begin(s, &err), err);
	put_new(s, 99, "batch", EPOCH);
	as_store_close(s); /* never committed */
	s = open_store(AS_STORE_WRITE);
	EXPECT_U64(count(s, (struct as_query){0}), 10);
	put_new(s, 100, "batch", EPOCH);
	EXPECT_U64(count(s, (struct as_query){0}), 11);
}

/* One of the batch cannot be put: none of it is, and the store goes on. */
static void t_spoiled_batch(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct rlimit small = {60000, RLIM_INFINITY}, large = {RLIM_INFINITY, RLIM_INFINITY};
	struct sample m = SAMPLE_SHORT;
	struct as_err err;
	int r = AS_OK;

	put_new(s, 1, "before", EPOCH);
	(void)signal(SIGXFSZ, SIG_IGN);
	EXPECT_OK(as_store_begin(s, &err), err);
	EXPECT(setrlimit(RLIMIT_FSIZE, &small) == 0);
	(void)sqlite3_exec(s->db, "PRAGMA cache_size=10", NULL, NULL, NULL); /* write early */
	for (m.seed = 10; m.seed < 2000 && r == AS_OK; m.seed++) {
		as_auto_run struct as_run *run = sample_run(&m);

		r = as_store_put(s, run, &err);
	}
	EXPECT(setrlimit(RLIMIT_FSIZE, &large) == 0);
	EXPECT_I64(r, AS_EIO);
	EXPECT_I64(as_store_commit(s, &err), AS_EIO);
	put_new(s, 2, "after", EPOCH);
	EXPECT_I64(sql("SELECT count(*) FROM run"), 2);
	EXPECT_I64(sql("SELECT sum(count) FROM rollup WHERE facet = '' AND span = 1"), 2);
}

static void t_texts_too_long_for_a_listing(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct as_listing *l;
	char name[200];
	struct as_err err;

	for (size_t i = 0; i + 3 <= sizeof name; i += 2)
		memcpy(name + i, "é", 3);
	as_auto_run struct as_run *run = a_run(1, "x", AS_SUCCESS, EPOCH), *back = NULL;
	free(run->who.name);
	run->who.name = strdup(name);
	put(s, run);
	EXPECT_U64(list(s, (struct as_query){.name = name}, &l), 1);
	EXPECT_U64(strlen(l[0].name), 63);
	EXPECT(!memcmp(l[0].name + 58, "é…", 5));
	EXPECT_STR(l[0].command, "./solver --steps 1000");
	free(l);
	EXPECT_OK(as_store_get(s, run->who.id, &back, &err), err);
	same_run(back, run);
}

/* ── lists ── */

static void fill_for_lists(struct as_store *s)
{
	struct as_pair labels[2] = {{(char[]){"env"}, (char[]){"prod"}},
				    {(char[]){"team"}, (char[]){"a"}}};

	for (uint64_t i = 0; i < 40; i++) {
		struct sample m = {.seed = i,
				   .procs = 1,
				   .cores = 1,
				   .ticks = 1 + i * 7 % 40,
				   .step_ns = AS_SECOND,
				   .name = i % 4 ? "train-a" : "train[b]",
				   .version = i % 3 ? NULL : "v1",
				   .start_ns = EPOCH + (int64_t)i * DAY,
				   .status = i % 5 ? AS_SUCCESS : AS_FAILED,
				   .labels = labels,
				   .nlabels = i % 3};
		as_auto_run struct as_run *run = sample_run(&m);

		run->totals[AS_T_CPU].value = i % 10 ? (int64_t)(i * 37 % 40) : AS_NA;
		put(s, run);
	}
}

static void t_filters(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct as_pair prod = {(char[]){"env"}, (char[]){"prod"}};
	struct as_pair both[] = {prod, {(char[]){"team"}, (char[]){"a"}}};
	struct as_pair none = {(char[]){"env"}, (char[]){"dev"}};

	fill_for_lists(s);
	EXPECT_U64(count(s, (struct as_query){0}), 40);
	EXPECT_U64(count(s, (struct as_query){.limit = 7}), 7);
	EXPECT_U64(count(s, (struct as_query){.name = "train-a"}), 30);
	EXPECT_U64(count(s, (struct as_query){.name = "train[b]"}), 10);
	EXPECT_U64(count(s, (struct as_query){.name = "train*"}), 40);
	EXPECT_U64(count(s, (struct as_query){.name = "train[*"}), 10);
	EXPECT_U64(count(s, (struct as_query){.name = "*-?"}), 30);
	EXPECT_U64(count(s, (struct as_query){.name = "rain*"}), 0);
	EXPECT_U64(count(s, (struct as_query){.name = "train' OR 1 --"}), 0);
	EXPECT_U64(count(s, (struct as_query){.name = ""}), 0);
	EXPECT_U64(count(s, (struct as_query){.version = "v1"}), 14);
	EXPECT_U64(count(s, (struct as_query){.host = "node-17"}), 40);
	EXPECT_U64(count(s, (struct as_query){.host = "node-18"}), 0);
	EXPECT_U64(count(s, (struct as_query){.by_status = true, .status = AS_FAILED}), 8);
	EXPECT_U64(count(s, (struct as_query){.by_status = true, .status = AS_SUCCESS}), 32);
	EXPECT_U64(count(s, (struct as_query){.by_status = true, .status = AS_RUNNING}), 0);
	EXPECT_U64(count(s, (struct as_query){.since_ns = EPOCH + 10 * DAY}), 30);
	EXPECT_U64(count(s, (struct as_query){.until_ns = EPOCH + 10 * DAY}), 10);
	EXPECT_U64(count(s,
			 (struct as_query){.since_ns = EPOCH + DAY, .until_ns = EPOCH + 3 * DAY}),
		   2);
	EXPECT_U64(count(s, (struct as_query){.labels = &prod, .nlabels = 1}), 26);
	EXPECT_U64(count(s, (struct as_query){.labels = both, .nlabels = 2}), 13);
	EXPECT_U64(count(s, (struct as_query){.labels = &none, .nlabels = 1}), 0);
	EXPECT_U64(count(s, (struct as_query){.name = "train-?",
					      .version = "v1",
					      .labels = &prod,
					      .nlabels = 1}),
		   0); /* v1 has none: i % 3 == 0 */
}

static int64_t key_of(const struct as_listing *l, enum as_sort sort)
{
	switch (sort) {
	case AS_SORT_START:
		return l->start_ns;
	case AS_SORT_DURATION:
		return l->duration_ns;
	case AS_SORT_CPU:
		return l->cpu_ns;
	case AS_SORT_MEMORY:
		return l->peak_bytes;
	case AS_SORT_NAME:
		return l->name[5];
	}
	return 0;
}

/* Parts of a run that is not there (yet) are all that there is to see of it. */
static void t_parts(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	as_auto_run struct as_run *whole = a_run(1, "whole", AS_SUCCESS, EPOCH);
	struct as_listing *l;

	for (uint64_t i = 0; i < 3; i++) {
		as_auto_run struct as_run *part = a_run(i + 2, "part", AS_SUCCESS, EPOCH);

		part->who.parent = as_strdup(whole->who.id);
		put(s, part);
	}
	EXPECT_U64(count(s, (struct as_query){.whole = true}), 3);
	put(s, whole);
	EXPECT_U64(count(s, (struct as_query){.whole = true}), 1);
	EXPECT_U64(count(s, (struct as_query){.whole = true, .name = "part"}), 0);
	EXPECT_U64(count(s, (struct as_query){0}), 4);
	EXPECT_U64(list(s, (struct as_query){.name = "part"}, &l), 3);
	EXPECT_STR(l[0].parent, whole->who.id);
	free(l);
}

static void t_orders(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct as_listing *l;

	fill_for_lists(s);
	for (int sort = AS_SORT_START; sort <= AS_SORT_NAME; sort++)
		for (int up = 0; up < 2; up++) {
			struct as_query q = {.sort = (enum as_sort)sort,
					     .ascending = up,
					     .limit = 25};
			size_t n = list(s, q, &l), unknown = 0;

			EXPECT_U64(n, 25);
			for (size_t i = 1; i < n; i++) {
				int64_t a = key_of(&l[i - 1], q.sort), b = key_of(&l[i], q.sort);

				EXPECT(b == AS_NA || (a != AS_NA && (up ? a <= b : a >= b)));
				unknown += b == AS_NA;
			}
			EXPECT_U64(unknown, 0); /* the four unknown ones come last of forty */
			free(l);
		}
}

static void t_rows_are_what_was_put(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	as_auto_run struct as_run *run = a_run(5, "job", AS_TIMEOUT, EPOCH + 5);
	struct as_listing *l;

	run->end.signal = 15;
	run->end.error = strdup("took too long");
	(void)snprintf(run->verdict.kind, sizeof run->verdict.kind, "waiting");
	run->totals[AS_T_MEM_PEAK].value = AS_NA;
	put(s, run);
	EXPECT_U64(list(s, (struct as_query){0}, &l), 1);
	EXPECT_STR(l->id, run->who.id);
	EXPECT_STR(l->name, "job");
	EXPECT_STR(l->version, "");
	EXPECT_STR(l->host, "node-17");
	EXPECT_STR(l->command, "./solver --steps 1000");
	EXPECT_STR(l->kind, "run");
	EXPECT_STR(l->verdict, "waiting");
	EXPECT_STR(l->error, "took too long");
	EXPECT_I64(l->status, AS_TIMEOUT);
	EXPECT_I64(l->exit_code, run->end.exit_code);
	EXPECT_I64(l->signal, 15);
	EXPECT_I64(l->start_ns, EPOCH + 5);
	EXPECT_I64(l->duration_ns, run->end.duration_ns);
	EXPECT_I64(l->cpu_ns, run->totals[AS_T_CPU].value);
	EXPECT_I64(l->cpu_user_ns, run->totals[AS_T_CPU_USER].value);
	EXPECT_I64(l->cpu_system_ns, run->totals[AS_T_CPU_SYSTEM].value);
	EXPECT_I64(l->peak_bytes, AS_NA);
	free(l);
}

/* ── runs that are going on, and those whose writer is gone ── */

#define LIVE_ID "livelivelive"

/* Write a live file as this process; left open. */
static struct as_live *go_on(const char *id, size_t ticks, enum as_status status)
{
	struct as_live *l = NULL;
	struct as_err err;
	struct sample m = {.seed = 8,
			   .procs = 2,
			   .cores = 1,
			   .ticks = ticks,
			   .step_ns = AS_SECOND,
			   .name = "going",
			   .id = id,
			   .status = status,
			   .start_ns = as_clock(CLOCK_REALTIME) - 100 * AS_SECOND};

	EXPECT_OK(as_live_create(utest_dir(), id, &l, &err), err);
	struct as_sink sink = as_live_sink(l);
	struct as_tee tee = {&sink, 1};
	sample_tell(&m, &tee, NULL, NULL);
	EXPECT_OK(sink.failed, sink.err);
	return l;
}

static void t_running_first_and_live(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct as_live *live = go_on(LIVE_ID, 10, AS_RUNNING);
	as_auto_run struct as_run *run = NULL;
	struct as_listing *l;
	struct as_err err;
	char id[AS_ID_LEN + 1];

	put_new(s, 1, "newer", as_clock(CLOCK_REALTIME));
	EXPECT_U64(list(s, (struct as_query){0}, &l), 2);
	EXPECT_STR(l[0].id, LIVE_ID);
	EXPECT_I64(l[0].status, AS_RUNNING);
	EXPECT(l[0].duration_ns > 90 * AS_SECOND);
	EXPECT(l[0].peak_bytes > 1 << 20);
	EXPECT(l[0].cpu_ns > 0);
	EXPECT_STR(l[1].name, "newer");
	free(l);
	EXPECT_U64(count(s, (struct as_query){.by_status = true, .status = AS_RUNNING}), 1);
	EXPECT_U64(count(s, (struct as_query){.name = "go*"}), 1);
	EXPECT_U64(count(s, (struct as_query){.name = "newer"}), 1);
	EXPECT_U64(count(s, (struct as_query){.limit = 1}), 1);
	EXPECT_OK(as_store_find(s, "live", id, &err), err);
	EXPECT_OK(as_store_get(s, id, &run, &err), err);
	EXPECT_I64(run->end.status, AS_RUNNING);
	EXPECT_U64(run->series[AS_JOB]->n, 10);
	EXPECT_I64(as_store_remove(s, id, &err), AS_EUSAGE); /* it is still going on */

	as_auto_store struct as_store *again = open_store(AS_STORE_WRITE);
	EXPECT_U64(count(again, (struct as_query){.by_status = true, .status = AS_RUNNING}), 1);
	as_live_discard(live);
	EXPECT_U64(count(s, (struct as_query){0}), 1);
}

/* Another process writes a live file and is killed. */
static void leave_orphan(const char *id, enum as_status status)
{
	pid_t pid = fork();
	int st;

	if (pid == 0) {
		(void)go_on(id, 5, status);
		(void)raise(SIGKILL);
	}
	EXPECT(waitpid(pid, &st, 0) == pid && WIFSIGNALED(st));
}

static bool live_exists(const char *id)
{
	char path[512], name[64];

	(void)snprintf(name, sizeof name, "live/%s", id);
	path_of(path, name);
	return access(path, F_OK) == 0;
}

static void check_orphan(struct as_store *s)
{
	as_auto_run struct as_run *run = NULL;
	struct as_name_stats *stats = NULL;
	struct as_listing *l;
	struct as_err err;
	size_t n;

	EXPECT_U64(list(s, (struct as_query){0}, &l), 1);
	EXPECT_I64(l[0].status, AS_INTERRUPTED);
	EXPECT(l[0].duration_ns >= 4 * AS_SECOND && l[0].duration_ns < 5 * AS_SECOND);
	EXPECT(l[0].cpu_ns > 0 && l[0].peak_bytes > 0);
	free(l);
	EXPECT_OK(as_store_stats(s, &(struct as_query){.name = "g*"}, &stats, &n, &err), err);
	EXPECT_U64(n, 1);
	EXPECT_STR(stats->name, "going");
	EXPECT_U64(stats->count, 1);
	EXPECT_U64(stats->interrupted, 1);
	EXPECT(stats->cpu_sum_ns > 0 && stats->memory_max_bytes > 0);
	free(stats);
	EXPECT_OK(as_store_get(s, LIVE_ID, &run, &err), err);
	EXPECT_I64(run->end.status, AS_INTERRUPTED);
	EXPECT_U64(run->series[AS_JOB]->n, 5);
	EXPECT(run->end.error);
}

/* Who wants to read seals what has ended, if he may. */
static void t_orphan_is_interrupted(void)
{
	leave_orphan(LIVE_ID, AS_RUNNING);
	as_auto_store struct as_store *reader = open_store(AS_STORE_READ);
	EXPECT(!live_exists(LIVE_ID));
	check_orphan(reader);
	EXPECT_I64(sql("SELECT count(*) FROM run WHERE status = 5"), 1);
}

static void each_in_a_process(int n, void (*work)(int))
{
	pid_t pids[16];

	for (int i = 0; i < n; i++) {
		fflush(stdout);
		pids[i] = fork();
		if (pids[i] == 0) {
			work(i);
			_exit(0);
		}
	}
	for (int i = 0; i < n; i++) {
		int st = 0;

		EXPECT(waitpid(pids[i], &st, 0) == pids[i]);
		if (WIFSIGNALED(st))
			UTEST_FAIL("child %d died of signal %d (%s)", i, WTERMSIG(st),
				   strsignal(WTERMSIG(st)));
		EXPECT_I64(WEXITSTATUS(st), 0); /* 1: an EXPECT of the child has said why */
	}
}

/* Who may only read finds it where it is, and changes nothing. */
static void read_orphan(int unused)
{
	char live[512];

	(void)unused;
	path_of(live, "live");
	EXPECT(chown(utest_dir(), 65534, 65534) == 0 && chown(live, 65534, 65534) == 0);
	path_of(live, "live/" LIVE_ID);
	EXPECT(chown(live, 65534, 65534) == 0 && chmod(utest_dir(), 0555) == 0);
	EXPECT(setgid(65534) == 0 && setuid(65534) == 0);
	as_auto_store struct as_store *reader = open_store(AS_STORE_READ);
	check_orphan(reader);
	EXPECT(live_exists(LIVE_ID));
}

static void t_orphan_in_a_folder_to_read(void)
{
	if (getuid() != 0)
		SKIP("must be root to become somebody else");
	leave_orphan(LIVE_ID, AS_RUNNING);
	each_in_a_process(1, read_orphan);
}

/* A short run that has ended waits for others, with its verdict; whoever looks finds all of it. */
static void t_ended_runs_wait(void)
{
	struct as_verdict v = {.kind = "idle", .sentence = "it slept", .confidence = 0.5};
	char id[AS_ID_LEN + 1] = "waitwaitwaia";
	struct as_listing *l;
	size_t waiting = 0;

	for (; waiting < 26; waiting++, id[AS_ID_LEN - 1]++) {
		struct as_live *live = go_on(id, 3, AS_SUCCESS);

		if (!as_live_leave(live, &v)) {
			as_live_discard(live);
			break;
		}
		EXPECT(live_exists(id));
	}
	EXPECT_U64(waiting, 16);
	as_auto_store struct as_store *s = open_store(AS_STORE_READ);
	EXPECT(!live_exists("waitwaitwaia"));
	EXPECT_U64(list(s, (struct as_query){0}, &l), waiting);
	for (size_t i = 0; i < waiting; i++) {
		EXPECT_I64(l[i].status, AS_SUCCESS);
		EXPECT_STR(l[i].verdict, "idle");
	}
	free(l);
	EXPECT_I64(sql("SELECT count(*) FROM run WHERE verdict = 'idle'"), (int64_t)waiting);
}

/* A long one is sealed at once: it can afford it, and its file is large. */
static void t_long_runs_do_not_wait(void)
{
	struct as_verdict v = {.kind = "idle"};
	struct as_live *live = go_on(LIVE_ID, 5000, AS_SUCCESS);

	EXPECT(!as_live_leave(live, &v));
	as_live_discard(live);
}

/* Its writer said how it ended, and died before it could be sealed: that is how it ended. */
static void t_orphan_that_had_ended(void)
{
	leave_orphan(LIVE_ID, AS_FAILED);
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct as_listing *l;

	EXPECT(!live_exists(LIVE_ID));
	EXPECT_U64(list(s, (struct as_query){0}, &l), 1);
	EXPECT_I64(l[0].status, AS_FAILED);
	free(l);
}

/* Sealed, then killed before the live file was removed: the sealed one counts, once. */
static void t_sealed_and_still_live(void)
{
	leave_orphan(LIVE_ID, AS_RUNNING);
	as_auto_store struct as_store *s = NULL;
	struct as_listing *l;
	char path[512], aside[512];

	path_of(path, "live/" LIVE_ID);
	path_of(aside, "aside");
	EXPECT(rename(path, aside) == 0);
	s = open_store(AS_STORE_WRITE);
	as_auto_run struct as_run *run = a_run(1, "sealed", AS_SUCCESS, EPOCH);
	memcpy(run->who.id, LIVE_ID, sizeof run->who.id);
	put(s, run);
	EXPECT(rename(aside, path) == 0);
	EXPECT_U64(list(s, (struct as_query){0}, &l), 1);
	EXPECT_STR(l[0].name, "sealed");
	free(l);
	as_store_close(s);
	s = open_store(AS_STORE_WRITE);
	EXPECT(!live_exists(LIVE_ID));
	EXPECT_U64(list(s, (struct as_query){0}, &l), 1);
	EXPECT_STR(l[0].name, "sealed");
	free(l);
}

static void t_orphan_can_be_removed(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct as_err err;

	leave_orphan(LIVE_ID, AS_RUNNING);
	EXPECT_OK(as_store_remove(s, LIVE_ID, &err), err);
	EXPECT(!live_exists(LIVE_ID));
	EXPECT_U64(count(s, (struct as_query){0}), 0);
}

static void make_file(const char *name, const char *text, int64_t age_s)
{
	char path[512];
	struct timeval now, times[2];

	path_of(path, name);
	as_auto_fd int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	EXPECT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	(void)gettimeofday(&now, NULL);
	times[0] = times[1] = (struct timeval){now.tv_sec - age_s, 0};
	EXPECT(utimes(path, times) == 0);
}

/* Files in live/ that are not runs: none is listed, only what died at birth is cleared away. */
static void t_strange_live_files(void)
{
	as_store_close(open_store(AS_STORE_WRITE));
	make_file("live/aaaaaaaaaaaa", "", 3600);
	make_file("live/bbbbbbbbbbbb", "", 1);
	make_file("live/cccccccccccc",
		  "\x89"
		  "ASLI",
		  3600);
	make_file("live/dddddddddddd", "somebody's notes", 3600);
	make_file("live/README", "hello", 3600);
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	EXPECT_U64(count(s, (struct as_query){0}), 0);
	EXPECT(!live_exists("aaaaaaaaaaaa"));
	EXPECT(live_exists("bbbbbbbbbbbb")); /* perhaps its writer is just about to begin */
	EXPECT(!live_exists("cccccccccccc"));
	EXPECT(live_exists("dddddddddddd"));
	EXPECT(live_exists("README"));
}

/* ── kill -9 at any moment ── */

/* Writes ticks as fast as it can and tells each number after it was written. */
static void write_until_killed(const char *id, int tell)
{
	struct as_live *l = NULL;
	struct as_err err;
	struct as_frame frame = {0};
	struct sample m = {.seed = 3, .procs = 5, .cores = 2, .step_ns = AS_MSEC, .id = id};
	uint64_t seed = 1;

	EXPECT_OK(as_live_create(utest_dir(), id, &l, &err), err);
	struct as_sink sink = as_live_sink(l);
	struct as_tee tee = {&sink, 1};
	sample_begin(&m, &tee);
	for (uint32_t i = 0; i < m.procs; i++)
		sample_instance(&tee, AS_PROCESS, i, 0, AS_NA);
	for (uint32_t tick = 1;; tick++) {
		sample_tick(&m, &seed, &frame, tick);
		as_tee_frame(&tee, &frame);
		if (sink.failed || write(tell, &tick, sizeof tick) != sizeof tick)
			_exit(1);
	}
}

static uint32_t kill_at_random(const char *id, uint64_t *seed)
{
	int p[2], st;
	uint32_t tick = 0, last = 0, until = (uint32_t)sample_below(seed, 200);

	EXPECT(pipe(p) == 0);
	pid_t pid = fork();
	if (pid == 0)
		write_until_killed(id, p[1]);
	(void)close(p[1]);
	while (last < until && read(p[0], &tick, sizeof tick) == sizeof tick)
		last = tick;
	if (until < 5)
		(void)usleep((useconds_t)sample_below(seed, 1500)); /* also before the first */
	EXPECT(kill(pid, SIGKILL) == 0);
	while (read(p[0], &tick, sizeof tick) == sizeof tick)
		last = tick; /* what it had told, and we had not heard yet */
	(void)close(p[0]);
	EXPECT(waitpid(pid, &st, 0) == pid);
	return last;
}

static void t_killed_at_any_moment(void)
{
	uint64_t seed = 42;
	size_t kept = 0;

	for (uint64_t round = 0; round < 50; round++) {
		char id[AS_ID_LEN + 1];
		as_auto_run struct as_run *run = NULL;
		struct as_err err;

		sample_id(round + 1000, id);
		uint32_t told = kill_at_random(id, &seed);
		as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
		int r = as_store_get(s, id, &run, &err);
		if (told)
			EXPECT_OK(r, err);
		if (r < 0)
			continue; /* killed before it had begun */
		kept++;
		EXPECT_I64(run->end.status, AS_INTERRUPTED);
		EXPECT(!live_exists(id));
		uint64_t n = told ? as_run_tally(run, AS_F_JOB_MEMORY, 0)->n : 0;
		EXPECT(n >= told && n <= told + 2u);
	}
	EXPECT(kept >= 40);
	EXPECT_I64(sql("SELECT count(*) FROM run"), (int64_t)kept);
	EXPECT_I64(sql("SELECT sum(count) FROM rollup WHERE facet = '' AND span = 0"),
		   (int64_t)kept);
}

/* ── many at once ── */

static void put_25(int who)
{
	for (uint64_t i = 0; i < 25; i++) {
		as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);

		put_new(s, (uint64_t)who * 1000 + i, "crowd", EPOCH + (int64_t)i * DAY);
	}
}

/* Eight processes make the store and fill it at the same time. */
static void t_many_write_at_once(void)
{
	each_in_a_process(8, put_25);
	as_auto_store struct as_store *s = open_store(AS_STORE_READ);
	EXPECT_U64(count(s, (struct as_query){0}), 200);
	EXPECT_I64(sql("SELECT sum(count) FROM rollup WHERE facet = '' AND span = 1"), 200);
	EXPECT_I64(sql("SELECT count(*) FROM dictionary"), 1);
}

static void just_open(int who)
{
	(void)who;
	as_store_close(open_store(AS_STORE_WRITE));
}

/* Eight processes find the same forty orphans. */
static void t_many_recover_at_once(void)
{
	char id[AS_ID_LEN + 1];

	for (uint64_t i = 0; i < 40; i++) {
		sample_id(i, id);
		leave_orphan(id, AS_RUNNING);
	}
	each_in_a_process(8, just_open);
	EXPECT_I64(sql("SELECT count(*) FROM run WHERE status = 5"), 40);
	EXPECT_I64(sql("SELECT sum(count) FROM rollup WHERE facet = '' AND span = 1"), 40);
	for (uint64_t i = 0; i < 40; i++) {
		sample_id(i, id);
		EXPECT(!live_exists(id));
	}
}

/* ── stores that cannot be used ── */

static int open_code(enum as_store_mode mode, struct as_err *err)
{
	struct as_store *s = NULL;
	int r = as_store_open(utest_dir(), mode, &s, err);

	as_store_close(s);
	return r;
}

/* gc of the runs of one name and kind leaves all others alone. */
static void t_gc_of_a_kind(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	uint64_t removed = 0, bytes = 0;
	struct as_err err;

	for (uint64_t i = 0; i < 12; i++) {
		as_auto_run struct as_run *run =
			a_run(i + 1, i % 2 ? "shop" : "other", AS_SUCCESS, EPOCH + (int64_t)i);

		free(run->who.kind);
		run->who.kind = as_strdup(i % 3 ? "profile" : "run");
		put(s, run);
	}
	struct as_keep keep = {.runs = 1, .name = "shop", .kind = "profile"};
	EXPECT_OK(as_store_gc(s, &keep, &removed, &bytes, &err), err);
	EXPECT_U64(removed, 3);
	EXPECT_I64(sql("SELECT count(*) FROM run WHERE name = 'shop' AND kind = 'profile'"), 1);
	EXPECT_I64(sql("SELECT count(*) FROM run"), 9);
	keep = (struct as_keep){.age_ns = AS_SECOND, .name = "shop", .kind = "profile"};
	EXPECT_OK(as_store_gc(s, &keep, &removed, &bytes, &err), err);
	EXPECT_U64(removed, 1);
	keep = (struct as_keep){.bytes = 1, .name = "other"};
	EXPECT_OK(as_store_gc(s, &keep, &removed, &bytes, &err), err);
	EXPECT_I64(sql("SELECT count(*) FROM run"), 2);
}

static void t_newer_schema(void)
{
	struct as_err err;

	as_store_close(open_store(AS_STORE_WRITE));
	(void)sql("PRAGMA user_version = 99");
	for (int mode = AS_STORE_READ; mode <= AS_STORE_WRITE; mode++) {
		EXPECT_I64(open_code((enum as_store_mode)mode, &err), AS_EUNSUP);
		EXPECT(strstr(err.msg, "schema 99") && strstr(err.msg, "up to 5"));
		EXPECT(strstr(err.hint, "--store"));
	}
	EXPECT_I64(sql("PRAGMA user_version"), 99);
}

/* All sums of the shorter span, one number of them all. */
#define SUMS_OF_SUMS                                                                               \
	"SELECT sum(bucket * 7 + status * 11 + count * 13 + duration_sum % 1000003 + "             \
	"duration_max % 1000033 + cpu_sum % 1000037 + cpu_known * 17 + memory_sum % 1000039 + "    \
	"memory_known * 19 + memory_max % 1000081 + first_ns % 1000099 + last_ns % 1000117 + "     \
	"length(name)) FROM rollup WHERE span = 0"

/* Schema 1 had sums over two hours: they become those that the runs would have made. */
static void t_schema_1_is_brought_up_to_date(void)
{
	{
		as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);

		for (uint64_t i = 0; i < 40; i++)
			put_new(s, i + 1, i % 3 ? "a" : "b", EPOCH + (int64_t)i * 3000 * AS_SECOND);
	}
	int64_t sums = sql(SUMS_OF_SUMS), rows = sql("SELECT count(*) FROM rollup WHERE span = 0");
	(void)sql("DELETE FROM rollup WHERE span = 0");
	(void)sql("INSERT INTO rollup SELECT '', 0, start_ns / 7200000000000, name, status, "
		  "count(*), sum(duration_ns), max(duration_ns), sum(cpu_ns), count(cpu_ns), "
		  "sum(peak_bytes), count(peak_bytes), max(peak_bytes), min(start_ns), "
		  "max(start_ns) FROM run GROUP BY 3, 4, 5");
	(void)sql("DROP TABLE piece");
	(void)sql("DROP TABLE profile");
	(void)sql("ALTER TABLE run DROP COLUMN parent");
	(void)sql("CREATE INDEX run_host ON run(host, start_ns)");
	(void)sql("CREATE INDEX run_version ON run(version, start_ns) WHERE version IS NOT NULL");
	(void)sql("PRAGMA user_version = 1");
	EXPECT(sql("SELECT count(*) FROM rollup WHERE span = 0") > rows);
	as_store_close(open_store(AS_STORE_READ)); /* who reads brings it up to date too */
	EXPECT_I64(sql("PRAGMA user_version"), as_schema);
	EXPECT_I64(sql("SELECT count(*) FROM rollup WHERE span = 0"), rows);
	EXPECT_I64(sql(SUMS_OF_SUMS), sums);
	EXPECT_I64(sql("SELECT count(*) FROM rollup WHERE span NOT IN (0, 1)"), 0);
	EXPECT_I64(sql("SELECT count(*) FROM sqlite_schema WHERE name IN ('run_host', "
		       "'run_version')"),
		   0);
}

static void t_not_a_database(void)
{
	struct as_err err;
	char text[8192];

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	make_file("catalogue.db", text, 0);
	for (int mode = AS_STORE_READ; mode <= AS_STORE_WRITE; mode++) {
		EXPECT_I64(open_code((enum as_store_mode)mode, &err), AS_EFORMAT);
		EXPECT(strstr(err.msg, "catalogue.db"));
		EXPECT(strstr(err.hint, "move it aside"));
	}
}

static void t_database_of_another_program(void)
{
	struct as_err err;

	(void)sql("CREATE TABLE notes(x)");
	(void)sql("PRAGMA user_version = 1");
	EXPECT_I64(open_code(AS_STORE_WRITE, &err), AS_EFORMAT);
	EXPECT(strstr(err.msg, "another program"));
}

/* Garbage in the middle: found when it is read, said, and never a crash. */
static void t_damaged_pages(void)
{
	char path[512], junk[4096];
	struct as_err err;
	struct as_listing *l = NULL;
	struct stat st;
	size_t n;

	{
		as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);

		for (uint64_t i = 0; i < 50; i++)
			put_new(s, i, "x", EPOCH);
	}
	(void)sql("PRAGMA wal_checkpoint(TRUNCATE)");
	path_of(path, "catalogue.db");
	as_auto_fd int fd = open(path, O_RDWR);
	EXPECT(fd >= 0 && fstat(fd, &st) == 0);
	memset(junk, 0x5a, sizeof junk);
	for (off_t at = 4096; at < st.st_size; at += 4096)
		EXPECT(pwrite(fd, junk, sizeof junk, at) == sizeof junk);
	as_auto_store struct as_store *s = NULL;
	int r = as_store_open(utest_dir(), AS_STORE_READ, &s, &err);
	if (r == AS_OK)
		r = as_store_list(s, &(struct as_query){0}, &l, &n, &err);
	EXPECT_I64(r, AS_EFORMAT);
	EXPECT(strstr(err.hint, "move it aside"));
}

/* A blob that is damaged is one run that cannot be shown, not a store that cannot. */
static void t_damaged_blob(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	as_auto_run struct as_run *run = a_run(1, "x", AS_SUCCESS, EPOCH), *back = NULL;
	struct as_err err;

	put(s, run);
	(void)sql("UPDATE blob SET bytes = zeroblob(length(bytes))");
	EXPECT_I64(as_store_get(s, run->who.id, &back, &err), AS_EFORMAT);
	EXPECT(strstr(err.msg, run->who.id));
	EXPECT_U64(count(s, (struct as_query){0}), 1);
}

/* Somebody who may read the folder but not write it (root may always: become nobody). */
static void as_nobody(int unused)
{
	struct as_store *s = NULL;
	struct as_err err;
	struct as_live *l = NULL;

	(void)unused;
	EXPECT(setgid(65534) == 0 && setuid(65534) == 0);
	EXPECT_OK(as_store_open(utest_dir(), AS_STORE_READ, &s, &err), err);
	EXPECT_U64(count(s, (struct as_query){0}), 3);
	as_store_close(s);
	EXPECT_I64(as_store_open(utest_dir(), AS_STORE_WRITE, &s, &err), AS_EPERM);
	EXPECT(strstr(err.hint, "--store"));
	EXPECT_I64(as_live_create(utest_dir(), LIVE_ID, &l, &err), AS_EPERM);
	EXPECT(strstr(err.hint, "--store"));
}

static void read_only_folder(bool log)
{
	if (getuid() != 0)
		SKIP("must be root to become somebody else");
	{
		as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);

		for (uint64_t i = 0; i < 3; i++)
			put_new(s, i, "x", EPOCH);
	}
	if (!log) {
		char path[512];

		(void)sql("PRAGMA wal_checkpoint(TRUNCATE)");
		path_of(path, "catalogue.db-wal");
		(void)unlink(path);
		path_of(path, "catalogue.db-shm");
		(void)unlink(path);
	}
	EXPECT(chmod(utest_dir(), 0755) == 0);
	each_in_a_process(1, as_nobody);
}

static void t_read_only_folder(void)
{
	read_only_folder(true);
}

static void t_read_only_folder_without_log(void)
{
	read_only_folder(false);
}

static void t_folder_below_a_file(void)
{
	struct as_store *s = NULL;
	struct as_err err;
	char path[512];

	make_file("file", "x", 0);
	path_of(path, "file/store");
	EXPECT(as_store_open(path, AS_STORE_WRITE, &s, &err) < 0);
	EXPECT(strstr(err.hint, "--store"));
	EXPECT_OK(as_store_open(path, AS_STORE_READ, &s, &err), err);
	as_store_close(s);
}

/* The disk is full while a run is sealed: it is not there at all, and the store is whole. */
static void t_full_disk(void)
{
	as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);
	struct sample m = SAMPLE_SHORT;
	struct as_err err;
	struct rlimit small = {700000, RLIM_INFINITY}, large = {RLIM_INFINITY, RLIM_INFINITY};
	int r = AS_OK;
	int64_t kept = 0;

	(void)signal(SIGXFSZ, SIG_IGN);
	EXPECT(setrlimit(RLIMIT_FSIZE, &small) == 0);
	for (m.seed = 0; m.seed < 500 && r == AS_OK; m.seed++) {
		as_auto_run struct as_run *run = sample_run(&m);

		r = as_store_put(s, run, &err);
		kept += r == AS_OK;
	}
	EXPECT(setrlimit(RLIMIT_FSIZE, &large) == 0);
	EXPECT_I64(r, AS_EIO);
	EXPECT(err.msg[0] && kept > 5);
	put_new(s, 9999, "after", EPOCH);
	EXPECT_I64(sql("SELECT count(*) FROM run"), kept + 1);
	EXPECT_I64(sql("SELECT count(*) FROM blob"), kept + 1);
	EXPECT_I64(sql("SELECT sum(count) FROM rollup WHERE facet = '' AND span = 1"), kept + 1);
	EXPECT_I64(sql("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
}

/* ── the files ── */

static int64_t file_size(const char *name)
{
	char path[512];
	struct stat st;

	path_of(path, name);
	return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

/*
 * One short-lived writer after the other: closing does not empty the log each
 * time (that is two fsync), and still it does not grow for ever.
 */
static void t_log_stays_small(void)
{
	int64_t largest = 0, emptied = 0;

	for (uint64_t i = 0; i < 300; i++) {
		as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);

		put_new(s, i, "x", EPOCH);
		as_store_close(as_take(s));
		int64_t size = file_size("catalogue.db-wal");
		EXPECT(size >= 0);
		emptied += size == 0;
		largest = size > largest ? size : largest;
	}
	printf("# the log had at most %" PRId64 " KiB, and was emptied %" PRId64 " times\n",
	       largest / 1024, emptied);
	EXPECT(largest < 2 << 20);
	EXPECT(emptied > 0 && emptied < 30);
}

static void t_private_folder(void)
{
	char path[512];
	struct stat st;
	struct as_store *s = NULL;
	struct as_err err;

	path_of(path, "a/b/store");
	EXPECT_OK(as_store_open(path, AS_STORE_WRITE, &s, &err), err);
	as_store_close(s);
	EXPECT(stat(path, &st) == 0);
	EXPECT_U64(st.st_mode & 07777, 0700);
}

static void t_paths(void)
{
	static const struct {
		const char *option, *store, *xdg, *home, *want;
	} table[] = {
		{"/opt", "/env", "/xdg", "/home/x", "/opt"},
		{NULL, "/env", "/xdg", "/home/x", "/env"},
		{NULL, NULL, "/xdg", "/home/x", "/xdg/assay"},
		{NULL, "", "relative", "/home/x", "/home/x/.local/share/assay"},
		{NULL, NULL, NULL, "/home/x", "/home/x/.local/share/assay"},
	};

	for (size_t i = 0; i < AS_LEN(table); i++) {
		as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
		struct as_err err;

		(void)(table[i].store ? setenv("ASSAY_STORE", table[i].store, 1)
				      : unsetenv("ASSAY_STORE"));
		(void)(table[i].xdg ? setenv("XDG_DATA_HOME", table[i].xdg, 1)
				    : unsetenv("XDG_DATA_HOME"));
		(void)setenv("HOME", table[i].home, 1);
		EXPECT_OK(as_store_path(table[i].option, &path, &err), err);
		EXPECT_STR(path.p, table[i].want);
	}
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);
	struct as_err err;
	(void)unsetenv("HOME");
	EXPECT_OK(as_store_path(NULL, &path, &err), err); /* from the password file */
	EXPECT(strstr(path.p, "/.local/share/assay"));
	as_auto_buf struct as_buf none = AS_BUF(AS_BUF_LINE);
	EXPECT_I64(as_store_path("", &none, &err), AS_EUSAGE);
}

/* What a short job costs on disk, everything included. */
static void t_short_job_is_small(void)
{
	struct sample m = SAMPLE_SHORT;
	struct as_pair label = {(char[]){"env"}, (char[]){"prod"}};
	struct as_err err;
	int64_t before, after;

	{
		as_auto_store struct as_store *s = open_store(AS_STORE_WRITE);

		put_new(s, 5000, "x", EPOCH);
		(void)sql("PRAGMA wal_checkpoint(TRUNCATE)");
		before = file_size("catalogue.db");
		m.labels = &label;
		m.nlabels = 1;
		EXPECT_OK(as_store_begin(s, &err), err);
		for (m.seed = 0; m.seed < 200; m.seed++) {
			as_auto_run struct as_run *run = sample_run(&m);

			put(s, run);
		}
		EXPECT_OK(as_store_commit(s, &err), err);
	}
	(void)sql("PRAGMA wal_checkpoint(TRUNCATE)");
	after = file_size("catalogue.db");
	printf("# %" PRId64 " bytes a run\n", (after - before) / 200);
	EXPECT((after - before) / 200 < 5000);
}

/* On another machine's disk: a journal instead of the log, for all who come, not only the first. */
static void t_remote_folder(void)
{
	struct as_run *run = NULL;
	struct as_err err;

	remote = true;
	each_in_a_process(4, put_25);
	{
		as_auto_store struct as_store *s = open_store(AS_STORE_READ);
		char id[AS_ID_LEN + 1];

		EXPECT_U64(count(s, (struct as_query){0}), 100);
		sample_id(3007, id);
		EXPECT_OK(as_store_get(s, id, &run, &err), err);
		as_run_free(run);
	}
	put_25(7);
	remote = false;
	EXPECT_I64(file_size("catalogue.db-wal"), -1);
	EXPECT_I64(file_size("catalogue.db-shm"), -1);
	EXPECT_I64(file_size("catalogue.db-journal"), 0); /* truncated, not deleted */
	EXPECT_I64(sql("SELECT sum(count) FROM rollup WHERE facet = '' AND span = 1"), 125);
}

/* A store that was moved there has a log: it is given up, and nothing with it. */
static void t_moved_to_a_remote_folder(void)
{
	put_25(1);
	EXPECT(file_size("catalogue.db-wal") > 0);
	remote = true;
	put_25(2);
	remote = false;
	EXPECT_I64(file_size("catalogue.db-wal"), -1);
	EXPECT_I64(file_size("catalogue.db-journal"), 0);
	EXPECT_I64(sql("SELECT count(*) FROM run"), 50);
	EXPECT_I64(sql("SELECT sum(count) FROM rollup WHERE facet = '' AND span = 1"), 50);
}

UTEST_MAIN(T(t_missing_store_is_empty), T(t_put_and_get), T(t_unclear_and_unknown_ids),
	   T(t_same_id_replaces), T(t_remove), T(t_dictionary_holds_no_secrets), T(t_batch),
	   T(t_spoiled_batch), T(t_texts_too_long_for_a_listing), T(t_filters), T(t_parts),
	   T(t_orders), T(t_rows_are_what_was_put), T(t_running_first_and_live),
	   T(t_orphan_is_interrupted), T(t_orphan_in_a_folder_to_read), T(t_ended_runs_wait),
	   T(t_long_runs_do_not_wait), T(t_orphan_that_had_ended), T(t_sealed_and_still_live),
	   T(t_orphan_can_be_removed), T(t_strange_live_files), T(t_killed_at_any_moment),
	   T(t_many_write_at_once), T(t_many_recover_at_once), T(t_newer_schema), T(t_gc_of_a_kind),
	   T(t_schema_1_is_brought_up_to_date), T(t_not_a_database),
	   T(t_database_of_another_program), T(t_damaged_pages), T(t_damaged_blob),
	   T(t_read_only_folder), T(t_read_only_folder_without_log), T(t_folder_below_a_file),
	   T(t_full_disk), T(t_log_stays_small), T(t_private_folder), T(t_paths),
	   T(t_short_job_is_small), T(t_remote_folder), T(t_moved_to_a_remote_folder))
