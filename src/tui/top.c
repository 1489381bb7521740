#include "tui/top.h"

#include <string.h>

#include "base/fault.h"
#include "base/human.h"
#include "profile/follow.h"

/* ── its life ─────────────────────────────────────────────────────────── */

static const char *const times[AS_TOP_TIMES] = {"cpu", "wall", "gil"};

static size_t kind_named(const struct as_profile *p, const char *name)
{
	for (size_t i = 0; i < p->nkinds; i++)
		if (!strcmp(p->kind[i].name, name))
			return i;
	return 0;
}

int as_top_open(struct as_top *t, const struct as_value_kind *kind, size_t n, int64_t window_ns,
		struct as_err *err)
{
	*t = (struct as_top){.p = as_profile_new(kind, n, err)};
	if (!t->p)
		return err->code;
	for (size_t i = 0; i < AS_TOP_TIMES; i++)
		t->kind[i] = kind_named(t->p, times[i]);
	as_recent_init(&t->recent, window_ns);
	return AS_OK;
}

void as_top_close(struct as_top *t)
{
	as_profile_free(t->p);
	as_profile_free(t->left.p);
	free(t->left.stack);
	as_recent_done(&t->recent);
	free(t->list.row);
	free(t->thread);
	free(t->thread_of);
	*t = (struct as_top){0};
}

/* ── ticks ────────────────────────────────────────────────────────────── */

void as_top_follow(struct as_top *t, const struct as_profile *of)
{
	as_profile_follow(t->p, of);
}

static void make(struct as_top *t)
{
	as_top_make_threads(t);
	as_top_make_rows(t);
}

void as_top_tick(struct as_top *t, const struct as_top_facts *now, int64_t ns, int64_t cpu_ns)
{
	t->away_ns += ns;
	bool known = cpu_ns != AS_NA && t->away_cpu_ns != AS_NA;
	t->away_cpu_ns = known ? t->away_cpu_ns + cpu_ns : AS_NA;
	t->facts.ended = now->ended;
	if (t->list.paused)
		return;
	t->facts = *now;
	if (!as_recent_tick(&t->recent, t->p, t->away_ns, t->away_cpu_ns))
		t->p->bad = true;
	t->away_ns = t->away_cpu_ns = 0;
	as_top_sift(t);
	make(t);
}

enum as_top_time as_top_time(const struct as_top *t)
{
	return t->gil ? AS_TOP_GIL : t->wall ? AS_TOP_WALL : AS_TOP_CPU;
}

const char *as_top_time_name(const struct as_top *t)
{
	static const char *const names[] = {"cpu time", "wall time", "time with the GIL"};

	return names[as_top_time(t)];
}

bool as_top_choose(struct as_top *t, const char *time)
{
	size_t i = 0;

	while (i < AS_TOP_TIMES && strcmp(times[i], time))
		i++;
	t->wall = i == AS_TOP_WALL;
	t->gil = i == AS_TOP_GIL;
	return i < AS_TOP_TIMES;
}

struct as_text as_top_share(int64_t ns, int64_t span_ns)
{
	struct as_text text = {"-"};

	if (span_ns > 0)
		(void)snprintf(text.s, sizeof text.s, "%.1f", 100 * (double)ns / (double)span_ns);
	return text;
}

struct as_taking as_top_taking(const struct as_top *t)
{
	return (struct as_taking){true, (int64_t)(t->facts.samples - t->before.samples),
				  (int64_t)(t->facts.rejected - t->before.rejected),
				  (int64_t)(t->facts.late - t->before.late)};
}

/* ── keys ─────────────────────────────────────────────────────────────── */

static void reset(struct as_top *t)
{
	as_recent_reset(&t->recent);
	t->before = t->facts;
}

static void act(struct as_top *t, int key)
{
	if (key == 'l')
		t->lines = !t->lines;
	else if (key == 'g')
		t->gil = !t->gil;
	else if (key == 'm')
		t->wall = !t->wall;
	else if (key == 'r')
		reset(t);
}

bool as_top_key(struct as_top *t, int key)
{
	bool away = t->list.typing || t->list.view == AS_BROWSE_HELP; /* a letter, or goes back */

	if (key == 'q' && !away)
		return false;
	enum as_browse_did did = as_browse_key(&t->list, &as_top_kind, key);
	if (did == AS_BROWSE_NOTHING)
		act(t, key);
	if (did != AS_BROWSE_MOVED)
		make(t);
	return true;
}
