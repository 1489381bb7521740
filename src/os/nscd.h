#pragma once
/*
 * nscd -- names that nscd, the name service cache of glibc, remembers.
 *
 * nscd hands out a read-only descriptor of its table of hosts to whoever asks
 * for it; every program that resolves names reads the table so. To ask for the
 * descriptor makes nobody look anything up: no question of ours can reach the
 * network.
 *
 * The table changes while it is read, and nscd moves things in it from time to
 * time; so what is used is copied, and a copy during which that happened is not
 * used. Its layout is that of nscd's tables of version 2 (glibc 2.3.4 and later).
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "os/sockdiag.h"

/* A descriptor of the table of hosts; -1 when there is no nscd, or it does not share it. */
int as_nscd_open(void);
/* A copy of what is in use of it; false when there is none to be had now. */
bool as_nscd_read(int fd, struct as_buf *ret);
/* The name under which this address was found, or that was found for it. Any bytes will do. */
bool as_nscd_find(const char *table, size_t n, const struct as_sock_addr *a, char *ret,
		  size_t size);
