/* `show --tree`: the process tree over time, as text and as nested JSON. */
#include "base/human.h"
#include "base/json.h"
#include "report/family.h"
#include "report/head.h"
#include "report/known.h"
#include "report/lives.h"
#include "report/report.h"
#include "report/table.h"
#include "report/words.h"

static const struct as_column columns[] = {{"process", false, 12, 32},    {"pid", true, 0, 0},
					   {"CPU", true, 0, 0},           {"peak RSS", true, 0, 0},
					   {"from", true, 0, 0},          {"exit", true, 0, 10},
					   {"over the run", false, 10, 0}};

enum { EXIT = 5, BAR = 6 };

static void put_name(struct as_buf *out, const struct as_kin *k)
{
	as_put_branch(out, k->depth, k->lines, k->last);
	as_buf_str(out, k->first->name ? k->first->name : "-");
	if (k->count < 2)
		return;
	as_buf_fmt(out, " ×%zu", k->count);
	if (k->at_once > 1)
		as_buf_fmt(out, ", %zu at once", k->at_once);
}

static void put_exit(struct as_buf *out, const struct as_kin *k)
{
	if (k->count == 1)
		as_put_ended(out, k->first);
	else if (k->failed)
		as_buf_fmt(out, "%zu failed", k->failed);
	else
		as_buf_byte(out, k->unknown ? '-' : '0');
}

/* `width` columns of the AS_FAMILY_BITS parts that are kept. */
static void put_bar(struct as_buf *out, const struct as_kin *k, int width)
{
	as_buf_str(out, "▕");
	for (int c = 0; c < width; c++) {
		int from = c * AS_FAMILY_BITS / width, to = (c + 1) * AS_FAMILY_BITS / width;
		bool alive = false;

		for (int b = from; b < to || b == from; b++)
			alive |= k->alive >> b & 1;
		as_buf_str(out, alive ? "█" : " ");
	}
	as_buf_str(out, k->died_ns == AS_NA ? "▶" : "▏");
}

struct page {
	const struct as_family *f;
	int bar;
};

static void cell(const void *data, size_t row, size_t col, struct as_buf *out)
{
	const struct page *p = data;
	const struct as_kin *k = &p->f->rows[row];

	switch (col) {
	case 0:
		put_name(out, k);
		break;
	case 1:
		if (k->count == 1)
			as_buf_fmt(out, "%lld", (long long)k->first->key);
		break;
	case 2:
		as_put_value(out, AS_NS, k->cpu);
		break;
	case 3:
		as_put_bytes(out, k->peak);
		break;
	case 4:
		as_put_duration(out, k->born_ns);
		break;
	case EXIT:
		put_exit(out, k);
		break;
	default:
		put_bar(out, k, p->bar);
	}
}

static enum as_ink ink(const void *data, size_t row, size_t col)
{
	const struct page *p = data;

	if (col == EXIT && p->f->rows[row].failed)
		return AS_RED;
	return col == BAR ? AS_CYAN : AS_INK_NONE;
}

/* What is left of the width when all other columns are as wide as they want. */
static int bar_room(const struct as_sheet *s, struct as_table t)
{
	t.ncols = BAR;
	int room = s->look->width - as_table_width(s->out, &t) - 4;

	return room < 10 ? 10 : room > AS_FAMILY_BITS ? AS_FAMILY_BITS : room;
}

void as_report_tree(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	const struct as_sheet s = {out, look, run};
	as_cleanup(as_family_done) struct as_family f = {0};
	struct page p = {&f, 10};
	size_t from = out->len;
	struct as_err err;

	out->bad |= as_family_of(run, &f, &err) < 0;
	as_put_head(&s);
	as_buf_byte(out, '\n');
	struct as_table t = {.cols = columns,
			     .ncols = AS_LEN(columns),
			     .nrows = f.n,
			     .data = &p,
			     .indent = 2,
			     .cell = cell,
			     .ink = ink};
	p.bar = bar_room(&s, t);
	as_put_table(out, look, &t);
	as_put_more(&s, run->unlisted, AS_UNLISTED);
	as_page_end(out, look, from);
}

/* ── JSON ─────────────────────────────────────────────────────────────── */

_Static_assert(2 + 2 * (AS_FAMILY_DEPTH + 1) <= AS_JSON_DEPTH, "a row is an object and its list");

static void put_kin(struct as_json *j, const struct as_kin *k)
{
	as_json_str(j, "name", k->first->name);
	as_json_i64(j, "count", (int64_t)k->count);
	as_json_i64(j, "at_once", (int64_t)k->at_once);
	as_json_i64(j, "failed", (int64_t)k->failed);
	as_json_i64(j, "end_unknown", (int64_t)k->unknown);
	as_json_i64(j, "pid", k->first->key);
	as_json_str(j, "command", k->first->detail);
	as_json_f64(j, "cpu_seconds", k->cpu / 1e9);
	as_json_f64(j, "memory_peak_bytes", k->peak);
	as_json_value(j, "born_ns", k->born_ns);
	as_json_value(j, "died_ns", k->died_ns);
	as_json_value(j, "wait_status", k->count == 1 ? k->first->ended_by : AS_NA);
	as_json_open(j, "children", '[');
}

static void close_levels(struct as_json *j, int *level, int until)
{
	for (; *level > until; --*level) {
		as_json_close(j);
		as_json_close(j);
	}
}

void as_report_tree_json(struct as_buf *out, const struct as_run *run)
{
	as_cleanup(as_family_done) struct as_family f = {0};
	struct as_json j = as_json(out);
	struct as_err err;
	int level = 0; /* how many rows are open */

	out->bad |= as_family_of(run, &f, &err) < 0;
	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/tree/1");
	as_json_str(&j, "id", run->who.id);
	as_json_i64(&j, "unlisted", (int64_t)run->unlisted);
	as_json_open(&j, "processes", '[');
	for (size_t i = 0; i < f.n; i++) {
		close_levels(&j, &level, f.rows[i].depth);
		as_json_open(&j, NULL, '{');
		put_kin(&j, &f.rows[i]);
		level++;
	}
	close_levels(&j, &level, 0);
	as_json_close(&j);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
