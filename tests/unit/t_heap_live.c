#include "heap/live.h"

#include "utest.h"

enum { ADDRESSES = 20000, ROUNDS = 400000 };

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Many in a page, then some, then one in several; some are no multiple of 16. */
static uint64_t address(uint64_t i)
{
	uint64_t base = UINT64_C(0x7f0000000000);

	if (i % 11 == 0)
		return base + i * 16 + 8 + i % 2;
	return i % 3 == 0 ? base + i * 16 : i % 3 == 1 ? base / 2 + i * 512 : i * 16400 + 32;
}

/* What must be there, in an array. */
struct oracle {
	struct as_live_entry at[ADDRESSES];
};

static void same(const struct as_live_entry *got, const struct as_live_entry *want)
{
	EXPECT_U64(got ? got->which : 0, want->which);
	if (!want->which)
		return;
	EXPECT_U64(got->kind, want->kind);
	EXPECT_U64(got->mark, want->mark);
}

static struct as_live_entry *at_once(struct as_live *l, uint64_t at)
{
	struct as_live_entry *near = as_live_near(l, at);

	return near ? near : as_live_far(l, at);
}

/* As deeds.c does: what is known some records before must be so when it is its turn. */
static struct as_live_entry *find(struct as_live *l, uint64_t i, bool make)
{
	struct as_live_entry *at = at_once(l, address(i));

	if (at)
		EXPECT(at == as_live_at(l, address(i), make));
	return at ? at : as_live_at(l, address(i), make);
}

static void put(struct as_live *l, struct oracle *o, uint64_t i, uint64_t n)
{
	struct as_live_entry *at = find(l, i, true), e = {n + 1, (uint32_t)n % 77, (uint32_t)n};

	EXPECT(at);
	same(at, &o->at[i]);
	*at = o->at[i] = e;
}

static void take(struct as_live *l, struct oracle *o, uint64_t i)
{
	struct as_live_entry *at = find(l, i, false);

	same(at, &o->at[i]);
	if (at)
		at->which = 0;
	o->at[i].which = 0;
}

static void t_it_says_what_an_array_would(void)
{
	struct as_live *l = calloc(1, sizeof *l);
	struct oracle *o = calloc(1, sizeof *o);
	uint64_t seed = 7;

	EXPECT(l && o);
	for (uint64_t n = 0; n < ROUNDS; n++) {
		uint64_t i = next(&seed) % ADDRESSES, fills = n % 100000 < 50000 ? 3 : 1;

		if (next(&seed) % 4 < fills)
			put(l, o, i, n);
		else
			take(l, o, i);
	}
	for (uint64_t i = 0; i < ADDRESSES; i++)
		take(l, o, i);
	as_live_done(l);
	free(l);
	free(o);
}

/* Who lives where few do makes room for others, whichever place it had. */
static void t_a_few_take_turns(void)
{
	struct as_live *l = calloc(1, sizeof *l);

	EXPECT(l);
	for (uint64_t n = 0; n < 5000; n++) {
		struct as_live_entry *at = as_live_at(l, 0x10000 + n * 7 % 256 * 16, true);

		EXPECT(at && !at->which);
		at->which = n + 1;
		/* So long as they are not many, one after the other, they have a list. */
		EXPECT(!at_once(l, 0x10000) == (n + 1 < AS_LIVE_OFTEN));
		if (n < AS_LIVE_FEW - 1)
			continue;
		n -= AS_LIVE_FEW - 1;
		at = as_live_at(l, 0x10000 + n * 7 % 256 * 16, false);
		EXPECT(at && at->which == n + 1);
		at->which = 0;
		n += AS_LIVE_FEW - 1;
	}
	as_live_done(l);
	free(l);
}

static void t_what_is_not_there_is_not_made(void)
{
	struct as_live *l = calloc(1, sizeof *l);

	EXPECT(l && !at_once(l, 0) && !at_once(l, 16));
	EXPECT(!as_live_at(l, 16, false));
	EXPECT(as_live_at(l, 16, true));
	EXPECT(!as_live_at(l, 32, false) || !as_live_at(l, 32, false)->which);
	EXPECT(!as_live_at(l, 1 << 30, false));
	EXPECT_U64(sizeof(struct as_live_entry), 16);
	as_live_done(l);
	free(l);
}

UTEST_MAIN(T(t_it_says_what_an_array_would), T(t_a_few_take_turns),
	   T(t_what_is_not_there_is_not_made))
