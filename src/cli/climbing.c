#include "cli/climbing.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "cli/load_view.h"
#include "judge/load.h"
#include "judge/trial.h"

/* One that is not decided when its time is over goes on, so many times as long at most. */
enum { LONGER = 4 };
/* Others that had the generator's CPU may be gone the next time. */
enum { AGAIN = 3 };
/* Slices of a probe, by which it is judged. */
enum { SLICES = 16 };
/* A server that answers less than this share of what is sent has a queue. */
static const double QUEUED = 0.8;

/* ── while a probe lasts ──────────────────────────────────────────────── */

struct probe {
	const struct as_climbing *climbing;
	struct as_trial trial;
	int64_t before_ns; /* how long it had lasted at the last sample */
	uint64_t answers;  /* by then, whatever they said                 */
	uint64_t answered; /* in slices that count                        */
	int64_t lasted_ns; /* which were so long                          */
	bool told;
};

/* What is held is not given up for how it began: a server that gets many new clients at once is
   slow at first. */
static bool is_decided(const struct probe *p, int64_t lasted_ns)
{
	const struct as_climbing *c = p->climbing;
	struct as_trial_view v = as_trial_judge(&p->trial, NULL);
	int64_t enough = c->climb.phase == AS_CLIMB_HOLD ? c->hold_ns : c->probe_ns;

	if (!v.sure)
		return false;
	if (!v.keeps)
		return lasted_ns >= enough / 2;
	return c->climb.phase == AS_CLIMB_HALVE && lasted_ns >= enough;
}

/* Answers since the last sample. */
static uint64_t new_answers(struct probe *p, const struct as_load_state *s)
{
	uint64_t before = p->answers;

	p->answers = 0;
	for (size_t c = 0; c < AS_LOAD_CLASSES; c++)
		p->answers += s->status[c];
	return p->answers - before;
}

/*
 * A slice of which a part was warm-up is left out, and so is one with an answer to what was
 * due in it: that waited with all that came at once when the load began.
 */
static bool counts(const struct probe *p, const struct as_drive *d)
{
	int64_t warmup = p->climbing->job->config.warmup_ns;

	return p->before_ns >= warmup && d->state.t_ns > p->before_ns &&
	       d->state.t_ns - d->last->latency.max >= warmup;
}

static int on_frame(void *st, const struct as_frame *f, struct as_err *err)
{
	struct probe *p = st;
	struct as_drive *d = &p->climbing->job->drive;
	int64_t warmup = p->climbing->job->config.warmup_ns;

	uint64_t answers = new_answers(p, &d->state);

	(void)f, (void)err;
	if (counts(p, d)) {
		const struct as_trial_slice s = {.latency = &d->last->latency,
						 .wire = &d->last->wire,
						 .waiting = &d->last->waiting,
						 .requests = d->last->requests,
						 .failed = d->last->failed,
						 .met = d->last->met,
						 .answers = answers,
						 .ns = d->state.t_ns - p->before_ns,
						 .stream = &d->last->stream,
						 .nsteps = d->last->nsteps,
						 .step = d->last->step,
						 .nchecks = d->state.nchecks,
						 .check = d->state.check};

		as_trial_add(&p->trial, &s);
		p->answered += answers;
		p->lasted_ns += d->state.t_ns - p->before_ns;
		if (!p->told && is_decided(p, d->state.t_ns - warmup)) {
			p->told = true;
			as_drive_stop(d);
		}
	}
	p->before_ns = d->state.t_ns;
	return AS_OK;
}

static struct as_sink probe_sink(struct probe *p)
{
	static const struct as_sink_ops ops = {.name = "probe", .frame = on_frame};

	return (struct as_sink){.ops = &ops, .state = p};
}

/* ── one probe ────────────────────────────────────────────────────────── */

static void plan(const struct as_climbing *c)
{
	struct as_load_config *l = &c->job->config;
	bool hold = c->climb.phase == AS_CLIMB_HOLD;

	l->conns = c->by_rate ? c->conns : (uint32_t)c->climb.amount;
	l->schedule.rate = c->by_rate ? c->climb.amount : 0;
	l->schedule.plan = as_stages_constant(c->climb.amount);
	l->warmup_ns = c->probe_ns / 5;
	l->duration_ns = hold                               ? c->hold_ns
			 : c->climb.phase == AS_CLIMB_HALVE ? LONGER * c->probe_ns
							    : c->probe_ns;
	l->seed++; /* no two probes have the same moments */
}

struct words {
	char amount[64], slo[AS_LOAD_THRESHOLDS + 8];
};

static struct as_measure measure_of(const struct as_climbing *c, struct words *w)
{
	struct as_measure m = as_load_job_measure(c->job, c->opts);
	int64_t fine = c->probe_ns / SLICES;

	if (c->climb.phase != AS_CLIMB_HOLD)
		m.opts.stacks = NULL;
	else if (c->job->nwatched && !m.opts.stacks)
		m.opts.stacks = "cpu";
	m.opts.interval_ns = m.opts.interval_ns < fine ? m.opts.interval_ns : fine;
	m.parent = c->id;
	m.argv = c->argv;
	(void)snprintf(w->amount, sizeof w->amount, "%s=%.6g", c->by_rate ? "rate" : "connections",
		       c->climb.amount);
	(void)snprintf(w->slo, sizeof w->slo, "slo=%s", c->slo_text);
	m.opts.params.v[m.opts.params.n++] = w->amount;
	m.opts.params.v[m.opts.params.n++] = w->slo;
	return m;
}

/* Steps are judged as the whole is. */
static void name_steps(const struct as_flow_plan *flow, struct as_trial *t)
{
	for (size_t i = 0; flow && i < flow->nsteps; i++)
		as_trial_name_step(t, flow->step[i].name);
	for (size_t i = 0; flow && i < flow->nchecks; i++)
		as_trial_name_check(t, flow->check[i].step);
}

static int try_amount(struct as_climbing *c, struct probe *p, struct as_measured *got,
		      struct as_io *io, struct as_err *err)
{
	struct words words;

	plan(c);
	int r = as_load_job_open(c->job, c->keeps_to, err);
	if (r == AS_OK)
		r = as_trial_open(&p->trial, c->slo, err);
	if (r < 0)
		return r;
	name_steps(c->job->flow, &p->trial);
	struct as_sink sink = probe_sink(p);
	struct as_measure m = measure_of(c, &words);
	m.watcher = &sink;
	r = as_measured_take(got, &m, io, err);
	if (r == AS_OK)
		as_load_job_keep(c->job, got);
	return r;
}

/* ── what came of it ──────────────────────────────────────────────────── */

static double in_ms(const struct as_histogram *h, double q)
{
	return h->n ? (double)as_histogram_at(h, q) / 1e6 : (double)NAN;
}

/*
 * As the load itself has it. But of a rate that was too much, the first answers are to what
 * queued in the warm-up and counts as nothing: then it is what came out once that was through.
 */
static double rate_of(const struct as_climbing *c, const struct probe *p, const struct as_load *l)
{
	double rate = as_load_rate(l);
	bool queued = c->by_rate && !c->job->flow && p->answered && rate < QUEUED * l->rate;

	return queued ? fmin((double)p->answered * 1e9 / (double)p->lasted_ns, l->rate) : rate;
}

static struct as_climb_probe note(const struct as_climbing *c, const struct probe *at,
				  const struct as_run *run)
{
	const struct as_load *l = run->load;
	struct as_climb_probe p = {.amount = c->climb.amount,
				   .rate = rate_of(c, at, l),
				   .p50 = in_ms(&l->latency, 0.5),
				   .p99 = in_ms(&l->latency, 0.99),
				   .errors = l->requests ? (double)as_load_failed(l) /
								   (double)l->requests
							 : (double)NAN,
				   .lasted_ns = l->measured_ns,
				   .held = c->climb.phase == AS_CLIMB_HOLD};

	p.under_way = p.rate * as_histogram_mean(&l->wire) / 1e9;
	(void)snprintf(p.run, sizeof p.run, "%s", run->who.id);
	return p;
}

/* Nobody answered any more, though somebody did before: that is the server's. */
static bool is_void(const struct as_climbing *c, const struct as_run *run)
{
	bool none = !strcmp(run->verdict.kind, "invalid-none");

	return as_load_is_invalid(&run->verdict) && !(none && c->climb.low > 0);
}

/* "late" of "invalid-late" */
static void note_invalid(const struct as_verdict *v, struct as_climb_probe *ret)
{
	const char *why = strchr(v->kind, '-');

	(void)snprintf(ret->invalid, sizeof ret->invalid, "%s", why ? why + 1 : v->kind);
}

static void judge(const struct as_climbing *c, const struct probe *p, const struct as_run *run,
		  struct as_climb_probe *ret)
{
	struct as_trial_view v = as_trial_judge(&p->trial, run->load);

	ret->sure = v.sure;
	ret->verdict = is_void(c, run) ? AS_CLIMB_VOID : v.keeps ? AS_CLIMB_KEEPS : AS_CLIMB_MISSES;
	if (v.missed)
		(void)snprintf(ret->missed, sizeof ret->missed, "%s", v.missed->expr);
	if (ret->verdict == AS_CLIMB_VOID)
		note_invalid(&run->verdict, ret);
}

static struct as_text in_words(double ms)
{
	return isnan(ms) ? (struct as_text){"-"} : as_human_duration((int64_t)(ms * 1e6));
}

static void tell(const struct as_climbing *c, const struct as_climb_probe *p)
{
	char words[AS_CLIMB_WORDS];

	if (c->quiet)
		return;
	as_climb_words(p, words);
	(void)fprintf(stderr, "%8s%s  %8s/s  p50 %s  p99 %s  %s\n", as_human_count(p->amount).s,
		      as_climb_unit(&c->story), as_human_count(p->rate).s, in_words(p->p50).s,
		      in_words(p->p99).s, words);
}

/* The load that is shown is that of the largest amount that kept to it; while none did the last,
   as it is what ended the search, and the verdict is of that. */
static bool is_better(const struct as_climbing *c, const struct as_climb_probe *p)
{
	return !c->has_kept || p->verdict == AS_CLIMB_KEEPS;
}

static void keep_best(struct as_climbing *c, struct as_measured *got)
{
	struct as_measured old = c->best;

	c->best = *got;
	*got = old;
}

/* Others had the CPU: they may be gone the next time. Who is too busy, speaks to nobody, or has no
   descriptors is so again. */
static bool may_pass(const struct as_verdict *v)
{
	return !strcmp(v->kind, "invalid-starved") || !strcmp(v->kind, "invalid-late");
}

static void conclude_probe(struct as_climbing *c, const struct probe *p, struct as_measured *got,
			   unsigned again)
{
	struct as_climb_probe n = note(c, p, got->run);

	judge(c, p, got->run, &n);
	if (got->run->end.status == AS_INTERRUPTED) {
		c->interrupted = true;
		n.verdict = AS_CLIMB_VOID;
		(void)snprintf(n.invalid, sizeof n.invalid, "interrupted");
		as_climb_stop(&c->climb, AS_CLIMB_INTERRUPTED);
	} else {
		tell(c, &n);
		if (n.verdict != AS_CLIMB_VOID || again == AGAIN || !may_pass(&got->run->verdict))
			as_climb_tell(&c->climb, (enum as_climb_verdict)n.verdict);
	}
	if (n.verdict == AS_CLIMB_VOID)
		c->invalid = got->run->verdict;
	if (c->story.n < AS_CLIMB_PROBES)
		c->story.probe[c->story.n++] = n;
	else if (c->climb.phase != AS_CLIMB_OVER)
		as_climb_stop(&c->climb, AS_CLIMB_UNHELD);
	if (is_better(c, &n))
		keep_best(c, got);
	c->has_kept |= n.verdict == AS_CLIMB_KEEPS;
}

static int one(struct as_climbing *c, struct as_io *io, unsigned again, struct as_err *err)
{
	as_auto_measured struct as_measured got = {0};
	struct probe p = {.climbing = c};
	int r = try_amount(c, &p, &got, io, err);

	if (r == AS_OK)
		conclude_probe(c, &p, &got, again);
	as_trial_close(&p.trial);
	as_load_job_close(c->job);
	return r;
}

/* ── all of them ──────────────────────────────────────────────────────── */

/* What ended it: "100/s could not be measured: others had the generator's CPU". */
static void give_reason(struct as_climbing *c)
{
	const char *why = strstr(c->invalid.sentence, ": ");

	if (c->story.end == AS_CLIMB_INVALID && why)
		(void)snprintf(c->story.reason, sizeof c->story.reason,
			       "%s%s could not be measured: %.100s",
			       as_human_count(c->climb.amount).s, as_climb_unit(&c->story),
			       why + 2);
}

int as_climbing_run(struct as_climbing *c, struct as_io *io, struct as_err *err)
{
	unsigned again = 0;
	int r = as_load_job_can_know(c->job, c->slo, err);

	as_id_random(c->id);
	c->story.by_rate = c->by_rate;
	c->story.sessions = c->job->flow != NULL;
	as_climb_begin(&c->climb);
	while (r == AS_OK && c->climb.phase != AS_CLIMB_OVER) {
		double amount = c->climb.amount;
		enum as_climb_phase phase = c->climb.phase;

		r = one(c, io, again, err);
		bool same = c->climb.phase == phase && !(c->climb.amount < amount) &&
			    !(c->climb.amount > amount);
		again = same ? again + 1 : 0;
	}
	as_climb_conclude(&c->climb, &c->story);
	give_reason(c);
	return r;
}

void as_climbing_done(struct as_climbing *c)
{
	as_measured_done(&c->best);
}
