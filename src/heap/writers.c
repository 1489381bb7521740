#include "heap/writers.h"

#include "base/fault.h"
#include "heap/follow.h"

/* Threads that a note has named are there already. */
static bool find(const struct as_writers *w, uint32_t tid, uint32_t *ret)
{
	const struct as_heap_names *n = w->names;

	for (size_t i = n->nthreads; i-- > 0;)
		if (n->thread[i].tid == tid && (!tid || !w->claimed[i])) {
			*ret = (uint32_t)i;
			return true;
		}
	return false;
}

static bool add(const struct as_writers *w, uint32_t tid, uint32_t *ret)
{
	struct as_heap_names *n = w->names;

	if (!as_grow(&n->thread, &n->thread_cap, n->nthreads, sizeof *n->thread, 16))
		return false;
	*ret = (uint32_t)n->nthreads;
	n->thread[n->nthreads++] = (struct as_heap_thread){.tid = tid};
	return true;
}

/* As many as there are names for, and one more. */
static bool room(struct as_writers *w)
{
	while (w->cap <= w->names->nthreads) {
		size_t had = w->cap;

		if (!as_grow(&w->claimed, &w->cap, had, sizeof *w->claimed, 16))
			return false;
		memset(w->claimed + had, 0, (w->cap - had) * sizeof *w->claimed);
	}
	return true;
}

bool as_writers_claim(struct as_writers *w, uint32_t tid, uint32_t *ret)
{
	if (w->names->nthreads >= AS_FOLLOW_THREADS)
		tid = 0;
	if (!room(w) || (!find(w, tid, ret) && !add(w, tid, ret)))
		return false;
	w->claimed[*ret] = true;
	return true;
}

void as_writers_done(struct as_writers *w)
{
	free(w->claimed);
	w->claimed = NULL;
	w->cap = 0;
}
