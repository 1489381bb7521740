#pragma once
/*
 * same_profile -- all that a profile holds as lines in an order of their own,
 * so that two that say the same are the same text, whatever their numbers are.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "profile/profile.h"

static inline void say_place(const struct as_profile *p, uint32_t place, struct as_buf *out)
{
	const struct as_place *x = &p->place[place];

	as_buf_fmt(out, "%s@%s:%d/%d ", p->text[x->function], p->text[x->file], x->line, x->begin);
}

static inline void say_sample(const struct as_profile *p, const struct as_sample *s,
			      struct as_buf *out)
{
	const struct as_tags *tags = &p->tags[s->tags];

	for (uint32_t at = s->stack; at; at = p->stack[at].caller)
		say_place(p, p->stack[at].place, out);
	for (size_t i = 0; i < tags->n; i++)
		as_buf_fmt(out, "%s=%s/%" PRId64 " ", p->text[tags->at[i].key],
			   p->text[tags->at[i].text], tags->at[i].number);
	as_buf_fmt(out, "slice %u:", s->slice);
	for (size_t i = 0; i < p->nkinds; i++)
		as_buf_fmt(out, " %" PRId64, s->v[i]);
}

static inline int by_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Caller frees. */
static inline char *say_profile(const struct as_profile *p)
{
	struct as_buf out = AS_BUF(AS_BUF_DOCUMENT);
	char **line = calloc(p->nsamples + 1, sizeof *line);

	for (size_t i = 0; i < p->nkinds; i++)
		as_buf_fmt(&out, "%s in %s\n", p->kind[i].name, p->kind[i].unit);
	as_buf_fmt(&out, "period %" PRId64 " start %" PRId64 " duration %" PRId64 " slice %" PRId64,
		   p->period_ns, p->start_unix_ns, p->duration_ns, p->slice_ns);
	for (size_t i = 0; line && i < p->nsamples; i++) {
		struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

		say_sample(p, &p->sample[i], &b);
		line[i] = as_buf_take(&b);
	}
	if (line)
		qsort(line, p->nsamples, sizeof *line, by_line);
	for (size_t i = 0; line && i < p->nsamples; i++) {
		as_buf_fmt(&out, "\n%s", line[i]);
		free(line[i]);
	}
	free(line);
	return as_buf_take(&out);
}
