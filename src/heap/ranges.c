#include "heap/ranges.h"

#include "base/fault.h"

enum { FIRST = 64 };

/* The first piece that ends behind `at`. */
static size_t find(const struct as_ranges *r, uint64_t at)
{
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->piece[mid].end > at)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static bool room(struct as_ranges *r)
{
	return as_grow(&r->piece, &r->cap, r->n, sizeof *r->piece, FIRST);
}

static void insert(struct as_ranges *r, size_t i, struct as_ranges_piece p)
{
	memmove(&r->piece[i + 1], &r->piece[i], (r->n - i) * sizeof p);
	r->piece[i] = p;
	r->n++;
	r->owner[p.owner].pieces++;
}

static bool new_owner(struct as_ranges *r, const struct as_live_entry *who, uint32_t *ret)
{
	uint32_t i = r->free ? r->free - 1 : (uint32_t)r->nowners;

	if (!r->free && !as_grow(&r->owner, &r->owner_cap, r->nowners, sizeof *r->owner, FIRST))
		return false;
	if (r->free)
		r->free = r->owner[i].next;
	else
		r->nowners++;
	r->owner[i] = (struct as_ranges_owner){.who = *who};
	*ret = i;
	return true;
}

bool as_ranges_map(struct as_ranges *r, const struct as_live_entry *who, uint64_t start,
		   uint64_t end)
{
	uint32_t owner;

	if (!room(r) || !new_owner(r, who, &owner))
		return false;
	insert(r, find(r, start), (struct as_ranges_piece){start, end, owner});
	return true;
}

/* --- giving back ----------------------------------------------------------- */

struct telling {
	as_ranges_fn *fn;
	void *arg;
};

static void tell(struct as_ranges *r, uint32_t owner, uint64_t bytes, bool whole,
		 const struct telling *to)
{
	struct as_ranges_owner *o = &r->owner[owner];

	o->pieces -= whole;
	to->fn(to->arg, &o->who, bytes, !o->pieces);
	if (o->pieces)
		return;
	o->next = r->free;
	r->free = owner + 1;
}

/* The range lies within one piece, and some of it stays on either side. */
static bool split(struct as_ranges *r, size_t i, uint64_t start, uint64_t end,
		  const struct telling *to)
{
	struct as_ranges_piece *p = &r->piece[i];

	if (i >= r->n || p->start >= start || p->end <= end)
		return false;
	struct as_ranges_piece behind = {end, p->end, p->owner};

	p->end = start;
	insert(r, i + 1, behind);
	tell(r, behind.owner, end - start, false, to);
	return true;
}

bool as_ranges_unmap(struct as_ranges *r, uint64_t start, uint64_t end, as_ranges_fn *fn, void *arg)
{
	struct telling to = {fn, arg};
	size_t lo = find(r, start), hi;

	if (start >= end || lo == r->n || r->piece[lo].start >= end)
		return true;
	if (!room(r))
		return false;
	if (split(r, lo, start, end, &to))
		return true;
	if (r->piece[lo].start < start) {
		tell(r, r->piece[lo].owner, r->piece[lo].end - start, false, &to);
		r->piece[lo++].end = start;
	}
	for (hi = lo; hi < r->n && r->piece[hi].end <= end; hi++)
		tell(r, r->piece[hi].owner, r->piece[hi].end - r->piece[hi].start, true, &to);
	if (hi < r->n && r->piece[hi].start < end) {
		tell(r, r->piece[hi].owner, end - r->piece[hi].start, false, &to);
		r->piece[hi].start = end;
	}
	memmove(&r->piece[lo], &r->piece[hi], (r->n - hi) * sizeof *r->piece);
	r->n -= hi - lo;
	return true;
}

bool as_ranges_first(const struct as_ranges *r, uint64_t start, uint64_t end,
		     struct as_ranges_piece *ret)
{
	size_t i = find(r, start);

	if (start >= end || i == r->n || r->piece[i].start >= end)
		return false;
	*ret = r->piece[i];
	if (ret->start < start)
		ret->start = start;
	if (ret->end > end)
		ret->end = end;
	return true;
}

void as_ranges_done(struct as_ranges *r)
{
	free(r->piece);
	free(r->owner);
	*r = (struct as_ranges){NULL};
}
