#include "engine/parts.h"

#include "base/fault.h"

static int open_one(struct as_parts *p, const struct as_collector *ops, const struct as_collect *c,
		    struct as_err *err)
{
	if (p->n == AS_PARTS_MAX)
		return as_fail(err, AS_EBUG, "more than %d collectors", AS_PARTS_MAX);
	void *state = as_zalloc(ops->state_size);
	if (!state)
		return as_fail(err, AS_ENOMEM, "no memory for collector '%s'", ops->name);
	p->v[p->n].ops = ops;
	p->v[p->n].state = state;
	p->n++;
	int r = ops->open(state, c, err);
	p->v[p->n - 1].broken = r < 0;
	return r == AS_ENOMEM ? r : AS_OK;
}

int as_parts_open(struct as_parts *p, const struct as_collect *c, struct as_err *err)
{
	int r = AS_OK;

	for (const struct as_collector *const *ops = as_collectors; *ops && r == AS_OK; ops++)
		if ((*ops)->wanted(c->want))
			r = open_one(p, *ops, c, err);
	return r;
}

void as_parts_sample(struct as_parts *p, const struct as_collect *c, struct as_frame *frame)
{
	struct as_err err;

	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].broken &&
		    p->v[i].ops->sample(p->v[i].state, c, frame, &err) == AS_ENOMEM)
			*c->starved = true;
	*c->starved |= frame->bad;
}

void as_parts_last(struct as_parts *p, const struct as_collect *c)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].broken && p->v[i].ops->ready)
			(void)p->v[i].ops->ready(p->v[i].state, c, true);
}

void as_parts_exited(struct as_parts *p, const struct as_collect *c, const struct as_exit *x)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].broken && p->v[i].ops->exited)
			p->v[i].ops->exited(p->v[i].state, c, x);
}

int as_parts_signal(struct as_parts *p, const struct as_collect *c, int sig)
{
	int n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].ops->signal)
			n += p->v[i].ops->signal(p->v[i].state, c, sig);
	return n;
}

void as_parts_finish(struct as_parts *p, const struct as_collect *c, struct as_total *totals)
{
	for (size_t i = 0; i < AS_NTOTALS; i++)
		as_total_set(totals, (enum as_total_id)i, AS_NA, AS_UNAVAILABLE, "not asked for");
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].broken && p->v[i].ops->finish)
			p->v[i].ops->finish(p->v[i].state, c, totals);
}

void as_parts_close(struct as_parts *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].ops->close)
			p->v[i].ops->close(p->v[i].state);
		free(p->v[i].state);
	}
	p->n = 0;
}
