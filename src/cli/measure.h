#pragma once
/*
 * measure -- what `run`, `attach` and `record` share: who the run is, where it
 * is kept, how it is shown; around one call of the engine.
 */
#include "cli/cmd.h"
#include "cli/output.h"
#include "engine/engine.h"
#include "cli/status.h"
#include "run/run.h"

/* The options that both commands have; see the rows below. */
struct as_measure_opts {
	int64_t interval_ns;
	const char *name, *version, *metrics, *output, *html, *store, *keystone_dir;
	struct as_opt_list labels, params;
	const char *stacks; /* modes; NULL: none are sampled */
	double stacks_hz;   /* 0: as usual */
	bool basic, files, json, csv, quiet, no_store;
};

/* clang-format off */
/*
 * Rows for a command whose options struct S holds a struct as_measure_opts `m`,
 * in groups, so that a command can put its own rows where a reader looks for
 * them: identity, measuring (its own at the end), output, store.
 */
#define AS_NAME_OPTS(S)                                                                            \
	{ .name = "name", .letter = 'n', .type = AS_OPT_TEXT, .at = offsetof(S, m.name),           \
	  .arg = "NAME",                                                                           \
	  .help = "what to call the run (default: the program's name)" },                          \
	{ .name = "run-version", .type = AS_OPT_TEXT, .at = offsetof(S, m.version), .arg = "V",    \
	  .help = "version of the program that is measured" },                                     \
	{ .name = "label", .letter = 'l', .type = AS_OPT_PAIRS, .at = offsetof(S, m.labels),       \
	  .arg = "K=V",                                                                            \
	  .help = "a label to find the run by; repeatable" }

#define AS_IDENTITY_OPTS(S)                                                                        \
	AS_OPT_HEAD("identity"),                                                                   \
	AS_NAME_OPTS(S),                                                                           \
	{ .name = "param", .letter = 'p', .type = AS_OPT_PAIRS, .at = offsetof(S, m.params),       \
	  .arg = "K=V",                                                                            \
	  .help = "a parameter of the job, kept with it; repeatable" }

#define AS_MEASURING_OPTS(S)                                                                       \
	AS_OPT_HEAD("measuring"),                                                                  \
	{ .name = "interval", .letter = 'i', .type = AS_OPT_DURATION, .at = offsetof(S, m.interval_ns), \
	  .arg = "TIME", .initial = "0.5s", .positive = true,                                      \
	  .help = "time between samples; denser in the first second" },                            \
	{ .name = "metrics", .letter = 'm', .type = AS_OPT_TEXT, .at = offsetof(S, m.metrics),     \
	  .arg = "LIST", .initial = "all",                                                         \
	  .help = "measure only these groups or keys (see 'assay help metrics')" },                \
	{ .name = "basic", .type = AS_OPT_SWITCH, .at = offsetof(S, m.basic), .apart = 2,          \
	  .help = "totals only, no samples" },                                                     \
	{ .name = "files", .type = AS_OPT_SWITCH, .at = offsetof(S, m.files), .apart = 2,          \
	  .help = "which files were read and written most; costs each call a little" },            \
	{ .name = "stacks", .type = AS_OPT_TEXT, .at = offsetof(S, m.stacks), .arg = "MODES",      \
	  .help = "where its Pythons spend the time: cpu, wall, gil, or several: cpu,wall" },      \
	{ .name = "stacks-rate", .type = AS_OPT_RATE, .at = offsetof(S, m.stacks_hz),              \
	  .arg = "HZ", .positive = true,                                                           \
	  .help = "looks at the stacks a second, on average (default 100)" }

#define AS_OUTPUT_OPTS(S)                                                                          \
	AS_OPT_HEAD("output"),                                                                     \
	{ .name = "json", .type = AS_OPT_SWITCH, .at = offsetof(S, m.json), .apart = 1,            \
	  .help = "the whole run as JSON on standard output, no summary" },                        \
	{ .name = "csv", .type = AS_OPT_SWITCH, .at = offsetof(S, m.csv), .apart = 1,              \
	  .help = "the timeline as CSV on standard output, no summary" },                          \
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(S, m.output),       \
	  .arg = "FILE",                                                                           \
	  .help = "write JSON (or CSV: --csv, *.csv) to FILE; '-' is standard output" },           \
	{ .name = "html", .type = AS_OPT_TEXT, .at = offsetof(S, m.html), .arg = "FILE",           \
	  .help = "write a page of plots and tables to FILE; '-' is standard output" },            \
	{ .name = "quiet", .letter = 'q', .type = AS_OPT_SWITCH, .at = offsetof(S, m.quiet),       \
	  .help = "no status line, no summary" }

#define AS_STORING_OPTS(S)                                                                         \
	AS_OPT_HEAD("store"),                                                                      \
	{ .name = "store", .type = AS_OPT_TEXT, .at = offsetof(S, m.store), .arg = "PATH",         \
	  .help = "keep the run in this folder, instead of $ASSAY_STORE or ~/.local/share/assay" }, \
	{ .name = "no-store", .type = AS_OPT_SWITCH, .at = offsetof(S, m.no_store),                \
	  .help = "do not keep the run" }

#define AS_KEEPING_OPTS(S)                                                                         \
	AS_STORING_OPTS(S),                                                                        \
	{ .name = "keystone-dir", .type = AS_OPT_TEXT, .at = offsetof(S, m.keystone_dir),          \
	  .arg = "DIR",                                                                            \
	  .help = "also append Keystone's record to DIR/jobs_history.jsonl" }
/* clang-format on */

struct as_measure {
	const char *kind; /* "run", "attach", "record"              */
	const char *default_name;
	const char *parent; /* the run that it belongs to; or NULL        */
	struct as_measure_opts opts;
	struct as_engine_config engine;      /* interval, want and basic are set from opts */
	struct as_stacks_config stacks;      /* modes 0: none are sampled                  */
	const struct as_sink *watcher;       /* is told of all as well; or NULL            */
	const struct as_status_words *words; /* in the status line; or NULL           */
	/* Is told how it ended, before it is kept and shown; or NULL. */
	void (*ended)(void *arg, struct as_run *run, bool started);
	void *arg;
	char **argv; /* the command line that is kept with it, if not the engine's */
};

/* Refuses what says how to do something that is not done. */
int as_measure_check(const struct as_measure_opts *o, struct as_err *err);
/* Measure, keep, show. io->status and io->die_by become the command's. */
int as_measure(const struct as_measure *m, struct as_io *io, struct as_err *err);

/* ── the same in steps, for who shows it otherwise ────────────────────── */

struct as_measured {
	struct as_run *run; /* judged */
	struct as_engine_result result;
	bool kept; /* it is in the store */
	/* private */
	struct as_identity who;
	struct as_builder *builder;
	struct as_live *live;
	bool unwritten; /* the live file could not take it all */
	struct as_buf dir;
	struct as_output file, page; /* of --output, of --html */
};

/* What could not be done, though the command ran: one line on stderr, and advice below it. */
void as_complain(const char *what, const struct as_err *why);

/* Advice for a command that could not be run, and makes us exit with that status. */
void as_tell_not_run(int status);

/* as_measured_done() follows in any case. */
int as_measured_take(struct as_measured *s, const struct as_measure *m, struct as_io *io,
		     struct as_err *err);
/* Into the store, unless it shall not be kept. Without this it is forgotten. */
void as_measured_keep(struct as_measured *s);
/* Another run that belongs to it; kept where this one is. */
void as_measured_keep_also(const struct as_measured *s, const struct as_run *other);
/* What went wrong, and of a command that never started what to do about it. */
void as_measured_tell_error(const struct as_measured *s, bool started);
void as_measured_done(struct as_measured *s);
#define as_auto_measured as_cleanup(as_measured_done)

/* The last part of a path: a name for who was started by it. */
const char *as_measure_base(const char *path);
/* The name of a process, for a run that was given none. */
int as_measure_name(const struct as_env *env, int pid, char *name, size_t size, struct as_err *err);
/* "cpu,wall" as bits of enum as_sample_mode. */
int as_measure_modes(const char *list, unsigned *ret, struct as_err *err);
