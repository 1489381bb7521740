/* websocket -- the standard's handshake, frames cut at every place, what is refused. */
#include "net/websocket.h"

#include "base/sha1.h"
#include "utest.h"

static void t_handshake(void)
{
	char accept[AS_WS_ACCEPT], key[AS_WS_KEY];

	as_ws_accept("dGhlIHNhbXBsZSBub25jZQ==", accept); /* RFC 6455, 1.3 */
	EXPECT_STR(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	as_ws_key((const unsigned char *)"the sample nonce", key);
	EXPECT_STR(key, "dGhlIHNhbXBsZSBub25jZQ==");
}

/* RFC 3174's, and lengths around the end of a block. */
static void t_sha1(void)
{
	static const struct {
		size_t n; /* of 'a' */
		unsigned char begins[4];
	} cases[] = {
		{0, {0xda, 0x39, 0xa3, 0xee}},   {1, {0x86, 0xf7, 0xe4, 0x37}},
		{55, {0xc1, 0xc8, 0xbb, 0xdc}},  {56, {0xc2, 0xdb, 0x33, 0x0f}},
		{63, {0x03, 0xf0, 0x9f, 0x5b}},  {64, {0x00, 0x98, 0xba, 0x82}},
		{119, {0xee, 0x97, 0x10, 0x65}}, {1000, {0x29, 0x1e, 0x9a, 0x6c}},
	};
	unsigned char hash[AS_SHA1_BYTES];
	char text[1000];

	memset(text, 'a', sizeof text);
	for (size_t i = 0; i < AS_LEN(cases); i++) {
		as_sha1(text, cases[i].n, hash);
		EXPECT(!memcmp(hash, cases[i].begins, 4));
	}
}

/* What frames come to: messages in '()', control frames by letter, '!' and '#' broken. */
static size_t note(char *to, size_t size, const struct as_ws *w, const struct as_ws_piece *piece)
{
	char plain[512];
	int n = 0;

	if (piece->kind == AS_WS_PIECE) {
		as_ws_mask(plain, piece->p, piece->n, w->key, piece->at);
		n = snprintf(to, size, "%.*s", (int)piece->n, plain);
	} else if (piece->kind == AS_WS_MESSAGE) {
		n = snprintf(to, size, "(%s)", w->text ? "t" : "b");
	} else if (piece->kind == AS_WS_CONTROL) {
		n = snprintf(to, size, "[%d %u %.*s]", w->op, w->code, (int)w->control_len,
			     w->control);
	} else if (piece->kind >= AS_WS_IS_BAD) {
		n = snprintf(to, size, "%c", piece->kind == AS_WS_IS_BAD ? '!' : '#');
	}
	return (size_t)n;
}

static void read_in(char *to, size_t size, bool server, const char *p, size_t n, size_t step)
{
	struct as_ws w;
	struct as_ws_piece piece = {0};
	size_t len = 0;

	to[0] = '\0';
	as_ws_begin(&w, server);
	for (size_t at = 0; at < n && piece.kind < AS_WS_IS_BAD; at += step) {
		size_t most = n - at < step ? n - at : step, used = 0;

		do {
			used += as_ws_step(&w, p + at + used, most - used, &piece);
			len += note(to + len, size - len, &w, &piece);
		} while (piece.kind != AS_WS_NOTHING && piece.kind < AS_WS_IS_BAD);
	}
}

static void comes_to(bool server, const char *p, size_t n, const char *want)
{
	static char got[4096];

	for (size_t step = 1; step <= n; step++) {
		read_in(got, sizeof got, server, p, n, step);
		EXPECT_STR(got, want);
	}
}
#define COMES_TO(server, text, want) comes_to(server, text, sizeof(text) - 1, want)

static void t_frames(void)
{
	COMES_TO(false, "\x81\x05hello", "hello(t)");
	COMES_TO(false, "\x82\x00\x81\x00", "(b)(t)");
	COMES_TO(false, "\x01\x03hel\x89\x01p\x80\x02lo", "hel[9 0 p]lo(t)");
	COMES_TO(true, "\x81\x85\x01\x02\x03\x04\x69\x67\x6f\x68\x6e", "hello(t)");
	COMES_TO(false, "\x88\x00", "[8 1005 ]");
	COMES_TO(false, "\x81\x03\xe2\x82\xac", "\xe2\x82\xac(t)");
}

static void t_refused(void)
{
	COMES_TO(false, "\xc1\x00", "!");                  /* a bit that nobody agreed on */
	COMES_TO(false, "\x83\x00", "!");                  /* no such opcode              */
	COMES_TO(false, "\x80\x00", "!");                  /* a piece of nothing          */
	COMES_TO(false, "\x01\x00\x01\x00", "!");          /* a message within another    */
	COMES_TO(false, "\x09\x00", "!");                  /* a ping in pieces            */
	COMES_TO(false, "\x89\x7e\x00\x01x", "!");         /* a long one                  */
	COMES_TO(false, "\x81\x81\x01\x01\x01\x01x", "!"); /* a server does not mask      */
	COMES_TO(true, "\x81\x01x", "!");                  /* a client does               */
	COMES_TO(false, "\x88\x01x", "!");                 /* half a code                 */
	COMES_TO(false, "\x88\x02\x03\xed", "!");          /* 1005 is never sent          */
	COMES_TO(false, "\x88\x02\x03\xe8\x89\x00", "[8 1000 \x03\xe8]!"); /* after the end */
	COMES_TO(false, "\x82\x7f\x00\x00\x00\x00\x7f\xff\xff\xff", "#");
	COMES_TO(false, "\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00", "!");
	COMES_TO(false, "\x82\x7e\x00\x01x", "!"); /* short, but written long */
	COMES_TO(false, "\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff", "!");
}

static void t_text(void)
{
	EXPECT(as_ws_is_text("", 0) && as_ws_is_text("a\xc3\xa4\xf0\x9f\x98\x80", 7));
	EXPECT(!as_ws_is_text("\xc3", 1) && !as_ws_is_text("\xc0\x80", 2));
	EXPECT(!as_ws_is_text("\xed\xa0\x80", 3) && !as_ws_is_text("\xf4\x90\x80\x80", 4));
	EXPECT(!as_ws_is_text("\x80", 1) && !as_ws_is_text("\xe0\x80\x80", 3));
}

/* What is put is read again, for lengths of every form. */
static void t_put(void)
{
	static const size_t lengths[] = {0, 1, 125, 126, 127, 65535, 65536, 200000};
	static const unsigned char key[4] = {1, 200, 3, 77};
	static char text[200000];

	memset(text, 'x', sizeof text);
	for (size_t i = 0; i < AS_LEN(lengths); i++) {
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
		struct as_ws w;
		struct as_ws_piece piece = {0};
		size_t at = 0;

		as_ws_put(&b, AS_WS_TEXT, text, lengths[i], key);
		as_ws_begin(&w, true);
		do {
			at += as_ws_step(&w, b.p + at, b.len - at, &piece);
		} while (piece.kind == AS_WS_PIECE);
		EXPECT_I64(piece.kind, AS_WS_MESSAGE);
		EXPECT_U64(w.message, lengths[i]);
		EXPECT_U64(at, b.len);
	}
}

UTEST_MAIN(T(t_handshake), T(t_sha1), T(t_frames), T(t_refused), T(t_text), T(t_put))
