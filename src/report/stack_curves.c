#include "report/stack_curves.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/functions.h"

enum { SHOWN = 5 }; /* functions; the others are the one after */

/* What each had in each slice: v[function * slices + slice]. */
struct curves {
	uint32_t place[SHOWN];
	size_t n, slices;
	int64_t *v;
};

static size_t count_slices(const struct as_profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nsamples; i++)
		n = p->sample[i].slice >= n ? (size_t)p->sample[i].slice + 1 : n;
	return n;
}

/* Its row; that of all others when it is none of those shown. */
static size_t row_of(const struct curves *c, uint32_t function)
{
	size_t i = 0;

	while (i < c->n && c->place[i] != function)
		i++;
	return i;
}

static int add_up(const struct as_profile *p, size_t kind, struct curves *c)
{
	as_auto_free uint32_t *function = as_profile_functions(p);
	as_auto_free struct as_function_sum *sum = NULL;
	struct as_err err;
	size_t n = 0;

	c->slices = count_slices(p);
	c->v = as_zalloc_n((SHOWN + 1) * c->slices, sizeof *c->v);
	if (!function || !c->v || as_profile_sums(p, kind, &sum, &n, &err) < 0)
		return AS_ENOMEM;
	for (; c->n < n && c->n < SHOWN && sum[c->n].self > 0; c->n++)
		c->place[c->n] = function[sum[c->n].place];
	for (size_t i = 0; i < p->nsamples; i++) {
		const struct as_sample *s = &p->sample[i];
		int64_t *v =
			&c->v[row_of(c, function[p->stack[s->stack].place]) * c->slices + s->slice];

		*v = as_value_plus(*v, s->v[kind]);
	}
	return AS_OK;
}

static void put_curve(struct as_json *j, const char *function, const char *file, const int64_t *v,
		      size_t n)
{
	as_json_open(j, NULL, '{');
	as_json_str(j, "function", function);
	as_json_str(j, "file", file);
	as_json_open(j, "values", '[');
	for (size_t i = 0; i < n; i++)
		as_json_i64(j, NULL, v[i]);
	as_json_close(j);
	as_json_close(j);
}

static void put_kind(struct as_json *j, const struct as_profile *p, size_t kind)
{
	struct curves c = {0};

	j->out->bad |= add_up(p, kind, &c) < 0;
	as_json_open(j, NULL, '{');
	as_json_str(j, "kind", p->kind[kind].name);
	as_json_i64(j, "slice_ns", p->slice_ns ? p->slice_ns : p->duration_ns);
	as_json_open(j, "functions", '[');
	for (size_t i = 0; c.v && i < c.n; i++) {
		const struct as_place *at = &p->place[c.place[i]];

		put_curve(j, p->text[at->function], at->file ? p->text[at->file] : NULL,
			  c.v + i * c.slices, c.slices);
	}
	if (c.v)
		put_curve(j, NULL, NULL, c.v + c.n * c.slices, c.slices);
	as_json_close(j);
	as_json_close(j);
	free(c.v);
}

void as_put_stack_curves(struct as_json *j, const struct as_run *run)
{
	const struct as_profile *p = run->stacks;

	as_json_open(j, "curves", '[');
	for (size_t k = 0; p && k < p->nkinds; k++)
		if (!strcmp(p->kind[k].unit, "nanoseconds"))
			put_kind(j, p, k);
	as_json_close(j);
}
