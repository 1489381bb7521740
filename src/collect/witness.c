#include "collect/witness.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/haste.h"

/* From the cheap to the good. `after_ns`: how old a job must be for it. */
static const struct rung {
	const char *name; /* in ASSAY_RUNG, by which tests hold us to one */
	const struct as_life_ops *ops;
	int64_t after_ns;
} rungs[] = {
	{"netlink", &as_life_netlink, 0},
	{"bpf", &as_life_bpf, 30 * AS_MSEC},
};

/* ASSAY_RUNG=proc is none of them. */
static bool allowed(const struct rung *r, const struct as_collect *c)
{
	const char *only = getenv("ASSAY_RUNG");

	return !c->env->fixture && c->children && (!only || !*only || !strcmp(only, r->name));
}

static void shut(struct as_witness *w, struct as_voice *v)
{
	if (!v->ops)
		return;
	w->lost += v->ops->lost(v->source);
	v->ops->close(v->source);
	*v = (struct as_voice){0};
}

/* What we start may end before it is open: once, that is reason enough to give up. */
static int open_source(struct as_witness *w, const struct rung *r, struct as_voice *v,
		       const struct as_collect *c, struct as_err *err)
{
	struct as_haste h;

	if (!c->root || c->attached || w->interrupted)
		return r->ops->open(&v->source, c->env, err);
	int why = as_haste_begin(&h) ? r->ops->open(&v->source, c->env, err) : AS_EUNSUP;
	w->interrupted = as_haste_end(&h) && why < 0;
	return why;
}

static bool open_rung(struct as_witness *w, const struct rung *r, const struct as_collect *c)
{
	struct as_voice v = {.ops = r->ops};
	struct as_err err;

	int why = allowed(r, c) ? open_source(w, r, &v, c, &err) : AS_EUNSUP;
	*c->starved |= why == AS_ENOMEM;
	if (why < 0)
		return false;
	/* What we start belongs to us; when attached, what we start only drives the target. */
	if (!c->attached && r->ops->parent(v.source, getpid(), &err) < 0) {
		r->ops->close(v.source);
		return false;
	}
	shut(w, &w->old);
	w->old = w->now;
	w->now = v;
	w->from_start |= !c->root || c->attached;
	return true;
}

/* Nobody waits for a job that runs already: the best at once. */
static bool climb_to_the_top(struct as_witness *w, const struct as_collect *c)
{
	for (size_t i = AS_LEN(rungs); i-- > 0 && !w->tried;)
		if (open_rung(w, &rungs[i], c))
			w->tried = AS_LEN(rungs);
	w->tried = AS_LEN(rungs);
	return as_witness_speaks(w);
}

bool as_witness_climb(struct as_witness *w, const struct as_collect *c)
{
	bool held = getenv("ASSAY_RUNG") != NULL;
	int64_t age = c->root ? as_now() - c->start_ns : 0;

	if (w->tried == AS_LEN(rungs))
		return false;
	if (c->attached || held)
		return climb_to_the_top(w, c);
	while (w->tried < AS_LEN(rungs) && rungs[w->tried].after_ns <= age) {
		bool again = w->interrupted;

		if (open_rung(w, &rungs[w->tried], c)) {
			w->tried++;
			return true;
		}
		if (w->interrupted && !again)
			return false; /* at the next tick, if there is one */
		w->tried++;
	}
	return false;
}

bool as_witness_name(struct as_witness *w, struct as_members *m)
{
	struct as_err err;
	bool any = false;

	for (size_t i = 0; i < m->n; i++) {
		struct as_process *p = m->v[i];

		if (p->named || p->ended || p->gone)
			continue;
		(void)w->now.ops->member(w->now.source, p->pid, &err); /* or it is gone */
		any = p->named = true;
	}
	return any;
}

void as_witness_forget(struct as_witness *w, int32_t pid)
{
	if (w->now.ops->forget)
		w->now.ops->forget(w->now.source, pid);
}

void as_witness_settle(struct as_witness *w)
{
	shut(w, &w->old);
}

bool as_witness_drain(struct as_witness *w, as_life_fn *fn, void *data)
{
	struct as_voice *const voices[] = {&w->old, &w->now};
	struct as_err err;
	bool any = false;

	for (size_t i = 0; i < AS_LEN(voices); i++) {
		w->by_old = voices[i] == &w->old;
		if (voices[i]->ops)
			any |= voices[i]->ops->drain(voices[i]->source, fn, data, &err) > 0;
	}
	return any;
}

uint32_t as_witness_hurry(struct as_witness *w)
{
	return w->now.ops && w->now.ops->settle ? w->now.ops->settle(w->now.source) : 0;
}

int as_witness_fd(const struct as_witness *w)
{
	return w->now.ops ? w->now.ops->fd(w->now.source) : -1;
}

uint64_t as_witness_lost(const struct as_witness *w)
{
	uint64_t lost = w->lost;

	if (w->now.ops)
		lost += w->now.ops->lost(w->now.source);
	if (w->old.ops)
		lost += w->old.ops->lost(w->old.source);
	return lost;
}

void as_witness_close(struct as_witness *w)
{
	shut(w, &w->old);
	shut(w, &w->now);
}
