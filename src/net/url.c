#include "net/url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/num.h"

enum { HTTP_PORT = 80, TLS_PORT = 443, PORT_MAX = 65535 };

static int bad(const char *text, const char *why, struct as_err *err)
{
	(void)as_fail(err, AS_EUSAGE, "'%.120s' is no URL: %s", text, why);
	return as_hint(err, "http://127.0.0.1:8080/path, or unix:/run/app.sock:/path");
}

static bool sendable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7f)
			return false;
	return true;
}

/* Path and query, up to a '#'. */
static bool set_target(struct as_url *u, const char *rest)
{
	size_t n = strcspn(rest, "#");
	const char *slash = *rest == '/' ? "" : "/";

	return (size_t)snprintf(u->target, sizeof u->target, "%s%.*s", slash, (int)n, rest) <
	       sizeof u->target;
}

/* ── http://HOST:PORT/PATH ────────────────────────────────────────────── */

/* "HOST" or "[V6]": how many bytes it takes; 0: it is none. */
static size_t set_host(struct as_url *u, const char *p, size_t n)
{
	bool bracket = n && *p == '[';
	const char *end = memchr(p, bracket ? ']' : ':', n);
	size_t len = end ? (size_t)(end - p) : n;

	if (bracket && !end)
		return 0;
	size_t skip = bracket ? 1 : 0;
	if (len <= skip || len - skip >= sizeof u->host)
		return 0;
	(void)snprintf(u->host, sizeof u->host, "%.*s", (int)(len - skip), p + skip);
	return len + skip;
}

static bool set_port(struct as_url *u, const char *p, size_t n)
{
	uint64_t port = 0;

	u->port = u->tls ? TLS_PORT : HTTP_PORT;
	if (!n)
		return true;
	if (*p != ':' || as_scan_u64(p + 1, n - 1, &port) != n - 1 || !port || port > PORT_MAX)
		return false;
	u->port = (uint16_t)port;
	return true;
}

static int parse_http(const char *text, const char *rest, struct as_url *u, struct as_err *err)
{
	size_t n = strcspn(rest, "/?#");

	if (memchr(rest, '@', n)) {
		(void)bad(text, "a user name does not belong into it", err);
		return as_hint(err, "-H 'Authorization: Basic …' sends one");
	}
	size_t host = set_host(u, rest, n);
	if (!host)
		return bad(text, "there is no host in it", err);
	if (!set_port(u, rest + host, n - host))
		return bad(text, "its port is no number from 1 to 65535", err);
	(void)snprintf(u->authority, sizeof u->authority, "%.*s", (int)n, rest);
	return set_target(u, rest + n) ? AS_OK : bad(text, "it is too long", err);
}

/* ── unix:/SOCKET:/PATH ───────────────────────────────────────────────── */

static int parse_unix(const char *text, const char *rest, struct as_url *u, struct as_err *err)
{
	size_t n = strcspn(rest, ":");

	if (*rest != '/')
		return bad(text, "the path of a socket begins with '/'", err);
	if (n >= sizeof u->socket)
		return bad(text, "the path of a socket has at most 107 bytes", err);
	u->local = true;
	(void)snprintf(u->socket, sizeof u->socket, "%.*s", (int)n, rest);
	(void)snprintf(u->host, sizeof u->host, "localhost");
	(void)snprintf(u->authority, sizeof u->authority, "localhost");
	return set_target(u, rest[n] ? rest + n + 1 : "/") ? AS_OK
							   : bad(text, "it is too long", err);
}

/* ── all of them ──────────────────────────────────────────────────────── */

static const struct scheme {
	const char *begins;
	bool tls, websocket;
} schemes[] = {
	{"http://", false, false},
	{"https://", true, false},
	{"ws://", false, true},
	{"wss://", true, true},
};

static int parse_scheme(const char *text, struct as_url *u, struct as_err *err)
{
	for (size_t i = 0; i < AS_LEN(schemes); i++) {
		size_t n = strlen(schemes[i].begins);

		if (strncasecmp(text, schemes[i].begins, n) != 0)
			continue;
		u->tls = schemes[i].tls;
		u->websocket = schemes[i].websocket;
		return parse_http(text, text + n, u, err);
	}
	return bad(text, "it begins with none of http://, https://, ws://, wss:// and unix:", err);
}

const char *as_url_scheme(const struct as_url *u)
{
	size_t i = 0;

	while (schemes[i].tls != u->tls || schemes[i].websocket != u->websocket)
		i++;
	return schemes[i].begins;
}

int as_url_parse(const char *text, struct as_url *ret, struct as_err *err)
{
	struct as_url u = {0};
	int r;

	if (!sendable(text))
		return bad(text, "write spaces and letters beyond ASCII as %XX", err);
	if (!strncasecmp(text, "unix:", 5))
		r = parse_unix(text, text + 5, &u, err);
	else
		r = parse_scheme(text, &u, err);
	if (r == AS_OK)
		*ret = u;
	return r;
}

int as_url_parse_plain(const char *text, struct as_url *ret, struct as_err *err)
{
	struct as_url u;
	int r = as_url_parse(text, &u, err);

	if (r == AS_OK && (u.tls || u.websocket))
		return as_fail(err, AS_EUNSUP, "only plain HTTP is spoken here: '%.120s'", text);
	if (r == AS_OK)
		*ret = u;
	return r;
}
