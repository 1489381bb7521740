#include "report/mark.h"
#include "report/table.h"
#include "tui/top.h"

enum { WHAT = AS_TOP_SORTS, WHERE, COLS };

static void put_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct as_top *t = data;
	const struct as_browse_row *x = &t->list.row[row];
	const struct as_profile *p = as_top_shown(t);
	const struct as_place *at = &p->place[x->place];
	struct as_spelling how = {.highlight = t->filter.highlight};
	int64_t all = t->recent.all_ns;

	if (col == AS_TOP_BY_OWN)
		as_buf_str(cell, as_top_share(x->value[AS_TOP_BY_OWN_TIME], all).s);
	else if (col == AS_TOP_BY_TOTAL)
		as_buf_str(cell, as_top_share(x->value[AS_TOP_BY_TOTAL_TIME], all).s);
	else if (col < AS_TOP_SORTS)
		as_put_duration(cell, x->value[col]);
	else if (col == WHAT)
		as_put_marked(cell, p, x->place, &how);
	else if (at->file)
		as_buf_fmt(cell, "%s:%d", as_spell_file(p, at, &how), at->begin);
}

static enum as_ink ink(const void *data, size_t row, size_t col)
{
	const struct as_top *t = data;
	struct as_spelling how = {.highlight = t->filter.highlight};

	return col == WHAT ? as_mark_ink(as_top_shown(t), t->list.row[row].place, &how)
			   : AS_INK_NONE;
}

void as_top_table(const struct as_top *t, const struct as_look *look, size_t rows,
		  struct as_buf *out)
{
	static const struct as_column cols[COLS] = {
		[AS_TOP_BY_OWN] = {.title = "%own", .right = true},
		[AS_TOP_BY_TOTAL] = {.title = "%total", .right = true},
		[AS_TOP_BY_OWN_TIME] = {.title = "own", .right = true},
		[AS_TOP_BY_TOTAL_TIME] = {.title = "total", .right = true},
		[WHAT] = {.title = "function", .min = 16},
		[WHERE] = {.title = "where", .min = 12, .path = true},
	};
	size_t from = out->len;

	as_put_table(out, look,
		     &(struct as_table){.cols = cols,
					.ncols = COLS,
					.nrows = t->list.nrows < rows ? t->list.nrows : rows,
					.data = t,
					.cell = put_cell,
					.ink = ink});
	const struct as_taking all = {true, (int64_t)t->facts.samples, (int64_t)t->facts.rejected,
				      (int64_t)t->facts.late};
	as_buf_fmt(out, "%s sample%s in %s, %.2f %% rejected, %s late\n",
		   as_human_count((double)t->facts.samples).s, t->facts.samples == 1 ? "" : "s",
		   as_human_duration(t->recent.all_ns).s, 100 * as_taking_rejected(&all),
		   as_human_count((double)t->facts.late).s);
	as_top_put_filters(t, out);
	if (t->filters)
		as_buf_byte(out, '\n');
	as_page_end(out, look, from);
}
