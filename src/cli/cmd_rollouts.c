/*
 * rollouts -- collect rollouts of an environment of NeMo Gym, as its own
 * collector does, and measure them.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/human.h"
#include "base/num.h"
#include "cli/measure.h"
#include "cli/rollout_progress.h"
#include "cli/rollout_servers.h"
#include "cli/rollout_words.h"
#include "cli/watched.h"
#include "judge/load.h"
#include "load/drive.h"
#include "load/hydra.h"
#include "load/rollout_input.h"
#include "load/rollout_metrics.h"
#include "load/rollout_run.h"
#include "report/report.h"
#include "report/rollouts.h"

struct opts {
	struct as_measure_opts m; /* identity and store; the rest is set here */
	const char *agent, *input, *output, *repeats;
	const char *head, *url, *drive, *preset;
	uint64_t limit, at_once, retries, max_output_tokens;
	const char *temperature, *top_p; /* NULL: as the rows say */
	int64_t timeout_ns, duration_ns;
	struct as_opt_list watched;
	bool add_seed, resume, no_metrics, no_watch, json, quiet, yes;
};

#define AT(member) offsetof(struct opts, member)

/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("what is collected"),
	{ .name = "input", .letter = 'i', .type = AS_OPT_TEXT, .at = AT(input), .arg = "FILE", .help = "rows, one JSON object a line (+input_jsonl_fpath=)" },
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = AT(output), .arg = "FILE", .help = "results, as they come; other files get names after it (+output_jsonl_fpath=)" },
	{ .name = "agent", .letter = 'a', .type = AS_OPT_TEXT, .at = AT(agent), .arg = "NAME", .help = "for rows that name no agent (+agent_name=)" },
	{ .name = "limit", .type = AS_OPT_UINT, .at = AT(limit), .arg = "N", .help = "the first N rows only (+limit=)" },
	{ .name = "num-repeats", .type = AS_OPT_TEXT, .at = AT(repeats), .arg = "N", .help = "rollouts of each row, or {AGENT: N, _default: N} (+num_repeats=)" },
	{ .name = "num-repeats-add-seed", .type = AS_OPT_SWITCH, .at = AT(add_seed), .help = "each repetition has a seed of its own (+num_repeats_add_seed=true)" },
	{ .name = "temperature", .type = AS_OPT_TEXT, .at = AT(temperature), .arg = "T", .help = "of the model (+responses_create_params.temperature=; default: as each row says)" },
	{ .name = "top-p", .type = AS_OPT_TEXT, .at = AT(top_p), .arg = "P", .help = "likewise (+responses_create_params.top_p=)" },
	{ .name = "max-output-tokens", .type = AS_OPT_UINT, .at = AT(max_output_tokens), .arg = "N", .help = "likewise (+responses_create_params.max_output_tokens=)" },
	{ .name = "resume", .type = AS_OPT_SWITCH, .at = AT(resume), .help = "go on where an earlier collection ended (+resume_from_cache=true)" },
	AS_OPT_HEAD("from whom"),
	{ .name = "head", .type = AS_OPT_TEXT, .at = AT(head), .arg = "HOST:PORT", .initial = "127.0.0.1:11000", .help = "the head server, which knows where agents are (+head_server={host: H, port: P})" },
	{ .name = "url", .type = AS_OPT_TEXT, .at = AT(url), .arg = "URL", .help = "the agent itself, for all rows, without a head server" },
	{ .name = "drive", .type = AS_OPT_TEXT, .at = AT(drive), .arg = "SERVER", .help = "replay the rows' responses on a resources server (a name or a URL): seed_session, tools, verify" },
	{ .name = "yes", .type = AS_OPT_SWITCH, .at = AT(yes), .help = "the server is neither on this machine nor in a private network, and its owner agrees" },
	AS_OPT_HEAD("how"),
	{ .name = "concurrency", .letter = 'c', .type = AS_OPT_UINT, .at = AT(at_once), .arg = "N", .help = "so many at once (+num_samples_in_parallel=; default: all, 1024 at most)" },
	{ .name = "timeout", .type = AS_OPT_DURATION, .at = AT(timeout_ns), .arg = "TIME", .initial = "1h", .positive = true, .help = "of one request" },
	{ .name = "retries", .type = AS_OPT_UINT, .at = AT(retries), .arg = "N", .initial = "4", .help = "of one rollout, after 0.5 s, 1 s, 2 s …, when the connection broke or the server failed" },
	{ .name = "time-limit", .type = AS_OPT_DURATION, .at = AT(duration_ns), .arg = "TIME", .positive = true, .help = "end the collection after this time" },
	{ .name = "disable-aggregation", .type = AS_OPT_SWITCH, .at = AT(no_metrics), .help = "do not ask the agents for metrics of all results (+disable_aggregation=true)" },
	{ .name = "preset", .type = AS_OPT_CHOICE, .at = AT(preset), .arg = "NAME", .choices = "gym", .help = "targets that it is held to: tools below 100 ms, verify below 50 ms, loop lag below 10 ms, at the 99th percentile; one that is missed or was not measured makes the exit status 3; its name" },
	AS_OPT_HEAD("what is watched meanwhile"),
	{ .name = "watch", .letter = 'w', .type = AS_OPT_LIST, .at = AT(watched), .arg = "TARGET", .help = "[NAME=]PID, container:NAME, port:N, env:VARIABLE or cmd:PATTERN: what it uses, and its loop lag; repeatable (default: the servers that the head server on this machine knows)" },
	{ .name = "no-watch", .type = AS_OPT_SWITCH, .at = AT(no_watch), .help = "watch nobody" },
	{ .name = "interval", .type = AS_OPT_DURATION, .at = AT(m.interval_ns), .arg = "TIME", .initial = "0.5s", .positive = true, .help = "time between samples; denser in the first second" },
	AS_OPT_HEAD("identity"),
	{ .name = "name", .letter = 'n', .type = AS_OPT_TEXT, .at = AT(m.name), .arg = "NAME", .help = "what to call the run (default: the agent's name)" },
	{ .name = "run-version", .type = AS_OPT_TEXT, .at = AT(m.version), .arg = "V", .help = "version of what is measured" },
	{ .name = "label", .letter = 'l', .type = AS_OPT_PAIRS, .at = AT(m.labels), .arg = "K=V", .help = "a label to find the run by; repeatable" },
	AS_OPT_HEAD("output"),
	{ .name = "json", .type = AS_OPT_SWITCH, .at = AT(json), .help = "what came of it as JSON on standard output, no summary" },
	{ .name = "quiet", .letter = 'q', .type = AS_OPT_SWITCH, .at = AT(quiet), .help = "no progress, no summary" },
	AS_STORING_OPTS(struct opts),
	{ 0 }
};
/* clang-format on */

enum { TOLD_MOST = 20, ATTEMPTS_MOST = 3 };

/* ── what is asked for ────────────────────────────────────────────────── */

struct job {
	const struct opts *opts;
	struct as_rollout_words words;
	struct as_rollout_files files;
	struct as_rollout_list list;
	struct as_rollout_server *servers; /* one for each agent of the list */
	struct as_rollout_config config;
	struct as_rollouts *out;
	const struct as_env *env;
	struct as_watched watched[AS_LOAD_TARGETS];
	size_t nwatched;
	struct as_opt_list targets; /* "NAME=PID" each */
	struct as_rollout_targets found;
	struct as_loops loops;
	struct as_sessions sessions;
	struct as_drive drive;
	bool failed; /* rollouts are missing */
	struct as_rollout_where where;
	uint64_t malformed; /* rows, told so far */
	struct as_rollout_line line;
	bool has_metrics; /* the agents' of all results         */
};

static void job_done(struct job *j)
{
	as_drive_done(&j->drive);
	as_loops_done(&j->loops);
	as_rollout_words_done(&j->words);
	as_rollout_files_done(&j->files);
	as_rollout_list_done(&j->list);
	as_buf_done(&j->where.yaml);
	free(j->servers);
	free(j->out);
}

static int add_param(struct as_rollout_words *w, const char *key, double v, struct as_err *err)
{
	char text[40];

	(void)snprintf(text, sizeof text, "%.10g", v);
	return as_rollout_param(w, key, text, err);
}

static int add_number(struct as_rollout_words *w, const char *key, const char *text,
		      const char *option, struct as_err *err)
{
	double v = 0;
	int r = as_parse_f64(text, &v, err);

	return r < 0 ? as_err_wrap(err, "%s", option) : add_param(w, key, v, err);
}

static int take_params(const struct opts *o, struct as_rollout_words *w, struct as_err *err)
{
	int r = AS_OK;

	if (o->temperature)
		r = add_number(w, "temperature", o->temperature, "--temperature", err);
	if (r == AS_OK && o->top_p)
		r = add_number(w, "top_p", o->top_p, "--top-p", err);
	if (r == AS_OK && o->max_output_tokens)
		r = add_param(w, "max_output_tokens", (double)o->max_output_tokens, err);
	return r;
}

/* Options first, then words in their order: what was said last counts. */
static int take_words(const struct opts *o, char **args, struct as_rollout_words *w,
		      struct as_err *err)
{
	int r = take_params(o, w, err);

	w->agent = o->agent;
	w->input = o->input;
	w->output = o->output;
	w->limit = o->limit;
	w->at_once = o->at_once;
	w->add_seed = o->add_seed;
	w->resume = o->resume;
	w->no_metrics = o->no_metrics;
	if (r == AS_OK && o->repeats)
		r = as_hydra_value(o->repeats, &w->repeats, err);
	for (; r == AS_OK && *args; args++)
		r = as_rollout_word(w, *args, err);
	return r;
}

static int check(const struct opts *o, const struct as_rollout_words *w, struct as_err *err)
{
	if (!w->input || !w->output)
		return as_fail(err, AS_EUSAGE, "no %s: write --%s FILE or +%s_jsonl_fpath=FILE",
			       w->input ? "output" : "input", w->input ? "output" : "input",
			       w->input ? "output" : "input");
	if (w->at_once > AS_ROLLOUTS_AT_ONCE_MOST)
		return as_fail(err, AS_EUSAGE, "%lu at once are too many: %d at most",
			       (unsigned long)w->at_once, AS_ROLLOUTS_AT_ONCE_MOST);
	if (o->retries > 1000)
		return as_fail(err, AS_EUSAGE, "so many retries never end: 1000 at most");
	if (o->url && o->drive)
		return as_fail(err, AS_EUSAGE, "--url or --drive, not both");
	return access(w->input, R_OK) < 0 ? as_fail_errno(err, errno, "open '%s'", w->input)
					  : AS_OK;
}

static uint64_t attempts_most(void)
{
	const char *text = getenv("NEMO_GYM_MAX_ROLLOUT_ATTEMPTS");
	struct as_err ignored;
	uint64_t n = 0;

	return text && as_parse_u64(text, &n, &ignored) == AS_OK && n ? n : ATTEMPTS_MOST;
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static void on_malformed(void *arg, const char *path, uint64_t line, const struct as_err *why)
{
	struct job *j = arg;

	if (j->malformed++ < TOLD_MOST)
		(void)fprintf(stderr, "assay: %s:%llu: %s\n", path, (unsigned long long)line,
			      why->msg);
}

static struct as_json_text json_or(const struct as_buf *b, const char *otherwise)
{
	return b->len ? as_json_text(b->p, b->len) : as_json_text(otherwise, strlen(otherwise));
}

/* To the file of inputs; or, without one, to be counted. */
static int read_rows(struct job *j, const char *output, const char *agent,
		     struct as_rollout_input_count *ret, struct as_err *err)
{
	const struct as_rollout_words *w = &j->words;
	const struct as_rollout_input in = {.input = w->input,
					    .output = output,
					    .agent = agent,
					    .limit = w->limit,
					    .add_seed = w->add_seed,
					    .repeats = json_or(&w->repeats, "1"),
					    .params = json_or(&w->params, "{}"),
					    .malformed = on_malformed,
					    .arg = j};

	if (!as_json_is_object(in.params))
		return as_fail(err, AS_EUSAGE, "responses_create_params is no {key: value, …}");
	int r = as_rollout_expand(&in, &j->list, ret, err);
	if (r == AS_OK && j->malformed > TOLD_MOST)
		(void)fprintf(stderr, "assay: … and %llu more rows that could not be read\n",
			      (unsigned long long)(j->malformed - TOLD_MOST));
	j->out->malformed = ret->malformed;
	j->out->lost = ret->lost;
	return r;
}

static int expand(struct job *j, struct as_err *err)
{
	struct as_rollout_input_count count;
	int r = read_rows(j, j->files.part, j->words.agent, &count, err);

	if (r < 0)
		return r;
	j->out->asked = count.good + count.lost;
	if (j->list.n)
		return AS_OK;
	(void)unlink(j->files.part);
	return as_fail(err, AS_EFORMAT, "'%s' has no row that could be sent", j->words.input);
}

/*
 * The inputs of an earlier collection have no rows that could not be read, nor
 * what was added to the file since: both are asked for, and do not come back.
 */
static int count_asked(struct job *j, uint64_t before, struct as_err *err)
{
	struct as_rollout_input_count count;
	const char *agent = j->words.agent; /* who does not say so again has what rows got then */

	if (!agent && j->list.nagents)
		agent = j->list.agents[0];
	int r = read_rows(j, NULL, agent, &count, err);
	if (r < 0)
		return r;
	j->out->asked = (count.good > before ? count.good : before) + count.lost;
	if (count.good > before)
		(void)fprintf(stderr, "assay: %llu rollouts of '%s' are none that it began with\n",
			      (unsigned long long)(count.good - before), j->words.input);
	return AS_OK;
}

static void tell_recall(const struct job *j, const struct as_rollout_recall *c)
{
	if (j->opts->quiet)
		return;
	(void)fprintf(stderr, "resumed: asked for %llu, back %llu, given up %llu\n",
		      (unsigned long long)c->asked, (unsigned long long)c->done,
		      (unsigned long long)c->given_up);
	if (c->malformed)
		(void)fprintf(stderr, "assay: %llu lines of earlier results say nothing of them\n",
			      (unsigned long long)c->malformed);
}

static int find_rows(struct job *j, bool *ret_found, struct as_err *err)
{
	struct as_rollout_recall c = {0};
	int r = as_rollout_files_init(&j->files, j->words.output, err);

	if (r == AS_OK)
		r = as_rollout_files_apart(&j->files, j->words.input, err);
	if (r == AS_OK)
		r = as_rollout_files_open(&j->files, j->words.resume, attempts_most(), &j->list, &c,
					  err);
	*ret_found = c.found;
	if (r == AS_OK && !c.found)
		return expand(j, err);
	if (r < 0)
		return r;
	j->out->before = c.done;
	j->out->given_up = c.given_up;
	tell_recall(j, &c);
	return count_asked(j, c.asked, err);
}

/* ── servers ──────────────────────────────────────────────────────────── */

static int find_servers(struct job *j, struct as_err *err)
{
	int r = AS_OK;

	j->servers = as_zalloc_n(j->list.nagents, sizeof *j->servers);
	if (!j->servers)
		return as_fail(err, AS_ENOMEM, "no memory for %zu agents", j->list.nagents);
	for (size_t i = 0; r == AS_OK && i < j->list.nagents; i++)
		r = as_where_find(&j->where, j->list.agents[i], &j->servers[i], err);
	return r;
}

static int prepare(struct job *j, char **args, struct as_err *err)
{
	bool found = false;
	int r = take_words(j->opts, args, &j->words, err);

	j->out = as_zalloc(sizeof *j->out);
	if (!j->out)
		return as_fail(err, AS_ENOMEM, "no memory for histograms");
	j->out->gym = j->opts->preset != NULL;
	j->out->driven = j->opts->drive != NULL;
	if (r == AS_OK)
		r = check(j->opts, &j->words, err);
	j->where.said = json_or(&j->words.head, "{}");
	if (r == AS_OK) /* before anything is emptied: one that is away costs no results */
		r = as_where_ask(&j->where, err);
	if (r == AS_OK)
		r = find_rows(j, &found, err);
	if (r == AS_OK)
		r = find_servers(j, err);
	if (r == AS_OK)
		return as_rollout_files_begin(&j->files, found, err);
	if (j->files.part)
		(void)unlink(j->files.part);
	return r;
}

/* ── while it runs ────────────────────────────────────────────────────── */

/* Those that were named must be there; those that we found ourselves need not. */
static int find_targets(struct job *j, struct as_err *err)
{
	struct as_err why = {0};

	j->targets = j->opts->watched;
	if (j->targets.n || j->opts->no_watch)
		return as_watched_parse(j->env, &j->targets, NULL, j->watched, &j->nwatched, err);
	as_where_targets(&j->where, j->env, &j->found);
	j->out->unwatched = j->found.left_out;
	for (size_t i = 0; i < j->found.n; i++)
		j->targets.v[j->targets.n++] = j->found.word[i];
	if (as_watched_parse(j->env, &j->targets, NULL, j->watched, &j->nwatched, &why) < 0) {
		as_complain("the servers are not watched", &why);
		memset(j->watched, 0, sizeof j->watched);
	}
	return AS_OK;
}

static int open_drive(struct job *j, struct as_err *err)
{
	int r = find_targets(j, err);

	j->drive.env = j->env;
	j->drive.generate = as_rollouts_collect;
	j->drive.config = &j->config;
	j->drive.watched = j->watched;
	j->drive.nwatched = j->nwatched;
	j->drive.loops = j->nwatched ? &j->loops : NULL;
	j->drive.sessions = &j->sessions;
	j->drive.failed = &j->failed;
	if (r == AS_OK)
		r = as_drive_open(&j->drive, err);
	if (r == AS_OK && j->nwatched)
		r = as_loops_init(&j->loops, err);
	j->loops.threshold_ns = 10 * AS_MSEC; /* as `assay loop` has it */
	return r;
}

static uint64_t left_to_do(const struct job *j)
{
	uint64_t n = 0;

	for (size_t i = 0; i < j->list.n; i++)
		n += !j->list.v[i].done;
	return n;
}

static void configure(struct job *j, uint64_t left)
{
	const struct opts *o = j->opts;
	uint64_t at_once = j->words.at_once ? j->words.at_once : AS_ROLLOUTS_AT_ONCE;

	j->config = (struct as_rollout_config){
		.env = j->env,
		.files = &j->files,
		.list = &j->list,
		.servers = j->servers,
		.driven = o->drive != NULL,
		.at_once = (uint32_t)(at_once < left ? at_once : left),
		.retries = (uint32_t)o->retries,
		.timeout_ns = o->timeout_ns,
		.duration_ns = o->duration_ns,
		.progress = o->quiet || o->json ? NULL : as_rollout_progress,
		.arg = &j->line,
		.out = j->out,
		.sessions = &j->sessions,
		.failed = &j->failed,
	};
}

/* ── what came of it ──────────────────────────────────────────────────── */

static int show(const struct job *j, const struct as_measured *s, struct as_io *io,
		struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));
	struct as_gym_target targets[AS_GYM_TARGETS];
	const char *const files[] = {"results",
				     j->files.output,
				     "inputs",
				     j->files.inputs,
				     "failures",
				     j->files.failures,
				     "timings",
				     j->files.timings,
				     j->has_metrics ? "metrics" : NULL,
				     j->files.metrics,
				     NULL};
	bool met = as_judge_gym(j->out, s ? s->run->load : NULL, targets);
	const struct as_rollouts_report r = {s ? s->run : NULL, j->out, files};

	if (as_rollouts_missing(j->out) || (j->opts->preset && !met))
		io->status = as_code_exit(AS_ETHRESHOLD);
	if (j->opts->json)
		as_report_rollouts_json(&b, &r);
	else if (!j->opts->quiet)
		as_report_rollouts(&b, &look, &r);
	if (s && s->kept && !j->opts->json && !j->opts->quiet)
		as_report_next(&b, &look, s->run);
	return as_buf_write(&b, io->out, err);
}

/* Said whatever else is quiet: nobody trains on half of what was asked for without knowing. */
static void tell_missing(const struct as_rollouts *r)
{
	if (as_rollouts_missing(r))
		(void)fprintf(stderr, "assay: %llu of %llu rollouts did not come back\n",
			      (unsigned long long)as_rollouts_missing(r),
			      (unsigned long long)r->asked);
}

static void put_params(const struct job *j, char text[4][96], struct as_opt_list *to)
{
	(void)snprintf(text[0], sizeof text[0], "concurrency=%u", j->config.at_once);
	(void)snprintf(text[1], sizeof text[1], "timeout=%s",
		       as_human_duration(j->opts->timeout_ns).s);
	(void)snprintf(text[2], sizeof text[2], "retries=%u", j->config.retries);
	(void)snprintf(text[3], sizeof text[3], "rollouts=%llu", (unsigned long long)j->out->asked);
	for (size_t i = 0; i < 4; i++)
		to->v[to->n++] = text[i];
}

/* They are no part of what was asked for: without them the results are good all the same. */
static void collect_metrics(struct job *j)
{
	struct as_err err = {0};

	if (j->words.no_metrics || j->opts->drive || !(j->out->back + j->out->before))
		return;
	j->has_metrics = as_rollout_metrics(&j->files, &j->list, j->servers, j->opts->timeout_ns,
					    &err) == AS_OK;
	if (!j->has_metrics)
		as_complain("no aggregate metrics", &err);
}

static int measure(struct job *j, struct as_io *io, struct as_err *err)
{
	as_auto_measured struct as_measured got = {0};
	char assay[] = "assay", rollouts[] = "rollouts", params[4][96];
	char *words[] = {assay, rollouts, j->files.output, NULL};
	struct as_measure m = {.kind = "rollouts",
			       .default_name = j->opts->drive ? j->opts->drive : j->list.agents[0],
			       .opts = j->opts->m,
			       .engine = {.attach = j->watched[0].pid,
					  .children = true,
					  .loops = j->drive.loops,
					  .companion = as_drive_companion(&j->drive)},
			       .argv = words};

	m.opts.quiet = true; /* the status line is that of a job */
	m.opts.metrics = j->nwatched ? "all,load" : "system,cores,psi,load";
	put_params(j, params, &m.opts.params);
	int r = as_measured_take(&got, &m, io, err);
	as_rollout_line_wipe(&j->line);
	if (r < 0)
		return r;
	as_measured_keep(&got);
	for (size_t i = 1; i < j->nwatched; i++)
		if (j->drive.side[i].run)
			as_measured_keep_also(&got, j->drive.side[i].run);
	if (got.run->end.status != AS_INTERRUPTED)
		collect_metrics(j);
	r = show(j, &got, io, err);
	tell_missing(j->out);
	return r;
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	as_cleanup(job_done) struct job j = {.opts = opts_,
					     .files = AS_ROLLOUT_FILES,
					     .drive.over = -1,
					     .env = io->env,
					     .where.yaml = AS_BUF(AS_BUF_FILE)};

	(void)tail;
	j.where.head = j.opts->head;
	j.where.url = j.opts->url;
	j.where.drive = j.opts->drive;
	j.where.yes = j.opts->yes;
	as_rollout_words_init(&j.words);
	int r = prepare(&j, args, err);
	if (r < 0)
		return r;
	uint64_t left = left_to_do(&j);
	configure(&j, left);
	r = left ? open_drive(&j, err) : AS_OK;
	if (r < 0 || left)
		return r < 0 ? r : measure(&j, io, err);
	r = show(&j, NULL, io, err);
	tell_missing(j.out);
	return r;
}

const struct as_cmd as_cmd_rollouts = {
	.name = "rollouts",
	.synopsis = "[options] [+KEY=VALUE]…",
	.about = "collect rollouts of a NeMo Gym environment and measure them",
	.manual =
		"Sends each row of a file to an agent of NeMo Gym, as `ng_collect_rollouts` (`gym "
		"eval run --no-serve`) does, and writes the same files; and measures what that "
		"command does not: when each rollout was sent, how long it took, how it ended.\n\n"
		"What is asked for is said in options or as `+KEY=VALUE` and `++KEY=VALUE`, with "
		"the keys agent_name, input_jsonl_fpath, output_jsonl_fpath, "
		"num_samples_in_parallel, limit, num_repeats, num_repeats_add_seed, "
		"responses_create_params (or `+responses_create_params.temperature=0.7`), "
		"resume_from_cache, disable_aggregation, head_server. Values are as there: "
		"numbers, true, false, null, text, `{key: value}`, `[value, value]`.\n\n"
		"Where an agent is says the head server (`--head`), or `--url`. For `--output "
		"out.jsonl` there will be: `out.jsonl`, each result as it came, on a line of its "
		"own, with `_ng_task_index`, `_ng_rollout_index` and `agent_ref`; "
		"`out_materialized_inputs.jsonl`, what was asked for; `out_failures.jsonl`, what "
		"the agent answered instead of a result; `out_aggregate_metrics.json`, what the "
		"agents make of all results; and `out_timings.jsonl`, a line for each "
		"attempt with start, end, latency, status and bytes, and the times of tools and "
		"verify as far as they are known. Keys keep their order, and what nobody here "
		"knows is written as it came. Without `--resume` files of an earlier "
		"collection are emptied; the "
		"rows may be in none of them but the inputs.\n\n"
		"A rollout that fails stops no other. When its connection broke, or the server "
		"answered 429 or 5xx, it is tried again, `--retries` times. **If fewer came "
		"back than were asked for, that is said and the exit status is 3**; when all "
		"did it is 0, also where others had our CPU and the times are INVALID, which the "
		"verdict says. Rows that "
		"are no JSON, or no rows, are named by file and line, count as asked for, as often "
		"as a row is repeated, also after `--resume`, and the others go on. With "
		"`--resume` everything that is not among the results is tried "
		"again, unless the agent said never, or it was answered with a failure "
		"$NEMO_GYM_MAX_ROLLOUT_ATTEMPTS times (3). What was asked for then stays asked "
		"for, whatever `--num-repeats` says now; what it says more is told as missing. "
		"A collection may be killed at any "
		"moment: at most a torn last line is cut off, nothing is lost or there "
		"twice.\n\n"
		"Tool times come from `ng_trajectory` of the results, where observability is on. "
		"With `--drive SERVER` the rows must have a `response` (results of an earlier "
		"collection have), and instead of the agent the resources server is called as an "
		"agent would: `seed_session`, each tool that the response calls, `verify`, with "
		"the cookies of the session; what verify answers is the result, and every step is "
		"timed.\n\n"
		"With a head server on this machine its servers are watched meanwhile (or those "
		"of `--watch`), 8 at most, which is said if there are more: what they use and how "
		"long their event loops were held up, on the timeline of the run; and what a "
		"session takes of their memory. An attempt at a rollout is a session. A server "
		"that grows with each one that is opened keeps its memory: the slope (Theil-Sen) "
		"is what one takes. Otherwise it is the largest growth, divided by the most "
		"sessions at once: at most that, and unknown when they were fewer than 4.\n\n"
		"`--preset gym` holds it to the targets that NeMo Gym's page on profiling names; "
		"the loop lag is that of the server whose loop was held up most. **What was not "
		"measured is not met**: the table says why it was not, and what to do.\n\n"
		"A collection is a run: it is kept in the history, and `assay show` tells again "
		"what came back, its latencies and the table of targets.",
	.examples =
		"assay rollouts --url unix:$PWD/agent.sock -a simple_agent -i rows.jsonl -o "
		"out.jsonl\tall rows, at an agent whose address is known\n"
		"assay rollouts --url unix:$PWD/agent.sock +agent_name=simple_agent "
		"+input_jsonl_fpath=rows.jsonl +output_jsonl_fpath=out.jsonl +num_repeats=4 "
		"+num_samples_in_parallel=2\tthe same in NeMo Gym's words, four of each, two at a "
		"time\n",
	.flags = AS_CMD_ENV,
	.min_args = 0,
	.max_args = -1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
