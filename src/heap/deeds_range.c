/* What is done to ranges of addresses, and told at once. */
#include "heap/deeds.h"
#include "wire/heap.h"

/* What is held of files is known at each moment: it is no memory of the program's own. */
static void count_file(struct as_deeds *d, uint32_t op, int64_t bytes)
{
	if (op == AS_WIRE_OP_MAP_FILE)
		d->file_bytes = (int64_t)((uint64_t)d->file_bytes + (uint64_t)bytes);
}

static void unmapped_piece(void *arg, const struct as_live_entry *who, uint64_t bytes, bool last)
{
	struct as_deeds *d = arg;

	count_file(d, d->is.kinds->kind[who->kind].op, -(int64_t)bytes);
	as_deed_tell(d, last ? AS_HEAP_FREE : AS_HEAP_CUT, who, bytes);
}

static void forgotten_piece(void *arg, const struct as_live_entry *who, uint64_t bytes, bool last)
{
	(void)arg, (void)who, (void)bytes, (void)last;
}

/* The kernel does everything by whole pages. */
static uint64_t end_of(const struct as_deeds *d, const struct as_deed_range *r)
{
	return (r->address + r->kind.size + d->is.page - 1) / d->is.page * d->is.page;
}

void as_deed_unmap(struct as_deeds *d, const struct as_deed_range *r)
{
	uint64_t end = end_of(d, r);

	as_deeds_do(d);
	if (!as_ranges_unmap(&d->mapped, r->address, end, unmapped_piece, d) ||
	    !as_ranges_unmap(&d->reserved, r->address, end, forgotten_piece, NULL))
		d->incomplete = true;
}

void as_deed_map(struct as_deeds *d, const struct as_deed_range *r)
{
	uint32_t kind;

	if (!r->kind.size)
		return;
	as_deed_unmap(d, r);
	kind = as_deeds_kind(d, &r->kind);
	if (kind == UINT32_MAX)
		return;
	struct as_live_entry e = as_deed_entry(d, kind, r->rate);

	if (!as_ranges_map(&d->mapped, &e, r->address, r->address + r->kind.size))
		d->incomplete = true;
	count_file(d, r->kind.op, (int64_t)r->kind.size);
	as_deed_tell(d, AS_HEAP_ALLOC, &e, r->kind.size);
}

void as_deed_reserve(struct as_deeds *d, const struct as_deed_range *r)
{
	struct as_live_entry nobody = {0};

	as_deed_unmap(d, r);
	if (r->kind.size && !as_ranges_map(&d->reserved, &nobody, r->address, end_of(d, r)))
		d->incomplete = true;
}

/* Only what was reserved is new. Of a sample none of it was left out. */
void as_deed_commit(struct as_deeds *d, const struct as_deed_range *r)
{
	struct as_deed_range part = *r;
	struct as_ranges_piece p;

	part.rate = 0;
	while (as_ranges_first(&d->reserved, r->address, end_of(d, r), &p)) {
		part.address = p.start;
		part.kind.size = p.end - p.start;
		as_deed_map(d, &part);
		if (d->incomplete)
			return;
	}
}
