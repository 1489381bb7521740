#include "report/mark.h"
#include "tui/top.h"

static const struct as_browse_column columns[] = {
	[AS_TOP_BY_OWN] = {"%own", "%own", 6, true},
	[AS_TOP_BY_TOTAL] = {"%total", "%total", 7, true},
	[AS_TOP_BY_OWN_TIME] = {"own", "own", 10, false},
	[AS_TOP_BY_TOTAL_TIME] = {"total", "total", 10, false},
};

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

	for (size_t i = 0; i < t->list.nthreads; i++)
		sum += t->thread[i].window[time];
	return sum;
}

static void put_numbers(const struct as_top *t, struct as_pen *p)
{
	const struct as_recent *r = &t->recent;
	struct as_taking taken = as_top_taking(t);
	size_t all, ran;

	as_top_count_threads(t, &all, &ran);
	as_pen_item(p, AS_PLAIN, "cpu %s %%", as_top_share(r->span_cpu_ns, r->told_ns).s);
	as_pen_item(p, AS_PLAIN, "gil %s %%",
		    as_top_share(window_sum(t, AS_TOP_GIL), r->span_ns).s);
	as_pen_item(p, AS_PLAIN, "threads %zu: %zu running, %zu idle", all, ran, all - ran);
	as_pen_item(p, as_taking_gaps(&taken) ? AS_ALERT : AS_PLAIN,
		    "%s samples, %s late, %.2f %% rejected",
		    as_human_count((double)taken.samples).s, as_human_count((double)taken.late).s,
		    100 * as_taking_rejected(&taken));
	as_pen_line(p);
}

static void put_thread_name(const struct as_top *t, struct as_pen *p)
{
	const struct as_top_thread *x = t->list.only ? &t->thread[t->list.only - 1] : NULL;

	if (x)
		as_pen_item(p, AS_STRONG, "thread %ld %s", (long)x->tid, t->p->text[x->name]);
}

static void put_state(const struct as_top *t, struct as_pen *p)
{
	as_pen_item(p, AS_PLAIN, "%s by %s", as_top_time_name(t), t->lines ? "line" : "function");
	as_pen_item(p, AS_PLAIN, "sorted by %s", columns[t->list.sort].name);
	as_pen_item(p, AS_PLAIN, "%% of the last %s", as_human_duration(t->recent.span_ns).s);
	put_thread_name(t, p);
	as_browse_state(&t->list, p);
	if (t->p->bad)
		as_pen_item(p, AS_ALERT, "memory is short: not all is shown");
	as_pen_line(p);
}

/* The threads are of all of it. */
static void put_filters(const struct as_top *t, struct as_pen *p)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);
	bool none = t->rows_of_ns && !t->rows_ns;

	as_top_put_filters(t, &text);
	if (!text.len || t->list.view == AS_BROWSE_THREADS)
		return;
	as_pen_item(p, none ? AS_ALERT : AS_STRONG, "%s", as_buf_text(&text));
	as_pen_line(p);
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static struct as_text value(const void *screen, const struct as_browse_row *x, unsigned i)
{
	const struct as_top *t = screen;

	return i <= AS_TOP_BY_TOTAL ? as_top_share(x->value[i], t->recent.span_ns)
				    : as_human_duration(x->value[i]);
}

static bool is_hot(const void *screen, const struct as_browse_row *x)
{
	const struct as_top *t = screen;

	return x->value[AS_TOP_BY_OWN] > t->recent.span_ns / 10;
}

/* The name, and behind it, if there is room, where that is. */
static void put_name(const void *screen, struct as_canvas *g, int row, int col, uint32_t place)
{
	const struct as_top *t = screen;
	const struct as_profile *p = as_top_shown(t);
	const struct as_place *at = &p->place[place];
	struct as_spelling how = {.highlight = t->filter.highlight};
	enum as_paint paint = as_is_marked(p, place, &how) ? AS_STRONG : AS_PLAIN;
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);

	as_put_marked(&name, p, place, &how);
	int used = as_canvas_put(g, row, col, g->cols, paint, as_buf_text(&name));
	if (at->file)
		(void)as_canvas_fmt(g, row, col + used + 2, g->cols, AS_FAINT, "%s:%d",
				    as_spell_file(p, at, &how), t->lines ? at->line : at->begin);
}

static void put_thread(const void *screen, struct as_canvas *g, int row, size_t i)
{
	const struct as_top *t = screen;
	const struct as_top_thread *x = &t->thread[i];
	int64_t span = t->recent.span_ns;

	(void)as_canvas_right(g, row, 0, 6, AS_PLAIN, as_top_share(x->window[AS_TOP_CPU], span).s);
	(void)as_canvas_right(g, row, 6, 7, AS_PLAIN, as_top_share(x->window[AS_TOP_GIL], span).s);
	(void)as_canvas_right(g, row, 13, 10, AS_PLAIN, as_human_duration(x->all[AS_TOP_CPU]).s);
	(void)as_canvas_fmt(g, row, 25, g->cols, x->window[AS_TOP_WALL] ? AS_PLAIN : AS_FAINT,
			    "%ld %s%s", (long)x->tid, t->p->text[x->name],
			    x->window[AS_TOP_WALL] ? "" : " (ended)");
}

static const struct as_browse_help help[] = {
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

const struct as_browse_kind as_top_kind = {
	.column = columns,
	.ncolumns = AS_TOP_SORTS,
	.thread_head = "  %cpu   %gil  cpu time  thread",
	.thread_col = 25,
	.foot = "? help  q quit  s sort  / find  l line  t thread  g gil  m mode  p pause  r zero",
	.narrow_foot = "? help  q quit  s / l t g m p r",
	.help_head = "assay top: any key goes back",
	.help = help,
	.nhelp = AS_LEN(help),
	.value = value,
	.is_hot = is_hot,
	.put_name = put_name,
	.put_thread = put_thread,
};

void as_top_draw(struct as_top *t, struct as_canvas *g)
{
	struct as_pen p = {.g = g};

	if (t->list.view == AS_BROWSE_HELP) {
		as_browse_help(&as_top_kind, g);
		return;
	}
	put_process(t, &p);
	put_numbers(t, &p);
	put_state(t, &p);
	put_filters(t, &p);
	as_browse_draw(&t->list, &as_top_kind, t, t->lines ? "line" : "function", g, p.row);
	as_browse_foot(&t->list, &as_top_kind, g);
}
