/* week -- a run of a week, and one of very many processes: bounded, and true all the same. */
#define UTEST_SECONDS 240
#include <malloc.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "run/builder.h"
#include "store/store.h"
#include "utest.h"

#define ID    "abcdefghijkl"
#define HALF  (AS_SECOND / 2)
#define MIB   (INT64_C(1) << 20)
#define LIMIT (2 * MIB)

enum { WEEK = 7 * 86400 * 2 }; /* ticks */

struct long_run {
	struct as_builder *b;
	struct as_live *live;
	struct as_sink sinks[2];
	struct as_tee tee;
	struct as_frame frame;
};

static void start(struct long_run *r, int64_t limit)
{
	char name[] = "week", kind[] = "run";
	struct as_identity who = {.id = ID,
				  .name = name,
				  .kind = kind,
				  .interval_ns = HALF,
				  .start_ns = INT64_C(1767225600000000000)};
	struct as_err err;

	*r = (struct long_run){0};
	EXPECT_OK(as_builder_new(&r->b, &err), err);
	EXPECT_OK(as_live_create(utest_dir(), ID, &r->live, &err), err);
	as_live_limit(r->live, limit);
	r->sinks[0] = as_builder_sink(r->b);
	r->sinks[1] = as_live_sink(r->live);
	r->tee = (struct as_tee){r->sinks, 2};
	as_tee_begin(&r->tee, &who);
}

static void born(struct long_run *r, uint32_t id, int64_t died_ns)
{
	char name[] = "worker";
	struct as_instance i = {.scope = AS_PROCESS,
				.id = id,
				.parent = AS_NO_PARENT,
				.key = 1000 + id,
				.name = name,
				.born_ns = 0,
				.died_ns = died_ns,
				.ended_by = AS_NA};

	as_tee_instance(&r->tee, &i);
}

/* A quarter of a core all the time; memory jumps between 100 and 300 MiB. */
static void tick(struct long_run *r, int64_t n)
{
	int64_t rss = n % 2 ? 300 * MIB : 100 * MIB;

	as_frame_start(&r->frame, n * HALF);
	int64_t *row = as_frame_row(&r->frame, AS_JOB, 0);
	as_row_set(row, AS_F_JOB_USER, n * HALF / 4);
	as_row_set(row, AS_F_JOB_RSS, rss);
	row = as_frame_row(&r->frame, AS_PROCESS, 1);
	as_row_set(row, AS_F_PROC_USER, n * HALF / 4);
	as_row_set(row, AS_F_PROC_RSS, rss);
	as_tee_frame(&r->tee, &r->frame);
}

static void end(struct long_run *r, int64_t duration_ns)
{
	struct as_outcome o = {.status = AS_SUCCESS, .duration_ns = duration_ns};
	struct as_total totals[AS_NTOTALS];

	for (size_t t = 0; t < AS_NTOTALS; t++)
		totals[t] = (struct as_total){.value = AS_NA};
	totals[AS_T_CPU] = (struct as_total){.value = duration_ns / 4, .how = AS_MEASURED};
	as_tee_end(&r->tee, &o, totals);
}

static struct as_run *stop(struct long_run *r)
{
	EXPECT_OK(r->sinks[0].failed, r->sinks[0].err);
	EXPECT_OK(r->sinks[1].failed, r->sinks[1].err);
	as_live_close(r->live);
	as_frame_done(&r->frame);
	return as_builder_take(r->b);
}

static void live_path(char path[512])
{
	(void)snprintf(path, 512, "%s/live/" ID, utest_dir());
}

static int64_t file_size(void)
{
	char path[512];
	struct stat st;

	live_path(path);
	EXPECT(stat(path, &st) == 0);
	return st.st_size;
}

static struct as_run *read_back(void)
{
	struct as_run *run = NULL;
	struct as_err err;
	char path[512];
	bool cut;

	live_path(path);
	EXPECT_OK(as_live_read(path, &run, &cut, &err), err);
	EXPECT(!cut);
	return run;
}

/* Means are exact, however many points of the timeline were joined. */
static void check_in_memory(const struct as_run *run)
{
	const struct as_tally *cpu = as_run_tally(run, AS_F_JOB_USER, 0),
			      *rss = as_run_tally(run, AS_F_PROC_RSS, 1);
	const struct as_series *s = run->series[AS_JOB];

	EXPECT_U64(cpu->n, WEEK + 1);
	EXPECT_NEAR(cpu->mean, 0.25, 1e-12);
	EXPECT_NEAR(cpu->min, 0.25, 1e-12);
	EXPECT_NEAR(cpu->max, 0.25, 1e-12);
	EXPECT_NEAR(rss->mean, 200.0 * MIB, 1);
	EXPECT_NEAR(rss->min, 100.0 * MIB, 0);
	EXPECT_NEAR(rss->max, 300.0 * MIB, 0);
	EXPECT(s->n <= AS_SERIES_CAP && s->n >= AS_SERIES_CAP / 2);
	EXPECT_I64(s->t[s->n - 1], WEEK * HALF);
	EXPECT_I64(as_row_at(s->mean + (s->n - 1) * as_scope_info(AS_JOB)->n, AS_F_JOB_USER),
		   WEEK * HALF / 4);
}

/* What was left out of the file may blur an alternation, never a rate or an end. */
static void check_from_file(const struct as_run *run, int64_t duration_ns)
{
	const struct as_tally *cpu = as_run_tally(run, AS_F_PROC_USER, 1);
	const struct as_series *s = run->series[AS_JOB];

	EXPECT_NEAR(cpu->mean, 0.25, 1e-9);
	EXPECT(as_run_tally(run, AS_F_JOB_RSS, 0)->max == 300.0 * MIB);
	EXPECT(s->t[s->n - 1] > duration_ns - duration_ns / 1000);
	EXPECT_STR(as_run_instance(run, AS_PROCESS, 1)->name, "worker");
}

static void t_week(void)
{
	struct long_run r;
	size_t used = 0;

	start(&r, LIMIT);
	born(&r, 1, AS_NA);
	for (int64_t n = 0; n <= WEEK; n++) {
		tick(&r, n);
		if (n == WEEK / 10)
			used = mallinfo2().uordblks;
	}
	EXPECT(mallinfo2().uordblks <= used + 4096); /* nothing was kept of nine tenths of it */
	end(&r, WEEK * HALF);
	as_auto_run struct as_run *told = stop(&r), *read = read_back();
	printf("# %" PRId64 " bytes of %" PRId64 "\n", file_size(), LIMIT);
	EXPECT(file_size() <= LIMIT && file_size() > LIMIT / 2);
	check_in_memory(told);
	check_from_file(read, WEEK * HALF);
	EXPECT_I64(read->end.status, AS_SUCCESS);
	EXPECT_I64(read->end.duration_ns, WEEK * HALF);
	EXPECT_I64(read->totals[AS_T_CPU].value, WEEK * HALF / 4);
}

/* The writer of a thinned file is killed: what it had seen is sealed as interrupted. */
static void t_killed_after_a_day(void)
{
	const int64_t day = 86400 * 2;
	struct as_store *s = NULL;
	as_auto_run struct as_run *run = NULL;
	struct as_err err;
	int st;
	pid_t pid = fork();

	if (pid == 0) {
		struct long_run r;

		start(&r, MIB);
		born(&r, 1, AS_NA);
		for (int64_t n = 0; n <= day; n++)
			tick(&r, n);
		(void)raise(SIGKILL);
	}
	EXPECT(waitpid(pid, &st, 0) == pid && WIFSIGNALED(st));
	EXPECT(file_size() <= MIB && file_size() > MIB / 2);
	EXPECT_OK(as_store_open(utest_dir(), AS_STORE_WRITE, &s, &err), err);
	EXPECT_OK(as_store_get(s, ID, &run, &err), err);
	as_store_close(s);
	EXPECT_I64(run->end.status, AS_INTERRUPTED);
	check_from_file(run, day * HALF);
}

/* A tick as large as all that is left of the file: it is left out, and the end is not. */
static void t_many_rows_at_the_limit(void)
{
	struct long_run r;

	start(&r, MIB);
	for (int64_t n = 0; n <= 20000; n++)
		tick(&r, n);
	as_frame_start(&r.frame, 20001 * HALF);
	for (uint32_t id = 0; id < 60000; id++)
		as_row_set(as_frame_row(&r.frame, AS_PROCESS, id), AS_F_PROC_USER, id * 1000003);
	as_tee_frame(&r.tee, &r.frame);
	tick(&r, 30000);
	end(&r, 30000 * HALF);
	as_auto_run struct as_run *told = stop(&r), *read = read_back();
	EXPECT(file_size() <= MIB);
	EXPECT_I64(read->end.status, AS_SUCCESS);
	EXPECT_I64(read->end.duration_ns, told->end.duration_ns);
}

/* 100,000 processes, each told when it is born and when it dies. */
static void t_many_instances(void)
{
	struct long_run r;

	start(&r, AS_LIVE_LIMIT);
	for (uint32_t id = 0; id < 100000; id++) {
		born(&r, id, AS_NA);
		if (id % 100 == 0)
			tick(&r, id / 100);
		born(&r, id, id * AS_MSEC);
	}
	end(&r, 1000 * HALF);
	as_auto_run struct as_run *told = stop(&r), *read = read_back();
	EXPECT(file_size() < 20 * MIB);
	EXPECT_U64(told->ninstances, AS_INSTANCES_MAX);
	EXPECT_U64(told->ninstances + told->unlisted, 100000 + 1); /* and the job itself */
	EXPECT_U64(read->ninstances, told->ninstances);
	EXPECT_U64(read->unlisted, told->unlisted);
}

/* Past half of the limit facts are left out, so that ticks have the other half. */
static void t_facts_leave_room_for_ticks(void)
{
	struct long_run r;

	start(&r, MIB);
	for (uint32_t id = 0; id < 100000; id++) {
		born(&r, id, AS_NA);
		if (id % 10 == 0)
			tick(&r, id / 10);
	}
	end(&r, 10000 * HALF);
	as_auto_run struct as_run *told = stop(&r), *read = read_back();
	EXPECT(file_size() <= MIB);
	EXPECT_U64(told->ninstances + told->unlisted, 100000 + 1);
	EXPECT(read->ninstances > 1000 && read->ninstances < told->ninstances);
	check_from_file(read, 10000 * HALF);
}

UTEST_MAIN(T(t_week), T(t_killed_after_a_day), T(t_many_rows_at_the_limit), T(t_many_instances),
	   T(t_facts_leave_room_for_ticks))
