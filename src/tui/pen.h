#pragma once
/*
 * pen -- the head of a screen: items that flow over its lines.
 */
#include "tui/canvas.h"

struct as_pen {
	struct as_canvas *g;
	int row, col;
};

/* Two blanks after the last, or in the next line when there is no room for it. */
__attribute__((format(printf, 3, 4))) void as_pen_item(struct as_pen *p, enum as_paint paint,
						       const char *fmt, ...);
void as_pen_line(struct as_pen *p);
