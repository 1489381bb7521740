#include "os/prompt.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The shortest slice that the scheduler grants, in ns. */
enum { BRIEF = 100000 };

void as_prompt_timers(void)
{
	(void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

void as_prompt_moments(void)
{
	struct sched_attr a = {.size = sizeof a};

	as_prompt_timers();
	if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) || a.sched_policy != SCHED_NORMAL)
		return; /* somebody has decided already */
	a.size = sizeof a;
	a.sched_runtime = BRIEF;
	(void)syscall(SYS_sched_setattr, 0, &a, 0);
}
