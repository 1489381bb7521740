/* What each format can hold comes back from it; what it cannot is lost as docs/formats.md says. */
#include "base/json_doc.h"
#include "profile/marshal.h"
#include "profile/read.h"
#include "profile/write.h"
#include "same_profile.h"
#include "utest.h"

static const struct as_value_kind kinds[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};

static uint32_t text(struct as_profile *p, const char *s)
{
	return as_profile_text(p, s, strlen(s));
}

static uint32_t call(struct as_profile *p, uint32_t caller, const char *function, int line)
{
	struct as_place at = {text(p, function), text(p, "/srv/app/a.py"), line, 0};

	return as_profile_stack(p, caller, as_profile_place(p, at));
}

static struct as_profile *example(void)
{
	struct as_err err;
	struct as_profile *p = as_profile_new(kinds, AS_LEN(kinds), &err);

	EXPECT(p);
	uint32_t main = call(p, 0, "main", 9);
	uint32_t work = call(p, main, "work", 3);
	as_profile_add(p, work, 0, 0, (int64_t[]){3, 3000});
	as_profile_add(p, call(p, main, "work", 4), 0, 0, (int64_t[]){2, 2000});
	as_profile_add(p, call(p, work, "work", 3), 0, 0, (int64_t[]){1, 1000});
	as_profile_add(p, main, 0, 0, (int64_t[]){1, 500});
	as_profile_add(p, call(p, 0, "idle \"x\"\n\xff", 1), 0, 0, (int64_t[]){4, 0});
	return p;
}

static struct as_profile *read_ok(const struct as_buf *b, const char *format)
{
	struct as_profile *p = NULL;
	struct as_err err = {0};

	EXPECT(!b->bad);
	if (as_profile_read(as_buf_text(b), b->len, format, &p, &err) < 0)
		UTEST_FAIL("%s", err.msg);
	return p;
}

static struct as_profile *through(const struct as_profile *p, const char *format,
				  struct as_spelling how)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

	as_profile_format(format)->write(p, &how, &b);
	return read_ok(&b, NULL); /* and it is told by its bytes */
}

static void refuse(const char *bytes, size_t n, const char *format, const char *why)
{
	struct as_profile *p = NULL;
	struct as_err err = {0};

	EXPECT_I64(as_profile_read(bytes, n, format, &p, &err), AS_EFORMAT);
	EXPECT(!p);
	if (!strstr(err.msg, why))
		UTEST_FAIL("'%s' says nothing of '%s'", err.msg, why);
}

#define REFUSE(text, format, why) refuse(text, sizeof(text) - 1, format, why)

/* What functions of this name had themselves. */
static int64_t self_of(const struct as_profile *p, const char *function, const char *kind)
{
	int64_t sum = 0;

	for (size_t k = 0; k < p->nkinds; k++)
		for (size_t i = 0; i < p->nsamples && !strcmp(p->kind[k].name, kind); i++) {
			const struct as_place *at = &p->place[p->stack[p->sample[i].stack].place];

			if (!strcmp(p->text[at->function], function))
				sum += p->sample[i].v[k];
		}
	return sum;
}

/* ── speedscope ───────────────────────────────────────────────────────── */

static void t_speedscope_holds_stacks_and_kinds(void)
{
	as_auto_profile struct as_profile *p = example();
	as_auto_profile struct as_profile *a = through(p, "speedscope", (struct as_spelling){0});
	as_auto_free char *before = say_profile(p), *after = say_profile(a);
	char *stray = strchr(before, '\xff');

	EXPECT(stray && strstr(after, "\xef\xbf\xbd")); /* as JSON wants it */
	as_auto_profile struct as_profile *b = through(a, "speedscope", (struct as_spelling){0});
	as_auto_free char *again = say_profile(b);
	EXPECT_STR(again, after);
	EXPECT_I64(as_profile_total(a, 0), 11);
	EXPECT_I64(as_profile_total(a, 1), 6500);
}

/* Of several times the main one, as everywhere. */
static void t_speedscope_opens_with_the_main_kind(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	as_auto_profile struct as_profile *p = example();

	p->main_kind = 0;
	as_profile_format("speedscope")->write(p, &(struct as_spelling){0}, &b);
	EXPECT(strstr(as_buf_text(&b), "\"activeProfileIndex\":0}"));
	as_buf_clear(&b);
	as_profile_format("speedscope")->write(p, &(struct as_spelling){.kind = 1}, &b);
	EXPECT(strstr(as_buf_text(&b), "\"activeProfileIndex\":1}"));
	struct as_tag tag = {text(p, "thread"), 0, 7};
	as_profile_add(p, 0, as_profile_tags(p, &tag, 1), 0, (int64_t[]){1, 1});
	as_buf_clear(&b);
	as_profile_format("speedscope")
		->write(p, &(struct as_spelling){.kind = 1, .tags = true}, &b);
	EXPECT(strstr(as_buf_text(&b), "\"activeProfileIndex\":2}")); /* two lists of samples */
}

static void t_speedscope_keeps_threads_apart(void)
{
	as_auto_profile struct as_profile *p = example();
	struct as_tag tag = {text(p, "thread"), 0, 7};

	as_profile_add(p, call(p, 0, "main", 9), as_profile_tags(p, &tag, 1), 0, (int64_t[]){1, 1});
	as_auto_profile struct as_profile *a =
		through(p, "speedscope", (struct as_spelling){.tags = true});
	as_auto_free char *said = say_profile(a);
	EXPECT(strstr(said, "main@/srv/app/a.py:9/0 profile=thread 7/0 slice 0: 1 1"));
}

/* However many there are: the lists of a file stand one below the other, and can be searched. */
static void t_speedscope_keeps_many_threads_apart(void)
{
	enum { MANY = 3000 };
	as_auto_profile struct as_profile *p =
		as_profile_new(kinds, AS_LEN(kinds), &(struct as_err){0});
	uint32_t at = call(p, 0, "main", 9);

	for (int64_t i = 0; i < MANY; i++) {
		struct as_tag tag = {text(p, "thread"), 0, i};

		as_profile_add(p, at, as_profile_tags(p, &tag, 1), 0, (int64_t[]){1, i});
	}
	as_auto_profile struct as_profile *a =
		through(p, "speedscope", (struct as_spelling){.tags = true});
	EXPECT_U64(a->ntags, 1 + MANY);
	EXPECT_I64(as_profile_total(a, 0), MANY);
	EXPECT_I64(as_profile_total(a, 1), MANY * (MANY - 1) / 2);
}

#define HEAD  "{\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":["
#define EVENT "{\"type\":\"evented\",\"unit\":\"seconds\",\"events\":["

static void t_speedscope_of_others(void)
{
	static const char lists[] =
		HEAD EVENT "{\"type\":\"O\",\"frame\":0,\"at\":1},"
			   "{\"type\":\"O\",\"frame\":1,\"at\":1.5},"
			   "{\"type\":\"C\",\"frame\":1,\"at\":3},"
			   "{\"type\":\"C\",\"frame\":0,\"at\":4}]},"
			   "{\"type\":\"sampled\",\"name\":\"two\",\"unit\":\"milliseconds\","
			   "\"samples\":[[0,1],[]],\"weights\":[2.5,1]}]}";
	as_auto_profile struct as_profile *p =
		read_ok(&(struct as_buf){.p = (char *)(uintptr_t)lists, .len = sizeof lists - 1},
			NULL);
	as_auto_free char *said = say_profile(p);

	EXPECT_STR(said, "time in nanoseconds\nperiod 0 start 0 duration 0 slice 0\n"
			 "a@:0/0 slice 0: 1500000000\n"
			 "b@:0/0 a@:0/0 profile=two/0 slice 0: 2500000\n"
			 "b@:0/0 a@:0/0 slice 0: 1500000000\n"
			 "profile=two/0 slice 0: 1000000");
}

static void t_what_is_no_speedscope(void)
{
	REFUSE("{\"profiles\":[]}", "speedscope", "no frames");
	REFUSE(HEAD "]}", NULL, "no profile");
	REFUSE(HEAD "{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[2]],\"weights\":[1]}]}",
	       NULL, "not there");
	REFUSE(HEAD "{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[0]],\"weights\":[]}]}",
	       NULL, "weight");
	REFUSE(HEAD "{\"type\":\"sampled\",\"unit\":\"days\"}]}", NULL, "unit");
	REFUSE(HEAD EVENT "{\"type\":\"O\",\"frame\":0,\"at\":2},"
			  "{\"type\":\"C\",\"frame\":0,\"at\":1}]}]}",
	       NULL, "back in time");
	REFUSE("{\"shared\": [,", "speedscope", "JSON");
}

/* ── call graphs ──────────────────────────────────────────────────────── */

static void t_callgrind_holds_what_functions_had(void)
{
	as_auto_profile struct as_profile *p = example();
	as_auto_profile struct as_profile *a = through(p, "callgrind", (struct as_spelling){0});

	EXPECT_STR(a->kind[0].name, "calls");
	EXPECT_STR(a->kind[2].name, "cpu");
	EXPECT_STR(a->kind[2].unit, "nanoseconds");
	EXPECT_I64(as_profile_total(a, 1), 11);
	EXPECT_I64(as_profile_total(a, 2), 6500);
	EXPECT_I64(self_of(a, "work", "cpu"), 6000);
	EXPECT_I64(self_of(a, "main", "samples"), 1);
	as_auto_profile struct as_profile *b = through(a, "callgrind", (struct as_spelling){0});
	EXPECT_I64(self_of(b, "work", "cpu"), 6000);
	EXPECT_I64(as_profile_total(b, 0), as_profile_total(a, 0));
}

static void t_own_cost_is_divided_among_callers(void)
{
	static const char file[] = "events: Ir\nfl=a.c\nfn=leaf\n3 90\n"
				   "fn=one\n1 1\ncfn=leaf\ncalls=2 3\n1 30\n"
				   "fn=two\n2 1\ncfn=leaf\ncalls=9 3\n2 60\n"
				   "fn=leaf\n4 10\n";
	as_auto_profile struct as_profile *p =
		read_ok(&(struct as_buf){.p = (char *)(uintptr_t)file, .len = sizeof file - 1},
			NULL);
	as_auto_free char *said = say_profile(p);

	EXPECT_STR(said, "calls in count\nIr in count\nperiod 0 start 0 duration 0 slice 0\n"
			 "leaf@a.c:0/0 one@a.c:0/0 slice 0: 2 33\n"
			 "leaf@a.c:0/0 two@a.c:0/0 slice 0: 9 67\n"
			 "one@a.c:1/0 slice 0: 0 1\n"
			 "two@a.c:2/0 slice 0: 0 1");
}

static void t_what_is_no_callgrind(void)
{
	REFUSE("fn=a\n1 2\n", "callgrind", "no events");
	REFUSE("events: A\nfn=a\n1 2 3\n", NULL, "line 3");
	REFUSE("events: A\nfn=a\n1 x\n", NULL, "line 3");
	REFUSE("events: A B C D E F G H I J K L M N O P\n", NULL, "events");
}

static void t_pstats_holds_what_functions_had(void)
{
	as_auto_profile struct as_profile *p = example();
	as_auto_profile struct as_profile *a = through(p, "pstats", (struct as_spelling){0});

	EXPECT_I64(self_of(a, "work", "time"), 6000);
	EXPECT_I64(self_of(a, "main", "time"), 500);
	EXPECT_I64(self_of(a, "main", "cumulative"), 6500);
	EXPECT_I64(self_of(a, "work", "calls"), 7); /* 6 below main, 1 of them below itself too */
	as_auto_profile struct as_profile *b = through(a, "pstats", (struct as_spelling){0});
	as_auto_free char *once = say_profile(a), *twice = say_profile(b);
	EXPECT_STR(twice, once);
}

static void t_numbers_of_every_size(void)
{
	static const int64_t v[] = {0,         -1,           INT32_MAX,      INT32_MIN,
				    1LL << 32, -(1LL << 45), (1LL << 60) - 1};

	for (size_t i = 0; i < AS_LEN(v); i++) {
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
		as_cleanup(as_marshal_done) struct as_marshal m = {0};
		struct as_err err;

		as_marshal_put_int(&b, v[i]);
		EXPECT_I64(as_marshal_read(&m, b.p, b.len, &err), AS_OK);
		EXPECT_I64(m.value[0].number, v[i]);
	}
}

static void t_what_is_no_pstats(void)
{
	REFUSE("{(", "pstats", "marshal");
	REFUSE("N", "pstats", "no dictionary");
	REFUSE("{i\1\0\0\0N0", "pstats", "a function");
	REFUSE("\xfbr\0\0\0\0r\0\0\0\0"
	       "0",
	       "pstats", "a function"); /* itself is in it */
	REFUSE("((((((((((((((", "pstats", "marshal");
	REFUSE("(\xff\xff\xff\x7f", "pstats", "marshal");
}

/* ── written only, read only ──────────────────────────────────────────── */

static void t_firefox_has_a_row_for_each_length(void)
{
	as_auto_profile struct as_profile *p = example();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	as_auto_json_doc struct as_json_doc *doc = NULL;
	struct as_err err;

	as_write_firefox(p, &(struct as_spelling){0}, &b);
	EXPECT_I64(as_json_doc_read_n(b.p, b.len, &doc, &err), AS_OK);
	const struct as_json_doc *t = as_json_doc_at(doc, "threads/0");
	EXPECT_U64(as_json_doc_count(doc, "threads"), 1);
	EXPECT_U64(as_json_doc_count(t, "samples/stack"), 4); /* idle has no time */
	EXPECT_U64(as_json_doc_count(t, "samples/weight"), 4);
	EXPECT_U64(as_json_doc_count(t, "stackTable/prefix"), 4);
	EXPECT_U64(as_json_doc_count(t, "frameTable/func"), 3);
	EXPECT_U64(as_json_doc_count(t, "funcTable/name"), 2);
	EXPECT_STR(as_json_doc_text(t, "samples/weightType"), "tracing-ms");
	EXPECT(as_json_doc_number(t, "samples/weight/0") == 0.003);
}

/* Its reader bears some hundred threads: the heaviest have one each, the rest share one. */
static void t_firefox_has_a_row_for_the_rest(void)
{
	enum { MANY = 300, MOST = 256 };
	as_auto_profile struct as_profile *p =
		as_profile_new(kinds, AS_LEN(kinds), &(struct as_err){0});
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	as_auto_json_doc struct as_json_doc *doc = NULL;
	const struct as_profile_format *f = as_profile_format("firefox");
	const struct as_spelling how = {.kind = 1};
	uint32_t at = call(p, 0, "main", 9);
	struct as_err err;

	EXPECT_U64(f->together(p, &how), 0);
	for (int64_t i = 0; i < MANY; i++) {
		struct as_tag tag = {text(p, "thread"), 0, i};

		/* The one of number 299 has least. */
		as_profile_add(p, at, as_profile_tags(p, &tag, 1), 0,
			       (int64_t[]){1, (MANY - i) * 1000000});
	}
	EXPECT_U64(f->together(p, &how), MANY - MOST + 1);
	f->write(p, &how, &b);
	EXPECT_I64(as_json_doc_read_n(b.p, b.len, &doc, &err), AS_OK);
	EXPECT_U64(as_json_doc_count(doc, "threads"), MOST);
	EXPECT(as_json_doc_number(doc, "threads/0/tid") == 0);
	EXPECT(as_json_doc_number(doc, "threads/0/samples/weight/0") == MANY);
	EXPECT(as_json_doc_number(doc, "threads/254/tid") == 254);
	const struct as_json_doc *rest = as_json_doc_at(doc, "threads/255");
	EXPECT_STR(as_json_doc_text(rest, "name"), "45 others");
	EXPECT(as_json_doc_number(rest, "samples/weight/0") == 45 * 46 / 2);
}

static void t_perf_script(void)
{
	static const char lines[] = "# remark\n"
				    "my app  42/43 [001]  12.000001:     250 cycles:u: \n"
				    "\t  7f00 work(int, char (*)[3])+0x1e (/srv/app/app)\n"
				    "  app.c:12\n"
				    "\t  7f01 [unknown] ([kernel.kallsyms])\n"
				    "\n"
				    "other 7 13.000001: cycles:u: 7f00 f+0x1 (/x)\n"
				    "other 7 13.000002:     100 cpu-clock: \n";
	as_auto_profile struct as_profile *p =
		read_ok(&(struct as_buf){.p = (char *)(uintptr_t)lines, .len = sizeof lines - 1},
			NULL);
	as_auto_free char *said = say_profile(p);

	EXPECT_STR(said, "samples in count\ncycles:u in count\ncpu-clock in nanoseconds\n"
			 "period 0 start 0 duration 1000001000 slice 0\n"
			 "f@/x:0/0 thread=/7 name=other/0 slice 0: 1 1 0\n"
			 "thread=/7 name=other/0 slice 0: 1 0 100\n"
			 "work(int, char (*)[3])@app.c:12/0 [unknown]@[kernel.kallsyms]:0/0 "
			 "process=/42 thread=/43 name=my app/0 slice 0: 1 250 0");
	static const char odd[] = "a 7 1.5: 3com: 7f00 f+0x1 (/x)\n"
				  "a 7 1.6: 3com: \n"
				  "\t7f00 g(int (*)(char))+0x1 (/usr/bin/app (1) (deleted))\n"
				  "\t7f01 h (a) b (/x";
	as_auto_profile struct as_profile *q =
		read_ok(&(struct as_buf){.p = (char *)(uintptr_t)odd, .len = sizeof odd - 1}, NULL);
	as_auto_free char *told = say_profile(q);
	EXPECT_STR(told, "samples in count\n3com in count\n"
			 "period 0 start 0 duration 100000000 slice 0\n"
			 "f@/x:0/0 thread=/7 name=a/0 slice 0: 1 1\n"
			 "g(int (*)(char))@/usr/bin/app (1) (deleted):0/0 thread=/7 name=a/0 "
			 "slice 0: 1 1");
	REFUSE("python 7 12.5: cycles:\nnonsense\n", "perf", "line 2");
	REFUSE("# nothing\n", "perf", "no sample");
}

/* Without a place for labels they are frames, as asked for: a thread is a function that calls. */
static void t_labels_of_calls(void)
{
	static const char *const formats[] = {"callgrind", "pstats"};
	as_auto_profile struct as_profile *p = example();
	struct as_tag tag[] = {{text(p, "thread"), 0, 7}, {text(p, "name"), text(p, "loop"), 0}};

	as_profile_add(p, call(p, 0, "serve", 9), as_profile_tags(p, tag, 2), 0,
		       (int64_t[]){1, 1000});
	p->taking = (struct as_taking){.known = true, .samples = 12};
	for (size_t i = 0; i < AS_LEN(formats); i++) {
		as_auto_profile struct as_profile *a =
			through(p, formats[i], (struct as_spelling){.tags = true, .kind = 1});
		as_auto_free char *said = say_profile(a);

		EXPECT(strstr(said, "/0 name loop@:0/0 slice 0: "));
		EXPECT(strstr(said, "thread 7@"));
		as_auto_profile struct as_profile *b =
			through(p, formats[i], (struct as_spelling){.kind = 1});
		as_auto_free char *without = say_profile(b);
		EXPECT(!strstr(without, "thread 7"));
	}
}

static void t_yappi(void)
{
	static const char lines[] = "\nClock type: CPU\nOrdered by: totaltime, desc\n\n"
				    "name                  ncall  tsub      ttot      tavg\n"
				    "..v/a b/app.py:16 main  6/1  0.000010  0.005093  0.005093\n"
				    "time.sleep            1      0.5       0.5       0.5\n\n"
				    "name           id     tid              ttot      scnt\n"
				    "_MainThread    0      140356148644736  0.005133  1\n";
	as_auto_profile struct as_profile *p =
		read_ok(&(struct as_buf){.p = (char *)(uintptr_t)lines, .len = sizeof lines - 1},
			NULL);
	as_auto_free char *said = say_profile(p);

	EXPECT_STR(said, "calls in count\ncumulative in nanoseconds\ntime in nanoseconds\n"
			 "period 0 start 0 duration 0 slice 0\n"
			 "main@..v/a b/app.py:16/16 slice 0: 6 5093000 10000\n"
			 "time.sleep@:0/0 slice 0: 1 500000000 500000000");
	REFUSE("name ncall  tsub ttot tavg\nf 1 x 2 3\n", "yappi", "line 2");
	REFUSE("no table\n", "yappi", "no line is its title");
}

UTEST_MAIN(T(t_speedscope_holds_stacks_and_kinds), T(t_speedscope_opens_with_the_main_kind),
	   T(t_speedscope_keeps_threads_apart), T(t_speedscope_keeps_many_threads_apart),
	   T(t_speedscope_of_others), T(t_what_is_no_speedscope),
	   T(t_callgrind_holds_what_functions_had), T(t_own_cost_is_divided_among_callers),
	   T(t_what_is_no_callgrind), T(t_pstats_holds_what_functions_had),
	   T(t_numbers_of_every_size), T(t_what_is_no_pstats), T(t_labels_of_calls),
	   T(t_firefox_has_a_row_for_each_length), T(t_firefox_has_a_row_for_the_rest),
	   T(t_perf_script), T(t_yappi))
