/* A heap while it runs: a line for people, a line of JSON for programs. */
#include <math.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/json.h"
#include "report/glyph.h"
#include "report/heap_kinds.h"
#include "report/known.h"

void as_heap_pace(struct as_heap_pace *p, struct as_heap_amount made, int64_t ns)
{
	bool known = p->begun && ns > 0;

	p->count = known ? (double)(made.count - p->made.count) / as_seconds(ns) : (double)NAN;
	p->bytes = known ? (double)(made.bytes - p->made.bytes) / as_seconds(ns) : (double)NAN;
	p->made = made;
	p->begun = true;
}

/* ── for people ───────────────────────────────────────────────────────── */

static struct as_text bytes(int64_t n)
{
	return n < 0 ? (struct as_text){"-"} : as_human_bytes((double)n);
}

/* Columns that all lines have. */
#define COLUMNS "%8s %9s %9s %9s %9s %11s"

void as_put_heap_live_head(struct as_buf *out)
{
	as_buf_fmt(out, COLUMNS "  held most by\n", "time", "heap", "peak", "RSS", "allocs/s",
		   "bytes/s");
}

static int put_most(struct as_buf *out, const struct as_heap_live *l, struct as_err *err)
{
	static const struct as_spelling short_names;
	as_auto_free struct as_heap_line *line = NULL;
	const struct as_profile *p = l->heap->stacks;
	size_t n = 0;
	int r = as_heap_lines(l->heap, AS_HEAP_HELD, AS_HEAP_BY_BYTES, &line, &n, err);

	if (r < 0 || !n)
		return r;
	uint32_t place = line[0].place;
	as_buf_fmt(out, "  %s%s ", l->running ? "" : "left: ",
		   place ? p->text[p->place[place].function] : AS_HEAP_NO_STACK);
	as_put_heap_where(out, p, place, p->place[place].line, &short_names);
	as_buf_byte(out, ' ');
	as_put_heap_bytes(out, line[0].amount.bytes, line[0].variance, l->heap->rate);
	return AS_OK;
}

int as_put_heap_live(struct as_buf *out, const struct as_look *look, const struct as_heap_live *l,
		     struct as_err *err)
{
	as_auto_buf struct as_buf line = AS_BUF(AS_BUF_LINE);
	const struct as_heap *h = l->heap;

	as_buf_fmt(&line, COLUMNS, as_human_duration(h->end_ns - h->start_ns).s,
		   bytes(l->now->held.bytes).s, bytes(h->totals.peak.bytes).s,
		   bytes(l->now->rss.rss).s, as_human_count(l->pace->count).s,
		   as_human_byte_rate(l->pace->bytes).s);
	int r = put_most(&line, l, err);
	if (r < 0 || (r = as_buf_ok(&line, err)) < 0)
		return r;
	size_t from = out->len;
	(void)as_put_clean(out, as_buf_text(&line), line.len, look->width);
	as_buf_byte(out, '\n');
	if (!look->utf8)
		as_plain(out, from);
	return as_buf_ok(out, err);
}

/* ── for programs ─────────────────────────────────────────────────────── */

static void put_rss(struct as_json *j, const struct as_sight_now *now)
{
	const struct as_heap_rss *r = &now->rss;

	as_json_open(j, "rss", '{');
	as_json_amount(j, "bytes", r->rss);
	as_json_amount(j, "file_bytes", r->file);
	as_json_amount(j, "shared_bytes",
		       r->shared < 0 || r->own < 0 ? r->shared : r->shared - r->own);
	as_json_amount(j, "assay_bytes", r->own);
	if (now->beside == INT64_MIN)
		as_json_na(j, "beside_heap_bytes");
	else
		as_json_i64(j, "beside_heap_bytes", now->beside);
	as_json_close(j);
}

static void put_numbers(struct as_json *j, const struct as_heap_live *l,
			const struct as_heap_sums *all)
{
	const struct as_heap *h = l->heap;
	const struct as_heap_totals *t = &h->totals;

	as_json_str(j, "schema", "assay/heap-live/1");
	as_json_i64(j, "t_ns", h->end_ns - h->start_ns);
	as_json_bool(j, "running", l->running);
	as_json_i64(j, "processes", (int64_t)l->now->living);
	as_json_amount(j, "sample_bytes", h->rate ? (int64_t)h->rate : -1);
	as_json_estimate(j, "held_bytes", h, l->now->held.bytes, all->variance_left);
	as_json_estimate(j, "held_allocations", h, l->now->held.count, all->variance.left);
	as_json_i64(j, "mapped_bytes", l->now->mapped);
	as_json_estimate(j, "peak_bytes", h, t->peak.bytes, all->variance_peak);
	as_json_amount(j, "peak_at_ns", t->peak.bytes ? t->peak_ns - h->start_ns : -1);
	as_json_estimate(j, "total_allocations", h, t->made.count, all->variance.made);
	as_json_estimate(j, "total_frees", h, t->freed.count, as_heap_frees_variance(h, all));
	as_json_estimate(j, "total_allocated_bytes", h, t->made.bytes, all->variance_made);
	as_json_f64(j, "allocations_per_second", l->pace->count);
	as_json_f64(j, "allocated_bytes_per_second", l->pace->bytes);
	put_rss(j, l->now);
	as_json_i64(j, "lost_events", (int64_t)l->now->lost);
}

int as_report_heap_live_json(struct as_buf *out, const struct as_heap_live *l, size_t rows,
			     struct as_err *err)
{
	const struct as_heap_lines_how how = {AS_HEAP_HELD, AS_HEAP_BY_BYTES, rows, 0};
	as_cleanup(as_heap_parts_done) struct as_heap_parts parts = {0};
	struct as_json j = as_json(out);
	int r = as_heap_parts(l->heap, &parts, err);

	if (r < 0)
		return r;
	as_json_open(&j, NULL, '{');
	put_numbers(&j, l, &parts.all);
	r = as_json_heap_lines(&j, "held_by_line", l->heap, &how, err);
	as_json_close(&j);
	as_buf_byte(out, '\n');
	return r;
}
