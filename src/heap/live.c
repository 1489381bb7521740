#include "heap/live.h"

#include "base/fault.h"

enum {
	FIRST = 1024,    /* slots                                         */
	STEP = 16,       /* slots that move with a put, at least          */
	SMALL = 1 << 18, /* slots: with most of them free nearly all are where they should be */
	LARGE = 1 << 20, /* half of them are free; then a quarter         */
};

/* Where it is, or where it would go: a table always has a free slot. */
static inline size_t seek(const struct as_live_table *t, uint64_t address)
{
	size_t i = as_live_home(t, address);

	while (t->slot[i].address && t->slot[i].address != address)
		i = as_live_after(t, i);
	return i;
}

/* Those behind it move up as far as their homes allow, so that no search ends at the hole. */
static void erase(struct as_live_table *t, size_t hole)
{
	size_t mask = t->cap - 1;

	for (size_t i = as_live_after(t, hole); t->slot[i].address; i = as_live_after(t, i)) {
		size_t want = as_live_home(t, t->slot[i].address);

		if (((i - want) & mask) < ((i - hole) & mask))
			continue;
		t->slot[hole] = t->slot[i];
		hole = i;
	}
	t->slot[hole].address = 0;
	t->n--;
}

static bool take(struct as_live_table *t, uint64_t address, struct as_live_entry *ret)
{
	if (!t->n)
		return false;
	size_t i = seek(t, address);

	if (!t->slot[i].address)
		return false;
	*ret = t->slot[i];
	erase(t, i);
	return true;
}

/* --- growing -------------------------------------------------------------- */

static void place(struct as_live_table *t, const struct as_live_entry *e)
{
	t->slot[seek(t, e->address)] = *e;
	t->n++;
}

/*
 * Runs of entries move whole: whoever looks for one of the old table either
 * finds its run as it was, or a free slot where the run began.
 */
static void step(struct as_live *l, size_t least)
{
	bool within = false;

	for (size_t i = 0; l->left && (i < least || within); i++, l->left--) {
		struct as_live_entry *e = &l->old.slot[l->at];

		within = e->address;
		if (within) {
			place(&l->now, e);
			e->address = 0;
			l->old.n--;
		}
		l->at = as_live_after(&l->old, l->at);
	}
	if (l->left)
		return;
	free(l->old.slot);
	l->old = (struct as_live_table){NULL};
}

static bool make(struct as_live_table *t, size_t cap)
{
	t->slot = as_zalloc_n(cap, sizeof *t->slot);
	t->cap = cap;
	t->n = 0;
	t->shift = 64 - (unsigned)__builtin_ctzll(cap);
	return t->slot;
}

static size_t limit(size_t cap)
{
	return cap <= SMALL ? cap / 4 : cap <= LARGE ? cap / 2 : cap / 4 * 3;
}

/* The move begins behind a free slot, which no run crosses. */
static bool grow(struct as_live *l)
{
	struct as_live_table wide;

	if (l->old.slot)
		step(l, SIZE_MAX);
	if (!make(&wide, l->now.cap ? l->now.cap * 2 : FIRST))
		return false;
	l->old = l->now;
	l->now = wide;
	l->most = limit(wide.cap);
	if (!l->old.slot)
		return true;
	l->at = 0;
	while (l->old.slot[l->at].address)
		l->at++;
	l->left = l->old.cap;
	return true;
}

/* A table that cannot grow is filled up to the last slot but one. */
static bool more_room(struct as_live *l)
{
	return grow(l) || as_live_count(l) + 1 < l->now.cap;
}

/* --- the door ------------------------------------------------------------- */

/* What of the old table has that address is taken out, and some of it moves. */
static void move(struct as_live *l, uint64_t address, struct as_live_entry *ret_was)
{
	(void)take(&l->old, address, ret_was);
	step(l, STEP);
}

bool as_live_put_slowly(struct as_live *l, const struct as_live_entry *e,
			struct as_live_entry *ret_was)
{
	ret_was->address = 0;
	if (!e->address || (as_live_count(l) >= l->most && !more_room(l)))
		return false;
	if (l->old.slot)
		move(l, e->address, ret_was);
	struct as_live_entry *s = &l->now.slot[seek(&l->now, e->address)];

	if (s->address)
		*ret_was = *s;
	else
		l->now.n++;
	*s = *e;
	return true;
}

bool as_live_take_slowly(struct as_live *l, uint64_t address, struct as_live_entry *ret)
{
	return address && (take(&l->now, address, ret) || take(&l->old, address, ret));
}

size_t as_live_count(const struct as_live *l)
{
	return l->now.n + l->old.n;
}

void as_live_done(struct as_live *l)
{
	free(l->now.slot);
	free(l->old.slot);
	*l = (struct as_live){{NULL}};
}
