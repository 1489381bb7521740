#pragma once
/*
 * phases -- the timeline of a run, cut where its behaviour changes.
 *
 * Cuts are change points (stat/changepoint.h) of CPU, memory and I/O together;
 * each phase has its exact means and a name by its character. Nothing of this
 * is stored: it follows from the timeline, in a few hundredths of a second.
 *
 * What changes slowly is no change: a steady growth of memory is one phase.
 * What others on the machine do is no change of the job: CPU is what its
 * threads used and what they waited for in vain. I/O is what came from devices
 * or through calls, whichever is more: reading a cached file is reading. A
 * phase has at least three samples, and a hundredth of a long run.
 */
#include "run/run.h"

/* X(id, name): the characters. Names are stable. */
#define AS_PHASE_KINDS(X)                                                                          \
	X(UNKNOWN, "unknown")                                                                      \
	X(GROWING, "growing") /* memory, and that is what it does   */                             \
	X(READING, "reading")                                                                      \
	X(WRITING, "writing")                                                                      \
	X(CPU, "cpu-bound")                                                                        \
	X(BUSY, "busy") /* some computing, less than a core  */                                    \
	X(WAITING, "waiting")

enum as_phase_kind {
#define X(id, name) AS_PHASE_##id,
	AS_PHASE_KINDS(X)
#undef X
		AS_NPHASE_KINDS
};

/* Numbers are NaN when unknown. */
struct as_phase {
	int64_t from_ns, to_ns; /* since the run's start                       */
	enum as_phase_kind kind;
	char name[128];             /* "CPU-bound, 1.9 cores, reading 30 MiB/s"    */
	double cores;               /* CPU seconds a second                        */
	double user;                /* of it in user code                          */
	double wait;                /* seconds a second that threads waited for a CPU */
	double memory, memory_peak; /* bytes: mean, largest                        */
	double rise;                /* bytes that memory grew by from end to end   */
	double read, write;         /* bytes a second                              */
};

enum { AS_PHASES_MAX = 24 };

struct as_phases {
	size_t n; /* 0: no timeline */
	struct as_phase at[AS_PHASES_MAX];
};

/* Fails only for want of memory. */
int as_phases_find(const struct as_run *run, struct as_phases *ret, struct as_err *err);
const char *as_phase_kind_name(enum as_phase_kind kind);
