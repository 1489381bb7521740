#include "heap/sight.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "heap/gather.h"
#include "heap/member.h"
#include "heap/symbolize.h"
#include "wire/heap.h"

#define NAP AS_MSEC

/* One process, as it was last seen. */
struct seen {
	const struct as_member *m;  /* the session keeps it to its end                        */
	struct as_heap_process is;  /* its texts are the member's                             */
	struct as_heap_names names; /* likewise, but for symbols and names of threads         */
	struct as_heap_kind *kind;
	struct as_heap_sums *sums; /* of each kind                                            */
	size_t nkinds, kinds_cap, sums_cap;
	size_t at; /* the next kind to be copied in this look                                 */
	int64_t mapped; /* bytes of files among what it holds                                */
	int64_t own;    /* bytes of its mapping that there are                               */
	bool over;    /* it has ended, and all of it was seen                                    */
	bool past;    /* before the highest moment                                               */
	bool told;    /* the heap has all of it, as it is over                                   */
	size_t named; /* nodes that have their symbols                                        */
	struct as_gatherer *gatherer;
};

struct as_sight {
	struct as_session *session;
	const struct as_env *env;
	struct as_heap *heap;
	struct as_sight_now now;
	struct as_heap_symbolizer *symbolizer;
	struct seen **seen; /* in the order of the session's members                          */
	size_t n, cap;
	size_t at; /* the next one to be copied in this look                                  */
	bool all, starved;
};

/* --- life ---------------------------------------------------------------------- */

static void symbols_done(struct as_heap_names *n)
{
	for (size_t i = 0; i < n->nsymbols; i++) {
		free(n->symbol[i].function);
		free(n->symbol[i].file);
	}
	n->nsymbols = 0;
}

static void seen_free(struct seen *s)
{
	as_gather_close(s->gatherer);
	symbols_done(&s->names);
	for (size_t i = 0; i < s->names.nthreads; i++)
		free(s->names.thread[i].name);
	free(s->names.node);
	free(s->names.code);
	free(s->names.module);
	free(s->names.symbol);
	free(s->names.thread);
	free(s->kind);
	free(s->sums);
	free(s);
}

void as_sight_close(struct as_sight *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->n; i++)
		seen_free(x->seen[i]);
	free(x->seen);
	as_heap_symbolizer_free(x->symbolizer);
	as_heap_free(x->heap);
	free(x);
}

int as_sight_open(struct as_session *s, const struct as_env *env, struct as_sight **ret,
		  struct as_err *err)
{
	as_auto_sight struct as_sight *x = as_zalloc(sizeof *x);

	if (!x)
		return as_fail(err, AS_ENOMEM, "no memory to look at a heap");
	x->session = s;
	x->env = env;
	x->heap = as_gather_new(err);
	x->symbolizer = x->heap ? as_heap_symbolizer_new(err) : NULL;
	if (!x->symbolizer)
		return err->code;
	*ret = as_take(x);
	return AS_OK;
}

/* --- copies, while the thread waits ------------------------------------------------ */

/* All that `from` has beyond the `*n` that are there already. */
static bool extend(void *array, size_t *cap, size_t *n, const void *from, size_t until, size_t size)
{
	char *to;

	while (*cap < until)
		if (!as_grow(array, cap, *cap, size, 64))
			return false;
	memcpy(&to, array, sizeof to); /* `array` is the address of a T *, whatever T is */
	if (until > *n)
		memcpy(to + *n * size, (const char *)from + *n * size, (until - *n) * size);
	*n = until;
	return true;
}

/* Names of threads come and change. */
static bool copy_threads(struct as_heap_names *to, const struct as_heap_names *from)
{
	size_t n = to->nthreads;

	if (!extend(&to->thread, &to->thread_cap, &n, from->thread, from->nthreads,
		    sizeof *to->thread))
		return false;
	for (; to->nthreads < n; to->nthreads++)
		to->thread[to->nthreads].name = NULL;
	for (size_t i = 0; i < n; i++) {
		const char *name = from->thread[i].name, *had = to->thread[i].name;

		if (!name || (had && !strcmp(had, name)))
			continue;
		free(to->thread[i].name);
		to->thread[i].name = as_strdup(name);
		if (!to->thread[i].name)
			return false;
	}
	return true;
}

static bool copy_names(struct as_heap_names *to, const struct as_heap_names *from)
{
	to->nmodules = 0; /* those that are there may have been unloaded since */
	return extend(&to->node, &to->node_cap, &to->nnodes, from->node, from->nnodes,
		      sizeof *to->node) &&
	       extend(&to->code, &to->code_cap, &to->ncodes, from->code, from->ncodes,
		      sizeof *to->code) &&
	       extend(&to->module, &to->module_cap, &to->nmodules, from->module, from->nmodules,
		      sizeof *to->module) &&
	       copy_threads(to, from);
}

/* So many of the sums at most; what is left of `room` is for the next process. */
static bool copy_sums(struct seen *s, const struct as_member *m, size_t *room)
{
	while (s->sums_cap < s->kinds_cap)
		if (!as_grow(&s->sums, &s->sums_cap, s->sums_cap, sizeof *s->sums, 64))
			return false;
	for (; s->at < s->nkinds && *room; s->at++, --*room)
		as_tracker_sums(m->tracker, (uint32_t)s->at, &s->sums[s->at]);
	return true;
}

static bool copy(struct seen *s, struct as_member *m, size_t *room)
{
	as_member_follow(m);
	s->is = m->is;
	s->mapped = as_member_mapped(m);
	s->own = as_mapping_there(&m->mapping);
	return copy_names(&s->names, &m->names) &&
	       extend(&s->kind, &s->kinds_cap, &s->nkinds, m->kinds.kind, m->kinds.n,
		      sizeof *s->kind) &&
	       copy_sums(s, m, room);
}

static struct seen *seen_of(struct as_sight *x, const struct as_member *m)
{
	if (x->at < x->n)
		return x->seen[x->at];
	struct seen *s =
		as_grow(&x->seen, &x->cap, x->n, sizeof *x->seen, 16) ? as_zalloc(sizeof *s) : NULL;

	if (s) {
		s->m = m;
		x->seen[x->n++] = s;
	}
	return s;
}

/* False: not all of it, for there was no more room, or memory. */
static bool copy_one(struct as_sight *x, struct as_member *m, size_t *room)
{
	struct seen *s = seen_of(x, m);

	x->starved |= !s || (!s->over && !copy(s, m, room));
	if (x->starved || s->at < s->nkinds)
		return false;
	s->past = as_tracker_past(m->tracker);
	s->over = !m->drain;
	return true;
}

static void see(void *arg, const struct as_session_view *v)
{
	struct as_sight *x = arg;
	size_t room = AS_SIGHT_ONCE;

	x->now.living = v->living;
	x->now.held = v->living ? v->now : x->heap->totals.left;
	while (x->at < v->n && copy_one(x, v->member[x->at], &room))
		x->at++;
	x->all = x->at == v->n;
}

static int copy_all(struct as_sight *x, struct as_err *err)
{
	const struct timespec nap = as_timespec(NAP);

	x->at = 0;
	x->all = x->starved = false;
	for (size_t i = 0; i < x->n; i++)
		x->seen[i]->at = x->seen[i]->over ? x->seen[i]->nkinds : 0;
	for (;;) {
		int r = as_session_look(x->session, x->heap, see, x, err);

		if (r < 0)
			return r;
		if (x->starved)
			return as_fail(err, AS_ENOMEM, "no memory to look at a heap");
		if (x->all)
			return AS_OK;
		(void)nanosleep(&nap, NULL);
	}
}

/* --- what they mean ----------------------------------------------------------------- */

static bool has_native(const struct as_heap_names *n, size_t from)
{
	for (size_t i = from ? from : 1; i < n->nnodes; i++)
		if (!(n->node[i].key & AS_WIRE_PYTHON))
			return true;
	return false;
}

/* What the symbolizer has found before costs little. */
static int name(struct as_sight *x, struct seen *s, struct as_err *err)
{
	int r = AS_OK;

	if (has_native(&s->names, s->named)) {
		symbols_done(&s->names);
		r = as_heap_symbolize(x->symbolizer, &s->names, err);
	}
	if (r == AS_OK)
		s->named = s->names.nnodes;
	return r;
}

static int gather(struct as_sight *x, struct seen *s, struct as_err *err)
{
	int r = name(x, s, err);

	if (r == AS_OK && !s->gatherer)
		r = as_gather_open(x->heap, &s->is, &s->names, &s->gatherer, err);
	if (r == AS_OK)
		r = as_gather_more(s->gatherer, s->kind, s->nkinds, err);
	s->told = r == AS_OK && s->over;
	return r;
}

static void add_sums(const struct as_sight *x, const struct seen *s)
{
	for (size_t i = 0; i < s->nkinds; i++) {
		struct as_heap_sums sums = s->sums[i];

		if (s->past) {
			sums.peak = (struct as_heap_amount){0, 0};
			sums.variance_peak = 0;
		}
		if (s->over && x->now.living) {
			sums.left = (struct as_heap_amount){0, 0};
			sums.variance_left = 0;
		}
		as_gather_sums(x->heap, as_gather_site(s->gatherer, i), &s->kind[i], &sums);
	}
}

static void update_process(struct as_heap_process *p, const struct as_heap_process *now)
{
	char *command = p->command;

	*p = *now;
	p->command = command;
}

static int make(struct as_sight *x, struct as_err *err)
{
	int r = AS_OK;

	for (size_t i = 0; r == AS_OK && i < x->n; i++)
		if (!x->seen[i]->told)
			r = gather(x, x->seen[i], err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < x->heap->nsites; i++)
		x->heap->site[i].sums = (struct as_heap_sums){0};
	memset(x->heap->sizes_variance, 0, sizeof x->heap->sizes_variance);
	x->now.lost = 0;
	for (size_t i = 0; i < x->n; i++) {
		add_sums(x, x->seen[i]);
		update_process(&x->heap->process[i], &x->seen[i]->is);
		x->now.lost += x->seen[i]->is.lost;
	}
	return AS_OK;
}

/* --- resident memory ------------------------------------------------------------------ */

static void add(int64_t *to, int64_t bytes)
{
	*to = *to < 0 || bytes < 0 ? -1 : *to + bytes;
}

/* One that is about to be gone has none, and counts for none. */
static void add_rss(struct as_sight *x, const struct seen *s)
{
	struct as_heap_rss *to = &x->now.rss;
	struct as_proc_status v;

	if (s->over || !as_member_status(s->m, x->env, &v) || v.rss < 0)
		return;
	to->rss += v.rss;
	add(&to->anonymous, v.anon);
	add(&to->file, v.file);
	add(&to->shared, v.shmem);
	add(&to->own, as_member_own(s->own, &v));
}

static void look_at_rss(struct as_sight *x)
{
	struct as_sight_now *now = &x->now;
	int64_t mapped = 0;

	now->rss = (struct as_heap_rss){0};
	for (size_t i = 0; i < x->n; i++) {
		add_rss(x, x->seen[i]);
		mapped += x->seen[i]->mapped > 0 && !x->seen[i]->over ? x->seen[i]->mapped : 0;
	}
	if (!now->rss.rss)
		now->rss = (struct as_heap_rss){-1, -1, -1, -1, -1};
	now->mapped = mapped;
	now->beside = now->rss.anonymous < 0 ? INT64_MIN
					     : now->rss.anonymous - (now->held.bytes - now->mapped);
}

int as_sight_look(struct as_sight *x, struct as_err *err)
{
	int r = copy_all(x, err);

	if (r < 0)
		return r;
	look_at_rss(x);
	return make(x, err);
}

const struct as_heap *as_sight_heap(const struct as_sight *x)
{
	return x->heap;
}

const struct as_sight_now *as_sight_now(const struct as_sight *x)
{
	return &x->now;
}
