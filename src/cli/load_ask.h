#pragma once
/*
 * load_ask -- what the commands that put a server under load share: which
 * requests are sent to whom, who is watched meanwhile, and the generator that
 * is made of it.
 *
 * How much is sent, and for how long, is the command's own: it sets what
 * remains of the configuration.
 */
#include "cli/cmd.h"
#include "cli/load_places.h"
#include "cli/measure.h"
#include "judge/threshold.h"
#include "load/drive.h"
#include "load/generator.h"

struct as_load_ask {
	uint64_t seed;
	int64_t timeout_ns, deadline_ns;
	const char *goodput;
	const char *method, *body, *body_file, *body_lines, *targets, *balance, *ca_file;
	struct as_opt_list headers, watched;
	const char *setup; /* whose processes env: and cmd: of `watched` find (cli/watched.h) */
	uint64_t streams;
	bool yes, insecure, http2, tokens;
};

/* clang-format off */
/*
 * Rows for a command whose options struct S holds a struct as_load_ask `ask`
 * and, for those of watching, a struct as_measure_opts `m`.
 */
#define AS_LOAD_PATIENCE_OPTS(S)                                                                   \
	{ .name = "timeout", .type = AS_OPT_DURATION, .at = offsetof(S, ask.timeout_ns),           \
	  .arg = "TIME", .initial = "30s", .positive = true,                                       \
	  .help = "give a request up after this time; it counts as an error, and as so long" },    \
	{ .name = "deadline", .type = AS_OPT_DURATION, .at = offsetof(S, ask.deadline_ns),         \
	  .arg = "TIME", .positive = true,                                                         \
	  .help = "an answer is good that came within this time: their share is the goodput" },    \
	{ .name = "goodput", .type = AS_OPT_TEXT, .at = offsetof(S, ask.goodput), .arg = "BOUNDS", \
	  .help = "what a good answer keeps to: 'ttft<500ms,tpot<50ms,e2el<10s', or some of them" }, \
	{ .name = "tokens", .type = AS_OPT_SWITCH, .at = offsetof(S, ask.tokens),                  \
	  .help = "read `usage` of answers of JSON too, as models have it: tokens a second" }

#define AS_LOAD_SENDING_OPTS(S)                                                                    \
	AS_OPT_HEAD("what is sent"),                                                               \
	{ .name = "method", .letter = 'm', .type = AS_OPT_TEXT, .at = offsetof(S, ask.method),     \
	  .arg = "METHOD", .help = "(default: GET, with a body POST)" },                           \
	{ .name = "header", .letter = 'H', .type = AS_OPT_LIST, .at = offsetof(S, ask.headers),    \
	  .arg = "'K: V'", .help = "a header; repeatable" },                                       \
	{ .name = "body", .type = AS_OPT_TEXT, .at = offsetof(S, ask.body), .arg = "TEXT",         \
	  .help = "the body of each request" },                                                    \
	{ .name = "body-file", .type = AS_OPT_TEXT, .at = offsetof(S, ask.body_file),              \
	  .arg = "FILE", .help = "the same, from a file" },                                        \
	{ .name = "body-lines", .type = AS_OPT_TEXT, .at = offsetof(S, ask.body_lines),            \
	  .arg = "FILE", .help = "each line of it is the body of a request; they take turns" },    \
	{ .name = "http2", .type = AS_OPT_SWITCH, .at = offsetof(S, ask.http2),                    \
	  .help = "speak HTTP/2: over TLS as ALPN says, else because it is known" },               \
	{ .name = "streams-per-connection", .type = AS_OPT_UINT, .at = offsetof(S, ask.streams),   \
	  .arg = "N", .positive = true,                                                            \
	  .help = "of --http2: so many of the -c requests share a connection (default 100)" },     \
	{ .name = "cacert", .type = AS_OPT_TEXT, .at = offsetof(S, ask.ca_file), .arg = "FILE",    \
	  .help = "of https: trust the issuers in FILE, instead of those whom the system trusts" }, \
	{ .name = "insecure", .letter = 'k', .type = AS_OPT_SWITCH, .at = offsetof(S, ask.insecure), \
	  .help = "of https: any certificate will do" },                                           \
	{ .name = "targets", .type = AS_OPT_TEXT, .at = offsetof(S, ask.targets),                  \
	  .arg = "A,B,C",                                                                          \
	  .help = "send to these servers instead of the URL's: HOST[:PORT], or URLs of their own" }, \
	{ .name = "balance", .type = AS_OPT_CHOICE, .at = offsetof(S, ask.balance),                \
	  .choices = "round-robin|least-outstanding", .arg = "HOW",                                \
	  .help = "of --targets: one after the other (default), or whom the fewest requests wait for" }, \
	{ .name = "yes", .type = AS_OPT_SWITCH, .at = offsetof(S, ask.yes),                        \
	  .help = "the server is neither on this machine nor in a private network, and its owner agrees" }

#define AS_LOAD_WATCHING_OPTS(S)                                                                   \
	AS_OPT_HEAD("what is watched meanwhile"),                                                  \
	{ .name = "watch", .letter = 'w', .type = AS_OPT_LIST, .at = offsetof(S, ask.watched),     \
	  .arg = "TARGET",                                                                         \
	  .help = "[NAME=]PID, container:NAME, port:N, env:VARIABLE or cmd:PATTERN: what it uses, on the load's timeline; repeatable" }, \
	{ .name = "stacks", .type = AS_OPT_TEXT, .at = offsetof(S, m.stacks), .arg = "MODES",      \
	  .help = "of --watch: where its Pythons spend the time: cpu, wall, gil, or several: cpu,wall" }, \
	{ .name = "stacks-rate", .type = AS_OPT_RATE, .at = offsetof(S, m.stacks_hz), .arg = "HZ", \
	  .positive = true, .help = "looks at the stacks a second, on average (default 100)" },    \
	{ .name = "interval", .letter = 'i', .type = AS_OPT_DURATION,                              \
	  .at = offsetof(S, m.interval_ns), .arg = "TIME", .initial = "0.5s", .positive = true,    \
	  .help = "time between samples; denser in the first second" }
/* clang-format on */

struct as_load_job {
	struct as_url url;
	struct as_load_places places;
	struct as_flow_plan *flow;    /* that is carried out there; or NULL */
	struct as_load_config config; /* of it `conns`, limits and schedule are the command's */
	struct as_watched watched[AS_LOAD_TARGETS];
	size_t nwatched;
	/* of the load that is open */
	struct as_loops loops;
	struct as_drive drive;
	/* private */
	bool open;
};

/*
 * `what`: a URL, or the file of a flow. `job` is all zeros, as_load_job_done() follows. Looks at
 * the address, sends nothing.
 */
int as_load_job_prepare(const struct as_load_ask *o, const char *what, const struct as_env *env,
			struct as_load_job *job, struct as_err *err);
void as_load_job_done(struct as_load_job *job);
/* Refuses thresholds that can never be known of it. */
int as_load_job_can_know(const struct as_load_job *job, const struct as_thresholds *t,
			 struct as_err *err);

/* Says so if so many connections as it keeps busy will not fit into our limit of descriptors. */
void as_load_job_tell_room(const struct as_load_job *job);

/*
 * One load of it: open, measure, close, as often as wanted. `thresholds` are
 * kept with it, as one list; or NULL.
 */
int as_load_job_open(struct as_load_job *job, const char *thresholds, struct as_err *err);
/* What is measured around the load that is open; words of the command line are the caller's. */
struct as_measure as_load_job_measure(const struct as_load_job *job,
				      const struct as_measure_opts *opts);
/* It and what the other targets had, into the store. */
void as_load_job_keep(const struct as_load_job *job, struct as_measured *got);
void as_load_job_close(struct as_load_job *job);
