/*
 * sweep -- a server in many shapes: each is started, loaded, measured and taken
 * down again.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/human.h"
#include "cli/load_ask.h"
#include "cli/output.h"
#include "judge/load.h"
#include "load/sweep_grid.h"
#include "load/hook.h"
#include "report/report.h"
#include "report/sweep.h"

struct opts {
	struct as_measure_opts m; /* identity and store; the rest is set here */
	struct as_load_ask ask;
	struct as_opt_list over;
	const char *setup, *ready, *teardown, *html;
	double rate;
	uint64_t conns;
	int64_t duration_ns, low_ns, warmup_ns, ready_ns, patience_ns;
	bool json, csv, quiet;
};

#define AT(member) offsetof(struct opts, member)

/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("the grid"),
	{ .name = "over", .type = AS_OPT_LIST, .at = AT(over), .arg = "NAME=V,V…", .help = "an axis and its values; repeatable: all combinations are measured" },
	{ .name = "setup", .type = AS_OPT_TEXT, .at = AT(setup), .arg = "COMMAND", .help = "starts the server of a cell; {NAME} is the axis' value. It may stay, or end with 0" },
	{ .name = "ready", .type = AS_OPT_TEXT, .at = AT(ready), .arg = "URL", .help = "answers with 2xx once the server can be measured (default: URL is asked)" },
	{ .name = "ready-timeout", .type = AS_OPT_DURATION, .at = AT(ready_ns), .arg = "TIME", .initial = "60s", .positive = true, .help = "give a cell up that is not ready by then" },
	{ .name = "teardown", .type = AS_OPT_TEXT, .at = AT(teardown), .arg = "COMMAND", .help = "after each cell, whatever came of it; then what --setup left running is ended" },
	{ .name = "patience", .type = AS_OPT_DURATION, .at = AT(patience_ns), .arg = "TIME", .initial = "10s", .positive = true, .help = "of a teardown, and of a server that is asked to end, before it is killed" },
	AS_OPT_HEAD("how much"),
	{ .name = "connections", .letter = 'c', .type = AS_OPT_UINT, .at = AT(conns), .arg = "N", .initial = "50", .positive = true, .help = "under load: requests that are under way at once" },
	{ .name = "rate", .letter = 'R', .type = AS_OPT_RATE, .at = AT(rate), .arg = "RATE", .positive = true, .help = "under load: so many a second, whatever the server does (default: when an answer came)" },
	{ .name = "duration", .letter = 'z', .type = AS_OPT_DURATION, .at = AT(duration_ns), .arg = "TIME", .initial = "10s", .positive = true, .help = "how long each cell is loaded" },
	{ .name = "low", .type = AS_OPT_DURATION, .at = AT(low_ns), .arg = "TIME", .initial = "3s", .positive = true, .help = "how long one request at a time is sent before" },
	{ .name = "warmup", .type = AS_OPT_DURATION, .at = AT(warmup_ns), .arg = "TIME", .help = "send for so long before anything is measured, in both" },
	{ .name = "seed", .type = AS_OPT_UINT, .at = AT(ask.seed), .arg = "N", .initial = "1", .help = "of random moments" },
	AS_LOAD_PATIENCE_OPTS(struct opts),
	AS_LOAD_SENDING_OPTS(struct opts),
	AS_LOAD_WATCHING_OPTS(struct opts),
	AS_OPT_HEAD("identity"),
	{ .name = "name", .type = AS_OPT_TEXT, .at = AT(m.name), .arg = "NAME", .help = "what to call the runs (default: the server's address)" },
	{ .name = "run-version", .type = AS_OPT_TEXT, .at = AT(m.version), .arg = "V", .help = "version of the server that is measured" },
	{ .name = "label", .letter = 'l', .type = AS_OPT_PAIRS, .at = AT(m.labels), .arg = "K=V", .help = "a label to find the runs by; repeatable" },
	AS_OPT_HEAD("output"),
	{ .name = "json", .type = AS_OPT_SWITCH, .at = AT(json), .apart = 1, .help = "all cells as JSON, instead of the table" },
	{ .name = "csv", .type = AS_OPT_SWITCH, .at = AT(csv), .apart = 1, .help = "all cells as CSV, instead of the table" },
	{ .name = "html", .type = AS_OPT_TEXT, .at = AT(html), .arg = "FILE", .help = "write a page of plots to FILE; '-' is standard output" },
	{ .name = "quiet", .letter = 'q', .type = AS_OPT_SWITCH, .at = AT(quiet), .help = "no progress, no table" },
	AS_STORING_OPTS(struct opts),
	{ 0 }
};
/* clang-format on */

/* ── what is asked for ────────────────────────────────────────────────── */

/* What a run is worth as the sweep's own; more is better. */
enum worth { NOTHING, LOW, INVALID, VALID };

struct sweep {
	const struct opts *opts;
	const char *url; /* as it was given */
	struct as_sweep_grid *grid;
	struct as_sweep_cell *cell;
	struct as_output page;
	struct as_io *io;
	char id[AS_ID_LEN + 1];  /* of its run: those of the cells are parts of it */
	struct as_measured best; /* the load of the cell that answered most        */
	enum worth worth;        /* of that                                        */
	bool interrupted;
	int die_by;
};

static void sweep_done(struct sweep *s)
{
	as_output_done(&s->page);
	as_measured_done(&s->best);
	free(s->grid);
	free(s->cell);
}

static struct as_sweep_cell new_cell(void)
{
	return (struct as_sweep_cell){.low_p50 = (double)NAN,
				      .low_p99 = (double)NAN,
				      .rate = (double)NAN,
				      .p50 = (double)NAN,
				      .p99 = (double)NAN,
				      .errors = (double)NAN,
				      .goodput = (double)NAN};
}

static int prepare(struct sweep *s, struct as_err *err)
{
	const struct opts *o = s->opts;
	int r = as_measure_check(&o->m, err);

	if (r < 0)
		return r;
	if (o->conns > AS_LOAD_CONNS_MOST)
		return as_fail(err, AS_EUSAGE, "connections are 1 to %d", AS_LOAD_CONNS_MOST);
	if (o->m.stacks && !o->ask.watched.n && !o->setup)
		return as_fail(err, AS_EUSAGE, "--stacks needs somebody to --watch, or a --setup");
	r = as_output_check_page(o->html, o->json || o->csv, err);
	if (r < 0)
		return r;
	s->grid = as_zalloc(sizeof *s->grid);
	if (!s->grid)
		return as_fail(err, AS_ENOMEM, "no memory for a grid");
	s->grid->cells = 1;
	for (size_t i = 0; i < o->over.n && r == AS_OK; i++)
		r = as_sweep_grid_add(s->grid, o->over.v[i], err);
	if (r == AS_OK)
		r = as_output_open(&s->page, o->html, err);
	if (r < 0)
		return r;
	s->cell = as_zalloc_n(s->grid->cells, sizeof *s->cell);
	if (!s->cell)
		return as_fail(err, AS_ENOMEM, "no memory for a grid");
	for (size_t i = 0; i < s->grid->cells; i++)
		s->cell[i] = new_cell();
	as_id_random(s->id);
	return AS_OK;
}

/* ── signals: heard between two steps, and never before all is taken down ── */

static void block_signals(sigset_t *ret_old)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, ret_old);
}

static bool shall_end(struct sweep *s)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t there;

	(void)sigpending(&there);
	for (size_t i = 0; i < AS_LEN(ends) && !s->interrupted; i++)
		if (sigismember(&there, ends[i]) == 1) {
			s->interrupted = true;
			s->die_by = ends[i];
		}
	return s->interrupted;
}

/* ── one cell ─────────────────────────────────────────────────────────── */

/* What the cell's values make of the options. Texts live as long as it does. */
struct shape {
	struct as_buf setup, ready, teardown, url, body;
	struct as_buf watched[AS_LOAD_TARGETS];
	struct as_buf params[AS_SWEEP_AXES];
	struct as_load_ask ask;
	struct as_measure_opts m;
	struct as_hook hook;
};

static void shape_done(struct shape *x)
{
	as_buf_done(&x->setup);
	as_buf_done(&x->ready);
	as_buf_done(&x->teardown);
	as_buf_done(&x->url);
	as_buf_done(&x->body);
	for (size_t i = 0; i < AS_LEN(x->watched); i++)
		as_buf_done(&x->watched[i]);
	for (size_t i = 0; i < AS_LEN(x->params); i++)
		as_buf_done(&x->params[i]);
}

static int expand(const struct sweep *s, size_t cell, const char *text, struct as_buf *to,
		  struct as_err *err)
{
	*to = AS_BUF(AS_BUF_FILE);
	as_sweep_grid_expand(s->grid, cell, text, to);
	return as_buf_ok(to, err);
}

static int expand_lists(const struct sweep *s, size_t cell, struct shape *x, struct as_err *err)
{
	const struct opts *o = s->opts;
	int r = AS_OK;

	if (o->ask.watched.n > AS_LOAD_TARGETS)
		return as_fail(err, AS_EUSAGE, "at most %d can be watched", AS_LOAD_TARGETS);
	for (size_t i = 0; i < o->ask.watched.n && r == AS_OK; i++) {
		r = expand(s, cell, o->ask.watched.v[i], &x->watched[i], err);
		x->ask.watched.v[i] = as_buf_text(&x->watched[i]);
	}
	for (size_t i = 0; i < s->grid->n && r == AS_OK; i++) {
		x->params[i] = AS_BUF(AS_BUF_LINE);
		as_buf_fmt(&x->params[i], "%s=%s", s->grid->axis[i].name,
			   as_sweep_grid_value(s->grid, cell, i));
		x->m.params.v[x->m.params.n++] = as_buf_text(&x->params[i]);
		r = as_buf_ok(&x->params[i], err);
	}
	return r;
}

static int shape_of(const struct sweep *s, size_t cell, struct shape *x, struct as_err *err)
{
	const struct opts *o = s->opts;
	int r = expand(s, cell, o->setup, &x->setup, err);

	x->ask = o->ask;
	x->m = o->m;
	x->ask.setup = o->setup ? as_buf_text(&x->setup) : NULL;
	if (r == AS_OK)
		r = expand(s, cell, o->teardown, &x->teardown, err);
	if (r == AS_OK)
		r = expand(s, cell, s->url, &x->url, err);
	if (r == AS_OK)
		r = expand(s, cell, o->ready ? o->ready : s->url, &x->ready, err);
	if (r == AS_OK)
		r = expand(s, cell, o->ask.body, &x->body, err);
	if (o->ask.body)
		x->ask.body = as_buf_text(&x->body);
	return r == AS_OK ? expand_lists(s, cell, x, err) : r;
}

/* ── until it is ready ────────────────────────────────────────────────── */

/* One request: is it answered with 2xx, or, of the URL itself, at all? */
static int ask_once(const struct sweep *s, struct as_load_job *j, bool *ret_ready,
		    struct as_err *err)
{
	as_auto_free struct as_load *got = as_zalloc(sizeof *got);
	struct as_pulse *pulse = as_pulse_new();
	int r = AS_ENOMEM;

	j->config.conns = 1;
	j->config.requests = 1;
	j->config.timeout_ns = AS_SECOND;
	if (got && pulse)
		r = as_generate(&j->config, pulse, got, err);
	else
		(void)as_fail(err, AS_ENOMEM, "no memory for histograms");
	as_pulse_free(pulse);
	if (r < 0)
		return r;
	*ret_ready = got->status[1] > 0 ||
		     (!s->opts->ready && got->requests > 0 && got->status[2] + got->status[3] > 0);
	return AS_OK;
}

static void rest(void)
{
	struct timespec t = as_timespec(50 * AS_MSEC);

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* A setup that ended well may have left a server; one that did not has not. */
static int check_setup(struct shape *x, struct as_err *err)
{
	char how[48];

	if (!x->hook.pid || !as_hook_ended(&x->hook) || !x->hook.status)
		return AS_OK;
	as_hook_outcome(&x->hook, how, sizeof how);
	return as_fail(err, AS_EINVALID, "the setup %s", how);
}

/* How the server is reached is as for the load; what is sent is not. */
static struct as_load_ask plain_ask(const struct as_load_ask *o)
{
	struct as_load_ask plain = *o;

	plain.method = plain.body = plain.body_file = plain.body_lines = plain.targets = NULL;
	plain.watched.n = 0;
	return plain;
}

static int wait_ready(struct sweep *s, struct shape *x, struct as_err *err)
{
	as_cleanup(as_load_job_done) struct as_load_job j = {0};
	struct as_load_ask plain = plain_ask(&x->ask);
	int64_t end = as_now() + s->opts->ready_ns;
	int r = as_load_job_prepare(&plain, as_buf_text(&x->ready), s->io->env, &j, err);

	for (bool ready = false; r == AS_OK && !ready && !shall_end(s);) {
		r = check_setup(x, err);
		if (r == AS_OK)
			r = ask_once(s, &j, &ready, err);
		if (r == AS_OK && !ready && as_now() >= end)
			r = as_fail(err, AS_EINVALID, "not ready after %s",
				    as_human_duration(s->opts->ready_ns).s);
		if (r == AS_OK && !ready)
			rest();
	}
	return r;
}

/* ── its two loads ────────────────────────────────────────────────────── */

static double in_ms(const struct as_histogram *h, double q)
{
	return h->n ? (double)as_histogram_at(h, q) / 1e6 : (double)NAN;
}

static void note_nodes(const struct as_load *l, struct as_sweep_cell *c)
{
	c->nodes = l->ntargets;
	for (size_t i = 0; i < l->ntargets; i++) {
		int64_t before = c->node[i].name[0] ? c->node[i].memory : AS_NA;
		int64_t now = l->target[i].memory;

		memcpy(c->node[i].name, l->target[i].name, sizeof c->node[i].name);
		c->node[i].memory =
			before == AS_NA || (now != AS_NA && now > before) ? now : before;
	}
}

static void note(const struct as_run *run, bool low, struct as_sweep_cell *c)
{
	const struct as_load *l = run->load;

	if (as_load_is_invalid(&run->verdict))
		memcpy(c->invalid, run->verdict.sentence, sizeof c->invalid);
	note_nodes(l, c);
	(void)snprintf(low ? c->low_run : c->run, sizeof c->run, "%s", run->who.id);
	if (low) {
		c->low_p50 = in_ms(&l->latency, 0.5);
		c->low_p99 = in_ms(&l->latency, 0.99);
		return;
	}
	c->rate = as_load_rate(l);
	c->p50 = in_ms(&l->latency, 0.5);
	c->p99 = in_ms(&l->latency, 0.99);
	c->errors = l->requests ? (double)as_load_failed(l) / (double)l->requests : (double)NAN;
	c->goodput = as_load_goodput(l);
}

static void plan(const struct opts *o, bool low, struct as_load_config *c)
{
	c->conns = low ? 1 : (uint32_t)o->conns;
	c->schedule = (struct as_schedule){.rate = low ? 0 : o->rate,
					   .plan = as_stages_constant(o->rate)};
	c->duration_ns = low ? o->low_ns : o->duration_ns;
	c->warmup_ns = o->warmup_ns;
}

/* One request at a time is no load: such a run stands for the sweep if there is no other. */
static enum worth worth_of(const struct as_run *run, bool low)
{
	return low ? LOW : as_load_is_invalid(&run->verdict) ? INVALID : VALID;
}

static bool is_better(const struct sweep *s, const struct as_run *run, enum worth worth)
{
	if (worth != s->worth)
		return worth > s->worth;
	return as_load_rate(run->load) > as_load_rate(s->best.run->load);
}

static void keep_best(struct sweep *s, struct as_measured *got, enum worth worth)
{
	struct as_measured old = s->best;

	s->best = *got;
	*got = old;
	s->worth = worth;
}

static int load_once(struct sweep *s, const struct shape *x, struct as_load_job *j, bool low,
		     struct as_sweep_cell *c, struct as_err *err)
{
	as_auto_measured struct as_measured got = {0};
	char assay[] = "assay", sweep[] = "sweep";
	char *words[] = {assay, sweep, x->url.p, NULL};

	plan(s->opts, low, &j->config);
	int r = as_load_job_open(j, NULL, err);
	if (r == AS_OK) {
		struct as_measure m = as_load_job_measure(j, &x->m);
		char level[] = "load=low";

		m.argv = words;
		m.parent = s->id;
		m.opts.params.v[m.opts.params.n++] = low ? level : "load=full";
		r = as_measured_take(&got, &m, s->io, err);
	}
	if (r == AS_OK) {
		as_load_job_keep(j, &got);
		note(got.run, low, c);
		s->interrupted = s->interrupted || got.run->end.status == AS_INTERRUPTED;
		s->die_by = s->interrupted && s->io->die_by ? s->io->die_by : s->die_by;
		if (is_better(s, got.run, worth_of(got.run, low)))
			keep_best(s, &got, worth_of(got.run, low));
	}
	as_load_job_close(j);
	return r;
}

/* The setup's shell, with all that it started, unless others are named. */
static void watch_setup(struct as_load_job *j, struct shape *x)
{
	if (j->nwatched || !x->hook.pid || as_hook_ended(&x->hook))
		return;
	(void)snprintf(j->watched[0].name, sizeof j->watched[0].name, "setup");
	j->watched[0].pid = x->hook.pid;
	j->nwatched = 1;
}

static int load_cell(struct sweep *s, struct shape *x, struct as_sweep_cell *c, struct as_err *err)
{
	as_cleanup(as_load_job_done) struct as_load_job j = {0};
	int r = as_load_job_prepare(&x->ask, as_buf_text(&x->url), s->io->env, &j, err);

	if (r < 0)
		return r;
	watch_setup(&j, x);
	r = load_once(s, x, &j, true, c, err);
	if (r == AS_OK && !shall_end(s))
		r = load_once(s, x, &j, false, c, err);
	return r;
}

/* ── its life ─────────────────────────────────────────────────────────── */

/* Whatever came of it. The teardown first: it may be what ends a server well. */
static void take_down(const struct sweep *s, struct shape *x)
{
	struct as_hook down = {0};
	struct as_err err;
	char how[48];

	if (x->teardown.len && as_hook_start(&down, as_buf_text(&x->teardown), &err) < 0)
		as_complain("the teardown did not start", &err);
	if (down.pid && !as_hook_wait(&down, s->opts->patience_ns)) {
		(void)fprintf(stderr, "assay: the teardown did not end\n");
	} else if (down.pid && down.status) {
		as_hook_outcome(&down, how, sizeof how);
		(void)fprintf(stderr, "assay: the teardown %s\n", how);
	}
	as_hook_end(&down, 0);
	as_hook_end(&x->hook, s->opts->patience_ns);
}

static void tell(const struct sweep *s, size_t cell)
{
	const struct as_sweep_cell *c = &s->cell[cell];

	if (s->opts->quiet)
		return;
	for (size_t i = 0; i < s->grid->n; i++)
		(void)fprintf(stderr, "%s=%s  ", s->grid->axis[i].name,
			      as_sweep_grid_value(s->grid, cell, i));
	if (c->error[0])
		(void)fprintf(stderr, "%s\n", c->error);
	else if (!isnan(c->rate))
		(void)fprintf(stderr, "%s/s  p99 %s%s%s\n", as_human_count(c->rate).s,
			      as_human_duration((int64_t)(c->p99 * 1e6)).s,
			      c->invalid[0] ? "  " : "", c->invalid);
	else
		(void)fprintf(stderr, "not measured\n");
}

/* What goes wrong with one cell is told with it; only what concerns us all ends the sweep. */
static int run_cell(struct sweep *s, size_t cell, struct as_err *err)
{
	as_cleanup(shape_done) struct shape x = {0};
	struct as_sweep_cell *c = &s->cell[cell];
	int r = shape_of(s, cell, &x, err);

	if (r < 0)
		return r;
	c->tried = true;
	if (x.setup.len)
		r = as_hook_start(&x.hook, as_buf_text(&x.setup), err);
	if (r == AS_OK)
		r = wait_ready(s, &x, err);
	if (r == AS_OK && !s->interrupted)
		r = load_cell(s, &x, c, err);
	take_down(s, &x);
	if (r < 0)
		(void)snprintf(c->error, sizeof c->error, "%.150s", err->msg);
	tell(s, cell);
	return r == AS_EUSAGE || r == AS_ENOMEM ? r : AS_OK;
}

/* ── all of them ──────────────────────────────────────────────────────── */

static const char *axis_name(const void *grid, size_t axis)
{
	return ((const struct as_sweep_grid *)grid)->axis[axis].name;
}

static size_t axis_values(const void *grid, size_t axis)
{
	return ((const struct as_sweep_grid *)grid)->axis[axis].n;
}

static const char *axis_value(const void *grid, size_t cell, size_t axis)
{
	return as_sweep_grid_value(grid, cell, axis);
}

/* The load of the best cell is the sweep's run: of all that is listed, only that. */
static int become_sweep(struct sweep *s, struct as_err *err)
{
	struct as_run *run = s->best.run;
	char *kind = s->worth ? as_strdup("sweep") : NULL;

	if (!s->worth)
		return AS_OK;
	if (!kind)
		return as_fail(err, AS_ENOMEM, "no memory for the run");
	free(run->who.kind);
	run->who.kind = kind;
	free(as_take(run->who.parent));
	memcpy(run->who.id, s->id, sizeof run->who.id);
	if (s->interrupted)
		run->end.status = AS_INTERRUPTED;
	as_measured_keep_also(&s->best, run);
	return AS_OK;
}

static int exit_status(const struct sweep *s)
{
	bool bad = false;

	for (size_t i = 0; i < s->grid->cells; i++)
		bad = bad || s->cell[i].error[0] || s->cell[i].invalid[0];
	return bad ? as_code_exit(AS_EINVALID) : 0;
}

static int show(struct sweep *s, struct as_err *err)
{
	const struct opts *o = s->opts;
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT), page = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(s->io->out));
	const struct as_sweep_report r = {.url = s->url,
					  .id = s->worth ? s->id : NULL,
					  .cell = s->cell,
					  .ncells = s->grid->cells,
					  .naxes = s->grid->n,
					  .axis = axis_name,
					  .values = axis_values,
					  .value = axis_value,
					  .grid = s->grid,
					  .interrupted = s->interrupted};
	bool summary = !o->json && !o->csv && !o->quiet && !as_output_page_is_standard(o->html);
	int e = AS_OK;

	if (o->html) {
		as_report_sweep_html(&page, &r);
		e = as_output_write(&s->page, &page, s->io->out, err);
	}
	if (o->json)
		as_report_sweep_json(&b, &r);
	else if (o->csv)
		as_report_sweep_csv(&b, &r);
	else if (summary)
		as_report_sweep(&b, &look, &r);
	if (s->best.kept && summary)
		as_report_next(&b, &look, s->best.run);
	return e < 0 ? e : as_buf_write(&b, s->io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	as_cleanup(sweep_done) struct sweep s = {.opts = opts_, .url = args[0], .io = io};
	int r = prepare(&s, err);
	sigset_t old;

	(void)tail;
	if (r < 0)
		return r;
	block_signals(&old);
	for (size_t i = 0; i < s.grid->cells && r == AS_OK && !shall_end(&s); i++)
		r = run_cell(&s, i, err);
	io->status = exit_status(&s);
	io->die_by = s.die_by;
	if (r == AS_OK)
		r = become_sweep(&s, err);
	if (r == AS_OK)
		r = show(&s, err);
	(void)fflush(io->out); /* a signal that waits may end us now */
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}

const struct as_cmd as_cmd_sweep = {
	.name = "sweep",
	.synopsis = "[options] URL",
	.about = "measure a server in every combination of settings",
	.manual =
		"For each cell of a grid (`--over batch=1,2,4 --over nodes=1,2` are six) the "
		"server is set up, loaded, measured, and taken down: answers a second and a "
		"minute, latency with one request at a time and under load, the peak memory of "
		"each node, errors, and with `--goodput` the share of good answers.\n\n"
		"`{NAME}` stands for an axis' value in `--setup`, `--ready`, `--teardown`, "
		"`--body`, `--watch` and URL. A name in braces that is no axis stays as it is.\n\n"
		"**The setup** runs in a shell, in a process group of its own, with its output "
		"on our standard error. It may be the server itself, or end with 0 and leave one "
		"behind (`docker compose up -d`). The cell begins when `--ready` answers with "
		"2xx, and is given up when that takes longer than `--ready-timeout`, or when the "
		"setup fails. Afterwards, whatever came of it, also after Ctrl-C, `--teardown` "
		"runs, and then the setup's group is asked to end, and after `--patience` "
		"killed. What left the group (a daemon, a container) is the teardown's to end.\n\n"
		"**Nodes** are what `--watch` names, and each has its peak memory, with that of "
		"what it started: `--watch node=env:NODE_NUMBER` makes a node of each process that "
		"the setup started with that variable (`node-0`, `node-1` …, as many as the cell "
		"has), `--watch node=port:9001-9003` of who listens there, `--watch "
		"worker=cmd:worker.py` of each whose command line holds that, `--watch "
		"n1=container:node-1` of a container. They are looked for when the cell is ready. "
		"Without `--watch` all processes of the setup are one node, as long as its shell "
		"lives.\n\n"
		"Under load `-c` requests are under way at once, or with `-R` so many are sent a "
		"second. Both loads of a cell are runs in the history, with the cell's values as "
		"parameters; they are parts of the sweep's run, which is the load of the best "
		"cell, and `assay jobs --parts` lists them. `--html` draws a curve over each axis, "
		"with a line for each combination of the others. A cell that failed says why, the "
		"others go on; the exit status is then 6, as when a load was INVALID. Ctrl-C ends "
		"the sweep with what was measured until then.",
	.examples =
		"assay sweep --over size=1,1000 --setup 'rm -f s.sock; exec assay stub --listen "
		"unix:$PWD/s.sock -a size={size}' --low 0.1s -z 0.2s -c 4 unix:$PWD/s.sock\ttwo "
		"sizes of answers\n"
		"assay sweep --over n=1,2 --setup 'rm -f s.sock; exec assay stub --listen "
		"unix:$PWD/s.sock --servers {n} --service 1ms' --watch stub=cmd:s.sock --low 0.1s "
		"-z 0.2s -c 4 unix:$PWD/s.sock\tthe memory of a process of the setup\n",
	.flags = AS_CMD_ENV,
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
