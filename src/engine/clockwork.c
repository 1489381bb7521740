#include "engine/clockwork.h"

#include "base/clock.h"

static const struct {
	int64_t until, step;
} dense[] = {{100 * AS_MSEC, 10 * AS_MSEC}, {AS_SECOND, 50 * AS_MSEC}};

static int64_t step_at(const struct as_clockwork *c, int64_t t_ns)
{
	for (size_t i = 0; i < sizeof dense / sizeof *dense; i++)
		if (t_ns < dense[i].until && dense[i].step < c->interval_ns)
			return dense[i].step;
	return c->interval_ns;
}

static int64_t next_on_grid(const struct as_clockwork *c, int64_t t_ns)
{
	int64_t step = step_at(c, t_ns);

	return (t_ns / step + 1) * step;
}

void as_clockwork_start(struct as_clockwork *c, int64_t interval_ns)
{
	*c = (struct as_clockwork){.interval_ns = interval_ns};
	c->due_ns = next_on_grid(c, 0);
}

void as_clockwork_tick(struct as_clockwork *c, int64_t t_ns)
{
	c->ticks++;
	if (t_ns - c->due_ns > step_at(c, c->due_ns) / 2)
		c->late++;
	c->due_ns = next_on_grid(c, t_ns);
}
