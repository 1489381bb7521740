/*
 * load -- how much a server holds: requests, as many or as often as asked, and
 * how long each took.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/human.h"
#include "cli/load_ask.h"
#include "cli/load_output.h"
#include "cli/load_view.h"
#include "judge/load.h"
#include "judge/threshold.h"
#include "report/load.h"
#include "report/report.h"

struct opts {
	struct as_measure_opts m; /* identity and store; the rest is set here */
	struct as_load_ask ask;
	uint64_t requests;
	int64_t duration_ns, warmup_ns;
	const char *conns, *rate, *arrival, *exit_codes;
	struct as_opt_list thresholds, outputs;
	bool formats[AS_LOAD_NFORMATS];
	bool quiet;
};

enum { K6_THRESHOLD = 99 }; /* its exit status */

#define AT(member) offsetof(struct opts, member)

/* clang-format off */
static const struct as_opt opts[] = {
	AS_OPT_HEAD("how much"),
	{ .name = "connections", .letter = 'c', .type = AS_OPT_TEXT, .at = AT(conns), .arg = "N", .initial = "50", .help = "requests that may be under way at once; FROM:TO or stages (10@30s,50@1m) change it" },
	{ .name = "requests", .letter = 'n', .type = AS_OPT_UINT, .at = AT(requests), .arg = "N", .positive = true, .help = "stop after so many; those of --warmup come beside them" },
	{ .name = "duration", .letter = 'z', .type = AS_OPT_DURATION, .at = AT(duration_ns), .arg = "TIME", .positive = true, .help = "stop after this time (default: 10s, if there is no -n)" },
	{ .name = "rate", .letter = 'R', .type = AS_OPT_TEXT, .at = AT(rate), .arg = "RATE", .help = "send so many a second, whatever the server does; FROM:TO or stages (100@30s,500@1m) change it (default: when an answer came)" },
	{ .name = "arrival", .type = AS_OPT_TEXT, .at = AT(arrival), .arg = "HOW", .initial = "constant", .help = "of --rate: constant, poisson, or gamma:SHAPE (below 1 in bursts, above steadier)" },
	{ .name = "seed", .type = AS_OPT_UINT, .at = AT(ask.seed), .arg = "N", .initial = "1", .help = "of random arrivals: the same seed, the same moments" },
	{ .name = "warmup", .type = AS_OPT_DURATION, .at = AT(warmup_ns), .arg = "TIME", .help = "send for so long before anything is measured" },
	AS_LOAD_PATIENCE_OPTS(struct opts),
	AS_LOAD_SENDING_OPTS(struct opts),
	AS_OPT_HEAD("what it must keep to"),
	{ .name = "threshold", .type = AS_OPT_LIST, .at = AT(thresholds), .arg = "EXPR", .help = "p99<250ms, errors<1%, rate>=100/s, or as k6 writes it; repeatable, or a list with commas" },
	{ .name = "exit-codes", .type = AS_OPT_CHOICE, .at = AT(exit_codes), .choices = "assay|k6", .arg = "WHOSE", .initial = "assay", .help = "a threshold that was missed exits with 3, or with k6's 99" },
	AS_LOAD_WATCHING_OPTS(struct opts),
	AS_OPT_HEAD("identity"),
	{ .name = "name", .type = AS_OPT_TEXT, .at = AT(m.name), .arg = "NAME", .help = "what to call the run (default: the server's address)" },
	{ .name = "run-version", .type = AS_OPT_TEXT, .at = AT(m.version), .arg = "V", .help = "version of the server that is measured" },
	{ .name = "label", .letter = 'l', .type = AS_OPT_PAIRS, .at = AT(m.labels), .arg = "K=V", .help = "a label to find the run by; repeatable" },
	AS_OPT_HEAD("output"),
#define X(id, name_, endings, put, help_) { .name = name_, .type = AS_OPT_SWITCH, .at = AT(formats[AS_LOAD_##id]), .apart = 1, .help = help_ ", instead of the summary" },
	AS_LOAD_FORMATS(X)
#undef X
	{ .name = "output", .letter = 'o', .type = AS_OPT_LIST, .at = AT(outputs), .arg = "FILE", .help = "write FILE, in the format that its ending says (.json .csv .ndjson .hdr .xml .md), or one of those above; repeatable" },
	{ .name = "quiet", .letter = 'q', .type = AS_OPT_SWITCH, .at = AT(quiet), .help = "no progress, no summary" },
	AS_STORING_OPTS(struct opts),
	{ 0 }
};
/* clang-format on */

/* Of wrk, hey and oha. */
static const struct as_opt_habit habits[] = {
	{'d', "-z says how long, --body what is sent"},
	{'D', "--body-file is the file of a body"},
	{'t', "--timeout is that of a request, and one thread sends them all"},
	{'q', "-R says how often, and -q is --quiet"},
	{0},
};

/* ── what is asked for ────────────────────────────────────────────────── */

struct job {
	struct as_load_job load;
	struct as_thresholds thresholds;
	char keeps_to[AS_LOAD_THRESHOLDS];
	struct as_load_files files;
	struct as_load_view view;
};

static void job_done(struct job *j)
{
	as_load_view_done(&j->view);
	as_load_job_done(&j->load);
	as_load_files_done(&j->files);
}

static int check(const struct opts *o, struct as_err *err)
{
	if (!o->rate && strcmp(o->arrival, "constant") != 0)
		return as_fail(err, AS_EUSAGE, "--arrival needs a --rate");
	if (o->m.stacks && !o->ask.watched.n)
		return as_fail(err, AS_EUSAGE, "--stacks needs somebody to --watch");
	return as_measure_check(&o->m, err);
}

/* How long what names no time lasts. */
static int64_t whole_time(const struct opts *o)
{
	return o->duration_ns || o->requests ? o->duration_ns : 10 * AS_SECOND;
}

/* Stages say themselves how long they last. */
static int take_time(const struct opts *o, const char *text, const struct as_stages *s,
		     struct job *j, struct as_err *err)
{
	if (!strchr(text, '@'))
		return AS_OK;
	if (o->duration_ns)
		return as_fail(err, AS_EUSAGE, "the stages say how long it lasts: no -z");
	if (j->load.config.duration_ns)
		return as_fail(err, AS_EUSAGE, "stages of -R or of -c, not of both");
	j->load.config.duration_ns = (int64_t)(as_stages_seconds(s) * 1e9) - o->warmup_ns;
	return AS_OK;
}

static int plan_rate(const struct opts *o, struct job *j, struct as_err *err)
{
	struct as_schedule *s = &j->load.config.schedule;
	int r = as_schedule_parse(o->arrival, s, err);

	if (r < 0 || !o->rate)
		return r;
	r = as_schedule_plan(o->rate, whole_time(o), o->warmup_ns, s, err);
	return r < 0 ? as_err_wrap(err, "--rate") : take_time(o, o->rate, &s->plan, j, err);
}

static int plan_conns(const struct opts *o, struct job *j, struct as_err *err)
{
	struct as_stages s;
	int r = as_stages_parse(o->conns, whole_time(o), &s, err);

	if (r < 0)
		return as_err_wrap(err, "--connections");
	double most = as_stages_most(&s);
	if (!(most >= 1) || most > AS_LOAD_CONNS_MOST || strchr(o->conns, '/'))
		return as_fail(err, AS_EUSAGE, "connections are 1 to %d", AS_LOAD_CONNS_MOST);
	j->load.config.conns = (uint32_t)most;
	if (!as_stages_vary(&s))
		return AS_OK;
	if (o->rate)
		return as_fail(err, AS_EUSAGE, "with --rate connections are a limit, which stays");
	r = as_stages_delay(&s, o->warmup_ns, err);
	j->load.config.at_once = s;
	return r < 0 ? r : take_time(o, o->conns, &s, j, err);
}

static int read_thresholds(const struct opts *o, struct job *j, struct as_err *err)
{
	int r = AS_OK;

	for (size_t i = 0; i < o->thresholds.n && r == AS_OK; i++)
		r = as_thresholds_parse(o->thresholds.v[i], &j->thresholds, err);
	as_thresholds_text(&j->thresholds, j->keeps_to, sizeof j->keeps_to);
	return r;
}

static int prepare(const struct opts *o, const char *url, struct job *j, const struct as_env *env,
		   struct as_err *err)
{
	int r = check(o, err);

	if (r == AS_OK)
		r = plan_rate(o, j, err);
	if (r == AS_OK)
		r = plan_conns(o, j, err);
	if (r == AS_OK)
		r = read_thresholds(o, j, err);
	if (r == AS_OK)
		r = as_load_files_open(&j->files, o->formats, &o->outputs, err);
	if (r == AS_OK)
		r = as_load_job_prepare(&o->ask, url, env, &j->load, err);
	return r == AS_OK ? as_load_job_can_know(&j->load, &j->thresholds, err) : r;
}

static void configure(const struct opts *o, struct as_load_config *c)
{
	c->requests = o->requests;
	if (o->requests && o->requests < c->conns)
		c->conns = (uint32_t)o->requests;
	if (!c->duration_ns)
		c->duration_ns = whole_time(o);
	c->warmup_ns = o->warmup_ns;
}

/* ── what came of it ──────────────────────────────────────────────────── */

static int show(const struct opts *o, struct job *j, const struct as_measured *s, struct as_io *io,
		struct as_err *err)
{
	int r = as_load_files_write(&j->files, s->run, io->out, err);

	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_look look = as_look_for(fileno(io->out));

	if (r < 0 || o->quiet || as_load_files_to_standard(&j->files))
		return r;
	as_report_load(&b, &look, s->run);
	if (s->kept)
		as_report_next(&b, &look, s->run);
	return as_buf_write(&b, io->out, err);
}

/* How it was asked for, as parameters of the run. */
static void put_params(const struct opts *o, char text[4][64], struct as_opt_list *to)
{
	(void)snprintf(text[0], sizeof text[0], "connections=%.40s", o->conns);
	(void)snprintf(text[1], sizeof text[1], "timeout=%s",
		       as_human_duration(o->ask.timeout_ns).s);
	(void)snprintf(text[2], sizeof text[2], "rate=%.34s %.20s", o->rate ? o->rate : "",
		       o->arrival);
	(void)snprintf(text[3], sizeof text[3], "balance=%.40s",
		       o->ask.balance ? o->ask.balance : "round-robin");
	for (size_t i = 0; i < 4; i++)
		if (i < 2 || (i == 2 ? o->rate : o->ask.targets))
			to->v[to->n++] = text[i];
}

/* What was not measured rightly keeps to nothing, and misses nothing. */
static int exit_status(const struct opts *o, const struct job *j, const struct as_run *run)
{
	if (as_load_is_invalid(&run->verdict))
		return as_code_exit(AS_EINVALID);
	if (!as_thresholds_missed(&j->thresholds, run->load))
		return run->end.status == AS_FAILED ? as_code_exit(AS_ETHRESHOLD) : 0;
	return strcmp(o->exit_codes, "k6") != 0 ? as_code_exit(AS_ETHRESHOLD) : K6_THRESHOLD;
}

/* Less than this is over before anybody has read a screen. */
#define SCREEN_FROM (2 * AS_SECOND)

static void open_view(const char *url, struct job *j, bool shown)
{
	const struct as_load_config *c = &j->load.config;
	const struct as_watched *first = &j->load.watched[0];

	j->view.load = &j->load.drive;
	j->view.plan =
		(struct as_load_top_facts){.url = url,
					   .until_ns = c->duration_ns
							       ? c->warmup_ns + c->duration_ns
							       : 0,
					   .most = c->requests,
					   .flow = c->flow != NULL,
					   .conns = c->conns,
					   .rate = c->schedule.rate,
					   .target = first->pid ? first->name : NULL,
					   .pid = first->pid};
	as_load_view_open(&j->view, shown && c->duration_ns >= SCREEN_FROM);
}

static int measure(const struct opts *o, char *url, struct job *j, struct as_io *io,
		   struct as_err *err)
{
	as_auto_measured struct as_measured got = {0};
	char assay[] = "assay", load[] = "load", params[4][64];
	char *words[] = {assay, load, url, NULL};
	bool shown = !o->quiet && isatty(STDERR_FILENO);
	open_view(url, j, shown);
	struct as_sink view = as_load_view_sink(&j->view);
	struct as_measure m = as_load_job_measure(&j->load, &o->m);

	m.engine.ear = as_load_view_ear(&j->view);
	m.watcher = shown ? &view : NULL;
	m.argv = words;
	put_params(o, params, &m.opts.params);
	int r = as_measured_take(&got, &m, io, err);
	if (r < 0)
		return r;
	as_load_job_keep(&j->load, &got);
	io->status = exit_status(o, j, got.run);
	return show(o, j, &got, io, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	const struct opts *o = opts_;
	as_cleanup(job_done) struct job j = {0};
	int r = prepare(o, args[0], &j, io->env, err);

	(void)tail;
	if (r < 0)
		return r;
	configure(o, &j.load.config);
	as_load_job_tell_room(&j.load);
	r = as_load_job_open(&j.load, j.keeps_to, err);
	return r == AS_OK ? measure(o, args[0], &j, io, err) : r;
}

const struct as_cmd as_cmd_load = {
	.name = "load",
	.synopsis = "[options] URL|FLOW",
	.about = "send requests to a server and measure the answers",
	.manual =
		"Sends the same request to URL again and again and measures how long the answers "
		"take. URL is `http://HOST[:PORT]/PATH`, `https://…`, `ws://…`, "
		"`wss://…` or `unix:/SOCKET[:/PATH]`. With "
		"`--body-lines` each line of a file is the body of a request, and they take turns; "
		"lines that are empty, and in `*.jsonl` those that are no JSON, are named and left "
		"out.\n\n"
		"**Flows.** FLOW is a file whose name ends in `.json`: steps with names in them "
		"that earlier steps captured (`{{token}}`), that a file of rows or the environment "
		"has, with cookies for each session, checks, pauses, and steps that are repeated "
		"until something is so; and steps over a WebSocket, which send a message and read "
		"until one is so. `-c` is then how many sessions are at work at once, `-R` "
		"how many begin a second, `-n` how many there are. Each step is told for itself. "
		"docs/flows.md has all of it, examples/flows three that run.\n\n"
		"Without `--rate` each of the `-c` connections sends when it has its answer: a "
		"closed loop, which asks what the server can do at most. Of answers that come at "
		"once all are read before the next requests are sent. With `--rate` requests are "
		"due by a clock, whatever the server does, and **latency counts from the moment a "
		"request was due**: when the server stalls, those who would have come meanwhile "
		"are not forgotten; in a closed loop it counts from when the answer before was "
		"there. What passed between sending and the answer stands beside it (`on the "
		"wire`), and so does what the generator itself was late by (`lateness`). One that "
		"is due while all connections wait is sent by the first that becomes free.\n\n"
		"What `-R` or `-c` say can change. `10:100` goes from 10 to 100 evenly over `-z`; "
		"`100@30s,100@1m,0@10s` are stages, as k6's: up to 100 in 30 seconds, from 0, a "
		"minute of that, and down again; `100:100@30s,500:500@1m` are steps. The schedule "
		"stays exact: the request with number i is due at the moment at which the rate has "
		"summed up to i. A `--warmup` before it has what the first stage begins with.\n\n"
		"**Several servers.** `--targets A,B,C` sends to these, in the URL's stead: each "
		"is `HOST[:PORT]`, which has the URL's scheme and path, or a URL of its own. "
		"`--balance round-robin` gives each the next request in turn, whatever it has "
		"still to answer: one that is slow in the end holds all that may be under way. "
		"`least-outstanding` gives it to whom the fewest wait for. `-c` and `-R` are of "
		"all of them together. A server that cannot be reached is left out for a tenth of "
		"a second, as long as another can be; what it failed counts. The summary says "
		"what each had, and so do `targets` in the JSON document.\n\n"
		"A server that is neither on this machine nor in a private network (10/8, "
		"172.16/12, 192.168/16, fc00::/7, or 169.254/16 and fe80::/10, which are "
		"link-local) is loaded with `--yes` only; the shared 100.64/10 is not private.\n\n"
		"Every request counts, however it ended. Errors are told by kind: refused, "
		"unreachable, descriptors, reset, closed, timeout, protocol, headers, large, "
		"unsent, cut, tls_expired, tls_host, tls_issuer, no_tls, tls, alpn, upgrade, "
		"ws_close, "
		"stream, "
		"system, status_4xx, "
		"status_5xx; of a flow capture and until. Redirects are answers, and not followed. "
		"What was sent in the `--warmup` is left out of all but the bytes. **When at least "
		"half of the requests failed the load did, and the exit status is 3**; unless a "
		"`--threshold` says how many may fail (`errors<90%`), which then decides. Fewer "
		"are told in the first line, and the exit status is 0. What a server says on a "
		"connection with no request under way, where its protocol has nothing to be said, "
		"fails no request: `unasked` counts the connections that were left for it, but "
		"not those that a 408 or their end left.\n\n"
		"**TLS.** The server of an `https://` URL must have a certificate for that host, "
		"from an issuer whom the system trusts or who is in the file that `--cacert` "
		"names; `--insecure` takes any. A certificate that will not do fails each request "
		"that needs the connection, as expired, another host's, or of an unknown issuer. "
		"The handshake is part of the latency of a request that had to wait for it; those "
		"of all connections, also of those that were made before the first request, are "
		"told as `handshake`, with how many were short because the server remembered. Many "
		"at once wait for each other: what one costs is told by `-c 1`. An assay that "
		"was built without OpenSSL says so and sends nothing.\n\n"
		"**HTTP/2.** With `--http2` the `-c` requests that may be under way at once are "
		"streams, and `--streams-per-connection` of them share a connection. Over TLS the "
		"server must agree to it by ALPN (`alpn` counts those that do not), on clear text "
		"it must know of it. Requests go when the server has said how many streams it "
		"allows; those beyond wait, and their latency counts that. When the server says "
		"that it leaves, what it took is awaited, and what it did not look at is asked "
		"again on another connection; it is not counted twice. A stream that it resets is "
		"an error, `stream`. An assay that was built without nghttp2 says so.\n\n"
		"**WebSocket.** Of a `ws://` or `wss://` URL each request is a message, the "
		"`--body`, and its answer is the next message that comes; the upgrade is part of "
		"the connection, and refused with `upgrade` or the status that came instead. "
		"Messages are text if all of them are UTF-8, else binary. A ping is answered, what "
		"comes while nobody asks is read and not counted. A server that closes says why: "
		"`closed` is 1000, 1001 or no code, `ws_close` any other. Answers count as 1xx, "
		"the status of the upgrade. Of a message at most 64 MiB are taken. How many were "
		"opened, how long that took, how long they lasted and the messages both ways are "
		"told, too.\n\n"
		"**Streams.** Of an answer that comes in pieces, a `text/event-stream` or one in "
		"chunks, is measured too: when it began (`first byte`), when its first event and "
		"the first piece of a model's answer were there (`first event`, `first token`), "
		"all from the moment that it was due; what passed `between` two events of the same "
		"stream, the `longest gap` of each, and the `token gap` between two pieces of a "
		"model's answer; and if its `usage` says how many tokens "
		"there were (OpenAI's does with "
		"`\"stream_options\": {\"include_usage\": true}`), tokens a second and the time "
		"`per token` after the first. An event is not a token. With `--tokens` the `usage` "
		"of answers that are plain JSON is read, too. `event lag` is how late the "
		"generator read what `assay stub` sent. A stream whose connection ends in the "
		"middle is `cut`. The `--timeout` is that of the whole answer.\n\n"
		"**Goodput** is what was answered well enough: how many requests kept to all that "
		"`--goodput` asks, as a share of all and a second. `ttft<500ms` is the first "
		"token and `e2el<10s` all of the answer, both from the moment that it was due; "
		"`tpot<50ms` is the time for each token after the first. What failed is never "
		"good, and neither is an answer of which one of them is not known: it had no "
		"token, or its `usage` did not say how many (for `tpot`). Which bound was missed "
		"how often is told beside it. `--deadline` is short for `e2el`. Requests whose "
		"answers can be no stream (over a WebSocket, `HEAD`, a model that is not asked "
		"for one) are refused bounds of tokens before anything is sent.\n\n"
		"**When the generator itself was the bottleneck the verdict is INVALID** and the "
		"exit status 6: its thread had less than 15 % of its time to spare, waited more "
		"than 10 % of it for a CPU that others had, or sent more than one request in a "
		"hundred later than a millisecond and a tenth of the median latency. Also when "
		"no request was answered at all. Less than a tenth of a second, or fewer than 300 "
		"requests by a schedule, cannot tell: then the verdict says so, and is not "
		"INVALID. Ctrl-C ends the load with a complete report of "
		"what was measured until then.\n\n"
		"On a terminal a load of two seconds or more has a screen: rate and percentiles "
		"of the moment and of all, errors by kind, what the target uses. `q` ends it "
		"with its report, `p` pauses the screen and not the load.\n\n"
		"`--threshold` says what the load must keep to; one that is missed makes the exit "
		"status 3, with `--exit-codes k6` 99. `p50`, `p99.9`, `min`, `max`, `mean` are of "
		"the latency; `wire.`, `waiting.` (until the first byte), `lateness.` and "
		"`handshake.` before them mean those, and so do of streams "
		"`first_byte.`, `first_event.`, `first_token.` (`ttft.`), `between_events.`, "
		"`between_tokens.` (`itl.`) and `per_token.` (`tpot.`); `goodput` is its share, "
		"`good_requests` how many a second (`good_requests.count`: at all); "
		"`errors` is the "
		"share of failed requests (`errors.count` their number), `rate` answers a second, "
		"`requests` how many, `checks` the share of a flow's checks that passed. "
		"`p99{login}<250ms` is of the flow's step `login`, and so are `wire`, `waiting`, "
		"`errors`, `rate`, `requests`, `goodput` and `checks` with such a tag.\n\n"
		"k6's own words do as well: `http_req_duration p(95)<300`, "
		"`http_req_waiting p(90)<25` (our `waiting`, in which a connection that had to be "
		"made is counted), `http_req_tls_handshaking`, "
		"`http_req_failed rate<0.01`, `http_reqs rate>=2`, `checks rate>0.99`, "
		"`iterations`, `dropped_iterations`, `data_received`, `data_sent` "
		"(`count`, `rate` in bytes a second), `vus`, "
		"`ws_connecting p(90)<1500`, `ws_session_duration`, `ws_sessions`, `ws_msgs_sent`, "
		"`ws_msgs_received`; behind "
		"`metric:` a list of several. Its tag `{name:STEP}` is a step, `{scenario:ANY}` "
		"the load, whatever it is called; other tags are refused. "
		"A time without a unit is in milliseconds. A threshold that can never be known "
		"(`looplag` without `--watch`, `goodput` without bounds) is refused before "
		"anything is sent; one whose value turns out to be unknown is missed. Of a load "
		"that is INVALID none is judged by the exit status.\n\n"
		"`--watch` names the server's process (or a container of Docker's): while the load "
		"lasts it is measured as `assay attach` does, with its descendants, and its event "
		"loop as `assay loop` does. The summary then says what it used, how long its loop "
		"was held (`loop lag`) and what held it up, and the run has its timeline, beside "
		"rate, errors and percentiles. With `--stacks` it has its stacks too, for `assay "
		"flame`. Of several targets each further one has a run of its own, which says "
		"whose part it is. A target that ends before the load does is told of, and the "
		"load goes on. `--threshold` knows `looplag.p99`, `target.cpu` (cores on average) "
		"and `target.memory` (its peak).\n\n"
		"A load is a run: it is kept in the history, and `assay show` tells it again. With "
		"`--json` the histograms are there too, in HdrHistogram's format V2; `--hdr` "
		"writes them as a log for its own tools, in ns, the latency without a tag. "
		"`--csv` and `--ndjson` have a line for each moment of the timeline, not for each "
		"request: to write a million of them would cost more than to send them; their "
		"columns are metrics as every run has them, in what docs/metrics.md says they are "
		"kept in (latencies in ns, where `--json` has ms; counters as sums). `--junit` "
		"has a test for each threshold, and one that fails when the load was INVALID. "
		"With `-o` the summary is shown as well, and a file appears when all of it is "
		"there.",
	.examples =
		"assay load -n 200 -c 4 unix:$PWD/app.sock\t200 requests, four at a time\n"
		"assay load -R 500 -z 0.3s unix:$PWD/app.sock:/health\t500 a second, by the "
		"clock\n"
		"assay load -R 300 --arrival poisson -n 50 --json unix:$PWD/app.sock\tas strangers "
		"come\n",
	.flags = AS_CMD_ENV,
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.habits = habits,
	.run = run,
};
