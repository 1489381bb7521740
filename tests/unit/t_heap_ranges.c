#include "heap/ranges.h"

#include "utest.h"

enum { UNITS = 200, ROUNDS = 20000 };

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* The oracle: of which mapping each unit is, 0: of none. */
struct oracle {
	uint32_t unit[UNITS];
};

static uint64_t left_of(const struct oracle *o, uint32_t who)
{
	uint64_t n = 0;

	for (size_t i = 0; i < UNITS; i++)
		n += o->unit[i] == who;
	return n;
}

/* All that is told of one mapping adds up to what it lost; `last` comes once, with nothing left. */
struct told {
	uint64_t bytes[ROUNDS + 1];
	bool last[ROUNDS + 1];
};

static void tell(void *arg, const struct as_live_entry *who, uint64_t bytes, bool last)
{
	struct told *t = arg;

	EXPECT(bytes > 0 && !t->last[who->kind]);
	t->bytes[who->kind] += bytes;
	t->last[who->kind] = last;
}

static void clear(struct as_ranges *r, struct oracle *o, uint64_t start, uint64_t end)
{
	struct told *t = calloc(1, sizeof *t);
	struct oracle was = *o;

	EXPECT(t && as_ranges_unmap(r, start, end, tell, t));
	for (uint64_t i = start; i < end; i++)
		o->unit[i] = 0;
	for (uint32_t who = 1; who <= ROUNDS; who++) {
		if (!t->bytes[who] && who != was.unit[start])
			continue;
		EXPECT_U64(t->bytes[who], left_of(&was, who) - left_of(o, who));
		EXPECT(t->last[who] == (t->bytes[who] && !left_of(o, who)));
	}
	for (uint64_t i = start; i < end; i++)
		EXPECT(!was.unit[i] || t->bytes[was.unit[i]]);
	free(t);
}

/* From `start` on, part after part. */
static void expect_parts(const struct as_ranges *r, const struct oracle *o, uint64_t start)
{
	struct as_ranges_piece p;
	uint64_t at = start;

	while (as_ranges_first(r, at, UNITS - 3, &p)) {
		for (; at < p.start; at++)
			EXPECT(!o->unit[at]);
		for (; at < p.end; at++)
			EXPECT_U64(o->unit[at], r->owner[p.owner].who.kind);
	}
	for (; at < UNITS - 3; at++)
		EXPECT(!o->unit[at]);
}

static void t_pieces_are_as_a_list_of_units_says(void)
{
	struct as_ranges r = {NULL};
	struct oracle o = {{0}};
	uint64_t seed = 12345;

	for (uint32_t who = 1; who <= ROUNDS / 10; who++) {
		uint64_t start = next(&seed) % (UNITS - 1), n = 1 + next(&seed) % (UNITS - start);
		struct as_live_entry e = {.kind = who};

		if (next(&seed) % 2 && n > 20)
			n = 20;
		clear(&r, &o, start, start + n);
		expect_parts(&r, &o, start);
		if (next(&seed) % 5 < 3) {
			EXPECT(as_ranges_map(&r, &e, start, start + n));
			for (uint64_t i = start; i < start + n; i++)
				o.unit[i] = who;
		}
	}
	clear(&r, &o, 0, UNITS);
	EXPECT_U64(r.n, 0);
	as_ranges_done(&r);
}

static void nothing(void *arg, const struct as_live_entry *who, uint64_t bytes, bool last)
{
	(void)arg, (void)who, (void)bytes, (void)last;
	EXPECT(false);
}

static void t_what_was_never_mapped_is_nobodys(void)
{
	struct as_ranges r = {NULL};
	struct as_live_entry e = {.kind = 1};

	EXPECT(as_ranges_unmap(&r, 0, UINT64_MAX, nothing, NULL));
	EXPECT(as_ranges_map(&r, &e, 100, 200));
	EXPECT(as_ranges_unmap(&r, 0, 100, nothing, NULL));
	EXPECT(as_ranges_unmap(&r, 200, 300, nothing, NULL));
	EXPECT(as_ranges_unmap(&r, 150, 150, nothing, NULL));
	as_ranges_done(&r);
}

UTEST_MAIN(T(t_pieces_are_as_a_list_of_units_says), T(t_what_was_never_mapped_is_nobodys))
