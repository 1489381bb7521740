#include <math.h>
#include <string.h>

#include "base/human.h"
#include "profile/write.h"
#include "report/heap_kinds.h"
#include "report/look.h"
#include "tui/heap_top.h"
#include "tui/pen.h"

enum {
	WIDE = 60,  /* columns from which all numbers fit                   */
	TALL = 16,  /* rows from which there is room for the curves         */
	LABEL = 6,  /* before a curve                                       */
	SCALE = 10, /* behind it                                            */
};

static struct as_text bytes(int64_t n)
{
	return n < 0 ? (struct as_text){"-"} : as_human_bytes((double)n);
}

/* ── the head ─────────────────────────────────────────────────────────── */

static void put_process(const struct as_heap_top *t, struct as_pen *p)
{
	const struct as_heap_top_facts *f = &t->facts;
	const struct as_heap *h = f->heap;
	uint32_t python = h->nprocesses ? h->process[0].python : 0;

	as_pen_item(p, AS_STRONG, "%.32s (%d)", f->name ? f->name : "?", f->pid);
	if (python)
		as_pen_item(p, AS_PLAIN, "Python 3.%u", python);
	if (h->nprocesses > 1 && f->running)
		as_pen_item(p, AS_PLAIN, "%zu of %zu processes", f->now.living, h->nprocesses);
	else if (h->nprocesses > 1)
		as_pen_item(p, AS_PLAIN, "%zu processes", h->nprocesses);
	as_pen_item(p, AS_PLAIN, "%s", as_human_duration(h->end_ns - h->start_ns).s);
	if (h->nprocesses && h->process[0].attached)
		as_pen_item(p, AS_PLAIN, "what came since");
	if (h->rate)
		as_pen_item(p, AS_PLAIN, "sampled: estimates");
	if (!f->running)
		as_pen_item(p, AS_ALERT, "it has ended");
	as_pen_line(p);
}

/* All of them have ended. */
static bool is_over(const struct as_heap_top *t)
{
	return t->facts.heap->nprocesses && !t->facts.now.living;
}

static void put_held(const struct as_heap_top *t, struct as_pen *p)
{
	const struct as_heap *h = t->facts.heap;
	const struct as_sight_now *now = &t->facts.now;

	as_pen_item(p, AS_STRONG, "%s %s in %s allocations", is_over(t) ? "left" : "heap",
		    bytes(now->held.bytes).s, as_human_count((double)now->held.count).s);
	as_pen_item(p, AS_PLAIN, "peak %s after %s", bytes(h->totals.peak.bytes).s,
		    h->totals.peak.bytes ? as_human_duration(h->totals.peak_ns - h->start_ns).s
					 : "-");
	as_pen_item(p, AS_PLAIN, "allocating %s/s, %s/s", as_human_count(t->facts.pace.count).s,
		    as_human_bytes(t->facts.pace.bytes).s);
	as_pen_item(p, AS_PLAIN, "in all %s in %s", bytes(h->totals.made.bytes).s,
		    as_human_count((double)h->totals.made.count).s);
	as_pen_line(p);
}

/* What the system counts as theirs, and how much of it is not the heap's. */
static void put_rss(const struct as_heap_top *t, struct as_pen *p)
{
	const struct as_heap_rss *r = &t->facts.now.rss;
	int64_t beside = t->facts.now.beside, own = r->own > 0 ? r->own : 0;

	as_pen_item(p, AS_PLAIN, "RSS %s", bytes(r->rss).s);
	if (r->file >= 0)
		as_pen_item(p, AS_PLAIN, "mapped files %s", bytes(r->file).s);
	if (r->shared > own)
		as_pen_item(p, AS_PLAIN, "shared %s", bytes(r->shared - own).s);
	if (own)
		as_pen_item(p, AS_PLAIN, "assay's own %s", bytes(own).s);
	if (beside >= 0)
		as_pen_item(p, AS_PLAIN, "neither %s", bytes(beside).s);
	else if (beside > INT64_MIN)
		as_pen_item(p, AS_PLAIN, "heap not resident %s", bytes(-beside).s);
	if (t->facts.now.lost)
		as_pen_item(p, AS_ALERT, "%s events lost",
			    as_human_count((double)t->facts.now.lost).s);
	as_pen_line(p);
}

static double largest(const struct as_trail *trail)
{
	double most = NAN;

	for (size_t i = 0; i < trail->n; i++)
		most = fmax(most, trail->v[i]);
	return most;
}

static void put_curve(struct as_pen *p, const char *label, const struct as_trail *trail)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_look look = {.utf8 = !p->g->ascii};
	int width = p->g->cols - LABEL - SCALE;

	as_put_spark(&b, &look, trail->v, trail->n,
		     (size_t)width < trail->n || width < 0 ? width : (int)trail->n);
	(void)as_canvas_put(p->g, p->row, 0, LABEL, AS_FAINT, label);
	(void)as_canvas_put(p->g, p->row, LABEL, width, AS_PLAIN, as_buf_text(&b));
	(void)as_canvas_right(p->g, p->row, p->g->cols - SCALE, SCALE, AS_FAINT,
			      as_human_bytes(largest(trail)).s);
	as_pen_line(p);
}

static const struct column {
	const char *title, *name;
	int width;
	bool count, narrow; /* else bytes; there is room for it in a narrow screen too */
} columns[AS_HEAP_TOP_SORTS] = {
	[AS_HEAP_TOP_OWN] = {"own", "own bytes", 9, false, true},
	[AS_HEAP_TOP_TOTAL] = {"total", "total bytes", 10, false, true},
	[AS_HEAP_TOP_COUNT] = {"count", "count", 9, true, false},
	[AS_HEAP_TOP_MADE] = {"allocated", "allocated bytes", 10, false, false},
	[AS_HEAP_TOP_TEMPORARY] = {"temp", "temporary allocations", 8, true, false},
};

static void put_thread_name(const struct as_heap_top *t, struct as_pen *p)
{
	const struct as_heap_who *x = t->only ? &t->facts.heap->thread[t->only - 1] : NULL;

	if (x)
		as_pen_item(p, AS_STRONG, "thread %u %s", x->tid, x->name ? x->name : "");
}

static const char *moment(const struct as_heap_top *t)
{
	return t->peak ? "at the peak" : is_over(t) ? "left at the end" : "held now";
}

static void put_state(const struct as_heap_top *t, struct as_pen *p)
{
	as_pen_item(p, AS_PLAIN, "%s by %s", moment(t), t->functions ? "function" : "line");
	as_pen_item(p, AS_PLAIN, "sorted by %s", columns[t->sort].name);
	put_thread_name(t, p);
	if (t->search[0] && !t->typing)
		as_pen_item(p, AS_STRONG, "/%s", t->search);
	if (t->paused)
		as_pen_item(p, AS_ALERT, "paused");
	if (t->short_of || t->facts.short_of)
		as_pen_item(p, AS_ALERT, "memory is short: not all is shown");
	as_pen_line(p);
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static bool shown(const struct as_canvas *g, const struct column *c)
{
	return c->narrow || g->cols >= WIDE;
}

static void put_heading(const struct as_heap_top *t, struct as_canvas *g, int row)
{
	int col = 0;

	as_canvas_paint(g, row, AS_BAR);
	for (unsigned i = 0; i < AS_HEAP_TOP_SORTS; i++)
		if (shown(g, &columns[i])) {
			(void)as_canvas_right(g, row, col, columns[i].width,
					      i == t->sort ? AS_CHOSEN : AS_BAR, columns[i].title);
			col += columns[i].width;
		}
	(void)as_canvas_put(g, row, col + 2, g->cols, AS_BAR, t->functions ? "function" : "line");
}

/* The name, and behind it, if there is room, where that is. */
static void put_name(const struct as_heap_top *t, struct as_canvas *g, int row, int col,
		     uint32_t place)
{
	as_auto_buf struct as_buf where = AS_BUF(AS_BUF_LINE);
	const struct as_profile *p = t->facts.heap->stacks;
	const struct as_place *at = &p->place[place];
	struct as_spelling how = {0};
	int used = as_canvas_put(g, row, col, g->cols, AS_PLAIN,
				 place ? p->text[at->function] : AS_HEAP_NO_STACK);

	as_put_heap_where(&where, p, place, t->functions ? at->begin : at->line, &how);
	(void)as_canvas_put(g, row, col + used + 2, g->cols, AS_FAINT, as_buf_text(&where));
}

/* Sampled, nobody knows what was allocated between the two ends of one. */
static struct as_text value(const struct as_heap_top *t, const struct as_heap_top_row *x,
			    unsigned i)
{
	if (i == AS_HEAP_TOP_TEMPORARY && t->facts.heap->rate)
		return (struct as_text){"-"};
	return columns[i].count ? as_human_count((double)x->value[i]) : bytes(x->value[i]);
}

static void put_row(const struct as_heap_top *t, struct as_canvas *g, int row,
		    const struct as_heap_top_row *x)
{
	bool big = x->value[AS_HEAP_TOP_OWN] > t->whole / 10;
	int col = 0;

	for (unsigned i = 0; i < AS_HEAP_TOP_SORTS; i++)
		if (shown(g, &columns[i])) {
			(void)as_canvas_right(g, row, col, columns[i].width,
					      big ? AS_STRONG : AS_PLAIN, value(t, x, i).s);
			col += columns[i].width;
		}
	put_name(t, g, row, col + 2, x->place);
}

/* Rows between two lines of the screen, the last not included. */
static void put_rows(struct as_heap_top *t, struct as_canvas *g, int from, int to)
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

static void put_thread(const struct as_heap_top *t, struct as_canvas *g, int row, size_t i)
{
	const struct as_heap *h = t->facts.heap;
	const struct as_heap_who *x = &h->thread[i];
	const struct as_heap_sums *s = &t->thread[i];
	struct as_heap_amount held = t->peak ? s->peak : s->left;
	const char *name = x->name ? x->name : "";

	(void)as_canvas_right(g, row, 0, 9, AS_PLAIN, bytes(held.bytes).s);
	(void)as_canvas_right(g, row, 9, 9, AS_PLAIN, as_human_count((double)held.count).s);
	(void)as_canvas_right(g, row, 18, 10, AS_PLAIN, bytes(s->made.bytes).s);
	if (h->nprocesses > 1 && x->process < h->nprocesses)
		(void)as_canvas_fmt(g, row, 30, g->cols, AS_PLAIN, "%u %s of process %u", x->tid,
				    name, h->process[x->process].pid);
	else
		(void)as_canvas_fmt(g, row, 30, g->cols, AS_PLAIN, "%u %s", x->tid, name);
}

static void put_threads(struct as_heap_top *t, struct as_canvas *g, int from, int to)
{
	as_canvas_paint(g, from, AS_BAR);
	(void)as_canvas_put(g, from++, 0, g->cols, AS_BAR, "     held    count allocated  thread");
	t->page = to > from ? (size_t)(to - from) : 0;
	if (t->at > t->nthreads)
		t->at = t->nthreads;
	size_t first = t->page && t->at >= t->page ? t->at - t->page + 1 : 0;
	for (size_t i = first; i <= t->nthreads && from < to; i++, from++) {
		if (i)
			put_thread(t, g, from, i - 1);
		else
			(void)as_canvas_put(g, from, 30, g->cols, AS_PLAIN, "all of them");
		if (i == t->at)
			as_canvas_paint(g, from, AS_CHOSEN);
	}
}

/* ── what the command wrote ───────────────────────────────────────────── */

/* Where the last `lines` lines of a text begin. */
static const char *last_lines(const char *text, int lines)
{
	const char *at = text + strlen(text);

	if (at > text && at[-1] == '\n')
		at--;
	while (at > text && (at[-1] != '\n' || --lines > 0))
		at--;
	return at;
}

static void put_output(const struct as_heap_top *t, struct as_canvas *g)
{
	char line[512];
	int row = 1;

	as_canvas_paint(g, 0, AS_BAR);
	(void)as_canvas_put(g, 0, 0, g->cols, AS_BAR, "what it wrote last: any key goes back");
	for (const char *at = last_lines(t->facts.output, g->rows - 1); *at && row < g->rows;) {
		size_t n = strcspn(at, "\n");

		(void)snprintf(line, sizeof line, "%.*s", n < sizeof line ? (int)n : 511, at);
		(void)as_canvas_put(g, row++, 0, g->cols, AS_PLAIN, line);
		at += n + (at[n] == '\n');
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
	{"m", "now, or the moment of the peak"},
	{"p", "freeze the screen, or go on"},
	{"o", "what the command wrote"},
	{"arrows", "move, also PgUp PgDn Home End"},
	{"? q", "this help; quit"},
	{"", ""},
	{"own", "bytes that the line or function holds itself"},
	{"total", "with those that it called hold"},
	{"count", "allocations that it holds itself"},
	{"allocated", "bytes it ever asked for, freed or not"},
	{"temp", "allocations freed before their thread made another"},
	{"mapped", "resident pages of files: programs, libraries"},
	{"neither", "resident beside heap and files: what the allocator keeps, stacks"},
	{"lost", "events that were not read: sums are too small or too large"},
};

static void put_help(struct as_canvas *g)
{
	as_canvas_paint(g, 0, AS_BAR);
	(void)as_canvas_put(g, 0, 0, g->cols, AS_BAR, "assay heap live: any key goes back");
	for (int i = 0; i < (int)AS_LEN(help); i++) {
		(void)as_canvas_put(g, i + 1, 1, g->cols, AS_STRONG, help[i].keys);
		(void)as_canvas_put(g, i + 1, 12, g->cols, AS_PLAIN, help[i].what);
	}
}

static void put_foot(const struct as_heap_top *t, struct as_canvas *g, int row)
{
	if (t->leaving)
		(void)as_canvas_put(g, row, 0, g->cols, AS_ALERT,
				    "the command still runs: q ends it, any other key goes back");
	else if (t->typing)
		(void)as_canvas_fmt(g, row, 0, g->cols, AS_STRONG, "/%s_", t->search);
	else if (t->view == AS_HEAP_TOP_THREADS)
		(void)as_canvas_put(g, row, 0, g->cols, AS_FAINT, "Enter choose  Esc back  q quit");
	else
		(void)as_canvas_put(g, row, 0, g->cols, AS_FAINT,
				    g->cols < WIDE ? "? help  q quit  s / l t m p o"
						   : "? help  q quit  s sort  / find  l line  "
						     "t thread  m peak  p pause  o output");
}

static void put_table(struct as_heap_top *t, struct as_canvas *g)
{
	struct as_pen p = {.g = g};

	put_process(t, &p);
	put_held(t, &p);
	put_rss(t, &p);
	if (g->rows >= TALL) {
		put_curve(&p, "heap", &t->heap);
		put_curve(&p, "RSS", &t->rss);
	}
	put_state(t, &p);
	if (t->view == AS_HEAP_TOP_THREADS)
		put_threads(t, g, p.row, g->rows - 1);
	else
		put_rows(t, g, p.row, g->rows - 1);
	put_foot(t, g, g->rows - 1);
}

void as_heap_top_draw(struct as_heap_top *t, struct as_canvas *g)
{
	if (!t->facts.heap)
		return;
	if (t->view == AS_HEAP_TOP_HELP)
		put_help(g);
	else if (t->view == AS_HEAP_TOP_OUTPUT && t->facts.output)
		put_output(t, g);
	else
		put_table(t, g);
}
