#include "engine/price.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/parts.h"

enum { WARM = 3, ROUNDS = 30, REST_NS = 1000000 };

struct shop {
	struct as_collect collect;
	struct as_want want;
	struct as_cgroup cgroup;
	struct as_sink none;
	struct as_tee nobody; /* the sinks: none */
	const struct as_members *members;
	bool starved;
};

static void want_group(struct as_want *w, enum as_group group)
{
	*w = as_want_none();
	w->groups = 1u << group;
	for (size_t f = 0; f < AS_NFIELDS; f++)
		w->field[f] = as_fields[f].group == group;
}

/* With a rest before each: in a run nothing that a sample needs is still in the caches. */
static void sample(struct as_parts *p, const struct as_collect *c, struct as_frame *frame, int n)
{
	for (int i = 0; i < n; i++) {
		(void)nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
		as_frame_start(frame, as_now() - c->start_ns);
		as_parts_sample(p, c, frame);
	}
}

static struct as_meter sum_of(const struct as_parts *p)
{
	struct as_meter m = {0};

	for (size_t i = 0; i < p->n; i++) {
		m.cpu_ns += p->v[i].spent.cpu_ns;
		m.calls += p->v[i].spent.calls;
	}
	return m;
}

/* Of a sample of process `pid`, or of none. */
static int weigh(struct shop *s, int32_t pid, double *ret_ns, double *ret_calls, struct as_err *err)
{
	as_cleanup(as_parts_close) struct as_parts p = {0};
	as_cleanup(as_frame_done) struct as_frame frame = {0};

	s->collect.root = pid;
	s->collect.empty = !pid;
	int r = as_parts_open(&p, &s->collect, err);
	if (r < 0)
		return r;
	sample(&p, &s->collect, &frame, WARM);
	struct as_meter before = sum_of(&p);
	sample(&p, &s->collect, &frame, ROUNDS);
	struct as_meter after = sum_of(&p);
	*ret_ns = (double)(after.cpu_ns - before.cpu_ns) / ROUNDS;
	*ret_calls = (double)(after.calls - before.calls) / ROUNDS;
	return AS_OK;
}

static int price_group(struct shop *s, enum as_group group, struct as_price *ret,
		       struct as_err *err)
{
	double ns, calls;
	int r;

	want_group(&s->want, group);
	r = weigh(s, 0, &ret->sample_ns, &ret->sample_calls, err);
	if (r == AS_OK)
		r = weigh(s, getpid(), &ns, &calls, err);
	if (r < 0)
		return r;
	ret->process_ns = ns > ret->sample_ns ? ns - ret->sample_ns : 0;
	ret->process_calls = calls - ret->sample_calls;
	return AS_OK;
}

int as_price_groups(const struct as_env *env, struct as_price *prices, struct as_err *err)
{
	struct shop s = {.nobody = {.sinks = &s.none}};

	s.collect = (struct as_collect){.env = env,
					.want = &s.want,
					.sink = &s.nobody,
					.cgroup = &s.cgroup,
					.start_ns = as_now(),
					.attached = true,
					.members = &s.members,
					.starved = &s.starved};
	int r = as_cgroup_of(env, getpid(), &s.cgroup, err);
	for (int g = 0; g < AS_NGROUPS && r == AS_OK; g++)
		r = price_group(&s, (enum as_group)g, &prices[g], err);
	as_cgroup_done(env, &s.cgroup);
	return r;
}
