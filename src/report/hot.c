#include "report/hot.h"

#include "base/cleanup.h"
#include "base/human.h"
#include "profile/functions.h"
#include "report/amount.h"
#include "report/mark.h"
#include "report/table.h"

enum { SELF, TOTAL, VALUE, FUNCTION, WHERE, COLS };

struct hot {
	const struct as_profile *p;
	const struct as_spelling *how;
	const struct as_function_sum *sum;
	size_t kind;
	int64_t all;
};

static void hot_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct hot *h = data;
	const struct as_function_sum *f = &h->sum[row];
	const struct as_place *at = &h->p->place[f->place];

	if (col == SELF)
		as_put_percent(cell, (double)f->self / (double)h->all);
	else if (col == TOTAL && f->total == AS_TOTAL_UNKNOWN)
		as_buf_byte(cell, '-');
	else if (col == TOTAL)
		as_put_percent(cell, (double)f->total / (double)h->all);
	else if (col == VALUE)
		as_put_amount(cell, &h->p->kind[h->kind], f->self);
	else if (col == FUNCTION)
		as_put_marked(cell, h->p, f->place, h->how);
	else if (at->file)
		as_buf_fmt(cell, "%s:%d", as_spell_file(h->p, at, h->how), at->begin);
}

static enum as_ink hot_ink(const void *data, size_t row, size_t col)
{
	const struct hot *h = data;

	return col == FUNCTION ? as_mark_ink(h->p, h->sum[row].place, h->how) : AS_INK_NONE;
}

static int put_kind(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
		    const struct as_spelling *how, size_t kind, size_t rows, int indent,
		    struct as_err *err)
{
	const struct as_column cols[COLS] = {
		[SELF] = {.title = "self", .right = true},
		[TOTAL] = {.title = "total", .right = true},
		[VALUE] = {.title = p->kind[kind].name, .right = true},
		[FUNCTION] = {.title = "function", .min = 16},
		[WHERE] = {.title = "where", .min = 12, .path = true},
	};
	size_t n = 0;
	as_auto_free struct as_function_sum *sum = NULL;
	int r = as_profile_sums(p, kind, &sum, &n, err);

	if (r < 0 || !n)
		return r;
	struct hot h = {p, how, sum, kind, as_profile_total(p, kind)};
	as_put_table(out, look,
		     &(struct as_table){.cols = cols,
					.ncols = COLS,
					.nrows = n < rows ? n : rows,
					.data = &h,
					.indent = indent,
					.cell = hot_cell,
					.ink = hot_ink});
	return AS_OK;
}

int as_put_hot(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
	       const struct as_spelling *how, size_t rows, int indent, struct as_err *err)
{
	size_t first = as_profile_first_kind(p);
	int r = AS_OK;

	for (size_t i = first; r == AS_OK && i < p->nkinds; i++) {
		if (i > first)
			as_buf_byte(out, '\n');
		r = put_kind(out, look, p, how, i, rows, indent, err);
	}
	return r;
}
