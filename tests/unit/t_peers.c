/* peers -- connections told by hand, joined by the other end. */
#include "utest.h"

#include "base/clock.h"
#include "collect/peers.h"
#include "collect/sockfds.h"

static struct as_sock sock(uint64_t cookie, const char *ip, uint16_t local, uint16_t remote)
{
	struct as_sock s = {.kind = AS_SOCK_TCP,
			    .state = AS_SOCK_ESTABLISHED,
			    .pieces = AS_SOCK_NA,
			    .cookie = cookie,
			    .inode = (uint32_t)cookie,
			    .rtt_ns = AS_SOCK_NA,
			    .rtt_min_ns = AS_SOCK_NA,
			    .opened_ns = AS_SOCK_NA,
			    .closed_ns = AS_SOCK_NA,
			    .since_sent_ns = AS_SOCK_NA,
			    .since_received_ns = AS_SOCK_NA,
			    .talk = AS_NO_TALK};

	EXPECT(as_sock_addr_scan(ip, strlen(ip), &s.remote));
	s.local = s.remote;
	s.local.port = local;
	s.remote.port = remote;
	return s;
}

static bool holds(const void *data, uint32_t inode)
{
	return inode == *(const uint32_t *)data;
}

static void looked(struct as_peers *t)
{
	uint32_t none = 0;

	as_peers_looked(t, holds, &none);
}

static void expect_name(const struct as_peer *p, const char *want)
{
	char name[200];

	as_peer_name(p, name, sizeof name);
	EXPECT_STR(name, want);
}

static void t_joined_by_the_other_end(void)
{
	struct as_peers t = {0};
	struct as_sock a = sock(1, "10.0.0.7", 40001, 5432), b = sock(2, "10.0.0.7", 40002, 5432);
	struct as_sock c = sock(3, "10.0.0.9", 80, 50001), d = sock(4, "10.0.0.9", 80, 50002);

	a.sent = 100, b.sent = 10, c.received = 7, d.received = 3;
	as_peers_look(&t, AS_SECOND);
	as_peers_see(&t, &a, (struct as_peer_hint){0});
	as_peers_see(&t, &b, (struct as_peer_hint){0});
	as_peers_see(&t, &c, (struct as_peer_hint){.accepted = true});
	as_peers_see(&t, &d, (struct as_peer_hint){.accepted = true});
	as_peers_see(&t, &d, (struct as_peer_hint){.accepted = true}); /* told twice */
	looked(&t);
	EXPECT_U64(t.n, 2);
	expect_name(t.v[0], "10.0.0.7:5432");
	expect_name(t.v[1], "port 80 from 10.0.0.9");
	EXPECT_I64(t.v[0]->all.connections, 2);
	EXPECT_I64(t.v[0]->all.sent, 110);
	EXPECT_I64(t.v[1]->all.received, 8); /* of what moves, the last byte is held back */
	EXPECT_I64(t.v[1]->open, 2);
	as_peers_look(&t, 2 * AS_SECOND);
	as_peers_see(&t, &c, (struct as_peer_hint){.accepted = true});
	as_peers_see(&t, &d, (struct as_peer_hint){.accepted = true});
	EXPECT_I64(t.v[1]->all.received, 10);
	EXPECT_I64(t.job.connections, 4);
	EXPECT_I64(t.job.sent, 110);
	as_peers_done(&t);
}

/* A connection of which the job has both ends is one, whichever is told first; unix is apart. */
static void t_both_ends(void)
{
	struct as_sock a = sock(1, "127.0.0.1", 40001, 5432);
	struct as_sock b = sock(2, "127.0.0.1", 5432, 40001);
	struct as_sock other = sock(3, "127.0.0.1", 5432, 40002);
	struct as_peers t = {0};

	as_peers_look(&t, AS_SECOND);
	as_peers_see(&t, &a, (struct as_peer_hint){0});
	as_peers_see(&t, &b, (struct as_peer_hint){.accepted = true});
	EXPECT_I64(t.job.connections, 1);
	as_peers_closed(&t, &other, (struct as_peer_hint){.accepted = true});
	EXPECT_I64(t.job.connections, 2);
	a.cookie = 4, b.cookie = 5; /* the same ports again */
	as_peers_closed(&t, &b, (struct as_peer_hint){.accepted = true});
	as_peers_closed(&t, &a, (struct as_peer_hint){0});
	as_peers_see_unix(&t, UINT64_C(1) << 63, 9, "/run/x", false);
	EXPECT_I64(t.job.connections, 3);
	EXPECT_I64(t.v[0]->all.connections, 2);
	EXPECT_I64(t.v[1]->all.connections, 3);
	EXPECT_I64(t.v[2]->all.connections, 1);
	as_peers_done(&t);
}

/* All of one end are told before the first of the other. */
static void t_both_ends_of_a_thousand(void)
{
	enum { MANY = 1000, PORT = 40001 };
	struct as_peers t = {0};

	as_peers_look(&t, AS_SECOND);
	for (uint16_t i = 0; i < MANY; i++) {
		struct as_sock a = sock(1 + i, "::1", (uint16_t)(PORT + 2 * i), 5432);

		as_peers_closed(&t, &a, (struct as_peer_hint){0});
	}
	for (uint16_t i = 0; i < MANY; i++) {
		struct as_sock b = sock(1 + MANY + i, "::1", 5432, (uint16_t)(PORT + 2 * i));

		as_peers_closed(&t, &b, (struct as_peer_hint){.accepted = true});
	}
	EXPECT_I64(t.job.connections, MANY);
	as_peers_done(&t);
}

static void t_only_growth_counts(void)
{
	struct as_peers t = {0};
	struct as_sock a = sock(1, "::1", 40001, 5432);

	a.sent = 1000;
	a.received = 77;
	as_peers_look(&t, 0);
	as_peers_see(&t, &a, (struct as_peer_hint){.before = true});
	EXPECT_I64(t.job.sent, 0);
	EXPECT_I64(t.job.received, 0);
	EXPECT_I64(t.job.connections, 0);
	EXPECT_I64(t.v[0]->open, 1);
	expect_name(t.v[0], "[::1]:5432");
	a.sent = 1500;
	as_peers_look(&t, AS_SECOND);
	as_peers_see(&t, &a, (struct as_peer_hint){.before = true});
	EXPECT_I64(t.job.sent, 500);
	a.sent = AS_SOCK_NA; /* a look that did not tell */
	as_peers_look(&t, 2 * AS_SECOND);
	as_peers_see(&t, &a, (struct as_peer_hint){0});
	EXPECT_I64(t.job.sent, 500);
	as_peers_done(&t);
}

/* The end mark of a stream is no byte, whether its state told or only the count. */
static void t_the_end_mark_is_no_byte(void)
{
	struct as_peers t = {0};
	struct as_sock a = sock(1, "::1", 40001, 1), b = sock(2, "::1", 40002, 1);

	a.received = b.received = 100;
	a.pieces = b.pieces = 2;
	as_peers_look(&t, AS_SECOND);
	as_peers_see(&t, &a, (struct as_peer_hint){0});
	as_peers_see(&t, &b, (struct as_peer_hint){0});
	a.received = b.received = 101;
	a.state = b.state = AS_SOCK_CLOSED;
	a.fin = AS_FIN_YES;
	b.fin = AS_FIN_MAYBE;
	as_peers_closed(&t, &a, (struct as_peer_hint){0});
	as_peers_closed(&t, &b, (struct as_peer_hint){0});
	EXPECT_I64(t.job.received, 200);
	EXPECT_I64(t.v[0]->open, 0);
	EXPECT_U64(as_peers_pending(&t), 0);
	as_peers_done(&t);
}

static void t_a_byte_is_a_byte(void)
{
	struct as_peers t = {0};
	struct as_sock a = sock(1, "::1", 40001, 1);

	a.received = 100;
	a.pieces = 2;
	as_peers_look(&t, AS_SECOND);
	as_peers_see(&t, &a, (struct as_peer_hint){0});
	a.received = 101;
	a.pieces = 3;
	a.state = AS_SOCK_CLOSED;
	a.fin = AS_FIN_MAYBE;
	as_peers_closed(&t, &a, (struct as_peer_hint){0});
	EXPECT_I64(t.job.received, 101);
	as_peers_done(&t);
}

static void t_seen_only_at_its_end(void)
{
	struct as_peers t = {0};
	struct as_sock a = sock(9, "10.0.0.9", 80, 50001);

	a.sent = 5;
	as_peers_look(&t, AS_SECOND);
	as_peers_closed(&t, &a, (struct as_peer_hint){.accepted = true});
	EXPECT_I64(t.v[0]->all.connections, 1);
	EXPECT_I64(t.v[0]->all.sent, 5);
	EXPECT_I64(t.v[0]->open, 0);
	EXPECT(t.v[0]->changed);
	as_peers_done(&t);
}

/* Closed when no look sees it; its last numbers may come later, but not for ever. */
static void t_last_numbers_come_later(void)
{
	struct as_peers t = {0};
	struct as_sock a = sock(1, "::1", 40001, 1), b = sock(2, "::1", 40002, 1);

	as_peers_look(&t, AS_SECOND);
	as_peers_see(&t, &a, (struct as_peer_hint){0});
	as_peers_see(&t, &b, (struct as_peer_hint){0});
	as_peers_look(&t, 2 * AS_SECOND);
	looked(&t);
	EXPECT_I64(t.v[0]->open, 0);
	EXPECT_U64(as_peers_pending(&t), 2);
	a.sent = 11;
	as_peers_closed(&t, &a, (struct as_peer_hint){0});
	EXPECT_I64(t.job.sent, 11);
	EXPECT_I64(t.v[0]->open, 0);
	EXPECT_I64(t.job.connections, 2);
	for (int i = 0; i < 8; i++) {
		as_peers_look(&t, (3 + i) * AS_SECOND);
		looked(&t);
	}
	EXPECT_U64(as_peers_pending(&t), 0);
	as_peers_done(&t);
}

/* ── waiting ──────────────────────────────────────────────────────────── */

static int64_t wait_after(struct as_peers *t, struct as_sock *s, double t_s, double sent_ago,
			  double received_ago)
{
	s->sent++;
	s->received++;
	s->since_sent_ns = (int64_t)(sent_ago * 1e9);
	s->since_received_ns = (int64_t)(received_ago * 1e9);
	as_peers_look(t, (int64_t)(t_s * 1e9));
	as_peers_see(t, s, (struct as_peer_hint){0});
	return t->v[0]->wait_ns / AS_MSEC;
}

static void t_waiting_for_an_answer(void)
{
	struct as_peers t = {0};
	struct as_sock s = sock(1, "::1", 40001, 1);

	EXPECT_I64(wait_after(&t, &s, 1.0, 0.25, 0.75), 250);  /* asked, not answered */
	EXPECT_I64(wait_after(&t, &s, 2.0, 1.25, 1.75), 1250); /* still not           */
	EXPECT_I64(wait_after(&t, &s, 3.0, 2.25, 0.5), 1750);  /* answered after 0.5  */
	EXPECT_I64(wait_after(&t, &s, 4.0, 3.25, 0.5), 1750);  /* more of the answer  */
	EXPECT_I64(wait_after(&t, &s, 5.0, 0.5, 0.25), 2000);  /* asked and answered  */
	EXPECT_I64(wait_after(&t, &s, 6.0, 1.5, 1.25), 2000);  /* idle                */
	as_peers_done(&t);
}

/* The kernel counts the time since data came from the start of the connection. */
static void t_waiting_for_the_first_answer(void)
{
	struct as_peers t = {0};
	struct as_sock s = sock(1, "::1", 40001, 1);

	s.received = -1;
	EXPECT_I64(wait_after(&t, &s, 1.0, 0.25, 0.25), 250);
	as_peers_done(&t);
}

/* It ended after it was answered, between two looks. */
static void t_the_last_answer(void)
{
	struct as_peers t = {0};
	struct as_sock s = sock(1, "::1", 40001, 1);

	EXPECT_I64(wait_after(&t, &s, 1.0, 0.25, 0.75), 250);
	s.state = AS_SOCK_CLOSED;
	s.since_sent_ns = 2000 * AS_MSEC; /* and the answer came 400 ms after it */
	s.since_received_ns = 1600 * AS_MSEC;
	as_peers_closed(&t, &s, (struct as_peer_hint){0});
	EXPECT_I64(t.v[0]->wait_ns, 400 * AS_MSEC);
	as_peers_done(&t);
	s = sock(1, "::1", 40001, 1); /* answered before the last look: nothing is new */
	EXPECT_I64(wait_after(&t, &s, 1.0, 0.75, 0.25), 500);
	as_peers_closed(&t, &s, (struct as_peer_hint){0});
	EXPECT_I64(t.v[0]->wait_ns, 500 * AS_MSEC);
	as_peers_done(&t);
}

static void t_clients_are_not_waited_for(void)
{
	struct as_peers t = {0};
	struct as_sock s = sock(1, "::1", 80, 50000);

	s.sent = 10;
	s.since_sent_ns = AS_SECOND / 2;
	s.since_received_ns = AS_SECOND;
	as_peers_look(&t, AS_SECOND);
	as_peers_see(&t, &s, (struct as_peer_hint){.accepted = true});
	EXPECT_I64(t.v[0]->wait_ns, AS_NA);
	as_peers_done(&t);
}

/* How long it was called before the first look nobody knows. */
static void t_waiting_to_be_connected(void)
{
	struct as_peers t = {0};
	struct as_sock s = sock(1, "::1", 40001, 1);

	s.state = AS_SOCK_SYN_SENT;
	for (int i = 1; i <= 3; i++) {
		as_peers_look(&t, i * AS_SECOND);
		as_peers_see(&t, &s, (struct as_peer_hint){0});
		EXPECT(t.waiting);
		EXPECT_I64(t.v[0]->wait_ns, (i - 1) * AS_SECOND);
	}
	as_peers_done(&t);
}

/* ── exchanges ────────────────────────────────────────────────────────── */

/* Somebody who counts turns, with one connection in mind. */
struct counter {
	bool knows;
	struct as_talk talk, begun;
	int asked, begins;
};

static bool ask(void *data, uint64_t cookie, struct as_talk *ret)
{
	struct counter *c = data;

	EXPECT_U64(cookie, 1);
	c->asked++;
	if (c->knows)
		*ret = c->talk;
	return c->knows;
}

static void begin(void *data, uint64_t cookie, const struct as_talk *known)
{
	struct counter *c = data;

	(void)cookie;
	c->begins++;
	c->begun = *known;
}

static void look_and_ask(struct as_peers *t, struct as_sock *s, double t_s, bool accepted,
			 struct counter *c)
{
	as_peers_look(t, (int64_t)(t_s * 1e9));
	as_peers_see(t, s, (struct as_peer_hint){.accepted = accepted, .ours = true});
	as_peers_ask(t, &(struct as_talks){ask, begin, c});
}

static void t_exchanges_are_unknown_without_bpf(void)
{
	struct as_peers t = {0};
	struct as_sock s = sock(1, "::1", 40001, 1);

	as_peers_look(&t, AS_SECOND);
	as_peers_see(&t, &s, (struct as_peer_hint){0});
	as_peers_closed(&t, &s, (struct as_peer_hint){0});
	EXPECT_I64(t.v[0]->exchanges, AS_NA);
	EXPECT_I64(t.v[0]->reused, AS_NA);
	as_peers_done(&t);
}

static void t_exchanges_and_reuse(void)
{
	struct as_peers t = {0};
	struct as_sock s = sock(1, "::1", 40001, 1), other = sock(2, "::1", 40002, 1);
	struct counter c = {.knows = true, .talk = {1, 7, 5 * AS_MSEC, AS_TALK_RESTS}};

	s.sent = 10;
	look_and_ask(&t, &s, 1, false, &c);
	EXPECT_I64(t.v[0]->exchanges, 1);
	EXPECT_I64(t.v[0]->reused, 0);
	EXPECT_I64(t.v[0]->wait_ns, 5 * AS_MSEC);
	look_and_ask(&t, &s, 2, false, &c); /* nothing moved: it is not asked */
	EXPECT_I64(c.asked, 1);
	s.sent = 20;
	c.talk = (struct as_talk){3, 7, 9 * AS_MSEC, AS_TALK_RESTS};
	look_and_ask(&t, &s, 3, false, &c);
	EXPECT_I64(t.v[0]->exchanges, 3);
	EXPECT_I64(t.v[0]->reused, 1);
	s.talk = (struct as_talk){5, 7, 10 * AS_MSEC, AS_TALK_RESTS};
	as_peers_closed(&t, &s, (struct as_peer_hint){0});
	other.talk = (struct as_talk){1, 1, 1 * AS_MSEC, AS_TALK_RESTS}; /* seen at its end only */
	as_peers_closed(&t, &other, (struct as_peer_hint){0});
	EXPECT_I64(t.v[0]->exchanges, 6);
	EXPECT_I64(t.v[0]->reused, 1);
	EXPECT_I64(t.v[0]->wait_ns, 11 * AS_MSEC);
	EXPECT_I64(c.begins, 0);
	as_peers_done(&t);
}

/* The looks' clock ticks every 4 ms: what they saw of 2.5 ms is not more than BPF tells. */
static void t_bpf_is_finer_than_a_look(void)
{
	struct as_peers t = {0};
	struct as_sock s = sock(1, "::1", 40001, 1);
	struct counter c = {.knows = true, .talk = {0, 0, 2500 * AS_USEC, AS_TALK_ASKED}};

	s.sent = 10;
	s.since_sent_ns = 4 * AS_MSEC;
	s.since_received_ns = 8 * AS_MSEC;
	look_and_ask(&t, &s, 1, false, &c);
	EXPECT_I64(t.v[0]->wait_ns, 2500 * AS_USEC);
	s.talk = (struct as_talk){1, 0, 2600 * AS_USEC, AS_TALK_RESTS};
	as_peers_closed(&t, &s, (struct as_peer_hint){0});
	EXPECT_I64(t.v[0]->wait_ns, 2600 * AS_USEC);
	as_peers_done(&t);
}

static void t_a_server_counts_its_answers(void)
{
	struct as_peers t = {0};
	struct as_sock s = sock(1, "::1", 80, 50000);

	s.talk = (struct as_talk){9, 2, AS_SECOND, AS_TALK_RESTS};
	as_peers_look(&t, AS_SECOND);
	as_peers_closed(&t, &s, (struct as_peer_hint){.accepted = true});
	EXPECT_I64(t.v[0]->exchanges, 2);
	EXPECT_I64(t.v[0]->reused, 1);
	EXPECT_I64(t.v[0]->wait_ns, AS_NA);
	as_peers_done(&t);
}

/* It was there before BPF: what the looks know of it is where BPF goes on. */
static void t_bpf_goes_on_from_the_looks(void)
{
	struct as_peers t = {0};
	struct as_sock s = sock(1, "::1", 40001, 1);
	struct counter c = {0};

	s.sent = s.received = 10;
	s.since_sent_ns = 250 * AS_MSEC;
	s.since_received_ns = 750 * AS_MSEC;
	look_and_ask(&t, &s, 1, false, &c);
	EXPECT_I64(c.begins, 1);
	EXPECT_I64(c.begun.asked, 1); /* data went both ways: at least one */
	EXPECT_I64(c.begun.wait_ns, 250 * AS_MSEC);
	EXPECT(c.begun.state == AS_TALK_ASKED);
	EXPECT_I64(t.v[0]->exchanges, 1);
	c.knows = true;
	c.talk = (struct as_talk){2, 1, 900 * AS_MSEC, AS_TALK_RESTS};
	s.since_sent_ns = s.since_received_ns = 0;
	look_and_ask(&t, &s, 2, false, &c);
	EXPECT_I64(t.v[0]->wait_ns, 900 * AS_MSEC); /* and what this look saw is not added */
	EXPECT_I64(t.v[0]->reused, 1);
	EXPECT_I64(c.begins, 1);
	as_peers_done(&t);
}

/* ── bounds ───────────────────────────────────────────────────────────── */

static void t_too_many_peers_are_joined(void)
{
	struct as_peers t = {0};

	as_peers_look(&t, AS_SECOND);
	for (uint32_t i = 0; i < AS_PEERS_MAX + 100; i++) {
		struct as_sock s = sock(i + 1, "10.0.0.1", 40000, (uint16_t)(1000 + i));

		s.sent = 1;
		as_peers_see(&t, &s, (struct as_peer_hint){0});
	}
	EXPECT_U64(t.n, AS_PEERS_MAX + 1);
	expect_name(t.v[AS_PEERS_MAX], "others");
	EXPECT_I64(t.v[AS_PEERS_MAX]->all.connections, 100);
	EXPECT_I64(t.job.sent, AS_PEERS_MAX + 100);
	as_peers_done(&t);
}

static void t_unix_lives_with_its_inode(void)
{
	struct as_peers t = {0};
	uint32_t inode = 5, other = 6;

	as_peers_look(&t, AS_SECOND);
	as_peers_see_unix(&t, 1005, 5, "/run/x", false);
	as_peers_see_unix(&t, 1005, 5, "/run/x", false);
	as_peers_looked(&t, holds, &inode);
	EXPECT_I64(t.v[0]->open, 1);
	EXPECT_I64(t.v[0]->all.connections, 1);
	expect_name(t.v[0], "unix /run/x");
	as_peers_looked(&t, holds, &other);
	EXPECT_I64(t.v[0]->open, 0);
	as_peers_done(&t);
}

/* Datagrams are traffic and no connection; those of a server's clients are joined. */
static void t_datagrams(void)
{
	struct as_peers t = {0};
	struct as_sock a = sock(1, "10.0.0.9", 53, 50001), b = sock(2, "10.0.0.9", 53, 50002);

	for (int i = 1; i <= 2; i++) {
		as_peers_look(&t, i * AS_SECOND);
		as_peers_flow(&t, &a.remote, 53, true, 10 * i, 100 * i);
		as_peers_flow(&t, &b.remote, 53, true, 1 * i, 2 * i);
		looked(&t);
	}
	EXPECT_U64(t.n, 1);
	expect_name(t.v[0], "udp port 53 from 10.0.0.9");
	EXPECT_I64(t.job.sent, 22);
	EXPECT_I64(t.v[0]->all.received, 204);
	EXPECT_I64(t.job.connections, 0);
	EXPECT_I64(t.v[0]->open, 0);
	EXPECT_U64(as_peers_pending(&t), 0);
	as_peers_done(&t);
}

static void t_links(void)
{
	EXPECT_U64(as_sockfd_scan("socket:[123]", 12), 123);
	EXPECT_U64(as_sockfd_scan("socket:[123", 11), 0);
	EXPECT_U64(as_sockfd_scan("socket:[]", 9), 0);
	EXPECT_U64(as_sockfd_scan("socket:[4294967296]", 19), 0);
	EXPECT_U64(as_sockfd_scan("pipe:[123]", 10), 0);
	EXPECT_U64(as_sockfd_scan("", 0), 0);
}

UTEST_MAIN(T(t_joined_by_the_other_end), T(t_both_ends), T(t_both_ends_of_a_thousand),
	   T(t_only_growth_counts), T(t_the_end_mark_is_no_byte), T(t_a_byte_is_a_byte),
	   T(t_seen_only_at_its_end), T(t_last_numbers_come_later), T(t_waiting_for_an_answer),
	   T(t_waiting_for_the_first_answer), T(t_the_last_answer), T(t_clients_are_not_waited_for),
	   T(t_waiting_to_be_connected), T(t_exchanges_are_unknown_without_bpf),
	   T(t_exchanges_and_reuse), T(t_bpf_is_finer_than_a_look),
	   T(t_a_server_counts_its_answers), T(t_bpf_goes_on_from_the_looks),
	   T(t_too_many_peers_are_joined), T(t_unix_lives_with_its_inode), T(t_datagrams),
	   T(t_links))
