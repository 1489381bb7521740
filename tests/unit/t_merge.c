/* merge -- profiles put together, slices joined, and what each slice had. */
#include "profile/merge.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "profile/named.h"
#include "profile/read.h"
#include "profile/timeline.h"
#include "profile/write.h"
#include "utest.h"

static const struct as_value_kind kinds[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};

static struct as_profile *empty(size_t n, int64_t start, int64_t slice)
{
	struct as_err err;
	struct as_profile *p = as_profile_new(kinds, n, &err);

	EXPECT(p);
	p->start_unix_ns = start;
	p->slice_ns = slice;
	return p;
}

/* A sample of main → name. */
static void add(struct as_profile *p, const char *name, uint32_t slice, int64_t ns)
{
	uint32_t file = as_profile_text(p, "app.py", 6), stack = 0;
	const char *frame[] = {"main", name};
	struct as_tag tag = {as_profile_text(p, "process", 7), 0, 7};

	for (size_t i = 0; i < AS_LEN(frame); i++) {
		uint32_t function = as_profile_text(p, frame[i], strlen(frame[i]));

		stack = as_profile_stack(p, stack,
					 as_profile_place(p,
							  (struct as_place){function, file, 3, 1}));
	}
	as_profile_add(p, stack, as_profile_tags(p, &tag, 1), slice, (int64_t[]){1, ns});
}

static void t_what_is_the_same_is_summed(void)
{
	as_auto_profile struct as_profile *a = empty(2, 0, 0), *b = empty(2, 0, 0);

	add(a, "work", 0, 10);
	add(b, "rest", 0, 5); /* seen in another order there */
	add(b, "work", 0, 20);
	as_profile_merge(a, b);
	EXPECT_U64(a->nsamples, 2);
	EXPECT_U64(a->nstacks, 4);
	EXPECT_I64(a->sample[0].v[1], 30);
	EXPECT_I64(as_profile_total(a, 0), 3);
	EXPECT_I64(as_profile_total(a, 1), 35);
	EXPECT_U64(a->tags[a->sample[1].tags].n, 1);
	EXPECT_I64(a->tags[a->sample[1].tags].at[0].number, 7);
	uint32_t place[2];
	EXPECT_U64(as_profile_places(a, a->sample[1].stack, place, 2), 2);
	EXPECT_STR(a->text[a->place[place[0]].function], "main");
	EXPECT_STR(a->text[a->place[place[1]].function], "rest");
}

static void t_only_what_samples_need_is_taken(void)
{
	as_auto_profile struct as_profile *a = empty(2, 0, 0), *b = empty(2, 0, 0);

	add(b, "work", 0, 10);
	as_profile_clear(b);
	EXPECT_I64(as_profile_total(b, 1), 0);
	add(b, "rest", 0, 10);
	EXPECT_U64(b->nsamples, 1);
	as_profile_merge(a, b);
	EXPECT_U64(a->nstacks, 3);
	EXPECT_U64(b->nstacks, 4);
}

static void t_kinds_by_their_names(void)
{
	as_auto_profile struct as_profile *a = empty(1, 0, 0), *b = empty(2, 0, 0);

	add(b, "work", 0, 10);
	as_profile_merge(a, b);
	EXPECT_I64(as_profile_total(a, 0), 1);
	as_profile_merge(b, a);
	EXPECT_I64(as_profile_total(b, 0), 2);
	EXPECT_I64(as_profile_total(b, 1), 10);
}

static void t_slices_keep_their_moments(void)
{
	as_auto_profile struct as_profile *a = empty(2, 100 * AS_SECOND, 2 * AS_SECOND);
	as_auto_profile struct as_profile *b = empty(2, 103 * AS_SECOND, AS_SECOND);

	add(b, "work", 0, 1); /* 103 … 104 */
	add(b, "work", 1, 1); /* 104 … 105 */
	add(b, "work", 4, 1); /* 107 … 108 */
	b->duration_ns = 5 * AS_SECOND;
	as_profile_merge(a, b);
	EXPECT_U64(a->nsamples, 3);
	EXPECT_U64(a->sample[0].slice, 1);
	EXPECT_U64(a->sample[1].slice, 2);
	EXPECT_U64(a->sample[2].slice, 3);
	EXPECT_I64(a->duration_ns, 8 * AS_SECOND);
	b->start_unix_ns = INT64_MIN;
	b->slice_ns = INT64_MAX;
	as_profile_merge(a, b); /* nonsense goes somewhere */
	EXPECT_I64(as_profile_total(a, 1), 6);
}

static void t_slices_are_joined(void)
{
	as_auto_profile struct as_profile *p = empty(2, 0, AS_SECOND);

	for (uint32_t i = 0; i < 1000; i++)
		add(p, i % 2 ? "work" : "rest", i, i);
	EXPECT_U64(as_profile_slices(p), 1000);
	as_profile_coarsen(p, 600);
	EXPECT_U64(as_profile_slices(p), 500);
	EXPECT_I64(p->slice_ns, 2 * AS_SECOND);
	as_profile_coarsen(p, 10);
	EXPECT_I64(p->slice_ns, 128 * AS_SECOND);
	EXPECT_U64(as_profile_slices(p), 8);
	EXPECT_U64(p->nsamples, 16);
	EXPECT_I64(as_profile_total(p, 1), 1000 * 999 / 2);
	as_profile_lengthen(p, 128 * AS_SECOND);
	EXPECT_I64(p->slice_ns, 128 * AS_SECOND);
	as_profile_lengthen(p, 129 * AS_SECOND);
	EXPECT_I64(p->slice_ns, 256 * AS_SECOND);
	EXPECT_U64(as_profile_slices(p), 4);
}

static bool odd(const void *context, const struct as_sample *s)
{
	(void)context;
	return s->slice % 2;
}

static void t_samples_are_dropped(void)
{
	as_auto_profile struct as_profile *p = empty(2, 0, AS_SECOND);

	for (uint32_t i = 0; i < 10; i++)
		add(p, "work", i, 1 << i);
	as_profile_drop(p, odd, NULL);
	EXPECT_U64(p->nsamples, 5);
	EXPECT_I64(as_profile_total(p, 1), 1 + 4 + 16 + 64 + 256);
	add(p, "work", 0, 1); /* it is still found */
	EXPECT_U64(p->nsamples, 5);
}

static void t_a_function_by_its_name(void)
{
	as_auto_profile struct as_profile *p = empty(2, 0, 0);

	add(p, "work", 0, 10);
	add(p, "main", 0, 3); /* main → main */
	struct as_named main = as_profile_named(p, 1, "main");
	struct as_named work = as_profile_named(p, 1, "work");
	EXPECT_I64(main.self, 3);
	EXPECT_I64(main.total, 13);
	EXPECT_I64(work.self, 10);
	EXPECT_I64(work.total, 10);
	EXPECT_I64(work.of, 13);
	EXPECT_I64(as_profile_named(p, 1, "nobody").total, 0);
}

static void t_the_timeline(void)
{
	as_auto_profile struct as_profile *p = empty(2, 0, AS_SECOND);
	struct as_slice_sum *sum = NULL;
	struct as_err err;
	size_t n = 0;

	add(p, "work", 4, 10);
	add(p, "rest", 4, 30);
	add(p, "work", 1, 10);
	add(p, "rest", 1, 9);
	EXPECT_OK(as_profile_timeline(p, 1, &sum, &n, &err), err);
	EXPECT_U64(n, 2);
	EXPECT_U64(sum[0].slice, 1);
	EXPECT_I64(sum[0].v[1], 19);
	EXPECT_STR(p->text[p->place[sum[0].place].function], "work");
	EXPECT_U64(sum[1].slice, 4);
	EXPECT_I64(sum[1].v[0], 2);
	EXPECT_STR(p->text[p->place[sum[1].place].function], "rest");
	free(sum);
}

/* How samples were taken goes along, adds up, and is unknown as soon as one does not say. */
static void t_how_they_were_taken(void)
{
	as_auto_profile struct as_profile *all = empty(2, 0, 0), *a = empty(2, 0, 0),
					  *b = empty(2, 0, 0);
	as_auto_profile struct as_profile *read = NULL, *some = NULL;
	as_auto_buf struct as_buf bytes = AS_BUF(AS_BUF_DOCUMENT), words = AS_BUF(AS_BUF_LINE);
	const struct as_profile_filter only = {.metric = "cpu"};
	struct as_err err;

	add(a, "work", 0, 10);
	a->taking = (struct as_taking){true, 995, 5, 2};
	as_profile_merge(all, a);
	as_profile_merge(all, a);
	EXPECT_I64(all->taking.rejected, 10);
	as_pprof_encode(all, &bytes);
	EXPECT_OK(as_profile_read(bytes.p, bytes.len, NULL, &read, &err), err);
	EXPECT_OK(as_profile_filtered(read, &only, &some, &err), err);
	as_put_taking(&words, &some->taking);
	EXPECT_STR(as_buf_text(&words), "1 990 samples, 0.50 % rejected, 4 late");
	add(b, "work", 0, 10);
	as_profile_merge(all, b);
	EXPECT(!all->taking.known);
	EXPECT(!as_taking_scan("samples=1 rejected=2", 20).known);
}

/* More than one in a hundred that was missed is worth a word also to whoever wants none. */
static void t_what_is_missed_too_often(void)
{
	EXPECT(!as_taking_gaps(&(struct as_taking){true, 990, 10, 9}));
	EXPECT(as_taking_gaps(&(struct as_taking){true, 989, 11, 0}));
	EXPECT(as_taking_gaps(&(struct as_taking){true, 990, 0, 10}));
	EXPECT(!as_taking_gaps(&(struct as_taking){true, 0, 0, 0}));
	EXPECT(as_taking_gaps(&(struct as_taking){true, 0, 1, 0}));
}

UTEST_MAIN(T(t_how_they_were_taken), T(t_what_is_missed_too_often), T(t_what_is_the_same_is_summed),
	   T(t_only_what_samples_need_is_taken), T(t_kinds_by_their_names),
	   T(t_slices_keep_their_moments), T(t_slices_are_joined), T(t_samples_are_dropped),
	   T(t_a_function_by_its_name), T(t_the_timeline))
