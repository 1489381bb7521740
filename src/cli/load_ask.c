#include "cli/load_ask.h"

#include <string.h>
#include <sys/resource.h>

#include "base/json_text.h"
#include "cli/watched.h"
#include "judge/goodput.h"
#include "net/websocket.h"

/* ── what is sent, and to whom ────────────────────────────────────────── */

static int write_requests(const struct as_load_ask *o, struct as_load_job *j, struct as_err *err)
{
	struct as_load_body body = {o->body, o->body_file, o->body_lines};
	int bodies = !!o->body + !!o->body_file + !!o->body_lines;
	struct as_http_ask ask = {.method = o->method ? o->method
					    : bodies  ? "POST"
						      : "GET",
				  .headers = o->headers.v,
				  .nheaders = o->headers.n,
				  .has_body = bodies > 0};

	if (bodies > 1)
		return as_fail(err, AS_EUSAGE, "one of --body, --body-file and --body-lines");
	if (j->url.websocket && !bodies)
		return as_fail(err, AS_EUSAGE, "over a WebSocket go messages: --body says which");
	if (j->url.websocket && o->method)
		return as_fail(err, AS_EUSAGE, "messages of a WebSocket have no --method");
	j->config.bodyless = !strcmp(ask.method, "HEAD");
	return as_load_places_write(&j->places, &body, &ask, err);
}

static int find_places(const struct as_load_ask *o, struct as_load_job *j, struct as_err *err)
{
	const struct as_load_reach how = {.targets = o->targets,
					  .ca_file = o->ca_file,
					  .insecure = o->insecure,
					  .http2 = o->http2,
					  .yes = o->yes};

	return as_load_places_find(&j->places, &j->url, &how, err);
}

enum { STREAMS = 100 }; /* of a connection of HTTP/2 */

static int speak_http2(const struct as_load_ask *o, struct as_load_job *j, struct as_err *err)
{
	const struct as_load_rows *rows = &j->places.rows[0];
	struct as_http2_ask first;

	if (!o->http2)
		return AS_OK;
	if (j->url.websocket)
		return as_fail(err, AS_EUSAGE, "a WebSocket is made of HTTP/1.1: no --http2");
	if (!as_http2_read(rows->bytes.p, rows->ends[0], "http", &first))
		return as_fail(err, AS_EUSAGE, "the headers are too many, or their names too long");
	uint64_t streams = o->streams ? o->streams : STREAMS;
	j->config.streams = streams < AS_LOAD_CONNS_MOST ? (uint32_t)streams : AS_LOAD_CONNS_MOST;
	return as_http2_load(&j->config.http2, err);
}

/* ── flows ────────────────────────────────────────────────────────────── */

static bool is_flow(const char *text)
{
	size_t n = strlen(text);

	return n > 5 && !strcmp(text + n - 5, ".json") && !strstr(text, "://") &&
	       strncmp(text, "unix:", 5) != 0;
}

static void tell_row(void *arg, const char *file, size_t line, const char *why)
{
	(void)arg;
	(void)fprintf(stderr, "assay: %s:%zu: %s, left out\n", file, line, why);
}

static int read_flow(const struct as_load_ask *o, const char *path, struct as_load_job *j,
		     struct as_err *err)
{
	if (o->method || o->headers.n || o->body || o->body_file || o->body_lines)
		return as_fail(err, AS_EUSAGE, "the flow says what is sent: no -m, -H or --body");
	if (o->http2 || o->targets)
		return as_fail(err, AS_EUSAGE, "a flow is HTTP/1.1 with one server: no %s",
			       o->http2 ? "--http2" : "--targets");
	int r = as_flow_read(path, tell_row, NULL, &j->flow, err);
	if (r < 0)
		return r;
	if (j->flow->rows.left_out > AS_FLOW_ROWS_NAMED)
		(void)fprintf(stderr, "assay: %s: %zu more lines are left out\n",
			      j->flow->rows.file, j->flow->rows.left_out - AS_FLOW_ROWS_NAMED);
	j->url = j->flow->base;
	return find_places(o, j, err);
}

static int read_url(const struct as_load_ask *o, const char *url, struct as_load_job *j,
		    struct as_err *err)
{
	int r = as_url_parse(url, &j->url, err);

	if (r == AS_OK)
		r = find_places(o, j, err);
	if (r == AS_OK)
		r = write_requests(o, j, err);
	return r == AS_OK ? speak_http2(o, j, err) : r;
}

static void configure(const struct as_load_ask *o, struct as_load_job *j, const struct as_env *env)
{
	struct as_load_config *c = &j->config;

	c->env = env;
	c->flow = j->flow;
	c->place = j->places.at;
	c->nplaces = j->places.n;
	c->nrequests = j->places.rows[0].n;
	c->binary =
		!as_ws_is_text(as_buf_text(&j->places.rows[0].bytes), j->places.rows[0].bytes.len);
	c->balance = o->balance && *o->balance == 'l' ? AS_LEAST_OUTSTANDING : AS_ROUND_ROBIN;
	c->timeout_ns = o->timeout_ns;
	c->tokens = o->tokens;
	c->seed = o->seed;
}

/* ── what a good answer is ────────────────────────────────────────────── */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strcspn(text, "?"), k = strlen(end);

	return n >= k && !memcmp(text + n - k, end, k);
}

/* The first request asks a model, and not for a stream. */
static bool wants_all_at_once(const struct as_load_job *j)
{
	const struct as_load_rows *rows = &j->places.rows[0];
	const char *head = rows->n ? as_buf_text(&rows->bytes) : "";
	const char *body = memmem(head, rows->n ? rows->ends[0] : 0, "\r\n\r\n", 4);
	struct as_json_text json;
	struct as_err err;

	if (!body)
		return false;
	body += 4;
	if (as_json_text_check(body, (size_t)(head + rows->ends[0] - body), &json, &err) < 0 ||
	    !as_json_is_object(json))
		return false;
	struct as_json_text stream = as_json_of(json, "stream");
	bool asked = stream.n == 4 && !memcmp(stream.p, "true", 4);
	return !asked && (stream.n || ends_with(j->url.target, "/completions") ||
			  ends_with(j->url.target, "/responses"));
}

/* Some step is a request over HTTP. */
static bool asks_http(const struct as_flow_plan *flow)
{
	for (size_t i = 0; i < flow->nsteps; i++)
		if (!flow->step[i].talks && !flow->step[i].bodyless)
			return true;
	return false;
}

/* Why no answer can ever be a stream of tokens; NULL: one may be. */
static const char *why_no_stream(const struct as_load_job *j)
{
	if (j->flow)
		return asks_http(j->flow) ? NULL : "no step of the flow can have a stream";
	if (j->url.websocket)
		return "messages of a WebSocket are no streams";
	if (j->config.bodyless)
		return "what HEAD asks for has no body";
	return wants_all_at_once(j) ? "the request does not ask for a stream" : NULL;
}

static int set_bounds(const struct as_load_ask *o, struct as_load_job *j, struct as_err *err)
{
	int64_t *within = j->config.within_ns;
	int r = AS_OK;

	within[AS_LOAD_E2EL] = o->deadline_ns;
	if (o->goodput)
		r = as_goodput_parse(o->goodput, within, err);
	const char *why = r == AS_OK ? why_no_stream(j) : NULL;
	bool tokens = within[AS_LOAD_TTFT] || within[AS_LOAD_TPOT];
	if (r < 0 || !tokens || !why)
		return r < 0 ? as_err_wrap(err, "--goodput") : AS_OK;
	(void)as_fail(err, AS_EUSAGE, "'%s' can never be known: %s",
		      as_load_bound_key(within[AS_LOAD_TTFT] ? AS_LOAD_TTFT : AS_LOAD_TPOT), why);
	return as_hint(err, "a model streams when the body says \"stream\": true; e2el is of any "
			    "answer");
}

/* What says how to do something that is not done. */
static int check(const struct as_load_ask *o, struct as_err *err)
{
	if (o->balance && !o->targets)
		return as_fail(err, AS_EUSAGE, "--balance needs several servers: --targets A,B,C");
	if (o->streams && !o->http2)
		return as_fail(err, AS_EUSAGE, "--streams-per-connection needs --http2");
	return AS_OK;
}

int as_load_job_prepare(const struct as_load_ask *o, const char *what, const struct as_env *env,
			struct as_load_job *j, struct as_err *err)
{
	int r = check(o, err);

	if (r == AS_OK)
		r = is_flow(what) ? read_flow(o, what, j, err) : read_url(o, what, j, err);
	if (r == AS_OK)
		r = as_watched_parse(env, &o->watched, o->setup, j->watched, &j->nwatched, err);
	configure(o, j, env);
	return r == AS_OK ? set_bounds(o, j, err) : r;
}

int as_load_job_can_know(const struct as_load_job *j, const struct as_thresholds *t,
			 struct as_err *err)
{
	const struct as_flow_plan *flow = j->flow;
	struct as_threshold_facts f = {.watched = j->nwatched > 0};

	for (size_t b = 0; b < AS_LOAD_NBOUNDS; b++)
		f.bounds |= j->config.within_ns[b] > 0;
	for (size_t i = 0; i < j->config.nplaces; i++)
		f.tls |= j->config.place[i].tls != NULL;
	for (; flow && f.nsteps < flow->nsteps; f.nsteps++) {
		f.step[f.nsteps].name = flow->step[f.nsteps].name;
		f.step[f.nsteps].checked = flow->step[f.nsteps].checks.n > 0;
	}
	return as_thresholds_possible(t, &f, err);
}

void as_load_job_done(struct as_load_job *j)
{
	as_load_job_close(j);
	as_load_places_done(&j->places);
	as_flow_free(j->flow);
}

/* ── is there room for it? ────────────────────────────────────────────── */

/* What we have open ourselves: pipes, samples, the store. */
enum { OWN_FILES = 24 };

static uint64_t files_needed(const struct as_load_config *c)
{
	uint64_t conns = c->http2 ? (c->conns + c->streams - 1) / c->streams : c->conns;

	return conns * (c->flow && c->flow->talks ? 2 : 1) + OWN_FILES;
}

/* By a clock they are a limit, which may never be reached. The engine raises the soft limit. */
void as_load_job_tell_room(const struct as_load_job *j)
{
	uint64_t need = files_needed(&j->config);
	struct rlimit lim;

	if (j->config.schedule.rate > 0 || getrlimit(RLIMIT_NOFILE, &lim) < 0 ||
	    lim.rlim_max >= need)
		return;
	(void)fprintf(stderr,
		      "assay: %u at once need about %llu file descriptors, and %llu are all there "
		      "are\n    ask for fewer (-c), or let it have more (ulimit -n %llu)\n",
		      j->config.conns, (unsigned long long)need, (unsigned long long)lim.rlim_max,
		      (unsigned long long)need);
}

/* ── one load of it ───────────────────────────────────────────────────── */

/* A busy period as long as this is a block: as `assay loop` has it. */
#define BLOCK (10 * AS_MSEC)

static int generate(const void *config, struct as_pulse *pulse, struct as_load *ret,
		    struct as_err *err)
{
	return as_generate(config, pulse, ret, err);
}

int as_load_job_open(struct as_load_job *j, const char *thresholds, struct as_err *err)
{
	j->open = true;
	j->loops = (struct as_loops){0};
	j->drive = (struct as_drive){.env = j->config.env,
				     .generate = generate,
				     .config = &j->config,
				     .watched = j->watched,
				     .nwatched = j->nwatched,
				     .loops = j->nwatched ? &j->loops : NULL,
				     .thresholds = thresholds};
	int r = as_drive_open(&j->drive, err);
	if (r == AS_OK && j->nwatched)
		r = as_loops_init(&j->loops, err);
	j->loops.threshold_ns = BLOCK;
	return r;
}

struct as_measure as_load_job_measure(const struct as_load_job *j,
				      const struct as_measure_opts *opts)
{
	struct as_measure m = {.kind = "load",
			       .default_name = j->url.local ? j->url.socket : j->url.authority,
			       .opts = *opts,
			       .engine = {.attach = j->watched[0].pid,
					  .children = true,
					  .loops = j->drive.loops,
					  .companion = as_drive_companion(&j->drive)},
			       .stacks = {.children = true, .sampler = {.processes = true}}};

	m.opts.quiet = true; /* the status line is that of a job */
	m.opts.metrics = j->nwatched ? "all,load" : "system,cores,psi,load";
	return m;
}

void as_load_job_keep(const struct as_load_job *j, struct as_measured *got)
{
	as_measured_keep(got);
	for (size_t i = 1; i < j->nwatched; i++)
		if (j->drive.side[i].run)
			as_measured_keep_also(got, j->drive.side[i].run);
}

void as_load_job_close(struct as_load_job *j)
{
	if (!j->open)
		return;
	j->open = false;
	as_drive_done(&j->drive);
	as_loops_done(&j->loops);
}
