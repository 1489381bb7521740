#include "tui/browse.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "profile/functions.h"
#include "profile/write.h"

/* ── keys ─────────────────────────────────────────────────────────────── */

void as_browse_go(struct as_browse *b, enum as_browse_view view)
{
	b->view = view;
	b->at = view == AS_BROWSE_THREADS ? b->only : 0;
}

static bool move(struct as_browse *b, int key)
{
	size_t last = b->nrows > b->page ? b->nrows - b->page : 0;

	return as_key_move(&b->at, b->view == AS_BROWSE_THREADS ? b->nthreads : last, b->page, key);
}

static void type(struct as_browse *b, int key)
{
	b->typing = as_key_type(b->search, sizeof b->search, key);
	b->at = 0;
}

static void choose_thread(struct as_browse *b, int key)
{
	if (key == AS_KEY_ENTER)
		b->only = b->at;
	if (key == AS_KEY_ENTER || key == AS_KEY_ESCAPE || key == 't')
		as_browse_go(b, AS_BROWSE_ROWS);
}

static void sort_by(struct as_browse *b, size_t column)
{
	b->sort = (unsigned)column;
	b->at = 0;
}

static void escape(struct as_browse *b)
{
	if (b->search[0])
		b->search[0] = '\0';
	else
		b->only = 0;
	b->at = 0;
}

static bool act(struct as_browse *b, size_t ncolumns, int key)
{
	if (key == 's')
		sort_by(b, (b->sort + 1) % ncolumns);
	else if (key == 'S')
		sort_by(b, (b->sort + ncolumns - 1) % ncolumns);
	else if (key == '/')
		b->typing = true;
	else if (key == 't')
		as_browse_go(b, AS_BROWSE_THREADS);
	else if (key == 'p' || key == ' ')
		b->paused = !b->paused;
	else if (key == '?' || key == 'h')
		as_browse_go(b, AS_BROWSE_HELP);
	else if (key == AS_KEY_ESCAPE)
		escape(b);
	else
		return false;
	return true;
}

enum as_browse_did as_browse_key(struct as_browse *b, const struct as_browse_kind *k, int key)
{
	if (b->typing)
		type(b, key);
	else if (b->view == AS_BROWSE_HELP || b->view == AS_BROWSE_OUTPUT)
		as_browse_go(b, AS_BROWSE_ROWS);
	else if (move(b, key))
		return AS_BROWSE_MOVED;
	else if (b->view == AS_BROWSE_THREADS)
		choose_thread(b, key);
	else if (!act(b, k->ncolumns, key))
		return AS_BROWSE_NOTHING;
	return AS_BROWSE_CHANGED;
}

/* ── rows ─────────────────────────────────────────────────────────────── */

bool as_browse_room(struct as_browse *b, const struct as_profile *p)
{
	struct as_browse_row *row = as_realloc(b->row, p->nplaces * sizeof *row);

	if (row)
		b->row = row;
	return row;
}

uint32_t *as_browse_groups(const struct as_profile *p, bool functions)
{
	if (functions)
		return as_profile_functions(p);
	uint32_t *of = as_zalloc_n(p->nplaces, sizeof *of);
	for (uint32_t i = 0; of && i < p->nplaces; i++)
		of[i] = i;
	return of;
}

static bool is_wanted(const struct as_browse *b, const struct as_profile *p, uint32_t place)
{
	const struct as_place *at = &p->place[place];
	struct as_spelling how = {0};

	return !b->search[0] || strcasestr(p->text[at->function], b->search) ||
	       strcasestr(as_spell_file(p, at, &how), b->search);
}

void as_browse_add(struct as_browse *b, const struct as_profile *p, uint32_t place,
		   const int64_t *value, size_t n)
{
	if (!is_wanted(b, p, place))
		return;
	struct as_browse_row *row = &b->row[b->nrows++];

	row->place = place;
	memcpy(row->value, value, n * sizeof *value);
}

struct order {
	size_t first, n;
};

static int compare(const void *a, const void *b, void *data)
{
	const struct as_browse_row *x = a, *y = b;
	const struct order *o = data;

	/* by what was asked for, then by the other values, then by age */
	for (size_t i = 0; i < o->n; i++) {
		size_t by = (o->first + i) % o->n;

		if (x->value[by] != y->value[by])
			return x->value[by] < y->value[by] ? 1 : -1;
	}
	return x->place < y->place ? -1 : x->place > y->place;
}

void as_browse_sort(struct as_browse *b, size_t ncolumns)
{
	struct order order = {b->sort, ncolumns};

	qsort_r(b->row, b->nrows, sizeof *b->row, compare, &order);
}
