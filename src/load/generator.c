#include "load/generator.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "load/conns.h"
#include "net/socket.h"
#include "os/text.h"

enum { EVENTS = 256, READ_BYTES = 64 << 10 };

/* A connection that was refused is not tried again at once: that would be an attack. */
#define REST_NS (100 * AS_MSEC)
/* What is not connected by then is left to the request that needs it. */
#define PREPARE_NS AS_SECOND

struct generator {
	const struct as_load_config *cfg;
	struct as_load *out;
	struct as_conn *conns;
	struct as_conns flight, idle, down, resting;
	char *bytes; /* that were received last */
	int epoll, signals;
	size_t address; /* that is dialled, of cfg->to */
	int64_t timeout_ns;
	int64_t start_ns, from_ns, end_ns; /* of sending, of measuring, of what is due */
	int64_t next_ns;                   /* when the next request is due: open loop  */
	int64_t last_ns;                   /* of the last that was recorded            */
	int64_t tick_ns;                   /* when progress is told next               */
	int64_t noted_ns, cpu_ns, wait_ns; /* as they were when measuring began        */
	uint64_t issued;
	bool measuring, noted, stopped;
	struct as_schedule schedule;
	int signal;
	sigset_t old_mask;
	struct rlimit old_files;
};

static bool is_open_loop(const struct generator *g)
{
	return g->cfg->schedule.rate > 0;
}

/* ── what came of a request ───────────────────────────────────────────── */

static const struct {
	int os;
	enum as_load_error kind;
} kinds[] = {
	{ECONNREFUSED, AS_LOAD_REFUSED},    {ENOENT, AS_LOAD_REFUSED},
	{ENETUNREACH, AS_LOAD_UNREACHABLE}, {EHOSTUNREACH, AS_LOAD_UNREACHABLE},
	{ENETDOWN, AS_LOAD_UNREACHABLE},    {EMFILE, AS_LOAD_DESCRIPTORS},
	{ENFILE, AS_LOAD_DESCRIPTORS},      {EADDRNOTAVAIL, AS_LOAD_DESCRIPTORS},
	{ECONNRESET, AS_LOAD_RESET},        {EPIPE, AS_LOAD_RESET},
	{ECONNABORTED, AS_LOAD_RESET},      {ETIMEDOUT, AS_LOAD_TIMEOUT},
};

static enum as_load_error kind_of(int os)
{
	for (size_t i = 0; i < AS_LEN(kinds); i++)
		if (kinds[i].os == os)
			return kinds[i].kind;
	return AS_LOAD_SYSTEM;
}

static void record(struct generator *g, const struct as_conn *c, enum as_load_error kind,
		   int64_t now)
{
	struct as_load *l = g->out;
	int64_t ready = c->freed_ns > c->due_ns ? c->freed_ns : c->due_ns;

	g->last_ns = now;
	if (c->due_ns < g->from_ns) {
		l->warmup++;
		return;
	}
	l->requests++;
	if (kind != AS_LOAD_FINE)
		l->errors[kind]++;
	if (kind >= AS_LOAD_STATUS_4XX) /* an answer, and a whole one */
		l->status[c->http.status / 100 - 1]++;
	as_histogram_add(&l->latency, now - c->due_ns, 1);
	as_histogram_add(&l->wire, now - c->begun_ns, 1);
	as_histogram_add(&l->lateness, c->begun_ns - ready, 1);
}

static enum as_load_error kind_of_status(unsigned status)
{
	return status < 400 ? AS_LOAD_FINE : status < 500 ? AS_LOAD_STATUS_4XX : AS_LOAD_STATUS_5XX;
}

/* ── one connection ───────────────────────────────────────────────────── */

static void watch(struct generator *g, struct as_conn *c, int op, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = c};

	as_called(1);
	(void)epoll_ctl(g->epoll, op, c->fd, &e);
}

static void drop(struct as_conn *c)
{
	if (c->fd >= 0)
		as_hang_up(c->fd);
	c->fd = -1;
	c->state = AS_CONN_DOWN;
}

/* Its request, if it had one, is over; with a connection left it can have the next. */
static void release(struct generator *g, struct as_conn *c, int64_t now)
{
	c->freed_ns = now;
	c->asked = false;
	if (c->fd >= 0) {
		c->state = AS_CONN_IDLE;
		as_conns_push(&g->idle, c);
	} else {
		as_conns_push(&g->down, c);
	}
}

static void fail(struct generator *g, struct as_conn *c, enum as_load_error kind)
{
	int64_t now = as_now();
	bool never = c->state == AS_CONN_DIALING || c->fd < 0;

	if (c->asked)
		record(g, c, kind, now);
	drop(c);
	release(g, c, now);
	if (never && !is_open_loop(g))
		as_conns_append(&g->resting, c);
}

static void succeed(struct generator *g, struct as_conn *c)
{
	int64_t now = as_now();

	record(g, c, kind_of_status(c->http.status), now);
	if (!c->http.keep || c->sent < g->cfg->request_len)
		drop(c);
	release(g, c, now);
}

/* ── writing ──────────────────────────────────────────────────────────── */

static void write_request(struct generator *g, struct as_conn *c)
{
	const struct as_load_config *cfg = g->cfg;
	ssize_t n = as_send(c->fd, cfg->request + c->sent, cfg->request_len - c->sent);

	if (n < 0 && n != -EAGAIN) {
		fail(g, c, kind_of((int)-n));
		return;
	}
	c->sent += n > 0 ? (size_t)n : 0;
	g->out->bytes_out += n > 0 ? (uint64_t)n : 0;
	bool whole = c->sent == cfg->request_len, waits = c->state == AS_CONN_WRITING;
	if (whole == waits)
		watch(g, c, EPOLL_CTL_MOD, whole ? EPOLLIN : EPOLLIN | EPOLLOUT);
	c->state = whole ? AS_CONN_WAITING : AS_CONN_WRITING;
}

static void connected(struct generator *g, struct as_conn *c)
{
	g->out->opened++;
	c->state = AS_CONN_IDLE;
	if (c->asked)
		write_request(g, c);
	else
		release(g, c, as_now());
}

/* The next address, if this one never answered anybody; or it is a failure. */
static bool try_next_address(struct generator *g)
{
	if (g->out->opened || g->address + 1 >= g->cfg->to->n)
		return false;
	g->address++;
	return true;
}

static void dial(struct generator *g, struct as_conn *c)
{
	int why = as_dial(&g->cfg->to->at[g->address], &c->fd);

	while (why && why != EINPROGRESS && try_next_address(g))
		why = as_dial(&g->cfg->to->at[g->address], &c->fd);
	c->state = AS_CONN_DIALING;
	if (why && why != EINPROGRESS) {
		fail(g, c, kind_of(why));
		return;
	}
	watch(g, c, EPOLL_CTL_ADD, why ? EPOLLOUT : EPOLLIN);
	if (!why)
		connected(g, c);
}

static void dialled(struct generator *g, struct as_conn *c)
{
	int why = as_dialled(c->fd);

	if (!why) {
		watch(g, c, EPOLL_CTL_MOD, EPOLLIN);
		connected(g, c);
		return;
	}
	if (!try_next_address(g)) {
		fail(g, c, kind_of(why));
		return;
	}
	drop(c);
	dial(g, c);
}

static void begin(struct generator *g, struct as_conn *c, int64_t due, int64_t now)
{
	c->asked = true;
	c->due_ns = due;
	c->begun_ns = now;
	c->sent = 0;
	g->issued++;
	as_http_response(&c->http, g->cfg->bodyless);
	as_conns_append(&g->flight, c);
	if (c->fd >= 0)
		write_request(g, c);
	else
		dial(g, c);
}

/* ── reading ──────────────────────────────────────────────────────────── */

static void take(struct generator *g, struct as_conn *c, size_t n)
{
	size_t used = as_http_feed(&c->http, g->bytes, n);

	if (!as_http_over(&c->http))
		return;
	if (c->http.state == AS_HTTP_HUGE)
		fail(g, c, AS_LOAD_HEADERS);
	else if (c->http.state == AS_HTTP_BAD || used < n)
		fail(g, c, AS_LOAD_PROTOCOL);
	else
		succeed(g, c);
}

static void ended(struct generator *g, struct as_conn *c)
{
	as_http_end(&c->http);
	if (c->http.state == AS_HTTP_DONE)
		succeed(g, c);
	else
		fail(g, c, AS_LOAD_CLOSED);
}

/* Nobody asked: the server hangs up, or says what no request wanted to know. */
static void disturbed(struct generator *g, struct as_conn *c, ssize_t n)
{
	if (n > 0)
		g->out->errors[AS_LOAD_PROTOCOL]++;
	drop(c);
	release(g, c, as_now());
}

static void read_answer(struct generator *g, struct as_conn *c)
{
	ssize_t n = as_recv(c->fd, g->bytes, READ_BYTES);

	if (n == -EAGAIN)
		return;
	g->out->bytes_in += n > 0 ? (uint64_t)n : 0;
	if (c->state == AS_CONN_IDLE)
		disturbed(g, c, n);
	else if (n < 0)
		fail(g, c, kind_of((int)-n));
	else if (n == 0)
		ended(g, c);
	else
		take(g, c, (size_t)n);
}

static void on_event(struct generator *g, struct as_conn *c, uint32_t events)
{
	if (c->state == AS_CONN_DIALING)
		dialled(g, c);
	else if (c->state == AS_CONN_WRITING && !(events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		write_request(g, c);
	else if (c->state != AS_CONN_DOWN)
		read_answer(g, c);
}

/* ── what is due ──────────────────────────────────────────────────────── */

static bool sending(const struct generator *g, int64_t now)
{
	if (g->stopped || (g->cfg->requests && g->issued >= g->cfg->requests))
		return false;
	return (is_open_loop(g) ? g->next_ns : now) < g->end_ns;
}

/* The connection that was used last first: the others may rest. */
static struct as_conn *free_one(const struct generator *g)
{
	return g->idle.first ? g->idle.first : g->down.first;
}

/* What is due by the schedule, as long as there are connections for it. */
static void send_due(struct generator *g)
{
	for (struct as_conn *c = free_one(g); c && sending(g, 0); c = free_one(g)) {
		int64_t now = as_now();

		if (g->next_ns > now)
			return;
		begin(g, c, g->next_ns, now);
		g->next_ns = g->start_ns + as_schedule_next(&g->schedule);
	}
}

/* In a closed loop, whoever is free. */
static void send_next(struct generator *g)
{
	for (struct as_conn *c = free_one(g); c && sending(g, c->freed_ns); c = free_one(g))
		begin(g, c, c->freed_ns, c->freed_ns);
}

static void dispatch(struct generator *g)
{
	if (is_open_loop(g))
		send_due(g);
	else
		send_next(g);
}

static void give_up(struct generator *g, int64_t now)
{
	struct as_conn *c = g->flight.first;

	for (; c && c->begun_ns + g->timeout_ns <= now; c = g->flight.first)
		fail(g, c, AS_LOAD_TIMEOUT);
}

static void wake(struct generator *g, int64_t now)
{
	struct as_conn *c = g->resting.first;

	for (; c && c->freed_ns + REST_NS <= now; c = g->resting.first)
		release(g, c, now);
}

/* ── the loop ─────────────────────────────────────────────────────────── */

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* When something is to be done though nothing happens. */
static int64_t next_moment(const struct generator *g, int64_t now)
{
	int64_t at = g->tick_ns;

	if (g->flight.first)
		at = earlier(at, g->flight.first->begun_ns + g->timeout_ns);
	if (g->resting.first)
		at = earlier(at, g->resting.first->freed_ns + REST_NS);
	if (is_open_loop(g) && sending(g, now) && free_one(g))
		at = earlier(at, g->next_ns);
	return at;
}

/* The kernel before 5.11 counts milliseconds: then the last of them is waited for in circles. */
static int wait_for(const struct generator *g, struct epoll_event *events, int64_t ns)
{
	struct timespec t = as_timespec(ns > 0 ? ns : 0);

	as_called(1);
	int n = epoll_pwait2(g->epoll, events, EVENTS, &t, NULL);
	if (n >= 0 || errno != ENOSYS)
		return n;
	return epoll_wait(g->epoll, events, EVENTS, (int)(ns > 0 ? ns / AS_MSEC : 0));
}

static void on_signal(struct generator *g)
{
	struct signalfd_siginfo info;

	if (read(g->signals, &info, sizeof info) == (ssize_t)sizeof info)
		g->signal = (int)info.ssi_signo;
}

static void turn(struct generator *g)
{
	struct epoll_event events[EVENTS];
	int64_t now = as_now();

	give_up(g, now);
	wake(g, now);
	if (g->measuring)
		dispatch(g);
	now = as_now();
	int n = wait_for(g, events, next_moment(g, now) - now);
	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr)
			on_event(g, events[i].data.ptr, events[i].events);
		else
			on_signal(g);
		if (g->measuring && !g->signal)
			dispatch(g);
	}
}

/* ── from the first connection to the last answer ─────────────────────── */

static int64_t waited_for_cpu(const struct generator *g)
{
	char text[80] = "";
	struct as_err err;
	uint64_t cpu = 0, wait = 0;
	size_t n = 0;

	if (as_read_at(g->cfg->env->proc, "thread-self/schedstat", text, sizeof text, &n, &err) < 0)
		return 0;
	size_t used = as_scan_u64(text, n, &cpu);
	if (used && used < n)
		(void)as_scan_u64(text + used + 1, n - used - 1, &wait);
	return (int64_t)wait;
}

static void connect_all(struct generator *g)
{
	g->timeout_ns = earlier(g->cfg->timeout_ns, PREPARE_NS);
	g->tick_ns = INT64_MAX;
	for (uint32_t i = 0; i < g->cfg->conns; i++) {
		struct as_conn *c = &g->conns[i];

		c->fd = -1;
		c->begun_ns = as_now();
		as_conns_append(&g->flight, c);
		dial(g, c);
	}
	while (g->flight.first && !g->signal)
		turn(g);
	g->timeout_ns = g->cfg->timeout_ns;
}

static int64_t plus(int64_t at, int64_t ns)
{
	return ns > INT64_MAX - at ? INT64_MAX : at + ns;
}

/* The clock starts now: who could not connect yet may try again. */
static void start(struct generator *g)
{
	const struct as_load_config *cfg = g->cfg;

	g->start_ns = g->last_ns = as_now();
	g->from_ns = g->start_ns + cfg->warmup_ns;
	g->end_ns =
		cfg->duration_ns ? plus(g->start_ns, cfg->warmup_ns + cfg->duration_ns) : INT64_MAX;
	g->tick_ns = g->start_ns + AS_SECOND;
	while (g->resting.first)
		as_conns_append(&g->down, g->resting.first);
	for (uint32_t i = 0; i < cfg->conns; i++)
		g->conns[i].freed_ns = g->start_ns;
	g->schedule = cfg->schedule;
	as_schedule_start(&g->schedule, cfg->seed);
	if (is_open_loop(g))
		g->next_ns = g->start_ns + as_schedule_next(&g->schedule);
	g->measuring = true;
}

static void tick(struct generator *g, int64_t now)
{
	if (now < g->tick_ns)
		return;
	g->out->measured_ns = now > g->from_ns ? now - g->from_ns : 0;
	if (g->cfg->progress)
		g->cfg->progress(g->cfg->progress_arg, g->out, now - g->start_ns);
	g->tick_ns = now + AS_SECOND;
}

/* How busy the generator was, from the end of the warm-up to the last request sent. */
static void note_start(struct generator *g, int64_t now)
{
	g->noted = true;
	g->noted_ns = now;
	g->cpu_ns = as_clock(CLOCK_THREAD_CPUTIME_ID);
	g->wait_ns = waited_for_cpu(g);
}

static void note_end(struct generator *g, int64_t now)
{
	g->out->sending_ns = now > g->noted_ns ? now - g->noted_ns : 1;
	g->out->cpu_ns = as_clock(CLOCK_THREAD_CPUTIME_ID) - g->cpu_ns;
	g->out->wait_ns = waited_for_cpu(g) - g->wait_ns;
}

static void note_own_cost(struct generator *g, int64_t now, bool still)
{
	if (!g->noted && now >= g->from_ns)
		note_start(g, now);
	if (g->noted && !still && !g->out->sending_ns)
		note_end(g, now);
}

/* Those that were due and never sent: late by as much as is known. */
static void count_unsent(struct generator *g, int64_t now)
{
	struct as_load *l = g->out;

	while (is_open_loop(g) && sending(g, now) && g->next_ns <= now) {
		if (g->next_ns >= g->from_ns) {
			l->requests++;
			l->errors[AS_LOAD_UNSENT]++;
			as_histogram_add(&l->latency, now - g->next_ns, 1);
		}
		g->issued++;
		g->next_ns = g->start_ns + as_schedule_next(&g->schedule);
	}
}

/* Nothing more to send, and nothing to wait for; or what waits for a connection waited long. */
static bool over(struct generator *g, int64_t now)
{
	bool still = sending(g, now);

	note_own_cost(g, now, still);
	if (still && is_open_loop(g) && now >= plus(g->end_ns, g->timeout_ns)) {
		count_unsent(g, now);
		g->stopped = true;
		still = false;
	}
	return g->signal || (!still && !g->flight.first);
}

static void finish(struct generator *g)
{
	int64_t now = as_now(), until = g->last_ns;

	note_own_cost(g, now, false);
	if (is_open_loop(g)) /* the schedule was kept until the next would have been due */
		until = earlier(now, earlier(g->next_ns, g->end_ns));
	until = until > g->last_ns ? until : g->last_ns;
	g->out->measured_ns = until > g->from_ns ? until - g->from_ns : 0;
	for (const struct as_conn *c = g->flight.first; c; c = c->after)
		g->out->unfinished += c->asked;
	g->out->warmup_ns = g->cfg->warmup_ns;
	g->out->rate = g->cfg->schedule.rate;
	g->out->conns = g->cfg->conns;
}

/* ── what it needs of the system ──────────────────────────────────────── */

static int catch_signals(struct generator *g, struct as_err *err)
{
	struct epoll_event e = {.events = EPOLLIN};
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, &g->old_mask);
	g->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	g->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (g->signals < 0 || g->epoll < 0 ||
	    epoll_ctl(g->epoll, EPOLL_CTL_ADD, g->signals, &e) < 0)
		return as_fail_errno(err, errno, "prepare to wait for answers");
	return AS_OK;
}

/* As many descriptors as we may have. */
static void raise_limit(struct generator *g)
{
	struct rlimit most;

	(void)getrlimit(RLIMIT_NOFILE, &g->old_files);
	most = g->old_files;
	most.rlim_cur = most.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &most);
}

static void shut(struct generator *g)
{
	for (uint32_t i = 0; g->conns && i < g->cfg->conns; i++)
		drop(&g->conns[i]);
	free(g->conns);
	free(g->bytes);
	as_close_(&g->epoll);
	as_close_(&g->signals);
	(void)sigprocmask(SIG_SETMASK, &g->old_mask, NULL);
	(void)setrlimit(RLIMIT_NOFILE, &g->old_files);
}

static int prepare(struct generator *g, struct as_err *err)
{
	g->conns = as_zalloc_n(g->cfg->conns, sizeof *g->conns);
	g->bytes = as_zalloc(READ_BYTES);
	for (uint32_t i = 0; g->conns && i < g->cfg->conns; i++)
		g->conns[i].fd = -1;
	raise_limit(g);
	int r = catch_signals(g, err);
	if (r == AS_OK && (!g->conns || !g->bytes))
		return as_fail(err, AS_ENOMEM, "no memory for %u connections", g->cfg->conns);
	return r;
}

int as_generate(const struct as_load_config *c, struct as_load *ret, int *ret_signal,
		struct as_err *err)
{
	as_cleanup(shut) struct generator g = {.cfg = c, .out = ret, .epoll = -1, .signals = -1};
	int r = prepare(&g, err);

	if (r < 0)
		return r;
	(void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* 50 us otherwise */
	connect_all(&g);
	start(&g);
	for (int64_t now = g.start_ns; !over(&g, now); now = as_now()) {
		turn(&g);
		tick(&g, now);
	}
	finish(&g);
	*ret_signal = g.signal;
	return AS_OK;
}
