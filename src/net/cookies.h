#pragma once
/*
 * cookies -- what one server asked one client to send back (RFC 6265).
 *
 * A jar is of one host: a Domain that does not cover it is not believed. Of
 * two with the same name, domain and path the later counts; one that is over by
 * its Max-Age, or without that its Expires, is taken out. A Secure one is sent
 * over TLS only. Those with the longest path come first, then the oldest.
 *
 * Bounded: more than AS_COOKIES_MOST, or a longer one than AS_COOKIE_MOST, are
 * not kept; a server that sends them is not worth a client's memory.
 */
#include "base/buf.h"

enum { AS_COOKIES_MOST = 64, AS_COOKIE_MOST = 4096 };

struct as_cookie;

struct as_cookies { /* all zeros is an empty one */
	struct as_cookie *v;
	size_t n, cap;
};

/* Where a request goes, or went. */
struct as_cookie_place {
	const char *host;
	const char *target; /* path and query */
	bool secure;        /* over TLS       */
	int64_t now;        /* s since 1970   */
};

/* The value of a Set-Cookie header. False: no memory for it; what is no cookie is left out. */
bool as_cookies_take(struct as_cookies *c, const struct as_cookie_place *at, const char *p,
		     size_t n);
/* "a=1; b=2", of those that belong there; nothing if none do. */
void as_cookies_put(const struct as_cookies *c, const struct as_cookie_place *at,
		    struct as_buf *out);
/* The value of one by its name, whatever its path; NULL: there is none. */
const char *as_cookies_find(const struct as_cookies *c, const char *name);
void as_cookies_clear(struct as_cookies *c); /* keeps memory */
void as_cookies_done(struct as_cookies *c);

/* A date as servers write it ("Wed, 09 Jun 2021 10:18:14 GMT"), in s since 1970; false: none. */
bool as_cookie_date(const char *p, size_t n, int64_t *ret);
