#include "load/stub.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "net/http1.h"
#include "net/socket.h"

enum { EVENTS = 256, READ_BYTES = 64 << 10, TARGET = 512, ENDLESS_BYTES = 16 << 10 };

#define DRIP_NS (50 * AS_MSEC)

/* Events of our own carry these instead of a client. */
enum { TAG_LISTENER = 1, TAG_SIGNALS = 2 };

struct client {
	int fd;
	bool armed;   /* told of room to write */
	bool gone;    /* to be freed after this round of events */
	size_t place; /* in the queue, 1 the first; 0: not there */
	int64_t due_ns;
	struct as_stub_answer answer;
	const char *out; /* what is written: the usual answer, or `own` */
	size_t out_len, sent;
	struct as_buf own;
	uint64_t dripped;
	struct as_http http;
	char target[TARGET];
	struct client *before, *after;
};

struct as_stub {
	struct as_stub_config *cfg;
	struct as_stub_count count;
	struct as_random random;
	struct as_buf usual; /* the answer that no request asked to be otherwise */
	char *bytes;
	int listener, epoll, signals;
	int64_t first_ns; /* of the first request; 0: none yet */
	struct client *clients, *dead;
	struct client **queue; /* a heap, the earliest first; [0] is not used */
	size_t nqueue, queue_cap;
	bool over, starved;
};

/* ── who waits for his answer ─────────────────────────────────────────── */

static void place(struct as_stub *s, size_t i, struct client *c)
{
	s->queue[i] = c;
	c->place = i;
}

static void sift_up(struct as_stub *s, size_t i, struct client *c)
{
	for (; i > 1 && s->queue[i / 2]->due_ns > c->due_ns; i /= 2)
		place(s, i, s->queue[i / 2]);
	place(s, i, c);
}

static void sift_down(struct as_stub *s, size_t i, struct client *c)
{
	for (size_t k = i * 2; k <= s->nqueue; k = i * 2) {
		k += k < s->nqueue && s->queue[k + 1]->due_ns < s->queue[k]->due_ns;
		if (s->queue[k]->due_ns >= c->due_ns)
			break;
		place(s, i, s->queue[k]);
		i = k;
	}
	place(s, i, c);
}

static void enqueue(struct as_stub *s, struct client *c, int64_t due)
{
	c->due_ns = due;
	if (!as_grow(&s->queue, &s->queue_cap, s->nqueue + 1, sizeof *s->queue, 64)) {
		s->over = s->starved = true;
		return;
	}
	sift_up(s, ++s->nqueue, c);
}

static void dequeue(struct as_stub *s, struct client *c)
{
	size_t i = c->place;
	struct client *last = i ? s->queue[s->nqueue--] : NULL;

	c->place = 0;
	if (!last || last == c)
		return;
	if (i > 1 && s->queue[i / 2]->due_ns > last->due_ns)
		sift_up(s, i, last);
	else
		sift_down(s, i, last);
}

/* ── clients ──────────────────────────────────────────────────────────── */

/* Freed when the events that may still name it are done. */
static void leave(struct as_stub *s, struct client *c, bool rudely)
{
	dequeue(s, c);
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

static void free_list(struct client **list)
{
	while (*list) {
		struct client *c = *list;

		*list = c->after;
		as_buf_done(&c->own);
		free(c);
	}
}

static void arm(struct as_stub *s, struct client *c, bool write)
{
	struct epoll_event e = {.events = write ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = c};

	if (c->armed != write)
		(void)epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->fd, &e);
	c->armed = write;
}

static void welcome(struct as_stub *s, int fd)
{
	struct client *c = as_zalloc(sizeof *c);
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};

	if (!c) {
		as_hang_up(fd);
		return;
	}
	s->count.conns++;
	c->fd = fd;
	c->own = AS_BUF(AS_STUB_BODY_MOST * 2);
	as_http_request(&c->http, c->target, sizeof c->target);
	c->after = s->clients;
	if (s->clients)
		s->clients->before = c;
	s->clients = c;
	(void)epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e);
}

static void accept_all(struct as_stub *s)
{
	int fd;

	while (!as_accept(s->listener, &fd))
		welcome(s, fd);
}

/* ── answers ──────────────────────────────────────────────────────────── */

/* The whole answer was written. */
static void answered(struct as_stub *s, struct client *c)
{
	enum as_stub_end end = c->answer.end;

	s->count.answers++;
	arm(s, c, false);
	c->out_len = c->sent = 0;
	if (end == AS_STUB_HALF)
		as_shut_write(c->fd);
	else if (end != AS_STUB_KEEP || c->answer.framing == AS_STUB_UNTIL_CLOSE)
		leave(s, c, false);
	else
		as_http_request(&c->http, c->target, sizeof c->target);
}

/* One byte more of the body, or another chunk: true while there is more to come. */
static bool go_on(struct as_stub *s, struct client *c)
{
	as_buf_clear(&c->own);
	c->sent = 0;
	if (c->answer.end == AS_STUB_ENDLESS) {
		as_buf_fmt(&c->own, "%x\r\n", ENDLESS_BYTES);
		as_buf_fill(&c->own, 'x', ENDLESS_BYTES);
		as_buf_str(&c->own, "\r\n");
		c->out = c->own.p;
		c->out_len = c->own.len;
		arm(s, c, true);
		return true;
	}
	if (c->answer.end != AS_STUB_DRIP || c->dripped >= c->answer.size)
		return false;
	as_buf_byte(&c->own, 'x');
	c->out = c->own.p;
	c->out_len = c->own.len;
	c->dripped++;
	arm(s, c, false);
	enqueue(s, c, as_now() + DRIP_NS);
	return true;
}

static void write_answer(struct as_stub *s, struct client *c)
{
	ssize_t n = as_send(c->fd, c->out + c->sent, c->out_len - c->sent);

	if (n < 0 && n != -EAGAIN) {
		leave(s, c, false);
		return;
	}
	c->sent += n > 0 ? (size_t)n : 0;
	s->count.bytes_out += n > 0 ? (uint64_t)n : 0;
	if (c->sent < c->out_len)
		arm(s, c, true);
	else if (!go_on(s, c))
		answered(s, c);
}

static void answer(struct as_stub *s, struct client *c)
{
	if (c->answer.end == AS_STUB_DROP || c->answer.end == AS_STUB_RESET)
		leave(s, c, c->answer.end == AS_STUB_RESET);
	else if (c->answer.end != AS_STUB_SILENT)
		write_answer(s, c);
}

/* ── requests ─────────────────────────────────────────────────────────── */

/* Not before a stall is over. */
static int64_t after_stalls(const struct as_stub *s, int64_t due)
{
	for (size_t i = 0; i < s->cfg->nstalls; i++) {
		int64_t from = s->first_ns + s->cfg->stalls[i].at_ns;

		if (due >= from && due < from + s->cfg->stalls[i].for_ns)
			due = from + s->cfg->stalls[i].for_ns;
	}
	return due;
}

/* What its query says; a script that makes no sense is answered with 400. */
static void choose(struct as_stub *s, struct client *c)
{
	const char *query = strchr(c->target, '?');
	struct as_err err = {0};

	c->answer = s->cfg->answer;
	c->out = s->usual.p;
	c->out_len = s->usual.len;
	c->sent = 0;
	c->dripped = 0;
	if (!query)
		return;
	if (as_stub_parse(query + 1, &c->answer, &err) < 0)
		c->answer = (struct as_stub_answer){.status = 400};
	as_buf_clear(&c->own);
	as_stub_put(&c->own, &c->answer);
	c->out = c->own.p;
	c->out_len = c->own.len;
}

static void asked(struct as_stub *s, struct client *c)
{
	int64_t now = as_now();

	s->count.requests++;
	s->first_ns = s->first_ns ? s->first_ns : now;
	choose(s, c);
	if (c->own.bad) {
		leave(s, c, true);
		return;
	}
	int64_t due = after_stalls(s, now + as_stub_draw(&c->answer.delay, &s->random));
	if (due > now)
		enqueue(s, c, due);
	else
		answer(s, c);
}

static void read_request(struct as_stub *s, struct client *c)
{
	ssize_t n = as_recv(c->fd, s->bytes, READ_BYTES);

	if (n == -EAGAIN)
		return;
	if (n <= 0 || as_http_over(&c->http)) { /* over, or more than was asked for */
		leave(s, c, false);
		return;
	}
	s->count.bytes_in += (uint64_t)n;
	size_t used = as_http_feed(&c->http, s->bytes, (size_t)n);
	if (!as_http_over(&c->http))
		return;
	if (c->http.state == AS_HTTP_DONE && used == (size_t)n)
		asked(s, c);
	else
		leave(s, c, false);
}

/* ── the loop ─────────────────────────────────────────────────────────── */

static void on_event(struct as_stub *s, const struct epoll_event *e)
{
	struct client *c = e->data.ptr;

	if (e->data.u64 == TAG_LISTENER)
		accept_all(s);
	else if (e->data.u64 == TAG_SIGNALS)
		s->over = true;
	else if (c->gone)
		return;
	else if (e->events & EPOLLOUT && !(e->events & (EPOLLERR | EPOLLHUP)))
		write_answer(s, c);
	else
		read_request(s, c);
}

static void answer_due(struct as_stub *s, int64_t now)
{
	while (s->nqueue && s->queue[1]->due_ns <= now) {
		struct client *c = s->queue[1];

		dequeue(s, c);
		answer(s, c);
	}
}

static void turn(struct as_stub *s, int64_t until)
{
	struct epoll_event events[EVENTS];
	int64_t now = as_now();

	answer_due(s, now);
	free_list(&s->dead);
	if (s->nqueue && s->queue[1]->due_ns < until)
		until = s->queue[1]->due_ns;
	now = as_now();
	struct timespec t = as_timespec(until > now ? until - now : 0);
	int n = epoll_pwait2(s->epoll, events, EVENTS, &t, NULL);
	for (int i = 0; i < n; i++)
		on_event(s, &events[i]);
}

int as_stub_serve(struct as_stub *s, struct as_stub_count *ret, struct as_err *err)
{
	int64_t end = s->cfg->duration_ns ? as_now() + s->cfg->duration_ns : INT64_MAX;

	(void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
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
	s->bytes = as_zalloc(READ_BYTES);
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
	while (s->clients)
		leave(s, s->clients, false);
	free_list(&s->dead);
	as_close_(&s->listener);
	as_close_(&s->epoll);
	as_close_(&s->signals);
	as_buf_done(&s->usual);
	free(s->queue);
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
