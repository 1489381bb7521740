/*
 * millions N [HELD] -- N million allocations by three functions, of two hundred sizes. Half
 * of them are given back at once, the others replace one of 100,000 (HELD) that are held,
 * somewhere.
 * Says how much each function made, held at the peak, and left.
 */
#include <inttypes.h>

#include "work.h"

enum { SHELF = 10000000, MAKERS = 3 };

struct maker {
	uint64_t count, bytes;
	uint64_t now, peak; /* bytes held */
};

static struct maker maker[MAKERS];
static uint64_t held, most;
static struct {
	char *p;
	uint32_t size, by;
} shelf[SHELF];

#define MAKER(name, i)                                                                             \
	__attribute__((noinline)) static char *name(size_t size)                                   \
	{                                                                                          \
		char *volatile p = malloc(size);                                                   \
                                                                                                   \
		maker[i].count++;                                                                  \
		maker[i].bytes += size;                                                            \
		maker[i].now += size;                                                              \
		held += size;                                                                      \
		return p;                                                                          \
	}

MAKER(make_first, 0)
MAKER(make_second, 1)
MAKER(make_third, 2)

static char *(*const make[MAKERS])(size_t) = {make_first, make_second, make_third};

static void look(void)
{
	if (held <= most)
		return;
	most = held;
	for (int i = 0; i < MAKERS; i++)
		maker[i].peak = maker[i].now;
}

static void back(char *p, uint32_t size, uint32_t by)
{
	free(p);
	maker[by].now -= size;
	held -= size;
}

static void put(char *p, uint32_t size, uint32_t by, uint32_t at)
{
	if (shelf[at].p)
		back(shelf[at].p, shelf[at].size, shelf[at].by);
	shelf[at].p = p;
	shelf[at].size = size;
	shelf[at].by = by;
}

int main(int argc, char **argv)
{
	uint64_t n = (uint64_t)(number(argc, argv, 1, 1) * 1e6);
	uint32_t x = 2463534242u, places = (uint32_t)number(argc, argv, 2, 100000);

	if (!places || places > SHELF)
		fail("millions: HELD");

	for (uint64_t i = 0; i < n; i++) {
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
		uint32_t size = 16 + x % 211, by = x % MAKERS;
		char *p = make[by](size);

		look();
		if (i % 2)
			back(p, size, by);
		else
			put(p, size, by, x / 211 % places);
	}
	for (int i = 0; i < MAKERS; i++)
		printf("{\"maker\": %d, \"count\": %" PRIu64 ", \"bytes\": %" PRIu64
		       ", \"peak\": %" PRIu64 ", \"left\": %" PRIu64 "}\n",
		       i, maker[i].count, maker[i].bytes, maker[i].peak, maker[i].now);
	return 0;
}
