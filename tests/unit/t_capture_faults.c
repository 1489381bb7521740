/*
 * Every allocation of a capture fails once, when it is written and when it is
 * read. It is said then, nothing leaks, and what was written before is there.
 * Built with these parts of heap/ and base/ of its own (-DAS_TORTURE).
 */
#include "base/fault.h"
#include "heap/resolve.h"
#include "heap_story.h"

enum { EVENTS = 600 };

struct as_heap_resolver {
	struct as_profile *to;
};

struct as_heap_resolver *as_heap_resolver_new(const struct as_heap_names *n, struct as_profile *to,
					      struct as_err *err)
{
	struct as_heap_resolver *r = as_zalloc(sizeof *r);

	(void)n;
	if (r)
		r->to = to;
	else
		(void)as_fail(err, AS_ENOMEM, "no memory for names");
	return r;
}

void as_heap_resolver_free(struct as_heap_resolver *r)
{
	free(r);
}

uint32_t as_heap_resolve(struct as_heap_resolver *r, uint32_t python, uint32_t native)
{
	struct as_place place = {.line = (int32_t)native, .begin = (int32_t)python};

	return as_profile_stack(r->to, 0, as_profile_place(r->to, place));
}

static int describe(struct as_capture *c, const struct story *s, struct as_err *err)
{
	struct as_heap_process process = story_process(s, 0, false);
	struct as_heap_names names;
	int r = as_capture_process(c, &process, err);

	story_names(&names);
	if (r == AS_OK)
		r = as_capture_names(c, 0, &names, err);
	for (uint32_t k = 0; k < STORY_KINDS && r == AS_OK; k++)
		r = as_capture_kind(c, 0, &s->kind[0][k], err);
	return r;
}

/* What fails is said by one call; the sums come from a tracker that was made before. */
static int write_all(const struct story *s, const struct as_tracker *t, const char *path,
		     bool aggregated, struct as_err *err)
{
	const struct as_tracker *const trackers[] = {t};
	struct as_capture_head head = {.command = "x", .aggregated = aggregated, .sample = s->rate};
	struct as_capture_sums sums = {.tracker = trackers, .n = 1};
	as_auto_capture struct as_capture *c = NULL;
	struct as_heap_point point = {.ns = STORY_START};
	int r = as_capture_create(path, &head, true, &c, err);

	if (r == AS_OK)
		r = describe(c, s, err);
	for (size_t i = 0; i < s->n && r == AS_OK; i++)
		r = as_capture_event(c, 0, &s->event[i].e, err);
	if (r == AS_OK)
		r = as_capture_point(c, &point, err);
	if (r == AS_OK)
		r = as_capture_flush(c, STORY_START, &sums, err);
	return r == AS_OK ? as_capture_close(c, story_end(s), &sums, err) : r;
}

static int on_slice(void *arg, const struct as_heap *h, const struct as_capture_slice *s,
		    struct as_err *err)
{
	(void)h;
	(void)err;
	*(uint32_t *)arg = s->number;
	return AS_OK;
}

static int read_all(const char *path, const struct as_capture_want *want, struct as_err *err)
{
	as_auto_heap struct as_heap *h = NULL;

	return as_capture_read(path, want, &h, err);
}

static struct as_tracker *track(const struct story *s)
{
	struct as_err err;
	struct as_tracker *t = as_tracker_new(0, NULL, &err);

	for (uint32_t k = 0; k < STORY_KINDS; k++)
		EXPECT(as_tracker_kind(t, k, &s->kind[0][k]));
	for (size_t i = 0; i < s->n; i++)
		EXPECT(as_tracker_event(t, &s->event[i].e));
	return t;
}

static void expect_said(int r, const struct as_err *err)
{
	EXPECT(r == AS_OK || (r == AS_ENOMEM && *err->msg));
}

static void torture(uint64_t rate, bool aggregated)
{
	uint32_t number;
	const struct as_capture_want wants[] = {{0},
						{.threshold = true, .temporary = 9},
						{.from_ns = STORY_TICK, .until_ns = 9 * STORY_TICK},
						{.slice = on_slice,
						 .slice_ns = STORY_TICK,
						 .arg = &number},
						{.lasting = true, .slice_ns = STORY_TICK}};
	char path[512];
	struct story s;
	struct as_err err = {0};
	int r = AS_ENOMEM;

	(void)snprintf(path, sizeof path, "%s/a.heap", utest_dir());
	story_init(&s, 3, 1, EVENTS, rate);
	struct as_tracker *t = track(&s);
	for (unsigned long n = 1; r == AS_ENOMEM; n++) {
		as_fault_arm(n);
		r = write_all(&s, t, path, aggregated, &err);
		as_fault_arm(0);
		expect_said(r, &err);
		int half = access(path, F_OK) ? AS_EFORMAT : read_all(path, NULL, &err);
		EXPECT(half == AS_OK || (r < 0 && half == AS_EFORMAT));
	}
	for (size_t w = 0; w < (aggregated ? 1 : AS_LEN(wants)); w++) {
		r = AS_ENOMEM;
		for (unsigned long n = 1; r == AS_ENOMEM; n++) {
			as_fault_arm(n);
			r = read_all(path, &wants[w], &err);
			as_fault_arm(0);
			expect_said(r, &err);
		}
	}
	as_tracker_free(t);
	story_done(&s);
}

static void t_exact(void)
{
	torture(0, false);
}

static void t_sampled(void)
{
	torture(512, false);
}

static void t_sums_only(void)
{
	torture(0, true);
}

UTEST_MAIN(T(t_exact), T(t_sampled), T(t_sums_only))
