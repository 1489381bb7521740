#include "tui/canvas.h"

#include <stdarg.h>
#include <string.h>

#include "base/fault.h"
#include "report/glyph.h"

enum { SIDE_MOST = 4096 };

static int side(int n)
{
	return n < 0 ? 0 : n > SIDE_MOST ? SIDE_MOST : n;
}

void as_canvas_clear(struct as_canvas *g, int rows, int cols)
{
	size_t want = (size_t)side(rows) * (size_t)side(cols);

	if (want > g->cap) {
		struct as_cell *p = as_realloc(g->cell, want * sizeof *p);

		if (!p) {
			g->rows = g->cols = 0;
			return;
		}
		g->cell = p;
		g->cap = want;
	}
	g->rows = side(rows);
	g->cols = side(cols);
	for (size_t i = 0; i < want; i++)
		g->cell[i] = (struct as_cell){.glyph = " ", .len = 1};
}

void as_canvas_done(struct as_canvas *g)
{
	free(g->cell);
	*g = (struct as_canvas){0};
}

static struct as_cell *cell_at(const struct as_canvas *g, int row, int col)
{
	return &g->cell[(size_t)row * (size_t)g->cols + (size_t)col];
}

/* Text that was cleaned: characters of one or two columns. */
static int put_clean(struct as_canvas *g, int row, int col, enum as_paint paint,
		     const struct as_buf *b)
{
	int used = 0;

	for (size_t i = 0, n; i < b->len; i += n) {
		int32_t c;
		struct as_cell cell = {.paint = paint};

		n = as_glyph_read(b->p + i, b->len - i, &c);
		cell.len = (uint8_t)(n < sizeof cell.glyph ? n : sizeof cell.glyph);
		memcpy(cell.glyph, b->p + i, cell.len);
		*cell_at(g, row, col + used++) = cell;
		if (as_glyph_width(c) == 2)
			*cell_at(g, row, col + used++) = (struct as_cell){.paint = paint};
	}
	return used;
}

int as_canvas_put(struct as_canvas *g, int row, int col, int width, enum as_paint paint,
		  const char *text)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	int room = g->cols - col < width ? g->cols - col : width;

	if (row < 0 || row >= g->rows || col < 0 || room <= 0)
		return 0;
	(void)as_put_clean(&b, text, strlen(text), room);
	if (g->ascii)
		as_plain(&b, 0);
	return b.bad ? 0 : put_clean(g, row, col, paint, &b);
}

int as_canvas_right(struct as_canvas *g, int row, int col, int width, enum as_paint paint,
		    const char *text)
{
	return as_canvas_put(g, row, col + width - as_clean_width(text, strlen(text)), width, paint,
			     text);
}

int as_canvas_fmt(struct as_canvas *g, int row, int col, int width, enum as_paint paint,
		  const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return as_canvas_put(g, row, col, width, paint, text);
}

void as_canvas_paint(struct as_canvas *g, int row, enum as_paint paint)
{
	for (int col = 0; row >= 0 && row < g->rows && col < g->cols; col++)
		cell_at(g, row, col)->paint = paint;
}

void as_canvas_line(const struct as_canvas *g, int row, struct as_buf *out)
{
	size_t from = out->len;

	for (int col = 0; row >= 0 && row < g->rows && col < g->cols; col++)
		as_buf_add(out, cell_at(g, row, col)->glyph, cell_at(g, row, col)->len);
	while (out->len > from && out->p[out->len - 1] == ' ')
		out->p[--out->len] = '\0';
}
