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
	struct as_heap_amount made, freed;
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
static inline void move(struct as_heap_crest *c, const struct share *s, int64_t ns)
{
	add_share(&c->now, s);
	if (c->now.bytes > c->high.bytes) {
		c->high = c->now;
		c->ns = ns;
		c->rising = true;
	} else if (c->rising) {
		c->epoch++;
		c->rising = false;
	}
}

/* What a kind held when the last epoch ended is what it holds, if it was not touched since. */
static inline void settle(struct as_tracker *t, struct kind *k)
{
	if (t->all->rising || k->epoch == t->all->epoch)
		return;
	k->epoch = t->all->epoch;
	k->peak = k->live;
	if (t->spread)
		t->spread[k - t->kind].peak = t->spread[k - t->kind].live;
}

static inline void change(struct as_tracker *t, struct kind *k, const struct share *s, int64_t ns)
{
	move(t->all, s, ns);
	if (t->all != &t->own)
		move(&t->own, s, ns);
	settle(t, k);
	add_share(&k->live, s);
	if (t->spread)
		t->spread[k - t->kind].live += s->variance;
}

static size_t bucket(uint64_t size)
{
	size_t bits = size ? 64 - (size_t)__builtin_clzll(size) : 0;

	return bits < AS_HEAP_SIZES ? bits : AS_HEAP_SIZES - 1;
}

static void allocated(struct as_tracker *t, struct kind *k, const struct share *s, int64_t ns)
{
	change(t, k, s, ns);
	add_share(&k->made, s);
	add_share(&t->made, s);
	add(&t->sizes[bucket(k->size)], s->count);
	if (t->spread)
		t->spread[k - t->kind].made += s->variance;
}

static void released(struct as_tracker *t, struct kind *k, const struct share *s, int64_t ns)
{
	struct share taken = less(s);

	change(t, k, &taken, ns);
	add_share(&t->freed, s);
}

static void temporary(struct as_tracker *t, uint32_t kind, const struct share *s)
{
	add_share(&t->temporary[kind], s);
	if (t->spread)
		t->spread[kind].temporary += s->variance;
}

bool as_tracker_event(struct as_tracker *t, const struct as_heap_event *e)
{
	if (e->kind >= t->nkinds || (e->rate && !spread_out(t)))
		return false;
	struct kind *k = &t->kind[e->kind];
	struct share s = weigh(k, e);

	if (e->what == AS_HEAP_ALLOC) {
		allocated(t, k, &s, e->ns);
		return true;
	}
	released(t, k, &s, e->ns);
	if (e->what == AS_HEAP_FREE && e->between <= t->threshold)
		temporary(t, e->kind, &s);
	return true;
}

void as_tracker_ended(struct as_tracker *t)
{
	struct share left = {t->own.now.count, t->own.now.bytes, 0};

	if (t->ended || t->all == &t->own)
		return;
	left = less(&left);
	move(t->all, &left, t->all->ns);
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

void as_tracker_totals(const struct as_tracker *t, struct as_heap_totals *ret)
{
	*ret = (struct as_heap_totals){.made = rounded(&t->made),
				       .freed = rounded(&t->freed),
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

/* Gone before the highest moment, not touched since it, or touched since. */
static struct as_heap_amount peak_of(const struct as_tracker *t, const struct kind *k)
{
	if (t->ended && (t->all->rising || t->all->epoch != t->end_epoch))
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
