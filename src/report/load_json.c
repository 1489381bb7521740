#include <math.h>

#include "judge/load.h"
#include "report/capacity.h"
#include "report/hdr.h"
#include "report/load.h"
#include "report/load_flow.h"
#include "report/load_server.h"
#include "report/load_target.h"
#include "report/rollouts.h"

static double ms(double ns)
{
	return ns / 1e6;
}

void as_put_load_times_json(struct as_json *j, const char *key, const struct as_histogram *h)
{
	static const struct {
		const char *key;
		double q;
	} quantiles[] = {{"p50", 0.5},  {"p90", 0.9},    {"p95", 0.95},
			 {"p99", 0.99}, {"p999", 0.999}, {"max", 1}};

	as_json_open(j, key, '{');
	for (size_t i = 0; i < AS_LEN(quantiles); i++)
		as_json_f64(j, quantiles[i].key,
			    h->n ? ms((double)as_histogram_at(h, quantiles[i].q)) : (double)NAN);
	as_json_f64(j, "mean", ms(as_histogram_mean(h)));
	as_json_close(j);
}

static void put_errors(struct as_json *j, const uint64_t *errors)
{
	int64_t failed = 0;

	for (unsigned e = 0; e < AS_LOAD_NERRORS; e++)
		failed += (int64_t)errors[e];
	as_json_i64(j, "failed", failed);
	as_json_open(j, "errors", '{');
	for (unsigned e = 0; e < AS_LOAD_NERRORS; e++)
		if (errors[e])
			as_json_i64(j, as_load_error_key((enum as_load_error)e),
				    (int64_t)errors[e]);
	as_json_close(j);
}

void as_put_load_outcomes_json(struct as_json *j, const uint64_t *errors, const uint64_t *status,
			       int64_t measured_ns)
{
	static const char *const keys[AS_LOAD_CLASSES] = {"1xx", "2xx", "3xx", "4xx", "5xx"};
	double answers = 0;

	put_errors(j, errors);
	as_json_open(j, "statuses", '{');
	for (size_t c = 0; c < AS_LOAD_CLASSES; c++) {
		answers += (double)status[c];
		if (status[c])
			as_json_i64(j, keys[c], (int64_t)status[c]);
	}
	as_json_close(j);
	as_json_f64(j, "rate", measured_ns > 0 ? answers * 1e9 / (double)measured_ns : (double)NAN);
}

static void put_counts(struct as_json *j, const struct as_load *l)
{
	as_json_i64(j, "requests", (int64_t)l->requests);
	as_json_i64(j, "warmup_requests", (int64_t)l->warmup);
	as_json_i64(j, "unfinished", (int64_t)l->unfinished);
	as_put_load_outcomes_json(j, l->errors, l->status, l->measured_ns);
	as_json_f64(j, "rate_asked", l->rate > 0 ? l->rate : (double)NAN);
	as_json_str(j, "rate_unit", l->nsteps ? "sessions/s" : "requests/s");
	as_json_f64(j, "measured_seconds", (double)l->measured_ns / 1e9);
	as_json_i64(j, "connections", (int64_t)l->conns);
	as_json_i64(j, "connections_opened", (int64_t)l->opened);
	if (l->unasked == AS_NA)
		as_json_na(j, "unasked");
	else
		as_json_i64(j, "unasked", l->unasked);
	as_json_i64(j, "bytes_in", (int64_t)l->bytes_in);
	as_json_i64(j, "bytes_out", (int64_t)l->bytes_out);
}

static double per_second(const struct as_load *l, uint64_t n)
{
	return l->measured_ns > 0 ? (double)n * 1e9 / (double)l->measured_ns : (double)NAN;
}

static void put_tokens(struct as_json *j, const struct as_load *l)
{
	const struct as_load_streams *s = &l->stream;
	bool told = s->told > 0;

	as_json_i64(j, "token_events", (int64_t)s->pieces);
	if (told)
		as_json_i64(j, "tokens", (int64_t)s->tokens);
	else
		as_json_na(j, "tokens");
	as_json_i64(j, "streams_with_tokens", (int64_t)s->told);
	as_json_f64(j, "tokens_per_second", told ? per_second(l, s->tokens) : (double)NAN);
}

static void put_streams(struct as_json *j, const struct as_load *l)
{
	const struct as_load_streams *s = &l->stream;
	char key[40];

	if (!s->n && !s->told) {
		as_json_na(j, "stream");
		return;
	}
	as_json_open(j, "stream", '{');
	as_json_i64(j, "streams", (int64_t)s->n);
	as_json_i64(j, "cut", (int64_t)l->errors[AS_LOAD_CUT]);
	as_json_i64(j, "events", (int64_t)s->events);
	as_json_f64(j, "events_per_second", per_second(l, s->events));
	put_tokens(j, l);
	for (size_t i = 0; i < AS_LOAD_NSTREAM_TIMES; i++) {
		(void)snprintf(key, sizeof key, "%s_ms", as_load_stream_times[i].key);
		as_put_load_times_json(j, key, as_load_stream_at(s, i));
	}
	as_json_close(j);
}

static void put_tls(struct as_json *j, const struct as_load *l)
{
	if (!l->tls[0]) {
		as_json_na(j, "tls");
		return;
	}
	as_json_open(j, "tls", '{');
	as_json_str(j, "agreed", l->tls);
	as_json_i64(j, "handshakes", (int64_t)l->handshake.n);
	as_json_i64(j, "resumed", (int64_t)l->resumed);
	as_put_load_times_json(j, "handshake_ms", &l->handshake);
	as_json_close(j);
}

static void put_websockets(struct as_json *j, const struct as_load *l)
{
	if (!l->ws_asked) {
		as_json_na(j, "websocket");
		return;
	}
	as_json_open(j, "websocket", '{');
	as_json_i64(j, "asked", (int64_t)l->ws_asked);
	as_json_i64(j, "opened", (int64_t)l->ws_connecting.n);
	as_json_i64(j, "messages_sent", (int64_t)l->ws_sent);
	as_json_i64(j, "messages_received", (int64_t)l->ws_received);
	as_put_load_times_json(j, "connecting_ms", &l->ws_connecting);
	as_put_load_times_json(j, "session_ms", &l->ws_session);
	as_json_close(j);
}

static void put_bounds(struct as_json *j, const struct as_load *l)
{
	as_json_open(j, "bounds", '{');
	for (unsigned b = 0; b < AS_LOAD_NBOUNDS; b++) {
		const struct as_load_bound *x = &l->bound[b];

		if (!x->within_ns)
			continue;
		as_json_open(j, as_load_bound_key((enum as_load_bound_id)b), '{');
		as_json_f64(j, "within_ms", ms((double)x->within_ns));
		as_json_i64(j, "kept", (int64_t)x->kept);
		as_json_i64(j, "missed", (int64_t)x->missed);
		as_json_i64(j, "unknown", (int64_t)x->unknown);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_goodput(struct as_json *j, const struct as_load *l)
{
	int64_t deadline_ns = l->bound[AS_LOAD_E2EL].within_ns;

	as_json_f64(j, "deadline_ms", deadline_ns ? ms((double)deadline_ns) : (double)NAN);
	as_json_f64(j, "goodput", as_load_goodput(l));
	if (!as_load_is_judged(l)) {
		as_json_na(j, "good");
		return;
	}
	as_json_open(j, "good", '{');
	if (isnan(as_load_goodput(l)))
		as_json_na(j, "requests");
	else
		as_json_i64(j, "requests", (int64_t)l->met);
	as_json_f64(j, "rate", as_load_good_rate(l));
	put_bounds(j, l);
	as_json_close(j);
}

static void put_generator(struct as_json *j, const struct as_load *l)
{
	double each = l->requests ? (double)l->cpu_ns / 1e3 / (double)l->requests : (double)NAN;

	as_json_open(j, "generator", '{');
	as_json_f64(j, "busy", as_load_busy(l));
	as_json_f64(j, "cpu_us_per_request", each);
	as_json_f64(j, "lateness_allowed_ms", ms((double)as_load_allowance(l)));
	as_json_close(j);
}

static void put_hdr(struct as_json *j, const char *key, const struct as_histogram *h)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);

	as_put_hdr(&text, h);
	as_json_str(j, key, as_buf_text(&text));
	j->out->bad |= text.bad;
}

static void put_all(struct as_json *j, const struct as_run *run)
{
	const struct as_load *l = run->load;

	put_counts(j, l);
	as_put_load_times_json(j, "latency_ms", &l->latency);
	as_put_load_times_json(j, "wire_ms", &l->wire);
	as_put_load_times_json(j, "waiting_ms", &l->waiting);
	as_put_load_times_json(j, "lateness_ms", &l->lateness);
	put_goodput(j, l);
	put_streams(j, l);
	put_tls(j, l);
	put_websockets(j, l);
	as_put_load_flow_json(j, l);
	as_put_thresholds_json(j, l);
	as_put_load_servers_json(j, l);
	as_put_climb_json(j, l);
	as_put_rollouts_json(j, l);
	as_put_load_targets_json(j, run);
	put_generator(j, l);
	as_json_open(j, "hdr", '{');
	put_hdr(j, "latency", &l->latency);
	put_hdr(j, "wire", &l->wire);
	put_hdr(j, "lateness", &l->lateness);
	as_json_close(j);
}

void as_put_load_json(struct as_json *j, const struct as_run *run)
{
	if (!run->load) {
		as_json_na(j, "load");
		return;
	}
	as_json_open(j, "load", '{');
	put_all(j, run);
	as_json_close(j);
}

void as_report_load_json(struct as_buf *out, const struct as_run *run)
{
	struct as_json j = as_json_pretty(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/load/1");
	as_json_str(&j, "id", run->who.id);
	as_json_str(&j, "name", run->who.name);
	as_json_str(&j, "url", run->who.argc ? run->who.argv[run->who.argc - 1] : NULL);
	as_json_str(&j, "status", as_status_name(run->end.status));
	as_json_f64(&j, "duration_seconds", (double)run->end.duration_ns / 1e9);
	as_json_str(&j, "verdict", as_load_is_invalid(&run->verdict) ? "INVALID" : "valid");
	as_json_str(&j, "verdict_reason", run->verdict.sentence);
	put_all(&j, run);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
