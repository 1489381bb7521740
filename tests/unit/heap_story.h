#pragma once
/*
 * heap_story -- what random programs do with their memory, and what must come of
 * it: sums by brute force, of all of the time or a part, without a tracker.
 */
#include "heap/capture.h"
#include "heap/gather.h"
#include "noise.h"
#include "utest.h"
#include "wire/heap.h"

enum { STORY_KINDS = 40, STORY_SITES = 12, STORY_THREADS = 3, STORY_PROCESSES = 4 };

#define STORY_START INT64_C(5000000000)
#define STORY_TICK  INT64_C(10000000)

/* One allocation of the story. */
struct story_block {
	uint32_t process, kind;
	uint64_t left, nth; /* bytes; the how manyth of its thread */
	uint64_t rate;
	int64_t ns;
};

struct story_event {
	uint32_t process;
	struct as_heap_event e;
};

struct story {
	struct noise g;
	size_t processes;
	uint64_t rate; /* sampled, when it is not 0 */
	struct as_heap_kind kind[STORY_PROCESSES][STORY_KINDS];
	struct story_block *block[STORY_PROCESSES]; /* by ordinal */
	size_t nblocks[STORY_PROCESSES];
	uint64_t *live[STORY_PROCESSES]; /* ordinals */
	size_t nlive[STORY_PROCESSES];
	uint64_t thread[STORY_PROCESSES][STORY_THREADS]; /* allocations of each */
	struct story_event *event;
	size_t n;
};

static inline size_t story_below(struct story *s, size_t n)
{
	return (size_t)(noise_unit(&s->g) * (double)n);
}

/* Kinds of a site differ in size only. */
static inline struct as_heap_kind story_kind(struct story *s, uint32_t k)
{
	uint32_t site = k % STORY_SITES;

	return (struct as_heap_kind){.size = site ? 16 * (k + 1) + story_below(s, 8) : 40960,
				     .python = 0,
				     .native = 1 + site,
				     .thread = site % STORY_THREADS,
				     .op = site ? AS_WIRE_OP_MALLOC : AS_WIRE_OP_MMAP};
}

static inline void story_alloc(struct story *s, uint32_t p, struct as_heap_event *e)
{
	/* Mostly the same few in the same order. */
	uint32_t k = noise_unit(&s->g) < 0.7 ? (uint32_t)(s->nblocks[p] % 5)
					     : (uint32_t)story_below(s, STORY_KINDS);
	const struct as_heap_kind *kind = &s->kind[p][k];

	*e = (struct as_heap_event){.what = AS_HEAP_ALLOC,
				    .kind = k,
				    .ordinal = s->nblocks[p],
				    .bytes = kind->size,
				    .rate = s->rate << (s->rate && e->ns % 3 == 0),
				    .ns = e->ns};
	s->live[p][s->nlive[p]++] = e->ordinal;
	s->block[p][s->nblocks[p]++] = (struct story_block){.process = p,
							    .kind = k,
							    .left = kind->size,
							    .nth = s->thread[p][kind->thread]++,
							    .rate = e->rate,
							    .ns = e->ns};
}

/* Sampled: one of those that live stands for twice as much, or for nothing. */
static inline bool story_thin(struct story *s, uint32_t p, struct as_heap_event *e)
{
	size_t at = s->nlive[p] ? story_below(s, s->nlive[p]) : 0;
	uint64_t ordinal = s->live[p][at];
	struct story_block *b = &s->block[p][ordinal];

	if (!s->nlive[p] || s->kind[p][b->kind].op == AS_WIRE_OP_MMAP)
		return false;
	*e = (struct as_heap_event){.what = AS_HEAP_THINNED,
				    .kind = b->kind,
				    .ordinal = ordinal,
				    .bytes = b->left,
				    .rate = b->rate,
				    .becomes = noise_unit(&s->g) < 0.5 ? b->rate * 2 : 0,
				    .ns = e->ns};
	b->rate = e->becomes;
	if (!e->becomes)
		s->live[p][at] = s->live[p][--s->nlive[p]];
	return true;
}

static inline void story_release(struct story *s, uint32_t p, struct as_heap_event *e)
{
	size_t back = noise_unit(&s->g) < 0.8 ? story_below(s, 3) : story_below(s, s->nlive[p]),
	       at = s->nlive[p] - 1 - (back < s->nlive[p] ? back : 0);
	uint64_t ordinal = s->live[p][at];
	struct story_block *b = &s->block[p][ordinal];
	const struct as_heap_kind *kind = &s->kind[p][b->kind];

	*e = (struct as_heap_event){.what = AS_HEAP_FREE,
				    .kind = b->kind,
				    .ordinal = ordinal,
				    .bytes = b->left,
				    .between = s->thread[p][kind->thread] - b->nth - 1,
				    .rate = b->rate,
				    .ns = e->ns};
	if (kind->op == AS_WIRE_OP_MMAP && b->left > 4096 && noise_unit(&s->g) < 0.4) {
		e->what = AS_HEAP_CUT;
		e->bytes = 4096;
		b->left -= 4096;
		return;
	}
	s->live[p][at] = s->live[p][--s->nlive[p]];
}

/* Each moment belongs to one process, so that there is one order of all events. */
static inline void story_init(struct story *s, uint64_t seed, size_t processes, size_t events,
			      uint64_t rate)
{
	int64_t ns = STORY_START;
	uint32_t p = 0;

	*s = (struct story){.g = noise_new(seed), .processes = processes, .rate = rate};
	s->event = calloc(events, sizeof *s->event);
	for (size_t i = 0; i < processes; i++) {
		s->block[i] = calloc(events, sizeof *s->block[i]);
		s->live[i] = calloc(events, sizeof *s->live[i]);
		for (uint32_t k = 0; k < STORY_KINDS; k++)
			s->kind[i][k] = story_kind(s, k);
	}
	for (; s->n < events; s->n++) {
		struct as_heap_event *e = &s->event[s->n].e;

		if (story_below(s, 50) == 0) {
			ns += STORY_TICK;
			p = (uint32_t)story_below(s, processes);
		}
		s->event[s->n].process = p;
		e->ns = ns;
		/* It grows and shrinks. */
		double up = s->n / 1000 % 3 ? 0.52 : 0.45;
		if (rate && story_below(s, 20) == 0 && story_thin(s, p, e))
			continue;
		if (!s->nlive[p] || noise_unit(&s->g) < up)
			story_alloc(s, p, e);
		else
			story_release(s, p, e);
	}
}

static inline void story_done(struct story *s)
{
	for (size_t i = 0; i < s->processes; i++) {
		free(s->block[i]);
		free(s->live[i]);
	}
	free(s->event);
}

static inline int64_t story_end(const struct story *s)
{
	return s->n ? s->event[s->n - 1].e.ns : STORY_START;
}

/* --- brute force ------------------------------------------------------------- */

struct story_sums {
	struct as_heap_amount made, freed, left, temporary, all, peak;
};

struct story_truth {
	struct story_sums kind[STORY_PROCESSES][STORY_KINDS];
	struct as_heap_amount now, high;
	struct as_heap_amount own[STORY_PROCESSES], own_high[STORY_PROCESSES];
};

static inline void story_add(struct as_heap_amount *a, int64_t count, int64_t bytes)
{
	a->count += count;
	a->bytes += bytes;
}

static inline void story_high(struct story_truth *t)
{
	t->high = t->now;
	for (size_t p = 0; p < STORY_PROCESSES; p++)
		for (size_t k = 0; k < STORY_KINDS; k++)
			t->kind[p][k].peak = t->kind[p][k].all;
}

/* Of the first n events, those with from <= ns <= until. */
static inline void story_truth(const struct story *s, size_t n, int64_t from, int64_t until,
			       uint64_t threshold, struct story_truth *t)
{
	bool begun = from == INT64_MIN;

	*t = (struct story_truth){0};
	for (size_t i = 0; i < n && s->event[i].e.ns <= until; i++) {
		const struct as_heap_event *e = &s->event[i].e;
		uint32_t p = s->event[i].process;
		struct story_sums *k = &t->kind[p][e->kind];
		bool in = s->block[p][e->ordinal].ns >= from, alloc = e->what == AS_HEAP_ALLOC;
		int64_t count = e->what == AS_HEAP_CUT ? 0
				: alloc                ? 1
						       : -1,
			bytes = alloc ? (int64_t)e->bytes : -(int64_t)e->bytes;

		if (!begun && e->ns >= from) {
			begun = true;
			story_high(t);
			memcpy(t->own_high, t->own, sizeof t->own);
		}
		story_add(&k->all, count, bytes);
		story_add(&t->now, count, bytes);
		story_add(&t->own[p], count, bytes);
		if (begun && in)
			story_add(&k->left, count, bytes);
		if (begun && alloc)
			story_add(&k->made, count, bytes);
		if (begun && !alloc)
			story_add(&k->freed, -count, -bytes);
		if (begun && in && e->what == AS_HEAP_FREE && e->between <= threshold)
			story_add(&k->temporary, -count, -bytes);
		if (begun && t->now.bytes > t->high.bytes)
			story_high(t);
		if (begun && t->own[p].bytes > t->own_high[p].bytes)
			t->own_high[p] = t->own[p];
	}
	if (!begun)
		story_high(t);
}

/* --- told to a capture --------------------------------------------------------- */

struct story_writer {
	const struct story *s;
	struct as_capture *c;
	struct as_tracker *tracker[STORY_PROCESSES];
	struct as_heap_crest crest;
};

static inline void story_names(struct as_heap_names *n)
{
	static struct as_heap_node node[STORY_SITES + 1];
	static char name[] = "main";
	static struct as_heap_thread thread[STORY_THREADS];

	for (uint32_t i = 1; i <= STORY_SITES; i++)
		node[i] = (struct as_heap_node){0x7f0000001000 + i * 16, 0};
	for (uint32_t i = 0; i < STORY_THREADS; i++)
		thread[i] = (struct as_heap_thread){.tid = 100 + i, .name = i ? NULL : name};
	*n = (struct as_heap_names){.node = node,
				    .nnodes = STORY_SITES + 1,
				    .thread = thread,
				    .nthreads = STORY_THREADS};
}

static inline struct as_heap_process story_process(const struct story *s, uint32_t p, bool ended)
{
	static char command[] = "story";

	return (struct as_heap_process){.pid = 1000 + p,
					.command = command,
					.start_ns = STORY_START,
					.end_ns = ended ? story_end(s) + 1 : 0,
					.lost = ended};
}

static inline void story_open(struct story_writer *w, const struct story *s, const char *path,
			      bool aggregated)
{
	struct as_capture_head head = {.command = "story of a heap",
				       .flags = AS_WIRE_HEAP_NATIVE,
				       .sample = s->rate,
				       .temporary = 1,
				       .aggregated = aggregated,
				       .start_unix_ns = 1700000000 * INT64_C(1000000000),
				       .start_ns = STORY_START};
	struct as_err err;
	struct as_heap_names names;

	*w = (struct story_writer){.s = s};
	story_names(&names);
	EXPECT_OK(as_capture_create(path, &head, true, &w->c, &err), err);
	for (uint32_t p = 0; p < s->processes; p++) {
		struct as_heap_process process = story_process(s, p, false);

		w->tracker[p] = as_tracker_new(1, &w->crest, &err);
		EXPECT(w->tracker[p]);
		EXPECT_OK(as_capture_process(w->c, &process, &err), err);
		EXPECT_OK(as_capture_names(w->c, p, &names, &err), err);
		for (uint32_t k = 0; k < STORY_KINDS; k++) {
			EXPECT_OK(as_capture_kind(w->c, p, &s->kind[p][k], &err), err);
			EXPECT(as_tracker_kind(w->tracker[p], k, &s->kind[p][k]));
		}
	}
}

static inline struct as_capture_sums story_sums(const struct story_writer *w)
{
	struct as_capture_sums sums = {.tracker = (const struct as_tracker *const *)w->tracker,
				       .n = w->s->processes,
				       .at_peak = {1 << 20, 1 << 19, -1, 0}};

	for (size_t p = 0; p < w->s->processes; p++) {
		struct as_heap_totals t;

		as_tracker_totals(w->tracker[p], &t);
		as_gather_totals(&sums.combined, &t);
	}
	sums.combined.peak = as_heap_crest_high(&w->crest);
	sums.combined.peak_ns = w->crest.ns;
	return sums;
}

/* One event, and each so many a point and a flush. */
static inline int story_tell(struct story_writer *w, size_t i, size_t flush, struct as_err *err)
{
	const struct story_event *e = &w->s->event[i];
	int r = as_capture_event(w->c, e->process, &e->e, err);

	EXPECT(as_tracker_event(w->tracker[e->process], &e->e));
	if (r < 0 || (i + 1) % flush)
		return r;
	struct as_capture_sums sums = story_sums(w);
	struct as_heap_point point = {e->e.ns, e->process,     w->crest.now.bytes,
				      8 << 20, e->e.ns % 4096, e->e.ns % 512};
	r = as_capture_point(w->c, &point, err);
	return r < 0 ? r : as_capture_flush(w->c, e->e.ns, &sums, err);
}

static inline int story_close(struct story_writer *w, struct as_err *err)
{
	struct as_capture_sums sums = story_sums(w);

	for (uint32_t p = 0; p < w->s->processes; p++) {
		struct as_heap_process process = story_process(w->s, p, true);

		EXPECT_OK(as_capture_ended(w->c, p, &process, err), *err);
	}
	return as_capture_close(w->c, story_end(w->s) + 1, &sums, err);
}

static inline void story_writer_done(struct story_writer *w)
{
	as_capture_free(w->c);
	for (size_t p = 0; p < w->s->processes; p++)
		as_tracker_free(w->tracker[p]);
}

static inline void story_write(const struct story *s, const char *path, size_t flush,
			       bool aggregated)
{
	struct story_writer w;
	struct as_err err;

	story_open(&w, s, path, aggregated);
	for (size_t i = 0; i < s->n; i++)
		EXPECT_OK(story_tell(&w, i, flush, &err), err);
	EXPECT_OK(story_close(&w, &err), err);
	story_writer_done(&w);
}
