#include "unwind/trail.h"

#include <string.h>

/* ── what is still as it was ──────────────────────────────────────────── */

static bool same_regs(const struct as_unwind_regs *a, const struct as_unwind_regs *b)
{
	return a->sp == b->sp && a->pc == b->pc && a->fp == b->fp;
}

static uint64_t differs(const struct as_unwind_read *r, int word)
{
	return as_unwind_word(r->word[word].at) ^ r->word[word].is;
}

static bool changed(const struct as_unwind_read *r)
{
	return differs(r, 0) | differs(r, 1) | differs(r, 2);
}

/* The innermost of the first n frames that leads elsewhere than before, counted from 1; 0: none. */
static uint32_t changed_below(const struct as_trail *t, uint32_t n)
{
	while (n && !changed(&t->frame[n - 1].read))
		n--;
	return n;
}

/* ── the walk ─────────────────────────────────────────────────────────── */

struct walk {
	struct as_trail *t;
	struct as_unwind *u;
	struct as_unwind_stack stack;
	uint32_t old;  /* frames of the last walk that may be met yet */
	uint32_t sure; /* fresh frames up to the last that is no guess */
	bool told;     /* the present frame was reached by what a module tells */
};

/* Where the walk is: the registers of the frame that comes next. */
static struct as_trail_frame *here(struct walk *w)
{
	return &w->t->fresh[w->t->nfresh];
}

/* That frame is complete. */
static void keep(struct walk *w)
{
	bool guessed = here(w)->read.guessed;

	w->t->nfresh++;
	if (w->told || !guessed)
		w->sure = w->t->nfresh;
	w->told = !guessed;
}

/* Frames that are met again are taken over, as far as they lead where they did; true: all. */
static bool take_over(struct walk *w)
{
	struct as_trail *t = w->t;
	uint32_t changed = changed_below(t, w->old);

	if (!changed)
		return true;
	for (; w->old > changed && t->nfresh < AS_TRAIL_DEPTH; w->old--) {
		*here(w) = t->frame[w->old - 1];
		keep(w);
	}
	here(w)->at = t->frame[--w->old].at;
	return false;
}

static bool met(struct walk *w)
{
	const struct as_unwind_regs *at = &here(w)->at;
	const struct as_trail *t = w->t;

	while (w->old && t->frame[w->old - 1].at.sp < at->sp)
		w->old--;
	return w->old && same_regs(&t->frame[w->old - 1].at, at);
}

/* False: the stack ends. */
static bool step(struct walk *w)
{
	struct as_trail_frame *f = here(w);
	bool on = as_unwind_step(w->u, &w->stack, &f->at, &f[1].at, &f->read) == AS_UNWIND_ON;

	keep(w);
	return on;
}

/* Returns how many frames of the last walk stay; t->fresh has the others. */
static uint32_t walk(struct walk *w)
{
	struct as_trail *t = w->t;

	t->nfresh = 0;
	t->whole = true;
	while (t->nfresh < AS_TRAIL_DEPTH) {
		if (met(w) && take_over(w))
			return w->old;
		if (t->nfresh < AS_TRAIL_DEPTH && !step(w)) {
			t->nfresh = w->sure;
			return 0;
		}
	}
	t->whole = false;
	return 0;
}

/* ── both together ────────────────────────────────────────────────────── */

/* Leaves out the outermost frames, more than must be: the next walk shall find room. */
static uint32_t make_room(struct as_trail *t, uint32_t stay)
{
	uint32_t half = AS_TRAIL_DEPTH / 2;
	uint32_t rest = t->nfresh < half ? half - t->nfresh : 0;

	memmove(t->frame, t->frame + (stay - rest), rest * sizeof *t->frame);
	t->whole = false;
	t->same = 0;
	return rest;
}

static void join(struct as_trail *t, uint32_t stay)
{
	t->same = stay;
	if (t->nfresh + stay > AS_TRAIL_DEPTH)
		stay = make_room(t, stay);
	for (uint32_t i = 0; i < t->nfresh; i++)
		t->frame[stay + i] = t->fresh[t->nfresh - 1 - i];
	t->n = stay + t->nfresh;
}

static bool still_valid(struct as_trail *t, const struct as_unwind *u, uint64_t high)
{
	uint32_t unloads = atomic_load_explicit(u->unloads, memory_order_relaxed);
	bool valid = t->high == high && t->unloads == unloads;

	t->high = high;
	t->unloads = unloads;
	return valid;
}

void as_trail_walk(struct as_trail *t, struct as_unwind *u, const struct as_unwind_stack *stack)
{
	struct walk w = {.t = t, .u = u, .stack = *stack, .told = true};
	bool was_whole = t->whole;

	w.old = still_valid(t, u, stack->here.high) ? t->n : 0;
	uint32_t stay = walk(&w);
	if (stay && !was_whole && stay + t->nfresh < AS_TRAIL_DEPTH / 4) {
		/* what was cut off is wanted now that the rest is short */
		w = (struct walk){.t = t, .u = u, .stack = *stack, .told = true};
		stay = walk(&w);
	} else if (stay) {
		t->whole = was_whole;
	}
	join(t, stay);
}
