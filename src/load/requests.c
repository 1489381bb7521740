#include "load/requests.h"

#include <errno.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/fault.h"
#include "load/generating.h"
#include "net/http1_write.h"

enum { EVENTS = 256, READ_BYTES = 64 << 10 };

/* ── one connection ───────────────────────────────────────────────────── */

static void watch(struct as_requests *k, struct as_request *c, int op, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = c};

	as_called(1);
	(void)epoll_ctl(k->epoll, op, c->link.fd, &e);
}

static void drop(struct as_request *c)
{
	as_link_close(&c->link);
	c->dialling = c->greeting = c->writing = false;
}

static void set_moment(struct as_requests *k, struct as_request *c, int64_t at)
{
	c->at_ns = at;
	if (at < k->check_ns)
		k->check_ns = at;
}

static void end(struct as_requests *k, struct as_request *c, enum as_load_error how)
{
	bool answered = how >= AS_LOAD_STATUS_4XX;

	c->ended_ns = as_now();
	c->how = how;
	c->stale = !answered && c->reused && !c->bytes_in && how != AS_LOAD_TIMEOUT;
	c->asked = false;
	c->at_ns = INT64_MAX;
	if (!answered || !c->http.keep || c->sent < c->request.len)
		drop(c);
	k->done(k->arg, c);
}

static void write_more(struct as_requests *k, struct as_request *c)
{
	ssize_t n = as_link_send(&c->link, c->request.p + c->sent, c->request.len - c->sent);

	if (n < 0 && n != -EAGAIN) {
		end(k, c, as_gen_kind((int)-n));
		return;
	}
	c->sent += n > 0 ? (size_t)n : 0;
	c->bytes_out += n > 0 ? (uint64_t)n : 0;
	k->bytes_out += n > 0 ? (uint64_t)n : 0;
	bool more = c->sent < c->request.len;
	if (more != c->writing)
		watch(k, c, EPOLL_CTL_MOD, more ? EPOLLIN | EPOLLOUT : EPOLLIN);
	c->writing = more;
}

/* The request can go. */
static void connected(struct as_requests *k, struct as_request *c)
{
	k->opened++;
	c->with = c->to;
	write_more(k, c);
}

static void greet(struct as_requests *k, struct as_request *c)
{
	struct as_tls_result how;
	enum as_tls_step step = as_link_handshake(&c->link, &how);

	c->greeting = step != AS_TLS_DONE;
	if (step == AS_TLS_FAILED)
		end(k, c, as_gen_kind_of_fault(&how));
	else
		watch(k, c, EPOLL_CTL_MOD, step == AS_TLS_WRITES ? EPOLLOUT : EPOLLIN);
	if (step == AS_TLS_DONE)
		connected(k, c);
}

/* Somebody is there. */
static void reached(struct as_requests *k, struct as_request *c)
{
	if (!c->tls)
		connected(k, c);
	else if (as_link_secure(&c->link, c->tls))
		greet(k, c);
	else
		end(k, c, AS_LOAD_DESCRIPTORS);
}

static void dial(struct as_requests *k, struct as_request *c)
{
	int why = as_dial(&c->to->at[c->address], &c->link.fd);

	while (why && why != EINPROGRESS && c->address + 1 < c->to->n)
		why = as_dial(&c->to->at[++c->address], &c->link.fd);
	if (why && why != EINPROGRESS) {
		end(k, c, as_gen_kind(why));
		return;
	}
	c->dialling = true; /* also when it is there: the kernel says so at once */
	watch(k, c, EPOLL_CTL_ADD, EPOLLOUT);
}

static void dialled(struct as_requests *k, struct as_request *c)
{
	int why = as_dialled(c->link.fd);

	if (why && c->address + 1 < c->to->n) {
		drop(c);
		c->address++;
		dial(k, c);
		return;
	}
	if (why) {
		end(k, c, as_gen_kind(why));
		return;
	}
	c->dialling = false;
	watch(k, c, EPOLL_CTL_MOD, EPOLLIN);
	reached(k, c);
}

void as_request_begin(struct as_requests *k, struct as_request *c)
{
	if (c->link.fd >= 0 && c->with != c->to)
		drop(c);
	c->asked = true;
	c->reused = c->link.fd >= 0;
	c->sent = c->address = 0;
	c->bytes_in = c->bytes_out = 0;
	as_buf_clear(&c->head);
	as_buf_clear(&c->body);
	as_http_response(&c->http, false);
	c->begun_ns = as_now();
	set_moment(k, c, c->begun_ns + c->timeout_ns);
	if (c->link.fd >= 0)
		write_more(k, c);
	else
		dial(k, c);
}

void as_request_sleep(struct as_requests *k, struct as_request *c, int64_t until_ns)
{
	set_moment(k, c, until_ns);
}

/* ── answers ──────────────────────────────────────────────────────────── */

static bool in_head(const struct as_request *c)
{
	return c->http.state == AS_HTTP_START || c->http.state == AS_HTTP_HEADER;
}

/* The head and the body are kept, what lies between chunks is not. */
static size_t feed(struct as_request *c, const char *p, size_t n)
{
	struct as_span piece;
	size_t used = 0;

	while (used < n && !as_http_over(&c->http)) {
		bool head = in_head(c);
		size_t took = as_http_step(&c->http, p + used, n - used, &piece);

		if (head)
			as_buf_add(&c->head, p + used, took - piece.n);
		as_buf_add(&c->body, piece.p, piece.n);
		used += took;
	}
	return used;
}

static void take(struct as_requests *k, struct as_request *c, size_t n)
{
	size_t used = feed(c, k->bytes, n);

	if (c->body.bad)
		end(k, c, c->body.full ? AS_LOAD_LARGE : AS_LOAD_DESCRIPTORS);
	else if (!as_http_over(&c->http))
		return;
	else if (c->http.state == AS_HTTP_HUGE)
		end(k, c, AS_LOAD_HEADERS);
	else if (c->http.state == AS_HTTP_BAD || used < n)
		end(k, c, AS_LOAD_PROTOCOL);
	else
		end(k, c, as_gen_kind_of_status(c->http.status));
}

static void ended(struct as_requests *k, struct as_request *c)
{
	as_http_end(&c->http);
	end(k, c,
	    c->http.state == AS_HTTP_DONE ? as_gen_kind_of_status(c->http.status) : AS_LOAD_CLOSED);
}

/* Nobody asked: the server hangs up, or says what no request wanted to know. */
static void disturbed(struct as_requests *k, struct as_request *c, ssize_t n)
{
	k->unasked += n > 0 && !as_http_is_farewell(k->bytes, (size_t)n);
	drop(c);
}

static bool read_once(struct as_requests *k, struct as_request *c)
{
	ssize_t n = as_link_recv(&c->link, k->bytes, READ_BYTES);

	if (n == -EAGAIN)
		return false;
	c->bytes_in += n > 0 ? (uint64_t)n : 0;
	k->bytes_in += n > 0 ? (uint64_t)n : 0;
	if (!c->asked)
		disturbed(k, c, n);
	else if (n < 0)
		end(k, c, as_gen_kind((int)-n));
	else if (n == 0)
		ended(k, c);
	else
		take(k, c, (size_t)n);
	return c->asked;
}

static void read_more(struct as_requests *k, struct as_request *c)
{
	bool more = read_once(k, c);

	while (more && as_link_pending(&c->link))
		more = read_once(k, c);
}

/* ── the loop ─────────────────────────────────────────────────────────── */

static void on_event(struct as_requests *k, struct as_request *c, uint32_t events)
{
	if (c->link.fd < 0)
		return;
	if (c->dialling)
		dialled(k, c);
	else if (c->greeting)
		greet(k, c);
	else if (c->writing && !(events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		write_more(k, c);
	else
		read_more(k, c);
}

/* Whose moment has come: given up, or woken. */
static void on_time(struct as_requests *k, int64_t now)
{
	if (now < k->check_ns)
		return;
	k->check_ns = INT64_MAX;
	for (size_t i = 0; i < k->n; i++) {
		struct as_request *c = &k->v[i];

		if (c->at_ns > now) {
			set_moment(k, c, c->at_ns);
			continue;
		}
		c->at_ns = INT64_MAX;
		if (c->asked)
			end(k, c, AS_LOAD_TIMEOUT);
		else
			k->woke(k->arg, c);
	}
}

void as_requests_turn(struct as_requests *k, int64_t until_ns)
{
	struct epoll_event events[EVENTS];
	int64_t now = as_now(), at = until_ns < k->check_ns ? until_ns : k->check_ns;
	int64_t ms = at > now ? (at - now + AS_MSEC - 1) / AS_MSEC : 0;

	as_called(1);
	int n = epoll_wait(k->epoll, events, EVENTS, (int)(ms < 1000 ? ms : 1000));
	for (int i = 0; i < n; i++)
		if (events[i].data.ptr)
			on_event(k, events[i].data.ptr, events[i].events);
		else
			k->stopped = true;
	on_time(k, as_now());
}

int as_requests_init(struct as_requests *k, size_t n, int stop_fd, struct as_err *err)
{
	struct epoll_event e = {.events = EPOLLIN};

	*k = (struct as_requests){.epoll = epoll_create1(EPOLL_CLOEXEC), .check_ns = INT64_MAX};
	if (k->epoll < 0 || (stop_fd >= 0 && epoll_ctl(k->epoll, EPOLL_CTL_ADD, stop_fd, &e) < 0))
		return as_fail_errno(err, errno, "prepare to wait for answers");
	k->bytes = as_zalloc(READ_BYTES);
	k->v = as_zalloc_n(n, sizeof *k->v);
	if (!k->bytes || !k->v)
		return as_fail(err, AS_ENOMEM, "no memory for %zu requests at once", n);
	for (k->n = 0; k->n < n; k->n++)
		k->v[k->n] = (struct as_request){.link.fd = -1,
						 .at_ns = INT64_MAX,
						 .request = AS_BUF(AS_ANSWER_MOST),
						 .head = AS_BUF(AS_BUF_LINE + AS_HTTP_LINE),
						 .body = AS_BUF(AS_ANSWER_MOST)};
	return AS_OK;
}

void as_requests_done(struct as_requests *k)
{
	for (size_t i = 0; i < k->n; i++) {
		drop(&k->v[i]);
		as_buf_done(&k->v[i].request);
		as_buf_done(&k->v[i].head);
		as_buf_done(&k->v[i].body);
	}
	free(k->v);
	free(k->bytes);
	as_close_(&k->epoll);
}

/* ── one alone ────────────────────────────────────────────────────────── */

static void be_done(void *arg, struct as_request *c)
{
	(void)c;
	*(bool *)arg = true;
}

static int why_not(const char *url, const struct as_request *c, struct as_err *err)
{
	if (c->how == AS_LOAD_FINE)
		return AS_OK;
	if (c->how >= AS_LOAD_STATUS_4XX)
		return as_fail(err, AS_EIO, "%s answers %u: %.80s", url, c->http.status,
			       as_buf_text(&c->body));
	return as_fail(err, c->how == AS_LOAD_REFUSED ? AS_ENOTFOUND : AS_EIO, "%s: %s", url,
		       as_load_error_help(c->how));
}

int as_request_once(const char *url, const char *method, const struct as_buf *body,
		    int64_t timeout_ns, unsigned *ret_status, struct as_buf *ret_body,
		    struct as_err *err)
{
	static const char *const json[] = {"Content-Type: application/json"};
	struct as_url at;
	struct as_addresses to;
	bool done = false;
	as_auto_requests struct as_requests k = {.epoll = -1};
	int r = as_url_parse_plain(url, &at, err);

	if (r == AS_OK)
		r = as_resolve(&at, &to, err);
	if (r == AS_OK)
		r = as_requests_init(&k, 1, -1, err);
	if (r < 0)
		return r;
	const struct as_http_ask ask = {.url = &at,
					.method = method,
					.headers = json,
					.nheaders = body ? 1 : 0,
					.body = body ? body->p : NULL,
					.body_len = body ? body->len : 0,
					.has_body = body};
	r = as_http_put(&k.v->request, &ask, err);
	if (r < 0)
		return r;
	k.done = be_done;
	k.arg = &done;
	k.v->to = &to;
	k.v->timeout_ns = timeout_ns;
	as_request_begin(&k, k.v);
	while (!done)
		as_requests_turn(&k, INT64_MAX);
	if (ret_status)
		*ret_status = k.v->how >= AS_LOAD_STATUS_4XX ? k.v->http.status : 0;
	as_buf_add(ret_body, as_buf_text(&k.v->body), k.v->body.len);
	r = why_not(url, k.v, err);
	return r < 0 ? r : as_buf_ok(ret_body, err);
}
