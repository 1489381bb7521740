#include "heap/snapshot.h"

#include "base/cleanup.h"
#include "base/fault.h"
#include "heap/gather.h"

static int add(struct as_heap *h, struct as_member *m, struct as_err *err)
{
	as_auto_free uint32_t *site = as_zalloc_n(m->kinds.n, sizeof *site);

	if (!site)
		return as_fail(err, AS_ENOMEM, "no memory for a look at a heap");
	as_member_follow(m);
	int r = as_gather_process(h, &m->is, &m->names, m->kinds.kind, m->kinds.n, site, err);

	for (uint32_t i = 0; r == AS_OK && i < m->kinds.n; i++) {
		struct as_heap_sums s;

		as_tracker_sums(m->tracker, i, &s);
		as_gather_sums(&h->site[site[i]], &s);
	}
	return r;
}

int as_snapshot(struct as_member *const *member, size_t n, struct as_heap **ret, struct as_err *err)
{
	as_auto_heap struct as_heap *h = as_gather_new(err);
	int r = h ? AS_OK : err->code;

	for (size_t i = 0; r == AS_OK && i < n; i++)
		r = add(h, member[i], err);
	if (r == AS_OK)
		*ret = as_take(h);
	return r;
}
