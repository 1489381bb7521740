#include "base/cleanup.h"
#include "base/fault.h"
#include "tui/heap_top.h"

/* A row in the making: the last stack that counted for its total. */
struct tally {
	int64_t value[AS_HEAP_TOP_SORTS];
	uint32_t seen;
};

/* ── stacks ───────────────────────────────────────────────────────────── */

static void add(int64_t *to, int64_t n)
{
	*to = as_value_plus(*to, n);
}

static void add_site(const struct as_heap_top *t, struct tally *of, const struct as_heap_site *s)
{
	struct as_heap_amount held = t->peak ? s->sums.peak : s->sums.left;
	int64_t *v = of[s->stack].value;

	add(&v[AS_HEAP_TOP_OWN], held.bytes);
	add(&v[AS_HEAP_TOP_COUNT], held.count);
	add(&v[AS_HEAP_TOP_MADE], s->sums.made.bytes);
	add(&v[AS_HEAP_TOP_TEMPORARY], s->sums.temporary.count);
}

/* What each stack has, of the threads that are looked at. */
static struct tally *sum_stacks(const struct as_heap_top *t)
{
	const struct as_heap *h = t->facts.heap;
	struct tally *of = as_zalloc_n(h->stacks->nstacks, sizeof *of);

	for (size_t i = 0; of && i < h->nsites; i++)
		if (!t->list.only || h->site[i].thread + 1 == t->list.only)
			add_site(t, of, &h->site[i]);
	return of;
}

/* ── places ───────────────────────────────────────────────────────────── */

/* A function that is on the stack twice has its total once. */
static void count_stack(const struct as_profile *p, const uint32_t *of, uint32_t owner,
			const struct tally *had, struct tally *place, uint32_t stack)
{
	struct tally *own = &place[of[owner]];
	uint32_t at = stack;

	for (unsigned i = 0; i < AS_HEAP_TOP_SORTS; i++)
		if (i != AS_HEAP_TOP_TOTAL)
			add(&own->value[i], had->value[i]);
	do {
		struct tally *x = &place[of[p->stack[at].place]];

		if (x->seen != stack + 1)
			add(&x->value[AS_HEAP_TOP_TOTAL], had->value[AS_HEAP_TOP_OWN]);
		x->seen = stack + 1;
		at = p->stack[at].caller;
	} while (at);
}

static bool has_any(const struct tally *x)
{
	int64_t any = 0;

	for (unsigned i = 0; i < AS_HEAP_TOP_SORTS; i++)
		any |= x->value[i];
	return any;
}

static void collect(struct as_heap_top *t, const struct tally *place, size_t n)
{
	const struct as_profile *p = t->facts.heap->stacks;

	t->list.nrows = 0;
	t->whole = 0;
	for (uint32_t i = 0; i < n; i++) {
		add(&t->whole, place[i].value[AS_HEAP_TOP_OWN]);
		if (has_any(&place[i]))
			as_browse_add(&t->list, p, i, place[i].value, AS_HEAP_TOP_SORTS);
	}
	as_browse_sort(&t->list, AS_HEAP_TOP_SORTS);
}

void as_heap_top_make_rows(struct as_heap_top *t)
{
	const struct as_profile *p = t->facts.heap->stacks;
	as_auto_free uint32_t *of = as_browse_groups(p, t->functions), *owner = as_heap_owners(p);
	as_auto_free struct tally *stack = sum_stacks(t);
	as_auto_free struct tally *place = as_zalloc_n(p->nplaces, sizeof *place);

	if (!of || !owner || !stack || !place || !as_browse_room(&t->list, p)) {
		t->short_of = true;
		return;
	}
	for (uint32_t i = 0; i < p->nstacks; i++)
		if (has_any(&stack[i]))
			count_stack(p, of, owner[i], &stack[i], place, i);
	collect(t, place, p->nplaces);
}
