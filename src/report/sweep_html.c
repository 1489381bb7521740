/*
 * A sweep as a page: a bar for each cell and number, drawn as SVG, and the table
 * below it. It has no script and allows none.
 */
#include <math.h>
#include <string.h>

#include "base/human.h"
#include "report/markup.h"
#include "report/sweep.h"

enum { LEFT = 180, BAR = 420, RIGHT = 120, STEP = 22 };

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

static double memory(const struct as_sweep_cell *c)
{
	int64_t m = as_sweep_memory(c);

	return m == AS_NA ? (double)NAN : (double)m;
}

static struct as_text in_ms(double ms)
{
	return as_human_duration((int64_t)(ms * 1e6));
}

static const struct plot {
	const char *title, *colour;
	double (*value)(const struct as_sweep_cell *c);
	struct as_text (*text)(double v);
} plots[] = {
	{"answers a second, under load", "#2a6f97", rate, as_human_count},
	{"latency of one alone, p50", "#74a57f", low, in_ms},
	{"latency under load, p99", "#c8553d", p99, in_ms},
	{"peak memory of the largest node", "#7b6d8d", memory, as_human_bytes},
};

static double largest(const struct as_sweep_report *r, const struct plot *p)
{
	double most = 0;

	for (size_t i = 0; i < r->ncells; i++)
		most = fmax(most, p->value(&r->cell[i])); /* NaN is passed over */
	return most;
}

static void put_name(struct as_buf *out, const struct as_sweep_report *r, size_t cell)
{
	for (size_t i = 0; i < r->naxes; i++) {
		const char *axis = r->axis(r->grid, i), *v = r->value(r->grid, cell, i);

		as_buf_str(out, i ? " " : "");
		as_put_clean_markup(out, axis, strlen(axis), 20);
		as_buf_byte(out, '=');
		as_put_clean_markup(out, v, strlen(v), 20);
	}
}

static void put_bar(struct as_buf *out, const struct as_sweep_report *r, const struct plot *p,
		    size_t cell, double most)
{
	double v = p->value(&r->cell[cell]);
	int y = (int)cell * STEP, width = isnan(v) ? 0 : (int)lround(v / most * BAR);

	as_buf_fmt(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 6, y + 15);
	put_name(out, r, cell);
	as_buf_fmt(out, "</text><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>",
		   LEFT, y + 3, width, STEP - 6, p->colour);
	as_buf_fmt(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT + width + 6, y + 15,
		   isnan(v) ? "-" : p->text(v).s);
}

static void put_plot(struct as_buf *out, const struct as_sweep_report *r, const struct plot *p)
{
	double most = largest(r, p);

	if (!(most > 0))
		return;
	as_buf_fmt(out, "<h2>%s</h2>\n<svg width=\"%d\" height=\"%zu\" font-size=\"12\">\n",
		   p->title, LEFT + BAR + RIGHT, r->ncells * STEP);
	for (size_t i = 0; i < r->ncells; i++)
		put_bar(out, r, p, i, most);
	as_buf_str(out, "</svg>\n");
}

void as_report_sweep_html(struct as_buf *out, const struct as_sweep_report *r)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_DOCUMENT);
	const struct as_look look = {.width = 120, .utf8 = true};

	as_report_sweep(&text, &look, r);
	as_buf_str(out,
		   "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		   "img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>sweep of ");
	as_put_clean_markup(out, r->url, strlen(r->url), 60);
	as_buf_str(out, " · assay</title>\n</head>\n<body>\n<h1>sweep of ");
	as_put_clean_markup(out, r->url, strlen(r->url), 80);
	as_buf_str(out, "</h1>\n");
	for (size_t i = 0; i < AS_LEN(plots); i++)
		put_plot(out, r, &plots[i]);
	as_buf_str(out, "<h2>all numbers</h2>\n<pre>");
	as_put_markup(out, as_buf_text(&text), text.len);
	as_buf_str(out, "</pre>\n</body>\n</html>\n");
	out->bad |= text.bad;
}
