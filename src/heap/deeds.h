#pragma once
/*
 * deeds -- what the records of a process did to its memory, as events.
 *
 * Whoever reads records tells them in order: an allocation or a free goes into a
 * batch, where the place of its address has time to come from memory; a range is
 * done at once, with all that is before it. So each step is done for many at a time,
 * and what it needs stays at hand. Nothing is told of a moment that is over.
 */
#include "heap/kinds.h"
#include "heap/live.h"
#include "heap/ranges.h"
#include "heap/tracker.h"

enum {
	AS_DEEDS_BATCH = 256,
	AS_DEEDS_RATES = 256,
};

#define AS_DEED_FREED UINT32_MAX

/* Whoever wants the events too; a kind before the first event that has it. */
struct as_deeds_sink {
	void (*kind)(void *arg, const struct as_heap_kind *k);
	void (*event)(void *arg, const struct as_heap_event *e);
	void (*batch)(void *arg, const struct as_heap_batch *r);
	void *arg;
};

struct as_deeds_config {
	struct as_tracker *tracker;
	const struct as_deeds_sink *sink; /* NULL: none                                */
	struct as_kinds *kinds;           /* gets the kinds                            */
	uint64_t sample;                  /* of the session; 0: nothing is left out    */
	uint32_t page;                    /* bytes a page                              */
	int64_t start_ns;
};

/* An allocation of a kind, or AS_DEED_FREED. */
struct as_deed {
	uint64_t address;
	struct as_live_entry *at; /* NULL: not known yet */
	uint32_t kind;
	uint32_t rate; /* its number */
};

struct as_deeds {
	struct as_deeds_config is;
	struct as_live live;
	struct as_ranges mapped, reserved; /* reserved: mapped without access          */
	int64_t ns;                        /* of the last event                         */
	uint64_t ordinal;                  /* of the next allocation                    */
	uint32_t *made;                    /* by each thread; wraps                     */
	size_t made_cap;
	uint32_t only; /* the thread of all kinds, unless there are `several` */
	bool several;
	uint64_t rate[AS_DEEDS_RATES]; /* [0] is 0: nothing was left out            */
	size_t nrates;
	uint64_t before;    /* frees of what was made before we were told of anything  */
	int64_t file_bytes; /* of files, that are mapped now                           */
	bool incomplete;    /* for want of memory                                      */
	size_t n;
	struct as_deed batch[AS_DEEDS_BATCH];
	struct as_heap_plain row[2 * AS_DEEDS_BATCH];
};

void as_deeds_init(struct as_deeds *d, const struct as_deeds_config *config);
void as_deeds_done(struct as_deeds *d);

/* There is a thread of that number; false for want of memory. */
bool as_deeds_thread(struct as_deeds *d, uint32_t thread);
/* The number of a kind; UINT32_MAX for want of memory. Its thread is there. */
uint32_t as_deeds_kind(struct as_deeds *d, const struct as_heap_kind *k);
/* The number of a rate; -1: there are too many. */
int as_deeds_rate(struct as_deeds *d, uint64_t rate);

/* Everything up to now is told. */
void as_deeds_do(struct as_deeds *d);
/* Times of threads differ by a tick; the events of a process are in order. */
void as_deeds_come_to(struct as_deeds *d, int64_t ns);

/* What is told of a range of addresses, by a record of that kind. */
struct as_deed_range {
	struct as_heap_kind kind;
	uint64_t address;
	uint8_t rate;
};

typedef void as_deed_range_fn(struct as_deeds *d, const struct as_deed_range *r);

as_deed_range_fn as_deed_map, as_deed_unmap, as_deed_reserve, as_deed_commit, as_deed_thin;

/* The next: there is room. */
static inline void as_deeds_add(struct as_deeds *d, uint64_t address, uint32_t kind, uint8_t rate)
{
	d->batch[d->n++] = (struct as_deed){address, as_live_far(&d->live, address), kind, rate};
}

/* --- for the files of it ---------------------------------------------------------- */

/* What is kept of an allocation: the number after its ordinal, and the number of its rate. */
static inline struct as_live_entry as_deed_entry(struct as_deeds *d, uint32_t kind, uint8_t rate)
{
	uint32_t *made = &d->made[d->is.kinds->kind[kind].thread];

	return (struct as_live_entry){++d->ordinal << 8 | rate, kind, ++*made};
}

/* `bytes` of it, as that. */
void as_deed_tell(struct as_deeds *d, enum as_heap_what what, const struct as_live_entry *who,
		  uint64_t bytes);
