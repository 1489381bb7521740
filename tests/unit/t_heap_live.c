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

static uint64_t address(uint64_t i)
{
	return UINT64_C(0x7f0000000000) + i * 16;
}

/* What the table must say: by address, in an array. */
struct oracle {
	struct as_live_entry at[ADDRESSES];
	size_t n;
};

static void same(const struct as_live_entry *got, const struct as_live_entry *want)
{
	EXPECT_U64(got->address, want->address);
	if (!want->address)
		return;
	EXPECT_U64(got->which, want->which);
	EXPECT_U64(got->kind, want->kind);
	EXPECT_U64(got->mark, want->mark);
}

static void put(struct as_live *l, struct oracle *o, uint64_t i, uint64_t n)
{
	struct as_live_entry was, e = {address(i), n, (uint32_t)n % 77, (uint32_t)n};

	EXPECT(as_live_put(l, e, &was));
	same(&was, &o->at[i]);
	o->n += !o->at[i].address;
	o->at[i] = e;
}

static void take(struct as_live *l, struct oracle *o, uint64_t i)
{
	struct as_live_entry got = {0};
	bool there = as_live_take(l, address(i), &got);

	EXPECT(there == (o->at[i].address != 0));
	same(&got, &o->at[i]);
	o->n -= there;
	o->at[i].address = 0;
}

static void t_it_says_what_an_array_would(void)
{
	struct as_live l = {{NULL}};
	struct oracle *o = calloc(1, sizeof *o);
	uint64_t seed = 7;

	EXPECT(o);
	for (uint64_t n = 0; n < ROUNDS; n++) {
		uint64_t i = next(&seed) % ADDRESSES, fills = n % 100000 < 50000 ? 3 : 1;

		if (next(&seed) % 4 < fills)
			put(&l, o, i, n);
		else
			take(&l, o, i);
		EXPECT_U64(as_live_count(&l), o->n);
	}
	for (uint64_t i = 0; i < ADDRESSES; i++)
		take(&l, o, i);
	EXPECT_U64(as_live_count(&l), 0);
	as_live_done(&l);
	free(o);
}

/* While a table moves to a larger one everything is found, wherever it is. */
static void t_all_is_found_while_it_grows(void)
{
	struct as_live l = {{NULL}};
	struct as_live_entry was, e = {0};

	for (uint64_t n = 1; n <= 3000; n++) {
		e = (struct as_live_entry){.address = address(n), .which = n};
		EXPECT(as_live_put(&l, e, &was));
		for (uint64_t i = 1; i <= n; i += 1 + n / 50) {
			EXPECT(as_live_take(&l, address(i), &e));
			EXPECT_U64(e.which, i);
			EXPECT(as_live_put(&l, e, &was));
			EXPECT_U64(was.address, 0);
		}
	}
	EXPECT_U64(as_live_count(&l), 3000);
	as_live_done(&l);
}

static void t_no_address_is_none(void)
{
	struct as_live l = {{NULL}};
	struct as_live_entry e = {0}, was;

	EXPECT(!as_live_put(&l, e, &was));
	EXPECT(!as_live_take(&l, 0, &was));
	EXPECT(!as_live_take(&l, 16, &was));
	EXPECT_U64(sizeof e, 24);
	as_live_done(&l);
}

UTEST_MAIN(T(t_it_says_what_an_array_would), T(t_all_is_found_while_it_grows),
	   T(t_no_address_is_none))
