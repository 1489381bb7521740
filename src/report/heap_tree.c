/*
 * A view of a heap as a tree, from the outermost caller on: what each branch
 * holds, the biggest first. A branch steps to the right only where there is a
 * choice, so that deep stacks stay readable.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/human.h"
#include "report/flame.h"
#include "report/glyph.h"
#include "report/heap_view_json.h"

enum { DEEPEST = 24 }; /* steps that are drawn */

struct tree {
	const struct as_flame *f;
	const struct as_heap_how *how;
	const struct as_heap_kinds *kinds;
	int64_t cut;        /* branches that hold less are left out             */
	uint32_t *order;    /* boxes: what was called stands behind its caller  */
	size_t n;           /* of them                                          */
	uint32_t *called;   /* by box: those that it called and that are shown  */
	uint32_t *told;     /* by box: those of them that are printed           */
	int *step;          /* by box: how far to the right                     */
	bool more[DEEPEST]; /* by step: others of the same caller follow        */
};

static void tree_done(struct tree *t)
{
	free(t->order);
	free(t->called);
	free(t->told);
	free(t->step);
}

/* ── which boxes, and in which order ──────────────────────────────────── */

static int wider(const void *a, const void *b, void *flame)
{
	const struct as_flame *f = flame;
	int64_t x = f->box[*(const uint32_t *)a].total, y = f->box[*(const uint32_t *)b].total;

	return (x < y) - (x > y);
}

static int from_left(const void *a, const void *b, void *flame)
{
	const struct as_flame *f = flame;
	const struct as_flame_box *x = &f->box[*(const uint32_t *)a];
	const struct as_flame_box *y = &f->box[*(const uint32_t *)b];

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

/* What a branch must hold: its share of the whole, and to be among the biggest. */
static int64_t cut_of(struct tree *t, struct as_flame *f)
{
	double least = t->how->least * (double)f->box[0].total;
	int64_t cut = least < 1 ? 1 : (int64_t)least;

	for (uint32_t i = 0; i < f->n; i++)
		t->order[i] = i;
	qsort_r(t->order, f->n, sizeof *t->order, wider, f);
	if (t->how->rows + 1 < f->n && f->box[t->order[t->how->rows + 1]].total >= cut)
		cut = f->box[t->order[t->how->rows + 1]].total + 1;
	return cut;
}

static int arrange(struct tree *t, struct as_flame *f, struct as_err *err)
{
	t->order = as_zalloc_n(f->n, sizeof *t->order);
	t->called = as_zalloc_n(f->n, sizeof *t->called);
	t->told = as_zalloc_n(f->n, sizeof *t->told);
	t->step = as_zalloc_n(f->n, sizeof *t->step);
	if (!t->order || !t->called || !t->told || !t->step)
		return as_fail(err, AS_ENOMEM, "no memory for a tree");
	t->cut = cut_of(t, f);
	for (uint32_t i = 1; i < f->n; i++)
		if (f->box[i].total >= t->cut) {
			t->order[t->n++] = i;
			t->called[f->box[i].caller]++;
		}
	if (t->n)
		qsort_r(t->order, t->n, sizeof *t->order, from_left, f);
	return AS_OK;
}

/* ── a row ────────────────────────────────────────────────────────────── */

/* Lines from the callers above, and the step to this one. */
static int put_step(struct as_buf *out, struct tree *t, uint32_t box)
{
	uint32_t caller = t->f->box[box].caller;
	bool branch = t->called[caller] > 1;
	bool last = ++t->told[caller] == t->called[caller];
	int step = t->step[caller] + (branch && t->step[caller] + 1 < DEEPEST);

	t->step[box] = step;
	if (branch)
		t->more[step] = !last;
	for (int i = 1; i <= step; i++) {
		if (i == step && branch)
			as_buf_str(out, last ? "└ " : "├ ");
		else
			as_buf_str(out, t->more[i] ? "│ " : "  ");
	}
	return 2 * step;
}

/* Of a function where it begins, of a line where it is; if there is room. */
static void put_where(struct as_buf *out, const struct as_look *look, const struct tree *t,
		      uint32_t place, int room)
{
	as_auto_buf struct as_buf where = AS_BUF(AS_BUF_LINE);
	const struct as_profile *p = t->f->p;

	as_put_heap_where(&where, p, place,
			  t->how->spell.functions ? p->place[place].begin : p->place[place].line,
			  &t->how->spell);
	out->bad |= where.bad;
	if (!where.len || as_clean_width(as_buf_text(&where), where.len) > room)
		return;
	as_buf_str(out, "  ");
	as_ink(out, look, AS_DIM);
	(void)as_put_clean(out, as_buf_text(&where), where.len, room);
	as_ink_end(out, look, AS_DIM);
}

/* Bytes, with their interval if they are estimates, and their share of the whole; how wide. */
static int put_numbers(struct as_buf *out, const struct tree *t, int64_t bytes, int64_t variance)
{
	enum { AMOUNT = 10, INTERVAL = 11, SHARE = 7, GAP = 2 };
	as_auto_buf struct as_buf cell = AS_BUF(AS_BUF_LINE), share = AS_BUF(AS_BUF_LINE);
	int wide = AMOUNT + (t->f->how->with ? INTERVAL : 0);

	as_put_kind_bytes(&cell, t->kinds, bytes, variance);
	as_put_cell(out, as_buf_text(&cell), wide, true);
	as_put_share(&share, bytes, t->f->box[0].total);
	as_put_cell(out, as_buf_text(&share), SHARE, true);
	as_buf_fill(out, ' ', GAP);
	out->bad |= cell.bad || share.bad;
	return wide + SHARE + GAP;
}

static void put_row(struct as_buf *out, const struct as_look *look, struct tree *t, uint32_t box)
{
	const struct as_flame_box *b = &t->f->box[box];
	const struct as_profile *p = t->f->p;
	const char *name = p->text[p->place[b->place].function];
	int used = put_numbers(out, t, b->total, b->with);

	used += put_step(out, t, box);
	used += as_put_clean(out, name, strlen(name), look->width - used);
	put_where(out, look, t, b->place, look->width - used - 2);
	as_end_line(out);
}

/* What has no stack stands behind the outermost callers, as one of them. */
static bool has_unknown(const struct tree *t)
{
	return t->f->box[0].self >= t->cut;
}

static int64_t unknown_variance(const struct as_flame *f)
{
	int64_t variance = f->box[0].with;

	for (size_t i = 1; i < f->n; i++)
		variance -= f->box[i].caller ? 0 : f->box[i].with;
	return variance;
}

static void put_unknown(struct as_buf *out, const struct tree *t)
{
	put_numbers(out, t, t->f->box[0].self, unknown_variance(t->f));
	as_buf_str(out, t->n ? "└ " AS_HEAP_NO_STACK "\n" : AS_HEAP_NO_STACK "\n");
}

/* Branches that are left out, of those that are shown. */
static size_t narrow_of(const struct tree *t)
{
	size_t narrow = 0;

	for (size_t i = 1; i < t->f->n; i++)
		narrow += t->f->box[i].total > 0 && t->f->box[i].total < t->cut &&
			  t->f->box[t->f->box[i].caller].total >= t->cut;
	return narrow;
}

static void put_rows(struct as_buf *out, const struct as_look *look, struct tree *t)
{
	size_t narrow = narrow_of(t);

	t->called[0] += has_unknown(t);
	for (size_t i = 0; i < t->n; i++)
		put_row(out, look, t, t->order[i]);
	if (has_unknown(t))
		put_unknown(out, t);
	if (narrow)
		as_buf_fmt(out, "… and %zu more of less than %s\n", narrow,
			   as_human_bytes((double)t->cut).s);
}

static void put_json_branch(struct as_json *j, const struct tree *t, const struct as_flame_box *b)
{
	const struct as_place *at = &t->f->p->place[b->place];

	as_json_open(j, NULL, '{');
	as_json_i64(j, "depth", b->depth);
	as_json_view_place(j, t->f->p, b->place, "line",
			   t->how->spell.functions ? at->begin : at->line);
	as_json_view_bytes(j, "bytes", t->kinds, b->total, b->with);
	as_json_close(j);
}

static void put_json(struct as_buf *out, const struct tree *t)
{
	const struct as_flame_box *all = &t->f->box[0];
	struct as_json j = as_json_pretty(out);

	as_json_view_begin(&j, "assay/heap-tree/1", t->f->p, t->how);
	as_json_i64(&j, "least_bytes", t->cut);
	as_json_i64(&j, "unlisted", (int64_t)narrow_of(t));
	as_json_open(&j, "branches", '[');
	for (size_t i = 0; i < t->n; i++)
		put_json_branch(&j, t, &t->f->box[t->order[i]]);
	if (has_unknown(t))
		put_json_branch(&j, t,
				&(struct as_flame_box){.depth = 1,
						       .total = all->self,
						       .with = unknown_variance(t->f)});
	as_json_close(&j);
	as_json_close(&j);
}

static void put_text(struct as_buf *out, const struct as_look *look, struct tree *t)
{
	size_t from = out->len;

	as_put_heap_title(out, look, t->f->p, t->how);
	put_rows(out, look, t);
	as_page_end(out, look, from);
}

int as_report_heap_tree(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
			const struct as_heap_how *how, struct as_err *err)
{
	struct as_heap_kinds kinds = as_heap_kinds(p, how->rate);
	struct as_flame_how boxes = {.spell = how->spell};
	as_cleanup(as_flame_done) struct as_flame f = {0};
	as_cleanup(tree_done) struct tree t = {.f = &f, .how = how, .kinds = &kinds};

	if (kinds.bytes == AS_HEAP_NO_KIND)
		return as_fail(err, AS_EUSAGE, "a tree is of bytes: --metric has no place here");
	boxes.spell.kind = kinds.bytes;
	boxes.with = kinds.variance == AS_HEAP_NO_KIND ? 0 : kinds.variance + 1;
	int r = as_flame_make(p, &boxes, &f, err);
	if (r == AS_OK)
		r = arrange(&t, &f, err);
	if (r < 0)
		return r;
	if (how->json)
		put_json(out, &t);
	else
		put_text(out, look, &t);
	return AS_OK;
}
