#include "report/load.h"

#include <math.h>

#include "base/human.h"
#include "judge/load.h"
#include "report/capacity.h"
#include "report/load_flow.h"
#include "report/load_server.h"
#include "report/load_target.h"
#include "report/rollouts.h"

enum { CELL = 9 };

static const struct {
	const char *title;
	double q;
} quantiles[] = {{"p50", 0.5},  {"p90", 0.9},     {"p95", 0.95},
		 {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};

/* ── percentiles ──────────────────────────────────────────────────────── */

static void put_titles(const struct as_sheet *s)
{
	as_buf_fill(s->out, ' ', AS_TEXT_AT);
	as_ink(s->out, s->look, AS_DIM);
	for (size_t i = 0; i < AS_LEN(quantiles); i++)
		as_put_cell(s->out, quantiles[i].title, CELL, true);
	as_put_cell(s->out, "mean", CELL, true);
	as_ink_end(s->out, s->look, AS_DIM);
	as_end_line(s->out);
}

static void put_times(const struct as_sheet *s, const char *label, const struct as_histogram *h,
		      enum as_ink ink)
{
	double mean = as_histogram_mean(h);

	if (!h->n)
		return;
	as_put_label(s, label, ink);
	as_ink(s->out, s->look, ink);
	for (size_t i = 0; i < AS_LEN(quantiles); i++)
		as_put_cell(s->out, as_human_duration(as_histogram_at(h, quantiles[i].q)).s, CELL,
			    true);
	as_put_cell(s->out, as_human_duration((int64_t)mean).s, CELL, true);
	as_ink_end(s->out, s->look, ink);
	as_end_line(s->out);
}

/* ── counts ───────────────────────────────────────────────────────────── */

static void put_requests(const struct as_sheet *s, const struct as_load *l)
{
	struct as_flow f = {s->out, s->look, 2, "requests    ", AS_INK_NONE, 0};
	double rate = as_load_rate(l);

	as_flow_add(&f, "%s", as_human_count((double)l->requests).s);
	if (isfinite(rate))
		as_flow_add(&f, "%s/s", as_human_count(rate).s);
	if (l->rate > 0)
		as_flow_add(&f, "%s%s asked for", as_human_count(l->rate).s,
			    l->nsteps ? " sessions/s" : "/s");
	if (l->opened && l->opened < l->conns) /* several shared one, or not all were needed */
		as_flow_add(&f, "%s at once", as_human_count((double)l->conns).s);
	else
		as_flow_add(&f, "%s connection%s", as_human_count((double)l->conns).s,
			    l->conns == 1 ? "" : "s");
	if (l->warmup)
		as_flow_add(&f, "%s before it, to warm up", as_human_count((double)l->warmup).s);
	if (l->unfinished)
		as_flow_add(&f, "%s unanswered at the end",
			    as_human_count((double)l->unfinished).s);
	as_flow_end(&f);
}

static void put_answers(const struct as_sheet *s, const struct as_load *l)
{
	struct as_flow f = {s->out, s->look, 2, "answers     ", AS_INK_NONE, 0};

	for (size_t c = 0; c < AS_LOAD_CLASSES; c++)
		if (l->status[c])
			as_flow_add(&f, "%zuxx %s", c + 1, as_human_count((double)l->status[c]).s);
	as_flow_add(&f, "%s in", as_human_bytes((double)l->bytes_in).s);
	as_flow_add(&f, "%s out", as_human_bytes((double)l->bytes_out).s);
	as_flow_add(&f, "%s connection%s opened", as_human_count((double)l->opened).s,
		    l->opened == 1 ? "" : "s");
	as_flow_end(&f);
}

static void put_tls(const struct as_sheet *s, const struct as_load *l)
{
	struct as_flow f = {s->out, s->look, 2, "TLS         ", AS_INK_NONE, 0};

	if (!l->tls[0])
		return;
	as_flow_add(&f, "%s", l->tls);
	as_flow_add(&f, "%s handshake%s", as_human_count((double)l->handshake.n).s,
		    l->handshake.n == 1 ? "" : "s");
	if (l->resumed)
		as_flow_add(&f, "%s of them short", as_human_count((double)l->resumed).s);
	as_flow_end(&f);
}

static void put_websockets(const struct as_sheet *s, const struct as_load *l)
{
	struct as_flow f = {s->out, s->look, 2, "WebSockets  ", AS_INK_NONE, 0};

	if (!l->ws_asked)
		return;
	as_flow_add(&f, "%s opened", as_human_count((double)l->ws_connecting.n).s);
	if (l->ws_asked > l->ws_connecting.n)
		as_flow_add(&f, "%s not",
			    as_human_count((double)(l->ws_asked - l->ws_connecting.n)).s);
	as_flow_add(&f, "%s message%s sent", as_human_count((double)l->ws_sent).s,
		    l->ws_sent == 1 ? "" : "s");
	as_flow_add(&f, "%s received", as_human_count((double)l->ws_received).s);
	as_flow_end(&f);
}

/* Answers that came in pieces. */
static void put_streams(const struct as_sheet *s, const struct as_load *l)
{
	const struct as_load_streams *st = &l->stream;
	struct as_flow f = {s->out,      s->look, 2, st->n ? "streams     " : "tokens      ",
			    AS_INK_NONE, 0};

	if (!st->n && !st->told)
		return;
	if (st->n) {
		as_flow_add(&f, "%s", as_human_count((double)st->n).s);
		as_flow_add(&f, "%s event%s", as_human_count((double)st->events).s,
			    st->events == 1 ? "" : "s");
	}
	if (st->told && l->measured_ns > 0) {
		as_flow_add(&f, "%s tokens", as_human_count((double)st->tokens).s);
		as_flow_add(&f, "%s tokens/s",
			    as_human_count((double)st->tokens * 1e9 / (double)l->measured_ns).s);
	}
	if (l->errors[AS_LOAD_CUT])
		as_flow_add(&f, "%s cut off", as_human_count((double)l->errors[AS_LOAD_CUT]).s);
	as_flow_end(&f);
}

/* "ttft 500 ms, e2el 10 s"; of a deadline alone its time. */
static void name_bounds(const struct as_load *l, char *to, size_t size)
{
	bool only_all = !l->bound[AS_LOAD_TTFT].within_ns && !l->bound[AS_LOAD_TPOT].within_ns;
	size_t at = 0;

	*to = '\0';
	for (unsigned b = 0; b < AS_LOAD_NBOUNDS && at < size; b++) {
		if (!l->bound[b].within_ns)
			continue;
		at += (size_t)snprintf(to + at, size - at, "%s%s%s%s", at ? ", " : "",
				       only_all ? "" : as_load_bound_key((enum as_load_bound_id)b),
				       only_all ? "" : " ",
				       as_human_duration(l->bound[b].within_ns).s);
	}
}

/* Why nobody knows which answers were good ones; NULL: it is known. */
static const char *why_unknown(const struct as_load *l)
{
	if (as_load_unknown_bound(l) == AS_LOAD_NBOUNDS)
		return NULL;
	return l->stream.pieces ? "no `usage`: ask for it by stream_options.include_usage"
				: "no answer was a stream with tokens";
}

/* Which bounds were missed, and by how many. */
static void put_missed(struct as_flow *f, const struct as_load *l)
{
	for (unsigned b = 0; b < AS_LOAD_NBOUNDS; b++) {
		const struct as_load_bound *x = &l->bound[b];
		const char *key = as_load_bound_key((enum as_load_bound_id)b);

		if (x->missed)
			as_flow_add(f, "%s missed by %s", key, as_human_count((double)x->missed).s);
		if (x->unknown)
			as_flow_add(f, "%s unknown of %s", key,
				    as_human_count((double)x->unknown).s);
	}
}

static void put_goodput(const struct as_sheet *s, const struct as_load *l)
{
	struct as_flow f = {s->out, s->look, 2, "goodput     ", AS_INK_NONE, 0};
	const char *why = why_unknown(l);
	double share = as_load_goodput(l);
	char bounds[100];

	if (!as_load_is_judged(l) || (!why && !isfinite(share)))
		return;
	name_bounds(l, bounds, sizeof bounds);
	if (why)
		as_flow_add(&f, "unknown: %s", why);
	else
		as_flow_add(&f, "%s within %s", as_human_percent(share).s, bounds);
	if (isfinite(as_load_good_rate(l)))
		as_flow_add(&f, "%s/s", as_human_count(as_load_good_rate(l)).s);
	put_missed(&f, l);
	as_flow_end(&f);
}

static void put_error(const struct as_sheet *s, const struct as_load *l, enum as_load_error e)
{
	char text[120];

	if (!l->errors[e])
		return;
	(void)snprintf(text, sizeof text, "%s %s: %s", as_load_error_key(e),
		       as_human_count((double)l->errors[e]).s, as_load_error_help(e));
	as_buf_fill(s->out, ' ', AS_TEXT_AT);
	as_put_wrapped(s->out, s->look, text, AS_TEXT_AT, AS_TEXT_AT + 2);
}

static void put_errors(const struct as_sheet *s, const struct as_load *l)
{
	uint64_t failed = as_load_failed(l);

	if (!failed)
		return;
	as_put_label(s, "errors", AS_RED);
	as_buf_fmt(s->out, "%s, %s\n", as_human_count((double)failed).s,
		   as_human_percent((double)failed / (double)(l->requests ? l->requests : 1)).s);
	for (unsigned e = 0; e < AS_LOAD_NERRORS; e++)
		put_error(s, l, (enum as_load_error)e);
}

bool as_put_unasked(struct as_buf *out, const struct as_load *l)
{
	if (l->unasked <= 0)
		return false;
	as_buf_fmt(out,
		   "%s connection%s left for what the server said there, with no request under way",
		   as_human_count((double)l->unasked).s, l->unasked == 1 ? "" : "s");
	return true;
}

static void put_unasked(const struct as_sheet *s, const struct as_load *l)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);

	if (!as_put_unasked(&text, l))
		return;
	as_put_label(s, "unasked", AS_INK_NONE);
	as_put_wrapped(s->out, s->look, as_buf_text(&text), AS_TEXT_AT, AS_TEXT_AT);
	s->out->bad |= text.bad;
}

static void put_all_times(const struct as_sheet *s, const struct as_load *l)
{
	if (!l->latency.n)
		return;
	put_titles(s);
	put_times(s, "latency", &l->latency, AS_BOLD);
	for (size_t i = 0; i < AS_LOAD_NSTREAM_TIMES; i++)
		put_times(s, as_load_stream_times[i].label, as_load_stream_at(&l->stream, i),
			  AS_INK_NONE);
	put_times(s, "handshake", &l->handshake, AS_INK_NONE);
	put_times(s, "ws connect", &l->ws_connecting, AS_INK_NONE);
	put_times(s, "ws session", &l->ws_session, AS_INK_NONE);
	if (!(l->rate > 0)) /* sent when it was due, by definition */
		return;
	put_times(s, "on the wire", &l->wire, AS_INK_NONE);
	put_times(s, "lateness", &l->lateness, AS_DIM);
}

void as_put_load(const struct as_sheet *s)
{
	const struct as_load *l = s->run->load;

	if (!l)
		return;
	as_put_climb(s);
	as_put_rollouts(s, &l->rollouts);
	put_requests(s, l);
	put_answers(s, l);
	put_tls(s, l);
	put_websockets(s, l);
	put_streams(s, l);
	put_goodput(s, l);
	put_errors(s, l);
	put_unasked(s, l);
	put_all_times(s, l);
	as_put_load_flow(s);
	as_put_load_servers(s);
	as_put_load_targets(s);
	as_put_thresholds(s);
	as_put_gym(s, &l->rollouts);
}

/* ── the summary ──────────────────────────────────────────────────────── */

static void put_generator(const struct as_sheet *s)
{
	const struct as_load *l = s->run->load;
	struct as_flow f = {s->out, s->look, 2, "assay       ", AS_DIM, 0};

	if (l->sending_ns > 0)
		as_flow_add(&f, "%s of a core",
			    as_human_percent((double)l->cpu_ns / (double)l->sending_ns).s);
	if (l->requests)
		as_flow_add(&f, "%s CPU a request",
			    as_human_duration(l->cpu_ns / (int64_t)l->requests).s);
	as_flow_add(&f, "%s memory", as_human_bytes((double)s->run->totals[AS_T_SELF_RSS].value).s);
	as_flow_end(&f);
}

void as_report_load(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	const struct as_sheet s = {out, look, run};
	size_t from = out->len;

	as_put_head(&s);
	as_put_load(&s);
	as_buf_byte(out, '\n');
	as_put_verdict(&s);
	put_generator(&s);
	as_page_end(out, look, from);
}
