#include <string.h>

#include "report/heap_kinds.h"
#include "tui/heap_top.h"

enum {
	TALL = 16, /* rows from which there is room for the curves */
	LABEL = 6, /* before a curve                               */
};

static const struct as_browse_column columns[] = {
	[AS_HEAP_TOP_OWN] = {"own", "own bytes", 9, true},
	[AS_HEAP_TOP_TOTAL] = {"total", "total bytes", 10, true},
	[AS_HEAP_TOP_COUNT] = {"count", "count", 9, false},
	[AS_HEAP_TOP_MADE] = {"allocated", "allocated bytes", 10, false},
	[AS_HEAP_TOP_TEMPORARY] = {"temp", "temporary allocations", 8, false},
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

static void put_thread_name(const struct as_heap_top *t, struct as_pen *p)
{
	const struct as_heap_who *x =
		t->list.only ? &t->facts.heap->thread[t->list.only - 1] : NULL;

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
	as_pen_item(p, AS_PLAIN, "sorted by %s", columns[t->list.sort].name);
	put_thread_name(t, p);
	as_browse_state(&t->list, p);
	if (t->short_of || t->facts.short_of)
		as_pen_item(p, AS_ALERT, "memory is short: not all is shown");
	as_pen_line(p);
}

/* ── rows ─────────────────────────────────────────────────────────────── */

/* The name, and behind it, if there is room, where that is. */
static void put_name(const void *screen, struct as_canvas *g, int row, int col, uint32_t place)
{
	const struct as_heap_top *t = screen;
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
static struct as_text value(const void *screen, const struct as_browse_row *x, unsigned i)
{
	const struct as_heap_top *t = screen;

	if (i == AS_HEAP_TOP_TEMPORARY && t->facts.heap->rate)
		return (struct as_text){"-"};
	if (i == AS_HEAP_TOP_COUNT || i == AS_HEAP_TOP_TEMPORARY)
		return as_human_count((double)x->value[i]);
	return bytes(x->value[i]);
}

static bool is_hot(const void *screen, const struct as_browse_row *x)
{
	const struct as_heap_top *t = screen;

	return x->value[AS_HEAP_TOP_OWN] > t->whole / 10;
}

static void put_thread(const void *screen, struct as_canvas *g, int row, size_t i)
{
	const struct as_heap_top *t = screen;
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

/* ── the screen ───────────────────────────────────────────────────────── */

static const struct as_browse_help help[] = {
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
	{"temp", "allocations freed before their thread made two more"},
	{"mapped", "resident pages of files: programs, libraries"},
	{"neither", "resident beside heap and files: what the allocator keeps, stacks"},
	{"lost", "events that were not read: sums are too small or too large"},
};

const struct as_browse_kind as_heap_top_kind = {
	.column = columns,
	.ncolumns = AS_HEAP_TOP_SORTS,
	.thread_head = "     held    count allocated  thread",
	.thread_col = 30,
	.foot = "? help  q quit  s sort  / find  l line  t thread  m peak  p pause  o output",
	.narrow_foot = "? help  q quit  s / l t m p o",
	.help_head = "assay heap live: any key goes back",
	.help = help,
	.nhelp = AS_LEN(help),
	.value = value,
	.is_hot = is_hot,
	.put_name = put_name,
	.put_thread = put_thread,
};

static void put_foot(const struct as_heap_top *t, struct as_canvas *g)
{
	if (t->leaving)
		(void)as_canvas_put(g, g->rows - 1, 0, g->cols, AS_ALERT,
				    "the command still runs: q ends it, any other key goes back");
	else
		as_browse_foot(&t->list, &as_heap_top_kind, g);
}

static void put_curve(struct as_pen *p, const char *label, const struct as_trail *trail)
{
	as_pen_curve(p, LABEL, label, trail, as_human_bytes(as_trail_most(trail)).s);
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
	as_browse_draw(&t->list, &as_heap_top_kind, t, t->functions ? "function" : "line", g,
		       p.row);
	put_foot(t, g);
}

void as_heap_top_draw(struct as_heap_top *t, struct as_canvas *g)
{
	if (!t->facts.heap)
		return;
	if (t->list.view == AS_BROWSE_HELP)
		as_browse_help(&as_heap_top_kind, g);
	else if (t->list.view == AS_BROWSE_OUTPUT && t->facts.output)
		put_output(t, g);
	else
		put_table(t, g);
}
