/* Profiles that were written and are read again, and profiles that are none. */
#include "profile/read.h"

#include "profile/gzip.h"
#include "profile/protobuf.h"
#include "profile/write.h"
#include "same_profile.h"
#include "utest.h"

static const struct as_value_kind kinds[] = {{"samples", "count"},
					     {"cpu", "nanoseconds"},
					     {"wall", "nanoseconds"}};

static uint32_t text(struct as_profile *p, const char *s)
{
	return as_profile_text(p, s, strlen(s));
}

static uint32_t call(struct as_profile *p, uint32_t caller, const char *function, const char *file,
		     int line, int begin)
{
	return as_profile_stack(p, caller,
				as_profile_place(p, (struct as_place){text(p, function),
								      text(p, file), line, begin}));
}

/* Everything that the model can hold. */
static struct as_profile *full(void)
{
	struct as_err err;
	struct as_profile *p = as_profile_new(kinds, AS_LEN(kinds), &err);

	EXPECT(p);
	struct as_tag tags[] = {{text(p, "thread"), 0, 7},
				{text(p, "name"), text(p, "worker"), 0},
				{text(p, "delta"), 0, -3}};
	uint32_t main = call(p, 0, "main", "/srv/app/main.py", 9, 1);
	uint32_t work = call(p, main, "work", "/srv/app/work.py", 3, 2);
	uint32_t other = call(p, main, "work", "/srv/app/work.py", 4, 2);
	uint32_t names = call(p, other, "<lambda>", "", 0, 0);

	as_profile_add(p, work, as_profile_tags(p, tags, 3), 0, (int64_t[]){3, 3000, 4000});
	as_profile_add(p, other, as_profile_tags(p, tags, 1), 1, (int64_t[]){1, 1000, 0});
	as_profile_add(p, names, 0, 70000, (int64_t[]){1, INT64_MAX, -5});
	as_profile_add(p, 0, 0, 2, (int64_t[]){1, 0, 0});
	p->period_ns = 10000000;
	p->start_unix_ns = INT64_C(1700000000123456789);
	p->duration_ns = INT64_C(5000000000);
	p->slice_ns = 1000000;
	return p;
}

static struct as_profile *read_ok(const void *bytes, size_t n, const char *format)
{
	struct as_profile *p = NULL;
	struct as_err err = {0};
	int r = as_profile_read(bytes, n, format, &p, &err);

	if (r < 0)
		UTEST_FAIL("%s", err.msg);
	return p;
}

static void refuse(const void *bytes, size_t n, const char *format, const char *why)
{
	struct as_profile *p = NULL;
	struct as_err err = {0};

	EXPECT_I64(as_profile_read(bytes, n, format, &p, &err), AS_EFORMAT);
	EXPECT(!p);
	if (!strstr(err.msg, why))
		UTEST_FAIL("'%s' says nothing of '%s'", err.msg, why);
}

static void t_pprof_holds_everything(void)
{
	as_auto_profile struct as_profile *p = full();
	as_auto_buf struct as_buf packed = AS_BUF(AS_BUF_FILE), plain = AS_BUF(AS_BUF_FILE);
	as_auto_free char *before = say_profile(p);

	as_write_pprof(p, &(struct as_spelling){0}, &packed);
	as_pprof_encode(p, &plain);
	EXPECT(!packed.bad && !plain.bad && packed.len < plain.len);
	as_auto_profile struct as_profile *a = read_ok(packed.p, packed.len, NULL);
	as_auto_profile struct as_profile *b = read_ok(plain.p, plain.len, "pprof");
	as_profile_free(as_take(p));
	as_auto_free char *after = say_profile(a), *too = say_profile(b);
	EXPECT_STR(after, before);
	EXPECT_STR(too, before);
}

static void t_without_slices_and_times(void)
{
	as_auto_profile struct as_profile *p = read_ok("a;b 3\n", 6, NULL);
	as_auto_buf struct as_buf plain = AS_BUF(AS_BUF_FILE);

	as_pprof_encode(p, &plain);
	as_auto_profile struct as_profile *a = read_ok(plain.p, plain.len, NULL);
	as_auto_free char *before = say_profile(p), *after = say_profile(a);
	EXPECT_STR(after, before);
	EXPECT_STR(before, "samples in count\nperiod 0 start 0 duration 0 slice 0\n"
			   "b@:0/0 a@:0/0 slice 0: 3");
}

static void t_a_pprof_that_is_cut(void)
{
	as_auto_profile struct as_profile *p = full();
	as_auto_buf struct as_buf plain = AS_BUF(AS_BUF_FILE), packed = AS_BUF(AS_BUF_FILE);

	as_pprof_encode(p, &plain);
	as_write_pprof(p, &(struct as_spelling){0}, &packed);
	refuse(plain.p, plain.len - 1, "pprof", "cut");
	refuse(packed.p, packed.len - 9, NULL, "broken");
	refuse("", 0, "pprof", "no kind of value");
	for (size_t n = 0; n < plain.len; n++) {
		struct as_profile *none = NULL;
		struct as_err err = {0};

		EXPECT(as_read_pprof(plain.p, n, &none, &err) < 0 || none);
		as_profile_free(none);
	}
}

/* One sample, `depth` times in the one location there is, which has `lines` inlined functions. */
static void many_lines(struct as_buf *out, size_t depth, size_t lines)
{
	as_auto_buf struct as_buf m = AS_BUF(AS_BUF_FILE), list = AS_BUF(AS_BUF_FILE);

	as_pb_put_bytes(out, 1, "\x08\x01\x10\x01", 4);
	as_buf_str(&list, "");
	for (size_t i = 0; i < depth; i++)
		as_pb_put_varint(&list, 1);
	as_pb_put_message(&m, 1, &list);
	as_pb_put_number(&m, 2, 5);
	as_pb_put_message(out, 2, &m);
	as_buf_clear(&m);
	as_pb_put_number(&m, 1, 1);
	for (size_t i = 0; i < lines; i++)
		as_pb_put_bytes(&m, 4, "\x08\x01", 2);
	as_pb_put_message(out, 4, &m);
	as_pb_put_bytes(out, 5, "\x08\x01\x10\x01", 4);
	as_pb_put_bytes(out, 6, "", 0);
	as_pb_put_bytes(out, 6, "f", 1);
}

static void t_inlined_functions_are_frames(void)
{
	as_auto_buf struct as_buf few = AS_BUF(AS_BUF_FILE), many = AS_BUF(AS_BUF_FILE);

	many_lines(&few, 2, 3);
	as_auto_profile struct as_profile *p = read_ok(few.p, few.len, NULL);
	EXPECT_U64(as_profile_places(p, p->sample[0].stack, NULL, 0), 6);
	EXPECT_I64(p->sample[0].v[0], 5);
	many_lines(&many, 20000, 20000);
	refuse(many.p, many.len, NULL, "too deep");
}

static void t_folded_is_taken_apart(void)
{
	static const char lines[] = "# austin: 3.7.0\n"
				    "main (app/main.py:9);work (app/work.py:3) 3\r\n"
				    "\n"
				    "main (app/main.py:9);[unknown] (libc.so);operator () 12\n"
				    "main (app/main.py:9);work (app/work.py:3) 4";
	as_auto_profile struct as_profile *p = read_ok(lines, strlen(lines), NULL);
	as_auto_free char *said = say_profile(p);

	EXPECT_STR(said, "samples in count\nperiod 0 start 0 duration 0 slice 0\n"
			 "operator ()@:0/0 [unknown] (libc.so)@:0/0 main@app/main.py:9/0 "
			 "slice 0: 12\n"
			 "work@app/work.py:3/0 main@app/main.py:9/0 slice 0: 7");
}

/* The file is what the last ")" closes; names of C++ have others. */
static void t_folded_of_names_with_brackets(void)
{
	static const char lines[] = "f(int (*)(char)) (a (1).c:3) 1\n"
				    "g (b(1.c:4) 2\n";
	as_auto_profile struct as_profile *p = read_ok(lines, strlen(lines), "folded");
	as_auto_free char *said = say_profile(p);

	EXPECT_STR(said, "samples in count\nperiod 0 start 0 duration 0 slice 0\n"
			 "f(int (*)(char))@a (1).c:3/0 slice 0: 1\n"
			 "g@b(1.c:4/0 slice 0: 2");
}

static void t_folded_comes_back_as_it_was(void)
{
	static const char lines[] = "a (x/a.py:1);b (x (y)/b.py:2) 3\n"
				    "a (x/a.py:1);c 18446744073709551\n"
				    "d:e 1\n";
	as_auto_profile struct as_profile *p = read_ok(lines, strlen(lines), "folded");
	as_auto_buf struct as_buf again = AS_BUF(AS_BUF_FILE);

	as_write_folded(p, &(struct as_spelling){.full_names = true}, &again);
	EXPECT_STR(as_buf_text(&again), lines);
}

static void t_what_is_no_profile(void)
{
	refuse("", 0, NULL, "not a profile");
	refuse("hello\n", 6, NULL, "not a profile");
	refuse("a;b 3\na;c\n", 10, NULL, "line 2");
	refuse("a;b 99999999999999999999\n", 25, "folded", "line 1");
	refuse("\x1f\x8b\x08\x00zzzz", 8, NULL, "broken");
}

UTEST_MAIN(T(t_pprof_holds_everything), T(t_without_slices_and_times), T(t_a_pprof_that_is_cut),
	   T(t_inlined_functions_are_frames), T(t_folded_is_taken_apart),
	   T(t_folded_of_names_with_brackets), T(t_folded_comes_back_as_it_was),
	   T(t_what_is_no_profile))
