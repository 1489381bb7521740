#pragma once
/*
 * measure -- what `run` and `attach` share: who the run is, where it is kept,
 * how it is shown; around one call of the engine.
 */
#include "cli/cmd.h"
#include "engine/engine.h"
#include "run/run.h"

/* The options that both commands have; see the rows below. */
struct as_measure_opts {
	int64_t interval_ns;
	const char *name, *version, *metrics, *output, *html, *store, *keystone_dir;
	struct as_opt_list labels, params;
	bool basic, files, json, csv, quiet, no_store;
};

/* clang-format off */
/*
 * Rows for a command whose options struct S holds a struct as_measure_opts `m`,
 * in groups, so that a command can put its own rows where a reader looks for
 * them: identity, measuring (its own at the end), output, store.
 */
#define AS_IDENTITY_OPTS(S)                                                                        \
	AS_OPT_HEAD("identity"),                                                                   \
	{ .name = "name", .letter = 'n', .type = AS_OPT_TEXT, .at = offsetof(S, m.name),           \
	  .arg = "NAME",                                                                           \
	  .help = "what to call the run (default: the program's name)" },                          \
	{ .name = "run-version", .type = AS_OPT_TEXT, .at = offsetof(S, m.version), .arg = "V",    \
	  .help = "version of the program that is measured" },                                     \
	{ .name = "label", .letter = 'l', .type = AS_OPT_PAIRS, .at = offsetof(S, m.labels),       \
	  .arg = "K=V",                                                                            \
	  .help = "a label to find the run by; repeatable" },                                      \
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
	  .help = "which files were read and written most; costs each call a little" }

#define AS_OUTPUT_OPTS(S)                                                                          \
	AS_OPT_HEAD("output"),                                                                     \
	{ .name = "json", .type = AS_OPT_SWITCH, .at = offsetof(S, m.json), .apart = 1,            \
	  .help = "the whole run as JSON on standard output, no summary" },                        \
	{ .name = "csv", .type = AS_OPT_SWITCH, .at = offsetof(S, m.csv), .apart = 1,              \
	  .help = "the timeline as CSV on standard output, no summary" },                          \
	{ .name = "output", .letter = 'o', .type = AS_OPT_TEXT, .at = offsetof(S, m.output),       \
	  .arg = "FILE",                                                                           \
	  .help = "write JSON (or CSV: --csv, *.csv) to FILE" },                                   \
	{ .name = "html", .type = AS_OPT_TEXT, .at = offsetof(S, m.html), .arg = "FILE",           \
	  .help = "write a page of plots and tables to FILE" },                                    \
	{ .name = "quiet", .letter = 'q', .type = AS_OPT_SWITCH, .at = offsetof(S, m.quiet),       \
	  .help = "no status line, no summary" }

#define AS_KEEPING_OPTS(S)                                                                         \
	AS_OPT_HEAD("store"),                                                                      \
	{ .name = "store", .type = AS_OPT_TEXT, .at = offsetof(S, m.store), .arg = "PATH",         \
	  .help = "keep the run in this folder, instead of $ASSAY_STORE or ~/.local/share/assay" }, \
	{ .name = "no-store", .type = AS_OPT_SWITCH, .at = offsetof(S, m.no_store),                \
	  .help = "do not keep the run" },                                                         \
	{ .name = "keystone-dir", .type = AS_OPT_TEXT, .at = offsetof(S, m.keystone_dir),          \
	  .arg = "DIR",                                                                            \
	  .help = "also append Keystone's record to DIR/jobs_history.jsonl" }
/* clang-format on */

struct as_measure {
	const char *kind; /* "run", "attach"                        */
	const char *default_name;
	struct as_measure_opts opts;
	struct as_engine_config engine; /* interval, want and basic are set from opts */
};

/* Measure, keep, show. io->status and io->die_by become the command's. */
int as_measure(const struct as_measure *m, struct as_io *io, struct as_err *err);
