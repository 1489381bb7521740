#include "tui/pen.h"

#include <stdarg.h>
#include <string.h>

#include "report/glyph.h"
#include "report/look.h"

void as_pen_line(struct as_pen *p)
{
	p->row++;
	p->col = 0;
}

void as_pen_item(struct as_pen *p, enum as_paint paint, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (p->col && p->col + 2 + as_clean_width(text, strlen(text)) > p->g->cols)
		as_pen_line(p);
	p->col += p->col ? 2 : 0;
	p->col += as_canvas_put(p->g, p->row, p->col, p->g->cols, paint, text);
}

void as_pen_curve(struct as_pen *p, int label_cols, const char *label, const struct as_trail *trail,
		  const char *scale)
{
	enum { SCALE = 10 };
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_look look = {.utf8 = !p->g->ascii};
	int width = p->g->cols - label_cols - SCALE;

	as_put_spark(&b, &look, trail->v, trail->n,
		     (size_t)width < trail->n || width < 0 ? width : (int)trail->n);
	(void)as_canvas_put(p->g, p->row, 0, label_cols, AS_FAINT, label);
	(void)as_canvas_put(p->g, p->row, label_cols, width, AS_PLAIN, as_buf_text(&b));
	(void)as_canvas_right(p->g, p->row, p->g->cols - SCALE, SCALE, AS_FAINT, scale);
	as_pen_line(p);
}
