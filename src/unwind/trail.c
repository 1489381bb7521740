#include "unwind/trail.h"

#include <string.h>

/* ── what is still as it was ──────────────────────────────────────────── */

static bool same_regs(const struct as_unwind_regs *a, const struct as_unwind_regs *b)
{
	return a->sp == b->sp && a->pc == b->pc && a->fp == b->fp;
}

/* The outermost frame has no caller whose registers were read. */
static bool unchanged(const struct as_trail_frame *f, const struct as_trail_frame *caller)
{
	const struct as_unwind_read *r = &f->read;

	if (r->pc_at && as_unwind_word(r->pc_at) != r->pc)
		return false;
	if (!caller)
		return true;
	return (!r->fp_at || as_unwind_word(r->fp_at) == caller->at.fp) &&
	       (!r->cfa_at || as_unwind_word(r->cfa_at) == caller->at.sp);
}

/* The innermost of the first n frames that leads elsewhere than before, counted from 1; 0: none. */
static uint32_t changed_below(const struct as_trail *t, uint32_t n)
{
	for (uint32_t i = n; i > 0; i--)
		if (!unchanged(&t->frame[i - 1], i > 1 ? &t->frame[i - 2] : NULL))
			return i;
	return 0;
}

/* ── the walk ─────────────────────────────────────────────────────────── */

struct walk {
	struct as_trail *t;
	struct as_unwind *u;
	struct as_unwind_stack stack;
	struct as_unwind_regs regs;
	uint32_t old;  /* frames of the last walk that may be met yet */
	uint32_t sure; /* fresh frames up to the last that is no guess */
	bool told;     /* the present frame was reached by what a module tells */
};

/* The frame that was written to the next free place of t->fresh is one. */
static void keep(struct walk *w)
{
	bool guessed = w->t->fresh[w->t->nfresh++].read.guessed;

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
		t->fresh[t->nfresh] = t->frame[w->old - 1];
		keep(w);
	}
	w->regs = t->frame[--w->old].at;
	return false;
}

static bool met(struct walk *w)
{
	const struct as_trail *t = w->t;

	while (w->old && t->frame[w->old - 1].at.sp < w->regs.sp)
		w->old--;
	return w->old && same_regs(&t->frame[w->old - 1].at, &w->regs);
}

/* False: the stack ends. */
static bool step(struct walk *w)
{
	struct as_trail_frame *f = &w->t->fresh[w->t->nfresh];

	f->at = w->regs;
	bool on = as_unwind_step(w->u, &w->stack, &w->regs, &f->read) == AS_UNWIND_ON;
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

static struct walk begin(struct as_trail *t, struct as_unwind *u, struct as_unwind_regs regs,
			 struct as_unwind_stack stack)
{
	uint32_t unloads = atomic_load_explicit(u->unloads, memory_order_relaxed);
	bool valid = t->high == stack.here.high && t->unloads == unloads;

	t->high = stack.here.high;
	t->unloads = unloads;
	return (struct walk){.t = t,
			     .u = u,
			     .stack = stack,
			     .regs = regs,
			     .old = valid ? t->n : 0,
			     .told = true};
}

void as_trail_walk(struct as_trail *t, struct as_unwind *u, struct as_unwind_regs regs,
		   struct as_unwind_stack stack)
{
	struct walk w = begin(t, u, regs, stack);
	bool was_whole = t->whole;
	uint32_t stay = walk(&w);

	if (stay && !was_whole && stay + t->nfresh < AS_TRAIL_DEPTH / 4) {
		t->n = 0; /* what was cut off is wanted now that the rest is short */
		w = begin(t, u, regs, stack);
		stay = walk(&w);
	} else if (stay) {
		t->whole = was_whole;
	}
	join(t, stay);
}
