/* The numbers of a heap as text: totals, the lines with the most, sizes, who allocated. */
#include "base/cleanup.h"
#include "base/human.h"
#include "report/heap.h"
#include "report/table.h"
#include "report/words.h"

enum { INDENT = 2 };

struct stats {
	struct as_buf *out;
	const struct as_look *look;
	const struct as_heap *h;
	const struct as_heap_parts *parts;
	size_t *row; /* what is shown of a list, in order */
};

static void put_mode(struct as_buf *out, const struct as_heap *h)
{
	if (h->rate)
		as_buf_fmt(out, "sampled, one in %s", as_human_bytes((double)h->rate).s);
	else
		as_buf_str(out, "every allocation");
	as_buf_fmt(out, ", %s", as_human_duration(h->end_ns - h->start_ns).s);
	if (h->nprocesses > 1)
		as_buf_fmt(out, ", %zu processes", h->nprocesses);
}

static void put_title(const struct stats *s)
{
	as_ink(s->out, s->look, AS_BOLD);
	(void)as_put_name(s->out, s->h->command, s->look->width);
	as_ink_end(s->out, s->look, AS_BOLD);
	as_buf_str(s->out, "\n  ");
	put_mode(s->out, s->h);
	as_buf_str(s->out, "\n\n");
}

/* ── sizes ────────────────────────────────────────────────────────────── */

enum { SIZE, NUMBER, PART, BAR, SIZE_COLS };

static int64_t all_sizes(const struct as_heap *h)
{
	int64_t all = 0;

	for (size_t i = 0; i < AS_HEAP_SIZES; i++)
		all = as_value_plus(all, h->totals.sizes[i]);
	return all;
}

static void size_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	enum { WIDEST = 40 };
	const struct stats *s = data;
	size_t bucket = s->row[row];
	int64_t n = s->h->totals.sizes[bucket];
	double part = (double)n / (double)all_sizes(s->h);

	if (col == SIZE)
		as_buf_fmt(cell, "< %s", as_human_bytes((double)(1ull << bucket)).s);
	else if (col == NUMBER)
		as_put_heap_count(cell, n, s->h->rate);
	else if (col == PART)
		as_buf_str(cell, as_human_percent(part).s);
	else
		for (int i = 0; i < (int)(part * WIDEST + 0.5); i++)
			as_buf_str(cell, "▇");
}

static void put_sizes(struct stats *s)
{
	static const struct as_column cols[SIZE_COLS] = {
		[SIZE] = {.title = "size", .right = true},
		[NUMBER] = {.title = "count", .right = true},
		[PART] = {.title = "", .right = true},
		[BAR] = {.title = "", .min = 1},
	};
	size_t row[AS_HEAP_SIZES], n = 0;

	for (size_t i = 0; i < AS_HEAP_SIZES; i++)
		if (s->h->totals.sizes[i])
			row[n++] = i;
	if (!n)
		return;
	s->row = row;
	as_heading(s->out, s->look, "allocations by size");
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = cols,
					.ncols = SIZE_COLS,
					.nrows = n,
					.data = s,
					.indent = INDENT,
					.cell = size_cell});
	s->row = NULL;
}

/* ── who allocated ────────────────────────────────────────────────────── */

enum { MADE, COUNT, PEAK, LEFT, WHO, WHO_COLS };

static const struct as_column who_cols[WHO_COLS] = {
	[MADE] = {.title = "allocated", .right = true},
	[COUNT] = {.title = "count", .right = true},
	[PEAK] = {.title = "at the peak", .right = true},
	[LEFT] = {.title = "left", .right = true},
	[WHO] = {.title = "", .min = 16},
};

static void sums_cell(const struct stats *s, const struct as_heap_sums *sums, size_t col,
		      struct as_buf *cell)
{
	if (col == MADE)
		as_put_heap_bytes(cell, sums->made.bytes, s->h->rate, sums->variance_made);
	else if (col == COUNT)
		as_put_heap_count(cell, sums->made.count, s->h->rate);
	else if (col == PEAK)
		as_put_heap_bytes(cell, sums->peak.bytes, s->h->rate, sums->variance_peak);
	else if (col == LEFT)
		as_put_heap_bytes(cell, sums->left.bytes, s->h->rate, sums->variance_left);
}

static void thread_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct stats *s = data;
	const struct as_heap_who *who = &s->h->thread[row];

	if (col != WHO)
		sums_cell(s, &s->parts->thread[row], col, cell);
	else if (who->name && *who->name)
		as_buf_fmt(cell, "%u %s", who->tid, who->name);
	else
		as_buf_fmt(cell, "%u", who->tid);
}

static void allocator_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct stats *s = data;
	size_t op = s->row[row];

	if (col == WHO)
		as_buf_str(cell, as_heap_op_name((uint32_t)op));
	else
		sums_cell(s, &s->parts->op[op], col, cell);
}

/* The peak of a process is its own, not what it had when all together had most. */
static void process_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct stats *s = data;
	const struct as_heap_process *p = &s->h->process[row];

	if (col == MADE)
		as_buf_str(cell, as_human_bytes((double)p->totals.made.bytes).s);
	else if (col == COUNT)
		as_put_heap_count(cell, p->totals.made.count, s->h->rate);
	else if (col == PEAK)
		as_buf_str(cell, as_human_bytes((double)p->totals.peak.bytes).s);
	else if (col == LEFT)
		as_buf_str(cell, as_human_bytes((double)p->totals.left.bytes).s);
	else
		as_buf_fmt(cell, "%u %s%s", p->pid, p->command ? p->command : "",
			   p->killed ? " (killed)" : "");
}

static void put_who(const struct stats *s, const char *title, size_t n, size_t rows,
		    void (*cell)(const void *, size_t, size_t, struct as_buf *))
{
	as_heading(s->out, s->look, title);
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = who_cols,
					.ncols = WHO_COLS,
					.nrows = n < rows ? n : rows,
					.data = s,
					.indent = INDENT,
					.cell = cell});
	if (n > rows)
		as_buf_fmt(s->out, "  … and %zu more\n", n - rows);
}

static void put_allocators(struct stats *s)
{
	size_t row[AS_HEAP_OPS], n = 0;

	for (size_t i = 0; i < AS_HEAP_OPS; i++)
		if (s->parts->op[i].made.count || s->parts->op[i].made.bytes)
			row[n++] = i;
	s->row = row;
	if (n > 1)
		put_who(s, "allocators", n, n, allocator_cell);
	s->row = NULL;
}

/* ── all of it ────────────────────────────────────────────────────────── */

static int put_lines(const struct stats *s, const char *title, enum as_heap_view view,
		     enum as_heap_order order, size_t rows, struct as_err *err)
{
	struct as_heap_lines_how how = {view, order, rows, INDENT};

	as_heading(s->out, s->look, title);
	return as_put_heap_lines(s->out, s->look, s->h, &how, err);
}

static int put_all_lines(const struct stats *s, size_t rows, struct as_err *err)
{
	int r = AS_OK;

	if (s->h->totals.made.count)
		r = put_lines(s, "most bytes allocated", AS_HEAP_MADE, AS_HEAP_BY_BYTES, rows, err);
	if (r == AS_OK && s->h->totals.made.count)
		r = put_lines(s, "most allocations", AS_HEAP_MADE, AS_HEAP_BY_COUNT, rows, err);
	if (r == AS_OK && s->h->totals.left.count)
		r = put_lines(s, "most left at the end", AS_HEAP_LEFT, AS_HEAP_BY_BYTES, rows, err);
	return r;
}

int as_report_heap_stats(struct as_buf *out, const struct as_look *look, const struct as_heap *h,
			 size_t rows, struct as_err *err)
{
	as_cleanup(as_heap_parts_done) struct as_heap_parts parts = {0};
	struct stats s = {out, look, h, &parts, NULL};
	size_t from = out->len;
	int r = as_heap_parts(h, &parts, err);

	if (r < 0)
		return r;
	put_title(&s);
	r = as_put_heap(out, look, h, rows, err);
	if (r == AS_OK)
		r = put_all_lines(&s, rows, err);
	put_sizes(&s);
	put_allocators(&s);
	if (h->nprocesses > 1)
		put_who(&s, "processes, each with its own peak", h->nprocesses, rows, process_cell);
	if (h->nthreads > 1)
		put_who(&s, "threads", h->nthreads, rows, thread_cell);
	as_page_end(out, look, from);
	return r;
}
