#include "stack/crowd.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/span.h"

enum {
	SMALL_PART = 32, /* of its time on a CPU one may be ready without being crowded    */
	ODD_STEP = 8,    /* counts that make no sense weigh as much as so many that do     */
	ODD_MOST = 128,  /* then they are not of one life, and nothing can be told by them */
};

static const int64_t weigh_from = 20 * AS_MSEC;

void as_crowd_init(struct as_crowd *c, const struct as_proc_sched *now)
{
	*c = (struct as_crowd){.fd = -1, .crowded = true, .weighed = *now};
}

void as_crowd_done(struct as_crowd *c)
{
	as_close_(&c->fd);
	c->fd = -1;
}

void as_crowd_weigh(struct as_crowd *c, const struct as_proc_sched *now)
{
	int64_t ran = now->run_ns - c->weighed.run_ns, waited = now->wait_ns - c->weighed.wait_ns;

	if (ran + waited < weigh_from)
		return;
	c->crowded = waited > ran / SMALL_PART;
	c->weighed = *now;
	if (!c->crowded)
		as_crowd_done(c);
}

/* ── what the scheduler tells ─────────────────────────────────────────── */

struct sched {
	char text[4096];
	size_t n;
};

/* "nr_switches      :      12": what stands behind the colon; nothing when it is not there. */
static struct as_span value_of(const struct sched *s, const char *key)
{
	struct as_span rest = as_span(s->text, s->n), line, name;

	while (as_span_line(&rest, &line))
		if (as_span_cut(&line, ':', &name) && as_span_is(as_span_trim_white(name), key))
			return as_span_trim_white(line);
	return (struct as_span){0};
}

static bool count_of(const struct sched *s, const char *key, int64_t *ret)
{
	struct as_span v = value_of(s, key);

	return v.n && as_scan_i64(v.p, v.n, ret) == v.n;
}

/* Did we take its CPU? Then it left at the moment at which we came. */
static bool gave_way(const struct sched *its, const struct as_env *env)
{
	struct sched own = {.n = 0};
	struct as_err ignored;

	if (as_read_at(env->proc, "thread-self/sched", own.text, sizeof own.text, &own.n,
		       &ignored) < 0)
		return true;
	struct as_span left = value_of(its, "se.exec_start"),
		       came = value_of(&own, "se.exec_start");
	return !left.n || (left.n == came.n && !memcmp(left.p, came.p, left.n));
}

/* ── the answer ───────────────────────────────────────────────────────── */

/*
 * How often it was put on a CPU and did not leave it, which is once or never; -1: unknown. Both
 * counts are read one after the other: now and then it has moved in between.
 */
static int64_t stays(const struct sched *s, const struct as_proc_sched *now)
{
	int64_t left = 0;
	bool told = now->slices && count_of(s, "nr_switches", &left);
	int64_t at = told ? now->slices - left : -1;

	return at == 0 || at == 1 ? at : -1;
}

bool as_crowd_shows(struct as_crowd *c, const struct as_env *env, const struct as_proc_sched *now)
{
	struct sched s = {.n = 0};
	struct as_err ignored;

	if (c->odd > ODD_MOST)
		return true;
	if (c->fd < 0 || as_read_fd(c->fd, s.text, sizeof s.text, &s.n, &ignored) < 0)
		s.n = 0;
	int64_t at = stays(&s, now);
	if (at < 0) {
		c->odd += ODD_STEP;
		return true;
	}
	c->odd -= c->odd > 0;
	return at == 1 || gave_way(&s, env);
}
