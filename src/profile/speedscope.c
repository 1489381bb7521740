/*
 * speedscope -- the profile as JSON for speedscope.app: places once, and for
 * each kind of value a list of stacks with their weights. With tags, each set
 * of them (a thread, say) is a list of its own.
 */
#include <inttypes.h>
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

/* Which samples are in a list: those that have something of the kind and, if asked, the tags. */
struct list {
	const struct as_profile *p;
	size_t kind;
	uint32_t tags;
	bool of_tags;
};

static bool is_in(const struct list *l, const struct as_sample *s)
{
	return s->v[l->kind] && (!l->of_tags || s->tags == l->tags);
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
	const struct as_tags *t = &l->p->tags[l->tags];

	as_buf_str(&b, l->p->kind[l->kind].name);
	for (size_t i = 0; l->of_tags && i < t->n; i++) {
		as_buf_fmt(&b, ", %s ", l->p->text[t->at[i].key]);
		if (t->at[i].text)
			as_buf_str(&b, l->p->text[t->at[i].text]);
		else
			as_buf_fmt(&b, "%" PRId64, t->at[i].number);
	}
	j->out->bad |= b.bad;
	as_json_str(j, "name", as_buf_text(&b));
}

static int64_t total_of(const struct list *l)
{
	int64_t sum = 0;

	for (size_t i = 0; i < l->p->nsamples; i++)
		if (is_in(l, &l->p->sample[i]) &&
		    __builtin_add_overflow(sum, l->p->sample[i].v[l->kind], &sum))
			return INT64_MAX;
	return sum;
}

static void put_list(struct as_json *j, const struct list *l)
{
	const struct as_profile *p = l->p;

	as_json_open(j, NULL, '{');
	as_json_str(j, "type", "sampled");
	put_name(j, l);
	as_json_str(j, "unit", unit_of(p->kind[l->kind].unit));
	as_json_i64(j, "startValue", 0);
	as_json_i64(j, "endValue", total_of(l));
	as_json_open(j, "samples", '[');
	for (size_t i = 0; i < p->nsamples; i++)
		if (is_in(l, &p->sample[i]))
			put_stack(j, p, p->sample[i].stack);
	as_json_close(j);
	as_json_open(j, "weights", '[');
	for (size_t i = 0; i < p->nsamples; i++)
		if (is_in(l, &p->sample[i]))
			as_json_i64(j, NULL, p->sample[i].v[l->kind]);
	as_json_close(j);
	as_json_close(j);
}

/* ── all of it ────────────────────────────────────────────────────────── */

enum { SETS_MOST = 256 }; /* lists of one kind: every one looks at all samples */

static struct list list_of(const struct as_profile *p, size_t kind, bool tags)
{
	return (struct list){.p = p, .kind = kind, .of_tags = tags && p->ntags <= SETS_MOST};
}

static void put_kind(struct as_json *j, const struct as_profile *p, size_t kind, bool tags)
{
	struct list l = list_of(p, kind, tags);

	if (!l.of_tags) {
		put_list(j, &l);
		return;
	}
	for (; l.tags < p->ntags; l.tags++)
		if (total_of(&l))
			put_list(j, &l);
}

/* How many that puts. */
static size_t count_kind(const struct as_profile *p, size_t kind, bool tags)
{
	struct list l = list_of(p, kind, tags);
	size_t n = 0;

	for (; l.of_tags && l.tags < p->ntags; l.tags++)
		n += total_of(&l) != 0;
	return l.of_tags ? n : 1;
}

/* The first list of the main kind is what it opens with. */
static void put_active(struct as_json *j, const struct as_profile *p, const struct as_spelling *how)
{
	size_t main = how->kind ? how->kind : p->main_kind, before = 0;

	for (size_t i = 0; i < main; i++)
		before += count_kind(p, i, how->tags);
	if (count_kind(p, main, how->tags))
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

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	put_exporter(&j, p);
	put_active(&j, p, how);
	put_frames(&j, p, how);
	as_json_open(&j, "profiles", '[');
	for (size_t i = 0; i < p->nkinds; i++)
		put_kind(&j, p, i, how->tags);
	as_json_close(&j);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
