#include "judge/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "judge/threshold.h"
#include "stat/share.h"

/* Above this the generator's thread has no room left: what is measured is its own speed. */
static const double busy_most = 0.85;
/* Answers that lie there while it waits for a CPU are told to be slower than they were. */
static const double wait_most = 0.10;
/* A share of the median latency, and never less than what any busy machine adds. */
static const double late_share = 0.10;
#define LATE_LEAST AS_MSEC
/* So many of a hundred may be late by more. */
static const double late_most = 0.01;
/* Of fewer requests one in a hundred is a hiccup or two; in a shorter time so are the shares. */
enum { REQUESTS_ENOUGH = 300 };
#define TIME_ENOUGH (100 * AS_MSEC)
/* Standard deviations that a share must be off by: 95 %. */
static const double z = 2;

#define INVALID "invalid"

static double share_of_time(const struct as_load *l, int64_t ns)
{
	return l->sending_ns > 0 ? (double)ns / (double)l->sending_ns : 0;
}

double as_load_busy(const struct as_load *l)
{
	return share_of_time(l, l->cpu_ns + l->wait_ns);
}

int64_t as_load_allowance(const struct as_load *l)
{
	int64_t share = (int64_t)(late_share * (double)as_histogram_at(&l->latency, 0.5));

	return share > LATE_LEAST ? share : LATE_LEAST;
}

__attribute__((format(printf, 3, 4))) static void evidence(struct as_verdict *v, const char *what,
							   const char *fmt, ...)
{
	va_list ap;

	if (v->nevidence == AS_EVIDENCE_MAX)
		return;
	(void)snprintf(v->evidence[v->nevidence].what, sizeof v->evidence[0].what, "%s", what);
	va_start(ap, fmt);
	(void)vsnprintf(v->evidence[v->nevidence].value, sizeof v->evidence[0].value, fmt, ap);
	va_end(ap);
	v->nevidence++;
}

static void say(struct as_verdict *v, const char *kind, const char *sentence, const char *advice)
{
	(void)snprintf(v->kind, sizeof v->kind, "%s", kind);
	(void)snprintf(v->sentence, sizeof v->sentence, "%s", sentence);
	(void)snprintf(v->advice, sizeof v->advice, "%s", advice);
}

/* ── what can be judged, and what it came to ──────────────────────────── */

static bool is_long_enough(const struct as_load *l)
{
	return l->sending_ns >= TIME_ENOUGH;
}

/* Where none was late few will do. */
static bool are_enough(const struct as_load *l)
{
	return l->lateness.n >= REQUESTS_ENOUGH || l->lateness.max <= as_load_allowance(l);
}

static bool was_late(const struct as_load *l)
{
	double n = (double)l->lateness.n;
	double kept = (double)as_histogram_within(&l->lateness, 0, as_load_allowance(l) + 1);

	return are_enough(l) && as_share_wilson(n - kept, n, z).low > late_most;
}

static bool answered(const struct as_load *l)
{
	for (size_t c = 0; c < AS_LOAD_CLASSES; c++)
		if (l->status[c])
			return true;
	return false;
}

/* What to do about it when nothing is answered; of what has no row the server's log may tell. */
static const struct {
	enum as_load_error kind;
	const char *advice;
} advices[] = {
	{AS_LOAD_REFUSED, "is the server there, and the address right?"},
	{AS_LOAD_UNREACHABLE, "is the server there, and the address right?"},
	{AS_LOAD_TIMEOUT, "does it need longer? --timeout says how long an answer may take"},
	{AS_LOAD_TLS_ISSUER, "--cacert FILE names whom to trust, --insecure takes any certificate"},
	{AS_LOAD_TLS_EXPIRED, "it needs a new certificate; --insecure takes any"},
	{AS_LOAD_TLS_HOST, "ask for a host that is in the certificate; --insecure takes any"},
	{AS_LOAD_NO_TLS, "is its URL http://?"},
	{AS_LOAD_ALPN, "without --http2 it is asked by HTTP/1.1"},
};

static const char *why_unanswered(const struct as_load *l)
{
	unsigned most = AS_LOAD_REFUSED;

	for (unsigned e = 0; e < AS_LOAD_NERRORS; e++)
		most = l->errors[e] > l->errors[most] ? e : most;
	for (size_t i = 0; i < AS_LEN(advices); i++)
		if (advices[i].kind == most)
			return advices[i].advice;
	return "the server's log may say why";
}

void as_judge_load(struct as_run *run)
{
	const struct as_load *l = run->load;
	struct as_verdict *v = &run->verdict;
	int64_t late = as_histogram_at(&l->lateness, 0.99);
	double waited = share_of_time(l, l->wait_ns);

	*v = (struct as_verdict){.confidence = 1};
	if (l->errors[AS_LOAD_DESCRIPTORS])
		say(v, INVALID "-descriptors",
		    "INVALID: the generator had no descriptor, port or memory for all requests",
		    "ask for fewer connections (-c), or give it more descriptors (ulimit -n)");
	else if (!l->requests && l->warmup)
		say(v, INVALID "-none", "INVALID: it ended before anything was measured",
		    "let it go on for longer than the warm-up");
	else if (!answered(l))
		say(v, INVALID "-none", "INVALID: no request was answered", why_unanswered(l));
	else if (is_long_enough(l) && as_load_busy(l) > busy_most)
		say(v, INVALID "-busy", "INVALID: the generator itself was the bottleneck",
		    "ask for less (-R RATE, fewer connections), or give it a CPU of its own");
	else if (is_long_enough(l) && waited > wait_most)
		say(v, INVALID "-starved", "INVALID: others had the generator's CPU",
		    "give it a CPU of its own");
	else if (was_late(l))
		say(v, INVALID "-late", "INVALID: the generator sent too many of its requests late",
		    "ask for less, or give it a CPU of its own");
	else if (!is_long_enough(l) || !are_enough(l))
		say(v, "valid-short", "valid, as far as a load so short can tell", "");
	else
		say(v, "valid", "valid: the generator had time to spare", "");
	evidence(v, "generator busy", "%s: ran %s, waited for a CPU %s",
		 as_human_percent(as_load_busy(l)).s,
		 as_human_percent(share_of_time(l, l->cpu_ns)).s, as_human_percent(waited).s);
	if (late >= 0)
		evidence(v, "late p99", "%s of %s", as_human_duration(late).s,
			 as_human_duration(as_load_allowance(l)).s);
}

bool as_load_is_in_vain(const struct as_load *l)
{
	struct as_thresholds t = {0};
	struct as_err ignored;

	if (l->thresholds[0])
		(void)as_thresholds_parse(l->thresholds, &t, &ignored);
	return !as_thresholds_name_errors(&t) && 2 * as_load_failed(l) >= l->requests;
}

bool as_load_is_invalid(const struct as_verdict *v)
{
	return !strncmp(v->kind, INVALID, strlen(INVALID));
}
