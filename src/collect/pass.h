#pragma once
/*
 * pass -- the numbers of all members at once, by the BPF task iterator
 * (os/taskiter.h), where the witness is BPF.
 *
 * It fills the same places of a process that reading its /proc files does, in
 * the same units, so nobody else knows the difference; but nobody has to wait
 * for a turn, and of a newcomer only the folder is opened. Whom a pass does not
 * tell of (it is gone, or its birth was lost) is looked for in /proc as ever.
 *
 * Those that were asleep since the pass before are not told of but counted, and
 * nobody touches what is kept of them. When as many are as before as should be,
 * all are; when not, somebody ended just now: whoever calls hears what was told
 * of ends and counts again, and if that does not explain it, asks for all.
 */
#include "collect/witness.h"

struct as_pass {
	struct as_life_source *of;  /* who tells                                        */
	uint64_t n;                 /* the last pass: as_process.passed                 */
	bool made;                  /* at this tick                                     */
	bool told;                  /* the last one succeeded                           */
	bool complete;              /* and all who were not told of are as before       */
	uint64_t first;             /* the first pass of this one                       */
	uint64_t quiet;             /* how many were counted                            */
	bool gap;                   /* one was told of in brief that is not known       */
	struct as_members *members; /* private, during a pass                           */
	const struct as_collect *c;
	size_t at; /* the member that came last: the next comes next */
};

/* Make one, if the witness can; `all`: of those that are as before, too. */
void as_pass_make(struct as_pass *pass, const struct as_witness *w, struct as_members *m,
		  const struct as_collect *c, bool all);
/* Is everybody accounted for who is there, by what is known of the members now? */
bool as_pass_complete(struct as_pass *pass, const struct as_members *m);
/* Did it tell of this one? */
static inline bool as_pass_told(const struct as_pass *pass, const struct as_process *p)
{
	return pass->made && p->passed == pass->n;
}
/* Is this one as it was? */
static inline bool as_pass_quiet(const struct as_pass *pass, const struct as_process *p)
{
	return pass->complete && p->passed >= pass->first && p->passed < pass->n && !p->ended;
}
