#pragma once
/*
 * pass -- the numbers of all members at once, by the BPF task iterator
 * (os/taskiter.h), where the witness is BPF.
 *
 * It fills the same places of a process that reading its /proc files does, in
 * the same units, so nobody else knows the difference; but nobody has to wait
 * for a turn, and of a newcomer only the folder is opened. Whom a pass does not
 * tell of (it is gone, or its birth was lost) is looked for in /proc as ever.
 */
#include "collect/witness.h"

struct as_taskiter;

struct as_pass {
	struct as_taskiter *it;
	const struct as_life_source *of; /* whose iterator it is                 */
	uint64_t n;                      /* the last pass: as_process.passed     */
	bool made;                       /* at this tick                         */
	struct as_members *members;      /* private, during a pass               */
	const struct as_collect *c;
	size_t at; /* the member that came last: the next comes next */
};

/* Make one, if the witness can. */
void as_pass_make(struct as_pass *pass, const struct as_witness *w, struct as_members *m,
		  const struct as_collect *c);
/* Did it tell of this one? */
static inline bool as_pass_told(const struct as_pass *pass, const struct as_process *p)
{
	return pass->made && p->passed == pass->n;
}
void as_pass_close(struct as_pass *pass);
