#pragma once
/*
 * threshold -- what a load must keep to, as people write it, and whether it did.
 *
 *	p99<250ms                      of the latency
 *	wire.p90<25ms  lateness.max<1ms
 *	errors<1%  rate>=100/s  requests>=1000
 *	http_req_duration p(95)<300    as k6 has it: times in ms, shares as 0.01
 *	http_req_failed: rate<0.01, count<5
 *
 *	p99{login}<250ms               of one step of a flow, k6's {name:login} too
 *
 * Several stand in a list, with commas between them; behind "metric:" those
 * that name none are of the same, up to the next name or a semicolon. A number
 * without a unit is milliseconds, a share of 1, so many a second, bytes.
 *
 * What k6 calls http_req_duration is our latency, and its http_req_waiting our
 * time until the first byte: neither is ever shorter than what k6 would have
 * measured. A tag {scenario:ANY} is the load, whatever that is called.
 *
 * A value that nobody knows keeps to nothing.
 */
#include "run/run.h"

enum { AS_THRESHOLDS_MOST = 16, AS_THRESHOLD_TEXT = 80 };

enum as_threshold_unit {
	AS_THRESHOLD_MS,
	AS_THRESHOLD_SHARE,
	AS_THRESHOLD_RATE, /* a second */
	AS_THRESHOLD_COUNT,
	AS_THRESHOLD_BYTES,
};

struct as_threshold {
	char expr[AS_THRESHOLD_TEXT]; /* as it was written, with its metric */
	enum as_threshold_unit unit;
	char step[AS_LOAD_STEP_NAME]; /* of a flow, that it is about; "": all */
	/* private */
	unsigned metric, compare;
	double q; /* of a distribution: 0 least, 1 largest, above: the mean */
	double bound;
};

struct as_thresholds {
	struct as_threshold at[AS_THRESHOLDS_MOST];
	size_t n;
};

/* Those of a list are added. */
int as_thresholds_parse(const char *list, struct as_thresholds *to, struct as_err *err);
/* As one list, which parses to the same; cut to fit. */
void as_thresholds_text(const struct as_thresholds *t, char *to, size_t size);

/* A threshold that says how large a share of all must be good: p99<250ms is 99 % of latencies. */
struct as_threshold_share {
	double good, n; /* of the load      */
	double need;    /* good / n, or more */
};

/* false: it says something else. */
bool as_threshold_share(const struct as_threshold *t, const struct as_load *l,
			struct as_threshold_share *ret);
/* One that is a sum for each of something: a mean, answers a second. */
struct as_threshold_ratio {
	double sum, n;
};

bool as_threshold_ratio(const struct as_threshold *t, const struct as_load *l,
			struct as_threshold_ratio *ret);
/* Nothing that is still to come can change that: what only grows is past the bound. */
bool as_threshold_is_final(const struct as_threshold *t, bool holds);
/* What the load had, in the unit; NaN: nobody knows. */
double as_threshold_value(const struct as_threshold *t, const struct as_load *l);
bool as_threshold_holds(const struct as_threshold *t, double value);
/* The first that was missed, or NULL. */
const struct as_threshold *as_thresholds_missed(const struct as_thresholds *t,
						const struct as_load *l);

/* One of them is about requests that failed. */
bool as_thresholds_name_errors(const struct as_thresholds *t);

/* What is known of a load before it begins. */
struct as_threshold_facts {
	bool watched, tls;
	bool bounds;   /* something says what a good answer is */
	size_t nsteps; /* 0: it is no flow */
	struct {
		const char *name;
		bool checked; /* it has checks */
	} step[AS_LOAD_STEPS];
};

/* Refuses what can never be known of such a load. */
int as_thresholds_possible(const struct as_thresholds *t, const struct as_threshold_facts *f,
			   struct as_err *err);
