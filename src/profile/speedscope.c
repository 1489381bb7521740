/*
 * speedscope -- the profile as JSON for speedscope.app: places once, and for
 * each kind of value a list of stacks with their weights. With tags, each set
 * of them (a thread, say) is a list of its own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/json.h"
#include "profile/write.h"

/* speedscope knows these units only. */
static const char *unit_of(const char *unit)
{
	static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds",
					    "seconds", "bytes"};

	for (size_t i = 0; i < AS_LEN(known); i++)
		if (!strcmp(unit, known[i]))
			return known[i];
	return "none";
}

static void put_frames(struct as_json *j, const struct as_profile *p, const struct as_spelling *how)
{
	as_json_open(j, "shared", '{');
	as_json_open(j, "frames", '[');
	for (uint32_t i = 1; i < p->nplaces; i++) {
		const struct as_place *x = &p->place[i];

		as_json_open(j, NULL, '{');
		as_json_str(j, "name", p->text[x->function]);
		if (x->file)
			as_json_str(j, "file", p->text[x->file]);
		if (x->line > 0 && !how->functions)
			as_json_i64(j, "line", x->line);
		as_json_close(j);
	}
	as_json_close(j);
	as_json_close(j);
}

/* ── lists of stacks ──────────────────────────────────────────────────── */

/* Samples, those of a set of tags together: set i has those from begin[i] to begin[i + 1]. */
struct sets {
	uint32_t *sample;
	size_t *begin, n;
};

static void sets_done(struct sets *s)
{
	free(s->sample);
	free(s->begin);
}

/* If tags do not count, there is one set. */
static bool open_sets(struct sets *s, const struct as_profile *p, bool tags)
{
	s->n = tags ? p->ntags : 1;
	s->sample = as_zalloc_n(p->nsamples, sizeof *s->sample);
	s->begin = as_zalloc_n(s->n + 1, sizeof *s->begin);
	if (!s->sample || !s->begin)
		return false;
	for (size_t i = 0; i < p->nsamples; i++)
		s->begin[tags ? p->sample[i].tags : 0]++;
	for (size_t i = 1; i <= s->n; i++)
		s->begin[i] += s->begin[i - 1];
	for (size_t i = p->nsamples; i-- > 0;)
		s->sample[--s->begin[tags ? p->sample[i].tags : 0]] = (uint32_t)i;
	return true;
}

/* Those samples of a set that have something of a kind. */
struct list {
	const struct as_profile *p;
	size_t kind, n;
	const uint32_t *sample;
	const struct as_tags *tags; /* NULL: they do not count */
};

static const struct as_sample *sample_at(const struct list *l, size_t i)
{
	const struct as_sample *s = &l->p->sample[l->sample[i]];

	return s->v[l->kind] ? s : NULL;
}

static void put_stack(struct as_json *j, const struct as_profile *p, uint32_t stack)
{
	size_t n = as_profile_places(p, stack, NULL, 0);
	as_auto_free uint32_t *place = as_zalloc_n(n, sizeof *place);

	j->out->bad |= !place;
	if (!place)
		return;
	(void)as_profile_places(p, stack, place, n);
	as_json_open(j, NULL, '[');
	for (size_t i = 0; i < n; i++)
		as_json_i64(j, NULL, (int64_t)place[i] - 1);
	as_json_close(j);
}

/* "cpu", or "cpu, thread 7, name worker". */
static void put_name(struct as_json *j, const struct list *l)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_buf_str(&b, l->p->kind[l->kind].name);
	for (size_t i = 0; l->tags && i < l->tags->n; i++) {
		const struct as_tag *t = &l->tags->at[i];

		as_buf_fmt(&b, ", %s ", l->p->text[t->key]);
		if (t->text)
			as_buf_str(&b, l->p->text[t->text]);
		else
			as_buf_fmt(&b, "%" PRId64, t->number);
	}
	j->out->bad |= b.bad;
	as_json_str(j, "name", as_buf_text(&b));
}

static int64_t total_of(const struct list *l)
{
	int64_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum = as_value_plus(sum, l->p->sample[l->sample[i]].v[l->kind]);
	return sum;
}

static void put_list(struct as_json *j, const struct list *l)
{
	const struct as_sample *s;

	as_json_open(j, NULL, '{');
	as_json_str(j, "type", "sampled");
	put_name(j, l);
	as_json_str(j, "unit", unit_of(l->p->kind[l->kind].unit));
	as_json_i64(j, "startValue", 0);
	as_json_i64(j, "endValue", total_of(l));
	as_json_open(j, "samples", '[');
	for (size_t i = 0; i < l->n; i++)
		if ((s = sample_at(l, i)))
			put_stack(j, l->p, s->stack);
	as_json_close(j);
	as_json_open(j, "weights", '[');
	for (size_t i = 0; i < l->n; i++)
		if ((s = sample_at(l, i)))
			as_json_i64(j, NULL, s->v[l->kind]);
	as_json_close(j);
	as_json_close(j);
}

/* ── all of it ────────────────────────────────────────────────────────── */

static bool has_any(const struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (sample_at(l, i))
			return true;
	return false;
}

/* Returns how many lists it wrote. */
static size_t put_kind(struct as_json *j, const struct as_profile *p, size_t kind, bool tags,
		       const struct sets *sets)
{
	struct list l = {.p = p, .kind = kind};
	size_t n = 0;

	for (size_t i = 0; i < sets->n; i++) {
		l.sample = sets->sample + sets->begin[i];
		l.n = sets->begin[i + 1] - sets->begin[i];
		l.tags = tags ? &p->tags[i] : NULL;
		if (tags && !has_any(&l))
			continue;
		put_list(j, &l);
		n++;
	}
	return n;
}

/* It opens with the first list of the kind that is shown, if there is one. */
static void put_profiles(struct as_json *j, const struct as_profile *p, size_t shown, bool tags,
			 const struct sets *sets)
{
	size_t before = 0, some = 0;

	as_json_open(j, "profiles", '[');
	for (size_t i = 0; i < p->nkinds; i++) {
		size_t n = put_kind(j, p, i, tags, sets);

		before += i < shown ? n : 0;
		some += i == shown ? n : 0;
	}
	as_json_close(j);
	if (some)
		as_json_i64(j, "activeProfileIndex", (int64_t)before);
}

/* "assay 0.1.0 (1,240 samples, 0.02 % rejected, 0 late)" */
static void put_exporter(struct as_json *j, const struct as_profile *p)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_buf_str(&b, "assay " ASSAY_VERSION);
	if (p->taking.known) {
		as_buf_str(&b, " (");
		as_put_taking(&b, &p->taking);
		as_buf_byte(&b, ')');
	}
	j->out->bad |= b.bad;
	as_json_str(j, "exporter", as_buf_text(&b));
}

void as_write_speedscope(const struct as_profile *p, const struct as_spelling *how,
			 struct as_buf *out)
{
	struct as_json j = as_json(out);
	as_cleanup(sets_done) struct sets sets = {0};
	bool tags = how->tags && p->nsamples; /* a file without a list is none */

	if (!open_sets(&sets, p, tags)) {
		out->bad = true;
		return;
	}
	as_json_open(&j, NULL, '{');
	as_json_str(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	put_exporter(&j, p);
	put_frames(&j, p, how);
	put_profiles(&j, p, how->kind ? how->kind : p->main_kind, tags, &sets);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
