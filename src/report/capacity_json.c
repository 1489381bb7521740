#include <math.h>

#include "judge/load.h"
#include "report/capacity.h"
#include "report/load.h"

static void put_probe(struct as_json *j, const struct as_climb_probe *p)
{
	static const char *const verdicts[] = {"keeps", "misses", "invalid"};

	as_json_open(j, NULL, '{');
	as_json_f64(j, "amount", p->amount);
	as_json_f64(j, "rate", p->rate);
	as_json_f64(j, "under_way", p->under_way);
	as_json_f64(j, "p50_ms", p->p50);
	as_json_f64(j, "p99_ms", p->p99);
	as_json_f64(j, "errors", p->errors);
	as_json_f64(j, "seconds", (double)p->lasted_ns / 1e9);
	as_json_str(j, "verdict", verdicts[p->verdict]);
	as_json_bool(j, "sure", p->sure);
	as_json_bool(j, "held", p->held);
	as_json_str(j, "missed", p->missed[0] ? p->missed : NULL);
	as_json_str(j, "invalid", p->invalid[0] ? p->invalid : NULL);
	as_json_str(j, "run", p->run);
	as_json_close(j);
}

static void put_number(struct as_json *j, const char *key, const struct as_usl_number *n)
{
	if (!isfinite(n->mid)) {
		as_json_na(j, key);
		return;
	}
	as_json_open(j, key, '{');
	as_json_f64(j, "value", n->mid);
	as_json_f64(j, "low", n->low);
	as_json_f64(j, "high", n->high);
	as_json_close(j);
}

static void put_law(struct as_json *j, const struct as_climb_story *c)
{
	struct as_usl u;

	if (!as_climb_law(c, &u)) {
		as_json_na(j, "law");
		return;
	}
	as_json_open(j, "law", '{');
	put_number(j, "lambda", &u.lambda);
	put_number(j, "sigma", &u.sigma);
	put_number(j, "kappa", &u.kappa);
	put_number(j, "peak_under_way", &u.peak_n);
	put_number(j, "peak_rate", &u.peak_x);
	as_json_f64(j, "error", u.error);
	as_json_bool(j, "extrapolated", u.far);
	as_json_close(j);
}

static void put_limit(struct as_json *j, const struct as_load *l)
{
	as_auto_buf struct as_buf why = AS_BUF(AS_BUF_LINE);

	if (!l->climb.limits[0]) {
		as_put_no_limit(&why, l);
		as_json_na(j, "limited_by");
		as_json_str(j, "limit_unknown", as_buf_text(&why));
		j->out->bad |= why.bad;
		return;
	}
	as_json_open(j, "limited_by", '{');
	as_json_str(j, "function", l->climb.limits);
	as_json_f64(j, "share", l->climb.limit_share);
	as_json_close(j);
	as_json_na(j, "limit_unknown");
}

static void put_story(struct as_json *j, const struct as_load *l)
{
	const struct as_climb_story *c = &l->climb;

	as_json_str(j, "by", c->by_rate ? "rate" : "concurrency");
	as_json_str(j, "unit", as_climb_unit_name(c));
	as_json_f64(j, "capacity", c->answer);
	as_json_f64(j, "too_much", c->above);
	as_json_str(j, "end", as_climb_end_key((enum as_climb_end)c->end));
	as_json_str(j, "reason", as_climb_reason(c));
	put_limit(j, l);
	put_law(j, c);
	as_json_open(j, "probes", '[');
	for (size_t i = 0; i < c->n; i++)
		put_probe(j, &c->probe[i]);
	as_json_close(j);
}

void as_put_climb_json(struct as_json *j, const struct as_load *l)
{
	if (!l->climb.n) {
		as_json_na(j, "climb");
		return;
	}
	as_json_open(j, "climb", '{');
	put_story(j, l);
	as_json_close(j);
}

void as_report_capacity_json(struct as_buf *out, const struct as_run *run)
{
	struct as_json j = as_json_pretty(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/capacity/1");
	as_json_str(&j, "id", run->who.id);
	as_json_str(&j, "name", run->who.name);
	as_json_str(&j, "url", run->who.argc ? run->who.argv[run->who.argc - 1] : NULL);
	as_json_str(&j, "slo", run->load->thresholds);
	put_story(&j, run->load);
	as_put_load_json(&j, run);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
