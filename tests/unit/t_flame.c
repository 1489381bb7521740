#include "report/flame.h"

#include "report/amount.h"
#include "report/callers.h"
#include "report/flame_ink.h"
#include "utest.h"

static const struct as_value_kind kinds[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
static const struct as_value_kind sides[] = {{"before", "count"}, {"after", "count"}};
static const struct as_flame_how by_function = {.spell = {.functions = true}};

static uint32_t text(struct as_profile *p, const char *s)
{
	return as_profile_text(p, s, strlen(s));
}

static uint32_t place(struct as_profile *p, const char *function, const char *file, int line)
{
	return as_profile_place(p, (struct as_place){text(p, function), text(p, file), line, 1});
}

static struct as_profile *empty(const struct as_value_kind *kind)
{
	struct as_err err;
	struct as_profile *p = as_profile_new(kind, 2, &err);

	EXPECT(p);
	return p;
}

/* main → work on two lines (3 and 1), main → rest (2), main itself (1). */
static struct as_profile *example(void)
{
	struct as_profile *p = empty(kinds);
	uint32_t root = as_profile_stack(p, 0, place(p, "main", "/srv/app/main.py", 9));
	uint32_t rest = as_profile_stack(p, root, place(p, "rest", "/srv/app/rest.py", 5));
	uint32_t hot = as_profile_stack(p, root, place(p, "work", "/srv/app/work.py", 3));
	uint32_t warm = as_profile_stack(p, root, place(p, "work", "/srv/app/work.py", 4));

	as_profile_add(p, root, 0, 0, (int64_t[]){1, 10});
	as_profile_add(p, rest, 0, 0, (int64_t[]){2, 20});
	as_profile_add(p, hot, 0, 0, (int64_t[]){3, 30});
	as_profile_add(p, warm, 0, 0, (int64_t[]){1, 10});
	return p;
}

static struct as_flame make(const struct as_profile *p, const struct as_flame_how *how)
{
	struct as_flame f = {0};
	struct as_err err;

	EXPECT_OK(as_flame_make(p, how, &f, &err), err);
	return f;
}

/* The box of this name at this depth; each is there once. */
static const struct as_flame_box *box(const struct as_flame *f, const char *name, uint32_t depth)
{
	const struct as_flame_box *found = NULL;

	for (size_t i = 0; i < f->n; i++) {
		as_auto_buf struct as_buf label = AS_BUF(AS_BUF_LINE);

		as_put_flame_label(&label, f, &f->box[i]);
		if (f->box[i].depth != depth || strcmp(as_buf_text(&label), name) != 0)
			continue;
		EXPECT(!found);
		found = &f->box[i];
	}
	if (!found)
		UTEST_FAIL("no box '%s' at depth %u", name, depth);
	return found;
}

static void expect_box(const struct as_flame *f, const char *name, uint32_t depth, int64_t at,
		       int64_t self, int64_t total)
{
	const struct as_flame_box *b = box(f, name, depth);

	EXPECT_I64(b->at, at);
	EXPECT_I64(b->self, self);
	EXPECT_I64(b->total, total);
}

static void t_boxes_stand_on_their_callers(void)
{
	as_auto_profile struct as_profile *p = example();
	as_cleanup(as_flame_done) struct as_flame f = make(p, &by_function);

	EXPECT_U64(f.n, 4);
	expect_box(&f, "all", 0, 0, 0, 7);
	expect_box(&f, "main", 1, 0, 1, 7);
	expect_box(&f, "work", 2, 0, 4, 4); /* the widest stands first */
	expect_box(&f, "rest", 2, 4, 2, 2);
}

static void t_by_line(void)
{
	as_auto_profile struct as_profile *p = example();
	const struct as_flame_how how = {.spell = {.kind = 1}};
	as_cleanup(as_flame_done) struct as_flame f = make(p, &how);

	EXPECT_U64(f.n, 5);
	expect_box(&f, "work (app/work.py:3)", 2, 0, 30, 30);
	expect_box(&f, "rest (app/rest.py:5)", 2, 30, 20, 20);
	expect_box(&f, "work (app/work.py:4)", 2, 50, 10, 10);
}

static void t_reversed(void)
{
	as_auto_profile struct as_profile *p = example();
	const struct as_flame_how how = {.spell = {.functions = true}, .reverse = true};
	as_cleanup(as_flame_done) struct as_flame f = make(p, &how);

	expect_box(&f, "work", 1, 0, 4, 4);
	expect_box(&f, "rest", 1, 4, 2, 2);
	expect_box(&f, "main", 1, 6, 1, 1);
	EXPECT_U64(f.n, 6); /* all, the three, and main on two of them */
}

static void t_threads_apart(void)
{
	as_auto_profile struct as_profile *p = empty(kinds);
	uint32_t stack = as_profile_stack(p, 0, place(p, "f", "", 0));
	struct as_tag one[] = {{text(p, "thread"), 0, 7}, {text(p, "name"), text(p, "x"), 0}};
	const struct as_flame_how how = {.spell = {.functions = true, .tags = true}};

	as_profile_add(p, stack, as_profile_tags(p, one, 2), 0, (int64_t[]){2, 0});
	as_profile_add(p, stack, 0, 0, (int64_t[]){1, 0});
	as_cleanup(as_flame_done) struct as_flame f = make(p, &how);
	expect_box(&f, "thread 7, name x", 1, 0, 0, 2);
	expect_box(&f, "f", 2, 0, 2, 2);
	expect_box(&f, "f", 1, 2, 1, 1);
}

static void t_nothing_and_less_than_nothing(void)
{
	as_auto_profile struct as_profile *p = empty(kinds);
	uint32_t stack = as_profile_stack(p, 0, place(p, "f", "", 0));

	as_profile_add(p, stack, 0, 0, (int64_t[]){-5, 0});
	as_cleanup(as_flame_done) struct as_flame f = make(p, &by_function);
	EXPECT_U64(f.n, 1);
	EXPECT_I64(f.box->total, 0);
}

/* Twice as long a recording: "same" is the same share of it, "more" was 1 of 10, now 10 of 20. */
static void t_comparison(void)
{
	as_auto_profile struct as_profile *p = empty(sides);
	const char *const name[] = {"same", "more", "gone", "new", "rest"};
	const int64_t v[][2] = {{2, 4}, {1, 10}, {4, 0}, {0, 4}, {3, 2}};

	for (size_t i = 0; i < AS_LEN(name); i++)
		as_profile_add(p, as_profile_stack(p, 0, place(p, name[i], "", 0)), 0, 0, v[i]);
	as_cleanup(as_flame_done) struct as_flame f = make(p, &by_function);
	EXPECT(f.compares);
	EXPECT_I64(f.box->before, 10);
	EXPECT_I64(f.box->after, 20);
	EXPECT_I64(f.box->total, 20); /* both sides are as wide as each other */
	EXPECT_NEAR(as_flame_changed(&f, box(&f, "same", 1)), 0, 1e-9);
	EXPECT_NEAR(as_flame_changed(&f, box(&f, "more", 1)), 0.8, 1e-9);
	EXPECT_NEAR(as_flame_changed(&f, box(&f, "gone", 1)), -1, 1e-9);
	EXPECT_NEAR(as_flame_changed(&f, box(&f, "new", 1)), 1, 1e-9);
	EXPECT_STR(as_flame_change(1).s, as_flame_change_inks[2]);
	EXPECT_STR(as_flame_change(0).s, as_flame_change_inks[1]);
	EXPECT_STR(as_flame_change(-1).s, as_flame_change_inks[0]);
}

static void t_sums_stay_in_range(void)
{
	as_auto_profile struct as_profile *p = empty(kinds);
	uint32_t root = as_profile_stack(p, 0, place(p, "f", "", 0));
	uint32_t a = as_profile_stack(p, root, place(p, "a", "", 0));
	uint32_t b = as_profile_stack(p, root, place(p, "b", "", 0));

	as_profile_add(p, a, 0, 0, (int64_t[]){INT64_MAX, 0});
	as_profile_add(p, b, 0, 0, (int64_t[]){INT64_MAX, 0});
	as_cleanup(as_flame_done) struct as_flame f = make(p, &by_function);
	EXPECT_I64(f.box->total, INT64_MAX);
}

static void t_a_file_keeps_its_colour(void)
{
	as_auto_profile struct as_profile *p = empty(kinds);
	uint32_t a = place(p, "a", "/srv/app/main.py", 3), b = place(p, "b", "/opt/app/main.py", 9);

	EXPECT_U64(as_flame_ink(p, a), as_flame_ink(p, b)); /* wherever it is installed */
	EXPECT_U64(as_flame_ink(p, place(p, "c", "", 0)), AS_FLAME_INKS);
}

/* ── pictures ─────────────────────────────────────────────────────────── */

static const char hostile[] = "</title><script>alert(1)</script>&\"\x01\xff\xe2\x80\xae";

static void t_hostile_names_stay_names(void)
{
	as_auto_profile struct as_profile *p = empty(kinds);
	struct as_flame_how how = {.spell = {.functions = true}, .title = hostile};
	as_auto_buf struct as_buf svg = AS_BUF(AS_BUF_FILE), html = AS_BUF(AS_BUF_FILE);
	struct as_err err;

	as_profile_add(p, as_profile_stack(p, 0, place(p, hostile, hostile, 1)), 0, 0,
		       (int64_t[]){1, 1});
	EXPECT_OK(as_report_flame_svg(&svg, p, &how, &err), err);
	EXPECT_OK(as_report_flame_html(&html, p, &how, &err), err);
	EXPECT(!svg.bad && !html.bad);
	EXPECT(!strstr(as_buf_text(&svg), "<script>alert"));
	EXPECT(strstr(as_buf_text(&svg), "&lt;/title&gt;&lt;script&gt;alert(1)"));
	EXPECT(!strstr(as_buf_text(&html), "<script>alert"));
	for (size_t i = 0; i < svg.len; i++)
		EXPECT((unsigned char)svg.p[i] >= ' ' || strchr("\n\t", svg.p[i]));
	EXPECT(!memchr(svg.p, 0xff, svg.len) && !strstr(svg.p, "\xe2\x80\xae"));
}

static void t_widths_are_true(void)
{
	as_auto_profile struct as_profile *p = example();
	as_auto_buf struct as_buf svg = AS_BUF(AS_BUF_FILE);
	struct as_err err;

	EXPECT_OK(as_report_flame_svg(&svg, p, &by_function, &err), err);
	EXPECT(strstr(svg.p, "width=\"1176.00\"")); /* all of it    */
	EXPECT(strstr(svg.p, "width=\"672.00\""));  /* 4 of 7: work */
	EXPECT(strstr(svg.p, "width=\"336.00\""));  /* 2 of 7: rest */
	EXPECT(strstr(svg.p, "total 4 (57 %), self 4 (57 %)"));
}

static void t_an_empty_profile_has_a_picture(void)
{
	as_auto_profile struct as_profile *p = empty(kinds);
	as_auto_buf struct as_buf svg = AS_BUF(AS_BUF_FILE), html = AS_BUF(AS_BUF_FILE);
	struct as_err err;

	EXPECT_OK(as_report_flame_svg(&svg, p, &by_function, &err), err);
	EXPECT_OK(as_report_flame_html(&html, p, &by_function, &err), err);
	EXPECT(!svg.bad && !html.bad && !strstr(svg.p, "nan"));
}

/* ── callers ──────────────────────────────────────────────────────────── */

/* f calls g calls f calls g: 5. Who is met twice counts once. */
static void t_recursion_counts_once(void)
{
	as_auto_profile struct as_profile *p = empty(kinds);
	const struct as_callers_how how = {.spell = {0}};
	as_auto_buf struct as_buf json = AS_BUF(AS_BUF_FILE);
	uint32_t stack = 0;
	struct as_err err;

	for (int i = 0; i < 4; i++)
		stack = as_profile_stack(p, stack, place(p, i % 2 ? "g" : "f", "", 0));
	as_profile_add(p, stack, 0, 0, (int64_t[]){5, 0});
	EXPECT_OK(as_report_callers_json(&json, p, &how, &err), err);
	EXPECT(!strstr(json.p, "10") && strstr(json.p, "\"value\": 5"));
}

static void t_callers_as_text(void)
{
	as_auto_profile struct as_profile *p = example();
	const struct as_callers_how how = {.most = 1};
	const struct as_look look = {.width = 80, .utf8 = true};
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);
	struct as_err err;

	EXPECT_OK(as_report_callers(&out, &look, p, &how, &err), err);
	EXPECT_STR(as_buf_text(&out), "   self   total   samples  function\n"
				      "   57 %    57 %         4  work  app/work.py:1\n"
				      "                             lines  3: 43 % · 4: 14 %\n"
				      "                             called by  main 57 %\n"
				      "\n"
				      "7 samples in 3 functions, 1 listed\n");
}

static void t_amounts(void)
{
	const struct as_value_kind ms = {"time", "milliseconds"}, other = {"x", "bananas"};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_put_amount(&b, &ms, 1500);
	as_buf_byte(&b, ' ');
	as_put_amount(&b, &other, 12345);
	EXPECT_STR(as_buf_text(&b), "1.50 s 12 345");
}

UTEST_MAIN(T(t_boxes_stand_on_their_callers), T(t_by_line), T(t_reversed), T(t_threads_apart),
	   T(t_nothing_and_less_than_nothing), T(t_comparison), T(t_sums_stay_in_range),
	   T(t_a_file_keeps_its_colour), T(t_hostile_names_stay_names), T(t_widths_are_true),
	   T(t_an_empty_profile_has_a_picture), T(t_recursion_counts_once), T(t_callers_as_text),
	   T(t_amounts))
