#pragma once
/*
 * sampler -- looks at the Python threads of processes now and then, and adds
 * what it sees to a profile.
 *
 * Moments are absolute and at random (a Poisson process), so that nothing the
 * program does in step with a clock is seen too often or never. A moment that
 * was missed is late and left out: there is never a burst to catch up. Weights
 * are time, not counts: what a thread has used of a CPU since it was last seen
 * running (cpu), or the time since the last look (wall, gil). What lies on both
 * sides of the end of a slice is divided.
 */
#include "stack/code.h"
#include "stack/lone.h"
#include "stack/naming.h"
#include "stack/tasksight.h"
#include "stack/threads.h"

enum as_sample_mode {
	AS_MODE_CPU = 1 << 0,  /* threads that run                */
	AS_MODE_WALL = 1 << 1, /* all threads, whatever they do   */
	AS_MODE_GIL = 1 << 2,  /* threads that hold the GIL       */
};

struct as_sampler_config {
	double hz;
	unsigned modes;    /* of enum as_sample_mode */
	bool threads;      /* tag samples with their thread  */
	bool processes;    /* … and with their process       */
	bool tasks;        /* … and with their task of asyncio; those that await count in wall */
	bool stop;         /* a thread that cannot be read as it runs may be stopped */
	int64_t slice_ns;  /* samples are told apart by slices of this length; 0: not */
	int64_t origin_ns; /* when the first slice begins, CLOCK_MONOTONIC            */
};

struct as_sampler_count {
	uint64_t ticks;    /* moments                                         */
	uint64_t samples;  /* stacks                                          */
	uint64_t rejected; /* that could not be read whole                    */
	uint64_t empty;    /* threads without a Python frame                  */
	uint64_t late;     /* moments left out                                */
	uint64_t stops;    /* threads that were stopped to be read            */
	int64_t stopped_ns;
	struct as_snap_count snap;
};

/* One Python process. */
struct as_sampled {
	struct as_python py;
	struct as_pythreads threads;
	struct as_codes codes;
	struct as_tasksight tasks;     /* if they are asked for */
	struct as_naming naming;       /* likewise, of threads  */
	int64_t last_ns, refresh_ns;   /* CLOCK_MONOTONIC                             */
	int64_t check_ns, check_pause; /* when its code is looked at again          */
	int64_t peek_ns;               /* new threads are asked for no sooner, unless */
	bool preceded;                 /* one stands before the newest that we know   */
	bool leads;                    /* that was read, and none does                */
	struct as_lone lone;           /* its clock, and its only thread              */
	int64_t used_ns;               /* by the clock                                */
	int64_t stirred_ns;            /* when that, or its only thread's, last changed  */
	bool ran;                      /* some thread did, when last asked            */
};

struct as_sampler {
	const struct as_env *env;
	struct as_sampler_config config;
	struct as_profile *to;
	struct as_pystack *stack; /* the one that is being read */
	struct as_sampled **proc;
	size_t nprocs, procs_cap;
	int ready; /* os/ready.h */
	struct as_sampler_count count;
	uint32_t slice; /* of the look at hand */
	uint64_t seed;
	int64_t due_ns; /* CLOCK_MONOTONIC */
};

/* The kinds of value that a profile of these modes has; how many. */
size_t as_sampler_kinds(unsigned modes, struct as_value_kind kind[AS_VALUES_MAX]);
int as_sampler_open(struct as_sampler *s, const struct as_env *env,
		    const struct as_sampler_config *config, struct as_profile *to,
		    struct as_err *err);
void as_sampler_close(struct as_sampler *s);
/* Look at this process too. Fails as as_python_find_again() does. */
int as_sampler_add(struct as_sampler *s, pid_t pid, struct as_python_files *known,
		   struct as_err *err);
bool as_sampler_has(const struct as_sampler *s, pid_t pid);
/* The slice in which a moment lies. */
uint32_t as_sampler_slice(const struct as_sampler_config *c, int64_t now);
/* Look at all of them now, and set when to look next, s->due_ns. Who is gone is left out. */
void as_sampler_look(struct as_sampler *s, int64_t now);
/*
 * After the last look: what threads have used of a CPU and was seen in no stack
 * is that of the one in which each was last seen running, or of none.
 */
void as_sampler_end(struct as_sampler *s, int64_t now);
