#include "run/climb.h"

#include <stdio.h>

static const struct {
	const char *key, *help;
} ends[AS_CLIMB_NENDS] = {
#define X(id, key_, help_) [AS_CLIMB_##id] = {key_, help_},
	AS_CLIMB_ENDS(X)
#undef X
};

const char *as_climb_end_key(enum as_climb_end e)
{
	return ends[e].key;
}

const char *as_climb_reason(const struct as_climb_story *c)
{
	return c->reason[0] ? c->reason : ends[c->end].help;
}

/* By whether sessions are counted, and whether by rate. */
static const struct {
	const char *text, *name;
} units[2][2] = {{{" at once", "requests at once"}, {"/s", "requests/s"}},
		 {{" sessions at once", "sessions at once"}, {" sessions/s", "sessions/s"}}};

const char *as_climb_unit(const struct as_climb_story *c)
{
	return units[c->sessions > 0][c->by_rate > 0].text;
}

const char *as_climb_unit_name(const struct as_climb_story *c)
{
	return units[c->sessions > 0][c->by_rate > 0].name;
}

static const char *verdict_of(const struct as_climb_probe *p)
{
	switch ((enum as_climb_verdict)p->verdict) {
	case AS_CLIMB_KEEPS:
		return p->sure ? "keeps" : "keeps?";
	case AS_CLIMB_MISSES:
		return p->sure ? "misses" : "misses?";
	case AS_CLIMB_VOID:
		break;
	}
	return "invalid";
}

void as_climb_words(const struct as_climb_probe *p, char ret[AS_CLIMB_WORDS])
{
	bool counts = p->verdict != AS_CLIMB_VOID;
	const char *why = counts ? p->missed : p->invalid;

	(void)snprintf(ret, AS_CLIMB_WORDS, "%s%s%s%s", p->held ? "held: " : "", verdict_of(p),
		       !why[0]  ? ""
		       : counts ? " "
				: ": ",
		       why);
}
