#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "profile/write.h"
#include "tui/pen.h"
#include "tui/top.h"

enum { WIDE = 60 }; /* columns from which times fit beside shares */

/* ── the head ─────────────────────────────────────────────────────────── */

static void put_version(struct as_pen *p, uint32_t version)
{
	if (version & 0xffff)
		as_pen_item(p, AS_PLAIN, "Python %u.%u.%u", version >> 24, version >> 16 & 0xff,
			    version >> 8 & 0xff);
	else if (version)
		as_pen_item(p, AS_PLAIN, "Python %u.%u", version >> 24, version >> 16 & 0xff);
}

static void put_process(const struct as_top *t, struct as_pen *p)
{
	const struct as_top_facts *f = &t->facts;

	as_pen_item(p, AS_STRONG, "%s (%d)", f->name ? f->name : "?", f->pid);
	put_version(p, f->version);
	if (f->pythons > 1)
		as_pen_item(p, AS_PLAIN, "%zu processes", f->pythons);
	as_pen_item(p, AS_PLAIN, "%s", as_human_duration(t->recent.all_ns).s);
	if (f->ended)
		as_pen_item(p, AS_ALERT, "it has ended");
	as_pen_line(p);
}

static int64_t window_sum(const struct as_top *t, enum as_top_time time)
{
	int64_t sum = 0;

	for (size_t i = 0; i < t->nthreads; i++)
		sum += t->thread[i].window[time];
	return sum;
}

static void put_numbers(const struct as_top *t, struct as_pen *p)
{
	const struct as_recent *r = &t->recent;
	uint64_t samples = t->facts.samples - t->before.samples;
	uint64_t late = t->facts.late - t->before.late;
	bool bad = late > samples / 100 || as_top_rejected(t) > 0.01;
	size_t all, ran;

	as_top_count_threads(t, &all, &ran);
	as_pen_item(p, AS_PLAIN, "cpu %s %%", as_top_share(r->span_cpu_ns, r->span_ns).s);
	as_pen_item(p, AS_PLAIN, "gil %s %%",
		    as_top_share(window_sum(t, AS_TOP_GIL), r->span_ns).s);
	as_pen_item(p, AS_PLAIN, "threads %zu: %zu running, %zu idle", all, ran, all - ran);
	as_pen_item(p, bad ? AS_ALERT : AS_PLAIN, "%s samples, %s late, %.2f %% rejected",
		    as_human_count((double)samples).s, as_human_count((double)late).s,
		    100 * as_top_rejected(t));
	as_pen_line(p);
}

static void put_thread_name(const struct as_top *t, struct as_pen *p)
{
	const struct as_top_thread *x = t->only ? &t->thread[t->only - 1] : NULL;

	if (x)
		as_pen_item(p, AS_STRONG, "thread %ld %s", (long)x->tid, t->p->text[x->name]);
}

static void put_state(const struct as_top *t, struct as_pen *p)
{
	static const char *const times[] = {"cpu time", "wall time", "time with the GIL"};
	static const char *const sorts[] = {"%own", "%total", "own", "total"};

	as_pen_item(p, AS_PLAIN, "%s by %s", times[as_top_time(t)], t->lines ? "line" : "function");
	as_pen_item(p, AS_PLAIN, "sorted by %s", sorts[t->sort]);
	as_pen_item(p, AS_PLAIN, "%% of the last %s", as_human_duration(t->recent.span_ns).s);
	put_thread_name(t, p);
	if (t->search[0] && !t->typing)
		as_pen_item(p, AS_STRONG, "/%s", t->search);
	if (t->paused)
		as_pen_item(p, AS_ALERT, "paused");
	if (t->p->bad)
		as_pen_item(p, AS_ALERT, "memory is short: not all is shown");
	as_pen_line(p);
}

/* ── rows ─────────────────────────────────────────────────────────────── */

struct column {
	const char *title;
	int width;
	bool share, narrow; /* of the window; there is room for it in a narrow screen too */
};

static const struct column columns[AS_TOP_SORTS] = {
	[AS_TOP_BY_OWN] = {"%own", 6, true, true},
	[AS_TOP_BY_TOTAL] = {"%total", 7, true, true},
	[AS_TOP_BY_OWN_TIME] = {"own", 10, false, false},
	[AS_TOP_BY_TOTAL_TIME] = {"total", 10, false, false},
};

static bool shown(const struct as_canvas *g, const struct column *c)
{
	return c->narrow || g->cols >= WIDE;
}

static void put_heading(const struct as_top *t, struct as_canvas *g, int row)
{
	int col = 0;

	as_canvas_paint(g, row, AS_BAR);
	for (unsigned i = 0; i < AS_TOP_SORTS; i++)
		if (shown(g, &columns[i])) {
			(void)as_canvas_right(g, row, col, columns[i].width,
					      i == t->sort ? AS_CHOSEN : AS_BAR, columns[i].title);
			col += columns[i].width;
		}
	(void)as_canvas_put(g, row, col + 2, g->cols, AS_BAR, t->lines ? "line" : "function");
}

/* The name, and behind it, if there is room, where that is. */
static void put_name(const struct as_top *t, struct as_canvas *g, int row, int col, uint32_t place)
{
	const struct as_place *at = &t->p->place[place];
	struct as_spelling how = {0};
	int used = as_canvas_put(g, row, col, g->cols, AS_PLAIN, t->p->text[at->function]);

	if (at->file)
		(void)as_canvas_fmt(g, row, col + used + 2, g->cols, AS_FAINT, "%s:%d",
				    as_spell_file(t->p, at, &how), t->lines ? at->line : at->begin);
}

static void put_row(const struct as_top *t, struct as_canvas *g, int row,
		    const struct as_top_row *x)
{
	bool hot = x->value[AS_TOP_BY_OWN] > t->recent.span_ns / 10;
	int col = 0;

	for (unsigned i = 0; i < AS_TOP_SORTS; i++)
		if (shown(g, &columns[i])) {
			struct as_text v = columns[i].share
						   ? as_top_share(x->value[i], t->recent.span_ns)
						   : as_human_duration(x->value[i]);

			(void)as_canvas_right(g, row, col, columns[i].width,
					      hot ? AS_STRONG : AS_PLAIN, v.s);
			col += columns[i].width;
		}
	put_name(t, g, row, col + 2, x->place);
}

/* Rows between two lines of the screen, the last not included. */
static void put_rows(struct as_top *t, struct as_canvas *g, int from, int to)
{
	put_heading(t, g, from++);
	t->page = to > from ? (size_t)(to - from) : 0;
	if (t->at >= t->nrows)
		t->at = t->nrows ? t->nrows - 1 : 0;
	for (size_t i = t->at; i < t->nrows && from < to; i++)
		put_row(t, g, from++, &t->row[i]);
	if (!t->nrows && from < to)
		(void)as_canvas_put(g, from, 2, g->cols, AS_FAINT,
				    t->search[0] ? "no name has that" : "nothing yet");
}

/* ── threads ──────────────────────────────────────────────────────────── */

static void put_thread(const struct as_top *t, struct as_canvas *g, int row, size_t i)
{
	const struct as_top_thread *x = &t->thread[i];
	int64_t span = t->recent.span_ns;

	(void)as_canvas_right(g, row, 0, 6, AS_PLAIN, as_top_share(x->window[AS_TOP_CPU], span).s);
	(void)as_canvas_right(g, row, 6, 7, AS_PLAIN, as_top_share(x->window[AS_TOP_GIL], span).s);
	(void)as_canvas_right(g, row, 13, 10, AS_PLAIN, as_human_duration(x->all[AS_TOP_CPU]).s);
	(void)as_canvas_fmt(g, row, 25, g->cols, x->window[AS_TOP_WALL] ? AS_PLAIN : AS_FAINT,
			    "%ld %s%s", (long)x->tid, t->p->text[x->name],
			    x->window[AS_TOP_WALL] ? "" : " (ended)");
}

static void put_threads(struct as_top *t, struct as_canvas *g, int from, int to)
{
	as_canvas_paint(g, from, AS_BAR);
	(void)as_canvas_put(g, from++, 0, g->cols, AS_BAR, "  %cpu   %gil  cpu time  thread");
	t->page = to > from ? (size_t)(to - from) : 0;
	if (t->at > t->nthreads)
		t->at = t->nthreads;
	size_t first = t->page && t->at >= t->page ? t->at - t->page + 1 : 0;
	for (size_t i = first; i <= t->nthreads && from < to; i++, from++) {
		if (i)
			put_thread(t, g, from, i - 1);
		else
			(void)as_canvas_put(g, from, 25, g->cols, AS_PLAIN, "all of them");
		if (i == t->at)
			as_canvas_paint(g, from, AS_CHOSEN);
	}
}

/* ── help and the last line ───────────────────────────────────────────── */

static const struct {
	const char *keys, *what;
} help[] = {
	{"s S", "sort by the next, previous column"},
	{"/", "only names with a text; Esc: all"},
	{"l", "by line or by function"},
	{"t", "choose a thread; Esc: all"},
	{"g", "only while holding the GIL"},
	{"m", "CPU time or wall-clock time"},
	{"p", "freeze the screen, or go on"},
	{"r", "zero: count from now on"},
	{"arrows", "move, also PgUp PgDn Home End"},
	{"? q", "this help; quit"},
	{"", ""},
	{"own", "in the function itself"},
	{"total", "in it and in all that it called"},
	{"%", "of the last seconds; 100 is one thread all the time"},
	{"gil", "how much of the time somebody held the GIL"},
	{"running", "threads that used the CPU in the last half second"},
	{"late", "moments that were missed: assay got no CPU in time"},
	{"rejected", "stacks that changed while they were read; not counted"},
};

static void put_help(struct as_canvas *g)
{
	as_canvas_paint(g, 0, AS_BAR);
	(void)as_canvas_put(g, 0, 0, g->cols, AS_BAR, "assay top: any key goes back");
	for (int i = 0; i < (int)AS_LEN(help); i++) {
		(void)as_canvas_put(g, i + 1, 1, g->cols, AS_STRONG, help[i].keys);
		(void)as_canvas_put(g, i + 1, g->cols < WIDE ? 8 : 11, g->cols, AS_PLAIN,
				    help[i].what);
	}
}

static void put_foot(const struct as_top *t, struct as_canvas *g, int row)
{
	if (t->typing)
		(void)as_canvas_fmt(g, row, 0, g->cols, AS_STRONG, "/%s_", t->search);
	else if (t->view == AS_TOP_THREADS)
		(void)as_canvas_put(g, row, 0, g->cols, AS_FAINT, "Enter choose  Esc back  q quit");
	else
		(void)as_canvas_put(g, row, 0, g->cols, AS_FAINT,
				    g->cols < WIDE ? "? help  q quit  s / l t g m p r"
						   : "? help  q quit  s sort  / find  l line  "
						     "t thread  g gil  m mode  p pause  r zero");
}

void as_top_draw(struct as_top *t, struct as_canvas *g)
{
	struct as_pen p = {.g = g};

	if (t->view == AS_TOP_HELP) {
		put_help(g);
		return;
	}
	put_process(t, &p);
	put_numbers(t, &p);
	put_state(t, &p);
	if (t->view == AS_TOP_THREADS)
		put_threads(t, g, p.row, g->rows - 1);
	else
		put_rows(t, g, p.row, g->rows - 1);
	put_foot(t, g, g->rows - 1);
}
