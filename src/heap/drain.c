#include "heap/drain.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "heap/ring.h"

enum { AHEAD = 16 }; /* rings behind the last one in use that are looked at */

/*
 * With a number that does not come: its thread may wait for a CPU among a
 * thousand others. Less than a guest's with a ring that stays full.
 */
#define PATIENCE (4 * AS_SECOND)
#define DOUBT    (20 * AS_MSEC) /* when it may be one that was left behind */

struct as_drain {
	struct as_reading all;
	uint64_t lost;
	int64_t gap_since;                  /* 0: the number that is waited for is not late */
	uint64_t left;                      /* the guest's, of which we know what came of them */
	uint16_t queue[AS_WIRE_HEAP_RINGS]; /* a heap: rings with a record, by number */
	size_t nqueue, nrings;              /* nrings: those behind were never used    */
	struct as_ring ring[AS_WIRE_HEAP_RINGS];
};

/* --- all rings: a heap of those that have a record, the lowest number first ----------- */

static bool before(const struct as_drain *d, size_t a, size_t b)
{
	return d->ring[d->queue[a]].seq < d->ring[d->queue[b]].seq;
}

static void swap(struct as_drain *d, size_t a, size_t b)
{
	uint16_t t = d->queue[a];

	d->queue[a] = d->queue[b];
	d->queue[b] = t;
}

static void enqueue(struct as_drain *d, struct as_ring *r)
{
	size_t i = d->nqueue++;

	r->queued = true;
	d->queue[i] = (uint16_t)(r - d->ring);
	for (; i && before(d, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(d, i, (i - 1) / 2);
}

static void sink_down(struct as_drain *d)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < d->nqueue; i = child) {
		if (child + 1 < d->nqueue && before(d, child + 1, child))
			child++;
		if (!before(d, child, i))
			return;
		swap(d, i, child);
	}
}

static void dequeue(struct as_drain *d)
{
	d->ring[d->queue[0]].queued = false;
	d->queue[0] = d->queue[--d->nqueue];
	sink_down(d);
}

/* True: it has a record that it had not before. */
static bool look_at(struct as_drain *d, struct as_ring *r)
{
	uint32_t state = atomic_load_explicit(&r->wire->state, memory_order_acquire);

	if (state != AS_WIRE_RING_FREE && (size_t)(r - d->ring) >= d->nrings)
		d->nrings = (size_t)(r - d->ring) + 1;
	if (r->queued)
		return false;
	if (as_ring_peek(&d->all, r)) {
		enqueue(d, r);
		return true;
	}
	if (state == AS_WIRE_RING_ENDED)
		as_ring_release(r);
	return false;
}

/* Guests take the first ring that is free, so those in use are not far apart. */
static bool look(struct as_drain *d)
{
	bool some = false;

	for (size_t i = 0; i < d->nrings + AHEAD && i < AS_WIRE_HEAP_RINGS; i++)
		some |= look_at(d, &d->ring[i]);
	return some;
}

static uint64_t left_behind(const struct as_drain *d)
{
	return atomic_load_explicit(&d->all.mapping->heap->left, memory_order_relaxed);
}

/* The lowest number is not the one that is due. True: it is now. */
static bool pass_gap(struct as_drain *d, const struct as_ring *r, bool over)
{
	if (!d->gap_since)
		d->gap_since = d->all.now_ns;
	bool doubt = left_behind(d) != d->left;
	if (!over && d->all.now_ns - d->gap_since < (doubt ? DOUBT : PATIENCE))
		return false;
	d->left += doubt;
	d->lost += r->seq - d->all.next;
	d->all.next = r->seq;
	d->gap_since = 0;
	return true;
}

/* It was given up. */
static void pass_late(struct as_drain *d, struct as_ring *r)
{
	d->lost++;
	as_ring_pass(&d->all, r);
}

/* Is the lowest number not higher than the one that is due? */
static bool due(const struct as_drain *d)
{
	return d->ring[d->queue[0]].seq <= d->all.next;
}

/* The ring with the lowest number, as far as it goes. False: it has to wait. */
static bool run_first(struct as_drain *d, bool over)
{
	if (!due(d) && !(look(d) && due(d)) && !pass_gap(d, &d->ring[d->queue[0]], over))
		return false;
	struct as_ring *r = &d->ring[d->queue[0]];

	dequeue(d);
	if (r->seq < d->all.next)
		pass_late(d, r);
	else
		as_ring_take(&d->all, r);
	if (as_ring_peek(&d->all, r))
		enqueue(d, r);
	return true;
}

bool as_drain_empty(const struct as_drain *d)
{
	return atomic_load_explicit(&d->all.mapping->heap->seq, memory_order_acquire) ==
	       d->all.next;
}

size_t as_drain_run(struct as_drain *d, int64_t now_ns, bool over)
{
	uint64_t before_it = d->all.records;

	d->all.now_ns = now_ns;
	if (!over && !d->nqueue && as_drain_empty(d)) {
		d->left = left_behind(d);
		return 0;
	}
	(void)look(d);
	while (d->nqueue && d->all.records - before_it < AS_DRAIN_ONCE) {
		uint64_t had = d->all.next;

		if (!run_first(d, over))
			break;
		if (d->all.next != had)
			d->gap_since = 0;
	}
	as_deeds_do(&d->all.deeds);
	return d->all.records - before_it;
}

/* --- life ---------------------------------------------------------------------- */

struct as_drain *as_drain_new(const struct as_drain_config *config, struct as_err *err)
{
	struct as_drain *d = as_zalloc(sizeof *d);

	if (!d) {
		(void)as_fail(err, AS_ENOMEM, "no memory to follow a heap");
		return NULL;
	}
	d->all.mapping = config->mapping;
	d->all.writers.names = config->names;
	as_deeds_init(&d->all.deeds, &config->deeds);
	for (uint32_t i = 0; i < AS_WIRE_HEAP_RINGS; i++)
		as_ring_init(&d->ring[i], &d->all, i);
	return d;
}

void as_drain_free(struct as_drain *d)
{
	if (!d)
		return;
	as_deeds_done(&d->all.deeds);
	as_writers_done(&d->all.writers);
	for (size_t i = 0; i < AS_WIRE_HEAP_RINGS; i++)
		as_ring_done(&d->ring[i]);
	free(d);
}

void as_drain_counts(const struct as_drain *d, struct as_drain_counts *ret)
{
	const struct as_deeds *done = &d->all.deeds;

	*ret = (struct as_drain_counts){.records = d->all.records,
					.allocations = done->ordinal,
					.mapped = done->file_bytes,
					.before = done->before,
					.lost = d->lost,
					.bad = d->all.bad,
					.incomplete = done->incomplete};
}
