/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * net -- every connection of the job, however short, and every packet.
 *
 * A socket belongs to the job if it was made in the job's control group or
 * below it; one that was accepted belongs with the one that listened. When a
 * connection ends, its last numbers are told. Packets are counted where they
 * pass the group: bytes are those of IP, headers included.
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

/* By the address of the socket: who opened it, while it is open. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 17);
	__type(key, uint64_t);
	__type(value, uint8_t);
} roles SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, AS_WIRE_FLOWS);
	__type(key, struct as_wire_flow);
	__type(value, struct as_wire_flow_count);
} flows SEC(".maps");

/* ── connections ──────────────────────────────────────────────────────── */

enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_SYN_RECV = 3, TCP_CLOSE = 7, TCP_LISTEN = 10 };
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
	r->mark = sk->__sk_common.skc_flags >> SOCK_DONE & 1;
	r->pad = 0;
}

static __always_inline void ended(struct sock *sk, uint8_t role)
{
	struct as_wire_connection *r = bpf_ringbuf_reserve(&ring, sizeof *r, 0);

	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	r->cookie = bpf_get_socket_cookie(sk);
	r->role = role;
	addresses(r, sk);
	numbers(r, sk);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* A listener, or one that never came about, ends as well. */
static __always_inline bool was_connected(int before)
{
	return before != TCP_SYN_SENT && before != TCP_SYN_RECV && before != TCP_CLOSE &&
	       before != TCP_LISTEN;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(state_changed, struct sock *sk, int before, int now)
{
	uint64_t key = (uint64_t)sk;
	uint8_t role = before == TCP_SYN_SENT ? AS_WIRE_OPENED : AS_WIRE_ACCEPTED;

	if (sk->sk_protocol != PROTOCOL_TCP || (now != TCP_ESTABLISHED && now != TCP_CLOSE) ||
	    !of_job(sk))
		return 0;
	if (now == TCP_ESTABLISHED) {
		bpf_map_update_elem(&roles, &key, &role, BPF_ANY);
		return 0;
	}
	const uint8_t *known = bpf_map_lookup_elem(&roles, &key);
	role = known ? *known : AS_WIRE_ROLE_UNKNOWN; /* it was there before us */
	if (known)
		bpf_map_delete_elem(&roles, &key);
	if (was_connected(before))
		ended(sk, role);
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

/* A datagram that was cut in pieces is counted by its first. */
static __always_inline void look_at(struct __sk_buff *skb, bool out)
{
	struct as_wire_flow f = {0};
	struct udp_head udp;
	struct head4 v4;
	struct head6 v6;
	uint32_t at;

	if (skb->protocol == bpf_htons(0x0800)) {
		if (bpf_skb_load_bytes(skb, 0, &v4, sizeof v4) < 0 || v4.protocol != PROTOCOL_UDP ||
		    ((v4.skipped[5] & 0x1f) | v4.skipped[6]))
			return;
		__builtin_memcpy(f.remote, out ? v4.to : v4.from, 4);
		f.version = 4;
		at = (v4.ihl_version & 15) * 4;
	} else {
		if (bpf_skb_load_bytes(skb, 0, &v6, sizeof v6) < 0 || v6.next != PROTOCOL_UDP)
			return;
		__builtin_memcpy(f.remote, out ? v6.to : v6.from, 16);
		f.version = 6;
		at = sizeof v6;
	}
	if (bpf_skb_load_bytes(skb, at, &udp, sizeof udp) < 0)
		return;
	f.local_port = bpf_ntohs(out ? udp.from : udp.to);
	f.remote_port = bpf_ntohs(out ? udp.to : udp.from);
	uint32_t len = bpf_ntohs(udp.len);
	if (len >= sizeof udp)
		count_datagram(&f, len - sizeof udp, out);
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
