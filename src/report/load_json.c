#include <math.h>

#include "judge/load.h"
#include "report/hdr.h"
#include "report/load.h"
#include "report/load_target.h"

static double ms(double ns)
{
	return ns / 1e6;
}

static void put_times(struct as_json *j, const char *key, const struct as_histogram *h)
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

static void put_errors(struct as_json *j, const struct as_load *l)
{
	as_json_i64(j, "failed", (int64_t)as_load_failed(l));
	as_json_open(j, "errors", '{');
	for (unsigned e = 0; e < AS_LOAD_NERRORS; e++)
		if (l->errors[e])
			as_json_i64(j, as_load_error_key((enum as_load_error)e),
				    (int64_t)l->errors[e]);
	as_json_close(j);
}

static void put_statuses(struct as_json *j, const struct as_load *l)
{
	static const char *const keys[AS_LOAD_CLASSES] = {"1xx", "2xx", "3xx", "4xx", "5xx"};

	as_json_open(j, "statuses", '{');
	for (size_t c = 0; c < AS_LOAD_CLASSES; c++)
		if (l->status[c])
			as_json_i64(j, keys[c], (int64_t)l->status[c]);
	as_json_close(j);
}

static void put_counts(struct as_json *j, const struct as_load *l)
{
	as_json_i64(j, "requests", (int64_t)l->requests);
	as_json_i64(j, "warmup_requests", (int64_t)l->warmup);
	as_json_i64(j, "unfinished", (int64_t)l->unfinished);
	put_errors(j, l);
	put_statuses(j, l);
	as_json_f64(j, "rate", as_load_rate(l));
	as_json_f64(j, "rate_asked", l->rate > 0 ? l->rate : (double)NAN);
	as_json_f64(j, "measured_seconds", (double)l->measured_ns / 1e9);
	as_json_i64(j, "connections", (int64_t)l->conns);
	as_json_i64(j, "connections_opened", (int64_t)l->opened);
	as_json_i64(j, "bytes_in", (int64_t)l->bytes_in);
	as_json_i64(j, "bytes_out", (int64_t)l->bytes_out);
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
	put_times(j, "latency_ms", &l->latency);
	put_times(j, "wire_ms", &l->wire);
	put_times(j, "lateness_ms", &l->lateness);
	as_put_thresholds_json(j, l);
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
