/* load_top -- the screen of a load, drawn into cells. */
#include "tui/load_top.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "utest.h"

static struct as_histogram latency, wire; /* too large for a stack */

struct scene {
	struct as_load_top_facts facts;
	struct as_load_top top;
	struct as_frame frame;
	struct as_canvas canvas;
};

static void scene_done(struct scene *s)
{
	as_frame_done(&s->frame);
	as_canvas_done(&s->canvas);
}

#define SCENE as_cleanup(scene_done) struct scene

static void scene_open(struct scene *s)
{
	*s = (struct scene){.top = as_load_top_new()};
	as_histogram_clear(&latency);
	as_histogram_clear(&wire);
	as_histogram_add(&latency, 2000000, 99);
	as_histogram_add(&latency, 8000000, 1);
	as_histogram_add(&wire, 1000000, 100);
	s->facts = (struct as_load_top_facts){.url = "http://127.0.0.1:80/x",
					      .t_ns = 3 * AS_SECOND,
					      .until_ns = 10 * AS_SECOND,
					      .conns = 8,
					      .requests = 100,
					      .rate = 200,
					      .latency = &latency,
					      .wire = &wire,
					      .target = "app",
					      .pid = 42};
}

/* Requests in all; CPU ns of the target, AS_NA: it is not there. */
static void tick(struct scene *s, int64_t t_ns, int64_t requests, int64_t cpu)
{
	as_frame_start(&s->frame, t_ns);
	if (requests != AS_NA) {
		int64_t *row = as_frame_row(&s->frame, AS_LOAD, 0);

		as_row_set(row, AS_F_LOAD_REQUESTS, requests);
		as_row_set(row, AS_F_LOAD_FLIGHT, 3);
		as_row_set(row, AS_F_LOAD_P50, 1500000);
		as_row_set(row, AS_F_LOAD_P99, 7000000);
	}
	int64_t *job = as_frame_row(&s->frame, AS_JOB, 0);
	as_row_set(job, AS_F_JOB_CPU, cpu);
	as_row_set(job, AS_F_JOB_PROCS, cpu == AS_NA ? AS_NA : 1);
	as_row_set(job, AS_F_JOB_MEMORY, cpu == AS_NA ? AS_NA : 5 << 20);
	as_load_top_tick(&s->top, &s->facts, &s->frame);
}

static void draw(struct scene *s, int rows, int cols)
{
	as_canvas_clear(&s->canvas, rows, cols);
	as_load_top_draw(&s->top, &s->canvas);
}

static void expect(const struct scene *s, const char *what, bool there)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

	for (int row = 0; row < s->canvas.rows; row++) {
		as_canvas_line(&s->canvas, row, &b);
		as_buf_byte(&b, '\n');
	}
	if (!strstr(as_buf_text(&b), what) == there)
		UTEST_FAIL("\"%s\" is %son the screen:\n%s", what, there ? "not " : "",
			   as_buf_text(&b));
}

static void t_before_the_first_sample(void)
{
	SCENE s;

	scene_open(&s);
	draw(&s, 24, 80);
	expect(&s, "http", false);
}

static void t_rates_and_percentiles(void)
{
	SCENE s;

	scene_open(&s);
	tick(&s, 0, 0, 0);
	tick(&s, AS_SECOND / 2, AS_NA, AS_SECOND / 4); /* nothing was told of the load */
	tick(&s, AS_SECOND, 250, AS_SECOND / 2);
	draw(&s, 24, 80);
	expect(&s, "http://127.0.0.1:80/x  3.00 s of 10.0 s\n", true);
	expect(&s, "250/s  of 200/s asked for  100 requests  3 of 8 connections wait\n", true);
	expect(&s, "              p50      p90      p99    p99.9      max\n", true);
	expect(&s, "now       1.50 ms           7.00 ms                 -\n", true);
	expect(&s, "latency   2.00 ms  2.00 ms  2.00 ms  8.00 ms  8.00 ms\n", true);
	expect(&s, "wire      1.00 ms  1.00 ms  1.00 ms  1.00 ms  1.00 ms\n", true);
	expect(&s, "no errors\napp (42)\n50 % of a core  5.0 MiB memory", true);
	expect(&s, "  250/s\n", true); /* the largest rate, behind its curve */
}

static void t_errors_and_an_end(void)
{
	SCENE s;

	scene_open(&s);
	tick(&s, 0, 0, 0);
	s.facts.failed = 7;
	s.facts.errors[AS_LOAD_REFUSED] = 5;
	s.facts.errors[AS_LOAD_TIMEOUT] = 2;
	tick(&s, AS_SECOND, 10, AS_NA);
	draw(&s, 24, 80);
	expect(&s, "7 failed\n", true);
	expect(&s, "refused 5  timeout 2\napp (42)\nit has ended\n", true);
	s.facts.target = NULL;
	tick(&s, 2 * AS_SECOND, 10, AS_NA);
	draw(&s, 24, 80);
	expect(&s, "app", false);
}

static void t_sessions_of_a_flow(void)
{
	SCENE s;

	scene_open(&s);
	s.facts.flow = true;
	s.facts.most = 500;
	tick(&s, 0, 0, 0);
	draw(&s, 24, 80);
	expect(&s, "- sessions/s  of 200 sessions/s asked for  0 sessions  of 500\n", true);
	s.facts.t_ns += 2 * AS_SECOND;
	s.facts.sessions = 61;
	tick(&s, AS_SECOND, 250, AS_SECOND / 2);
	draw(&s, 24, 80);
	expect(&s,
	       "250 requests/s  100 requests  3 of 8 visitors wait\n"
	       "30.5 sessions/s  of 200 sessions/s asked for  61 sessions  of 500\n",
	       true);
}

static void t_keys(void)
{
	SCENE s;

	scene_open(&s);
	tick(&s, 0, 0, 0);
	EXPECT(as_load_top_key(&s.top, 'p'));
	EXPECT(s.top.paused);
	draw(&s, 24, 80);
	expect(&s, "paused: the load goes on", true);
	EXPECT(as_load_top_key(&s.top, ' '));
	EXPECT(!s.top.paused);
	EXPECT(as_load_top_key(&s.top, 'x'));
	EXPECT(!as_load_top_key(&s.top, 'q'));
}

static void t_small_screens(void)
{
	SCENE s;

	scene_open(&s);
	tick(&s, 0, 0, 0);
	tick(&s, AS_SECOND, 250, AS_SECOND);
	for (int rows = 1; rows < 30; rows++)
		for (int cols = 1; cols < 90; cols += 4)
			draw(&s, rows, cols);
	draw(&s, 12, 40);
	expect(&s, "latency", true);
	expect(&s, "rate ", false); /* no room for curves */
}

UTEST_MAIN(T(t_before_the_first_sample), T(t_rates_and_percentiles), T(t_errors_and_an_end),
	   T(t_sessions_of_a_flow), T(t_keys), T(t_small_screens))
