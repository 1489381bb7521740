#include "heap/gather.h"

#include "base/fault.h"
#include "base/index.h"
#include "heap/resolve.h"

static const struct as_value_kind kinds[] = {{"allocations", "count"}, {"bytes", "bytes"}};

static int no_memory(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory for what a heap was made of");
}

struct as_heap *as_gather_new(struct as_err *err)
{
	as_auto_heap struct as_heap *h = as_zalloc(sizeof *h);

	if (!h) {
		(void)no_memory(err);
		return NULL;
	}
	h->stacks = as_profile_new(kinds, AS_LEN(kinds), err);
	return h->stacks ? as_take(h) : NULL;
}

/* Room for one more in an array that has no more than it needs, rounded up to a power of 2. */
static bool room(void *array, size_t n, size_t size)
{
	size_t cap = n;

	return n & (n - 1) || as_grow(array, &cap, n, size, 1);
}

/* --- processes and threads --------------------------------------------------- */

static bool add_process(struct as_heap *h, const struct as_heap_process *p)
{
	if (!room(&h->process, h->nprocesses, sizeof *p))
		return false;
	struct as_heap_process *new = &h->process[h->nprocesses];

	*new = *p;
	new->command = p->command ? as_strdup(p->command) : NULL;
	if (p->command && !new->command)
		return false;
	h->nprocesses++;
	return true;
}

static bool add_thread(struct as_heap *h, uint32_t process, const struct as_heap_thread *t)
{
	if (!room(&h->thread, h->nthreads, sizeof *h->thread))
		return false;
	struct as_heap_who *who = &h->thread[h->nthreads];

	*who = (struct as_heap_who){.process = process, .tid = t->tid};
	who->name = t->name ? as_strdup(t->name) : NULL;
	if (t->name && !who->name)
		return false;
	h->nthreads++;
	return true;
}

/* All that have names, and one for those that have none: whoever was killed told none. */
static bool add_threads(struct as_heap *h, uint32_t process, const struct as_heap_names *n,
			bool unknown)
{
	for (size_t i = 0; i < n->nthreads; i++)
		if (!add_thread(h, process, &n->thread[i]))
			return false;
	return !unknown || add_thread(h, process, &(struct as_heap_thread){0});
}

/* --- sites ------------------------------------------------------------------- */

struct site_key {
	uint32_t thread, stack, op;
};

static bool same_site(const void *owner, uint32_t at, const void *key)
{
	const struct as_heap_site *s = &((const struct as_heap *)owner)->site[at];
	const struct site_key *k = key;

	return s->thread == k->thread && s->stack == k->stack && s->op == k->op;
}

/* Where it is, a new one at the end if it must be; AS_NOWHERE for want of memory. */
static uint32_t site(struct as_heap *h, struct as_index *x, uint32_t process, struct site_key key)
{
	uint32_t hash = as_hash(1, &key, sizeof key),
		 at = as_index_find(x, hash, same_site, h, &key);

	if (at != AS_NOWHERE)
		return at;
	at = (uint32_t)h->nsites;
	if (!room(&h->site, h->nsites, sizeof *h->site) || !as_index_add(x, hash, at))
		return AS_NOWHERE;
	h->site[h->nsites++] = (struct as_heap_site){.process = process,
						     .thread = key.thread,
						     .stack = key.stack,
						     .op = key.op};
	return at;
}

/* A node that was not told before the writer was killed is no stack. */
static uint32_t known(const struct as_heap_names *n, uint32_t node)
{
	return node < n->nnodes ? node : 0;
}

static bool has_unknown(const struct as_heap_names *n, const struct as_heap_kind *kind,
			size_t nkinds)
{
	for (size_t i = 0; i < nkinds; i++)
		if (kind[i].thread >= n->nthreads)
			return true;
	return false;
}

static int add_sites(struct as_heap *h, struct as_heap_resolver *r, const struct as_heap_names *n,
		     const struct as_heap_kind *kind, size_t nkinds, uint32_t *ret_site,
		     struct as_err *err)
{
	struct as_index x = {0};
	uint32_t process = (uint32_t)h->nprocesses - 1, first = (uint32_t)h->nthreads,
		 unknown = (uint32_t)n->nthreads;
	bool ok = add_threads(h, process, n, has_unknown(n, kind, nkinds));

	for (size_t i = 0; ok && i < nkinds; i++) {
		const struct as_heap_kind *k = &kind[i];
		uint32_t stack = as_heap_resolve(r, known(n, k->python), known(n, k->native)),
			 thread = k->thread < unknown ? k->thread : unknown;

		ret_site[i] = site(h, &x, process, (struct site_key){first + thread, stack, k->op});
		ok = ret_site[i] != AS_NOWHERE;
	}
	as_index_done(&x);
	return ok ? as_profile_ok(h->stacks, err) : no_memory(err);
}

int as_gather_process(struct as_heap *h, const struct as_heap_process *p,
		      const struct as_heap_names *n, const struct as_heap_kind *kind, size_t nkinds,
		      uint32_t *ret_site, struct as_err *err)
{
	if (!add_process(h, p))
		return no_memory(err);
	struct as_heap_resolver *r = as_heap_resolver_new(n, h->stacks, err);
	if (!r)
		return AS_ENOMEM;
	int done = add_sites(h, r, n, kind, nkinds, ret_site, err);
	as_heap_resolver_free(r);
	return done;
}

/* --- sums -------------------------------------------------------------------- */

static void add(struct as_heap_amount *to, const struct as_heap_amount *a)
{
	to->count = as_value_plus(to->count, a->count);
	to->bytes = as_value_plus(to->bytes, a->bytes);
}

void as_gather_sums(struct as_heap_site *to, const struct as_heap_sums *s)
{
	struct as_heap_sums *all = &to->sums;

	add(&all->made, &s->made);
	add(&all->peak, &s->peak);
	add(&all->left, &s->left);
	add(&all->temporary, &s->temporary);
	all->variance_made += s->variance_made;
	all->variance_peak += s->variance_peak;
	all->variance_left += s->variance_left;
	all->variance_temporary += s->variance_temporary;
}

void as_gather_totals(struct as_heap_totals *to, const struct as_heap_totals *t)
{
	add(&to->made, &t->made);
	add(&to->freed, &t->freed);
	add(&to->left, &t->left);
	for (size_t i = 0; i < AS_HEAP_SIZES; i++)
		to->sizes[i] = as_value_plus(to->sizes[i], t->sizes[i]);
}

int as_gather_point(struct as_heap *h, const struct as_heap_point *p, struct as_err *err)
{
	if (!room(&h->point, h->npoints, sizeof *p))
		return no_memory(err);
	h->point[h->npoints++] = *p;
	return AS_OK;
}
