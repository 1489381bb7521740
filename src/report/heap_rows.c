#include "report/heap_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"

void as_heap_rows_done(struct as_heap_rows *r)
{
	free(r->at);
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b)
{
	const struct as_heap_row *x = a, *y = b;
	int r = compare(x->place, y->place);

	return r ? r : compare(x->tags, y->tags);
}

static int by_bytes(const void *a, const void *b)
{
	const struct as_heap_row *x = a, *y = b;
	int r = compare(y->bytes, x->bytes);

	r = r ? r : compare(y->count, x->count);
	return r ? r : by_place(a, b);
}

static struct as_heap_row row_of(const struct as_heap_rows *t, const struct as_sample *s,
				 const uint32_t *owner)
{
	return (struct as_heap_row){owner[s->stack], s->tags, as_heap_value(s, t->kinds.bytes),
				    as_heap_value(s, t->kinds.count),
				    as_heap_value(s, t->kinds.variance)};
}

static void add(struct as_heap_row *to, const struct as_heap_row *from)
{
	to->bytes = as_value_plus(to->bytes, from->bytes);
	to->count = as_value_plus(to->count, from->count);
	to->spread = as_value_plus(to->spread, from->spread);
}

/* Neighbours whose owner and tags are the same become one row. */
static void join(struct as_heap_rows *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (t->n && !by_place(&t->at[t->n - 1], &t->at[i]))
			add(&t->at[t->n - 1], &t->at[i]);
		else
			t->at[t->n++] = t->at[i];
	}
}

int as_heap_rows(const struct as_profile *p, uint64_t rate, struct as_heap_rows *ret,
		 struct as_err *err)
{
	as_auto_free uint32_t *owner = as_heap_owners(p);
	size_t n = p->nsamples;

	*ret = (struct as_heap_rows){.kinds = as_heap_kinds(p, rate)};
	ret->all = as_heap_total(p, ret->kinds.bytes == AS_HEAP_NO_KIND ? ret->kinds.count
									: ret->kinds.bytes);
	ret->at = as_zalloc_n(n, sizeof *ret->at);
	if (!ret->at || !owner)
		return as_fail(err, AS_ENOMEM, "no memory to sum by line");
	for (size_t i = 0; i < n; i++)
		ret->at[i] = row_of(ret, &p->sample[i], owner);
	if (n)
		qsort(ret->at, n, sizeof *ret->at, by_place);
	join(ret, n);
	if (ret->n)
		qsort(ret->at, ret->n, sizeof *ret->at, by_bytes);
	return AS_OK;
}

const struct as_tag *as_heap_tag(const struct as_profile *p, uint32_t tags, const char *key)
{
	const struct as_tags *t = &p->tags[tags];

	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(p->text[t->at[i].key], key))
			return &t->at[i];
	return NULL;
}
