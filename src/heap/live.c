#include "heap/live.h"

#include "base/fault.h"

enum {
	FIRST = 64, /* regions                                       */
	SPARE = 4,  /* slots for each: nearly all are where they should be */
};

#define EACH_BYTE UINT64_C(0x0101010101010101)

static uint64_t key_of(uint64_t where)
{
	return where / ((uint64_t)AS_LIVE_PLACES * AS_LIVE_PAGES) + 1;
}

static size_t page_of(uint64_t where)
{
	return where / AS_LIVE_PLACES % AS_LIVE_PAGES;
}

/* --- regions ------------------------------------------------------------------- */

/* Where a region is, or would be: there is always a free slot. */
static struct as_live_slot *seek(const struct as_live *l, uint64_t key)
{
	size_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> l->shift;

	while (l->slot[i].key && l->slot[i].key != key)
		i = (i + 1) & (l->cap - 1);
	return &l->slot[i];
}

static bool widen(struct as_live *l)
{
	size_t had = l->cap, cap = had ? had * 2 : (size_t)FIRST * SPARE;
	struct as_live_slot *old = l->slot, *slot = as_zalloc_n(cap, sizeof *slot);

	if (!slot)
		return false;
	l->slot = slot;
	l->cap = cap;
	l->shift = 64 - (unsigned)__builtin_ctzll(cap);
	for (size_t i = 0; i < had; i++)
		if (old[i].key)
			*seek(l, old[i].key) = old[i];
	free(old);
	return true;
}

static struct as_live_region *region_at(struct as_live *l, uint64_t key, bool make)
{
	if (make && l->n * SPARE >= l->cap && !widen(l))
		return NULL;
	struct as_live_slot *s = l->slot ? seek(l, key) : NULL;

	if (!s || s->key || !make)
		return s ? s->region : NULL;
	s->region = as_zalloc(sizeof *s->region);
	if (!s->region)
		return NULL;
	s->key = key;
	l->n++;
	return s->region;
}

/* --- a few ---------------------------------------------------------------------- */

/* The first that has, or had, that place; AS_LIVE_FEW: none. */
static unsigned find_place(const struct as_live_few *f, uint8_t place)
{
	uint64_t other = f->place ^ place * EACH_BYTE,
		 zero = (other - EACH_BYTE) & ~other & EACH_BYTE << 7;

	return zero ? (unsigned)__builtin_ctzll(zero) / 8 : AS_LIVE_FEW;
}

static unsigned find_free(const struct as_live_few *f)
{
	unsigned i = 0;

	while (i < AS_LIVE_FEW && f->at[i].which)
		i++;
	return i;
}

static void set_place(struct as_live_few *f, unsigned i, uint8_t place)
{
	f->place = (f->place & ~(UINT64_C(0xff) << 8 * i)) | (uint64_t)place << 8 * i;
}

static uint8_t place_of(const struct as_live_few *f, unsigned i)
{
	return (uint8_t)(f->place >> 8 * i);
}

/* There are more than a few, or were. */
static struct as_live_entry *spread(struct as_live_region *r, size_t page)
{
	struct as_live_few *f = r->few[page];
	struct as_live_entry *all = as_zalloc_n(AS_LIVE_PLACES, sizeof *all);

	if (!all)
		return NULL;
	for (unsigned i = 0; i < AS_LIVE_FEW; i++)
		if (f->at[i].which)
			all[place_of(f, i)] = f->at[i];
	free(f);
	r->few[page] = NULL;
	r->all[page] = all;
	return all;
}

static struct as_live_entry *one_of_few(struct as_live_region *r, size_t page, uint8_t place,
					bool make)
{
	struct as_live_few *f = r->few[page];
	unsigned i = find_place(f, place);

	if (i == AS_LIVE_FEW && !make)
		return NULL;
	if (i == AS_LIVE_FEW)
		i = find_free(f);
	if (make && (i == AS_LIVE_FEW || ++f->begun >= AS_LIVE_OFTEN)) {
		struct as_live_entry *all = spread(r, page);

		if (all)
			return &all[place];
		if (i == AS_LIVE_FEW)
			return NULL;
	}
	set_place(f, i, place);
	return &f->at[i];
}

/* --- the door ------------------------------------------------------------------- */

struct as_live_entry *as_live_at(struct as_live *l, uint64_t address, bool make)
{
	uint64_t where = as_live_where(address);
	size_t page = page_of(where);
	struct as_live_region *r = region_at(l, key_of(where), make);

	if (!r)
		return NULL;
	if (r->all[page])
		return &r->all[page][where % AS_LIVE_PLACES];
	if (!r->few[page] && make)
		r->few[page] = as_zalloc(sizeof *r->few[page]);
	return r->few[page] ? one_of_few(r, page, where % AS_LIVE_PLACES, make) : NULL;
}

struct as_live_entry *as_live_far(struct as_live *l, uint64_t address)
{
	uint64_t where = as_live_where(address), page = where / AS_LIVE_PLACES;
	const struct as_live_region *r = region_at(l, key_of(where), false);
	struct as_live_entry *all = r ? r->all[page_of(where)] : NULL;

	if (!all) {
		__builtin_prefetch(r ? r->few[page_of(where)] : NULL, 1);
		return NULL;
	}
	if (page) {
		l->near[page % AS_LIVE_NEAR] = page + 1;
		l->all[page % AS_LIVE_NEAR] = all;
	}
	all += where % AS_LIVE_PLACES;
	__builtin_prefetch(all, 1);
	return all;
}

static void free_region(struct as_live_region *r)
{
	for (size_t i = 0; r && i < AS_LIVE_PAGES; i++) {
		free(r->all[i]);
		free(r->few[i]);
	}
	free(r);
}

void as_live_done(struct as_live *l)
{
	for (size_t i = 0; i < l->cap; i++)
		free_region(l->slot[i].region);
	free(l->slot);
	*l = (struct as_live){NULL};
}
