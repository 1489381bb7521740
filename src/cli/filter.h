#pragma once
/*
 * filter -- which runs a command is about: the same options everywhere.
 *
 *	struct opts { struct as_filter filter; … };
 *	static const struct as_opt opts[] = { AS_FILTER_OPTS(struct opts, filter), … {0} };
 */
#include "cli/opt.h"
#include "run/listing.h"

struct as_filter {
	const char *name, *status, *version, *host, *since, *until;
	struct as_opt_list labels;
};

/* clang-format off */
#define AS_FILTER_OPTS(owner, member)                                                            \
	AS_OPT_HEAD("which runs"),                                                               \
	{.name = "name", .letter = 'n', .type = AS_OPT_TEXT, .arg = "NAME",                      \
	 .at = offsetof(owner, member.name), .help = "of this name; * and ? stand for any letters"}, \
	{.name = "status", .letter = 's', .type = AS_OPT_CHOICE, .arg = "STATUS",                \
	 .choices = "running|success|failed|timeout|error|interrupted",                          \
	 .at = offsetof(owner, member.status), .help = "that stand so"},                          \
	{.name = "label", .letter = 'l', .type = AS_OPT_PAIRS, .arg = "KEY=VALUE",               \
	 .at = offsetof(owner, member.labels), .help = "with this label; repeatable"},            \
	{.name = "since", .type = AS_OPT_TEXT, .arg = "WHEN", .at = offsetof(owner, member.since), \
	 .help = "started within the last 2h, 7d …, or since a date: 2026-11-01 or "             \
		 "'2026-11-01 12:00'"},                                                          \
	{.name = "until", .type = AS_OPT_TEXT, .arg = "WHEN", .at = offsetof(owner, member.until), \
	 .help = "started before then; written like --since"},                                   \
	{.name = "run-version", .type = AS_OPT_TEXT, .arg = "VERSION",                           \
	 .at = offsetof(owner, member.version), .help = "of this version of the program"},        \
	{.name = "host", .type = AS_OPT_TEXT, .arg = "HOST", .at = offsetof(owner, member.host),  \
	 .help = "that ran on this machine"}
/* clang-format on */

/* The filter as a question to the store; the labels in it are its own. */
struct as_selection {
	struct as_query query;
	struct as_pair labels[AS_OPT_REPEATS];
};

int as_filter_select(const struct as_filter *f, struct as_selection *ret, struct as_err *err);
void as_selection_done(struct as_selection *s);
/* Was anything asked for? Then an empty answer means "none matches". */
bool as_filter_any(const struct as_filter *f);
