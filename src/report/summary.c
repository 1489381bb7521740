/*
 * The summary was chosen among three drafts: facts in a block with sparklines
 * below (two places to look for one metric), one wide table (too wide for its
 * own words), and this one: a metric is a row of total, shape and spread, and
 * what else is known of it stands dimmed below. It reads from top to bottom:
 * how it ended, what it used, who used it, why, what next.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "report/head.h"
#include "report/listed.h"
#include "report/lives.h"
#include "report/metric.h"
#include "report/network.h"
#include "report/rank.h"
#include "report/report.h"
#include "report/stacks.h"
#include "report/table.h"
#include "report/words.h"
#include "run/sofar.h"

enum {
	TOTAL = 9,
	SPREAD = 10,
	SPARK_MIN = 8,
	SPARK_MAX = 60,
	TOP = 5,
	FILES = 5,
	HOT = 5,
	DEVICE_ROW = 1 << 20,
	COUNTED_LATE = 512 << 10 /* pages that CPUs have not told the kernel of yet */
};

/* ── a row for each main metric ───────────────────────────────────────── */

/* Start and end alone are no shape. */
static bool shaped(const struct as_run *run)
{
	return as_run_samples(run) > 1;
}

static int spark_room(const struct as_sheet *s)
{
	int room = s->look->width - AS_TEXT_AT - TOTAL - 2 - 3 * SPREAD;

	return room > SPARK_MAX ? SPARK_MAX : room;
}

static void put_spread(const struct as_sheet *s, enum as_field_id f, double v)
{
	as_auto_buf struct as_buf cell = AS_BUF(AS_BUF_LINE);

	as_put_shown(&cell, f, v);
	as_put_cell(s->out, as_buf_text(&cell), SPREAD, true);
	s->out->bad |= cell.bad;
}

static void put_shape(const struct as_sheet *s, const struct as_metric *m)
{
	struct as_spread spread = as_metric_spread(s->run, m);
	int room = spark_room(s);
	double v[AS_PARTS_MAX];

	if (room < SPARK_MIN || !as_metric_draw(s->run, m, v, (size_t)room))
		return;
	as_buf_str(s->out, "  ");
	as_ink(s->out, s->look, AS_CYAN);
	as_put_spark(s->out, &(struct as_look){.utf8 = true}, v, (size_t)room, room);
	as_ink_end(s->out, s->look, AS_CYAN);
	put_spread(s, m->f[0], spread.min);
	put_spread(s, m->f[0], spread.mean);
	put_spread(s, m->f[0], spread.max);
}

static void put_total(const struct as_sheet *s, const char *label, const char *total)
{
	as_put_label(s, label, AS_INK_NONE);
	as_ink(s->out, s->look, AS_BOLD);
	as_put_cell(s->out, total, TOTAL, true);
	as_ink_end(s->out, s->look, AS_BOLD);
}

/* `why` stands where the shape would, when there is none; AS_NLINES has no shape. */
static void put_row(const struct as_sheet *s, const char *label, const char *total,
		    enum as_line line, const char *why)
{
	const struct as_metric *m = shaped(s->run) ? as_metric_of(s->run, line) : NULL;

	put_total(s, label, total);
	if (m) {
		put_shape(s, m);
	} else if (*why) {
		as_buf_str(s->out, "  ");
		as_ink(s->out, s->look, AS_DIM);
		(void)as_put_name(s->out, why, s->look->width - AS_TEXT_AT - TOTAL - 2);
		as_ink_end(s->out, s->look, AS_DIM);
	}
	as_end_line(s->out);
}

static struct as_flow notes(const struct as_sheet *s)
{
	return (struct as_flow){s->out, s->look, AS_TEXT_AT, NULL, AS_DIM, 0};
}

static void titles(const struct as_sheet *s)
{
	if (!as_metric_of(s->run, AS_L_CPU) && !as_metric_of(s->run, AS_L_MEMORY))
		return;
	if (spark_room(s) < SPARK_MIN || !shaped(s->run))
		return;
	as_buf_fill(s->out, ' ', (size_t)(AS_TEXT_AT + TOTAL + 2 + spark_room(s)));
	as_ink(s->out, s->look, AS_DIM);
	as_buf_fmt(s->out, "%*s%*s%*s", SPREAD, "min", SPREAD, "mean", SPREAD, "max");
	as_ink_end(s->out, s->look, AS_DIM);
	as_buf_byte(s->out, '\n');
}

/* 8 MiB were written in "system 0 s". */
static void note_parts(const struct as_run *run, struct as_flow *f)
{
	if (as_few_ticks(run)) {
		as_flow_add(f, "too short to tell user from system time");
		return;
	}
	as_flow_add(f, "user %s", as_human_duration(as_total_so_far(run, AS_T_CPU_USER).value).s);
	as_flow_add(f, "system %s",
		    as_human_duration(as_total_so_far(run, AS_T_CPU_SYSTEM).value).s);
}

static void put_cpu(const struct as_sheet *s)
{
	const struct as_run *run = s->run;
	struct as_total all = as_total_so_far(run, AS_T_CPU);
	double cores = as_total_value(run, AS_T_CPU) / (double)run->end.duration_ns;
	double cpus = as_cpus_allowed(&run->who);
	struct as_flow f = notes(s);

	put_row(s, "CPU time", as_human_duration(all.value).s, AS_L_CPU,
		as_why_not(run, AS_T_CPU, AS_F_JOB_CPU));
	if (all.value == AS_NA)
		return;
	note_parts(run, &f);
	if (isfinite(cores)) {
		as_flow_add(&f, "%s of one core", as_human_percent(cores).s);
		if (cpus > 0 && cpus != 1)
			as_flow_add(&f, "%s of %s", as_human_percent(cores / cpus).s,
				    as_human_cpus(cpus).s);
	}
	as_flow_end(&f);
}

/*
 * The process that was the largest: the one that sampling saw as large as the kernel did. One
 * that was only nearly so may be the second, after one that nobody saw at its peak.
 */
static const struct as_instance *largest(const struct as_run *run, double one)
{
	const struct as_instance *best = NULL;
	size_t n = 0;

	for (size_t i = 0; i < run->ninstances; i++) {
		const struct as_instance *at = &run->instances[i];

		n += at->scope == AS_PROCESS;
		if (at->scope == AS_PROCESS &&
		    as_process_peak(at) > (best ? as_process_peak(best) : 0))
			best = at;
	}
	bool alone = n == 1 && !run->unlisted;
	double unsure = fmax(0.01 * one, COUNTED_LATE);

	return best && (alone || as_process_peak(best) >= one - unsure) ? best : NULL;
}

static void put_memory(const struct as_sheet *s)
{
	const struct as_run *run = s->run;
	double peak = as_total_value(run, AS_T_MEM_PEAK),
	       upper = as_total_value(run, AS_T_MEM_UPPER);
	double one = as_total_value(run, AS_T_MEM_HWM);
	const struct as_instance *who = largest(run, one);
	struct as_flow f = notes(s);

	const char *why = isfinite(peak) ? "" : as_why_not(run, AS_T_MEM_PEAK, AS_F_JOB_MEMORY);
	if (!isfinite(peak) && run->who.interval_ns > 0 && !as_run_samples(run))
		why = "it ended before it could be read";
	put_row(s, "memory peak", as_human_bytes(peak).s, AS_L_MEMORY, why);
	/* Pages of files are in a process's peak but may be charged to nobody of the job. */
	if (upper >= peak)
		as_flow_add(&f, "upper bound %s", as_human_bytes(upper).s);
	if (isfinite(one))
		as_flow_add(&f, "largest process %s%s%s%.20s%s", as_human_bytes(one).s,
			    one > upper ? " with mapped files" : "", who ? " (" : "",
			    who && who->name ? who->name : "", who ? ")" : "");
	as_flow_end(&f);
}

/* Scratch files that were deleted in time: no disk had the work that "disk write" suggests. */
static void note_cancelled(const struct as_run *run, struct as_flow *f)
{
	double out = as_total_value(run, AS_T_WRITE);
	double cancelled = as_total_value(run, AS_T_CANCELLED);

	if (cancelled >= DEVICE_ROW && cancelled >= 0.01 * out)
		as_flow_add(f, "%s deleted before a disk got it", as_human_bytes(cancelled).s);
}

/* What was written before anybody counted what goes to the disk, at most; NaN when unknown. */
static double written_before(const struct as_run *run)
{
	const struct as_series *s = run->series[AS_JOB];

	for (size_t i = 0; s && i < s->n; i++) {
		const int64_t *row = s->mean + i * as_scope_info(AS_JOB)->n;
		int64_t sent = as_row_at(row, AS_F_JOB_DISK_WRITE);
		int64_t written = as_row_at(row, AS_F_JOB_WRITE);

		if (sent != AS_NA)
			return written == AS_NA ? NAN : fmax((double)(written - sent), 0);
	}
	return NAN;
}

/*
 * Most writes only reach the page cache; the kernel sends them to the disk later, in
 * nobody's name. What the processes sent by themselves is known where BPF counts it,
 * which it does not from the very start.
 */
static void note_written_back(const struct as_run *run, struct as_flow *f)
{
	const struct as_instance *job = as_run_instance(run, AS_JOB, 0);
	int64_t sent = job && job->last ? as_row_at(job->last, AS_F_JOB_DISK_WRITE) : AS_NA;
	double left = as_total_value(run, AS_T_WRITE) - written_before(run) -
		      fmax(as_total_value(run, AS_T_CANCELLED), 0) - (double)sent;

	if (sent == AS_NA || !(left >= DEVICE_ROW))
		return;
	as_flow_add(f, "%s sent to a disk by itself", as_human_bytes((double)sent).s);
	as_flow_add(f, "%s left to the kernel to write", as_human_bytes(left).s);
}

/* What went through read and write calls, cache and pipes included. */
static void note_calls(const struct as_run *run, struct as_flow *f)
{
	double in = as_total_value(run, AS_T_RCHAR), out = as_total_value(run, AS_T_WCHAR);

	if (isfinite(in) || isfinite(out))
		as_flow_add(f, "through calls: %s read, %s written", as_human_bytes(in).s,
			    as_human_bytes(out).s);
}

/* A direction has a row of its own when it moved more than a start-up does. */
static bool put_device(const struct as_sheet *s, const char *label, enum as_total_id id,
		       enum as_line line)
{
	double v = as_total_value(s->run, id);

	if (v >= DEVICE_ROW)
		put_row(s, label, as_human_bytes(v).s, line, "");
	return v >= DEVICE_ROW;
}

static void put_io(const struct as_sheet *s)
{
	const struct as_run *run = s->run;
	double in = as_total_value(run, AS_T_READ), out = as_total_value(run, AS_T_WRITE);
	struct as_flow f = notes(s);
	bool read = put_device(s, "disk read", AS_T_READ, AS_L_READ);
	bool written = put_device(s, "disk write", AS_T_WRITE, AS_L_WRITE);

	if (!read && !written) /* unknown, when one of them is */
		put_row(s, "disk I/O", as_human_bytes(in + out).s, AS_NLINES,
			isnan(in) ? as_why_not(run, AS_T_READ, AS_F_JOB_READ) : "");
	if (!read && isfinite(in) && (in > 0 || written))
		as_flow_add(&f, "%s read", as_human_bytes(in).s);
	if (!written && isfinite(out) && (out > 0 || read))
		as_flow_add(&f, "%s written", as_human_bytes(out).s);
	note_cancelled(run, &f);
	note_written_back(run, &f);
	note_calls(run, &f);
	as_flow_end(&f);
}

static void put_net(const struct as_sheet *s)
{
	double bytes = as_net_bytes(s->run);
	struct as_flow f = notes(s);

	if (isnan(bytes))
		return;
	put_row(s, "network", as_human_bytes(bytes).s, AS_NLINES, "");
	as_note_net(s->run, &f);
	as_flow_end(&f);
}

static void put_processes(const struct as_sheet *s)
{
	const struct as_metric *m = as_metric_of(s->run, AS_L_PROCS);
	double seen = as_total_value(s->run, AS_T_PROCS);

	if (!(seen > 1) && !m)
		return;
	struct as_spread spread = m ? as_metric_spread(s->run, m) : (struct as_spread){0};
	if (!(seen > 1) && !(spread.max > 1)) /* the command alone */
		return;
	put_row(s, "processes", as_human_count(seen).s, AS_L_PROCS, "");
}

/* ── what else is worth a word ────────────────────────────────────────── */

static void also_memory(const struct as_run *run, struct as_flow *f)
{
	double oom = as_total_value(run, AS_T_OOM_KILLS),
	       swap = as_total_value(run, AS_T_SWAP_PEAK);
	double major = as_total_value(run, AS_T_MAJFLT);
	double may = (double)run->who.memory, peak = as_total_value(run, AS_T_MEM_PEAK);

	if (may > 0 && peak > 0.9 * may)
		as_flow_add(f, "the peak is %s of the %s it may use",
			    as_human_percent(peak / may).s, as_human_bytes(may).s);
	if (oom > 0)
		as_flow_add(f, "%s killed for want of memory", as_human_count(oom).s);
	if (swap > 0)
		as_flow_add(f, "%s in swap", as_human_bytes(swap).s);
	if (major >= 100)
		as_flow_add(f, "%s major faults", as_human_count(major).s);
}

static void put_also(const struct as_sheet *s)
{
	const struct as_run *run = s->run;
	struct as_flow f = {s->out, s->look, 2, "also        ", AS_YELLOW, 0};
	double cpu = as_total_value(run, AS_T_CPU), wait = as_total_value(run, AS_T_CPU_WAIT);
	double lost = as_total_value(run, AS_T_LOST), slept = as_total_value(run, AS_T_SLEPT);
	as_auto_buf struct as_buf left_out = AS_BUF(AS_BUF_LINE);
	int32_t left = run->end.survivors;

	also_memory(run, &f);
	if (as_total_value(run, AS_T_THROTTLED) > 0)
		as_flow_add(&f, "throttled for %s",
			    as_human_duration(as_total_so_far(run, AS_T_THROTTLED).value).s);
	if (wait > 0.1 * cpu && wait > 1e7)
		as_flow_add(&f, "waited %s for a CPU", as_human_duration((int64_t)wait).s);
	if (slept > 0)
		as_flow_add(&f, "the machine slept %s meanwhile",
			    as_human_duration((int64_t)slept).s);
	if (lost > 0)
		as_flow_add(&f, "%s births or deaths were lost", as_human_count(lost).s);
	if (as_put_left_out(&left_out, run))
		as_flow_add(&f, "%s", as_buf_text(&left_out));
	if (left_out.len && run->who.kind && !strcmp(run->who.kind, "attach"))
		as_flow_add(&f, "--include-children does");
	if (left > 0)
		as_flow_add(&f, "%d process%s outlived the command", left, left > 1 ? "es" : "");
	as_flow_end(&f);
}

/* ── who used it ──────────────────────────────────────────────────────── */

static const struct as_column process_columns[] = {
	{"process", false, 8, 16}, {"pid", true, 0, 0},   {"CPU", true, 0, 0},
	{"peak RSS", true, 0, 0},  {"alive", true, 0, 0}, {"exit", true, 0, 8},
	{"command", false, 8, 0},
};

static void process_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct as_rank *r = data;
	const struct as_instance *i = r->at[row];

	if (col == 0)
		as_buf_str(cell, i->name ? i->name : "-");
	else if (col < AS_PROCESS_COLUMNS)
		as_put_process(cell, r->run, i, col);
	else
		as_buf_str(cell, i->detail ? i->detail : "");
}

static enum as_ink process_ink(const void *data, size_t row, size_t col)
{
	const struct as_rank *r = data;

	if (col == 5 && r->at[row]->ended_by != AS_NA && r->at[row]->ended_by != 0)
		return AS_RED;
	return col == 6 ? AS_DIM : AS_INK_NONE;
}

static void put_top(const struct as_sheet *s)
{
	struct as_rank r = as_rank(s->run, AS_PROCESS, TOP);

	if (r.total < 2)
		return;
	as_buf_byte(s->out, '\n');
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = process_columns,
					.ncols = AS_LEN(process_columns),
					.nrows = r.n,
					.data = &r,
					.indent = 2,
					.cell = process_cell,
					.ink = process_ink});
	as_put_more(s, r.total - r.n + s->run->unlisted, "");
}

/* Asked for by --files: the first few, or why there are none. */
static void put_files(const struct as_sheet *s)
{
	const struct as_origin *o = &s->run->origins[AS_F_FILE_READ];

	as_put_listed(s, AS_FILE, "Files", FILES);
	if (o->how != AS_UNAVAILABLE || !o->source[0])
		return;
	as_put_label(s, "files", AS_YELLOW);
	as_buf_str(s->out, "not known: ");
	as_put_wrapped(s->out, s->look, o->source, AS_TEXT_AT + 11, AS_TEXT_AT);
}

/* ── where the numbers come from, and what next ───────────────────────── */

static void put_sources(const struct as_sheet *s)
{
	static const struct {
		const char *what;
		enum as_total_id id;
	} rows[] = {{"CPU", AS_T_CPU},
		    {"memory", AS_T_MEM_PEAK},
		    {"I/O", AS_T_READ},
		    {"network", AS_T_NET_SENT}};
	size_t n = AS_LEN(rows) - isnan(as_net_bytes(s->run)); /* it has no row without any */
	struct as_flow f = notes(s);

	for (size_t i = 0; i < n; i++) {
		struct as_total t = as_total_so_far(s->run, rows[i].id);

		if (t.value != AS_NA && t.source[0])
			as_flow_add(&f, "%s from %s", rows[i].what, t.source);
	}
	as_flow_end(&f);
}

void as_report_summary(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	const struct as_sheet s = {out, look, run};
	size_t from = out->len;

	as_put_head(&s);
	titles(&s);
	put_cpu(&s);
	put_memory(&s);
	put_io(&s);
	put_net(&s);
	put_processes(&s);
	put_also(&s);
	as_put_growth(&s, false);
	put_top(&s);
	put_files(&s);
	as_put_stacks(&s, HOT);
	as_buf_byte(out, '\n');
	as_put_verdict(&s);
	as_put_own_cost(&s);
	put_sources(&s);
	as_page_end(out, look, from);
}

void as_report_next(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);
	struct as_flow f = {out, look, 2, "next        ", AS_INK_NONE, 0};
	size_t from = out->len;

	as_put_word(&name, run->who.name ? run->who.name : "");
	as_flow_add(&f, "assay show %s", run->who.id);
	if (run->stacks) {
		as_flow_add(&f, "assay flame %s", run->who.id);
		as_flow_add(&f, "assay report --stacks %s", run->who.id);
	}
	as_flow_add(&f, "assay jobs --name %s", as_buf_text(&name));
	as_flow_add(&f, "assay stats --name %s", as_buf_text(&name));
	as_flow_end(&f);
	out->bad |= name.bad;
	as_page_end(out, look, from);
}
