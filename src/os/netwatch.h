#pragma once
/*
 * netwatch -- the connections and packets of a control group, told by BPF.
 *
 * No connection is too short: each is told when it ends, with its last
 * numbers. Of those that are open it is known how often it was the other's
 * turn to speak, and how long that took. Packets are counted as they pass the
 * group, so datagrams are known by peer as well. Needs root, or CAP_BPF,
 * CAP_PERFMON and CAP_NET_ADMIN, and a v2 group that is the job's own.
 */
#include "os/cgroup.h"
#include "os/sockdiag.h"

struct as_netwatch;

/* What passed the group so far: IP bytes with their headers, all protocols. */
struct as_packets {
	int64_t sent_bytes, sent, received_bytes, received;
};

/* Datagrams from and to one peer, over one port of ours; payload bytes. */
struct as_flow_seen {
	struct as_sock_addr remote;
	uint16_t local_port;
	int64_t sent, received, packets;
};

/* Who opened a connection; of one that was there before us it is not known. */
enum as_role { AS_ROLE_UNKNOWN, AS_ROLE_OPENED, AS_ROLE_ACCEPTED };

typedef void as_ended_fn(void *data, const struct as_sock *last, enum as_role role);
typedef void as_flow_fn(void *data, const struct as_flow_seen *flow);

/* Refused (AS_EPERM, AS_EUNSUP) is usual. */
int as_netwatch_open(struct as_netwatch **ret, const struct as_env *env,
		     const struct as_cgroup *group, struct as_err *err);
/* TCP connections that ended since. */
void as_netwatch_drain(struct as_netwatch *w, as_ended_fn *fn, void *data);
void as_netwatch_flows(const struct as_netwatch *w, as_flow_fn *fn, void *data);
/* What was said so far over a TCP connection that is open; false: nothing that was seen. */
bool as_netwatch_talk(const struct as_netwatch *w, uint64_t cookie, struct as_talk *ret);
/* It was open before we watched, and this is what is known of it: count on from there. */
void as_netwatch_begin(const struct as_netwatch *w, uint64_t cookie, const struct as_talk *talk);
struct as_packets as_netwatch_packets(const struct as_netwatch *w);
/* Connections that the kernel had no room to tell. */
uint64_t as_netwatch_lost(const struct as_netwatch *w);
void as_netwatch_close(struct as_netwatch *w); /* NULL is fine */

/*
 * What the programs wrote: a record as a socket (false when it is none), a talk both ways,
 * and a flow.
 */
struct as_wire_talk;
struct as_wire_flow;
struct as_wire_flow_count;
bool as_netwatch_parse(const void *record, size_t len, struct as_sock *ret, enum as_role *ret_role);
void as_netwatch_talked(const struct as_wire_talk *t, int64_t now_ns, struct as_talk *ret);
void as_netwatch_begun(const struct as_talk *talk, int64_t now_ns, struct as_wire_talk *ret);
void as_netwatch_flow(const struct as_wire_flow *key, const struct as_wire_flow_count *n,
		      struct as_flow_seen *ret);
