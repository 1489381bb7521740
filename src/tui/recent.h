#pragma once
/*
 * recent -- what the samples of a profile had since a moment, and in the last
 * few seconds.
 *
 * A profile only sums. Whoever watches one tells at each tick how it stands; a
 * ring keeps what each tick brought, for as long as the window is wide.
 */
#include "profile/profile.h"

enum { AS_RECENT_TICKS = 32 };

/* What one sample had. */
struct as_had {
	int64_t seen[AS_VALUES_MAX];   /* in the profile, at the last tick     */
	int64_t all[AS_VALUES_MAX];    /* since the beginning, or the reset    */
	int64_t window[AS_VALUES_MAX]; /* in the last seconds                  */
};

struct as_change {
	size_t sample;
	int64_t v[AS_VALUES_MAX];
};

struct as_tick {
	int64_t ns;     /* how long it was                           */
	int64_t cpu_ns; /* that the processes used in it; or AS_NA   */
	struct as_change *change;
	size_t n, cap;
};

struct as_recent {
	int64_t window_ns;
	struct as_had *had; /* by the profile's numbers of samples */
	size_t n, cap;
	struct as_tick tick[AS_RECENT_TICKS];
	size_t first, nticks;
	int64_t span_ns;              /* of the ticks in the window */
	int64_t told_ns, span_cpu_ns; /* of those whose CPU time is known; and that */
	int64_t all_ns;               /* since the beginning, or the reset */
};

void as_recent_init(struct as_recent *r, int64_t window_ns);
void as_recent_done(struct as_recent *r);
/*
 * So it stands now, `ns` after the last tick; `cpu_ns` may be AS_NA. False for want of
 * memory: some of it is lost.
 */
bool as_recent_tick(struct as_recent *r, const struct as_profile *p, int64_t ns, int64_t cpu_ns);
/* Begin anew: from here on nothing was. */
void as_recent_reset(struct as_recent *r);
/* The tick that was last, or NULL. */
const struct as_tick *as_recent_last(const struct as_recent *r);
