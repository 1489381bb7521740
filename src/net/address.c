#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"

_Static_assert(sizeof(struct sockaddr_storage) == AS_ADDRESS_BYTES, "an address fits");

/* ── how it reads ─────────────────────────────────────────────────────── */

static void tell(struct as_address *a)
{
	const struct sockaddr *sa = (const void *)a->bytes;
	char host[INET6_ADDRSTRLEN] = "", port[8] = "";

	if (getnameinfo(sa, a->len, host, sizeof host, port, sizeof port,
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	(void)snprintf(a->text, sizeof a->text, sa->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s",
		       host, port);
}

/* ── names ────────────────────────────────────────────────────────────── */

static void free_list(struct addrinfo **list)
{
	if (*list)
		freeaddrinfo(*list);
}

static int unresolved(const struct as_url *url, int why, struct as_err *err)
{
	if (why == EAI_MEMORY)
		return as_fail(err, AS_ENOMEM, "no memory to resolve '%s'", url->host);
	(void)as_fail(err, AS_ENOTFOUND, "no address of '%s' is known: %s", url->host,
		      gai_strerror(why));
	return as_hint(err, "is it spelled right? 'getent hosts NAME' asks the same resolver");
}

/* localhost is this machine (RFC 6761), also where no file says so: NULL asks for it. */
static const char *own_name(const char *host)
{
	return strcasecmp(host, "localhost") ? host : NULL;
}

static int resolve_name(const struct as_url *url, struct as_addresses *ret, struct as_err *err)
{
	as_cleanup(free_list) struct addrinfo *list = NULL;
	const struct addrinfo want = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	char port[8];

	(void)snprintf(port, sizeof port, "%u", url->port);
	int why = getaddrinfo(own_name(url->host), port, &want, &list);
	for (const struct addrinfo *i = list; !why && i && ret->n < AS_ADDRESSES_MOST;
	     i = i->ai_next) {
		struct as_address *a = &ret->at[ret->n];

		if (i->ai_addrlen > sizeof a->bytes)
			continue;
		memcpy(a->bytes, i->ai_addr, i->ai_addrlen);
		a->len = i->ai_addrlen;
		tell(a);
		ret->n++;
	}
	return ret->n ? AS_OK : unresolved(url, why ? why : EAI_NONAME, err);
}

static void set_socket(const char *path, struct as_address *a)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	(void)snprintf(un.sun_path, sizeof un.sun_path, "%s", path);
	memcpy(a->bytes, &un, sizeof un);
	a->len = sizeof un;
	(void)snprintf(a->text, sizeof a->text, "unix:%.70s", path);
}

int as_resolve(const struct as_url *url, struct as_addresses *ret, struct as_err *err)
{
	*ret = (struct as_addresses){0};
	if (!url->local)
		return resolve_name(url, ret, err);
	set_socket(url->socket, &ret->at[ret->n++]);
	return AS_OK;
}

/* ── near or far ──────────────────────────────────────────────────────── */

/*
 * 127/8, 10/8, 172.16/12, 192.168/16, 169.254/16, and 0.0.0.0, which is us. Not 100.64/10: that is
 * shared, and who is there may be anybody's.
 */
static bool near4(uint32_t ip)
{
	static const struct {
		uint32_t net, bits;
	} nets[] = {{0x7f000000, 8},  {0x0a000000, 8},  {0xac100000, 12},
		    {0xc0a80000, 16}, {0xa9fe0000, 16}, {0, 32}};

	for (size_t i = 0; i < AS_LEN(nets); i++)
		if ((ip ^ nets[i].net) >> (32 - nets[i].bits) == 0)
			return true;
	return false;
}

/* ::1, ::, fc00::/7, fe80::/10, and IPv4 in disguise. */
static bool near6(const struct in6_addr *ip)
{
	uint32_t v4;

	memcpy(&v4, ip->s6_addr + 12, sizeof v4);
	if (IN6_IS_ADDR_V4MAPPED(ip))
		return near4(ntohl(v4));
	return IN6_IS_ADDR_LOOPBACK(ip) || IN6_IS_ADDR_UNSPECIFIED(ip) ||
	       (ip->s6_addr[0] & 0xfe) == 0xfc || IN6_IS_ADDR_LINKLOCAL(ip);
}

static sa_family_t family_of(const struct as_address *a)
{
	sa_family_t family;

	memcpy(&family, a->bytes + offsetof(struct sockaddr, sa_family), sizeof family);
	return family;
}

bool as_address_is_near(const struct as_address *a)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (family_of(a) == AF_UNIX)
		return true;
	memcpy(&v4, a->bytes, sizeof v4);
	memcpy(&v6, a->bytes, sizeof v6);
	return family_of(a) == AF_INET ? near4(ntohl(v4.sin_addr.s_addr)) : near6(&v6.sin6_addr);
}

bool as_address_is_own(const struct as_address *a)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	memcpy(&v4, a->bytes, sizeof v4);
	memcpy(&v6, a->bytes, sizeof v6);
	if (family_of(a) == AF_INET)
		return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return family_of(a) == AF_UNIX || IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}
