#include "judge/threshold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/span.h"

static const double the_mean = 2; /* instead of a quantile */

/* ── what can be asked of a load, or of a step ────────────────────────── */

struct part {
	const struct as_load *l;
	const struct as_load_step *step; /* NULL: all of it */
};

static double per_second(const struct part *p, uint64_t n)
{
	return p->l->measured_ns > 0 ? (double)n * 1e9 / (double)p->l->measured_ns : (double)NAN;
}

static double requests(const struct part *p)
{
	return (double)(p->step ? p->step->requests : p->l->requests);
}

static double failed(const struct part *p)
{
	return (double)(p->step ? as_load_step_failed(p->step) : as_load_failed(p->l));
}

static double rate(const struct part *p)
{
	return p->step ? as_load_step_rate(p->l, p->step) : as_load_rate(p->l);
}

static double failed_share(const struct part *p)
{
	return requests(p) > 0 ? failed(p) / requests(p) : (double)NAN;
}

static double checks_share(const struct part *p)
{
	uint64_t passed, missed;

	as_load_checked(p->l, p->step, &passed, &missed);
	return passed + missed ? (double)passed / (double)(passed + missed) : (double)NAN;
}

static double goodput(const struct part *p)
{
	return p->step ? as_load_step_goodput(p->l, p->step) : as_load_goodput(p->l);
}

static double good(const struct part *p)
{
	return isnan(as_load_goodput(p->l)) ? (double)NAN : (double)p->l->met;
}

static double good_rate(const struct part *p)
{
	return as_load_good_rate(p->l);
}

/* Of a flow its sessions, else the requests. */
static double iterations(const struct part *p)
{
	return (double)(p->l->nsteps ? p->l->sessions : p->l->requests);
}

static double iteration_rate(const struct part *p)
{
	return p->l->nsteps ? per_second(p, p->l->sessions) : as_load_rate(p->l);
}

static double unsent(const struct part *p)
{
	return (double)p->l->errors[AS_LOAD_UNSENT];
}

static double unsent_rate(const struct part *p)
{
	return per_second(p, p->l->errors[AS_LOAD_UNSENT]);
}

static double received(const struct part *p)
{
	return (double)p->l->bytes_in;
}

static double sent(const struct part *p)
{
	return (double)p->l->bytes_out;
}

/* Bytes are counted from the first request on, warm-up or not. */
static double bytes_a_second(const struct part *p, uint64_t bytes)
{
	int64_t ns = p->l->measured_ns + p->l->warmup_ns;

	return p->l->measured_ns > 0 ? (double)bytes * 1e9 / (double)ns : (double)NAN;
}

static double received_rate(const struct part *p)
{
	return bytes_a_second(p, p->l->bytes_in);
}

static double sent_rate(const struct part *p)
{
	return bytes_a_second(p, p->l->bytes_out);
}

static double at_once(const struct part *p)
{
	return (double)p->l->conns;
}

static double ws_sessions(const struct part *p)
{
	return (double)p->l->ws_connecting.n;
}

static double ws_sessions_rate(const struct part *p)
{
	return per_second(p, p->l->ws_connecting.n);
}

static double ws_sent(const struct part *p)
{
	return (double)p->l->ws_sent;
}

static double ws_sent_rate(const struct part *p)
{
	return per_second(p, p->l->ws_sent);
}

static double ws_received(const struct part *p)
{
	return (double)p->l->ws_received;
}

static double ws_received_rate(const struct part *p)
{
	return per_second(p, p->l->ws_received);
}

/* Of several targets the one that used most. */
static double target_cpu(const struct part *p)
{
	double most = NAN;

	for (size_t i = 0; i < p->l->ntargets; i++)
		most = fmax(most, p->l->target[i].cores);
	return most;
}

static double target_memory(const struct part *p)
{
	double most = NAN;

	for (size_t i = 0; i < p->l->ntargets; i++)
		if (p->l->target[i].memory != AS_NA)
			most = fmax(most, (double)p->l->target[i].memory);
	return most;
}

/* Without what a value can never be known, and what to do about it. */
enum need { NOTHING, WATCH, CHECKS, TLS, BOUNDS };

static const struct {
	const char *why, *hint;
} needs[] = {
	[WATCH] = {"no process is watched", "--watch PID names that of the server"},
	[CHECKS] = {"nothing is checked", "a flow's steps have checks (docs/flows.md); errors "
					  "is the share of requests that failed"},
	[TLS] = {"the connections have no TLS", "those of https:// and wss:// have"},
	[BOUNDS] = {"nothing says what a good answer is", "--goodput 'ttft<500ms,e2el<10s' does, "
							  "or --deadline TIME"},
};

/* A metric, and what is asked of it: a distribution has quantiles, the others each a number.
   The first of several rows is meant when nothing is said. */
static const struct metric {
	const char *name, *stat; /* NULL: a distribution */
	size_t at, step_at;      /* of it; 0: a step has none */
	double (*value)(const struct part *p);
	enum as_threshold_unit unit;
	bool of_step; /* a step has it, too       */
	bool grows;   /* as long as the load goes */
	enum need need;
} metrics[] = {
#define TIMES_OF(name_, member, need_)                                                             \
	{                                                                                          \
		.name = name_, .at = offsetof(struct as_load, member), .unit = AS_THRESHOLD_MS,    \
		.need = need_                                                                      \
	}
#define TIMES(name_, member) TIMES_OF(name_, member, NOTHING)
#define STEP_TIMES(name_, member)                                                                  \
	{                                                                                          \
		.name = name_, .at = offsetof(struct as_load, member),                             \
		.step_at = offsetof(struct as_load_step, member), .unit = AS_THRESHOLD_MS,         \
		.of_step = true                                                                    \
	}
#define NUMBER(name_, stat_, value_, unit_, ...)                                                   \
	{                                                                                          \
		.name = name_, .stat = stat_, .value = value_, .unit = AS_THRESHOLD_##unit_,       \
		__VA_ARGS__                                                                        \
	}
	STEP_TIMES("latency", latency), /* the first: whose quantiles stand without a name */
	STEP_TIMES("wire", wire),
	STEP_TIMES("waiting", waiting),
	TIMES_OF("handshake", handshake, TLS),
	TIMES("lateness", lateness),
	TIMES_OF("looplag", looplag, WATCH), /* of the first target */
	TIMES("first_byte", stream.first_byte),
	TIMES("first_event", stream.first_event),
	TIMES("first_token", stream.first_token),
	TIMES("ttft", stream.first_token),
	TIMES("between_events", stream.between_events),
	TIMES("between_tokens", stream.between_tokens),
	TIMES("itl", stream.between_tokens),
	TIMES("per_token", stream.per_token),
	TIMES("tpot", stream.per_token),
	STEP_TIMES("http_req_duration", latency),
	STEP_TIMES("http_req_waiting", waiting),
	TIMES_OF("http_req_tls_handshaking", handshake, TLS),
	TIMES("session", session), /* of a flow */
	TIMES("iteration_duration", session),
	TIMES("ws_connecting", ws_connecting),
	TIMES("ws_session_duration", ws_session),
	NUMBER("errors", "rate", failed_share, SHARE, .of_step = true),
	NUMBER("errors", "count", failed, COUNT, .of_step = true, .grows = true),
	NUMBER("rate", "", rate, RATE, .of_step = true),
	NUMBER("requests", "count", requests, COUNT, .of_step = true, .grows = true),
	NUMBER("requests", "rate", rate, RATE, .of_step = true),
	NUMBER("goodput", "rate", goodput, SHARE, .of_step = true, .need = BOUNDS),
	NUMBER("good_requests", "rate", good_rate, RATE, .need = BOUNDS),
	NUMBER("good_requests", "count", good, COUNT, .grows = true, .need = BOUNDS),
	NUMBER("unsent", "count", unsent, COUNT, .grows = true),
	NUMBER("http_reqs", "rate", rate, RATE, .of_step = true),
	NUMBER("http_reqs", "count", requests, COUNT, .of_step = true, .grows = true),
	NUMBER("http_req_failed", "rate", failed_share, SHARE, .of_step = true),
	NUMBER("checks", "rate", checks_share, SHARE, .of_step = true, .need = CHECKS),
	NUMBER("iterations", "rate", iteration_rate, RATE),
	NUMBER("iterations", "count", iterations, COUNT, .grows = true),
	NUMBER("dropped_iterations", "count", unsent, COUNT, .grows = true),
	NUMBER("dropped_iterations", "rate", unsent_rate, RATE),
	NUMBER("data_received", "count", received, BYTES, .grows = true),
	NUMBER("data_received", "rate", received_rate, BYTES),
	NUMBER("data_sent", "count", sent, BYTES, .grows = true),
	NUMBER("data_sent", "rate", sent_rate, BYTES),
	NUMBER("vus", "value", at_once, COUNT),
	NUMBER("vus_max", "value", at_once, COUNT),
	NUMBER("ws_sessions", "count", ws_sessions, COUNT, .grows = true),
	NUMBER("ws_sessions", "rate", ws_sessions_rate, RATE),
	NUMBER("ws_msgs_sent", "count", ws_sent, COUNT, .grows = true),
	NUMBER("ws_msgs_sent", "rate", ws_sent_rate, RATE),
	NUMBER("ws_msgs_received", "count", ws_received, COUNT, .grows = true),
	NUMBER("ws_msgs_received", "rate", ws_received_rate, RATE),
	NUMBER("target", "cpu", target_cpu, COUNT, .need = WATCH),
	NUMBER("target", "memory", target_memory, BYTES, .grows = true, .need = WATCH),
#undef TIMES_OF
#undef TIMES
#undef STEP_TIMES
#undef NUMBER
};

/* What k6 has and a load does not measure for itself. */
static const struct {
	const char *name, *where;
} unmeasured[] = {
	{"http_req_blocked", "what a request waits for a connection is in its latency"},
	{"http_req_connecting", "connections are made before the first request is due"},
	{"http_req_sending", "a request that is sent at once is on the wire: wire.p95"},
	{"http_req_receiving", "what follows the first byte is in wire, not in waiting"},
};

/* ── comparisons ──────────────────────────────────────────────────────── */

enum compare { LESS, LESS_OR_SAME, MORE, MORE_OR_SAME, SAME, OTHER };

/* The longer ones first: one begins with another. */
static const struct {
	const char *text;
	enum compare means;
} compares[] = {{"===", SAME}, {"<=", LESS_OR_SAME}, {">=", MORE_OR_SAME}, {"==", SAME},
		{"!=", OTHER}, {"<", LESS},          {">", MORE}};

bool as_threshold_holds(const struct as_threshold *t, double value)
{
	if (isnan(value))
		return false;
	switch ((enum compare)t->compare) {
	case LESS:
		return value < t->bound;
	case LESS_OR_SAME:
		return value <= t->bound;
	case MORE:
		return value > t->bound;
	case MORE_OR_SAME:
		return value >= t->bound;
	case SAME:
		return value >= t->bound && value <= t->bound;
	case OTHER:
		break;
	}
	return value < t->bound || value > t->bound;
}

/* ── words ────────────────────────────────────────────────────────────── */

/* "p(99.9)", "p99.9", "p999": of more than two digits that begin with a 9 two stand before the
   point. */
static bool scan_percentile(struct as_span w, double *ret_q)
{
	bool round = w.n > 3 && w.p[1] == '(' && w.p[w.n - 1] == ')';
	const char *p = w.p + 1 + round;
	size_t n = w.n - 1 - (round ? 2 : 0);
	double v = 0;

	if (as_scan_dec(p, n, &v) != n || !(v >= 0))
		return false;
	while (!round && v > 100 && *p == '9' && !memchr(p, '.', n))
		v /= 10;
	*ret_q = v / 100;
	return v <= 100;
}

static bool scan_quantile(struct as_span w, double *ret_q)
{
	static const struct {
		const char *name;
		double q;
	} known[] = {{"min", 0}, {"med", 0.5},      {"median", 0.5},
		     {"max", 1}, {"avg", the_mean}, {"mean", the_mean}};

	if (w.n > 1 && w.p[0] == 'p' && scan_percentile(w, ret_q))
		return true;
	for (size_t i = 0; i < AS_LEN(known); i++)
		if (as_span_is(w, known[i].name)) {
			*ret_q = known[i].q;
			return true;
		}
	return false;
}

/* ── bounds ───────────────────────────────────────────────────────────── */

static const struct {
	enum as_threshold_unit unit;
	const char *name;
	double factor;
} units[] = {
	{AS_THRESHOLD_MS, "", 1},
	{AS_THRESHOLD_MS, "ns", 1e-6},
	{AS_THRESHOLD_MS, "us", 1e-3},
	{AS_THRESHOLD_MS, "ms", 1},
	{AS_THRESHOLD_MS, "s", 1e3},
	{AS_THRESHOLD_MS, "m", 6e4},
	{AS_THRESHOLD_MS, "min", 6e4},
	{AS_THRESHOLD_MS, "h", 36e5},
	{AS_THRESHOLD_SHARE, "", 1},
	{AS_THRESHOLD_SHARE, "%", 0.01},
	{AS_THRESHOLD_RATE, "", 1},
	{AS_THRESHOLD_RATE, "/s", 1},
	{AS_THRESHOLD_RATE, "/m", 1 / 60.},
	{AS_THRESHOLD_RATE, "/min", 1 / 60.},
	{AS_THRESHOLD_RATE, "/h", 1 / 3600.},
	{AS_THRESHOLD_COUNT, "", 1},
	{AS_THRESHOLD_BYTES, "", 1},
	{AS_THRESHOLD_BYTES, "B", 1},
	{AS_THRESHOLD_BYTES, "kB", 1e3},
	{AS_THRESHOLD_BYTES, "MB", 1e6},
	{AS_THRESHOLD_BYTES, "GB", 1e9},
	{AS_THRESHOLD_BYTES, "KiB", 1024},
	{AS_THRESHOLD_BYTES, "MiB", 1048576},
	{AS_THRESHOLD_BYTES, "GiB", 1073741824},
};

static bool scan_bound(struct as_span w, struct as_threshold *t)
{
	size_t used = as_scan_dec(w.p, w.n, &t->bound);

	if (!used)
		return false;
	struct as_span unit = as_span_trim_blanks(as_span_skip(w, used));
	for (size_t i = 0; i < AS_LEN(units); i++)
		if (units[i].unit == t->unit && as_span_is(unit, units[i].name)) {
			t->bound *= units[i].factor;
			return isfinite(t->bound);
		}
	return false;
}

/* ── one threshold ────────────────────────────────────────────────────── */

static bool find_metric(struct as_span name, struct as_span stat, struct as_threshold *t)
{
	for (unsigned m = 0; m < AS_LEN(metrics); m++) {
		if (!as_span_is(name, metrics[m].name))
			continue;
		if (metrics[m].stat ? stat.n && !as_span_is(stat, metrics[m].stat)
				    : !scan_quantile(stat, &t->q))
			continue;
		t->metric = m;
		t->unit = metrics[m].unit;
		return true;
	}
	return false;
}

static int unknown_metric(struct as_span what, struct as_err *err)
{
	struct as_span name = as_span(what.p, strcspn(what.p, ". \t:{<>=!"));

	for (size_t i = 0; i < AS_LEN(unmeasured); i++)
		if (name.n <= what.n && as_span_is(name, unmeasured[i].name)) {
			(void)as_fail(err, AS_EUSAGE, "%s is not measured for itself",
				      unmeasured[i].name);
			return as_hint(err, "%s", unmeasured[i].where);
		}
	(void)as_fail(err, AS_EUSAGE, "nothing that a load has is called '%.*s'",
		      (int)(what.n < 60 ? what.n : 60), what.p);
	return as_hint(err, "p99, max, mean; wire.p99, lateness.p99; errors, rate, requests; "
			    "or k6's: http_req_duration p(95)");
}

/* "wire.p90", "errors", "http_reqs rate", or a quantile alone, which is of the latency. */
static bool split_metric(struct as_span left, struct as_threshold *t)
{
	size_t n = 0;
	double q;

	if (scan_quantile(left, &q))
		return find_metric(as_span_of("latency"), left, t);
	while (n < left.n && !strchr(". \t", left.p[n]))
		n++;
	size_t dot = n < left.n && left.p[n] == '.';
	return find_metric(as_span(left.p, n), as_span_trim_blanks(as_span_skip(left, n + dot)), t);
}

static int no_threshold(struct as_span w, struct as_err *err)
{
	(void)as_fail(err, AS_EUSAGE, "'%.*s' is no threshold", (int)(w.n < 60 ? w.n : 60), w.p);
	return as_hint(err, "p99<250ms, errors<1%%, rate>=100/s, or k6's http_req_duration "
			    "p(95)<300");
}

static size_t find_compare(struct as_span w, size_t at, unsigned *ret)
{
	for (size_t i = 0; i < AS_LEN(compares); i++) {
		size_t n = strlen(compares[i].text);

		if (w.n - at < n || memcmp(w.p + at, compares[i].text, n) != 0)
			continue;
		*ret = compares[i].means;
		return n;
	}
	return 0;
}

/* ── tags: {STEP}, {name:STEP}, {scenario:ANY} ────────────────────────── */

/* How long the tag is that begins here; 0: none does, or it has no end. */
static size_t tag_length(const char *p, size_t n)
{
	const char *end = n && *p == '{' ? memchr(p, '}', n) : NULL;

	return end ? (size_t)(end - p) + 1 : 0;
}

/* How many bytes stand before the first of `stops` that is in no tag. */
static size_t until_one_of(const char *stops, const char *p, size_t n)
{
	size_t at = 0;

	while (at < n && !strchr(stops, p[at])) {
		size_t tag = tag_length(p + at, n - at);

		at += tag ? tag : 1;
	}
	return at < n ? at : n;
}

/* "key:value": the key is a word, or it belongs to a step's name. */
static struct as_span key_of(struct as_span tag)
{
	size_t n = 0;

	while (n < tag.n && ((tag.p[n] >= 'a' && tag.p[n] <= 'z') || tag.p[n] == '_'))
		n++;
	return as_span(tag.p, n < tag.n && tag.p[n] == ':' ? n : 0);
}

/* There is one scenario, the load, whatever it is called. */
static int read_tag(struct as_span tag, char *ret_step, struct as_err *err)
{
	struct as_span key = key_of(tag), value = tag;

	if (key.n)
		value = as_span_trim_blanks(as_span_skip(tag, key.n + 1));
	if (as_span_is(key, "scenario") && value.n)
		return AS_OK;
	if (key.n && !as_span_is(key, "name")) {
		(void)as_fail(err, AS_EUSAGE, "a load has no tag '%.*s'", (int)key.n, key.p);
		return as_hint(err, "{name:STEP} is a step of a flow, {scenario:ANY} the load");
	}
	if (!value.n || value.n >= AS_LOAD_STEP_NAME)
		return as_fail(err, AS_EUSAGE, "no step is called '%.*s'",
			       (int)(value.n < 60 ? value.n : 60), value.p);
	memcpy(ret_step, value.p, value.n);
	ret_step[value.n] = '\0';
	return AS_OK;
}

/* What is left of "metric{tag} stat" without its tag, in `room`. */
static int take_tag(struct as_span *w, char *room, char *ret_step, struct as_err *err)
{
	size_t at = until_one_of("{", w->p, w->n);
	size_t tag = at < w->n ? tag_length(w->p + at, w->n - at) : 0;

	if (!tag)
		return AS_OK;
	struct as_span rest = as_span_skip(*w, at + tag);
	int r = read_tag(as_span_trim_blanks(as_span(w->p + at + 1, tag - 2)), ret_step, err);
	memcpy(room, w->p, at);
	memcpy(room + at, rest.p, rest.n);
	*w = as_span_trim_blanks(as_span(room, at + rest.n));
	return r;
}

/* ── one threshold as it is written ───────────────────────────────────── */

/* As it was written; with the list's metric, if that is meant. */
static void keep_text(struct as_threshold *t, struct as_span of, struct as_span w)
{
	(void)snprintf(t->expr, sizeof t->expr, "%.*s%s%.*s", (int)of.n, of.n ? of.p : "",
		       of.n ? ": " : "", (int)w.n, w.p);
}

/* What stands before the comparison; *inherits when it is of the list's metric. */
static int parse_left(struct as_span left, struct as_span of, struct as_threshold *t,
		      bool *inherits, struct as_err *err)
{
	char room[AS_THRESHOLD_TEXT], of_room[AS_THRESHOLD_TEXT], of_step[AS_LOAD_STEP_NAME] = "";
	struct as_span whole = left;
	int r = take_tag(&left, room, t->step, err);

	if (r == AS_OK)
		r = take_tag(&of, of_room, of_step, err);
	if (r < 0)
		return r;
	*inherits = of.n && find_metric(of, left, t);
	if (!*inherits && !split_metric(left, t))
		return unknown_metric(whole, err);
	if (*inherits && !t->step[0])
		memcpy(t->step, of_step, sizeof of_step);
	if (t->step[0] && !metrics[t->metric].of_step)
		return as_fail(err, AS_EUSAGE, "%s is not told of a single step",
			       metrics[t->metric].name);
	return AS_OK;
}

static int parse_one(struct as_span w, struct as_span of, struct as_threshold *t,
		     struct as_err *err)
{
	size_t at = until_one_of("<>=!", w.p, w.n), n = find_compare(w, at, &t->compare);
	bool inherits = false;

	*t = (struct as_threshold){.compare = t->compare};
	if (!n || w.n + of.n + 3 > sizeof t->expr)
		return no_threshold(w, err);
	int r = parse_left(as_span_trim_blanks(as_span(w.p, at)), of, t, &inherits, err);
	if (r < 0)
		return r;
	if (!scan_bound(as_span_trim_blanks(as_span_skip(w, at + n)), t))
		return no_threshold(w, err);
	keep_text(t, inherits ? of : as_span(NULL, 0), w);
	return AS_OK;
}

/* ── a list ───────────────────────────────────────────────────────────── */

/* "metric: …": takes it off, to *ret. */
static bool take_name(struct as_span *w, struct as_span *ret)
{
	size_t n = until_one_of(":", w->p, w->n);

	if (n == w->n)
		return true;
	*ret = as_span_trim_blanks(as_span(w->p, n));
	*w = as_span_trim_blanks(as_span_skip(*w, n + 1));
	return ret->n > 0;
}

/* With a tag or without. */
static bool is_metric(struct as_span name)
{
	size_t at = until_one_of("{", name.p, name.n);
	struct as_span bare = as_span_trim_blanks(as_span(name.p, at));

	if (at + tag_length(name.p + at, name.n - at) != name.n)
		return false;
	for (unsigned m = 0; m < AS_LEN(metrics); m++)
		if (as_span_is(bare, metrics[m].name))
			return true;
	return false;
}

static int add_one(struct as_span w, struct as_span *of, struct as_thresholds *to,
		   struct as_err *err)
{
	struct as_span all = w;

	if (to->n == AS_THRESHOLDS_MOST)
		return as_fail(err, AS_EUSAGE, "too many thresholds: %d at most",
			       AS_THRESHOLDS_MOST);
	if (!take_name(&w, of))
		return no_threshold(all, err);
	if (of->n && !is_metric(*of))
		return unknown_metric(*of, err);
	int r = parse_one(w, *of, &to->at[to->n], err);
	to->n += r == AS_OK;
	return r;
}

int as_thresholds_parse(const char *list, struct as_thresholds *to, struct as_err *err)
{
	struct as_span of = {0};
	int r = AS_OK;

	for (const char *p = list; r == AS_OK; p++) {
		size_t n = until_one_of(",;", p, strlen(p));

		r = add_one(as_span_trim_blanks(as_span(p, n)), &of, to, err);
		p += n;
		if (*p == ';')
			of = as_span(NULL, 0);
		if (!*p)
			break;
	}
	return r;
}

void as_thresholds_text(const struct as_thresholds *t, char *to, size_t size)
{
	size_t at = 0;

	*to = '\0';
	for (size_t i = 0; i < t->n && at < size; i++)
		at += (size_t)snprintf(to + at, size - at, "%s%s", i ? "; " : "", t->at[i].expr);
}

/* ── judging ──────────────────────────────────────────────────────────── */

static double quantile(const struct as_histogram *h, double q)
{
	if (!h->n)
		return (double)NAN;
	double ns = q > 1    ? as_histogram_mean(h)
		    : q <= 0 ? (double)h->min
			     : (double)as_histogram_at(h, q);
	return ns / 1e6;
}

/* False: no step is called so. */
static bool find_part(const struct as_threshold *t, const struct as_load *l, struct part *ret)
{
	*ret = (struct part){.l = l};
	for (size_t i = 0; t->step[0] && i < l->nsteps; i++)
		if (!strcmp(l->step[i].name, t->step))
			ret->step = &l->step[i];
	return !t->step[0] || ret->step;
}

/* Of a load without a flow a session is a request. */
static const struct as_histogram *times_of(const struct metric *m, const struct part *p)
{
	if (p->step)
		return (const void *)((const char *)p->step + m->step_at);
	if (m->at == offsetof(struct as_load, session) && !p->l->nsteps)
		return &p->l->latency;
	return (const void *)((const char *)p->l + m->at);
}

double as_threshold_value(const struct as_threshold *t, const struct as_load *l)
{
	const struct metric *m = &metrics[t->metric];
	struct part p;

	if (!find_part(t, l, &p))
		return (double)NAN;
	return m->value ? m->value(&p) : quantile(times_of(m, &p), t->q);
}

static bool is_upper(const struct as_threshold *t)
{
	return t->compare == LESS || t->compare == LESS_OR_SAME;
}

static bool is_lower(const struct as_threshold *t)
{
	return t->compare == MORE || t->compare == MORE_OR_SAME;
}

/* The largest and the mean are no shares. */
static bool share_of_times(const struct as_threshold *t, const struct as_histogram *h,
			   struct as_threshold_share *ret)
{
	if (!is_upper(t) || !(t->q > 0) || !(t->q < 1))
		return false;
	double below = fmin(t->bound * 1e6, 9e18);
	*ret = (struct as_threshold_share){.good = (double)as_histogram_within(h, 0,
									       (int64_t)below + 1),
					   .n = (double)h->n,
					   .need = t->q};
	return true;
}

static bool share_of_part(const struct as_threshold *t, const struct part *p,
			  struct as_threshold_share *ret)
{
	const struct metric *m = &metrics[t->metric];
	uint64_t passed, missed;

	if (!m->value)
		return share_of_times(t, times_of(m, p), ret);
	as_load_checked(p->l, p->step, &passed, &missed);
	if (m->value == failed_share && is_upper(t))
		*ret = (struct as_threshold_share){requests(p) - failed(p), requests(p),
						   1 - t->bound};
	else if (m->value == checks_share && is_lower(t))
		*ret = (struct as_threshold_share){(double)passed, (double)(passed + missed),
						   t->bound};
	else if (m->value == goodput && is_lower(t))
		*ret = (struct as_threshold_share){(double)(p->step ? p->step->met : p->l->met),
						   requests(p), t->bound};
	else
		return false;
	return true;
}

bool as_threshold_share(const struct as_threshold *t, const struct as_load *l,
			struct as_threshold_share *ret)
{
	struct part p;
	bool known = find_part(t, l, &p), is = share_of_part(t, &p, ret);

	if (is && !known)
		ret->good = ret->n = 0;
	return is;
}

bool as_threshold_ratio(const struct as_threshold *t, const struct as_load *l,
			struct as_threshold_ratio *ret)
{
	const struct metric *m = &metrics[t->metric];
	double seconds = (double)l->measured_ns / 1e9;
	struct part p;
	bool known = find_part(t, l, &p), mean = !m->value && t->q > 1;
	bool a_second = m->value == rate || m->value == good_rate;

	*ret = (struct as_threshold_ratio){0};
	if (known && mean)
		*ret = (struct as_threshold_ratio){times_of(m, &p)->sum / 1e6,
						   (double)times_of(m, &p)->n};
	else if (known && a_second && seconds > 0)
		*ret = (struct as_threshold_ratio){m->value == rate ? rate(&p) * seconds
								    : (double)l->met,
						   seconds};
	return mean || a_second;
}

bool as_threshold_is_final(const struct as_threshold *t, bool holds)
{
	const struct metric *m = &metrics[t->metric];

	if (m->value == at_once)
		return true;
	if (!m->grows && (m->value || t->q < 1 || t->q > 1))
		return false;
	return holds ? is_lower(t) : is_upper(t);
}

const struct as_threshold *as_thresholds_missed(const struct as_thresholds *t,
						const struct as_load *l)
{
	for (size_t i = 0; i < t->n; i++)
		if (!as_threshold_holds(&t->at[i], as_threshold_value(&t->at[i], l)))
			return &t->at[i];
	return NULL;
}

bool as_thresholds_name_errors(const struct as_thresholds *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct metric *m = &metrics[t->at[i].metric];

		if (m->value == failed || m->value == failed_share)
			return true;
	}
	return false;
}

/* ── what can be known ────────────────────────────────────────────────── */

static bool is_met(enum need need, const struct as_threshold_facts *f, const char *step)
{
	bool checked = false;

	for (size_t i = 0; i < f->nsteps; i++)
		checked |= f->step[i].checked && (!*step || !strcmp(f->step[i].name, step));
	switch (need) {
	case WATCH:
		return f->watched;
	case CHECKS:
		return checked;
	case TLS:
		return f->tls;
	case BOUNDS:
		return f->bounds;
	case NOTHING:
		break;
	}
	return true;
}

static bool has_step(const struct as_threshold_facts *f, const char *step)
{
	for (size_t i = 0; i < f->nsteps; i++)
		if (!strcmp(f->step[i].name, step))
			return true;
	return !*step;
}

int as_thresholds_possible(const struct as_thresholds *t, const struct as_threshold_facts *f,
			   struct as_err *err)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct as_threshold *x = &t->at[i];
		enum need need = metrics[x->metric].need;

		if (!has_step(f, x->step)) {
			(void)as_fail(err, AS_EUSAGE,
				      "'%s' can never be known: no step is called "
				      "'%s'",
				      x->expr, x->step);
			return as_hint(err, "the flow names its steps");
		}
		if (!is_met(need, f, x->step)) {
			(void)as_fail(err, AS_EUSAGE, "'%s' can never be known: %s", x->expr,
				      needs[need].why);
			return as_hint(err, "%s", needs[need].hint);
		}
	}
	return AS_OK;
}
