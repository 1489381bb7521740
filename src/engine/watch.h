#pragma once
/*
 * watch -- collectors that have something to say between two samples.
 *
 * A source of events is not listened to word by word: a build starts thousands
 * of processes a minute, and each wake-up of ours costs more than what it
 * learns. So when a descriptor becomes readable it is left alone for a moment,
 * then drained, and again after a pause as long as there is more; only one
 * that has fallen silent is watched again.
 */
#include "engine/parts.h"

struct as_watch {
	int epoll; /* borrowed */
	struct {
		int fd;         /* watched, -1: none                          */
		int64_t due_ns; /* when to drain it, since the run's start; INT64_MAX */
	} v[AS_PARTS_MAX];
};

/* Watch what the parts have by now; an event of part i carries `first` + i. */
void as_watch_start(struct as_watch *w, const struct as_parts *p, int epoll, uint32_t first);
/* Part i polled readable. */
void as_watch_readable(struct as_watch *w, size_t i, int64_t t_ns);
/* When the next one is due; INT64_MAX: none. */
int64_t as_watch_due(const struct as_watch *w, const struct as_parts *p);
/* Drain those that are due. */
void as_watch_drain(struct as_watch *w, struct as_parts *p, const struct as_collect *c,
		    int64_t t_ns, uint32_t first);
