#pragma once
/*
 * wire/net -- what the BPF programs of the network tell: a record for each
 * connection of the job that ended, what is said over those that are open, and
 * counters of datagrams by peer.
 */
#include <stdint.h>

enum {
	AS_WIRE_NET_RING = 1 << 18, /* bytes: some 2,000 connections between two samples */
	AS_WIRE_FLOWS = 2048,       /* peers of datagrams that are kept apart            */
	AS_WIRE_TALKS = 1 << 17,    /* connections that are open at a time               */
};

enum as_wire_role { AS_WIRE_ROLE_UNKNOWN, AS_WIRE_OPENED, AS_WIRE_ACCEPTED };

enum as_wire_turn { AS_WIRE_NOBODY, AS_WIRE_OUT, AS_WIRE_IN };

/*
 * Who spoke last over a connection, and how often it was the other's turn. Data
 * that is sent again is nothing new. Times are CLOCK_MONOTONIC.
 */
struct as_wire_talk {
	uint64_t out_ns;        /* data went out, and nothing has come since; 0: not so   */
	uint64_t wait_ns;       /* all the time that it was so before                     */
	uint32_t asked;         /* times that data came in after data went out            */
	uint32_t answered;      /* times that data went out after data came in            */
	uint32_t out_to, in_to; /* sequence numbers behind the last data, each way        */
	uint8_t role;           /* enum as_wire_role                                      */
	uint8_t turn;           /* enum as_wire_turn: who spoke last                      */
	uint8_t late;           /* its beginning was not seen                             */
	uint8_t tls;            /* it began like TLS: greetings are no exchange           */
	uint8_t greets;         /* the last segment is of such a greeting                 */
	uint8_t pad[3];
	uint64_t began_ns; /* it was called, or it stands; 0: not seen               */
	int32_t pid;       /* who called, or closed it; 0: not seen                  */
	uint32_t pad2;
	char comm[16];
};

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
	uint8_t late; /* its beginning was not seen: the next three are too small */
	uint32_t asked, answered;
	uint64_t wait_ns;
	uint8_t local[16], remote[16];
	uint64_t began_ns, ended_ns; /* as in the talk; CLOCK_MONOTONIC    */
	int32_t pid;
	uint32_t rtt_min_us; /* UINT32_MAX: not measured                   */
	char comm[16];
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

_Static_assert(sizeof(struct as_wire_connection) == 136, "as both sides count");
_Static_assert(sizeof(struct as_wire_talk) == 72, "as both sides count");
_Static_assert(sizeof(struct as_wire_flow) == 24, "as both sides count");
_Static_assert(sizeof(struct as_wire_flow_count) == 24, "as both sides count");
