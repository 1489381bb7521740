#include "tui/trail.h"

#include <math.h>

static void halve(struct as_trail *t)
{
	for (size_t i = 0; i < AS_TRAIL_MOST / 2; i++)
		t->v[i] = fmax(t->v[2 * i], t->v[2 * i + 1]); /* the other one if one is NaN */
	t->n = AS_TRAIL_MOST / 2;
	t->each *= 2;
}

void as_trail_add(struct as_trail *t, double v)
{
	if (!t->each)
		t->each = 1;
	if (t->n && t->pending < t->each) {
		t->v[t->n - 1] = fmax(t->v[t->n - 1], v);
		t->pending++;
		return;
	}
	if (t->n == AS_TRAIL_MOST)
		halve(t);
	t->v[t->n++] = v;
	t->pending = 1;
}

double as_trail_most(const struct as_trail *t)
{
	double most = NAN;

	for (size_t i = 0; i < t->n; i++)
		most = fmax(most, t->v[i]);
	return most;
}
