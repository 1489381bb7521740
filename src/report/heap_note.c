#include "report/heap_note.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/human.h"
#include "report/table.h"
#include "report/words.h"

/* ── for people ───────────────────────────────────────────────────────── */

static void put_bytes(struct as_buf *out, const struct as_heap_estimate *e)
{
	as_buf_str(out, as_human_bytes((double)e->bytes).s);
	if (!isnan(e->bytes_95))
		as_buf_fmt(out, " ± %s", as_human_bytes(e->bytes_95).s);
}

static void put_line(const struct as_sheet *s, const char *label, const struct as_heap_estimate *e)
{
	as_put_label(s, label, AS_DIM);
	put_bytes(s->out, e);
	as_buf_fmt(s->out, " in %s%s allocation%s", isnan(e->bytes_95) ? "" : "~",
		   as_human_count((double)e->count).s, e->count == 1 ? "" : "s");
}

enum { HELD, FUNCTION, WHERE, COLS };

static void owner_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct as_heap_owner *o = &((const struct as_heap_note *)data)->owner[row];

	if (col == HELD)
		put_bytes(cell, &o->held);
	else if (col == FUNCTION)
		as_buf_str(cell, o->function[0] ? o->function : "(no stack)");
	else if (o->line)
		as_buf_fmt(cell, "%s:%lld", o->file, (long long)o->line);
	else
		as_buf_str(cell, o->file);
}

static void put_owners(const struct as_sheet *s, const struct as_heap_note *n)
{
	static const struct as_column cols[COLS] = {
		[HELD] = {.title = "at the peak", .right = true},
		[FUNCTION] = {.title = "function", .min = 16},
		[WHERE] = {.title = "where", .min = 12, .path = true},
	};

	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = cols,
					.ncols = COLS,
					.nrows = n->n,
					.data = n,
					.indent = 4,
					.cell = owner_cell});
}

static void put_capture(const struct as_sheet *s, const struct as_heap_note *n)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);

	as_put_word(&path, n->capture);
	as_put_label(s, "capture", AS_DIM);
	as_put_wrapped(s->out, s->look, as_buf_text(&path), AS_TEXT_AT, AS_TEXT_AT);
	as_put_label(s, "next", AS_DIM);
	as_buf_str(s->out, "assay heap stats, flamegraph or tree of that file\n");
	s->out->bad |= path.bad;
}

void as_put_heap_note(const struct as_sheet *s)
{
	const struct as_heap_note *n = s->run->heap;

	if (!n)
		return;
	as_heading(s->out, s->look, "Memory that it allocated");
	put_line(s, "peak", &n->peak);
	if (n->peak.bytes)
		as_buf_fmt(s->out, ", %s after the start", as_human_duration(n->peak_ns).s);
	as_buf_byte(s->out, '\n');
	if (n->n)
		put_owners(s, n);
	put_line(s, "allocated", &n->made);
	as_buf_byte(s->out, '\n');
	put_line(s, "left", &n->left);
	as_buf_byte(s->out, '\n');
	if (n->cut) {
		as_put_label(s, "incomplete", AS_YELLOW);
		as_buf_str(s->out, "not all is in the capture: 'assay heap stats' says why\n");
	}
	put_capture(s, n);
}

/* ── JSON ─────────────────────────────────────────────────────────────── */

static void put_owner(struct as_json *j, const struct as_heap_owner *o)
{
	as_json_open(j, NULL, '{');
	as_json_str(j, "function", o->function[0] ? o->function : NULL);
	as_json_str(j, "file", o->file[0] ? o->file : NULL);
	if (o->line)
		as_json_i64(j, "line", o->line);
	else
		as_json_na(j, "line");
	as_json_i64(j, "bytes", o->held.bytes);
	as_json_f64(j, "bytes_95", o->held.bytes_95);
	as_json_i64(j, "count", o->held.count);
	as_json_close(j);
}

static void put_numbers(struct as_json *j, const struct as_heap_note *n)
{
	as_json_i64(j, "total_allocations", n->made.count);
	as_json_i64(j, "total_allocated_bytes", n->made.bytes);
	as_json_f64(j, "total_allocated_bytes_95", n->made.bytes_95);
	as_json_i64(j, "peak_bytes", n->peak.bytes);
	as_json_f64(j, "peak_bytes_95", n->peak.bytes_95);
	as_json_i64(j, "peak_allocations", n->peak.count);
	if (n->peak.bytes)
		as_json_i64(j, "peak_at_ns", n->peak_ns);
	else
		as_json_na(j, "peak_at_ns");
	as_json_i64(j, "leaked_bytes", n->left.bytes);
	as_json_f64(j, "leaked_bytes_95", n->left.bytes_95);
	as_json_i64(j, "leaked_allocations", n->left.count);
}

void as_put_heap_note_json(struct as_json *j, const struct as_run *run)
{
	const struct as_heap_note *n = run->heap;

	if (!n) {
		as_json_na(j, "heap");
		return;
	}
	as_json_open(j, "heap", '{');
	as_json_str(j, "capture", n->capture);
	if (n->sample)
		as_json_i64(j, "sample_bytes", (int64_t)n->sample);
	else
		as_json_na(j, "sample_bytes");
	as_json_bool(j, "complete", !n->cut);
	put_numbers(j, n);
	as_json_open(j, "peak_by_line", '[');
	for (size_t i = 0; i < n->n; i++)
		put_owner(j, &n->owner[i]);
	as_json_close(j);
	as_json_close(j);
}
