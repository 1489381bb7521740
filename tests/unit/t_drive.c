/* drive -- a load beside an engine: its pulse, what it takes of a process, whose that is. */
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "load/container.h"
#include "load/pulse.h"
#include "load/sessions.h"
#include "load/toll.h"
#include "utest.h"

/* ── pulse ────────────────────────────────────────────────────────────── */

enum { MANY = 300000 };

struct pair {
	struct as_pulse *pulse;
	struct as_load *load;
};

/* As a generator does, but as fast as it can. */
static void *generate(void *data)
{
	struct pair *p = data;
	struct as_load_slice *s = as_pulse_slice(p->pulse);

	for (int i = 0; i < MANY; i++) {
		p->load->requests++;
		s->requests++;
		s->failed += i % 3 == 0;
		as_histogram_add(&s->latency, i, 1);
		if (i % 100)
			continue;
		as_pulse_give(p->pulse, p->load, 1, i);
		s = as_pulse_slice(p->pulse);
	}
	return NULL;
}

static void t_nothing_is_lost_between_threads(void)
{
	as_auto_free struct as_load *load = as_zalloc(sizeof *load);
	as_auto_free struct as_load_slice *all = as_zalloc(sizeof *all);
	struct pair p = {as_pulse_new(), load};
	struct as_load_state state = {0};
	pthread_t thread;
	int64_t before = -1;

	EXPECT(p.pulse && load && all);
	EXPECT_I64(pthread_create(&thread, NULL, generate, &p), 0);
	for (int i = 0; i < 50; i++) {
		if (!as_pulse_take(p.pulse, all, &state))
			continue;
		EXPECT(state.t_ns > before);
		EXPECT(state.requests >= all->requests);
		before = state.t_ns;
	}
	EXPECT_I64(pthread_join(thread, NULL), 0);
	(void)as_pulse_take(p.pulse, all, &state);
	as_pulse_rest(p.pulse, all);
	EXPECT_I64(all->requests, MANY);
	EXPECT_I64(all->failed, MANY / 3);
	EXPECT_I64(all->latency.n, MANY);
	EXPECT_I64(all->latency.max, MANY - 1);
	EXPECT(!as_pulse_take(p.pulse, all, &state));
	as_pulse_free(p.pulse);
}

static void t_a_slice_grows_until_it_is_taken(void)
{
	as_auto_free struct as_load *load = as_zalloc(sizeof *load);
	as_auto_free struct as_load_slice *got = as_zalloc(sizeof *got);
	struct as_pulse *p = as_pulse_new();
	struct as_load_state state = {0};

	EXPECT(p && load && got);
	EXPECT(!as_pulse_take(p, got, &state));
	for (int i = 1; i <= 3; i++) {
		struct as_load_slice *s = as_pulse_slice(p);

		s->requests++;
		as_histogram_add(&s->latency, i, 1);
		load->requests++;
		as_pulse_give(p, load, 0, i);
	}
	EXPECT(as_pulse_take(p, got, &state)); /* all three, though nobody came in between */
	EXPECT_I64(got->requests, 3);
	EXPECT_I64(got->latency.n, 3);
	EXPECT_I64(got->latency.max, 3);
	EXPECT_I64(state.t_ns, 3);
	EXPECT(!as_pulse_take(p, got, &state));
	as_pulse_free(p);
}

/* What passes between two events is told while the stream goes on: no request has ended. */
static void t_gaps_of_streams_under_way(void)
{
	as_auto_free struct as_load *load = as_zalloc(sizeof *load);
	as_auto_free struct as_load_slice *got = as_zalloc(sizeof *got);
	struct as_pulse *p = as_pulse_new();
	struct as_load_state state = {0};

	EXPECT(p && load && got);
	for (int i = 1; i <= 3; i++) {
		as_histogram_add(&as_pulse_slice(p)->stream.between_events, i, 1);
		as_pulse_give(p, load, 1, i);
		/* also the other slice, which had none */
		EXPECT(as_pulse_slice(p)->stream.between_events.settled);
	}
	EXPECT(as_pulse_take(p, got, &state));
	EXPECT_I64(got->stream.between_events.n, 3);
	EXPECT_I64(got->stream.between_events.max, 3);
	as_histogram_add(&as_pulse_slice(p)->stream.between_events, 4, 1);
	as_pulse_rest(p, got);
	EXPECT_I64(got->stream.between_events.n, 4);
	as_pulse_free(p);
}

/* ── toll ─────────────────────────────────────────────────────────────── */

static void sample(struct as_toll *t, struct as_frame *f, int64_t t_ns, int64_t cpu, int64_t n)
{
	as_frame_start(f, t_ns);
	int64_t *row = as_frame_row(f, AS_JOB, 0);
	as_row_set(row, AS_F_JOB_CPU, cpu);
	as_row_set(row, AS_F_JOB_PROCS, n);
	as_row_set(row, AS_F_JOB_THREADS, n == AS_NA ? AS_NA : 3 * n);
	as_toll_note(t, f);
}

static void t_what_a_process_used(void)
{
	struct as_total totals[AS_NTOTALS] = {
		[AS_T_CPU] = {.value = 3 * AS_SECOND}, [AS_T_MEM_PEAK] = {.value = 1 << 20}};
	struct as_toll t = as_toll_new(NULL);
	struct as_load_target found = {0};
	struct as_frame f = {0};

	sample(&t, &f, 0, 0, 1);
	sample(&t, &f, AS_SECOND, AS_SECOND / 2, 2);
	sample(&t, &f, 2 * AS_SECOND, 5 * AS_SECOND / 2, 1);
	as_toll_finish(&t, totals, NULL, 2 * AS_SECOND, &found);
	EXPECT_NEAR(found.cores, 1.5, 1e-9);
	EXPECT_NEAR(found.cores_most, 2, 1e-9);
	EXPECT_I64(found.memory, 1 << 20);
	EXPECT_I64(found.processes, 2);
	EXPECT_I64(found.threads, 6);
	EXPECT_I64(found.files, AS_NA); /* nobody said */
	EXPECT_I64(found.ended_ns, AS_NA);
	EXPECT_I64(found.lags, 0);
	sample(&t, &f, 3 * AS_SECOND, 3 * AS_SECOND, AS_NA);
	sample(&t, &f, 6 * AS_SECOND, 3 * AS_SECOND, AS_NA);
	as_toll_finish(&t, totals, NULL, 6 * AS_SECOND, &found);
	EXPECT_I64(found.ended_ns, 3 * AS_SECOND);
	EXPECT_NEAR(found.cores, 1, 1e-9); /* as long as it was there */
	as_frame_done(&f);
}

static void t_loops_of_it(void)
{
	struct as_total totals[AS_NTOTALS] = {0};
	struct as_toll t = as_toll_new(NULL);
	struct as_load_target found = {0};
	struct as_loops loops;
	struct as_err err;

	EXPECT_OK(as_loops_init(&loops, &err), err);
	as_toll_finish(&t, totals, &loops, AS_SECOND, &found);
	EXPECT_I64(found.lag_max, AS_NA);
	loops.threshold_ns = 10 * AS_MSEC;
	struct as_loop *x = as_loops_of(&loops, 1);
	for (int i = 1; i <= 100; i++)
		as_loops_add(&loops, x, &(struct as_loop_block){.duration_ns = i * 100});
	as_loops_add(&loops, x, &(struct as_loop_block){.tid = 1, .duration_ns = 20 * AS_MSEC});
	as_toll_finish(&t, totals, &loops, AS_SECOND, &found);
	EXPECT_I64(found.lags, 101);
	EXPECT_I64(found.blocks, 1);
	EXPECT_I64(found.lag_max, 20 * AS_MSEC);
	EXPECT_NEAR((double)found.lag_p50, 5100, 10);
	EXPECT_STR(found.limit, ""); /* nobody knows how long it was watched */
	x->watched_ns = 200 * AS_MSEC;
	as_toll_finish(&t, totals, &loops, AS_SECOND, &found);
	EXPECT_STR(found.limit, ""); /* a tenth of the time */
	for (int i = 0; i < 4; i++)
		as_loops_add(&loops, x,
			     &(struct as_loop_block){.tid = 1,
						     .duration_ns = 15 * AS_MSEC,
						     .cause = AS_LOOP_CALL,
						     .call = "clock_nanosleep"});
	as_toll_finish(&t, totals, &loops, AS_SECOND, &found);
	EXPECT_STR(found.limit, "its event loop was held 40 % of the time, "
				"in a system call (clock_nanosleep)");
	as_loops_done(&loops);
}

/* ── sessions ─────────────────────────────────────────────────────────── */

/* A server that holds 100 bytes a session, and 5000 since the first. */
static struct as_load_target held(const uint64_t *open, size_t n, bool kept)
{
	struct as_load_target found = {0};
	struct as_held h = as_held_new();
	struct as_sessions s = {0};

	as_held_note(&h, &s, 70000);
	for (size_t i = 0; i < n; i++) {
		while (s.open > open[i])
			as_session_close(&s);
		while (s.open < open[i])
			as_session_open(&s);
		as_held_note(&h, &s, AS_NA);
		as_held_note(&h, &s, 75000 + 100 * (int64_t)(kept ? s.opened : s.open));
	}
	as_held_finish(&h, &found);
	return found;
}

static void t_what_a_session_takes(void)
{
	static const uint64_t ramp[] = {10, 50, 50, 0}, few[] = {3, 0, 3, 0};
	uint64_t waves[1200];

	for (size_t i = 0; i < AS_LEN(waves); i++)
		waves[i] = i % 2 ? 4 : 0;
	struct as_load_target t = held(ramp, AS_LEN(ramp), false);
	EXPECT_U64(t.session_how, AS_SESSION_HELD);
	EXPECT_U64(t.sessions, 50);
	EXPECT_I64(t.session_growth, 10000);
	EXPECT_I64(t.session_bytes, 200); /* with what the first warmed up: at most */
	t = held(waves, AS_LEN(waves), false);
	EXPECT_U64(t.session_how, AS_SESSION_HELD);
	EXPECT_I64(t.session_bytes, 1350);
	t = held(waves, AS_LEN(waves), true);
	EXPECT_U64(t.session_how, AS_SESSION_KEPT);
	EXPECT_U64(t.sessions, 2400);
	EXPECT_I64(t.session_bytes, 100);
	EXPECT_I64(t.session_growth, 245000);
	t = held(few, AS_LEN(few), false);
	EXPECT_U64(t.session_how, AS_SESSION_FEW);
	EXPECT_I64(t.session_bytes, AS_NA);
	t = held(few, 0, false);
	EXPECT_U64(t.session_how, AS_SESSION_FEW);
}

/* ── containers ───────────────────────────────────────────────────────── */

static int parse(const char *text, int32_t *ret)
{
	struct as_err err;

	*ret = 0;
	return as_container_parse(text, strlen(text), "web", ret, &err);
}

static void t_containers(void)
{
	int32_t pid;

	EXPECT_I64(parse("{\"Id\":\"x\",\"State\":{\"Pid\":4711,\"Running\":true}}", &pid), AS_OK);
	EXPECT_I64(pid, 4711);
	EXPECT_I64(parse("{\"State\":{\"Pid\":0}}", &pid), AS_ENOTFOUND); /* it has ended */
	EXPECT_I64(parse("{\"State\":{\"Pid\":-3}}", &pid), AS_ENOTFOUND);
	EXPECT_I64(parse("{\"State\":{\"Pid\":1e30}}", &pid), AS_ENOTFOUND);
	EXPECT_I64(parse("{\"State\":{\"Pid\":\"7\"}}", &pid), AS_ENOTFOUND);
	EXPECT_I64(parse("[]", &pid), AS_ENOTFOUND);
	EXPECT_I64(parse("{\"State\":", &pid), AS_EFORMAT);
	EXPECT_I64(parse("", &pid), AS_EFORMAT);
}

UTEST_MAIN(T(t_nothing_is_lost_between_threads), T(t_a_slice_grows_until_it_is_taken),
	   T(t_gaps_of_streams_under_way), T(t_what_a_process_used), T(t_loops_of_it),
	   T(t_what_a_session_takes), T(t_containers))
