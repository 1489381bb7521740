#include "base/cleanup.h"
#include "profile/functions.h"
#include "sample_heap.h"

#define as_auto_sample as_cleanup(sample_heap_done)

static struct as_profile *view(const struct as_heap *h, enum as_heap_view which, unsigned apart)
{
	struct as_profile *p = NULL;
	struct as_err err;

	EXPECT_OK(as_heap_profile(h, which, apart, &p, &err), err);
	return p;
}

static void t_kinds_are_what_was_counted(void)
{
	as_auto_sample struct sample_heap s;
	as_auto_profile struct as_profile *p = view(sample_heap(&s), AS_HEAP_PEAK, 0);

	EXPECT_U64(p->nkinds, 2);
	EXPECT_STR(p->kind[0].name, "allocations");
	EXPECT_STR(p->kind[1].name, "bytes");
	EXPECT_I64(as_profile_total(p, 0), 57);
	EXPECT_I64(as_profile_total(p, 1), 3552 * SAMPLE_KIB);
	EXPECT_I64(p->duration_ns, 4000000000);
}

/* Only stacks that have something, with their callers, are taken over. */
static void t_a_view_has_its_own_stacks(void)
{
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);
	as_auto_profile struct as_profile *left = view(h, AS_HEAP_LEFT, 0);
	as_auto_profile struct as_profile *made = view(h, AS_HEAP_MADE, 0);
	as_auto_profile struct as_profile *temporary = view(h, AS_HEAP_TEMPORARY, 0);

	EXPECT_U64(as_profile_places(made, made->sample[0].stack, NULL, 0), 2);
	EXPECT_U64(left->nsamples, 2);
	EXPECT_U64(left->nstacks, 4);
	EXPECT_I64(as_profile_total(left, 1), 160 * SAMPLE_KIB);
	EXPECT_U64(made->nsamples, 4);
	EXPECT_I64(as_profile_total(made, 0), 120);
	EXPECT_I64(as_profile_total(temporary, 1), 1287 * SAMPLE_KIB);
}

static const struct as_tag *tag_of(const struct as_profile *p, size_t sample, const char *key)
{
	const struct as_tags *t = &p->tags[p->sample[sample].tags];

	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(p->text[t->at[i].key], key))
			return &t->at[i];
	UTEST_FAIL("sample %zu has no tag '%s'", sample, key);
}

static void t_sites_are_told_apart_as_asked(void)
{
	as_auto_sample struct sample_heap s;
	as_auto_profile struct as_profile *p =
		view(sample_heap(&s), AS_HEAP_MADE,
		     AS_HEAP_PROCESSES | AS_HEAP_THREADS | AS_HEAP_ALLOCATORS);

	EXPECT_I64(tag_of(p, 0, "process")->number, 100);
	EXPECT_I64(tag_of(p, 0, "thread")->number, 100);
	EXPECT_STR(p->text[tag_of(p, 1, "thread")->text], "worker");
	EXPECT_STR(p->text[tag_of(p, 1, "allocator")->text], "realloc");
	EXPECT_I64(tag_of(p, 3, "process")->number, 101);
	EXPECT_STR(p->text[tag_of(p, 3, "allocator")->text], "mmap");
}

/* Threads of one name are still several. */
static void t_threads_of_one_name_have_their_number(void)
{
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);

	s.thread[2].name = s.worker;
	as_auto_profile struct as_profile *p = view(h, AS_HEAP_MADE, AS_HEAP_THREADS);
	EXPECT_I64(tag_of(p, 0, "thread")->number, 100);
	EXPECT_STR(p->text[tag_of(p, 1, "thread")->text], "102 worker");
	EXPECT_STR(p->text[tag_of(p, 3, "thread")->text], "101 worker");
}

static void t_one_process_needs_no_tag(void)
{
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);

	h->nprocesses = 1;
	as_auto_profile struct as_profile *p = view(h, AS_HEAP_MADE, AS_HEAP_PROCESSES);
	EXPECT_U64(p->sample[0].tags, 0);
}

static void t_the_spread_is_a_kind(void)
{
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);

	s.site[1].sums.variance_peak = 9.0 * SAMPLE_KIB * SAMPLE_KIB;
	s.site[1].sums.variance.peak = 25;
	s.site[0].sums.variance_peak = 1e40; /* beyond what is kept */
	as_auto_profile struct as_profile *p = view(h, AS_HEAP_PEAK, AS_HEAP_SPREAD);
	EXPECT_STR(p->kind[0].name, "count variance");
	EXPECT_STR(p->kind[1].name, "variance");
	EXPECT_I64(p->sample[1].v[0], 25);
	EXPECT_I64(p->sample[1].v[1], 9);
	EXPECT_I64(p->sample[0].v[1], INT64_MAX);
	EXPECT_I64(as_profile_total(p, 3), 3552 * SAMPLE_KIB);
}

/* Counts of a sample: rounded one by one, all together would be another number. */
static void t_counts_are_rounded_once(void)
{
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);
	as_cleanup(as_heap_parts_done) struct as_heap_parts parts = {0};
	struct as_err err;

	h->rate = 512;
	for (size_t i = 0; i < h->nsites; i++) {
		h->site[i].sums.number.peak = (double)i + 1.4;
		h->site[i].sums.variance.peak = 1;
		h->site[i].sums.peak.count = (int64_t)i + 1;
	}
	double all = (double)(h->nsites * (h->nsites + 1)) / 2 + 0.4 * (double)h->nsites;
	as_auto_profile struct as_profile *p = view(h, AS_HEAP_PEAK, 0);
	EXPECT_I64(as_profile_total(p, 0), (int64_t)(all + 0.5));
	EXPECT_OK(as_heap_parts(h, &parts, &err), err);
	EXPECT_I64(parts.all.peak.count, (int64_t)(all + 0.5));
}

static void t_slices_are_kept_apart(void)
{
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);
	const struct as_heap_amount first[SAMPLE_SITES] = {{1, 10}, {0, 0}, {2, 20}};
	const struct as_heap_amount second[SAMPLE_SITES] = {{3, 30}};
	as_auto_profile struct as_profile *p = NULL;
	struct as_err err;

	EXPECT_OK(as_heap_profile_new(0, &p, &err), err);
	EXPECT_OK(as_heap_profile_slice(p, h, first, 0, 0, &err), err);
	EXPECT_OK(as_heap_profile_slice(p, h, second, 0, 7, &err), err);
	EXPECT_U64(p->nsamples, 3);
	EXPECT_U64(p->sample[2].slice, 7);
	EXPECT_I64(p->sample[2].v[1], 30);
	EXPECT_U64(p->sample[2].stack, p->sample[0].stack);
}

static void t_what_lasted_has_two_slices(void)
{
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);
	struct as_heap_lasting lasting[] = {{0, 2, 0, {1, 10}},
					    {2, 0, 7, {2, 20}},
					    {3, 1, 2, {3, 30}}};
	as_auto_profile struct as_profile *p = NULL;
	struct as_err err;

	h->lasting = lasting;
	h->nlasting = 3;
	s.site[3].op = AS_WIRE_OP_ARENA;
	EXPECT_OK(as_heap_profile_lasting(h, 0, &p, &err), err);
	EXPECT_U64(p->nsamples, 2);
	EXPECT_U64(p->sample[0].slice, 2 << AS_HEAP_MADE_SHIFT);
	EXPECT_U64(p->sample[1].slice, 7);
	EXPECT_I64(p->sample[1].v[1], 20);
}

static struct as_heap_line line(const struct as_heap *h, enum as_heap_view which,
				enum as_heap_order order, size_t at, size_t want)
{
	as_auto_free struct as_heap_line *lines = NULL;
	size_t n = 0;
	struct as_err err;

	EXPECT_OK(as_heap_lines(h, which, order, &lines, &n, &err), err);
	EXPECT_U64(n, want);
	return lines[at];
}

static void t_lines_stand_in_order(void)
{
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);
	struct as_heap_line first = line(h, AS_HEAP_PEAK, AS_HEAP_BY_BYTES, 0, 3);
	struct as_heap_line last = line(h, AS_HEAP_MADE, AS_HEAP_BY_COUNT, 3, 4);
	struct as_heap_line second = line(h, AS_HEAP_TEMPORARY, AS_HEAP_BY_COUNT, 1, 2);

	EXPECT_I64(h->stacks->place[first.place].line, 40);
	EXPECT_I64(first.amount.bytes, 3200 * SAMPLE_KIB);
	EXPECT_I64(first.amount.count, 50);
	EXPECT_I64(h->stacks->place[last.place].line, 5);
	EXPECT_I64(last.amount.count, 3);
	EXPECT_I64(second.amount.bytes, 7 * SAMPLE_KIB);
}

/* A line that many stacks end in is one; a damaged number of a stack counts nowhere. */
static void t_a_line_is_met_once(void)
{
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);

	s.site[2].stack = s.site[1].stack;
	s.site[3].stack = 4711;
	EXPECT_I64(line(h, AS_HEAP_MADE, AS_HEAP_BY_BYTES, 0, 2).amount.count, 107);
}

/* Arenas are in every sum, and no leak. */
static void t_arenas_are_no_leak(void)
{
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);

	s.site[3].op = AS_WIRE_OP_ARENA;
	EXPECT_I64(line(h, AS_HEAP_LEFT, AS_HEAP_BY_BYTES, 0, 1).amount.bytes, 64 * SAMPLE_KIB);
	EXPECT_I64(line(h, AS_HEAP_HELD, AS_HEAP_BY_BYTES, 0, 2).amount.bytes, 96 * SAMPLE_KIB);
	EXPECT_I64(as_heap_arenas(h).left.bytes, 96 * SAMPLE_KIB);
	EXPECT_I64(as_heap_arenas(h).peak.count, 3);
	as_auto_profile struct as_profile *left = view(h, AS_HEAP_LEFT, 0);
	as_auto_profile struct as_profile *peak = view(h, AS_HEAP_PEAK, 0);
	EXPECT_I64(as_profile_total(left, 1), 64 * SAMPLE_KIB);
	EXPECT_I64(as_profile_total(peak, 1), 3552 * SAMPLE_KIB);
}

/* Memory belongs to who can change it: Python's lines, then lines that are known. */
static void t_owners(void)
{
	as_auto_sample struct sample_heap s;
	struct as_profile *p = sample_heap(&s)->stacks;
	uint32_t main = as_profile_stack(p, 0, sample_place(p, "main", "/srv/app/main.py", 5, 1));
	uint32_t c = as_profile_stack(p, main, sample_place(p, "bytes_new", "bytes.c", 9, 0));
	uint32_t known = as_profile_stack(p, 0, sample_place(p, "read", "/srv/app/reader.c", 7, 0));
	uint32_t nameless = as_profile_stack(p, known, sample_place(p, "libc+0x17", "", 0, 0));
	uint32_t alone = as_profile_stack(p, 0, sample_place(p, "libc+0x17", "", 0, 0));
	uint32_t libc = as_profile_stack(p, 0,
					 sample_place(p, "__libc_start_call_main",
						      "../sysdeps/start.h", 58, 0));
	uint32_t bare = as_profile_stack(p, libc, sample_place(p, "work", "", 0, 0));
	uint32_t within =
		as_profile_stack(p, known, sample_place(p, "fopen", "./libio/x.c", 65, 0));
	as_auto_free uint32_t *owner = as_heap_owners(p);

	EXPECT(owner);
	EXPECT_U64(owner[0], 0);
	EXPECT_U64(owner[bare], p->stack[bare].place);
	EXPECT_U64(owner[within], p->stack[known].place);
	EXPECT_U64(owner[c], p->stack[main].place);
	EXPECT_U64(owner[nameless], p->stack[known].place);
	EXPECT_U64(owner[alone], p->stack[alone].place);
}

/* ── tasks ────────────────────────────────────────────────────────────── */

static uint32_t coroutine(struct as_profile *p, uint32_t caller, const char *name, int line)
{
	struct as_place at = {as_profile_text(p, name, strlen(name)),
			      as_profile_text(p, "/srv/app/loop.py", 16), line, 10, 1};

	return as_profile_stack(p, caller, as_profile_place(p, at));
}

/* load() is called by a task, copy() by none, read() by another line of the first. */
static void call_by_tasks(struct sample_heap *s)
{
	struct as_profile *p = s->h.stacks;
	uint32_t loop = as_profile_stack(p, 0, sample_place(p, "_run", "/lib/events.py", 80, 78));
	uint32_t first = coroutine(p, loop, "serve", 12), again = coroutine(p, loop, "serve", 15);
	uint32_t inner = coroutine(p, first, "answer", 30);

	s->site[0].stack = as_profile_stack(p, inner, p->stack[s->site[0].stack].place);
	s->site[3].stack = as_profile_stack(p, again, p->stack[s->site[3].stack].place);
}

static void t_a_task_is_its_outermost_coroutine(void)
{
	as_auto_sample struct sample_heap s;
	struct as_heap *h = sample_heap(&s);
	as_cleanup(as_heap_parts_done) struct as_heap_parts parts = {0};
	struct as_err err;

	call_by_tasks(&s);
	EXPECT_OK(as_heap_parts(h, &parts, &err), err);
	EXPECT_U64(parts.ntasks, 2);
	EXPECT_U64(parts.coroutine[0], 0);
	EXPECT_STR(h->stacks->text[h->stacks->place[parts.coroutine[1]].function], "serve");
	EXPECT_I64(parts.task[0].made.bytes, 6407 * SAMPLE_KIB);
	EXPECT_I64(parts.task[1].made.bytes, 736 * SAMPLE_KIB);
	EXPECT_I64(parts.task[1].peak.count, 7);
	as_auto_profile struct as_profile *p = view(h, AS_HEAP_PEAK, AS_HEAP_TASKS);
	EXPECT_STR(p->text[tag_of(p, 0, "task")->text], "serve (loop.py:10)");
	EXPECT_U64(p->sample[1].tags, 0);
	EXPECT_STR(p->text[tag_of(p, 2, "task")->text], "serve (loop.py:10)");
}

static void t_without_coroutines_there_are_no_tasks(void)
{
	as_auto_sample struct sample_heap s;
	as_cleanup(as_heap_parts_done) struct as_heap_parts parts = {0};
	struct as_err err;

	EXPECT_OK(as_heap_parts(sample_heap(&s), &parts, &err), err);
	EXPECT_U64(parts.ntasks, 0);
}

static void t_every_operation_has_a_name(void)
{
	for (uint32_t op = AS_WIRE_OP_MALLOC; op < AS_WIRE_OPS; op++)
		EXPECT(strcmp(as_heap_op_name(op), "?") != 0);
	EXPECT_STR(as_heap_op_name(AS_WIRE_OP_FREE), "?");
	EXPECT_STR(as_heap_op_name(UINT32_MAX), "?");
}

/* ── beside what the system counts ────────────────────────────────────── */

enum { MIB = 1 << 20 };

static struct as_heap of_points(struct as_heap_point *point, size_t n)
{
	return (struct as_heap){.point = point, .npoints = n, .at_peak = {-1, -1, -1, -1, -1}};
}

static void t_a_moment_is_all_processes_that_are_there(void)
{
	struct as_heap_point point[] = {
		{10, 0, 5 * MIB, 20 * MIB, 4 * MIB, 0},
		{20, 0, 6 * MIB, 21 * MIB, 4 * MIB, MIB},
		{20, 1, 1 * MIB, 9 * MIB, 3 * MIB, MIB},
		{30, 0, 7 * MIB, 22 * MIB, 4 * MIB, MIB},
		{30, 1, 1 * MIB, -1, -1, 0}, /* is gone */
		{40, 0, 2 * MIB, -1, -1, 0},
		{40, 1, 3 * MIB, -1, -1, 0},
	};
	static const struct as_heap_moment want[] = {{10, 5 * MIB, 20 * MIB, 4 * MIB, 0},
						     {20, 7 * MIB, 30 * MIB, 7 * MIB, 2 * MIB},
						     {30, 7 * MIB, 22 * MIB, 4 * MIB, MIB},
						     {40, 5 * MIB, -1, -1, 0}};
	struct as_heap h = of_points(point, AS_LEN(point));
	as_auto_free struct as_heap_moment *m = NULL;
	struct as_err err;
	size_t n;

	EXPECT_OK(as_heap_curve(&h, 100, &m, &n, &err), err);
	EXPECT_U64(n, AS_LEN(want));
	EXPECT(!memcmp(m, want, sizeof want));
	EXPECT_I64(as_heap_process_rss(&h, 0), 22 * MIB);
	EXPECT_I64(as_heap_process_rss(&h, 1), 9 * MIB);
	EXPECT_I64(as_heap_process_rss(&h, 2), -1);
}

/* One spike among a thousand moments is there, however few are wanted. */
static void t_a_curve_that_is_thinned_keeps_its_peak(void)
{
	struct as_heap_point point[1000];
	struct as_heap h = of_points(point, AS_LEN(point));

	for (int64_t i = 0; i < 1000; i++)
		point[i] =
			(struct as_heap_point){i, 0, MIB, i == 617 ? 90 * MIB : 10 * MIB, MIB, 0};
	for (size_t most = 1; most <= 1000; most += 37) {
		as_auto_free struct as_heap_moment *m = NULL;
		struct as_err err;
		size_t n;
		bool there = false;

		EXPECT_OK(as_heap_curve(&h, most, &m, &n, &err), err);
		EXPECT_U64(n, most);
		for (size_t i = 0; i < n; i++) {
			there |= m[i].ns == 617;
			EXPECT(!i || m[i].ns > m[i - 1].ns);
		}
		EXPECT(there);
	}
}

static void t_what_is_beside_the_heap(void)
{
	struct as_heap_point point[] = {{10, 0, 50 * MIB, 20 * MIB, 4 * MIB, 0},
					{15, 0, 9 * MIB, 20 * MIB, 4 * MIB, 3 * MIB},
					{20, 0, 9 * MIB, 40 * MIB, 5 * MIB, 3 * MIB}};
	struct as_heap h = of_points(point, AS_LEN(point));
	struct as_heap_resident r;
	struct as_err err;

	EXPECT_OK(as_heap_resident(&h, &r, &err), err);
	EXPECT(r.ns == 20 && r.rss == 40 * MIB && r.heap == 6 * MIB && r.file == 5 * MIB);
	EXPECT_I64(r.beside, 29 * MIB);
	EXPECT_I64(r.shared, -1);
	h.at_peak.shared = 2 * MIB;
	EXPECT_OK(as_heap_resident(&h, &r, &err), err);
	EXPECT(r.file == 3 * MIB && r.shared == 2 * MIB && r.beside == 29 * MIB);
	h.at_peak.own = MIB;
	EXPECT_OK(as_heap_resident(&h, &r, &err), err);
	EXPECT(r.file == 3 * MIB && r.shared == MIB && r.own == MIB && r.beside == 29 * MIB);
	h.npoints = 1; /* more than is resident */
	EXPECT_OK(as_heap_resident(&h, &r, &err), err);
	EXPECT_I64(r.beside, -34 * MIB);
	point[0].file = -1;
	EXPECT_OK(as_heap_resident(&h, &r, &err), err);
	EXPECT(r.rss == 20 * MIB && r.file == -1 && r.beside == INT64_MIN);
	h.npoints = 0;
	EXPECT_OK(as_heap_resident(&h, &r, &err), err);
	EXPECT(r.rss == -1 && r.heap == -1 && r.beside == INT64_MIN);
}

/* A block is told to be free before it is: RSS is read meanwhile, and has it still. */
static void t_a_block_on_its_way_out_is_no_waste(void)
{
	struct as_heap_point point[] = {{10, 0, 70 * MIB, 40 * MIB, 4 * MIB, 0},
					{20, 0, 70 * MIB, 75 * MIB, 4 * MIB, 2 * MIB},
					{30, 0, 5 * MIB, 76 * MIB, 4 * MIB, 2 * MIB},
					{40, 0, 6 * MIB, 10 * MIB, 4 * MIB, 2 * MIB}};
	struct as_heap h = of_points(point, AS_LEN(point));
	struct as_heap_resident r;
	struct as_err err;

	EXPECT_OK(as_heap_resident(&h, &r, &err), err);
	EXPECT(r.ns == 30 && r.rss == 76 * MIB && r.heap == 68 * MIB);
	EXPECT_I64(r.beside, 4 * MIB);
}

/* Whatever a damaged file says. */
static void t_no_number_overflows(void)
{
	struct as_heap_point point[] = {{1, 0, INT64_MAX, INT64_MAX, INT64_MAX, 0},
					{1, 1, INT64_MAX, INT64_MAX, INT64_MAX, 0},
					{2, 0, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN}};
	struct as_heap h = of_points(point, AS_LEN(point));
	struct as_heap_resident r;
	struct as_err err;

	EXPECT_OK(as_heap_resident(&h, &r, &err), err);
	EXPECT(r.rss == INT64_MAX && r.beside < 0);
}

UTEST_MAIN(T(t_kinds_are_what_was_counted), T(t_a_view_has_its_own_stacks),
	   T(t_sites_are_told_apart_as_asked), T(t_threads_of_one_name_have_their_number),
	   T(t_one_process_needs_no_tag), T(t_the_spread_is_a_kind), T(t_counts_are_rounded_once),
	   T(t_slices_are_kept_apart), T(t_what_lasted_has_two_slices), T(t_lines_stand_in_order),
	   T(t_a_line_is_met_once), T(t_arenas_are_no_leak), T(t_owners),
	   T(t_a_task_is_its_outermost_coroutine), T(t_without_coroutines_there_are_no_tasks),
	   T(t_every_operation_has_a_name), T(t_a_moment_is_all_processes_that_are_there),
	   T(t_a_curve_that_is_thinned_keeps_its_peak), T(t_what_is_beside_the_heap),
	   T(t_a_block_on_its_way_out_is_no_waste), T(t_no_number_overflows))
