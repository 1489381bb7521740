#pragma once
/*
 * load_view -- a load while it runs, on the terminal of whoever waits for it:
 * a line that is written anew each second.
 */
#include "load/drive.h"

struct as_load_view {
	const struct as_drive *load;
	/* private */
	int64_t next_ns; /* when it is written again   */
	bool shown;      /* it is on the terminal      */
};

struct as_sink as_load_view_sink(struct as_load_view *v);
