#include "heap/tracker.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/fault.h"

enum { FIRST = 32 }; /* most processes are small, and there may be thousands */

/* What is counted of a kind: each event in one of these. */
enum { MADE, FREED, BRIEF, COUNTED }; /* BRIEF: freed soon */

/*
 * All that most events touch, and only numbers of allocations: each is of the
 * kind's size. An event changes one of the numbers: who makes and frees one kind again and
 * again would have each addition to a second one wait for the last.
 */
struct kind {
	uint64_t bytes[2]; /* that one adds: its size; that one adds when it is freed */
	int64_t count[COUNTED];
	int64_t peak; /* at the end of `epoch`; else it is what lives, not touched since */
	uint64_t epoch, zero;
};

_Static_assert(sizeof(struct kind) == 64, "a kind is found by a shift");

static int64_t living(const struct kind *k)
{
	return (int64_t)((uint64_t)k->count[MADE] - (uint64_t)k->count[FREED] -
			 (uint64_t)k->count[BRIEF]);
}

/* What is not so: sampled, or given back in parts. Counts as in a crest. */
struct odd {
	struct as_heap_amount made, live, peak, temporary;
	struct {
		double made, live, peak, temporary;
	} variance; /* of bytes */
};

struct as_tracker {
	struct kind *kind;
	struct odd *odd; /* by kind; NULL until there is something */
	size_t nkinds, cap;
	uint32_t threshold;             /* never UINT32_MAX: nothing is known to be so old */
	struct as_heap_crest own, *all; /* all: shared, or &own */
	bool ended;
	uint64_t end_epoch; /* of `all`, when it ended */
};

struct as_tracker *as_tracker_new(uint64_t temporary, struct as_heap_crest *of_all,
				  struct as_err *err)
{
	struct as_tracker *t = as_zalloc(sizeof *t);

	if (!t) {
		(void)as_fail(err, AS_ENOMEM, "no memory for the sums of a heap");
		return NULL;
	}
	t->threshold = temporary < UINT32_MAX - 1 ? (uint32_t)temporary : UINT32_MAX - 2;
	t->all = of_all ? of_all : &t->own;
	return t;
}

void as_tracker_free(struct as_tracker *t)
{
	if (!t)
		return;
	free(t->kind);
	free(t->odd);
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
	    (t->odd && !resize(&t->odd, sizeof *t->odd, t->cap, want)))
		return false;
	t->cap = want;
	return true;
}

bool as_tracker_kind(struct as_tracker *t, uint32_t kind, const struct as_heap_kind *k)
{
	if (kind != t->nkinds || !widen(t))
		return false;
	struct kind *new = &t->kind[t->nkinds++];

	new->bytes[0] = k->size;
	new->bytes[1] = -k->size;
	return true;
}

static bool has_odd(struct as_tracker *t)
{
	if (!t->odd)
		t->odd = as_zalloc_n(t->cap, sizeof *t->odd);
	return t->odd;
}

/* --- events -------------------------------------------------------------- */

/* Numbers that come from a damaged file may wrap, and do no harm. */
static void add(int64_t *to, int64_t n)
{
	*to = (int64_t)((uint64_t)*to + (uint64_t)n);
}

static void add_share(struct as_heap_amount *to, const struct as_heap_share *s)
{
	add(&to->count, s->count);
	add(&to->bytes, s->bytes);
}

static struct as_heap_share less(const struct as_heap_share *s)
{
	return (struct as_heap_share){(int64_t) - (uint64_t)s->count,
				      (int64_t) - (uint64_t)s->bytes, -s->variance};
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
	struct as_heap_amount now;    /* of `own`                                 */
	struct as_heap_amount others; /* what `all` has besides `own`            */
	int64_t calm;                 /* bytes of `own` up to which nothing is new */
	uint64_t epoch;               /* of `all`                                 */
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
	struct course c = {.now = t->own.now,
			   .others = minus(&t->all->now, &t->own.now),
			   .epoch = t->all->epoch};

	c.calm = calm(t, &c);
	return c;
}

static __attribute__((noinline)) void crest(struct as_tracker *t, struct course *c, int64_t ns)
{
	struct as_heap_amount all = plus(&c->now, &c->others);

	t->own.now = c->now;
	reach(t->all, &all, ns);
	if (t->all != &t->own)
		reach(&t->own, &c->now, ns);
	c->calm = calm(t, c);
	c->epoch = t->all->epoch;
}

static void arrive(struct as_tracker *t, const struct course *c)
{
	t->own.now = c->now;
	if (t->all != &t->own)
		t->all->now = plus(&c->now, &c->others);
}

/* What a kind held when the last epoch ended is what it holds, if it was not touched since. */
static __attribute__((noinline)) void settle(struct as_tracker *t, struct kind *k)
{
	struct odd *o = t->odd ? &t->odd[k - t->kind] : NULL;

	if (t->all->rising || k->epoch == t->all->epoch)
		return;
	k->epoch = t->all->epoch;
	k->peak = living(k);
	if (o) {
		o->peak = o->live;
		o->variance.peak = o->variance.live;
	}
}

/* What the process has is another amount now; a kind is about to be touched. */
static inline void change(struct as_tracker *t, struct kind *k, const struct as_heap_share *s,
			  int64_t ns, struct course *c)
{
	add_share(&c->now, s);
	if (__builtin_expect(c->now.bytes > c->calm, 0))
		crest(t, c, ns);
	if (__builtin_expect(k->epoch != c->epoch, 0))
		settle(t, k);
}

static inline bool is_brief(uint32_t threshold, uint32_t freed)
{
	return freed - 1 <= threshold;
}

/* Which number of its kind an event adds to; no branch. */
static inline size_t counted(uint32_t threshold, uint32_t freed)
{
	return (size_t)(freed != 0) * FREED + is_brief(threshold, freed);
}

/* As in struct as_heap_plain: more than can be said is as much as can be. */
static uint32_t freed_of(const struct as_heap_event *e)
{
	if (e->what != AS_HEAP_FREE)
		return 0;
	return e->between < UINT32_MAX ? (uint32_t)e->between + 1 : UINT32_MAX;
}

/* s: what it stands for; more: what there is more of it now. */
static void add_odd(struct odd *o, const struct as_heap_event *e, const struct as_heap_share *s,
		    const struct as_heap_share *more, bool brief)
{
	add_share(&o->live, more);
	o->variance.live += more->variance;
	if (e->what == AS_HEAP_ALLOC) {
		add_share(&o->made, s);
		o->variance.made += s->variance;
	}
	if (brief) {
		add_share(&o->temporary, s);
		o->variance.temporary += s->variance;
	}
}

static struct as_heap_share change_of(const struct kind *k, const struct as_heap_event *e,
				      const struct as_heap_share *s)
{
	struct as_heap_share taken = less(s), now;

	if (e->what == AS_HEAP_ALLOC)
		return *s;
	if (e->what != AS_HEAP_THINNED)
		return taken;
	now = as_heap_share_then(k->bytes[0], e);
	add(&now.count, taken.count);
	add(&now.bytes, taken.bytes);
	now.variance += taken.variance;
	return now;
}

/* Where something is sampled, and where only a part is given back. */
static bool apply_odd(struct as_tracker *t, const struct as_heap_event *e, struct course *c)
{
	struct kind *k = &t->kind[e->kind];
	struct as_heap_share s = as_heap_share(k->bytes[0], e), more = change_of(k, e, &s);

	if (!has_odd(t))
		return false;
	change(t, k, &more, e->ns, c);
	add_odd(&t->odd[e->kind], e, &s, &more, is_brief(t->threshold, freed_of(e)));
	return true;
}

/* An allocation as it was made, or all of it given back. */
static void apply(struct as_tracker *t, const struct as_heap_plain *e, int64_t ns, struct course *c)
{
	struct kind *k = &t->kind[e->kind];
	struct as_heap_share s = {AS_HEAP_ONE, (int64_t)k->bytes[0], 0}, taken = less(&s);

	change(t, k, e->freed ? &taken : &s, ns, c);
	k->count[counted(t->threshold, e->freed)]++;
}

/*
 * The same for many, as long as nothing but their kinds' numbers changes: how
 * many. Allocations and frees come in no order, so neither is a branch.
 */
static size_t apply_calm(struct as_tracker *t, const struct as_heap_plain *e, size_t n,
			 struct course *c)
{
	const struct as_heap_plain *at = e, *end = e + n;
	struct kind *kind = t->kind, *k;
	uint64_t nkinds = t->nkinds, epoch = c->epoch, bytes, freed;
	uint64_t had = (uint64_t)c->now.bytes, frees = 0;
	uint32_t threshold = t->threshold;
	int64_t most = c->calm;

	for (; at < end && at->kind < nkinds; at++, had = bytes) {
		k = &kind[at->kind];
		freed = at->freed != 0;
		bytes = had + k->bytes[freed];
		if ((int64_t)bytes > most || k->epoch != epoch)
			break;
		k->count[counted(threshold, at->freed)]++;
		frees += freed;
	}
	n = (size_t)(at - e);
	c->now.bytes = (int64_t)had;
	add(&c->now.count, (int64_t)(((uint64_t)n - 2 * frees) * (uint64_t)AS_HEAP_ONE));
	return n;
}

bool as_tracker_batch(struct as_tracker *t, const struct as_heap_batch *r)
{
	const struct as_heap_plain *e = r->at, *end = e + r->n;
	struct course c = embark(t);

	for (;; e++) {
		e += apply_calm(t, e, (size_t)(end - e), &c);
		if (e == end || e->kind >= t->nkinds)
			break;
		apply(t, e, r->ns, &c);
	}
	arrive(t, &c);
	return e == end;
}

static bool is_odd(const struct kind *k, const struct as_heap_event *e)
{
	return e->rate || e->what >= AS_HEAP_CUT || e->bytes != k->bytes[0];
}

bool as_tracker_event(struct as_tracker *t, const struct as_heap_event *e)
{
	struct course c = embark(t);
	struct as_heap_plain plain = {.kind = e->kind, .freed = freed_of(e)};
	bool ok = true;

	if (e->kind >= t->nkinds)
		return false;
	if (is_odd(&t->kind[e->kind], e))
		ok = apply_odd(t, e, &c);
	else
		apply(t, &plain, e->ns, &c);
	arrive(t, &c);
	return ok;
}

void as_tracker_ended(struct as_tracker *t)
{
	struct as_heap_share left = {t->own.now.count, t->own.now.bytes, 0};

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

/* So many of the kind, in units of a crest, and what is odd. */
static struct as_heap_amount amount(const struct kind *k, int64_t n,
				    const struct as_heap_amount *odd)
{
	struct as_heap_amount a = {(int64_t)((uint64_t)n * (uint64_t)AS_HEAP_ONE),
				   (int64_t)((uint64_t)n * k->bytes[0])};

	return plus(&a, odd);
}

static const struct odd nothing_odd;

static const struct odd *odd_of(const struct as_tracker *t, size_t kind)
{
	return t->odd ? &t->odd[kind] : &nothing_odd;
}

size_t as_heap_bucket(uint64_t size)
{
	size_t bits = size ? 64 - (size_t)__builtin_clzll(size) : 0;

	return bits < AS_HEAP_SIZES ? bits : AS_HEAP_SIZES - 1;
}

void as_tracker_totals(const struct as_tracker *t, struct as_heap_totals *ret)
{
	struct as_heap_amount made = {0, 0}, sizes[AS_HEAP_SIZES] = {{0, 0}};

	for (size_t i = 0; i < t->nkinds; i++) {
		const struct kind *k = &t->kind[i];
		struct as_heap_amount a = amount(k, k->count[MADE], &odd_of(t, i)->made);

		made = plus(&made, &a);
		sizes[as_heap_bucket(k->bytes[0])] = plus(&sizes[as_heap_bucket(k->bytes[0])], &a);
	}
	struct as_heap_amount freed = minus(&made, &t->own.now);

	/* Thinned, what lives is less well known than what was made, and may seem to be more. */
	if (t->odd && freed.bytes < 0)
		freed = (struct as_heap_amount){0, 0};
	*ret = (struct as_heap_totals){.made = rounded(&made),
				       .freed = rounded(&freed),
				       .left = rounded(&t->own.now),
				       .peak = rounded(&t->own.high),
				       .peak_ns = t->own.ns};
	for (size_t i = 0; i < AS_HEAP_SIZES; i++)
		ret->sizes[i] = rounded(&sizes[i]).count;
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

/* Was it touched since the highest moment? Else it holds what it held then. */
static bool touched(const struct as_tracker *t, const struct kind *k)
{
	return !t->all->rising && k->epoch == t->all->epoch;
}

static void sums_of(const struct as_tracker *t, uint32_t kind, const struct odd *o,
		    struct as_heap_sums *ret)
{
	const struct kind *k = &t->kind[kind];
	struct as_heap_amount made = amount(k, k->count[MADE], &o->made),
			      left = amount(k, living(k), &o->live),
			      brief = amount(k, k->count[BRIEF], &o->temporary),
			      peak = touched(t, k) ? amount(k, k->peak, &o->peak) : left;

	ret->made = rounded(&made);
	ret->left = rounded(&left);
	ret->temporary = rounded(&brief);
	if (!as_tracker_past(t))
		ret->peak = rounded(&peak);
}

static void variances_of(const struct odd *o, bool touched, struct as_heap_sums *ret)
{
	ret->variance_made = o->variance.made;
	ret->variance_temporary = o->variance.temporary;
	if (ret->left.count)
		ret->variance_left = fmax(o->variance.live, 0);
	if (ret->peak.count)
		ret->variance_peak = fmax(touched ? o->variance.peak : o->variance.live, 0);
}

void as_tracker_sums(const struct as_tracker *t, uint32_t kind, struct as_heap_sums *ret)
{
	*ret = (struct as_heap_sums){0};
	if (kind >= t->nkinds)
		return;
	const struct odd *o = odd_of(t, kind);

	sums_of(t, kind, o, ret);
	variances_of(o, touched(t, &t->kind[kind]), ret);
}
