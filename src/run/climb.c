#include "run/climb.h"

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

const char *as_climb_end_help(enum as_climb_end e)
{
	return ends[e].help;
}

const char *as_climb_verdict_key(const struct as_climb_probe *p)
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
