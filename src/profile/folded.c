/*
 * folded -- "frame;frame;frame COUNT", root first, a line a stack: what every
 * maker of flame graphs reads.
 *
 * A ';' or a line break in a name would be read as something else: it becomes
 * ':' or a space. Stacks that are spelled alike are one line. Time is in
 * microseconds.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/tagged.h"

struct line {
	char *text;
	int64_t value;
};

struct lines {
	struct line *at;
	size_t n, cap;
};

static void lines_done(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i].text);
	free(l->at);
}

static void defuse(char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == ';')
			s[i] = ':';
		else if ((unsigned char)s[i] < 0x20)
			s[i] = ' ';
	}
}

static void add_part(struct as_buf *out, size_t from)
{
	if (!out->bad && from < out->len)
		defuse(out->p + from, out->len - from);
}

static void separate(struct as_buf *out)
{
	if (out->len)
		as_buf_byte(out, ';');
}

static void put_place(const struct as_profile *p, uint32_t place, const struct as_spelling *how,
		      struct as_buf *out)
{
	separate(out);
	size_t from = out->len;

	as_spell_place(p, place, how, out);
	add_part(out, from);
}

/* The stack of a sample without its value. */
static void put_stack(const struct as_profile *p, const struct as_sample *s,
		      const struct as_spelling *how, struct as_buf *out)
{
	size_t n = as_profile_places(p, s->stack, NULL, 0);
	as_auto_free uint32_t *place = as_zalloc_n(n, sizeof *place);

	out->bad |= !place;
	if (!place)
		return;
	(void)as_profile_places(p, s->stack, place, n);
	for (size_t i = 0; i < n; i++)
		put_place(p, place[i], how, out);
}

static bool collect(const struct as_profile *p, const struct as_spelling *how, struct lines *l)
{
	for (size_t i = 0; i < p->nsamples; i++) {
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);

		if (!p->sample[i].v[how->kind])
			continue;
		put_stack(p, &p->sample[i], how, &b);
		if (!as_grow(&l->at, &l->cap, l->n, sizeof *l->at, 64))
			return false;
		if (!b.len)
			as_buf_str(&b, "[no stack]");
		char *text = as_buf_take(&b);
		if (!text)
			return false;
		l->at[l->n++] = (struct line){text, p->sample[i].v[how->kind]};
	}
	return true;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* Nanoseconds become microseconds; what is none of time stays as it is. */
static int64_t scaled(const struct as_profile *p, const struct as_spelling *how, int64_t v)
{
	if (strcmp(p->kind[how->kind].unit, "nanoseconds"))
		return v;
	return (v + 500) / 1000;
}

void as_write_folded(const struct as_profile *p, const struct as_spelling *how, struct as_buf *out)
{
	as_cleanup(lines_done) struct lines l = {0};
	as_auto_profile struct as_profile *own = NULL;

	p = as_profile_tagged(p, how, &own);
	out->bad |= !p || !collect(p, how, &l);
	if (l.n)
		qsort(l.at, l.n, sizeof *l.at, by_text);
	for (size_t i = 0; i < l.n; i++) {
		int64_t sum = l.at[i].value;

		for (; i + 1 < l.n && !strcmp(l.at[i].text, l.at[i + 1].text); i++)
			sum = as_value_plus(sum, l.at[i + 1].value);
		sum = scaled(p, how, sum);
		if (sum)
			as_buf_fmt(out, "%s %" PRId64 "\n", l.at[i].text, sum);
	}
}
