#pragma once
/*
 * pen -- the head of a screen: items that flow over its lines.
 */
#include "tui/canvas.h"
#include "tui/trail.h"

struct as_pen {
	struct as_canvas *g;
	int row, col;
};

/* Two blanks after the last, or in the next line when there is no room for it. */
__attribute__((format(printf, 3, 4))) void as_pen_item(struct as_pen *p, enum as_paint paint,
						       const char *fmt, ...);
void as_pen_line(struct as_pen *p);
/* A line of its own: a label of so many columns, the curve, what its top stands for. */
void as_pen_curve(struct as_pen *p, int label_cols, const char *label, const struct as_trail *trail,
		  const char *scale);
