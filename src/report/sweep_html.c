/*
 * A sweep as a page: over each axis a curve of each number, with a line for each
 * combination of the other axes, drawn as SVG, and the tables below. It has no
 * script and allows none.
 *
 * Values of an axis stand in the order in which they were given, equally far
 * apart: 1, 2, 4 and 8 need no more room than that, and words have a place too.
 */
#include <math.h>
#include <string.h>

#include "base/human.h"
#include "report/asset.h"
#include "report/glyph.h"
#include "report/markup.h"
#include "report/sweep.h"

enum { WIDTH = 460, HEIGHT = 230, LEFT = 66, RIGHT = 12, TOP = 10, BOTTOM = 26 };
enum { COLUMN = 9, SHORT = 8 }; /* of a letter on a phone: px; columns that a name should have */
enum { INKS = 6, LINES = 2 * INKS }; /* more lines than that nobody can tell apart */

/* ── what is drawn ────────────────────────────────────────────────────── */

struct plot {
	const char *title, *node;                       /* the node whose memory it is, or NULL */
	double (*value)(const struct as_sweep_cell *c); /* NULL: that memory */
	struct as_text (*text)(double v);
	double unit; /* 1024 where numbers are told in KiB and MiB, else 10 */
};

static double rate(const struct as_sweep_cell *c)
{
	return c->rate;
}

static double low(const struct as_sweep_cell *c)
{
	return c->low_p50;
}

static double p99(const struct as_sweep_cell *c)
{
	return c->p99;
}

static struct as_text in_ms(double ms)
{
	return as_human_duration((int64_t)(ms * 1e6));
}

static const struct plot plots[] = {
	{"answers a second, under load", NULL, rate, as_human_count, 10},
	{"latency of one alone, p50", NULL, low, in_ms, 10},
	{"latency under load, p99", NULL, p99, in_ms, 10},
};

static double value_of(const struct plot *p, const struct as_sweep_cell *c)
{
	return p->value ? p->value(c) : as_sweep_node_memory(c, p->node);
}

/* ── the grid ─────────────────────────────────────────────────────────── */

/* How far apart two cells are that differ by one value of this axis: the last changes first. */
static size_t stride(const struct as_sweep_report *r, size_t axis)
{
	size_t n = 1;

	for (size_t i = axis + 1; i < r->naxes; i++)
		n *= r->values(r->grid, i);
	return n;
}

/* Does a line begin in this cell: has it the axis' first value? */
static bool begins(const struct as_sweep_report *r, size_t cell, size_t axis)
{
	return cell / stride(r, axis) % r->values(r->grid, axis) == 0;
}

static void put_text(struct as_buf *out, const char *text)
{
	as_put_clean_markup(out, text, strlen(text), 24);
}

/* The values of all axes but one. */
static void put_others(struct as_buf *out, const struct as_sweep_report *r, size_t cell, size_t but)
{
	const char *before = "";

	for (size_t i = 0; i < r->naxes; i++) {
		if (i == but)
			continue;
		as_buf_str(out, before);
		put_text(out, r->axis(r->grid, i));
		as_buf_byte(out, '=');
		put_text(out, r->value(r->grid, cell, i));
		before = ", ";
	}
}

static void put_ink(struct as_buf *out, size_t line)
{
	as_buf_fmt(out, "ink%zu%s", line % INKS + 1, line < INKS ? "" : " second");
}

/* ── axes ─────────────────────────────────────────────────────────────── */

struct frame {
	double step, top; /* between two lines of the grid, and the uppermost */
	size_t n;         /* values along it */
};

static double largest(const struct as_sweep_report *r, const struct plot *p)
{
	double most = 0;

	for (size_t i = 0; i < r->ncells; i++)
		most = fmax(most, value_of(p, &r->cell[i])); /* NaN is passed over */
	return most;
}

/* 1, 2 or 5 of something, and at most five of them up to the largest. */
static double round_step(double most, double unit)
{
	static const double steps[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
	double scale = pow(unit, floor(log(most / 5) / log(unit)));

	for (size_t i = 0; i < AS_LEN(steps); i++)
		if (steps[i] * scale >= most / 5)
			return steps[i] * scale;
	return unit * scale;
}

static struct frame frame_of(const struct as_sweep_report *r, const struct plot *p, size_t axis)
{
	double most = largest(r, p), step = most > 0 ? round_step(most, p->unit) : 0;

	return (struct frame){.step = step,
			      .top = step > 0 ? ceil(most / step) * step : 0,
			      .n = r->values(r->grid, axis)};
}

static double x_of(const struct frame *f, size_t i)
{
	return LEFT + ((double)i + 0.5) * (WIDTH - LEFT - RIGHT) / (double)f->n;
}

static double y_of(const struct frame *f, double v)
{
	return TOP + (1 - v / f->top) * (HEIGHT - TOP - BOTTOM);
}

static void put_scale(struct as_buf *out, const struct frame *f, const struct plot *p)
{
	for (double v = 0; v < f->top + f->step / 2; v += f->step) {
		double y = y_of(f, v);

		as_buf_fmt(out, "<path class=\"%s\" d=\"M%d %.1fH%d\"/>", v > 0 ? "grid" : "axis",
			   LEFT, y, WIDTH - RIGHT);
		as_buf_fmt(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			   LEFT - 6, y + 4, v > 0 ? p->text(v).s : "0");
	}
}

static const char *value_at(const struct as_sweep_report *r, size_t axis, size_t i)
{
	return r->value(r->grid, i * stride(r, axis), axis);
}

/* Of how many neighbours one is named, so that names do not meet; long ones are cut before that. */
static size_t named_of(const struct frame *f, const struct as_sweep_report *r, size_t axis,
		       int *ret_columns)
{
	double each = (double)(WIDTH - LEFT - RIGHT) / (double)f->n;
	int widest = 1;

	for (size_t i = 0; i < f->n; i++) {
		const char *v = value_at(r, axis, i);
		int w = as_clean_width(v, strlen(v)) + 1;

		widest = w > widest ? w : widest;
	}
	double least = (widest < SHORT ? widest : SHORT) * COLUMN;
	size_t of = least > each ? (size_t)ceil(least / each) : 1;

	*ret_columns = (int)(each * (double)of / COLUMN) - 1;
	return of;
}

static void put_values(struct as_buf *out, const struct frame *f, const struct as_sweep_report *r,
		       size_t axis)
{
	int columns = 0;
	size_t of = named_of(f, r, axis, &columns);

	for (size_t i = 0; i < f->n; i += of) {
		const char *v = value_at(r, axis, i);

		as_buf_fmt(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\"><title>",
			   x_of(f, i), HEIGHT - 8);
		put_text(out, v);
		as_buf_str(out, "</title>");
		as_put_clean_markup(out, v, strlen(v), columns);
		as_buf_str(out, "</text>\n");
	}
}

/* ── lines ────────────────────────────────────────────────────────────── */

struct line {
	const struct as_sweep_report *r;
	const struct plot *plot;
	const struct frame *frame;
	size_t axis, from, number; /* the cell that it begins in, and its colour */
};

static const struct as_sweep_cell *cell_at(const struct line *l, size_t i)
{
	return &l->r->cell[l->from + i * stride(l->r, l->axis)];
}

/* What is not known is a gap. */
static void put_path(struct as_buf *out, const struct line *l)
{
	bool pen = false;

	as_buf_str(out, "<path class=\"line ");
	put_ink(out, l->number);
	as_buf_str(out, "\" d=\"");
	for (size_t i = 0; i < l->frame->n; i++) {
		double v = value_of(l->plot, cell_at(l, i));

		if (!isnan(v))
			as_buf_fmt(out, "%c%.1f %.1f", pen ? 'L' : 'M', x_of(l->frame, i),
				   y_of(l->frame, v));
		pen = !isnan(v);
	}
	as_buf_str(out, "\"/>\n");
}

static void put_point(struct as_buf *out, const struct line *l, size_t i)
{
	const struct as_sweep_cell *c = cell_at(l, i);
	double v = value_of(l->plot, c);

	if (isnan(v))
		return;
	as_buf_fmt(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" class=\"", x_of(l->frame, i),
		   y_of(l->frame, v));
	put_ink(out, l->number);
	as_buf_fmt(out, "%s\"><title>", c->invalid[0] ? " invalid" : "");
	put_others(out, l->r, (size_t)(c - l->r->cell), l->r->naxes);
	as_buf_fmt(out, ": %s%s</title></circle>\n", l->plot->text(v).s,
		   c->invalid[0] ? ", INVALID" : "");
}

static void put_lines(struct as_buf *out, struct line *l)
{
	for (l->from = 0; l->from < l->r->ncells && l->number < LINES; l->from++) {
		if (!begins(l->r, l->from, l->axis))
			continue;
		put_path(out, l);
		for (size_t i = 0; i < l->frame->n; i++)
			put_point(out, l, i);
		l->number++;
	}
}

static void put_plot(struct as_buf *out, const struct as_sweep_report *r, const struct plot *p,
		     size_t axis)
{
	struct frame f = frame_of(r, p, axis);
	struct line l = {.r = r, .plot = p, .frame = &f, .axis = axis};

	if (!(f.top > 0))
		return;
	as_buf_fmt(out, "<figure>\n<figcaption>%s", p->title);
	if (p->node)
		put_text(out, p->node);
	as_buf_fmt(out, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, HEIGHT);
	put_scale(out, &f, p);
	put_values(out, &f, r, axis);
	put_lines(out, &l);
	as_buf_str(out, "</svg>\n</figure>\n");
}

/* Of several nodes each has a plot of its own. */
static void put_memory(struct as_buf *out, const struct as_sweep_report *r, size_t axis)
{
	struct as_sweep_nodes nodes = as_sweep_nodes_of(r);
	struct plot p = {"peak memory of ", NULL, NULL, as_human_bytes, 1024};

	for (size_t i = 0; i < nodes.n; i++) {
		p.node = nodes.name[i];
		put_plot(out, r, &p, axis);
	}
}

/* ── sections ─────────────────────────────────────────────────────────── */

static void put_legend(struct as_buf *out, const struct as_sweep_report *r, size_t axis)
{
	size_t all = r->ncells / r->values(r->grid, axis), line = 0;

	if (all < 2)
		return;
	as_buf_str(out, "<ul>\n");
	for (size_t cell = 0; cell < r->ncells && line < LINES; cell++) {
		if (!begins(r, cell, axis))
			continue;
		as_buf_str(out, "<li><svg viewBox=\"0 0 40 12\"><path d=\"M0 6H40\" class=\"line ");
		put_ink(out, line++);
		as_buf_str(out, "\"/></svg>");
		put_others(out, r, cell, axis);
		as_buf_str(out, "</li>\n");
	}
	if (all > LINES)
		as_buf_fmt(out, "<li>and %zu more, in the table</li>\n", all - LINES);
	as_buf_str(out, "</ul>\n");
}

static void put_axis(struct as_buf *out, const struct as_sweep_report *r, size_t axis)
{
	as_buf_str(out, "<section>\n<h2>over ");
	put_text(out, r->axis(r->grid, axis));
	as_buf_str(out, "</h2>\n");
	put_legend(out, r, axis);
	as_buf_str(out, "<div class=\"plots\">\n");
	for (size_t i = 0; i < AS_LEN(plots); i++)
		put_plot(out, r, &plots[i], axis);
	put_memory(out, r, axis);
	as_buf_str(out, "</div>\n</section>\n");
}

static void put_head(struct as_buf *out, const struct as_sweep_report *r)
{
	as_buf_fmt(out,
		   "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		   "style-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
		   as_sweep_style.hash);
	as_buf_str(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			"<link rel=\"icon\" href=\"data:,\">\n<title>sweep of ");
	as_put_clean_markup(out, r->url, strlen(r->url), 60);
	as_buf_fmt(out, " · assay</title>\n<style>%s</style>\n</head>\n", as_sweep_style.text);
	as_buf_str(out, "<body>\n<h1>sweep of ");
	as_put_clean_markup(out, r->url, strlen(r->url), 80);
	as_buf_str(out, "</h1>\n");
}

static void put_note(struct as_buf *out, const struct as_sweep_report *r)
{
	bool invalid = false;

	for (size_t i = 0; i < r->ncells; i++)
		invalid = invalid || r->cell[i].invalid[0];
	if (invalid)
		as_buf_str(out, "<p>A hollow point is INVALID: the generator was the bottleneck."
				"</p>\n");
}

void as_report_sweep_html(struct as_buf *out, const struct as_sweep_report *r)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_DOCUMENT);
	const struct as_look look = {.width = 120, .utf8 = true};

	as_report_sweep(&text, &look, r);
	put_head(out, r);
	put_note(out, r);
	for (size_t i = 0; i < r->naxes; i++)
		if (r->values(r->grid, i) > 1)
			put_axis(out, r, i);
	as_buf_str(out, "<section>\n<h2>all numbers</h2>\n<pre>");
	as_put_markup(out, as_buf_text(&text), text.len);
	as_buf_str(out, "</pre>\n</section>\n</body>\n</html>\n");
	out->bad |= text.bad;
}
