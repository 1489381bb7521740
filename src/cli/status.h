#pragma once
/*
 * status -- one line at the bottom of the terminal while a job runs.
 *
 * The line has the last row of the screen for itself: the scrolling region is
 * made one row shorter, so the job's own output never mixes with it. It is
 * drawn only while the terminal is in its plain state (lines and echo on): a
 * full-screen program or a password prompt has the screen to itself.
 */
#include "report/look.h"
#include "run/builder.h"

/* What a command has to say besides: a few words, first in the line. */
struct as_status_words {
	void (*put)(void *state, struct as_buf *out);
	void *state;
};

struct as_status_line {
	int fd;                              /* the terminal; -1: there is none  */
	struct as_builder *run;              /* what to show                     */
	const struct as_status_words *words; /* or NULL                 */
	struct as_look look;
	int rows;         /* of the screen while the region is set, else 0 */
	int64_t shown_ns; /* when it was last drawn           */
};

/* Nothing is shown unless `fd` is a terminal whose foreground is ours. */
struct as_status_line as_status_line(int fd, struct as_builder *run);
struct as_sink as_status_line_sink(struct as_status_line *s);
/* Give the row back. */
void as_status_line_done(struct as_status_line *s);
