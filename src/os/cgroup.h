#pragma once
/*
 * cgroup -- the control groups of this process, and one of our own for a job.
 *
 * A machine can have the old hierarchies (v1, one folder a controller), the
 * new one (v2), or both at once, with the controllers split between them. We
 * make one group below the caller's own in every hierarchy that helps, so that
 * outer limits (Slurm, Docker, systemd) still bind the job. What cannot be
 * made is simply not there: `why` says what was refused.
 *
 *	job group of run abcd…: <caller's group>/assay-abcd…
 *
 * Groups are removed when the job is over. One that still holds survivors, or
 * was left by a killed assay, is swept by a later run once it is empty.
 */
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "os/env.h"

/* The hierarchies that tell us something. v2 also carries what v1 does not hold. */
enum as_cg_part {
	AS_CG_V2,
	AS_CG_CPUACCT,
	AS_CG_CPU,
	AS_CG_MEMORY,
	AS_CG_BLKIO,
	AS_CG_PIDS,
	AS_CG_NPARTS
};

/*
 * What the limits of a process's groups and their ancestors allow: CPUs' worth
 * of time in millionths, memory in bytes; AS_CG_UNLIMITED where none does.
 */
#define AS_CG_UNLIMITED INT64_MAX
struct as_cg_limits {
	int64_t cpu, memory;
};

struct as_cgroup {
	bool own;                 /* made by us, for this job alone            */
	int dir[AS_CG_NPARTS];    /* the group's folder in each hierarchy, or -1 */
	char *path[AS_CG_NPARTS]; /* as openat(env->cgroup, …) takes it; NULL: none */
	bool made[AS_CG_NPARTS];  /* ours to remove                         */
	/*
	 * The group whose quota stops the job: the job's own or one above it, the
	 * one with the smallest quota; the nearest that counts when none has one.
	 * (A group's cpu.stat tells of its own quota, never of an outer one.)
	 */
	int quota; /* its folder, or -1 */
	bool quota_v2, quota_own;
	struct as_cg_limits limits;
	int32_t joins; /* writes of one byte that the first process made to get in */
	char why[192]; /* what could not be had, "" when all could  */
	/* private */
	bool live;              /* the descriptors are ours to close        */
	int join[AS_CG_NPARTS]; /* where to write to join, or -1            */
	int procs;              /* v2 cgroup.procs, or -1                   */
};

/*
 * Make the job's group for run `id` in every hierarchy where that is possible,
 * and remove the empty ones that dead runs of assay left beside it.
 * Fails only for want of memory; a group in no hierarchy has own == false.
 */
int as_cgroup_make(const struct as_env *env, const char *id, struct as_cgroup *ret,
		   struct as_err *err);
/* The groups that process `pid` is in now (own == false); root groups are left out. */
int as_cgroup_of(const struct as_env *env, int pid, struct as_cgroup *ret, struct as_err *err);
/*
 * fork() whose child is in the group when this returns in it; NULL or a group
 * that is not ours is just a fork. The child may only do what is safe between
 * fork and exec (libc is not told when clone3() is used). `joined` is set in
 * the child: false when some hierarchy refused.
 *
 * Prefer it to as_cgroup_join(): a process that moves itself into a v2 group
 * waits for every CPU of the machine, some 10 ms; one that is born there
 * (and a thread that moves itself in v1) does not.
 */
pid_t as_cgroup_fork(struct as_cgroup *cg, bool *joined);
/*
 * Called in the child between fork and exec: only write(2) on open
 * descriptors. Joins the calling process; false when some hierarchy refused.
 */
bool as_cgroup_join(const struct as_cgroup *cg);
/*
 * Called in the parent when the child has said that it could not join all:
 * gives up the groups that process `pid` is not in, and notes that in `why`.
 * What was opened in them then answers "no such device", never 0.
 */
void as_cgroup_verify(const struct as_env *env, struct as_cgroup *cg, int pid);
/* The pids in the group, as many as fit; how many there are. Prefers v2, then any v1. */
int as_cgroup_pids(const struct as_cgroup *cg, int32_t *pids, size_t max, size_t *ret_n,
		   struct as_err *err);
/* Remove what we made (empty groups only) and release everything. Zeroed is fine. */
void as_cgroup_done(const struct as_env *env, struct as_cgroup *cg);
