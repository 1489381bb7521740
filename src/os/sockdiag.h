#pragma once
/*
 * sockdiag -- the sockets of a network namespace, as the kernel tells them.
 *
 * A dump lists the sockets that are there, TCP ones with their counters
 * (struct tcp_info). The counters of a connection end with it, so a second
 * descriptor hears of every TCP socket that is destroyed, with its last
 * numbers; it needs no privileges.
 *
 * What a reply says is parsed by pure functions that take any bytes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define AS_SOCK_NA INT64_MIN /* the same bits as AS_NA */

enum as_sock_kind { AS_SOCK_UNKNOWN, AS_SOCK_TCP, AS_SOCK_UDP, AS_SOCK_UNIX, AS_SOCK_OTHER };

/* An address of IPv4 (in ip[0..4)) or IPv6; IPv4 in IPv6 is told as IPv4. */
struct as_sock_addr {
	uint8_t ip[16];
	uint16_t port;
	uint8_t version; /* 4, 6, or 0 where there is none */
};

/* Was the end of the stream counted as a byte received? The kernel counts it like one. */
enum as_sock_fin { AS_FIN_NO, AS_FIN_YES, AS_FIN_MAYBE };

/* Nobody is waited for; or an answer is, or that it is connected. */
enum as_talk_state { AS_TALK_RESTS, AS_TALK_ASKED, AS_TALK_CALLED };

/* Whose turn it was on a connection; told by BPF only, else unknown. */
struct as_talk {
	int64_t asked;    /* times that data came in after data went out       */
	int64_t answered; /* times that data went out after data came in       */
	int64_t wait_ns;  /* with data out and nothing come back               */
	enum as_talk_state state;
};

#define AS_NO_TALK ((struct as_talk){AS_SOCK_NA, AS_SOCK_NA, AS_SOCK_NA, AS_TALK_RESTS})

/* A process that opened it, holds it or closed it. */
struct as_sock_owner {
	int32_t pid; /* 0: not known */
	char comm[16];
};

struct as_sock {
	enum as_sock_kind kind;
	uint8_t state;   /* as the kernel numbers them, AS_SOCK_ESTABLISHED … */
	uint32_t inode;  /* 0: no process holds it (any more)                 */
	uint64_t cookie; /* who it is, until the machine is started again     */
	uint64_t cgroup; /* v2 group of its maker; 0: not told                */
	struct as_sock_addr local, remote;
	enum as_sock_fin fin;
	/* TCP only, AS_SOCK_NA where the kernel is too old to say */
	int64_t sent;        /* payload bytes, repeats not counted            */
	int64_t received;    /* payload bytes, and the end mark: see `fin`    */
	int64_t pieces;      /* segments with payload that came               */
	int64_t retransmits; /* segments that were sent again                 */
	int64_t rtt_ns;      /* smoothed                                      */
	int64_t rtt_min_ns;  /* smallest                                      */
	int64_t since_sent_ns, since_received_ns; /* since data went out, came in */
	struct as_talk talk;
	/* By BPF only, else unknown: CLOCK_MONOTONIC, and who */
	int64_t opened_ns, closed_ns;
	struct as_sock_owner owner;
};

enum { AS_SOCK_ESTABLISHED = 1, AS_SOCK_SYN_SENT = 2, AS_SOCK_CLOSED = 7, AS_SOCK_LISTEN = 10 };

typedef void as_sock_fn(void *data, const struct as_sock *sock);

/* ── replies ──────────────────────────────────────────────────────────── */

enum as_sock_reply { AS_REPLY_MORE, AS_REPLY_DONE, AS_REPLY_REFUSED };

/*
 * Tell every TCP or UDP socket of one datagram. Refused: *ret_os is the errno. What makes
 * no sense is passed over.
 */
enum as_sock_reply as_sockdiag_read(const void *p, size_t n, enum as_sock_kind kind, as_sock_fn *fn,
				    void *data, int *ret_os);

struct as_unix_sock {
	uint8_t state;
	uint32_t inode, peer; /* peer: inode of the other end, or 0         */
	char path[112];       /* '@' for the NUL of an abstract one, or ""  */
};

/* The one unix socket of a reply. */
enum as_sock_reply as_sockdiag_read_unix(const void *p, size_t n, struct as_unix_sock *ret,
					 int *ret_os);

/* ── asking ───────────────────────────────────────────────────────────── */

struct as_sockdiag {
	int query, events; /* -1: not to be had */
	uint64_t lost;     /* times that destroyed sockets were dropped for want of room */
};

/*
 * For the namespace of `netns` (an open /proc/PID/ns/net), or our own when it
 * is -1. Our threads stay where they are: a thread made for it goes there,
 * opens both descriptors and ends.
 */
int as_sockdiag_open(struct as_sockdiag *d, int netns, struct as_err *err);
/* All TCP or UDP sockets; with a `cgroup` only those made in exactly that v2 group. */
int as_sockdiag_dump(struct as_sockdiag *d, enum as_sock_kind kind, uint64_t cgroup, as_sock_fn *fn,
		     void *data, struct as_err *err);
/* The unix socket with this inode; AS_ENOTFOUND when there is none. */
int as_sockdiag_unix(struct as_sockdiag *d, uint32_t inode, struct as_unix_sock *ret,
		     struct as_err *err);
/* TCP sockets that were destroyed since; never blocks. */
void as_sockdiag_drain(struct as_sockdiag *d, as_sock_fn *fn, void *data);
/* Wait for a destroyed socket, so long at most; false when none came. */
bool as_sockdiag_wait(const struct as_sockdiag *d, int ms);
void as_sockdiag_close(struct as_sockdiag *d);

/* ── addresses ────────────────────────────────────────────────────────── */

bool as_sock_addr_same(const struct as_sock_addr *a, const struct as_sock_addr *b);
/* Does a listener at `a` take what comes for `b`: same port, same or any address? */
bool as_sock_addr_takes(const struct as_sock_addr *a, const struct as_sock_addr *b);
enum { AS_ADDR_TEXT = 64 };
/* "10.0.0.7", "::1". */
void as_sock_addr_text(const struct as_sock_addr *a, char ret[AS_ADDR_TEXT]);
/* From such a text; false when it is none. The port is left 0. */
bool as_sock_addr_scan(const char *p, size_t n, struct as_sock_addr *ret);
