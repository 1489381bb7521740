#include "profile/profile.h"

#include <zlib.h>

#include "profile/functions.h"
#include "profile/write.h"
#include "utest.h"

static const struct as_value_kind kinds[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};

static uint32_t text(struct as_profile *p, const char *s)
{
	return as_profile_text(p, s, strlen(s));
}

static uint32_t place(struct as_profile *p, const char *function, const char *file, int line)
{
	return as_profile_place(p, (struct as_place){text(p, function), text(p, file), line, 1});
}

static struct as_profile *empty(void)
{
	struct as_err err;
	struct as_profile *p = as_profile_new(kinds, AS_LEN(kinds), &err);

	EXPECT(p);
	return p;
}

/* main → work (two lines of it), main → rest; 5 samples, 50 µs. */
static struct as_profile *example(void)
{
	struct as_profile *p = empty();
	uint32_t root = as_profile_stack(p, 0, place(p, "main", "/srv/app/main.py", 9));
	uint32_t hot = as_profile_stack(p, root, place(p, "work", "/srv/app/work.py", 3));
	uint32_t warm = as_profile_stack(p, root, place(p, "work", "/srv/app/work.py", 4));
	uint32_t cold = as_profile_stack(p, root, place(p, "a;b\nc", "", 0));

	as_profile_add(p, hot, 0, 0, (int64_t[]){1, 10000});
	as_profile_add(p, cold, 0, 0, (int64_t[]){1, 10000});
	as_profile_add(p, warm, 0, 0, (int64_t[]){1, 10000});
	as_profile_add(p, hot, 0, 0, (int64_t[]){2, 20000});
	return p;
}

static void t_each_thing_is_kept_once(void)
{
	as_auto_profile struct as_profile *p = example();

	EXPECT_U64(p->nsamples, 3);
	EXPECT_U64(p->nstacks, 5);
	EXPECT_U64(p->nplaces, 5);
	EXPECT_U64(text(p, "work"), text(p, "work"));
	EXPECT_U64(as_profile_text(p, "workshop", 4), text(p, "work"));
	EXPECT(text(p, "wor") != text(p, "work"));
	EXPECT_U64(text(p, ""), 0);
	EXPECT_I64(as_profile_total(p, 0), 5);
	EXPECT_I64(as_profile_total(p, 1), 50000);
}

static void t_many_are_found_again(void)
{
	as_auto_profile struct as_profile *p = empty();
	char s[16];

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 5000; i++) {
			(void)snprintf(s, sizeof s, "f%d", i);
			EXPECT_U64(place(p, s, "x.py", i), (uint32_t)i + 1);
		}
	EXPECT_U64(p->nplaces, 5001);
}

static void t_a_stack_from_its_root(void)
{
	as_auto_profile struct as_profile *p = example();
	uint32_t at[4] = {0};

	EXPECT_U64(as_profile_places(p, p->sample[0].stack, at, 4), 2);
	EXPECT_STR(p->text[p->place[at[0]].function], "main");
	EXPECT_STR(p->text[p->place[at[1]].function], "work");
	EXPECT_U64(as_profile_places(p, p->sample[0].stack, at, 1), 2);
	EXPECT_STR(p->text[p->place[at[0]].function], "work");
	EXPECT_U64(as_profile_places(p, 0, at, 4), 0);
}

static void t_tags_make_another_sample(void)
{
	as_auto_profile struct as_profile *p = empty();
	uint32_t stack = as_profile_stack(p, 0, place(p, "f", "f.py", 1));
	struct as_tag thread = {text(p, "thread"), 0, 7};
	uint32_t tags = as_profile_tags(p, &thread, 1);

	as_profile_add(p, stack, tags, 0, (int64_t[]){1, 1});
	as_profile_add(p, stack, 0, 0, (int64_t[]){1, 1});
	as_profile_add(p, stack, as_profile_tags(p, &thread, 1), 0, (int64_t[]){1, 1});
	as_profile_add(p, stack, tags, 1, (int64_t[]){1, 1});
	EXPECT_U64(p->nsamples, 3);
	EXPECT_I64(p->sample[0].v[0], 2);
}

static void t_sums_stay_in_range(void)
{
	as_auto_profile struct as_profile *p = empty();

	as_profile_add(p, 0, 0, 0, (int64_t[]){INT64_MAX, 1});
	as_profile_add(p, 0, 0, 0, (int64_t[]){1, 1});
	EXPECT_I64(p->sample[0].v[0], INT64_MAX);
	as_profile_add(p, 0, 0, 1, (int64_t[]){INT64_MAX, 1});
	EXPECT_I64(as_profile_total(p, 0), INT64_MAX);
	as_auto_free struct as_function_sum *sum = NULL;
	struct as_err err;
	size_t n = 0;
	EXPECT_OK(as_profile_sums(p, 0, &sum, &n, &err), err);
	EXPECT(n == 0 || sum[0].self == INT64_MAX);
}

/* ── written ──────────────────────────────────────────────────────────── */

static char *folded(const struct as_profile *p, struct as_spelling how)
{
	struct as_buf out = AS_BUF(AS_BUF_FILE);

	as_write_folded(p, &how, &out);
	EXPECT(!out.bad);
	return as_buf_take(&out);
}

static void t_folded(void)
{
	as_auto_profile struct as_profile *p = example();
	as_auto_free char *lines = folded(p, (struct as_spelling){0});
	as_auto_free char *functions =
		folded(p, (struct as_spelling){.functions = true, .kind = 1});
	as_auto_free char *full = folded(p, (struct as_spelling){.full_names = true});

	EXPECT_STR(lines, "main (app/main.py:9);a:b c 1\n"
			  "main (app/main.py:9);work (app/work.py:3) 3\n"
			  "main (app/main.py:9);work (app/work.py:4) 1\n");
	EXPECT_STR(functions, "main;a:b c 10\nmain;work 40\n");
	EXPECT(strstr(full, "main (/srv/app/main.py:9);work (/srv/app/work.py:3) 3\n"));
}

static void t_folded_with_threads(void)
{
	as_auto_profile struct as_profile *p = empty();
	uint32_t stack = as_profile_stack(p, 0, place(p, "f", "", 0));
	struct as_tag tags[] = {{text(p, "thread"), 0, 7},
				{text(p, "name"), text(p, "worker;1"), 0}};

	as_profile_add(p, stack, as_profile_tags(p, tags, 2), 0, (int64_t[]){1, 1});
	as_auto_free char *with = folded(p, (struct as_spelling){.tags = true});
	as_auto_free char *without = folded(p, (struct as_spelling){0});
	EXPECT_STR(with, "thread 7;name worker:1;f 1\n");
	EXPECT_STR(without, "f 1\n");
}

/* A reader of protocol buffers: the next field, its number or its bytes. */
struct field {
	unsigned number;
	uint64_t value; /* or how many bytes */
	const unsigned char *bytes;
};

static uint64_t varint(const unsigned char **p)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		v |= (uint64_t)(**p & 127) << shift;
		if (!(*(*p)++ & 128))
			return v;
	}
}

static bool next_field(const unsigned char **p, const unsigned char *end, struct field *f)
{
	if (*p >= end)
		return false;
	uint64_t key = varint(p);

	*f = (struct field){.number = (unsigned)(key >> 3), .value = varint(p)};
	if ((key & 7) == 2) {
		f->bytes = *p;
		*p += f->value;
	}
	return true;
}

/* How many fields of each number; the order of strings. */
static void t_pprof(void)
{
	as_auto_profile struct as_profile *p = example();
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);
	static unsigned char raw[65536];
	struct as_spelling how = {0};
	size_t count[16] = {0};
	struct field f;
	z_stream z = {0};

	as_write_pprof(p, &how, &out);
	EXPECT(!out.bad);
	EXPECT(inflateInit2(&z, 16 + MAX_WBITS) == Z_OK);
	z.next_in = (Bytef *)out.p;
	z.avail_in = (uInt)out.len;
	z.next_out = raw;
	z.avail_out = sizeof raw;
	EXPECT(inflate(&z, Z_FINISH) == Z_STREAM_END);
	const unsigned char *at = raw, *end = raw + z.total_out;
	(void)inflateEnd(&z);
	while (next_field(&at, end, &f)) {
		if (f.number == 6 && !count[6])
			EXPECT_U64(f.value, 0); /* the first string is empty */
		count[f.number]++;
	}
	EXPECT(at == end);
	EXPECT_U64(count[1], 2); /* kinds     */
	EXPECT_U64(count[2], 3); /* samples   */
	EXPECT_U64(count[4], 4); /* places    */
	EXPECT_U64(count[5], 3); /* functions */
}

static void t_formats_by_name_and_ending(void)
{
	EXPECT_STR(as_profile_format("pprof")->name, "pprof");
	EXPECT_STR(as_profile_format_of("x.folded")->name, "folded");
	EXPECT(!as_profile_format("svgg") && !as_profile_format_of("folded"));
}

UTEST_MAIN(T(t_each_thing_is_kept_once), T(t_many_are_found_again), T(t_a_stack_from_its_root),
	   T(t_tags_make_another_sample), T(t_sums_stay_in_range), T(t_folded),
	   T(t_folded_with_threads), T(t_pprof), T(t_formats_by_name_and_ending))
