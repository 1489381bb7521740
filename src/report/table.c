#include "report/table.h"

#include <string.h>

#include "report/glyph.h"

enum { GAP = 2, LEFT_OUT = -1 };

/* One cell's text, in memory that is used again for the next. */
static const char *ask(const struct as_table *t, size_t row, size_t col, struct as_buf *cell,
		       struct as_buf *out)
{
	as_buf_clear(cell);
	t->cell(t->data, row, col, cell);
	out->bad |= cell->bad;
	return as_buf_text(cell);
}

static int width_of(const struct as_table *t, size_t col, struct as_buf *cell, struct as_buf *out)
{
	const struct as_column *c = &t->cols[col];
	int most = t->bare ? 0 : as_text_width(c->title, strlen(c->title));

	for (size_t row = 0; row < t->nrows; row++) {
		const char *text = ask(t, row, col, cell, out);
		int w = as_clean_width(text, cell->len);

		most = w > most ? w : most;
	}
	return c->max && most > c->max ? c->max : most;
}

int as_table_width(struct as_buf *out, const struct as_table *t)
{
	as_auto_buf struct as_buf cell = AS_BUF(AS_BUF_FILE);
	int total = t->indent + (int)(t->ncols - 1) * GAP;

	for (size_t c = 0; c < t->ncols; c++)
		total += width_of(t, c, &cell, out);
	return total;
}

/* What the columns take that are shown: those left out have no width. */
static int total_of(const struct as_table *t, const int *width)
{
	int total = -GAP;

	for (size_t c = 0; c < t->ncols; c++)
		total += width[c] == LEFT_OUT ? 0 : width[c] + GAP;
	return total;
}

/* The widest that may become narrower, or ncols. */
static size_t widest(const struct as_table *t, const int *width)
{
	size_t give = t->ncols;

	for (size_t c = 0; c < t->ncols; c++)
		if (t->cols[c].min && width[c] > t->cols[c].min &&
		    (give == t->ncols || width[c] > width[give]))
			give = c;
	return give;
}

/* The next that can be spared, or ncols. */
static size_t sparest(const struct as_table *t, const int *width)
{
	size_t best = t->ncols;

	for (size_t c = 0; c < t->ncols; c++)
		if (t->cols[c].spare && width[c] != LEFT_OUT &&
		    (best == t->ncols || t->cols[c].spare < t->cols[best].spare))
			best = c;
	return best;
}

/* What all but the columns that may shrink take, and those at their narrowest. */
static int least_of(const struct as_table *t, const int *width)
{
	int least[AS_COLUMNS_MAX];

	for (size_t c = 0; c < t->ncols; c++)
		least[c] = t->cols[c].min && width[c] > t->cols[c].min ? t->cols[c].min : width[c];
	return total_of(t, least);
}

static void fit(const struct as_table *t, int *width, int room)
{
	size_t c;

	while (least_of(t, width) > room && (c = sparest(t, width)) < t->ncols)
		width[c] = LEFT_OUT;
	while (total_of(t, width) > room && (c = widest(t, width)) < t->ncols)
		width[c]--;
}

/* The end of a path says more than its beginning: the part that fits after a "…". */
static const char *end_of_path(const char *text, int width)
{
	while (*text && as_clean_width(text, strlen(text)) >= width) {
		text++;
		while ((*text & 0xc0) == 0x80) /* the rest of a character */
			text++;
	}
	return text;
}

/* How long ":8000" at its end is, or 0. */
static size_t port_of(const char *text)
{
	size_t n = strlen(text), digits = 0;

	while (digits < n && text[n - 1 - digits] >= '0' && text[n - 1 - digits] <= '9')
		digits++;
	return digits && digits < n && text[n - 1 - digits] == ':' ? digits + 1 : 0;
}

/* Who listens at several ports of a machine is told apart by them alone. */
static void put_ported(struct as_buf *out, const char *text, size_t port, int width)
{
	int room = width - (int)port, put = as_put_name(out, text, room);

	as_buf_str(out, text + strlen(text) - port);
	as_buf_fill(out, ' ', (size_t)(room - put));
}

static void put_cell(struct as_buf *out, const struct as_column *c, const char *text, int width,
		     bool last)
{
	size_t port = c->port ? port_of(text) : 0;

	if (port && as_clean_width(text, strlen(text)) > width && (int)port + 2 <= width) {
		put_ported(out, text, port, width);
		return;
	}
	if (c->path && as_clean_width(text, strlen(text)) > width) {
		as_buf_str(out, "…");
		text = end_of_path(text, width--);
	}
	if (last && !c->right) /* no spaces at the end of a line */
		(void)as_put_name(out, text, width);
	else
		as_put_cell(out, text, width, c->right);
}

/* The gap before every column that is shown but the first. */
static bool put_gap(struct as_buf *out, const int *width, size_t c)
{
	size_t first = 0;

	while (first < c && width[first] == LEFT_OUT)
		first++;
	if (width[c] != LEFT_OUT && c != first)
		as_buf_fill(out, ' ', GAP);
	return width[c] != LEFT_OUT;
}

static void put_row(struct as_buf *out, const struct as_look *look, const struct as_table *t,
		    const int *width, size_t row, struct as_buf *cell)
{
	as_buf_fill(out, ' ', (size_t)t->indent);
	for (size_t c = 0; c < t->ncols; c++) {
		enum as_ink ink = t->ink ? t->ink(t->data, row, c) : AS_INK_NONE;

		if (!put_gap(out, width, c))
			continue;
		const char *text = ask(t, row, c, cell, out);
		as_ink(out, look, ink);
		put_cell(out, &t->cols[c], text, width[c], c + 1 == t->ncols);
		as_ink_end(out, look, ink);
	}
	as_end_line(out);
}

static void put_titles(struct as_buf *out, const struct as_look *look, const struct as_table *t,
		       const int *width)
{
	as_buf_fill(out, ' ', (size_t)t->indent);
	as_ink(out, look, AS_DIM);
	for (size_t c = 0; c < t->ncols; c++)
		if (put_gap(out, width, c))
			put_cell(out, &t->cols[c], t->cols[c].title, width[c], c + 1 == t->ncols);
	as_ink_end(out, look, AS_DIM);
	as_end_line(out);
}

void as_put_table(struct as_buf *out, const struct as_look *look, const struct as_table *t)
{
	as_auto_buf struct as_buf cell = AS_BUF(AS_BUF_FILE);
	int width[AS_COLUMNS_MAX];

	for (size_t c = 0; c < t->ncols; c++)
		width[c] = width_of(t, c, &cell, out);
	fit(t, width, look->width - t->indent);
	if (!t->bare)
		put_titles(out, look, t, width);
	for (size_t row = 0; row < t->nrows; row++)
		put_row(out, look, t, width, row, &cell);
}
