#include "profile/moment.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fault.h"

struct as_moment *as_moment_new(struct as_err *err)
{
	as_auto_moment struct as_moment *m = as_zalloc(sizeof *m);

	if (!m) {
		(void)as_fail(err, AS_ENOMEM, "make room for a dump");
		return NULL;
	}
	m->names = as_profile_new(&(struct as_value_kind){"samples", "count"}, 1, err);
	return m->names ? as_take(m) : NULL;
}

void as_moment_stack_done(struct as_moment_stack *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->frame[i].local);
	free(s->frame);
	*s = (struct as_moment_stack){.seen = AS_SEEN_NONE};
}

void as_moment_free(struct as_moment *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nthreads; i++)
		as_moment_stack_done(&m->thread[i].stack);
	for (size_t i = 0; i < m->ntasks; i++) {
		as_moment_stack_done(&m->task[i].stack);
		free(m->task[i].awaits);
	}
	free(m->thread);
	free(m->task);
	as_profile_free(m->names);
	free(m);
}
