#include "tui/top.h"

#include "utest.h"

#define MSEC   INT64_C(1000000)
#define SECOND (1000 * MSEC)

static const struct as_value_kind kinds[] = {{"samples", "count"},
					     {"cpu", "nanoseconds"},
					     {"wall", "nanoseconds"},
					     {"gil", "nanoseconds"}};

/* A program with two threads, the sampler's profile of it, and the screen. */
struct scene {
	struct as_profile *p;
	uint32_t busy, idle;     /* tags                                     */
	uint32_t parse, read;    /* stacks: main → parse, main → read        */
	uint32_t again, waiting; /* main → parse → parse; wait               */
	struct as_top top;
	struct as_top_facts facts;
	struct as_canvas canvas;
};

static uint32_t text(struct scene *s, const char *t)
{
	return as_profile_text(s->p, t, strlen(t));
}

static uint32_t frame(struct scene *s, uint32_t caller, const char *name, int line)
{
	struct as_place at = {text(s, name), text(s, "/srv/app/main.py"), line, line / 10 * 10};

	return as_profile_stack(s->p, caller, as_profile_place(s->p, at));
}

static uint32_t thread(struct scene *s, int tid, const char *name)
{
	struct as_tag tags[] = {{text(s, "process"), 0, 100},
				{text(s, "thread"), 0, tid},
				{text(s, "name"), text(s, name), 0}};

	return as_profile_tags(s->p, tags, 3);
}

static void scene_done(struct scene *s)
{
	as_profile_free(s->p);
	as_top_close(&s->top);
	as_canvas_done(&s->canvas);
}

#define SCENE as_cleanup(scene_done) struct scene

static void scene_open(struct scene *s)
{
	struct as_err err;

	*s = (struct scene){.p = as_profile_new(kinds, AS_LEN(kinds), &err)};
	EXPECT(s->p);
	EXPECT_OK(as_top_open(&s->top, kinds, AS_LEN(kinds), 2 * SECOND, &err), err);
	uint32_t root = frame(s, 0, "main", 12);
	s->parse = frame(s, root, "parse", 23);
	s->again = frame(s, s->parse, "parse", 25);
	s->read = frame(s, root, "read", 31);
	s->waiting = frame(s, 0, "wait", 42);
	s->busy = thread(s, 100, "python3");
	s->idle = thread(s, 101, "poller");
	s->facts = (struct as_top_facts){.name = "python3 app.py",
					 .pid = 100,
					 .version = 0x030b02f0,
					 .pythons = 1};
}

static void add(struct scene *s, uint32_t stack, uint32_t tags, int64_t cpu, int64_t wall,
		int64_t gil)
{
	as_profile_add(s->p, stack, tags, 0, (int64_t[]){1, cpu * MSEC, wall * MSEC, gil * MSEC});
	s->facts.samples++;
}

/* A second: parse 600 ms (a third of it in itself again), read 300 ms; the other waits. */
static void second(struct scene *s)
{
	add(s, s->parse, s->busy, 400, 400, 400);
	add(s, s->again, s->busy, 200, 200, 200);
	add(s, s->read, s->busy, 300, 400, 100);
	add(s, s->waiting, s->idle, 0, 1000, 0);
	as_top_follow(&s->top, s->p);
	as_top_tick(&s->top, &s->facts, SECOND, 950 * MSEC);
}

static void draw(struct scene *s, int rows, int cols)
{
	as_canvas_clear(&s->canvas, rows, cols);
	as_top_draw(&s->top, &s->canvas);
}

static void expect_line(const struct scene *s, int row, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_canvas_line(&s->canvas, row, &b);
	EXPECT_STR(as_buf_text(&b), want);
}

static void expect_has(const struct scene *s, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

	for (int row = 0; row < s->canvas.rows; row++) {
		as_canvas_line(&s->canvas, row, &b);
		as_buf_byte(&b, '\n');
	}
	if (!strstr(as_buf_text(&b), want))
		UTEST_FAIL("no \"%s\" on the screen:\n%s", want, as_buf_text(&b));
}

static void type(struct scene *s, const char *keys)
{
	for (; *keys; keys++)
		EXPECT(as_top_key(&s->top, (unsigned char)*keys));
}

static void t_before_anything_was_seen(void)
{
	SCENE s;

	scene_open(&s);
	draw(&s, 24, 80);
	expect_has(&s, "cpu - %");
	expect_has(&s, "nothing yet");
}

static void t_functions_by_own_time(void)
{
	SCENE s;

	scene_open(&s);
	second(&s);
	draw(&s, 24, 80);
	expect_line(&s, 0, "python3 app.py (100)  Python 3.11.2  1.00 s");
	expect_line(&s, 1, "cpu 95.0 %  gil 70.0 %  threads 2: 1 running, 1 idle");
	expect_line(&s, 2, "4 samples, 0 late, 0.00 % rejected");
	expect_line(&s, 3, "cpu time by function  sorted by %own  % of the last 1.00 s");
	expect_line(&s, 4, "  %own %total       own     total  function");
	expect_line(&s, 5, "  60.0   60.0    600 ms    600 ms  parse  app/main.py:20");
	expect_line(&s, 6, "  30.0   30.0    300 ms    300 ms  read  app/main.py:30");
	expect_line(&s, 7, "   0.0   90.0       0 s    900 ms  main  app/main.py:10");
	expect_line(&s, 8, "");
}

static void t_the_window_moves_and_the_sums_stay(void)
{
	SCENE s;

	scene_open(&s);
	for (int i = 0; i < 3; i++)
		second(&s);
	for (int i = 0; i < 2; i++)
		as_top_tick(&s.top, &s.facts, SECOND, 0);
	draw(&s, 24, 80);
	expect_has(&s, "   0.0    0.0    1.80 s    1.80 s  parse");
	expect_has(&s, "cpu 0.0 %");
}

/* When nothing was known of the processes before, shares are of the time since. */
static void t_cpu_time_that_nobody_knows_is_not_0(void)
{
	SCENE s;

	scene_open(&s);
	as_top_tick(&s.top, &s.facts, SECOND, AS_NA);
	draw(&s, 24, 80);
	expect_has(&s, "cpu - %");
	second(&s);
	draw(&s, 24, 80);
	expect_has(&s, "cpu 95.0 %");
	expect_has(&s, "% of the last 2.00 s");
	type(&s, "p");
	as_top_tick(&s.top, &s.facts, SECOND, AS_NA);
	as_top_tick(&s.top, &s.facts, SECOND, 950 * MSEC);
	type(&s, "p");
	as_top_tick(&s.top, &s.facts, SECOND, 550 * MSEC);
	draw(&s, 24, 80);
	expect_has(&s, "cpu - %"); /* of the three at once one was not known */
	second(&s);
	second(&s);
	draw(&s, 24, 80);
	expect_has(&s, "cpu 95.0 %");
}

static void t_lines_threads_gil_and_wall(void)
{
	SCENE s;

	scene_open(&s);
	second(&s);
	type(&s, "l");
	draw(&s, 24, 80);
	expect_has(&s, "  40.0   60.0    400 ms    600 ms  parse  app/main.py:23");
	expect_has(&s, "  20.0   20.0    200 ms    200 ms  parse  app/main.py:25");
	type(&s, "lm");
	draw(&s, 24, 80);
	expect_line(&s, 5, " 100.0  100.0    1.00 s    1.00 s  wait  app/main.py:40");
	type(&s, "g");
	draw(&s, 24, 80);
	expect_has(&s, "time with the GIL by function");
	expect_line(&s, 6, "  10.0   10.0    100 ms    100 ms  read  app/main.py:30");
}

static void t_one_thread_is_chosen(void)
{
	SCENE s;

	scene_open(&s);
	second(&s);
	type(&s, "mt");
	draw(&s, 24, 80);
	expect_has(&s, "  %cpu   %gil  cpu time  thread");
	expect_has(&s, "  90.0   70.0    900 ms  100 python3");
	expect_has(&s, "   0.0    0.0       0 s  101 poller");
	EXPECT(as_top_key(&s.top, AS_KEY_END));
	EXPECT(as_top_key(&s.top, AS_KEY_ENTER));
	draw(&s, 24, 80);
	expect_has(&s, "thread 101 poller");
	EXPECT_U64(s.top.list.nrows, 1);
	type(&s, "\033");
	EXPECT_U64(s.top.list.nrows, 4);
}

static void t_search_narrows_while_it_is_typed(void)
{
	SCENE s;

	scene_open(&s);
	second(&s);
	type(&s, "/PAR");
	EXPECT_U64(s.top.list.nrows, 1);
	draw(&s, 24, 80);
	expect_line(&s, 23, "/PAR_");
	type(&s, "\b\bq");
	EXPECT_STR(s.top.list.search, "Pq");
	draw(&s, 24, 80);
	expect_has(&s, "no name has that");
	type(&s, "\033");
	EXPECT_U64(s.top.list.nrows, 3);
	type(&s, "/main.py\n");
	EXPECT_U64(s.top.list.nrows, 3);
	draw(&s, 24, 80);
	expect_has(&s, "/main.py");
	for (int i = 0; i < 200; i++)
		type(&s, i ? "x" : "/");
	EXPECT_U64(strlen(s.top.list.search), sizeof s.top.list.search - 1);
}

static void t_a_character_is_rubbed_out_whole(void)
{
	SCENE s;

	scene_open(&s);
	type(&s, "/aé日\b");
	EXPECT_STR(s.top.list.search, "aé");
	type(&s, "\b\b\b");
	EXPECT_STR(s.top.list.search, "");
}

static void t_sorted_by_each_column(void)
{
	static const char *const first[] = {"parse", "main", "parse", "main"};
	SCENE s;

	scene_open(&s);
	second(&s);
	for (size_t i = 0; i < AS_LEN(first); i++) {
		EXPECT_STR(s.p->text[s.p->place[s.top.list.row[0].place].function], first[i]);
		type(&s, "s");
	}
	EXPECT_U64(s.top.list.sort, AS_TOP_BY_OWN);
	type(&s, "S");
	EXPECT_U64(s.top.list.sort, AS_TOP_BY_TOTAL_TIME);
}

static void t_paused_nothing_moves_and_nothing_is_lost(void)
{
	SCENE s;

	scene_open(&s);
	second(&s);
	type(&s, "p");
	for (int i = 0; i < 5; i++)
		second(&s);
	type(&s, "ss");
	draw(&s, 24, 80);
	expect_has(&s, "paused");
	expect_has(&s, "    600 ms    600 ms  parse");
	type(&s, "p");
	second(&s);
	draw(&s, 24, 80);
	expect_has(&s, "  60.0   60.0    4.20 s    4.20 s  parse");
	expect_has(&s, "cpu 95.0 %");
}

static void t_reset_counts_from_now_on(void)
{
	SCENE s;

	scene_open(&s);
	s.facts.late = s.facts.rejected = 7;
	second(&s);
	type(&s, "r");
	draw(&s, 24, 80);
	expect_has(&s, "0 samples, 0 late");
	expect_has(&s, "nothing yet");
	s.facts.rejected += 4;
	second(&s);
	draw(&s, 24, 80);
	expect_has(&s, "4 samples, 0 late");
	expect_has(&s, "50.00 % rejected");
	expect_has(&s, "    600 ms    600 ms  parse");
}

static void t_moving_ends_at_the_ends(void)
{
	SCENE s;

	scene_open(&s);
	second(&s);
	for (int key = AS_KEY_UP; key <= AS_KEY_END; key++)
		EXPECT(as_top_key(&s.top, key));
	draw(&s, 8, 80); /* room for two rows */
	EXPECT_U64(s.top.list.page, 2);
	EXPECT(as_top_key(&s.top, AS_KEY_END));
	EXPECT_U64(s.top.list.at, 1);
	EXPECT(as_top_key(&s.top, AS_KEY_DOWN));
	EXPECT_U64(s.top.list.at, 1);
	EXPECT(as_top_key(&s.top, AS_KEY_PAGE_UP));
	EXPECT(as_top_key(&s.top, AS_KEY_UP));
	EXPECT_U64(s.top.list.at, 0);
}

static void t_narrow_and_tiny_screens(void)
{
	SCENE s;

	scene_open(&s);
	second(&s);
	draw(&s, 12, 40);
	expect_line(&s, 0, "python3 app.py (100)  Python 3.11.2");
	expect_has(&s, "  %own %total  function");
	expect_has(&s, "  60.0   60.0  parse  app/main.py:20");
	expect_line(&s, 11, "? help  q quit  s / l t g m p r");
	type(&s, "?");
	draw(&s, 12, 40);
	expect_has(&s, "this help; quit");
	draw(&s, 24, 50);
	expect_has(&s, " rejected   stacks that");
	type(&s, "x");
	for (int rows = 0; rows < 12; rows++)
		for (int cols = 0; cols < 50; cols += 7)
			for (const char *view = "t\033?x"; *view; view++) {
				draw(&s, rows, cols);
				EXPECT(as_top_key(&s.top, *view));
			}
}

static void t_the_end_is_told_and_q_quits(void)
{
	SCENE s;

	scene_open(&s);
	s.facts.ended = true;
	s.facts.pythons = 3;
	second(&s);
	draw(&s, 24, 80);
	expect_has(&s, "3 processes");
	expect_has(&s, "it has ended");
	EXPECT(as_top_key(&s.top, '?'));
	EXPECT(as_top_key(&s.top, 'q')); /* any key goes back */
	EXPECT(!as_top_key(&s.top, 'q'));
}

static void t_a_table_for_who_has_no_terminal(void)
{
	struct as_look look = {.width = 80, .utf8 = true};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	SCENE s;

	scene_open(&s);
	s.top.list.sort = AS_TOP_BY_OWN_TIME;
	for (int i = 0; i < 4; i++)
		second(&s);
	as_top_table(&s.top, &look, 2, &b);
	EXPECT_STR(as_buf_text(&b), "%own  %total     own   total  function  where\n"
				    "60.0    60.0  2.40 s  2.40 s  parse     app/main.py:20\n"
				    "30.0    30.0  1.20 s  1.20 s  read      app/main.py:30\n"
				    "16 samples in 4.00 s, 0.00 % rejected, 0 late\n");
}

/* ── filters ──────────────────────────────────────────────────────────── */

#define WORD(w)                                                                                    \
	{                                                                                          \
		(const char *const[]){w}, 1                                                        \
	}

static void scene_filtered(struct scene *s, const struct as_profile_filter *f, const char *typed)
{
	struct as_err err;

	scene_open(s);
	EXPECT_OK(as_top_filter(&s->top, f, typed, &err), err);
}

static void t_filters_choose_the_rows_and_are_told(void)
{
	struct as_profile_filter f = {.focus = "parse"};
	SCENE s;

	scene_filtered(&s, &f, "--focus parse");
	draw(&s, 24, 80);
	expect_line(&s, 4, "filters leave - % of the cpu time: --focus parse");
	expect_has(&s, "nothing yet");
	second(&s);
	draw(&s, 24, 80);
	expect_line(&s, 1, "cpu 95.0 %  gil 70.0 %  threads 2: 1 running, 1 idle");
	expect_line(&s, 4, "filters leave 66.7 % of the cpu time: --focus parse");
	expect_line(&s, 6, "  60.0   60.0    600 ms    600 ms  parse  app/main.py:20");
	expect_line(&s, 7, "");
	type(&s, "m");
	draw(&s, 24, 80);
	expect_line(&s, 4, "filters leave 30.0 % of the wall time: --focus parse");
	type(&s, "t");
	draw(&s, 24, 80);
	expect_has(&s, "  90.0   70.0    900 ms  100 python3");
	expect_line(&s, 4, "  %cpu   %gil  cpu time  thread");
}

/* What comes later changes the numbers of what is left. */
static void t_filters_follow_what_is_new(void)
{
	struct as_profile_filter f = {.show_from = WORD("parse"), .hide_stacks = WORD("tokens")};
	SCENE s;

	scene_filtered(&s, &f, "--show-from-frame parse --hide-stacks tokens");
	uint32_t early = frame(&s, s.waiting, "parse", 24);
	second(&s);
	for (int i = 0; i < 3; i++) {
		add(&s, frame(&s, s.read, "tokens", 50 + i), s.busy, 10, 10, 0);
		add(&s, frame(&s, s.parse, "tokens", 60 + i), s.busy, 10, 10, 0);
		add(&s, frame(&s, early, i ? "lex" : "scan", 70), s.idle, 100, 100, 0);
		second(&s);
	}
	draw(&s, 24, 120);
	expect_has(&s, "filters leave 68.2 % of the cpu time");
	expect_has(&s, "    2.40 s    2.70 s  parse");
	expect_has(&s, "    200 ms    200 ms  lex");
	expect_has(&s, "    100 ms    100 ms  scan");
	EXPECT_U64(s.top.list.nrows, 3);
	type(&s, "pt");
	EXPECT(as_top_key(&s.top, AS_KEY_END));
	EXPECT(as_top_key(&s.top, AS_KEY_ENTER));
	second(&s);
	draw(&s, 24, 120);
	expect_has(&s, "thread 101 poller");
	expect_has(&s, "filters leave 100.0 % of the cpu time");
	expect_has(&s, "       0 s    300 ms  parse");
}

static void t_filters_that_leave_nothing_say_so(void)
{
	struct as_profile_filter f = {.show_stacks = WORD("nobody")};
	SCENE s;

	scene_filtered(&s, &f, "--show-stacks nobody");
	second(&s);
	draw(&s, 24, 80);
	expect_line(&s, 4, "filters leave 0.0 % of the cpu time: --show-stacks nobody");
	expect_line(&s, 6, "  the filters leave nothing to show");
	type(&s, "r");
	draw(&s, 24, 80);
	expect_line(&s, 4, "filters leave - % of the cpu time: --show-stacks nobody");
	expect_line(&s, 6, "  nothing yet");
}

static void t_highlight_marks_and_leaves_all(void)
{
	struct as_look look = {.width = 80, .utf8 = true};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_profile_filter f = {.highlight = WORD("rea")};
	SCENE s;

	scene_filtered(&s, &f, "--highlight rea");
	second(&s);
	EXPECT(!s.top.left.p);
	draw(&s, 24, 80);
	expect_line(&s, 4, "filters leave 100.0 % of the cpu time: --highlight rea");
	expect_line(&s, 7, "  30.0   30.0    300 ms    300 ms  *read  app/main.py:30");
	as_top_table(&s.top, &look, 2, &b);
	EXPECT_STR(as_buf_text(&b), "%own  %total     own   total  function  where\n"
				    "60.0    60.0  600 ms  600 ms  parse     app/main.py:20\n"
				    "30.0    30.0  300 ms  300 ms  *read     app/main.py:30\n"
				    "4 samples in 1.00 s, 0.00 % rejected, 0 late\n"
				    "filters leave 100.0 % of the cpu time: --highlight rea\n");
}

static void t_long_filters_take_one_line(void)
{
	char typed[400] = "--hide-frames ";
	struct as_profile_filter f = {.hide_frames = WORD("pars")};
	SCENE s;

	memset(typed + strlen(typed), 'x', sizeof typed - strlen(typed) - 1);
	scene_filtered(&s, &f, typed);
	second(&s);
	draw(&s, 24, 80);
	expect_has(&s, "xxx…\n  %own");
	draw(&s, 12, 40);
	expect_has(&s, "filters leave 100.0 % of the cpu time: …\n  %own");
}

static void t_a_time_is_chosen_by_its_name(void)
{
	SCENE s;

	scene_open(&s);
	EXPECT(as_top_choose(&s.top, "gil"));
	EXPECT_STR(as_top_time_name(&s.top), "time with the GIL");
	EXPECT(as_top_choose(&s.top, "wall"));
	EXPECT_STR(as_top_time_name(&s.top), "wall time");
	EXPECT(as_top_choose(&s.top, "cpu"));
	EXPECT_STR(as_top_time_name(&s.top), "cpu time");
	EXPECT(!as_top_choose(&s.top, "samples"));
}

UTEST_MAIN(T(t_before_anything_was_seen), T(t_functions_by_own_time),
	   T(t_the_window_moves_and_the_sums_stay), T(t_cpu_time_that_nobody_knows_is_not_0),
	   T(t_lines_threads_gil_and_wall), T(t_one_thread_is_chosen),
	   T(t_search_narrows_while_it_is_typed), T(t_a_character_is_rubbed_out_whole),
	   T(t_sorted_by_each_column), T(t_paused_nothing_moves_and_nothing_is_lost),
	   T(t_reset_counts_from_now_on), T(t_moving_ends_at_the_ends),
	   T(t_narrow_and_tiny_screens), T(t_the_end_is_told_and_q_quits),
	   T(t_a_table_for_who_has_no_terminal), T(t_filters_choose_the_rows_and_are_told),
	   T(t_filters_follow_what_is_new), T(t_filters_that_leave_nothing_say_so),
	   T(t_highlight_marks_and_leaves_all), T(t_long_filters_take_one_line),
	   T(t_a_time_is_chosen_by_its_name))
