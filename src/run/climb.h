#pragma once
/*
 * climb -- how the capacity of a server was looked for: what was tried, what
 * came of it, and what is known in the end.
 *
 * An amount is a rate (a second), or how many are under way at once: of requests,
 * or of a flow's sessions.
 * It is part of the load that is the answer, so that a capacity is a run.
 */
#include <stdbool.h>
#include <stdint.h>

/* X(id, key, help): how the search ended. */
/* clang-format off */
#define AS_CLIMB_ENDS(X)                                                                           \
	X(HELD,        "held",        "the capacity was held for the time that was asked for")     \
	X(UNHELD,      "unheld",      "each amount that seemed right failed when it was held")     \
	X(TOP,         "top",         "it kept to everything up to the most that was tried")       \
	X(NONE,        "none",        "not even the least that was tried keeps to it")             \
	X(INVALID,     "invalid",     "a probe was INVALID: more than that was not measured")       \
	X(INTERRUPTED, "interrupted", "somebody ended the search")
/* clang-format on */

enum as_climb_end {
#define X(id, key, help) AS_CLIMB_##id,
	AS_CLIMB_ENDS(X)
#undef X
		AS_CLIMB_NENDS
};

enum as_climb_verdict { AS_CLIMB_KEEPS, AS_CLIMB_MISSES, AS_CLIMB_VOID };

enum { AS_CLIMB_PROBES = 48, AS_CLIMB_RUN = 16 };

struct as_climb_probe {
	double amount;
	double rate;      /* answers a second                                         */
	double under_way; /* on average, on the wire (Little's law)                   */
	double p50, p99;  /* of the latency, ms                                       */
	double errors;    /* their share                                              */
	int64_t lasted_ns;
	uint64_t verdict; /* enum as_climb_verdict                                    */
	uint64_t sure;    /* the interval is on one side of what it had to keep to    */
	uint64_t held;    /* for the whole time of --hold                             */
	char run[AS_CLIMB_RUN];
	char missed[80];  /* what it did not keep to, or seems not to; ""             */
	char invalid[24]; /* why it does not count: "late", "starved" …; ""           */
};

struct as_climb_story {
	uint64_t by_rate;
	uint64_t sessions;  /* that is what amounts are of, not requests              */
	uint64_t end;       /* enum as_climb_end                                      */
	char reason[160];   /* of an INVALID end: what was, and why; ""               */
	double answer;      /* NaN: there is none                                     */
	double above;       /* the least that missed it; NaN: nothing did             */
	char limits[160];   /* the function that had most of the target's time; ""    */
	double limit_share; /* of its time                                            */
	uint64_t n;         /* of probes; 0: the run is no capacity                   */
	struct as_climb_probe probe[AS_CLIMB_PROBES];
};

const char *as_climb_end_key(enum as_climb_end e);
/* Why it ended, in a sentence. */
const char *as_climb_reason(const struct as_climb_story *c);
/* What follows an amount: "/s", " sessions at once"; and as a name of its own: "requests/s". */
const char *as_climb_unit(const struct as_climb_story *c);
const char *as_climb_unit_name(const struct as_climb_story *c);

enum { AS_CLIMB_WORDS = 128 };
/* "held: misses p99<50ms", "keeps?", "invalid: late" */
void as_climb_words(const struct as_climb_probe *p, char ret[AS_CLIMB_WORDS]);
