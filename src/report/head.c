#include "report/head.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "judge/growth.h"
#include "judge/load.h"
#include "judge/rollouts.h"
#include "report/glyph.h"
#include "report/load.h"
#include "report/words.h"
#include "run/sofar.h"

void as_put_label(const struct as_sheet *s, const char *label, enum as_ink ink)
{
	as_buf_str(s->out, "  ");
	as_ink(s->out, s->look, ink);
	as_put_cell(s->out, label, AS_LABEL, false);
	as_ink_end(s->out, s->look, ink);
	as_buf_byte(s->out, ' ');
}

/* The load that is shown may have kept to everything: it is the search that counts. */
static const char *why_no_capacity(const struct as_climb_story *c)
{
	switch ((enum as_climb_end)c->end) {
	case AS_CLIMB_INVALID:
		return "INVALID";
	case AS_CLIMB_NONE:
	case AS_CLIMB_UNHELD:
		return "threshold missed";
	default:
		return NULL;
	}
}

static bool is_gym_unmet(const struct as_load *l)
{
	struct as_gym_target targets[AS_GYM_TARGETS];

	return l->rollouts.gym && !as_judge_gym(&l->rollouts, l, targets);
}

/* A load that went through to its end can have come to nothing all the same. */
static const char *why_in_vain(const struct as_run *run)
{
	struct as_thresholds t;

	if (!run->load || (run->end.status != AS_SUCCESS && run->end.status != AS_FAILED))
		return NULL;
	if (run->load->climb.n)
		return why_no_capacity(&run->load->climb);
	if (as_load_is_invalid(&run->verdict))
		return "INVALID";
	if (run->end.status == AS_FAILED)
		return NULL;
	if (is_gym_unmet(run->load))
		return "targets not met";
	as_load_thresholds(run->load, &t);
	return as_thresholds_missed(&t, run->load) ? "threshold missed" : NULL;
}

/* The share of a load's requests that failed, though not so many that it did; 0: all is well. */
static double failed_share(const struct as_run *run)
{
	const struct as_load *l = run->load;

	if (!l || run->end.status != AS_SUCCESS || l->climb.n || l->rollouts.asked || !l->requests)
		return 0;
	return (double)as_load_failed(l) / (double)l->requests;
}

static void put_status(const struct as_sheet *s)
{
	const char *in_vain = why_in_vain(s->run);
	double failed = failed_share(s->run);

	if (in_vain) {
		as_put_ink(s->out, s->look, AS_RED, as_status_mark(AS_FAILED));
		as_buf_byte(s->out, ' ');
		as_put_ink(s->out, s->look, AS_RED, in_vain);
		return;
	}
	enum as_ink ink = failed > 0 ? AS_YELLOW : as_status_ink(s->run->end.status);

	as_ink(s->out, s->look, ink);
	as_buf_fmt(s->out, "%s ", failed > 0 ? "▲" : as_status_mark(s->run->end.status));
	as_put_outcome(s->out, &s->run->end);
	if (failed > 0)
		as_buf_fmt(s->out, ", %s failed", as_human_percent(failed).s);
	as_ink_end(s->out, s->look, ink);
}

void as_put_head(const struct as_sheet *s)
{
	const struct as_run *run = s->run;
	size_t from = s->out->len;
	struct as_text took = as_human_duration(run->end.duration_ns);
	bool running = run->end.status == AS_RUNNING;
	/* What stands behind the name: "  3m 12s so far  abcdefghijkl". */
	int rest = (int)strlen(took.s) + (running ? 7 : 0) + AS_ID_LEN + 6;

	put_status(s);
	as_buf_str(s->out, "  ");
	int room = s->look->width - as_text_width(as_buf_text(s->out) + from, s->out->len - from) -
		   rest;
	as_ink(s->out, s->look, AS_BOLD);
	int name = as_put_name(s->out, run->who.name, room > 8 ? room : 8);
	as_ink_end(s->out, s->look, AS_BOLD);
	as_buf_fmt(s->out, "  %s%s", took.s, running ? " so far" : "");
	as_buf_fill(s->out, ' ', (size_t)(room - name > 0 ? room - name : 0) + 4);
	as_put_ink(s->out, s->look, AS_DIM, run->who.id);
	as_end_line(s->out);
	if (run->end.error) {
		as_buf_str(s->out, "  ");
		as_put_wrapped(s->out, s->look, run->end.error, 2, 2);
	}
}

void as_put_verdict(const struct as_sheet *s)
{
	const struct as_verdict *v = &s->run->verdict;
	struct as_flow f = {s->out, s->look, AS_TEXT_AT, NULL, AS_DIM, 0};

	if (!v->kind[0])
		return;
	as_put_label(s, "verdict", AS_BOLD);
	as_ink(s->out, s->look, AS_BOLD);
	as_put_wrapped(s->out, s->look, v->sentence, AS_TEXT_AT, AS_TEXT_AT);
	as_ink_end(s->out, s->look, AS_BOLD);
	for (size_t i = 0; i < v->nevidence && i < AS_EVIDENCE_MAX; i++)
		as_flow_add(&f, "%s %s", v->evidence[i].what, v->evidence[i].value);
	if (v->confidence > 0)
		as_flow_add(&f, "sure %s", as_human_percent(v->confidence).s);
	as_flow_end(&f);
	if (!v->advice[0])
		return;
	as_buf_fill(s->out, ' ', AS_TEXT_AT);
	as_buf_str(s->out, "→ ");
	as_put_wrapped(s->out, s->look, v->advice, AS_TEXT_AT + 2, AS_TEXT_AT + 2);
}

/* A century will do: further away than that it is "never". */
static const double NEVER = 100 * 365.25 * 86400;

static const char *per_hour(double bytes_a_second, struct as_text *room)
{
	double v = bytes_a_second * 3600;

	*room = as_human_bytes(fabs(v));
	if (v < 0 && strcmp(room->s, "0 B")) {
		memmove(room->s + 1, room->s, sizeof room->s - 1);
		room->s[0] = '-';
		room->s[sizeof room->s - 1] = '\0';
	}
	return room->s;
}

void as_put_growth(const struct as_sheet *s, bool all)
{
	struct as_growth g = as_growth_of(s->run);
	bool alarm = g.answer == AS_GROWTH_ALARM;
	struct as_flow f = {s->out, s->look, 2, "growth      ", alarm ? AS_YELLOW : AS_DIM, 0};
	struct as_text mid, low, high;

	if (!isfinite(g.rate) || (!alarm && !all))
		return;
	if (alarm)
		as_flow_add(&f, "memory grows by %s/h", per_hour(g.rate, &mid));
	else
		as_flow_add(&f, "memory: %s%s%s", as_growth_name(g.answer), *g.why ? ", " : "",
			    g.why);
	as_flow_add(&f, "95 %% interval %s/h to %s/h", per_hour(g.low, &low),
		    per_hour(g.high, &high));
	if (g.left < NEVER)
		as_flow_add(&f, "%s are full in %s", as_human_bytes(g.limit).s,
			    as_human_duration((int64_t)(g.left * (double)AS_SECOND)).s);
	as_flow_end(&f);
}

static struct as_text own(const struct as_run *run, enum as_total_id id)
{
	double v = as_total_value(run, id);

	return as_totals[id].unit == AS_NS      ? as_human_duration(run->totals[id].value)
	       : as_totals[id].unit == AS_BYTES ? as_human_bytes(v)
						: as_human_count(v);
}

/* CPU and memory. Of a short run a share would only say how short it was. */
static void add_own_use(const struct as_run *run, struct as_flow *f)
{
	double cpu = as_total_value(run, AS_T_SELF_CPU);

	if (!isfinite(cpu))
		return;
	if (run->end.duration_ns < AS_SECOND)
		as_flow_add(f, "%s CPU, %s", own(run, AS_T_SELF_CPU).s, own(run, AS_T_SELF_RSS).s);
	else
		as_flow_add(f, "%s of a core, %s",
			    as_human_percent(cpu / (double)run->end.duration_ns).s,
			    own(run, AS_T_SELF_RSS).s);
}

void as_put_own_cost(const struct as_sheet *s)
{
	struct as_flow f = {s->out, s->look, 2, "assay       ", AS_DIM, 0};
	uint64_t samples = as_run_samples(s->run);
	double calls = as_total_value(s->run, AS_T_SELF_CALLS) / (double)samples;

	add_own_use(s->run, &f);
	as_flow_add(&f, "%s sample%s", samples ? as_human_count((double)samples).s : "no",
		    samples == 1 ? "" : "s");
	if (isfinite(calls))
		as_flow_add(&f, "%s system calls a sample", as_human_count(round(calls)).s);
	if (samples && s->run->totals[AS_T_SELF_LATE].value > 0)
		as_flow_add(&f, "%s late", own(s->run, AS_T_SELF_LATE).s);
	as_flow_end(&f);
}

void as_put_more(const struct as_sheet *s, uint64_t n, const char *of_them)
{
	if (!n)
		return;
	as_ink(s->out, s->look, AS_DIM);
	as_buf_fmt(s->out, "  … and %s more%s", as_human_count((double)n).s, of_them);
	as_ink_end(s->out, s->look, AS_DIM);
	as_buf_byte(s->out, '\n');
}
