#pragma once
/*
 * names -- what this machine calls an address, from what it knows by itself:
 * /etc/hosts, then the table of nscd, then the cache of systemd-resolved.
 *
 * Nobody is asked: a question to a name server would be traffic that the
 * profiler made, and would tell others what is being looked at.
 */
#include "base/buf.h"
#include "os/env.h"
#include "os/sockdiag.h"

struct as_names {
	/* private */
	bool opened;
	int nscd;            /* its table, or -1                            */
	bool resolved;       /* it is there, and tells                      */
	int64_t dumped_ns;   /* when it last did                            */
	struct as_buf hosts; /* /etc/hosts                                  */
	struct as_buf table; /* the last copy of nscd's table               */
	struct as_buf cache; /* what systemd-resolved told last             */
};

/* A zeroed one is ready. False when nobody here knows a name for it. */
bool as_names_find(struct as_names *t, const struct as_env *env, const struct as_sock_addr *a,
		   char *ret, size_t size);
void as_names_done(struct as_names *t);
