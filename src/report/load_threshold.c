#include <math.h>

#include "report/load.h"

enum { EXPR = 44 };

/* They were parsed before they were kept; of a damaged file those before the damage count. */
void as_load_thresholds(const struct as_load *l, struct as_thresholds *ret)
{
	struct as_err err;

	ret->n = 0;
	if (l->thresholds[0])
		(void)as_thresholds_parse(l->thresholds, ret, &err);
}

struct as_text as_threshold_text(const struct as_threshold *t, double value)
{
	struct as_text rate;

	if (isnan(value))
		return (struct as_text){"unknown"};
	switch (t->unit) {
	case AS_THRESHOLD_MS:
		return as_human_duration((int64_t)(value * 1e6));
	case AS_THRESHOLD_SHARE:
		return as_human_percent(value);
	case AS_THRESHOLD_BYTES:
		return as_human_bytes(value);
	case AS_THRESHOLD_RATE:
		(void)snprintf(rate.s, sizeof rate.s, "%.20s/s", as_human_count(value).s);
		return rate;
	case AS_THRESHOLD_COUNT:
		break;
	}
	return as_human_count(value);
}

static void put_one(const struct as_sheet *s, const struct as_threshold *t, bool first)
{
	double value = as_threshold_value(t, s->run->load);
	bool ok = as_threshold_holds(t, value);

	if (first)
		as_put_label(s, "thresholds", AS_INK_NONE);
	else
		as_buf_fill(s->out, ' ', AS_TEXT_AT);
	as_put_ink(s->out, s->look, ok ? AS_GREEN : AS_RED, ok ? "✔ " : "✘ ");
	as_put_cell(s->out, t->expr, EXPR, false);
	as_put_ink(s->out, s->look, ok ? AS_INK_NONE : AS_RED, as_threshold_text(t, value).s);
	as_end_line(s->out);
}

void as_put_thresholds(const struct as_sheet *s)
{
	struct as_thresholds t;

	as_load_thresholds(s->run->load, &t);
	for (size_t i = 0; i < t.n; i++)
		put_one(s, &t.at[i], i == 0);
}

void as_put_thresholds_json(struct as_json *j, const struct as_load *l)
{
	struct as_thresholds t;

	as_load_thresholds(l, &t);
	as_json_open(j, "thresholds", '[');
	for (size_t i = 0; i < t.n; i++) {
		double value = as_threshold_value(&t.at[i], l);

		as_json_open(j, NULL, '{');
		as_json_str(j, "expr", t.at[i].expr);
		as_json_f64(j, "value", value);
		as_json_bool(j, "ok", as_threshold_holds(&t.at[i], value));
		as_json_close(j);
	}
	as_json_close(j);
}
