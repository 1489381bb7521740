#pragma once
/*
 * pss -- memory that processes share, counted once, read within a budget.
 *
 * Only the kernel can tell which pages of two processes are the same, and it
 * walks all of them to do so: 17 ms for each GiB of small pages, with a lock
 * held that the process needs to map memory. So the share of a process (what
 * of its memory is its own) is read now and then, the readings that tell most
 * for their price first, and between two readings it is applied to the size
 * that every tick knows. A process larger than 4 GiB is read only when it was
 * asked for by --metrics.
 *
 * A forked process has its parent's pages until it writes to them or calls
 * exec: those are relatives. One that was not read yet is taken to share as
 * much as the most sharing of them. When their number changes by more than a
 * half, old readings say nothing any more, and of a family without a reading
 * only the largest member is surely needed: what is told may be too little
 * for a while, but never counts a page twice for long. Readings during which
 * one of them ended are forgotten: who was read later had the larger share.
 * Of shared memory a reading is good while all together have mapped as much as
 * then: until there is one, PSS of a process that is mostly that is unknown.
 */
#include "collect/members.h"

struct as_family {
	char comm[68];          /* its members bear it; another name came by exec   */
	uint32_t n, was;        /* alive, now and at the tick before                */
	int64_t rss, faults;    /* of all                                           */
	int64_t largest, known; /* anonymous: the largest, and as the shares say    */
	int64_t need;           /* what that came to                                */
	bool read, scattered;   /* now: some were read; some ended meanwhile        */
	struct as_share least;  /* of those that were read lately, the most shared  */
};

/* CPU time to spend. */
struct as_purse {
	int64_t ns_per_s, ns;
};

struct as_pss {
	/* What the last sample came to; AS_NA when unknown. */
	int64_t need; /* anonymous and shared memory, each page once */
	int64_t pss, uss, age;
	/* private */
	bool fields;  /* somebody looks at PSS                          */
	bool asked;   /* and asked for it: any price                    */
	bool depends; /* no control group tells what the job needs      */
	bool missing; /* this kernel has no such file                   */
	bool denied;
	int64_t t_ns;          /* of the last sample                             */
	int64_t spent_ns;      /* and of the last that read any                  */
	uint64_t living, ever; /* members then                                   */
	int64_t mapped;        /* shared memory in all processes, added up       */
	struct as_purse for_need, for_fields;
	struct as_family *families;
	size_t nfamilies, families_cap;
};

void as_pss_open(struct as_pss *s, const struct as_collect *c);
/* After the members were read at this tick. Sets pss, uss and pss_age of each, and the sums. */
void as_pss_sample(struct as_pss *s, const struct as_collect *c, const struct as_members *m);
void as_pss_done(struct as_pss *s);
