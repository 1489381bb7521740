#pragma once
/*
 * browse -- functions or lines with their values, to be walked through with
 * keys: what the screens of `assay top` and `assay heap live` have in common.
 *
 * A screen has one of these, makes its rows, and describes itself in a const
 * struct as_browse_kind: columns, help, and how a row and a thread are written.
 */
#include "base/human.h"
#include "profile/profile.h"
#include "tui/key.h"
#include "tui/pen.h"

enum {
	AS_BROWSE_COLUMNS = 5,
	AS_BROWSE_WIDE = 60, /* columns of the screen from which all of ours fit */
};

enum as_browse_view { AS_BROWSE_ROWS, AS_BROWSE_THREADS, AS_BROWSE_HELP, AS_BROWSE_OUTPUT };

/* A function, or a line. */
struct as_browse_row {
	uint32_t place;
	int64_t value[AS_BROWSE_COLUMNS];
};

struct as_browse {
	/* as the keys have set it */
	enum as_browse_view view;
	unsigned sort; /* a column */
	bool paused, typing;
	char search[64];
	size_t only; /* a thread by its number + 1; 0: all of them                        */
	size_t at;   /* the first row that is shown; of the threads the one that is marked */
	size_t page; /* rows that fitted last time                                        */

	/* as the screen has made it */
	struct as_browse_row *row;
	size_t nrows, nthreads;
	const char *none; /* why there are no rows; NULL: they are still to come */
};

struct as_browse_column {
	const char *title, *name; /* over it; in a sentence */
	int width;
	bool narrow; /* there is room for it in a narrow screen too */
};

struct as_browse_help {
	const char *keys, *what;
};

/* `screen` is what as_browse_draw() was given. */
struct as_browse_kind {
	const struct as_browse_column *column;
	size_t ncolumns;
	const char *thread_head; /* over the threads                                    */
	int thread_col;          /* where their names begin                             */
	const char *foot, *narrow_foot;
	const char *help_head;
	const struct as_browse_help *help;
	size_t nhelp;
	struct as_text (*value)(const void *screen, const struct as_browse_row *, unsigned column);
	bool (*is_hot)(const void *screen, const struct as_browse_row *);
	void (*put_name)(const void *screen, struct as_canvas *, int row, int col, uint32_t place);
	void (*put_thread)(const void *screen, struct as_canvas *, int row, size_t i);
};

/* ── keys ─────────────────────────────────────────────────────────────── */

enum as_browse_did {
	AS_BROWSE_NOTHING, /* the key is the screen's own affair   */
	AS_BROWSE_MOVED,   /* the rows are the same                */
	AS_BROWSE_CHANGED, /* they have to be made anew            */
};

enum as_browse_did as_browse_key(struct as_browse *b, const struct as_browse_kind *k, int key);
void as_browse_go(struct as_browse *b, enum as_browse_view view);

/* ── rows ─────────────────────────────────────────────────────────────── */

/* Room for a row of each place; false: no memory. */
bool as_browse_room(struct as_browse *b, const struct as_profile *p);
/* For each place the one that stands for it: its function, or itself. NULL: no memory. */
uint32_t *as_browse_groups(const struct as_profile *p, bool functions);
/* If its name or file has what is searched for. */
void as_browse_add(struct as_browse *b, const struct as_profile *p, uint32_t place,
		   const int64_t *value, size_t n);
void as_browse_sort(struct as_browse *b, size_t ncolumns);

/* ── drawing ──────────────────────────────────────────────────────────── */

/* For the head: what is searched for, and that it is paused. */
void as_browse_state(const struct as_browse *b, struct as_pen *p);
/* Rows or threads, from a line of the screen to the last but one. `what`: a row is one. */
void as_browse_draw(struct as_browse *b, const struct as_browse_kind *k, const void *screen,
		    const char *what, struct as_canvas *g, int from);
void as_browse_foot(const struct as_browse *b, const struct as_browse_kind *k, struct as_canvas *g);
void as_browse_help(const struct as_browse_kind *k, struct as_canvas *g);
