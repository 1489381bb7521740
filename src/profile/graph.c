#include "profile/graph.h"

#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/functions.h"

void as_graph_done(struct as_graph *g)
{
	free(g->of);
	free(g->self);
	free(g->total);
	free(g->seen);
	free(g->call);
	free(g->call_self);
	free(g->call_total);
	as_index_done(&g->by_call);
}

static void add(int64_t *to, const int64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = as_value_plus(to[i], v[i]);
}

static bool same_call(const void *owner, uint32_t at, const void *key)
{
	const struct as_graph *g = owner;
	const struct as_call *k = key;

	return g->call[at].caller == k->caller && g->call[at].callee == k->callee;
}

/* Room for the values of one more call, all 0. */
static bool grow(struct as_graph *g, int64_t **values, size_t *cap)
{
	size_t n = g->p->nkinds;

	if (!as_grow(values, cap, g->ncalls, n * sizeof **values, 64))
		return false;
	for (size_t i = 0; i < n; i++)
		(*values)[g->ncalls * n + i] = 0;
	return true;
}

/* AS_NOWHERE: no memory. */
static uint32_t call_at(struct as_graph *g, uint32_t caller, uint32_t callee)
{
	const struct as_call key = {.caller = caller, .callee = callee};
	const uint32_t both[] = {caller, callee};
	uint32_t hash = as_hash(0, both, sizeof both);
	uint32_t at = as_index_find(&g->by_call, hash, same_call, g, &key);

	if (at != AS_NOWHERE)
		return at;
	if (!as_grow(&g->call, &g->call_cap, g->ncalls, sizeof *g->call, 64) ||
	    !grow(g, &g->call_self, &g->self_cap) || !grow(g, &g->call_total, &g->total_cap) ||
	    !as_index_add(&g->by_call, hash, (uint32_t)g->ncalls))
		return AS_NOWHERE;
	g->call[g->ncalls] = key;
	return (uint32_t)g->ncalls++;
}

static void count_function(struct as_graph *g, uint32_t function, const int64_t *v, size_t sample)
{
	size_t n = g->p->nkinds;

	if (g->seen[function] == sample)
		return;
	g->seen[function] = sample;
	add(g->total + function * n, v, n);
}

static bool count_call(struct as_graph *g, uint32_t stack, bool leaf, const int64_t *v,
		       size_t sample)
{
	const struct as_stack *s = &g->p->stack[stack];
	size_t n = g->p->nkinds;

	if (!s->caller)
		return true;
	uint32_t caller = g->p->stack[s->caller].place;
	uint32_t at = call_at(g, g->functions ? g->of[caller] : caller, g->of[s->place]);
	if (at == AS_NOWHERE)
		return false;
	if (leaf)
		add(g->call_self + at * n, v, n);
	if (g->call[at].seen != sample)
		add(g->call_total + at * n, v, n);
	g->call[at].seen = sample;
	return true;
}

static bool count(struct as_graph *g)
{
	const struct as_profile *p = g->p;

	for (size_t i = 0; i < p->nsamples; i++) {
		const struct as_sample *s = &p->sample[i];

		add(g->self + p->stack[s->stack].place * p->nkinds, s->v, p->nkinds);
		for (uint32_t at = s->stack; at; at = p->stack[at].caller) {
			count_function(g, g->of[p->stack[at].place], s->v, i + 1);
			if (!count_call(g, at, at == s->stack, s->v, i + 1))
				return false;
		}
	}
	return true;
}

int as_graph_open(struct as_graph *g, const struct as_profile *p, bool functions,
		  struct as_err *err)
{
	size_t row = p->nkinds * sizeof(int64_t);

	*g = (struct as_graph){.p = p,
			       .functions = functions,
			       .of = as_profile_functions(p),
			       .self = as_zalloc_n(p->nplaces, row),
			       .total = as_zalloc_n(p->nplaces, row),
			       .seen = as_zalloc_n(p->nplaces, sizeof *g->seen)};
	if (!g->of || !g->self || !g->total || !g->seen || !count(g))
		return as_fail(err, AS_ENOMEM, "no memory for the calls of a profile");
	return AS_OK;
}
