#pragma once
/*
 * look -- how text is to look: width, colour, characters; and people's units.
 */
#include <stdbool.h>

#include "base/buf.h"
#include "run/field.h"

struct as_look {
	int width;   /* columns; reports fit 80                    */
	bool colour; /* ANSI colours                               */
	bool utf8;   /* blocks and dashes, else ASCII              */
};

/* From the environment and the stream: COLUMNS, NO_COLOR, LC_ALL, isatty. */
struct as_look as_look_for(int fd);

/* Numbers as people read them; "-" when unknown. Never wider than 9 columns. */
void as_put_duration(struct as_buf *out, int64_t ns);  /* 1.24 s, 3m 12s, 820 ms   */
void as_put_bytes(struct as_buf *out, double bytes);   /* 1.5 GiB                  */
void as_put_count(struct as_buf *out, double n);       /* 12 345, 1.2 M            */
void as_put_percent(struct as_buf *out, double ratio); /* 98 %, 0.4 %, 1 240 %     */
void as_put_value(struct as_buf *out, enum as_unit unit, double v);
/* A tally's number: counters as rates ("12 MiB/s"), ns counters as percent of a core. */
void as_put_shown(struct as_buf *out, enum as_field_id f, double shown);
/* A moment, local time: "2026-11-15 19:16:04". */
void as_put_time(struct as_buf *out, int64_t realtime_ns);
/* Cut or fill with spaces to `width` columns (UTF-8 aware, control bytes replaced). */
void as_put_cell(struct as_buf *out, const char *text, int width, bool right);

/* ▁▂▃▅▇ of n values into `width` columns; NaN is a blank. Scaled from 0 (or min) to max. */
void as_put_spark(struct as_buf *out, const struct as_look *look, const double *v, size_t n,
		  int width);
