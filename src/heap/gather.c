#include "heap/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/index.h"
#include "heap/resolve.h"
#include "heap/tasks.h"
#include "wire/heap.h"

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

static char *copied(const char *text)
{
	return text ? as_strdup(text) : NULL;
}

static bool add_process(struct as_heap *h, const struct as_heap_process *p)
{
	if (!room(&h->process, h->nprocesses, sizeof *p))
		return false;
	struct as_heap_process *new = &h->process[h->nprocesses];

	*new = *p;
	new->command = copied(p->command);
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

	*who = (struct as_heap_who){.process = process, .tid = t->tid, .name = copied(t->name)};
	if (t->name && !who->name)
		return false;
	h->nthreads++;
	return true;
}

/* --- a process that may still grow --------------------------------------------- */

struct as_gatherer {
	struct as_heap *h;
	const struct as_heap_names *names;
	struct as_heap_resolver *resolver;
	struct as_index by_site;
	uint32_t process;
	uint32_t *thread; /* of each of names->thread: its number in the heap          */
	size_t nthreads, threads_cap;
	uint32_t unknown; /* the one for those that have no name; AS_NOWHERE: not yet  */
	uint32_t *site;   /* of each kind                                              */
	size_t nkinds, sites_cap;
};

void as_gather_close(struct as_gatherer *g)
{
	if (!g)
		return;
	as_heap_resolver_free(g->resolver);
	as_index_done(&g->by_site);
	free(g->thread);
	free(g->site);
	free(g);
}

static struct as_gatherer *gatherer_new(struct as_heap *h, const struct as_heap_names *n,
					struct as_err *err)
{
	struct as_gatherer *g = as_zalloc(sizeof *g);

	if (!g) {
		(void)no_memory(err);
		return NULL;
	}
	*g = (struct as_gatherer){.h = h, .names = n, .unknown = AS_NOWHERE};
	g->resolver = as_heap_resolver_new(n, h->stacks, err);
	if (g->resolver)
		return g;
	as_gather_close(g);
	return NULL;
}

int as_gather_open(struct as_heap *h, const struct as_heap_process *p,
		   const struct as_heap_names *n, struct as_gatherer **ret, struct as_err *err)
{
	struct as_gatherer *g = gatherer_new(h, n, err);

	if (!g)
		return AS_ENOMEM;
	if (!add_process(h, p)) {
		as_gather_close(g);
		return no_memory(err);
	}
	g->process = (uint32_t)h->nprocesses - 1;
	*ret = g;
	return AS_OK;
}

/* A name that came, or changed, since. */
static bool rename_thread(struct as_heap_who *who, const char *name)
{
	char *new = NULL;

	if (!name || (who->name && !strcmp(who->name, name)))
		return true;
	new = as_strdup(name);
	if (new) {
		free(who->name);
		who->name = new;
	}
	return new;
}

static bool add_threads(struct as_gatherer *g)
{
	const struct as_heap_names *n = g->names;

	for (size_t i = 0; i < g->nthreads; i++)
		if (!rename_thread(&g->h->thread[g->thread[i]], n->thread[i].name))
			return false;
	for (; g->nthreads < n->nthreads; g->nthreads++) {
		if (!as_grow(&g->thread, &g->threads_cap, g->nthreads, sizeof *g->thread, 16) ||
		    !add_thread(g->h, g->process, &n->thread[g->nthreads]))
			return false;
		g->thread[g->nthreads] = (uint32_t)g->h->nthreads - 1;
	}
	return true;
}

/* One for those that have no name: whoever was killed told none. AS_NOWHERE: no memory. */
static uint32_t thread_of(struct as_gatherer *g, uint32_t thread)
{
	if (thread < g->nthreads)
		return g->thread[thread];
	if (g->unknown == AS_NOWHERE && add_thread(g->h, g->process, &(struct as_heap_thread){0}))
		g->unknown = (uint32_t)g->h->nthreads - 1;
	return g->unknown;
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
static uint32_t site(struct as_gatherer *g, struct site_key key)
{
	struct as_heap *h = g->h;
	uint32_t hash = as_hash(1, &key, sizeof key),
		 at = as_index_find(&g->by_site, hash, same_site, h, &key);

	if (at != AS_NOWHERE)
		return at;
	at = (uint32_t)h->nsites;
	if (!room(&h->site, h->nsites, sizeof *h->site) || !as_index_add(&g->by_site, hash, at))
		return AS_NOWHERE;
	h->site[h->nsites++] = (struct as_heap_site){.process = g->process,
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

static uint32_t arenas(struct as_profile *p)
{
	const struct as_place place = {.function = as_profile_text(p, AS_HEAP_ARENAS,
								   strlen(AS_HEAP_ARENAS)),
				       .file = as_profile_text(p, AS_HEAP_ARENAS_WHERE,
							       strlen(AS_HEAP_ARENAS_WHERE))};

	return as_profile_stack(p, 0, as_profile_place(p, place));
}

/* Whoever needed an arena is not who fills it: that is a place of its own. */
static uint32_t stack_of(struct as_gatherer *g, const struct as_heap_kind *k)
{
	if (k->op == AS_WIRE_OP_ARENA)
		return arenas(g->h->stacks);
	return as_heap_resolve(g->resolver, known(g->names, k->python), known(g->names, k->native));
}

static bool add_kind(struct as_gatherer *g, const struct as_heap_kind *k)
{
	if (!as_grow(&g->site, &g->sites_cap, g->nkinds, sizeof *g->site, 64))
		return false;
	uint32_t thread = thread_of(g, k->thread);
	uint32_t stack = stack_of(g, k);
	uint32_t at = thread == AS_NOWHERE || g->h->stacks->bad
			      ? AS_NOWHERE
			      : site(g, (struct site_key){thread, stack, k->op});

	if (at == AS_NOWHERE)
		return false;
	g->site[g->nkinds++] = at;
	return true;
}

int as_gather_more(struct as_gatherer *g, const struct as_heap_kind *kind, size_t nkinds,
		   struct as_err *err)
{
	if (!add_threads(g))
		return no_memory(err);
	while (g->nkinds < nkinds)
		if (!add_kind(g, &kind[g->nkinds]))
			return no_memory(err);
	return AS_OK;
}

struct as_heap_site *as_gather_site(const struct as_gatherer *g, size_t kind)
{
	return &g->h->site[g->site[kind]];
}

int as_gather_process(struct as_heap *h, const struct as_heap_process *p,
		      const struct as_heap_names *n, const struct as_heap_kind *kind, size_t nkinds,
		      uint32_t *ret_site, struct as_err *err)
{
	struct as_gatherer *g = NULL;
	int r = as_gather_open(h, p, n, &g, err);

	if (r == AS_OK)
		r = as_gather_more(g, kind, nkinds, err);
	if (r == AS_OK && nkinds)
		memcpy(ret_site, g->site, nkinds * sizeof *ret_site);
	as_gather_close(g);
	return r;
}

/* --- sums -------------------------------------------------------------------- */

static void add(struct as_heap_amount *to, const struct as_heap_amount *a)
{
	to->count = as_value_plus(to->count, a->count);
	to->bytes = as_value_plus(to->bytes, a->bytes);
}

/* A part of a mapping may be given back: its bytes do not say how many there are. */
static bool is_mapping(uint32_t op)
{
	return op == AS_WIRE_OP_MMAP || op == AS_WIRE_OP_BRK || op == AS_WIRE_OP_COMMIT ||
	       op == AS_WIRE_OP_MAP_FILE || op == AS_WIRE_OP_ARENA;
}

/* All of a kind have one size: so bytes tell the count that was rounded. */
static double number_of(const struct as_heap_kind *k, const struct as_heap_amount *a,
			double variance)
{
	return variance > 0 && k->size ? (double)a->bytes / (double)k->size : (double)a->count;
}

static double number_there(const struct as_heap_kind *k, const struct as_heap_amount *a,
			   double variance)
{
	return number_of(k, a, is_mapping(k->op) ? 0 : variance);
}

/* Of the count; of blocks without a byte as if one sample stood for all. */
static double variance_of(const struct as_heap_kind *k, const struct as_heap_amount *a,
			  double variance, bool sampled)
{
	double size = (double)k->size, n = (double)a->count;

	return k->size ? variance / (size * size) : sampled ? n * n : 0;
}

void as_gather_sums(struct as_heap *h, struct as_heap_site *to, const struct as_heap_kind *k,
		    const struct as_heap_sums *s)
{
	struct as_heap_sums mine = *s;

	mine.number = (struct as_heap_numbers){number_of(k, &s->made, s->variance_made),
					       number_there(k, &s->peak, s->variance_peak),
					       number_there(k, &s->left, s->variance_left)};
	mine.variance =
		(struct as_heap_numbers){variance_of(k, &s->made, s->variance_made, h->rate),
					 variance_of(k, &s->peak, s->variance_peak, h->rate),
					 variance_of(k, &s->left, s->variance_left, h->rate)};
	h->sizes_variance[as_heap_bucket(k->size)] += mine.variance.made;
	as_heap_sums_add(&to->sums, &mine);
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
