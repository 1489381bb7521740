#include "tui/pen.h"

#include <stdarg.h>
#include <string.h>

#include "report/glyph.h"

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
