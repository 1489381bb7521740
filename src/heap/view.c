/* view -- what was allocated, as profiles, and the names of things. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "heap/heap.h"
#include "profile/copy.h"
#include "wire/heap.h"

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
		[AS_WIRE_OP_COMMIT] = "mprotect",
		[AS_WIRE_OP_MAP_FILE] = "mapped file",
		[AS_WIRE_OP_ARENA] = "pymalloc",
	};

	return op < AS_LEN(names) && names[op] ? names[op] : "?";
}

const char *as_heap_nothing(const struct as_heap *h)
{
	if (h->early)
		return "the capture ends before the first allocation was written: what the "
		       "program had is not known";
	return h->nprocesses || !h->whole
		       ? NULL
		       : "nothing was recorded: a program that is static, gains privileges, is "
			 "of another machine or has little address space (ulimit -v) cannot be";
}

const char *as_heap_why(uint32_t why)
{
	static const char *const texts[] = {
		[AS_WIRE_WHY_PYTHON] = "its Python is of a version that is not known: its stacks "
				       "are native ones only",
		[AS_WIRE_WHY_SELFTEST] = "its Python's frames are not where they should be: its "
					 "stacks are native ones only",
		[AS_WIRE_WHY_UNWIND] = "its native stacks could not be walked",
		[AS_WIRE_WHY_DEAD] = "it stopped recording, for nobody read it for long",
		[AS_WIRE_WHY_NO_GIL] = "its Python is built without the GIL: its stacks are "
				       "native ones only",
		[AS_WIRE_WHY_EXEC] = "it became another program, which could not be recorded",
		[AS_WIRE_WHY_DEEPBIND] = "it opened a library with RTLD_DEEPBIND: what that "
					 "allocates may be missing",
		[AS_WIRE_WHY_INSIDE] = "it has an allocator of its own inside: of what that gives, "
				       "only the mappings that it is made of are seen",
		[AS_WIRE_WHY_ROOM] = "it had too little address space (ulimit -v) or memory to be "
				     "recorded",
	};

	return why < AS_LEN(texts) ? texts[why] : "it could not be recorded";
}

/* ── as a profile ─────────────────────────────────────────────────────── */

struct adding {
	const struct as_heap *h;
	struct as_profile *to;
	struct as_copy copy;
	enum as_heap_view view;
	const struct as_heap_amount *amount; /* of each site; NULL: what the view says */
	bool lasts;                          /* what h->lasting says, instead */
	unsigned apart;
	uint32_t process, thread, allocator; /* texts: keys of tags */
	uint32_t *label;                     /* of each thread, a text; 0: none */
	uint32_t task;                       /* a key too                       */
	uint32_t *coroutine;                 /* of each stack; NULL: not asked for */
	double number;                       /* counts so far, before and after they are */
	int64_t rounded;                     /* rounded: the whole is what it is elsewhere */
};

/* What a site had; nothing if its stack is none, or it is not in the view. */
static struct as_heap_amount had(const struct adding *a, size_t site)
{
	const struct as_heap_site *s = &a->h->site[site];

	if (s->stack >= a->h->stacks->nstacks || !as_heap_shows(s, a->view))
		return (struct as_heap_amount){0};
	return a->amount ? a->amount[site] : as_heap_amount(&s->sums, a->view);
}

static bool has(const struct adding *a, size_t site)
{
	return had(a, site).count || had(a, site).bytes;
}

/* The stacks that are needed, with their callers, which have the smaller numbers. */
static void copy_stacks(struct adding *a)
{
	const struct as_profile *from = a->h->stacks;
	uint32_t *to = a->copy.stack;

	for (size_t i = 0; i < a->h->nsites; i++)
		if (has(a, i))
			to[a->h->site[i].stack] = 1;
	for (size_t i = from->nstacks; i-- > 1;)
		if (to[i])
			to[from->stack[i].caller] = 1;
	to[0] = 0;
	for (size_t i = 1; i < from->nstacks; i++)
		if (to[i])
			to[i] = as_profile_stack(a->to, to[from->stack[i].caller],
						 as_copy_place(&a->copy, from->stack[i].place));
}

static uint32_t text(struct as_profile *p, const char *s)
{
	return as_profile_text(p, s, strlen(s));
}

/* ── threads ──────────────────────────────────────────────────────────── */

static const char *thread_name(const struct as_heap *h, uint32_t thread)
{
	return h->thread[thread].name ? h->thread[thread].name : "";
}

static int by_name(const void *a, const void *b, void *adding)
{
	const struct as_heap *h = ((const struct adding *)adding)->h;

	return strcmp(thread_name(h, *(const uint32_t *)a), thread_name(h, *(const uint32_t *)b));
}

/* A name that no other has; behind the number where others have it too; 0: it has none. */
static uint32_t label(struct adding *a, uint32_t thread, bool shared)
{
	const char *name = thread_name(a->h, thread);
	char both[64];

	if (!*name)
		return 0;
	(void)snprintf(both, sizeof both, "%u %.40s", a->h->thread[thread].tid, name);
	return text(a->to, shared ? both : name);
}

static bool alike(struct adding *a, const uint32_t *order, size_t i, size_t k)
{
	return k < a->h->nthreads && !by_name(&order[i], &order[k], a);
}

static int label_threads(struct adding *a, struct as_err *err)
{
	size_t n = a->h->nthreads;
	as_auto_free uint32_t *order = as_zalloc_n(n, sizeof *order);

	a->label = as_zalloc_n(n, sizeof *a->label);
	if (!order || !a->label)
		return as_fail(err, AS_ENOMEM, "no memory for the names of threads");
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (n)
		qsort_r(order, n, sizeof *order, by_name, a);
	for (size_t i = 0; i < n; i++)
		a->label[order[i]] =
			label(a, order[i], alike(a, order, i, i - 1) || alike(a, order, i, i + 1));
	return AS_OK;
}

/* ── sites ────────────────────────────────────────────────────────────── */

static struct as_tag thread_tag(const struct adding *a, uint32_t thread)
{
	uint32_t name = a->label[thread];

	return (struct as_tag){a->thread, name, name ? 0 : a->h->thread[thread].tid};
}

static struct as_tag task_tag(struct adding *a, uint32_t place)
{
	char name[256];

	as_heap_task_name(a->h->stacks, place, name, sizeof name);
	return (struct as_tag){a->task, text(a->to, name), 0};
}

static uint32_t tags_of(struct adding *a, const struct as_heap_site *s)
{
	const struct as_heap *h = a->h;
	struct as_tag tag[4];
	size_t n = 0;

	if (a->apart & AS_HEAP_PROCESSES && h->nprocesses > !(a->apart & AS_HEAP_ALONE) &&
	    s->process < h->nprocesses)
		tag[n++] = (struct as_tag){a->process, 0, h->process[s->process].pid};
	if (a->apart & AS_HEAP_THREADS && s->thread < h->nthreads)
		tag[n++] = thread_tag(a, s->thread);
	if (a->coroutine && a->coroutine[s->stack])
		tag[n++] = task_tag(a, a->coroutine[s->stack]);
	if (a->apart & AS_HEAP_ALLOCATORS)
		tag[n++] = (struct as_tag){a->allocator, text(a->to, as_heap_op_name(s->op)), 0};
	return as_profile_tags(a->to, tag, n);
}

static int64_t not_below(double variance)
{
	double v = ceil(variance);

	return v < 9e18 ? (int64_t)v : INT64_MAX;
}

/* Of a sample: rounded so that all sites together are their sum, rounded once. */
static int64_t count_of(struct adding *a, const struct as_heap_site *s)
{
	int64_t before = a->rounded;

	a->number += as_heap_number(&s->sums, a->view);
	a->rounded = as_heap_rounded(a->number);
	return a->rounded - before;
}

static void add_site(struct adding *a, size_t site, uint32_t slice)
{
	const struct as_heap_site *s = &a->h->site[site];
	struct as_heap_amount amount = had(a, site);
	bool sampled = a->h->rate && !a->amount;
	int64_t v[] = {not_below(as_heap_number_variance(&s->sums, a->view)),
		       not_below(as_heap_variance(&s->sums, a->view) / (1024.0 * 1024.0)),
		       sampled ? count_of(a, s) : amount.count, amount.bytes};

	as_profile_add(a->to, a->copy.stack[s->stack], tags_of(a, s), slice,
		       a->apart & AS_HEAP_SPREAD ? v : v + 2);
}

int as_heap_profile_new(unsigned apart, struct as_profile **ret, struct as_err *err)
{
	static const struct as_value_kind kinds[] = {{"count variance", "count^2"},
						     {"variance", "KiB^2"},
						     {"allocations", "count"},
						     {"bytes", "bytes"}};
	size_t from = apart & AS_HEAP_SPREAD ? 0 : 2;

	*ret = as_profile_new(kinds + from, AS_LEN(kinds) - from, err);
	return *ret ? AS_OK : err->code;
}

/* What is known of threads and stacks before any of them is met. */
static int prepare(struct adding *a, struct as_err *err)
{
	int r = label_threads(a, err);

	if (r < 0 || !(a->apart & AS_HEAP_TASKS))
		return r;
	a->coroutine = as_heap_tasks(a->h->stacks);
	return a->coroutine ? AS_OK : as_fail(err, AS_ENOMEM, "no memory for tasks");
}

static void add_sites(struct adding *a, uint32_t slice)
{
	for (size_t i = 0; i < a->h->nsites; i++)
		if (has(a, i))
			add_site(a, i, slice);
}

/* A capture has fewer slices than can be told so. */
static void add_lasting(struct adding *a)
{
	for (size_t i = 0; i < a->h->nlasting; i++) {
		const struct as_heap_lasting *l = &a->h->lasting[i];
		const struct as_heap_site *s = &a->h->site[l->site];
		int64_t v[] = {l->amount.count, l->amount.bytes};

		if (has(a, l->site))
			as_profile_add(a->to, a->copy.stack[s->stack], tags_of(a, s),
				       l->made << AS_HEAP_MADE_SHIFT | l->until, v);
	}
}

static int add_all(struct adding *a, uint32_t slice, struct as_err *err)
{
	as_auto_copy struct as_copy copy = {0};
	int r = as_copy_open(&copy, a->h->stacks, a->to, err);

	if (r < 0)
		return r;
	a->copy = copy;
	a->process = text(a->to, "process");
	a->thread = text(a->to, "thread");
	a->allocator = text(a->to, "allocator");
	a->task = text(a->to, "task");
	r = prepare(a, err);
	copy_stacks(a);
	if (r == AS_OK && a->lasts)
		add_lasting(a);
	else if (r == AS_OK)
		add_sites(a, slice);
	free(a->label);
	free(a->coroutine);
	a->to->start_unix_ns = a->h->start_unix_ns;
	a->to->duration_ns = a->h->end_ns - a->h->start_ns;
	return r < 0 ? r : as_profile_ok(a->to, err);
}

int as_heap_profile_slice(struct as_profile *p, const struct as_heap *h,
			  const struct as_heap_amount *amount, unsigned apart, uint32_t slice,
			  struct as_err *err)
{
	struct adding a = {.h = h, .to = p, .amount = amount, .apart = apart};

	return add_all(&a, slice, err);
}

int as_heap_profile(const struct as_heap *h, enum as_heap_view view, unsigned apart,
		    struct as_profile **ret, struct as_err *err)
{
	as_auto_profile struct as_profile *p = NULL;
	int r = as_heap_profile_new(apart, &p, err);
	struct adding a = {.h = h, .to = p, .view = view, .apart = apart};

	if (r == AS_OK)
		r = add_all(&a, 0, err);
	if (r == AS_OK)
		*ret = as_take(p);
	return r;
}

/* All that a site ever had there: so it is known which have something. */
static struct as_heap_amount *ever_lasted(const struct as_heap *h)
{
	struct as_heap_amount *sum = as_zalloc_n(h->nsites, sizeof *sum);

	for (size_t i = 0; sum && i < h->nlasting; i++) {
		struct as_heap_amount *to = &sum[h->lasting[i].site];

		to->count = as_value_plus(to->count, h->lasting[i].amount.count);
		to->bytes = as_value_plus(to->bytes, h->lasting[i].amount.bytes);
	}
	return sum;
}

int as_heap_profile_lasting(const struct as_heap *h, unsigned apart, struct as_profile **ret,
			    struct as_err *err)
{
	as_auto_free struct as_heap_amount *ever = ever_lasted(h);
	as_auto_profile struct as_profile *p = NULL;

	if (!ever)
		return as_fail(err, AS_ENOMEM, "no memory for what lasted");
	int r = as_heap_profile_new(apart, &p, err);
	struct adding a = {.h = h,
			   .to = p,
			   .view = AS_HEAP_LEFT,
			   .amount = ever,
			   .lasts = true,
			   .apart = apart};
	if (r == AS_OK)
		r = add_all(&a, 0, err);
	if (r == AS_OK)
		*ret = as_take(p);
	return r;
}
