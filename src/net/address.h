#pragma once
/*
 * address -- the places that a URL names: what a name resolves to, in the order
 * in which the system prefers them, or a unix socket.
 */
#include <stddef.h>

#include "base/err.h"
#include "net/url.h"

enum { AS_ADDRESSES_MOST = 8, AS_ADDRESS_BYTES = 128 };

struct as_address {
	unsigned char bytes[AS_ADDRESS_BYTES]; /* a struct sockaddr_storage */
	unsigned len;
	char text[80]; /* "127.0.0.1:8080", "[::1]:80", "unix:/run/x" */
};

struct as_addresses {
	struct as_address at[AS_ADDRESSES_MOST];
	size_t n; /* at least one */
};

/* Asks the system's resolver, and waits for it. */
int as_resolve(const struct as_url *url, struct as_addresses *ret, struct as_err *err);

/* This machine: nobody else can reach it there. */
bool as_address_is_own(const struct as_address *a);
/* This machine, or one of a private network: not somebody else's on the internet. */
bool as_address_is_near(const struct as_address *a);
