#pragma once
/*
 * members -- which processes belong to the job, found anew at every tick.
 *
 * With a control group of its own the kernel keeps the list. Without, /proc is
 * listed and a newcomer is looked at once: it belongs if its parent does, or
 * if its parent is assay (orphans of the job are ours, see engine.h). A
 * process that does not belong is remembered by pid and inode of its folder,
 * so a busy machine with few newcomers costs one listing a tick.
 */
#include "collect/process.h"

struct as_stranger {
	int32_t pid;
	uint64_t inode;
};

struct as_members {
	struct as_process **v; /* sorted by pid */
	size_t n, cap;
	uint64_t ever;   /* how many there were in all */
	bool root_ended; /* the first one's number may be a stranger's now */
	struct as_proc_pool pool;
	struct as_sums sums; /* of all, as far as as_sums_update() was called */
	/*
	 * Did the one of this number and birth end, by what was told? A zombie, and one
	 * that is still being taken apart, can be found by a look after that. NULL: nobody tells.
	 */
	bool (*ended)(const void *data, int32_t pid, int64_t start_ns);
	const void *ended_data;
	/* private */
	struct as_stranger *strangers; /* sorted by pid */
	size_t nstrangers, strangers_cap;
	int32_t *pids;
	size_t pids_cap;
};

void as_members_init(struct as_members *m, const struct as_env *env);
/* Find newcomers. `midway`: they ran before the run began. */
int as_members_update(struct as_members *m, const struct as_collect *c, bool midway,
		      struct as_err *err);
/* Take in one that was told of, unread. NULL for want of memory. */
struct as_process *as_members_born(struct as_members *m, const struct as_collect *c, int32_t pid);
/* Take in one process by number. NULL when it cannot be read, or ended before. */
struct as_process *as_members_add(struct as_members *m, const struct as_collect *c, int32_t pid,
				  bool midway);
struct as_process *as_members_find(const struct as_members *m, int32_t pid);
/* Forget the i-th, or this one. */
void as_members_drop(struct as_members *m, size_t i);
void as_members_remove(struct as_members *m, struct as_process *p);
void as_members_done(struct as_members *m);
