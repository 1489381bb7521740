#include <errno.h>
#include <sys/epoll.h>

#include "base/fault.h"
#include "load/serving.h"
#include "net/socket.h"

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
	c->fd = fd;
	c->own = AS_BUF(AS_STUB_BODY_MOST * 2);
	c->body = AS_BUF(AS_MODEL_REQUEST_MOST);
	as_http_request(&c->http, c->target, sizeof c->target);
	c->after = s->clients;
	if (s->clients)
		s->clients->before = c;
	s->clients = c;
	(void)epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e);
}

void as_client_leave(struct as_stub *s, struct as_client *c, bool rudely)
{
	as_agenda_remove(&s->agenda, &c->when);
	as_reply_forget(s, c);
	if (rudely)
		as_cut_off(c->fd);
	else
		as_hang_up(c->fd);
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

/* ── writing ──────────────────────────────────────────────────────────── */

static void arm(struct as_stub *s, struct as_client *c, bool write)
{
	struct epoll_event e = {.events = write ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = c};

	if (c->armed != write)
		(void)epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->fd, &e);
	c->armed = write;
}

void as_client_write(struct as_stub *s, struct as_client *c)
{
	ssize_t n = as_send(c->fd, c->out + c->sent, c->out_len - c->sent);

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

void as_client_readable(struct as_stub *s, struct as_client *c)
{
	ssize_t n = as_recv(c->fd, s->bytes, AS_STUB_READ);

	if (n == -EAGAIN)
		return;
	if (n <= 0 || as_http_over(&c->http)) { /* over, or more than was asked for */
		as_client_leave(s, c, false);
		return;
	}
	s->count.bytes_in += (uint64_t)n;
	size_t used = take(c, s->bytes, (size_t)n);
	if (!as_http_over(&c->http))
		return;
	if (c->http.state == AS_HTTP_DONE && used == (size_t)n)
		as_reply_asked(s, c);
	else
		as_client_leave(s, c, false);
}
