#include "load/generating.h"

#include <errno.h>

#include "base/clock.h"

static const struct {
	int os;
	enum as_load_error kind;
} kinds[] = {
	{ECONNREFUSED, AS_LOAD_REFUSED},
	{ENOENT, AS_LOAD_REFUSED},
	{ENETUNREACH, AS_LOAD_UNREACHABLE},
	{EHOSTUNREACH, AS_LOAD_UNREACHABLE},
	{ENETDOWN, AS_LOAD_UNREACHABLE},
	{EMFILE, AS_LOAD_DESCRIPTORS},
	{ENFILE, AS_LOAD_DESCRIPTORS},
	{EADDRNOTAVAIL, AS_LOAD_DESCRIPTORS},
	{ENOMEM, AS_LOAD_DESCRIPTORS},
	{ENOBUFS, AS_LOAD_DESCRIPTORS},
	{ECONNRESET, AS_LOAD_RESET},
	{EPIPE, AS_LOAD_RESET},
	{ECONNABORTED, AS_LOAD_RESET},
	{ETIMEDOUT, AS_LOAD_TIMEOUT},
	{EPROTO, AS_LOAD_TLS},
};

enum as_load_error as_gen_kind(int os)
{
	for (size_t i = 0; i < AS_LEN(kinds); i++)
		if (kinds[i].os == os)
			return kinds[i].kind;
	return AS_LOAD_SYSTEM;
}

enum as_load_error as_gen_kind_of_fault(const struct as_tls_result *how)
{
	static const enum as_load_error of[] = {
		[AS_TLS_EXPIRED] = AS_LOAD_TLS_EXPIRED, [AS_TLS_HOST] = AS_LOAD_TLS_HOST,
		[AS_TLS_ISSUER] = AS_LOAD_TLS_ISSUER,   [AS_TLS_PROTOCOL] = AS_LOAD_ALPN,
		[AS_TLS_NONE] = AS_LOAD_NO_TLS,         [AS_TLS_OTHER] = AS_LOAD_TLS,
	};

	if (how->fault != AS_TLS_SYSTEM)
		return of[how->fault];
	return how->os ? as_gen_kind(how->os) : AS_LOAD_CLOSED;
}

/* Until the first byte; an answer that came at once is one. */
static int64_t waited(const struct as_conn *c, int64_t now)
{
	return (c->stream.first_byte_ns ? c->stream.first_byte_ns : now) - c->begun_ns;
}

/* … and of one of several servers. */
static void record_at(struct as_load_server *s, const struct as_conn *c, enum as_load_error kind,
		      int64_t now)
{
	if (!s)
		return;
	s->requests++;
	if (kind != AS_LOAD_FINE)
		s->errors[kind]++;
	if (kind >= AS_LOAD_STATUS_4XX)
		s->status[as_load_class(c->http.status)]++;
	as_histogram_add(&s->latency, now - c->due_ns, 1);
}

static void record_step(struct as_load_step *s, const struct as_conn *c, enum as_load_error kind,
			bool met, int64_t now)
{
	s->requests++;
	s->met += met;
	if (kind != AS_LOAD_FINE)
		s->errors[kind]++;
	if (kind >= AS_LOAD_STATUS_4XX && c->http.status)
		s->status[as_load_class(c->http.status)]++;
	as_histogram_add(&s->latency, now - c->due_ns, 1);
	as_histogram_add(&s->wire, now - c->begun_ns, 1);
	as_histogram_add(&s->waiting, waited(c, now), 1);
}

/* Also of an answer that came at once, how many tokens it says it has. */
static void record_stream(struct as_conn *c, struct as_load_streams *to)
{
	if (c->http.events || c->http.chunked)
		as_stream_record(&c->stream, to, c->due_ns);
	else
		as_stream_record_tokens(&c->stream, to);
}

/* ── is it a good one? ────────────────────────────────────────────────── */

/* How long what the bound is about took; -1: nobody knows. */
static int64_t took(const struct as_conn *c, enum as_load_bound_id b, int64_t now)
{
	int64_t token = c->stream.first_token_ns;

	if (b == AS_LOAD_E2EL)
		return now - c->due_ns;
	if (b == AS_LOAD_TPOT)
		return as_stream_per_token(&c->stream);
	return token ? token - c->due_ns : -1;
}

/* It kept to all bounds that are set; which it did not is counted, unless it was warm-up. */
static bool is_good(struct as_generator *g, const struct as_conn *c, enum as_load_error kind,
		    int64_t now)
{
	bool counts = c->due_ns >= g->from_ns, good = as_load_is_judged(g->out);

	for (unsigned b = 0; kind == AS_LOAD_FINE && b < AS_LOAD_NBOUNDS; b++) {
		struct as_load_bound *to = &g->out->bound[b];
		int64_t ns = to->within_ns ? took(c, (enum as_load_bound_id)b, now) : 0;
		bool kept = ns >= 0 && ns <= to->within_ns;

		good = good && kept;
		if (to->within_ns && counts)
			*(ns < 0 ? &to->unknown : kept ? &to->kept : &to->missed) += 1;
	}
	return good && kind == AS_LOAD_FINE;
}

/* ── all that is counted ──────────────────────────────────────────────── */

void as_gen_record(struct as_generator *g, struct as_conn *c, enum as_load_error kind, int64_t now)
{
	struct as_load *l = g->out;
	int64_t ready = c->freed_ns > c->due_ns ? c->freed_ns : c->due_ns;
	bool met = is_good(g, c, kind, now);

	g->last_ns = now;
	g->slice->requests++;
	g->slice->failed += kind != AS_LOAD_FINE;
	g->slice->met += met;
	as_histogram_add(&g->slice->latency, now - c->due_ns, 1);
	as_histogram_add(&g->slice->wire, now - c->begun_ns, 1);
	as_histogram_add(&g->slice->waiting, waited(c, now), 1);
	if (c->http.state == AS_HTTP_DONE)
		as_stream_read_usage(&c->stream);
	record_stream(c, &g->slice->stream);
	if (c->session) {
		g->slice->nsteps = l->nsteps;
		record_step(&g->slice->step[c->session->asked], c, kind, met, now);
	}
	if (c->due_ns < g->from_ns) {
		l->warmup++;
		return;
	}
	l->requests++;
	g->first_ns = c->due_ns < g->first_ns ? c->due_ns : g->first_ns;
	if (kind != AS_LOAD_FINE)
		l->errors[kind]++;
	if (kind >= AS_LOAD_STATUS_4XX && c->http.status) /* an answer, and a whole one */
		l->status[as_load_class(c->http.status)]++;
	l->met += met;
	record_stream(c, &l->stream);
	as_histogram_add(&l->latency, now - c->due_ns, 1);
	as_histogram_add(&l->wire, now - c->begun_ns, 1);
	as_histogram_add(&l->waiting, waited(c, now), 1);
	as_histogram_add(&l->lateness, c->begun_ns - ready, 1);
	record_at(c->server->out, c, kind, now);
	if (c->session)
		record_step(&l->step[c->session->asked], c, kind, met, now);
}

void as_gen_unasked(struct as_generator *g)
{
	g->out->unasked += g->measuring && as_now() >= g->from_ns;
}

enum as_load_error as_gen_kind_of_status(unsigned status)
{
	return status < 400 ? AS_LOAD_FINE : status < 500 ? AS_LOAD_STATUS_4XX : AS_LOAD_STATUS_5XX;
}
