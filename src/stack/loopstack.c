#include "stack/loopstack.h"

#include "base/clock.h"
#include "base/fault.h"
#include "stack/loopthread.h"
#include "stack/states.h"

static const int64_t seek_first = 10 * AS_MSEC, seek_last = 10 * AS_SECOND;

int as_loop_stacks_open(struct as_loop_stacks *s, const struct as_env *env, pid_t pid,
			struct as_profile *to, struct as_err *err)
{
	*s = (struct as_loop_stacks){.env = env, .pid = pid, .to = to, .seek_pause = seek_first};
	s->stack = as_zalloc(sizeof *s->stack);
	return s->stack ? AS_OK : as_fail(err, AS_ENOMEM, "make room for a stack");
}

static void lose(struct as_loop_stacks *s)
{
	if (!s->found)
		return;
	as_pythreads_done(&s->threads);
	as_codes_done(&s->codes);
	s->found = false;
}

void as_loop_stacks_close(struct as_loop_stacks *s)
{
	lose(s);
	free(s->stack);
	s->stack = NULL;
}

static bool seek(struct as_loop_stacks *s, int64_t now)
{
	if (now < s->seek_ns)
		return false;
	s->seek_pause = s->seek_pause * 2 < seek_last ? s->seek_pause * 2 : seek_last;
	s->seek_ns = now + s->seek_pause;
	s->why = (struct as_err){0};
	if (as_python_find(s->env, s->pid, &s->py, &s->why) < 0)
		return false;
	s->to->taking.known = true;
	as_pythreads_init(&s->threads, s->env, &s->py);
	as_codes_init(&s->codes, &s->py, s->to);
	s->objects = as_pyreader_init(&s->reader, &s->py);
	s->asyncio = (struct as_pyasyncio){0};
	s->check_ns = now + AS_SECOND;
	s->seek_pause = seek_first; /* if it is lost, soon again */
	return s->found = true;
}

bool as_loop_stacks_ready(struct as_loop_stacks *s, int64_t now)
{
	if (!s->found && !seek(s, now))
		return false;
	if (now >= s->check_ns) {
		as_codes_check(&s->codes);
		s->asyncio.interp = 0; /* it may have been imported */
		s->check_ns = now + AS_SECOND;
	}
	struct as_pyheads heads;

	as_pyheads_init(&heads, &s->threads);
	if (!as_pythreads_same(&s->threads, &heads) && !as_pythreads_refresh(&s->threads))
		lose(s);
	return s->found;
}

static struct as_pythread *find(const struct as_loop_stacks *s, pid_t tid)
{
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i]->tid == tid)
			return s->threads.at[i];
	return NULL;
}

/* The task that a thread runs, whose stack has just been read: a text, or 0. */
static uint32_t task_of(struct as_loop_stacks *s, const struct as_pythread *t)
{
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);
	struct as_pytask task;
	size_t depth;

	if (!s->objects)
		return 0;
	if (s->asyncio.interp != t->interp)
		as_pyasyncio_find(s->env, &s->reader, t->interp, &s->asyncio);
	if (!as_pytask_of(&s->reader, &s->asyncio, t->snap.thread, s->stack, &task, &depth) ||
	    !as_pytask_name(&s->reader, &task, &name))
		return 0;
	return as_profile_text(s->to, as_buf_text(&name), name.len);
}

void as_loop_vote(struct as_loop_stacks *s, pid_t tid, struct as_votes *v, struct as_vote deed,
		  bool same, int64_t now)
{
	struct as_pythread *t = s->found ? find(s, tid) : NULL;

	deed.stack = v->last.stack;
	if (same && deed.stack) {
		as_votes_add(v, deed, now);
		return;
	}
	if (!t && as_loop_stacks_ready(s, now)) /* it may be new */
		t = find(s, tid);
	enum as_snap snap = t ? as_snapshot(&t->snap, s->stack, &s->count) : AS_SNAP_GONE;
	s->to->taking.samples += snap == AS_SNAP_OK;
	s->to->taking.rejected += snap == AS_SNAP_REJECTED;
	if (snap != AS_SNAP_OK)
		return;
	deed.stack = as_codes_stack(&s->codes, s->stack);
	if (!deed.stack)
		return;
	deed.task = as_votes_has(v, deed.stack) ? 0 : task_of(s, t);
	as_votes_add(v, deed, now);
}

/*
 * What does this thread, which was seen waiting for a lock? It looks at the GIL anew every few
 * milliseconds, and stands between two looks in the queue for a CPU: for no lock then.
 */
static enum as_loop_cause lock_of(struct as_loop_stacks *s, pid_t tid)
{
	struct as_pythread *t = s->found ? find(s, tid) : NULL;
	struct as_pygils gils;

	if (!t)
		return AS_LOOP_LOCK;
	as_pygils_read(&s->threads, &gils);
	enum as_doing doing = as_pystate_of(&s->threads, t, &gils).doing;
	return doing == AS_DOING_WANTS  ? AS_LOOP_GIL
	       : doing == AS_DOING_RUNS ? AS_LOOP_CPU
					: AS_LOOP_LOCK;
}

struct as_vote as_loop_deed(struct as_loop_stacks *s, pid_t tid, bool runs, int32_t call)
{
	if (runs)
		return (struct as_vote){.cause = AS_LOOP_CPU};
	enum as_loop_cause cause = as_call_locks(call) ? lock_of(s, tid) : AS_LOOP_CALL;
	if (cause == AS_LOOP_CPU)
		return (struct as_vote){.cause = cause};
	return (struct as_vote){.cause = cause, .call = as_loop_call_name(call)};
}
