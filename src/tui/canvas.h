#pragma once
/*
 * canvas -- a screen as cells of text: what is drawn here, a terminal shows.
 *
 * All drawing ends at the edges of the canvas, and text from outside is cleaned
 * as everywhere (report/glyph.h). Which attributes and colours a paint has is
 * the terminal's business. Without memory a canvas has no cells and takes
 * everything without a word.
 */
#include "base/buf.h"

enum as_paint {
	AS_PLAIN,
	AS_STRONG, /* what matters                  */
	AS_FAINT,  /* what is there to be looked up */
	AS_BAR,    /* a heading over all columns    */
	AS_CHOSEN, /* the row that keys act on      */
	AS_ALERT,  /* what should not be so         */
	AS_PAINTS,
};

struct as_cell {
	char glyph[4]; /* one character of UTF-8, not ended          */
	uint8_t len;   /* its bytes; 0: the second column of a wide one */
	uint8_t paint;
};

struct as_canvas {
	int rows, cols;
	bool ascii; /* only ASCII can be shown */
	struct as_cell *cell;
	size_t cap;
};

/* Of this size, and blank. */
void as_canvas_clear(struct as_canvas *g, int rows, int cols);
void as_canvas_done(struct as_canvas *g);
/* At most `width` columns from there on; returns how many were used. "…" marks what was cut. */
int as_canvas_put(struct as_canvas *g, int row, int col, int width, enum as_paint paint,
		  const char *text);
__attribute__((format(printf, 6, 7))) int as_canvas_fmt(struct as_canvas *g, int row, int col,
							int width, enum as_paint paint,
							const char *fmt, ...);
/* The same at the right end of these columns. */
int as_canvas_right(struct as_canvas *g, int row, int col, int width, enum as_paint paint,
		    const char *text);
/* The whole row in this paint. */
void as_canvas_paint(struct as_canvas *g, int row, enum as_paint paint);
/* The row as text, without the blanks at its end. */
void as_canvas_line(const struct as_canvas *g, int row, struct as_buf *out);
