#include "report/plot.h"

#include <math.h>
#include <string.h>

#include "base/human.h"
#include "report/glyph.h"
#include "report/metric.h"

enum { AXIS = 10, LEFT = 2 + AXIS + 2, LEVELS = 8 };

static const char *const blocks[LEVELS + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

size_t as_plot_width(const struct as_look *look)
{
	int w = look->width - LEFT;

	return w < 10 ? 10 : w > AS_PARTS_MAX ? AS_PARTS_MAX : (size_t)w;
}

static double top_of(const double *v, size_t n)
{
	double top = 0;

	for (size_t i = 0; i < n; i++)
		top = isfinite(v[i]) ? fmax(top, v[i]) : top;
	return top;
}

/* How many eighths of the height a value fills; what is more than nothing shows. */
static int eighths(double v, double top)
{
	int e = isfinite(v) && v > 0 && top > 0 ? (int)lround(v / top * AS_PLOT_ROWS * LEVELS) : 0;

	return e ? e : v > 0;
}

static void put_cell(struct as_buf *out, const struct as_plot *p, size_t i, double top, int base)
{
	int fill = eighths(p->v[i], top) - base,
	    under = p->under ? eighths(p->under[i], top) - base : 0;

	fill = fill < 0 ? 0 : fill > LEVELS ? LEVELS : fill;
	if (under >= LEVELS / 2 && fill >= LEVELS / 2)
		as_buf_str(out, "▒");
	else
		as_buf_str(out, blocks[fill]);
}

static void put_axis(const struct as_sheet *s, const struct as_plot *p, double value,
		     const char *tick)
{
	as_auto_buf struct as_buf cell = AS_BUF(AS_BUF_LINE);

	if (!isnan(value))
		as_put_shown(&cell, p->unit, value);
	as_buf_str(s->out, "  ");
	as_ink(s->out, s->look, AS_DIM);
	as_put_cell(s->out, as_buf_text(&cell), AXIS, true);
	as_buf_fmt(s->out, " %s", tick);
	as_ink_end(s->out, s->look, AS_DIM);
	s->out->bad |= cell.bad;
}

static void put_rows(const struct as_sheet *s, const struct as_plot *p, size_t n, double top)
{
	for (int row = AS_PLOT_ROWS; row-- > 0;) {
		bool first = row == AS_PLOT_ROWS - 1, half = row == AS_PLOT_ROWS / 2 - 1;

		put_axis(s, p,
			 first  ? top
			 : half ? top / 2
				: (double)NAN,
			 first || half ? "┤" : "│");
		as_ink(s->out, s->look, AS_CYAN);
		for (size_t i = 0; i < n; i++)
			put_cell(s->out, p, i, top, row * LEVELS);
		as_ink_end(s->out, s->look, AS_CYAN);
		as_end_line(s->out);
	}
	put_axis(s, p, 0, "┼");
	as_ink(s->out, s->look, AS_DIM);
	for (size_t i = 0; i < n; i++)
		as_buf_str(s->out, "─");
	as_ink_end(s->out, s->look, AS_DIM);
	as_buf_byte(s->out, '\n');
}

/* Moments below the axis: at its ends and between, each under its place. */
static void put_times(const struct as_sheet *s, size_t n)
{
	int64_t span = as_run_span(s->run);
	size_t parts = n >= 48 ? 4 : 2, at = 0;

	as_buf_fill(s->out, ' ', LEFT);
	as_ink(s->out, s->look, AS_DIM);
	for (size_t i = 0; i <= parts; i++) {
		struct as_text t =
			as_human_duration((int64_t)((double)span * (double)i / (double)parts));
		size_t len = strlen(t.s), middle = n * i / parts;
		size_t from = i == 0 ? 0 : i == parts ? n - len : middle - len / 2;

		if (i && from <= at)
			from = at + 1;
		as_buf_fill(s->out, ' ', from - at);
		as_buf_str(s->out, t.s);
		at = from + len;
	}
	as_ink_end(s->out, s->look, AS_DIM);
	as_buf_byte(s->out, '\n');
}

void as_put_plot(const struct as_sheet *s, const struct as_plot *p)
{
	size_t n = as_plot_width(s->look);

	as_buf_str(s->out, "\n  ");
	as_put_ink(s->out, s->look, AS_BOLD, p->title);
	if (p->legend) {
		int used = 2 + as_text_width(p->title, strlen(p->title)) +
			   as_text_width(p->legend, strlen(p->legend));

		as_buf_fill(s->out, ' ',
			    used + 1 < s->look->width ? (size_t)(s->look->width - used) : 1);
		as_put_ink(s->out, s->look, AS_DIM, p->legend);
	}
	as_buf_byte(s->out, '\n');
	put_rows(s, p, n, top_of(p->v, n));
	put_times(s, n);
}

/* How many columns "│12" has; the bar alone where the next begins too soon. */
static size_t put_mark(struct as_buf *out, size_t number, size_t room)
{
	struct as_text t = as_human_count((double)number);

	as_buf_str(out, "│");
	if (strlen(t.s) >= room)
		return 1;
	as_buf_str(out, t.s);
	return 1 + strlen(t.s);
}

void as_put_marks(const struct as_sheet *s, const char *title, const int64_t *at, size_t n)
{
	size_t width = as_plot_width(s->look), col = 0;
	double span = (double)as_run_span(s->run);

	as_buf_byte(s->out, '\n');
	as_ink(s->out, s->look, AS_DIM);
	as_buf_fmt(s->out, "  %*s  ", AXIS, title);
	for (size_t i = 0; i < n; i++) {
		double end = i + 1 < n ? (double)at[i + 1] / span : 1;
		size_t next = end < 0 ? 0 : (size_t)(end * (double)width);

		if (next > width)
			next = width;
		if (next > col)
			col += put_mark(s->out, i + 1, next - col);
		for (; col < next; col++)
			as_buf_str(s->out, "─");
	}
	as_ink_end(s->out, s->look, AS_DIM);
	as_buf_byte(s->out, '\n');
}
