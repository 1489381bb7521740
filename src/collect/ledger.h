#pragma once
/*
 * ledger -- what the members of the job were told to be: births, execs and
 * deaths (os/life.h) turned into members, last rows and sums.
 *
 * A birth makes a member that no tick has read yet; most children of a build
 * never are. A death makes its last row: what the kernel said it used, and
 * never less than what a sample saw. Until the next tick shows that row, and
 * a little longer for those who know better later, it is kept as departed.
 *
 * Who a process is, is its number and its birth. Two may tell of the same
 * event while one takes over from the other: what was told already is no news.
 */
#include "collect/members.h"
#include "os/life.h"

/* A process that ended. */
struct as_departed {
	int32_t pid;
	uint32_t instance;
	int64_t start_ns;
	int64_t died_ns;            /* since the run's start                        */
	uint64_t tick;              /* when it was shown, 0: not yet                */
	bool known;                 /* the kernel said what it used                 */
	bool settled;               /* to the last ns                               */
	struct as_life_usage usage; /* what is shown                                */
};

struct as_ledger {
	uint64_t births, deaths;
	uint64_t unknown;         /* deaths without usage: the sums are too small */
	struct as_life_usage sum; /* of all deaths                                */
	int64_t split_ns; /* CPU time of those who lived for many ticks, see as_ledger_split() */
	uint64_t blurred; /* deaths of which nobody said how much was of files */
	int64_t hwm_max;  /* the largest of them                          */
	int64_t used_max; /* likewise, less mapped files                  */
	bool two;         /* two sources tell                             */
	bool lost;        /* events were: members are looked for as well  */
	bool settles;     /* who tells of ends tells what is exact later  */
	bool last_looks;  /* of some nobody said what they used in the end */
	struct as_departed *departed; /* in the order of their ends                */
	size_t ndeparted, departed_cap;
	size_t settled; /* private: where the last one was found        */
};

void as_ledger_init(struct as_ledger *g);
void as_ledger_done(struct as_ledger *g);
/* One event. `show`: there will be ticks, so that rows are worth keeping. */
void as_ledger_told(struct as_ledger *g, struct as_members *m, const struct as_collect *c,
		    const struct as_life *life, bool show);
/*
 * It ended: p->died_ns and p->ended_by say how, as far as is known, `usage` what
 * it used (NULL: nobody said). One that no tick ever read is forgotten.
 */
void as_ledger_depart(struct as_ledger *g, struct as_members *m, const struct as_collect *c,
		      struct as_process *p, const struct as_life_usage *usage, bool show);
/* It ended before, and waiting for it told more of what it used (p->stat). */
void as_ledger_reaped(struct as_ledger *g, const struct as_process *p);
/*
 * The rows of those that ended since; forget those that were shown at the tick
 * before. What will be exact in a moment is waited for, until it is the `last`
 * tick: two rows of one end would look like a rate.
 */
void as_ledger_rows(struct as_ledger *g, const struct as_collect *c, struct as_frame *frame,
		    uint64_t tick, bool last);
/* Is the process of this number and birth one whose end was told? See as_members.ended. */
bool as_ledger_ended(const void *ledger, int32_t pid, int64_t start_ns);
/*
 * Is there so much CPU time of which ticks can tell what was user and what system time? Of a
 * process that met none the kernel says that it was in user code all the time.
 */
bool as_ledger_split(const struct as_ledger *g, const struct as_members *m, int64_t ns);
/* a + b, where unknown is nothing. */
void as_usage_add(struct as_life_usage *sum, const struct as_life_usage *more);
/* What /proc said of it last, since the run began. Without what it took over from its children. */
struct as_life_usage as_process_usage(const struct as_process *p);
