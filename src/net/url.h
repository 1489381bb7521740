#pragma once
/*
 * url -- where a request goes: http://HOST[:PORT][/PATH], https://, ws://, wss://,
 * or over a unix socket unix:/PATH/TO/SOCKET[:/PATH].
 *
 * What cannot be sent as it stands (spaces, control bytes, letters beyond
 * ASCII) is refused, not guessed at: whoever measures wants to know what was
 * asked. What follows '#' never leaves the client.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { AS_URL_HOST = 256, AS_URL_TARGET = 4096, AS_URL_SOCKET = 108 };

struct as_url {
	bool local;                 /* a unix socket                            */
	bool tls, websocket;        /* https, wss; ws, wss                      */
	char host[AS_URL_HOST];     /* without brackets; "localhost" of a socket */
	char socket[AS_URL_SOCKET]; /* its path, or ""                          */
	uint16_t port;
	char target[AS_URL_TARGET];       /* path and query, "/" at least             */
	char authority[AS_URL_HOST + 16]; /* what the Host header says          */
};

int as_url_parse(const char *text, struct as_url *ret, struct as_err *err);
/* What it begins with: "https://". Of a unix socket, "http://". */
const char *as_url_scheme(const struct as_url *u);
/* For whoever speaks plain HTTP only. */
int as_url_parse_plain(const char *text, struct as_url *ret, struct as_err *err);
