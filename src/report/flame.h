#pragma once
/*
 * flame -- a profile as boxes: a box for each stack, on that of its caller, as
 * wide as what it and all it called had.
 *
 * Boxes are told apart by function, or by line. What calls the same stands in
 * one box; siblings stand by their width, the widest first. Of a profile that
 * compares two (kinds "before" and "after") a box is as wide as both together,
 * each taken as a share of its own whole, and its colour says which was more.
 * Values below zero have no width and are left out.
 */
#include "profile/write.h"

struct as_heap_moment;

/* Of memory over time: what the system counted beside it (heap/heap.h). */
struct as_flame_beside {
	const struct as_heap_moment *at;
	size_t n;
	int64_t start_ns; /* where the first slice begins */
};

struct as_flame_how {
	struct as_spelling spell; /* kind, tags as boxes, names of files; functions: not by line */
	bool reverse;             /* from the innermost frame to the outermost: who called it   */
	bool icicle;              /* the root on top                                            */
	bool levels; /* of a span of time its highest slice counts, not the sum: for the page */
	/*
	 * Slices of time; 0: none. Samples have two each (as_heap_profile_lasting()): of a span
	 * counts what was made within it, and freed after it or never. For the page.
	 */
	uint32_t lasting;
	struct as_flame_beside beside; /* for the page */
	const char *title;
	const char *note; /* for the page: how it was measured; NULL: as the profile says */
	size_t with;      /* a kind that is summed beside, counted from 1; 0: none */
};

struct as_flame_box {
	uint32_t caller; /* number of the box below; 0 is the whole and its own caller */
	uint32_t place;  /* of the profile; from its nplaces on: a set of its tags     */
	uint32_t depth;
	int64_t at; /* what stands left of it                                     */
	int64_t self, total;
	int64_t before, after; /* of a comparison: what it had of each               */
	int64_t with;          /* of the kind beside, it and all it called           */
};

struct as_flame {
	const struct as_profile *p;
	const struct as_flame_how *how;
	struct as_flame_box *box; /* callers before what they called */
	size_t n, cap;
	bool compares;
	size_t before, after; /* kinds, if it does */
};

int as_flame_make(const struct as_profile *p, const struct as_flame_how *how, struct as_flame *ret,
		  struct as_err *err);
void as_flame_done(struct as_flame *f);

/* -1: it is gone, 1: it is new; smaller where it matters little to the whole. */
double as_flame_changed(const struct as_flame *f, const struct as_flame_box *b);
/* What is written in a box. */
void as_put_flame_label(struct as_buf *out, const struct as_flame *f, const struct as_flame_box *b);

/* A picture that needs nothing else; it can be zoomed and searched where scripts run. */
int as_report_flame_svg(struct as_buf *out, const struct as_profile *p,
			const struct as_flame_how *how, struct as_err *err);
/* A page with everything: search, zoom, tables, filters, comparison, time. */
int as_report_flame_html(struct as_buf *out, const struct as_profile *p,
			 const struct as_flame_how *how, struct as_err *err);
