/* Parts of profiles, several as one, and two compared. */
#include "profile/filter.h"

#include "profile/diff.h"
#include "profile/read.h"
#include "profile/sum.h"
#include "profile/write.h"
#include "utest.h"

static struct as_profile *folded(const char *lines)
{
	struct as_profile *p = NULL;
	struct as_err err = {0};

	if (as_profile_read(lines, strlen(lines), "folded", &p, &err) < 0)
		UTEST_FAIL("%s", err.msg);
	return p;
}

/* main calls handle, which parses and renders; render calls itself. */
static struct as_profile *example(void)
{
	return folded("main (app/main.py:9);handle (app/web.py:3);parse (lib/json.py:4) 3\n"
		      "main (app/main.py:9);handle (app/web.py:5);render (app/web.py:8) 4\n"
		      "main (app/main.py:9);handle (app/web.py:5);render (app/web.py:8);"
		      "render (app/web.py:8);parse (lib/json.py:4) 5\n"
		      "main (app/main.py:9);idle (app/main.py:2) 7\n");
}

static char *lines_of(const struct as_profile *p)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);

	as_write_folded(p, &(struct as_spelling){.functions = true}, &out);
	EXPECT(!out.bad);
	return strdup(as_buf_text(&out));
}

static void expect_left(const struct as_profile_filter *f, const char *want)
{
	as_auto_profile struct as_profile *p = example(), *left = NULL;
	struct as_err err = {0};

	if (as_profile_filtered(p, f, &left, &err) < 0)
		UTEST_FAIL("%s", err.msg);
	as_auto_free char *got = lines_of(left);
	EXPECT_STR(got, want);
}

#define WORDS(...)                                                                                 \
	{                                                                                          \
		(const char *const[]){__VA_ARGS__},                                                \
			sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)                \
	}

static void t_nothing_asked_is_all(void)
{
	expect_left(&(struct as_profile_filter){.highlight = WORDS("parse")},
		    "main;handle;parse 3\nmain;handle;render 4\n"
		    "main;handle;render;render;parse 5\nmain;idle 7\n");
}

static void t_show_and_hide_stacks(void)
{
	expect_left(&(struct as_profile_filter){.show_stacks = WORDS("json.py")},
		    "main;handle;parse 3\nmain;handle;render;render;parse 5\n");
	expect_left(&(struct as_profile_filter){.show_stacks = WORDS("idl", "rende")},
		    "main;handle;render 4\nmain;handle;render;render;parse 5\nmain;idle 7\n");
	expect_left(&(struct as_profile_filter){.hide_stacks = WORDS("render")},
		    "main;handle;parse 3\nmain;idle 7\n");
	expect_left(&(struct as_profile_filter){.show_stacks = WORDS("handle"),
						.hide_stacks = WORDS("parse")},
		    "main;handle;render 4\n");
	expect_left(&(struct as_profile_filter){.show_stacks = WORDS("Handle")}, "");
}

static void t_hide_frames(void)
{
	expect_left(&(struct as_profile_filter){.hide_frames = WORDS("render")},
		    "main;handle 4\nmain;handle;parse 8\nmain;idle 7\n");
	expect_left(&(struct as_profile_filter){.hide_frames = WORDS("py")}, "[no stack] 19\n");
}

static void t_show_from_frame(void)
{
	expect_left(&(struct as_profile_filter){.show_from = WORDS("web.py")},
		    "handle;parse 3\nhandle;render 4\nhandle;render;render;parse 5\n");
	expect_left(&(struct as_profile_filter){.show_from = WORDS("rend")},
		    "render 4\nrender;render;parse 5\n");
}

static void t_focus_and_its_callers(void)
{
	expect_left(&(struct as_profile_filter){.focus = "parse"}, "parse 8\n");
	expect_left(&(struct as_profile_filter){.focus = "pars"}, "");
	expect_left(&(struct as_profile_filter){.focus = "parse", .callers = true},
		    "parse;handle;main 3\nparse;render;render;handle;main 5\n");
	expect_left(&(struct as_profile_filter){.focus = "render", .callers = true},
		    "render;handle;main 9\n");
}

static void t_what_is_hidden_is_gone(void)
{
	as_auto_profile struct as_profile *p = example(), *left = NULL;
	struct as_profile_filter f = {.hide_stacks = WORDS("handle"), .hide_frames = WORDS("mai")};
	struct as_err err = {0};

	EXPECT_I64(as_profile_filtered(p, &f, &left, &err), AS_OK);
	EXPECT_U64(left->nplaces, 1);
	for (size_t i = 0; i < left->ntexts; i++)
		EXPECT(!strstr(left->text[i], "parse") && !strstr(left->text[i], "web"));
}

static struct as_profile *two_kinds(void)
{
	static const struct as_value_kind kinds[] = {{"samples", "count"}, {"wall", "nanoseconds"}};
	struct as_err err;
	struct as_profile *p = as_profile_new(kinds, 2, &err);

	EXPECT(p);
	uint32_t f = as_profile_place(p, (struct as_place){.function = as_profile_text(p, "f", 1)});
	as_profile_add(p, as_profile_stack(p, 0, f), 0, 3, (int64_t[]){2, 5000});
	p->slice_ns = 10;
	p->start_unix_ns = 1000;
	p->duration_ns = 7;
	p->period_ns = 5;
	return p;
}

static void t_one_metric(void)
{
	as_auto_profile struct as_profile *p = two_kinds(), *left = NULL, *none = NULL;
	struct as_err err = {0};

	EXPECT_I64(as_profile_filtered(p, &(struct as_profile_filter){.metric = "wall"}, &left,
				       &err),
		   AS_OK);
	EXPECT_U64(left->nkinds, 1);
	EXPECT_STR(left->kind[0].unit, "nanoseconds");
	EXPECT_I64(left->sample[0].v[0], 5000);
	EXPECT_I64(left->slice_ns, 10);
	EXPECT_U64(left->sample[0].slice, 3);
	EXPECT_I64(as_profile_filtered(p, &(struct as_profile_filter){.metric = "cpu"}, &none,
				       &err),
		   AS_EUSAGE);
	EXPECT_STR(err.hint, "it has samples, wall");
	EXPECT_I64(as_profile_filtered(p, &(struct as_profile_filter){.callers = true}, &none,
				       &err),
		   AS_EUSAGE);
}

/* ── several ──────────────────────────────────────────────────────────── */

static struct as_profile *merged(const struct as_profile *a, const struct as_profile *b)
{
	const struct as_profile *both[] = {a, b};
	struct as_profile *all = NULL;
	struct as_err err = {0};

	if (as_profile_sum(both, 2, &all, &err) < 0)
		UTEST_FAIL("%s", err.msg);
	return all;
}

static void t_merge_adds_up(void)
{
	as_auto_profile struct as_profile *a = folded("x;y 3\nx;z 1\n"),
					  *b = folded("x;y 4\nw 1\n");
	as_auto_profile struct as_profile *all = merged(a, b);
	as_auto_free char *lines = lines_of(all);

	EXPECT_STR(lines, "w 1\nx;y 7\nx;z 1\n");
	EXPECT_U64(all->nkinds, 1);
}

static void t_merge_of_unlike_kinds(void)
{
	as_auto_profile struct as_profile *a = two_kinds(), *b = folded("f 4\n");
	as_auto_profile struct as_profile *all = merged(a, b);

	EXPECT_U64(all->nkinds, 2);
	EXPECT_I64(as_profile_total(all, 0), 6);
	EXPECT_I64(as_profile_total(all, 1), 5000);
	EXPECT_I64(all->duration_ns, 7);
	EXPECT_I64(all->start_unix_ns, 1000);
	EXPECT_I64(all->period_ns, 0);
	EXPECT_I64(all->slice_ns, 0); /* b knows no start */
	EXPECT_U64(all->nsamples, 1);
}

static void t_merged_slices_stand_where_they_were(void)
{
	as_auto_profile struct as_profile *a = two_kinds(), *b = two_kinds();

	b->start_unix_ns += 25; /* two slices and a half */
	as_auto_profile struct as_profile *all = merged(b, a);
	EXPECT_I64(all->slice_ns, 10);
	EXPECT_I64(all->start_unix_ns, 1000);
	EXPECT_I64(all->duration_ns, 14);
	EXPECT_I64(all->period_ns, 5);
	EXPECT_U64(all->nsamples, 2);
	EXPECT_U64(all->sample[0].slice, 5);
	EXPECT_U64(all->sample[1].slice, 3);
}

/* ── two compared ─────────────────────────────────────────────────────── */

static struct as_profile *at_line(const char *name, int begin, int64_t v)
{
	static const struct as_value_kind kinds[] = {{"cpu", "nanoseconds"}};
	struct as_err err;
	struct as_profile *p = as_profile_new(kinds, 1, &err);

	EXPECT(p);
	uint32_t f = as_profile_place(p, (struct as_place){as_profile_text(p, name, 9),
							   as_profile_text(p, "a.py", 4), begin + 3,
							   begin});
	as_profile_add(p, as_profile_stack(p, 0, f), 0, 0, &v);
	return p;
}

static struct as_profile *compared(struct as_profile *a, struct as_profile *b)
{
	struct as_profile *d = NULL;
	struct as_err err = {0};

	if (as_profile_diff(a, b, NULL, NULL, &d, &err) < 0)
		UTEST_FAIL("%s", err.msg);
	return d;
}

static void t_diff_has_both(void)
{
	as_auto_profile struct as_profile *a = folded("x;y (f.py:3) 3\nx;z 1\n");
	as_auto_profile struct as_profile *b = folded("x;y (f.py:8) 4\nw 1\n");
	as_auto_profile struct as_profile *d = compared(a, b);

	EXPECT_STR(d->kind[AS_BEFORE].name, "before");
	EXPECT_STR(d->kind[AS_AFTER].unit, "count");
	EXPECT_U64(d->nsamples, 3); /* y is one function, whatever its line */
	EXPECT_I64(as_profile_total(d, AS_BEFORE), 4);
	EXPECT_I64(as_profile_total(d, AS_AFTER), 5);
	EXPECT_I64(d->sample[0].v[AS_BEFORE], 3);
	EXPECT_I64(d->sample[0].v[AS_AFTER], 4);
}

static void t_a_function_that_moved_is_the_same(void)
{
	as_auto_profile struct as_profile *a = at_line("f", 10, 3), *b = at_line("f", 20, 4);
	as_auto_profile struct as_profile *c = at_line("f", 10, 5), *other = at_line("g", 10, 1);
	as_auto_profile struct as_profile *moved = compared(a, b), *same = compared(a, c);
	as_auto_profile struct as_profile *apart = compared(a, other);

	EXPECT_U64(moved->nsamples, 1);
	EXPECT_I64(moved->place[1].begin, 0);
	EXPECT_U64(same->nsamples, 1);
	EXPECT_I64(same->place[1].begin, 10);
	EXPECT_U64(apart->nsamples, 2);
}

static void t_diff_of_what_one_has_not(void)
{
	as_auto_profile struct as_profile *a = two_kinds(), *b = folded("f 4\n"), *d = NULL;
	struct as_err err = {0};

	EXPECT_I64(as_profile_diff(a, b, "time", NULL, &d, &err), AS_EUSAGE);
	EXPECT_I64(as_profile_diff(a, b, NULL, NULL, &d, &err), AS_OK); /* by samples */
	EXPECT_I64(as_profile_total(d, AS_AFTER), 4);
}

/* One of the two is a sample: the other has no variance. */
static void t_diff_of_estimates(void)
{
	as_auto_profile struct as_profile *a = two_kinds(), *b = folded("f 4\n"), *d = NULL;
	struct as_err err = {0};
	const char *spread = a->kind[a->nkinds - 1].name;

	EXPECT_I64(as_profile_diff(a, b, "samples", spread, &d, &err), AS_OK);
	EXPECT_U64(d->nkinds, 4);
	EXPECT_STR(d->kind[AS_AFTER_SPREAD].unit, a->kind[a->nkinds - 1].unit);
	EXPECT_I64(as_profile_total(d, AS_BEFORE_SPREAD), as_profile_total(a, a->nkinds - 1));
	EXPECT_I64(as_profile_total(d, AS_AFTER_SPREAD), 0);
	as_profile_free(d);
	d = NULL;
	EXPECT_I64(as_profile_diff(b, b, NULL, spread, &d, &err), AS_OK);
	EXPECT_U64(d->nkinds, 2);
}

UTEST_MAIN(T(t_nothing_asked_is_all), T(t_show_and_hide_stacks), T(t_hide_frames),
	   T(t_show_from_frame), T(t_focus_and_its_callers), T(t_what_is_hidden_is_gone),
	   T(t_one_metric), T(t_merge_adds_up), T(t_merge_of_unlike_kinds),
	   T(t_merged_slices_stand_where_they_were), T(t_diff_has_both),
	   T(t_a_function_that_moved_is_the_same), T(t_diff_of_what_one_has_not),
	   T(t_diff_of_estimates))
