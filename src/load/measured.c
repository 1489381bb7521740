/*
 * For how long was measured, so that answers divided by it are what the server
 * gave in a second.
 *
 * By a clock all of its time is measured. A closed loop is measured from the
 * first request that counts to the last answer, or until it is ended. Behind a
 * warm-up it is cut out of a longer one: each connection has a request at any
 * moment, one of the warm-up at first, and at last one that nobody waits for, or
 * nothing. What those had of the time is no time of the others: theirs is as long
 * as all of them together were under way, thinking or resting.
 */
#include "load/generating.h"

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Of several servers one that rests leaves its place to the others: that is no time of anybody. */
static bool is_cut_out(const struct as_generator *g)
{
	const struct as_load_config *c = g->cfg;

	return c->warmup_ns && !as_gen_is_open(g) && !c->at_once.n && g->out->latency.n &&
	       (g->nservers == 1 || !g->rested_ns);
}

/* Of one connection, on average: what was measured, and what still is under way. */
static int64_t time_of_one(const struct as_generator *g, int64_t now)
{
	double all = g->out->latency.sum + (double)g->rested_ns;

	for (const struct as_conn *c = g->flight.first; c; c = c->after)
		all += c->asked && c->due_ns >= g->from_ns ? (double)(now - c->due_ns) : 0;
	for (const struct as_conn *c = g->talking.first; c; c = c->after)
		all += c->due_ns >= g->from_ns ? (double)(now - c->due_ns) : 0;
	return (int64_t)(all / (double)g->cfg->conns);
}

/* What others had of the time is at both ends no more than a request or a session takes:
   otherwise the warm-up's took longer than these, and nobody knows what they held up. */
static int64_t cut_out(const struct as_generator *g, int64_t whole, int64_t now)
{
	int64_t longest = later(g->out->latency.max, g->out->session.max);
	int64_t one = time_of_one(g, now);

	return one < whole && whole - one <= 2 * longest ? one : whole;
}

int64_t as_gen_measured(const struct as_generator *g, int64_t now)
{
	bool open = as_gen_is_open(g);
	int64_t from = open || g->first_ns == INT64_MAX ? g->from_ns : g->first_ns;
	int64_t until = g->last_ns;

	if (g->told) /* what hangs then is time, too */
		until = later(until, earlier(now, open ? g->end_ns : INT64_MAX));
	else if (open) /* the schedule was kept until the next would have been due */
		until = later(until, earlier(g->next_ns, g->end_ns));
	int64_t whole = until > from ? until - from : 0;
	return is_cut_out(g) ? cut_out(g, whole, now) : whole;
}
