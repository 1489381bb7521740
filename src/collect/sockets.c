#include "collect/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fault.h"

enum {
	UNIX_MAX = 32, /* unix sockets asked for at one look                 */
	TRIES_MAX = 8, /* looks after which a strange socket is left alone   */
	WAIT_MS = 2
};

/* ── whose connection it is ───────────────────────────────────────────── */

bool as_ports_take(const struct as_ports *p, const struct as_sock_addr *local)
{
	for (size_t i = 0; i < p->n; i++)
		if (as_sock_addr_takes(&p->v[i], local))
			return true;
	return false;
}

static void note_port(struct as_sockets *s, struct as_ports *p, const struct as_sock_addr *local)
{
	if (as_ports_take(p, local))
		return;
	if (as_grow(&p->v, &p->cap, p->n, sizeof *p->v, 4))
		p->v[p->n++] = *local;
	else
		s->peers.starved = true;
}

static bool inherited(const struct as_sockets *s, uint32_t inode)
{
	for (size_t i = 0; i < s->ninherited; i++)
		if (s->inherited[i] == inode)
			return true;
	return false;
}

static struct as_peer_hint hint_for(const struct as_sockets *s, const struct as_sock *k)
{
	return (struct as_peer_hint){.accepted = k->kind == AS_SOCK_TCP &&
						 as_ports_take(&s->tcp, &k->local),
				     .before = s->before || inherited(s, k->inode),
				     .ours = s->cgroup && k->cgroup == s->cgroup};
}

/* Who holds it is looked for once. */
static void see(struct as_sockets *s, const struct as_sock *k)
{
	const struct as_connection *known = as_peers_find(&s->peers, k->cookie);
	struct as_sock seen = *k;

	if (!known || !known->of.owner.pid)
		seen.owner = as_sockfds_owner(&s->fds, k->inode);
	as_peers_see(&s->peers, &seen, hint_for(s, k));
}

/* A socket that is there. */
static void on_socket(void *st, const struct as_sock *k)
{
	struct as_sockets *s = st;
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
		see(s, k);
}

struct ending {
	struct as_sockets *s;
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
	bool accepted = as_ports_take(&e->s->tcp, &k->local);
	bool watched = e->s->watched && (!known || known->ours);

	if (!watched && (known || (connected(k) && (accepted || e->own))))
		as_peers_closed(&e->s->peers, k, (struct as_peer_hint){.accepted = accepted});
}

/* ── looking ──────────────────────────────────────────────────────────── */

/* A part of the job cannot be seen: then its numbers are unknown, not small. */
static void refuse(struct as_sockets *s, const struct as_collect *c, const char *what,
		   const char *why)
{
	(void)snprintf(s->refused, sizeof s->refused, "%.22s: %.23s", what, why);
	as_collect_origins(c, AS_JOB, AS_G_NET, AS_UNAVAILABLE, "%s", s->refused);
	as_collect_origins(c, AS_PEER, AS_G_NET, AS_UNAVAILABLE, "%s", s->refused);
	as_collect_origins(c, AS_SOCKET, AS_G_NET, AS_UNAVAILABLE, "%s", s->refused);
}

/* Space 0 is where we are ourselves. */
static void open_space(struct as_sockets *s, const struct as_collect *c, size_t i)
{
	struct as_netspace *space = &s->spaces[i];
	int netns = i ? s->fds.netns_fd[i] : -1;
	struct as_err err;

	space->tried = true;
	space->open = as_sockdiag_open(&space->diag, netns, &err) == AS_OK;
	if (!space->open)
		refuse(s, c, i ? "its network namespace" : "sock_diag", strerror(err.os));
}

static size_t unknown(const struct as_sockets *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->fds.n; i++)
		n += s->fds.v[i].kind == AS_SOCK_UNKNOWN;
	return n;
}

/* The kernel's own filter by group makes it cheap on a machine with many sockets. */
static void look_tcp(struct as_sockets *s, const struct as_collect *c, struct as_netspace *space)
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
static void see_unix(struct as_sockets *s, struct as_sockdiag *d, const struct as_unix_sock *u)
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
static void ask_one(struct as_sockets *s, struct as_sockfd *fd, struct as_sockdiag *d)
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
static void ask_unix(struct as_sockets *s)
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

static void look_sockets(struct as_sockets *s, const struct as_collect *c, int64_t t_ns)
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

/*
 * Is there anything that a dump could tell? What a sleeping job was sent can wait. When the job
 * is over, connections that no look has seen may still be on their way out.
 */
static bool any(const struct as_sockets *s, const struct as_collect *c)
{
	if (c->empty)
		return s->peers.n > 0 || s->busy;
	if (!s->fds.ran && !s->peers.waiting)
		return false;
	for (size_t i = 0; i < s->fds.n; i++)
		if (s->fds.v[i].kind != AS_SOCK_UNIX || !s->fds.v[i].settled)
			return true;
	return s->peers.nconnections > 0;
}

/* ── its life ─────────────────────────────────────────────────────────── */

int64_t as_sockets_held(const struct as_sockets *s, enum as_sock_kind a, enum as_sock_kind b)
{
	int64_t n = 0;

	for (size_t i = 0; i < s->fds.n; i++)
		n += s->fds.v[i].kind == a || s->fds.v[i].kind == b;
	return n;
}

/* What our caller gave us the command gets too: those sockets were there before the run. */
static void note_inherited(struct as_sockets *s)
{
	for (int fd = 0; fd < AS_INHERITED_MAX; fd++) {
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

void as_sockets_init(struct as_sockets *s, const struct as_collect *c)
{
	as_sockfds_init(&s->fds, c);
	if (c->attached)
		return;
	s->cgroup = group_id(c->cgroup);
	note_inherited(s);
}

int as_sockets_look(struct as_sockets *s, const struct as_collect *c, int64_t t_ns, bool before,
		    as_time_left_fn *left, void *data, struct as_err *err)
{
	int r = as_sockfds_look(&s->fds, c, left, data, err);

	s->looked = true;
	s->before = before;
	if (s->fds.denied && !s->refused[0])
		refuse(s, c, "/proc/PID/fd", strerror(EACCES));
	if (r == AS_OK && any(s, c))
		look_sockets(s, c, t_ns);
	return r;
}

void as_sockets_drain(struct as_sockets *s, const struct as_collect *c)
{
	for (size_t i = 0; i < AS_NETNS_MAX; i++)
		if (s->spaces[i].open)
			as_sockdiag_drain(&s->spaces[i].diag, on_ending,
					  &(struct ending){s, i > 0 && !c->attached});
}

void as_sockets_wait(const struct as_sockets *s)
{
	for (size_t i = 0; i < AS_NETNS_MAX; i++)
		if (s->spaces[i].open && as_sockdiag_wait(&s->spaces[i].diag, WAIT_MS))
			return;
}

void as_sockets_done(struct as_sockets *s)
{
	for (size_t i = 0; i < AS_NETNS_MAX; i++)
		if (s->spaces[i].open)
			as_sockdiag_close(&s->spaces[i].diag);
	as_sockfds_done(&s->fds);
	as_peers_done(&s->peers);
	free(s->tcp.v);
	free(s->udp.v);
}
