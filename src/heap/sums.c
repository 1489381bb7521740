/* sums -- what was allocated, by line, by thread, by allocator, and in all. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "heap/tasks.h"
#include "wire/heap.h"

struct as_heap_amount as_heap_amount(const struct as_heap_sums *s, enum as_heap_view view)
{
	switch (view) {
	case AS_HEAP_PEAK:
		return s->peak;
	case AS_HEAP_LEFT:
	case AS_HEAP_HELD:
		return s->left;
	case AS_HEAP_TEMPORARY:
		return s->temporary;
	case AS_HEAP_MADE:
		break;
	}
	return s->made;
}

double as_heap_variance(const struct as_heap_sums *s, enum as_heap_view view)
{
	switch (view) {
	case AS_HEAP_PEAK:
		return s->variance_peak;
	case AS_HEAP_LEFT:
	case AS_HEAP_HELD:
		return s->variance_left;
	case AS_HEAP_TEMPORARY:
		return s->variance_temporary;
	case AS_HEAP_MADE:
		break;
	}
	return s->variance_made;
}

static double number_in(const struct as_heap_numbers *n, enum as_heap_view view)
{
	bool left = view == AS_HEAP_LEFT || view == AS_HEAP_HELD;

	return view == AS_HEAP_PEAK ? n->peak : left ? n->left : n->made;
}

/* Of a sample nobody knows what was temporary. */
double as_heap_number(const struct as_heap_sums *s, enum as_heap_view view)
{
	return view == AS_HEAP_TEMPORARY ? (double)s->temporary.count : number_in(&s->number, view);
}

double as_heap_number_variance(const struct as_heap_sums *s, enum as_heap_view view)
{
	return view == AS_HEAP_TEMPORARY ? 0 : number_in(&s->variance, view);
}

double as_heap_frees_variance(const struct as_heap *h, const struct as_heap_sums *of_all)
{
	double left = of_all->variance.left;

	return of_all->variance.made + (h->nraised ? left : -left);
}

int64_t as_heap_rounded(double number)
{
	return number < 9e18 ? (int64_t)(number + 0.5) : INT64_MAX;
}

/* ── of many sites ────────────────────────────────────────────────────── */

static void add_amount(struct as_heap_amount *to, struct as_heap_amount a)
{
	to->count = as_value_plus(to->count, a.count);
	to->bytes = as_value_plus(to->bytes, a.bytes);
}

static void add_numbers(struct as_heap_numbers *to, const struct as_heap_numbers *n)
{
	to->made += n->made;
	to->peak += n->peak;
	to->left += n->left;
}

/* Where something is an estimate, all of it is rounded at once. */
static void round_once(struct as_heap_sums *s)
{
	if (s->variance.made > 0)
		s->made.count = as_heap_rounded(s->number.made);
	if (s->variance.peak > 0)
		s->peak.count = as_heap_rounded(s->number.peak);
	if (s->variance.left > 0)
		s->left.count = as_heap_rounded(s->number.left);
}

void as_heap_sums_add(struct as_heap_sums *to, const struct as_heap_sums *s)
{
	add_numbers(&to->number, &s->number);
	add_numbers(&to->variance, &s->variance);
	add_amount(&to->made, s->made);
	add_amount(&to->peak, s->peak);
	add_amount(&to->left, s->left);
	add_amount(&to->temporary, s->temporary);
	to->variance_made += s->variance_made;
	to->variance_peak += s->variance_peak;
	to->variance_left += s->variance_left;
	to->variance_temporary += s->variance_temporary;
	round_once(to);
}

bool as_heap_shows(const struct as_heap_site *s, enum as_heap_view view)
{
	return view != AS_HEAP_LEFT || s->op != AS_WIRE_OP_ARENA;
}

struct as_heap_sums as_heap_arenas(const struct as_heap *h)
{
	struct as_heap_sums all = {0};

	for (size_t i = 0; i < h->nsites; i++)
		if (h->site[i].op == AS_WIRE_OP_ARENA)
			as_heap_sums_add(&all, &h->site[i].sums);
	return all;
}

_Static_assert((int)AS_WIRE_OPS <= (int)AS_HEAP_OPS, "every operation has its sums");

int as_heap_parts(const struct as_heap *h, struct as_heap_parts *ret, struct as_err *err)
{
	*ret = (struct as_heap_parts){.thread = as_zalloc_n(h->nthreads, sizeof *ret->thread),
				      .process = as_zalloc_n(h->nprocesses, sizeof *ret->process)};
	if (!ret->thread || !ret->process)
		return as_fail(err, AS_ENOMEM, "no memory to sum by thread");
	for (size_t i = 0; i < h->nsites; i++) {
		const struct as_heap_site *s = &h->site[i];

		as_heap_sums_add(&ret->all, &s->sums);
		if (s->thread < h->nthreads)
			as_heap_sums_add(&ret->thread[s->thread], &s->sums);
		if (s->process < h->nprocesses)
			as_heap_sums_add(&ret->process[s->process], &s->sums);
		if (s->op < AS_HEAP_OPS)
			as_heap_sums_add(&ret->op[s->op], &s->sums);
	}
	return as_heap_parts_tasks(h, ret, err);
}

bool as_heap_maps_files(const struct as_heap_parts *p)
{
	return p->op[AS_WIRE_OP_MAP_FILE].peak.bytes > 0;
}

static double a_byte(double variance, int64_t bytes)
{
	return bytes > 0 ? variance / (double)bytes : 0;
}

/* As uncertain as a byte of all, or of the peak: whichever is more. */
double as_heap_about(const struct as_heap_sums *of, int64_t bytes)
{
	double all = a_byte(of->variance_made, of->made.bytes),
	       peak = a_byte(of->variance_peak, of->peak.bytes);

	if (bytes == of->peak.bytes)
		return of->variance_peak;
	return (double)bytes * (all > peak ? all : peak);
}

void as_heap_parts_done(struct as_heap_parts *p)
{
	free(p->thread);
	free(p->process);
	free(p->task);
	free(p->coroutine);
}

/* ── by line ──────────────────────────────────────────────────────────── */

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_bytes(const void *a, const void *b)
{
	const struct as_heap_line *x = a, *y = b;
	int r = compare(y->amount.bytes, x->amount.bytes);

	r = r ? r : compare(y->amount.count, x->amount.count);
	return r ? r : compare(x->place, y->place);
}

static int by_count(const void *a, const void *b)
{
	const struct as_heap_line *x = a, *y = b;
	int r = compare(y->amount.count, x->amount.count);

	return r ? r : by_bytes(a, b);
}

static void add_line(struct as_heap_line *to, const struct as_heap_sums *s, enum as_heap_view view)
{
	add_amount(&to->amount, as_heap_amount(s, view));
	to->variance += as_heap_variance(s, view);
	to->number += as_heap_number(s, view);
	to->number_variance += as_heap_number_variance(s, view);
	if (to->number_variance > 0)
		to->amount.count = as_heap_rounded(to->number);
}

static bool is_python(const struct as_profile *p, uint32_t place)
{
	const char *file = p->text[p->place[place].file];
	size_t n = strlen(file);

	return file[0] == '<' || (n > 3 && !strcmp(file + n - 3, ".py"));
}

/* Debug symbols of a distribution name files without their folder: nobody's own code. */
static bool has_line(const struct as_profile *p, uint32_t place)
{
	return p->place[place].line > 0 && p->text[p->place[place].file][0] == '/';
}

/* How good an owner a place is. */
static int rank(const struct as_profile *p, uint32_t place)
{
	return !place ? 0 : is_python(p, place) ? 3 : has_line(p, place) ? 2 : 1;
}

uint32_t *as_heap_owners(const struct as_profile *p)
{
	uint32_t *owner = as_zalloc_n(p->nstacks, sizeof *owner);

	for (size_t i = 1; owner && i < p->nstacks; i++) { /* callers have the smaller numbers */
		uint32_t outer = owner[p->stack[i].caller], own = p->stack[i].place;

		owner[i] = rank(p, own) >= rank(p, outer) ? own : outer;
	}
	return owner;
}

int as_heap_lines(const struct as_heap *h, enum as_heap_view view, enum as_heap_order order,
		  struct as_heap_line **ret, size_t *ret_n, struct as_err *err)
{
	size_t n = h->stacks->nplaces, kept = 0;
	as_auto_free uint32_t *owner = as_heap_owners(h->stacks);
	struct as_heap_line *line = owner ? as_zalloc_n(n, sizeof *line) : NULL;

	if (!line)
		return as_fail(err, AS_ENOMEM, "no memory to sum by line");
	for (size_t i = 0; i < h->nsites; i++)
		if (h->site[i].stack < h->stacks->nstacks && as_heap_shows(&h->site[i], view))
			add_line(&line[owner[h->site[i].stack]], &h->site[i].sums, view);
	for (uint32_t i = 0; i < n; i++)
		if (line[i].amount.count || line[i].amount.bytes) {
			line[i].place = i;
			line[kept++] = line[i];
		}
	if (kept)
		qsort(line, kept, sizeof *line, order == AS_HEAP_BY_BYTES ? by_bytes : by_count);
	*ret = line;
	*ret_n = kept;
	return AS_OK;
}
