#pragma once
/*
 * filter -- the part of a profile that somebody wants to look at: the seven
 * filters of Google's Cloud Profiler, under their names.
 *
 * A frame matches a filter when its function or its file contains one of the
 * filter's words, as they are spelled. Focus alone means one function, by its
 * whole name. Several filters are all applied: first those that choose stacks,
 * then those that cut them, last the one that takes frames out.
 */
#include "profile/profile.h"

struct as_words {
	const char *const *v;
	size_t n;
};

struct as_profile_filter {
	const char *metric; /* only this kind of value                              */
	/* Only stacks through this function, from it on; `callers`: what called it
	   instead, the function first, then its caller, and so on. */
	const char *focus;
	bool callers;
	struct as_words show_from;   /* only stacks with such a frame, from the first on */
	struct as_words show_stacks; /* only stacks with such a frame, whole             */
	struct as_words hide_stacks; /* no stack with such a frame                       */
	struct as_words hide_frames; /* stacks without such frames                       */
	struct as_words highlight;   /* changes nothing: for whoever paints              */
};

enum { AS_NOT_LEFT = UINT32_MAX }; /* no stack has this number */

/* Does it leave less than all, or something else? */
bool as_filter_changes(const struct as_profile_filter *f);
/* USAGE when there is no such metric, or callers of nothing are wanted. */
int as_profile_filtered(const struct as_profile *p, const struct as_profile_filter *f,
			struct as_profile **ret, struct as_err *err);
/* The same; became[i], if it is not NULL: the stack of sample i in *ret, or AS_NOT_LEFT. */
int as_profile_sifted(const struct as_profile *p, const struct as_profile_filter *f,
		      uint32_t *became, struct as_profile **ret, struct as_err *err);

/* Does it contain one of the words? */
bool as_place_matches(const struct as_profile *p, uint32_t place, struct as_words words);
/* The number of a kind; its name is one of the profile's. */
int as_profile_kind(const struct as_profile *p, const char *name, size_t *ret, struct as_err *err);
