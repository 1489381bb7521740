#include "load/climb.h"

#include <math.h>

/* Bounds of a search that nothing stops: of what is halved at first, and of holds. */
enum { SHRINKS = 12, HOLDS = 8 };

/* What a hold that failed is followed by. */
static const double step_down = 0.97;

void as_climb_begin(struct as_climb *c)
{
	c->low = 0;
	c->high = INFINITY;
	c->tries = c->holds = 0;
	c->phase = AS_CLIMB_GROW;
	c->amount = fmin(c->from, c->most);
}

void as_climb_stop(struct as_climb *c, enum as_climb_end why)
{
	c->phase = AS_CLIMB_OVER;
	c->end = why;
}

double as_climb_answer(const struct as_climb *c)
{
	return c->low > 0 ? c->low : (double)NAN;
}

static void hold(struct as_climb *c)
{
	c->phase = AS_CLIMB_HOLD;
	c->amount = c->low;
}

/* Between low and high, or the end of that. */
static void halve(struct as_climb *c)
{
	double middle = sqrt(c->low * c->high);

	if (c->whole)
		middle = floor(middle);
	if (c->whole && middle <= c->low)
		middle = c->low + 1;
	c->phase = AS_CLIMB_HALVE;
	c->amount = middle;
	if (c->high - c->low <= c->precision * c->low || middle >= c->high)
		hold(c);
}

static void kept(struct as_climb *c)
{
	c->low = c->amount;
	if (c->phase == AS_CLIMB_HOLD)
		as_climb_stop(c, c->low >= c->most ? AS_CLIMB_TOP : AS_CLIMB_HELD);
	else if (c->phase != AS_CLIMB_GROW)
		halve(c);
	else if (c->amount >= c->most)
		hold(c);
	else
		c->amount = fmin(2 * c->amount, c->most);
}

static double less(const struct as_climb *c, double factor)
{
	double amount = c->amount * factor;

	return c->whole ? fmax(fmin(floor(amount), c->amount - 1), 0) : amount;
}

static void step_hold(struct as_climb *c)
{
	c->low = 0; /* it was not kept to: what is below is not known */
	c->amount = less(c, step_down);
	if (!(c->amount > 0))
		as_climb_stop(c, AS_CLIMB_NONE);
	else if (++c->holds == HOLDS)
		as_climb_stop(c, AS_CLIMB_UNHELD);
}

static void shrink(struct as_climb *c)
{
	c->phase = AS_CLIMB_SHRINK;
	c->amount = less(c, 0.5);
	if (!(c->amount > 0) || c->amount < c->least || ++c->tries == SHRINKS)
		as_climb_stop(c, AS_CLIMB_NONE);
}

static void missed(struct as_climb *c)
{
	c->high = c->amount;
	if (c->phase == AS_CLIMB_HOLD)
		step_hold(c);
	else if (c->low > 0)
		halve(c);
	else
		shrink(c);
}

void as_climb_tell(struct as_climb *c, enum as_climb_verdict v)
{
	if (v == AS_CLIMB_KEEPS)
		kept(c);
	else if (v == AS_CLIMB_MISSES)
		missed(c);
	else
		as_climb_stop(c, AS_CLIMB_INVALID);
}

/* The least that missed it, and below that the largest that did not. */
void as_climb_conclude(const struct as_climb *c, struct as_climb_story *story)
{
	double above = INFINITY, answer = 0;

	for (uint64_t i = 0; i < story->n; i++)
		if (story->probe[i].verdict == AS_CLIMB_MISSES)
			above = fmin(above, story->probe[i].amount);
	for (uint64_t i = 0; i < story->n; i++)
		if (story->probe[i].verdict == AS_CLIMB_KEEPS && story->probe[i].amount < above)
			answer = fmax(answer, story->probe[i].amount);
	if (c->end == AS_CLIMB_HELD || c->end == AS_CLIMB_TOP) /* it alone was held */
		answer = c->low;
	story->end = c->end;
	story->above = isfinite(above) ? fmax(above, answer) : (double)NAN;
	story->answer = answer > 0 ? answer : (double)NAN;
}
