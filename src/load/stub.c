#include "load/stub.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "load/serving.h"
#include "net/socket.h"
#include "os/prompt.h"

enum { EVENTS = 256, DUE_AT_ONCE = 1024 };

/* Events of our own carry these instead of a client. */
enum { TAG_LISTENER = 1, TAG_SIGNALS = 2 };

static void accept_all(struct as_stub *s)
{
	int fd;

	while (!as_accept(s->listener, &fd))
		as_client_welcome(s, fd);
}

/* ── the loop ─────────────────────────────────────────────────────────── */

static void on_event(struct as_stub *s, const struct epoll_event *e)
{
	struct as_client *c = e->data.ptr;

	if (e->data.u64 == TAG_LISTENER)
		accept_all(s);
	else if (e->data.u64 == TAG_SIGNALS)
		s->over = true;
	else if (c->gone)
		return;
	else if (e->events & EPOLLOUT && !(e->events & (EPOLLERR | EPOLLHUP)))
		as_client_write(s, c);
	else
		as_client_readable(s, c);
}

/* Some of those whose moment has come: whoever asks is to be heard in between. */
static void see_due(struct as_stub *s, int64_t now)
{
	struct as_appointment *m = as_agenda_first(&s->agenda);

	for (int n = 0; m && m->at_ns <= now && n < DUE_AT_ONCE; n++) {
		as_agenda_remove(&s->agenda, m);
		as_reply_due(s, (struct as_client *)m);
		m = as_agenda_first(&s->agenda);
	}
}

static void turn(struct as_stub *s, int64_t until)
{
	struct epoll_event events[EVENTS];
	int64_t now = as_now();

	see_due(s, now);
	as_clients_free(&s->dead);
	const struct as_appointment *m = as_agenda_first(&s->agenda);
	if (m && m->at_ns < until)
		until = m->at_ns;
	now = as_now();
	struct timespec t = as_timespec(until > now ? until - now : 0);
	int n = epoll_pwait2(s->epoll, events, EVENTS, &t, NULL);
	for (int i = 0; i < n; i++)
		on_event(s, &events[i]);
}

/* A descriptor for each connection, as many as we may have. */
static void raise_limit(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most) < 0)
		return;
	most.rlim_cur = most.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &most);
}

int as_stub_serve(struct as_stub *s, struct as_stub_count *ret, struct as_err *err)
{
	int64_t end = s->cfg->duration_ns ? as_now() + s->cfg->duration_ns : INT64_MAX;

	raise_limit();
	as_prompt_timers();
	while (!s->over && as_now() < end)
		turn(s, end);
	*ret = s->count;
	return s->starved ? as_fail(err, AS_ENOMEM, "no memory for more clients") : AS_OK;
}

/* ── its life ─────────────────────────────────────────────────────────── */

static int watch(struct as_stub *s, int fd, uint64_t tag)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = tag};

	return fd < 0 ? -1 : epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e);
}

static int open_loop(struct as_stub *s, struct as_err *err)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0 || watch(s, s->signals, TAG_SIGNALS) < 0 ||
	    watch(s, s->listener, TAG_LISTENER) < 0)
		return as_fail_errno(err, errno, "prepare to wait for requests");
	return AS_OK;
}

int as_stub_open(struct as_stub_config *c, struct as_stub **ret, struct as_err *err)
{
	as_auto_stub struct as_stub *s = as_zalloc(sizeof *s);

	if (!s)
		return as_fail(err, AS_ENOMEM, "no memory for a server");
	s->cfg = c;
	s->listener = s->epoll = s->signals = -1;
	s->usual = AS_BUF(AS_STUB_BODY_MOST * 2);
	as_stub_put(&s->usual, &c->answer);
	as_random_seed(&s->random, c->seed);
	s->bytes = as_zalloc(AS_STUB_READ);
	int r = as_buf_ok(&s->usual, err);
	if (r == AS_OK && !s->bytes)
		r = as_fail(err, AS_ENOMEM, "no memory for a server");
	if (r == AS_OK)
		r = as_listen(&c->at, &s->listener, err);
	if (r == AS_OK)
		r = open_loop(s, err);
	if (r == AS_OK)
		*ret = as_take(s);
	return r;
}

void as_stub_close(struct as_stub *s)
{
	if (!s)
		return;
	s->queue = NULL; /* nobody is served any more */
	for (struct as_client *c = s->clients; c; c = c->after)
		c->phase = AS_CLIENT_ASKS;
	while (s->clients)
		as_client_leave(s, s->clients, false);
	as_clients_free(&s->dead);
	as_close_(&s->listener);
	as_close_(&s->epoll);
	as_close_(&s->signals);
	as_buf_done(&s->usual);
	as_agenda_done(&s->agenda);
	free(s->bytes);
	free(s);
}

int as_stub_stall(struct as_stub_config *c, const char *text, struct as_err *err)
{
	const char *colon = strchr(text, ':');
	char at[32];
	size_t n = colon ? (size_t)(colon - text) : 0;
	int64_t *to_at = &c->stalls[c->nstalls % AS_STUB_STALLS].at_ns;

	if (c->nstalls == AS_STUB_STALLS || !n || n >= sizeof at)
		return as_fail(err, AS_EUSAGE, "'%.40s' is no stall, or one too many: 2s:1s", text);
	(void)snprintf(at, sizeof at, "%.*s", (int)n, text);
	int r = as_parse_duration(at, to_at, err);
	if (r == AS_OK)
		r = as_parse_duration(colon + 1, &c->stalls[c->nstalls].for_ns, err);
	c->nstalls += r == AS_OK;
	return r;
}
