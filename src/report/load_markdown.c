/*
 * The summary of a load as Markdown: for a comment, or the page of a build.
 */
#include <math.h>
#include <string.h>

#include "report/glyph.h"
#include "report/load.h"
#include "report/load_flow.h"

enum { SHOWN = 120 };

/* In a cell, where a bar would end it. */
void as_put_markdown(struct as_buf *out, const char *text)
{
	as_auto_buf struct as_buf clean = AS_BUF(AS_BUF_LINE);

	(void)as_put_clean(&clean, text, strlen(text), SHOWN);
	for (const char *p = as_buf_text(&clean); *p; p++) {
		if (strchr("\\`*_{}[]<>#|", *p))
			as_buf_byte(out, '\\');
		as_buf_byte(out, *p);
	}
	out->bad |= clean.bad;
}

static void put_counts(struct as_buf *out, const struct as_load *l)
{
	uint64_t failed = as_load_failed(l);
	double all = (double)(l->requests ? l->requests : 1);

	as_buf_str(out, "| requests | answers a second | asked for | failed | in | out |\n"
			"|--:|--:|--:|--:|--:|--:|\n");
	as_buf_fmt(out, "| %s | %s ", as_human_count((double)l->requests).s,
		   as_human_count(as_load_rate(l)).s);
	as_buf_fmt(out, "| %s%s ", l->rate > 0 ? as_human_count(l->rate).s : "-",
		   l->rate > 0 && l->nsteps ? " sessions" : "");
	as_buf_fmt(out, "| %s (%s) ", as_human_count((double)failed).s,
		   as_human_percent((double)failed / all).s);
	as_buf_fmt(out, "| %s | %s |\n\n", as_human_bytes((double)l->bytes_in).s,
		   as_human_bytes((double)l->bytes_out).s);
}

static void put_goodput(struct as_buf *out, const struct as_load *l)
{
	if (!as_load_is_judged(l))
		return;
	as_buf_str(out, "| goodput | a second | bound | kept | missed | unknown |\n"
			"|--:|--:|---|--:|--:|--:|\n");
	double share = as_load_goodput(l), rate = as_load_good_rate(l);
	as_buf_fmt(out, "| %s | %s ", isnan(share) ? "-" : as_human_percent(share).s,
		   isnan(rate) ? "-" : as_human_count(rate).s);
	for (unsigned b = 0, n = 0; b < AS_LOAD_NBOUNDS; b++) {
		const struct as_load_bound *x = &l->bound[b];

		if (!x->within_ns)
			continue;
		as_buf_fmt(out, "%s| %s within %s ", n++ ? "| | " : "",
			   as_load_bound_key((enum as_load_bound_id)b),
			   as_human_duration(x->within_ns).s);
		as_buf_fmt(out, "| %s ", as_human_count((double)x->kept).s);
		as_buf_fmt(out, "| %s ", as_human_count((double)x->missed).s);
		as_buf_fmt(out, "| %s |\n", as_human_count((double)x->unknown).s);
	}
	as_buf_byte(out, '\n');
}

static void put_times(struct as_buf *out, const char *what, const struct as_histogram *h)
{
	static const double quantiles[] = {0.5, 0.9, 0.95, 0.99, 0.999, 1};

	as_buf_fmt(out, "| %s ", what);
	for (size_t i = 0; i < AS_LEN(quantiles); i++)
		as_buf_fmt(out, "| %s ", as_human_duration(as_histogram_at(h, quantiles[i])).s);
	as_buf_fmt(out, "| %s |\n", as_human_duration((int64_t)as_histogram_mean(h)).s);
}

static void put_all_times(struct as_buf *out, const struct as_load *l)
{
	if (!l->latency.n)
		return;
	as_buf_str(out, "| | p50 | p90 | p95 | p99 | p99.9 | max | mean |\n"
			"|---|--:|--:|--:|--:|--:|--:|--:|\n");
	put_times(out, "latency", &l->latency);
	if (l->wire.n)
		put_times(out, "on the wire", &l->wire);
	if (l->lateness.n)
		put_times(out, "lateness", &l->lateness);
	as_buf_byte(out, '\n');
}

static void put_errors(struct as_buf *out, const struct as_load *l)
{
	if (!as_load_failed(l))
		return;
	as_buf_str(out, "| error | requests | |\n|---|--:|---|\n");
	for (unsigned e = 0; e < AS_LOAD_NERRORS; e++)
		if (l->errors[e])
			as_buf_fmt(out, "| %s | %s | %s |\n",
				   as_load_error_key((enum as_load_error)e),
				   as_human_count((double)l->errors[e]).s,
				   as_load_error_help((enum as_load_error)e));
	as_buf_byte(out, '\n');
}

static void put_unasked(struct as_buf *out, const struct as_load *l)
{
	if (as_put_unasked(out, l))
		as_buf_str(out, "\n\n");
}

static void put_thresholds(struct as_buf *out, const struct as_load *l)
{
	struct as_thresholds t;

	as_load_thresholds(l, &t);
	if (t.n)
		as_buf_str(out, "| | threshold | was |\n|---|---|--:|\n");
	for (size_t i = 0; i < t.n; i++) {
		double value = as_threshold_value(&t.at[i], l);

		as_buf_fmt(out, "| %s | ", as_threshold_holds(&t.at[i], value) ? "✔" : "✘");
		as_put_markdown(out, t.at[i].expr);
		as_buf_fmt(out, " | %s |\n", as_threshold_text(&t.at[i], value).s);
	}
}

void as_report_load_markdown(struct as_buf *out, const struct as_run *run)
{
	as_buf_str(out, "### ");
	as_put_markdown(out, run->who.name);
	as_buf_fmt(out, ": %s, ", as_human_duration(run->end.duration_ns).s);
	as_put_markdown(out, run->verdict.sentence);
	as_buf_str(out, "\n\n");
	put_counts(out, run->load);
	put_goodput(out, run->load);
	put_all_times(out, run->load);
	as_put_load_flow_markdown(out, run->load);
	put_errors(out, run->load);
	put_unasked(out, run->load);
	put_thresholds(out, run->load);
}
