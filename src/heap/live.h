#pragma once
/*
 * live -- which allocation an address is, while it is.
 *
 * Open addressing with 24 bytes an entry. Most of what a busy program does is
 * to look here once and miss the cache; as_live_hint() some records ahead hides
 * that. A table that is full moves to one twice as large bit by bit, with the
 * puts that follow, so no put takes long.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_live_entry {
	uint64_t address; /* 0: none                                               */
	uint64_t which;   /* a number of the owner's                                */
	uint32_t kind;
	uint32_t mark; /* how many allocations its thread had made; wraps           */
};

struct as_live_table {
	struct as_live_entry *slot;
	size_t cap, n;
	unsigned shift;
};

/* All zeros is an empty one. */
struct as_live {
	struct as_live_table now, old; /* old: what has not moved yet               */
	size_t at, left;               /* the next slot of it, and how many are left */
	size_t most;                   /* with more in it `now` is to grow           */
};

/*
 * False for want of memory: it is not there. `ret_was` is what was at that
 * address, which is no more, or has the address 0.
 */
static inline bool as_live_put(struct as_live *l, struct as_live_entry e,
			       struct as_live_entry *ret_was);
/* Take it out; false: there is none. */
static inline bool as_live_take(struct as_live *l, uint64_t address, struct as_live_entry *ret);
/* This address is about to be looked for. */
static inline void as_live_hint(const struct as_live *l, uint64_t address);
size_t as_live_count(const struct as_live *l);
void as_live_done(struct as_live *l);

/* --- what nearly all come to: its slot is free, or its, and nobody was placed behind it --- */

bool as_live_put_slowly(struct as_live *l, const struct as_live_entry *e,
			struct as_live_entry *ret_was);
bool as_live_take_slowly(struct as_live *l, uint64_t address, struct as_live_entry *ret);

static inline size_t as_live_home(const struct as_live_table *t, uint64_t address)
{
	return (address ^ address >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> t->shift;
}

static inline size_t as_live_after(const struct as_live_table *t, size_t i)
{
	return (i + 1) & (t->cap - 1);
}

static inline bool as_live_put(struct as_live *l, struct as_live_entry e,
			       struct as_live_entry *ret_was)
{
	struct as_live_table *t = &l->now;
	struct as_live_entry *s = NULL;

	if (!l->old.slot && t->n < l->most && e.address)
		s = &t->slot[as_live_home(t, e.address)];
	if (!s || s->address) {
		struct as_live_entry copy = e; /* so that `e` needs no address */

		return as_live_put_slowly(l, &copy, ret_was);
	}
	ret_was->address = 0;
	*s = e;
	t->n++;
	return true;
}

static inline bool as_live_take(struct as_live *l, uint64_t address, struct as_live_entry *ret)
{
	struct as_live_table *t = &l->now;

	if (!t->n || !address)
		return as_live_take_slowly(l, address, ret);
	size_t i = as_live_home(t, address);
	struct as_live_entry *s = &t->slot[i];

	if (s->address != address || t->slot[as_live_after(t, i)].address)
		return as_live_take_slowly(l, address, ret);
	*ret = *s;
	s->address = 0;
	t->n--;
	return true;
}

static inline void as_live_hint(const struct as_live *l, uint64_t address)
{
	if (l->now.slot)
		__builtin_prefetch(&l->now.slot[as_live_home(&l->now, address)], 1);
}
