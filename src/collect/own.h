#pragma once
/*
 * own -- what a process read and wrote itself.
 *
 * When a process waits for a child, the kernel adds the child's I/O, with all that the
 * child took over in turn, to where it keeps that of the process's threads that ended.
 * /proc/PID/io and the BPF iterator tell the sum. The job needs it so, as nothing is
 * lost with a child; but among the processes it would be there twice.
 *
 * What a living thread says of itself is never mixed. So as long as a process waited for
 * nobody, all is its own; as long as no thread of it ended, its own is what its threads
 * say; and what was added between two looks is of whom an end was noticed. When it may be
 * of either, its own is unknown until its end is told, thread by thread (os/life.h).
 *
 * /proc does not say that a thread ended. There a process with one thread had no other,
 * unless one was seen or told of, or its page faults are more than its thread's.
 */
#include <stdbool.h>

#include "os/proc.h"
#include "wire/life.h"

struct as_process;
struct as_proc_pool;

struct as_own {
	struct as_proc_io io;   /* since the run began; AS_PROC_NA: unknown             */
	bool current;           /* private: it is what follows from what BPF last told  */
	bool threaded;          /* it has, or had, more threads than one                */
	int fd;                 /* of a child of ours, its first thread's file; -1      */
	struct as_proc_io base; /* of its first thread, when the run began            */
	/* private, of what BPF tells */
	bool told, mixed;
	struct as_proc_io ended;    /* of threads and children that ended             */
	struct as_proc_io kept;     /* of that, the threads' part                     */
	uint64_t threads, children; /* grow when one of either ends                   */
};

/* All unknown. */
void as_own_init(struct as_own *o);
/* What stands in p->io is where the run begins to count: `joins` calls are not the command's. */
void as_own_begin(struct as_process *p, int64_t joins);
/* p->io was read from /proc. */
void as_own_read(struct as_process *p, struct as_proc_pool *pool);
/*
 * p->io was told by a pass; `ended` is the part that the kernel has added up of the ended.
 * Without `news` both are as they were.
 */
void as_own_told(struct as_process *p, const struct as_wire_usage *ended, bool news);
/* I/O as BPF tells it. */
struct as_proc_io as_own_io(const struct as_wire_usage *u);
void as_own_close(struct as_own *o, struct as_proc_pool *pool);
