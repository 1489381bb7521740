#include "tui/browse.h"

void as_browse_state(const struct as_browse *b, struct as_pen *p)
{
	if (b->search[0] && !b->typing)
		as_pen_item(p, AS_STRONG, "/%s", b->search);
	if (b->paused)
		as_pen_item(p, AS_ALERT, "paused");
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static bool is_shown(const struct as_canvas *g, const struct as_browse_column *c)
{
	return c->narrow || g->cols >= AS_BROWSE_WIDE;
}

static void put_heading(const struct as_browse *b, const struct as_browse_kind *k, const char *what,
			struct as_canvas *g, int row)
{
	int col = 0;

	as_canvas_paint(g, row, AS_BAR);
	for (unsigned i = 0; i < k->ncolumns; i++)
		if (is_shown(g, &k->column[i])) {
			(void)as_canvas_right(g, row, col, k->column[i].width,
					      i == b->sort ? AS_CHOSEN : AS_BAR,
					      k->column[i].title);
			col += k->column[i].width;
		}
	(void)as_canvas_put(g, row, col + 2, g->cols, AS_BAR, what);
}

static void put_row(const struct as_browse_kind *k, const void *screen, struct as_canvas *g,
		    int row, const struct as_browse_row *x)
{
	enum as_paint paint = k->is_hot(screen, x) ? AS_STRONG : AS_PLAIN;
	int col = 0;

	for (unsigned i = 0; i < k->ncolumns; i++)
		if (is_shown(g, &k->column[i])) {
			(void)as_canvas_right(g, row, col, k->column[i].width, paint,
					      k->value(screen, x, i).s);
			col += k->column[i].width;
		}
	k->put_name(screen, g, row, col + 2, x->place);
}

/* Between two lines of the screen, the last not included. */
static void put_rows(struct as_browse *b, const struct as_browse_kind *k, const void *screen,
		     struct as_canvas *g, int from, int to)
{
	if (b->at >= b->nrows)
		b->at = b->nrows ? b->nrows - 1 : 0;
	for (size_t i = b->at; i < b->nrows && from < to; i++)
		put_row(k, screen, g, from++, &b->row[i]);
	if (!b->nrows && from < to)
		(void)as_canvas_put(g, from, 2, g->cols, AS_FAINT,
				    b->search[0] ? "no name has that"
				    : b->none    ? b->none
						 : "nothing yet");
}

static void put_threads(struct as_browse *b, const struct as_browse_kind *k, const void *screen,
			struct as_canvas *g, int from, int to)
{
	if (b->at > b->nthreads)
		b->at = b->nthreads;
	size_t first = b->page && b->at >= b->page ? b->at - b->page + 1 : 0;
	for (size_t i = first; i <= b->nthreads && from < to; i++, from++) {
		if (i)
			k->put_thread(screen, g, from, i - 1);
		else
			(void)as_canvas_put(g, from, k->thread_col, g->cols, AS_PLAIN,
					    "all of them");
		if (i == b->at)
			as_canvas_paint(g, from, AS_CHOSEN);
	}
}

void as_browse_draw(struct as_browse *b, const struct as_browse_kind *k, const void *screen,
		    const char *what, struct as_canvas *g, int from)
{
	int to = g->rows - 1, first = from + 1;

	b->page = to > first ? (size_t)(to - first) : 0;
	if (b->view == AS_BROWSE_THREADS) {
		as_canvas_paint(g, from, AS_BAR);
		(void)as_canvas_put(g, from, 0, g->cols, AS_BAR, k->thread_head);
		put_threads(b, k, screen, g, first, to);
	} else {
		put_heading(b, k, what, g, from);
		put_rows(b, k, screen, g, first, to);
	}
}

/* ── help and the last line ───────────────────────────────────────────── */

void as_browse_foot(const struct as_browse *b, const struct as_browse_kind *k, struct as_canvas *g)
{
	int row = g->rows - 1;

	if (b->typing)
		(void)as_canvas_fmt(g, row, 0, g->cols, AS_STRONG, "/%s_", b->search);
	else if (b->view == AS_BROWSE_THREADS)
		(void)as_canvas_put(g, row, 0, g->cols, AS_FAINT, "Enter choose  Esc back  q quit");
	else
		(void)as_canvas_put(g, row, 0, g->cols, AS_FAINT,
				    g->cols < AS_BROWSE_WIDE ? k->narrow_foot : k->foot);
}

void as_browse_help(const struct as_browse_kind *k, struct as_canvas *g)
{
	as_canvas_paint(g, 0, AS_BAR);
	(void)as_canvas_put(g, 0, 0, g->cols, AS_BAR, k->help_head);
	for (int i = 0; i < (int)k->nhelp; i++) {
		(void)as_canvas_put(g, i + 1, 1, g->cols, AS_STRONG, k->help[i].keys);
		(void)as_canvas_put(g, i + 1, 12, g->cols, AS_PLAIN, k->help[i].what);
	}
}
