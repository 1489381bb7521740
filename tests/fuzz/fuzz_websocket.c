/*
 * Frames of any bytes, from a server and from a client: the same messages and
 * control frames however they are cut, and nothing beyond the end of the bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/websocket.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

static void note(struct as_buf *to, const struct as_ws *w, const struct as_ws_piece *piece)
{
	if (piece->kind == AS_WS_MESSAGE)
		as_buf_fmt(to, "message %lu %d;", (unsigned long)w->message, w->text);
	else if (piece->kind == AS_WS_CONTROL)
		as_buf_fmt(to, "control %d %u %zu;", (int)w->op, w->code, w->control_len);
	else if (piece->kind != AS_WS_NOTHING && piece->kind != AS_WS_PIECE)
		as_buf_fmt(to, "broken %d;", (int)piece->kind);
}

/* What they come to; pieces one after the other, without their masks. */
static void read_in(struct as_buf *to, bool server, const char *p, size_t n, size_t step)
{
	struct as_ws w;
	struct as_ws_piece piece = {0};
	size_t told =
		0; /* until the last that was whole: what comes before a break depends on cuts */

	as_ws_begin(&w, server);
	for (size_t at = 0; at < n && piece.kind < AS_WS_IS_BAD; at += step) {
		size_t len = n - at < step ? n - at : step, used = 0;

		do {
			size_t took = as_ws_step(&w, p + at + used, len - used, &piece);

			must(took <= len - used && (piece.kind || used + took == len));
			if (piece.kind == AS_WS_PIECE) {
				char *room = as_buf_room(to, piece.n);

				must(room && piece.p >= p && piece.p + piece.n <= p + n);
				as_ws_mask(room, piece.p, piece.n, w.key, piece.at);
				to->len += piece.n;
			}
			used += took;
			if (piece.kind >= AS_WS_IS_BAD)
				to->len = told;
			note(to, &w, &piece);
			told = piece.kind > AS_WS_PIECE ? to->len : told;
		} while (piece.kind != AS_WS_NOTHING && piece.kind < AS_WS_IS_BAD);
		must(w.message <= AS_WS_MOST && w.control_len <= AS_WS_CONTROL_MOST);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t steps[] = {1, 2, 3, 17, 254};
	char *tight = malloc(size ? size : 1); /* who reads on is caught */

	must(tight != NULL);
	if (size)
		memcpy(tight, data, size);
	for (int server = 0; server < 2; server++) {
		as_auto_buf struct as_buf whole = AS_BUF(AS_BUF_FILE);

		read_in(&whole, server, tight, size, size ? size : 1);
		for (size_t i = 0; i < sizeof steps / sizeof *steps && size < 20000; i++) {
			as_auto_buf struct as_buf cut = AS_BUF(AS_BUF_FILE);

			read_in(&cut, server, tight, size, steps[i]);
			must(cut.len == whole.len &&
			     (!cut.len || !memcmp(cut.p, whole.p, cut.len)));
		}
	}
	free(tight);
	return 0;
}
