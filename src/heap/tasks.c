#include "heap/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"

uint32_t *as_heap_tasks(const struct as_profile *p)
{
	uint32_t *task = as_zalloc_n(p->nstacks, sizeof *task);

	for (size_t i = 1; task && i < p->nstacks; i++) { /* callers have the smaller numbers */
		uint32_t outer = task[p->stack[i].caller], own = p->stack[i].place;

		task[i] = outer ? outer : p->place[own].coroutine ? own : 0;
	}
	return task;
}

void as_heap_task_name(const struct as_profile *p, uint32_t place, char *to, size_t room)
{
	const struct as_place *at = &p->place[place];
	const char *file = p->text[at->file], *slash = strrchr(file, '/');

	(void)snprintf(to, room, "%.120s (%.80s:%d)", p->text[at->function],
		       slash ? slash + 1 : file, at->begin);
}

/* ── sums ─────────────────────────────────────────────────────────────── */

struct task {
	uint32_t place;
	struct as_heap_sums sums;
};

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* Wherever in it a coroutine stood, it is one. */
static int by_coroutine(const void *a, const void *b, void *profile)
{
	const struct as_profile *p = profile;
	const struct as_place *x = &p->place[((const struct task *)a)->place];
	const struct as_place *y = &p->place[((const struct task *)b)->place];
	int r = compare(x->function, y->function);

	r = r ? r : compare(x->file, y->file);
	return r ? r : compare((uint32_t)x->begin, (uint32_t)y->begin);
}

static bool has(const struct task *t)
{
	return t->sums.made.count || t->sums.peak.count;
}

/* What each place has becomes what each coroutine has: how many. */
static size_t join(struct task *t, size_t n, struct as_profile *p)
{
	size_t some = 0, kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		t[i].place = i;
		if (has(&t[i]))
			t[some++] = t[i];
	}
	if (some)
		qsort_r(t, some, sizeof *t, by_coroutine, p);
	for (size_t i = 0; i < some; i++) {
		if (kept && !by_coroutine(&t[kept - 1], &t[i], p))
			as_heap_sums_add(&t[kept - 1].sums, &t[i].sums);
		else
			t[kept++] = t[i];
	}
	return kept;
}

static int take(const struct task *t, size_t n, struct as_heap_parts *parts, struct as_err *err)
{
	parts->task = as_zalloc_n(n, sizeof *parts->task);
	parts->coroutine = as_zalloc_n(n, sizeof *parts->coroutine);
	if (!parts->task || !parts->coroutine)
		return as_fail(err, AS_ENOMEM, "no memory to sum by task");
	for (size_t i = 0; i < n; i++) {
		parts->task[i] = t[i].sums;
		parts->coroutine[i] = t[i].place;
	}
	parts->ntasks = n;
	return AS_OK;
}

int as_heap_parts_tasks(const struct as_heap *h, struct as_heap_parts *parts, struct as_err *err)
{
	as_auto_free uint32_t *of = as_heap_tasks(h->stacks);
	as_auto_free struct task *t = as_zalloc_n(h->stacks->nplaces, sizeof *t);

	if (!of || !t)
		return as_fail(err, AS_ENOMEM, "no memory to sum by task");
	for (size_t i = 0; i < h->nsites; i++)
		if (h->site[i].stack < h->stacks->nstacks)
			as_heap_sums_add(&t[of[h->site[i].stack]].sums, &h->site[i].sums);
	size_t n = join(t, h->stacks->nplaces, h->stacks);
	bool none = !n || (n == 1 && !t[0].place);
	return none ? AS_OK : take(t, n, parts, err);
}
