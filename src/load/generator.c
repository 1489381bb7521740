#include "load/generator.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/fault.h"
#include "load/generating.h"
#include "os/prompt.h"
#include "os/worker.h"

enum { EVENTS = 256 };

/* How often a closed loop looks whether its plan allows more. */
#define PLAN_NS (5 * AS_MSEC)
/* What is not connected by then is left to the request that needs it. */
#define PREPARE_NS AS_SECOND

/* ── what is due ──────────────────────────────────────────────────────── */

static bool sending(const struct as_generator *g, int64_t now)
{
	if (g->stopped || g->issued >= g->most)
		return false;
	return (as_gen_is_open(g) ? g->next_ns : now) < g->end_ns;
}

/* What is due by the schedule, as long as there are connections for it, and not too late. */
static void send_due(struct as_generator *g)
{
	for (struct as_conn *c = as_gen_free(g); c && sending(g, 0); c = as_gen_free(g)) {
		int64_t now = as_now();

		if (g->next_ns > now || as_gen_is_late(g, now))
			return;
		as_gen_begin(g, c, g->next_ns, now);
		g->next_ns = g->start_ns + as_schedule_next(&g->schedule);
	}
}

/* In a closed loop with a plan, as many as it allows now. */
static void send_planned(struct as_generator *g)
{
	int64_t now = as_now();
	double most = as_stages_at(&g->cfg->at_once, (double)(now - g->start_ns) / 1e9);

	for (struct as_conn *c = as_gen_free(g); c && sending(g, now); c = as_gen_free(g)) {
		if ((double)((g->cfg->flow ? g->at_work : g->flight.n) + 1) > most)
			return;
		now = as_now();
		as_gen_begin(g, c, now, now);
	}
}

/* In a closed loop, whoever is free. */
static void send_next(struct as_generator *g)
{
	for (struct as_conn *c = as_gen_free(g); c; c = as_gen_free(g)) {
		int64_t ready = as_gen_ready(g, c);

		if (!sending(g, ready))
			return;
		as_gen_begin(g, c, ready, as_now());
	}
}

static void dispatch(struct as_generator *g)
{
	if (as_gen_is_open(g))
		send_due(g);
	else if (g->cfg->at_once.n)
		send_planned(g);
	else
		send_next(g);
	if (g->dirty)
		as_carriers_flush(g);
}

static void give_up(struct as_generator *g, int64_t now)
{
	struct as_conn *c = g->flight.first;

	for (; c && c->begun_ns + g->timeout_ns <= now; c = g->flight.first)
		as_gen_fail(g, c, AS_LOAD_TIMEOUT);
}

static void wake(struct as_generator *g, int64_t now)
{
	struct as_conn *c = g->resting.first;

	for (; c && c->freed_ns + AS_GEN_REST <= now; c = g->resting.first) {
		g->rested_ns += g->measuring && c->freed_ns >= g->from_ns ? now - c->freed_ns : 0;
		as_gen_release(c, now);
	}
}

/* ── the loop ─────────────────────────────────────────────────────────── */

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* When something is to be done though nothing happens. */
static int64_t next_moment(const struct as_generator *g, int64_t now)
{
	int64_t at = g->tick_ns;

	if (g->flight.first)
		at = earlier(at, g->flight.first->begun_ns + g->timeout_ns);
	if (g->resting.first)
		at = earlier(at, g->resting.first->freed_ns + AS_GEN_REST);
	if (as_agenda_first(&g->agenda))
		at = earlier(at, as_agenda_first(&g->agenda)->at_ns);
	if (as_gen_is_open(g) && sending(g, now) && as_gen_free(g))
		at = earlier(at, g->next_ns);
	if (g->cfg->at_once.n && g->measuring)
		at = earlier(at, now + PLAN_NS);
	return at;
}

/* The kernel before 5.11 counts milliseconds: then the last of them is waited for in circles. */
static int wait_for(const struct as_generator *g, struct epoll_event *events, int64_t ns)
{
	struct timespec t = as_timespec(ns > 0 ? ns : 0);

	as_called(1);
	int n = epoll_pwait2(g->epoll, events, EVENTS, &t, NULL);
	if (n >= 0 || errno != ENOSYS)
		return n;
	return epoll_wait(g->epoll, events, EVENTS, (int)(ns > 0 ? ns / AS_MSEC : 0));
}

/*
 * In an open loop what is due goes out between two answers. In a closed one all answers that are
 * there are taken first, so that none waits while others are asked: the next turn asks.
 */
static void turn(struct as_generator *g)
{
	struct epoll_event events[EVENTS];
	int64_t now = as_now();

	give_up(g, now);
	wake(g, now);
	as_gen_resume(g, now);
	if (g->measuring)
		dispatch(g);
	now = as_now();
	int n = wait_for(g, events, next_moment(g, now) - now);
	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr)
			as_gen_event(g, events[i].data.ptr, events[i].events);
		else
			g->told = true;
		if (as_gen_is_open(g) && g->measuring && !g->told)
			dispatch(g);
	}
}

/* ── from the first connection to the last answer ─────────────────────── */

static void connect_all(struct as_generator *g)
{
	g->timeout_ns = earlier(g->cfg->timeout_ns, PREPARE_NS);
	/* The last may be given up before anything is waited for. */
	g->tick_ns = as_now() + g->timeout_ns;
	for (size_t i = 0; i < g->nconns; i++) {
		struct as_conn *c = &g->conns[i];

		if (i >= g->cfg->conns) { /* for when one server has more than its share */
			as_conns_append(as_conn_is_side(c) ? &c->server->sides : &c->server->down,
					c);
			continue;
		}
		c->begun_ns = as_now();
		as_conns_append(&g->flight, c);
		as_gen_dial(g, c);
	}
	while (g->flight.first && !g->told)
		turn(g);
	g->timeout_ns = g->cfg->timeout_ns;
}

static int64_t plus(int64_t at, int64_t ns)
{
	return ns > INT64_MAX - at ? INT64_MAX : at + ns;
}

/* How many are begun: as many as were asked for, or as there are rows. */
static void plan_most(struct as_generator *g)
{
	const struct as_load_config *c = g->cfg;
	uint64_t most = c->requests ? c->requests : UINT64_MAX;

	g->rows = c->flow && c->flow->rows.once ? c->flow->rows.n : UINT64_MAX;
	g->most = most < g->rows ? most : g->rows;
}

/* The clock starts now: who could not connect yet may try again. */
static void start(struct as_generator *g)
{
	const struct as_load_config *cfg = g->cfg;

	plan_most(g);
	g->start_ns = g->last_ns = as_now();
	g->first_ns = INT64_MAX;
	g->from_ns = g->start_ns + cfg->warmup_ns;
	g->end_ns =
		cfg->duration_ns ? plus(g->start_ns, cfg->warmup_ns + cfg->duration_ns) : INT64_MAX;
	g->tick_ns = g->start_ns + AS_PULSE_STEP;
	while (g->resting.first)
		as_conns_append(&g->resting.first->server->down, g->resting.first);
	for (size_t i = 0; i < g->nservers; i++)
		g->server[i].until_ns = 0; /* what it refused before counted nowhere */
	for (size_t i = 0; i < g->nconns; i++)
		g->conns[i].freed_ns = g->start_ns;
	g->schedule = cfg->schedule;
	as_schedule_start(&g->schedule, cfg->seed);
	if (as_gen_is_open(g))
		g->next_ns = g->start_ns + as_schedule_next(&g->schedule);
	g->measuring = true;
}

static void tick(struct as_generator *g, int64_t now)
{
	if (now < g->tick_ns)
		return;
	as_load_settle(g->out);
	as_pulse_give(g->pulse, g->out, as_gen_under_way(g), now - g->start_ns);
	g->slice = as_pulse_slice(g->pulse);
	g->tick_ns = now + AS_PULSE_STEP;
}

/* How busy the generator was, from the end of the warm-up to the last request sent. */
static void note_start(struct as_generator *g, int64_t now)
{
	g->noted = true;
	g->noted_ns = now;
	g->cpu_ns = as_clock(CLOCK_THREAD_CPUTIME_ID);
	g->wait_ns = as_waited_for_cpu(g->cfg->env);
}

static void note_end(struct as_generator *g, int64_t now)
{
	g->out->sending_ns = now > g->noted_ns ? now - g->noted_ns : 1;
	g->out->cpu_ns = as_clock(CLOCK_THREAD_CPUTIME_ID) - g->cpu_ns;
	g->out->wait_ns = as_waited_for_cpu(g->cfg->env) - g->wait_ns;
}

static void note_own_cost(struct as_generator *g, int64_t now, bool still)
{
	if (!g->noted && now >= g->from_ns)
		note_start(g, now);
	if (g->noted && !still && !g->out->sending_ns)
		note_end(g, now);
}

/* Late by as much as is known; or nobody waits for it any more. */
static void count_unsent_one(struct as_generator *g, int64_t now)
{
	struct as_load *l = g->out;

	if (g->told) {
		l->unfinished++;
		return;
	}
	l->requests++;
	l->errors[AS_LOAD_UNSENT]++;
	as_histogram_add(&l->latency, now - g->next_ns, 1);
}

/* Those that were due and never sent. */
static void count_unsent(struct as_generator *g, int64_t now)
{
	while (as_gen_is_open(g) && sending(g, now) && g->next_ns <= now) {
		if (g->next_ns >= g->from_ns)
			count_unsent_one(g, now);
		g->issued++;
		g->next_ns = g->start_ns + as_schedule_next(&g->schedule);
	}
}

/* Nothing more to send, and nothing to wait for; or what waits for a connection waited long. */
static bool over(struct as_generator *g, int64_t now)
{
	bool still = sending(g, now);

	/* In a closed loop the last answers are as much work as the first: they may be streams. */
	note_own_cost(g, now, still || (!as_gen_is_open(g) && as_gen_under_way(g)));
	if (still && as_gen_is_open(g) && now >= plus(g->end_ns, g->timeout_ns)) {
		count_unsent(g, now);
		g->stopped = true;
		still = false;
	}
	return g->told || (!still && !g->flight.first && (!g->at_work || as_gen_is_late(g, now)));
}

static void finish(struct as_generator *g)
{
	int64_t now = as_now();

	note_own_cost(g, now, false);
	g->out->measured_ns = as_gen_measured(g, now);
	for (const struct as_conn *c = g->flight.first; c; c = c->after)
		g->out->unfinished += c->asked;
	g->out->unfinished += g->talking.n;
	if (g->told)
		count_unsent(g, now);
	g->out->sessions_left = g->at_work;
	g->out->warmup_ns = g->cfg->warmup_ns;
	g->out->rate = g->cfg->schedule.rate;
	g->out->conns = g->cfg->conns;
	for (size_t i = 0; g->out->nservers && i < g->nservers; i++)
		g->out->server[i].opened = g->server[i].opened;
}

/* ── what it needs of the system ──────────────────────────────────────── */

static int listen_to_pulse(struct as_generator *g, struct as_err *err)
{
	struct epoll_event e = {.events = EPOLLIN};

	g->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (g->epoll < 0 || epoll_ctl(g->epoll, EPOLL_CTL_ADD, as_pulse_word(g->pulse), &e) < 0)
		return as_fail_errno(err, errno, "prepare to wait for answers");
	return AS_OK;
}

static void shut(struct as_generator *g)
{
	for (size_t i = 0; g->conns && i < g->nconns; i++) {
		as_gen_drop(g, &g->conns[i]);
		as_talk_done(&g->conns[i]);
		as_stream_done(&g->conns[i].stream);
	}
	as_carriers_done(g);
	as_gen_unseat(g);
	free(g->conns);
	free(g->bytes);
	as_close_(&g->epoll);
}

static bool has_sides(const struct as_load_config *c)
{
	return c->flow && c->flow->talks;
}

/* Each server could have all that may be under way; a session may have a WebSocket, too. */
static void share_out(struct as_generator *g)
{
	const struct as_load_config *cfg = g->cfg;

	g->nservers = cfg->nplaces;
	g->nconns = cfg->nplaces * cfg->conns * (has_sides(cfg) ? 2 : 1);
	g->out->nservers = cfg->nplaces > 1 ? cfg->nplaces : 0;
	for (size_t i = 0; i < g->nservers; i++)
		g->server[i].place = &cfg->place[i];
	for (size_t i = 0; i < g->out->nservers; i++) {
		g->server[i].out = &g->out->server[i];
		memcpy(g->out->server[i].name, cfg->place[i].name, AS_LOAD_SERVER_NAME);
	}
}

static int prepare(struct as_generator *g, struct as_err *err)
{
	share_out(g);
	for (size_t b = 0; b < AS_LOAD_NBOUNDS; b++)
		g->out->bound[b].within_ns = g->cfg->within_ns[b];
	g->conns = as_zalloc_n(g->nconns, sizeof *g->conns);
	g->bytes = as_zalloc(AS_GEN_READ);
	for (size_t i = 0; g->conns && i < g->nconns; i++) {
		g->conns[i].link.fd = -1;
		g->conns[i].server = &g->server[i % g->nservers];
	}
	int r = listen_to_pulse(g, err);
	bool talks = g->cfg->place->upgrade || has_sides(g->cfg);
	bool fine = g->conns && g->bytes && (!talks || as_talk_prepare(g)) &&
		    (!g->cfg->http2 || as_carriers_prepare(g));
	if (r == AS_OK && !fine)
		return as_fail(err, AS_ENOMEM, "no memory for %zu connections", g->nconns);
	return r == AS_OK && g->cfg->flow ? as_gen_seat(g, err) : r;
}

int as_generate(const struct as_load_config *c, struct as_pulse *pulse, struct as_load *ret,
		struct as_err *err)
{
	as_cleanup(shut) struct as_generator g = {
		.cfg = c, .out = ret, .pulse = pulse, .slice = as_pulse_slice(pulse), .epoll = -1};
	int r = prepare(&g, err);

	if (r < 0)
		return r;
	as_prompt_timers();
	connect_all(&g);
	start(&g);
	for (int64_t now = g.start_ns; !over(&g, now); now = as_now()) {
		turn(&g);
		tick(&g, now);
	}
	finish(&g);
	return AS_OK;
}
