#include "report/lives.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/human.h"
#include "report/metric.h"
#include "report/rank.h"
#include "report/table.h"
#include "report/words.h"

enum { THREADS = 10, COMMANDS = 10, DEPTH_MAX = 8, BAR_MIN = 10, BAR_MAX = 40 };

/* ── processes ────────────────────────────────────────────────────────── */

struct forest {
	const struct as_run *run;
	struct as_tree tree;
	int bar; /* columns between the ends of a bar */
	int64_t span;
};

void as_put_branch(struct as_buf *out, int depth, uint64_t lines, bool last)
{
	int shown = depth < DEPTH_MAX ? depth : DEPTH_MAX;

	for (int d = 1; d < shown; d++)
		as_buf_str(out, lines >> (d & 63) & 1 ? "│ " : "  ");
	if (shown)
		as_buf_str(out, last ? "└─" : "├─");
}

static int place(const struct forest *f, int64_t t)
{
	double at = (double)t / (double)f->span * f->bar;

	return at < 0 ? 0 : at > f->bar ? f->bar : (int)lround(at);
}

static void put_bar(struct as_buf *out, const struct forest *f, const struct as_instance *i)
{
	int from = i->born_ns == AS_NA ? 0 : place(f, i->born_ns);
	int to = i->died_ns == AS_NA ? f->bar : place(f, i->died_ns);

	if (i->born_ns == AS_NA)
		return;
	from = from < f->bar ? from : f->bar - 1;
	to = to > from ? to : from + 1; /* even the shortest life shows */
	as_buf_str(out, "▕");
	for (int c = 0; c < f->bar; c++)
		as_buf_str(out, c >= from && c < to ? "█" : " ");
	as_buf_str(out, i->died_ns == AS_NA ? "▶" : "▏");
}

void as_put_process(struct as_buf *cell, const struct as_run *run, const struct as_instance *i,
		    size_t col)
{
	switch (col) {
	case 1:
		as_buf_fmt(cell, "%lld", (long long)i->key);
		break;
	case 2:
		as_put_value(cell, AS_NS, as_instance_cpu(i));
		break;
	case 3:
		as_put_bytes(cell, as_process_peak(i));
		break;
	case 4:
		as_put_duration(cell, as_instance_life(run, i));
		break;
	default:
		as_put_ended(cell, i);
	}
}

static void process_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct forest *f = data;
	const struct as_instance *i = f->tree.at[row].i;

	if (col == 0) {
		as_put_branch(cell, f->tree.at[row].depth, f->tree.at[row].lines,
			      f->tree.at[row].last);
		as_buf_str(cell, i->name ? i->name : "-");
	} else if (col < AS_PROCESS_COLUMNS) {
		as_put_process(cell, f->run, i, col);
	} else {
		put_bar(cell, f, i);
	}
}

static enum as_ink process_ink(const void *data, size_t row, size_t col)
{
	const struct forest *f = data;
	int64_t ended = f->tree.at[row].i->ended_by;

	if (col == 5 && ended != AS_NA && ended != 0)
		return AS_RED;
	return col == 6 ? AS_CYAN : AS_INK_NONE;
}

static void put_more(const struct as_sheet *s, const struct as_rank *r)
{
	as_put_more(s, r->total - r->n, " that used less CPU time (--json lists them)");
}

/* Was this command line shown already, by a row before k? */
static bool again(const struct as_tree *t, size_t k)
{
	for (size_t i = 0; i < k; i++)
		if (t->at[i].i->detail && !strcmp(t->at[i].i->detail, t->at[k].i->detail))
			return true;
	return false;
}

/* Command lines, once each, below the table: the tree has no room for them. */
static void put_commands(const struct as_sheet *s, const struct as_tree *t)
{
	int left = COMMANDS;

	for (size_t k = 0; k < t->n && left; k++) {
		if (!t->at[k].i->detail || again(t, k))
			continue;
		left--;
		as_ink(s->out, s->look, AS_DIM);
		as_buf_fmt(s->out, "  %8lld  ", (long long)t->at[k].i->key);
		(void)as_put_name(s->out, t->at[k].i->detail, s->look->width - 12);
		as_ink_end(s->out, s->look, AS_DIM);
		as_buf_byte(s->out, '\n');
	}
}

static const struct as_column process_columns[] = {
	{"process", false, 8, 32},     {"pid", true, 0, 0},   {"CPU", true, 0, 0},
	{"peak RSS", true, 0, 0},      {"alive", true, 0, 0}, {"exit", true, 0, 8},
	{"over the run", false, 0, 0},
};

void as_put_processes(const struct as_sheet *s)
{
	struct as_rank r = as_rank(s->run, AS_PROCESS, AS_RANK_MAX);
	struct forest f = {s->run, as_rank_tree(&r), 0, as_run_span(s->run)};
	struct as_table t = {.cols = process_columns,
			     .ncols = AS_LEN(process_columns) - 1,
			     .nrows = f.tree.n,
			     .data = &f,
			     .indent = 2,
			     .cell = process_cell,
			     .ink = process_ink};

	if (!r.n)
		return;
	f.bar = s->look->width - as_table_width(s->out, &t) - 4; /* a gap, and the two ends */
	f.bar = f.bar < BAR_MIN ? BAR_MIN : f.bar > BAR_MAX ? BAR_MAX : f.bar;
	t.ncols++;
	as_heading(s->out, s->look, "Processes");
	as_put_table(s->out, s->look, &t);
	put_more(s, &r);
	as_put_more(s, s->run->unlisted, AS_UNLISTED);
	put_commands(s, &f.tree);
}

/* ── threads ──────────────────────────────────────────────────────────── */

static const struct as_column thread_columns[] = {
	{"thread", false, 8, 20}, {"tid", true, 0, 0},        {"process", false, 8, 20},
	{"CPU", true, 0, 0},      {"of the run", true, 0, 0}, {"waited", true, 0, 0},
};

static void thread_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct as_rank *r = data;
	const struct as_instance *i = r->at[row];
	const struct as_instance *p =
		col == 2 ? as_run_instance(r->run, AS_PROCESS, i->parent) : NULL;

	switch (col) {
	case 0:
		as_buf_str(cell, i->name ? i->name : "-");
		break;
	case 1:
		as_buf_fmt(cell, "%lld", (long long)i->key);
		break;
	case 2:
		as_buf_str(cell, p && p->name ? p->name : "-");
		break;
	case 3:
		as_put_value(cell, AS_NS, as_instance_cpu(i));
		break;
	case 4:
		as_put_percent(cell, as_instance_cpu(i) / (double)as_run_span(r->run));
		break;
	default:
		as_put_value(cell, AS_NS, as_instance_last(i, AS_F_THR_WAIT));
	}
}

void as_put_threads(const struct as_sheet *s)
{
	struct as_rank r = as_rank(s->run, AS_THREAD, THREADS);

	if (r.total < 2)
		return;
	as_heading(s->out, s->look, r.total > r.n ? "Threads, the busiest" : "Threads");
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = thread_columns,
					.ncols = AS_LEN(thread_columns),
					.nrows = r.n,
					.data = &r,
					.indent = 2,
					.cell = thread_cell});
	put_more(s, &r);
}

/* ── cores ────────────────────────────────────────────────────────────── */

/* The kernel counts whole ticks: a run that is shorter than one may have all of it. */
static double core_busy(const struct as_instance *i)
{
	const struct as_scope_info *c = as_scope_info(AS_CORE);
	double busy = as_instance_tally(i, AS_F_CORE_USER - c->first).mean +
		      as_instance_tally(i, AS_F_CORE_SYSTEM - c->first).mean;

	return busy > 1 ? 1 : busy;
}

/* The mean of each core as one character of a line, full when it was busy all the time. */
void as_put_cores(const struct as_sheet *s)
{
	static const char *const heat[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	int room = s->look->width - AS_TEXT_AT, at = 0;
	double least = NAN, most = NAN;

	for (size_t k = 0; k < s->run->ninstances; k++) {
		const struct as_instance *i = &s->run->instances[k];
		double busy = i->scope == AS_CORE ? core_busy(i) : (double)NAN;

		if (i->scope != AS_CORE)
			continue;
		if (at % room == 0) {
			as_buf_str(s->out, at ? "\n" : "");
			as_put_label(s, at ? "" : "each core", AS_DIM);
		}
		as_buf_str(s->out, isnan(busy) ? " " : heat[(int)(fmax(busy, 0) * 7 + 0.5)]);
		least = fmin(least, busy);
		most = fmax(most, busy);
		at++;
	}
	if (!at)
		return;
	as_buf_byte(s->out, '\n');
	as_buf_fill(s->out, ' ', AS_TEXT_AT);
	as_ink(s->out, s->look, AS_DIM);
	as_buf_fmt(s->out, "%d cores, core 0 first: least busy %s, most %s", at,
		   as_human_percent(least).s, as_human_percent(most).s);
	as_ink_end(s->out, s->look, AS_DIM);
	as_buf_byte(s->out, '\n');
}
