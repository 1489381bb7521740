#include <errno.h>
#include <sys/epoll.h>

#include "base/fault.h"
#include "load/serving.h"

/* The next request. */
void as_client_listen(struct as_client *c)
{
	as_http_request(&c->http, c->target, sizeof c->target);
	c->upgrade = (struct as_http_upgrade){0};
	c->http.upgrade = &c->upgrade;
}

/* ── coming and going ─────────────────────────────────────────────────── */

void as_client_welcome(struct as_stub *s, int fd)
{
	struct as_client *c = as_zalloc(sizeof *c);
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};

	if (!c) {
		as_hang_up(fd);
		return;
	}
	s->count.conns++;
	c->link.fd = fd;
	c->own = AS_BUF(AS_STUB_BODY_MOST * 2);
	c->body = AS_BUF(AS_MODEL_REQUEST_MOST);
	as_client_listen(c);
	c->after = s->clients;
	if (s->clients)
		s->clients->before = c;
	s->clients = c;
	(void)epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e);
	c->greeting = s->cfg->tls;
	if (c->greeting && !as_link_secure(&c->link, s->cfg->tls))
		as_client_leave(s, c, true);
}

void as_client_leave(struct as_stub *s, struct as_client *c, bool rudely)
{
	as_agenda_remove(&s->agenda, &c->when);
	as_reply_forget(s, c);
	if (rudely)
		as_link_cut(&c->link);
	else
		as_link_close(&c->link);
	c->gone = true;
	*(c->before ? &c->before->after : &s->clients) = c->after;
	if (c->after)
		c->after->before = c->before;
	c->after = s->dead;
	s->dead = c;
}

void as_clients_free(struct as_client **list)
{
	while (*list) {
		struct as_client *c = *list;

		*list = c->after;
		as_buf_done(&c->own);
		as_buf_done(&c->body);
		free(c->ws);
		free(c);
	}
}

/* ── TLS ──────────────────────────────────────────────────────────────── */

static void arm(struct as_stub *s, struct as_client *c, bool write)
{
	struct epoll_event e = {.events = write ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = c};

	if (c->armed != write)
		(void)epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->link.fd, &e);
	c->armed = write;
}

static void greet(struct as_stub *s, struct as_client *c)
{
	struct as_tls_result how;
	enum as_tls_step step = as_link_handshake(&c->link, &how);

	c->greeting = step != AS_TLS_DONE;
	if (step == AS_TLS_FAILED)
		as_client_leave(s, c, false);
	else
		arm(s, c, step == AS_TLS_WRITES);
	if (step == AS_TLS_DONE && as_link_pending(&c->link))
		as_client_readable(s, c);
}

/* ── writing ──────────────────────────────────────────────────────────── */

void as_client_write(struct as_stub *s, struct as_client *c)
{
	if (c->greeting) {
		greet(s, c);
		return;
	}
	ssize_t n = as_link_send(&c->link, c->out + c->sent, c->out_len - c->sent);

	if (n < 0 && n != -EAGAIN) {
		as_client_leave(s, c, false);
		return;
	}
	c->sent += n > 0 ? (size_t)n : 0;
	s->count.bytes_out += n > 0 ? (uint64_t)n : 0;
	arm(s, c, c->sent < c->out_len);
	if (c->sent == c->out_len)
		as_reply_written(s, c);
}

/* ── reading ──────────────────────────────────────────────────────────── */

/* Only a model wants to know what is in a request. */
static size_t take(struct as_client *c, const char *p, size_t n)
{
	struct as_span piece;
	size_t used = 0;

	while (used < n && !as_http_over(&c->http)) {
		used += as_http_step(&c->http, p + used, n - used, &piece);
		if (piece.n && as_model_of(c->target))
			as_buf_add(&c->body, piece.p, piece.n);
	}
	return used;
}

/* ── a WebSocket ──────────────────────────────────────────────────────── */

/* A ping is answered at once; a close is, and that was it. */
static void take_control(struct as_stub *s, struct as_client *c)
{
	as_auto_buf struct as_buf frame = AS_BUF(AS_BUF_LINE);
	const struct as_ws *w = c->ws;

	if (w->op == AS_WS_PING)
		as_ws_put(&frame, AS_WS_PONG, w->control, w->control_len, NULL);
	else if (w->op == AS_WS_CLOSE)
		as_ws_put(&frame, AS_WS_CLOSE, w->control, w->control_len, NULL);
	ssize_t n = frame.len ? as_link_send(&c->link, frame.p, frame.len) : 0;
	s->count.bytes_out += n > 0 ? (uint64_t)n : 0;
	if (w->op == AS_WS_CLOSE)
		as_client_leave(s, c, false);
}

static void keep_piece(struct as_client *c, const struct as_ws_piece *piece)
{
	char *to = as_buf_room(&c->body, piece->n);

	if (!to)
		return;
	as_ws_mask(to, piece->p, piece->n, c->ws->key, piece->at);
	to[piece->n] = '\0';
	c->body.len += piece->n;
}

static void take_piece(struct as_stub *s, struct as_client *c, const struct as_ws_piece *piece)
{
	if (piece->kind == AS_WS_PIECE)
		keep_piece(c, piece);
	else if (piece->kind == AS_WS_CONTROL)
		take_control(s, c);
	else if (piece->kind == AS_WS_MESSAGE && c->phase == AS_CLIENT_ASKS && !c->body.bad)
		as_reply_message(s, c);
	else if (piece->kind != AS_WS_NOTHING) /* broken, or more than we keep */
		as_client_leave(s, c, false);
}

static void take_frames(struct as_stub *s, struct as_client *c, size_t n)
{
	struct as_ws_piece piece = {.kind = AS_WS_PIECE};

	for (size_t used = 0; piece.kind && !c->gone;) {
		used += as_ws_step(c->ws, s->bytes + used, n - used, &piece);
		take_piece(s, c, &piece);
	}
}

/* False: there is nothing more, or nobody. */
static bool read_once(struct as_stub *s, struct as_client *c)
{
	ssize_t n = as_link_recv(&c->link, s->bytes, AS_STUB_READ);

	if (n == -EAGAIN)
		return false;
	if (n <= 0 || (as_http_over(&c->http) && !c->ws)) { /* over, or more than was asked for */
		as_client_leave(s, c, false);
		return false;
	}
	s->count.bytes_in += (uint64_t)n;
	if (c->ws) {
		take_frames(s, c, (size_t)n);
		return !c->gone;
	}
	size_t used = take(c, s->bytes, (size_t)n);
	if (!as_http_over(&c->http))
		return true;
	if (c->http.state == AS_HTTP_DONE && used == (size_t)n)
		as_reply_asked(s, c);
	else
		as_client_leave(s, c, false);
	return !c->gone;
}

void as_client_readable(struct as_stub *s, struct as_client *c)
{
	if (c->greeting) {
		greet(s, c);
		return;
	}
	while (read_once(s, c) && as_link_pending(&c->link))
		;
}
