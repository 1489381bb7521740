#pragma once
/*
 * hosts -- names of addresses that this machine knows by itself: /etc/hosts.
 *
 * Nobody is asked: a question to a name server would be traffic that the
 * profiler made, and would tell others what is being looked at.
 */
#include <stdbool.h>
#include <stddef.h>

#include "os/sockdiag.h"

/* The first name that the text gives to this address; false when it gives none. */
bool as_hosts_find(const char *text, size_t n, const struct as_sock_addr *a, char *ret,
		   size_t size);
