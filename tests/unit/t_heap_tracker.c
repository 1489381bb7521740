#include "heap/tracker.h"

#include "base/cleanup.h"
#include "heap_plain.h"
#include "utest.h"

enum { KINDS = 7, PROCESSES = 3, EVENTS = 4000, LIVE = 400 };

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* --- the oracle: all that is, copied whole at each new highest moment ------ */

struct state {
	struct as_heap_amount live[PROCESSES][KINDS];
};

struct oracle {
	struct state now, peak;
	struct as_heap_amount made[PROCESSES][KINDS], temporary[PROCESSES][KINDS];
	struct as_heap_amount high, own_high[PROCESSES];
	int64_t ns;
};

static struct as_heap_amount sum(const struct as_heap_amount *a, size_t n)
{
	struct as_heap_amount s = {0, 0};

	for (size_t i = 0; i < n; i++) {
		s.count += a[i].count;
		s.bytes += a[i].bytes;
	}
	return s;
}

static void look(struct oracle *o, int64_t ns)
{
	struct as_heap_amount all = sum(o->now.live[0], (size_t)PROCESSES * KINDS);

	if (all.bytes > o->high.bytes) {
		o->high = all;
		o->peak = o->now;
		o->ns = ns;
	}
	for (size_t p = 0; p < PROCESSES; p++) {
		struct as_heap_amount own = sum(o->now.live[p], KINDS);

		if (own.bytes > o->own_high[p].bytes)
			o->own_high[p] = own;
	}
}

static void put(struct as_heap_amount *a, int64_t count, int64_t bytes)
{
	a->count += count;
	a->bytes += bytes;
}

static void tell(struct oracle *o, size_t p, const struct as_heap_event *e, uint64_t threshold)
{
	int64_t bytes = (int64_t)e->bytes;

	if (e->what == AS_HEAP_ALLOC)
		put(&o->made[p][e->kind], 1, bytes);
	if (e->what == AS_HEAP_ALLOC)
		put(&o->now.live[p][e->kind], 1, bytes);
	else
		put(&o->now.live[p][e->kind], e->what == AS_HEAP_FREE ? -1 : 0, -bytes);
	if (e->what == AS_HEAP_FREE && e->between <= threshold)
		put(&o->temporary[p][e->kind], 1, bytes);
	look(o, e->ns);
}

/* --- a program that does anything ------------------------------------------ */

struct held {
	uint32_t kind;
	uint64_t left;
};

struct program {
	struct held held[LIVE];
	size_t n;
	uint64_t ordinal;
};

static uint64_t size_of(uint32_t kind)
{
	static const uint64_t sizes[KINDS] = {0, 1, 16, 24, 4096, 4096, 70001};

	return sizes[kind];
}

static struct as_heap_event allocate(struct program *g, uint64_t *seed)
{
	uint32_t kind = next(seed) % KINDS;

	g->held[g->n++] = (struct held){kind, size_of(kind)};
	return (struct as_heap_event){AS_HEAP_ALLOC, kind, g->ordinal++, size_of(kind)};
}

static struct as_heap_event release(struct program *g, uint64_t *seed)
{
	struct held *h = &g->held[next(seed) % g->n];
	struct as_heap_event e = {.kind = h->kind, .between = next(seed) % 4};

	if (h->left > 4096 && next(seed) % 2) {
		e.what = AS_HEAP_CUT;
		e.bytes = 4096;
		h->left -= 4096;
		return e;
	}
	e.what = AS_HEAP_FREE;
	e.bytes = h->left;
	*h = g->held[--g->n];
	return e;
}

static struct as_heap_event some(struct program *g, uint64_t *seed)
{
	uint64_t rises = next(seed) % 5000 < 2500 ? 3 : 1; /* waves: now more is made, now less */

	if (!g->n || (g->n < LIVE && next(seed) % 4 < rises))
		return allocate(g, seed);
	return release(g, seed);
}

/* --- the tests ------------------------------------------------------------- */

static void same(struct as_heap_amount got, struct as_heap_amount want)
{
	EXPECT_I64(got.bytes, want.bytes);
	EXPECT_I64(got.count, want.count);
}

static void same_kinds(const struct as_tracker *t, const struct oracle *o, size_t p, bool gone)
{
	for (uint32_t k = 0; k < KINDS; k++) {
		struct as_heap_sums s;

		as_tracker_sums(t, k, &s);
		same(s.made, o->made[p][k]);
		same(s.peak, o->peak.live[p][k]);
		same(s.temporary, o->temporary[p][k]);
		if (!gone)
			same(s.left, o->now.live[p][k]);
		EXPECT(s.variance_made == 0 && s.variance_peak == 0);
	}
}

static void same_totals(const struct as_tracker *t, const struct oracle *o, size_t p)
{
	struct as_heap_totals all;
	int64_t sizes = 0;

	as_tracker_totals(t, &all);
	same(all.made, sum(o->made[p], KINDS));
	same(all.peak, o->own_high[p]);
	EXPECT_I64(all.made.count - all.freed.count, all.left.count);
	EXPECT_I64(all.made.bytes - all.freed.bytes, all.left.bytes);
	for (size_t i = 0; i < AS_HEAP_SIZES; i++)
		sizes += all.sizes[i];
	EXPECT_I64(sizes, all.made.count);
	EXPECT_I64(all.sizes[13], o->made[p][4].count + o->made[p][5].count);
}

static struct as_tracker *new_tracker(uint64_t temporary, struct as_heap_crest *of_all)
{
	struct as_err err;
	struct as_tracker *t = as_tracker_new(temporary, of_all, &err);

	EXPECT(t);
	for (uint32_t k = 0; k < KINDS; k++)
		EXPECT(as_tracker_kind(t, k, &(struct as_heap_kind){.size = size_of(k)}));
	return t;
}

static void end(struct as_tracker *t, struct oracle *o, size_t p)
{
	as_tracker_ended(t);
	memset(o->now.live[p], 0, sizeof o->now.live[p]);
}

/* From now on only what comes counts. */
static void again(struct as_tracker **t, size_t n, struct oracle *o, int64_t ns)
{
	o->peak = o->now;
	o->high = sum(o->now.live[0], (size_t)PROCESSES * KINDS);
	o->ns = ns;
	for (size_t i = 0; i < n; i++) {
		o->own_high[i] = sum(o->now.live[i], KINDS);
		as_tracker_peak_again(t[i], ns);
	}
}

/* Several programs in turn; the last is gone in the middle. Checked after every event. */
static void together(size_t n, size_t events, bool windows, uint64_t seed)
{
	struct as_heap_crest crest = {{0, 0}};
	struct as_tracker *t[PROCESSES];
	struct program g[PROCESSES] = {{.n = 0}};
	struct oracle o = {.ns = 0};

	for (size_t i = 0; i < n; i++)
		t[i] = new_tracker(1, n > 1 ? &crest : NULL);
	for (size_t i = 0; i < events; i++) {
		bool gone = n > 1 && i >= events / 2;
		size_t p = next(&seed) % (gone ? n - 1 : n);
		struct as_heap_event e = some(&g[p], &seed);

		if (n > 1 && i == events / 2)
			end(t[n - 1], &o, n - 1);
		if (windows && i % 701 == 700 && !gone)
			again(t, n, &o, (int64_t)i);
		e.ns = (int64_t)i;
		EXPECT(as_tracker_event(t[p], &e));
		tell(&o, p, &e, 1);
		for (size_t j = 0; j < n; j++)
			same_kinds(t[j], &o, j, gone && j == n - 1);
	}
	for (size_t i = 0; i < n; i++)
		same_totals(t[i], &o, i);
	same(n > 1 ? as_heap_crest_high(&crest) : o.high, o.high);
	EXPECT_I64(n > 1 ? crest.ns : o.ns, o.ns);
	for (size_t i = 0; i < n; i++)
		as_tracker_free(t[i]);
}

static void t_one_process_is_as_a_replay_says(void)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		together(1, EVENTS, false, seed * UINT64_C(0x9e3779b97f4a7c15));
}

static void t_the_peak_of_several_is_as_a_replay_says(void)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		together(PROCESSES, EVENTS, false, seed * UINT64_C(0x9e3779b97f4a7c15));
}

static void t_a_peak_can_begin_anew(void)
{
	for (uint64_t seed = 1; seed <= 4; seed++)
		together(1 + seed % 2 * 2, EVENTS, true, seed * UINT64_C(0x9e3779b97f4a7c15));
}

static void same_trackers(const struct as_tracker *a, const struct as_tracker *b)
{
	struct as_heap_totals x, y;

	for (uint32_t k = 0; k < KINDS; k++) {
		struct as_heap_sums one, many;

		as_tracker_sums(a, k, &one);
		as_tracker_sums(b, k, &many);
		EXPECT(!memcmp(&one, &many, sizeof one));
	}
	as_tracker_totals(a, &x);
	as_tracker_totals(b, &y);
	EXPECT(!memcmp(&x, &y, sizeof x));
}

/* Processes in turn, each with some events in a row; with `rate` half of them are sampled. */
static void in_rows(uint64_t rate, uint64_t seed)
{
	enum { ROWS = 300, ROW = 90 };
	struct as_heap_crest crest[2] = {{{0, 0}}};
	struct as_tracker *one[PROCESSES], *many[PROCESSES];
	struct program g[PROCESSES] = {{.n = 0}};
	struct as_heap_plain row[ROW];

	for (size_t p = 0; p < PROCESSES; p++) {
		one[p] = new_tracker(1, &crest[0]);
		many[p] = new_tracker(1, &crest[1]);
	}
	for (size_t i = 0; i < ROWS; i++) {
		size_t p = next(&seed) % PROCESSES, n = next(&seed) % ROW;

		for (size_t j = 0, m = 0; j < n; j++) {
			struct as_heap_event e = some(&g[p], &seed);
			bool plain;

			e.ns = (int64_t)i;
			e.rate = next(&seed) % 2 * rate;
			EXPECT(as_tracker_event(one[p], &e));
			plain = plain_of(&e, size_of(e.kind), &row[m]);
			m += plain;
			if (plain && j + 1 < n)
				continue;
			EXPECT(as_tracker_batch(many[p], &(struct as_heap_batch){row, m, e.ns}));
			EXPECT(plain || as_tracker_event(many[p], &e));
			m = 0;
		}
		EXPECT(!memcmp(&crest[0].now, &crest[1].now, sizeof crest[0].now));
		EXPECT(!memcmp(&crest[0].high, &crest[1].high, sizeof crest[0].high));
		for (size_t q = 0; q < PROCESSES; q++)
			same_trackers(one[q], many[q]);
	}
	for (size_t p = 0; p < PROCESSES; p++) {
		as_tracker_free(one[p]);
		as_tracker_free(many[p]);
	}
}

static void t_many_at_once_are_as_one_by_one(void)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		in_rows(seed % 2 * 512, seed * UINT64_C(0x9e3779b97f4a7c15));
}

static void feed(struct as_tracker *t, enum as_heap_what what, uint32_t kind, int64_t ns)
{
	struct as_heap_event e = {.what = what, .kind = kind, .bytes = size_of(kind), .ns = ns};

	EXPECT(as_tracker_event(t, &e));
}

static void t_of_equal_peaks_the_first_counts(void)
{
	struct as_tracker *t = new_tracker(0, NULL);
	struct as_heap_totals all;
	struct as_heap_sums first, second;

	feed(t, AS_HEAP_ALLOC, 4, 10);
	feed(t, AS_HEAP_FREE, 4, 20);
	feed(t, AS_HEAP_ALLOC, 5, 30);
	feed(t, AS_HEAP_ALLOC, 0, 40);
	as_tracker_totals(t, &all);
	as_tracker_sums(t, 4, &first);
	as_tracker_sums(t, 5, &second);
	EXPECT_I64(all.peak_ns, 10);
	EXPECT_I64(all.peak.count, 1);
	EXPECT_I64(first.peak.bytes, 4096);
	EXPECT_I64(second.peak.bytes, 0);
	as_tracker_free(t);
}

static void t_what_was_not_told_is_refused(void)
{
	struct as_tracker *t = new_tracker(0, NULL);
	struct as_heap_event e = {.kind = KINDS};
	struct as_heap_sums s;

	EXPECT(!as_tracker_event(t, &e));
	EXPECT(!as_tracker_batch(t, &(struct as_heap_batch){&(struct as_heap_plain){.kind = KINDS},
							    1, 0}));
	EXPECT(!as_tracker_kind(t, KINDS + 1, &(struct as_heap_kind){.size = 1}));
	as_tracker_sums(t, KINDS, &s);
	EXPECT_I64(s.made.count, 0);
	EXPECT_U64(as_tracker_kinds(t), KINDS);
	as_tracker_free(t);
}

/* --- sampled ----------------------------------------------------------------- */

static void t_a_weight_is_one_over_the_chance(void)
{
	struct as_heap_weight w = as_heap_weight(1000, 2000);

	EXPECT_NEAR(w.count, 2.541494082536799, 1e-12);
	EXPECT_NEAR(w.bytes, 2541.494082536799, 1e-9);
	EXPECT_NEAR(w.variance, 2541.494082536799 * 1541.494082536799, 1e-3);
	w = as_heap_weight(2000, 2000);
	EXPECT(w.count == 1 && w.bytes == 2000 && w.variance == 0);
	w = as_heap_weight(7, 0);
	EXPECT(w.count == 1 && w.bytes == 7 && w.variance == 0);
	w = as_heap_weight(0, 512 << 10);
	EXPECT(w.bytes == 0 && isfinite(w.count));
}

static void t_estimates_are_unbiased_and_vanish_when_freed(void)
{
	enum { RATE = 8192, N = 200000, SIZE = 24 };
	struct as_tracker *t = new_tracker(0, NULL);
	uint64_t seed = 88172645463325252, hits = 0;
	struct as_heap_event e = {.kind = 3, .bytes = SIZE, .rate = RATE};
	double chance = -expm1(-(double)SIZE / RATE);
	struct as_heap_sums s;

	for (size_t i = 0; i < N; i++) {
		bool hit = (double)(next(&seed) >> 11) * 0x1p-53 < chance;

		hits += hit;
		EXPECT(!hit || as_tracker_event(t, &e));
	}
	as_tracker_sums(t, 3, &s);
	EXPECT_NEAR((double)s.made.bytes, (double)hits * SIZE / chance, (double)hits);
	EXPECT_NEAR((double)s.made.count, (double)hits / chance, 1);
	EXPECT_NEAR((double)s.made.bytes, (double)N * SIZE, 4 * sqrt(s.variance_made));
	EXPECT_NEAR(s.variance_made, (double)N * SIZE * RATE, 0.2 * (double)N * SIZE * RATE);
	EXPECT(s.variance_peak == s.variance_made && s.variance_left == s.variance_made);
	e.what = AS_HEAP_FREE;
	e.between = 9;
	for (uint64_t i = 0; i < hits; i++)
		EXPECT(as_tracker_event(t, &e));
	struct as_heap_amount made = s.made;
	as_tracker_sums(t, 3, &s);
	EXPECT_I64(s.left.bytes, 0);
	EXPECT_I64(s.left.count, 0);
	EXPECT(s.variance_left == 0 && s.variance_peak > 0);
	EXPECT_I64(s.peak.bytes, made.bytes);
	as_tracker_free(t);
}

/* Half of them stand for twice as much, about, and what was made is as it was. */
static void t_thinned_ones_stand_for_as_much(void)
{
	enum { RATE = 8192, N = 400000, SIZE = 24 };
	struct as_tracker *t = new_tracker(0, NULL);
	uint64_t seed = 88172645463325252, living = 0;
	struct as_heap_event e = {.kind = 3, .bytes = SIZE, .rate = RATE};
	double chance = -expm1(-(double)SIZE / RATE), then = -expm1(-(double)SIZE / (4 * RATE));
	struct as_heap_sums before, s;

	for (size_t i = 0; i < N; i++)
		if ((double)(next(&seed) >> 11) * 0x1p-53 < chance) {
			EXPECT(as_tracker_event(t, &e));
			living++;
		}
	as_tracker_sums(t, 3, &before);
	e.what = AS_HEAP_THINNED;
	for (uint64_t n = living; n; n--) {
		bool stays = (double)(next(&seed) >> 11) * 0x1p-53 < then / chance;

		e.becomes = stays ? 4 * RATE : 0;
		living -= !stays;
		EXPECT(as_tracker_event(t, &e));
	}
	as_tracker_sums(t, 3, &s);
	EXPECT_I64(s.made.bytes, before.made.bytes);
	EXPECT(s.variance_made == before.variance_made);
	EXPECT_NEAR((double)s.left.bytes, (double)living * SIZE / then, (double)living);
	EXPECT_NEAR((double)s.left.bytes, (double)N * SIZE, 4 * sqrt(s.variance_left));
	EXPECT_NEAR(s.variance_left, 4.0 * N * SIZE * RATE, 0.3 * 4.0 * N * SIZE * RATE);
	EXPECT(s.temporary.count == 0);
	e = (struct as_heap_event){
		.what = AS_HEAP_FREE, .kind = 3, .bytes = SIZE, .between = 9, .rate = 4 * RATE};
	for (; living; living--)
		EXPECT(as_tracker_event(t, &e));
	as_tracker_sums(t, 3, &s);
	EXPECT_I64(s.left.bytes, 0);
	EXPECT_I64(s.left.count, 0);
	as_tracker_free(t);
}

/* Thinned, what lives may seem to be more than was made: nobody freed less than nothing. */
static void t_nothing_was_freed(void)
{
	struct as_tracker *t = new_tracker(0, NULL);
	struct as_heap_event e = {.kind = 3, .bytes = 24, .rate = 1024};
	struct as_heap_totals totals;

	EXPECT(as_tracker_event(t, &e));
	e.what = AS_HEAP_THINNED;
	e.becomes = 2048;
	EXPECT(as_tracker_event(t, &e));
	as_tracker_totals(t, &totals);
	EXPECT(totals.left.bytes > totals.made.bytes);
	EXPECT(totals.freed.bytes == 0 && totals.freed.count == 0);
	as_tracker_free(t);
}

UTEST_MAIN(T(t_one_process_is_as_a_replay_says), T(t_the_peak_of_several_is_as_a_replay_says),
	   T(t_a_peak_can_begin_anew), T(t_many_at_once_are_as_one_by_one),
	   T(t_of_equal_peaks_the_first_counts), T(t_what_was_not_told_is_refused),
	   T(t_a_weight_is_one_over_the_chance), T(t_estimates_are_unbiased_and_vanish_when_freed),
	   T(t_thinned_ones_stand_for_as_much), T(t_nothing_was_freed))
