#pragma once
/*
 * sweep_grid -- all combinations of some values, and a text with them in it.
 *
 *	batch=1,2,4   nodes=1,2   are six cells; the last axis changes first
 *	"serve --batch {batch}"   is "serve --batch 4" in the third or fourth
 *
 * A name in braces that is no axis stays as it is: JSON has braces, too.
 */
#include "base/buf.h"
#include "base/err.h"

enum { AS_SWEEP_AXES = 6, AS_SWEEP_VALUES = 32, AS_SWEEP_CELLS = 256, AS_SWEEP_TEXT = 64 };

struct as_axis {
	char name[AS_SWEEP_TEXT];
	char value[AS_SWEEP_VALUES][AS_SWEEP_TEXT];
	size_t n;
};

struct as_sweep_grid { /* of the heap: it is large */
	struct as_axis axis[AS_SWEEP_AXES];
	size_t n;
	size_t cells; /* 1 without an axis */
};

/* "batch=1,2,4": one more axis. Names are letters, digits, '_' and '-'. */
int as_sweep_grid_add(struct as_sweep_grid *g, const char *word, struct as_err *err);
/* What an axis has in a cell. */
const char *as_sweep_grid_value(const struct as_sweep_grid *g, size_t cell, size_t axis);
/* `text` with the values of a cell. NULL gives nothing. */
void as_sweep_grid_expand(const struct as_sweep_grid *g, size_t cell, const char *text,
			  struct as_buf *out);
