#pragma once
/*
 * hosts -- names of addresses as /etc/hosts has them.
 */
#include <stdbool.h>
#include <stddef.h>

#include "os/sockdiag.h"

/* The first name that the text gives to this address; false when it gives none. */
bool as_hosts_find(const char *text, size_t n, const struct as_sock_addr *a, char *ret,
		   size_t size);
/* Is it a name that could be a host's, and nothing that a terminal would act on? */
bool as_hosts_is_name(const char *p, size_t n);
