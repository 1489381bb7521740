#include "report/listed.h"

#include "report/rank.h"
#include "report/table.h"

enum { NAME_MIN = 16 };

struct list {
	struct as_rank rank;
	struct as_column cols[AS_COLUMNS_MAX]; /* the name, then one for each field */
	enum as_field_id field[AS_COLUMNS_MAX];
	size_t ncols;
};

/* Is it known of any of them, and ever more than nothing? */
static bool worth_a_column(const struct as_rank *r, enum as_field_id f)
{
	for (size_t k = 0; k < r->n; k++)
		if (as_instance_last(r->at[k], f) > 0)
			return true;
	return false;
}

static void list_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct list *l = data;
	const struct as_instance *i = l->rank.at[row];

	if (col == 0)
		as_buf_str(cell, i->name ? i->name : "-");
	else
		as_put_value(cell, as_fields[l->field[col]].unit,
			     as_instance_last(i, l->field[col]));
}

static void choose_columns(struct list *l, const struct as_scope_info *info)
{
	l->cols[l->ncols++] =
		(struct as_column){.title = info->name, .min = NAME_MIN, .path = true};
	for (size_t c = 0; c < info->n && l->ncols < AS_COLUMNS_MAX; c++) {
		enum as_field_id f = (enum as_field_id)(info->first + c);

		if (!worth_a_column(&l->rank, f))
			continue;
		l->field[l->ncols] = f;
		l->cols[l->ncols++] =
			(struct as_column){.title = as_fields[f].title, .right = true};
	}
}

/* A part of it was not to be had: where it is from says what. */
static void put_part_of_it(const struct as_sheet *s, const struct as_scope_info *info)
{
	const struct as_origin *from = &s->run->origins[info->first];

	if (from->how != AS_ATTRIBUTED)
		return;
	as_ink(s->out, s->look, AS_YELLOW);
	as_buf_str(s->out, "  from ");
	(void)as_put_name(s->out, from->source, s->look->width - 7);
	as_ink_end(s->out, s->look, AS_YELLOW);
	as_buf_byte(s->out, '\n');
}

void as_put_listed(const struct as_sheet *s, enum as_scope scope, const char *title, size_t rows)
{
	struct list l = {.rank = as_rank(s->run, scope, rows)};

	if (!l.rank.n)
		return;
	choose_columns(&l, as_scope_info(scope));
	as_heading(s->out, s->look, title);
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = l.cols,
					.ncols = l.ncols,
					.nrows = l.rank.n,
					.data = &l,
					.indent = 2,
					.cell = list_cell});
	as_put_more(s, l.rank.total - l.rank.n, " (--json lists them)");
	put_part_of_it(s, as_scope_info(scope));
}
