/* A view of a heap by line, thread and allocator; and a line a stack, for spreadsheets. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "report/heap_kinds.h"
#include "report/table.h"

struct row {
	uint32_t place, tags;
	int64_t bytes, count, spread;
};

enum { DEPTH = 2048 }; /* frames of a stack in a spreadsheet */

struct rows {
	const struct as_profile *p;
	const struct as_heap_how *how;
	struct as_heap_kinds kinds;
	struct row *at;
	size_t n;
	int64_t all; /* bytes of the whole */
};

static void rows_done(struct rows *r)
{
	free(r->at);
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int r = compare(x->place, y->place);

	return r ? r : compare(x->tags, y->tags);
}

static int by_bytes(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int r = compare(y->bytes, x->bytes);

	r = r ? r : compare(y->count, x->count);
	return r ? r : by_place(a, b);
}

static struct row row_of(const struct rows *t, const struct as_sample *s, const uint32_t *owner)
{
	return (struct row){owner[s->stack], s->tags, as_heap_value(s, t->kinds.bytes),
			    as_heap_value(s, t->kinds.count), as_heap_value(s, t->kinds.variance)};
}

static void add(struct row *to, const struct row *from)
{
	to->bytes = as_value_plus(to->bytes, from->bytes);
	to->count = as_value_plus(to->count, from->count);
	to->spread = as_value_plus(to->spread, from->spread);
}

/* Samples whose owner and tags are the same become one row. */
static int count(struct rows *t, struct as_err *err)
{
	as_auto_free uint32_t *owner = as_heap_owners(t->p);
	size_t n = t->p->nsamples;

	t->at = as_zalloc_n(n, sizeof *t->at);
	if (!t->at || !owner)
		return as_fail(err, AS_ENOMEM, "no memory to sum by line");
	for (size_t i = 0; i < n; i++)
		t->at[i] = row_of(t, &t->p->sample[i], owner);
	if (n)
		qsort(t->at, n, sizeof *t->at, by_place);
	for (size_t i = 0; i < n; i++) {
		if (t->n && !by_place(&t->at[t->n - 1], &t->at[i]))
			add(&t->at[t->n - 1], &t->at[i]);
		else
			t->at[t->n++] = t->at[i];
	}
	if (t->n)
		qsort(t->at, t->n, sizeof *t->at, by_bytes);
	return AS_OK;
}

enum { BYTES, SHARE, COUNT, ALLOCATOR, THREAD, PROCESS, NAME, WHERE, COLS };

static void put_tag(struct as_buf *out, const struct as_profile *p, uint32_t tags, const char *key)
{
	const struct as_tags *t = &p->tags[tags];

	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(p->text[t->at[i].key], key) != 0)
			continue;
		if (t->at[i].text)
			as_buf_str(out, p->text[t->at[i].text]);
		else
			as_buf_fmt(out, "%lld", (long long)t->at[i].number);
	}
}

static void cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct rows *t = data;
	const struct row *x = &t->at[row];
	const struct as_place *at = &t->p->place[x->place];

	if (col == BYTES)
		as_put_kind_bytes(cell, &t->kinds, x->bytes, x->spread);
	else if (col == SHARE)
		as_put_share(cell, x->bytes, t->all);
	else if (col == COUNT)
		as_put_kind_count(cell, &t->kinds, x->count);
	else if (col == ALLOCATOR)
		put_tag(cell, t->p, x->tags, "allocator");
	else if (col == THREAD)
		put_tag(cell, t->p, x->tags, "thread");
	else if (col == PROCESS)
		put_tag(cell, t->p, x->tags, "process");
	else if (col == NAME)
		as_buf_str(cell, x->place ? t->p->text[at->function] : AS_HEAP_NO_STACK);
	else
		as_put_heap_where(cell, t->p, x->place, at->line, &t->how->spell);
}

int as_report_heap_table(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
			 const struct as_heap_how *how, struct as_err *err)
{
	static const struct as_column cols[COLS] = {
		[BYTES] = {.title = "bytes", .right = true},
		[SHARE] = {.title = "", .right = true, .spare = 3},
		[COUNT] = {.title = "count", .right = true},
		[ALLOCATOR] = {.title = "allocator", .max = 14, .spare = 4},
		[THREAD] = {.title = "thread", .max = 12, .spare = 2},
		[PROCESS] = {.title = "pid", .right = true, .spare = 1},
		[NAME] = {.title = "function", .min = 14},
		[WHERE] = {.title = "where", .min = 12, .path = true},
	};
	as_cleanup(rows_done) struct rows t = {.p = p, .how = how, .kinds = as_heap_kinds(p)};
	size_t from = out->len;
	int r = count(&t, err);

	if (r < 0)
		return r;
	t.all = as_heap_total(p, t.kinds.bytes);
	as_put_heap_title(out, look, p, how->title);
	as_put_table(out, look,
		     &(struct as_table){.cols = cols,
					.ncols = COLS,
					.nrows = t.n < how->rows ? t.n : how->rows,
					.data = &t,
					.cell = cell});
	as_put_unlisted(out, t.n, how->rows);
	as_page_end(out, look, from);
	return AS_OK;
}

/* ── for spreadsheets ─────────────────────────────────────────────────── */

/* Quoted, with quotes doubled. */
static void put_text(struct as_buf *out, const char *text)
{
	as_buf_byte(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			as_buf_byte(out, '"');
		as_buf_byte(out, *text);
	}
	as_buf_byte(out, '"');
}

static void put_cell_of(struct as_buf *out, const struct as_profile *p, uint32_t tags,
			const char *key)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);

	put_tag(&text, p, tags, key);
	if (text.len)
		put_text(out, as_buf_text(&text));
	as_buf_byte(out, ',');
	out->bad |= text.bad;
}

/* From the outermost frame on, as folded stacks have it. */
static void put_stack(struct as_buf *out, const struct as_profile *p, uint32_t stack)
{
	static const struct as_spelling how = {.full_names = true};
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	uint32_t place[DEPTH];
	size_t n = as_profile_places(p, stack, place, DEPTH);

	for (size_t i = 0; i < n && i < DEPTH; i++) {
		as_buf_str(&text, i ? ";" : "");
		as_spell_place(p, place[i], &how, &text);
	}
	put_text(out, as_buf_text(&text));
	out->bad |= text.bad;
}

void as_report_heap_csv(struct as_buf *out, const struct as_profile *p)
{
	struct as_heap_kinds k = as_heap_kinds(p);

	as_buf_str(out, "process,thread,allocator,allocations,bytes,stack\n");
	for (size_t i = 0; i < p->nsamples; i++) {
		const struct as_sample *s = &p->sample[i];

		put_cell_of(out, p, s->tags, "process");
		put_cell_of(out, p, s->tags, "thread");
		put_cell_of(out, p, s->tags, "allocator");
		as_buf_fmt(out, "%lld,%lld,", (long long)as_heap_value(s, k.count),
			   (long long)as_heap_value(s, k.bytes));
		put_stack(out, p, s->stack);
		as_buf_byte(out, '\n');
	}
}
