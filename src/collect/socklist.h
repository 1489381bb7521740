#pragma once
/*
 * socklist -- the job's sockets one by one: those with the most bytes.
 *
 * A socket is offered when it is over, or when the run is. A job may have had millions
 * of them: a hundred are kept, of the others it is known how many there were and what
 * went over them. What nobody told is unknown, as AS_NA or an empty name.
 */
#include "collect/collector.h"
#include "os/sockdiag.h"

enum { AS_SOCKLIST_MAX = 100 };

struct as_socket {
	enum as_sock_kind kind; /* TCP, or UDP: what went between two ports       */
	bool accepted;
	uint8_t state; /* of TCP: the last one that is known             */
	uint32_t peer; /* instance                                       */
	struct as_sock_addr local, remote;
	struct as_sock_owner owner;
	int64_t opened_ns, closed_ns; /* CLOCK_MONOTONIC                  */
	int64_t sent, received, retransmits;
	int64_t rtt_ns, rtt_min_ns;
};

struct as_socklist {
	struct as_socket v[AS_SOCKLIST_MAX];
	size_t n, least;        /* least: the one with the fewest bytes */
	int64_t others;         /* that are not in it                   */
	int64_t sent, received; /* by those                             */
};

/* One that was never looked at. */
struct as_socket as_socket_new(const struct as_sock *s, bool accepted, uint32_t peer);
/* Take over what this says besides bytes. */
void as_socket_note(struct as_socket *k, const struct as_sock *s);
void as_socklist_add(struct as_socklist *l, const struct as_socket *k);
/* The most bytes first. */
void as_socklist_sort(struct as_socklist *l);
