/*
 * Sessions of a flow, one on each connection: when one has its answer it thinks,
 * or asks at once; when it is over its connection is free for the next.
 *
 * Each request of a session is due when the one before was answered and the
 * pause is over, and its latency counts from then. When the load is over, those
 * that are at work go on to their end, for as long as a request may take: who
 * broke them off would count only the short ones.
 *
 * A flow with WebSockets gives each session a second connection for them: the
 * first keeps to HTTP, stands for the session in all lists, and waits with those
 * who think while a step is under way on the other.
 */
#include <string.h>

#include "base/fault.h"
#include "load/generating.h"

static struct as_conn *conn_of(const struct as_generator *g, const struct as_appointment *a)
{
	size_t i = (size_t)((const char *)a - (const char *)g->sessions) / sizeof *g->sessions;

	return &g->conns[i];
}

/* ── coming and going ─────────────────────────────────────────────────── */

static void name_all(const struct as_flow_plan *p, struct as_load *l)
{
	l->nsteps = p->nsteps;
	for (size_t i = 0; i < p->nsteps; i++)
		memcpy(l->step[i].name, p->step[i].name, sizeof l->step[i].name);
	l->nchecks = p->nchecks;
	for (size_t i = 0; i < p->nchecks; i++) {
		memcpy(l->check[i].name, p->check[i].name, sizeof l->check[i].name);
		l->check[i].step = p->check[i].step;
	}
}

static void pair(struct as_conn *c, struct as_conn *side)
{
	c->peer = side;
	side->peer = c;
	side->session = c->session;
}

int as_gen_seat(struct as_generator *g, struct as_err *err)
{
	g->sessions = as_zalloc_n(g->cfg->conns, sizeof *g->sessions);
	if (!g->sessions)
		return as_fail(err, AS_ENOMEM, "no memory for %u sessions", g->cfg->conns);
	for (uint32_t i = 0; i < g->cfg->conns; i++) {
		as_session_init(&g->sessions[i], g->cfg->flow, i + 1, g->cfg->seed);
		g->conns[i].session = &g->sessions[i];
		if (g->cfg->flow->talks)
			pair(&g->conns[i], &g->conns[g->cfg->conns + i]);
	}
	name_all(g->cfg->flow, g->out);
	return AS_OK;
}

void as_gen_unseat(struct as_generator *g)
{
	for (uint32_t i = 0; g->sessions && i < g->cfg->conns; i++)
		as_session_done(&g->sessions[i]);
	free(g->sessions);
	as_agenda_done(&g->agenda);
}

/* ── answers ──────────────────────────────────────────────────────────── */

static void hang_up(struct as_generator *g, struct as_conn *c)
{
	if (c->peer)
		as_gen_drop(g, c->talk ? c : c->peer);
}

static void session_over(struct as_generator *g, struct as_conn *c, bool broken, int64_t now)
{
	const struct as_session *s = c->session;

	g->at_work--;
	hang_up(g, c);
	if (s->due_ns < g->from_ns)
		return;
	g->out->sessions++;
	g->out->broken += broken;
	as_histogram_add(&g->out->session, now - s->due_ns, 1);
}

enum as_load_error as_gen_judge(struct as_generator *g, struct as_conn *c, enum as_load_error kind,
				int64_t now)
{
	struct as_session *s = c->session;

	if (!s)
		return kind == AS_LOAD_FINE ? as_gen_kind_of_status(c->http.status) : kind;
	if (kind == AS_LOAD_FINE)
		kind = as_session_answer(s, &c->http, c->due_ns, now,
					 c->due_ns < g->from_ns ? NULL : g->out);
	else
		as_session_break(s);
	as_agenda_remove(&g->agenda, &s->waits);
	if (!s->at_work)
		session_over(g, c, kind != AS_LOAD_FINE, now);
	else if (s->plan->step[s->asked].closes)
		hang_up(g, c);
	return kind;
}

/* ── pauses ───────────────────────────────────────────────────────────── */

/* What of it is measured: from now, or the end of the warm-up. Between two sessions the end of
   the load ends it. */
static int64_t thought(const struct as_generator *g, const struct as_session *s, int64_t now)
{
	int64_t from = now > g->from_ns ? now : g->from_ns;
	int64_t until = s->at_work || s->next_ns < g->end_ns ? s->next_ns : g->end_ns;

	return until > from ? until - from : 0;
}

static bool think(struct as_generator *g, struct as_conn *c, int64_t now)
{
	if (!as_agenda_add(&g->agenda, &c->session->waits, c->session->next_ns))
		return false;
	g->rested_ns += thought(g, c->session, now);
	as_conns_append(&g->thinking, c);
	return true;
}

void as_gen_go_on(struct as_generator *g, struct as_conn *c, int64_t now)
{
	struct as_session *s = c->session;

	if (s->waits.place) { /* the server hung up while it thought, or talked elsewhere */
		as_conns_append(&g->thinking, c);
		return;
	}
	if (s->at_work && as_gen_is_late(g, now)) { /* at work, but nobody's concern any more */
		as_session_break(s);
		return;
	}
	if (s->next_ns > now && (s->at_work || !as_gen_is_open(g)) && think(g, c, now))
		return;
	if (s->at_work)
		as_gen_ask(g, c, s->next_ns, now);
}

struct as_conn *as_gen_speaker(struct as_generator *g, struct as_conn *c)
{
	if (!c->session->plan->step[c->session->step].talks)
		return c;
	as_conns_append(&g->thinking, c);
	c->peer->freed_ns = c->freed_ns;
	return c->peer;
}

/* Something came, only not what was waited for; or nothing did. */
static void give_up(struct as_generator *g, struct as_conn *side)
{
	as_gen_fail(g, side, side->session->tries ? AS_LOAD_UNTIL : AS_LOAD_TIMEOUT);
}

void as_gen_resume(struct as_generator *g, int64_t now)
{
	struct as_appointment *a = as_agenda_first(&g->agenda);

	for (; a && a->at_ns <= now; a = as_agenda_first(&g->agenda)) {
		struct as_conn *c = conn_of(g, a);

		as_agenda_remove(&g->agenda, a);
		if (c->peer && c->peer->asked)
			give_up(g, c->peer);
		else if (c->session->at_work)
			as_gen_ask(g, c, a->at_ns, now);
		else
			as_gen_release(c, now);
	}
}
