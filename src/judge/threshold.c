#include "judge/threshold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

static const double the_mean = 2; /* instead of a quantile */

/* ── what can be asked of a load ──────────────────────────────────────── */

static double per_second(const struct as_load *l, uint64_t n)
{
	return l->measured_ns > 0 ? (double)n * 1e9 / (double)l->measured_ns : (double)NAN;
}

static double share(const struct as_load *l, uint64_t n)
{
	return l->requests ? (double)n / (double)l->requests : (double)NAN;
}

static double failed_share(const struct as_load *l)
{
	return share(l, as_load_failed(l));
}

static double checks_share(const struct as_load *l)
{
	uint64_t passed, failed;

	as_load_checked(l, &passed, &failed);
	return passed + failed ? (double)passed / (double)(passed + failed) : (double)NAN;
}

/* Of a flow its sessions, else the requests. */
static double iterations(const struct as_load *l)
{
	return (double)(l->nsteps ? l->sessions : l->requests);
}

static double iteration_rate(const struct as_load *l)
{
	return l->nsteps ? per_second(l, l->sessions) : as_load_rate(l);
}

static double failed(const struct as_load *l)
{
	return (double)as_load_failed(l);
}

static double requests(const struct as_load *l)
{
	return (double)l->requests;
}

static double unsent(const struct as_load *l)
{
	return (double)l->errors[AS_LOAD_UNSENT];
}

static double unsent_rate(const struct as_load *l)
{
	return per_second(l, l->errors[AS_LOAD_UNSENT]);
}

static double received(const struct as_load *l)
{
	return (double)l->bytes_in;
}

static double sent(const struct as_load *l)
{
	return (double)l->bytes_out;
}

static double ws_sessions(const struct as_load *l)
{
	return (double)l->ws_connecting.n;
}

static double ws_sessions_rate(const struct as_load *l)
{
	return per_second(l, l->ws_connecting.n);
}

static double ws_sent(const struct as_load *l)
{
	return (double)l->ws_sent;
}

static double ws_sent_rate(const struct as_load *l)
{
	return per_second(l, l->ws_sent);
}

static double ws_received(const struct as_load *l)
{
	return (double)l->ws_received;
}

static double ws_received_rate(const struct as_load *l)
{
	return per_second(l, l->ws_received);
}

/* Of several targets the one that used most. */
static double target_cpu(const struct as_load *l)
{
	double most = NAN;

	for (size_t i = 0; i < l->ntargets; i++)
		most = fmax(most, l->target[i].cores);
	return most;
}

static double target_memory(const struct as_load *l)
{
	double most = NAN;

	for (size_t i = 0; i < l->ntargets; i++)
		if (l->target[i].memory != AS_NA)
			most = fmax(most, (double)l->target[i].memory);
	return most;
}

/* A metric, and what is asked of it: a distribution has quantiles, the others each a number.
   The first of several rows is meant when nothing is said. */
static const struct metric {
	const char *name, *stat; /* NULL: a distribution */
	size_t at;
	double (*value)(const struct as_load *l);
	enum as_threshold_unit unit;
} metrics[] = {
#define TIMES(name, member)                                                                        \
	{                                                                                          \
		name, NULL, offsetof(struct as_load, member), NULL, AS_THRESHOLD_MS                \
	}
	TIMES("latency", latency), /* the first: whose quantiles stand without a name */
	TIMES("wire", wire),
	TIMES("handshake", handshake),
	TIMES("lateness", lateness),
	TIMES("looplag", looplag), /* of the first target */
	TIMES("first_byte", stream.first_byte),
	TIMES("first_event", stream.first_event),
	TIMES("first_token", stream.first_token),
	TIMES("ttft", stream.first_token),
	TIMES("between_events", stream.between_events),
	TIMES("itl", stream.between_events),
	TIMES("per_token", stream.per_token),
	TIMES("tpot", stream.per_token),
	TIMES("http_req_duration", latency),
	TIMES("http_req_waiting", wire),
	TIMES("http_req_tls_handshaking", handshake),
	TIMES("session", session), /* of a flow */
	TIMES("iteration_duration", session),
	TIMES("ws_connecting", ws_connecting),
	TIMES("ws_session_duration", ws_session),
#undef TIMES
	{"errors", "rate", 0, failed_share, AS_THRESHOLD_SHARE},
	{"errors", "count", 0, failed, AS_THRESHOLD_COUNT},
	{"rate", "", 0, as_load_rate, AS_THRESHOLD_RATE},
	{"requests", "count", 0, requests, AS_THRESHOLD_COUNT},
	{"requests", "rate", 0, as_load_rate, AS_THRESHOLD_RATE},
	{"goodput", "rate", 0, as_load_goodput, AS_THRESHOLD_SHARE},
	{"unsent", "count", 0, unsent, AS_THRESHOLD_COUNT},
	{"http_reqs", "rate", 0, as_load_rate, AS_THRESHOLD_RATE},
	{"http_reqs", "count", 0, requests, AS_THRESHOLD_COUNT},
	{"http_req_failed", "rate", 0, failed_share, AS_THRESHOLD_SHARE},
	{"checks", "rate", 0, checks_share, AS_THRESHOLD_SHARE},
	{"iterations", "rate", 0, iteration_rate, AS_THRESHOLD_RATE},
	{"iterations", "count", 0, iterations, AS_THRESHOLD_COUNT},
	{"dropped_iterations", "count", 0, unsent, AS_THRESHOLD_COUNT},
	{"dropped_iterations", "rate", 0, unsent_rate, AS_THRESHOLD_RATE},
	{"data_received", "count", 0, received, AS_THRESHOLD_BYTES},
	{"data_sent", "count", 0, sent, AS_THRESHOLD_BYTES},
	{"ws_sessions", "count", 0, ws_sessions, AS_THRESHOLD_COUNT},
	{"ws_sessions", "rate", 0, ws_sessions_rate, AS_THRESHOLD_RATE},
	{"ws_msgs_sent", "count", 0, ws_sent, AS_THRESHOLD_COUNT},
	{"ws_msgs_sent", "rate", 0, ws_sent_rate, AS_THRESHOLD_RATE},
	{"ws_msgs_received", "count", 0, ws_received, AS_THRESHOLD_COUNT},
	{"ws_msgs_received", "rate", 0, ws_received_rate, AS_THRESHOLD_RATE},
	{"target", "cpu", 0, target_cpu, AS_THRESHOLD_COUNT},
	{"target", "memory", 0, target_memory, AS_THRESHOLD_BYTES},
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

struct word {
	const char *p;
	size_t n;
};

static struct word trimmed(const char *p, size_t n)
{
	for (; n && (*p == ' ' || *p == '\t'); n--)
		p++;
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	return (struct word){p, n};
}

static bool is(struct word w, const char *text)
{
	return w.n == strlen(text) && !memcmp(w.p, text, w.n);
}

/* "p(99.9)", "p99.9", "p999": a number above 100 has its point after two digits. */
static bool scan_percentile(struct word w, double *ret_q)
{
	bool round = w.n > 3 && w.p[1] == '(' && w.p[w.n - 1] == ')';
	const char *p = w.p + 1 + round;
	size_t n = w.n - 1 - (round ? 2 : 0);
	double v = 0;

	if (as_scan_dec(p, n, &v) != n || !(v >= 0))
		return false;
	while (!round && v > 100 && !memchr(p, '.', n))
		v /= 10;
	*ret_q = v / 100;
	return v <= 100;
}

static bool scan_quantile(struct word w, double *ret_q)
{
	static const struct {
		const char *name;
		double q;
	} known[] = {{"min", 0}, {"med", 0.5},      {"median", 0.5},
		     {"max", 1}, {"avg", the_mean}, {"mean", the_mean}};

	if (w.n > 1 && w.p[0] == 'p' && scan_percentile(w, ret_q))
		return true;
	for (size_t i = 0; i < AS_LEN(known); i++)
		if (is(w, known[i].name)) {
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

static bool scan_bound(struct word w, struct as_threshold *t)
{
	size_t used = as_scan_dec(w.p, w.n, &t->bound);

	if (!used)
		return false;
	struct word unit = trimmed(w.p + used, w.n - used);
	for (size_t i = 0; i < AS_LEN(units); i++)
		if (units[i].unit == t->unit && is(unit, units[i].name)) {
			t->bound *= units[i].factor;
			return isfinite(t->bound);
		}
	return false;
}

/* ── one threshold ────────────────────────────────────────────────────── */

static bool find_metric(struct word name, struct word stat, struct as_threshold *t)
{
	for (unsigned m = 0; m < AS_LEN(metrics); m++) {
		if (!is(name, metrics[m].name))
			continue;
		if (metrics[m].stat ? stat.n && !is(stat, metrics[m].stat)
				    : !scan_quantile(stat, &t->q))
			continue;
		t->metric = m;
		t->unit = metrics[m].unit;
		return true;
	}
	return false;
}

static int unknown_metric(struct word what, struct as_err *err)
{
	(void)as_fail(err, AS_EUSAGE, "nothing that a load has is called '%.*s'",
		      (int)(what.n < 60 ? what.n : 60), what.p);
	return as_hint(err, "p99, max, mean; wire.p99, lateness.p99; errors, rate, requests; "
			    "or k6's: http_req_duration p(95)");
}

/* "wire.p90", "errors", "http_reqs rate", or a quantile alone, which is of the latency. */
static bool split_metric(struct word left, struct as_threshold *t)
{
	static const struct word latency = {"latency", sizeof "latency" - 1};
	size_t n = 0;
	double q;

	if (scan_quantile(left, &q))
		return find_metric(latency, left, t);
	while (n < left.n && !strchr(". \t", left.p[n]))
		n++;
	size_t dot = n < left.n && left.p[n] == '.';
	return find_metric((struct word){left.p, n}, trimmed(left.p + n + dot, left.n - n - dot),
			   t);
}

static int no_threshold(struct word w, struct as_err *err)
{
	(void)as_fail(err, AS_EUSAGE, "'%.*s' is no threshold", (int)(w.n < 60 ? w.n : 60), w.p);
	return as_hint(err, "p99<250ms, errors<1%%, rate>=100/s, or k6's http_req_duration "
			    "p(95)<300");
}

static size_t find_compare(struct word w, size_t at, unsigned *ret)
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

/* As it was written; with the list's metric, if that is meant. */
static void keep_text(struct as_threshold *t, struct word of, struct word w)
{
	(void)snprintf(t->expr, sizeof t->expr, "%.*s%s%.*s", (int)of.n, of.n ? of.p : "",
		       of.n ? ": " : "", (int)w.n, w.p);
}

static int parse_one(struct word w, struct word of, struct as_threshold *t, struct as_err *err)
{
	size_t at = 0, n = 0;

	*t = (struct as_threshold){0};
	while (at < w.n && !n)
		n = find_compare(w, at++, &t->compare);
	if (!n || w.n + of.n + 3 > sizeof t->expr)
		return no_threshold(w, err);
	struct word left = trimmed(w.p, at - 1);
	bool inherits = of.n && find_metric(of, left, t);
	if (!inherits && !split_metric(left, t))
		return unknown_metric(left, err);
	at += n - 1;
	if (!scan_bound(trimmed(w.p + at, w.n - at), t))
		return no_threshold(w, err);
	keep_text(t, inherits ? of : (struct word){NULL, 0}, w);
	return AS_OK;
}

/* ── a list ───────────────────────────────────────────────────────────── */

/* "metric: …": takes it off, to *ret. */
static bool take_name(struct word *w, struct word *ret)
{
	const char *colon = memchr(w->p, ':', w->n);

	if (!colon)
		return true;
	size_t n = (size_t)(colon - w->p);
	*ret = trimmed(w->p, n);
	*w = trimmed(colon + 1, w->n - n - 1);
	return ret->n > 0;
}

static int add_one(struct word w, struct word *of, struct as_thresholds *to, struct as_err *err)
{
	struct word all = w;

	if (to->n == AS_THRESHOLDS_MOST)
		return as_fail(err, AS_EUSAGE, "too many thresholds: %d at most",
			       AS_THRESHOLDS_MOST);
	if (!take_name(&w, of))
		return no_threshold(all, err);
	int r = parse_one(w, *of, &to->at[to->n], err);
	to->n += r == AS_OK;
	return r;
}

int as_thresholds_parse(const char *list, struct as_thresholds *to, struct as_err *err)
{
	struct word of = {NULL, 0};
	int r = AS_OK;

	for (const char *p = list; r == AS_OK; p++) {
		size_t n = strcspn(p, ",;");

		r = add_one(trimmed(p, n), &of, to, err);
		p += n;
		if (*p == ';')
			of = (struct word){NULL, 0};
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

/* Of a load without a flow a session is a request. */
static const struct as_histogram *times_of(const struct metric *m, const struct as_load *l)
{
	if (m->at == offsetof(struct as_load, session) && !l->nsteps)
		return &l->latency;
	return (const void *)((const char *)l + m->at);
}

double as_threshold_value(const struct as_threshold *t, const struct as_load *l)
{
	const struct metric *m = &metrics[t->metric];

	return m->value ? m->value(l) : quantile(times_of(m, l), t->q);
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

bool as_threshold_share(const struct as_threshold *t, const struct as_load *l,
			struct as_threshold_share *ret)
{
	const struct metric *m = &metrics[t->metric];
	double n = (double)l->requests, fine = n - failed(l);
	uint64_t passed, missed;

	as_load_checked(l, &passed, &missed);
	if (!m->value)
		return share_of_times(t, times_of(m, l), ret);
	if (m->value == failed_share && is_upper(t))
		*ret = (struct as_threshold_share){fine, n, 1 - t->bound};
	else if (m->value == checks_share && is_lower(t))
		*ret = (struct as_threshold_share){(double)passed, (double)(passed + missed),
						   t->bound};
	else
		return false;
	return true;
}

const struct as_threshold *as_thresholds_missed(const struct as_thresholds *t,
						const struct as_load *l)
{
	for (size_t i = 0; i < t->n; i++)
		if (!as_threshold_holds(&t->at[i], as_threshold_value(&t->at[i], l)))
			return &t->at[i];
	return NULL;
}
