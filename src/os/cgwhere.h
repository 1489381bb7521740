#pragma once
/*
 * cgwhere -- in which folder each control group of a process is.
 *
 * /proc/PID/cgroup names the groups, mountinfo says where the hierarchies are
 * mounted, and how much of them: a container may see only its own branch.
 */
#include "base/cleanup.h"
#include "base/span.h"
#include "os/cgroup.h"

/*
 * A group: its folder as openat(env->cgroup, path) takes it, that is relative,
 * or absolute when the hierarchy is mounted outside of /sys/fs/cgroup. The
 * first `mount` bytes are the mount point, the rest is the group below it.
 */
struct as_cg_place {
	char *path; /* NULL: there is none                                  */
	size_t mount;
	bool shared; /* the hierarchy also holds cpuset, devices or freezer  */
};

struct as_cg_places {
	struct as_cg_place part[AS_CG_NPARTS];
	char why[96]; /* why there is none at all; else "" */
};

/* Those of process `pid`, of ourselves when it is 0. Fails only for want of memory. */
int as_cg_where(const struct as_env *env, int pid, struct as_cg_places *ret, struct as_err *err);
void as_cg_places_done(struct as_cg_places *p);
#define as_auto_places as_cleanup(as_cg_places_done)

/* The work of as_cg_where on texts: of /proc/PID/cgroup and of mountinfo. */
int as_cg_places(struct as_span groups, struct as_span mounts, bool fixture,
		 struct as_cg_places *ret, struct as_err *err);

/* Is this part the same folder as an earlier one ("cpu,cpuacct")? Which; else itself. */
enum as_cg_part as_cg_first(const struct as_cg_places *p, enum as_cg_part part);

/* Cut the last name off `path`: the group above. False when it is the mount point itself. */
bool as_cg_up(char *path, size_t mount);

/* Is this open folder the root of its hierarchy? Its numbers are then the machine's. */
bool as_cg_is_root(int dir, bool v2);

/* What they and the groups above them allow. Fails only for want of memory. */
int as_cg_limits(const struct as_env *env, const struct as_cg_places *p, struct as_cg_limits *ret,
		 struct as_err *err);
/* Fill cg->quota: cg is a group at these places, or (cg->own) one just below them. */
void as_cg_find_quota(const struct as_env *env, const struct as_cg_places *p, struct as_cgroup *cg);
