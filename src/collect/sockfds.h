#pragma once
/*
 * sockfds -- which sockets the processes of the job hold: the inodes behind
 * their descriptors.
 *
 * Only a process that ran since the last look can hold others than before, and
 * only the links of /proc/PID/fd tell. So the processes that ran are read, one
 * after the other, while there is time left; who was left out comes first at
 * the next look. One that had no socket and has as many descriptors as before
 * hardly has one now, and is read only now and then: a young one, that is still
 * setting up, more often.
 */
#include "collect/members.h"
#include "os/sockdiag.h"

struct as_sockfd {
	uint32_t inode;
	enum as_sock_kind kind; /* AS_SOCK_UNKNOWN until somebody has asked */
	uint8_t tries;          /* how often nobody knew it, or its other end */
	bool settled;           /* there is no more to ask about it           */
	uint32_t netns;         /* whose sockets it is among: see as_sockfds.netns */
};

struct as_holder {
	int32_t pid;
	char comm[16];
	uint32_t instance; /* with the pid, who it is                       */
	uint32_t moves;    /* as_process.moves when it was last looked at   */
	uint32_t netns;
	int64_t fds;     /* how many descriptors it had when it was read; AS_NA */
	int64_t has;     /* how many it has now                             */
	int64_t read_ns; /* when that was, CLOCK_MONOTONIC                  */
	int64_t met_ns;  /* when it was read first                          */
	bool due;        /* it ran since it was read                      */
	bool seen;       /* it is (still) a member                        */
	uint32_t *inodes;
	size_t n, cap;
};

enum { AS_NETNS_MAX = 8 };

struct as_sockfds {
	struct as_sockfd *v; /* every socket once, sorted by inode           */
	size_t n;
	bool ran;    /* some process ran since the look before               */
	bool denied; /* some process would not show its descriptors          */
	/* The network namespaces of the processes, as inodes; [0] is our own. */
	uint64_t netns[AS_NETNS_MAX];
	size_t nnetns;
	int32_t netns_pid[AS_NETNS_MAX]; /* a process that is, or was, in it */
	int netns_fd[AS_NETNS_MAX];      /* open, whoever is gone; [0] is not used */
	/* private */
	struct as_holder *holders; /* sorted by pid */
	size_t nholders, holders_cap;
	size_t turn;
	bool changed; /* v is out of date */
};

/* Is there time left? */
typedef bool as_time_left_fn(void *data);

void as_sockfds_init(struct as_sockfds *f, const struct as_collect *c);
/* Look at the members as they are now. AS_ENOMEM is the only failure. */
int as_sockfds_look(struct as_sockfds *f, const struct as_collect *c, as_time_left_fn *left,
		    void *data, struct as_err *err);
struct as_sockfd *as_sockfds_find(const struct as_sockfds *f, uint32_t inode);
/* A process that holds it; pid 0: none that was seen. */
struct as_sock_owner as_sockfds_owner(const struct as_sockfds *f, uint32_t inode);
/* "socket:[123]": the inode, 0 when the link is no socket. */
uint32_t as_sockfd_scan(const char *p, size_t n);
void as_sockfds_done(struct as_sockfds *f);
