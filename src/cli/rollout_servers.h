#pragma once
/*
 * rollout_servers -- where the agents of a collection are: at an address that was
 * given, or where the head server says; and which processes its servers are.
 */
#include "base/json_text.h"
#include "load/rollout_run.h"
#include "run/load.h"

struct as_env;

struct as_rollout_where {
	const char *head, *url, *drive; /* as the options say            */
	struct as_json_text said;       /* {host: …, port: …}, before --head; or {} */
	bool yes;                       /* a server may be anybody's     */
	struct as_buf yaml;             /* what the head server answered */
};

/* The head server, if it is needed. */
int as_where_ask(struct as_rollout_where *w, struct as_err *err);
int as_where_find(const struct as_rollout_where *w, const char *agent,
		  struct as_rollout_server *ret, struct as_err *err);

/* "NAME=PID" each. */
struct as_rollout_targets {
	char word[AS_LOAD_TARGETS][AS_LOAD_NAME + 16];
	int32_t pid[AS_LOAD_TARGETS];
	size_t n;
	size_t left_out; /* there was no room for them */
};

/* Those that the head server knows, if it is on this machine; none otherwise. */
void as_where_targets(const struct as_rollout_where *w, const struct as_env *env,
		      struct as_rollout_targets *ret);
