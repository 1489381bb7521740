#pragma once
/*
 * sieve -- the options that say which part of a profile is looked at, the same
 * for every command that shows one: Cloud Profiler's seven filters.
 *
 * A command puts AS_SIEVE_OPTS into its table and a struct as_sieve into its
 * options, and hands the profile it has read through as_sieve_apply().
 */
#include "base/buf.h"
#include "cli/opt.h"
#include "profile/filter.h"

struct as_sieve {
	const char *metric, *focus;
	bool callers;
	struct as_opt_list show_from, show_stacks, hide_stacks, hide_frames, highlight;
};

/* clang-format off */
#define AS_SIEVE_WORDS_(owner, member, field, option, text)                                        \
	{.name = option, .type = AS_OPT_LIST, .arg = "TEXT",                                       \
	 .at = offsetof(owner, member) + offsetof(struct as_sieve, field), .help = text}
#define AS_SIEVE_OPTS(owner, member)                                                               \
	AS_OPT_HEAD("which part of the profile; TEXT is in a function's or file's name"),          \
	{.name = "metric", .type = AS_OPT_TEXT, .arg = "NAME",                                     \
	 .at = offsetof(owner, member) + offsetof(struct as_sieve, metric),                        \
	 .help = "only this kind of value: cpu, wall, gil, bytes, … as the file has them"},         \
	{.name = "focus", .type = AS_OPT_TEXT, .arg = "FUNCTION",                                  \
	 .at = offsetof(owner, member) + offsetof(struct as_sieve, focus),                         \
	 .help = "only stacks through this function, from it on"},                                 \
	{.name = "callers", .type = AS_OPT_SWITCH,                                                 \
	 .at = offsetof(owner, member) + offsetof(struct as_sieve, callers),                       \
	 .help = "with --focus: what called it instead of what it calls"},                         \
	AS_SIEVE_WORDS_(owner, member, show_from, "show-from-frame",                               \
			"only stacks with such a frame, from the first of them on"),               \
	AS_SIEVE_WORDS_(owner, member, show_stacks, "show-stacks",                                 \
			"only stacks with such a frame, whole"),                                   \
	AS_SIEVE_WORDS_(owner, member, hide_stacks, "hide-stacks", "no stack with such a frame"),  \
	AS_SIEVE_WORDS_(owner, member, hide_frames, "hide-frames", "stacks without such frames"),  \
	AS_SIEVE_WORDS_(owner, member, highlight, "highlight", "mark such frames, where a view can")
/* clang-format on */

/* As it would be typed: "--focus parse --hide-frames lib/"; nothing: "". */
void as_put_sieve(struct as_buf *out, const struct as_sieve *s);
/* What was asked for, as the profile's room knows it; it points into the options. */
struct as_profile_filter as_sieve_filter(const struct as_sieve *s);
/* NOTFOUND when there were filters and they left none of the samples. */
int as_sieve_kept(const struct as_sieve *s, size_t samples, struct as_err *err);
/* NOTFOUND when nothing is left to be shown. */
int as_sieve_left(const struct as_sieve *s, const struct as_profile *p, struct as_err *err);
/* *p becomes what is left of it. */
int as_sieve_apply(const struct as_sieve *s, struct as_profile **p, struct as_err *err);
