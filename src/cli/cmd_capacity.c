/*
 * capacity -- the largest load that a server holds within limits: looked for,
 * held, and what stands in the way.
 */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "cli/climbing.h"
#include "cli/output.h"
#include "judge/trial.h"
#include "profile/functions.h"
#include "profile/write.h"
#include "report/capacity.h"
#include "report/load.h"
#include "report/report.h"

struct opts {
	struct as_measure_opts m; /* identity and store; the rest is set here */
	struct as_load_ask ask;
	const char *slo, *by, *arrival;
	double from, most, precision;
	uint64_t conns;
	int64_t probe_ns, hold_ns;
	bool json, quiet;
};

#define AT(member) offsetof(struct opts, member)

/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("what is looked for"),
	{ .name = "slo", .type = AS_OPT_TEXT, .at = AT(slo), .arg = "TERMS", .help = "what it must keep to: 'p99<250ms,errors<1%,looplag.p99<10ms', as `assay load --threshold`" },
	{ .name = "by", .type = AS_OPT_CHOICE, .at = AT(by), .choices = "rate|concurrency", .arg = "WHAT", .initial = "rate", .help = "requests a second, whatever the server does, or how many are under way at once" },
	{ .name = "from", .type = AS_OPT_NUMBER, .at = AT(from), .arg = "N", .positive = true, .help = "what is tried first (default: 50 a second, or 1 at once)" },
	{ .name = "most", .type = AS_OPT_NUMBER, .at = AT(most), .arg = "N", .positive = true, .help = "never try more (default: a million a second, or 10000 at once)" },
	{ .name = "precision", .type = AS_OPT_NUMBER, .at = AT(precision), .arg = "SHARE", .initial = "0.02", .positive = true, .help = "how near the answer and what is too much shall be" },
	AS_OPT_HEAD("how it is tried"),
	{ .name = "probe", .type = AS_OPT_DURATION, .at = AT(probe_ns), .arg = "TIME", .initial = "5s", .positive = true, .help = "how long each is tried; one that is not decided then, up to four times as long" },
	{ .name = "hold", .type = AS_OPT_DURATION, .at = AT(hold_ns), .arg = "TIME", .initial = "60s", .positive = true, .help = "how long the answer must hold" },
	{ .name = "arrival", .type = AS_OPT_TEXT, .at = AT(arrival), .arg = "HOW", .initial = "poisson", .help = "of a rate: poisson, as strangers come; constant, or gamma:SHAPE" },
	{ .name = "seed", .type = AS_OPT_UINT, .at = AT(ask.seed), .arg = "N", .initial = "1", .help = "of random arrivals: the same seed, the same moments" },
	{ .name = "connections", .letter = 'c', .type = AS_OPT_UINT, .at = AT(conns), .arg = "N", .initial = "200", .positive = true, .help = "of a rate: requests that may be under way at once" },
	AS_LOAD_PATIENCE_OPTS(struct opts),
	AS_LOAD_SENDING_OPTS(struct opts),
	AS_LOAD_WATCHING_OPTS(struct opts),
	AS_OPT_HEAD("identity"),
	{ .name = "name", .type = AS_OPT_TEXT, .at = AT(m.name), .arg = "NAME", .help = "what to call the runs (default: the server's address)" },
	{ .name = "run-version", .type = AS_OPT_TEXT, .at = AT(m.version), .arg = "V", .help = "version of the server that is measured" },
	{ .name = "label", .letter = 'l', .type = AS_OPT_PAIRS, .at = AT(m.labels), .arg = "K=V", .help = "a label to find the runs by; repeatable" },
	AS_OPT_HEAD("output"),
	{ .name = "json", .type = AS_OPT_SWITCH, .at = AT(json), .help = "the answer and all that was tried as JSON, instead of the summary" },
	{ .name = "html", .type = AS_OPT_TEXT, .at = AT(m.html), .arg = "FILE", .help = "write a page with the curve and the plots of the answer to FILE; '-' is standard output" },
	{ .name = "quiet", .letter = 'q', .type = AS_OPT_SWITCH, .at = AT(quiet), .help = "no progress, no summary" },
	AS_STORING_OPTS(struct opts),
	{ 0 }
};
/* clang-format on */

/* ── what is asked for ────────────────────────────────────────────────── */

struct job {
	struct as_load_job load;
	struct as_thresholds slo;
	char keeps_to[AS_LOAD_THRESHOLDS];
	struct as_measure_opts opts; /* of the probes */
	struct as_output page;
	struct as_climbing climbing;
};

static void job_done(struct job *j)
{
	as_climbing_done(&j->climbing);
	as_load_job_done(&j->load);
	as_output_done(&j->page);
}

static bool by_rate(const struct opts *o)
{
	return !strcmp(o->by, "rate");
}

static int check(const struct opts *o, struct as_err *err)
{
	if (!o->slo)
		return as_fail(err, AS_EUSAGE, "--slo says what it must keep to: 'p99<250ms'");
	if (o->conns > AS_LOAD_CONNS_MOST)
		return as_fail(err, AS_EUSAGE, "connections are 1 to %d", AS_LOAD_CONNS_MOST);
	if (!by_rate(o) && fmax(o->from, o->most) > AS_LOAD_CONNS_MOST)
		return as_fail(err, AS_EUSAGE, "at most %d can be under way at once",
			       AS_LOAD_CONNS_MOST);
	if (!by_rate(o) && ((o->from > 0 && o->from < 1) || (o->most > 0 && o->most < 1)))
		return as_fail(err, AS_EUSAGE, "at least one is under way at once");
	if (o->precision >= 1)
		return as_fail(err, AS_EUSAGE, "--precision is a share: 0.02");
	if (o->m.stacks && !o->ask.watched.n)
		return as_fail(err, AS_EUSAGE, "--stacks needs somebody to --watch");
	if (o->m.stacks_hz > 0 && !o->ask.watched.n)
		return as_fail(err, AS_EUSAGE, "--stacks-rate needs somebody to --watch");
	return AS_OK;
}

static int prepare(const struct opts *o, const char *url, struct job *j, const struct as_env *env,
		   struct as_err *err)
{
	int r = check(o, err);

	if (r == AS_OK)
		r = as_thresholds_parse(o->slo, &j->slo, err);
	if (r == AS_OK)
		r = as_schedule_parse(o->arrival, &j->load.config.schedule, err);
	if (r == AS_OK)
		r = as_output_check_page(o->m.html, o->json, err);
	if (r == AS_OK)
		r = as_output_open(&j->page, o->m.html, err);
	if (r == AS_OK)
		r = as_load_job_prepare(&o->ask, url, env, &j->load, err);
	as_thresholds_text(&j->slo, j->keeps_to, sizeof j->keeps_to);
	return r;
}

static void configure(const struct opts *o, char **argv, struct job *j)
{
	bool rate = by_rate(o);
	double most = o->most > 0 ? o->most : rate ? 1e6 : 10000;

	j->opts = o->m;
	j->opts.html = NULL;
	j->climbing = (struct as_climbing){
		.job = &j->load,
		.opts = &j->opts,
		.slo = &j->slo,
		.keeps_to = j->keeps_to,
		.slo_text = o->slo,
		.argv = argv,
		.probe_ns = o->probe_ns,
		.hold_ns = o->hold_ns,
		.conns = (uint32_t)o->conns,
		.by_rate = rate,
		.quiet = o->quiet,
		.climb = {.from = o->from > 0 ? o->from
				  : rate      ? 50
					      : 1,
			  .most = rate ? most : floor(most),
			  .least = rate ? AS_TRIAL_FEWEST * 1e9 / (double)o->probe_ns : 0,
			  .precision = o->precision,
			  .whole = !rate},
	};
	if (!rate)
		j->climbing.climb.from = floor(j->climbing.climb.from);
}

/* ── what came of it ──────────────────────────────────────────────────── */

/* Who sleeps in an event loop has next to no CPU time, and all the same nothing else runs. */
static bool holds_more(const struct as_load *l, int64_t ns)
{
	return l->ntargets && l->target[0].holder[0] && l->target[0].held_ns > ns;
}

static void blame_holder(struct as_climb_story *c, const struct as_load_target *t)
{
	(void)snprintf(c->limits, sizeof c->limits, "%s", t->holder);
	c->limit_share = fmin((double)t->held_ns / (double)t->watched_ns, 1);
}

/* The function that had most of the target's time when the answer was held. */
static int find_limit(struct as_climb_story *c, const struct as_run *run, struct as_err *err)
{
	const struct as_profile *p = run->stacks;
	as_auto_free struct as_function_sum *sum = NULL;
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);
	const struct as_spelling how = {.functions = false};
	size_t n = 0;

	int r = p ? as_profile_sums(p, p->main_kind, &sum, &n, err) : AS_OK;
	if (r < 0)
		return r;
	if (holds_more(run->load, n ? sum[0].self : 0)) {
		blame_holder(c, &run->load->target[0]);
		return AS_OK;
	}
	int64_t all = n ? as_profile_total(p, p->main_kind) : 0;
	if (all <= 0)
		return AS_OK;
	as_spell_place(p, sum[0].place, &how, &name);
	(void)snprintf(c->limits, sizeof c->limits, "%s", as_buf_text(&name));
	c->limit_share = (double)sum[0].self / (double)all;
	return as_buf_ok(&name, err);
}

/* The load at the answer, with the story of the search, is the capacity's run. */
static int become_capacity(struct as_climbing *c, struct as_err *err)
{
	struct as_run *run = c->best.run;
	char *kind = as_strdup("capacity");

	if (!kind)
		return as_fail(err, AS_ENOMEM, "no memory for the run");
	free(run->who.kind);
	run->who.kind = kind;
	free(as_take(run->who.parent));
	memcpy(run->who.id, c->id, sizeof run->who.id);
	int r = find_limit(&c->story, run, err);
	run->load->climb = c->story;
	if (c->story.end == AS_CLIMB_INVALID)
		run->verdict = c->invalid;
	if (c->interrupted)
		run->end.status = AS_INTERRUPTED;
	return r;
}

static int exit_status(const struct as_climb_story *c)
{
	switch ((enum as_climb_end)c->end) {
	case AS_CLIMB_INVALID:
		return as_code_exit(AS_EINVALID);
	case AS_CLIMB_NONE:
	case AS_CLIMB_UNHELD:
		return as_code_exit(AS_ETHRESHOLD);
	default:
		return 0;
	}
}

static int write_page(const struct opts *o, struct job *j, const struct as_run *run, FILE *standard,
		      struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	if (!o->m.html)
		return AS_OK;
	as_report_html(&b, run);
	return as_output_write(&j->page, &b, standard, err);
}

static int show(const struct opts *o, struct job *j, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));
	const struct as_run *run = j->climbing.best.run;
	bool summary = !o->json && !o->quiet && !as_output_page_is_standard(o->m.html);
	int r = write_page(o, j, run, io->out, err);

	if (r < 0)
		return r;
	if (o->json)
		as_report_capacity_json(&b, run);
	else if (summary)
		as_report_load(&b, &look, run);
	if (j->climbing.best.kept && summary)
		as_report_next(&b, &look, run);
	return as_buf_write(&b, io->out, err);
}

/* Ctrl-C between two probes is heard by the next. */
static void block_signals(sigset_t *ret_old)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, ret_old);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_cleanup(job_done) struct job j = {0};
	char assay[] = "assay", capacity[] = "capacity";
	char *words[] = {assay, capacity, args[0], NULL};
	int r = prepare(o, args[0], &j, io->env, err);
	sigset_t old;

	(void)tail;
	if (r < 0)
		return r;
	configure(o, words, &j);
	block_signals(&old);
	r = as_climbing_run(&j.climbing, io, err);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	int die_by = io->die_by;
	if (r == AS_OK)
		r = become_capacity(&j.climbing, err);
	if (r < 0)
		return r;
	as_measured_keep_also(&j.climbing.best, j.climbing.best.run);
	io->status = exit_status(&j.climbing.story);
	io->die_by = j.climbing.interrupted ? die_by : 0;
	return show(o, &j, io, err);
}

const struct as_cmd as_cmd_capacity = {
	.name = "capacity",
	.synopsis = "[options] URL|FLOW",
	.about = "find out how much load a server holds, and what limits it",
	.manual =
		"Looks for the largest load under which the server at URL keeps to `--slo`, a list "
		"of thresholds as `assay load` has them; with `--goodput` it can ask for a share "
		"of good answers (`goodput>0.95`). FLOW is the file of a flow, as `assay "
		"load` carries it out: then amounts are sessions a second, or at once. What is "
		"tried is doubled until it fails; then the middle between what was kept and what "
		"failed is tried, until they are as near as `--precision` says; the answer is held "
		"for the time of `--hold`, and when that fails a little less is.\n\n"
		"**Each probe is judged with an interval.** `p99<250ms` means that of all requests "
		"at least 99 % took less, so it is a share, with the interval of one, by slices of "
		"the probe's time: requests that waited in the same queue are not as good as as "
		"many strangers. Less than five requests a probe are not tried, "
		"and decide nothing. A probe between "
		"the two bounds that is not decided goes on, up to four times as long; one that "
		"is decided ends. What is not decided then counts as it seems (`keeps?`).\n\n"
		"`--by rate` sends by a clock, by default as strangers come (Poisson), and is what "
		"a service with many users sees. `--by concurrency` keeps so many requests under "
		"way at once, as workers do who wait for their answers.\n\n"
		"**When the generator itself was the bottleneck the search ends** with what it "
		"knows by then, and with exit status 6: more was not measured. `invalid: late` in "
		"the table says that requests left too late, `busy` that the generator had no time "
		"to spare, `starved` that others had its CPU, `descriptors` that it ran out of "
		"file descriptors, ports or memory, `none` that nothing was answered. "
		"When others had its CPU a probe is tried twice more first.\n\n"
		"The table has all that was tried; `for` is the time that was measured of it, "
		"less than it lasted: without its warm-up, and of a concurrency a connection's "
		"share. The curve shows answers a second over requests "
		"under way at once (Little's law tells them of a rate, too). The law is Gunther's "
		"universal scalability law fitted to it, with what one request alone would get, "
		"the share that can only be done in turn, what requests cost each other "
		"(crosstalk), and the peak that follows, with intervals of 95 %.\n\n"
		"With `--watch` the target is measured in every probe, and while the answer is "
		"held its stacks are recorded: `limited by` is the function that had "
		"most of its time "
		"(`--stacks` says which: cpu, wall, gil), and `assay flame` shows the rest; or the "
		"one that held its event loop, if that was longer. Only "
		"Pythons have stacks; of other targets it says so.\n\n"
		"Each probe is a run in the history, with the capacity's run as its parent; the "
		"capacity's own is the load at the answer and the story of the search. Ctrl-C ends "
		"it with what is known so far. The exit status is 3 when not even the least that "
		"was tried keeps to it.",
	.examples =
		"assay capacity --slo 'p99<50ms,errors<1%' --from 200 --most 400 --probe 0.3s "
		"--hold 0.5s unix:$PWD/app.sock\tup to 400 a second\n"
		"assay capacity --slo 'p90<1s' --by concurrency --most 4 --probe 0.2s --hold 0.3s "
		"unix:$PWD/app.sock\thow many at once\n",
	.flags = AS_CMD_ENV,
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
