/* curve -- the heap over time beside what the system counts as resident. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "heap/heap.h"

/* A sum of what is known; one that is not makes it unknown. */
static int64_t plus(int64_t sum, int64_t v)
{
	return sum < 0 || v < 0 ? -1 : as_value_plus(sum, v);
}

/*
 * Points of one moment become one. Who was gone already holds nothing, though
 * its last events are still being read: it counts only where nobody is known.
 */
static struct as_heap_moment moment_of(const struct as_heap_point *p, size_t n)
{
	struct as_heap_moment all = {.ns = p->ns, .rss = -1, .file = -1};
	bool known = false;

	for (size_t i = 0; i < n; i++) {
		int64_t heap = p[i].heap > 0 ? p[i].heap : 0;

		if (p[i].rss < 0 && known)
			continue;
		if (p[i].rss >= 0 && !known)
			all = (struct as_heap_moment){.ns = p->ns};
		all.heap = as_value_plus(all.heap, heap);
		all.mapped = plus(all.mapped, p[i].mapped);
		if (p[i].rss < 0)
			continue;
		known = true;
		all.rss = plus(all.rss, p[i].rss);
		all.file = plus(all.file, p[i].file);
	}
	return all;
}

int64_t as_heap_own(const struct as_heap_moment *m)
{
	return m->mapped > 0 && m->mapped <= m->heap ? m->heap - m->mapped : m->heap;
}

static bool stands_out(const struct as_heap_moment *a, const struct as_heap_moment *b)
{
	return a->rss != b->rss ? a->rss > b->rss : a->heap > b->heap;
}

/* Of neighbours that share a place the one that stands out. */
static size_t thin(struct as_heap_moment *m, size_t n, size_t most)
{
	size_t kept = 0, place = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		size_t here = i * most / n;

		if (here != place)
			m[kept++] = m[i];
		else if (stands_out(&m[i], &m[kept - 1]))
			m[kept - 1] = m[i];
		place = here;
	}
	return kept;
}

int as_heap_curve(const struct as_heap *h, size_t most, struct as_heap_moment **ret, size_t *ret_n,
		  struct as_err *err)
{
	struct as_heap_moment *m = as_zalloc_n(h->npoints, sizeof *m);
	size_t n = 0;

	if (!m)
		return as_fail(err, AS_ENOMEM, "no memory for the curve of a heap");
	for (size_t i = 0, end; i < h->npoints; i = end) {
		for (end = i + 1; end < h->npoints && h->point[end].ns == h->point[i].ns;)
			end++;
		m[n++] = moment_of(&h->point[i], end - i);
	}
	*ret = m;
	*ret_n = n > most ? thin(m, n, most) : n;
	return AS_OK;
}

/* Of what is neither anonymous nor a file, only the look at the peak of all knows. */
static void tell_shared(const struct as_heap *h, struct as_heap_resident *r)
{
	int64_t shared = h->at_peak.shared;

	if (shared < 0 || r->file < shared)
		return;
	r->shared = shared;
	r->file -= shared;
	if (h->at_peak.own < 0 || h->at_peak.own > shared)
		return;
	r->own = h->at_peak.own;
	r->shared -= r->own;
}

/*
 * What they held when RSS was m[i]'s. A block is told to be free before it is, and a large one
 * takes a while to go: so of this look and the one before what is more.
 */
static int64_t held_at(const struct as_heap_moment *m, size_t i)
{
	int64_t now = as_heap_own(&m[i]), before = i ? as_heap_own(&m[i - 1]) : 0;

	return now > before ? now : before;
}

static size_t highest(const struct as_heap_moment *m, size_t n)
{
	size_t top = 0;

	for (size_t i = 1; i < n; i++)
		if (m[i].rss > m[top].rss)
			top = i;
	return top;
}

int as_heap_resident(const struct as_heap *h, struct as_heap_resident *ret, struct as_err *err)
{
	as_auto_free struct as_heap_moment *m = NULL;
	size_t n = 0;
	int r = as_heap_curve(h, SIZE_MAX, &m, &n, err);

	if (r < 0)
		return r;
	size_t top = highest(m, n);
	*ret = (struct as_heap_resident){.ns = -1,
					 .rss = -1,
					 .heap = -1,
					 .file = -1,
					 .shared = -1,
					 .own = -1,
					 .beside = INT64_MIN};
	if (!n || m[top].rss < 0)
		return AS_OK;
	ret->ns = m[top].ns;
	ret->rss = m[top].rss;
	ret->heap = held_at(m, top);
	ret->file = m[top].file;
	if (ret->file >= 0)
		ret->beside = as_value_plus(as_value_plus(ret->rss, -ret->file), -ret->heap);
	tell_shared(h, ret);
	return AS_OK;
}

int64_t as_heap_process_rss(const struct as_heap *h, uint32_t process)
{
	int64_t most = -1;

	for (size_t i = 0; i < h->npoints; i++)
		if (h->point[i].process == process && h->point[i].rss > most)
			most = h->point[i].rss;
	return most;
}
