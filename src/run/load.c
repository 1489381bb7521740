#include "run/load.h"

#include <math.h>
#include <string.h>

static const struct {
	const char *key, *help;
} errors[AS_LOAD_NERRORS] = {
#define X(id, key_, help_) [AS_LOAD_##id] = {key_, help_},
	AS_LOAD_ERRORS(X)
#undef X
};

const char *as_load_error_key(enum as_load_error e)
{
	return errors[e].key;
}

const char *as_load_error_help(enum as_load_error e)
{
	return errors[e].help;
}

enum as_load_error as_load_error_find(const char *key)
{
	unsigned e = 0;

	while (e < AS_LOAD_NERRORS && strcmp(errors[e].key, key) != 0)
		e++;
	return (enum as_load_error)e;
}

const struct as_load_stream_time as_load_stream_times[AS_LOAD_NSTREAM_TIMES] = {
#define X(member, label, help) {#member, label, offsetof(struct as_load_streams, member)},
	AS_LOAD_STREAM_TIMES(X)
#undef X
};

const struct as_histogram *as_load_stream_at(const struct as_load_streams *s, size_t time)
{
	return (const void *)((const char *)s + as_load_stream_times[time].at);
}

void as_load_streams_clear(struct as_load_streams *s)
{
	s->n = s->events = s->pieces = s->told = s->tokens = 0;
#define X(member, label, help) as_histogram_clear(&s->member);
	AS_LOAD_STREAM_TIMES(X)
#undef X
}

void as_load_streams_add(struct as_load_streams *to, const struct as_load_streams *from)
{
	to->n += from->n;
	to->events += from->events;
	to->pieces += from->pieces;
	to->told += from->told;
	to->tokens += from->tokens;
#define X(member, label, help) as_histogram_merge(&to->member, &from->member);
	AS_LOAD_STREAM_TIMES(X)
#undef X
}

void as_load_streams_settle(struct as_load_streams *s, const struct as_load_streams *like)
{
#define X(member, label, help) as_histogram_settle(&s->member, &like->member);
	AS_LOAD_STREAM_TIMES(X)
#undef X
}

void as_load_step_settle(struct as_load_step *s, const struct as_load_step *like)
{
	as_histogram_settle(&s->latency, &like->latency);
	as_histogram_settle(&s->wire, &like->wire);
	as_histogram_settle(&s->waiting, &like->waiting);
}

void as_load_settle(struct as_load *l)
{
	struct as_histogram *const all[] = {&l->latency,       &l->wire,      &l->lateness,
					    &l->waiting,       &l->handshake, &l->session,
					    &l->ws_connecting, &l->ws_session};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		as_histogram_settle(all[i], all[i]);
	as_load_streams_settle(&l->stream, &l->stream);
	for (size_t i = 0; i < l->nservers; i++)
		as_histogram_settle(&l->server[i].latency, &l->server[i].latency);
	for (size_t i = 0; i < l->nsteps; i++)
		as_load_step_settle(&l->step[i], &l->step[i]);
}

static void copy_server(struct as_load_server *to, const struct as_load_server *from)
{
	memcpy(to, from, offsetof(struct as_load_server, latency));
	as_histogram_merge(&to->latency, &from->latency);
}

static void copy_step(struct as_load_step *to, const struct as_load_step *from)
{
	memcpy(to, from, offsetof(struct as_load_step, latency));
	as_histogram_merge(&to->latency, &from->latency);
	as_histogram_merge(&to->wire, &from->wire);
	as_histogram_merge(&to->waiting, &from->waiting);
}

void as_load_copy(struct as_load *to, const struct as_load *from)
{
	memcpy(to, from, offsetof(struct as_load, latency));
	as_histogram_merge(&to->latency, &from->latency); /* touches what is used */
	as_histogram_merge(&to->wire, &from->wire);
	as_histogram_merge(&to->lateness, &from->lateness);
	as_histogram_merge(&to->waiting, &from->waiting);
	as_histogram_merge(&to->handshake, &from->handshake);
	as_histogram_merge(&to->ws_connecting, &from->ws_connecting);
	as_histogram_merge(&to->ws_session, &from->ws_session);
	as_histogram_merge(&to->looplag, &from->looplag);
	as_histogram_merge(&to->session, &from->session);
	as_load_streams_add(&to->stream, &from->stream);
	for (size_t i = 0; i < from->nservers; i++)
		copy_server(&to->server[i], &from->server[i]);
	to->nsteps = from->nsteps;
	for (size_t i = 0; i < from->nsteps; i++)
		copy_step(&to->step[i], &from->step[i]);
	as_rollouts_copy(&to->rollouts, &from->rollouts);
}

void as_load_checked(const struct as_load *l, const struct as_load_step *step, uint64_t *ret_passed,
		     uint64_t *ret_failed)
{
	*ret_passed = *ret_failed = 0;
	for (size_t i = 0; i < l->nchecks; i++) {
		if (step && &l->step[l->check[i].step] != step)
			continue;
		*ret_passed += l->check[i].passed;
		*ret_failed += l->check[i].failed;
	}
}

void as_load_step_clear(struct as_load_step *s)
{
	s->requests = s->met = 0;
	memset(s->errors, 0, sizeof s->errors);
	memset(s->status, 0, sizeof s->status);
	as_histogram_clear(&s->latency);
	as_histogram_clear(&s->wire);
	as_histogram_clear(&s->waiting);
}

void as_load_step_add(struct as_load_step *to, const struct as_load_step *from)
{
	to->requests += from->requests;
	to->met += from->met;
	for (size_t e = 0; e < AS_LOAD_NERRORS; e++)
		to->errors[e] += from->errors[e];
	for (size_t c = 0; c < AS_LOAD_CLASSES; c++)
		to->status[c] += from->status[c];
	as_histogram_merge(&to->latency, &from->latency);
	as_histogram_merge(&to->wire, &from->wire);
	as_histogram_merge(&to->waiting, &from->waiting);
}

uint64_t as_load_step_failed(const struct as_load_step *s)
{
	uint64_t n = 0;

	for (size_t e = 0; e < AS_LOAD_NERRORS; e++)
		n += s->errors[e];
	return n;
}

static uint64_t sum(const uint64_t *of)
{
	uint64_t n = 0;

	for (size_t e = 0; e < AS_LOAD_NERRORS; e++)
		n += of[e];
	return n;
}

uint64_t as_load_failed(const struct as_load *l)
{
	return sum(l->errors);
}

uint64_t as_load_server_failed(const struct as_load_server *s)
{
	return sum(s->errors);
}

const char *as_load_bound_key(enum as_load_bound_id b)
{
	static const char *const keys[AS_LOAD_NBOUNDS] = {
#define X(id, key, help) [AS_LOAD_##id] = key,
		AS_LOAD_BOUNDS(X)
#undef X
	};

	return keys[b];
}

bool as_load_is_judged(const struct as_load *l)
{
	for (size_t b = 0; b < AS_LOAD_NBOUNDS; b++)
		if (l->bound[b].within_ns)
			return true;
	return false;
}

enum as_load_bound_id as_load_unknown_bound(const struct as_load *l)
{
	unsigned b = 0;

	while (b < AS_LOAD_NBOUNDS &&
	       (!l->bound[b].unknown || l->bound[b].kept || l->bound[b].missed))
		b++;
	return (enum as_load_bound_id)b;
}

/* For each of `all`; NaN when good ones cannot be told from others. */
static double good_for_each(const struct as_load *l, double all)
{
	bool known = as_load_is_judged(l) && as_load_unknown_bound(l) == AS_LOAD_NBOUNDS;

	return known && l->requests && all > 0 ? (double)l->met / all : (double)NAN;
}

double as_load_goodput(const struct as_load *l)
{
	return good_for_each(l, (double)l->requests);
}

double as_load_good_rate(const struct as_load *l)
{
	return good_for_each(l, (double)l->measured_ns / 1e9);
}

double as_load_step_goodput(const struct as_load *l, const struct as_load_step *s)
{
	uint64_t met = 0;

	for (size_t i = 0; i < l->nsteps; i++)
		met += l->step[i].met;
	if (isnan(as_load_goodput(l)) || met != l->met || !s->requests)
		return (double)NAN;
	return (double)s->met / (double)s->requests;
}

static double answers_a_second(const struct as_load *l, const uint64_t *status)
{
	uint64_t answers = 0;

	for (size_t c = 0; c < AS_LOAD_CLASSES; c++)
		answers += status[c];
	return l->measured_ns > 0 ? (double)answers * 1e9 / (double)l->measured_ns : (double)NAN;
}

double as_load_rate(const struct as_load *l)
{
	return answers_a_second(l, l->status);
}

double as_load_step_rate(const struct as_load *l, const struct as_load_step *s)
{
	return answers_a_second(l, s->status);
}
