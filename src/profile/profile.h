#pragma once
/*
 * profile -- where something was spent: stacks, and what each had of it.
 *
 *	text     a string, kept once; 0 is ""
 *	place    a line of a function of a file; 0 is nowhere
 *	stack    a place and the stack that called it, so all stacks are one tree;
 *	         0 is the empty one, its root
 *	tags     a set of labels (thread and its name, process, task); 0 is none
 *	sample   a stack, its tags, a slice of time, and a value of each kind
 *
 * Things are known by their number in their array, and each is there once:
 * adding to a sample that is already there sums the values.
 *
 * Adding never fails loudly: without memory (or past the limits below) the
 * profile turns bad, everything after it is a no-op that returns 0, and
 * as_profile_ok() tells at the end.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/index.h"
#include "profile/taking.h"

enum {
	AS_VALUES_MAX = 16,        /* kinds of value in one profile             */
	AS_TAGS_MAX = 8,           /* labels in one set                         */
	AS_PROFILE_MOST = 1 << 24, /* texts, places, stacks, samples: of each */
};

/* Instead of the roots that a stack too deep has lost. */
#define AS_PROFILE_MORE "(more callers)"

/* A kind of value: "samples" in "count", "cpu" in "nanoseconds", as pprof names them. */
struct as_value_kind {
	const char *name, *unit;
};

struct as_place {
	uint32_t function, file; /* texts                                        */
	int32_t line;            /* 0: unknown                                   */
	int32_t begin;           /* the function's first line; 0: unknown        */
	uint32_t coroutine;      /* 1: it is one (of Python), as far as is known  */
};

struct as_stack {
	uint32_t caller, place;
};

/* A label: a text, or (text is 0) a number. */
struct as_tag {
	uint32_t key, text;
	int64_t number;
};

struct as_tags {
	uint32_t n;
	struct as_tag at[AS_TAGS_MAX];
};

struct as_sample {
	uint32_t stack, tags;
	uint32_t slice; /* of time; what one is long says the profile */
	int64_t v[AS_VALUES_MAX];
};

/* What tells what a function had with all that it called. */
enum as_totals {
	AS_TOTALS_STACKS,     /* the stacks that it is in                                  */
	AS_TOTALS_CUMULATIVE, /* stacks are a caller and itself: the kind "cumulative" does */
	AS_TOTALS_UNKNOWN,    /* nothing                                                   */
};

struct as_profile {
	struct as_value_kind kind[AS_VALUES_MAX];
	size_t nkinds;
	size_t main_kind;      /* what is shown unless another is asked for */
	int64_t period_ns;     /* between samples, on average; 0: none       */
	int64_t start_unix_ns; /* when it began; 0: unknown                  */
	int64_t duration_ns;
	int64_t slice_ns; /* 0: all of it is one slice                  */
	struct as_taking taking;
	enum as_totals totals;

	char **text;
	struct as_place *place;
	struct as_stack *stack;
	struct as_tags *tags;
	struct as_sample *sample;
	size_t ntexts, nplaces, nstacks, ntags, nsamples;
	bool bad;

	/* how things are found again; for profile.c alone */
	size_t text_cap, place_cap, stack_cap, tags_cap, sample_cap;
	struct as_index by_text, by_place, by_stack, by_tags, by_sample;
};

/* The profile keeps the names of its kinds as texts of its own; the last is the main one. */
struct as_profile *as_profile_new(const struct as_value_kind *kind, size_t n, struct as_err *err);
void as_profile_free(struct as_profile *p);

uint32_t as_profile_text(struct as_profile *p, const char *s, size_t n);
/* A function without a name is "[unknown]". */
uint32_t as_profile_place(struct as_profile *p, struct as_place place);
uint32_t as_profile_stack(struct as_profile *p, uint32_t caller, uint32_t place);
uint32_t as_profile_tags(struct as_profile *p, const struct as_tag *tag, size_t n);
/* v: a value of each kind. */
void as_profile_add(struct as_profile *p, uint32_t stack, uint32_t tags, uint32_t slice,
		    const int64_t *v);
int as_profile_ok(const struct as_profile *p, struct as_err *err);

/* The stack, root first: fills the innermost `max` of its places, returns how many it has. */
size_t as_profile_places(const struct as_profile *p, uint32_t stack, uint32_t *place, size_t max);
/* A sum that stays in range, whatever a file may hold. */
static inline int64_t as_value_plus(int64_t a, int64_t b)
{
	int64_t sum;

	return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

int64_t as_profile_total(const struct as_profile *p, size_t kind);

static inline void as_profile_free_(struct as_profile **p)
{
	as_profile_free(*p);
}

#define as_auto_profile as_cleanup(as_profile_free_)
