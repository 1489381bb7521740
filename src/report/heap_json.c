/* The numbers of a heap as JSON: docs/schema/heap-stats-1.json. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "report/heap.h"
#include "report/known.h"

void as_json_estimate(struct as_json *j, const char *key, const struct as_heap *h, int64_t amount,
		      double variance)
{
	char spread[48];

	(void)snprintf(spread, sizeof spread, "%s_95", key);
	if (as_heap_nothing(h))
		as_json_na(j, key);
	else
		as_json_i64(j, key, amount);
	if (h->rate && !as_heap_nothing(h))
		as_json_f64(j, spread, as_heap_spread(amount, variance, h->rate));
	else
		as_json_na(j, spread);
}

static void put_line(struct as_json *j, const struct as_heap *h, const struct as_heap_line *l)
{
	const struct as_profile *p = h->stacks;
	const struct as_place *at = &p->place[l->place];

	as_json_open(j, NULL, '{');
	as_json_str(j, "function", l->place ? p->text[at->function] : NULL);
	as_json_str(j, "file", at->file ? p->text[at->file] : NULL);
	as_json_amount(j, "line", at->line > 0 ? at->line : -1);
	as_json_estimate(j, "bytes", h, l->amount.bytes, l->variance);
	as_json_estimate(j, "count", h, l->amount.count, l->number_variance);
	as_json_close(j);
}

int as_json_heap_lines(struct as_json *j, const char *key, const struct as_heap *h,
		       const struct as_heap_lines_how *how, struct as_err *err)
{
	as_auto_free struct as_heap_line *line = NULL;
	size_t n = 0;
	int r = as_heap_lines(h, how->view, how->order, &line, &n, err);

	as_json_open(j, key, '[');
	for (size_t i = 0; r == AS_OK && i < n && i < how->rows; i++)
		put_line(j, h, &line[i]);
	as_json_close(j);
	return r;
}

static int put_all_lines(struct as_json *j, const struct as_heap *h, size_t rows,
			 struct as_err *err)
{
	static const struct {
		const char *key;
		enum as_heap_view view;
		enum as_heap_order order;
	} lists[] = {
		{"top_by_size", AS_HEAP_MADE, AS_HEAP_BY_BYTES},
		{"top_by_count", AS_HEAP_MADE, AS_HEAP_BY_COUNT},
		{"peak_by_line", AS_HEAP_PEAK, AS_HEAP_BY_BYTES},
		{"leaked_by_line", AS_HEAP_LEFT, AS_HEAP_BY_BYTES},
		{"temporary_by_line", AS_HEAP_TEMPORARY, AS_HEAP_BY_COUNT},
	};
	int r = AS_OK;

	for (size_t i = 0; r == AS_OK && i < AS_LEN(lists); i++) {
		struct as_heap_lines_how how = {lists[i].view, lists[i].order, rows, 0};

		if (h->rate && how.view == AS_HEAP_TEMPORARY)
			how.rows = 0;
		r = as_json_heap_lines(j, lists[i].key, h, &how, err);
	}
	return r;
}

static void put_rates(struct as_json *j, const struct as_heap *h)
{
	as_json_open(j, "sample_bytes_raised", '[');
	for (size_t i = 0; i < h->nraised; i++) {
		as_json_open(j, NULL, '{');
		as_json_i64(j, "at_ns", h->raised[i].ns - h->start_ns);
		as_json_i64(j, "bytes", (int64_t)h->raised[i].rate);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_identity(struct as_json *j, const struct as_heap *h)
{
	as_json_str(j, "schema", "assay/heap-stats/1");
	as_json_str(j, "command", h->command);
	as_json_i64(j, "start_unix_ns", h->start_unix_ns);
	as_json_i64(j, "duration_ns", h->end_ns - h->start_ns);
	as_json_str(j, "mode", h->rate ? "sampled" : "exact");
	as_json_amount(j, "sample_bytes", h->rate ? (int64_t)h->rate : -1);
	as_json_amount(j, "sample_bytes_asked", h->rate ? (int64_t)h->asked : -1);
	put_rates(j, h);
	as_json_bool(j, "aggregated", h->aggregated);
	as_json_bool(j, "complete", h->whole && !as_heap_nothing(h));
	as_json_str(j, "problem", as_heap_nothing(h));
	as_json_str(j, "ended_by", h->full ? "full disk" : h->whole ? "end" : "cut");
	as_json_i64(j, "ends_at_ns", h->end_ns - h->start_ns);
}

static void put_arenas(struct as_json *j, const struct as_heap *h)
{
	struct as_heap_sums arenas = as_heap_arenas(h);

	as_json_estimate(j, "arena_bytes_at_peak", h, arenas.peak.bytes, arenas.variance_peak);
	as_json_estimate(j, "arena_bytes_left", h, arenas.left.bytes, arenas.variance_left);
}

static void put_totals(struct as_json *j, const struct as_heap *h, const struct as_heap_sums *sums)
{
	const struct as_heap_totals *t = &h->totals;
	bool known = !h->rate && !as_heap_nothing(h);

	as_json_estimate(j, "total_allocations", h, t->made.count, sums->variance.made);
	as_json_estimate(j, "total_frees", h, t->freed.count, as_heap_frees_variance(h, sums));
	as_json_estimate(j, "total_allocated_bytes", h, t->made.bytes, sums->variance_made);
	as_json_estimate(j, "peak_bytes", h, t->peak.bytes, sums->variance_peak);
	as_json_estimate(j, "peak_allocations", h, t->peak.count, sums->variance.peak);
	as_json_amount(j, "peak_at_ns", t->peak.bytes ? t->peak_ns - h->start_ns : -1);
	as_json_estimate(j, "leaked_bytes", h, t->left.bytes, sums->variance_left);
	as_json_estimate(j, "leaked_allocations", h, t->left.count, sums->variance.left);
	put_arenas(j, h);
	as_json_amount(j, "temporary_bytes", known ? sums->temporary.bytes : -1);
	as_json_amount(j, "temporary_allocations", known ? sums->temporary.count : -1);
}

/* The sizes that share a bucket: those that take so many bits. */
static void put_sizes(struct as_json *j, const struct as_heap *h)
{
	as_json_open(j, "size_histogram", '[');
	for (size_t i = 0; i < AS_HEAP_SIZES; i++) {
		if (!h->totals.sizes[i])
			continue;
		as_json_open(j, NULL, '{');
		as_json_i64(j, "from", i ? (int64_t)(1ull << (i - 1)) : 0);
		as_json_i64(j, "to", (int64_t)((1ull << i) - 1));
		as_json_estimate(j, "count", h, h->totals.sizes[i], h->sizes_variance[i]);
		as_json_close(j);
	}
	as_json_close(j);
}

static int put_rss(struct as_json *j, const struct as_heap *h, struct as_err *err)
{
	struct as_heap_resident r;
	int done = as_heap_resident(h, &r, err);

	if (done < 0)
		return done;
	as_json_open(j, "rss_peak", '{');
	as_json_amount(j, "bytes", r.rss);
	as_json_amount(j, "at_ns", r.rss < 0 ? -1 : r.ns - h->start_ns);
	as_json_amount(j, "heap_bytes", r.heap);
	as_json_amount(j, "file_bytes", r.file);
	as_json_amount(j, "shared_bytes", r.shared);
	as_json_amount(j, "assay_bytes", r.own);
	if (r.beside == INT64_MIN)
		as_json_na(j, "beside_heap_bytes");
	else
		as_json_i64(j, "beside_heap_bytes", r.beside);
	as_json_close(j);
	return AS_OK;
}

static int put_curve(struct as_json *j, const struct as_heap *h, const struct as_heap_sums *all,
		     struct as_err *err)
{
	enum { MOMENTS = 1000 };
	as_auto_free struct as_heap_moment *m = NULL;
	size_t n = 0;
	int done = as_heap_curve(h, MOMENTS, &m, &n, err);

	as_json_open(j, "over_time", '[');
	for (size_t i = 0; i < n; i++) {
		as_json_open(j, NULL, '{');
		as_json_i64(j, "at_ns", m[i].ns - h->start_ns);
		as_json_estimate(j, "heap_bytes", h, m[i].heap, as_heap_about(all, m[i].heap));
		as_json_amount(j, "rss_bytes", m[i].rss);
		as_json_amount(j, "file_bytes", m[i].file);
		as_json_amount(j, "mapped_bytes", m[i].mapped);
		as_json_close(j);
	}
	as_json_close(j);
	return done;
}

static void put_process(struct as_json *j, const struct as_heap *h, const struct as_heap_sums *sums,
			uint32_t number)
{
	const struct as_heap_process *p = &h->process[number];

	as_json_open(j, NULL, '{');
	as_json_i64(j, "pid", p->pid);
	as_json_amount(j, "parent", p->parent ? (int64_t)p->parent : -1);
	as_json_str(j, "command", p->command);
	as_json_i64(j, "start_ns", p->start_ns - h->start_ns);
	as_json_amount(j, "end_ns", p->end_ns ? p->end_ns - h->start_ns : -1);
	as_json_bool(j, "killed", p->killed);
	as_json_bool(j, "attached", p->attached);
	as_json_amount(j, "frees_of_before", p->before);
	as_json_estimate(j, "allocations", h, p->totals.made.count, sums->variance.made);
	as_json_estimate(j, "allocated_bytes", h, p->totals.made.bytes, sums->variance_made);
	as_json_estimate(j, "peak_bytes", h, p->totals.peak.bytes,
			 as_heap_about(sums, p->totals.peak.bytes));
	as_json_estimate(j, "bytes_at_peak", h, sums->peak.bytes, sums->variance_peak);
	as_json_amount(j, "rss_peak_bytes", as_heap_process_rss(h, number));
	as_json_estimate(j, "leaked_bytes", h, p->totals.left.bytes, sums->variance_left);
	as_json_i64(j, "lost_events", (int64_t)p->lost);
	as_json_i64(j, "clipped_stacks", (int64_t)p->clipped);
	as_json_i64(j, "nested_events", (int64_t)p->nested);
	as_json_i64(j, "unrecorded_children", (int64_t)p->unfollowed);
	as_json_i64(j, "waited_ns", p->waited_ns);
	as_json_str(j, "problem", as_heap_why(p->why));
	as_json_close(j);
}

static void put_processes(struct as_json *j, const struct as_heap *h,
			  const struct as_heap_parts *parts)
{
	as_json_open(j, "processes", '[');
	for (uint32_t i = 0; i < h->nprocesses; i++)
		put_process(j, h, &parts->process[i], i);
	as_json_close(j);
}

/* What threads, tasks and allocators have alike. */
static void put_sums(struct as_json *j, const struct as_heap *h, const struct as_heap_sums *t)
{
	as_json_estimate(j, "allocations", h, t->made.count, t->variance.made);
	as_json_estimate(j, "allocated_bytes", h, t->made.bytes, t->variance_made);
	as_json_estimate(j, "bytes_at_peak", h, t->peak.bytes, t->variance_peak);
	as_json_estimate(j, "leaked_bytes", h, t->left.bytes, t->variance_left);
}

static void put_thread(struct as_json *j, const struct as_heap *h, const struct as_heap_sums *t,
		       size_t i)
{
	const struct as_heap_who *who = &h->thread[i];

	if (!who->tid && !t->made.count) /* for those that find no ring of their own: nobody did */
		return;
	as_json_open(j, NULL, '{');
	as_json_i64(j, "tid", who->tid);
	as_json_str(j, "name", who->name);
	as_json_amount(j, "pid",
		       who->process < h->nprocesses ? (int64_t)h->process[who->process].pid : -1);
	put_sums(j, h, t);
	as_json_close(j);
}

static void put_task(struct as_json *j, const struct as_heap *h, const struct as_heap_sums *t,
		     uint32_t coroutine)
{
	const struct as_profile *p = h->stacks;
	const struct as_place *at = &p->place[coroutine];

	as_json_open(j, NULL, '{');
	as_json_str(j, "function", coroutine ? p->text[at->function] : NULL);
	as_json_str(j, "file", at->file ? p->text[at->file] : NULL);
	as_json_amount(j, "line", at->begin > 0 ? at->begin : -1);
	put_sums(j, h, t);
	as_json_close(j);
}

static void put_allocator(struct as_json *j, const struct as_heap *h, const struct as_heap_sums *t,
			  size_t op)
{
	if (!t->made.count)
		return;
	as_json_open(j, NULL, '{');
	as_json_str(j, "allocator", as_heap_op_name((uint32_t)op));
	put_sums(j, h, t);
	as_json_close(j);
}

static void put_parts(struct as_json *j, const struct as_heap *h, const struct as_heap_parts *parts)
{
	as_json_open(j, "threads", '[');
	for (size_t i = 0; i < h->nthreads; i++)
		put_thread(j, h, &parts->thread[i], i);
	as_json_close(j);
	as_json_open(j, "tasks", '[');
	for (size_t i = 0; i < parts->ntasks; i++)
		put_task(j, h, &parts->task[i], parts->coroutine[i]);
	as_json_close(j);
	as_json_open(j, "allocators", '[');
	for (size_t i = 0; i < AS_HEAP_OPS; i++)
		put_allocator(j, h, &parts->op[i], i);
	as_json_close(j);
}

int as_report_heap_stats_json(struct as_buf *out, const struct as_heap *h, size_t rows,
			      struct as_err *err)
{
	as_cleanup(as_heap_parts_done) struct as_heap_parts parts = {0};
	struct as_json j = as_json_pretty(out);
	int r = as_heap_parts(h, &parts, err);

	if (r < 0)
		return r;
	as_json_open(&j, NULL, '{');
	put_identity(&j, h);
	put_totals(&j, h, &parts.all);
	r = put_all_lines(&j, h, rows, err);
	put_sizes(&j, h);
	if (r == AS_OK)
		r = put_rss(&j, h, err);
	if (r == AS_OK)
		r = put_curve(&j, h, &parts.all, err);
	put_processes(&j, h, &parts);
	put_parts(&j, h, &parts);
	as_json_close(&j);
	return r;
}
