/*
 * net -- the connections of the job and what went over them.
 *
 * The kernel lists the sockets of a network namespace and the counters of each
 * (os/sockdiag.h). Which of them are the job's: those that its processes hold
 * (collect/sockfds.h), those that were made in its control group, and those
 * that were its own before. A connection that lived between two samples is
 * seen only when it ends. Where BPF is allowed it tells of each (os/netwatch.h),
 * but loading it takes milliseconds: a job must be some of them old. Elsewhere
 * it is the job's if it came to a port where the job listens, or if the
 * namespace is the job's own; others are missed, and the origin says so.
 *
 * A job without sockets costs nothing but a look at its descriptors. All of it
 * stays within a budget of a thousandth of one core: when looking was dear,
 * the next look comes later.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fault.h"
#include "collect/interfaces.h"
#include "collect/peers.h"
#include "collect/sockfds.h"
#include "collect/source.h"
#include "os/hosts.h"
#include "os/netwatch.h"

enum {
	SHARE = 1000,       /* of the time that passes, one part is ours to spend */
	UNIX_MAX = 32,      /* unix sockets asked for at one look                 */
	TRIES_MAX = 8,      /* looks after which a strange socket is left alone   */
	SETTLE_MS = 20,     /* at the end: how long we wait for last numbers      */
	WATCH_AFTER_MS = 5, /* how old a job must be to be worth loading BPF     */
	INHERITED_MAX = 64  /* descriptors that our caller may have given us      */
};

#define SAVED_MAX      (20 * AS_MSEC) /* time that was not spent is saved up to this */
#define SAVED_AT_START (5 * AS_MSEC)

/* One network namespace of the job. */
struct space {
	struct as_sockdiag diag;
	bool tried, open;
};

/* Addresses where the job waits for others. */
struct ports {
	struct as_sock_addr *v;
	size_t n, cap;
};

struct state {
	struct as_sockfds fds;
	struct as_peers peers;
	struct as_interfaces nics;
	struct space spaces[AS_NETNS_MAX];
	uint64_t cgroup; /* id of the group that is the job's alone, or 0             */
	bool foreign;    /* it holds connections that were not made in it             */
	bool before;     /* this look finds what was there before the run             */
	bool looked;
	size_t spaces_seen;        /* namespaces whose interfaces are known */
	struct ports tcp, udp;     /* where it listens                                    */
	struct as_netwatch *watch; /* NULL: not yet, or refused                        */
	bool watch_tried;
	int64_t watch_ns;     /* since when it watches                                */
	int64_t ephemeral[2]; /* ports that the kernel gives to those who do not care */
	uint32_t inherited[INHERITED_MAX];
	size_t ninherited;
	size_t told; /* peers that the sinks know */
	struct as_buf hosts;
	char refused[48];
	int64_t saved_ns, paid_ns, begun_ns; /* CPU time to spend; until when; since when */
};

/* ── the budget ───────────────────────────────────────────────────────── */

static int64_t cpu_now(void)
{
	as_called(1);
	return as_clock(CLOCK_THREAD_CPUTIME_ID);
}

static bool time_left(void *st)
{
	const struct state *s = st;

	return cpu_now() - s->begun_ns < s->saved_ns;
}

static void begin_spending(struct state *s)
{
	int64_t now = as_now();

	s->saved_ns += (now - s->paid_ns) / SHARE;
	s->paid_ns = now;
	if (s->saved_ns > SAVED_MAX)
		s->saved_ns = SAVED_MAX;
	s->begun_ns = cpu_now();
}

static void end_spending(struct state *s)
{
	s->saved_ns -= cpu_now() - s->begun_ns;
}

/* ── whose connection it is ───────────────────────────────────────────── */

static bool listens(const struct ports *p, const struct as_sock_addr *local)
{
	for (size_t i = 0; i < p->n; i++)
		if (as_sock_addr_takes(&p->v[i], local))
			return true;
	return false;
}

static void note_port(struct state *s, struct ports *p, const struct as_sock_addr *local)
{
	if (listens(p, local))
		return;
	if (as_grow(&p->v, &p->cap, p->n, sizeof *p->v, 4))
		p->v[p->n++] = *local;
	else
		s->peers.starved = true;
}

static bool inherited(const struct state *s, uint32_t inode)
{
	for (size_t i = 0; i < s->ninherited; i++)
		if (s->inherited[i] == inode)
			return true;
	return false;
}

static struct as_peer_hint hint_for(const struct state *s, const struct as_sock *k)
{
	return (struct as_peer_hint){.accepted =
					     k->kind == AS_SOCK_TCP && listens(&s->tcp, &k->local),
				     .before = s->before || inherited(s, k->inode),
				     .ours = s->cgroup && k->cgroup == s->cgroup};
}

/* A socket that is there. */
static void on_socket(void *st, const struct as_sock *k)
{
	struct state *s = st;
	struct as_sockfd *fd = k->inode ? as_sockfds_find(&s->fds, k->inode) : NULL;
	bool made_here = s->cgroup && k->cgroup == s->cgroup;

	if (fd)
		fd->kind = k->kind;
	if (!fd && !made_here && !as_peers_find(&s->peers, k->cookie))
		return;
	s->foreign |= !made_here && k->kind == AS_SOCK_TCP;
	if (k->kind == AS_SOCK_TCP && k->state == AS_SOCK_LISTEN)
		note_port(s, &s->tcp, &k->local);
	else if (k->kind == AS_SOCK_UDP && !k->remote.port)
		note_port(s, &s->udp, &k->local);
	else if (k->remote.port)
		as_peers_see(&s->peers, k, hint_for(s, k));
}

struct ending {
	struct state *s;
	bool own; /* the namespace is the job's alone */
};

/* Did it ever come to a connection? One that was refused ends as well. */
static bool connected(const struct as_sock *k)
{
	return k->remote.port && (k->sent > 0 || k->received > 0 || k->rtt_ns != AS_SOCK_NA);
}

/* A socket that was destroyed. What BPF watches it has told, or will tell, by itself. */
static void on_ending(void *data, const struct as_sock *k)
{
	const struct ending *e = data;
	const struct as_connection *known = as_peers_find(&e->s->peers, k->cookie);
	bool accepted = listens(&e->s->tcp, &k->local);
	bool watched = e->s->watch && (!known || known->ours);

	if (!watched && (known || (connected(k) && (accepted || e->own))))
		as_peers_closed(&e->s->peers, k, (struct as_peer_hint){.accepted = accepted});
}

/* ── BPF ──────────────────────────────────────────────────────────────── */

/* A connection of the job that ended, whoever saw it before. */
static void on_watched(void *st, const struct as_sock *k, enum as_role role)
{
	struct state *s = st;
	bool accepted =
		role == AS_ROLE_UNKNOWN ? listens(&s->tcp, &k->local) : role == AS_ROLE_ACCEPTED;

	as_peers_closed(&s->peers, k, (struct as_peer_hint){.accepted = accepted});
}

static bool ephemeral(const struct state *s, uint16_t port)
{
	return port >= s->ephemeral[0] && port <= s->ephemeral[1];
}

/* A datagram's peer came to us if its port is any, and ours is not, or waits for others. */
static void on_flow(void *st, const struct as_flow_seen *f)
{
	struct state *s = st;
	const struct as_sock_addr *any = NULL;

	for (size_t i = 0; i < s->udp.n && !any; i++)
		if (s->udp.v[i].port == f->local_port)
			any = &s->udp.v[i];
	bool accepted = ephemeral(s, f->remote.port) && (!ephemeral(s, f->local_port) || any);
	as_peers_flow(&s->peers, &f->remote, f->local_port, accepted, f->sent, f->received);
}

static void read_ephemeral(struct state *s, const struct as_collect *c)
{
	struct as_span rest, low, high;
	struct as_err err;
	char text[64];
	size_t n = 0;

	s->ephemeral[0] = 32768;
	s->ephemeral[1] = 60999;
	if (as_read_at(c->env->proc, "sys/net/ipv4/ip_local_port_range", text, sizeof text, &n,
		       &err) < 0)
		return;
	rest = as_span(text, n);
	if (as_span_word(&rest, &low) && as_span_word(&rest, &high)) {
		s->ephemeral[0] = as_span_number(low);
		s->ephemeral[1] = as_span_number(high);
	}
}

/*
 * Who asks for the network alone has it from the very start. ASSAY_RUNG holds tests to one
 * source of events.
 */
static bool time_to_watch(const struct state *s, const struct as_collect *c)
{
	const char *rung = getenv("ASSAY_RUNG");
	bool asked = c->want->groups != as_want_all().groups;

	if (s->watch_tried || c->attached || (rung && *rung && strcmp(rung, "bpf") != 0))
		return false;
	return asked || (rung && *rung) ||
	       (c->root && !c->empty && as_now() - c->start_ns > WATCH_AFTER_MS * AS_MSEC);
}

static void tell_watched(const struct state *s, const struct as_collect *c)
{
	enum as_provenance how = s->watch_ns ? AS_ATTRIBUTED : AS_MEASURED;
	char source[48];

	(void)snprintf(source, sizeof source, s->watch_ns ? "BPF, from %lld ms on" : "BPF",
		       (long long)(s->watch_ns / AS_MSEC));
	for (enum as_field_id f = AS_F_JOB_NET_SENT; f <= AS_F_JOB_NET_INS; f++)
		if (c->want->field[f] && f != AS_F_JOB_NET_SOCKETS && f != AS_F_JOB_NET_UNIX)
			as_collect_origin(c, f, how, "%s", source);
	for (enum as_field_id f = AS_F_PEER_CONNS; f <= AS_F_PEER_RTT; f++)
		if (c->want->field[f])
			as_collect_origin(c, f, how, "%s", source);
}

static void watch(struct state *s, const struct as_collect *c)
{
	struct as_err err;

	if (!time_to_watch(s, c))
		return;
	s->watch_tried = true;
	if (as_netwatch_open(&s->watch, c->env, c->cgroup, &err) < 0) {
		s->watch = NULL;
		for (enum as_field_id f = AS_F_JOB_NET_OUT; f <= AS_F_JOB_NET_INS; f++)
			if (c->want->field[f])
				as_collect_origin(c, f, AS_UNAVAILABLE, "BPF: %.40s",
						  err.os ? strerror(err.os) : err.msg);
		return;
	}
	s->watch_ns = c->root ? as_now() - c->start_ns : 0;
	read_ephemeral(s, c);
	tell_watched(s, c);
}

/* ── looking ──────────────────────────────────────────────────────────── */

/* A part of the job cannot be seen: then its numbers are unknown, not small. */
static void refuse(struct state *s, const struct as_collect *c, const char *what, const char *why)
{
	(void)snprintf(s->refused, sizeof s->refused, "%.22s: %.23s", what, why);
	as_collect_origins(c, AS_JOB, AS_G_NET, AS_UNAVAILABLE, "%s", s->refused);
	as_collect_origins(c, AS_PEER, AS_G_NET, AS_UNAVAILABLE, "%s", s->refused);
}

static int open_netns(const struct as_collect *c, int32_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof path, "%d/ns/net", pid);
	return as_openat(c->env->proc, path, O_RDONLY | O_CLOEXEC);
}

/* Space 0 is where we are ourselves. */
static void open_space(struct state *s, const struct as_collect *c, size_t i)
{
	struct space *space = &s->spaces[i];
	as_auto_fd int netns = i ? open_netns(c, s->fds.netns_pid[i]) : -1;
	struct as_err err = {.os = errno};

	space->tried = true;
	space->open = (!i || netns >= 0) && as_sockdiag_open(&space->diag, netns, &err) == AS_OK;
	if (!space->open)
		refuse(s, c, i ? "its network namespace" : "sock_diag", strerror(err.os));
}

static void drain(struct state *s, const struct as_collect *c)
{
	if (s->watch) {
		as_netwatch_drain(s->watch, on_watched, s);
		as_netwatch_flows(s->watch, on_flow, s);
	}
	for (size_t i = 0; i < AS_NETNS_MAX; i++)
		if (s->spaces[i].open)
			as_sockdiag_drain(&s->spaces[i].diag, on_ending,
					  &(struct ending){s, i > 0 && !c->attached});
}

static size_t unknown(const struct state *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->fds.n; i++)
		n += s->fds.v[i].kind == AS_SOCK_UNKNOWN;
	return n;
}

/* The kernel's own filter by group makes it cheap on a machine with many sockets. */
static void look_tcp(struct state *s, const struct as_collect *c, struct space *space)
{
	uint64_t filter = s->foreign ? 0 : s->cgroup;
	struct as_err err;

	int r = as_sockdiag_dump(&space->diag, AS_SOCK_TCP, filter, on_socket, s, &err);
	if (filter && (r < 0 || unknown(s))) /* before Linux 5.8 there is no such filter */
		r = as_sockdiag_dump(&space->diag, AS_SOCK_TCP, 0, on_socket, s, &err);
	if (r < 0 && !s->refused[0])
		refuse(s, c, "sock_diag", strerror(err.os));
}

/* The path by which the other end was reached; accepted sockets have it as their own name. */
static void see_unix(struct state *s, struct as_sockdiag *d, const struct as_unix_sock *u)
{
	struct as_unix_sock peer = {0};
	struct as_err err;

	if (!u->path[0] && u->peer)
		(void)as_sockdiag_unix(d, u->peer, &peer, &err);
	if (u->peer && !s->before && !inherited(s, u->inode))
		as_peers_see_unix(&s->peers, UINT64_C(1) << 63 | u->inode, u->inode,
				  u->path[0] ? u->path : peer.path, u->path[0] != '\0');
}

/* One that is not connected yet is asked again, some times. */
static void ask_one(struct state *s, struct as_sockfd *fd, struct as_sockdiag *d)
{
	struct as_unix_sock u = {0};
	struct as_err err;

	if (as_sockdiag_unix(d, fd->inode, &u, &err) == AS_OK) {
		fd->kind = AS_SOCK_UNIX;
		fd->settled = u.peer || u.state == AS_SOCK_LISTEN;
		see_unix(s, d, &u);
	}
	if (!fd->settled && ++fd->tries == TRIES_MAX) {
		fd->settled = true;
		if (fd->kind == AS_SOCK_UNKNOWN)
			fd->kind = AS_SOCK_OTHER; /* until it turns up in a dump */
	}
}

/* Those that are neither TCP nor UDP, a few at a time. */
static void ask_unix(struct state *s)
{
	size_t asked = 0;

	for (size_t i = 0; i < s->fds.n && asked < UNIX_MAX; i++) {
		struct as_sockfd *fd = &s->fds.v[i];
		bool open = fd->kind == AS_SOCK_UNKNOWN || fd->kind == AS_SOCK_UNIX;

		if (!open || fd->settled || !s->spaces[fd->netns].open)
			continue;
		asked++;
		ask_one(s, fd, &s->spaces[fd->netns].diag);
	}
}

static bool holds(const void *fds, uint32_t inode)
{
	return as_sockfds_find(fds, inode) != NULL;
}

static void look_sockets(struct state *s, const struct as_collect *c, int64_t t_ns)
{
	struct as_err err;

	as_peers_look(&s->peers, t_ns);
	for (size_t i = 0; i < s->fds.nnetns; i++) {
		if (!s->spaces[i].tried)
			open_space(s, c, i);
		if (s->spaces[i].open)
			look_tcp(s, c, &s->spaces[i]);
	}
	for (size_t i = 0; i < s->fds.nnetns && unknown(s); i++)
		if (s->spaces[i].open)
			(void)as_sockdiag_dump(&s->spaces[i].diag, AS_SOCK_UDP, 0, on_socket, s,
					       &err);
	ask_unix(s);
	as_peers_looked(&s->peers, holds, &s->fds);
}

/* Is there anything that a dump could tell? What a sleeping job was sent can wait. */
static bool any(const struct state *s, const struct as_collect *c)
{
	if (!s->fds.ran && !s->peers.connecting && !c->empty)
		return false;
	for (size_t i = 0; i < s->fds.n; i++)
		if (s->fds.v[i].kind != AS_SOCK_UNIX || !s->fds.v[i].settled)
			return true;
	return s->peers.nconnections > 0;
}

static int look(struct state *s, const struct as_collect *c, int64_t t_ns, struct as_err *err)
{
	int r = as_sockfds_look(&s->fds, *c->members, time_left, s, err);

	s->looked = true;
	for (; s->spaces_seen < s->fds.nnetns; s->spaces_seen++)
		as_interfaces_add(&s->nics, c, s->fds.netns_pid[s->spaces_seen]);
	if (s->fds.denied && !s->refused[0])
		refuse(s, c, "/proc/PID/fd", strerror(EACCES));
	if (r == AS_OK && any(s, c))
		look_sockets(s, c, t_ns);
	*c->starved |= s->peers.starved;
	return r;
}

/* The job is over: connections that were open end now, and the kernel tells a little later. */
static void settle(struct state *s, const struct as_collect *c)
{
	int64_t end = as_now() + SETTLE_MS * AS_MSEC;

	drain(s, c);
	while (as_peers_pending(&s->peers) && as_now() < end) {
		bool came = false;

		for (size_t i = 0; i < AS_NETNS_MAX && !came; i++)
			came = s->spaces[i].open && as_sockdiag_wait(&s->spaces[i].diag, 2);
		drain(s, c);
	}
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static void tell_peer(struct state *s, const struct as_collect *c, const struct as_peer *p)
{
	char name[AS_PEER_PATH + 20], host[80];
	struct as_err err;

	if (!s->hosts.max) {
		s->hosts = AS_BUF(AS_BUF_LINE);
		(void)as_read_all(c->env->proc, "self/root/etc/hosts", &s->hosts, &err);
	}
	as_peer_name(p, name, sizeof name);
	bool known = p->at.version &&
		     as_hosts_find(as_buf_text(&s->hosts), s->hosts.len, &p->at, host, sizeof host);
	as_tee_instance(c->sink, &(struct as_instance){.scope = AS_PEER,
						       .id = p->instance,
						       .parent = AS_NO_PARENT,
						       .key = p->at.port,
						       .name = name,
						       .detail = known ? host : NULL,
						       .born_ns = as_now() - c->start_ns,
						       .died_ns = AS_NA,
						       .ended_by = AS_NA});
}

static void peer_row(struct as_peer *p, const struct as_collect *c, struct as_frame *frame)
{
	int64_t *row = as_frame_row(frame, AS_PEER, p->instance);

	as_put(c, row, AS_F_PEER_CONNS, p->all.connections);
	as_put(c, row, AS_F_PEER_OPEN, p->open);
	if (p->counted) {
		as_put(c, row, AS_F_PEER_SENT, p->all.sent);
		as_put(c, row, AS_F_PEER_RECV, p->all.received);
		as_put(c, row, AS_F_PEER_RETRANS,
		       p->kind == AS_SOCK_TCP ? p->all.retransmits : AS_NA);
		as_put(c, row, AS_F_PEER_WAIT, p->wait_ns);
	}
	if (p->rtts)
		as_put(c, row, AS_F_PEER_RTT, p->rtt_sum / p->rtts);
	p->rtt_sum = p->rtts = 0;
	p->changed = false;
}

static int64_t held(const struct state *s, enum as_sock_kind a, enum as_sock_kind b)
{
	int64_t n = 0;

	for (size_t i = 0; i < s->fds.n; i++)
		n += s->fds.v[i].kind == a || s->fds.v[i].kind == b;
	return n;
}

static void packet_cells(const struct state *s, const struct as_collect *c, int64_t *row)
{
	struct as_packets p = as_netwatch_packets(s->watch);

	as_put(c, row, AS_F_JOB_NET_OUT, p.sent_bytes);
	as_put(c, row, AS_F_JOB_NET_IN, p.received_bytes);
	as_put(c, row, AS_F_JOB_NET_OUTS, p.sent);
	as_put(c, row, AS_F_JOB_NET_INS, p.received);
}

static void job_row(const struct state *s, const struct as_collect *c, int64_t *row)
{
	const struct as_traffic *job = &s->peers.job;

	as_put(c, row, AS_F_JOB_NET_SENT, job->sent);
	as_put(c, row, AS_F_JOB_NET_RECV, job->received);
	as_put(c, row, AS_F_JOB_NET_RETRANS, job->retransmits);
	as_put(c, row, AS_F_JOB_NET_CONNS, job->connections);
	if (s->watch)
		packet_cells(s, c, row);
	if (c->empty)
		return;
	as_put(c, row, AS_F_JOB_NET_SOCKETS, held(s, AS_SOCK_TCP, AS_SOCK_UDP));
	as_put(c, row, AS_F_JOB_NET_UNIX, held(s, AS_SOCK_UNIX, AS_SOCK_UNIX));
}

static void rows(struct state *s, const struct as_collect *c, struct as_frame *frame)
{
	if (!s->refused[0])
		job_row(s, c, as_frame_row(frame, AS_JOB, 0));
	for (; s->told < s->peers.n; s->told++)
		tell_peer(s, c, s->peers.v[s->told]);
	for (size_t i = 0; i < s->peers.n; i++)
		if (s->peers.v[i]->changed || s->peers.v[i]->open)
			peer_row(s->peers.v[i], c, frame);
}

/* ── its life ─────────────────────────────────────────────────────────── */

static bool net_wanted(const struct as_want *w)
{
	return as_wants_group(w, AS_G_NET);
}

#define MISSING "tcp_info; those between two samples are missed"

static void tell_origins(const struct as_collect *c)
{
	static const enum as_field_id held_by[] = {AS_F_JOB_NET_SOCKETS, AS_F_JOB_NET_UNIX};

	as_collect_origins(c, AS_JOB, AS_G_NET, AS_ATTRIBUTED, MISSING);
	as_collect_origins(c, AS_PEER, AS_G_NET, AS_ATTRIBUTED, MISSING);
	for (enum as_field_id f = AS_F_JOB_NET_OUT; f <= AS_F_JOB_NET_INS; f++)
		if (c->want->field[f])
			as_collect_origin(c, f, AS_UNAVAILABLE, "needs BPF, and some milliseconds");
	for (size_t i = 0; i < AS_LEN(held_by); i++)
		if (c->want->field[held_by[i]])
			as_collect_origin(c, held_by[i], AS_MEASURED, "/proc/PID/fd, sock_diag");
}

/* What our caller gave us the command gets too: those sockets were there before the run. */
static void note_inherited(struct state *s)
{
	for (int fd = 0; fd < INHERITED_MAX; fd++) {
		int flags = fcntl(fd, F_GETFD);
		struct stat st;

		if (flags >= 0 && !(flags & FD_CLOEXEC) && fstat(fd, &st) == 0 &&
		    S_ISSOCK(st.st_mode))
			s->inherited[s->ninherited++] = (uint32_t)st.st_ino;
	}
}

static uint64_t group_id(const struct as_cgroup *g)
{
	struct stat st;

	return g && g->own && g->dir[AS_CG_V2] >= 0 && fstat(g->dir[AS_CG_V2], &st) == 0 ? st.st_ino
											 : 0;
}

static int net_open(void *st, const struct as_collect *c, struct as_err *err)
{
	struct state *s = st;

	s->saved_ns = SAVED_MAX;
	s->paid_ns = as_now();
	as_sockfds_init(&s->fds, c);
	as_interfaces_init(&s->nics, c);
	s->spaces_seen = 1;
	tell_origins(c);
	if (!c->attached) {
		s->cgroup = group_id(c->cgroup);
		note_inherited(s);
		watch(s, c);
		return AS_OK;
	}
	begin_spending(s);
	s->before = true;
	int r = look(s, c, 0, err);
	s->before = false;
	end_spending(s);
	return r;
}

static int net_sample(void *st, const struct as_collect *c, struct as_frame *frame,
		      struct as_err *err)
{
	struct state *s = st;
	int r = AS_OK;

	watch(s, c);
	begin_spending(s);
	if (c->empty)
		settle(s, c);
	if (*c->members && (s->saved_ns > 0 || c->empty))
		r = look(s, c, frame->t_ns, err);
	drain(s, c); /* after it is known where the job listens */
	rows(s, c, frame);
	as_interfaces_rows(&s->nics, c, frame);
	end_spending(s);
	return r;
}

static void set_total(const struct state *s, struct as_total *totals, enum as_total_id id,
		      int64_t v)
{
	if (!s->looked)
		as_total_set(totals, id, AS_NA, AS_UNAVAILABLE, "needs samples");
	else if (s->refused[0])
		as_total_set(totals, id, AS_NA, AS_UNAVAILABLE, "%s", s->refused);
	else if (s->watch && as_netwatch_lost(s->watch))
		as_total_set(totals, id, v, AS_ATTRIBUTED, "BPF; %llu were lost",
			     (unsigned long long)as_netwatch_lost(s->watch));
	else if (s->watch && s->watch_ns)
		as_total_set(totals, id, v, AS_ATTRIBUTED, "BPF, from %lld ms on",
			     (long long)(s->watch_ns / AS_MSEC));
	else if (s->watch)
		as_total_set(totals, id, v, AS_MEASURED, "BPF");
	else
		as_total_set(totals, id, v, AS_ATTRIBUTED, MISSING);
}

static void net_finish(void *st, const struct as_collect *c, struct as_total *totals)
{
	struct state *s = st;
	const struct as_traffic *job = &s->peers.job;

	(void)c;
	set_total(s, totals, AS_T_NET_SENT, job->sent);
	set_total(s, totals, AS_T_NET_RECV, job->received);
	set_total(s, totals, AS_T_NET_RETRANS, job->retransmits);
	set_total(s, totals, AS_T_NET_CONNS, job->connections);
}

static void net_close(void *st)
{
	struct state *s = st;

	for (size_t i = 0; i < AS_NETNS_MAX; i++)
		if (s->spaces[i].open)
			as_sockdiag_close(&s->spaces[i].diag);
	as_sockfds_done(&s->fds);
	as_interfaces_done(&s->nics);
	as_peers_done(&s->peers);
	as_netwatch_close(s->watch);
	as_buf_done(&s->hosts);
	free(s->tcp.v);
	free(s->udp.v);
}

const struct as_collector as_collect_net = {
	.name = "net",
	.about = "the connections of the job, its peers, network interfaces",
	.reads = "/proc/PID/{fd,net/dev}, sock_diag, /etc/hosts; BPF where allowed",
	.state_size = sizeof(struct state),
	.wanted = net_wanted,
	.open = net_open,
	.sample = net_sample,
	.finish = net_finish,
	.close = net_close,
};
