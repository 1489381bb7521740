#include "engine/parts.h"

#include <stdio.h>

#include "base/calls.h"
#include "base/clock.h"
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
	struct as_meter since = as_meter_now();
	int r = ops->open(state, c, err);
	p->v[p->n - 1].open_ns = as_meter_now().cpu_ns - since.cpu_ns;
	p->v[p->n - 1].broken = r < 0;
	return r == AS_ENOMEM ? r : AS_OK;
}

static void tell_part(const struct as_collect *c, size_t i, const char *name, const char *reads)
{
	char called[24], files[160];
	struct as_instance part = {.scope = AS_COLLECTOR,
				   .id = (uint32_t)i + 1,
				   .parent = AS_NO_PARENT,
				   .key = (int64_t)i + 1,
				   .name = called,
				   .detail = files,
				   .born_ns = AS_NA,
				   .died_ns = AS_NA,
				   .ended_by = AS_NA};

	(void)snprintf(called, sizeof called, "%s", name);
	(void)snprintf(files, sizeof files, "%s", reads);
	as_tee_instance(c->sink, &part);
}

/* The engine itself comes last. */
static void tell_parts(const struct as_parts *p, const struct as_collect *c)
{
	as_collect_origins(c, AS_COLLECTOR, AS_G_SELF, AS_MEASURED, "its own clock and count");
	for (size_t i = 0; i < p->n; i++)
		tell_part(c, i, p->v[i].ops->name, p->v[i].ops->reads);
	tell_part(c, p->n, "engine", "events; writes the live file");
}

int as_parts_open(struct as_parts *p, const struct as_collect *c, struct as_err *err)
{
	int r = AS_OK;

	for (const struct as_collector *const *ops = as_collectors; *ops && r == AS_OK; ops++)
		if ((*ops)->wanted(c->want))
			r = open_one(p, *ops, c, err);
	tell_parts(p, c);
	p->began = as_meter_now();
	return r;
}

/* ── what they cost ───────────────────────────────────────────────────── */

struct as_meter as_meter_now(void)
{
	as_called(1); /* this clock is no vDSO's */
	return (struct as_meter){as_clock(CLOCK_THREAD_CPUTIME_ID), as_calls()};
}

/* From `since` until now is `sum`'s; `since` becomes now. */
static void spend(struct as_meter *sum, struct as_meter *since)
{
	struct as_meter now = as_meter_now();

	sum->cpu_ns += now.cpu_ns - since->cpu_ns;
	sum->calls += now.calls - since->calls;
	*since = now;
}

struct as_meter as_parts_spent(const struct as_parts *p)
{
	struct as_meter now = as_meter_now();

	return (struct as_meter){now.cpu_ns - p->began.cpu_ns, now.calls - p->began.calls};
}

static void add_cost(struct as_frame *frame, size_t i, const struct as_meter *m, int64_t open_ns)
{
	int64_t *row = as_frame_row(frame, AS_COLLECTOR, (uint32_t)i + 1);

	as_row_set(row, AS_F_COLL_CPU, m->cpu_ns);
	as_row_set(row, AS_F_COLL_CALLS, (int64_t)m->calls);
	as_row_set(row, AS_F_COLL_OPEN, open_ns);
}

void as_parts_help(struct as_parts *p, const struct as_collect *c, const char *name,
		   const char *reads)
{
	p->helped = true;
	tell_part(c, p->n + 1, name, reads);
}

/* As the kernel numbers the CPU clock of a thread of one's own process, in every libc. */
static clockid_t clock_of(int32_t tid)
{
	enum { PER_THREAD = 4, SCHED = 2 };

	return (clockid_t)(~(uint32_t)tid << 3 | PER_THREAD | SCHED);
}

static void add_costs(const struct as_parts *p, const struct as_collect *c, struct as_frame *frame)
{
	struct as_meter rest = as_parts_spent(p);

	for (size_t i = 0; i < p->n; i++) {
		add_cost(frame, i, &p->v[i].spent, p->v[i].open_ns);
		rest.cpu_ns -= p->v[i].spent.cpu_ns;
		rest.calls -= p->v[i].spent.calls;
	}
	add_cost(frame, p->n, &rest, AS_NA);
	if (p->helped) {
		int64_t *row = as_frame_row(frame, AS_COLLECTOR, (uint32_t)p->n + 2);

		as_called(1);
		as_row_set(row, AS_F_COLL_CPU, as_clock(clock_of(c->helper)));
	}
}

/* ── at work ──────────────────────────────────────────────────────────── */

void as_parts_sample(struct as_parts *p, const struct as_collect *c, struct as_frame *frame)
{
	struct as_meter since = as_meter_now();
	struct as_err err;

	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].broken)
			continue;
		if (p->v[i].ops->sample(p->v[i].state, c, frame, &err) == AS_ENOMEM)
			*c->starved = true;
		spend(&p->v[i].spent, &since);
	}
	add_costs(p, c, frame);
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
	struct as_meter since = as_meter_now();

	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].broken || !p->v[i].ops->exited)
			continue;
		p->v[i].ops->exited(p->v[i].state, c, x);
		spend(&p->v[i].spent, &since);
	}
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
		as_total_set(totals, (enum as_total_id)i, AS_NA, AS_UNAVAILABLE, AS_NOT_ASKED);
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
