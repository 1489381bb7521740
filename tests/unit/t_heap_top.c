#include "tui/heap_top.h"

#include "sample_heap.h"

/* The sample as if it still ran, and the screen of it. */
struct scene {
	struct sample_heap sample;
	struct as_heap_top_facts facts;
	struct as_heap_top top;
	struct as_canvas canvas;
};

static void scene_done(struct scene *s)
{
	as_heap_top_close(&s->top);
	as_canvas_done(&s->canvas);
	sample_heap_done(&s->sample);
}

#define SCENE as_cleanup(scene_done) struct scene

/* 160 KiB are held, and 80 are known to be no heap: 240 of 300 are not of files. */
static void scene_open(struct scene *s)
{
	*s = (struct scene){.top = {.thread = NULL}};
	s->facts = (struct as_heap_top_facts){
		.name = "python3 app.py",
		.pid = 100,
		.heap = sample_heap(&s->sample),
		.now = {.held = sample_amount(4, 160),
			.rss = {300 * SAMPLE_KIB, 240 * SAMPLE_KIB, 50 * SAMPLE_KIB,
				10 * SAMPLE_KIB},
			.beside = 80 * SAMPLE_KIB,
			.living = 2},
		.pace = {.count = 1500, .bytes = 3e6},
		.output = "",
		.running = true,
		.ours = true,
	};
}

static void tick(struct scene *s)
{
	as_heap_top_tick(&s->top, &s->facts);
}

static void draw(struct scene *s, int rows, int cols)
{
	as_canvas_clear(&s->canvas, rows, cols);
	as_heap_top_draw(&s->top, &s->canvas);
}

static void expect_line(const struct scene *s, int row, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_canvas_line(&s->canvas, row, &b);
	EXPECT_STR(as_buf_text(&b), want);
}

static bool has(const struct scene *s, const char *want, struct as_buf *b)
{
	for (int row = 0; row < s->canvas.rows; row++) {
		as_canvas_line(&s->canvas, row, b);
		as_buf_byte(b, '\n');
	}
	return strstr(as_buf_text(b), want);
}

static void expect_has(const struct scene *s, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

	if (!has(s, want, &b))
		UTEST_FAIL("no \"%s\" on the screen:\n%s", want, as_buf_text(&b));
}

static void expect_none(const struct scene *s, const char *what)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

	if (has(s, what, &b))
		UTEST_FAIL("\"%s\" is on the screen:\n%s", what, as_buf_text(&b));
}

static void type(struct scene *s, const char *keys)
{
	for (; *keys; keys++)
		EXPECT(as_heap_top_key(&s->top, (unsigned char)*keys));
}

/* ── what is shown ────────────────────────────────────────────────────── */

static void t_before_the_first_look(void)
{
	SCENE s;

	scene_open(&s);
	draw(&s, 24, 80);
	expect_line(&s, 0, "");
	EXPECT(as_heap_top_key(&s.top, 's'));
}

/* A program that has not begun yet has left nothing. */
static void t_before_the_first_process(void)
{
	SCENE s;

	scene_open(&s);
	s.sample.h.nprocesses = s.sample.h.nsites = s.sample.h.nthreads = 0;
	s.facts.now = (struct as_sight_now){.rss = {-1, -1, -1, -1}, .beside = INT64_MIN};
	tick(&s);
	draw(&s, 24, 80);
	expect_has(&s, "heap 0 B in 0 allocations");
	expect_has(&s, "held now by line");
	expect_has(&s, "nothing yet");
}

static void t_who_holds_it_now(void)
{
	SCENE s;

	scene_open(&s);
	tick(&s);
	draw(&s, 24, 80);
	expect_line(&s, 0, "python3 app.py (100)  Python 3.11  2 of 2 processes  4.00 s");
	expect_line(&s, 1, "heap 160 KiB in 4 allocations  peak 3.5 MiB after 1.20 s");
	expect_line(&s, 2, "allocating 1 500/s, 2.9 MiB/s  in all 7.0 MiB in 120");
	expect_line(&s, 3,
		    "RSS 300 KiB  mapped files 50.0 KiB  shared 10.0 KiB  "
		    "neither 80.0 KiB");
	expect_has(&s, "heap  █  ");
	expect_has(&s, "  160 KiB\nRSS   █  ");
	expect_line(&s, 6, "held now by line  sorted by own bytes");
	expect_line(&s, 7, "      own     total    count allocated    temp  line");
	expect_line(&s, 8, " 96.0 KiB   160 KiB        3  96.0 KiB       0  main  app/main.py:5");
	expect_line(&s, 9, " 64.0 KiB  64.0 KiB        1   640 KiB       0  load  app/load.py:12");
	expect_line(&s, 10, "      0 B  96.0 KiB        0       0 B       0  read  app/reader.c:7");
	expect_line(&s, 11,
		    "      0 B       0 B        0   6.2 MiB      20  copy  app/state.py:40");
	expect_line(&s, 12,
		    "      0 B       0 B        0   7.0 KiB       7  copy  app/state.py:44");
	expect_line(&s, 13, "");
}

static void t_the_peak_by_function(void)
{
	SCENE s;

	scene_open(&s);
	tick(&s);
	type(&s, "ml");
	draw(&s, 24, 80);
	expect_has(&s, "at the peak by function");
	expect_line(&s, 8, "  3.1 MiB   3.1 MiB       50   6.3 MiB      27  copy  app/state.py:38");
	expect_line(&s, 10, " 96.0 KiB   3.5 MiB        3  96.0 KiB       0  main  app/main.py:1");
	type(&s, "s");
	draw(&s, 24, 80);
	expect_has(&s, "sorted by total bytes");
	expect_line(&s, 8, " 96.0 KiB   3.5 MiB        3  96.0 KiB       0  main  app/main.py:1");
	type(&s, "S");
	draw(&s, 24, 80);
	expect_has(&s, "sorted by own bytes");
}

/* A function that called itself holds what both frames hold, once. */
static void t_recursion_counts_once(void)
{
	SCENE s;

	scene_open(&s);
	struct as_profile *p = s.facts.heap->stacks;
	uint32_t load = s.sample.site[0].stack;
	s.sample.site[3].stack =
		as_profile_stack(p, load, sample_place(p, "load", "/srv/app/load.py", 13, 10));
	tick(&s);
	type(&s, "ls");
	draw(&s, 24, 80);
	expect_has(&s, " 160 KiB   160 KiB        4   736 KiB       0  load  app/load.py:10");
}

static void t_one_thread(void)
{
	SCENE s;

	scene_open(&s);
	tick(&s);
	type(&s, "t");
	draw(&s, 24, 80);
	expect_line(&s, 7, "     held    count allocated  thread");
	expect_line(&s, 8, "                              all of them");
	expect_line(&s, 9, " 64.0 KiB        1   640 KiB  100  of process 100");
	expect_line(&s, 10, "      0 B        0   6.3 MiB  102 worker of process 100");
	EXPECT(as_heap_top_key(&s.top, AS_KEY_DOWN) && as_heap_top_key(&s.top, AS_KEY_DOWN));
	EXPECT(as_heap_top_key(&s.top, AS_KEY_ENTER));
	draw(&s, 24, 80);
	expect_has(&s, "thread 102 worker");
	expect_has(&s, "copy");
	expect_none(&s, "load");
	EXPECT(as_heap_top_key(&s.top, AS_KEY_ESCAPE));
	draw(&s, 24, 80);
	expect_has(&s, "load");
}

static void t_only_names_with_a_text(void)
{
	SCENE s;

	scene_open(&s);
	tick(&s);
	type(&s, "/LOAD");
	draw(&s, 24, 80);
	expect_line(&s, 23, "/LOAD_");
	expect_has(&s, "load  app/load.py:12");
	expect_none(&s, "copy");
	type(&s, "zz");
	draw(&s, 24, 80);
	expect_has(&s, "no name has that");
	EXPECT(as_heap_top_key(&s.top, AS_KEY_ESCAPE));
	draw(&s, 24, 80);
	expect_has(&s, "copy");
}

/* Of those that have ended there is no RSS, and what they left is no heap. */
static void t_when_it_has_ended(void)
{
	SCENE s;

	scene_open(&s);
	tick(&s);
	s.facts.running = false;
	s.facts.now.living = 0;
	s.facts.now.rss = (struct as_heap_rss){-1, -1, -1, -1};
	s.facts.now.beside = INT64_MIN;
	tick(&s);
	draw(&s, 24, 80);
	expect_has(&s, "it has ended");
	expect_has(&s, "left 160 KiB in 4 allocations");
	expect_has(&s, "left at the end by line");
	expect_line(&s, 3, "RSS -");
	EXPECT_U64(s.top.heap.n, 1);
	EXPECT(!as_heap_top_key(&s.top, 'q'));
}

static void t_less_resident_than_heap(void)
{
	SCENE s;

	scene_open(&s);
	s.facts.now.beside = -60 * SAMPLE_KIB;
	s.facts.now.lost = 12;
	tick(&s);
	draw(&s, 24, 80);
	expect_has(&s, "heap not resident 60.0 KiB");
	expect_has(&s, "12 events lost");
}

static void t_sampled_there_are_no_temporary_ones(void)
{
	SCENE s;

	scene_open(&s);
	s.sample.h.rate = 1 << 19;
	tick(&s);
	draw(&s, 24, 80);
	expect_has(&s, "sampled: estimates");
	expect_has(&s, "   6.2 MiB       -  copy");
}

static void t_before_it_was_attached_to_nothing_is_known(void)
{
	SCENE s;

	scene_open(&s);
	s.sample.process[0].attached = true;
	tick(&s);
	draw(&s, 24, 80);
	expect_has(&s, "4.00 s  what came since\n");
}

/* ── what keys do ─────────────────────────────────────────────────────── */

static void t_who_would_end_something_is_asked(void)
{
	SCENE s;

	scene_open(&s);
	tick(&s);
	type(&s, "q");
	draw(&s, 24, 80);
	expect_line(&s, 23, "the command still runs: q ends it, any other key goes back");
	type(&s, "s");
	EXPECT_U64(s.top.list.sort, AS_HEAP_TOP_OWN);
	type(&s, "q");
	EXPECT(!as_heap_top_key(&s.top, 'q'));
	s.top.leaving = false;
	s.facts.ours = false;
	tick(&s);
	EXPECT(!as_heap_top_key(&s.top, 'q'));
}

static void t_what_the_command_wrote(void)
{
	SCENE s;

	scene_open(&s);
	s.facts.output = "one\ntwo\033[2J\nthree\n";
	tick(&s);
	type(&s, "o");
	draw(&s, 3, 40);
	expect_line(&s, 0, "what it wrote last: any key goes back");
	expect_line(&s, 1, "two?[2J");
	expect_line(&s, 2, "three");
	type(&s, "q"); /* goes back, and asks nothing */
	EXPECT(s.top.list.view == AS_BROWSE_ROWS && !s.top.leaving);
	s.facts.output = NULL;
	tick(&s);
	type(&s, "o");
	EXPECT(s.top.list.view == AS_BROWSE_ROWS);
}

static void t_the_help_fits(void)
{
	SCENE s;

	scene_open(&s);
	tick(&s);
	type(&s, "?");
	draw(&s, 24, 80);
	expect_has(&s, "allocations freed before their thread made two more");
	expect_none(&s, "…");
}

/* Whatever size it has, and whatever is pressed: nothing is drawn outside. */
static void t_any_size(void)
{
	static const int keys[] = {AS_KEY_DOWN, AS_KEY_PAGE_DOWN, AS_KEY_END, AS_KEY_UP, 't',
				   AS_KEY_END,  AS_KEY_ENTER,     '?',        'x',       'p'};
	SCENE s;

	scene_open(&s);
	tick(&s);
	for (int rows = 0; rows < 30; rows++)
		for (int cols = 0; cols < 100; cols += 7) {
			draw(&s, rows, cols);
			EXPECT(as_heap_top_key(&s.top, keys[(rows + cols) % 10]));
		}
	draw(&s, 10, 40);
	expect_none(&s, "allocated  ");
}

/* ── the curve ────────────────────────────────────────────────────────── */

static void t_a_trail_loses_no_peak(void)
{
	struct as_trail t = {.n = 0};
	double most = 0, last = 0;

	for (int i = 0; i < 100000; i++)
		as_trail_add(&t, i == 777 ? 5 : i == 99999 ? 2 : 1);
	EXPECT(t.n > AS_TRAIL_MOST / 4 && t.n <= AS_TRAIL_MOST);
	for (size_t i = 0; i < t.n; i++) {
		most = t.v[i] > most ? t.v[i] : most;
		last = t.v[i];
	}
	EXPECT(most == 5 && last == 2);
}

UTEST_MAIN(T(t_before_the_first_look), T(t_before_the_first_process), T(t_who_holds_it_now),
	   T(t_the_peak_by_function), T(t_recursion_counts_once), T(t_one_thread),
	   T(t_only_names_with_a_text), T(t_when_it_has_ended), T(t_less_resident_than_heap),
	   T(t_sampled_there_are_no_temporary_ones),
	   T(t_before_it_was_attached_to_nothing_is_known), T(t_who_would_end_something_is_asked),
	   T(t_what_the_command_wrote), T(t_the_help_fits), T(t_any_size),
	   T(t_a_trail_loses_no_peak))
