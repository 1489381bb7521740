#pragma once
/*
 * rollout_flight -- one attempt at one rollout: the requests that it takes, in
 * order, and what each of them took.
 *
 *	by the agent    POST /run
 *	driven          POST /seed_session, a POST for each call of a tool that the
 *	                row's response has, POST /verify; with the cookies of the
 *	                session, as the agent would
 */
#include "load/requests.h"
#include "load/rollout_list.h"
#include "run/rollouts.h"

struct as_rollout_server {
	struct as_url url; /* its path is what stands before all others */
	struct as_addresses to;
};

enum as_flight_step { AS_STEP_RUN, AS_STEP_SEED, AS_STEP_TOOL, AS_STEP_VERIFY, AS_STEP_NONE };

struct as_flight {
	struct as_rollout *of; /* NULL: free */
	unsigned attempt;      /* from 1     */
	bool driven, again;    /* again: a stale connection was replaced for this step */
	enum as_flight_step step;
	struct as_buf row;             /* its text                                */
	struct as_json_text object;    /* the same                                */
	struct as_json_member item;    /* of response.output, the last one called */
	struct as_buf tool;            /* the name of what is called              */
	struct as_buf cookies;         /* "a=1; b=2"                              */
	struct as_buf tools;           /* what tools took: JSON, without brackets */
	int64_t begun_ns, begun_at_ns; /* by either clock */
	int64_t seed_ns, verify_ns;    /* -1: unknown     */
	uint64_t bytes_out, bytes_in;
};

void as_flight_init(struct as_flight *f);
void as_flight_done(struct as_flight *f);

/* The next attempt at the row that it has. */
void as_flight_start(struct as_flight *f, bool driven);
/* The request of its step, into the call. */
int as_flight_ask(const struct as_flight *f, const struct as_rollout_server *s,
		  struct as_request *c, struct as_err *err);
/* An answer of its step came: times and cookies are taken; what comes next, or NONE. */
enum as_flight_step as_flight_answered(struct as_flight *f, const struct as_request *c,
				       struct as_rollouts *out);
/* What an answer of the agent tells of its tools. */
void as_flight_trajectory(struct as_flight *f, struct as_json_text answer, struct as_rollouts *out);
