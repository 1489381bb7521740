/*
 * tell -- what a parser of ours makes of bytes, for oracles that are written in
 * Python (tests/lib/told.py says how it is asked).
 *
 *	tell sse|ws-client|ws-server|cookies <CASES
 *
 * Stdin has cases of pieces, each a length (u32, the machine's order) and so
 * many bytes; a length of 0xffffffff ends a case. A line of words is told of each
 * case. Bytes are in hex; what has none is "-".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "net/cookies.h"
#include "net/sse.h"
#include "net/websocket.h"

#define END_OF_CASE UINT32_MAX

struct piece {
	char *p; /* exactly as long as it is: who reads on is caught */
	size_t n;
};

static void put_hex(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%02x", (unsigned char)p[i]);
	printf(n ? " " : "- ");
}

/* ── event streams: "NAME DATA " of each event ────────────────────────── */

static struct as_sse sse;

static void take_sse(struct piece piece)
{
	struct as_sse_event e;
	size_t used = 0;

	for (size_t at = 0; as_sse_take(&sse, piece.p + at, piece.n - at, &used, &e); at += used) {
		put_hex(e.name, strlen(e.name));
		put_hex(e.data, e.n);
	}
}

static void end_sse(void)
{
	as_sse_done(&sse);
}

/* ── WebSocket: "KIND BYTES " of each message and control frame ───────── */

static struct as_ws ws;
static struct as_buf message;
static bool ws_begun;

static void tell_ws(enum as_ws_kind kind)
{
	if (kind == AS_WS_MESSAGE) {
		printf(ws.text ? "text " : "bytes ");
		put_hex(as_buf_text(&message), message.len);
		as_buf_clear(&message);
	} else if (kind == AS_WS_CONTROL) {
		printf(ws.op == AS_WS_CLOSE ? "close " : ws.op == AS_WS_PING ? "ping " : "pong ");
		put_hex(ws.control, ws.control_len);
	} else if (kind >= AS_WS_IS_BAD) {
		printf("bad - ");
	}
}

static void take_ws(struct piece piece, bool server)
{
	struct as_ws_piece got = {0};
	size_t used = 0;

	if (!ws_begun)
		as_ws_begin(&ws, server);
	ws_begun = true;
	do {
		used += as_ws_step(&ws, piece.p + used, piece.n - used, &got);
		if (got.kind == AS_WS_PIECE) {
			message.max = AS_BUF_FILE;
			char *room = as_buf_room(&message, got.n);

			if (!room)
				abort();
			as_ws_mask(room, got.p, got.n, ws.key, got.at);
			message.len += got.n;
		}
		tell_ws(got.kind);
	} while (got.kind != AS_WS_NOTHING && got.kind < AS_WS_IS_BAD);
}

static void take_ws_client(struct piece piece)
{
	take_ws(piece, false);
}

static void take_ws_server(struct piece piece)
{
	take_ws(piece, true);
}

static void end_ws(void)
{
	as_buf_done(&message);
	message = (struct as_buf){0};
	ws_begun = false;
}

/* ── cookies: what a jar sends, at each place that it is asked for ────── */

static struct as_cookies jar;

/* 'S' or 'G', then "HOST\nTARGET\n0 or 1: TLS\nNOW\n", and of S the value of Set-Cookie. */
static void take_cookie(struct piece piece)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_FILE);
	char *part[5], *rest = piece.p + 1, *end = piece.p + piece.n;

	for (size_t i = 0; i < AS_LEN(part); i++) {
		char *stop = i < 4 ? memchr(rest, '\n', (size_t)(end - rest)) : end;

		if (!stop)
			abort();
		part[i] = rest;
		if (i < 4)
			*stop = '\0';
		rest = stop + 1;
	}
	struct as_cookie_place at = {part[0], part[1], part[2][0] == '1', 0};
	(void)as_scan_i64(part[3], strlen(part[3]), &at.now);
	if (piece.p[0] == 'S') {
		(void)as_cookies_take(&jar, &at, part[4], (size_t)(end - part[4]));
		return;
	}
	as_cookies_put(&jar, &at, &out);
	put_hex(as_buf_text(&out), out.len);
}

static void end_cookies(void)
{
	as_cookies_done(&jar);
}

/* ── all of them ──────────────────────────────────────────────────────── */

static const struct {
	const char *name;
	void (*take)(struct piece piece);
	void (*end)(void);
} parsers[] = {
	{"sse", take_sse, end_sse},
	{"ws-client", take_ws_client, end_ws},
	{"ws-server", take_ws_server, end_ws},
	{"cookies", take_cookie, end_cookies},
};

/* One piece; false: stdin is over. */
static bool next(size_t parser)
{
	uint32_t n;

	if (fread(&n, sizeof n, 1, stdin) != 1)
		return false;
	if (n == END_OF_CASE) {
		parsers[parser].end();
		printf("\n");
		return true;
	}
	struct piece piece = {malloc(n ? n : 1), n};
	if (!piece.p || fread(piece.p, 1, n, stdin) != n)
		abort();
	parsers[parser].take(piece);
	free(piece.p);
	return true;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < AS_LEN(parsers); i++)
		if (!strcmp(argv[1], parsers[i].name)) {
			while (next(i))
				;
			return 0;
		}
	(void)fprintf(stderr, "tell: which parser?\n");
	return 2;
}
