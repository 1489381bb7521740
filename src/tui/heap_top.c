#include "tui/heap_top.h"

#include <math.h>
#include <stdlib.h>

void as_heap_top_close(struct as_heap_top *t)
{
	free(t->row);
	free(t->thread);
	*t = (struct as_heap_top){.row = NULL};
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
	t->nthreads = t->facts.heap->nthreads;
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

static void go_to(struct as_heap_top *t, enum as_heap_top_view view)
{
	t->view = view;
	t->at = view == AS_HEAP_TOP_THREADS ? t->only : 0;
}

static bool move(struct as_heap_top *t, int key)
{
	bool threads = t->view == AS_HEAP_TOP_THREADS;
	size_t n = threads ? t->nthreads + 1 : t->nrows;
	size_t last = threads ? n - 1 : n > t->page ? n - t->page : 0;

	return as_key_move(&t->at, last, t->page, key);
}

static void type(struct as_heap_top *t, int key)
{
	t->typing = as_key_type(t->search, sizeof t->search, key);
	t->at = 0;
}

static void choose_thread(struct as_heap_top *t, int key)
{
	if (key == AS_KEY_ENTER)
		t->only = t->at;
	if (key == AS_KEY_ENTER || key == AS_KEY_ESCAPE || key == 't')
		go_to(t, AS_HEAP_TOP_ROWS);
}

static void sort(struct as_heap_top *t, unsigned step)
{
	t->sort = (t->sort + step) % AS_HEAP_TOP_SORTS;
	t->at = 0;
}

static void escape(struct as_heap_top *t)
{
	if (t->search[0])
		t->search[0] = '\0';
	else
		t->only = 0;
	t->at = 0;
}

static void act(struct as_heap_top *t, int key)
{
	if (key == 's' || key == 'S')
		sort(t, key == 's' ? 1 : AS_HEAP_TOP_SORTS - 1);
	else if (key == '/')
		t->typing = true;
	else if (key == 'l')
		t->functions = !t->functions;
	else if (key == 't')
		go_to(t, AS_HEAP_TOP_THREADS);
	else if (key == 'm')
		t->peak = !t->peak;
	else if (key == 'p' || key == ' ')
		t->paused = !t->paused;
	else if (key == 'o' && t->facts.output)
		go_to(t, AS_HEAP_TOP_OUTPUT);
	else if (key == '?' || key == 'h')
		go_to(t, AS_HEAP_TOP_HELP);
	else if (key == AS_KEY_ESCAPE)
		escape(t);
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
	if (move(t, key))
		return;
	if (t->view == AS_HEAP_TOP_THREADS)
		choose_thread(t, key);
	else
		act(t, key);
	make(t);
}

bool as_heap_top_key(struct as_heap_top *t, int key)
{
	if (t->typing) {
		type(t, key);
		make(t);
	} else if (t->view == AS_HEAP_TOP_HELP || t->view == AS_HEAP_TOP_OUTPUT) {
		go_to(t, AS_HEAP_TOP_ROWS);
	} else if (key == 'q') {
		return leave(t);
	} else if (t->leaving) {
		t->leaving = false;
	} else {
		turn(t, key);
	}
	return true;
}
