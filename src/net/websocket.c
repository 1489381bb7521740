#include "net/websocket.h"

#include <string.h>

#include "base/base64.h"
#include "base/sha1.h"

enum { FIN = 0x80, RESERVED = 0x70, OPCODE = 0x0f, MASKED = 0x80, LENGTH = 0x7f };
enum { LENGTH_16 = 126, LENGTH_64 = 127, CODE_LEAST = 1000, CODE_OURS = 3000, CODE_MOST = 4999 };

/* ── the upgrade ──────────────────────────────────────────────────────── */

static void put_64(const unsigned char *p, size_t n, char *ret, size_t size)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);

	as_put_base64(&text, (const char *)p, n);
	(void)snprintf(ret, size, "%s", as_buf_text(&text));
}

void as_ws_key(const unsigned char random[16], char ret[AS_WS_KEY])
{
	put_64(random, 16, ret, AS_WS_KEY);
}

void as_ws_accept(const char *key, char ret[AS_WS_ACCEPT])
{
	static const char known[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* RFC 6455, 1.3 */
	unsigned char hash[AS_SHA1_BYTES];
	char text[AS_WS_KEY + sizeof known];

	(void)snprintf(text, sizeof text, "%s%s", key, known);
	as_sha1(text, strlen(text), hash);
	put_64(hash, sizeof hash, ret, AS_WS_ACCEPT);
}

int as_ws_put_ask(struct as_buf *out, const struct as_http_ask *ask, const char *key,
		  struct as_err *err)
{
	struct as_http_ask upgrade = {.url = ask->url, .method = "GET"};
	char named[64];
	const char *headers[AS_WS_HEADERS + 4] = {"Connection: Upgrade", "Upgrade: websocket",
						  "Sec-WebSocket-Version: 13", named};

	if (ask->nheaders > AS_WS_HEADERS)
		return as_fail(err, AS_EUSAGE, "at most %d headers", AS_WS_HEADERS);
	(void)snprintf(named, sizeof named, "Sec-WebSocket-Key: %s", key);
	for (size_t i = 0; i < ask->nheaders; i++)
		headers[4 + i] = ask->headers[i];
	upgrade.headers = headers;
	upgrade.nheaders = 4 + ask->nheaders;
	return as_http_put(out, &upgrade, err);
}

/* ── frames out ───────────────────────────────────────────────────────── */

static size_t put_length(unsigned char *to, uint64_t n)
{
	size_t bytes = n < LENGTH_16 ? 0 : n <= UINT16_MAX ? 2 : 8;

	to[0] = (unsigned char)(bytes == 0 ? n : bytes == 2 ? LENGTH_16 : LENGTH_64);
	for (size_t i = 0; i < bytes; i++)
		to[1 + i] = (unsigned char)(n >> 8 * (bytes - 1 - i));
	return 1 + bytes;
}

size_t as_ws_head(unsigned char ret[AS_WS_HEAD_MOST], enum as_ws_opcode op, uint64_t n,
		  const unsigned char key[4])
{
	ret[0] = (unsigned char)(FIN | op);
	size_t len = 1 + put_length(ret + 1, n);
	if (!key)
		return len;
	ret[1] |= MASKED;
	memcpy(ret + len, key, 4);
	return len + 4;
}

void as_ws_mask(char *to, const char *p, size_t n, const unsigned char key[4], uint64_t at)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (char)((unsigned char)p[i] ^ key[(at + i) & 3]);
}

void as_ws_put(struct as_buf *out, enum as_ws_opcode op, const char *p, size_t n,
	       const unsigned char key[4])
{
	unsigned char head[AS_WS_HEAD_MOST];

	as_buf_add(out, (const char *)head, as_ws_head(head, op, n, key));
	char *to = as_buf_room(out, n);
	if (!to)
		return;
	if (key)
		as_ws_mask(to, p, n, key, 0);
	else if (n)
		memcpy(to, p, n);
	out->len += n;
	to[n] = '\0';
}

void as_ws_put_close(struct as_buf *out, unsigned code, const unsigned char key[4])
{
	const char bytes[2] = {(char)(code >> 8), (char)code};

	as_ws_put(out, AS_WS_CLOSE, bytes, sizeof bytes, key);
}

/* ── text ─────────────────────────────────────────────────────────────── */

/* What may follow, of a letter that began: how many bytes, and the next one from … to. */
static uint32_t wants(unsigned n, unsigned from, unsigned to)
{
	return n << 16 | from << 8 | to;
}

/* The first byte of a letter: 0 when it is all of it, and UINT32_MAX when it is none. */
static uint32_t begin_rune(unsigned char c)
{
	if (c < 0x80)
		return 0;
	if (c < 0xc2 || c > 0xf4)
		return UINT32_MAX;
	if (c < 0xe0)
		return wants(1, 0x80, 0xbf);
	if (c < 0xf0)
		return wants(2, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf);
	return wants(3, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf);
}

static uint32_t next_rune(uint32_t rune, unsigned char c)
{
	unsigned n = rune >> 16;

	if (!n)
		return begin_rune(c);
	if (c < (rune >> 8 & 0xff) || c > (rune & 0xff))
		return UINT32_MAX;
	return n == 1 ? 0 : wants(n - 1, 0x80, 0xbf);
}

/* Is it UTF-8 so far? A letter may be cut where the bytes are. */
static bool is_text(struct as_ws *w, const char *p, size_t n, uint64_t at)
{
	uint32_t rune = w->rune;

	for (size_t i = 0; i < n && rune != UINT32_MAX; i++)
		rune = next_rune(rune, (unsigned char)p[i] ^ w->key[(at + i) & 3]);
	w->rune = rune;
	return rune != UINT32_MAX;
}

bool as_ws_is_text(const char *p, size_t n)
{
	struct as_ws w = {0};

	return is_text(&w, p, n, 0) && !w.rune;
}

/* ── frames in ────────────────────────────────────────────────────────── */

void as_ws_begin(struct as_ws *w, bool server)
{
	*w = (struct as_ws){.server = server};
}

static bool is_control(enum as_ws_opcode op)
{
	return op >= AS_WS_CLOSE;
}

/* How long the head is, as far as it is known. */
static size_t head_of(const struct as_ws *w)
{
	size_t n = 2 + (w->server ? 4 : 0);

	if (w->head_len < 2)
		return 2;
	unsigned length = w->head[1] & LENGTH;
	return n + (length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0);
}

static uint64_t length_of(const struct as_ws *w)
{
	unsigned n = w->head[1] & LENGTH;
	size_t bytes = n == LENGTH_16 ? 2 : n == LENGTH_64 ? 8 : 0;
	uint64_t length = bytes ? 0 : n;

	for (size_t i = 0; i < bytes; i++)
		length = length << 8 | w->head[2 + i];
	return length;
}

/* Nobody may write a short length as a long one (RFC 6455, 5.2); the highest bit is none's. */
static bool is_length(const struct as_ws *w)
{
	unsigned n = w->head[1] & LENGTH;
	uint64_t least = n == LENGTH_16 ? LENGTH_16 : n == LENGTH_64 ? 1 << 16 : 0;

	return w->left >= least && !(w->left >> 63);
}

/* Its first two bytes already say whether it may stand here. */
static bool is_allowed(const struct as_ws *w, enum as_ws_opcode op, bool last)
{
	unsigned length = w->head[1] & LENGTH;

	if (w->over || (w->head[0] & RESERVED) || !!(w->head[1] & MASKED) != w->server)
		return false;
	if (is_control(op))
		return op <= AS_WS_PONG && last && length < LENGTH_16;
	return op == AS_WS_MORE ? w->open : op <= AS_WS_BINARY && !w->open;
}

static enum as_ws_kind broke(struct as_ws *w, enum as_ws_kind how)
{
	return w->broken = how;
}

static void begin_message(struct as_ws *w)
{
	if (w->op == AS_WS_MORE)
		return;
	w->open = true;
	w->text = w->op == AS_WS_TEXT;
	w->message = 0;
	w->rune = 0;
}

/* The head is whole. */
static enum as_ws_kind begin_frame(struct as_ws *w)
{
	w->op = w->head[0] & OPCODE;
	w->last = w->head[0] & FIN;
	w->left = length_of(w);
	w->at = 0;
	if (w->server)
		memcpy(w->key, w->head + w->head_len - 4, 4);
	if (!is_length(w))
		return broke(w, AS_WS_IS_BAD);
	if (is_control(w->op)) {
		w->control_len = 0;
		return AS_WS_NOTHING;
	}
	begin_message(w);
	return w->left > AS_WS_MOST - w->message ? broke(w, AS_WS_IS_HUGE) : AS_WS_NOTHING;
}

static size_t take_head(struct as_ws *w, const char *p, size_t n, enum as_ws_kind *ret)
{
	size_t used = 0;

	while (used < n && w->head_len < head_of(w)) {
		w->head[w->head_len++] = (unsigned char)p[used++];
		if (w->head_len == 2 && !is_allowed(w, w->head[0] & OPCODE, w->head[0] & FIN)) {
			*ret = broke(w, AS_WS_IS_BAD);
			return used;
		}
	}
	if (w->head_len >= 2 && w->head_len == head_of(w))
		*ret = begin_frame(w);
	return used;
}

static bool is_code(unsigned code)
{
	static const unsigned kept[] = {1004, AS_WS_NO_CODE, 1006};

	for (size_t i = 0; i < AS_LEN(kept); i++)
		if (code == kept[i])
			return false;
	return code >= CODE_LEAST && code <= CODE_MOST && (code < 1015 || code >= CODE_OURS);
}

/* A close has a code and a text, or nothing. */
static bool take_close(struct as_ws *w)
{
	const unsigned char *p = (const unsigned char *)w->control;

	w->over = true;
	w->code = AS_WS_NO_CODE;
	if (!w->control_len)
		return true;
	w->code = w->control_len > 1 ? (unsigned)p[0] << 8 | p[1] : 0;
	return is_code(w->code) && as_ws_is_text(w->control + 2, w->control_len - 2);
}

/* The frame is whole. */
static enum as_ws_kind end_frame(struct as_ws *w)
{
	w->head_len = 0;
	if (is_control(w->op))
		return w->op != AS_WS_CLOSE || take_close(w) ? AS_WS_CONTROL
							     : broke(w, AS_WS_IS_BAD);
	if (!w->last)
		return AS_WS_NOTHING;
	w->open = false;
	return w->text && w->rune ? broke(w, AS_WS_IS_BAD) : AS_WS_MESSAGE;
}

static void keep_control(struct as_ws *w, const char *p, size_t n)
{
	as_ws_mask(w->control + w->control_len, p, n, w->key, w->at);
	w->control_len += n;
}

static size_t take_payload(struct as_ws *w, const char *p, size_t n, struct as_ws_piece *ret)
{
	size_t used = n < w->left ? n : (size_t)w->left;

	if (is_control(w->op)) {
		keep_control(w, p, used);
	} else {
		*ret = (struct as_ws_piece){AS_WS_PIECE, p, used, w->at};
		w->message += used;
		if (w->text && !is_text(w, p, used, w->at))
			ret->kind = broke(w, AS_WS_IS_BAD);
	}
	w->left -= used;
	w->at += used;
	return used;
}

static bool in_payload(const struct as_ws *w)
{
	return w->head_len >= 2 && w->head_len == head_of(w);
}

size_t as_ws_step(struct as_ws *w, const char *p, size_t n, struct as_ws_piece *ret)
{
	size_t used = 0;

	*ret = (struct as_ws_piece){.kind = w->broken};
	while (!ret->kind) {
		if (in_payload(w) && !w->left) /* also of a frame that has none */
			ret->kind = end_frame(w);
		else if (used == n)
			break;
		else if (in_payload(w))
			used += take_payload(w, p + used, n - used, ret);
		else
			used += take_head(w, p + used, n - used, &ret->kind);
	}
	return used;
}
