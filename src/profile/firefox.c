/*
 * firefox -- the profile as the Firefox Profiler keeps its own ("processed
 * format", version 48): tables of columns, a thread for each set of tags.
 *
 * It wants a moment for each sample. Slices of time have one; without them
 * samples stand one after the other, each as long as its weight.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/json.h"
#include "profile/copy.h"
#include "profile/functions.h"
#include "profile/write.h"

enum { VERSION = 48, GECKO_VERSION = 30, THREADS_MOST = 256 };

/* Which sets of tags have a thread of their own. */
struct rank {
	bool *alone;
	size_t others; /* that have not, and have something; 0: all that have something are alone */
};

/* One thread: a profile of its own with one kind of value. */
struct thread {
	const struct as_profile *all; /* that it is of               */
	const struct rank *rank;
	bool rest;     /* it is what all the others have  */
	uint32_t tags; /* else its tags, there            */
	struct as_profile *p;
	uint32_t *function; /* of a place the number of its function */
	uint32_t *first;    /* of a function the first of its places */
	size_t nfunctions;
	uint32_t *order; /* samples by their slice                */
};

static void thread_done(struct thread *t)
{
	as_profile_free(t->p);
	free(t->function);
	free(t->first);
	free(t->order);
}

/* ── which threads there are ──────────────────────────────────────────── */

static void rank_done(struct rank *r)
{
	free(r->alone);
}

/* What each set of tags has, whatever its sign. */
static int64_t *weigh(const struct as_profile *p, size_t kind)
{
	int64_t *weight = as_zalloc_n(p->ntags, sizeof *weight);

	for (size_t i = 0; weight && i < p->nsamples; i++) {
		int64_t v = p->sample[i].v[kind], *to = &weight[p->sample[i].tags];

		*to = as_value_plus(*to, v == INT64_MIN ? INT64_MAX : v < 0 ? -v : v);
	}
	return weight;
}

static int by_weight(const void *a, const void *b, void *arg)
{
	const int64_t *weight = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (weight[x] != weight[y])
		return weight[x] > weight[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool open_rank(struct rank *r, const struct as_profile *p, size_t kind)
{
	as_auto_free int64_t *weight = weigh(p, kind);
	as_auto_free uint32_t *tags = as_zalloc_n(p->ntags, sizeof *tags);
	size_t n = 0;

	r->alone = as_zalloc_n(p->ntags, sizeof *r->alone);
	if (!weight || !tags || !r->alone)
		return false;
	for (uint32_t i = 0; i < p->ntags; i++)
		if (weight[i])
			tags[n++] = i;
	qsort_r(tags, n, sizeof *tags, by_weight, weight);
	r->others = n > THREADS_MOST ? n - (THREADS_MOST - 1) : 0;
	for (size_t i = 0; i < n - r->others; i++)
		r->alone[tags[i]] = true;
	r->alone[0] |= !n; /* a file without a thread is none */
	return true;
}

static size_t kind_of(const struct as_profile *p, const struct as_spelling *how)
{
	return how->kind ? how->kind : p->main_kind;
}

size_t as_firefox_together(const struct as_profile *p, const struct as_spelling *how)
{
	as_cleanup(rank_done) struct rank r = {0};

	return open_rank(&r, p, kind_of(p, how)) ? r.others : 0;
}

/* ── taking a thread out ──────────────────────────────────────────────── */

static bool belongs(const struct thread *t, const struct as_sample *s, size_t kind)
{
	return s->v[kind] && (t->rest ? !t->rank->alone[s->tags] : s->tags == t->tags);
}

static int copy_samples(struct thread *t, size_t kind, struct as_err *err)
{
	as_auto_copy struct as_copy c = {0};
	int r = as_copy_open(&c, t->all, t->p, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < t->all->nsamples; i++)
		if (belongs(t, &t->all->sample[i], kind))
			for (uint32_t s = t->all->sample[i].stack; s && !c.stack[s];
			     s = t->all->stack[s].caller)
				c.stack[s] = AS_NOWHERE;
	for (uint32_t s = 1; s < t->all->nstacks; s++)
		if (c.stack[s])
			c.stack[s] = as_profile_stack(t->p, c.stack[t->all->stack[s].caller],
						      as_copy_place(&c, t->all->stack[s].place));
	for (size_t i = 0; i < t->all->nsamples; i++) {
		const struct as_sample *s = &t->all->sample[i];

		if (belongs(t, s, kind))
			as_profile_add(t->p, c.stack[s->stack], 0, s->slice, &s->v[kind]);
	}
	return as_profile_ok(t->p, err);
}

static int number_functions(struct thread *t, struct as_err *err)
{
	t->function = as_profile_functions(t->p);
	t->first = as_zalloc_n(t->p->nplaces, sizeof *t->first);
	if (!t->function || !t->first)
		return as_fail(err, AS_ENOMEM, "no memory for the functions of a thread");
	for (uint32_t i = 1; i < t->p->nplaces; i++) {
		if (t->function[i] == i) {
			t->first[t->nfunctions] = i;
			t->function[i] = (uint32_t)t->nfunctions++;
		} else {
			t->function[i] = t->function[t->function[i]];
		}
	}
	return AS_OK;
}

static int by_slice(const void *a, const void *b, void *arg)
{
	const struct as_profile *p = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (p->sample[x].slice != p->sample[y].slice)
		return p->sample[x].slice < p->sample[y].slice ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int order_samples(struct thread *t, struct as_err *err)
{
	t->order = as_zalloc_n(t->p->nsamples, sizeof *t->order);
	if (!t->order)
		return as_fail(err, AS_ENOMEM, "no memory for the samples of a thread");
	for (size_t i = 0; i < t->p->nsamples; i++)
		t->order[i] = (uint32_t)i;
	if (t->p->nsamples)
		qsort_r(t->order, t->p->nsamples, sizeof *t->order, by_slice, t->p);
	return AS_OK;
}

static int open_thread(struct thread *t, size_t kind, struct as_err *err)
{
	t->p = as_profile_new(&t->all->kind[kind], 1, err);
	int r = t->p ? copy_samples(t, kind, err) : err->code;
	if (r == AS_OK)
		r = number_functions(t, err);
	return r == AS_OK ? order_samples(t, err) : r;
}

/* ── tables ───────────────────────────────────────────────────────────── */

enum column { ZERO, ONE, MINUS_ONE, NOTHING, NO, YES };

/* A column that says the same in every row. */
static void put_same(struct as_json *j, const char *key, size_t n, enum column what)
{
	as_json_open(j, key, '[');
	for (size_t i = 0; i < n; i++) {
		if (what == NOTHING)
			as_json_na(j, NULL);
		else if (what == NO || what == YES)
			as_json_bool(j, NULL, what == YES);
		else
			as_json_i64(j, NULL, what == MINUS_ONE ? -1 : what == ONE);
	}
	as_json_close(j);
}

static void put_or_none(struct as_json *j, int64_t v)
{
	if (v > 0)
		as_json_i64(j, NULL, v);
	else
		as_json_na(j, NULL);
}

static void put_frames(struct as_json *j, const struct thread *t)
{
	size_t n = t->p->nplaces - 1;

	as_json_open(j, "frameTable", '{');
	as_json_i64(j, "length", (int64_t)n);
	put_same(j, "address", n, MINUS_ONE);
	put_same(j, "inlineDepth", n, ZERO);
	put_same(j, "category", n, ONE);
	put_same(j, "subcategory", n, ZERO);
	as_json_open(j, "func", '[');
	for (size_t i = 1; i <= n; i++)
		as_json_i64(j, NULL, t->function[i]);
	as_json_close(j);
	put_same(j, "nativeSymbol", n, NOTHING);
	put_same(j, "innerWindowID", n, ZERO);
	put_same(j, "implementation", n, NOTHING);
	as_json_open(j, "line", '[');
	for (size_t i = 1; i <= n; i++)
		put_or_none(j, t->p->place[i].line);
	as_json_close(j);
	put_same(j, "column", n, NOTHING);
	as_json_close(j);
}

static void put_functions(struct as_json *j, const struct thread *t)
{
	size_t n = t->nfunctions;

	as_json_open(j, "funcTable", '{');
	as_json_i64(j, "length", (int64_t)n);
	as_json_open(j, "name", '[');
	for (size_t i = 0; i < n; i++)
		as_json_i64(j, NULL, t->p->place[t->first[i]].function);
	as_json_close(j);
	put_same(j, "isJS", n, NO);
	put_same(j, "relevantForJS", n, NO);
	put_same(j, "resource", n, MINUS_ONE);
	as_json_open(j, "fileName", '[');
	for (size_t i = 0; i < n; i++)
		put_or_none(j, t->p->place[t->first[i]].file);
	as_json_close(j);
	as_json_open(j, "lineNumber", '[');
	for (size_t i = 0; i < n; i++)
		put_or_none(j, t->p->place[t->first[i]].begin);
	as_json_close(j);
	put_same(j, "columnNumber", n, NOTHING);
	as_json_close(j);
}

static void put_stacks(struct as_json *j, const struct thread *t)
{
	size_t n = t->p->nstacks - 1;

	as_json_open(j, "stackTable", '{');
	as_json_i64(j, "length", (int64_t)n);
	as_json_open(j, "frame", '[');
	for (size_t i = 1; i <= n; i++)
		as_json_i64(j, NULL, (int64_t)t->p->stack[i].place - 1);
	as_json_close(j);
	put_same(j, "category", n, ONE);
	put_same(j, "subcategory", n, ZERO);
	as_json_open(j, "prefix", '[');
	for (size_t i = 1; i <= n; i++)
		if (t->p->stack[i].caller)
			as_json_i64(j, NULL, (int64_t)t->p->stack[i].caller - 1);
		else
			as_json_na(j, NULL);
	as_json_close(j);
	as_json_close(j);
}

/* Tables that profiles of Firefox have and ours have nothing for. */
static void put_empty_tables(struct as_json *j)
{
	static const struct {
		const char *table, *column[6];
	} empty[] = {
		{"markers", {"data", "name", "startTime", "endTime", "phase", "category"}},
		{"resourceTable", {"lib", "name", "host", "type"}},
		{"nativeSymbols", {"libIndex", "address", "name", "functionSize"}},
	};

	for (size_t i = 0; i < AS_LEN(empty); i++) {
		as_json_open(j, empty[i].table, '{');
		as_json_i64(j, "length", 0);
		for (size_t k = 0; k < AS_LEN(empty[i].column) && empty[i].column[k]; k++)
			put_same(j, empty[i].column[k], 0, ZERO);
		as_json_close(j);
	}
}

/* ── samples ──────────────────────────────────────────────────────────── */

static bool is_time(const struct thread *t)
{
	return !strcmp(t->p->kind[0].unit, "nanoseconds");
}

static double weight_of(const struct thread *t, const struct as_sample *s)
{
	return is_time(t) ? (double)s->v[0] / AS_MSEC : (double)s->v[0];
}

static void put_times(struct as_json *j, const struct thread *t)
{
	double slice = (double)t->all->slice_ns / AS_MSEC, at = 0;

	as_json_open(j, "time", '[');
	for (size_t i = 0; i < t->p->nsamples; i++) {
		const struct as_sample *s = &t->p->sample[t->order[i]];

		as_json_f64(j, NULL, t->all->slice_ns ? slice * s->slice : at);
		at += weight_of(t, s) > 0 ? weight_of(t, s) : 0;
	}
	as_json_close(j);
}

static void put_samples(struct as_json *j, const struct thread *t)
{
	as_json_open(j, "samples", '{');
	as_json_i64(j, "length", (int64_t)t->p->nsamples);
	as_json_open(j, "stack", '[');
	for (size_t i = 0; i < t->p->nsamples; i++) {
		uint32_t stack = t->p->sample[t->order[i]].stack;

		if (stack)
			as_json_i64(j, NULL, (int64_t)stack - 1);
		else
			as_json_na(j, NULL);
	}
	as_json_close(j);
	put_times(j, t);
	as_json_open(j, "weight", '[');
	for (size_t i = 0; i < t->p->nsamples; i++)
		as_json_f64(j, NULL, weight_of(t, &t->p->sample[t->order[i]]));
	as_json_close(j);
	as_json_str(j, "weightType",
		    is_time(t)                             ? "tracing-ms"
		    : !strcmp(t->p->kind[0].unit, "bytes") ? "bytes"
							   : "samples");
	as_json_close(j);
}

/* ── a thread ─────────────────────────────────────────────────────────── */

static const struct as_tag *tag(const struct thread *t, const char *key)
{
	const struct as_tags *tags = &t->all->tags[t->tags];

	for (size_t i = 0; i < tags->n; i++)
		if (!strcmp(t->all->text[tags->at[i].key], key))
			return &tags->at[i];
	return NULL;
}

static int64_t tag_number(const struct thread *t, const char *key, int64_t other)
{
	const struct as_tag *x = tag(t, key);

	return x && !x->text ? x->number : other;
}

static void put_name(struct as_json *j, const struct thread *t)
{
	const struct as_tag *name = tag(t, "name");
	char others[40];

	(void)snprintf(others, sizeof others, "%zu others", t->rank->others);
	as_json_str(j, "name",
		    t->rest              ? others
		    : name && name->text ? t->all->text[name->text]
					 : t->p->kind[0].name);
}

static void put_identity(struct as_json *j, const struct thread *t)
{
	int64_t pid = tag_number(t, "process", 0), tid = tag_number(t, "thread", (int64_t)t->tags);
	char text[24];

	(void)snprintf(text, sizeof text, "%lld", (long long)pid);
	put_name(j, t);
	as_json_bool(j, "isMainThread", !t->rest && (!t->tags || pid == tid));
	as_json_str(j, "processType", "default");
	as_json_i64(j, "processStartupTime", 0);
	as_json_na(j, "processShutdownTime");
	as_json_i64(j, "registerTime", 0);
	as_json_na(j, "unregisterTime");
	put_same(j, "pausedRanges", 0, ZERO);
	as_json_str(j, "pid", text);
	as_json_i64(j, "tid", tid);
}

static void put_thread(struct as_json *j, const struct thread *t)
{
	as_json_open(j, NULL, '{');
	put_identity(j, t);
	put_samples(j, t);
	put_stacks(j, t);
	put_frames(j, t);
	put_functions(j, t);
	put_empty_tables(j);
	as_json_open(j, "stringArray", '[');
	for (size_t i = 0; i < t->p->ntexts; i++)
		as_json_str(j, NULL, t->p->text[i]);
	as_json_close(j);
	as_json_close(j);
}

/* ── all of it ────────────────────────────────────────────────────────── */

static void put_category(struct as_json *j, const char *name, const char *colour)
{
	as_json_open(j, NULL, '{');
	as_json_str(j, "name", name);
	as_json_str(j, "color", colour);
	as_json_open(j, "subcategories", '[');
	as_json_str(j, NULL, "Other");
	as_json_close(j);
	as_json_close(j);
}

/* What its panel of facts shows beside its own. */
static void put_taking(struct as_json *j, const struct as_taking *t)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	if (!t->known)
		return;
	as_put_taking(&b, t);
	j->out->bad |= b.bad;
	as_json_open(j, "extra", '[');
	as_json_open(j, NULL, '{');
	as_json_str(j, "label", "assay");
	as_json_open(j, "entries", '[');
	as_json_open(j, NULL, '{');
	as_json_str(j, "label", "Sampling");
	as_json_str(j, "format", "string");
	as_json_str(j, "value", as_buf_text(&b));
	as_json_close(j);
	as_json_close(j);
	as_json_close(j);
	as_json_close(j);
}

static void put_meta(struct as_json *j, const struct as_profile *p)
{
	as_json_open(j, "meta", '{');
	as_json_f64(j, "interval", p->period_ns ? (double)p->period_ns / AS_MSEC : 1);
	as_json_f64(j, "startTime", (double)p->start_unix_ns / AS_MSEC);
	as_json_i64(j, "processType", 0);
	as_json_open(j, "categories", '[');
	put_category(j, "Other", "grey");
	put_category(j, "User", "yellow");
	as_json_close(j);
	as_json_i64(j, "stackwalk", 0);
	as_json_i64(j, "version", GECKO_VERSION);
	as_json_i64(j, "preprocessedProfileVersion", VERSION);
	as_json_str(j, "product", "assay");
	as_json_str(j, "importedFrom", "assay " ASSAY_VERSION);
	as_json_str(j, "toolkit", "");
	as_json_bool(j, "symbolicated", true);
	put_same(j, "markerSchema", 0, ZERO);
	put_taking(j, &p->taking);
	as_json_close(j);
}

static void put_one(struct as_json *j, struct thread t, size_t kind)
{
	as_cleanup(thread_done) struct thread own = t;
	struct as_err ignored;

	if (open_thread(&own, kind, &ignored) < 0)
		j->out->bad = true;
	else
		put_thread(j, &own);
}

static void put_threads(struct as_json *j, const struct as_profile *p, size_t kind)
{
	as_cleanup(rank_done) struct rank rank = {0};
	struct thread t = {.all = p, .rank = &rank};

	if (!open_rank(&rank, p, kind)) {
		j->out->bad = true;
		return;
	}
	for (; t.tags < p->ntags; t.tags++)
		if (rank.alone[t.tags])
			put_one(j, t, kind);
	t.rest = true;
	t.tags = 0;
	if (rank.others)
		put_one(j, t, kind);
}

void as_write_firefox(const struct as_profile *p, const struct as_spelling *how, struct as_buf *out)
{
	struct as_json j = as_json(out);

	as_json_open(&j, NULL, '{');
	put_meta(&j, p);
	put_same(&j, "libs", 0, ZERO);
	as_json_open(&j, "threads", '[');
	put_threads(&j, p, kind_of(p, how));
	as_json_close(&j);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
