/*
 * The viewer of profiles: all of the profile as columns of numbers, and web/flame
 * that draws it. Filters, metric, the way stacks are merged: all chosen there.
 */
#include "base/json.h"
#include "heap/heap.h"
#include "report/amount.h"
#include "report/callers.h"
#include "report/flame.h"
#include "report/flame_ink.h"
#include "report/known.h"
#include "report/shell.h"

static void put_kinds(struct as_json *j, const struct as_profile *p)
{
	as_json_open(j, "kinds", '[');
	for (size_t i = 0; i < p->nkinds; i++) {
		const struct as_amount_unit *m = as_amount_unit(p->kind[i].unit);

		as_json_open(j, NULL, '{');
		as_json_str(j, "name", p->kind[i].name);
		as_json_str(j, "unit", p->kind[i].unit);
		as_json_str(j, "shown", m->shown);
		as_json_f64(j, "each", m->each);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_inks(struct as_json *j)
{
	as_json_open(j, "inks", '[');
	for (size_t i = 0; i < AS_FLAME_INKS; i++)
		as_json_str(j, NULL, as_flame_inks[i]);
	as_json_str(j, NULL, as_flame_root_ink);
	as_json_close(j);
	as_json_open(j, "change_inks", '[');
	for (size_t i = 0; i < 3; i++)
		as_json_str(j, NULL, as_flame_change_inks[i]);
	as_json_close(j);
}

static void put_texts(struct as_json *j, const struct as_profile *p)
{
	as_json_open(j, "texts", '[');
	for (size_t i = 0; i < p->ntexts; i++)
		as_json_str(j, NULL, p->text[i]);
	as_json_close(j);
}

/* A column of numbers: of each thing the one that `of` tells. */
static void put_column(struct as_json *j, const char *key, const struct as_profile *p, size_t n,
		       int64_t (*of)(const struct as_profile *p, size_t i))
{
	as_json_open(j, key, '[');
	for (size_t i = 0; i < n; i++)
		as_json_i64(j, NULL, of(p, i));
	as_json_close(j);
}

/* clang-format off */
static int64_t function_of(const struct as_profile *p, size_t i) { return p->place[i].function; }
static int64_t file_of(const struct as_profile *p, size_t i)     { return p->place[i].file; }
static int64_t line_of(const struct as_profile *p, size_t i)     { return p->place[i].line; }
static int64_t begin_of(const struct as_profile *p, size_t i)    { return p->place[i].begin; }
static int64_t place_of(const struct as_profile *p, size_t i)    { return p->stack[i].place; }
static int64_t stack_of(const struct as_profile *p, size_t i)    { return p->sample[i].stack; }
static int64_t tags_of(const struct as_profile *p, size_t i)     { return p->sample[i].tags; }
static int64_t slice_of(const struct as_profile *p, size_t i)    { return p->sample[i].slice; }
static int64_t made_of(const struct as_profile *p, size_t i)     { return p->sample[i].slice >> AS_HEAP_MADE_SHIFT; }
static int64_t until_of(const struct as_profile *p, size_t i)    { return p->sample[i].slice & AS_HEAP_UNTIL_MASK; }
/* clang-format on */

static int64_t ink_of(const struct as_profile *p, size_t i)
{
	return (int64_t)as_flame_ink(p, (uint32_t)i);
}

/* How far back the caller stands: small numbers pack well. */
static int64_t back_of(const struct as_profile *p, size_t i)
{
	return (int64_t)i - (int64_t)p->stack[i].caller;
}

static void put_stacks(struct as_json *j, const struct as_profile *p)
{
	as_json_open(j, "place", '{');
	put_column(j, "function", p, p->nplaces, function_of);
	put_column(j, "file", p, p->nplaces, file_of);
	put_column(j, "line", p, p->nplaces, line_of);
	put_column(j, "begin", p, p->nplaces, begin_of);
	put_column(j, "ink", p, p->nplaces, ink_of);
	as_json_close(j);
	as_json_open(j, "stack", '{');
	put_column(j, "back", p, p->nstacks, back_of);
	put_column(j, "place", p, p->nstacks, place_of);
	as_json_close(j);
}

static void put_tag(struct as_json *j, const struct as_profile *p, const struct as_tag *t)
{
	as_json_open(j, NULL, '[');
	as_json_i64(j, NULL, t->key);
	if (t->text)
		as_json_str(j, NULL, p->text[t->text]);
	else
		as_json_i64(j, NULL, t->number);
	as_json_close(j);
}

static void put_tags(struct as_json *j, const struct as_profile *p)
{
	as_json_open(j, "tags", '[');
	for (size_t i = 0; i < p->ntags; i++) {
		as_json_open(j, NULL, '[');
		for (size_t k = 0; k < p->tags[i].n; k++)
			put_tag(j, p, &p->tags[i].at[k]);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_lasting(struct as_json *j, const struct as_profile *p, uint32_t slices)
{
	if (!slices) {
		as_json_na(j, "lasting");
		return;
	}
	as_json_open(j, "lasting", '{');
	as_json_i64(j, "slices", slices);
	put_column(j, "until", p, p->nsamples, until_of);
	as_json_close(j);
}

static void put_samples(struct as_json *j, const struct as_profile *p, bool lasting)
{
	as_json_open(j, "sample", '{');
	put_column(j, "stack", p, p->nsamples, stack_of);
	put_column(j, "tags", p, p->nsamples, tags_of);
	put_column(j, "slice", p, p->nsamples, lasting ? made_of : slice_of);
	as_json_open(j, "values", '[');
	for (size_t k = 0; k < p->nkinds; k++) {
		as_json_open(j, NULL, '[');
		for (size_t i = 0; i < p->nsamples; i++)
			as_json_i64(j, NULL, p->sample[i].v[k]);
		as_json_close(j);
	}
	as_json_close(j);
	as_json_close(j);
}

/* Those of the command line are in the profile already, but for what changes nothing in it. */
static void put_filters(struct as_json *j, const struct as_flame_how *how)
{
	as_auto_buf struct as_buf words = AS_BUF(AS_BUF_LINE);

	for (size_t i = 0; i < how->spell.highlight.n; i++)
		as_buf_fmt(&words, "%s%s", i ? "," : "", how->spell.highlight.v[i]);
	as_json_open(j, "filters", '{');
	as_json_str(j, "highlight", as_buf_text(&words));
	as_json_close(j);
	j->out->bad |= words.bad;
}

/* clang-format off */
static int64_t at_of(const struct as_heap_moment *m)   { return m->ns; }
static int64_t heap_of(const struct as_heap_moment *m) { return as_heap_own(m); }
static int64_t rss_of(const struct as_heap_moment *m)  { return m->rss; }
static int64_t file_rss_of(const struct as_heap_moment *m) { return m->file; }
/* clang-format on */

static void put_moments(struct as_json *j, const char *key, const struct as_flame_beside *b,
			int64_t less, int64_t (*of)(const struct as_heap_moment *m))
{
	as_json_open(j, key, '[');
	for (size_t i = 0; i < b->n; i++)
		as_json_amount(j, NULL, of(&b->at[i]) - less);
	as_json_close(j);
}

static void put_beside(struct as_json *j, const struct as_flame_beside *b)
{
	if (!b->n) {
		as_json_na(j, "beside");
		return;
	}
	as_json_open(j, "beside", '{');
	put_moments(j, "at", b, b->start_ns, at_of);
	put_moments(j, "heap", b, 0, heap_of);
	put_moments(j, "rss", b, 0, rss_of);
	put_moments(j, "file", b, 0, file_rss_of);
	as_json_close(j);
}

static void put_taking(struct as_json *j, const struct as_taking *t, const char *note)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_put_taking(&b, t);
	j->out->bad |= b.bad;
	as_json_str(j, "sampling", note ? note : t->known ? as_buf_text(&b) : NULL);
}

static void put_data(struct as_buf *out, const struct as_profile *p, const struct as_flame_how *how)
{
	struct as_json j = as_json(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "version", ASSAY_VERSION);
	as_json_str(&j, "title", how->title);
	as_json_i64(&j, "kind", (int64_t)how->spell.kind);
	as_json_bool(&j, "lines", !how->spell.functions);
	as_json_bool(&j, "apart", how->spell.tags);
	as_json_bool(&j, "reverse", how->reverse);
	as_json_bool(&j, "icicle", how->icicle);
	as_json_bool(&j, "levels", how->levels);
	as_json_i64(&j, "start_ns", p->start_unix_ns);
	as_json_i64(&j, "duration_ns", p->duration_ns);
	as_json_i64(&j, "period_ns", p->period_ns);
	as_json_i64(&j, "slice_ns", p->slice_ns);
	put_taking(&j, &p->taking, how->note);
	put_filters(&j, how);
	put_beside(&j, &how->beside);
	put_kinds(&j, p);
	put_inks(&j);
	put_texts(&j, p);
	put_stacks(&j, p);
	put_tags(&j, p);
	put_samples(&j, p, how->lasting);
	put_lasting(&j, p, how->lasting);
	as_json_close(&j);
}

int as_report_flame_html(struct as_buf *out, const struct as_profile *p,
			 const struct as_flame_how *how, struct as_err *err)
{
	enum { ROWS = 50 };
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE), data = AS_BUF(AS_BUF_DOCUMENT);
	const struct as_look look = {.width = 100, .utf8 = true};
	const struct as_callers_how functions = {.spell = how->spell, .most = ROWS};
	int r = AS_OK;

	if (how->levels || how->lasting) /* what slices have cannot be added up */
		as_buf_str(&text, "Without scripts there is nothing to be seen here.\n");
	else
		r = as_report_callers(&text, &look, p, &functions, err);
	if (r < 0)
		return r;
	put_data(&data, p, how);
	as_put_shell(out, &(struct as_shell){.title = how->title ? how->title : "flame graph",
					     .style = &as_flame_style,
					     .script = &as_flame_script,
					     .text = &text,
					     .data = &data});
	return AS_OK;
}
