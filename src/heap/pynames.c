#include "heap/pynames.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "stack/threadnames.h"

#define FIRST (10 * AS_MSEC) /* after a thread has come; then twice as late each time */
#define LAST  (8 * AS_SECOND)

enum {
	SHARE = 20, /* of the time, one part at the most is CPU time for looking */
	INTERPRETERS = 16,
};

struct as_pynames {
	struct as_python py;
	struct as_pyreader reader;
	bool found;
	size_t threads;    /* that there were at the last look            */
	bool some;         /* this look is for those that came since      */
	int64_t rested_ns; /* not before this, whoever comes              */
	int64_t due_ns, every_ns;
};

void as_pynames_free(struct as_pynames *p)
{
	free(p);
}

/* ── whose name ───────────────────────────────────────────────────────── */

/* A thread that has ended has no ring: what Python says now is of another. */
static bool lives(const struct as_mapping *m, uint32_t tid)
{
	for (size_t i = 1; i < AS_WIRE_HEAP_RINGS; i++) {
		const struct as_wire_ring *r = &m->heap->ring[i];

		if (atomic_load_explicit(&r->tid, memory_order_relaxed) == tid &&
		    atomic_load_explicit(&r->state, memory_order_acquire) == AS_WIRE_RING_USED)
			return true;
	}
	return false;
}

static struct as_heap_thread *whose(const struct as_mapping *m, const struct as_heap_names *n,
				    uint64_t ident)
{
	for (size_t i = n->nthreads; ident && i-- > 0;) {
		struct as_heap_thread *t = &n->thread[i];

		if (t->self == ident && t->tid != m->heap->pid && lives(m, t->tid))
			return t;
	}
	return NULL;
}

static void call(struct as_heap_thread *t, struct as_buf *name)
{
	char *own = as_buf_take(name);

	if (!own)
		return;
	free(t->name);
	t->name = own;
	t->own = true;
}

/* ── a look ───────────────────────────────────────────────────────────── */

static void look_at(struct as_pynames *p, uint64_t interp, const struct as_mapping *m,
		    const struct as_heap_names *n)
{
	struct as_threadnames all;
	uint64_t ident, object;

	if (!as_threadnames_open(&p->reader, interp, &all))
		return;
	while (as_threadnames_next(&all, &ident, &object)) {
		struct as_heap_thread *t = whose(m, n, ident);
		struct as_threadname name;

		if (!t || (p->some && t->own))
			continue;
		as_threadname_of(&p->reader, object, &name);
		if (lives(m, t->tid))
			call(t, &name.name);
		as_buf_done(&name.name);
	}
}

/* Objects are known of most versions only: of others threads have the kernel's names. */
static bool find(struct as_pynames *p, const struct as_env *env, pid_t pid)
{
	struct as_err err;

	if (!p->found)
		p->found = as_python_find(env, pid, &p->py, &err) == AS_OK &&
			   as_pyreader_init(&p->reader, &p->py);
	return p->found;
}

static void look(struct as_pynames *p, const struct as_mapping *m, const struct as_heap_names *n)
{
	uint64_t at = p->py.runtime + p->py.at.runtime.interpreters;

	for (int i = 0; i < INTERPRETERS; i++) {
		as_pyreader_allow(&p->reader, 1);
		at = as_pyword(&p->reader, at);
		if (!at)
			return;
		look_at(p, at, m, n);
		at += p->py.at.interp.next;
	}
}

void as_pynames_look(struct as_pynames **ret, const struct as_env *env, pid_t pid,
		     const struct as_mapping *m, struct as_heap_names *n)
{
	struct as_pynames *p = *ret ? *ret : (*ret = as_zalloc(sizeof *p));
	int64_t now = as_now(), begun = as_clock(CLOCK_THREAD_CPUTIME_ID);

	if (!p || now < (n->nthreads > p->threads ? p->rested_ns : p->due_ns))
		return;
	p->some = n->nthreads > p->threads;
	p->every_ns = p->some ? FIRST : p->every_ns * 2;
	if (p->every_ns > LAST)
		p->every_ns = LAST;
	p->threads = n->nthreads;
	if (find(p, env, pid))
		look(p, m, n);
	p->rested_ns = now + (as_clock(CLOCK_THREAD_CPUTIME_ID) - begun) * SHARE;
	p->due_ns = now + p->every_ns > p->rested_ns ? now + p->every_ns : p->rested_ns;
}
