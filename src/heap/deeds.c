#include "heap/deeds.h"

#include "base/fault.h"

/* Once for each event: a call would be a part of what it costs. */
#define HOT static inline __attribute__((always_inline))

void as_deeds_init(struct as_deeds *d, const struct as_deeds_config *config)
{
	*d = (struct as_deeds){.is = *config, .ns = config->start_ns, .nrates = 1};
	if (config->sample)
		d->rate[d->nrates++] = config->sample;
}

void as_deeds_done(struct as_deeds *d)
{
	as_live_done(&d->live);
	as_ranges_done(&d->mapped);
	as_ranges_done(&d->reserved);
	free(d->made);
}

/* --- threads, kinds, rates ---------------------------------------------------------- */

bool as_deeds_thread(struct as_deeds *d, uint32_t thread)
{
	while (d->made_cap <= thread) {
		size_t had = d->made_cap;

		if (!as_grow(&d->made, &d->made_cap, had, sizeof *d->made, 16))
			return false;
		memset(d->made + had, 0, (d->made_cap - had) * sizeof *d->made);
	}
	return true;
}

uint32_t as_deeds_kind(struct as_deeds *d, const struct as_heap_kind *k)
{
	bool new;
	uint32_t n = as_kinds_number(d->is.kinds, k, &new);

	if (n != UINT32_MAX && !new)
		return n;
	if (n == UINT32_MAX || !as_tracker_kind(d->is.tracker, n, k)) {
		if (n != UINT32_MAX)
			as_kinds_drop(d->is.kinds);
		d->incomplete = true;
		return UINT32_MAX;
	}
	if (!n)
		d->only = k->thread;
	d->several |= k->thread != d->only;
	if (d->is.sink)
		d->is.sink->kind(d->is.sink->arg, k);
	return n;
}

/* There are not many: each is twice the one before. */
int as_deeds_rate(struct as_deeds *d, uint64_t rate)
{
	size_t i = 0;

	while (i < d->nrates && d->rate[i] != rate)
		i++;
	if (i == AS_DEEDS_RATES)
		return -1;
	if (i == d->nrates)
		d->rate[d->nrates++] = rate;
	return (int)i;
}

/* --- one event, whatever it is -------------------------------------------------------- */

static uint64_t ordinal_of(const struct as_live_entry *who)
{
	return (who->which >> 8) - 1;
}

static uint32_t made_since(const struct as_deeds *d, const struct as_live_entry *who)
{
	return d->made[d->is.kinds->kind[who->kind].thread] - who->mark;
}

static void tell(struct as_deeds *d, const struct as_heap_event *e)
{
	if (!as_tracker_event(d->is.tracker, e))
		d->incomplete = true;
	if (d->is.sink)
		d->is.sink->event(d->is.sink->arg, e);
}

void as_deed_tell(struct as_deeds *d, enum as_heap_what what, const struct as_live_entry *who,
		  uint64_t bytes)
{
	struct as_heap_event e = {.what = what,
				  .kind = who->kind,
				  .ordinal = ordinal_of(who),
				  .bytes = bytes,
				  .between = what == AS_HEAP_ALLOC ? 0 : made_since(d, who),
				  .ns = d->ns,
				  .rate = d->rate[who->which & 0xff]};

	tell(d, &e);
}

static uint64_t size_of(const struct as_deeds *d, uint32_t kind)
{
	return d->is.kinds->kind[kind].size;
}

static void give_back(struct as_deeds *d, struct as_live_entry *at)
{
	as_deed_tell(d, AS_HEAP_FREE, at, size_of(d, at->kind));
	at->which = 0;
}

/* The size of the record is the rate. Of an address that is not in use it says nothing. */
void as_deed_thin(struct as_deeds *d, const struct as_deed_range *r)
{
	int rate = as_deeds_rate(d, r->kind.size);

	as_deeds_do(d);
	struct as_live_entry *at = as_live_at(&d->live, r->address, false);

	if (!d->is.sample || rate < 0 || !at || !at->which)
		return;
	struct as_heap_event e = {.what = AS_HEAP_THINNED,
				  .kind = at->kind,
				  .ordinal = ordinal_of(at),
				  .bytes = size_of(d, at->kind),
				  .ns = d->ns,
				  .rate = d->rate[at->which & 0xff],
				  .becomes = r->kind.size};

	tell(d, &e);
	at->which = r->kind.size ? (at->which & ~UINT64_C(0xff)) | (uint64_t)rate : 0;
}

/* An address that is in use already: we were not told that it was given back. */
static void do_one(struct as_deeds *d, const struct as_deed *it)
{
	bool made = it->kind != AS_DEED_FREED;
	struct as_live_entry *at = it->at ? it->at : as_live_at(&d->live, it->address, made);

	if (at && at->which)
		give_back(d, at);
	else if (!made)
		d->before++;
	if (made && at) {
		*at = as_deed_entry(d, it->kind, (uint8_t)it->rate);
		as_deed_tell(d, AS_HEAP_ALLOC, at, size_of(d, it->kind));
	}
	d->incomplete |= made && !at;
}

/* --- many of them, plain ---------------------------------------------------------------- */

/* What all of them need, apart from all that has an address. */
struct hand {
	const struct as_heap_kind *kind;
	uint32_t *made;
	uint32_t made_by_only;
	uint64_t ordinal, before;
	struct as_heap_plain *to;
};

/* Where `several` is false there is one number, which is at hand. */
HOT uint32_t *made_by(struct hand *h, uint32_t kind, bool several)
{
	return several ? &h->made[h->kind[kind].thread] : &h->made_by_only;
}

HOT void put_free(struct hand *h, struct as_live_entry *at, bool several)
{
	uint32_t since = *made_by(h, at->kind, several) - at->mark + 1;

	*h->to++ =
		(struct as_heap_plain){(at->which >> 8) - 1, at->kind, since ? since : UINT32_MAX};
	at->which = 0;
}

HOT void put_alloc(struct hand *h, struct as_live_entry *at, uint32_t kind, bool several)
{
	uint32_t mark = ++*made_by(h, kind, several);

	*h->to++ = (struct as_heap_plain){h->ordinal, kind, 0};
	*at = (struct as_live_entry){++h->ordinal << 8, kind, mark};
}

HOT void put(struct as_deeds *d, struct hand *h, const struct as_deed *it, bool several)
{
	bool made = it->kind != AS_DEED_FREED;
	struct as_live_entry *at = it->at;

	if (__builtin_expect(!at, 0))
		at = as_live_at(&d->live, it->address, made);
	if (!made) {
		if (__builtin_expect(at && at->which, 1))
			put_free(h, at, several);
		else
			h->before++;
	} else if (__builtin_expect(at != NULL, 1)) {
		if (__builtin_expect(at->which != 0, 0))
			put_free(h, at, several);
		put_alloc(h, at, it->kind, several);
	} else {
		d->incomplete = true;
	}
}

static void tell_row(struct as_deeds *d, size_t n)
{
	struct as_heap_batch row = {d->row, n, d->ns};

	if (n && !as_tracker_batch(d->is.tracker, &row))
		d->incomplete = true;
	if (n && d->is.sink)
		d->is.sink->batch(d->is.sink->arg, &row);
}

HOT void put_all(struct as_deeds *d, struct hand *h, bool several)
{
	for (const struct as_deed *it = d->batch, *end = it + d->n; it < end; it++)
		put(d, h, it, several);
}

/* Most programs have one thread that allocates. */
static void do_plain(struct as_deeds *d)
{
	struct hand h = {.kind = d->is.kinds->kind,
			 .made = d->made,
			 .made_by_only = d->made_cap ? d->made[d->only] : 0,
			 .ordinal = d->ordinal,
			 .before = d->before,
			 .to = d->row};

	if (d->several) {
		put_all(d, &h, true);
	} else {
		put_all(d, &h, false);
		if (d->made_cap)
			d->made[d->only] = h.made_by_only;
	}
	d->ordinal = h.ordinal;
	d->before = h.before;
	tell_row(d, (size_t)(h.to - d->row));
}

void as_deeds_do(struct as_deeds *d)
{
	if (d->is.sample)
		for (size_t i = 0; i < d->n; i++)
			do_one(d, &d->batch[i]);
	else
		do_plain(d);
	d->n = 0;
}

void as_deeds_come_to(struct as_deeds *d, int64_t ns)
{
	if (ns <= d->ns)
		return;
	as_deeds_do(d);
	d->ns = ns;
}
