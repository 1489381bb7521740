#pragma once
/*
 * wire/net -- what the BPF programs of the network tell: a record for each
 * connection of the job that ended, and counters of datagrams by peer.
 */
#include <stdint.h>

enum {
	AS_WIRE_NET_RING = 1 << 18, /* bytes: some 2,000 connections between two samples */
	AS_WIRE_FLOWS = 2048,       /* peers of datagrams that are kept apart            */
};

enum as_wire_role { AS_WIRE_ROLE_UNKNOWN, AS_WIRE_OPENED, AS_WIRE_ACCEPTED };

/* The last numbers of a TCP connection. */
struct as_wire_connection {
	uint64_t cookie;
	uint64_t sent;     /* payload, repeats counted            */
	uint64_t repeated; /* of that                             */
	uint64_t received; /* payload, and the end mark if `mark` */
	uint32_t retransmits, rtt_us;
	uint16_t local_port, remote_port;
	uint8_t version; /* 4 or 6                                */
	uint8_t role;    /* enum as_wire_role                     */
	uint8_t mark;
	uint8_t pad;
	uint8_t local[16], remote[16];
};

struct as_wire_flow {
	uint8_t remote[16];
	uint16_t local_port, remote_port;
	uint8_t version;
	uint8_t pad[3];
};

struct as_wire_flow_count {
	uint64_t sent, received; /* payload bytes */
	uint64_t packets;
};

_Static_assert(sizeof(struct as_wire_connection) == 80, "as both sides count");
_Static_assert(sizeof(struct as_wire_flow) == 24, "as both sides count");
_Static_assert(sizeof(struct as_wire_flow_count) == 24, "as both sides count");
