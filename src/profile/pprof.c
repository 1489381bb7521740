/*
 * pprof -- the profile as a gzipped protocol buffer (profile.proto), written
 * by hand: a field is its number and wire type, then a number in groups of
 * seven bits or a length and bytes.
 *
 * Each place is a location with one line; functions are what has the same
 * name, file and first line. pprof wants the leaf first. A system name is not
 * given: readers would take "<module>" for a template of C++.
 */
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "profile/functions.h"
#include "profile/write.h"

/* Field numbers of profile.proto. */
enum {
	P_SAMPLE_TYPE = 1,
	P_SAMPLE,
	P_MAPPING,
	P_LOCATION,
	P_FUNCTION,
	P_STRING,
	P_TIME = 9,
	P_DURATION,
	P_PERIOD_TYPE,
	P_PERIOD,
	P_DEFAULT_TYPE = 14
};
enum { V_TYPE = 1, V_UNIT };
enum { S_LOCATION = 1, S_VALUE, S_LABEL };
enum { L_KEY = 1, L_STR, L_NUM };
enum { LOC_ID = 1, LOC_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { F_ID = 1, F_NAME, F_SYSTEM_NAME, F_FILE, F_START };

/* ── protocol buffers ─────────────────────────────────────────────────── */

static void put_varint(struct as_buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		as_buf_byte(out, (char)(v | 0x80));
	as_buf_byte(out, (char)v);
}

static void put_number(struct as_buf *out, unsigned field, int64_t v)
{
	if (!v)
		return;
	put_varint(out, field << 3);
	put_varint(out, (uint64_t)v);
}

static void put_bytes(struct as_buf *out, unsigned field, const void *p, size_t n)
{
	put_varint(out, field << 3 | 2);
	put_varint(out, n);
	as_buf_add(out, p, n);
}

static void put_message(struct as_buf *out, unsigned field, const struct as_buf *m)
{
	out->bad |= m->bad;
	put_bytes(out, field, as_buf_text(m), m->len);
}

/* ── strings: those of the profile, then a few of our own ─────────────── */

/* A text's number is its number in the profile; what we add comes behind those. */
struct writer {
	const struct as_profile *p;
	const struct as_spelling *how;
	struct as_buf *out;
	const char *extra[AS_VALUES_MAX * 2 + 4];
	size_t nextra;
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
		put_bytes(w->out, P_STRING, w->p->text[i], strlen(w->p->text[i]));
	for (size_t i = 0; i < w->nextra; i++)
		put_bytes(w->out, P_STRING, w->extra[i], strlen(w->extra[i]));
}

/* ── the parts ────────────────────────────────────────────────────────── */

static void put_kind(struct writer *w, unsigned field, const struct as_value_kind *k)
{
	as_auto_buf struct as_buf m = AS_BUF(AS_BUF_LINE);

	put_number(&m, V_TYPE, extra(w, k->name));
	put_number(&m, V_UNIT, extra(w, k->unit));
	put_message(w->out, field, &m);
}

static void put_tag(struct as_buf *out, const struct as_tag *t)
{
	as_auto_buf struct as_buf m = AS_BUF(AS_BUF_LINE);

	put_number(&m, L_KEY, t->key);
	put_number(&m, L_STR, t->text);
	put_number(&m, L_NUM, t->number);
	put_message(out, S_LABEL, &m);
}

static void put_sample(struct writer *w, const struct as_sample *s)
{
	as_auto_buf struct as_buf m = AS_BUF(AS_BUF_FILE), list = AS_BUF(AS_BUF_FILE);
	const struct as_tags *tags = &w->p->tags[s->tags];

	for (uint32_t at = s->stack; at; at = w->p->stack[at].caller)
		put_varint(&list, w->p->stack[at].place);
	put_message(&m, S_LOCATION, &list);
	as_buf_clear(&list);
	for (size_t i = 0; i < w->p->nkinds; i++)
		put_varint(&list, (uint64_t)s->v[i]);
	put_message(&m, S_VALUE, &list);
	for (size_t i = 0; i < tags->n; i++)
		put_tag(&m, &tags->at[i]);
	put_message(w->out, P_SAMPLE, &m);
}

static void put_location(struct writer *w, uint32_t place)
{
	as_auto_buf struct as_buf m = AS_BUF(AS_BUF_LINE), line = AS_BUF(AS_BUF_LINE);

	put_number(&line, LINE_FUNCTION, w->function[place]);
	if (!w->how->functions)
		put_number(&line, LINE_LINE, w->p->place[place].line);
	put_number(&m, LOC_ID, place);
	put_message(&m, LOC_LINE, &line);
	put_message(w->out, P_LOCATION, &m);
}

static void put_function(struct writer *w, uint32_t place)
{
	const struct as_place *x = &w->p->place[place];
	as_auto_buf struct as_buf m = AS_BUF(AS_BUF_LINE);

	put_number(&m, F_ID, place);
	put_number(&m, F_NAME, x->function);
	put_number(&m, F_FILE, x->file);
	put_number(&m, F_START, x->begin);
	put_message(w->out, P_FUNCTION, &m);
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

static void put_all(struct writer *w)
{
	const struct as_profile *p = w->p;

	for (size_t i = 0; i < p->nkinds; i++)
		put_kind(w, P_SAMPLE_TYPE, &p->kind[i]);
	for (size_t i = 0; i < p->nsamples; i++)
		put_sample(w, &p->sample[i]);
	put_places(w);
	put_number(w->out, P_TIME, p->start_unix_ns);
	put_number(w->out, P_DURATION, p->duration_ns);
	if (p->period_ns)
		put_kind(w, P_PERIOD_TYPE, &p->kind[p->nkinds - 1]);
	put_number(w->out, P_PERIOD, p->period_ns);
	put_number(w->out, P_DEFAULT_TYPE, extra(w, p->kind[w->how->kind].name));
	put_strings(w);
}

/* ── gzip ─────────────────────────────────────────────────────────────── */

static void put_gzip(const struct as_buf *raw, struct as_buf *out)
{
	enum { GZIP = 16 + MAX_WBITS, MEMORY = 8 };
	z_stream z = {0};

	out->bad |= raw->bad || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY,
					     Z_DEFAULT_STRATEGY) != Z_OK;
	if (out->bad)
		return;
	size_t most = deflateBound(&z, raw->len);
	char *room = as_buf_room(out, most);

	if (room) {
		z.next_in = (Bytef *)raw->p;
		z.avail_in = (uInt)raw->len;
		z.next_out = (Bytef *)room;
		z.avail_out = (uInt)most;
		out->bad |= deflate(&z, Z_FINISH) != Z_STREAM_END;
		out->len += z.total_out;
	}
	(void)deflateEnd(&z);
}

void as_write_pprof(const struct as_profile *p, const struct as_spelling *how, struct as_buf *out)
{
	as_auto_buf struct as_buf raw = AS_BUF(AS_BUF_DOCUMENT);
	as_auto_free uint32_t *function = as_profile_functions(p);
	struct writer w = {.p = p, .how = how, .out = &raw, .function = function};

	raw.bad |= !function;
	if (function)
		put_all(&w);
	put_gzip(&raw, out);
}
