#include "collect/peers.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"

/* Looks after which we give up waiting for the last numbers of a connection. */
enum { MISSED_MAX = 4 };

/* ── peers ────────────────────────────────────────────────────────────── */

static bool same_peer(const struct as_peer *a, const struct as_peer *b)
{
	return a->kind == b->kind && a->accepted == b->accepted &&
	       as_sock_addr_same(&a->at, &b->at) && !strcmp(a->path, b->path);
}

/* One peer more; past the limit all are joined in one that has no address. */
static struct as_peer *add_peer(struct as_peers *t, const struct as_peer *key)
{
	struct as_peer *p = as_zalloc(sizeof *p);

	if (!p || !as_grow(&t->v, &t->cap, t->n, sizeof *t->v, 8)) {
		free(p);
		t->starved = true;
		return NULL;
	}
	if (t->n < AS_PEERS_MAX)
		*p = *key;
	p->instance = (uint32_t)t->n;
	p->wait_ns = p->kind == AS_SOCK_TCP && !p->accepted ? 0 : AS_NA;
	p->exchanges = p->reused = AS_NA;
	return t->v[t->n++] = p;
}

static struct as_peer *peer_for(struct as_peers *t, const struct as_peer *key)
{
	for (size_t i = 0; i < t->n; i++)
		if (same_peer(t->v[i], key))
			return t->v[i];
	return t->n > AS_PEERS_MAX ? t->v[AS_PEERS_MAX] : add_peer(t, key);
}

static struct as_peer *peer_of(struct as_peers *t, const struct as_sock *s, bool accepted)
{
	struct as_peer key = {.kind = s->kind, .accepted = accepted, .at = s->remote};

	if (accepted)
		key.at.port = s->local.port;
	return peer_for(t, &key);
}

static void put_port(const struct as_peer *p, const char *ip, char *ret, size_t size)
{
	const char *lead = p->kind == AS_SOCK_UDP ? "udp " : "";

	if (p->accepted)
		(void)snprintf(ret, size, "%sport %u from %s", lead, p->at.port, ip);
	else
		(void)snprintf(ret, size, p->at.version == 6 ? "%s[%s]:%u" : "%s%s:%u", lead, ip,
			       p->at.port);
}

void as_peer_name(const struct as_peer *p, char *ret, size_t size)
{
	char ip[AS_ADDR_TEXT];

	if (p->kind == AS_SOCK_UNKNOWN)
		(void)snprintf(ret, size, "others");
	else if (p->kind == AS_SOCK_UNIX)
		(void)snprintf(ret, size, "unix %s%s", p->path[0] ? p->path : "(no name)",
			       p->accepted ? ", accepted" : "");
	else {
		as_sock_addr_text(&p->at, ip);
		put_port(p, ip, ret, size);
	}
}

/* ── connections ──────────────────────────────────────────────────────── */

static size_t place(const struct as_peers *t, uint64_t cookie)
{
	size_t lo = 0, hi = t->nconnections;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (t->connections[mid].cookie < cookie)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct as_connection *find(const struct as_peers *t, uint64_t cookie)
{
	size_t at = place(t, cookie);

	return at < t->nconnections && t->connections[at].cookie == cookie ? &t->connections[at]
									   : NULL;
}

const struct as_connection *as_peers_find(const struct as_peers *t, uint64_t cookie)
{
	return find(t, cookie);
}

/* Cookies grow, so a new connection nearly always goes to the end. */
static struct as_connection *add(struct as_peers *t, uint64_t cookie, struct as_peer *p)
{
	size_t at = place(t, cookie);

	if (!p || !as_grow(&t->connections, &t->connections_cap, t->nconnections,
			   sizeof *t->connections, 16)) {
		t->starved = true;
		return NULL;
	}
	struct as_connection *k = &t->connections[at];
	memmove(k + 1, k, (t->nconnections - at) * sizeof *k);
	t->nconnections++;
	*k = (struct as_connection){.cookie = cookie, .peer = p->instance};
	return k;
}

enum { WAYS = 8 }; /* places that an end may have */

/* The first of them, the same for both ends of a connection. */
static struct as_end *end_places(const struct as_peers *t, const struct as_sock *s)
{
	uint32_t sum = (uint32_t)s->local.port + s->remote.port;

	return t->ends + (size_t)((sum * UINT32_C(0x9e3779b1)) >> 23) * WAYS;
}

_Static_assert(AS_ENDS_MAX == (1 << 9) * WAYS, "9 bits are left of the product");

static bool is_mirror(const struct as_end *e, const struct as_sock *s)
{
	return e->met && as_sock_addr_same(&e->local, &s->remote) &&
	       as_sock_addr_same(&e->remote, &s->local);
}

/* Was its other end met before, so that it is counted? If not it is kept, the oldest goes. */
static bool is_other_end(struct as_peers *t, const struct as_sock *s)
{
	if (!t->ends)
		t->ends = as_zalloc_n(AS_ENDS_MAX, sizeof *t->ends);
	if (!t->ends) {
		t->starved = true;
		return false;
	}
	struct as_end *e = end_places(t, s), *oldest = e;
	for (size_t i = 0; i < WAYS; i++) {
		if (is_mirror(&e[i], s)) {
			e[i].met = 0;
			return true;
		}
		oldest = e[i].met < oldest->met ? &e[i] : oldest;
	}
	*oldest = (struct as_end){s->local, s->remote, (uint64_t)t->job.connections + 1};
	return false;
}

static void count_opened(struct as_peer *p)
{
	p->all.connections++;
	p->changed = true;
}

/* Absurd numbers add up to a large one. */
static void sum_up(int64_t *sum, int64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = INT64_MAX;
}

/* What grew since the last look goes to the peer and to the job. Counters never go back. */
static void grow(int64_t *seen, int64_t now, int64_t *peer, int64_t *job, bool count)
{
	if (now == AS_SOCK_NA || now <= *seen)
		return;
	if (count) {
		sum_up(peer, now - *seen);
		sum_up(job, now - *seen);
	}
	*seen = now;
}

/*
 * The kernel counts the end mark as a byte received. One that came without a
 * segment is it. The state is read a little before the count: of a count that
 * moves, the last byte may be the mark, so it is held back until it rests.
 */
static int64_t payload(struct as_connection *k, const struct as_sock *s, bool count)
{
	bool rests = !count || s->state == AS_SOCK_CLOSED || s->received == k->raw;

	k->fin |= s->fin == AS_FIN_YES;
	k->fin |= s->pieces != AS_SOCK_NA && s->pieces == k->pieces && s->received > 0 &&
		  s->received - 1 == k->raw;
	k->raw = s->received;
	k->pieces = s->pieces;
	return s->received > 0 && (k->fin || !rests) ? s->received - 1 : s->received;
}

/* As it is listed: what it had since the run began. */
static void note(struct as_connection *k, const struct as_sock *s, bool count)
{
	if (!count)
		k->base = k->seen;
	as_socket_note(&k->of, s);
	if (s->sent != AS_SOCK_NA)
		k->of.sent = k->seen.sent - k->base.sent;
	if (s->received != AS_SOCK_NA)
		k->of.received = k->seen.received - k->base.received;
	if (s->retransmits != AS_SOCK_NA)
		k->of.retransmits = k->seen.retransmits - k->base.retransmits;
}

static void add_traffic(struct as_peers *t, struct as_connection *k, const struct as_sock *s,
			bool count)
{
	struct as_peer *p = t->v[k->peer];
	struct as_traffic was = k->seen;

	grow(&k->seen.sent, s->sent, &p->all.sent, &t->job.sent, count);
	grow(&k->seen.received, payload(k, s, count), &p->all.received, &t->job.received, count);
	grow(&k->seen.retransmits, s->retransmits, &p->all.retransmits, &t->job.retransmits, count);
	p->counted |= s->sent != AS_SOCK_NA;
	k->moved |= memcmp(&was, &k->seen, sizeof was) != 0;
	p->changed |= k->moved;
	note(k, s, count);
	if (s->rtt_ns != AS_SOCK_NA && s->sent > 0) {
		p->rtt_sum += s->rtt_ns;
		p->rtts++;
	}
}

/* ── waiting ──────────────────────────────────────────────────────────── */

/* When that happened; INT64_MIN: never, as far as is known. */
static int64_t moment(const struct as_peers *t, int64_t bytes, int64_t since_ns)
{
	return bytes > 0 && since_ns >= 0 ? t->t_ns - since_ns : INT64_MIN;
}

/* How long, since the last look, data was out and nothing had come back. */
static int64_t waited(struct as_peers *t, struct as_connection *k, const struct as_sock *s)
{
	int64_t out = moment(t, s->sent, s->since_sent_ns);
	int64_t in = moment(t, s->received, s->since_received_ns);
	int64_t from = out > t->before_ns ? out : t->before_ns;
	bool began = out > t->before_ns || k->waiting;

	if (s->state == AS_SOCK_SYN_SENT) { /* since when, only the second look can tell */
		bool called = k->calling;

		k->calling = true;
		return called ? t->t_ns - t->before_ns : 0;
	}
	k->calling = false;
	k->out_ns = out;
	k->waiting = out > in;
	if (k->waiting)
		return t->t_ns - from;
	return began && in > from ? in - from : 0;
}

static void add_wait(struct as_peers *t, struct as_connection *k, const struct as_sock *s)
{
	struct as_peer *p = t->v[k->peer];
	int64_t ns = waited(t, k, s);

	if (p->wait_ns == AS_NA || k->timed)
		return;
	t->waiting |= k->waiting || k->calling;
	if (ns <= 0)
		return;
	k->wait_ns += ns;
	p->wait_ns += ns;
	p->changed = true;
}

/*
 * When it ended is not known, but that the answer came so long after the
 * question is. Of a question that was out at the last look, a part was counted.
 */
static void add_last_wait(struct as_peers *t, const struct as_connection *k,
			  const struct as_sock *s)
{
	struct as_peer *p = t->v[k->peer];
	int64_t out = moment(t, s->sent, s->since_sent_ns);
	int64_t in = moment(t, s->received, s->since_received_ns);
	bool news = s->sent > k->seen.sent;
	int64_t counted = !news && k->waiting ? t->t_ns - k->out_ns : 0;

	if (p->wait_ns != AS_NA && !k->timed && (news || k->waiting) && out != INT64_MIN &&
	    in > out && in - out > counted)
		p->wait_ns += in - out - counted;
}

/* ── exchanges ────────────────────────────────────────────────────────── */

static void add_exchanges(struct as_peer *p, struct as_connection *k, int64_t n)
{
	if (n == AS_SOCK_NA)
		return;
	if (p->exchanges == AS_NA)
		p->exchanges = p->reused = 0;
	if (n <= k->exchanges)
		return;
	p->exchanges += n - k->exchanges;
	p->reused += k->exchanges < 2 && n >= 2;
	k->exchanges = n;
	p->changed = true;
}

/*
 * What a look counted before is the beginning of what BPF tells, or a coarser view of the same:
 * the looks' clock has ticks of milliseconds, so they may have seen more than there was.
 */
static void add_timed_wait(struct as_peer *p, struct as_connection *k, int64_t ns)
{
	if (ns == AS_SOCK_NA || p->wait_ns == AS_NA)
		return;
	k->timed = true;
	if (ns == k->wait_ns)
		return;
	p->wait_ns += ns - k->wait_ns;
	k->wait_ns = ns;
	p->changed = true;
}

static void add_talk(struct as_peers *t, struct as_connection *k, const struct as_talk *talk)
{
	struct as_peer *p = t->v[k->peer];

	add_exchanges(p, k, p->accepted ? talk->answered : talk->asked);
	add_timed_wait(p, k, talk->wait_ns);
}

/* ── what it is told ──────────────────────────────────────────────────── */

void as_peers_look(struct as_peers *t, int64_t t_ns)
{
	t->look++;
	t->waiting = t->moving = false;
	t->before_ns = t->t_ns;
	t->t_ns = t_ns;
}

static struct as_connection *meet(struct as_peers *t, const struct as_sock *s,
				  struct as_peer_hint hint)
{
	struct as_connection *k = find(t, s->cookie);

	if (k)
		return k;
	struct as_peer *p = peer_of(t, s, hint.accepted);
	k = add(t, s->cookie, p);
	if (!k)
		return NULL;
	k->of = as_socket_new(s, hint.accepted, p->instance);
	p->open++;
	p->changed = true;
	if (hint.before) {
		add_traffic(t, k, s, false);
		return k;
	}
	count_opened(p);
	t->job.connections += s->kind == AS_SOCK_TCP && !is_other_end(t, s);
	return k;
}

void as_peers_see(struct as_peers *t, const struct as_sock *s, struct as_peer_hint hint)
{
	struct as_connection *k = meet(t, s, hint);

	if (!k || k->look == t->look)
		return;
	k->look = t->look;
	t->moving |= s->received != k->raw && s->state != AS_SOCK_CLOSED;
	k->inode = s->inode ? s->inode : k->inode;
	k->held = s->kind != AS_SOCK_TCP;
	k->ours = hint.ours;
	add_traffic(t, k, s, true);
	add_wait(t, k, s);
}

static void shut(struct as_peers *t, struct as_connection *k)
{
	if (k->shut)
		return;
	k->shut = true;
	t->v[k->peer]->open--;
	t->v[k->peer]->changed = true;
}

static void drop(struct as_peers *t, struct as_connection *k)
{
	size_t at = (size_t)(k - t->connections);

	shut(t, k);
	if (k->of.kind == AS_SOCK_TCP)
		as_socklist_add(&t->over, &k->of);
	memmove(k, k + 1, (t->nconnections - at - 1) * sizeof *k);
	t->nconnections--;
}

void as_peers_closed(struct as_peers *t, const struct as_sock *s, struct as_peer_hint hint)
{
	struct as_connection *k = meet(t, s, hint);

	if (!k)
		return;
	add_talk(t, k, &s->talk);
	add_last_wait(t, k, s);
	add_traffic(t, k, s, true);
	drop(t, k);
}

/* Something moved, or it goes on waiting. */
static bool worth_asking(const struct as_connection *k)
{
	return !k->held && !k->flow && !k->shut && (k->moved || k->waiting || k->calling);
}

/* At least one exchange, if data went both ways. */
static struct as_talk known_talk(const struct as_connection *k)
{
	int64_t both = k->seen.sent > 0 && k->seen.received > 0;

	return (struct as_talk){both, both, k->wait_ns,
				k->calling   ? AS_TALK_CALLED
				: k->waiting ? AS_TALK_ASKED
					     : AS_TALK_RESTS};
}

static void ask_one(struct as_peers *t, struct as_connection *k, const struct as_talks *from)
{
	struct as_talk talk = known_talk(k);
	bool told = from->ask(from->data, k->cookie, &talk);

	if (!told && !k->begun && k->ours)
		from->begin(from->data, k->cookie, &talk);
	if (told || (!k->begun && k->ours))
		add_talk(t, k, &talk);
	k->begun = true;
}

void as_peers_ask(struct as_peers *t, const struct as_talks *from)
{
	for (size_t i = 0; i < t->nconnections; i++) {
		struct as_connection *k = &t->connections[i];

		if (worth_asking(k))
			ask_one(t, k, from);
		k->moved = false;
	}
}

void as_peers_see_unix(struct as_peers *t, uint64_t cookie, uint32_t inode, const char *path,
		       bool accepted)
{
	struct as_peer key = {.kind = AS_SOCK_UNIX, .accepted = accepted};

	if (find(t, cookie))
		return;
	(void)snprintf(key.path, sizeof key.path, "%s", path);
	struct as_peer *p = peer_for(t, &key);
	struct as_connection *k = add(t, cookie, p);
	if (!k)
		return;
	k->held = true;
	k->inode = inode;
	p->open++;
	count_opened(p);
}

/* A number of its own for each pair of ends, apart from cookies (small) and unix (top bit). */
static uint64_t flow_cookie(const struct as_sock_addr *remote, uint16_t local_port)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ local_port;

	for (size_t i = 0; i < sizeof remote->ip; i++)
		h = (h ^ remote->ip[i]) * UINT64_C(0x100000001b3);
	h = (h ^ remote->port) * UINT64_C(0x100000001b3);
	h = (h ^ remote->version) * UINT64_C(0x100000001b3);
	return (h >> 2) | UINT64_C(1) << 62;
}

void as_peers_flow(struct as_peers *t, const struct as_sock_addr *remote, uint16_t local_port,
		   bool accepted, int64_t sent, int64_t received)
{
	uint64_t cookie = flow_cookie(remote, local_port);
	struct as_connection *k = find(t, cookie);
	struct as_sock s = {.kind = AS_SOCK_UDP,
			    .state = AS_SOCK_CLOSED,
			    .remote = *remote,
			    .local.port = local_port};

	if (!k) {
		struct as_peer *p = peer_of(t, &s, accepted);

		k = add(t, cookie, p);
		if (k)
			k->of = as_socket_new(&s, accepted, p->instance);
	}
	if (!k)
		return;
	k->flow = true;
	s.sent = sent;
	s.received = received;
	s.retransmits = s.rtt_ns = s.rtt_min_ns = s.pieces = AS_SOCK_NA;
	s.opened_ns = s.closed_ns = AS_SOCK_NA;
	add_traffic(t, k, &s, true);
}

void as_peers_looked(struct as_peers *t, bool (*holds)(const void *data, uint32_t inode),
		     const void *data)
{
	for (size_t i = t->nconnections; i-- > 0;) {
		struct as_connection *k = &t->connections[i];

		if (k->flow || (k->held ? holds(data, k->inode) : k->look == t->look))
			continue;
		shut(t, k);
		if (k->held || ++k->missed > MISSED_MAX)
			drop(t, k);
	}
}

size_t as_peers_pending(const struct as_peers *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nconnections; i++)
		n += !t->connections[i].held && !t->connections[i].flow;
	return n;
}

void as_peers_list(const struct as_peers *t, struct as_socklist *ret)
{
	*ret = t->over;
	for (size_t i = 0; i < t->nconnections; i++)
		if (t->connections[i].flow || t->connections[i].of.kind == AS_SOCK_TCP)
			as_socklist_add(ret, &t->connections[i].of);
	as_socklist_sort(ret);
}

void as_peers_done(struct as_peers *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i]);
	free(t->v);
	free(t->ends);
	free(t->connections);
	*t = (struct as_peers){0};
}
