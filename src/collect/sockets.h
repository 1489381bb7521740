#pragma once
/*
 * sockets -- which of the machine's sockets are the job's, and what the kernel
 * counted of them, without BPF.
 *
 * The kernel lists the sockets of a network namespace and the counters of each
 * (os/sockdiag.h). The job's are those that its processes hold
 * (collect/sockfds.h), those that were made in its control group, and those
 * that were its own before. A connection that lived between two looks is seen
 * only when it ends: it is the job's if it came to a port where the job
 * listens, or if the namespace is the job's own; others are missed.
 */
#include "collect/peers.h"
#include "collect/sockfds.h"

/* One network namespace of the job. */
struct as_netspace {
	struct as_sockdiag diag;
	bool tried, open;
};

/* Addresses where the job waits for others. */
struct as_ports {
	struct as_sock_addr *v;
	size_t n, cap;
};

enum { AS_INHERITED_MAX = 64 }; /* descriptors that our caller may have given us */

struct as_sockets {
	struct as_sockfds fds;
	struct as_peers peers;
	struct as_ports tcp, udp; /* where it listens                                  */
	bool looked;
	bool busy;        /* packets of the job were seen                              */
	bool watched;     /* BPF tells of each end of what is made in the job's group  */
	char refused[48]; /* why a part of it cannot be seen, or ""                    */
	/* private */
	struct as_netspace spaces[AS_NETNS_MAX];
	uint64_t cgroup; /* id of the group that is the job's alone, or 0 */
	bool foreign;    /* it holds connections that were not made in it */
	bool before;     /* this look finds what was there before the run */
	uint32_t inherited[AS_INHERITED_MAX];
	size_t ninherited;
};

void as_sockets_init(struct as_sockets *s, const struct as_collect *c);
/*
 * Look at all of them; `before`: what is found was there before the run. Reading descriptors
 * goes on while there is time left. AS_ENOMEM is the only failure.
 */
int as_sockets_look(struct as_sockets *s, const struct as_collect *c, int64_t t_ns, bool before,
		    as_time_left_fn *left, void *data, struct as_err *err);
/* Take in those that ended since. */
void as_sockets_drain(struct as_sockets *s, const struct as_collect *c);
/* Wait a moment for one to end. */
void as_sockets_wait(const struct as_sockets *s);
/* Does the job listen where this came to? */
bool as_ports_take(const struct as_ports *p, const struct as_sock_addr *local);
/* How many its processes hold, of either kind. */
int64_t as_sockets_held(const struct as_sockets *s, enum as_sock_kind a, enum as_sock_kind b);
void as_sockets_done(struct as_sockets *s);
