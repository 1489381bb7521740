/* The numbers of a heap as text: totals, the lines with the most, sizes, who allocated. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fault.h"
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

/* A process that becomes another program is told once for each. */
static size_t count_pids(const struct as_heap *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->nprocesses; i++) {
		size_t k = 0;

		while (k < i && h->process[k].pid != h->process[i].pid)
			k++;
		n += k == i;
	}
	return n;
}

static void put_processes(struct as_buf *out, const struct as_heap *h)
{
	size_t pids = count_pids(h);

	if (pids < h->nprocesses)
		as_buf_fmt(out, ", %zu programs in %zu process%s", h->nprocesses, pids,
			   pids == 1 ? "" : "es");
	else if (pids > 1)
		as_buf_fmt(out, ", %zu processes", pids);
}

static void put_mode(struct as_buf *out, const struct as_heap *h)
{
	if (h->rate)
		as_buf_fmt(out, "sampled, one in %s", as_human_bytes((double)h->rate).s);
	else
		as_buf_str(out, "every allocation");
	as_buf_fmt(out, ", %s", as_human_duration(h->end_ns - h->start_ns).s);
	put_processes(out, h);
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

enum { MADE, COUNT, OWN_PEAK, PEAK, LEFT, RSS, WHO, WHO_COLS };

/* A list of who allocated: its rows are those of `row`, the most at the peak first. */
struct list {
	const char *title;
	bool own; /* each has a peak of its own, and resident memory */
	void (*cell)(const void *stats, size_t row, size_t col, struct as_buf *cell);
	const struct as_heap_sums *sums;
	size_t n, most;
};

static void sums_cell(const struct stats *s, const struct as_heap_sums *sums, size_t col,
		      struct as_buf *cell)
{
	if (col == MADE)
		as_put_heap_bytes(cell, sums->made.bytes, sums->variance_made, s->h->rate);
	else if (col == COUNT)
		as_put_heap_count(cell, sums->made.count, s->h->rate);
	else if (col == PEAK)
		as_put_heap_bytes(cell, sums->peak.bytes, sums->variance_peak, s->h->rate);
	else if (col == LEFT)
		as_put_heap_bytes(cell, sums->left.bytes, sums->variance_left, s->h->rate);
}

static void thread_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct stats *s = data;
	const struct as_heap_who *who = &s->h->thread[s->row[row]];

	if (col != WHO) {
		sums_cell(s, &s->parts->thread[s->row[row]], col, cell);
		return;
	}
	if (who->tid)
		as_buf_fmt(cell, "%u", who->tid);
	else
		as_buf_byte(cell, '?');
	if (who->name && *who->name)
		as_buf_fmt(cell, " %s", who->name);
	if (s->h->nprocesses > 1 && who->process < s->h->nprocesses)
		as_buf_fmt(cell, " of %u", s->h->process[who->process].pid);
}

static void task_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct stats *s = data;
	uint32_t place = s->parts->coroutine[s->row[row]];
	char name[256];

	if (col != WHO) {
		sums_cell(s, &s->parts->task[s->row[row]], col, cell);
		return;
	}
	as_heap_task_name(s->h->stacks, place, name, sizeof name);
	as_buf_str(cell, place ? name : "(no task)");
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

/* Its own peak is not what it had when all together had most. */
static void process_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct stats *s = data;
	uint32_t number = (uint32_t)s->row[row];
	const struct as_heap_process *p = &s->h->process[number];
	int64_t rss;

	if (col == OWN_PEAK)
		as_put_heap_bytes(cell, p->totals.peak.bytes,
				  as_heap_about(&s->parts->process[number], p->totals.peak.bytes),
				  s->h->rate);
	else if (col == RSS && (rss = as_heap_process_rss(s->h, number)) < 0)
		as_buf_byte(cell, '-');
	else if (col == RSS)
		as_buf_str(cell, as_human_bytes((double)rss).s);
	else if (col == WHO)
		as_buf_fmt(cell, "%u %s%s", p->pid, p->command ? p->command : "",
			   p->killed ? " (killed)" : "");
	else
		sums_cell(s, &s->parts->process[number], col, cell);
}

/* A list as it is shown: which of all columns each of its own is. */
struct shown {
	const struct stats *s;
	const struct list *l;
	struct as_column cols[WHO_COLS];
	size_t which[WHO_COLS], n;
};

static void choose_columns(struct shown *x)
{
	static const struct as_column all[WHO_COLS] = {
		[MADE] = {.title = "allocated", .right = true, .spare = 3},
		[COUNT] = {.title = "count", .right = true, .spare = 1},
		[OWN_PEAK] = {.title = "own peak", .right = true},
		[PEAK] = {.title = "at the peak", .right = true},
		[LEFT] = {.title = "left", .right = true},
		[RSS] = {.title = "RSS", .right = true, .spare = 2},
		[WHO] = {.title = "", .min = 14},
	};

	for (size_t i = 0; i < WHO_COLS; i++)
		if (x->l->own || (i != OWN_PEAK && i != RSS)) {
			x->which[x->n] = i;
			x->cols[x->n++] = all[i];
		}
}

static void list_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct shown *x = data;

	x->l->cell(x->s, row, x->which[col], cell);
}

static int by_peak(const void *a, const void *b, void *shown)
{
	const struct as_heap_sums *all = ((const struct shown *)shown)->l->sums,
				  *x = &all[*(const size_t *)a], *y = &all[*(const size_t *)b];

	if (x->peak.bytes != y->peak.bytes)
		return x->peak.bytes < y->peak.bytes ? 1 : -1;
	if (x->made.bytes != y->made.bytes)
		return x->made.bytes < y->made.bytes ? 1 : -1;
	return *(const size_t *)a < *(const size_t *)b ? -1 : 1;
}

static int put_list(struct stats *s, const struct list *l, struct as_err *err)
{
	as_auto_free size_t *row = as_zalloc_n(l->n, sizeof *row);
	struct shown shown = {.s = s, .l = l};
	size_t n = 0;

	if (!row)
		return as_fail(err, AS_ENOMEM, "no memory for a list of who allocated");
	for (size_t i = 0; i < l->n; i++)
		if (l->sums[i].made.count || l->sums[i].peak.count)
			row[n++] = i;
	if (n < 2)
		return AS_OK;
	qsort_r(row, n, sizeof *row, by_peak, &shown);
	choose_columns(&shown);
	s->row = row;
	as_heading(s->out, s->look, l->title);
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = shown.cols,
					.ncols = shown.n,
					.nrows = n < l->most ? n : l->most,
					.data = &shown,
					.indent = INDENT,
					.cell = list_cell});
	s->row = NULL;
	if (n > l->most)
		as_buf_fmt(s->out, "  … and %zu more\n", n - l->most);
	return AS_OK;
}

static int put_who(struct stats *s, size_t rows, struct as_err *err)
{
	const struct list lists[] = {
		{"allocators", false, allocator_cell, s->parts->op, AS_HEAP_OPS, AS_HEAP_OPS},
		{"processes", true, process_cell, s->parts->process, s->h->nprocesses, rows},
		{"threads", false, thread_cell, s->parts->thread, s->h->nthreads, rows},
		{"tasks, by coroutine", false, task_cell, s->parts->task, s->parts->ntasks, rows},
	};
	int r = AS_OK;

	for (size_t i = 0; r == AS_OK && i < AS_LEN(lists); i++)
		r = put_list(s, &lists[i], err);
	return r;
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
	if (r == AS_OK)
		r = put_who(&s, rows, err);
	as_page_end(out, look, from);
	return r;
}
