#include "load/carrier.h"

#include <errno.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/fault.h"
#include "load/generating.h"

/* As much as is gathered before it is sent. */
enum { OUT_MOST = 256 << 10 };
/* So often a request is asked again: a server that only leaves would be dialled for ever. */
enum { AGAIN_MOST = 3 };

/* ── sending ──────────────────────────────────────────────────────────── */

static void arm(struct as_carrier *k, bool room)
{
	if (room == (k->wire.state == AS_CONN_WRITING))
		return;
	k->wire.state = room ? AS_CONN_WRITING : AS_CONN_IDLE;
	as_gen_watch(k->of, &k->wire, room ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* What HTTP/2 has to say, as much of it as is sent at once; false: nothing, or no memory. */
static bool gather(struct as_carrier *k)
{
	const struct as_http2 *by = k->of->cfg->http2;
	const char *p;

	as_buf_clear(&k->out);
	k->sent = 0;
	for (size_t n = 1; n && k->out.len < OUT_MOST / 2;) {
		n = by->give(&k->session, &p);
		as_buf_add(&k->out, p, n);
	}
	return k->out.len && !k->out.bad;
}

/* False: it is no more. */
static bool flush(struct as_carrier *k)
{
	k->dirty = false;
	while (k->up && (k->sent < k->out.len || gather(k))) {
		ssize_t n = as_link_send(&k->wire.link, k->out.p + k->sent, k->out.len - k->sent);

		if (n < 0 && n != -EAGAIN) {
			as_carrier_fail(k, as_gen_kind((int)-n));
			return false;
		}
		k->sent += n > 0 ? (size_t)n : 0;
		k->of->out->bytes_out += n > 0 ? (uint64_t)n : 0;
		if (n < 0)
			break;
	}
	if (k->out.bad)
		as_carrier_fail(k, AS_LOAD_DESCRIPTORS); /* no memory: something is missing now */
	else if (k->up && k->of->cfg->http2->over(&k->session) && (k->busy || !k->leaving))
		as_carrier_fail(k, AS_LOAD_PROTOCOL);
	else if (k->up)
		arm(k, k->sent < k->out.len);
	return k->up;
}

static void soil(struct as_carrier *k)
{
	if (k->dirty)
		return;
	k->dirty = true;
	k->next = k->of->dirty;
	k->of->dirty = k;
}

void as_carriers_flush(struct as_generator *g)
{
	while (g->dirty) {
		struct as_carrier *k = g->dirty;

		g->dirty = k->next;
		(void)flush(k);
	}
}

/* ── seats ────────────────────────────────────────────────────────────── */

static struct as_conn *seat_of(struct as_http2_stream *s)
{
	return (struct as_conn *)((char *)s - offsetof(struct as_conn, stream2));
}

static void unbind(struct as_conn *c)
{
	if (c->carrier)
		c->carrier->seats--;
	c->carrier = NULL;
}

void as_seat_ask(struct as_generator *g, struct as_conn *c)
{
	struct as_carrier *k = c->carrier;
	struct as_http2_ask ask;
	const char *scheme = c->server->place->tls ? "https" : "http";

	if (!k->session.ready) /* it will be asked when it is */
		return;
	c->sent = c->len;
	c->state = AS_CONN_WAITING;
	if (!as_http2_read(c->request, c->len, scheme, &ask) ||
	    !g->cfg->http2->ask(&k->session, &ask, &c->stream2)) {
		as_gen_fail(g, c, AS_LOAD_SYSTEM);
		return;
	}
	k->busy++;
	soil(k);
}

void as_seat_leave(struct as_conn *c)
{
	struct as_carrier *k = c->carrier;

	c->again = 0;
	if (!k)
		return;
	if (c->state == AS_CONN_WAITING) {
		k->of->cfg->http2->cancel(&k->session, &c->stream2);
		k->busy--;
		soil(k);
	}
	c->state = AS_CONN_IDLE;
	if (!k->session.ready || k->leaving)
		unbind(c);
}

static struct as_carrier *new_carrier(struct as_generator *g, struct as_gen_server *to)
{
	for (size_t i = 0; i < g->ncarriers; i++) {
		struct as_carrier *k = &g->carriers[i];

		if (k->used)
			continue;
		k->used = true;
		k->wire.server = to;
		k->up = k->leaving = false;
		k->seats = k->busy = 0;
		as_buf_clear(&k->out);
		k->sent = 0;
		return k;
	}
	return NULL;
}

static bool takes_more(const struct as_generator *g, const struct as_carrier *k)
{
	return k && k->used && !k->leaving && k->seats < g->cfg->streams;
}

void as_seat_join(struct as_generator *g, struct as_conn *c)
{
	struct as_gen_server *to = c->server;
	bool fresh = !takes_more(g, to->filling);

	if (fresh)
		to->filling = new_carrier(g, to);
	if (!to->filling) {
		as_gen_fail(g, c, AS_LOAD_DESCRIPTORS);
		return;
	}
	c->carrier = to->filling;
	c->carrier->seats++;
	c->state = AS_CONN_DIALING;
	if (fresh)
		as_gen_dial(g, &c->carrier->wire);
	else if (c->carrier->session.ready)
		as_gen_seated(g, c);
}

/* ── what is told by HTTP/2 ───────────────────────────────────────────── */

static void on_head(struct as_http2_stream *s, void *arg)
{
	const struct as_carrier *k = arg;
	struct as_conn *c = seat_of(s);

	if (!c->stream.first_byte_ns)
		c->stream.first_byte_ns = k->read_ns;
}

static void on_body(struct as_http2_stream *s, void *arg, const char *p, size_t n)
{
	struct as_carrier *k = arg;
	struct as_conn *c = seat_of(s);

	c->http.status = s->status;
	c->http.events = s->events;
	c->http.body += n;
	if (s->events)
		as_gen_body(k->of, c, p, n);
	else if (k->of->cfg->tokens)
		as_stream_keep(&c->stream, p, n);
}

/* It was not looked at: to another carrier, with the time that it already took. */
static void ask_again(struct as_generator *g, struct as_conn *c)
{
	if (c->again++ == AGAIN_MOST) {
		as_gen_fail(g, c, AS_LOAD_CLOSED);
		return;
	}
	unbind(c);
	as_seat_join(g, c);
}

static void on_over(struct as_http2_stream *s, void *arg, enum as_http2_end how)
{
	struct as_carrier *k = arg;
	struct as_conn *c = seat_of(s);

	k->busy--;
	c->http.status = s->status;
	c->http.keep = true;
	c->http.state = AS_HTTP_DONE;
	c->state = AS_CONN_IDLE;
	if (how == AS_HTTP2_REFUSED) {
		ask_again(k->of, c);
		return;
	}
	if (k->leaving)
		unbind(c);
	c->again = 0;
	if (how == AS_HTTP2_DONE)
		as_gen_succeed(k->of, c);
	else if (how == AS_HTTP2_RESET)
		as_gen_fail(k->of, c, s->events ? AS_LOAD_CUT : AS_LOAD_STREAM);
	else
		as_gen_fail(k->of, c, AS_LOAD_PROTOCOL);
}

static void on_ready(void *arg)
{
	struct as_carrier *k = arg;
	struct as_generator *g = k->of;

	g->out->opened++;
	k->wire.server->opened++;
	for (size_t i = 0; i < g->nconns; i++)
		if (g->conns[i].carrier == k)
			as_gen_seated(g, &g->conns[i]);
}

/* Who waits for nothing goes elsewhere at once, the others when they have their answers. */
static void on_away(void *arg)
{
	struct as_carrier *k = arg;
	struct as_generator *g = k->of;

	k->leaving = true;
	for (size_t i = 0; i < g->nconns; i++) {
		struct as_conn *c = &g->conns[i];

		if (c->carrier != k || c->asked)
			continue;
		unbind(c);
		as_conns_push(&c->server->down, c);
	}
}

/* ── the connection ───────────────────────────────────────────────────── */

static void close_it(struct as_carrier *k)
{
	if (k->up)
		k->of->cfg->http2->close(&k->session);
	k->up = k->used = k->session.ready = false;
	as_link_close(&k->wire.link);
	k->wire.state = AS_CONN_DOWN;
	if (k->wire.server->filling == k)
		k->wire.server->filling = NULL;
}

/* It is no more, and with it what was asked on it. */
void as_carrier_fail(struct as_carrier *k, enum as_load_error kind)
{
	struct as_generator *g = k->of;
	bool reached = k->session.ready, failed = false;

	close_it(k);
	for (size_t i = 0; i < g->nconns; i++) {
		struct as_conn *c = &g->conns[i];

		if (c->carrier != k)
			continue;
		unbind(c);
		c->state = reached ? AS_CONN_WAITING : AS_CONN_DIALING;
		if (c->in != &g->flight) {
			as_conns_push(&c->server->down, c);
			continue;
		}
		failed = true;
		as_gen_fail(g, c, kind);
	}
	if (kind == AS_LOAD_PROTOCOL && !failed)
		as_gen_unasked(g);
}

void as_carrier_reached(struct as_carrier *k)
{
	static const struct as_http2_ears ears = {on_head, on_body, on_over, on_ready, on_away};
	struct as_generator *g = k->of;

	k->session = (struct as_http2_session){.ears = &ears, .arg = k};
	if (!g->cfg->http2->open(&k->session)) {
		as_carrier_fail(k, AS_LOAD_DESCRIPTORS);
		return;
	}
	k->up = true;
	k->wire.state = AS_CONN_IDLE;
	if (flush(k) && as_link_pending(&k->wire.link))
		as_carrier_event(k, EPOLLIN);
}

/* False: there is nothing more, or nobody. */
static bool read_once(struct as_carrier *k)
{
	struct as_generator *g = k->of;
	ssize_t n = as_link_recv(&k->wire.link, g->bytes, AS_GEN_READ);

	if (n == -EAGAIN)
		return false;
	g->out->bytes_in += n > 0 ? (uint64_t)n : 0;
	k->read_ns = as_now();
	if (n <= 0) {
		as_carrier_fail(k, n ? as_gen_kind((int)-n) : AS_LOAD_CLOSED);
		return false;
	}
	if (!g->cfg->http2->take(&k->session, g->bytes, (size_t)n)) {
		as_carrier_fail(k, AS_LOAD_PROTOCOL);
		return false;
	}
	return true;
}

void as_carrier_event(struct as_carrier *k, uint32_t events)
{
	bool more = events & (EPOLLIN | EPOLLERR | EPOLLHUP) ? read_once(k) : false;

	while (more && as_link_pending(&k->wire.link))
		more = read_once(k);
	if (!k->up)
		return;
	if (flush(k) && k->leaving && !k->busy)
		close_it(k); /* the last answer is there */
}

/* ── all of them ──────────────────────────────────────────────────────── */

/* As many as there can be: each request that is under way may be on one that leaves. */
bool as_carriers_prepare(struct as_generator *g)
{
	g->ncarriers = g->nconns + g->nservers;
	g->carriers = as_zalloc_n(g->ncarriers, sizeof *g->carriers);
	for (size_t i = 0; g->carriers && i < g->ncarriers; i++) {
		struct as_carrier *k = &g->carriers[i];

		k->of = g;
		k->wire.link.fd = -1;
		k->wire.wire_of = k;
		k->out = AS_BUF(OUT_MOST);
	}
	return g->carriers;
}

void as_carriers_done(struct as_generator *g)
{
	for (size_t i = 0; g->carriers && i < g->ncarriers; i++) {
		if (g->carriers[i].used)
			close_it(&g->carriers[i]);
		as_buf_done(&g->carriers[i].out);
	}
	free(g->carriers);
}
