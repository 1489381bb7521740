#include "run/frame.h"

#include <string.h>

#include "base/fault.h"

/* ── grids ────────────────────────────────────────────────────────────── */

/* How far a row is looked for: farther on it counts as new. */
enum { LOOK_AHEAD = 64 };

bool as_grid_room(struct as_grid *g, size_t rows, size_t cells)
{
	while (g->rows_cap < rows)
		if (!as_grow(&g->rows, &g->rows_cap, g->rows_cap, sizeof *g->rows, 16))
			return false;
	while (g->cells_cap < cells)
		if (!as_grow(&g->cells, &g->cells_cap, g->cells_cap, sizeof *g->cells, 256))
			return false;
	return true;
}

size_t as_grid_find(const struct as_grid *g, size_t cursor, enum as_scope scope, uint32_t instance)
{
	size_t end = g->n - cursor > LOOK_AHEAD ? cursor + LOOK_AHEAD : g->n;

	for (size_t i = cursor; i < end; i++)
		if (g->rows[i].instance == instance && g->rows[i].scope == scope)
			return i;
	return AS_NO_ROW;
}

void as_grid_done(struct as_grid *g)
{
	free(g->rows);
	free(g->cells);
	*g = (struct as_grid){0};
}

/* ── frames ───────────────────────────────────────────────────────────── */

static void show(struct as_frame *f)
{
	f->n = f->now.n;
	f->rows = f->now.rows;
	f->cells = f->now.cells;
}

/* The cells that are still of a row, one after another in the other grid's memory. */
static void move_together(struct as_frame *f)
{
	if (!as_grid_room(&f->before, 0, f->live))
		return; /* they stay scattered: it costs room, and nothing is lost */
	int64_t *to = f->before.cells;
	size_t cap = f->before.cells_cap, n = 0;

	for (size_t i = 0; i < f->now.n; i++) {
		struct as_row *row = &f->now.rows[i];
		size_t width = as_scope_info(row->scope)->n;

		memcpy(to + n, f->now.cells + row->at, width * sizeof *to);
		row->at = n;
		n += width;
	}
	f->before.cells = f->now.cells;
	f->before.cells_cap = f->now.cells_cap;
	f->now.cells = to;
	f->now.cells_cap = cap;
	f->now.ncells = n;
}

/* The rows become those of before. Cells are of both. */
static void turn_over(struct as_frame *f)
{
	struct as_row *rows = f->before.rows;
	size_t cap = f->before.rows_cap;

	f->before.rows = f->now.rows;
	f->before.rows_cap = f->now.rows_cap;
	f->before.n = f->now.n;
	f->now.rows = rows;
	f->now.rows_cap = cap;
	f->now.n = 0;
}

void as_frame_start(struct as_frame *f, int64_t t_ns)
{
	if (f->now.ncells > 2 * f->live)
		move_together(f);
	turn_over(f);
	f->live = 0;
	f->t_ns = t_ns;
	f->cursor = 0;
	f->bad = false;
	for (size_t i = 0; i < AS_NSCOPES; i++)
		f->first[i] = 0;
	show(f);
}

enum { COLUMNS_MAX = 64 }; /* as many as there are bits in `news` */

_Static_assert(AS_F_PROC_USER - AS_F_JOB_CPU <= COLUMNS_MAX, "the widest scope");
_Static_assert(AS_F_SOCK_PROTOCOL - AS_F_LOAD_REQUESTS <= COLUMNS_MAX, "the next");

static uint64_t all_news(enum as_scope scope)
{
	return UINT64_MAX >> (COLUMNS_MAX - as_scope_info(scope)->n);
}

/* A row with room for its cells, which are the caller's to set; NULL for want of memory. */
static struct as_row *add(struct as_frame *f, enum as_scope scope, uint32_t instance, size_t was)
{
	size_t n = as_scope_info(scope)->n;

	if (!as_grid_room(&f->now, f->now.n + 1, f->now.ncells + n)) {
		f->bad = true;
		return NULL;
	}
	struct as_row *row = &f->now.rows[f->now.n++];
	*row = (struct as_row){.scope = scope,
			       .instance = instance,
			       .at = f->now.ncells,
			       .news = all_news(scope)};
	f->now.ncells += n;
	f->live += n;
	if (was != AS_NO_ROW) {
		row->was = (uint32_t)was + 1;
		f->cursor = was + 1;
	}
	show(f);
	return row;
}

int64_t *as_frame_row(struct as_frame *f, enum as_scope scope, uint32_t instance)
{
	if (!instance && f->first[scope])
		return f->cells + f->rows[f->first[scope] - 1].at;
	size_t was = as_grid_find(&f->before, f->cursor, scope, instance);
	const struct as_row *row = add(f, scope, instance, was);
	int64_t *cells = row ? f->cells + row->at : f->spare;
	if (row && !instance)
		f->first[scope] = f->n;
	for (size_t i = 0; i < as_scope_info(scope)->n; i++)
		cells[i] = AS_NA;
	return cells;
}

/* So many rows of the tick before, one after another, from `was` on. */
static bool repeat(struct as_frame *f, size_t was, size_t n)
{
	if (!as_grid_room(&f->now, f->now.n + n, 0)) {
		f->bad = true;
		return false;
	}
	for (size_t i = was; i < was + n; i++) {
		struct as_row *row = &f->now.rows[f->now.n++];

		*row = f->before.rows[i];
		row->was = (uint32_t)i + 1;
		row->same = true;
		row->news = 0;
		f->live += as_scope_info(row->scope)->n;
	}
	f->cursor = was + n;
	show(f);
	return true;
}

bool as_frame_same(struct as_frame *f, enum as_scope scope, uint32_t instance)
{
	size_t was = as_grid_find(&f->before, f->cursor, scope, instance);

	return was != AS_NO_ROW && repeat(f, was, 1);
}

/* The number of rows from `at` on that are of this scope. */
static size_t followers(const struct as_grid *g, size_t at, enum as_scope scope)
{
	size_t end = at;

	while (end < g->n && g->rows[end].scope == scope)
		end++;
	return end - at;
}

bool as_frame_same_family(struct as_frame *f, enum as_scope scope, uint32_t instance,
			  enum as_scope of, size_t n)
{
	size_t was = as_grid_find(&f->before, f->cursor, scope, instance);

	return was != AS_NO_ROW && followers(&f->before, was + 1, of) == n && repeat(f, was, n + 1);
}

void as_frame_settle(struct as_frame *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct as_row *row = &f->rows[i];

		if (!row->was || row->same)
			continue;
		row->news = as_cells_news(f->cells + row->at, as_frame_old_cells(f, row),
					  as_scope_info(row->scope)->n);
		row->same = !row->news;
	}
}

void as_frame_done(struct as_frame *f)
{
	as_grid_done(&f->now);
	as_grid_done(&f->before);
	*f = (struct as_frame){0};
}
