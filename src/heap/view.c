/* view -- what was allocated, as profiles and by line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "heap/heap.h"
#include "profile/copy.h"
#include "wire/heap.h"

struct as_heap_amount as_heap_amount(const struct as_heap_sums *s, enum as_heap_view view)
{
	switch (view) {
	case AS_HEAP_PEAK:
		return s->peak;
	case AS_HEAP_LEFT:
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
		return s->variance_left;
	case AS_HEAP_TEMPORARY:
		return s->variance_temporary;
	case AS_HEAP_MADE:
		break;
	}
	return s->variance_made;
}

const char *as_heap_op_name(uint32_t op)
{
	static const char *const names[] = {
		[AS_WIRE_OP_MALLOC] = "malloc",
		[AS_WIRE_OP_CALLOC] = "calloc",
		[AS_WIRE_OP_REALLOC] = "realloc",
		[AS_WIRE_OP_ALIGNED] = "aligned",
		[AS_WIRE_OP_NEW] = "new",
		[AS_WIRE_OP_MMAP] = "mmap",
		[AS_WIRE_OP_BRK] = "brk",
		[AS_WIRE_OP_OBJECT_MALLOC] = "object malloc",
		[AS_WIRE_OP_OBJECT_CALLOC] = "object calloc",
		[AS_WIRE_OP_OBJECT_REALLOC] = "object realloc",
	};

	return op < AS_LEN(names) && names[op] ? names[op] : "?";
}

/* ── as a profile ─────────────────────────────────────────────────────── */

struct adding {
	const struct as_heap *h;
	struct as_profile *to;
	struct as_copy copy;
	unsigned apart;
	uint32_t process, thread, allocator; /* texts: keys of tags */
};

static bool has(const struct as_heap *h, const struct as_heap_site *s, enum as_heap_view view)
{
	struct as_heap_amount a = as_heap_amount(&s->sums, view);

	return (a.count || a.bytes) && s->stack < h->stacks->nstacks;
}

/* The stacks that are needed, with their callers, which have the smaller numbers. */
static void copy_stacks(struct adding *a, enum as_heap_view view)
{
	const struct as_profile *from = a->h->stacks;
	uint32_t *to = a->copy.stack;

	for (size_t i = 0; i < a->h->nsites; i++)
		if (has(a->h, &a->h->site[i], view))
			to[a->h->site[i].stack] = 1;
	for (size_t i = from->nstacks; i-- > 1;)
		if (to[i])
			to[from->stack[i].caller] = 1;
	for (size_t i = 1; i < from->nstacks; i++)
		if (to[i])
			to[i] = as_profile_stack(a->to, to[from->stack[i].caller],
						 as_copy_place(&a->copy, from->stack[i].place));
	to[0] = 0;
}

static uint32_t text(struct as_profile *p, const char *s)
{
	return as_profile_text(p, s, strlen(s));
}

/* A name, or without one the number. */
static struct as_tag named(struct adding *a, uint32_t key, const char *name, int64_t number)
{
	return name && *name ? (struct as_tag){key, text(a->to, name), 0}
			     : (struct as_tag){key, 0, number};
}

static uint32_t tags_of(struct adding *a, const struct as_heap_site *s)
{
	const struct as_heap *h = a->h;
	struct as_tag tag[3];
	size_t n = 0;

	if (a->apart & AS_HEAP_PROCESSES && h->nprocesses > 1 && s->process < h->nprocesses)
		tag[n++] = (struct as_tag){a->process, 0, h->process[s->process].pid};
	if (a->apart & AS_HEAP_THREADS && s->thread < h->nthreads)
		tag[n++] = named(a, a->thread, h->thread[s->thread].name, h->thread[s->thread].tid);
	if (a->apart & AS_HEAP_ALLOCATORS)
		tag[n++] = named(a, a->allocator, as_heap_op_name(s->op), 0);
	return as_profile_tags(a->to, tag, n);
}

static int64_t in_kib(double variance)
{
	double v = ceil(variance / (1024.0 * 1024.0));

	return v < 9e18 ? (int64_t)v : INT64_MAX;
}

static void add_site(struct adding *a, const struct as_heap_site *s, enum as_heap_view view,
		     uint32_t slice)
{
	struct as_heap_amount amount = as_heap_amount(&s->sums, view);
	int64_t v[] = {in_kib(as_heap_variance(&s->sums, view)), amount.count, amount.bytes};

	as_profile_add(a->to, a->copy.stack[s->stack], tags_of(a, s), slice,
		       a->apart & AS_HEAP_SPREAD ? v : v + 1);
}

int as_heap_profile_new(unsigned apart, struct as_profile **ret, struct as_err *err)
{
	static const struct as_value_kind kinds[] = {{"variance", "KiB^2"},
						     {"allocations", "count"},
						     {"bytes", "bytes"}};
	size_t from = apart & AS_HEAP_SPREAD ? 0 : 1;

	*ret = as_profile_new(kinds + from, AS_LEN(kinds) - from, err);
	return *ret ? AS_OK : err->code;
}

int as_heap_profile_add(struct as_profile *p, const struct as_heap *h, enum as_heap_view view,
			unsigned apart, uint32_t slice, struct as_err *err)
{
	as_auto_copy struct as_copy copy = {0};
	int r = as_copy_open(&copy, h->stacks, p, err);

	if (r < 0)
		return r;
	struct adding a = {.h = h,
			   .to = p,
			   .copy = copy,
			   .apart = apart,
			   .process = text(p, "process"),
			   .thread = text(p, "thread"),
			   .allocator = text(p, "allocator")};
	copy_stacks(&a, view);
	for (size_t i = 0; i < h->nsites; i++)
		if (has(h, &h->site[i], view))
			add_site(&a, &h->site[i], view, slice);
	p->start_unix_ns = h->start_unix_ns;
	p->duration_ns = h->end_ns - h->start_ns;
	return as_profile_ok(p, err);
}

int as_heap_profile(const struct as_heap *h, enum as_heap_view view, unsigned apart,
		    struct as_profile **ret, struct as_err *err)
{
	as_auto_profile struct as_profile *p = NULL;
	int r = as_heap_profile_new(apart, &p, err);

	if (r == AS_OK)
		r = as_heap_profile_add(p, h, view, apart, 0, err);
	if (r == AS_OK)
		*ret = as_take(p);
	return r;
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
	struct as_heap_amount a = as_heap_amount(s, view);

	to->amount.count = as_value_plus(to->amount.count, a.count);
	to->amount.bytes = as_value_plus(to->amount.bytes, a.bytes);
	to->variance += as_heap_variance(s, view);
}

int as_heap_lines(const struct as_heap *h, enum as_heap_view view, enum as_heap_order order,
		  struct as_heap_line **ret, size_t *ret_n, struct as_err *err)
{
	size_t n = h->stacks->nplaces, kept = 0;
	struct as_heap_line *line = as_zalloc_n(n, sizeof *line);

	if (!line)
		return as_fail(err, AS_ENOMEM, "no memory to sum by line");
	for (size_t i = 0; i < h->nsites; i++)
		if (has(h, &h->site[i], view))
			add_line(&line[h->stacks->stack[h->site[i].stack].place], &h->site[i].sums,
				 view);
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
