#pragma once
/*
 * peers -- whom the job talked to: its connections, joined by the other end.
 *
 * A connection that the job opened belongs to the peer at its remote address
 * and port. One that it accepted belongs to the client's address and the port
 * that it came to: a client's own port is another one every time.
 *
 * Told of a connection again and again, the table adds what is new to its
 * peer and to the job. Told of one that was there before the run, it takes
 * the first numbers as the baseline.
 *
 * The time spent waiting for a peer is what tcp_info lets one know: data went
 * out, and nothing has come back since. Of several exchanges between two looks
 * only the last is seen, so it is the least that it can have been; where BPF
 * tells (struct as_talk) it is all of it. A client that is silent is not waited
 * for: of accepted connections it is unknown.
 *
 * An exchange is a question and its answer, as the turns of the two ends show
 * it: data that comes in after data went out, or the other way round where the
 * job is the one that answers. A connection is reused when it had two or more.
 * Only BPF tells; elsewhere both are unknown.
 *
 * The job's own count is of TCP connections, each once: one of which it has both
 * ends is two connections of two peers, and one of the job. Unix sockets are
 * counted at their peers only.
 */
#include "collect/collector.h"
#include "collect/socklist.h"

enum { AS_PEERS_MAX = 512, AS_PEER_PATH = 112, AS_ENDS_MAX = 4096 };

struct as_traffic {
	int64_t connections, sent, received, retransmits;
};

struct as_peer {
	enum as_sock_kind kind;
	bool accepted;           /* `at` is the client, its port the one it came to */
	struct as_sock_addr at;  /* of TCP and UDP */
	char path[AS_PEER_PATH]; /* of unix, "" when it has none              */
	uint32_t instance;
	struct as_traffic all;
	int64_t open;          /* connections at this moment                 */
	int64_t wait_ns;       /* AS_NA where it cannot be known             */
	int64_t exchanges;     /* likewise                                   */
	int64_t reused;        /* connections that had more than one         */
	int64_t rtt_sum, rtts; /* since the last row                         */
	bool counted;          /* some connection told its bytes             */
	bool changed;          /* since the last row                         */
};

struct as_connection {
	uint64_t cookie;
	uint32_t inode;
	uint32_t peer;
	bool ours;    /* made in the job's own group: BPF tells its end      */
	bool fin;     /* the end mark is in `seen.received`                  */
	bool waiting; /* at the last look data was out and unanswered        */
	bool calling; /* at the last look it was not connected yet           */
	bool held;    /* kind UDP or unix: it lives as long as its inode     */
	bool flow;    /* datagrams with a peer: it never ends                */
	bool shut;    /* no more open; it waits for its last numbers         */
	uint8_t missed;
	uint32_t look; /* the last one that saw it                           */
	struct as_traffic seen;
	struct as_traffic base; /* of that, what was there before the run  */
	struct as_socket of;    /* as it is listed                         */
	int64_t raw, pieces;    /* bytes and segments received, as the kernel counts  */
	int64_t out_ns;         /* when data last went out; AS_NA: not known          */
	int64_t exchanges;      /* of them counted                                    */
	int64_t wait_ns;        /* of that counted, where BPF tells                   */
	bool timed;             /* BPF tells how long it waits                        */
	bool moved;             /* something went over it since that was asked        */
	bool begun;             /* BPF was told of it, or told of it                  */
};

/* One end of a TCP connection whose other end was not met yet. */
struct as_end {
	struct as_sock_addr local, remote;
	uint64_t met; /* the how manieth it was; 0: none */
};

struct as_peers {
	struct as_peer **v;
	size_t n, cap;
	struct as_connection *connections; /* sorted by cookie */
	size_t nconnections, connections_cap;
	struct as_traffic job;
	struct as_end *ends;     /* AS_ENDS_MAX of them, once there is one         */
	struct as_socklist over; /* those that ended                              */
	uint32_t look;           /* number of this look                           */
	int64_t t_ns, before_ns; /* time of this look, and of the one before */
	bool waiting; /* somebody was called or asked, and only looks can tell how long */
	bool moving;  /* this look held back a last byte, which the next one knows about */
	bool starved;
};

/* What is known of a connection besides what the kernel tells. */
struct as_peer_hint {
	bool accepted;
	bool before; /* it was there before the run */
	bool ours;   /* it was made in the job's own group */
};

/* A look at all connections begins: those that it does not see are gone. */
void as_peers_look(struct as_peers *t, int64_t t_ns);
const struct as_connection *as_peers_find(const struct as_peers *t, uint64_t cookie);
/* It is there, with these numbers. */
void as_peers_see(struct as_peers *t, const struct as_sock *s, struct as_peer_hint hint);
/* It is over, and these were its last numbers; known before or not. */
void as_peers_closed(struct as_peers *t, const struct as_sock *s, struct as_peer_hint hint);
/*
 * Ask what was said so far over the open ones, where that may have changed. Of one of the job's
 * own that nobody has heard of yet, `begin` is told what the looks saw.
 */
struct as_talks {
	bool (*ask)(void *data, uint64_t cookie, struct as_talk *ret);
	void (*begin)(void *data, uint64_t cookie, const struct as_talk *known);
	void *data;
};
void as_peers_ask(struct as_peers *t, const struct as_talks *from);
/* A unix socket of the job with the path of its connection; `cookie` is any number of its own. */
void as_peers_see_unix(struct as_peers *t, uint64_t cookie, uint32_t inode, const char *path,
		       bool accepted);
/*
 * Datagrams so far, payload bytes, to and from a remote address (accepted: that came to
 * `local_port`). It is no connection, only traffic.
 */
void as_peers_flow(struct as_peers *t, const struct as_sock_addr *remote, uint16_t local_port,
		   bool accepted, int64_t sent, int64_t received);
/*
 * The look is over. Connections that it did not see are closed; they are kept
 * for a while, as their last numbers may be on the way. `holds`: does some
 * process still hold the inode?
 */
void as_peers_looked(struct as_peers *t, bool (*holds)(const void *data, uint32_t inode),
		     const void *data);
/* How many connections are open, or waiting for their last numbers. */
size_t as_peers_pending(const struct as_peers *t);
/* All TCP connections and flows of datagrams so far, one by one. */
void as_peers_list(const struct as_peers *t, struct as_socklist *ret);
void as_peers_done(struct as_peers *t);

/* "10.0.0.7:5432", "[::1]:80", "port 80 from 10.0.0.9", "udp 10.0.0.1:53", "unix /run/x". */
void as_peer_name(const struct as_peer *p, char *ret, size_t size);
