#include "heap/lasting.h"

#include "base/fault.h"

bool as_lasting_slice(struct as_lasting *l, uint64_t ordinal)
{
	if (!as_grow(&l->first, &l->first_cap, l->slices, sizeof *l->first, 256))
		return false;
	l->first[l->slices++] = ordinal;
	return true;
}

/* The last one that began before it was made; AS_LASTING_NEVER: before all of them. */
static uint32_t slice_of(const struct as_lasting *l, uint64_t ordinal)
{
	size_t lo = 0, hi = l->slices;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (l->first[mid] <= ordinal)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? (uint32_t)lo - 1 : AS_LASTING_NEVER;
}

static bool same(const void *owner, uint32_t at, const void *key)
{
	const struct as_lasting_entry *have = &((const struct as_lasting *)owner)->at[at],
				      *want = key;

	return have->kind == want->kind && have->made == want->made && have->until == want->until;
}

/* Numbers of a damaged file may wrap, and do no harm. */
static void more(int64_t *to, int64_t n)
{
	*to = (int64_t)((uint64_t)*to + (uint64_t)n);
}

static bool add(struct as_lasting *l, struct as_lasting_entry e)
{
	const uint32_t key[] = {e.kind, e.made, e.until};
	uint32_t hash = as_hash(0, key, sizeof key);
	uint32_t at = as_index_find(&l->by_key, hash, same, l, &e);

	if (at == AS_NOWHERE) {
		if (!as_grow(&l->at, &l->cap, l->n, sizeof *l->at, 256) ||
		    !as_index_add(&l->by_key, hash, (uint32_t)l->n))
			return false;
		l->at[l->n++] = e;
		return true;
	}
	more(&l->at[at].count, e.count);
	more(&l->at[at].bytes, e.bytes);
	return true;
}

/* What is no more, of what the event is about: one that is thinned may stand for more then. */
static struct as_heap_share gone(const struct as_heap_event *e, uint64_t size)
{
	struct as_heap_share s = as_heap_share(size, e);

	if (e->what == AS_HEAP_THINNED) {
		struct as_heap_share then = as_heap_share_then(size, e);

		more(&s.count, -then.count);
		more(&s.bytes, -then.bytes);
	}
	return s;
}

bool as_lasting_event(struct as_lasting *l, const struct as_heap_event *e, uint64_t size)
{
	struct as_heap_share s = gone(e, size);
	uint32_t now = (uint32_t)l->slices - 1;
	struct as_lasting_entry one = {e->kind, now, AS_LASTING_NEVER, s.count, s.bytes};

	if (e->what == AS_HEAP_ALLOC)
		return add(l, one);
	one.made = slice_of(l, e->ordinal);
	if (one.made == AS_LASTING_NEVER)
		return true;
	struct as_lasting_entry less = {e->kind, one.made, AS_LASTING_NEVER,
					(int64_t) - (uint64_t)s.count,
					(int64_t) - (uint64_t)s.bytes};
	one.until = now;
	return add(l, less) && (one.made == now || add(l, one));
}

void as_lasting_done(struct as_lasting *l)
{
	free(l->at);
	free(l->first);
	as_index_done(&l->by_key);
	*l = (struct as_lasting){NULL};
}
