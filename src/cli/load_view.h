#pragma once
/*
 * load_view -- a load while it runs, on the terminal of whoever waits for it: a
 * screen where there is one, else a line that is written anew each second.
 */
#include "cli/screen.h"
#include "load/drive.h"
#include "tui/load_top.h"

struct as_load_view {
	struct as_drive *load;
	struct as_load_top_facts plan; /* what is known before it begins; the rest is not read */
	/* private */
	struct as_screen screen;
	struct as_load_top top;
	struct as_ear ear;
	int64_t next_ns; /* when the line is written again */
	bool shown;      /* it is on the terminal          */
};

/* With `full` the whole screen, if the terminal can; as_load_view_done() follows. */
void as_load_view_open(struct as_load_view *v, bool full);
struct as_sink as_load_view_sink(struct as_load_view *v);
/* Keys, for the engine; NULL: there are none. */
const struct as_ear *as_load_view_ear(const struct as_load_view *v);
void as_load_view_done(struct as_load_view *v);
