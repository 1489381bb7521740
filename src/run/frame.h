#pragma once
/*
 * frame -- everything that one tick learnt: rows of numbers, keyed by scope
 * and instance.
 *
 * The engine owns one frame and starts it anew at each tick; its memory is
 * reused, so a steady run allocates nothing. A row starts all-unknown (AS_NA)
 * and has one cell for each field of its scope.
 *
 * Most rows of a big job are those of the tick before, number for number. Such
 * a row says so (`same`), which spares whoever keeps it from looking at its
 * cells: a collector that knows it asks for as_frame_same(), and of all others
 * as_frame_settle() finds out. Its cells are not copied either: they stay where
 * they are, new ones are added behind, and when half of all are of nobody any
 * more, those that are left move together. Of a row that is not the same, `news`
 * says which cells are worth a look: they are compared once, for all who keep them.
 */
#include "run/field.h"

struct as_row {
	enum as_scope scope;
	uint32_t instance; /* 0 where the scope has only one            */
	uint32_t was;      /* 1 + its place in the tick before, 0: none */
	bool same;         /* its cells are those of the tick before    */
	size_t at;         /* first of its cells                        */
	uint64_t news;     /* bit c: column c may be another than in the tick before */
};

/* Rows with their cells. */
struct as_grid {
	struct as_row *rows;
	int64_t *cells;
	size_t n, ncells;
	size_t rows_cap, cells_cap; /* private */
};

/* Make room for so many in all. */
bool as_grid_room(struct as_grid *g, size_t rows, size_t cells);
/* The row's place at `cursor` or a little farther on; AS_NO_ROW: it is not near. */
size_t as_grid_find(const struct as_grid *g, size_t cursor, enum as_scope scope, uint32_t instance);
void as_grid_done(struct as_grid *g);
#define AS_NO_ROW SIZE_MAX

struct as_frame {
	int64_t t_ns; /* since the run's start          */
	size_t n;
	struct as_row *rows;
	int64_t *cells;
	struct as_grid before; /* rows of the tick before; their cells are in `cells`  */
	/* private */
	struct as_grid now;        /* the rows of this one, and all cells             */
	size_t live;               /* cells that rows of this tick have              */
	size_t cursor;             /* the next row of `before`                       */
	size_t first[AS_NSCOPES];  /* 1 + index of the row of instance 0, 0: none yet */
	int64_t spare[AS_NFIELDS]; /* what a caller writes to when memory ran out    */
	bool bad;                  /* rows are missing                               */
};

void as_frame_start(struct as_frame *f, int64_t t_ns);
/*
 * A new row, all unknown. Instance 0 is the one that collectors share: when
 * this tick has it already, it is returned as it stands. Never NULL; the
 * pointer is good until the next as_frame_row().
 */
int64_t *as_frame_row(struct as_frame *f, enum as_scope scope, uint32_t instance);
/* The row of the tick before once more; false when that had none: make a new one. */
bool as_frame_same(struct as_frame *f, enum as_scope scope, uint32_t instance);
/*
 * The same, with all rows of the scope `of` that came right after it: so many it had. False, and
 * nothing is added, when there were others.
 */
bool as_frame_same_family(struct as_frame *f, enum as_scope scope, uint32_t instance,
			  enum as_scope of, size_t n);
/* All rows are in: mark those that are the same, whoever made them. */
void as_frame_settle(struct as_frame *f);
static inline const int64_t *as_frame_cells(const struct as_frame *f, const struct as_row *row)
{
	return f->cells + row->at;
}
/* Its cells in the tick before; NULL: it had none. */
static inline const int64_t *as_frame_old_cells(const struct as_frame *f, const struct as_row *row)
{
	return row->was ? f->cells + f->before.rows[row->was - 1].at : NULL;
}
/* Bit c: the c-th of n cells differ. */
static inline uint64_t as_cells_news(const int64_t *now, const int64_t *old, size_t n)
{
	uint64_t news = 0;

	for (size_t c = 0; c < n; c++)
		news |= (uint64_t)(now[c] != old[c]) << c;
	return news;
}
void as_frame_done(struct as_frame *f);
