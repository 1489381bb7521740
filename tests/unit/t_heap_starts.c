#include "heap/starts.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "utest.h"

/* Where this program is, less where its file says. */
static int take_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1; /* the first is the program */
}

static uint64_t in_file(const void *p)
{
	uint64_t bias = 0;

	(void)dl_iterate_phdr(take_bias, &bias);
	return (uint64_t)(uintptr_t)p - bias;
}

__attribute__((noinline)) static int somebody(int n)
{
	return n > 3 ? n * 7 : n;
}

static void t_a_function_begins_where_it_does(void)
{
	uint64_t at = in_file((const void *)(uintptr_t)somebody), found = 0;
	struct as_starts s;

	EXPECT_I64(somebody(4), 28);
	as_starts_open(&s, "/proc/self/exe");
	EXPECT(s.n > 0);
	for (uint64_t i = 0; i < 3; i++) {
		EXPECT(as_starts_find(&s, at + i, &found));
		EXPECT_U64(found, at);
	}
	EXPECT(!as_starts_find(&s, 0, &found));
	as_starts_close(&s);
}

static uint8_t *slurp(size_t *ret_n)
{
	FILE *f = fopen("/proc/self/exe", "re");
	enum { MOST = 64 << 20 };
	uint8_t *bytes = malloc(MOST);

	EXPECT(f && bytes);
	*ret_n = fread(bytes, 1, MOST, f);
	(void)fclose(f);
	return bytes;
}

/* Of a file that is cut, or is none, nothing is read beyond its end. */
static void t_what_is_cut_is_not_passed(void)
{
	uint64_t found;
	struct as_starts s;
	size_t n;
	uint8_t *all = slurp(&n);

	for (size_t cut = 0; cut < n; cut = cut < 2048 ? cut + 1 : cut * 5 / 4) {
		as_starts_read(&s, (const uint8_t *)utest_edge(all, cut), cut);
		(void)as_starts_find(&s, 1 << 20, &found);
	}
	for (size_t i = 0; i < 2048; i++) {
		all[i] ^= 0xff;
		as_starts_read(&s, all, n);
		for (uint64_t at = 0; at < 1 << 22; at += 99991)
			(void)as_starts_find(&s, at, &found);
		all[i] ^= 0xff;
	}
	free(all);
	as_starts_open(&s, "/dev/null");
	EXPECT(!as_starts_find(&s, 1, &found));
	as_starts_open(&s, "/nothing/there");
	EXPECT(!as_starts_find(&s, 1, &found));
}

UTEST_MAIN(T(t_a_function_begins_where_it_does), T(t_what_is_cut_is_not_passed))
