#pragma once
/*
 * load -- what a load test measured: how many requests, how they ended, how long
 * they took.
 *
 * A request that was sent in the warm-up is counted as such and nowhere else.
 * Every other one is in the histograms, however it ended: what failed or was
 * given up after the timeout is never left out.
 *
 *	latency   from the moment the schedule had set for it
 *	wire      from the moment it was really sent (or its connection begun)
 *	waiting   from then until the first byte of the answer; of what never had
 *	          one, until it was given up
 *	lateness  what the generator itself added: from the moment when it was due
 *	          and a connection was free, until it was sent
 *	handshake of TLS: from the connection to its end, of all that succeeded,
 *	          those before the first request too
 *
 *	ws_connecting, ws_session: of WebSockets that were opened, from the connection's
 *	          first byte until the server agreed, and until it was closed
 *
 * Targets are processes that were watched meanwhile. Servers are those that
 * shared the load, when there was more than one: what each had of it.
 *
 * An answer that comes in pieces, be they events of a text/event-stream or
 * chunks, is a stream, and measured piece by piece too.
 *
 * What a server says on a connection with no request under way, where its
 * protocol has nothing to be said, fails no request: it is `unasked`.
 */
#include <stdbool.h>

#include "run/climb.h"
#include "run/field.h"
#include "run/rollouts.h"
#include "stat/histogram.h"

/* X(id, key, help): how a request can fail. */
/* clang-format off */
#define AS_LOAD_ERRORS(X)                                                                          \
	X(REFUSED,     "refused",     "nobody listens there")                                      \
	X(UNREACHABLE, "unreachable", "there is no way to the address")                            \
	X(DESCRIPTORS, "descriptors", "we had no file descriptor, port or memory left for it")      \
	X(RESET,       "reset",       "the connection was reset")                                  \
	X(CLOSED,      "closed",      "the connection was closed before the answer was complete")  \
	X(TIMEOUT,     "timeout",     "no complete answer within the timeout")                     \
	X(PROTOCOL,    "protocol",    "the answer is not HTTP, or not as long as it says")         \
	X(HEADERS,     "headers",     "the head of the answer is longer than 64 KiB")              \
	X(LARGE,       "large",       "the answer is longer than what is kept of one")             \
	X(UNSENT,      "unsent",      "it was due, but no connection became free in time")         \
	X(CUT,         "cut",         "a stream broke off in the middle")                          \
	X(TLS_EXPIRED, "tls_expired", "the certificate is expired, or not valid yet")              \
	X(TLS_HOST,    "tls_host",    "the certificate is another host's")                         \
	X(TLS_ISSUER,  "tls_issuer",  "the certificate's issuer is not trusted")                   \
	X(NO_TLS,      "no_tls",      "the server answers without TLS: is its URL http://?")        \
	X(TLS,         "tls",         "TLS could not be agreed on, or broke")                      \
	X(ALPN,        "alpn",        "the server does not speak the version that was asked for")  \
	X(UPGRADE,     "upgrade",     "the server did not become a WebSocket")                     \
	X(WS_CLOSE,    "ws_close",    "the server closed the WebSocket with the code of an error") \
	X(STREAM,      "stream",      "the server reset a stream of HTTP/2")                       \
	X(SYSTEM,      "system",      "another error of the system")                               \
	X(STATUS_4XX,  "status_4xx",  "the answer says that the request was wrong")                \
	X(STATUS_5XX,  "status_5xx",  "the answer says that the server failed")                    \
	X(CAPTURE,     "capture",     "the answer lacks what the flow keeps of it")                \
	X(UNTIL,       "until",       "what a step of the flow waits for did not come in time")
/* clang-format on */

enum as_load_error {
#define X(id, key, help) AS_LOAD_##id,
	AS_LOAD_ERRORS(X)
#undef X
		AS_LOAD_NERRORS,
	AS_LOAD_FINE = AS_LOAD_NERRORS, /* answers are the last: STATUS_4XX and on */
};

enum { AS_LOAD_CLASSES = 5 }; /* 1xx to 5xx */
enum { AS_LOAD_THRESHOLDS = 1400, AS_LOAD_TLS_TEXT = 160 };

enum { AS_LOAD_TARGETS = 8, AS_LOAD_NAME = 40, AS_LOAD_HOLDER = 112, AS_LOAD_UNSEEN = 320 };
enum { AS_LOAD_SERVERS = 16, AS_LOAD_SERVER_NAME = 80 };

/*
 * X(id, key, help): what an answer keeps to that is a good one, as those who
 * measure models call it; whoever asks sets a bound for some of them. What
 * nobody knows of an answer (it had no token, its `usage` was not told) keeps
 * to no bound. After its first and only token none is late.
 */
/* clang-format off */
#define AS_LOAD_BOUNDS(X)                                                                          \
	X(TTFT, "ttft", "the first token, from when it was due")                                   \
	X(TPOT, "tpot", "each token after the first")                                              \
	X(E2EL, "e2el", "all of the answer, from when it was due")
/* clang-format on */

enum as_load_bound_id {
#define X(id, key, help) AS_LOAD_##id,
	AS_LOAD_BOUNDS(X)
#undef X
		AS_LOAD_NBOUNDS,
};

/* One of them, and how the answers that are no failures kept to it. */
struct as_load_bound {
	int64_t within_ns; /* 0: none was set */
	uint64_t kept, missed, unknown;
};

/*
 * How it is known what a session takes of a server's memory (load/sessions.h):
 *
 *	NONE  there were no sessions
 *	FEW   too few were open at once to tell them from anything else
 *	HELD  while it is open: the largest growth, divided by the most at once
 *	KEPT  for good: the slope of its memory over the sessions that were opened
 */
enum as_session_how { AS_SESSION_NONE, AS_SESSION_FEW, AS_SESSION_HELD, AS_SESSION_KEPT };

/* What a process used while it was loaded. Unknown is AS_NA, or NaN. */
struct as_load_target {
	char name[AS_LOAD_NAME];
	char run[16]; /* where its timeline is; "": in the load's own run       */
	int32_t pid;
	int64_t ended_ns; /* since the run's start; AS_NA: it outlived the load     */
	int64_t cpu_ns;
	double cores, cores_most;          /* on average, and between two samples            */
	int64_t memory;                    /* its peak, page cache left out                  */
	int64_t processes, threads, files; /* the most at once                       */
	/* How long its event loop was busy between two waits; lags 0: it had none. */
	uint64_t lags, blocks; /* how often; 10 ms and longer                         */
	int64_t lag_p50, lag_p99, lag_max;
	char unseen[AS_LOAD_UNSEEN]; /* why we may see neither loops nor stacks; "": we may */
	char limit[160];             /* what held it up, in a sentence; "": the run's facts say  */
	/* The function that held its loop most, or "", for how long, of what was watched. Not kept:
	   `limit` says it, and of a capacity its story. */
	char holder[AS_LOAD_HOLDER];
	int64_t held_ns, watched_ns;
	/* What a session takes of its memory. */
	uint64_t session_how;   /* enum as_session_how                                 */
	uint64_t sessions;      /* most at once; KEPT: that were opened                */
	int64_t session_growth; /* of its memory, the largest                          */
	int64_t session_bytes;  /* of one session                                      */
};

/*
 * X(member, label, help): what is measured of a stream. Firsts count from the
 * moment that the schedule had set, as latency does. A token is what `usage`
 * counts; an event may have none or several.
 */
/* clang-format off */
#define AS_LOAD_STREAM_TIMES(X)                                                                    \
	X(first_byte,     "first byte",  "until the answer began")                                 \
	X(first_event,    "first event", "until the first event or chunk was there")               \
	X(first_token,    "first token", "until the first event with a piece of a model's answer") \
	X(between_events, "between",     "from one event to the next")                             \
	X(per_token,      "per token",   "from the first token to the last, for each of them")     \
	X(event_lag,      "event lag",   "from when `assay stub` sent an event until it was read") \
	X(longest_gap,    "longest gap", "of each stream, the longest from one event to the next") \
	X(between_tokens, "token gap",   "from one piece of a model's answer to the next")
/* clang-format on */

struct as_load_streams {
	uint64_t n;      /* however they ended                                    */
	uint64_t events; /* or chunks                                             */
	uint64_t pieces; /* events with a piece of a model's answer               */
	uint64_t told;   /* answers that said how many tokens they had, and these */
	uint64_t tokens;
#define X(member, label, help) struct as_histogram member;
	AS_LOAD_STREAM_TIMES(X)
#undef X
};

struct as_load_stream_time {
	const char *key, *label;
	size_t at; /* in struct as_load_streams */
};
enum {
#define X(member, label, help) AS_LOAD_TIME_##member,
	AS_LOAD_STREAM_TIMES(X)
#undef X
		AS_LOAD_NSTREAM_TIMES
};
extern const struct as_load_stream_time as_load_stream_times[AS_LOAD_NSTREAM_TIMES];

/* What one of several servers had of the load; one that was never sent is nobody's. */
struct as_load_server {
	char name[AS_LOAD_SERVER_NAME];
	uint64_t requests; /* measured, however they ended */
	uint64_t opened;   /* connections                  */
	uint64_t errors[AS_LOAD_NERRORS];
	uint64_t status[AS_LOAD_CLASSES];
	struct as_histogram latency;
};

/*
 * Of a flow (load/flow.h): each step, and each thing that is checked of its
 * answers. A check that failed is no failed request: it is counted here.
 */
enum { AS_LOAD_STEPS = 24, AS_LOAD_STEP_NAME = 48, AS_LOAD_CHECKS = 64, AS_LOAD_CHECK_NAME = 64 };

struct as_load_check {
	char name[AS_LOAD_CHECK_NAME];
	uint64_t step;
	uint64_t passed, failed;
};

struct as_load_step {
	char name[AS_LOAD_STEP_NAME];
	uint64_t requests; /* measured, however they ended */
	uint64_t errors[AS_LOAD_NERRORS];
	uint64_t status[AS_LOAD_CLASSES];
	uint64_t met; /* answers, not failures, that kept to all bounds */
	struct as_histogram latency, wire, waiting;
};

struct as_load {             /* of the heap: it holds histograms */
	double rate;         /* asked for, a second; 0: as fast as answers come */
	uint64_t conns;      /* at once, at most                               */
	uint64_t requests;   /* measured, however they ended                   */
	uint64_t warmup;     /* sent before that                               */
	uint64_t unfinished; /* due, and not answered, when it was interrupted */
	uint64_t errors[AS_LOAD_NERRORS];
	uint64_t status[AS_LOAD_CLASSES]; /* of answers, by their first digit   */
	uint64_t opened;                  /* connections, successfully          */
	int64_t unasked;                  /* … that were left for what was said there; AS_NA: of a
					     run from before that was counted */
	uint64_t bytes_in, bytes_out;     /* all of them, heads and warm-up too */
	int64_t warmup_ns;                /* how long that was                  */
	int64_t measured_ns;        /* from the first request to the last answer, or by the clock;
				       in a closed loop behind a warm-up a connection's share */
	int64_t sending_ns;         /* of that, until nothing more was to be sent; closed: all */
	int64_t cpu_ns;             /* of the generator's thread, in that time             */
	int64_t wait_ns;            /* how long it waited for a CPU meanwhile, 0 if nobody says */
	uint64_t resumed;           /* handshakes of TLS that were short ones              */
	char tls[AS_LOAD_TLS_TEXT]; /* what was agreed on, or why that failed; "": nothing */
	struct as_load_bound bound[AS_LOAD_NBOUNDS]; /* what makes an answer a good one */
	uint64_t met;           /* answers, not failures, that kept to all of them */
	uint64_t ws_asked;      /* WebSockets: that were asked for             */
	uint64_t ws_sent;       /* … messages, by us                           */
	uint64_t ws_received;   /* … and by the server, also those nobody asked for */
	uint64_t sessions;      /* of a flow: that ended, however they did     */
	uint64_t broken;        /* … of them, before their last step           */
	uint64_t sessions_left; /* that were at work at the end                */
	char thresholds[AS_LOAD_THRESHOLDS]; /* that it shall keep to (judge/threshold.h) */
	uint64_t nchecks;
	struct as_load_check check[AS_LOAD_CHECKS];
	uint64_t ntargets;
	struct as_load_target target[AS_LOAD_TARGETS];
	struct as_climb_story climb; /* that it is the answer of; n 0: of none          */
	uint64_t nservers;           /* 0: it was one */
	struct as_histogram latency, wire, lateness;
	struct as_histogram waiting;
	struct as_histogram handshake;
	struct as_histogram ws_connecting, ws_session;
	struct as_histogram looplag; /* of the first target's busiest event loop */
	struct as_histogram session; /* of a flow: from when it was due to its last answer */
	struct as_load_streams stream;
	struct as_load_server server[AS_LOAD_SERVERS];
	uint64_t nsteps; /* 0: it was no flow */
	struct as_load_step step[AS_LOAD_STEPS];
	struct as_rollouts rollouts; /* asked 0: it was no collection */
};

/* Which of `status` counts an answer with this status: what is beyond 599 is told as 5xx is. */
static inline size_t as_load_class(unsigned status)
{
	return status < 100 ? 0 : status > 599 ? AS_LOAD_CLASSES - 1 : status / 100 - 1;
}

const char *as_load_error_key(enum as_load_error e);
const char *as_load_error_help(enum as_load_error e);
enum as_load_error as_load_error_find(const char *key); /* AS_LOAD_NERRORS: none */
/* `to` is all zeros. */
void as_load_copy(struct as_load *to, const struct as_load *from);
/* All that failed. */
uint64_t as_load_failed(const struct as_load *l);
uint64_t as_load_server_failed(const struct as_load_server *s);
const char *as_load_bound_key(enum as_load_bound_id b);
/* Bounds were set. */
bool as_load_is_judged(const struct as_load *l);
/* One that is about what was not known of any answer; AS_LOAD_NBOUNDS: there is none such. */
enum as_load_bound_id as_load_unknown_bound(const struct as_load *l);
/* The share of requests that kept to all bounds, and how many did a second. NaN: there was no
   bound, or no request, or nobody knows. */
double as_load_goodput(const struct as_load *l);
double as_load_good_rate(const struct as_load *l);
/* The share of a step's; NaN as above, and of a run from before steps were judged. */
double as_load_step_goodput(const struct as_load *l, const struct as_load_step *s);
void as_load_streams_clear(struct as_load_streams *s);
void as_load_streams_add(struct as_load_streams *to, const struct as_load_streams *from);
/* What has values, there, takes all of its memory (as_histogram_settle()). */
void as_load_streams_settle(struct as_load_streams *s, const struct as_load_streams *like);
void as_load_step_settle(struct as_load_step *s, const struct as_load_step *like);
void as_load_settle(struct as_load *l);
const struct as_histogram *as_load_stream_at(const struct as_load_streams *s, size_t time);
/* Checks that passed and those that failed, of a step of it; NULL: of all. */
void as_load_checked(const struct as_load *l, const struct as_load_step *step, uint64_t *ret_passed,
		     uint64_t *ret_failed);
uint64_t as_load_step_failed(const struct as_load_step *s);
/* Counts and times, not the name: empty again, and those of another as well. */
void as_load_step_clear(struct as_load_step *s);
void as_load_step_add(struct as_load_step *to, const struct as_load_step *from);
/* Answers a second, of those that were measured; NaN when there are none. */
double as_load_rate(const struct as_load *l);
double as_load_step_rate(const struct as_load *l, const struct as_load_step *s);
