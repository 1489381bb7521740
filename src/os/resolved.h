#pragma once
/*
 * resolved -- names that systemd-resolved remembers.
 *
 * Since systemd 254 it tells root what is in its cache, whatever was asked by
 * whom (varlink, io.systemd.Resolve.Monitor.DumpCache). To dump a cache makes
 * nobody look anything up. Others than root would be asked for a password by
 * polkit, so they do not ask.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "os/sockdiag.h"

/* The cache as JSON, as much of it as the buffer takes; false when it cannot be had. */
bool as_resolved_dump(struct as_buf *ret);
/* The name of a record with this address. Any text will do. */
bool as_resolved_find(const char *text, size_t n, const struct as_sock_addr *a, char *ret,
		      size_t size);
