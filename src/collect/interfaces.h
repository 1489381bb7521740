#pragma once
/*
 * interfaces -- what went over the network interfaces that the job could use.
 *
 * In a network namespace that came with the job it is the job's traffic, all of
 * it; in one that is older, what went over it since the job was seen there. In
 * the machine's it is everybody's, and is told as the machine's: there is no way
 * to say whose it was. An interface is told of when something goes over it.
 */
#include "collect/source.h"
#include "os/netdev.h"

enum { AS_NETDEV_FILES = 8 };

struct as_interface {
	char name[32];
	uint32_t file;
	bool told;
	int64_t since_ns; /* since when it is counted: its row is 0 then */
	struct as_netdev base, last;
};

struct as_interfaces {
	struct as_interface *v;
	size_t n, cap;
	int fd[AS_NETDEV_FILES];    /* net/dev of each namespace; [0] is the machine's */
	bool ours[AS_NETDEV_FILES]; /* the namespace came with the job */
	size_t nfiles;
	int64_t began_ns; /* CLOCK_MONOTONIC of the last tick before the run's start */
};

void as_interfaces_init(struct as_interfaces *t, const struct as_collect *c);
/* The job has a namespace of its own: `netns`, and the process is or was in it. */
void as_interfaces_add(struct as_interfaces *t, const struct as_collect *c, int32_t pid, int netns);
void as_interfaces_rows(struct as_interfaces *t, const struct as_collect *c,
			struct as_frame *frame);
void as_interfaces_done(struct as_interfaces *t);
