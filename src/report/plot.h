#pragma once
/*
 * plot -- values over the time of a run, drawn with blocks:
 *
 *	    185 % ┤      ▂█      ▂█
 *	          │    ▄███    ▄███
 *	     92 % ┤  ▂█████  ▂█████
 *	          │ ▄██████ ▄██████
 *	      0 % ┼────────────────
 *	          0 s         12.4 s
 */
#include "report/head.h"

enum { AS_PLOT_ROWS = 6 };

struct as_plot {
	const char *title;
	const char *legend;    /* at the right of the title, or NULL               */
	enum as_field_id unit; /* how its numbers are written                      */
	const double *v;       /* as_plot_width() values; NaN is a gap             */
	const double *under;   /* a part of v, shaded; or NULL                     */
};

size_t as_plot_width(const struct as_look *look); /* <= AS_PARTS_MAX */
void as_put_plot(const struct as_sheet *s, const struct as_plot *p);
/* Below the plots, on their axis: stretches of time that begin at these moments, numbered. */
void as_put_marks(const struct as_sheet *s, const char *title, const int64_t *at, size_t n);
