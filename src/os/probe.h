#pragma once
/*
 * probe -- what this machine lets this user measure, and how to be let.
 *
 * A probe is one row of as_probes[]: it reads through the env, changes nothing
 * and answers with a state, a detail, and the exact command that would give
 * what is missing. On the machine itself (not in a captured tree) it also asks
 * the kernel (os/try.h), which may refuse what the files promise.
 *
 * To add one: a function, and its row at the end of probe.c.
 */
#include <stddef.h>
#include <stdint.h>

#include "os/env.h"

enum as_state { AS_STATE_NO, AS_STATE_PARTLY, AS_STATE_YES };

/* Who asks, and what several rows look at. */
struct as_caller {
	const struct as_env *env;
	int64_t uid;    /* INT64_MIN unknown                          */
	uint64_t caps;  /* effective capabilities, one bit each       */
	bool contained; /* in a user namespace: capabilities count only inside it */
	int hidepid;    /* of /proc: 0 all is shown, 1, 2             */
	struct {
		bool some;            /* there are control groups at all        */
		bool can;             /* and one of our own can be made         */
		bool cpu, memory, io; /* what it would count                    */
	} group;
};

struct as_finding {
	enum as_state state;
	char detail[160]; /* what was seen                              */
	char fix[160];    /* a command for a shell; "" when none helps  */
	bool starved;     /* memory ran out: it could not be found out  */
};

struct as_probe {
	const char *key; /* stable, the name in JSON                   */
	const char *title;
	const char *gives; /* what having it is good for                 */
	int rung;          /* of the ladder of privileges, 1 the highest; 0: beside it */
	bool later;        /* the machine's part; this version does not use it yet     */
	void (*look)(const struct as_caller *who, struct as_finding *ret);
};

extern const struct as_probe as_probes[]; /* key == NULL ends */

/* Fails only for want of memory. */
int as_caller(const struct as_env *env, struct as_caller *ret, struct as_err *err);
const char *as_state_name(enum as_state state); /* "yes", "partly", "no" */
