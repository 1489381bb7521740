/*
 * net -- the connections of the job and what went over them.
 *
 * What the kernel lists and counts for everybody is read at each sample
 * (collect/sockets.h); connections that lived between two samples are missed
 * by it. Where BPF is allowed it tells of each, and counts the exchanges over
 * it and the time until the answers came (os/netwatch.h). But loading it takes
 * milliseconds: a job must be some of them old.
 *
 * A job without sockets costs nothing but a look at its descriptors. All of it
 * stays within a budget of a thousandth of one core: when looking was dear,
 * the next look comes later.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "collect/interfaces.h"
#include "collect/sockets.h"
#include "collect/source.h"
#include "os/haste.h"
#include "os/names.h"
#include "os/netwatch.h"

enum {
	SHARE = 1000,      /* of the time that passes, one part is ours to spend */
	SETTLE_MS = 20,    /* at the end: how long we wait for last numbers      */
	WATCH_AFTER_MS = 5 /* how old a job must be to be worth loading BPF      */
};

#define SAVED_MAX (20 * AS_MSEC) /* time that was not spent is saved up to this */

struct state {
	struct as_sockets sockets;
	struct as_interfaces nics;
	size_t spaces_seen;        /* namespaces whose interfaces are known    */
	struct as_netwatch *watch; /* NULL: not yet, or refused                */
	bool watch_tried;
	bool interrupted;     /* a child ended while it was being opened                      */
	bool blind;           /* nothing was seen, and for too long nobody watched            */
	int64_t watch_ns;     /* since when it watches                                */
	int64_t ephemeral[2]; /* ports that the kernel gives to those who do not care */
	size_t told;          /* peers that the sinks know */
	struct as_names names;
	bool last; /* sample that there is                                            */
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

/* ── BPF ──────────────────────────────────────────────────────────────── */

/* A connection of the job that ended, whoever saw it before. */
static void on_watched(void *st, const struct as_sock *k, enum as_role role)
{
	struct state *s = st;
	bool accepted = role == AS_ROLE_UNKNOWN ? as_ports_take(&s->sockets.tcp, &k->local)
						: role == AS_ROLE_ACCEPTED;

	as_peers_closed(&s->sockets.peers, k, (struct as_peer_hint){.accepted = accepted});
}

static bool ephemeral(const struct state *s, uint16_t port)
{
	return port >= s->ephemeral[0] && port <= s->ephemeral[1];
}

/* A datagram's peer came to us if its port is any, and ours is not, or waits for others. */
static void on_flow(void *st, const struct as_flow_seen *f)
{
	struct state *s = st;
	const struct as_ports *udp = &s->sockets.udp;
	const struct as_sock_addr *any = NULL;

	for (size_t i = 0; i < udp->n && !any; i++)
		if (udp->v[i].port == f->local_port)
			any = &udp->v[i];
	bool accepted = ephemeral(s, f->remote.port) && (!ephemeral(s, f->local_port) || any);
	as_peers_flow(&s->sockets.peers, &f->remote, f->local_port, accepted, f->sent, f->received);
}

static bool ask_talk(void *st, uint64_t cookie, struct as_talk *ret)
{
	const struct state *s = st;

	return as_netwatch_talk(s->watch, cookie, ret);
}

static void begin_talk(void *st, uint64_t cookie, const struct as_talk *known)
{
	const struct state *s = st;

	as_netwatch_begin(s->watch, cookie, known);
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

/* ASSAY_RUNG holds tests to one source of events. */
static bool may_watch(const struct as_collect *c)
{
	const char *rung = getenv("ASSAY_RUNG");

	return !c->attached && (!rung || !*rung || !strcmp(rung, "bpf"));
}

/* Who asks for the network alone has it from the very start. */
static bool time_to_watch(const struct state *s, const struct as_collect *c)
{
	const char *rung = getenv("ASSAY_RUNG");
	bool asked = c->want->groups != as_want_all().groups;

	if (s->watch_tried || s->last || !may_watch(c))
		return false;
	return asked || (rung && *rung) ||
	       (c->root && !c->empty && as_now() - c->start_ns > WATCH_AFTER_MS * AS_MSEC);
}

/* What nobody but BPF can tell, and why it does not. */
static void tell_only_bpf(const struct as_collect *c, const char *why)
{
	static const enum as_field_id only[] = {AS_F_JOB_NET_OUT,  AS_F_JOB_NET_IN,
						AS_F_JOB_NET_OUTS, AS_F_JOB_NET_INS,
						AS_F_PEER_REUSED,  AS_F_PEER_EXCHANGES};

	for (size_t i = 0; i < AS_LEN(only); i++)
		if (c->want->field[only[i]])
			as_collect_origin(c, only[i], AS_UNAVAILABLE, "%s", why);
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
	for (enum as_field_id f = AS_F_PEER_CONNS; f <= AS_F_PEER_WAIT; f++)
		if (c->want->field[f])
			as_collect_origin(c, f, how, "%s", source);
	as_collect_origins(c, AS_SOCKET, AS_G_NET, how, "%s", source);
}

/* The job may end before it is open: once, that is reason enough to give up. */
static int open_watch(struct state *s, const struct as_collect *c, struct as_err *err)
{
	struct as_haste h;

	if (!c->root || s->interrupted)
		return as_netwatch_open(&s->watch, c->env, c->cgroup, err);
	int r = AS_EUNSUP;
	if (as_haste_begin(&h))
		r = as_netwatch_open(&s->watch, c->env, c->cgroup, err);
	s->interrupted = as_haste_end(&h) && r < 0;
	s->watch_tried = !s->interrupted;
	return r;
}

static void watch(struct state *s, const struct as_collect *c)
{
	struct as_err err;
	char why[48];

	if (!time_to_watch(s, c))
		return;
	s->watch_tried = true;
	if (open_watch(s, c, &err) < 0) {
		s->watch = NULL;
		if (!s->watch_tried)
			return;
		(void)snprintf(why, sizeof why, "BPF: %.40s", err.os ? strerror(err.os) : err.msg);
		tell_only_bpf(c, why);
		return;
	}
	s->sockets.watched = true;
	s->watch_ns = c->root ? as_now() - c->start_ns : 0;
	read_ephemeral(s, c);
	tell_watched(s, c);
}

/* ── looking ──────────────────────────────────────────────────────────── */

static void drain(struct state *s, const struct as_collect *c)
{
	if (s->watch) {
		s->sockets.busy = as_netwatch_packets(s->watch).sent > 0;
		as_netwatch_drain(s->watch, on_watched, s);
		as_netwatch_flows(s->watch, on_flow, s);
		as_peers_ask(&s->sockets.peers, &(struct as_talks){ask_talk, begin_talk, s});
	}
	as_sockets_drain(&s->sockets, c);
}

static int look(struct state *s, const struct as_collect *c, int64_t t_ns, bool before,
		struct as_err *err)
{
	int r = as_sockets_look(&s->sockets, c, t_ns, before, time_left, s, err);
	const struct as_sockfds *fds = &s->sockets.fds;

	for (; s->spaces_seen < fds->nnetns; s->spaces_seen++)
		as_interfaces_add(&s->nics, c, fds->netns_pid[s->spaces_seen],
				  fds->netns_fd[s->spaces_seen]);
	*c->starved |= s->sockets.peers.starved;
	return r;
}

/* The job is over: connections that were open end now, and the kernel tells a little later. */
static void settle(struct state *s, const struct as_collect *c)
{
	int64_t end = as_now() + SETTLE_MS * AS_MSEC;

	drain(s, c);
	while (as_peers_pending(&s->sockets.peers) && as_now() < end) {
		as_sockets_wait(&s->sockets);
		drain(s, c);
	}
}

/*
 * The last look. What it is the first to see of a connection that outlives the job moved, as far
 * as it can tell: if the end does not come soon, a second one sees that it rests.
 */
static int look_back(struct state *s, const struct as_collect *c, int64_t t_ns, struct as_err *err)
{
	settle(s, c);
	int r = *c->members ? look(s, c, t_ns, false, err) : AS_OK;
	if (r < 0 || !s->sockets.peers.moving)
		return r;
	settle(s, c);
	return as_peers_pending(&s->sockets.peers) ? look(s, c, t_ns, false, err) : r;
}

/* ── what nobody saw ──────────────────────────────────────────────────── */

static const enum as_field_id traffic[] = {AS_F_JOB_NET_SENT, AS_F_JOB_NET_RECV,
					   AS_F_JOB_NET_RETRANS, AS_F_JOB_NET_CONNS};

#define LATE "over before BPF could watch for long"

/*
 * Of a short job BPF may have seen the end only, or nothing: that it saw no traffic does not
 * mean that there was none.
 */
static bool saw_too_little(const struct state *s, const struct as_collect *c)
{
	enum { PART = 10 }; /* of the job that may go unwatched */
	const struct as_traffic *job = &s->sockets.peers.job;
	int64_t end = c->ended && *c->ended > 0 ? *c->ended : as_now() - c->start_ns;

	if (job->sent || job->received || job->connections)
		return false;
	return s->watch ? s->watch_ns > end / PART : may_watch(c) && !s->watch_tried;
}

static void judge_sight(struct state *s, const struct as_collect *c)
{
	s->blind = !s->sockets.refused[0] && saw_too_little(s, c);
	for (size_t i = 0; s->blind && i < AS_LEN(traffic); i++)
		if (c->want->field[traffic[i]])
			as_collect_origin(c, traffic[i], AS_UNAVAILABLE, "%s", LATE);
	if (s->blind)
		tell_only_bpf(c, LATE);
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static void tell_peer(struct state *s, const struct as_collect *c, const struct as_peer *p)
{
	char name[AS_PEER_PATH + 20], host[80];

	as_peer_name(p, name, sizeof name);
	bool known = as_names_find(&s->names, c->env, &p->at, host, sizeof host);
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
	as_put(c, row, AS_F_PEER_REUSED, p->reused);
	as_put(c, row, AS_F_PEER_EXCHANGES, p->exchanges);
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
	const struct as_traffic *job = &s->sockets.peers.job;

	if (!s->blind) {
		as_put(c, row, AS_F_JOB_NET_SENT, job->sent);
		as_put(c, row, AS_F_JOB_NET_RECV, job->received);
		as_put(c, row, AS_F_JOB_NET_RETRANS, job->retransmits);
		as_put(c, row, AS_F_JOB_NET_CONNS, job->connections);
	}
	if (s->watch && !s->blind)
		packet_cells(s, c, row);
	if (c->empty)
		return;
	as_put(c, row, AS_F_JOB_NET_SOCKETS,
	       as_sockets_held(&s->sockets, AS_SOCK_TCP, AS_SOCK_UDP));
	as_put(c, row, AS_F_JOB_NET_UNIX, as_sockets_held(&s->sockets, AS_SOCK_UNIX, AS_SOCK_UNIX));
}

static void rows(struct state *s, const struct as_collect *c, struct as_frame *frame)
{
	if (!s->sockets.refused[0])
		job_row(s, c, as_frame_row(frame, AS_JOB, 0));
	for (; s->told < s->sockets.peers.n; s->told++)
		tell_peer(s, c, s->sockets.peers.v[s->told]);
	for (size_t i = 0; i < s->sockets.peers.n; i++)
		if (s->sockets.peers.v[i]->changed || s->sockets.peers.v[i]->open)
			peer_row(s->sockets.peers.v[i], c, frame);
}

/* ── sockets one by one ───────────────────────────────────────────────── */

static int64_t since(const struct as_collect *c, int64_t ns)
{
	return ns == AS_NA ? AS_NA : ns - c->start_ns;
}

static void tell_socket(const struct as_socket *k, const struct as_collect *c, uint32_t id)
{
	char name[AS_ADDR_TEXT], comm[sizeof k->owner.comm];

	as_sock_addr_text(&k->remote, name);
	memcpy(comm, k->owner.comm, sizeof comm);
	as_tee_instance(c->sink, &(struct as_instance){.scope = AS_SOCKET,
						       .id = id,
						       .parent = k->peer,
						       .key = k->owner.pid,
						       .name = name,
						       .detail = comm[0] ? comm : NULL,
						       .born_ns = since(c, k->opened_ns),
						       .died_ns = since(c, k->closed_ns),
						       .ended_by = AS_NA});
}

static void socket_row(const struct as_socket *k, const struct as_collect *c, int64_t *row)
{
	enum { TCP = 6, UDP = 17 };
	bool tcp = k->kind == AS_SOCK_TCP;

	as_put(c, row, AS_F_SOCK_PROTOCOL, tcp ? TCP : UDP);
	as_put(c, row, AS_F_SOCK_ACCEPTED, k->accepted);
	as_put(c, row, AS_F_SOCK_LOCAL, k->local.port);
	as_put(c, row, AS_F_SOCK_PORT, k->remote.port);
	as_put(c, row, AS_F_SOCK_STATE, tcp ? k->state : AS_NA);
	as_put(c, row, AS_F_SOCK_SENT, k->sent);
	as_put(c, row, AS_F_SOCK_RECV, k->received);
	as_put(c, row, AS_F_SOCK_RETRANS, k->retransmits);
	as_put(c, row, AS_F_SOCK_RTT, k->rtt_ns);
	as_put(c, row, AS_F_SOCK_RTT_MIN, k->rtt_min_ns);
}

/* What is left out, as the last of the list. */
static void others_row(const struct as_socklist *l, const struct as_collect *c,
		       struct as_frame *frame)
{
	char name[] = "others";

	as_tee_instance(c->sink, &(struct as_instance){.scope = AS_SOCKET,
						       .id = (uint32_t)l->n,
						       .parent = AS_NO_PARENT,
						       .name = name,
						       .born_ns = AS_NA,
						       .died_ns = AS_NA,
						       .ended_by = AS_NA});
	int64_t *row = as_frame_row(frame, AS_SOCKET, (uint32_t)l->n);
	as_put(c, row, AS_F_SOCK_SENT, l->sent);
	as_put(c, row, AS_F_SOCK_RECV, l->received);
	as_put(c, row, AS_F_SOCK_OTHERS, l->others);
}

static void socket_rows(const struct state *s, const struct as_collect *c, struct as_frame *frame)
{
	struct as_socklist list;

	as_peers_list(&s->sockets.peers, &list);
	for (uint32_t i = 0; i < list.n; i++) {
		tell_socket(&list.v[i], c, i);
		socket_row(&list.v[i], c, as_frame_row(frame, AS_SOCKET, i));
	}
	if (list.others)
		others_row(&list, c, frame);
}

/* ── its life ─────────────────────────────────────────────────────────── */

static bool net_wanted(const struct as_want *w)
{
	return as_wants_group(w, AS_G_NET);
}

#define MISSING "tcp_info; what was over by a sample is missed"

static void tell_origins(const struct as_collect *c)
{
	static const enum as_field_id held_by[] = {AS_F_JOB_NET_SOCKETS, AS_F_JOB_NET_UNIX};

	as_collect_origins(c, AS_JOB, AS_G_NET, AS_ATTRIBUTED, MISSING);
	as_collect_origins(c, AS_PEER, AS_G_NET, AS_ATTRIBUTED, MISSING);
	as_collect_origins(c, AS_SOCKET, AS_G_NET, AS_ATTRIBUTED, MISSING);
	tell_only_bpf(c, c->attached ? "needs BPF on a group of the job's own"
				     : "needs BPF, and some milliseconds");
	for (size_t i = 0; i < AS_LEN(held_by); i++)
		if (c->want->field[held_by[i]])
			as_collect_origin(c, held_by[i], AS_MEASURED, "/proc/PID/fd, sock_diag");
}

static int net_open(void *st, const struct as_collect *c, struct as_err *err)
{
	struct state *s = st;

	s->saved_ns = SAVED_MAX;
	s->paid_ns = as_now();
	as_sockets_init(&s->sockets, c);
	as_interfaces_init(&s->nics, c);
	s->spaces_seen = 1;
	tell_origins(c);
	if (!c->attached) {
		watch(s, c);
		return AS_OK;
	}
	begin_spending(s);
	int r = look(s, c, 0, true, err);
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
		r = look_back(s, c, frame->t_ns, err);
	else if (*c->members && s->saved_ns > 0)
		r = look(s, c, frame->t_ns, false, err);
	drain(s, c); /* after it is known where the job listens */
	if (s->last)
		judge_sight(s, c);
	rows(s, c, frame);
	if (s->last && !s->sockets.refused[0])
		socket_rows(s, c, frame);
	as_interfaces_rows(&s->nics, c, frame);
	end_spending(s);
	return r;
}

/* Which sockets had the most is only known at the end. */
static enum as_news net_ready(void *st, const struct as_collect *c, bool last)
{
	struct state *s = st;

	(void)c;
	s->last |= last;
	return AS_NO_NEWS;
}

static void set_total(const struct state *s, struct as_total *totals, enum as_total_id id,
		      int64_t v)
{
	if (!s->sockets.looked)
		as_total_set(totals, id, AS_NA, AS_UNAVAILABLE, "needs samples");
	else if (s->sockets.refused[0])
		as_total_set(totals, id, AS_NA, AS_UNAVAILABLE, "%s", s->sockets.refused);
	else if (s->blind)
		as_total_set(totals, id, AS_NA, AS_UNAVAILABLE, LATE);
	else if (s->watch && as_netwatch_lost(s->watch))
		as_total_set(totals, id, v, AS_ATTRIBUTED, "BPF; %llu were lost",
			     (unsigned long long)as_netwatch_lost(s->watch));
	else if (s->watch && s->watch_ns)
		as_total_set(totals, id, v, AS_ATTRIBUTED,
			     "BPF; what was over by %lld ms is missed",
			     (long long)(s->watch_ns / AS_MSEC));
	else if (s->watch)
		as_total_set(totals, id, v, AS_MEASURED, "BPF");
	else
		as_total_set(totals, id, v, AS_ATTRIBUTED, MISSING);
}

static void net_finish(void *st, const struct as_collect *c, struct as_total *totals)
{
	struct state *s = st;
	const struct as_traffic *job = &s->sockets.peers.job;

	(void)c;
	set_total(s, totals, AS_T_NET_SENT, job->sent);
	set_total(s, totals, AS_T_NET_RECV, job->received);
	set_total(s, totals, AS_T_NET_RETRANS, job->retransmits);
	set_total(s, totals, AS_T_NET_CONNS, job->connections);
}

static void net_close(void *st)
{
	struct state *s = st;

	as_sockets_done(&s->sockets);
	as_interfaces_done(&s->nics);
	as_netwatch_close(s->watch);
	as_names_done(&s->names);
}

const struct as_collector as_collect_net = {
	.name = "net",
	.about = "the connections of the job, its peers, network interfaces",
	.reads = "/proc/PID/{fd,net/dev}, sock_diag, /etc/hosts, nscd, resolved; BPF where allowed",
	.state_size = sizeof(struct state),
	.wanted = net_wanted,
	.open = net_open,
	.sample = net_sample,
	.ready = net_ready,
	.finish = net_finish,
	.close = net_close,
};
