/*
 * The flame graph as SVG: one file that every browser draws. What each box is
 * stands in its title, which browsers show under the pointer, so nothing is
 * lost where scripts do not run; where they do, web/svg zooms and searches.
 *
 * Boxes narrower than half a pixel, and all on them, are left out; how
 * many is said below the picture.
 */
#include <math.h>
#include <string.h>

#include "base/human.h"
#include "report/amount.h"
#include "report/asset.h"
#include "report/flame.h"
#include "report/flame_ink.h"
#include "report/markup.h"

enum {
	WIDTH = 1200,
	PAD = 12,
	ROW = 18,
	HEAD = 62,
	FOOT = 34,
	INDENT = 4,      /* of the text in its box          */
	MOST_ROWS = 999, /* deeper recursion is left out    */
	TITLE = 90,      /* columns */
	TIP = 240,
};

/* Of the font: columns are 0.602 em in DejaVu Sans Mono, the widest of those asked for. */
static const double COLUMN = 7.25, LEAST = 0.5;

struct picture {
	const struct as_flame *f;
	struct as_buf *out;
	double scale; /* pixels for one of the value */
	uint32_t rows;
	size_t left_out;
};

static bool too_small(const struct picture *g, const struct as_flame_box *b)
{
	return (double)b->total * g->scale < LEAST || b->depth >= MOST_ROWS;
}

static void measure(struct picture *g)
{
	const struct as_flame *f = g->f;

	g->scale = f->box->total > 0 ? (WIDTH - 2.0 * PAD) / (double)f->box->total : 0;
	for (size_t i = 0; i < f->n; i++)
		if (too_small(g, &f->box[i]))
			g->left_out++;
		else if (f->box[i].depth >= g->rows)
			g->rows = f->box[i].depth + 1;
}

static double y_of(const struct picture *g, const struct as_flame_box *b)
{
	uint32_t row = g->f->how->icicle ? b->depth : g->rows - 1 - b->depth;

	return HEAD + (double)row * ROW;
}

/* ── a box ────────────────────────────────────────────────────────────── */

static struct as_colour ink_of(const struct as_flame *f, const struct as_flame_box *b)
{
	struct as_colour c = {""};
	size_t ink = b->place < f->p->nplaces ? as_flame_ink(f->p, b->place) : AS_FLAME_INKS;

	if (f->compares && b != f->box)
		return as_flame_change(as_flame_changed(f, b));
	memcpy(c.s, ink < AS_FLAME_INKS ? as_flame_inks[ink] : as_flame_root_ink, sizeof c.s);
	return c;
}

static double share(int64_t part, int64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* "3.1 s (40 %)" */
static void put_share(struct as_buf *out, const struct as_value_kind *kind, int64_t v, int64_t all)
{
	as_put_amount(out, kind, v);
	as_buf_fmt(out, " (%s)", as_human_percent(share(v, all)).s);
}

static void put_numbers(struct as_buf *out, const struct as_flame *f, const struct as_flame_box *b)
{
	const struct as_flame_box *all = f->box;

	as_buf_str(out, f->compares ? "before " : "total ");
	if (f->compares) {
		put_share(out, &f->p->kind[f->before], b->before, all->before);
		as_buf_str(out, ", after ");
		put_share(out, &f->p->kind[f->after], b->after, all->after);
		return;
	}
	put_share(out, &f->p->kind[f->how->spell.kind], b->total, all->total);
	as_buf_str(out, ", self ");
	put_share(out, &f->p->kind[f->how->spell.kind], b->self, all->total);
}

/* Name, file and numbers: a line each. */
static void put_tip(struct as_buf *out, const struct as_flame *f, const struct as_flame_box *b,
		    const struct as_buf *label)
{
	as_auto_buf struct as_buf numbers = AS_BUF(AS_BUF_LINE);
	const struct as_place *at = b->place < f->p->nplaces ? &f->p->place[b->place] : NULL;

	as_put_clean_markup(out, as_buf_text(label), label->len, TIP);
	if (at && at->file && f->how->spell.functions) {
		as_auto_buf struct as_buf file = AS_BUF(AS_BUF_LINE);

		as_buf_str(&file, as_spell_file(f->p, at, &f->how->spell));
		if (at->begin > 0)
			as_buf_fmt(&file, ":%d", at->begin);
		as_buf_byte(out, '\n');
		as_put_clean_markup(out, as_buf_text(&file), file.len, TIP);
		out->bad |= file.bad;
	}
	put_numbers(&numbers, f, b);
	as_buf_byte(out, '\n');
	as_put_clean_markup(out, as_buf_text(&numbers), numbers.len, TIP);
	out->bad |= numbers.bad;
}

static bool marked(const struct as_flame *f, const struct as_flame_box *b)
{
	return b->place < f->p->nplaces &&
	       as_place_matches(f->p, b->place, f->how->spell.highlight);
}

static void put_box(struct picture *g, const struct as_flame_box *b)
{
	as_auto_buf struct as_buf label = AS_BUF(AS_BUF_LINE);
	double x = PAD + (double)b->at * g->scale, w = (double)b->total * g->scale, y = y_of(g, b);
	int columns = (int)((w - 2 * INDENT) / COLUMN);

	as_put_flame_label(&label, g->f, b);
	as_buf_fmt(g->out, "<g%s><title>", marked(g->f, b) ? " class=\"marked\"" : "");
	put_tip(g->out, g->f, b, &label);
	as_buf_fmt(g->out,
		   "</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>",
		   x, y, w, ROW - 1, ink_of(g->f, b).s);
	if (columns >= 3) {
		as_buf_fmt(g->out, "<text x=\"%.2f\" y=\"%.0f\">", x + INDENT, y + 13);
		as_put_clean_markup(g->out, as_buf_text(&label), label.len, columns);
		as_buf_str(g->out, "</text>");
	}
	as_buf_str(g->out, "</g>\n");
	g->out->bad |= label.bad;
}

/* ── around them ──────────────────────────────────────────────────────── */

static void put_words(struct as_buf *out, const struct as_flame *f)
{
	const struct as_profile *p = f->p;
	const struct as_value_kind *kind = &p->kind[f->how->spell.kind];

	if (f->compares) {
		as_put_amount(out, &p->kind[f->before], f->box->before);
		as_buf_str(out, " before, ");
		as_put_amount(out, &p->kind[f->after], f->box->after);
		as_buf_str(out, " after: red is more than before, blue is less");
	} else {
		as_put_amount(out, kind, f->box->total);
		if (strcmp(kind->unit, kind->name) != 0) /* "59 MiB" says that it is bytes */
			as_buf_fmt(out, " %s", kind->name);
	}
	if (p->duration_ns > 0)
		as_buf_fmt(out, " in %s", as_human_duration(p->duration_ns).s);
	if (f->how->reverse)
		as_buf_str(out, ", from the innermost frame");
	if (p->taking.known)
		as_buf_str(out, " · ");
	as_put_taking(out, &p->taking);
}

static void put_title(struct as_buf *out, const struct as_flame *f)
{
	const char *title = f->how->title ? f->how->title : "flame graph";
	as_auto_buf struct as_buf words = AS_BUF(AS_BUF_LINE);

	as_buf_fmt(out, "<text class=\"title\" x=\"%d\" y=\"28\">", PAD);
	as_put_clean_markup(out, title, strlen(title), TITLE);
	as_buf_fmt(out, "</text>\n<text class=\"words\" x=\"%d\" y=\"48\">", PAD);
	put_words(&words, f);
	as_put_clean_markup(out, as_buf_text(&words), words.len, TITLE * 2);
	as_buf_str(out, "</text>\n");
	out->bad |= words.bad;
}

static void put_head(struct picture *g, int height)
{
	struct as_buf *out = g->out;

	as_buf_fmt(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		   "viewBox=\"0 0 %d %d\" role=\"img\">\n<!-- assay %s -->\n<style>\n",
		   WIDTH, height, WIDTH, height, ASSAY_VERSION);
	as_buf_str(out, as_svg_style.text);
	as_buf_fmt(out, "</style>\n<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH,
		   height);
	put_title(out, g->f);
}

static void put_foot(struct picture *g, int height)
{
	struct as_buf *out = g->out;

	as_buf_fmt(out, "<text class=\"words\" id=\"told\" x=\"%d\" y=\"%d\">", PAD, height - 12);
	if (g->left_out)
		as_buf_fmt(out, "%s boxes are too narrow to be drawn",
			   as_human_count((double)g->left_out).s);
	as_buf_str(out, "</text>\n<script><![CDATA[\n");
	as_buf_str(out, as_svg_script.text);
	as_buf_str(out, "]]></script>\n</svg>\n");
}

int as_report_flame_svg(struct as_buf *out, const struct as_profile *p,
			const struct as_flame_how *how, struct as_err *err)
{
	as_cleanup(as_flame_done) struct as_flame f = {0};
	int r = as_flame_make(p, how, &f, err);

	if (r < 0)
		return r;
	struct picture g = {.f = &f, .out = out, .rows = 1};
	measure(&g);
	int height = HEAD + (int)g.rows * ROW + FOOT;
	put_head(&g, height);
	as_buf_str(out, "<g id=\"boxes\">\n");
	for (size_t i = 0; i < f.n; i++)
		if (i == 0 || !too_small(&g, &f.box[i]))
			put_box(&g, &f.box[i]);
	as_buf_str(out, "</g>\n");
	put_foot(&g, height);
	return AS_OK;
}
