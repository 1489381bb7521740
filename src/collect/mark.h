#pragma once
/*
 * mark -- what the job needed between two samples, from its group's mark.
 *
 * The kernel keeps the most that was ever charged to a group: no spike is too
 * short for it. But it counts page cache too, and does not say when it was. So
 * the mark is set back at each sample (the group is ours) and weighed:
 *
 *	beside   what is charged and is not need: page cache, the kernel's own
 *	made     bytes read and written since the sample before
 *
 * At the moment of the peak no more can have stood beside the need than at the
 * sample before plus what was made since: the rest of the mark was needed, by
 * whatever process, however short it lived. That is a proof, not a guess; it
 * proves little of an interval in which much was read or written.
 *
 * The kernel's own memory can grow without any I/O. So what stands beside the
 * need after the interval counts as well, if it is still there one sample
 * later: memory that is just being freed leaves the accounts of the need a
 * moment before it leaves the sum.
 */
#include "collect/collector.h"

struct as_mark {
	int64_t top;  /* the most that was ever charged, AS_NA when unknown    */
	int64_t need; /* at least so much was needed at once, AS_NA when unknown */
	/* private */
	int fd;
	bool resets;
	int64_t before; /* the mark, as last read                                */
	int64_t now;    /* the mark of the interval that ends now, AS_NA: not new */
	int64_t beside, io;
	int64_t held, held_beside; /* of the interval before, not yet weighed    */
};

/* The group must be the job's own and new; else nothing is ever known. */
void as_mark_open(struct as_mark *m, const struct as_cgroup *cg);
/* Read the mark and set it back: first of all at a sample. */
void as_mark_take(struct as_mark *m);
/* Then the accounts of the same moment. `io`: all bytes read and written so far. AS_NA: unknown. */
void as_mark_weigh(struct as_mark *m, int64_t usage, int64_t need, int64_t io);
/* There will be no more samples. */
void as_mark_end(struct as_mark *m);
void as_mark_close(struct as_mark *m);
