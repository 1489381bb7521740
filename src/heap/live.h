#pragma once
/*
 * live -- which allocation an address is, while it is.
 *
 * Found as memory itself is, by the page: whoever is used together lies together
 * here too, and nothing is in anybody's way. Where many blocks live in a page of 4
 * KiB, or one after the other did, there is an entry for each 16 bytes of it, else a
 * list of a few: what is needed is never more than the program needs, and for large
 * blocks next to nothing. Addresses that are no multiple of 16 are another page.
 *
 * as_live_near() some records ahead hides that memory is slow.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_live_entry {
	uint64_t which; /* a number of the owner's; 0: there is none                */
	uint32_t kind;
	uint32_t mark; /* how many allocations its thread had made; wraps           */
};

enum {
	AS_LIVE_FEW = 8,
	AS_LIVE_OFTEN = 128,  /* blocks that began in a page: it is worth all entries */
	AS_LIVE_PAGES = 64,   /* of a region  */
	AS_LIVE_PLACES = 256, /* of a page    */
	AS_LIVE_NEAR = 512,
};

struct as_live_few {
	uint64_t place; /* of each of them in the page, a byte each */
	uint32_t begun; /* blocks, so far                            */
	struct as_live_entry at[AS_LIVE_FEW];
};

struct as_live_region {
	struct as_live_entry *all[AS_LIVE_PAGES]; /* [AS_LIVE_PLACES]; NULL: only a few */
	struct as_live_few *few[AS_LIVE_PAGES];
};

/* All zeros is an empty one. */
struct as_live {
	struct as_live_slot {
		uint64_t key; /* 0: none */
		struct as_live_region *region;
	} * slot;
	size_t cap, n;
	unsigned shift;
	/*
	 * Pages that were found last: a program goes round in few of them. By number: that
	 * + 1, 0: none; and all entries of each. Never page 0: who asks for it may be wrong.
	 */
	uint64_t near[AS_LIVE_NEAR];
	struct as_live_entry *all[AS_LIVE_NEAR];
};

/*
 * The entry of an address, which stays where it is until another is asked for so.
 * NULL: there is none, and not `make`, or no memory.
 */
struct as_live_entry *as_live_at(struct as_live *l, uint64_t address, bool make);
/*
 * The same where it stays for ever; NULL: ask as_live_at() when it is its turn. First
 * as_live_near(), which mostly has it, then as_live_far().
 */
static inline struct as_live_entry *as_live_near(struct as_live *l, uint64_t address);
struct as_live_entry *as_live_far(struct as_live *l, uint64_t address);
void as_live_done(struct as_live *l);

/* --- in detail ---------------------------------------------------------------- */

/* The last four bits go to the top: then place, page and region, from below. */
static inline uint64_t as_live_where(uint64_t address)
{
	return address >> 4 | address << 60;
}

static inline struct as_live_entry *as_live_near(struct as_live *l, uint64_t address)
{
	uint64_t where = as_live_where(address), page = where / AS_LIVE_PLACES;

	if (__builtin_expect(l->near[page % AS_LIVE_NEAR] != page + 1, 0))
		return NULL;
	struct as_live_entry *at = l->all[page % AS_LIVE_NEAR] + where % AS_LIVE_PLACES;

	__builtin_prefetch(at, 1);
	return at;
}
