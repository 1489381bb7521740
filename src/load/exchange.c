#include <errno.h>
#include <sys/epoll.h>

#include "base/calls.h"
#include "base/clock.h"
#include "load/generating.h"

/* ── one connection ───────────────────────────────────────────────────── */

/*
 * Where one reading takes all that is there, the kernel tells of each arrival once: it need
 * not look at the connection again to see that it is empty. A record of TLS may lie behind
 * the one that was read, and who writes waits for two things: these are told until it is so.
 */
static uint32_t once(const struct as_conn *c, uint32_t events)
{
	bool all = events == EPOLLIN && !c->server->place->tls && !c->wire_of;

	return all ? EPOLLET | EPOLLRDHUP : 0;
}

static void watch(struct as_generator *g, struct as_conn *c, int op, uint32_t events)
{
	struct epoll_event e = {.events = events | once(c, events), .data.ptr = c};

	as_called(1);
	(void)epoll_ctl(g->epoll, op, c->link.fd, &e);
}

void as_gen_watch(struct as_generator *g, struct as_conn *c, uint32_t events)
{
	watch(g, c, EPOLL_CTL_MOD, events);
}

void as_gen_drop(struct as_generator *g, struct as_conn *c)
{
	if (c->talk)
		as_talk_leave(g, c);
	as_link_close(&c->link);
	c->state = AS_CONN_DOWN;
}

/* Its request, if it had one, is over; with a connection left it can have the next. */
void as_gen_release(struct as_conn *c, int64_t now)
{
	c->freed_ns = now;
	c->server->freed_ns = c->asked ? now : c->server->freed_ns;
	c->server->flight -= c->asked;
	c->asked = false;
	if (as_conn_is_side(c)) {
		c->state = c->link.fd >= 0 ? AS_CONN_IDLE : AS_CONN_DOWN;
		as_conns_push(&c->server->sides, c);
	} else if (c->link.fd >= 0 || c->carrier) {
		c->state = AS_CONN_IDLE;
		as_conns_push(&c->server->idle, c);
	} else {
		as_conns_push(&c->server->down, c);
	}
}

/* Of a session, the connection that stands for it: what is next may need it. */
static struct as_conn *come_home(struct as_conn *c, int64_t now)
{
	if (!as_conn_is_side(c))
		return c;
	as_gen_release(c->peer, now);
	return c->peer;
}

void as_gen_fail(struct as_generator *g, struct as_conn *c, enum as_load_error kind)
{
	if (c->wire_of) {
		as_carrier_fail(c->wire_of, kind);
		return;
	}
	int64_t now = as_now();
	bool never = c->state == AS_CONN_DIALING || c->state == AS_CONN_GREETING ||
		     (c->talk && as_talk_is_asking(c));
	if (c->asked)
		as_gen_record(g, c, as_gen_judge(g, c, kind, now), now);
	if (g->cfg->http2)
		as_seat_leave(c);
	else
		as_gen_drop(g, c);
	as_gen_release(c, now);
	c = come_home(c, now);
	if (never)
		c->server->until_ns = now + AS_GEN_REST;
	if (never && !as_gen_is_open(g))
		as_conns_append(&g->resting, c);
}

void as_gen_succeed(struct as_generator *g, struct as_conn *c)
{
	int64_t now = as_now();

	as_gen_record(g, c, as_gen_judge(g, c, AS_LOAD_FINE, now), now);
	if (!c->http.keep || c->sent < c->len)
		as_gen_drop(g, c);
	as_gen_release(c, now);
	c = come_home(c, now);
	if (c->session)
		as_gen_go_on(g, c, now);
}

/* ── writing ──────────────────────────────────────────────────────────── */

void as_gen_write(struct as_generator *g, struct as_conn *c)
{
	ssize_t n = as_link_send(&c->link, c->request + c->sent, c->len - c->sent);

	if (n < 0 && n != -EAGAIN) {
		as_gen_fail(g, c, as_gen_kind((int)-n));
		return;
	}
	c->sent += n > 0 ? (size_t)n : 0;
	g->out->bytes_out += n > 0 ? (uint64_t)n : 0;
	bool whole = c->sent == c->len, waits = c->state == AS_CONN_WRITING;
	if (whole == waits)
		watch(g, c, EPOLL_CTL_MOD, whole ? EPOLLIN : EPOLLIN | EPOLLOUT);
	c->state = whole ? AS_CONN_WAITING : AS_CONN_WRITING;
}

static void send_request(struct as_generator *g, struct as_conn *c)
{
	if (c->carrier)
		as_seat_ask(g, c);
	else if (c->talk)
		as_talk_send(g, c);
	else
		as_gen_write(g, c);
}

void as_gen_seated(struct as_generator *g, struct as_conn *c)
{
	c->state = AS_CONN_IDLE;
	if (c->asked)
		send_request(g, c);
	else
		as_gen_release(c, as_now());
}

void as_gen_connected(struct as_generator *g, struct as_conn *c)
{
	g->out->opened++;
	c->server->opened++;
	as_gen_seated(g, c);
}

/* Bytes can go both ways, hidden or not. */
static void connected(struct as_generator *g, struct as_conn *c)
{
	if (c->wire_of)
		as_carrier_reached(c->wire_of);
	else if (c->talk)
		as_talk_ask(g, c);
	else
		as_gen_connected(g, c);
}

/* ── TLS ──────────────────────────────────────────────────────────────── */

static void agreed(struct as_generator *g, struct as_conn *c, const struct as_tls_result *how)
{
	struct as_load *l = g->out;

	as_histogram_add(&l->handshake, as_now() - c->greeted_ns, 1);
	l->resumed += how->resumed;
	(void)snprintf(l->tls, sizeof l->tls, "%s", how->text);
	watch(g, c, EPOLL_CTL_MOD, EPOLLIN);
	connected(g, c);
}

/* Why it failed is worth a sentence, if nothing better is known. */
static void disagreed(struct as_generator *g, struct as_conn *c, const struct as_tls_result *how)
{
	if (!g->out->handshake.n)
		(void)snprintf(g->out->tls, sizeof g->out->tls, "%s", how->text);
	as_gen_fail(g, c, as_gen_kind_of_fault(how));
}

static void greet(struct as_generator *g, struct as_conn *c)
{
	struct as_tls_result how;
	enum as_tls_step step = as_link_handshake(&c->link, &how);

	if (step == AS_TLS_DONE)
		agreed(g, c, &how);
	else if (step == AS_TLS_FAILED)
		disagreed(g, c, &how);
	else
		watch(g, c, EPOLL_CTL_MOD, step == AS_TLS_READS ? EPOLLIN : EPOLLOUT);
}

/* Somebody is there. */
static void reached(struct as_generator *g, struct as_conn *c)
{
	if (!c->server->place->tls) {
		connected(g, c);
		return;
	}
	c->state = AS_CONN_GREETING;
	c->greeted_ns = as_now();
	if (as_link_secure(&c->link, c->server->place->tls))
		greet(g, c);
	else
		as_gen_fail(g, c, AS_LOAD_DESCRIPTORS);
}

/* ── dialling ─────────────────────────────────────────────────────────── */

/* The next address, if this one never answered anybody; or it is a failure. */
static bool try_next_address(struct as_gen_server *s)
{
	if (s->opened || s->address + 1 >= s->place->to.n)
		return false;
	s->address++;
	return true;
}

void as_gen_dial(struct as_generator *g, struct as_conn *c)
{
	struct as_gen_server *s = c->server;

	if (g->cfg->http2 && !c->wire_of) {
		as_seat_join(g, c);
		return;
	}
	c->dialled_ns = as_now();
	int why = as_dial(&s->place->to.at[s->address], &c->link.fd);

	while (why && why != EINPROGRESS && try_next_address(s))
		why = as_dial(&s->place->to.at[s->address], &c->link.fd);
	c->state = AS_CONN_DIALING;
	if (why && why != EINPROGRESS) {
		as_gen_fail(g, c, as_gen_kind(why));
		return;
	}
	watch(g, c, EPOLL_CTL_ADD, why ? EPOLLOUT : EPOLLIN);
	if (!why)
		reached(g, c);
}

static void dialled(struct as_generator *g, struct as_conn *c)
{
	int why = as_dialled(c->link.fd);

	if (!why) {
		watch(g, c, EPOLL_CTL_MOD, EPOLLIN);
		reached(g, c);
		return;
	}
	if (!try_next_address(c->server)) {
		as_gen_fail(g, c, as_gen_kind(why));
		return;
	}
	as_gen_drop(g, c);
	as_gen_dial(g, c);
}

/* They take turns. */
static void choose_request(const struct as_generator *g, struct as_conn *c)
{
	const struct as_load_place *to = c->server->place;
	size_t i = (size_t)((g->issued - 1) % g->cfg->nrequests), from = i ? to->ends[i - 1] : 0;

	c->request = to->request + from;
	c->len = to->ends[i] - from;
	if (c->talk)
		as_talk_begin(c);
	else
		as_http_response(&c->http, g->cfg->bodyless);
}

/* That of its session's step. False: it cannot be written. */
static bool write_step(struct as_conn *c)
{
	struct as_session *s = c->session;
	bool fits = as_session_write(s);

	if (c->talk) {
		c->http.status = 0;
		return fits;
	}
	c->request = s->request.p;
	c->len = s->request.len;
	as_http_response(&c->http, s->plan->step[s->step].bodyless);
	return fits;
}

void as_gen_begin(struct as_generator *g, struct as_conn *c, int64_t due, int64_t now)
{
	g->issued++;
	if (due < g->from_ns && g->most < g->rows)
		g->most++; /* those of the warm-up come beside what was asked for */
	if (c->session) {
		g->at_work++;
		as_session_begin(c->session, g->issued, due);
	}
	as_gen_ask(g, c, due, now);
}

void as_gen_ask(struct as_generator *g, struct as_conn *c, int64_t due, int64_t now)
{
	bool fits = true;

	if (c->session)
		c = as_gen_speaker(g, c);
	c->asked = true;
	c->due_ns = due;
	c->begun_ns = now;
	c->sent = 0;
	if (c->session)
		fits = write_step(c);
	else
		choose_request(g, c);
	as_gen_chosen(g, c);
	as_stream_begin(&c->stream);
	as_conns_append(as_conn_is_side(c) ? &g->talking : &g->flight, c);
	if (!fits)
		as_gen_fail(g, c, c->session->starved ? AS_LOAD_DESCRIPTORS : AS_LOAD_CAPTURE);
	else if (as_conn_is_side(c))
		as_talk_step(g, c);
	else if (c->link.fd >= 0 || c->carrier)
		send_request(g, c);
	else
		as_gen_dial(g, c);
}

/* ── reading ──────────────────────────────────────────────────────────── */

static bool is_stream(const struct as_conn *c)
{
	return c->http.chunked || c->http.events;
}

/* Where a stream's pieces are counted: nowhere, if it began in the warm-up. */
static struct as_stream_into streams_of(struct as_generator *g, const struct as_conn *c)
{
	if (c->due_ns < g->from_ns)
		return (struct as_stream_into){0};
	return (struct as_stream_into){&g->out->stream, &g->slice->stream};
}

void as_gen_body(struct as_generator *g, struct as_conn *c, const char *p, size_t n)
{
	int64_t now = as_now();

	as_stream_note(&c->stream, streams_of(g, c), &c->http, now);
	as_stream_body(&c->stream, streams_of(g, c), p, n, now);
}

static bool in_head(const struct as_conn *c)
{
	return c->http.state == AS_HTTP_START || c->http.state == AS_HTTP_HEADER;
}

/* The answer goes on: what of it is in these bytes, and how many they are. */
static size_t feed(struct as_generator *g, struct as_conn *c, size_t n)
{
	struct as_span piece;
	int64_t now = c->http.events ? as_now() : 0;
	size_t used = 0;

	if (!c->session) /* which looks at heads itself */
		used = as_http_take_head(&c->http, &c->server->head, g->bytes, n);
	while (used < n && !as_http_over(&c->http)) {
		bool head = c->session && in_head(c);
		size_t took = as_http_step(&c->http, g->bytes + used, n - used, &piece);

		if (c->session)
			as_session_keep(c->session, g->bytes + used, took, head, &piece);
		used += took;
		if (g->cfg->tokens && !c->http.events)
			as_stream_keep(&c->stream, piece.p, piece.n);
		if (!c->http.events)
			continue;
		now = now ? now : as_now();
		as_stream_body(&c->stream, streams_of(g, c), piece.p, piece.n, now);
	}
	return used;
}

static void take(struct as_generator *g, struct as_conn *c, size_t n)
{
	size_t used = feed(g, c, n);

	if (is_stream(c) || !as_http_over(&c->http))
		as_stream_note(&c->stream, streams_of(g, c), &c->http, as_now());
	if (!as_http_over(&c->http))
		return;
	if (c->http.state == AS_HTTP_HUGE)
		as_gen_fail(g, c, AS_LOAD_HEADERS);
	else if (c->http.state == AS_HTTP_BAD || used < n)
		as_gen_fail(g, c, AS_LOAD_PROTOCOL);
	else
		as_gen_succeed(g, c);
}

/* The connection is no more: a stream that was under way is cut off, whoever did it. */
static enum as_load_error kind_of_end(const struct as_conn *c, enum as_load_error kind)
{
	return is_stream(c) && c->http.body && !as_http_over(&c->http) ? AS_LOAD_CUT : kind;
}

static void ended(struct as_generator *g, struct as_conn *c)
{
	as_http_end(&c->http);
	if (c->http.state == AS_HTTP_DONE)
		as_gen_succeed(g, c);
	else
		as_gen_fail(g, c, kind_of_end(c, AS_LOAD_CLOSED));
}

/* Nobody asked: the server hangs up, or says what no request wanted to know. */
static void disturbed(struct as_generator *g, struct as_conn *c, ssize_t n)
{
	if (n > 0 && !as_http_is_farewell(g->bytes, (size_t)n))
		as_gen_unasked(g);
	as_gen_drop(g, c);
	as_gen_release(c, as_now());
	if (c->session && !c->talk)
		as_gen_go_on(g, c, as_now());
}

/* How much it was; -EAGAIN: nothing. */
static ssize_t read_once(struct as_generator *g, struct as_conn *c)
{
	ssize_t n = as_link_recv(&c->link, g->bytes, AS_GEN_READ);

	if (n == -EAGAIN)
		return n;
	g->out->bytes_in += n > 0 ? (uint64_t)n : 0;
	if (c->talk && n > 0)
		as_talk_take(g, c, g->bytes, (size_t)n);
	else if (c->state == AS_CONN_IDLE)
		disturbed(g, c, n);
	else if (n < 0)
		as_gen_fail(g, c, kind_of_end(c, as_gen_kind((int)-n)));
	else if (n == 0 && c->talk)
		as_gen_fail(g, c, AS_LOAD_CLOSED);
	else if (n == 0)
		ended(g, c);
	else
		take(g, c, (size_t)n);
	return n;
}

/* Behind what was read is the end, which is told once, or what nobody will tell of. */
static bool has_more(const struct as_conn *c, uint32_t events)
{
	bool up = c->state >= AS_CONN_WRITING;

	return up && (events & (EPOLLRDHUP | EPOLLERR) || as_link_pending(&c->link));
}

static void read_answer(struct as_generator *g, struct as_conn *c, uint32_t events)
{
	ssize_t n = read_once(g, c);

	while (n != -EAGAIN && has_more(c, events))
		n = read_once(g, c);
	if (n == AS_GEN_READ && c->state > AS_CONN_WRITING) /* maybe not all: others first */
		watch(g, c, EPOLL_CTL_MOD, EPOLLIN);
}

static void write_more(struct as_generator *g, struct as_conn *c)
{
	as_gen_write(g, c);
	if (c->talk)
		as_talk_wrote(g, c);
}

void as_gen_event(struct as_generator *g, struct as_conn *c, uint32_t events)
{
	if (c->state == AS_CONN_DIALING)
		dialled(g, c);
	else if (c->state == AS_CONN_GREETING)
		greet(g, c);
	else if (c->wire_of)
		as_carrier_event(c->wire_of, events);
	else if (c->state == AS_CONN_WRITING && !(events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		write_more(g, c);
	else if (c->state != AS_CONN_DOWN)
		read_answer(g, c, events);
}
