/* A view of a heap by line, thread and allocator; and a line a stack, for spreadsheets. */
#include "base/cleanup.h"
#include "report/heap_rows.h"
#include "report/heap_view_json.h"
#include "report/table.h"

enum { DEPTH = 2048 }; /* frames of a stack in a spreadsheet */

enum { BYTES, SHARE, COUNT, ALLOCATOR, THREAD, TASK, PROCESS, NAME, WHERE, COLS };

static const struct as_column all_cols[COLS] = {
	[BYTES] = {.title = "bytes", .right = true},
	[SHARE] = {.title = "", .right = true, .spare = 3},
	[COUNT] = {.title = "count", .right = true},
	[ALLOCATOR] = {.title = "allocator", .max = 14, .spare = 4},
	[THREAD] = {.title = "thread", .max = 12, .spare = 2},
	[TASK] = {.title = "task", .max = 16, .spare = 3},
	[PROCESS] = {.title = "pid", .right = true, .spare = 1},
	[NAME] = {.title = "function", .min = 14},
	[WHERE] = {.title = "where", .min = 12, .path = true},
};

/* What of a row stands in these. */
static const char *const tag_of[COLS] = {
	[ALLOCATOR] = "allocator",
	[THREAD] = "thread",
	[TASK] = "task",
	[PROCESS] = "process",
};

struct rows {
	const struct as_profile *p;
	const struct as_heap_how *how;
	struct as_heap_rows is;
	struct as_column cols[COLS];
	size_t which[COLS], ncols; /* of all columns, those that are shown */
};

static void put_tag(struct as_buf *out, const struct as_profile *p, uint32_t tags, const char *key)
{
	const struct as_tag *t = as_heap_tag(p, tags, key);

	if (t && t->text)
		as_buf_str(out, p->text[t->text]);
	else if (t)
		as_buf_fmt(out, "%lld", (long long)t->number);
}

static void cell(const void *data, size_t row, size_t shown, struct as_buf *cell)
{
	const struct rows *t = data;
	const struct as_heap_row *x = &t->is.at[row];
	const struct as_place *at = &t->p->place[x->place];
	size_t col = t->which[shown];

	if (tag_of[col])
		put_tag(cell, t->p, x->tags, tag_of[col]);
	else if (col == BYTES)
		as_put_kind_bytes(cell, &t->is.kinds, x->bytes, x->spread);
	else if (col == SHARE)
		as_put_share(cell, t->is.kinds.bytes == AS_HEAP_NO_KIND ? x->count : x->bytes,
			     t->is.all);
	else if (col == COUNT)
		as_put_kind_count(cell, &t->is.kinds, x->count);
	else if (col == NAME)
		as_buf_str(cell, x->place ? t->p->text[at->function] : AS_HEAP_NO_STACK);
	else
		as_put_heap_where(cell, t->p, x->place, at->line, &t->how->spell);
}

static bool is_told(const struct as_profile *p, const char *key)
{
	for (uint32_t i = 0; i < p->ntags; i++)
		if (as_heap_tag(p, i, key))
			return true;
	return false;
}

/* Those that have something to say. */
static void choose_columns(struct rows *t)
{
	for (size_t i = 0; i < COLS; i++) {
		if ((tag_of[i] && !is_told(t->p, tag_of[i])) ||
		    (i == BYTES && t->is.kinds.bytes == AS_HEAP_NO_KIND) ||
		    (i == COUNT && t->is.kinds.count == AS_HEAP_NO_KIND))
			continue;
		t->cols[t->ncols] = all_cols[i];
		t->which[t->ncols++] = i;
	}
}

static void put_table(struct as_buf *out, const struct as_look *look, const struct rows *t)
{
	size_t rows = t->how->rows;

	as_put_heap_title(out, look, t->p, t->how);
	as_put_table(out, look,
		     &(struct as_table){.cols = t->cols,
					.ncols = t->ncols,
					.nrows = t->is.n < rows ? t->is.n : rows,
					.data = t,
					.cell = cell});
	as_put_unlisted(out, t->is.n, rows);
}

static void put_json_tag(struct as_json *j, const struct rows *t, uint32_t tags, const char *key)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);

	put_tag(&text, t->p, tags, key);
	as_json_str(j, key, text.len ? as_buf_text(&text) : NULL);
}

static void put_json_row(struct as_json *j, const struct rows *t, const struct as_heap_row *x)
{
	as_json_open(j, NULL, '{');
	as_json_view_place(j, t->p, x->place, "line", t->p->place[x->place].line);
	for (size_t i = 0; i < COLS; i++)
		if (tag_of[i])
			put_json_tag(j, t, x->tags, tag_of[i]);
	as_json_view_bytes(j, "bytes", &t->is.kinds, x->bytes, x->spread);
	as_json_view_count(j, &t->is.kinds, x->count);
	as_json_close(j);
}

static void put_json(struct as_buf *out, const struct rows *t)
{
	struct as_json j = as_json_pretty(out);
	size_t rows = t->is.n < t->how->rows ? t->is.n : t->how->rows;

	as_json_view_begin(&j, "assay/heap-table/1", t->p, t->how);
	as_json_i64(&j, "unlisted", (int64_t)(t->is.n - rows));
	as_json_open(&j, "lines", '[');
	for (size_t i = 0; i < rows; i++)
		put_json_row(&j, t, &t->is.at[i]);
	as_json_close(&j);
	as_json_close(&j);
}

int as_report_heap_table(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
			 const struct as_heap_how *how, struct as_err *err)
{
	struct rows t = {.p = p, .how = how};
	size_t from = out->len;
	int r = as_heap_rows(p, how->rate, &t.is, err);

	choose_columns(&t);
	if (r == AS_OK && how->json)
		put_json(out, &t);
	else if (r == AS_OK)
		put_table(out, look, &t);
	as_heap_rows_done(&t.is);
	if (!how->json)
		as_page_end(out, look, from);
	return r;
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

/* Half of an interval; nothing where it is exact. */
static void put_spread(struct as_buf *out, int64_t amount, double variance, uint64_t rate)
{
	if (rate)
		as_buf_fmt(out, "%.0f", as_heap_spread(amount, variance, rate));
	as_buf_byte(out, ',');
}

void as_report_heap_csv(struct as_buf *out, const struct as_profile *p, uint64_t rate)
{
	struct as_heap_kinds k = as_heap_kinds(p, rate);

	as_buf_str(out, "process,thread,task,allocator,allocations,bytes,allocations_95,bytes_95,"
			"stack\n");
	for (size_t i = 0; i < p->nsamples; i++) {
		const struct as_sample *s = &p->sample[i];

		put_cell_of(out, p, s->tags, "process");
		put_cell_of(out, p, s->tags, "thread");
		put_cell_of(out, p, s->tags, "task");
		put_cell_of(out, p, s->tags, "allocator");
		int64_t count = as_heap_value(s, k.count), bytes = as_heap_value(s, k.bytes);

		as_buf_fmt(out, "%lld,%lld,", (long long)count, (long long)bytes);
		put_spread(out, count, (double)as_heap_value(s, k.count_variance), rate);
		put_spread(out, bytes, as_heap_bytes_variance(as_heap_value(s, k.variance)), rate);
		put_stack(out, p, s->stack);
		as_buf_byte(out, '\n');
	}
}
