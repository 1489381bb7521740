/*
 * The profile as a gzipped protocol buffer.
 *
 * Each place is a location with one line; functions are what has the same
 * name, file and first line. pprof wants the leaf first. A system name is not
 * given: readers would take "<module>" for a template of C++.
 */
#include "profile/pprof.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/functions.h"
#include "profile/gzip.h"
#include "profile/protobuf.h"
#include "profile/write.h"

/* ── strings: those of the profile, then a few of our own ─────────────── */

/* A text's number is its number in the profile; what we add comes behind those. */
struct writer {
	const struct as_profile *p;
	const struct as_spelling *how;
	struct as_buf *out;
	const char *extra[AS_VALUES_MAX * 2 + 6];
	size_t nextra;
	int64_t slice_key;
	uint32_t *function; /* of each place: the first place that has the same */
};

static int64_t extra(struct writer *w, const char *s)
{
	if (w->nextra < AS_LEN(w->extra))
		w->extra[w->nextra++] = s;
	return (int64_t)(w->p->ntexts + w->nextra - 1);
}

static void put_strings(struct writer *w)
{
	for (size_t i = 0; i < w->p->ntexts; i++)
		as_pb_put_bytes(w->out, P_STRING, w->p->text[i], strlen(w->p->text[i]));
	for (size_t i = 0; i < w->nextra; i++)
		as_pb_put_bytes(w->out, P_STRING, w->extra[i], strlen(w->extra[i]));
}

/* ── the parts ────────────────────────────────────────────────────────── */

static void put_kind(struct writer *w, unsigned field, const struct as_value_kind *k)
{
	as_auto_buf struct as_buf m = AS_BUF(AS_BUF_LINE);

	as_pb_put_number(&m, V_TYPE, extra(w, k->name));
	as_pb_put_number(&m, V_UNIT, extra(w, k->unit));
	as_pb_put_message(w->out, field, &m);
}

static void put_label(struct as_buf *out, int64_t key, int64_t text, int64_t number)
{
	as_auto_buf struct as_buf m = AS_BUF(AS_BUF_LINE);

	as_pb_put_number(&m, L_KEY, key);
	as_pb_put_number(&m, L_STR, text);
	as_pb_put_number(&m, L_NUM, number);
	as_pb_put_message(out, S_LABEL, &m);
}

static void put_labels(const struct writer *w, const struct as_sample *s, struct as_buf *out)
{
	const struct as_tags *tags = &w->p->tags[s->tags];

	for (size_t i = 0; i < tags->n; i++)
		put_label(out, tags->at[i].key, tags->at[i].text, tags->at[i].number);
	if (w->slice_key)
		put_label(out, w->slice_key, 0, s->slice);
}

static void put_sample(struct writer *w, const struct as_sample *s)
{
	as_auto_buf struct as_buf m = AS_BUF(AS_BUF_DOCUMENT), list = AS_BUF(AS_BUF_DOCUMENT);

	for (uint32_t at = s->stack; at; at = w->p->stack[at].caller)
		as_pb_put_varint(&list, w->p->stack[at].place);
	as_pb_put_message(&m, S_LOCATION, &list);
	as_buf_clear(&list);
	for (size_t i = 0; i < w->p->nkinds; i++)
		as_pb_put_varint(&list, (uint64_t)s->v[i]);
	as_pb_put_message(&m, S_VALUE, &list);
	put_labels(w, s, &m);
	as_pb_put_message(w->out, P_SAMPLE, &m);
}

static void put_location(struct writer *w, uint32_t place)
{
	as_auto_buf struct as_buf m = AS_BUF(AS_BUF_LINE), line = AS_BUF(AS_BUF_LINE);

	as_pb_put_number(&line, LINE_FUNCTION, w->function[place]);
	if (!w->how->functions)
		as_pb_put_number(&line, LINE_LINE, w->p->place[place].line);
	as_pb_put_number(&m, LOC_ID, place);
	as_pb_put_message(&m, LOC_LINE, &line);
	as_pb_put_message(w->out, P_LOCATION, &m);
}

static void put_function(struct writer *w, uint32_t place)
{
	const struct as_place *x = &w->p->place[place];
	as_auto_buf struct as_buf m = AS_BUF(AS_BUF_LINE);

	as_pb_put_number(&m, F_ID, place);
	as_pb_put_number(&m, F_NAME, x->function);
	as_pb_put_number(&m, F_FILE, x->file);
	as_pb_put_number(&m, F_START, x->begin);
	as_pb_put_message(w->out, P_FUNCTION, &m);
}

static void put_places(struct writer *w)
{
	for (uint32_t i = 1; i < w->p->nplaces; i++) {
		put_location(w, i);
		if (w->function[i] == i)
			put_function(w, i);
	}
}

/* ── all of it ────────────────────────────────────────────────────────── */

/* The period is one of time: of the last kind that is one. */
static void put_period(struct writer *w)
{
	struct as_value_kind kind = {"time", "nanoseconds"};

	if (!w->p->period_ns)
		return;
	for (size_t i = 0; i < w->p->nkinds; i++)
		if (!strcmp(w->p->kind[i].unit, kind.unit))
			kind = w->p->kind[i];
	put_kind(w, P_PERIOD_TYPE, &kind);
	as_pb_put_number(w->out, P_PERIOD, w->p->period_ns);
}

/* "assay: samples=1240 rejected=3 late=0 (0.24 % rejected)" */
static void put_taking(struct writer *w, struct as_buf *room)
{
	const struct as_taking *t = &w->p->taking;

	if (!t->known)
		return;
	as_buf_str(room, AS_PPROF_TAKING);
	as_put_taking_exact(room, t);
	as_buf_fmt(room, " (%.2f %% rejected)", 100 * as_taking_rejected(t));
	as_pb_put_number(w->out, P_COMMENT, extra(w, as_buf_text(room)));
}

static void put_all(struct writer *w)
{
	const struct as_profile *p = w->p;
	char comment[sizeof AS_PPROF_SLICE_NS + 24], totals[sizeof AS_PPROF_TOTALS + 12];
	as_auto_buf struct as_buf taking = AS_BUF(AS_BUF_LINE);

	for (size_t i = 0; i < p->nkinds; i++)
		put_kind(w, P_SAMPLE_TYPE, &p->kind[i]);
	if (p->slice_ns) {
		(void)snprintf(comment, sizeof comment, AS_PPROF_SLICE_NS "%" PRId64, p->slice_ns);
		w->slice_key = extra(w, AS_PPROF_SLICE);
		as_pb_put_number(w->out, P_COMMENT, extra(w, comment));
	}
	if (p->totals) {
		(void)snprintf(totals, sizeof totals, AS_PPROF_TOTALS "%d", (int)p->totals);
		as_pb_put_number(w->out, P_COMMENT, extra(w, totals));
	}
	put_taking(w, &taking);
	for (size_t i = 0; i < p->nsamples; i++)
		put_sample(w, &p->sample[i]);
	put_places(w);
	as_pb_put_number(w->out, P_TIME, p->start_unix_ns);
	as_pb_put_number(w->out, P_DURATION, p->duration_ns);
	put_period(w);
	size_t shown = w->how->kind ? w->how->kind : p->main_kind;
	if (w->how->kind || shown + 1 != p->nkinds) /* else readers take the last */
		as_pb_put_number(w->out, P_DEFAULT_TYPE, extra(w, p->kind[shown].name));
	put_strings(w);
}

static void encode(const struct as_profile *p, const struct as_spelling *how, struct as_buf *out)
{
	as_auto_free uint32_t *function = as_profile_functions(p);
	struct writer w = {.p = p, .how = how, .out = out, .function = function};

	out->bad |= !function;
	if (function)
		put_all(&w);
}

void as_pprof_encode(const struct as_profile *p, struct as_buf *out)
{
	encode(p, &(struct as_spelling){0}, out);
}

void as_write_pprof(const struct as_profile *p, const struct as_spelling *how, struct as_buf *out)
{
	as_auto_buf struct as_buf raw = AS_BUF(AS_BUF_DOCUMENT);

	encode(p, how, &raw);
	as_gzip_put(&raw, out);
}
