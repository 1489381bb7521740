#include "tui/recent.h"

#include "base/cleanup.h"
#include "profile/follow.h"
#include "utest.h"

#define SECOND INT64_C(1000000000)

static const struct as_value_kind kinds[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};

static struct as_profile *new_profile(void)
{
	struct as_err err;
	struct as_profile *p = as_profile_new(kinds, AS_LEN(kinds), &err);

	EXPECT(p);
	return p;
}

static uint32_t stack(struct as_profile *p, const char *name)
{
	struct as_place at = {.function = as_profile_text(p, name, strlen(name)), .line = 1};

	return as_profile_stack(p, 0, as_profile_place(p, at));
}

static void add(struct as_profile *p, const char *name, int64_t ns)
{
	as_profile_add(p, stack(p, name), 0, 0, (int64_t[]){1, ns});
}

static void t_a_copy_follows_with_the_same_numbers(void)
{
	as_auto_profile struct as_profile *p = new_profile(), *copy = new_profile();
	struct as_tag tag = {.number = 7};

	add(p, "first", 10);
	as_profile_follow(copy, p);
	add(p, "second", 5);
	add(p, "first", 1);
	tag.key = as_profile_text(p, "thread", 6);
	as_profile_add(p, stack(p, "first"), as_profile_tags(p, &tag, 1), 0, (int64_t[]){0, 0});
	as_profile_follow(copy, p);
	as_profile_follow(copy, p);
	EXPECT_U64(copy->nsamples, 3);
	EXPECT_U64(copy->ntexts, p->ntexts);
	EXPECT_I64(copy->sample[0].v[1], 11);
	EXPECT_I64(copy->sample[0].v[0], 2);
	EXPECT_I64(copy->sample[1].v[1], 5);
	EXPECT_U64(copy->sample[2].tags, p->sample[2].tags);
	EXPECT_STR(copy->text[copy->place[2].function], "second");
	p->bad = true;
	as_profile_follow(copy, p);
	EXPECT(copy->bad);
}

static void t_the_window_holds_the_last_seconds(void)
{
	as_auto_profile struct as_profile *p = new_profile();
	as_cleanup(as_recent_done) struct as_recent r;

	as_recent_init(&r, 3 * SECOND);
	for (int i = 0; i < 10; i++) {
		add(p, i < 5 ? "early" : "late", 100);
		EXPECT(as_recent_tick(&r, p, SECOND, i));
	}
	EXPECT_I64(r.span_ns, 3 * SECOND);
	EXPECT_I64(r.span_cpu_ns, 7 + 8 + 9);
	EXPECT_I64(r.all_ns, 10 * SECOND);
	EXPECT_I64(r.had[0].all[1], 500);
	EXPECT_I64(r.had[0].window[1], 0);
	EXPECT_I64(r.had[1].all[1], 500);
	EXPECT_I64(r.had[1].window[1], 300);
	EXPECT_I64(r.had[1].window[0], 3);
	EXPECT_U64(as_recent_last(&r)->n, 1);
}

static void t_more_ticks_than_room_shorten_the_window(void)
{
	as_auto_profile struct as_profile *p = new_profile();
	as_cleanup(as_recent_done) struct as_recent r;

	as_recent_init(&r, 1000 * SECOND);
	for (int i = 0; i < 3 * AS_RECENT_TICKS; i++) {
		add(p, "f", 1);
		EXPECT(as_recent_tick(&r, p, SECOND, 0));
	}
	EXPECT_I64(r.span_ns, AS_RECENT_TICKS * SECOND);
	EXPECT_I64(r.had[0].window[1], AS_RECENT_TICKS);
	EXPECT_I64(r.had[0].all[1], 3 * AS_RECENT_TICKS);
}

/* One tick that is longer than the window is the window. */
static void t_a_long_tick_counts_whole(void)
{
	as_auto_profile struct as_profile *p = new_profile();
	as_cleanup(as_recent_done) struct as_recent r;

	as_recent_init(&r, 2 * SECOND);
	add(p, "f", 1);
	EXPECT(as_recent_tick(&r, p, SECOND, 0));
	add(p, "f", 50);
	EXPECT(as_recent_tick(&r, p, 60 * SECOND, 0));
	EXPECT_I64(r.span_ns, 60 * SECOND);
	EXPECT_I64(r.had[0].window[1], 50);
	EXPECT(as_recent_tick(&r, p, SECOND, 0));
	EXPECT_I64(r.span_ns, SECOND);
	EXPECT_I64(r.had[0].window[1], 0);
	EXPECT_I64(r.had[0].all[1], 51);
}

static void t_after_a_reset_nothing_was(void)
{
	as_auto_profile struct as_profile *p = new_profile();
	as_cleanup(as_recent_done) struct as_recent r;

	as_recent_init(&r, 5 * SECOND);
	EXPECT(!as_recent_last(&r));
	add(p, "f", 70);
	EXPECT(as_recent_tick(&r, p, SECOND, 3));
	as_recent_reset(&r);
	EXPECT_I64(r.all_ns, 0);
	EXPECT_I64(r.span_ns, 0);
	EXPECT_I64(r.span_cpu_ns, 0);
	EXPECT_I64(r.had[0].all[1], 0);
	EXPECT_I64(r.had[0].window[1], 0);
	add(p, "f", 8);
	EXPECT(as_recent_tick(&r, p, SECOND, 0));
	EXPECT_I64(r.had[0].all[1], 8);
	EXPECT_I64(r.had[0].window[1], 8);
}

UTEST_MAIN(T(t_a_copy_follows_with_the_same_numbers), T(t_the_window_holds_the_last_seconds),
	   T(t_more_ticks_than_room_shorten_the_window), T(t_a_long_tick_counts_whole),
	   T(t_after_a_reset_nothing_was))
