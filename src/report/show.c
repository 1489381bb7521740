/*
 * Everything about one run. Each part is left out when it would be empty, so
 * a run without samples shows its identity, its totals and its verdict.
 */
#include <math.h>
#include <string.h>

#include "base/human.h"
#include "report/cost.h"
#include "report/listed.h"
#include "report/lives.h"
#include "report/heap_note.h"
#include "report/load.h"
#include "report/metric.h"
#include "report/network.h"
#include "report/phases.h"
#include "report/plot.h"
#include "report/record.h"
#include "report/report.h"
#include "report/stacks.h"
#include "report/table.h"
#include "report/words.h"
#include "run/sofar.h"

enum { LISTED = 20, HOT = 15 }; /* rows of a list that can be long, and of functions */

/* ── who it was ───────────────────────────────────────────────────────── */

static void fact(const struct as_sheet *s, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	as_put_label(s, label, AS_DIM);
	as_put_wrapped(s->out, s->look, text, AS_TEXT_AT, AS_TEXT_AT);
}

static void pairs(const struct as_sheet *s, const char *label, const struct as_pair *p, size_t n)
{
	char lead[AS_LABEL + 2];

	(void)snprintf(lead, sizeof lead, "%-*s ", AS_LABEL, label);
	struct as_flow f = {s->out, s->look, 2, lead, AS_INK_NONE, 0};
	for (size_t i = 0; i < n; i++)
		as_flow_add(&f, "%s=%s", p[i].key, p[i].value);
	as_flow_end(&f);
}

static void put_when(const struct as_sheet *s)
{
	const struct as_run *run = s->run;

	as_put_label(s, "started", AS_DIM);
	as_put_time(s->out, run->who.start_ns);
	if (run->end.status != AS_RUNNING) {
		as_buf_str(s->out, ", ended ");
		as_put_time(s->out, as_end_of(run));
	}
	as_buf_byte(s->out, '\n');
}

static void put_where(const struct as_sheet *s)
{
	const struct as_identity *who = &s->run->who;
	struct as_flow f = {s->out, s->look, 2, "on          ", AS_INK_NONE, 0};
	double cpus = as_cpus_allowed(who);

	if (who->host)
		as_flow_add(&f, "%s", who->host);
	if (who->user)
		as_flow_add(&f, "as %s", who->user);
	if (cpus > 0)
		as_flow_add(&f, "%s CPU%s to use", as_human_cpus(cpus).s, cpus == 1 ? "" : "s");
	if (who->memory != AS_NA && who->memory > 0)
		as_flow_add(&f, "%s memory", as_human_bytes((double)who->memory).s);
	as_flow_end(&f);
}

/* How many words of a command begin behind its first `n` bytes. */
static size_t words_behind(const struct as_identity *who, size_t n)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	size_t i = 0;

	while (i < who->argc && text.len < n && !text.bad) {
		as_buf_str(&text, i ? " " : "");
		as_put_word(&text, who->argv[i++]);
	}
	return who->argc - i;
}

/* A linker may have been given thousands of files: the first of them say what it was. */
static void put_command(const struct as_sheet *s)
{
	enum { LINES = 6 };
	const struct as_identity *who = &s->run->who;
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);

	as_put_command(&text, who);
	size_t part = as_wrapped_part(s->look, as_buf_text(&text), AS_TEXT_AT, LINES);
	if (part < text.len) {
		size_t left = words_behind(who, part);

		text.len = part;
		as_buf_str(&text, " … ");
		if (left)
			as_buf_fmt(&text, "and %s more word%s, ", as_human_count((double)left).s,
				   left == 1 ? "" : "s");
		as_buf_str(&text, "whole in --json");
	}
	fact(s, "command", as_buf_text(&text));
	s->out->bad |= text.bad;
}

static void put_identity(const struct as_sheet *s)
{
	const struct as_identity *who = &s->run->who;
	as_auto_buf struct as_buf left_out = AS_BUF(AS_BUF_LINE);

	put_command(s);
	if (who->target)
		as_put_label(s, "attached to", AS_DIM),
			as_buf_fmt(s->out, "process %d\n", who->target);
	if (as_put_left_out(&left_out, s->run))
		fact(s, "left out", as_buf_text(&left_out));
	fact(s, "folder", who->cwd);
	put_when(s);
	put_where(s);
	fact(s, "version", who->version);
	fact(s, "git", who->git);
	fact(s, "part of", who->parent);
	pairs(s, "labels", who->labels, who->nlabels);
	pairs(s, "parameters", who->params, who->nparams);
	if (s->run->end.survivors > 0)
		as_put_label(s, "left behind", AS_DIM),
			as_buf_fmt(s->out, "%d still running when the command ended\n",
				   s->run->end.survivors);
}

/* ── totals ───────────────────────────────────────────────────────────── */

struct totals {
	const struct as_run *run;
	enum as_total_id at[AS_NTOTALS];
	size_t n;
};

static const struct as_column total_columns[] = {
	{"total", false, 0, 14},
	{"", true, 0, 0},
	{"known", false, 0, 0},
	{"from, or why not", false, 12, 0},
};

static void total_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct totals *t = data;
	enum as_total_id id = t->at[row];
	struct as_total total = as_total_so_far(t->run, id);

	switch (col) {
	case 0:
		as_buf_str(cell, as_totals[id].title);
		break;
	case 1:
		as_put_value(cell, as_totals[id].unit, (double)total.value);
		break;
	case 2:
		as_buf_str(cell, as_provenance_name(total.how));
		break;
	default:
		as_buf_str(cell, total.source);
	}
}

static enum as_ink total_ink(const void *data, size_t row, size_t col)
{
	(void)data, (void)row;
	return col == 1 ? AS_BOLD : col > 1 ? AS_DIM : AS_INK_NONE;
}

/* All that nobody asked for, in a sentence. */
static void put_not_asked(const struct as_sheet *s, size_t n)
{
	char text[160];

	if (!n)
		return;
	(void)snprintf(text, sizeof text, "%zu more %s: %s", n,
		       n == 1 ? "was not asked for" : "were not asked for",
		       s->run->load && !s->run->load->ntargets ? "nobody was watched (--watch)"
							       : "--metrics says what is");
	as_buf_str(s->out, "  ");
	as_put_wrapped(s->out, s->look, text, 2, 2);
}

static void put_totals(const struct as_sheet *s)
{
	struct totals t = {.run = s->run};
	size_t not_asked = 0;

	for (size_t id = 0; id < AS_NTOTALS; id++) {
		struct as_total total = as_total_so_far(s->run, (enum as_total_id)id);

		if (total.value == AS_NA && !strcmp(total.source, AS_NOT_ASKED))
			not_asked++;
		else if (total.value != AS_NA || total.source[0]) /* the reason why not */
			t.at[t.n++] = (enum as_total_id)id;
	}
	if (!t.n)
		return;
	as_heading(s->out, s->look, s->run->end.status == AS_RUNNING ? "Totals so far" : "Totals");
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = total_columns,
					.ncols = AS_LEN(total_columns),
					.nrows = t.n,
					.data = &t,
					.indent = 2,
					.cell = total_cell,
					.ink = total_ink});
	put_not_asked(s, not_asked);
}

/* ── plots ────────────────────────────────────────────────────────────── */

/* One line over time, if it is known and ever more than nothing. */
static void plot(const struct as_sheet *s, enum as_line line, const char *title)
{
	const struct as_metric *m = as_metric_of(s->run, line);
	double v[AS_PARTS_MAX];

	if (!m || !as_metric_draw(s->run, m, v, as_plot_width(s->look)))
		return;
	if (!(as_metric_spread(s->run, m).max > 0))
		return;
	as_put_plot(s, &(struct as_plot){title, NULL, m->f[0], v, NULL});
}

/* Is how the parts share CPU time more than a guess? */
static bool splits(const struct as_run *run)
{
	return !as_few_ticks(run) && as_total_so_far(run, AS_T_CPU_USER).how != AS_ATTRIBUTED;
}

static void plot_cpu(const struct as_sheet *s)
{
	const struct as_metric *m = as_metric_of(s->run, AS_L_CPU);
	const struct as_metric kernel = {{AS_F_JOB_SYSTEM}, 1};
	double v[AS_PARTS_MAX], system[AS_PARTS_MAX];
	size_t n = as_plot_width(s->look);

	if (!m || !as_metric_draw(s->run, m, v, n) || !(as_metric_spread(s->run, m).max > 0))
		return;
	bool split = splits(s->run) && as_metric_draw(s->run, &kernel, system, n);
	as_put_plot(s, &(struct as_plot){"CPU, of one core", split ? "█ user  ▒ system" : NULL,
					 m->f[0], v, split ? system : NULL});
}

/* How many there were is worth a picture only when it changed. */
static void plot_varied(const struct as_sheet *s, enum as_line line, const char *title)
{
	const struct as_metric *m = as_metric_of(s->run, line);
	struct as_spread spread = m ? as_metric_spread(s->run, m) : (struct as_spread){0};

	if (spread.min != spread.max)
		plot(s, line, title);
}

/* Do two lines look the same? Processes of one thread each are drawn once. */
static bool same_line(const struct as_sheet *s, enum as_line a, enum as_line b)
{
	const struct as_metric *x = as_metric_of(s->run, a), *y = as_metric_of(s->run, b);
	double v[AS_PARTS_MAX], w[AS_PARTS_MAX];
	size_t n = as_plot_width(s->look);

	if (!x || !y || !as_metric_draw(s->run, x, v, n) || !as_metric_draw(s->run, y, w, n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (v[i] != w[i] && !(isnan(v[i]) && isnan(w[i])))
			return false;
	return true;
}

static void put_plots(const struct as_sheet *s)
{
	plot_cpu(s);
	plot(s, AS_L_MEMORY, "memory");
	plot(s, AS_L_READ, "disk read");
	plot(s, AS_L_WRITE, "disk write");
	plot_varied(s, AS_L_PROCS, "processes");
	if (!same_line(s, AS_L_PROCS, AS_L_THREADS))
		plot_varied(s, AS_L_THREADS, "threads");
}

/* ── metrics ──────────────────────────────────────────────────────────── */

struct metrics {
	const struct as_run *run;
	enum as_field_id at[AS_NFIELDS];
	size_t n;
};

/* The heading says the scope already. */
static const char *short_key(enum as_field_id f)
{
	return strchr(as_fields[f].key, '.') + 1;
}

static const struct as_column metric_columns[] = {
	{"metric", false, 0, 0}, {"mean", true, 0, 0}, {"min", true, 0, 0},
	{"max", true, 0, 0},     {"last", true, 0, 0}, {"from", false, 4, 0},
};

static void metric_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct metrics *m = data;
	enum as_field_id f = m->at[row];
	const struct as_tally *t = as_run_tally(m->run, f, 0);
	const double v[] = {0, t->mean, t->min, t->max, t->last};

	if (col == 0)
		as_buf_str(cell, short_key(f));
	else if (col < AS_LEN(v))
		as_put_shown(cell, f, as_tally_shown(f, v[col]));
	else
		as_buf_str(cell, m->run->origins[f].source);
}

static enum as_ink metric_ink(const void *data, size_t row, size_t col)
{
	(void)data, (void)row;
	return col == 5 ? AS_DIM : AS_INK_NONE;
}

static void put_metric_table(const struct as_sheet *s, const struct metrics *m)
{
	as_put_table(s->out, s->look,
		     &(struct as_table){.cols = metric_columns,
					.ncols = AS_LEN(metric_columns),
					.nrows = m->n,
					.data = m,
					.indent = 2,
					.cell = metric_cell,
					.ink = metric_ink});
}

/* Those that were, and never more than nothing: a line for all of them instead of one each. */
static void put_zeros(const struct as_sheet *s, const struct metrics *zeros)
{
	struct as_flow f = {s->out, s->look, 2, "always 0: ", AS_DIM, 0};

	for (size_t i = 0; i < zeros->n; i++)
		as_flow_add(&f, "%s", short_key(zeros->at[i]));
	as_flow_end(&f);
}

static void put_metrics(const struct as_sheet *s, enum as_scope scope, const char *title)
{
	const struct as_scope_info *info = as_scope_info(scope);
	struct metrics m = {.run = s->run}, zeros = {0};

	for (size_t c = 0; c < info->n; c++) {
		enum as_field_id f = (enum as_field_id)(info->first + c);
		const struct as_tally *t = as_run_tally(s->run, f, 0);
		struct metrics *to = t && t->max == 0 && t->min == 0 ? &zeros : &m;

		if (t)
			to->at[to->n++] = f;
	}
	if (!m.n && !zeros.n)
		return;
	as_heading(s->out, s->look, title);
	if (m.n)
		put_metric_table(s, &m);
	put_zeros(s, &zeros);
}

/* ── what could not be known ──────────────────────────────────────────── */

static bool missing(const struct as_run *run, size_t f)
{
	return run->origins[f].how == AS_UNAVAILABLE && run->origins[f].source[0];
}

/* All metrics that are missing for the same reason as `first`. */
static void put_reason(const struct as_sheet *s, size_t first)
{
	const char *why = s->run->origins[first].source;
	struct as_flow f = {s->out, s->look, 4, NULL, AS_DIM, 0};

	as_buf_str(s->out, "  ");
	as_put_wrapped(s->out, s->look, why, 2, 2);
	for (size_t i = first; i < AS_NFIELDS; i++)
		if (missing(s->run, i) && !strcmp(s->run->origins[i].source, why))
			as_flow_add(&f, "%s", as_fields[i].key);
	as_flow_end(&f);
}

static void put_missing(const struct as_sheet *s)
{
	bool any = false;

	for (size_t i = 0; i < AS_NFIELDS; i++) {
		bool said = false;

		if (!missing(s->run, i))
			continue;
		for (size_t k = 0; k < i && !said; k++)
			said = missing(s->run, k) &&
			       !strcmp(s->run->origins[k].source, s->run->origins[i].source);
		if (said)
			continue;
		if (!any)
			as_heading(s->out, s->look, "Not available");
		any = true;
		put_reason(s, i);
	}
}

void as_report_show(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	const struct as_sheet s = {out, look, run};
	struct as_phases phases = as_phases_of(run, out);
	size_t from = out->len;

	as_put_head(&s);
	put_identity(&s);
	as_buf_byte(out, '\n');
	as_put_load(&s);
	if (run->load)
		as_buf_byte(out, '\n');
	as_put_verdict(&s);
	if (!run->load) { /* of a process that was watched */
		as_put_growth(&s, true);
		as_put_own_cost(&s);
	}
	put_totals(&s);
	put_plots(&s);
	as_put_phase_marks(&s, &phases);
	as_put_phases(&s, &phases);
	as_put_stacks(&s, HOT);
	if (run->stacks)
		as_buf_fmt(out, "  look further: assay flame %s, assay report --stacks %s\n",
			   run->who.id, run->who.id);
	as_put_heap_note(&s);
	as_put_processes(&s);
	as_put_threads(&s);
	as_put_network(&s);
	as_put_listed(&s, AS_FILE, "Files, the most read and written", LISTED);
	as_put_listed(&s, AS_DEVICE, "Block devices, for everybody on the machine", LISTED);
	put_metrics(&s, AS_JOB, "Job");
	put_metrics(&s, AS_CGROUP, "Control group");
	put_metrics(&s, AS_SYSTEM, "Machine");
	as_put_cores(&s);
	as_put_cost(&s);
	put_missing(&s);
	as_page_end(out, look, from);
}
