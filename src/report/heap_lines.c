/* The lines that have the most of a heap, and words that all its reports share. */
#include <math.h>

#include "base/cleanup.h"
#include "base/human.h"
#include "report/heap_kinds.h"
#include "report/table.h"

const char *as_heap_view_title(enum as_heap_view view)
{
	static const char *const titles[] = {
		[AS_HEAP_PEAK] = "at the peak",    [AS_HEAP_LEFT] = "left at the end",
		[AS_HEAP_TEMPORARY] = "temporary", [AS_HEAP_MADE] = "allocated in all",
		[AS_HEAP_HELD] = "held now",
	};

	return titles[view];
}

double as_heap_spread(int64_t amount, double variance, uint64_t rate)
{
	return amount ? 1.96 * sqrt(variance > 0 ? variance : 0) : 3 * (double)rate;
}

void as_put_heap_bytes(struct as_buf *out, int64_t bytes, double variance, uint64_t rate)
{
	as_buf_str(out, as_human_bytes((double)bytes).s);
	if (rate)
		as_buf_fmt(out, " ± %s", as_human_bytes(as_heap_spread(bytes, variance, rate)).s);
}

void as_put_heap_number(struct as_buf *out, int64_t count, double variance, uint64_t rate)
{
	as_buf_str(out, as_human_count((double)count).s);
	if (rate)
		as_buf_fmt(out, " ± %s", as_human_count(as_heap_spread(count, variance, rate)).s);
}

void as_put_heap_count(struct as_buf *out, int64_t count, bool sampled)
{
	as_buf_fmt(out, "%s%s", sampled ? "~" : "", as_human_count((double)count).s);
}

/* ── the table ────────────────────────────────────────────────────────── */

enum { BYTES, SHARE, COUNT, COUNT_SHARE, FUNCTION, WHERE, COLS };

struct lines {
	const struct as_heap *h;
	const struct as_heap_line *line;
	double all;
	bool by_count;
	size_t which[COLS]; /* of all columns, those that are shown */
};

static double share(const struct lines *l, const struct as_heap_line *x)
{
	double part = (double)(l->by_count ? x->amount.count : x->amount.bytes);

	return l->all > 0 ? part / l->all : 0;
}

static const struct as_spelling short_names;

static void line_cell(const void *data, size_t row, size_t which, struct as_buf *cell)
{
	const struct lines *l = data;
	size_t col = l->which[which];
	const struct as_heap_line *x = &l->line[row];
	const struct as_profile *p = l->h->stacks;
	const struct as_place *at = &p->place[x->place];

	if (col == BYTES)
		as_put_heap_bytes(cell, x->amount.bytes, x->variance, l->h->rate);
	else if (col == SHARE || col == COUNT_SHARE)
		as_buf_str(cell, as_human_percent(share(l, x)).s);
	else if (col == COUNT)
		as_put_heap_count(cell, x->amount.count, l->h->rate);
	else if (col == FUNCTION)
		as_buf_str(cell, x->place ? p->text[at->function] : AS_HEAP_NO_STACK);
	else if (col == WHERE)
		as_put_heap_where(cell, p, x->place, at->line, &short_names);
}

/* What all lines have together. */
static double whole(const struct as_heap_line *line, size_t n, bool by_count)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)(by_count ? line[i].amount.count : line[i].amount.bytes);
	return sum;
}

/* The share stands behind what it is of. */
static size_t choose(struct lines *l, const struct as_column *all, struct as_column *cols)
{
	size_t n = 0;

	for (size_t i = 0; i < COLS; i++) {
		if (i == (l->by_count ? SHARE : COUNT_SHARE))
			continue;
		l->which[n] = i;
		cols[n++] = all[i];
	}
	return n;
}

int as_put_heap_lines(struct as_buf *out, const struct as_look *look, const struct as_heap *h,
		      const struct as_heap_lines_how *how, struct as_err *err)
{
	static const struct as_column all[COLS] = {
		[BYTES] = {.title = "bytes", .right = true},
		[SHARE] = {.title = "", .right = true},
		[COUNT] = {.title = "count", .right = true},
		[COUNT_SHARE] = {.title = "", .right = true},
		[FUNCTION] = {.title = "function", .min = 16},
		[WHERE] = {.title = "where", .min = 12, .path = true},
	};
	as_auto_free struct as_heap_line *line = NULL;
	struct as_column cols[COLS];
	bool by_count = how->order == AS_HEAP_BY_COUNT;
	size_t n = 0;
	int r = as_heap_lines(h, how->view, how->order, &line, &n, err);

	if (r < 0 || !n)
		return r;
	struct lines l = {h, line, whole(line, n, by_count), by_count, {0}};
	size_t ncols = choose(&l, all, cols);

	as_put_table(out, look,
		     &(struct as_table){.cols = cols,
					.ncols = ncols,
					.nrows = n < how->rows ? n : how->rows,
					.data = &l,
					.indent = how->indent,
					.cell = line_cell});
	return AS_OK;
}
