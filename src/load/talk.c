#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/fault.h"
#include "load/generating.h"
#include "net/websocket.h"

enum { SWITCHING = 101 };

struct as_talk {
	bool asking, open; /* the server is asked, or agreed       */
	struct as_http_upgrade said;
	char accept[AS_WS_ACCEPT]; /* what it must say             */
	bool began;                /* it was agreed on, and is not left yet */
	enum as_load_error lost;   /* why it is no more                     */
	struct as_ws ws;
	const char *message; /* the one that is asked, of the configuration or the session */
	size_t len;
	struct as_buf out; /* what is written, masked              */
};

/* More than this is never written at once. */
#define OUT_MOST (AS_SESSION_BODY + AS_WS_HEAD_MOST)

bool as_talk_prepare(struct as_generator *g)
{
	uint64_t seed = 0;

	(void)!getrandom(&seed, sizeof seed, 0);
	as_random_seed(&g->random, seed);
	for (size_t i = g->cfg->flow ? g->cfg->conns : 0; i < g->nconns; i++) {
		g->conns[i].talk = as_zalloc(sizeof *g->conns[i].talk);
		if (!g->conns[i].talk)
			return false;
		g->conns[i].talk->out = AS_BUF(OUT_MOST);
	}
	return true;
}

void as_talk_done(struct as_conn *c)
{
	if (c->talk)
		as_buf_done(&c->talk->out);
	free(as_take(c->talk));
}

bool as_talk_is_asking(const struct as_conn *c)
{
	return c->talk->asking;
}

/* ── writing ──────────────────────────────────────────────────────────── */

static void new_key(struct as_generator *g, unsigned char key[4])
{
	uint64_t bits = as_random_next(&g->random);

	memcpy(key, &bits, 4);
}

/* What is in `out` goes. */
static void write_out(struct as_generator *g, struct as_conn *c)
{
	if (c->talk->out.bad) {
		as_gen_fail(g, c, AS_LOAD_DESCRIPTORS); /* no memory for it */
		return;
	}
	c->request = c->talk->out.p;
	c->len = c->talk->out.len;
	c->sent = 0;
	as_gen_write(g, c);
}

/* Of a session all but this is written. */
static int put_own_ask(struct as_conn *c, const char *key, struct as_err *err)
{
	struct as_buf *out = &c->talk->out;

	as_buf_add(out, c->session->request.p, c->session->request.len);
	as_buf_fmt(out, "Sec-WebSocket-Key: %s\r\n\r\n", key);
	return as_buf_ok(out, err);
}

/* Is what happens on it measured? */
static bool counts(const struct as_generator *g, const struct as_conn *c)
{
	return c->due_ns >= g->from_ns;
}

static int put_ask(struct as_generator *g, struct as_conn *c)
{
	struct as_talk *t = c->talk;
	uint64_t bits[2] = {as_random_next(&g->random), as_random_next(&g->random)};
	unsigned char random[16];
	char key[AS_WS_KEY];
	struct as_err ignored = {0};

	memcpy(random, bits, sizeof random);
	as_ws_key(random, key);
	as_ws_accept(key, t->accept);
	g->out->ws_asked += counts(g, c);
	if (c->session)
		return put_own_ask(c, key, &ignored);
	return as_ws_put_ask(&t->out, c->server->place->upgrade, key, &ignored);
}

void as_talk_ask(struct as_generator *g, struct as_conn *c)
{
	struct as_talk *t = c->talk;

	t->open = false;
	t->asking = true;
	t->lost = AS_LOAD_CLOSED;
	t->said = (struct as_http_upgrade){0};
	as_http_response(&c->http, false);
	c->http.upgrade = &t->said;
	as_buf_clear(&t->out);
	if (put_ask(g, c) < 0)
		t->out.bad = true;
	write_out(g, c);
}

void as_talk_begin(struct as_conn *c)
{
	c->talk->message = c->request;
	c->talk->len = c->len;
}

static enum as_ws_opcode kind_of(const struct as_generator *g, const struct as_conn *c)
{
	bool text = c->session ? as_ws_is_text(c->talk->message, c->talk->len) : !g->cfg->binary;

	return text ? AS_WS_TEXT : AS_WS_BINARY;
}

static void send_message(struct as_generator *g, struct as_conn *c)
{
	struct as_talk *t = c->talk;
	unsigned char key[4];

	new_key(g, key);
	as_buf_clear(&t->out);
	as_ws_put(&t->out, kind_of(g, c), t->message, t->len, key);
	g->out->ws_sent += counts(g, c);
	write_out(g, c);
}

/* A few bytes, if there is room for them; who has none left will not miss them. */
static void say(struct as_generator *g, struct as_conn *c, const struct as_buf *frame)
{
	ssize_t n = frame->bad ? 0 : as_link_send(&c->link, frame->p, frame->len);

	g->out->bytes_out += n > 0 ? (uint64_t)n : 0;
}

static void say_close(struct as_generator *g, struct as_conn *c, unsigned code)
{
	as_auto_buf struct as_buf frame = AS_BUF(AS_BUF_LINE);
	unsigned char key[4];

	new_key(g, key);
	as_ws_put_close(&frame, code, key);
	if (c->state != AS_CONN_WRITING) /* not into the middle of a frame */
		say(g, c, &frame);
	c->talk->open = false;
}

void as_talk_leave(struct as_generator *g, struct as_conn *c)
{
	struct as_talk *t = c->talk;

	if (t->open && c->link.fd >= 0)
		say_close(g, c, AS_WS_NORMAL);
	if (t->began && counts(g, c))
		as_histogram_add(&g->out->ws_session, as_now() - c->dialled_ns, 1);
	t->open = t->asking = t->began = false;
}

/* ── steps of a session ───────────────────────────────────────────────── */

static const struct as_flow_step *step_of(const struct as_conn *c)
{
	return &c->session->plan->step[c->session->step];
}

/* A message is in session->heard. */
static void hear(struct as_generator *g, struct as_conn *c)
{
	struct as_session *s = c->session;

	c->http.status = SWITCHING; /* an answer is counted as that of the upgrade */
	if (as_session_heard(s, c->due_ns, as_now()))
		as_gen_succeed(g, c);
	else if (s->tries == step_of(c)->most)
		as_gen_fail(g, c, AS_LOAD_UNTIL);
	as_buf_clear(&s->heard);
}

static bool is_listening(const struct as_conn *c)
{
	return c->asked && c->state == AS_CONN_WAITING;
}

/* It is open, and what the step sends is sent: what came before may be what it waits for. */
static void listen(struct as_generator *g, struct as_conn *c)
{
	size_t step = c->session->step;

	if (!step_of(c)->waits)
		as_gen_succeed(g, c);
	else if (c->session->missed.bad)
		as_gen_fail(g, c, AS_LOAD_DESCRIPTORS);
	while (is_listening(c) && c->session->step == step && as_session_recall(c->session))
		hear(g, c);
}

void as_talk_step(struct as_generator *g, struct as_conn *c)
{
	struct as_session *s = c->session;
	const struct as_flow_step *step = step_of(c);
	int64_t patience = step->within_ns ? step->within_ns : g->timeout_ns;

	if ((step->has_body && step->waits) || step->opens)
		as_session_forget(s);
	c->talk->message = step->has_body ? as_buf_text(&s->message) : NULL;
	c->talk->len = s->message.len;
	c->len = 0; /* nothing of it is owed, if nothing is sent */
	if (!as_agenda_add(&g->agenda, &s->waits, c->begun_ns + patience)) {
		as_gen_fail(g, c, AS_LOAD_DESCRIPTORS);
	} else if (step->opens) {
		as_gen_drop(g, c);
		as_buf_clear(&s->heard);
		as_gen_dial(g, c);
	} else if (c->talk->open) {
		as_talk_send(g, c);
	} else {
		as_gen_fail(g, c, c->talk->lost);
	}
}

void as_talk_wrote(struct as_generator *g, struct as_conn *c)
{
	if (c->session && c->talk->open && is_listening(c))
		listen(g, c);
}

void as_talk_send(struct as_generator *g, struct as_conn *c)
{
	if (c->talk->message || !c->session)
		send_message(g, c);
	else
		c->state = AS_CONN_WAITING;
	as_talk_wrote(g, c);
}

/* ── reading ──────────────────────────────────────────────────────────── */

/* It is not as it should be: the request on it fails, if there is one. */
static void broke(struct as_generator *g, struct as_conn *c, enum as_load_error kind)
{
	if (c->asked || c->state != AS_CONN_IDLE) {
		as_gen_fail(g, c, kind);
		return;
	}
	if (kind == AS_LOAD_PROTOCOL)
		as_gen_unasked(g);
	c->talk->lost = kind;
	as_gen_drop(g, c);
	as_gen_release(c, as_now());
}

static bool is_welcome(const struct as_conn *c)
{
	const struct as_talk *t = c->talk;

	return c->http.status == SWITCHING && t->said.websocket && !t->said.extended &&
	       !strcmp(t->said.text, t->accept);
}

static void welcome(struct as_generator *g, struct as_conn *c)
{
	struct as_talk *t = c->talk;

	t->open = t->began = true;
	t->asking = false;
	as_ws_begin(&t->ws, false);
	if (counts(g, c))
		as_histogram_add(&g->out->ws_connecting, as_now() - c->dialled_ns, 1);
	if (c->session)
		as_session_upgraded(c->session);
	as_gen_connected(g, c);
}

/* The answer to the upgrade: how many bytes of it there were. */
static size_t take_answer(struct as_generator *g, struct as_conn *c, const char *p, size_t n)
{
	size_t used = as_http_feed(&c->http, p, n);

	if (c->session)
		as_buf_add(&c->session->head, p, used);
	if (!as_http_over(&c->http))
		return used;
	if (c->http.state == AS_HTTP_HUGE) {
		as_gen_fail(g, c, AS_LOAD_HEADERS);
	} else if (c->http.state == AS_HTTP_BAD) {
		as_gen_fail(g, c, AS_LOAD_PROTOCOL);
	} else if (!is_welcome(c)) {
		enum as_load_error kind = as_gen_kind_of_status(c->http.status);

		as_gen_fail(g, c, kind == AS_LOAD_FINE ? AS_LOAD_UPGRADE : kind);
	} else {
		welcome(g, c);
	}
	return used;
}

static void answer_ping(struct as_generator *g, struct as_conn *c)
{
	as_auto_buf struct as_buf frame = AS_BUF(AS_BUF_LINE);
	const struct as_ws *w = &c->talk->ws;
	unsigned char key[4];

	new_key(g, key);
	as_ws_put(&frame, AS_WS_PONG, w->control, w->control_len, key);
	if (c->state != AS_CONN_WRITING) /* the next one may do */
		say(g, c, &frame);
}

static void take_control(struct as_generator *g, struct as_conn *c)
{
	const struct as_ws *w = &c->talk->ws;
	bool fine =
		w->code == AS_WS_NORMAL || w->code == AS_WS_NORMAL + 1 || w->code == AS_WS_NO_CODE;

	if (w->op == AS_WS_PING)
		answer_ping(g, c);
	if (w->op != AS_WS_CLOSE)
		return;
	say_close(g, c, fine ? AS_WS_NORMAL : w->code);
	broke(g, c, fine ? AS_LOAD_CLOSED : AS_LOAD_WS_CLOSE);
}

/* Without a session one that nobody asked for is none of our business. */
static void take_message(struct as_generator *g, struct as_conn *c)
{
	g->out->ws_received += counts(g, c);
	if (c->session && !is_listening(c))
		as_session_miss(c->session);
	else if (c->session)
		hear(g, c);
	else if (c->asked)
		as_gen_succeed(g, c);
}

static void take_piece(struct as_generator *g, struct as_conn *c, const struct as_ws_piece *piece)
{
	switch (piece->kind) {
	case AS_WS_PIECE:
		if (c->session)
			as_buf_add(&c->session->heard, piece->p, piece->n);
		break;
	case AS_WS_MESSAGE:
		take_message(g, c);
		break;
	case AS_WS_CONTROL:
		take_control(g, c);
		break;
	case AS_WS_IS_BAD:
	case AS_WS_IS_HUGE:
		say_close(g, c, piece->kind == AS_WS_IS_BAD ? AS_WS_WRONG : AS_WS_TOO_LARGE);
		broke(g, c, piece->kind == AS_WS_IS_BAD ? AS_LOAD_PROTOCOL : AS_LOAD_LARGE);
		break;
	default:
		break;
	}
}

void as_talk_take(struct as_generator *g, struct as_conn *c, const char *p, size_t n)
{
	struct as_ws_piece piece;
	size_t used = c->talk->open ? 0 : take_answer(g, c, p, n);

	while (c->talk->open) {
		used += as_ws_step(&c->talk->ws, p + used, n - used, &piece);
		if (piece.kind == AS_WS_NOTHING)
			return;
		take_piece(g, c, &piece);
	}
}
