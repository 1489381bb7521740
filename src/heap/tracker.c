#include "heap/tracker.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/fault.h"

enum { FIRST = 32 }; /* most processes are small, and there may be thousands */

/* One line of the cache: all that most events touch. */
struct kind {
	struct as_heap_amount made, live;
	struct as_heap_amount
		peak; /* at the end of `epoch`; else it is `live`, not touched since */
	uint64_t epoch;
	uint64_t size;
};

/* Variances of a kind's bytes; sampled only. */
struct spread {
	double made, live, peak, temporary;
};

struct as_tracker {
	struct kind *kind;
	struct as_heap_amount *temporary; /* by kind */
	struct spread *spread;            /* by kind; NULL until something sampled comes */
	size_t nkinds, cap;
	uint64_t threshold;
	struct as_heap_crest own, *all; /* all: shared, or &own */
	struct as_heap_amount made;
	int64_t sizes[AS_HEAP_SIZES];
	bool ended;
	uint64_t end_epoch; /* of `all`, when it ended */
};

/* What an event adds or takes. */
struct share {
	int64_t count, bytes;
	double variance;
};

struct as_tracker *as_tracker_new(uint64_t temporary, struct as_heap_crest *of_all,
				  struct as_err *err)
{
	struct as_tracker *t = as_zalloc(sizeof *t);

	if (!t) {
		(void)as_fail(err, AS_ENOMEM, "no memory for the sums of a heap");
		return NULL;
	}
	t->threshold = temporary;
	t->all = of_all ? of_all : &t->own;
	return t;
}

void as_tracker_free(struct as_tracker *t)
{
	if (!t)
		return;
	free(t->kind);
	free(t->temporary);
	free(t->spread);
	free(t);
}

/* --- kinds --------------------------------------------------------------- */

static bool resize(void *array, size_t size, size_t from, size_t to)
{
	void *p;

	memcpy(&p, array, sizeof p); /* `array` is the address of a T *, whatever T is */
	p = to > SIZE_MAX / size ? NULL : as_realloc(p, to * size);
	if (!p)
		return false;
	memset((char *)p + from * size, 0, (to - from) * size);
	memcpy(array, &p, sizeof p);
	return true;
}

/* Arrays that did grow before another could not are only larger than they need be. */
static bool widen(struct as_tracker *t)
{
	size_t want = t->cap ? t->cap * 2 : FIRST;

	if (t->nkinds < t->cap)
		return true;
	if (!resize(&t->kind, sizeof *t->kind, t->cap, want) ||
	    !resize(&t->temporary, sizeof *t->temporary, t->cap, want) ||
	    (t->spread && !resize(&t->spread, sizeof *t->spread, t->cap, want)))
		return false;
	t->cap = want;
	return true;
}

bool as_tracker_kind(struct as_tracker *t, uint32_t kind, const struct as_heap_kind *k)
{
	if (kind != t->nkinds || !widen(t))
		return false;
	t->kind[t->nkinds++].size = k->size;
	return true;
}

static bool spread_out(struct as_tracker *t)
{
	if (!t->spread)
		t->spread = as_zalloc_n(t->cap, sizeof *t->spread);
	return t->spread;
}

/* --- events -------------------------------------------------------------- */

/* Numbers that come from a damaged file may wrap, and do no harm. */
static void add(int64_t *to, int64_t n)
{
	*to = (int64_t)((uint64_t)*to + (uint64_t)n);
}

static void add_share(struct as_heap_amount *to, const struct share *s)
{
	add(&to->count, s->count);
	add(&to->bytes, s->bytes);
}

static struct share less(const struct share *s)
{
	return (struct share){(int64_t) - (uint64_t)s->count, (int64_t) - (uint64_t)s->bytes,
			      -s->variance};
}

static int64_t whole(double v)
{
	return v < 0x1p62 ? (int64_t)(v + 0.5) : INT64_C(1) << 62;
}

/* A part of a mapping stands for the same part of what the mapping does. */
static struct share sampled(const struct kind *k, const struct as_heap_event *e)
{
	struct as_heap_weight w = as_heap_weight(k->size, e->rate);
	double part = k->size ? (double)e->bytes / (double)k->size : 1;

	return (struct share){whole(w.count * (double)AS_HEAP_ONE), whole(w.bytes * part),
			      w.variance * part};
}

static struct share weigh(const struct kind *k, const struct as_heap_event *e)
{
	struct share s = {AS_HEAP_ONE, (int64_t)e->bytes, 0};

	if (e->rate)
		s = sampled(k, e);
	if (e->what == AS_HEAP_CUT)
		s.count = 0;
	return s;
}

/* The moment before the first event that does not rise above the highest one ends an epoch. */
static inline void reach(struct as_heap_crest *c, const struct as_heap_amount *now, int64_t ns)
{
	c->now = *now;
	if (c->now.bytes > c->high.bytes) {
		c->high = c->now;
		c->ns = ns;
		c->rising = true;
	} else if (c->rising) {
		c->epoch++;
		c->rising = false;
	}
}

/*
 * While one process's events are added the others hold what they hold: both
 * crests move alike, and while neither is near its highest moment there is
 * nothing to do for them but to know how much there is.
 */
struct course {
	struct as_heap_amount others; /* what `all` has besides `own`            */
	int64_t calm;                 /* bytes of `own` up to which nothing is new */
};

static struct as_heap_amount minus(const struct as_heap_amount *a, const struct as_heap_amount *b)
{
	struct as_heap_amount rest = *a;

	add(&rest.count, (int64_t) - (uint64_t)b->count);
	add(&rest.bytes, (int64_t) - (uint64_t)b->bytes);
	return rest;
}

static struct as_heap_amount plus(const struct as_heap_amount *a, const struct as_heap_amount *b)
{
	struct as_heap_amount sum = *a;

	add(&sum.count, b->count);
	add(&sum.bytes, b->bytes);
	return sum;
}

static int64_t calm(const struct as_tracker *t, const struct course *c)
{
	int64_t room;

	if (t->own.rising || t->all->rising ||
	    __builtin_sub_overflow(t->all->high.bytes, c->others.bytes, &room))
		return INT64_MIN;
	return room < t->own.high.bytes ? room : t->own.high.bytes;
}

static struct course embark(const struct as_tracker *t)
{
	struct course c = {.others = minus(&t->all->now, &t->own.now)};

	c.calm = calm(t, &c);
	return c;
}

static __attribute__((noinline)) void crest(struct as_tracker *t, struct course *c, int64_t ns)
{
	struct as_heap_amount all = plus(&t->own.now, &c->others);

	reach(t->all, &all, ns);
	if (t->all != &t->own)
		reach(&t->own, &t->own.now, ns);
	c->calm = calm(t, c);
}

static void arrive(struct as_tracker *t, const struct course *c)
{
	if (t->all != &t->own)
		t->all->now = plus(&t->own.now, &c->others);
}

/* What a kind held when the last epoch ended is what it holds, if it was not touched since. */
static void settle_now(struct as_tracker *t, struct kind *k)
{
	k->epoch = t->all->epoch;
	k->peak = k->live;
	if (t->spread)
		t->spread[k - t->kind].peak = t->spread[k - t->kind].live;
}

static inline void settle(struct as_tracker *t, struct kind *k)
{
	if (!t->all->rising && k->epoch != t->all->epoch)
		settle_now(t, k);
}

static size_t bucket(uint64_t size)
{
	size_t bits = size ? 64 - (size_t)__builtin_clzll(size) : 0;

	return bits < AS_HEAP_SIZES ? bits : AS_HEAP_SIZES - 1;
}

static inline void change(struct as_tracker *t, struct kind *k, const struct share *s, int64_t ns,
			  struct course *c)
{
	add_share(&t->own.now, s);
	if (__builtin_expect(t->own.now.bytes > c->calm, 0))
		crest(t, c, ns);
	settle(t, k);
	add_share(&k->live, s);
}

static inline bool temporary(const struct as_tracker *t, const struct as_heap_event *e)
{
	return e->what == AS_HEAP_FREE && e->between <= t->threshold;
}

static inline __attribute__((always_inline)) void
apply(struct as_tracker *t, const struct as_heap_event *e, const struct share *s, struct course *c)
{
	struct kind *k = &t->kind[e->kind];
	struct share taken = less(s);

	if (e->what == AS_HEAP_ALLOC) {
		change(t, k, s, e->ns, c);
		add_share(&k->made, s);
		add_share(&t->made, s);
		add(&t->sizes[bucket(k->size)], s->count);
		return;
	}
	change(t, k, &taken, e->ns, c);
	if (temporary(t, e))
		add_share(&t->temporary[e->kind], s);
}

static void scatter(struct as_tracker *t, const struct as_heap_event *e, const struct share *s)
{
	struct spread *v = &t->spread[e->kind];

	v->live += e->what == AS_HEAP_ALLOC ? s->variance : -s->variance;
	if (e->what == AS_HEAP_ALLOC)
		v->made += s->variance;
	if (temporary(t, e))
		v->temporary += s->variance;
}

/* Where something is sampled, and where only a part is given back. */
static __attribute__((noinline)) bool apply_odd(struct as_tracker *t, const struct as_heap_event *e,
						struct course *c)
{
	if (e->rate && !spread_out(t))
		return false;
	struct share s = weigh(&t->kind[e->kind], e);

	apply(t, e, &s, c);
	if (t->spread)
		scatter(t, e, &s);
	return true;
}

bool as_tracker_events(struct as_tracker *t, const struct as_heap_event *e, size_t n)
{
	const struct as_heap_event *end = e + n;
	struct course c = embark(t);

	for (; e < end && e->kind < t->nkinds; e++) {
		struct share one = {AS_HEAP_ONE, (int64_t)e->bytes, 0};

		if (__builtin_expect(!e->rate && e->what != AS_HEAP_CUT && !t->spread, 1))
			apply(t, e, &one, &c);
		else if (!apply_odd(t, e, &c))
			break;
	}
	arrive(t, &c);
	return e == end;
}

void as_tracker_ended(struct as_tracker *t)
{
	struct share left = {t->own.now.count, t->own.now.bytes, 0};

	if (t->ended || t->all == &t->own)
		return;
	left = less(&left);
	struct as_heap_amount all = t->all->now;
	add_share(&all, &left);
	reach(t->all, &all, t->all->ns);
	t->ended = true;
	t->end_epoch = t->all->epoch;
}

static void again(struct as_heap_crest *c, int64_t ns)
{
	c->high = c->now;
	c->ns = ns;
	c->rising = true;
}

void as_tracker_peak_again(struct as_tracker *t, int64_t ns)
{
	again(&t->own, ns);
	again(t->all, ns);
}

/* --- what came of them ---------------------------------------------------- */

static struct as_heap_amount rounded(const struct as_heap_amount *a)
{
	int64_t halves = a->count / (AS_HEAP_ONE / 2);

	return (struct as_heap_amount){halves / 2 + halves % 2, a->bytes};
}

struct as_heap_amount as_heap_crest_high(const struct as_heap_crest *c)
{
	return rounded(&c->high);
}

struct as_heap_amount as_heap_crest_now(const struct as_heap_crest *c)
{
	return rounded(&c->now);
}

void as_tracker_totals(const struct as_tracker *t, struct as_heap_totals *ret)
{
	struct as_heap_amount freed = minus(&t->made, &t->own.now);

	*ret = (struct as_heap_totals){.made = rounded(&t->made),
				       .freed = rounded(&freed),
				       .left = rounded(&t->own.now),
				       .peak = rounded(&t->own.high),
				       .peak_ns = t->own.ns};
	for (size_t i = 0; i < AS_HEAP_SIZES; i++)
		ret->sizes[i] = rounded(&(struct as_heap_amount){t->sizes[i], 0}).count;
}

int64_t as_tracker_live(const struct as_tracker *t)
{
	return t->own.now.bytes;
}

size_t as_tracker_kinds(const struct as_tracker *t)
{
	return t->nkinds;
}

bool as_tracker_past(const struct as_tracker *t)
{
	return t->ended && (t->all->rising || t->all->epoch != t->end_epoch);
}

/* Gone before the highest moment, not touched since it, or touched since. */
static struct as_heap_amount peak_of(const struct as_tracker *t, const struct kind *k)
{
	if (as_tracker_past(t))
		return (struct as_heap_amount){0, 0};
	return rounded(t->all->rising || k->epoch != t->all->epoch ? &k->live : &k->peak);
}

static void spread_of(const struct as_tracker *t, uint32_t kind, struct as_heap_sums *ret)
{
	const struct spread *s = &t->spread[kind];
	bool touched = !t->all->rising && t->kind[kind].epoch == t->all->epoch;

	ret->variance_made = s->made;
	ret->variance_temporary = s->temporary;
	if (ret->left.count)
		ret->variance_left = fmax(s->live, 0);
	if (ret->peak.count)
		ret->variance_peak = fmax(touched ? s->peak : s->live, 0);
}

void as_tracker_sums(const struct as_tracker *t, uint32_t kind, struct as_heap_sums *ret)
{
	*ret = (struct as_heap_sums){0};
	if (kind >= t->nkinds)
		return;
	const struct kind *k = &t->kind[kind];

	ret->made = rounded(&k->made);
	ret->left = rounded(&k->live);
	ret->temporary = rounded(&t->temporary[kind]);
	ret->peak = peak_of(t, k);
	if (t->spread)
		spread_of(t, kind, ret);
}
