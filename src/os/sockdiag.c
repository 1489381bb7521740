#include "os/sockdiag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* Messages and attributes have the same shape: a head with a length, padded to four bytes. */
enum { PAD = 4 };

static size_t padded(size_t n)
{
	return (n + PAD - 1) & ~(size_t)(PAD - 1);
}

/* ── one socket ───────────────────────────────────────────────────────── */

/* The payload of attribute `type` behind the head of a message; NULL when it is not there. */
static const void *attribute(const char *p, size_t n, uint16_t type, size_t *ret_len)
{
	struct nlattr a;

	while (n >= sizeof a) {
		memcpy(&a, p, sizeof a);
		if (a.nla_len < sizeof a || a.nla_len > n)
			return NULL;
		if ((a.nla_type & NLA_TYPE_MASK) == type) {
			*ret_len = a.nla_len - sizeof a;
			return p + sizeof a;
		}
		size_t step = padded(a.nla_len);
		p += step < n ? step : n;
		n -= step < n ? step : n;
	}
	return NULL;
}

static struct as_sock_addr address(uint8_t family, const __be32 ip[4], __be16 port)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct as_sock_addr a = {.port = ntohs(port), .version = family == AF_INET ? 4 : 6};

	memcpy(a.ip, ip, family == AF_INET ? 4 : 16);
	if (family == AF_INET6 && !memcmp(a.ip, mapped, sizeof mapped)) {
		memmove(a.ip, a.ip + 12, 4);
		memset(a.ip + 4, 0, 12);
		a.version = 4;
	}
	return a;
}

/* What the kernel counts fits; what somebody else wrote here may not. */
static int64_t whole(uint64_t v)
{
	return v <= INT64_MAX ? (int64_t)v : AS_SOCK_NA;
}

static int64_t payload_sent(const struct tcp_info *t, size_t len)
{
	if (len >= offsetof(struct tcp_info, tcpi_dsack_dups) &&
	    t->tcpi_bytes_sent >= t->tcpi_bytes_retrans)
		return whole(t->tcpi_bytes_sent - t->tcpi_bytes_retrans);
	if (len >= offsetof(struct tcp_info, tcpi_bytes_received)) /* before Linux 4.19 */
		return whole(t->tcpi_bytes_acked);
	return AS_SOCK_NA;
}

/* The length tells how much this kernel knows. */
static void tcp_numbers(const char *p, size_t n, struct as_sock *s)
{
	size_t len = 0;
	const void *info = attribute(p, n, INET_DIAG_INFO, &len);
	struct tcp_info t = {0};

	if (!info || len < offsetof(struct tcp_info, tcpi_pacing_rate))
		return;
	memcpy(&t, info, len < sizeof t ? len : sizeof t);
	s->sent = payload_sent(&t, len);
	if (len >= offsetof(struct tcp_info, tcpi_segs_out))
		s->received = whole(t.tcpi_bytes_received);
	if (len >= offsetof(struct tcp_info, tcpi_data_segs_in) && t.tcpi_min_rtt &&
	    t.tcpi_min_rtt != UINT32_MAX)
		s->rtt_min_ns = t.tcpi_min_rtt * AS_USEC;
	if (len >= offsetof(struct tcp_info, tcpi_data_segs_out))
		s->pieces = t.tcpi_data_segs_in;
	s->retransmits = t.tcpi_total_retrans;
	s->rtt_ns = t.tcpi_rtt ? t.tcpi_rtt * AS_USEC : AS_SOCK_NA;
	s->since_sent_ns = t.tcpi_last_data_sent * AS_MSEC;
	s->since_received_ns = t.tcpi_last_data_recv * AS_MSEC;
}

/*
 * In some states the end mark was received for certain. Of a destroyed socket
 * the state is lost; but if exactly one byte was never read, it was the mark.
 */
static enum as_sock_fin fin_of(uint8_t state, uint32_t unread)
{
	static const uint8_t yes[] = {8, 9, 11}; /* CLOSE_WAIT, LAST_ACK, CLOSING */

	for (size_t i = 0; i < AS_LEN(yes); i++)
		if (state == yes[i])
			return AS_FIN_YES;
	if (state != AS_SOCK_CLOSED)
		return AS_FIN_NO;
	return unread == 1 ? AS_FIN_YES : AS_FIN_MAYBE;
}

static bool parse(const char *p, size_t n, enum as_sock_kind kind, struct as_sock *ret)
{
	struct inet_diag_msg m;
	size_t len = 0;

	if (n < sizeof m)
		return false;
	memcpy(&m, p, sizeof m);
	if (m.idiag_family != AF_INET && m.idiag_family != AF_INET6)
		return false;
	p += sizeof m;
	n -= sizeof m;
	*ret = (struct as_sock){
		.kind = kind,
		.state = m.idiag_state,
		.inode = m.idiag_inode,
		.cookie = (uint64_t)m.id.idiag_cookie[1] << 32 | m.id.idiag_cookie[0],
		.local = address(m.idiag_family, m.id.idiag_src, m.id.idiag_sport),
		.remote = address(m.idiag_family, m.id.idiag_dst, m.id.idiag_dport),
		.fin = fin_of(m.idiag_state, m.idiag_rqueue),
		.sent = AS_SOCK_NA,
		.received = AS_SOCK_NA,
		.pieces = AS_SOCK_NA,
		.retransmits = AS_SOCK_NA,
		.rtt_ns = AS_SOCK_NA,
		.rtt_min_ns = AS_SOCK_NA,
		.since_sent_ns = AS_SOCK_NA,
		.since_received_ns = AS_SOCK_NA,
		.talk = AS_NO_TALK,
		.opened_ns = AS_SOCK_NA,
		.closed_ns = AS_SOCK_NA,
	};
	const void *group = attribute(p, n, INET_DIAG_CGROUP_ID, &len);
	if (group && len >= sizeof ret->cgroup)
		memcpy(&ret->cgroup, group, sizeof ret->cgroup);
	if (kind == AS_SOCK_TCP)
		tcp_numbers(p, n, ret);
	return true;
}

/* ── a datagram of messages ───────────────────────────────────────────── */

/* Cut the next message off: its type and its payload. False: nothing whole is left. */
static bool next_message(const char **p, size_t *n, uint16_t *ret_type, const char **ret,
			 size_t *ret_len)
{
	struct nlmsghdr h;

	if (*n < sizeof h)
		return false;
	memcpy(&h, *p, sizeof h);
	if (h.nlmsg_len < sizeof h || h.nlmsg_len > *n)
		return false;
	*ret_type = h.nlmsg_type;
	*ret = *p + sizeof h;
	*ret_len = h.nlmsg_len - sizeof h;
	size_t step = padded(h.nlmsg_len);
	*p += step < *n ? step : *n;
	*n -= step < *n ? step : *n;
	return true;
}

static enum as_sock_reply refused(const char *p, size_t n, int *ret_os)
{
	struct nlmsgerr e = {.error = -EPROTO};

	memcpy(&e.error, p, n < sizeof e.error ? 0 : sizeof e.error);
	*ret_os = e.error < 0 && e.error > -4096 ? -e.error : EPROTO;
	return AS_REPLY_REFUSED;
}

enum as_sock_reply as_sockdiag_read(const void *p, size_t n, enum as_sock_kind kind, as_sock_fn *fn,
				    void *data, int *ret_os)
{
	const char *at = p, *body = NULL;
	struct as_sock s;
	uint16_t type;
	size_t len;

	while (next_message(&at, &n, &type, &body, &len)) {
		if (type == NLMSG_DONE)
			return AS_REPLY_DONE;
		if (type == NLMSG_ERROR)
			return refused(body, len, ret_os);
		if (type >= NLMSG_MIN_TYPE && parse(body, len, kind, &s))
			fn(data, &s);
	}
	return AS_REPLY_MORE;
}

/* Names are bytes; an abstract one starts with a NUL. Printed later, so cleaned there. */
static void copy_path(const char *p, size_t n, char *ret, size_t size)
{
	n = n < size - 1 ? n : size - 1;
	while (n > 1 && !p[n - 1]) /* some programs count the NULs behind it */
		n--;
	for (size_t i = 0; i < n; i++)
		ret[i] = (char)(p[i] ? p[i] : '@');
	ret[n] = '\0';
}

static bool parse_unix(const char *p, size_t n, struct as_unix_sock *ret)
{
	struct unix_diag_msg m;
	size_t len = 0;

	if (n < sizeof m)
		return false;
	memcpy(&m, p, sizeof m);
	*ret = (struct as_unix_sock){.state = m.udiag_state, .inode = m.udiag_ino};
	p += sizeof m;
	n -= sizeof m;
	const void *peer = attribute(p, n, UNIX_DIAG_PEER, &len);
	if (peer && len >= sizeof ret->peer)
		memcpy(&ret->peer, peer, sizeof ret->peer);
	const char *name = attribute(p, n, UNIX_DIAG_NAME, &len);
	if (name && len)
		copy_path(name, len, ret->path, sizeof ret->path);
	return true;
}

enum as_sock_reply as_sockdiag_read_unix(const void *p, size_t n, struct as_unix_sock *ret,
					 int *ret_os)
{
	const char *at = p, *body = NULL;
	uint16_t type;
	size_t len;

	while (next_message(&at, &n, &type, &body, &len)) {
		if (type == NLMSG_ERROR)
			return refused(body, len, ret_os);
		if (type >= NLMSG_MIN_TYPE && parse_unix(body, len, ret))
			return AS_REPLY_DONE;
	}
	return AS_REPLY_MORE;
}

/* ── descriptors ──────────────────────────────────────────────────────── */

/* Room for some thousands of endings between two samples; it is used only when needed. */
enum { EVENT_ROOM = 8 << 20 };

static int open_events(void)
{
	struct sockaddr_nl to = {.nl_family = AF_NETLINK,
				 .nl_groups = 1u << (SKNLGRP_INET_TCP_DESTROY - 1) |
					      1u << (SKNLGRP_INET6_TCP_DESTROY - 1)};
	as_auto_fd int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
	int room = EVENT_ROOM;

	if (fd < 0 || bind(fd, (struct sockaddr *)&to, sizeof to) < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	return as_take_fd(fd);
}

static int open_both(struct as_sockdiag *d)
{
	d->query = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (d->query < 0)
		return errno;
	d->events = open_events(); /* without, short connections are missed: not a failure */
	return 0;
}

struct errand {
	struct as_sockdiag *d;
	int netns, os;
};

static void *go_there(void *data)
{
	struct errand *e = data;

	e->os = setns(e->netns, CLONE_NEWNET) < 0 ? errno : open_both(e->d);
	return NULL;
}

int as_sockdiag_open(struct as_sockdiag *d, int netns, struct as_err *err)
{
	struct errand e = {.d = d, .netns = netns};
	pthread_t thread;
	int os;

	*d = (struct as_sockdiag){.query = -1, .events = -1};
	if (netns < 0) {
		os = open_both(d);
	} else if ((os = pthread_create(&thread, NULL, go_there, &e)) == 0) {
		(void)pthread_join(thread, NULL);
		os = e.os; /* of its own: it may be written before pthread_create() is back */
	}
	return os ? as_fail_errno(err, os, "sock_diag") : AS_OK;
}

void as_sockdiag_close(struct as_sockdiag *d)
{
	as_close_(&d->query);
	as_close_(&d->events);
	d->query = d->events = -1;
}

/* ── asking ───────────────────────────────────────────────────────────── */

/* "Made in this group, else not": the one instruction of a filter that the kernel runs. */
struct filter {
	struct nlattr head;
	struct inet_diag_bc_op op;
	uint32_t cgroup[2];
};

_Static_assert(sizeof(struct filter) == 16, "the kernel reads it as it stands");

/* Put it behind the request in `to`, where one is wanted; the length of both. */
static size_t with_filter(char *to, size_t n, uint64_t cgroup)
{
	struct filter f = {
		.head = {sizeof f, INET_DIAG_REQ_BYTECODE},
		.op = {INET_DIAG_BC_CGROUP_COND, sizeof f - sizeof f.head,
		       sizeof f - sizeof f.head + 4},
	};
	struct nlmsghdr h;

	memcpy(f.cgroup, &cgroup, sizeof cgroup);
	memcpy(to + n, &f, sizeof f);
	n += cgroup ? sizeof f : 0;
	memcpy(&h, to, sizeof h);
	h.nlmsg_len = (uint32_t)n;
	memcpy(to, &h, sizeof h);
	return n;
}

/* Every state but that of connections that are over and have no counters. */
enum { TCP_STATES = 0xfff & ~(1 << 6), INFO = 1 << (INET_DIAG_INFO - 1) };

/* The old request: one walk over the kernel's table tells IPv4 and IPv6. */
static size_t ask_tcp(char *to, uint64_t cgroup)
{
	struct {
		struct nlmsghdr h;
		struct inet_diag_req r;
	} q = {.h = {.nlmsg_type = TCPDIAG_GETSOCK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	       .r = {.idiag_family = AF_INET, .idiag_ext = INFO, .idiag_states = TCP_STATES}};

	memcpy(to, &q, sizeof q);
	return with_filter(to, sizeof q, cgroup);
}

static size_t ask_udp(char *to, uint64_t cgroup, uint8_t family)
{
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 r;
	} q = {.h = {.nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	       .r = {.sdiag_family = family, .sdiag_protocol = IPPROTO_UDP, .idiag_states = ~0u}};

	memcpy(to, &q, sizeof q);
	return with_filter(to, sizeof q, cgroup);
}

enum { REQUEST = 256, DATAGRAM = 32 << 10 };

/* A netlink reply is there as soon as the request was sent, or it never comes. */
static int send_request(struct as_sockdiag *d, const char *request, size_t n, struct as_err *err)
{
	as_called(1);
	if (send(d->query, request, n, 0) != (ssize_t)n)
		return as_fail_errno(err, errno, "ask sock_diag");
	return AS_OK;
}

static int dump(struct as_sockdiag *d, const char *request, size_t n, enum as_sock_kind kind,
		as_sock_fn *fn, void *data, struct as_err *err)
{
	enum as_sock_reply reply = AS_REPLY_MORE;
	char text[DATAGRAM];
	int os = EPROTO;
	int r = send_request(d, request, n, err);

	while (r == AS_OK && reply == AS_REPLY_MORE) {
		as_called(1);
		ssize_t got = recv(d->query, text, sizeof text, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return as_fail_errno(err, got < 0 ? errno : EPROTO, "read sock_diag");
		reply = as_sockdiag_read(text, (size_t)got, kind, fn, data, &os);
	}
	return r == AS_OK && reply == AS_REPLY_REFUSED ? as_fail_errno(err, os, "sock_diag") : r;
}

int as_sockdiag_dump(struct as_sockdiag *d, enum as_sock_kind kind, uint64_t cgroup, as_sock_fn *fn,
		     void *data, struct as_err *err)
{
	char request[REQUEST];

	if (kind == AS_SOCK_TCP)
		return dump(d, request, ask_tcp(request, cgroup), kind, fn, data, err);
	int r = dump(d, request, ask_udp(request, cgroup, AF_INET), kind, fn, data, err);
	if (r < 0)
		return r;
	r = dump(d, request, ask_udp(request, cgroup, AF_INET6), kind, fn, data, err);
	return r == AS_ENOTFOUND ? AS_OK : r; /* a kernel without IPv6 */
}

int as_sockdiag_unix(struct as_sockdiag *d, uint32_t inode, struct as_unix_sock *ret,
		     struct as_err *err)
{
	struct {
		struct nlmsghdr h;
		struct unix_diag_req r;
	} q = {.h = {.nlmsg_len = sizeof q,
		     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		     .nlmsg_flags = NLM_F_REQUEST},
	       .r = {.sdiag_family = AF_UNIX,
		     .udiag_states = ~0u,
		     .udiag_ino = inode,
		     .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
		     .udiag_cookie = {~0u, ~0u}}};
	char text[4096];
	int os = EPROTO;
	int r = send_request(d, (const char *)&q, sizeof q, err);

	if (r < 0)
		return r;
	as_called(1);
	ssize_t got = recv(d->query, text, sizeof text, 0);
	if (got <= 0)
		return as_fail_errno(err, got < 0 ? errno : EPROTO, "read sock_diag");
	if (as_sockdiag_read_unix(text, (size_t)got, ret, &os) != AS_REPLY_DONE)
		return as_fail_errno(err, os, "unix socket %u", inode);
	return AS_OK;
}

/* ── endings ──────────────────────────────────────────────────────────── */

/* So many datagrams at most: strangers may end connections faster than we read. */
enum { DRAIN_MAX = 1 << 16 };

void as_sockdiag_drain(struct as_sockdiag *d, as_sock_fn *fn, void *data)
{
	char text[4096];
	int os;

	if (d->events < 0)
		return;
	for (int i = 0; i < DRAIN_MAX; i++) {
		as_called(1);
		ssize_t got = recv(d->events, text, sizeof text, 0);

		if (got > 0)
			(void)as_sockdiag_read(text, (size_t)got, AS_SOCK_TCP, fn, data, &os);
		else if (got < 0 && errno == ENOBUFS)
			d->lost++;
		else if (got == 0 || errno != EINTR)
			return;
	}
}

bool as_sockdiag_wait(const struct as_sockdiag *d, int ms)
{
	struct pollfd p = {.fd = d->events, .events = POLLIN};

	as_called(1);
	return d->events >= 0 && poll(&p, 1, ms) > 0;
}

/* ── addresses ────────────────────────────────────────────────────────── */

bool as_sock_addr_same(const struct as_sock_addr *a, const struct as_sock_addr *b)
{
	return a->version == b->version && a->port == b->port &&
	       !memcmp(a->ip, b->ip, sizeof a->ip);
}

bool as_sock_addr_takes(const struct as_sock_addr *a, const struct as_sock_addr *b)
{
	static const uint8_t any[16];

	if (a->port != b->port)
		return false;
	if (!memcmp(a->ip, any, sizeof any)) /* "::" takes IPv4 as well */
		return a->version == b->version || a->version == 6;
	return as_sock_addr_same(a, b);
}

void as_sock_addr_text(const struct as_sock_addr *a, char ret[AS_ADDR_TEXT])
{
	if (!a->version ||
	    !inet_ntop(a->version == 4 ? AF_INET : AF_INET6, a->ip, ret, AS_ADDR_TEXT))
		memcpy(ret, "-", 2);
}

bool as_sock_addr_scan(const char *p, size_t n, struct as_sock_addr *ret)
{
	struct as_sock_addr a = {0};
	char text[AS_ADDR_TEXT];

	if (n >= sizeof text)
		return false;
	memcpy(text, p, n);
	text[n] = '\0';
	if (inet_pton(AF_INET, text, a.ip) == 1)
		a.version = 4;
	else if (inet_pton(AF_INET6, text, a.ip) == 1)
		a.version = 6;
	if (a.version)
		*ret = a;
	return a.version != 0;
}
