/* socklist -- of many sockets those with the most bytes, and what the others had. */
#include "utest.h"

#include "collect/peers.h"

static struct as_sock sock(uint64_t cookie)
{
	return (struct as_sock){.kind = AS_SOCK_TCP,
				.state = AS_SOCK_ESTABLISHED,
				.cookie = cookie,
				.local = {.port = 40000, .version = 4},
				.remote = {.port = 80, .version = 4},
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
				.closed_ns = AS_SOCK_NA};
}

static struct as_socket with_bytes(int64_t sent)
{
	struct as_sock s = sock(1);
	struct as_socket k = as_socket_new(&s, false, 0);

	k.sent = sent;
	return k;
}

/* In whatever order they come. */
static void t_the_most(void)
{
	enum { N = 250, STEP = 37 }; /* a step that reaches all of them */
	struct as_socklist l = {0};
	int64_t left = 0;

	for (int64_t i = 0; i < N; i++) {
		struct as_socket k = with_bytes(i * STEP % N);

		as_socklist_add(&l, &k);
	}
	as_socklist_sort(&l);
	EXPECT_U64(l.n, AS_SOCKLIST_MAX);
	EXPECT_I64(l.others, N - AS_SOCKLIST_MAX);
	for (int64_t i = 0; i < N - AS_SOCKLIST_MAX; i++)
		left += i;
	EXPECT_I64(l.sent, left);
	for (int64_t i = 0; i < AS_SOCKLIST_MAX; i++)
		EXPECT_I64(l.v[i].sent, N - 1 - i);
}

/* What nobody told is unknown, not none. */
static void t_unknown(void)
{
	struct as_peers t = {0};
	struct as_socklist l;
	struct as_sock s = sock(1);

	as_peers_look(&t, 0);
	as_peers_see(&t, &s, (struct as_peer_hint){0});
	as_peers_list(&t, &l);
	EXPECT_U64(l.n, 1);
	EXPECT_I64(l.v[0].sent, AS_NA);
	EXPECT_I64(l.v[0].received, AS_NA);
	EXPECT_I64(l.v[0].retransmits, AS_NA);
	EXPECT_I64(l.v[0].rtt_min_ns, AS_NA);
	EXPECT_I64(l.v[0].opened_ns, AS_NA);
	EXPECT_I64(l.v[0].state, AS_SOCK_ESTABLISHED);
	as_peers_done(&t);
}

/* One that was there before the run has what it had since; it is listed once, open or over. */
static void t_before(void)
{
	struct as_peers t = {0};
	struct as_socklist l;
	struct as_sock s = sock(1);

	s.sent = 1000, s.received = 500, s.retransmits = 3;
	as_peers_look(&t, 0);
	as_peers_see(&t, &s, (struct as_peer_hint){.before = true});
	s.sent = 1100, s.owner.pid = 7, s.state = AS_SOCK_CLOSED, s.closed_ns = 5;
	as_peers_closed(&t, &s, (struct as_peer_hint){0});
	as_peers_list(&t, &l);
	EXPECT_U64(l.n, 1);
	EXPECT_I64(l.v[0].sent, 100);
	EXPECT_I64(l.v[0].received, 0);
	EXPECT_I64(l.v[0].retransmits, 0);
	EXPECT_I64(l.v[0].owner.pid, 7);
	EXPECT_I64(l.v[0].opened_ns, AS_NA);
	EXPECT_I64(l.v[0].closed_ns, 5);
	as_peers_done(&t);
}

UTEST_MAIN(T(t_the_most), T(t_unknown), T(t_before))
