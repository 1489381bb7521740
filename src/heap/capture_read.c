#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "heap/capture.h"
#include "heap/capture_file.h"
#include "heap/gather.h"
#include "heap/replay.h"

/* What is made on the way from a file to a heap. */
struct reading {
	struct as_file f;
	struct as_capture_want want;
	struct as_heap *h;
	uint32_t **site;             /* of each kind of each process */
	struct as_heap_amount *peak; /* of each site, of a slice */
};

static void reading_done(struct reading *r)
{
	for (size_t i = 0; r->site && i < r->f.nprocesses; i++)
		free(r->site[i]);
	free(r->site);
	free(r->peak);
	as_heap_free(r->h);
	as_file_done(&r->f);
}

static int no_memory(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory for what a heap was made of");
}

/* --- what all of it has in common ---------------------------------------------- */

static uint64_t last_rate(const struct as_file *f)
{
	uint64_t rate = f->head.sample;

	if (f->nraised)
		return f->raised[f->nraised - 1].rate;
	for (size_t i = 0; i < f->nprocesses; i++)
		if (f->process[i].variants.n)
			rate = f->process[i].variants.at[f->process[i].variants.n - 1].rate;
	return rate;
}

/* Is there anything of which sums can be made? */
static bool has_memory(const struct as_file *f)
{
	return f->events_at || f->nsums;
}

static int describe(struct reading *r, struct as_err *err)
{
	struct as_heap *h = r->h;

	h->rate = last_rate(&r->f);
	h->asked = r->f.head.sample;
	h->nraised = r->f.nraised;
	memcpy(h->raised, r->f.raised, sizeof h->raised);
	h->flags = r->f.head.flags;
	h->aggregated = r->f.head.aggregated;
	h->whole = r->f.closed && !r->f.full;
	h->full = r->f.full;
	h->early = !h->whole && !has_memory(&r->f);
	h->temporary = r->want.threshold ? r->want.temporary : r->f.head.temporary;
	h->start_unix_ns = r->f.head.start_unix_ns;
	h->start_ns = r->f.head.start_ns;
	h->end_ns = r->f.end_ns;
	h->at_peak = (struct as_heap_rss){-1, -1, -1, -1, -1};
	h->command = as_strdup(r->f.head.command ? r->f.head.command : "");
	return h->command ? AS_OK : no_memory(err);
}

static int gather_sites(struct reading *r, struct as_err *err)
{
	r->site = as_zalloc_n(r->f.nprocesses, sizeof *r->site);
	if (!r->site)
		return no_memory(err);
	for (size_t i = 0; i < r->f.nprocesses; i++) {
		const struct as_file_process *p = &r->f.process[i];

		r->site[i] = as_zalloc_n(p->nkinds, sizeof **r->site);
		if (!r->site[i])
			return no_memory(err);
		int done = as_gather_process(r->h, &p->facts, &p->names, p->kind, p->nkinds,
					     r->site[i], err);
		if (done < 0)
			return done;
	}
	return AS_OK;
}

static int by_time(const void *a, const void *b)
{
	const struct as_heap_point *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns)
			      : (x->process > y->process) - (x->process < y->process);
}

static bool is_part(const struct as_capture_want *w)
{
	return w->from_ns || w->until_ns;
}

static bool in_slices(const struct as_capture_want *w)
{
	return w->slice || w->lasting;
}

/* A moment of what is wanted as one of the clock's; 0 is the beginning, or the end. */
static int64_t moment(const struct reading *r, int64_t since_start, int64_t otherwise)
{
	int64_t ns;

	if (!since_start || __builtin_add_overflow(r->f.head.start_ns, since_start, &ns))
		return otherwise;
	return ns;
}

static int gather_points(struct reading *r, struct as_err *err)
{
	int64_t from = moment(r, r->want.from_ns, INT64_MIN),
		until = moment(r, r->want.until_ns, INT64_MAX);

	for (size_t i = 0; i < r->f.npoints; i++) {
		const struct as_heap_point *p = &r->f.point[i];

		if (p->ns < from || p->ns > until)
			continue;
		int done = as_gather_point(r->h, p, err);
		if (done < 0)
			return done;
	}
	if (r->h->npoints)
		qsort(r->h->point, r->h->npoints, sizeof *r->h->point, by_time);
	return AS_OK;
}

/* --- from the sums --------------------------------------------------------------- */

/* All that is wanted stands in the last sums: there is no event after them. */
static bool sums_are_enough(const struct reading *r)
{
	const struct as_file *f = &r->f;

	if (is_part(&r->want) || in_slices(&r->want) || !f->nsums ||
	    f->sums[f->nsums - 1].at < f->events_at)
		return false;
	return !r->want.threshold || r->want.temporary == f->head.temporary;
}

static void take_sums(struct reading *r, const struct as_file_totals *t)
{
	for (size_t i = 0; i < r->f.nprocesses; i++) {
		r->h->process[i].totals = t->process[i];
		for (size_t k = 0; k < r->f.process[i].nkinds; k++)
			as_gather_sums(r->h, &r->h->site[r->site[i][k]], &r->f.process[i].kind[k],
				       &t->sums[i][k]);
	}
	r->h->totals = t->combined;
	r->h->at_peak = t->at_peak;
}

/* Who was killed before the first sums has none, which as_heap.early says. */
static int read_sums(struct reading *r, struct as_err *err)
{
	struct as_file_totals t;

	if (!r->f.nsums)
		return AS_OK;
	int done = as_file_totals(&r->f, r->f.nsums - 1, &t, err);
	if (done < 0)
		return done;
	take_sums(r, &t);
	as_file_totals_done(&t);
	return AS_OK;
}

/* --- from the events -------------------------------------------------------------- */

static int on_slice(void *arg, struct as_replay *replay, uint32_t number, struct as_err *err)
{
	struct reading *r = arg;
	int64_t ns;
	struct as_capture_slice s = {.number = number,
				     .high = as_replay_high(replay, &ns),
				     .peak = r->peak};

	memset(r->peak, 0, r->h->nsites * sizeof *r->peak);
	for (uint32_t i = 0; i < r->f.nprocesses; i++) {
		for (uint32_t k = 0; k < r->f.process[i].nkinds; k++) {
			struct as_heap_amount *peak = &r->peak[r->site[i][k]];
			struct as_heap_sums sums;

			as_replay_sums(replay, i, k, &sums);
			peak->count = as_value_plus(peak->count, sums.peak.count);
			peak->bytes = as_value_plus(peak->bytes, sums.peak.bytes);
		}
	}
	return r->want.slice(r->want.arg, r->h, &s, err);
}

static int no_slice(void *arg, struct as_replay *replay, uint32_t number, struct as_err *err)
{
	(void)arg, (void)replay, (void)number, (void)err;
	return AS_OK;
}

/* Counts of a sample are rounded so that all together are their sum, rounded once. */
static int64_t rounded(int64_t *sum, int64_t count)
{
	int64_t before = as_heap_rounded((double)*sum / (double)AS_HEAP_ONE);

	*sum = as_value_plus(*sum, count);
	return as_heap_rounded((double)*sum / (double)AS_HEAP_ONE) - before;
}

/* What happened at the very end is in a slice that has not ended. */
static void reach(uint32_t *slices, uint32_t slice)
{
	if (slice != AS_LASTING_NEVER && slice >= *slices)
		*slices = slice + 1;
}

static void take_lasting_of(struct reading *r, const struct as_lasting *l, const uint32_t *site,
			    int64_t *sum)
{
	struct as_heap *h = r->h;

	for (size_t i = 0; i < l->n; i++) {
		const struct as_lasting_entry *e = &l->at[i];
		int64_t *of = &sum[e->until != AS_LASTING_NEVER];

		reach(&h->slices, e->made);
		reach(&h->slices, e->until);
		if (e->count || e->bytes)
			h->lasting[h->nlasting++] = (struct as_heap_lasting){
				.site = site[e->kind],
				.made = e->made,
				.until = e->until == AS_LASTING_NEVER ? 0 : e->until,
				.amount = {rounded(of, e->count), e->bytes}};
	}
}

static int take_lasting(struct reading *r, const struct as_replay *replay, struct as_err *err)
{
	int64_t sum[2] = {0, 0};
	size_t n = 0;

	for (uint32_t i = 0; i < r->f.nprocesses; i++)
		n += as_replay_lasting(replay, i)->n;
	r->h->slices = as_replay_slices(replay);
	r->h->lasting = as_zalloc_n(n, sizeof *r->h->lasting);
	if (!r->h->lasting)
		return no_memory(err);
	for (uint32_t i = 0; i < r->f.nprocesses; i++)
		take_lasting_of(r, as_replay_lasting(replay, i), r->site[i], sum);
	return AS_OK;
}

static void take_replay(struct reading *r, const struct as_replay *replay)
{
	for (uint32_t i = 0; i < r->f.nprocesses; i++) {
		as_replay_totals(replay, i, &r->h->process[i].totals);
		as_gather_totals(&r->h->totals, &r->h->process[i].totals);
		for (uint32_t k = 0; k < r->f.process[i].nkinds; k++) {
			struct as_heap_sums sums;

			as_replay_sums(replay, i, k, &sums);
			as_gather_sums(r->h, &r->h->site[r->site[i][k]], &r->f.process[i].kind[k],
				       &sums);
		}
	}
	r->h->totals.peak = as_replay_high(replay, &r->h->totals.peak_ns);
	r->h->whole &= !as_replay_cut(replay);
}

static int replay(struct reading *r, struct as_err *err)
{
	as_auto_replay struct as_replay *p = NULL;
	const struct as_replay_want want = {
		.temporary = r->h->temporary,
		.from_ns = moment(r, r->want.from_ns, INT64_MIN),
		.until_ns = moment(r, r->want.until_ns, INT64_MAX),
		.partial = r->want.partial,
		.slice_ns = in_slices(&r->want) ? r->want.slice_ns : 0,
		.lasting = r->want.lasting,
		.slice = r->want.slice ? on_slice : no_slice,
		.arg = r,
	};

	r->peak = as_zalloc_n(r->h->nsites, sizeof *r->peak);
	if (!r->peak)
		return no_memory(err);
	int done = as_replay_new(&r->f, &want, &p, err);
	if (done == AS_OK)
		done = as_replay_run(p, err);
	if (done == AS_OK)
		take_replay(r, p);
	if (done == AS_OK && r->want.lasting)
		done = take_lasting(r, p, err);
	return done;
}

/* --- all of it -------------------------------------------------------------------- */

static int no_events(const char *what, struct as_err *err)
{
	(void)as_fail(err, AS_EUNSUP, "the capture has sums only, and no events");
	return as_hint(err, "record without --aggregate to %s", what);
}

/* What sums alone do not tell. */
static int check_sums(const struct reading *r, struct as_err *err)
{
	const struct as_capture_want *w = &r->want;

	if (is_part(w) || in_slices(w))
		return no_events("look at a part of the time", err);
	if (w->threshold && w->temporary != r->f.head.temporary)
		return no_events("count temporary allocations by another threshold", err);
	return AS_OK;
}

static int check(const struct reading *r, struct as_err *err)
{
	const struct as_capture_want *w = &r->want;

	if (w->from_ns < 0 || w->until_ns < 0 || (w->until_ns && w->until_ns < w->from_ns) ||
	    (in_slices(w) && w->slice_ns <= 0))
		return as_fail(err, AS_EUSAGE, "a part of the time has a beginning and an end");
	return r->f.head.aggregated ? check_sums(r, err) : AS_OK;
}

/* The recorder is there before what it records, and to attach takes a while: time begins with the
   first process. */
static void begin_with_first(struct as_file *f)
{
	const struct as_heap_process *first = f->nprocesses ? &f->process[0].facts : NULL;
	int64_t before;

	if (!first || first->start_ns <= f->head.start_ns ||
	    __builtin_sub_overflow(first->start_ns, f->head.start_ns, &before) ||
	    __builtin_add_overflow(f->head.start_unix_ns, before, &f->head.start_unix_ns))
		return;
	f->head.start_ns = first->start_ns;
}

static int read_all(struct reading *r, struct as_err *err)
{
	int done = check(r, err);

	begin_with_first(&r->f);
	if (done == AS_OK)
		r->h = as_gather_new(err);
	if (done == AS_OK && !r->h)
		return AS_ENOMEM;
	if (done == AS_OK)
		done = describe(r, err);
	if (done == AS_OK)
		done = gather_sites(r, err);
	if (done == AS_OK)
		done = gather_points(r, err);
	if (done == AS_OK)
		done = sums_are_enough(r) || r->f.head.aggregated ? read_sums(r, err)
								  : replay(r, err);
	return done;
}

int as_capture_read(const char *path, const struct as_capture_want *want, struct as_heap **ret,
		    struct as_err *err)
{
	struct reading r = {.want = want ? *want : (struct as_capture_want){0}};
	int done = as_file_open(&r.f, path, r.want.partial, err);

	if (done == AS_OK) {
		done = read_all(&r, err);
		if (done < 0)
			(void)as_err_wrap(err, "'%s'", path);
	}
	if (done == AS_OK)
		*ret = as_take(r.h);
	reading_done(&r);
	return done;
}
