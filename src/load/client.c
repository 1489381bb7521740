#include <errno.h>
#include <sys/epoll.h>

#include "base/fault.h"
#include "load/serving.h"

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
	as_http_request(&c->http, c->target, sizeof c->target);
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
	struct as_http_piece piece;
	size_t used = 0;

	while (used < n && !as_http_over(&c->http)) {
		used += as_http_step(&c->http, p + used, n - used, &piece);
		if (piece.n && as_model_of(c->target))
			as_buf_add(&c->body, piece.p, piece.n);
	}
	return used;
}

/* False: there is nothing more, or nobody. */
static bool read_once(struct as_stub *s, struct as_client *c)
{
	ssize_t n = as_link_recv(&c->link, s->bytes, AS_STUB_READ);

	if (n == -EAGAIN)
		return false;
	if (n <= 0 || as_http_over(&c->http)) { /* over, or more than was asked for */
		as_client_leave(s, c, false);
		return false;
	}
	s->count.bytes_in += (uint64_t)n;
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
