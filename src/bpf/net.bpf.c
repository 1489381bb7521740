/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * net -- every connection of the job, however short, and every packet.
 *
 * A socket belongs to the job if it was made in the job's control group or
 * below it; one that was accepted belongs with the one that listened. When a
 * connection ends, its last numbers are told. Packets are counted where they
 * pass the group: bytes are those of IP, headers included. The same packets
 * tell whose turn it is on a connection: data that comes in after data went out
 * is an answer.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "wire/net.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile uint64_t job_group = 0; /* id of the job's v2 group */

uint64_t lost;
uint64_t sent_bytes, sent_packets, received_bytes, received_packets;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, AS_WIRE_NET_RING);
} ring SEC(".maps");

/* By the cookie of the socket, while it is open. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, AS_WIRE_TALKS);
	__type(key, uint64_t);
	__type(value, struct as_wire_talk);
} talks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, AS_WIRE_FLOWS);
	__type(key, struct as_wire_flow);
	__type(value, struct as_wire_flow_count);
} flows SEC(".maps");

/* ── connections ──────────────────────────────────────────────────────── */

enum {
	TCP_ESTABLISHED = 1,
	TCP_SYN_SENT = 2,
	TCP_SYN_RECV = 3,
	TCP_FIN_WAIT1 = 4,
	TCP_CLOSE = 7,
	TCP_CLOSE_WAIT = 8,
	TCP_LAST_ACK = 9,
	TCP_LISTEN = 10
};
enum { RCV_SHUTDOWN = 1 };
enum { INET = 2, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, SOCK_DONE = 1, DEPTH_MAX = 8 };

static __always_inline bool of_job(const struct sock *sk)
{
	const struct cgroup *group = BPF_CORE_READ(sk, sk_cgrp_data.cgroup);

	for (int i = 0; i < DEPTH_MAX && group; i++) {
		if (BPF_CORE_READ(group, kn, id) == job_group)
			return true;
		group = (const struct cgroup *)BPF_CORE_READ(group, self.parent);
	}
	return false;
}

static __always_inline void addresses(struct as_wire_connection *r, const struct sock *sk)
{
	r->version = sk->__sk_common.skc_family == INET ? 4 : 6;
	/* The number of the bound port is taken back before the end is told; this stays. */
	r->local_port = bpf_ntohs(BPF_CORE_READ((const struct inet_sock *)sk, inet_sport));
	r->remote_port = bpf_ntohs(sk->__sk_common.skc_dport);
	__builtin_memset(r->local, 0, sizeof r->local);
	__builtin_memset(r->remote, 0, sizeof r->remote);
	if (r->version == 4) {
		__builtin_memcpy(r->local, &sk->__sk_common.skc_rcv_saddr, 4);
		__builtin_memcpy(r->remote, &sk->__sk_common.skc_daddr, 4);
	} else {
		BPF_CORE_READ_INTO(&r->local, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&r->remote, sk, __sk_common.skc_v6_daddr);
	}
}

static __always_inline void numbers(struct as_wire_connection *r, const struct sock *sk)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;

	r->sent = BPF_CORE_READ(tp, bytes_sent);
	r->repeated = BPF_CORE_READ(tp, bytes_retrans);
	r->received = BPF_CORE_READ(tp, bytes_received);
	r->retransmits = BPF_CORE_READ(tp, total_retrans);
	r->rtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	r->rtt_min_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
	r->mark = sk->__sk_common.skc_flags >> SOCK_DONE & 1;
}

static __always_inline void talked(struct as_wire_connection *r, const struct as_wire_talk *t)
{
	r->role = t ? t->role : AS_WIRE_ROLE_UNKNOWN;
	r->late = t ? t->late : 1;
	r->asked = t ? t->asked : 0;
	r->answered = t ? t->answered : 0;
	r->wait_ns = t ? t->wait_ns : 0;
	r->began_ns = t ? t->began_ns : 0;
	r->pid = t ? t->pid : 0;
	__builtin_memset(r->comm, 0, sizeof r->comm);
	if (t)
		__builtin_memcpy(r->comm, t->comm, sizeof r->comm);
}

static __always_inline void ended(struct sock *sk, uint64_t cookie, const struct as_wire_talk *t)
{
	struct as_wire_connection *r = bpf_ringbuf_reserve(&ring, sizeof *r, 0);

	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	r->cookie = cookie;
	addresses(r, sk);
	numbers(r, sk);
	talked(r, t);
	r->ended_ns = bpf_ktime_get_ns();
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* A listener, or one that never came about, ends as well. */
static __always_inline bool was_connected(int before)
{
	return before != TCP_SYN_SENT && before != TCP_SYN_RECV && before != TCP_CLOSE &&
	       before != TCP_LISTEN;
}

static __always_inline void answer_came(struct as_wire_talk *t, uint64_t now)
{
	if (t->out_ns && now > t->out_ns)
		t->wait_ns += now - t->out_ns;
	t->out_ns = 0;
}

/* We are in a call of the process whose socket it is. */
static __always_inline void note_owner(struct as_wire_talk *t)
{
	if (t->pid)
		return;
	t->pid = (int32_t)(bpf_get_current_pid_tgid() >> 32);
	bpf_get_current_comm(t->comm, sizeof t->comm);
}

/* A call went out; or a connection stands. */
static __always_inline void begin(uint64_t cookie, int before, int now)
{
	struct as_wire_talk *called = bpf_map_lookup_elem(&talks, &cookie);
	struct as_wire_talk t = {.role = AS_WIRE_ACCEPTED};

	if (now == TCP_ESTABLISHED && called) {
		answer_came(called, bpf_ktime_get_ns());
		return;
	}
	if (now == TCP_SYN_SENT) {
		t.out_ns = bpf_ktime_get_ns();
		note_owner(&t);
	}
	t.late = before == TCP_SYN_SENT; /* it called before we were there */
	t.began_ns = t.late ? 0 : bpf_ktime_get_ns();
	if (now == TCP_SYN_SENT || t.late)
		t.role = AS_WIRE_OPENED;
	bpf_map_update_elem(&talks, &cookie, &t, BPF_ANY);
}

/* Nobody waits for an answer any more: the other end has said its last, or ours listens no more. */
static __always_inline bool is_over(const struct sock *sk, int now)
{
	return now == TCP_CLOSE || now == TCP_CLOSE_WAIT || sk->sk_shutdown & RCV_SHUTDOWN;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(state_changed, struct sock *sk, int before, int now)
{
	if (sk->sk_protocol != PROTOCOL_TCP || now == TCP_LISTEN || !of_job(sk))
		return 0;
	uint64_t cookie = bpf_get_socket_cookie(sk);
	if (now == TCP_SYN_SENT || now == TCP_ESTABLISHED) {
		begin(cookie, before, now);
		return 0;
	}
	struct as_wire_talk *t = bpf_map_lookup_elem(&talks, &cookie);
	/* Only close(), shutdown() and the end of the process lead there. */
	if (t && (now == TCP_FIN_WAIT1 || now == TCP_LAST_ACK))
		note_owner(t);
	if (t && is_over(sk, now))
		answer_came(t, bpf_ktime_get_ns());
	if (now != TCP_CLOSE)
		return 0;
	if (was_connected(before))
		ended(sk, cookie, t);
	if (t)
		bpf_map_delete_elem(&talks, &cookie);
	return 0;
}

/* ── packets ──────────────────────────────────────────────────────────── */

struct head4 {
	uint8_t ihl_version;
	uint8_t skipped[8];
	uint8_t protocol;
	uint8_t sum[2];
	uint8_t from[4], to[4];
};

struct head6 {
	uint8_t skipped[6];
	uint8_t next, hops;
	uint8_t from[16], to[16];
};

struct udp_head {
	uint16_t from, to, len, sum;
};

struct tcp_head {
	uint16_t from, to;
	uint32_t seq, ack;
	uint8_t offset, flags;
	uint8_t rest[6];
};

/* What a packet says of itself. */
struct packet {
	struct as_wire_flow flow; /* of datagrams; of others the address only */
	uint32_t at;              /* where its own head begins                */
	uint8_t protocol;
};

static __always_inline void count_datagram(struct as_wire_flow *f, uint64_t payload, bool out)
{
	static const struct as_wire_flow_count none;
	struct as_wire_flow_count *n = bpf_map_lookup_elem(&flows, f);

	if (!n) {
		bpf_map_update_elem(&flows, f, &none, BPF_NOEXIST);
		n = bpf_map_lookup_elem(&flows, f);
	}
	if (!n) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	__sync_fetch_and_add(out ? &n->sent : &n->received, payload);
	__sync_fetch_and_add(&n->packets, 1);
}

static __always_inline void look_at_datagram(struct __sk_buff *skb, struct packet *p, bool out)
{
	struct udp_head udp;

	if (bpf_skb_load_bytes(skb, p->at, &udp, sizeof udp) < 0)
		return;
	p->flow.local_port = bpf_ntohs(out ? udp.from : udp.to);
	p->flow.remote_port = bpf_ntohs(out ? udp.to : udp.from);
	uint32_t len = bpf_ntohs(udp.len);
	if (len >= sizeof udp)
		count_datagram(&p->flow, len - sizeof udp, out);
}

/*
 * The first data of a connection that was there before us. What comes with the end of the
 * greeting belongs to the listener still.
 */
static __always_inline struct as_wire_talk *join(struct __sk_buff *skb, uint64_t cookie)
{
	struct bpf_sock *sk = skb->sk ? bpf_sk_fullsock(skb->sk) : NULL;
	struct as_wire_talk t = {.late = 1};

	if (!sk || sk->state == TCP_LISTEN)
		return NULL;
	bpf_map_update_elem(&talks, &cookie, &t, BPF_NOEXIST);
	return bpf_map_lookup_elem(&talks, &cookie);
}

/* Did data come before any that we saw? Then it came with the end of the greeting. */
static __always_inline bool heard(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk ? bpf_sk_fullsock(skb->sk) : NULL;
	struct bpf_tcp_sock *tp = sk ? bpf_tcp_sock(sk) : NULL;

	return tp && tp->bytes_received > 0;
}

/* TLS begins with records of type 22, "handshake"; 20 is the last word of them in plain sight. */
static __always_inline void note_greeting(struct __sk_buff *skb, struct as_wire_talk *t,
					  uint32_t at)
{
	uint8_t lead[2] = {0, 0};

	if (t->turn != AS_WIRE_NOBODY && !t->tls)
		return;
	(void)bpf_skb_load_bytes(skb, at, lead, sizeof lead);
	if (t->turn == AS_WIRE_NOBODY)
		t->tls = lead[0] == 22 && lead[1] == 3;
	t->greets = t->tls && (lead[0] == 22 || lead[0] == 20) && lead[1] == 3;
}

/* New data went one way: was it the other's turn? */
static __always_inline void speak(struct __sk_buff *skb, struct as_wire_talk *t, uint32_t at,
				  bool out)
{
	uint64_t now = bpf_ktime_get_ns();

	if (t->turn == AS_WIRE_NOBODY && out && !t->late && heard(skb))
		t->turn = AS_WIRE_IN;
	if (t->turn == AS_WIRE_IN && out && !t->greets)
		t->answered++;
	if (t->turn == AS_WIRE_OUT && !out && !t->greets)
		t->asked++;
	if (out)
		t->out_ns = now;
	else
		answer_came(t, now);
	note_greeting(skb, t, at);
	t->turn = out ? AS_WIRE_OUT : AS_WIRE_IN;
}

static __always_inline void look_at_segment(struct __sk_buff *skb, const struct packet *p, bool out)
{
	struct tcp_head tcp;

	if (bpf_skb_load_bytes(skb, p->at, &tcp, sizeof tcp) < 0)
		return;
	uint32_t payload_at = p->at + (tcp.offset >> 4) * 4;
	if (skb->len <= payload_at)
		return;
	uint64_t cookie = bpf_get_socket_cookie(skb);
	struct as_wire_talk *t = bpf_map_lookup_elem(&talks, &cookie);
	if (!t)
		t = join(skb, cookie);
	if (!t)
		return;
	uint32_t to = bpf_ntohl(tcp.seq) + skb->len - payload_at;
	uint32_t *known = out ? &t->out_to : &t->in_to;
	if (*known && (int32_t)(to - *known) <= 0)
		return; /* sent again */
	*known = to;
	speak(skb, t, payload_at, out);
}

/* A datagram that was cut in pieces is counted by its first. */
static __always_inline bool read_head(struct __sk_buff *skb, struct packet *p, bool out)
{
	struct head4 v4;
	struct head6 v6;

	if (skb->protocol == bpf_htons(0x0800)) {
		if (bpf_skb_load_bytes(skb, 0, &v4, sizeof v4) < 0 ||
		    ((v4.skipped[5] & 0x1f) | v4.skipped[6]))
			return false;
		__builtin_memcpy(p->flow.remote, out ? v4.to : v4.from, 4);
		p->flow.version = 4;
		p->protocol = v4.protocol;
		p->at = (v4.ihl_version & 15) * 4;
	} else {
		if (bpf_skb_load_bytes(skb, 0, &v6, sizeof v6) < 0)
			return false;
		__builtin_memcpy(p->flow.remote, out ? v6.to : v6.from, 16);
		p->flow.version = 6;
		p->protocol = v6.next;
		p->at = sizeof v6;
	}
	return true;
}

static __always_inline void look_at(struct __sk_buff *skb, bool out)
{
	struct packet p = {0};

	if (!read_head(skb, &p, out))
		return;
	if (p.protocol == PROTOCOL_UDP)
		look_at_datagram(skb, &p, out);
	else if (p.protocol == PROTOCOL_TCP)
		look_at_segment(skb, &p, out);
}

SEC("cgroup_skb/egress")
int goes_out(struct __sk_buff *skb)
{
	__sync_fetch_and_add(&sent_bytes, skb->len);
	__sync_fetch_and_add(&sent_packets, 1);
	look_at(skb, true);
	return 1;
}

SEC("cgroup_skb/ingress")
int comes_in(struct __sk_buff *skb)
{
	__sync_fetch_and_add(&received_bytes, skb->len);
	__sync_fetch_and_add(&received_packets, 1);
	look_at(skb, false);
	return 1;
}
