/*
 * store_million -- fill a store with many short runs, then ask it things.
 *
 *	store_million DIR [RUNS]
 *
 * The runs are made-up ones of a second (3 processes, 30 samples) of 200 names
 * over a year. Prints one JSON document: what was measured, in microseconds
 * and bytes. DIR must not exist; it is left for whoever wants to look at it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../tests/unit/sample_run.h"
#include "base/num.h"
#include "store/store.h"

enum { TEMPLATES = 64, NAMES = 200, BATCH = 10000, ROUNDS = 15 };

#define YEAR (INT64_C(365) * 86400 * AS_SECOND)
#define NOW  INT64_C(1767225600000000000)

struct bench {
	const char *dir;
	uint64_t runs, seed;
	struct as_store *store;
	struct as_run *templates[TEMPLATES];
	bool first; /* of the JSON's members */
};

static void must(int r, const struct as_err *err, const char *doing)
{
	if (r == AS_OK)
		return;
	(void)fprintf(stderr, "store_million: %s: %s\n", doing, err->msg);
	exit(1);
}

static void tell(struct bench *b, const char *key, double value)
{
	printf("%s\n  \"%s\": %.1f", b->first ? "{" : ",", key, value);
	b->first = false;
}

static double us_since(int64_t t0)
{
	return (double)(as_now() - t0) / 1e3;
}

/* ── filling ──────────────────────────────────────────────────────────── */

static void make_templates(struct bench *b)
{
	struct sample s = SAMPLE_SHORT;

	for (size_t i = 0; i < TEMPLATES; i++) {
		s.seed = i + 1;
		s.version = i % 2 ? "1.4.2" : NULL;
		b->templates[i] = sample_run(&s);
	}
}

static enum as_status some_status(uint64_t *seed)
{
	int64_t k = sample_below(seed, 1000);

	return k < 900 ? AS_SUCCESS : k < 985 ? AS_FAILED : k < 995 ? AS_INTERRUPTED : AS_TIMEOUT;
}

/* Run number i: a template with other columns. */
static struct as_run *disguise(struct bench *b, uint64_t i, char *name)
{
	struct as_run *run = b->templates[i % TEMPLATES];

	sample_id(i, run->who.id);
	(void)snprintf(name, 32, "job-%03d", (int)sample_below(&b->seed, NAMES));
	run->who.start_ns = NOW - YEAR + (int64_t)((double)YEAR / (double)b->runs * (double)i);
	run->end.duration_ns = AS_SECOND + sample_below(&b->seed, (uint64_t)AS_SECOND);
	run->end.status = some_status(&b->seed);
	run->totals[AS_T_CPU].value = sample_below(&b->seed, (uint64_t)AS_SECOND);
	run->totals[AS_T_MEM_PEAK].value = sample_below(&b->seed, 1u << 30);
	return run;
}

static void put_one(struct bench *b, uint64_t i)
{
	char env[] = "env", prod[] = "prod", test[] = "test", shard[] = "shard", seven[] = "7",
	     name[32];
	struct as_pair labels[] = {{env, i % 10 ? test : prod}, {shard, seven}};
	struct as_run *run = disguise(b, i, name);
	struct as_identity own = run->who;
	struct as_err err;

	run->who.name = name;
	run->who.labels = labels;
	run->who.nlabels = i % 100 ? 1 : 2;
	must(as_store_put(b->store, run, &err), &err, "put");
	run->who = own;
}

static void fill(struct bench *b)
{
	struct as_err err;
	int64_t t0 = as_now(), cpu0 = as_clock(CLOCK_PROCESS_CPUTIME_ID), worst = 0;

	for (uint64_t i = 0; i < b->runs;) {
		int64_t t = as_now();

		must(as_store_begin(b->store, &err), &err, "begin");
		for (uint64_t end = i + BATCH; i < end && i < b->runs; i++)
			put_one(b, i);
		must(as_store_commit(b->store, &err), &err, "commit");
		worst = as_now() - t > worst ? as_now() - t : worst;
	}
	tell(b, "append_us", us_since(t0) / (double)b->runs);
	tell(b, "append_cpu_us",
	     (double)(as_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu0) / 1e3 / (double)b->runs);
	tell(b, "append_worst_batch_us", (double)worst / 1e3 / BATCH);
}

static void put_alone(struct bench *b)
{
	double sum = 0;

	for (uint64_t i = 0; i < 200; i++) {
		struct as_err err;
		int64_t t0 = as_now();

		as_store_close(b->store);
		must(as_store_open(b->dir, AS_STORE_WRITE, &b->store, &err), &err, "open");
		put_one(b, b->runs + i);
		sum += us_since(t0);
	}
	tell(b, "open_put_close_us", sum / 200);
}

/* ── asking ───────────────────────────────────────────────────────────── */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void tell_median(struct bench *b, const char *key, double *us, size_t n)
{
	qsort(us, n, sizeof *us, by_value);
	tell(b, key, us[n / 2]);
}

static void look_up(struct bench *b)
{
	double find[300], get[300];

	for (size_t k = 0; k < AS_LEN(find); k++) {
		char id[AS_ID_LEN + 1], prefix[9] = {0}, found[AS_ID_LEN + 1];
		struct as_run *run = NULL;
		struct as_err err;

		sample_id((uint64_t)sample_below(&b->seed, b->runs), id);
		memcpy(prefix, id, sizeof prefix - 1);
		int64_t t0 = as_now();
		must(as_store_find(b->store, prefix, found, &err), &err, "find");
		find[k] = us_since(t0);
		t0 = as_now();
		must(as_store_get(b->store, found, &run, &err), &err, "get");
		get[k] = us_since(t0);
		as_run_free(run);
	}
	tell_median(b, "find_by_prefix_us", find, AS_LEN(find));
	tell_median(b, "get_us", get, AS_LEN(get));
}

static void stats(struct bench *b, const char *key, struct as_query q)
{
	double us[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++) {
		struct as_name_stats *s = NULL;
		struct as_err err;
		size_t n = 0;
		int64_t t0 = as_now();

		must(as_store_stats(b->store, &q, &s, &n, &err), &err, "stats");
		us[i] = us_since(t0);
		free(s);
	}
	tell_median(b, key, us, ROUNDS);
}

static void list(struct bench *b, const char *key, struct as_query q)
{
	double us[ROUNDS];

	q.limit = 20;
	for (size_t i = 0; i < ROUNDS; i++) {
		struct as_listing *l = NULL;
		struct as_err err;
		size_t n = 0;
		int64_t t0 = as_now();

		must(as_store_list(b->store, &q, &l, &n, &err), &err, "list");
		us[i] = us_since(t0);
		free(l);
	}
	tell_median(b, key, us, ROUNDS);
}

static void ask(struct bench *b)
{
	struct as_pair prod = {(char[]){"env"}, (char[]){"prod"}};
	struct as_pair shard = {(char[]){"shard"}, (char[]){"7"}};
	const int64_t odd = 12345 * AS_SECOND, month = 30 * 86400 * AS_SECOND;

	stats(b, "stats_all_us", (struct as_query){0});
	stats(b, "stats_name_us", (struct as_query){.name = "job-007"});
	stats(b, "stats_pattern_us", (struct as_query){.name = "job-0*"});
	stats(b, "stats_failed_us", (struct as_query){.by_status = true, .status = AS_FAILED});
	stats(b, "stats_month_us", (struct as_query){.since_ns = NOW - month - odd});
	stats(b, "stats_middle_us",
	      (struct as_query){.since_ns = NOW - 10 * month - odd, .until_ns = NOW - month + odd});
	stats(b, "stats_label_1pct_us", (struct as_query){.labels = &shard, .nlabels = 1});
	stats(b, "stats_label_10pct_us", (struct as_query){.labels = &prod, .nlabels = 1});
	stats(b, "stats_version_50pct_us", (struct as_query){.version = "1.4.2"});
	list(b, "list_newest_us", (struct as_query){0});
	list(b, "list_name_us", (struct as_query){.name = "job-007"});
	list(b, "list_pattern_us", (struct as_query){.name = "job-1*"});
	list(b, "list_timeout_us", (struct as_query){.by_status = true, .status = AS_TIMEOUT});
	list(b, "list_label_1pct_us", (struct as_query){.labels = &shard, .nlabels = 1});
	list(b, "list_label_10pct_us", (struct as_query){.labels = &prod, .nlabels = 1});
	list(b, "list_longest_us", (struct as_query){.sort = AS_SORT_DURATION});
}

static void sizes(struct bench *b)
{
	char path[4096];
	struct stat st = {0};

	(void)snprintf(path, sizeof path, "%s/catalogue.db", b->dir);
	(void)stat(path, &st);
	tell(b, "file_bytes", (double)st.st_size);
	tell(b, "bytes_per_run", (double)st.st_size / (double)b->runs);
}

int main(int argc, char **argv)
{
	struct bench b = {.runs = 1000000, .seed = 1, .first = true};
	struct as_err err;

	if (argc < 2 || argc > 3 || (argc == 3 && as_parse_u64(argv[2], &b.runs, &err) < 0)) {
		(void)fprintf(stderr, "usage: store_million DIR [RUNS]\n");
		return 2;
	}
	b.dir = argv[1];
	must(as_store_open(b.dir, AS_STORE_WRITE, &b.store, &err), &err, "open");
	make_templates(&b);
	tell(&b, "runs", (double)b.runs);
	fill(&b);
	put_alone(&b);
	sizes(&b);
	look_up(&b);
	ask(&b);
	printf("\n}\n");
	as_store_close(b.store);
	for (size_t i = 0; i < TEMPLATES; i++)
		as_run_free(b.templates[i]);
	return 0;
}
