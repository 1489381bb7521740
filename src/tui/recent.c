#include "tui/recent.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "run/field.h"

void as_recent_init(struct as_recent *r, int64_t window_ns)
{
	*r = (struct as_recent){.window_ns = window_ns};
}

void as_recent_done(struct as_recent *r)
{
	for (size_t i = 0; i < AS_LEN(r->tick); i++)
		free(r->tick[i].change);
	free(r->had);
	*r = (struct as_recent){0};
}

static struct as_tick *tick_at(struct as_recent *r, size_t i)
{
	return &r->tick[(r->first + i) % AS_LEN(r->tick)];
}

static void add(int64_t *to, const int64_t *v, int sign)
{
	for (size_t k = 0; k < AS_VALUES_MAX; k++)
		to[k] += sign * v[k];
}

/* Where nobody knows what was used in a tick, its time is not of what shares are of. */
static void count_cpu(struct as_recent *r, const struct as_tick *t, int sign)
{
	if (t->cpu_ns == AS_NA)
		return;
	r->told_ns += sign * t->ns;
	r->span_cpu_ns += sign * t->cpu_ns;
}

/* What the oldest tick brought is not recent any more. */
static void drop(struct as_recent *r)
{
	struct as_tick *t = tick_at(r, 0);

	for (size_t i = 0; i < t->n; i++)
		add(r->had[t->change[i].sample].window, t->change[i].v, -1);
	r->span_ns -= t->ns;
	count_cpu(r, t, -1);
	r->first = (r->first + 1) % AS_LEN(r->tick);
	r->nticks--;
}

static struct as_tick *push(struct as_recent *r, int64_t ns, int64_t cpu_ns)
{
	while (r->nticks == AS_LEN(r->tick) || (r->nticks && r->span_ns + ns > r->window_ns))
		drop(r);
	struct as_tick *t = tick_at(r, r->nticks++);
	t->ns = ns;
	t->cpu_ns = cpu_ns;
	t->n = 0;
	r->span_ns += ns;
	count_cpu(r, t, 1);
	r->all_ns += ns;
	return t;
}

/* How much more a sample has; false: nothing. */
static bool differs(const struct as_had *h, const struct as_sample *s, size_t nkinds,
		    struct as_change *ret)
{
	bool any = false;

	for (size_t k = 0; k < nkinds; k++) {
		ret->v[k] = s->v[k] - h->seen[k];
		any |= ret->v[k] != 0;
	}
	return any;
}

static bool take(struct as_recent *r, struct as_tick *t, const struct as_change *c)
{
	struct as_had *h = &r->had[c->sample];

	if (!as_grow(&t->change, &t->cap, t->n, sizeof *t->change, 64))
		return false;
	t->change[t->n++] = *c;
	add(h->seen, c->v, 1);
	add(h->all, c->v, 1);
	add(h->window, c->v, 1);
	return true;
}

bool as_recent_tick(struct as_recent *r, const struct as_profile *p, int64_t ns, int64_t cpu_ns)
{
	struct as_tick *t = push(r, ns, cpu_ns);

	for (size_t i = 0; i < p->nsamples; i++) {
		struct as_change c = {.sample = i};

		if (i >= r->n) {
			if (!as_grow(&r->had, &r->cap, r->n, sizeof *r->had, 256))
				return false;
			r->had[r->n++] = (struct as_had){0};
		}
		if (differs(&r->had[i], &p->sample[i], p->nkinds, &c) && !take(r, t, &c))
			return false;
	}
	return true;
}

void as_recent_reset(struct as_recent *r)
{
	while (r->nticks)
		drop(r);
	for (size_t i = 0; i < r->n; i++)
		memset(r->had[i].all, 0, sizeof r->had[i].all);
	r->all_ns = 0;
}

const struct as_tick *as_recent_last(const struct as_recent *r)
{
	return r->nticks ? &r->tick[(r->first + r->nticks - 1) % AS_LEN(r->tick)] : NULL;
}
