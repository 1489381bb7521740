#pragma once
/*
 * frame -- everything that one tick learnt: rows of numbers, keyed by scope
 * and instance.
 *
 * The engine owns one frame and clears it before each tick; its memory is
 * reused, so a steady run allocates nothing. A row starts all-unknown (AS_NA)
 * and has one cell for each field of its scope.
 */
#include "run/field.h"

struct as_row {
	enum as_scope scope;
	uint32_t instance; /* 0 where the scope has only one */
	size_t at;         /* first of its cells             */
};

struct as_frame {
	int64_t t_ns; /* since the run's start          */
	size_t n;
	struct as_row *rows;
	int64_t *cells;
	/* private */
	size_t cells_used, rows_cap, cells_cap;
	size_t first[AS_NSCOPES];  /* 1 + index of the row of instance 0, 0: none yet */
	int64_t spare[AS_NFIELDS]; /* what a caller writes to when memory ran out */
	bool bad;                  /* rows are missing                            */
};

void as_frame_start(struct as_frame *f, int64_t t_ns);
/*
 * A new row, all unknown. Instance 0 is the one that collectors share: when
 * this tick has it already, it is returned as it stands. Never NULL; the
 * pointer is good until the next as_frame_row().
 */
int64_t *as_frame_row(struct as_frame *f, enum as_scope scope, uint32_t instance);
static inline const int64_t *as_frame_cells(const struct as_frame *f, const struct as_row *row)
{
	return f->cells + row->at;
}
void as_frame_done(struct as_frame *f);
