#include "tui/heap_top.h"

#include <math.h>
#include <stdlib.h>

void as_heap_top_close(struct as_heap_top *t)
{
	free(t->list.row);
	free(t->thread);
	*t = (struct as_heap_top){.thread = NULL};
}

/* ── ticks ────────────────────────────────────────────────────────────── */

static void make_threads(struct as_heap_top *t)
{
	as_cleanup(as_heap_parts_done) struct as_heap_parts parts = {0};
	struct as_err err;

	if (as_heap_parts(t->facts.heap, &parts, &err) < 0) {
		t->short_of = true;
		return;
	}
	free(t->thread);
	t->thread = as_take(parts.thread);
	t->list.nthreads = t->facts.heap->nthreads;
}

static void make(struct as_heap_top *t)
{
	if (!t->facts.heap)
		return;
	t->short_of = false;
	make_threads(t);
	as_heap_top_make_rows(t);
}

void as_heap_top_tick(struct as_heap_top *t, const struct as_heap_top_facts *now)
{
	t->facts = *now;
	if (now->running) {
		as_trail_add(&t->heap, (double)now->now.held.bytes);
		as_trail_add(&t->rss,
			     now->now.rss.rss < 0 ? (double)NAN : (double)now->now.rss.rss);
	}
	make(t);
}

/* ── keys ─────────────────────────────────────────────────────────────── */

static void act(struct as_heap_top *t, int key)
{
	if (key == 'l')
		t->functions = !t->functions;
	else if (key == 'm')
		t->peak = !t->peak;
	else if (key == 'o' && t->facts.output)
		as_browse_go(&t->list, AS_BROWSE_OUTPUT);
}

/* Who would end something by leaving is asked. */
static bool leave(struct as_heap_top *t)
{
	bool sure = t->leaving || !t->facts.running || !t->facts.ours;

	t->leaving = true;
	return !sure;
}

static void turn(struct as_heap_top *t, int key)
{
	enum as_browse_did did = as_browse_key(&t->list, &as_heap_top_kind, key);

	if (did == AS_BROWSE_NOTHING)
		act(t, key);
	if (did != AS_BROWSE_MOVED)
		make(t);
}

/* Any key is a letter, or goes back. */
static bool is_away(const struct as_browse *b)
{
	return b->typing || b->view == AS_BROWSE_HELP || b->view == AS_BROWSE_OUTPUT;
}

bool as_heap_top_key(struct as_heap_top *t, int key)
{
	if (is_away(&t->list))
		turn(t, key);
	else if (key == 'q')
		return leave(t);
	else if (t->leaving)
		t->leaving = false;
	else
		turn(t, key);
	return true;
}
