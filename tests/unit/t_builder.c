/* builder -- what a sink is told becomes a run: tallies, timeline, instances, end. */
#include "utest.h"

#include "run/builder.h"

#define MS INT64_C(1000000)

struct told {
	struct as_builder *b;
	struct as_sink sink;
	struct as_tee tee;
	struct as_frame frame;
};

static void start(struct told *t)
{
	struct as_err err;
	char name[] = "demo", word[] = "true", *argv[] = {word, NULL}, k[] = "who", v[] = "me";
	struct as_pair label = {k, v};
	struct as_identity who = {
		.name = name, .argv = argv, .argc = 1, .labels = &label, .nlabels = 1};

	*t = (struct told){0};
	EXPECT_OK(as_builder_new(&t->b, &err), err);
	t->sink = as_builder_sink(t->b);
	t->tee = (struct as_tee){&t->sink, 1};
	as_id_random(who.id);
	as_tee_begin(&t->tee, &who);
}

static void job_tick(struct told *t, int64_t t_ns, int64_t cpu, int64_t rss)
{
	as_frame_start(&t->frame, t_ns);
	int64_t *row = as_frame_row(&t->frame, AS_JOB, 0);
	as_row_set(row, AS_F_JOB_USER, cpu);
	as_row_set(row, AS_F_JOB_RSS, rss);
	as_tee_frame(&t->tee, &t->frame);
}

static void stop(struct told *t)
{
	EXPECT_I64(t->sink.failed, 0);
	as_frame_done(&t->frame);
	as_builder_free(t->b);
}

static struct as_run *finish(struct told *t)
{
	EXPECT_I64(t->sink.failed, 0);
	as_frame_done(&t->frame);
	return as_builder_take(t->b);
}

static void t_identity(void)
{
	struct told t;

	start(&t);
	const struct as_identity *who = &as_builder_run(t.b)->who;
	EXPECT_STR(who->name, "demo");
	EXPECT_STR(who->argv[0], "true");
	EXPECT_STR(who->labels[0].value, "me");
	EXPECT_U64(strlen(who->id), AS_ID_LEN);
	stop(&t);
}

static void t_tallies_and_series(void)
{
	struct told t;

	start(&t);
	job_tick(&t, 0, 0, 100);
	job_tick(&t, 500 * MS, 250 * MS, 100);
	job_tick(&t, 1000 * MS, 750 * MS, 300);
	const struct as_run *run = as_builder_run(t.b);
	const struct as_tally *cpu = as_run_tally(run, AS_F_JOB_USER, 0);
	EXPECT_NEAR(as_tally_shown(AS_F_JOB_USER, cpu->mean), 0.75, 1e-9);
	EXPECT_NEAR(as_tally_shown(AS_F_JOB_USER, cpu->max), 1.0, 1e-9);
	EXPECT_NEAR(as_run_tally(run, AS_F_JOB_RSS, 0)->mean, 150, 1e-9);
	EXPECT(!as_run_tally(run, AS_F_JOB_SYSTEM, 0)); /* never known */
	EXPECT(!as_run_tally(run, AS_F_SYS_USER, 0));   /* never even a row */
	EXPECT_U64(run->series[AS_JOB]->n, 3);
	EXPECT(!run->series[AS_SYSTEM]);
	EXPECT_I64(run->end.duration_ns, 1000 * MS);
	EXPECT_I64(run->end.status, AS_RUNNING);
	stop(&t);
}

/* What turns out to be unknown was no number before either, in a list or in the timeline. */
static void t_unknown_after_all(void)
{
	struct told t;

	start(&t);
	job_tick(&t, 0, 0, 100);
	job_tick(&t, 500 * MS, 250 * MS, 100);
	as_tee_origin(&t.tee, AS_F_JOB_RSS, &(struct as_origin){AS_UNAVAILABLE, "hidden"});
	const struct as_run *run = as_builder_run(t.b);
	const struct as_instance *job = as_run_instance(run, AS_JOB, 0);
	size_t column = AS_F_JOB_RSS - as_scope_info(AS_JOB)->first;
	EXPECT_I64(as_row_at(job->last, AS_F_JOB_RSS), AS_NA);
	EXPECT_U64(job->tally[column].n, 0);
	for (size_t i = 0; i < run->series[AS_JOB]->n; i++)
		EXPECT_I64(run->series[AS_JOB]->mean[i * as_scope_info(AS_JOB)->n + column], AS_NA);
	EXPECT_I64(as_row_at(job->last, AS_F_JOB_USER), 250 * MS);
	stop(&t);
}

/* Some so far stays that at the least; none so far is no number once it is unknown. */
static void t_none_so_far(void)
{
	struct told t;
	struct as_instance i = {.scope = AS_PROCESS, .id = 3, .parent = AS_NO_PARENT};

	start(&t);
	as_tee_instance(&t.tee, &i);
	for (int64_t n = 0; n < 2; n++) {
		as_frame_start(&t.frame, n * 100 * MS);
		int64_t *row = as_frame_row(&t.frame, AS_PROCESS, 3);
		as_row_set(row, AS_F_PROC_RSS, n);
		if (n == 0) {
			as_row_set(row, AS_F_PROC_MINFLT, 5);
			as_row_set(row, AS_F_PROC_MAJFLT, 0);
			as_row_set(row, AS_F_PROC_SYSCR, 5);
		}
		as_tee_frame(&t.tee, &t.frame);
	}
	as_auto_run struct as_run *run = finish(&t);
	const int64_t *last = as_run_instance(run, AS_PROCESS, 3)->last;
	EXPECT_I64(as_row_at(last, AS_F_PROC_MINFLT), 5);
	EXPECT_I64(as_row_at(last, AS_F_PROC_MAJFLT), AS_NA);
	EXPECT_I64(as_row_at(last, AS_F_PROC_SYSCR), AS_NA); /* it may be its children's */
}

/* Tallies that begin with the second row know of the first. */
static void t_second_row(void)
{
	struct told t;
	struct as_instance i = {.scope = AS_PROCESS, .id = 3, .parent = AS_NO_PARENT};
	struct as_tally user = as_tally_new(), rss = as_tally_new();

	start(&t);
	as_tee_instance(&t.tee, &i);
	for (int64_t n = 0; n < 4; n++) {
		as_frame_start(&t.frame, n * n * 100 * MS);
		int64_t *row = as_frame_row(&t.frame, AS_PROCESS, 3);
		as_row_set(row, AS_F_PROC_USER, 7 * n * n);
		as_tally_counter(&user, n * n * 100 * MS, 7 * n * n);
		if (n != 1) {
			as_row_set(row, AS_F_PROC_RSS, 100 - n);
			as_tally_gauge(&rss, n * n * 100 * MS, 100 - n);
		} else {
			as_tally_gap(&rss);
		}
		as_tee_frame(&t.tee, &t.frame);
	}
	as_auto_run struct as_run *run = finish(&t);
	EXPECT(!memcmp(as_run_tally(run, AS_F_PROC_USER, 3), &user, sizeof user));
	EXPECT(!memcmp(as_run_tally(run, AS_F_PROC_RSS, 3), &rss, sizeof rss));
	EXPECT_I64(as_row_at(as_run_instance(run, AS_PROCESS, 3)->last, AS_F_PROC_RSS), 97);
}

static void device_tick(struct told *t, int64_t t_ns, int64_t bytes)
{
	as_frame_start(&t->frame, t_ns);
	as_row_set(as_frame_row(&t->frame, AS_DEVICE, 1), AS_F_DEV_WRITE, bytes);
	as_tee_frame(&t->tee, &t->frame);
}

/* Listed when it first moved, counted since the start: so is the mean. */
static void t_counted_before_listed(void)
{
	struct as_instance i = {.scope = AS_DEVICE, .id = 1, .parent = AS_NO_PARENT};
	struct told t;

	start(&t);
	job_tick(&t, 0, 0, 100);
	as_tee_instance(&t.tee, &i);
	device_tick(&t, 1000 * MS, 300);
	const struct as_tally *w = as_run_tally(as_builder_run(t.b), AS_F_DEV_WRITE, 1);
	EXPECT_NEAR(as_tally_shown(AS_F_DEV_WRITE, w->mean), 300, 1e-9);
	EXPECT_NEAR(as_tally_shown(AS_F_DEV_WRITE, w->max), 300, 1e-9);
	device_tick(&t, 2000 * MS, 300);
	as_frame_done(&t.frame);
	as_auto_run struct as_run *run = as_builder_take(t.b);
	w = as_run_tally(run, AS_F_DEV_WRITE, 1);
	EXPECT_NEAR(as_tally_shown(AS_F_DEV_WRITE, w->mean), 150, 1e-9);
	EXPECT_NEAR(as_tally_shown(AS_F_DEV_WRITE, w->last), 0, 1e-9);
}

/* One that came late and left early: its mean is over the run, as everybody else's. */
static void t_mean_over_the_run(void)
{
	struct as_instance i = {.scope = AS_PEER,
				.id = 1,
				.parent = AS_NO_PARENT,
				.born_ns = 900 * MS};
	struct told t;

	start(&t);
	job_tick(&t, 0, 0, 100);
	as_tee_instance(&t.tee, &i);
	for (int64_t ms = 1000; ms <= 1500; ms += 500) {
		as_frame_start(&t.frame, ms * MS);
		as_row_set(as_frame_row(&t.frame, AS_PEER, 1), AS_F_PEER_SENT, 400);
		as_tee_frame(&t.tee, &t.frame);
	}
	job_tick(&t, 4000 * MS, 0, 100);
	as_frame_done(&t.frame);
	as_auto_run struct as_run *run = as_builder_take(t.b);
	const struct as_tally *w = as_run_tally(run, AS_F_PEER_SENT, 1);
	EXPECT_NEAR(as_tally_shown(AS_F_PEER_SENT, w->mean), 100, 1e-9);
	EXPECT_NEAR(as_tally_shown(AS_F_PEER_SENT, w->max), 400, 1e-9);
	EXPECT_NEAR(as_tally_shown(AS_F_PEER_SENT, w->last), 0, 1e-9);
}

static void t_instances(void)
{
	struct told t;
	char name[] = "worker", renamed[] = "python3";
	struct as_instance i = {.scope = AS_PROCESS,
				.id = 7,
				.key = 4242,
				.name = name,
				.parent = AS_NO_PARENT,
				.died_ns = AS_NA,
				.ended_by = AS_NA};

	start(&t);
	as_tee_instance(&t.tee, &i);
	as_frame_start(&t.frame, 0);
	as_row_set(as_frame_row(&t.frame, AS_PROCESS, 7), AS_F_PROC_RSS, 11);
	as_row_set(as_frame_row(&t.frame, AS_PROCESS, 8), AS_F_PROC_RSS, 13); /* never introduced */
	as_tee_frame(&t.tee, &t.frame);
	i.name = renamed;
	i.died_ns = 5;
	as_tee_instance(&t.tee, &i);
	i.name = NULL; /* nothing new about the name */
	as_tee_instance(&t.tee, &i);
	const struct as_run *run = as_builder_run(t.b);
	EXPECT_U64(run->ninstances, 1);
	const struct as_instance *got = as_run_instance(run, AS_PROCESS, 7);
	EXPECT_STR(got->name, "python3");
	EXPECT_I64(got->died_ns, 5);
	EXPECT(!got->tally); /* a single row needs none */
	size_t rss = AS_F_PROC_RSS - as_scope_info(AS_PROCESS)->first;
	EXPECT_NEAR(as_instance_tally(got, rss).last, 11, 0);
	EXPECT_U64(as_instance_tally(got, rss).n, 1);
	EXPECT(!as_run_instance(run, AS_PROCESS, 8));
	stop(&t);
}

/* More than the limit are counted, not kept: memory stays bounded. */
static void t_taken_back(void)
{
	struct told t;
	char line[] = "sh -c x", none[] = "", name[] = "sh";
	struct as_instance i = {.scope = AS_PROCESS, .id = 3, .name = name, .detail = line};

	start(&t);
	as_tee_instance(&t.tee, &i);
	i.detail = NULL;
	as_tee_instance(&t.tee, &i);
	EXPECT_STR(as_run_instance(as_builder_run(t.b), AS_PROCESS, 3)->detail, "sh -c x");
	i.name = i.detail = none; /* it called exec, and nobody saw what it became */
	as_tee_instance(&t.tee, &i);
	EXPECT(!as_run_instance(as_builder_run(t.b), AS_PROCESS, 3)->name);
	EXPECT(!as_run_instance(as_builder_run(t.b), AS_PROCESS, 3)->detail);
	stop(&t);
}

/* Told again when it ends: it is one all the same. */
static void tell_many(struct told *t, enum as_scope scope, uint32_t n)
{
	for (uint32_t id = 0; id < n; id++) {
		struct as_instance i = {.scope = scope,
					.id = id,
					.parent = AS_NO_PARENT,
					.died_ns = AS_NA,
					.ended_by = AS_NA,
					.key = id};
		as_tee_instance(&t->tee, &i);
		i.died_ns = id;
		as_tee_instance(&t->tee, &i);
	}
}

static void t_many_instances(void)
{
	struct told t;

	start(&t);
	tell_many(&t, AS_THREAD, AS_INSTANCES_MAX);
	const struct as_run *run = as_builder_run(t.b);
	EXPECT_U64(run->ninstances, AS_THREADS_MAX); /* there is room for processes */
	EXPECT_U64(run->unlisted, 0);
	tell_many(&t, AS_PROCESS, AS_INSTANCES_MAX - AS_THREADS_MAX + 100);
	EXPECT_U64(run->ninstances, AS_INSTANCES_MAX);
	EXPECT_U64(run->unlisted, 100);
	EXPECT_I64(as_run_instance(run, AS_THREAD, 17)->key, 17);
	EXPECT_I64(as_run_instance(run, AS_PROCESS, 17)->key, 17);
	stop(&t);
}

static void t_end(void)
{
	struct told t;
	struct as_total totals[AS_NTOTALS] = {0};
	char why[] = "because";
	struct as_outcome o = {.status = AS_FAILED, .exit_code = 3, .duration_ns = 9, .error = why};

	start(&t);
	totals[AS_T_CPU] = (struct as_total){.value = 17, .how = AS_MEASURED, .source = "x"};
	as_tee_end(&t.tee, &o, totals);
	struct as_run *run = as_builder_take(t.b);
	EXPECT_I64(run->end.exit_code, 3);
	EXPECT_STR(run->end.error, "because");
	EXPECT_I64(run->totals[AS_T_CPU].value, 17);
	as_run_free(run);
	as_frame_done(&t.frame);
}

/* Two rows of one scope and instance in a tick are one row. */
static void t_rows_are_shared(void)
{
	struct as_frame f = {0};

	as_frame_start(&f, 0);
	as_row_set(as_frame_row(&f, AS_SYSTEM, 0), AS_F_SYS_USER, 1);
	as_row_set(as_frame_row(&f, AS_SYSTEM, 0), AS_F_PSI_IO, 2);
	EXPECT_U64(f.n, 1);
	EXPECT_I64(as_row_at(as_frame_cells(&f, &f.rows[0]), AS_F_SYS_USER), 1);
	EXPECT_I64(as_row_at(as_frame_cells(&f, &f.rows[0]), AS_F_PSI_IO), 2);
	as_frame_start(&f, 1);
	EXPECT_I64(as_row_at(as_frame_row(&f, AS_SYSTEM, 0), AS_F_SYS_USER), AS_NA);
	as_frame_done(&f);
}

/*
 * One process: its row at each of some ticks, or none (-1). `alone`: each frame knows of no other,
 * so that everything is told at once.
 */
static struct as_run *told_of(const int *values, size_t n, bool alone)
{
	struct told t;
	struct as_instance i = {.scope = AS_PROCESS, .id = 3, .parent = AS_NO_PARENT};

	start(&t);
	as_tee_instance(&t.tee, &i);
	for (size_t k = 0; k < n; k++) {
		as_frame_start(&t.frame, (int64_t)k * 500 * MS);
		int64_t *row = values[k] < 0 ? NULL : as_frame_row(&t.frame, AS_PROCESS, 3);
		if (row) {
			as_row_set(row, AS_F_PROC_USER, values[k] * MS);
			as_row_set(row, AS_F_PROC_RSS, values[k] % 100);
			as_row_set(row, AS_F_PROC_FDS, values[k] / 200); /* seldom another */
			as_row_set(row, AS_F_PROC_READ, values[k] / 100);
		}
		if (row && values[k] != 40) /* unknown now and then */
			as_row_set(row, AS_F_PROC_SWAP, 7);
		as_frame_settle(&t.frame);
		as_tee_frame(&t.tee, &t.frame);
		if (alone)
			as_frame_done(&t.frame);
	}
	return finish(&t);
}

/* Rows that are the same as before are told to the tallies late, and it makes no difference. */
static void t_same_rows(void)
{
	static const int values[] = {0,   0,   30,  30, 30, 40,  40,  40,  130, 130, -1,
				     130, 130, 200, -1, -1, 350, 350, 350, 350, 350};
	as_auto_run struct as_run *late = told_of(values, AS_LEN(values), false);
	as_auto_run struct as_run *each = told_of(values, AS_LEN(values), true);
	static const enum as_field_id fields[] = {AS_F_PROC_USER, AS_F_PROC_RSS, AS_F_PROC_SWAP,
						  AS_F_PROC_FDS, AS_F_PROC_READ};

	for (size_t f = 0; f < AS_LEN(fields); f++) {
		const struct as_tally *a = as_run_tally(late, fields[f], 3);
		const struct as_tally *b = as_run_tally(each, fields[f], 3);

		EXPECT_U64(a->n, b->n);
		EXPECT_NEAR(a->mean, b->mean, fabs(b->mean) * 1e-12);
		EXPECT_NEAR(a->min, b->min, 0);
		EXPECT_NEAR(a->max, b->max, 0);
		EXPECT_NEAR(a->last, b->last, 0);
	}
}

/* Three processes that come, change, rest and go in turns; `alone` as above. */
static struct as_run *told_of_three(bool alone)
{
	enum { TICKS = 43 }; /* more than are told together, and some */
	struct told t;

	start(&t);
	for (uint32_t id = 1; id <= 3; id++)
		as_tee_instance(&t.tee, &(struct as_instance){.scope = AS_PROCESS,
							      .id = id,
							      .parent = AS_NO_PARENT});
	for (int64_t k = 0; k < TICKS; k++) {
		as_frame_start(&t.frame, k * 500 * MS);
		for (uint32_t id = 1; id <= 3; id++) {
			int64_t rests = k % (3 * id + 2) / 2 * 2; /* the same twice */

			if (k < 2 * id || k % (11 + id) == 5)
				continue;
			int64_t *row = as_frame_row(&t.frame, AS_PROCESS, id);
			as_row_set(row, AS_F_PROC_USER, k / id * 3 * MS);
			as_row_set(row, AS_F_PROC_RSS, 1000 * id + rests);
			if (rests)
				as_row_set(row, AS_F_PROC_SWAP, rests);
		}
		as_frame_settle(&t.frame);
		as_tee_frame(&t.tee, &t.frame);
		if (alone)
			as_frame_done(&t.frame);
	}
	return finish(&t);
}

/* What changed is told to the tallies some ticks later: each hears its own, in order. */
static void t_told_together(void)
{
	static const enum as_field_id fields[] = {AS_F_PROC_USER, AS_F_PROC_RSS, AS_F_PROC_SWAP};
	as_auto_run struct as_run *late = told_of_three(false), *each = told_of_three(true);

	for (uint32_t id = 1; id <= 3; id++)
		for (size_t f = 0; f < AS_LEN(fields); f++) {
			const struct as_tally *a = as_run_tally(late, fields[f], id);
			const struct as_tally *b = as_run_tally(each, fields[f], id);

			EXPECT(a->n > 12);
			EXPECT_U64(a->n, b->n);
			EXPECT_NEAR(a->mean, b->mean, fabs(b->mean) * 1e-12);
			EXPECT_NEAR(a->min, b->min, 0);
			EXPECT_NEAR(a->max, b->max, 0);
			EXPECT_NEAR(a->last, b->last, 0);
			EXPECT_I64(as_row_at(as_run_instance(late, AS_PROCESS, id)->last,
					     fields[f]),
				   as_row_at(as_run_instance(each, AS_PROCESS, id)->last,
					     fields[f]));
		}
}

/* A row that says "the same" has the cells; one that the tick before had not, is none. */
static void t_frame_same(void)
{
	struct as_frame f = {0};

	as_frame_start(&f, 0);
	as_row_set(as_frame_row(&f, AS_PROCESS, 1), AS_F_PROC_RSS, 11);
	as_row_set(as_frame_row(&f, AS_PROCESS, 2), AS_F_PROC_RSS, 22);
	as_row_set(as_frame_row(&f, AS_PROCESS, 3), AS_F_PROC_RSS, 33);
	as_frame_settle(&f);
	EXPECT(!f.rows[0].same && !f.rows[1].same);
	as_frame_start(&f, 1);
	as_row_set(as_frame_row(&f, AS_PROCESS, 1), AS_F_PROC_RSS, 11);
	EXPECT(as_frame_same(&f, AS_PROCESS, 3));
	EXPECT(!as_frame_same(&f, AS_PROCESS, 2)); /* they keep their order */
	EXPECT(!as_frame_same(&f, AS_PROCESS, 4));
	EXPECT(!as_frame_same(&f, AS_THREAD, 1));
	as_row_set(as_frame_row(&f, AS_PROCESS, 2), AS_F_PROC_RSS, 22);
	as_frame_settle(&f);
	EXPECT_U64(f.n, 3);
	EXPECT(f.rows[0].same && f.rows[1].same && !f.rows[2].same);
	EXPECT_I64(as_row_at(as_frame_cells(&f, &f.rows[1]), AS_F_PROC_RSS), 33);
	as_frame_done(&f);
}

static void frame_of_two(struct as_frame *f, int64_t t_ns, uint32_t threads)
{
	as_frame_start(f, t_ns);
	as_row_set(as_frame_row(f, AS_PROCESS, 7), AS_F_PROC_USER, 1);
	for (uint32_t i = 0; i < threads; i++)
		as_row_set(as_frame_row(f, AS_THREAD, i + 1), AS_F_THR_CPU, (int64_t)i + 10);
	as_row_set(as_frame_row(f, AS_PROCESS, 8), AS_F_PROC_USER, 2);
}

/* A process with its threads once more; not when they were fewer or more. */
static void t_frame_same_family(void)
{
	struct as_frame f = {0};

	frame_of_two(&f, 0, 2);
	as_frame_start(&f, 1);
	EXPECT(!as_frame_same_family(&f, AS_PROCESS, 7, AS_THREAD, 1));
	EXPECT(!as_frame_same_family(&f, AS_PROCESS, 7, AS_THREAD, 3));
	EXPECT(!as_frame_same_family(&f, AS_PROCESS, 9, AS_THREAD, 0));
	EXPECT_U64(f.n, 0);
	EXPECT(as_frame_same_family(&f, AS_PROCESS, 7, AS_THREAD, 2));
	EXPECT(as_frame_same_family(&f, AS_PROCESS, 8, AS_THREAD, 0));
	EXPECT_U64(f.n, 4);
	EXPECT(f.rows[2].same && f.rows[2].scope == AS_THREAD && f.rows[2].instance == 2);
	EXPECT_I64(as_row_at(as_frame_cells(&f, &f.rows[2]), AS_F_THR_CPU), 11);
	EXPECT_I64(as_row_at(as_frame_cells(&f, &f.rows[3]), AS_F_PROC_USER), 2);
	as_frame_done(&f);
}

/* A row that stays and one that changes, a thousand ticks: both are right, the room is bounded. */
static void t_frame_room(void)
{
	struct as_frame f = {0};

	for (int64_t t = 0; t < 1000; t++) {
		as_frame_start(&f, t);
		if (!t)
			as_row_set(as_frame_row(&f, AS_PROCESS, 1), AS_F_PROC_RSS, 11);
		else
			EXPECT(as_frame_same(&f, AS_PROCESS, 1));
		as_row_set(as_frame_row(&f, AS_PROCESS, 2), AS_F_PROC_RSS, t);
		as_frame_settle(&f);
		EXPECT_I64(as_row_at(as_frame_cells(&f, &f.rows[0]), AS_F_PROC_RSS), 11);
		EXPECT_I64(as_row_at(as_frame_cells(&f, &f.rows[1]), AS_F_PROC_RSS), t);
		if (t)
			EXPECT_I64(as_row_at(as_frame_old_cells(&f, &f.rows[1]), AS_F_PROC_RSS),
				   t - 1);
		EXPECT(f.now.ncells <= 8 * as_scope_info(AS_PROCESS)->n);
	}
	as_frame_done(&f);
}

UTEST_MAIN(T(t_same_rows), T(t_told_together), T(t_frame_same), T(t_frame_same_family),
	   T(t_frame_room), T(t_identity), T(t_tallies_and_series), T(t_unknown_after_all),
	   T(t_none_so_far), T(t_second_row), T(t_counted_before_listed), T(t_mean_over_the_run),
	   T(t_instances), T(t_taken_back), T(t_many_instances), T(t_end), T(t_rows_are_shared))
