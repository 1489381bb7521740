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
	uint64_t address;                /* 0: none                                              */
	uint64_t ordinal : 56, rate : 8; /* rate: a number of the owner's            */
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
bool as_live_put(struct as_live *l, const struct as_live_entry *e, struct as_live_entry *ret_was);
/* Take it out; false: there is none. */
bool as_live_take(struct as_live *l, uint64_t address, struct as_live_entry *ret);
/* This address is about to be looked for. */
void as_live_hint(const struct as_live *l, uint64_t address);
size_t as_live_count(const struct as_live *l);
void as_live_done(struct as_live *l);
